"""The examples of Linux's documentation of histograms (Documentation/trace/histogram.rst), typed in its order.

On events of this kernel: what Linux shows on packets (`net`), system calls and TCP is shown on memory, softirqs and switches of
threads. Those for which there is a test elsewhere (test_hist.py, test_synthetic.py) are left out.
"""
import re

import pytest

KMALLOC, SWITCH, WAKING = "events/kmem/kmalloc", "events/sched/sched_switch", "events/sched/sched_waking"
NEW, EXIT = "events/sched/sched_wakeup_new", "events/sched/sched_process_exit"
WORK = "ls > /dev/null; hackbench 1 2 > /dev/null"
TOTALS = re.compile(r"\n\nTotals:\n    Hits: (\d+)\n    Entries: (\d+)\n    Dropped: 0\n")

four = pytest.mark.parametrize("guest", [{"cpus": 4}], indirect=True, ids=["4 CPUs"])
pytestmark = four


def shown(guest, spec, event=KMALLOC, work=WORK):
    """Lines of `hist` for a histogram while something happens; its removal with `!` leaves nothing."""
    guest.check(f"echo '{spec}' > {event}/trigger; {work}; echo '{spec}:pause' >> {event}/trigger")
    text = guest.check(f"cat {event}/hist")
    entries, hits = text.split("#\n\n", 1)[1].split("\n\nTotals:")[0], TOTALS.search(text)
    assert hits and entries
    guest.check(f"echo '!{spec}' >> {event}/trigger")
    assert guest.check(f"cat {event}/trigger").startswith("# Available triggers:")
    return entries + "\n", int(hits[1]), re.search(r"# trigger info: (.*)", text)[1]


# A key, as it is shown; what is listed.
KEYS = [
    ("call_site", r"\d{20}"),
    ("call_site.hex", r"f{8}[0-9a-f]{8}"),
    ("call_site.sym", r"\[f{8}[0-9a-f]{8}\] \w+ +"),
    ("call_site.sym-offset", r"\[f{8}[0-9a-f]{8}\] \w+\+0x[0-9a-f]+/0x[0-9a-f]+ +"),
    ("bytes_req.log2", r"~ 2\^\d+ *"),
    ("bytes_req.buckets=32", r"~ \d+-\d+"),
    ("common_pid.execname", r"\S+ +\[ +\d+\]"),
]


def test_who_asks_for_memory(tracing):
    """key= and val=, each way to show a key, the totals."""
    for key, form in KEYS:
        entries, hits, listed = shown(tracing, f"hist:key={key}:val=bytes_req")
        assert listed == f"hist:keys={key}:vals=hitcount,bytes_req:sort=hitcount:size=2048 [paused]"
        rows = [re.fullmatch(rf"{{ {key.split('.')[0]}: {form} }} hitcount: +(\d+)  bytes_req: +\d+", row) for row in entries.splitlines()]
        assert sum(int(row[1]) for row in rows) == hits
        assert [int(row[1]) for row in rows] == sorted(int(row[1]) for row in rows)


def test_values_and_order(tracing):
    """Several values and keys, sorted by a value, by two keys, in both directions; the special keys, and what only later versions have."""
    entries, *_ = shown(tracing, "hist:key=call_site.sym:val=bytes_req,bytes_alloc:sort=bytes_alloc.descending")
    sums = [(int(req), int(alloc)) for req, alloc in re.findall(r"  bytes_req: +(\d+)  bytes_alloc: +(\d+)\n", entries)]
    assert len(sums) == entries.count("\n") and all(req <= alloc for req, alloc in sums)
    assert [alloc for _, alloc in sums] == sorted((alloc for _, alloc in sums), reverse=True)
    entries, _, listed = shown(tracing, "hist:keys=bytes_req,common_pid:vals=bytes_alloc:sort=bytes_req,common_pid.descending:size=256")
    assert ":sort=bytes_req,common_pid.descending:size=256 " in listed
    keys = [(int(req), -int(pid)) for req, pid in re.findall(r"\{ bytes_req: +(\d+), common_pid: +(\d+) \}", entries)]
    assert keys and keys == sorted(keys)
    entries, *_ = shown(
        tracing, "hist:key=vec.syscall,common_pid.execname:val=hitcount:sort=vec,hitcount", "events/irq/softirq_entry", "sleep 0.02"
    )
    assert re.match(r"\{ vec: sys_\w+ +\[ +\d+\], common_pid: \S+ +\[ +\d+\] \} hitcount: +\d+\n", entries)
    for word in "stacktrace", "common_stacktrace":
        entries, *_ = shown(tracing, f"hist:key={word}:values=bytes_req,bytes_alloc:sort=bytes_alloc")
        assert re.match(
            rf"\{{ {word}:\n( {{9}}\w+(\.[\w.]+)?\+0x\w+/0x\w+\n)+\}} hitcount: +\d+  bytes_req: +\d+  bytes_alloc: +\d+\n", entries
        )
    entries, *_ = shown(tracing, "hist:keys=bytes_req:vals=hitcount.percent,hitcount.graph:NOHC")
    assert re.match(r"\{ bytes_req: +\d+ \}  hitcount \(%\): +\d+\.\d\d  hitcount: [# ]{20}\n", entries)


