"""Histograms under real threads, CPUs and interrupts: what is counted is all that happened."""
import re

import pytest

SWITCH = "events/sched/sched_switch"


def totals(text):
    return [int(n) for n in re.search(r"Totals:\n    Hits: (\d+)\n    Entries: (\d+)\n    Dropped: (\d+)\n", text).groups()]


def hist(guest, event=SWITCH):
    """Hits, entries, drops and the sum of the hit counts, of each histogram of an event."""
    texts = guest.check(f"cat {event}/hist").split("# event histogram\n")[1:]
    return [[*totals(text), sum(map(int, re.findall(r" hitcount: +(\d+)", text)))] for text in texts]


eight = pytest.mark.parametrize("guest", [{"cpus": 8}], indirect=True, ids=["8 CPUs"])


@eight
def test_every_event_is_counted(tracing):
    """As many by one histogram as by the other and as recorded, while all CPUs count the same threads."""
    # Only switches to threads that live between these commands, so that all three see the same ones.
    threads = 'if next_comm ~ "hackbench*"'
    tracing.check(
        f"echo 8192 > buffer_size_kb; > trace; cd {SWITCH}; echo '{threads[3:]}' > filter; echo 'hist:keys=next_comm {threads}' > trigger; "
        f"echo 'hist:keys=prev_pid,next_pid,prev_state:size=128 {threads}' >> trigger; echo 1 > enable; cd ../../.."
    )
    tracing.check("hackbench 16 20 > /dev/null")
    first, second = hist(tracing)
    recorded = int(re.search(r"entries-in-buffer/entries-written: (\d+)/\1 ", tracing.check("head -3 trace"))[1])
    tracing.check(f"> {SWITCH}/trigger; echo 0 > {SWITCH}/enable; echo 0 > {SWITCH}/filter; echo 1408 > buffer_size_kb")
    assert first == [recorded, 3, 0, recorded]
    # Each of 256 threads was switched to.
    assert second[0] == second[3] and second[1] == 128 and second[2] >= 128
    assert second[0] + second[2] == recorded


@eight
def test_hits_and_drops_are_all(tracing):
    """Exactly as many as threads were made, by eight shells at once, whether there is room or not."""
    fork = "events/sched/sched_process_fork"
    tracing.check(
        f"echo 'hist:keys=child_pid:size=128' > {fork}/trigger; echo 'hist:keys=common_type' >> {fork}/trigger; "
        "for i in 1 2 3 4 5 6 7 8; do (for j in 1 2 3 4 5 6 7 8 9 10; do true & wait; true & wait; true & wait; done) & done; wait"
    )
    pids, types = hist(tracing, fork)
    tracing.check(f"> {fork}/trigger")
    assert pids[1] == 128 and pids[0] == pids[3]
    assert types[0] == types[3] == pids[0] + pids[2]
    assert types[0] >= 8 * 31


def test_stacks_begin_at_the_tracepoint(tracing):
    tracing.check(f"echo 'hist:keys=common_stacktrace' > {SWITCH}/trigger; sleep 0.05")
    text = tracing.check(f"cat {SWITCH}/hist; > {SWITCH}/trigger")
    stacks = re.findall(r"\{ common_stacktrace:\n((?: {9}\S+\n)+)\} hitcount:", text)
    assert len(stacks) >= 2
    for stack in stacks:
        assert re.match(r" +sched_switch\+0x", stack)
    assert any("cmd_sleep+0x" in stack for stack in stacks)


def test_names_of_threads(tracing):
    tracing.check(f"echo 'hist:keys=common_pid.execname,cpu' > {SWITCH}/trigger; sleep 0.05")
    text = tracing.check(f"cat {SWITCH}/hist; > {SWITCH}/trigger")
    assert re.search(r"\{ common_pid: sleep +\[ +\d+\], cpu: +\d+ \} hitcount: +\d+\n", text)


