"""trace, trace_pipe, trace_pipe_raw: what was recorded, all of it, in order, once."""
import re

LINE = re.compile(r"^ *(\S.*)-(\d+) +\[(\d{3})\] (.{5}) +(\d+\.\d{6}): (\S+) <-(\S+)$", re.M)


def stats(guest, cpu):
    text = guest.check(f"cat per_cpu/cpu{cpu}/stats")
    return {k: float(v) for k, v in re.findall(r"^([a-z ]+): +([\d.]+)$", text, re.M)}


def record(guest, command="hackbench 1 20", functions="*sched*"):
    guest.check(f"echo '{functions}' > set_ftrace_filter; echo function > current_tracer")
    guest.check(command)
    guest.check("echo 0 > tracing_on")


def test_every_event_of_every_cpu_is_in_trace(tracing):
    record(tracing)
    per_cpu = [stats(tracing, cpu) for cpu in range(2)]
    text = tracing.check("cat trace")
    entries, written = re.search(r"written: (\d+)/(\d+) +#P:2", text).groups()
    assert int(entries) == sum(s["entries"] for s in per_cpu) == len(LINE.findall(text)) > 100
    assert int(written) == int(entries) + sum(s["overrun"] for s in per_cpu)
    for cpu in range(2):
        own = tracing.check(f"cat per_cpu/cpu{cpu}/trace")
        assert len(LINE.findall(own)) == per_cpu[cpu]["entries"]
        assert {m[2] for m in LINE.findall(own)} == {f"{cpu:03d}"}


def test_lines_are_in_order_of_time(tracing):
    record(tracing)
    times = [float(m[4]) for m in LINE.findall(tracing.check("cat trace"))]
    assert times == sorted(times)


def test_reading_trace_consumes_nothing(tracing):
    record(tracing)
    assert tracing.check("cat trace") == tracing.check("cat trace")


def test_trace_pipe_consumes_the_same_lines(tracing):
    record(tracing)
    lines = [line for line in tracing.check("cat trace").splitlines() if not line.startswith("#")]
    assert tracing.check("cat trace_pipe").splitlines() == lines
    assert not LINE.findall(tracing.check("cat trace"))
    s = stats(tracing, 0)
    assert s["entries"] == 0 and s["read events"] > 0


def test_accounting_after_overruns(tracing):
    tracing.check("echo 16 > buffer_size_kb")
    record(tracing, "hackbench 1 20", "*")
    total = [stats(tracing, cpu) for cpu in range(2)]
    assert sum(s["overrun"] for s in total) > 0
    text = tracing.check("cat trace_pipe")
    lost = sum(int(n) for n in re.findall(r"^CPU:\d+ \[LOST (\d+) EVENTS\]$", text, re.M))
    after = [stats(tracing, cpu) for cpu in range(2)]
    for before, now in zip(total, after):
        assert now["read events"] == before["entries"]
        assert now["overrun"] == before["overrun"] and now["entries"] == 0
    assert lost == sum(s["overrun"] for s in total)


def test_drop_mode_keeps_the_oldest(tracing):
    tracing.check("echo 64 > buffer_size_kb; echo 0 > options/overwrite; echo function > current_tracer")
    tracing.check("hackbench 1 20; echo 0 > tracing_on")
    s = [stats(tracing, cpu) for cpu in range(2)]
    assert sum(x["dropped events"] for x in s) > 0 and sum(x["overrun"] for x in s) == 0


def test_buffer_started_line(tracing):
    """Once events were overwritten, the place is marked where the other CPU's buffer begins."""
    tracing.check("echo 16 > buffer_size_kb")
    record(tracing, "hackbench 1 20", "*")
    text = tracing.check("cat trace")
    assert len(re.findall(r"^##### CPU \d buffer started ####$", text, re.M)) == 1


def test_ctrl_c_ends_trace_pipe(tracing):
    tracing.send("echo go > trace_marker; cat trace_pipe\r")
    tracing.expect(rb": go\r\n")
    tracing.send("\x03")
    assert tracing.wait_prompt().endswith("^C\n")
    assert tracing.check("echo alive") == "alive\n"


def test_trace_pipe_waits_then_ends_when_tracing_stops(tracing):
    output = tracing.check(
        "echo one > trace_marker; cat trace_pipe & sleep 0.3; echo two > trace_marker; " "sleep 0.3; echo 0 > tracing_on; wait"
    )
    assert re.fullmatch(
        r" +sh-\d+ +\[\d{3}\] \.{5} +\d+\.\d{6}: tracing_mark_write: one\n"
        r" +sh-\d+ +\[\d{3}\] \.{5} +\d+\.\d{6}: tracing_mark_write: two\n",
        output,
    )


def test_one_trace_pipe_at_a_time(tracing):
    output, status = tracing.run(
        "echo x > trace_marker; cat trace_pipe > /tmp/read & until test -s /tmp/read; do sleep 0.01; done; "
        "rm /tmp/read; cat trace_pipe; r=$?; "
        "echo function > current_tracer; echo 0 > tracing_on; kill $!; wait; "
        "echo $r"
    )
    assert "cat: trace_pipe: Device or resource busy\n" in output
    assert "sh: write error: Device or resource busy\n" in output
    assert tracing.check("cat current_tracer") == "nop\n"


def test_raw_pages(tracing):
    record(tracing)
    entries = stats(tracing, 0)["entries"]
    size = int(tracing.check("cat per_cpu/cpu0/trace_pipe_raw | wc -c"))
    assert size > 0 and size % 4096 == 0
    s = stats(tracing, 0)
    assert s["read events"] == entries and s["entries"] == 0


def test_names_of_threads_that_are_gone(tracing):
    record(tracing, functions="do_exit")
    names = {m[0] for m in LINE.findall(tracing.check("cat trace"))}
    assert "hackbench" in names or any(n.startswith("hackbench") or n == "sender" for n in names), names
    assert "<...>" not in names


def test_interrupts_are_marked(tracing):
    record(tracing, "hackbench 2 200", "scheduler_tick schedule")  # an idle CPU has no tick
    ticks = [m[3] for m in LINE.findall(tracing.check("grep scheduler_tick trace | tail -n 200"))]
    assert ticks and all(flags[0] in "dD" and flags[2] in "hH" for flags in ticks)
    calls = [m[3] for m in LINE.findall(tracing.check("grep ': schedule <-' trace | tail -n 200"))]
    assert calls and all(flags[2] == "." for flags in calls)


def test_reading_files_interrupts_no_other_cpu(tracing):
    """Memory of an open file is freed without a word to the other CPUs, which may be idle."""
    calls = "irqs | grep call"
    before = tracing.check(calls)
    assert len(tracing.check("cat options/* set_event tracing_on").splitlines()) > 20
    assert tracing.check(calls) == before