def test_between_two_events(tracing):
    """A paused histogram, which other events continue and pause; emptied; with the events themselves."""
    hist = "hist:key=stacktrace:vals=bytes_req"
    tracing.check(f"echo '{hist}:pause' > {KMALLOC}/trigger; {WORK}")
    assert "Hits: 0\n" in tracing.check(f"cat {KMALLOC}/hist")
    pairs = (
        (NEW, 'able_hist:kmem:kmalloc{} if comm=="ls"', "en"),
        (EXIT, 'able_hist:kmem:kmalloc{} if comm=="ls"', "dis"),
        (NEW, 'able_event:kmem:kmalloc{} if comm=="ls"', "en"),
        (EXIT, 'able_event:kmem:kmalloc{} if comm=="ls"', "dis"),
    )
    for event, text, prefix in pairs[:2]:
        tracing.check(f"echo '{prefix}{text.format('')}' >> {event}/trigger")
    tracing.check("ls > /dev/null")
    assert "[paused]" in tracing.check(f"cat {KMALLOC}/hist") and "Hits: 0\n" not in tracing.check(f"cat {KMALLOC}/hist")
    tracing.check(f"echo '{hist}:clear' >> {KMALLOC}/trigger")
    assert re.search(r"\[paused\]\n#\n\n\nTotals:\n    Hits: 0\n    Entries: 0\n", tracing.check(f"cat {KMALLOC}/hist"))
    for event, text, prefix in pairs[2:]:
        tracing.check(f"echo '{prefix}{text.format('')}' >> {event}/trigger")
    for event, prefix in (NEW, "en"), (EXIT, "dis"):
        listed = tracing.check(f"cat {event}/trigger").splitlines()
        assert sorted(listed) == sorted(p + text.format(":unlimited") for e, text, p in pairs if e == event)
    tracing.check("> trace; ls > /dev/null")
    hits = int(TOTALS.search(tracing.check(f"cat {KMALLOC}/hist"))[1])
    assert hits and tracing.check("cat trace").count(": kmalloc: ") == hits
    for event, text, prefix in pairs:
        tracing.check(f"echo '!{prefix}{text.format('')}' >> {event}/trigger")
    tracing.check(f"> {KMALLOC}/trigger")
    assert tracing.check(f"cat {KMALLOC}/enable") == "0\n"