def test_time_off_the_processor(tracing):
    """A variable of one histogram in another: a thread that sleeps 50 ms is off for as long."""
    tracing.check(
        f"cd {SWITCH}; echo 'hist:keys=prev_pid:ts0=common_timestamp.usecs' > trigger; "
        "echo 'hist:keys=next_pid,next_comm:off=common_timestamp.usecs-$ts0:vals=$off' >> trigger; cd ../../.."
    )
    assert tracing.run(f"echo '!hist:keys=prev_pid:ts0=common_timestamp.usecs' >> {SWITCH}/trigger")[1] == 1
    text = tracing.check("cat trace_clock")
    assert "[global]" in text
    tracing.check(
        f"> {SWITCH}/trigger; echo 'hist:keys=prev_pid:ts0=common_timestamp.usecs' > {SWITCH}/trigger; "
        f"echo 'hist:keys=next_pid:off=common_timestamp.usecs-$ts0:vals=$off' >> {SWITCH}/trigger; sleep 0.05"
    )
    rows = re.findall(r"\{ next_pid: +(\d+) \} hitcount: +\d+  off: +(\d+)\n", tracing.check(f"cat {SWITCH}/hist; > {SWITCH}/trigger"))
    assert any(int(off) >= 50000 for pid, off in rows if pid != "0")


def test_mistakes(tracing):
    out, status = tracing.run(f"echo 'hist:keys=nosuch' >> {SWITCH}/trigger")
    assert status == 1 and "Invalid argument" in out
    log = tracing.check("cat error_log")
    assert re.fullmatch(
        r"\[ +\d+\.\d+\] hist:sched:sched_switch: error: Couldn't find field\n" r"  Command: hist:keys=nosuch\n {21}\^\n", log
    )


def test_set_and_removed_under_load(tracing):
    tracing.check("hackbench 4 60 > /dev/null &")
    for i in range(12):
        tracing.check(
            f"echo 'hist:keys=next_comm,common_stacktrace:vals=prev_prio' >> {SWITCH}/trigger; "
            f"echo 'hist:keys=next_pid:size=128' >> {SWITCH}/trigger; cat {SWITCH}/hist > /dev/null; "
            f"echo 'hist:keys=next_pid:size=128:clear' >> {SWITCH}/trigger; > {SWITCH}/trigger"
        )
    tracing.check("wait")
    assert tracing.check(f"cat {SWITCH}/enable") == "0\n"


def test_pictures_say_what_hist_says(tracing):
    """Lines of at most 80 columns, in which all threads and counts of `hist` are found."""
    tracing.check(
        f"echo 'hist:keys=next_comm,cpu' > {SWITCH}/trigger; hackbench 2 10 > /dev/null; echo 'hist:keys=next_comm,cpu:pause' >> {SWITCH}/trigger"
    )
    counts = {}
    for comm, count in re.findall(r"\{ next_comm: (\S+) +, cpu: +\d+ \} hitcount: +(\d+)\n", tracing.check(f"cat {SWITCH}/hist")):
        counts[comm] = counts.get(comm, 0) + int(count)
    for name, edge in ("hist_picture", "│"), ("hist_ascii", "|"):
        text = tracing.check(f"cat {SWITCH}/{name}")
        head, body = text.split("#\n\n")
        rows = re.findall(rf"^(\S+) +{re.escape(edge)}(.*){re.escape(edge)} +(\d+) +[\d.]+%$", body, re.MULTILINE)
        assert {comm: int(count) for comm, _, count in rows} == counts
        assert max(len(line) for line in body.split("\n")) <= 80
        assert name == "hist_picture" or text.isascii()
    tracing.check(f"> {SWITCH}/trigger")


def test_folded_stacks(tracing):
    """Outermost function first; the counts add up to the hits."""
    tracing.check(
        f"echo 'hist:keys=common_comm,common_stacktrace' > {SWITCH}/trigger; sleep 0.05; "
        f"echo 'hist:keys=common_comm,common_stacktrace:pause' >> {SWITCH}/trigger"
    )
    hits = totals(tracing.check(f"cat {SWITCH}/hist"))[0]
    head, *lines = tracing.check(f"cat {SWITCH}/hist_folded; > {SWITCH}/trigger").splitlines()
    assert head.startswith("# hist:keys=common_comm,common_stacktrace:") and head.endswith(" [paused]")
    folded = [re.fullmatch(r"([^;]+);((?:[^;]+;)*sched_switch) (\d+)", line) for line in lines]
    assert sum(int(line[3]) for line in folded) == hits
    sleeping = [line[2].split(";") for line in folded if line[1] == "sleep" and "cmd_sleep" in line[2]]
    assert sleeping and all(stack[0] == "arch_thread_start" for stack in sleeping)


