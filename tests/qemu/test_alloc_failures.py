"""Every allocation that a command makes fails once: nothing breaks, nothing is lost."""
import re

from guest import Guest

# The commands to try, and those that put everything back afterwards.
CASES = [
    ("echo function > current_tracer", "echo nop > current_tracer"),
    ("echo '*sched*' > set_ftrace_filter", "echo > set_ftrace_filter"),
    ("echo 60 > buffer_size_kb", "echo 50 > buffer_size_kb"),
    ("echo nonsense > set_ftrace_filter; cat error_log", "echo > error_log"),
    ("echo 42 > set_ftrace_pid; cat set_ftrace_pid", "echo > set_ftrace_pid"),
    ("cat trace | wc -l; cat per_cpu/cpu0/stats", "true"),
    ("echo hi > /tmp/x; cat /tmp/x", "rm /tmp/x"),
    ("for i in 1 2; do x=$(echo $i); done", "true"),
    ("echo 'x=1; echo in' > /tmp/x; . /tmp/x; cp /tmp/x /tmp/y; mv /tmp/y /tmp/z; seq 3 | less | cat", "rm -f /tmp/x /tmp/y /tmp/z"),
    ("find /tmp; sysctl -a; sudo date; mount -t tracefs x /tmp; read x < /proc/version", "true"),
    ("hackbench 1 3", "true"),
    ("torture 1", "true"),
]


def pages_in_use(guest):
    """Without page tables, which only ever grow, and slabs, whose filling differs."""
    text = guest.run("free")[0]

    def number(what):
        return int(re.search(rf"(\d+) {what}", text).group(1))

    return number("used") - number("page tables") - number("slab")


def test_each_allocation_fails_once():
    with Guest("gcc", 2, tests=True, limit=200, timeout=30) as guest:
        guest.check("echo 50 > buffer_size_kb")
        for command, undo in CASES:
            guest.run(f"{command}; {undo}")
            before = pages_in_use(guest)
            for nth in range(1, 400):
                output = guest.output_of(f"failalloc {nth}; {command}; failalloc")
                guest.output_of(f"failalloc; {undo}")
                if "not reached" in output:
                    break
            assert nth > 1, f"{command}: nothing failed"
            assert "not reached" in output, f"{command}: no end after {nth} allocations"
            guest.run(f"{command}; {undo}")
            assert pages_in_use(guest) == before, f"{command}: pages lost"
        # The machine is as good as new: tracing works, and was never stopped for good.
        guest.check("echo schedule > set_ftrace_filter; echo function > current_tracer")
        assert "schedule <-" in guest.check("sleep 0.01; cat trace")
        guest.check("echo nop > current_tracer; echo > set_ftrace_filter")
        assert not re.search(r"ftrace.*(bug|BUG|stopp)", guest.check("dmesg"))


def test_pipe_without_pages():
    """A sender of hackbench that gets no page for its messages ends it; the receivers do not wait for what is missing."""
    with Guest("gcc", 2, tests=True) as guest:
        start = next(nth for nth in range(1, 400) if "not reached" in guest.output_of(f"failalloc {nth}; hackbench 1 0; failalloc"))
        output = guest.output_of(f"failalloc {start}; hackbench 1 100; failalloc")
        assert re.search(r"hackbench: \d+ of 6400 messages arrived, 0 of them wrong", output), output


# The output of each when nothing fails, and what else is said when it cannot start.
TOLD = [
    ("date", "start date"),
    ("(echo in)", "start a subshell"),
    ("echo in | cat", "start a pipe"),
    ("sleep 0 & wait; echo in", "start a job"),
    ("echo in > /tmp/$(echo x); cat /tmp/x; rm -f /tmp/x", "start cat"),
    ("seq 300 | tr '\\n' - | grep 7-8", "start a pipe"),
]


def test_failures_are_told():
    """The shell and its commands report each failure for lack of memory."""
    with Guest("gcc", 2, tests=True, limit=200, timeout=30) as guest:
        for command, words in TOLD:
            usual = guest.run(command)[0] if command != "date" else None
            told = ""
            for nth in range(1, 400):
                output = guest.output_of(f"failalloc {nth}; {command}; failalloc")
                guest.output_of("failalloc; rm -f /tmp/x")
                if "not reached" in output:
                    break
                said = re.search("memory|No space left", output)
                assert said or usual in (output, None), f"{command}: {nth}: {output}"
                told += output
            assert f"sh: can't {words}: Cannot allocate memory\n" in told, told
