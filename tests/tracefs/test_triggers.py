"""Triggers of events: what they do on real CPUs. tests/unit/trace has their words, and Linux's answers."""
import re

import pytest

SWITCH = "events/sched/sched_switch"
EXIT = "events/sched/sched_process_exit"
FORK = "events/sched/sched_process_fork"
PRINT = "events/ftrace/print"


@pytest.fixture(autouse=True)
def nothing_left(tracing):
    yield
    for path in f"{SWITCH}/trigger", f"{EXIT}/trigger", f"{FORK}/trigger", f"{PRINT}/trigger":
        for name in re.findall(r"^(\w+able_event:\w+:\w+|\w+)", tracing.check(f"cat {path}"), re.M):
            tracing.check(f"echo '!{name}' >> {path}")
    tracing.check("echo 0 > events/enable; echo 0 > snapshot; echo 1 > tracing_on; > trace; > error_log")


def test_stops_behind_the_event(tracing):
    """The event that stops recording is the last one there is, on the CPU where it was."""
    tracing.check(f"echo 1 > events/sched/enable; echo 'traceoff:1 if comm == \"sleep\"' > {EXIT}/trigger; sleep 0.001; sleep 0.001")
    assert tracing.check("cat tracing_on") == "0\n"
    assert tracing.check("grep -c sched_process_exit.*sleep trace") == "1\n"
    assert tracing.check(f"cat {EXIT}/trigger") == 'traceoff:count=0 if comm == "sleep"\n'


def test_stack_begins_at_the_tracepoint(tracing):
    """Also while others listen there, and the probe is one of several."""
    begins = "<stack trace>\n => sched_tell_switch\n => sched_switch\n"
    for others in "", "mkdir instances/one; echo wakeup > instances/one/current_tracer":
        tracing.check(
            f"{others}; > trace; echo 'stacktrace:3 if prev_comm == \"sleep\"' > {SWITCH}/trigger; "
            f"until grep -q count=0 {SWITCH}/trigger; do sleep 0; done; echo '!stacktrace' > {SWITCH}/trigger".lstrip("; ")
        )
        assert tracing.check("cat trace").count(begins) == 3
    tracing.check("rmdir instances/one")


def test_snapshot_has_the_event(tracing):
    """It is the last one of its CPU. Another CPU may record more until the buffers are exchanged."""
    tracing.check(f"echo 1 > {SWITCH}/enable; echo 'snapshot:1 if prev_comm == \"sleep\" && prev_state == 1' > {SWITCH}/trigger")
    # A short sleep may be over before its thread has left the CPU.
    tracing.check(f"sleep 1000 & until grep -q count=0 {SWITCH}/trigger; do :; done; kill %1; wait")
    snapshot = tracing.check("cat snapshot")
    cpu = re.search(r" (\[\d+\]) .* prev_comm=sleep .* prev_state=S ==>", snapshot)[1]
    assert re.search(r"prev_comm=sleep .* prev_state=S ==>", [line for line in snapshot.splitlines() if cpu in line][-1])


def test_switches_another_event(tracing):
    tracing.check(f"echo 'enable_event:sched:sched_process_exit:1 if next_comm == \"sleep\"' > {SWITCH}/trigger")
    assert tracing.check(f"cat {EXIT}/enable") == "0*\n"
    tracing.check("sleep 0.001")
    assert tracing.check(f"cat {EXIT}/enable") == "1*\n"
    assert "sched_process_exit: comm=sleep" in tracing.check("cat trace")
    assert tracing.check(f"cat {SWITCH}/trigger").startswith("enable_event:sched:sched_process_exit:count=0 if ")


def test_marker_ends_the_trace(tracing):
    """It is the last line, and a stack shows who has written it."""
    tracing.check(
        f"echo 'traceoff if buf ~ \"*too late\"' > {PRINT}/trigger; echo 'stacktrace:1 if buf == \"here\"' > {PRINT}/trigger; "
        "echo here > trace_marker; printf here > trace_marker; echo 'frame 17 came too late' > trace_marker"
    )
    assert tracing.check("cat tracing_on") == "0\n"
    assert tracing.run("echo after > trace_marker")[1] == 1
    text = tracing.check("cat trace")
    assert text.endswith(": tracing_mark_write: frame 17 came too late\n")
    assert text.count("<stack trace>") == 1
    assert re.search(r"<stack trace>\n( => \w+\n){0,3} => tracing_mark_write\n => trace_fs_write\n", text)


eight = pytest.mark.parametrize("guest", [{"cpus": 8}], indirect=True, ids=["8 CPUs"])


@eight
def test_as_many_snapshots_as_asked_for(tracing):
    """An exchange empties nothing: in which buffer a line is tells how often they were exchanged behind it."""
    tracing.check("(while true; do hackbench 2 20; done) > /dev/null & load=$!")
    condition = 'child_comm == "sleep"'
    tracing.check(f"echo '{condition}' > {FORK}/filter; echo 1 > {FORK}/enable; echo 'snapshot:4 if {condition}' > {FORK}/trigger")
    for numbers, left in ("1 2 3", 1), ("4 5 6", 0):
        tracing.check(f"for i in {numbers}; do echo mark $i > trace_marker; sleep 0; done")
        assert tracing.check(f"cat {FORK}/trigger") == f"snapshot:count={left} if {condition}\n"
    tracing.check(f"kill $load; wait; echo 0 > {FORK}/filter")
    for name, numbers in ("snapshot", "24"), ("trace", "1356"):
        kinds = re.findall(r": tracing_mark_write: mark (\d)\n.*: (sched_process_fork): .* child_comm=sleep ", tracing.check(f"cat {name}"))
        assert kinds == [(number, "sched_process_fork") for number in numbers]


@eight
def test_set_and_removed_under_load(tracing):
    """On all CPUs the event occurs meanwhile; an instance with triggers comes and goes."""
    tracing.check("(while true; do hackbench 1 20; sleep 0.03; done) > /dev/null & load=$!; mkdir instances/one")
    tracing.check(f"echo 1 > {SWITCH}/enable")
    for _ in range(2):
        tracing.check(
            f"for i in 1 2 3 4 5; do for t in 'traceoff:2 if next_pid > 3' 'stacktrace:5' 'snapshot:2' "
            f"'enable_event:sched:sched_waking:3'; do echo $t >> {SWITCH}/trigger; echo $t >> instances/one/{SWITCH}/trigger; done; "
            "echo 1 > tracing_on; "
            f"for t in traceoff stacktrace snapshot enable_event:sched:sched_waking; do echo !$t >> {SWITCH}/trigger; done; "
            "rmdir instances/one; mkdir instances/one; done",
            timeout=120,
        )
    tracing.check("kill $load; wait; rmdir instances/one; echo 1 > tracing_on", timeout=120)
    assert tracing.check(f"cat {SWITCH}/trigger").startswith("# Available triggers:")
    assert "sched_switch" in tracing.check("> trace; sleep 0.01; cat trace")
