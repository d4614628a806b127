"""Hooked returns under load: every entry has its return or is accounted for; stacks look as ever."""
import re

import pytest
from guest import Guest

LOAD = "(while true; do hackbench 1 5; sleep 0.03; done) > /dev/null & load=$!; "
END = "kill $load; wait"


@pytest.mark.parametrize("build, cpus", [("clang", 1), ("gcc", 2), ("clang", 4), ("gcc", 8)])
def test_torture(build, cpus):
    """API users come and go beside the tracer; threads, interrupts, NMIs, all functions."""
    with Guest(build, cpus, tests=True, limit=150, timeout=120) as guest:
        assert guest.check("ktest fgraph").endswith(" 0 failed\n")
        said = guest.check("torture graph 15")
        assert re.fullmatch(
            rf"torture: 15 rounds of graph, {cpus} CPUs; each of [1-9]\d+ calls seen to begin and to return, "
            r"all other entries accounted for after each round: ok\n",
            said,
        ), said
        guest.check("echo function_graph > current_tracer")
        assert ": ok" in guest.check(LOAD + f"torture graph 5 && {END}; torture graph 1")
        guest.check("echo nop > current_tracer; hackbench 1 5")
        assert guest.check("cat enabled_functions") == ""


def events(text):
    """(thread, depth, text) of the lines of function_graph with funcgraph-proc."""
    return [
        (cpu + who if who == "<idle>-0" else who, len(indent) // 2, what)
        for cpu, who, indent, what in re.findall(r"^ +(\d+)\) +(\S+) +\| .{13} \|  ( *)([\w}].*)$", text, re.M)
    ]


def test_entries_and_exits_nest():
    """For each thread: what is opened is closed at the same depth, by the same name."""
    with Guest("gcc", 2, limit=60) as guest:
        guest.check(
            "echo 16384 > buffer_size_kb; echo function_graph > current_tracer; echo funcgraph-proc > trace_options; "
            "echo funcgraph-tail > trace_options; hackbench 1 1 > /dev/null; echo 0 > tracing_on"
        )
        assert set(re.findall(r"^(?:overrun|dropped events): (\d+)", guest.check("cat per_cpu/cpu*/stats"), re.M)) == {"0"}
        text = guest.check("cat trace")
    opened, nr = {}, 0
    for who, depth, what in events(text):
        calls = opened.setdefault(who, {})
        closing = re.match(r"\} /\* ([\w.]+) ", what)
        if closing and depth in calls:
            assert calls.pop(depth) == closing[1], (who, what)
            nr += 1
        elif what.endswith("() {"):
            calls[depth] = what[:-4]
    assert nr > 1000


def test_stacks_show_callers():
    """`stack` of a thread that sleeps in hooked functions, and a panic inside of them."""
    waits = "sleep 1000 & pid=$!; until stack $pid | tr '\\n' ' ' | grep -q ' sched_switch.* schedule_until.* thread_join'; do :; done"
    with Guest("gcc", 2, limit=60) as guest:
        guest.check(waits)
        plain = guest.check("stack $pid")
        guest.check(f"kill $pid; wait; echo function_graph > current_tracer; {waits}")
        hooked = guest.check("stack $pid")
        assert "return_to_handler" not in hooked
        assert [re.sub(r"\+.*", "", line) for line in hooked.splitlines()] == [re.sub(r"\+.*", "", line) for line in plain.splitlines()]
        guest.send("panic now\r")
        guest.expect(rb"end of panic")
        text = guest.console.before.decode().replace("\r\n", "\n")
    # Another CPU may have been stopped in the handler itself.
    assert "return_to_handler" not in re.split(r"\nCPU \d+: ", text)[1]
    assert re.search(r"\] panic\+0x[0-9a-f]+/0x[0-9a-f]+\n(.*\n)*.*\] thread_start\+0x", text), text


def test_frame_that_does_not_fit():
    """Two functions are left without a return: tracing stops and says why, the kernel goes on."""
    with Guest("gcc", 2, tests=True, limit=60) as guest:
        guest.check("echo function_graph > current_tracer")
        assert "the jump was noticed" in guest.check("torture longjmp")
        assert re.search(
            r"fgraph: bad frame pointer: expected [0-9a-f]+, received [0-9a-f]+, function longjmp_inner; graph tracing has stopped\n"
            r".*fgraph: that function was left without a return",
            guest.check("dmesg"),
        )
        guest.check("hackbench 1 20; echo nop > current_tracer")
        assert guest.run("echo function_graph > current_tracer") == ("sh: write error: No such device\n", 1)
        guest.check("echo function > current_tracer; hackbench 1 5; echo nop > current_tracer")
