"""set_event_pid, set_event_notrace_pid and event-fork, with real threads; events at boot."""
import re

EVENTS = "echo sched_switch sched_waking > set_event; "
LOAD = "> trace; echo 1 > tracing_on; sleep 0.01; hackbench 1 2 > /dev/null; echo 0 > tracing_on; cat trace"


def lines(text):
    return [line for line in text.splitlines() if "sched_" in line]


def pids_of(line):
    """The thread that wrote it, and those that it is about."""
    return {int(re.match(r"\s*\S.*?-(\d+)\s+\[", line)[1])} | {int(pid) for pid in re.findall(r"pid=(\d+)", line)}


def test_one_thread(tracing):
    sh = int(tracing.check("echo 0 > tracing_on; " + EVENTS + "echo $$ > set_event_pid; cat set_event_pid"))
    found = lines(tracing.check(LOAD))
    assert found and all(sh in pids_of(line) for line in found)
    # Switches to the shell are written by whoever runs before it.
    assert any(f"next_pid={sh}" in line for line in found) and any(f"prev_pid={sh}" in line for line in found)
    assert any(f"-{sh} " not in line for line in found)


def test_threads_that_it_makes(tracing):
    tracing.check("echo 0 > tracing_on; " + EVENTS + "echo 1 > options/event-fork; echo $$ > set_event_pid")
    made = {pid for line in lines(tracing.check(LOAD)) for pid in pids_of(line)}
    assert len(made) > 10
    tracing.check("echo 0 > options/event-fork")


def test_all_but_one(tracing):
    sh = int(tracing.check("echo 0 > tracing_on; " + EVENTS + "echo $$ > set_event_notrace_pid; cat set_event_notrace_pid"))
    found = lines(tracing.check(LOAD))
    assert found and all(pids_of(line) != {sh} for line in found)


def test_at_boot(guest_pool):
    guest = guest_pool(cpus=2, cmdline="trace_event=sched:sched_switch,nosuch trace_instance=two,sched_waking")
    assert guest.check("cd /sys/kernel/tracing; cat set_event instances/two/set_event") == "sched:sched_switch\nsched:sched_waking\n"
    assert "trace: trace_event: no such event: nosuch" in guest.check("dmesg")
    assert lines(guest.check("cat trace")) and lines(guest.check("cat instances/two/trace"))