@eight
def test_synthetic_events_of_wakeups(tracing):
    """One synthetic event for each match, on all CPUs: as many as the histogram that writes them has counted."""
    waking, latency = "events/sched/sched_waking", "events/synthetic/wakeup_latency"
    switch = (
        "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).wakeup_latency($lat,next_pid,sched.sched_waking.prio):"
        "onmax($lat).save(next_comm,prev_comm)"
    )
    tracing.check(
        "echo 'wakeup_latency u64 lat; pid_t pid; int prio' > synthetic_events; "
        f"echo 'hist:keys=pid:ts0=common_timestamp.usecs' > {waking}/trigger; echo '{switch}' > {SWITCH}/trigger; "
        f"echo 'hist:keys=pid:vals=lat' > {latency}/trigger; hackbench 8 80 > /dev/null; echo '{switch}:pause' >> {SWITCH}/trigger"
    )
    written, counted = hist(tracing, latency)[0], hist(tracing, SWITCH)[0]
    text = tracing.check(f"cat {SWITCH}/hist")
    assert written[2] == counted[2] == 0
    assert written[0] == counted[0] > 100
    # Waits of less than a microsecond are no maximum.
    assert len(re.findall(r"\n\tmax: +\d+  next_comm: \S+ +  prev_comm: \S+ *(?=\n)", text)) >= counted[1] // 2
    assert "synthetic_prio=prio" in tracing.check(f"cat {waking}/trigger")
    assert tracing.run("echo '!wakeup_latency' >> synthetic_events")[1] == 1
    tracing.check(f"> {latency}/trigger; > {SWITCH}/trigger")
    assert "synthetic_prio" not in tracing.check(f"cat {waking}/trigger")
    tracing.check(f"> {waking}/trigger; echo '!wakeup_latency' >> synthetic_events")


def snapshot_of(guest, action):
    """The last snapshot by the histogram: value and thread. The event is the last of its CPU there."""
    text = guest.check(f"echo 0 > tracing_on; cat {SWITCH}/hist")
    said = re.search(rf"\ttriggering value {{ {re.escape(action)} }}: +(\d+)\ttriggered by event with key: {{ next_pid: +(\d+) }}\n", text)
    snapshot = guest.check("cat snapshot").splitlines()
    event = [line for line in snapshot if f" next_pid={said[2]} " in line][-1]
    cpu = re.search(r" (\[\d+\]) ", event)[1]
    assert [line for line in snapshot if cpu in line][-1] == event
    guest.check("echo 1 > tracing_on; > trace")
    return int(said[1]), said[2], event, text


@eight
def test_snapshot_of_the_longest_wait(tracing):
    """The value is the greatest of all entries, and that of its own entry, with what it has saved."""
    waking = "events/sched/sched_waking"
    tracing.check(
        f"echo 1 > {waking}/enable; echo 1 > {SWITCH}/enable; "
        f"echo 'hist:keys=pid:ts0=common_timestamp.usecs if comm ~ \"hackbench*\"' > {waking}/trigger; "
        "echo 'hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmax($lat).save(next_comm,prev_pid,prev_comm):"
        f'onmax($lat).snapshot() if next_comm ~ "hackbench*"\' > {SWITCH}/trigger; hackbench 8 10 > /dev/null'
    )
    value, pid, event, text = snapshot_of(tracing, "onmax($lat)")
    maxima = {
        key: rest
        for key, *rest in re.findall(
            r"\{ next_pid: +(\d+) \} hitcount: .*\n\tmax: +(\d+)  next_comm: (\S+) +  " r"prev_pid: +(\d+)  prev_comm: (\S+)", text
        )
    }
    assert value == max(int(kept[0]) for kept in maxima.values())
    _, comm, prev_pid, prev_comm = maxima[pid]
    assert int(maxima[pid][0]) == value
    assert f" prev_comm={prev_comm} prev_pid={prev_pid} " in event and f" next_comm={comm} next_pid={pid} " in event
    tracing.check(f"> {SWITCH}/trigger; > {waking}/trigger; echo 0 > events/sched/enable; echo 0 > snapshot")


@eight
def test_snapshots_of_all_cpus_at_once(tracing):
    """Each switch wants one: the last has its event, whoever else has taken one meanwhile."""
    tracing.check(
        f"echo 1 > {SWITCH}/enable; "
        f"echo 'hist:keys=next_pid:who=next_pid:onchange($who).snapshot() if next_comm ~ \"hackbench*\"' > {SWITCH}/trigger"
    )
    for _ in range(4):
        tracing.check("hackbench 8 6 > /dev/null")
        value, pid, *_ = snapshot_of(tracing, "onchange($who)")
        assert str(value) == pid
    tracing.check(f"> {SWITCH}/trigger; echo 0 > {SWITCH}/enable; echo 0 > snapshot")
