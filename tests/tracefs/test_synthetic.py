"""Synthetic events: the latency of wakeups, line by line as in Linux's documentation of histograms."""
import re

import pytest

EVENT = "events/synthetic/wakeup_latency"
WAKING, SWITCH = "events/sched/sched_waking", "events/sched/sched_switch"

DEFINE = [
    "echo 'wakeup_latency u64 lat; pid_t pid; int prio' >> synthetic_events",
    f"echo 'hist:keys=pid,prio,lat.log2:sort=pid,lat' >> {EVENT}/trigger",
    "echo 'hist:keys=$saved_pid:saved_pid=pid:ts0=common_timestamp.usecs if comm==\"sleep\"' >> " + f"{WAKING}/trigger",
    "echo 'hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:"
    'onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,$saved_pid,next_prio) if next_comm=="sleep"\' >> ' + f"{SWITCH}/trigger",
]
REMOVE = [
    "echo '!hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:"
    'onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,$saved_pid,next_prio) if next_comm=="sleep"\' >> ' + f"{SWITCH}/trigger",
    "echo '!hist:keys=$saved_pid:saved_pid=pid:ts0=common_timestamp.usecs if comm==\"sleep\"' >> " + f"{WAKING}/trigger",
    f"echo '!hist:keys=pid,prio,lat.log2:sort=pid,lat' >> {EVENT}/trigger",
]


def test_definitions(tracing):
    """Defined, listed, in events/ of each instance, refused while it is in use, gone."""
    tracing.check("echo 'wakeup_latency u64 lat; pid_t pid; int prio' >> synthetic_events")
    assert tracing.check("cat synthetic_events") == "wakeup_latency\tu64 lat; pid_t pid; int prio\n"
    assert tracing.check("cat dynamic_events") == "s:synthetic/wakeup_latency\tu64 lat; pid_t pid; int prio\n"
    assert {"enable", "filter", "format", "hist", "id", "trigger"} <= set(tracing.check(f"ls {EVENT}").split())
    assert "synthetic:wakeup_latency\n" in tracing.check("cat available_events")
    tracing.check("mkdir instances/two; echo 1 > instances/two/events/synthetic/enable")
    assert tracing.run("echo '!wakeup_latency' >> synthetic_events") == ("sh: write error: Device or resource busy\n", 1)
    tracing.check("rmdir instances/two; echo '!wakeup_latency u64 lat; pid_t pid; int prio' >> synthetic_events")
    assert tracing.check("cat synthetic_events; ls events").split().count("synthetic") == 0


def test_mistakes(tracing):
    assert tracing.run("echo 'x int a; nosuch b' >> synthetic_events") == ("sh: write error: Invalid argument\n", 1)
    assert re.fullmatch(
        r"\[ +\d+\.\d+\] synthetic_events: error: Invalid type\n  Command: x int a; nosuch b\n {20}\^\n",
        tracing.check("cat error_log; > error_log"),
    )
    assert tracing.check("cat synthetic_events") == ""


@pytest.mark.parametrize("guest", [{"cpus": 4, "icount": True}], indirect=True, ids=["4 CPUs"])
def test_latency_of_wakeups(tracing):
    """The guest counts instructions: no sleep is over before it begins."""
    for line in DEFINE:
        tracing.check(line)
    assert tracing.check(f"cat {SWITCH}/trigger") == (
        "hist:keys=next_pid:vals=hitcount:wakeup_lat=common_timestamp.usecs-$ts0:sort=hitcount:size=2048:clock=global:"
        'onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,$saved_pid,next_prio) if next_comm=="sleep" [active]\n'
    )
    tracing.check(f"echo 1 > {EVENT}/enable; for i in 1 2 3 4 5; do sleep 0.01; done; echo 0 > {EVENT}/enable")
    trace, counted, matched = (tracing.check(f"cat {name}") for name in ("trace", f"{EVENT}/hist", f"{SWITCH}/hist"))
    lines = re.findall(r": wakeup_latency: lat=(\d+) pid=(\d+) prio=(\d+)\n", trace)
    # Each sleep was woken at least once, by its timer, and each of these is counted where it should be.
    assert len({pid for _, pid, _ in lines}) == 5
    rows = re.findall(r"\{ pid: +(\d+), prio: +120, lat: ~ 2\^(\d+) +\} hitcount: +(\d+)\n", counted)
    assert sum(int(hits) for *_, hits in rows) == len(lines)
    assert {pid for pid, *_ in rows} == {pid for _, pid, _ in lines}
    assert [int(pid) for pid, *_ in rows] == sorted(int(pid) for pid, *_ in rows)
    for latency, pid, _ in lines:
        assert (pid, str(max(int(latency) - 1, 0).bit_length())) in [(p, power) for p, power, _ in rows]
    assert f"    Hits: {len(lines)}\n" in matched and f"    Hits: {len(lines)}\n" in counted
    assert tracing.run("echo '!wakeup_latency' >> synthetic_events")[1] == 1
    for line in REMOVE:
        tracing.check(line)
    tracing.check("echo '!wakeup_latency' >> synthetic_events; > trace")
    assert tracing.check("cat synthetic_events") == ""


