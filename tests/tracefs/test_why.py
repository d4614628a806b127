"""The file and the command `why`, with real threads and CPUs. What each sentence says is tested on the fake machine,
tests/unit/trace/why/test_why.c."""
import re


def test_who_switched_off(tracing):
    tracing.check("echo 1 > events/sched/sched_process_exec/enable; echo 0 > tracing_on")
    text = tracing.check("why")
    assert re.search(
        r"^Tracing has been off for [\d.]+ \w+: thread \S+-\d+ wrote 0 to tracing_on; " r"echo 1 > tracing_on\.$", text, re.M
    ), text
    assert text == re.sub(r"for [\d.]+ \w+:", re.search(r"for [\d.]+ \w+:", text)[0], tracing.check("cat why"))


def test_trigger_switched_off(tracing):
    tracing.check("echo traceoff > events/sched/sched_switch/trigger; sleep 0.1")
    tracing.check("echo '!traceoff' > events/sched/sched_switch/trigger")
    assert re.search(r": the trigger traceoff of sched_switch was hit in thread \S+-\d+; ", tracing.check("why"))


def test_command_switched_off(tracing):
    tracing.check("echo vfs_mkdir:traceoff > set_ftrace_filter; mkdir /tmp/why; rmdir /tmp/why")
    tracing.check("echo '!vfs_mkdir:traceoff' > set_ftrace_filter")
    assert re.search(r": vfs_mkdir was called, which has the command traceoff, in thread mkdir-\d+; ", tracing.check("why"))


def test_filter_lets_none_pass(tracing):
    tracing.check("echo 'prev_pid == 999999' > events/sched/sched_switch/filter")
    tracing.check("echo 1 > events/sched/sched_switch/enable")
    first = tracing.check("why; sleep 0.1")
    text = tracing.check("why")
    tracing.check("echo 0 > events/sched/sched_switch/filter")
    assert re.search(
        r"^Nothing has passed the filter of sched_switch since it was set [\d.]+ \w+ ago: prev_pid == 999999; "
        r"what it turns away is counted from now on, so ask again\.$",
        first,
        re.M,
    ), first
    nr = re.search(
        r"^The filter of sched_switch has let 0 of ([\d,]+) events? pass in [\d.]+ \w+: prev_pid == 999999; "
        r"echo 0 > events/sched/sched_switch/filter\.\n +0 TEST offset ",
        text,
        re.M,
    )
    assert nr and int(nr[1].replace(",", "")) > 0, text


def test_thread_that_is_gone(tracing):
    tracing.check("echo 999999 > set_ftrace_pid; echo function > current_tracer")
    assert re.search(
        r"^Calls of no thread are recorded: set_ftrace_pid and set_ftrace_notrace_pid leave none of the "
        r"\d+ that live; echo > set_ftrace_pid\.$",
        tracing.check("why"),
        re.M,
    )


def test_cpu_left_out(tracing):
    tracing.check("echo 1 > tracing_cpumask; echo function > current_tracer")
    text = tracing.check("why")
    tracing.check("echo 3 > tracing_cpumask")
    assert "tracing_cpumask leaves out 1 of 2 CPUs: 1; echo 3 > tracing_cpumask.\n" in text


def test_overwritten(tracing):
    tracing.check("echo 8 > buffer_size_kb; echo function > current_tracer; cat README > /dev/null; echo 0 > tracing_on")
    text = tracing.check("why")
    lost = re.search(
        r"^(\d+) % of the events are lost: ([\d,]+) of ([\d,]+) were overwritten before anybody read "
        r"them, because the buffer has 8 KB per CPU and reaches back only ",
        text,
        re.M,
    )
    assert lost, text
    overrun, written = (int(lost[i].replace(",", "")) for i in (2, 3))
    stats = tracing.check("cat per_cpu/cpu0/stats per_cpu/cpu1/stats")
    assert overrun == sum(map(int, re.findall(r"^overrun: (\d+)", stats, re.M)))
    assert written == overrun + sum(map(int, re.findall(r"^entries: (\d+)", stats, re.M)))


def test_other_reader(tracing):
    tracing.check("echo 1 > events/sched/sched_switch/enable; cat trace_pipe > /dev/null & sleep 0.1; " "cat why > /tmp/why; kill $!; wait")
    assert re.search(
        r"^Somebody else reads: thread cat-\d+ has trace_pipe open and takes events away \([\d,]+ until " r"now\)\.$",
        tracing.check("cat /tmp/why; rm /tmp/why"),
        re.M,
    )


def test_instance(tracing):
    tracing.check("mkdir instances/why_test; echo 0 > instances/why_test/tracing_on")
    text = tracing.check("why -i why_test")
    tracing.check("rmdir instances/why_test")
    assert "wrote 0 to tracing_on" in text and "Nothing is on" in text
    assert "wrote 0 to tracing_on" not in tracing.check("why")
    assert tracing.run("why -i why_test")[1] == 1
    assert tracing.run("why -i")[1] != 0


def test_scripts(tracing):
    """A script that has a name, and one of bt's."""
    program = "kretprobe:vfs_read /retval > 1000000/ { @ = count(); }"
    tracing.check(f"mkdir scripts/slow; echo '{program}' > scripts/slow/program; echo 1 > scripts/slow/enable; cat /proc/version")
    text = tracing.check("bt -c why 'kprobe:vfs_mkdir { @ = count(); }'")
    tracing.check("echo 0 > scripts/slow/enable; rmdir scripts/slow")
    assert " only scripts are on (2), which write nothing into the trace" in text
    assert "The script slow has done nothing at kretprobe:vfs_read: its condition held at no hit.\n" in text
    assert re.search(r"^The script 'kprobe:vfs_mkdir .*' has done nothing at kprobe:vfs_mkdir: no probe was hit\.$", text, re.M), text
    assert "The script" not in tracing.check("why")