def test_several_on_one_event(tracing):
    conditions = [" if bytes_req < 0", " if bytes_req > 4096", " if bytes_req == 256", ""]
    for condition in conditions:
        tracing.check(f"echo 'hist:keys=ptr.hex:vals=bytes_req{condition}' >> {KMALLOC}/trigger")
    tracing.check(f"echo 'hist:keys=bytes_req:vals=common_preempt_count' >> {KMALLOC}/trigger; {WORK}")
    texts = tracing.check(f"cat {KMALLOC}/hist; > {KMALLOC}/trigger").split("# event histogram\n")[1:]
    for text, condition in zip(texts, conditions):
        assert f"hist:keys=ptr.hex:vals=hitcount,bytes_req:sort=hitcount:size=2048{condition} [active]\n" in text
    hits = [int(TOTALS.search(text)[1]) for text in texts]
    assert len(texts) == 5 and hits[0] == 0 and hits[3] and hits[4]
    for text, passes in (texts[1], lambda bytes_req: bytes_req > 4096), (texts[2], lambda bytes_req: bytes_req == 256):
        for count, total in re.findall(r"hitcount: +(\d+)  bytes_req: +(\d+)\n", text):
            assert passes(int(total) // int(count))


def test_of_one_name(tracing):
    """Two events that have the same fields; two that have nothing in common but a stack."""
    both = (
        (KMALLOC, "events/kmem/kmem_cache_alloc", "hist:name=foo:keys=call_site.sym:vals=bytes_req", WORK),
        (
            "events/sched/sched_process_fork",
            "events/irq/softirq_entry",
            "hist:name=bar:key=stacktrace:val=hitcount",
            "true & wait; sleep 0.02",
        ),
    )
    for one, other, hist, work in both:
        tracing.check(f"for e in {one} {other}; do echo '{hist}' > $e/trigger; done; {work}; echo '{hist}:pause' >> {one}/trigger")
        assert tracing.check(f"cat {one}/hist") == tracing.check(f"cat {other}/hist")
        assert TOTALS.search(tracing.check(f"cat {one}/hist; for e in {one} {other}; do > $e/trigger; done"))[1] != "0"


VARIABLES = [
    ("hist:keys=next_pid:vals=$ts0:ts0=common_timestamp", "keys=next_pid:vals=hitcount,common_timestamp:ts0=common_timestamp"),
    ("hist:timer_pid=common_pid:key=$timer_pid", "keys=common_pid:vals=hitcount:timer_pid=common_pid"),
    ("hist:keys=next_pid:ts1=common_timestamp", "keys=next_pid:vals=hitcount:ts1=common_timestamp"),
    (
        "hist:keys=next_pid:vals=$ts0,$b:ts0=common_timestamp,b=next_prio",
        "keys=next_pid:vals=hitcount,common_timestamp,next_prio:ts0=common_timestamp,b=next_prio",
    ),
    (
        "hist:keys=next_pid:ts0=common_timestamp,b=next_prio:vals=$ts0,$b",
        "keys=next_pid:vals=hitcount,common_timestamp,next_prio:ts0=common_timestamp,b=next_prio",
    ),
    ("hist:keys=next_pid:ts0=common_timestamp:b=next_prio", "keys=next_pid:vals=hitcount:ts0=common_timestamp,b=next_prio"),
    ("hist:keys=next_pid:s=common_timestamp/1000000", "keys=next_pid:vals=hitcount:s=common_timestamp/1000000"),
]


def test_variables(tracing):
    for typed, listed in VARIABLES:
        assert shown(tracing, typed, SWITCH, "sleep 0.01")[2].startswith(f"hist:{listed}:sort=hitcount:size=2048")
    # A constant in a variable, and what is divided by it.
    tracing.check(
        f"echo 'hist:keys=next_pid:us_per_sec=1000000' >> {SWITCH}/trigger; "
        f"echo 'hist:keys=next_pid:s=common_timestamp/$us_per_sec:vals=$s' >> {SWITCH}/trigger; sleep 0.01; echo 0 > tracing_on"
    )
    text = tracing.check(f"cat {SWITCH}/hist; echo 1 > tracing_on; > {SWITCH}/trigger").split("# event histogram\n")[2]
    assert all(int(s) > 0 for s in re.findall(r" s: +(\d+)\n", text)) and " s: " in text
    # Latencies of two pairs of events, added in a third one.
    tracing.check(
        f"echo 'hist:keys=pid:ts0=common_timestamp' >> {WAKING}/trigger; "
        f"echo 'hist:keys=prev_pid:ts1=common_timestamp' >> {SWITCH}/trigger; "
        f"echo 'hist:keys=next_pid:wakeup_lat=common_timestamp-$ts0:off=common_timestamp-$ts1' >> {SWITCH}/trigger; "
        f"echo 'hist:key=pid:both=$wakeup_lat+$off:vals=$both' >> {WAKING}/trigger; {WORK}"
    )
    assert re.search(r"\{ pid: +\d+ \} hitcount: +\d+  both: +[1-9]\d*\n", tracing.check(f"cat {WAKING}/hist"))
    assert tracing.run(f"echo '!hist:keys=pid:ts0=common_timestamp' >> {WAKING}/trigger") == (
        "sh: write error: Device or resource busy\n",
        1,
    )
    tracing.check(f"echo '!hist:key=pid:both=$wakeup_lat+$off:vals=$both' >> {WAKING}/trigger; > {SWITCH}/trigger; > {WAKING}/trigger")


def test_stacks_in_events(tracing):
    """Where a thread went to sleep, and for how long, as an event; its stack as a key. Two blanks in front of `if`, as it is printed there."""
    tracing.check(
        "echo 's:block_lat pid_t pid; u64 delta; unsigned long[] stack;' > dynamic_events; "
        f"echo 'hist:keys=prev_pid:ts=common_timestamp.usecs,st=stacktrace  if prev_state == 1' >> {SWITCH}/trigger; "
        "echo 'hist:keys=next_pid:delta=common_timestamp.usecs-$ts,s=$st:onmax($delta).trace(block_lat,next_pid,$delta,$s)' "
        f">> {SWITCH}/trigger; echo 1 > events/synthetic/block_lat/enable; "
        "echo 'hist:keys=delta.buckets=100,stack.stacktrace:sort=delta' > events/synthetic/block_lat/trigger; sleep 0.02; "
        f"echo 'hist:keys=prev_pid:ts=common_timestamp.usecs,st=stacktrace:pause if prev_state == 1' >> {SWITCH}/trigger"
    )
    assert re.search(r": block_lat: pid=\d+ delta=\d{5,} stack=STACK:\n(=> .*\n)*=> cmd_sleep\+0x", tracing.check("cat trace"))
    text = tracing.check("cat events/synthetic/block_lat/hist")
    assert ":sort=delta.buckets=100:size=2048 [active]\n" in text
    assert re.search(
        r"\{ delta: ~ \d+00-\d+99, stack\.stacktrace:\n( {9}\S+\n)*? {9}cmd_sleep\+0x\S+\n( {9}\S+\n)*\} hitcount: +\d+\n", text
    )
    tracing.check(
        f"> events/synthetic/block_lat/trigger; echo 0 > events/synthetic/block_lat/enable; > {SWITCH}/trigger; > dynamic_events; > trace"
    )


def test_changes(tracing):
    """onchange with save() and snapshot(), which in that text are about the congestion window of TCP."""
    tracing.check(
        "echo 1 > events/sched/enable; echo 'hist:keys=prev_comm:st=prev_state:onchange($st).save(prev_pid,next_pid,next_comm):"
        f'onchange($st).snapshot() if prev_comm=="sleep"\' >> {SWITCH}/trigger; sleep 0; sleep 0'
    )
    for _ in range(100):  # the snapshot is taken behind the event, by a thread
        text = tracing.check(f"cat {SWITCH}/hist")
        if "Snapshot taken" in text:
            break
    text = tracing.check(f"echo 0 > tracing_on; cat {SWITCH}/hist")
    changed, pid = re.search(
        r"\{ prev_comm: sleep +\} hitcount: +\d+\n\tchanged: +(\d+)  prev_pid: +(\d+)  next_pid: +\d+  next_comm: \S+ *\n", text
    ).groups()
    assert re.search(
        r"\n\nSnapshot taken \(see tracing/snapshot\)\.  Details:\n\ttriggering value { onchange\(\$st\) }: +"
        + changed
        + r"\ttriggered by event with key: { prev_comm: sleep +}\n\nTotals:\n",
        text,
    )
    assert f" prev_comm=sleep prev_pid={pid} " in tracing.check("cat snapshot")
    tracing.check(f"> {SWITCH}/trigger; echo 0 > events/sched/enable; echo 1 > tracing_on; echo 0 > snapshot; > trace")


REFUSED = [
    ("hist:keys=bytes_req:vals=hitcount:nohitcount", "Non-hitcount value is required for 'nohitcount'"),
    ("hist:keys=bytes_req.execname", "Invalid field modifier"),
    ("hist:key=bytes_alloc:val=bytes_req.buckets=32", "Invalid field modifier"),
    ("hist:timer_pid=common_pid:key=timer_pid", "Couldn't find field"),
    ("enable_hist:kmem:kmfree if comm==sh", "there is no such event"),
    ("hist:keys=bytes_req:s=bytes_alloc/0", "Division by zero"),
    ("hist:keys=bytes_req:s=bytes_alloc/(1-1)", "Division by zero"),
]


def test_mistakes(tracing):
    for typed, why in REFUSED:
        out, status = tracing.run(f"echo '{typed}' >> {KMALLOC}/trigger")
        assert status == 1 and out.startswith("sh: write error: ")
        assert f": error: {why}\n  Command: {typed}\n" in tracing.check("cat error_log; > error_log")
    assert tracing.check(f"cat {KMALLOC}/trigger").startswith("# Available triggers:")