EVERY_WAY = [".wakeup_new_test($testpid)", ".trace(wakeup_new_test,$testpid)"]


@pytest.mark.parametrize("action", EVERY_WAY)
def test_of_the_event_itself(tracing, action):
    """`onmatch` with the event that the histogram is about, and both forms of the action."""
    new = "events/sched/sched_wakeup_new"
    hist = "hist:keys=$testpid:testpid=pid:onmatch(sched.sched_wakeup_new)" + action + ' if comm=="sh"'
    tracing.check("echo 'wakeup_new_test pid_t pid' >> synthetic_events")
    tracing.check(f"echo '{hist}' >> {new}/trigger; echo 'hist:keys=pid:sort=pid' >> events/synthetic/wakeup_new_test/trigger")
    tracing.check("for i in 1 2 3; do (true) & wait; done")
    text = tracing.check("cat events/synthetic/wakeup_new_test/hist")
    assert len(re.findall(r"\{ pid: +\d+ \} hitcount: +1\n", text)) >= 3
    tracing.check(
        f"echo '!hist:keys=pid:sort=pid' >> events/synthetic/wakeup_new_test/trigger; echo '!{hist}' >> {new}/trigger; > synthetic_events"
    )


@pytest.mark.parametrize("guest", [{"cpus": 4, "icount": True}], indirect=True, ids=["4 CPUs"])
def test_latency_from_a_marker(tracing):
    """From a text in trace_marker to another one, and to an event of the scheduler, which the shell has while a sleep takes place."""
    marker, marked, off = "events/ftrace/print/trigger", "events/synthetic/marked", "events/synthetic/off"
    start = 'hist:keys=common_pid:ts0=common_timestamp.usecs if buf == "start"'
    end = 'hist:keys=common_pid:lat=common_timestamp.usecs-$ts0:onmatch(ftrace.print).marked($lat) if buf == "end"'
    sleeps = 'hist:keys=common_pid:ts1=common_timestamp.usecs if buf == "start"'
    back = "hist:keys=next_pid:lat=common_timestamp.usecs-$ts1:onmatch(ftrace.print).off($lat,next_pid)"
    tracing.check("echo 'marked u64 lat' > synthetic_events; echo 'off u64 lat; pid_t pid' >> synthetic_events")
    tracing.check(
        f"echo '{start}' > {marker}; echo '{end}' >> {marker}; echo '{sleeps}' >> {marker}; echo '{back}' > {SWITCH}/trigger; "
        f"echo 'hist:keys=lat.log2' > {marked}/trigger; echo 1 > {marked}/enable; echo 1 > {off}/enable"
    )
    pid = tracing.check(
        "for i in 1 2 3; do echo start > trace_marker; sleep 0.02; echo end > trace_marker; echo end > trace_marker; done; echo $$"
    ).strip()
    trace, counted = tracing.check("cat trace"), tracing.check(f"cat {marked}/hist")
    # The second end has no start, and each marker one switch that is the first.
    assert [int(lat) >= 20000 for lat in re.findall(r": marked: lat=(\d+)\n", trace)] == [True] * 3
    assert re.findall(r": off: lat=\d+ pid=(\d+)\n", trace) == [pid] * 3
    assert "    Hits: 3\n" in counted
    assert tracing.run(f"echo '!{start}' >> {marker}")[1] == 1
    tracing.check(
        f"echo '!{back}' >> {SWITCH}/trigger; echo '!{end}' >> {marker}; > {marker}; > {marked}/trigger; "
        f"echo 0 > {marked}/enable; echo 0 > {off}/enable; > synthetic_events; > trace"
    )
    assert "Available triggers" in tracing.check(f"cat {marker}")
    assert tracing.check("cat synthetic_events") == ""
