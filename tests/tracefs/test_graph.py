"""function_graph as its users see it: forms, options, sets of functions, depth, threshold."""
import re
import sys
from pathlib import Path

import pytest

from guest import Guest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

from mask import header, nesting, sample, strange  # noqa: E402

# The calls of a wakeup and a switch, and what interrupts them.
FILTER = "echo '*sched*' 'vfs_*' timer_interrupt > set_ftrace_filter"
CALL = re.compile(r"^ *\d+\).*\|  ( *)([\w.]+)\(\)( \{|;)", re.M)
ARROW = re.compile(r"^.*(={10}>|<={10})( \|)?\n", re.M)
US = re.compile(r"(\d+(?:\.\d+)?) us +\|  +(.*)")


def plain(text):
    """Without what samples may lack by chance: the arrows of interrupts (x86 Linux has none since 5.8, its
    entry code is not traced), and names behind returns whose entry is older than the trace."""
    text = re.sub(r"^# (?=\d+\.\d* us)", "! ", text, flags=re.M)  # no line of a header
    return re.sub(r"\} /\* \S+ \*/", "}", ARROW.sub("", text)).removesuffix("\n")


def switch(option):
    return option[2:] if option.startswith("no") else "no" + option


def graph(guest, command, options="", lines=400, before=FILTER):
    """The first lines of `trace` after `command` ran under function_graph with `options`."""
    names = options.split()
    guest.check(f"{before}; echo function_graph > current_tracer")
    for name in names:
        guest.check(f"echo {name} > trace_options")
    try:
        guest.check(f"> trace; echo 1 > tracing_on; {command}; echo 0 > tracing_on")
        return guest.check(f"head -n {lines} trace")
    finally:
        for name in names:
            guest.check(f"echo {switch(name)} > trace_options")


@pytest.mark.parametrize(
    "name, options",
    [
        ("graph", ""),
        ("graph-overrun", "funcgraph-overrun"),
        ("graph-no-cpu", "nofuncgraph-cpu"),
        ("graph-no-overhead", "nofuncgraph-overhead"),
        ("graph-proc", "funcgraph-proc"),
        ("graph-no-duration", "nofuncgraph-duration"),
        ("graph-tail", "funcgraph-tail"),
        ("graph-abstime", "funcgraph-abstime"),
        ("graph-abstime-proc-tail-overrun", "funcgraph-abstime funcgraph-proc funcgraph-tail funcgraph-overrun"),
        ("graph-nothing", "nofuncgraph-cpu nofuncgraph-overhead nofuncgraph-duration"),
        ("graph-latency-format", "latency-format"),
        ("graph-latency-format-abstime-proc", "latency-format funcgraph-abstime funcgraph-proc"),
        ("graph-verbose", "verbose"),
        ("graph-raw", "raw"),
        ("graph-hex", "hex"),
        ("graph-sym-offset", "sym-offset"),
        ("graph-sym-addr", "sym-addr"),
        ("graph-no-context-info", "nocontext-info"),
        ("graph-no-irq-info", "noirq-info"),
        ("graph-no-annotate", "noannotate"),
    ],
)
def test_forms_are_those_of_linux(tracing, name, options):
    text = graph(tracing, "ls / /proc > /dev/null; sleep 0.01", options, 150)
    assert header(plain(text)) == header(plain(sample(name)))
    assert len(text.splitlines()) > 50
    if "funcgraph-tail" in options:
        assert "} /* " in text and "}\n" not in text
    assert strange(plain(text), plain(sample(name))) == []
    assert nesting(text) == []


@pytest.mark.parametrize("build, cpus", [("gcc", 1), ("gcc", 8), ("clang", 4)])
def test_any_number_of_cpus(guest_pool, build, cpus):
    """Every call on every CPU: nested as it was called, each return where its entry is."""
    guest = guest_pool(build=build, cpus=cpus)
    text = graph(guest, "hackbench 1 1", "funcgraph-tail", 1000, "> set_ftrace_filter")
    assert strange(plain(text), plain(sample("graph"))) == []
    assert nesting(text) == []
    guest.check("echo nop > current_tracer; echo 1 > tracing_on; > trace")


@pytest.mark.parametrize("build", ["gcc", "clang"])
@pytest.mark.parametrize("option", ["nofunc_stack_trace", "func_stack_trace"])
def test_other_tracers_see_who_called(guest_pool, build, option):
    """A function that another one ended with a jump to was called by the caller of that one, hooked or not."""
    guest = guest_pool(build=build, cpus=4)
    guest.check(
        "cd /sys/kernel/tracing; mkdir instances/graph; echo function_graph > instances/graph/current_tracer; "
        f"echo function > current_tracer; echo {option} > trace_options; > trace; hackbench 1 5; echo 0 > tracing_on"
    )
    assert guest.run("grep -c '<-return_to_handler' trace") == ("0\n", 1)
    assert int(guest.check("grep -c 'schedule <-' trace")) > 10
    guest.check(
        "echo nofunc_stack_trace > trace_options; echo nop > current_tracer; echo nop > instances/graph/current_tracer; "
        "rmdir instances/graph; echo 1 > tracing_on; > trace"
    )


def test_twelve_cpus_have_a_wider_column(guest_pool):
    guest = guest_pool(cpus=12)
    text = graph(guest, "hackbench 2 1")
    assert header(text) == header(sample("12-cpus-graph"))
    assert strange(plain(text), plain(sample("12-cpus-graph"))) == []
    assert re.search(r"^  \d\) .*sched", text, re.M)
    guest.check("echo nop > current_tracer; > set_ftrace_filter; echo 1 > tracing_on")


def test_durations_contain_those_inside(tracing):
    text = graph(
        tracing, "cat README > /dev/null; cat /proc/version", "funcgraph-tail", 2000, "echo vfs_open place_find > set_ftrace_filter"
    )
    inner = outer = None
    pairs = 0
    for us, what in US.findall(text):
        if what == "place_find();":
            inner = float(us)
        elif what == "} /* vfs_open */":
            outer = float(us)
            if inner is not None:
                assert outer > inner
                pairs += 1
            inner = None
    assert pairs >= 2


def test_pipe_and_each_cpu_show_the_same(tracing):
    whole = graph(tracing, "sleep 0.01", lines=100000)
    cpus = [tracing.check(f"cat per_cpu/cpu{cpu}/trace") for cpu in range(2)]

    def body(text, cpu):
        return [line for line in text.splitlines() if line.startswith(f" {cpu}) ")]

    for cpu in range(2):
        assert body(cpus[cpu], cpu) == body(whole, cpu)
    piped = tracing.check("cat trace_pipe")
    assert piped == whole.split("|   |   |   |\n", 1)[1]
    assert tracing.check("cat trace").count("\n") == 4


def test_only_functions_of_the_set_and_what_they_call(tracing):
    before = FILTER + "; echo vfs_open > set_graph_function"
    text = graph(tracing, "cat README > /dev/null; sleep 0.01", before=before)
    calls = CALL.findall(text)
    assert {name for indent, name, _ in calls if not indent} == {"vfs_open"}
    assert "vfs_mount_of" in {name for indent, name, _ in calls if len(indent) == 2}
    # Emptied while it runs: everything again.
    text = tracing.check("> set_graph_function; > trace; echo 1 > tracing_on; sleep 0.01; " "echo 0 > tracing_on; cat trace")
    assert "sched_switch" in text
    # And filled while it runs.
    text = tracing.check(
        "echo 'vfs_mount_o*' > set_graph_function; > trace; echo 1 > tracing_on; " "cat README > /dev/null; echo 0 > tracing_on; cat trace"
    )
    assert {name for indent, name, _ in CALL.findall(text) if not indent} == {"vfs_mount_of"}


def test_no_function_of_the_other_set_nor_what_it_calls(tracing):
    before = FILTER + "; echo vfs_open > set_graph_notrace"
    text = graph(tracing, "cat README > /dev/null; ls /proc", before=before)
    names = {name for _, name, _ in CALL.findall(text)}
    assert "vfs_open" not in names and "vfs_stat" in names
    assert not re.search(r"\|  +vfs_open|/\* vfs_open \*/", text)
    tracing.check("> set_graph_notrace; > trace; echo 1 > tracing_on; cat README > /dev/null")
    assert "vfs_open" in tracing.check("echo 0 > tracing_on; cat trace")


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_depth(tracing, depth):
    text = graph(tracing, "hackbench 1 1", before=f"{FILTER}; echo {depth} > max_graph_depth")
    assert {len(indent) for indent, _, _ in CALL.findall(text)} == {2 * n for n in range(depth)}
    tracing.check("echo 0 > max_graph_depth; > trace; echo 1 > tracing_on; hackbench 1 1; echo 0 > tracing_on")
    assert max(len(indent) for indent, _, _ in CALL.findall(tracing.check("cat trace"))) > 4


def test_threshold(tracing):
    before = "echo 'thread_sleep*' 'sched*' > set_ftrace_filter; echo 5000 > tracing_thresh"
    text = graph(tracing, "sleep 0.02; sleep 0.001", before=before)
    assert "() {" not in text and "();" not in text
    assert "} /* thread_sleep_ns */" in text
    assert all(float(us) >= 5000 for us, _ in US.findall(text))
    assert strange(ARROW.sub("", text).removesuffix("\n"), sample("graph-thresh"), sample("graph")) == []
    # Off again, while it runs.
    tracing.check("echo 0 > tracing_thresh; > trace; echo 1 > tracing_on; sleep 0.001; echo 0 > tracing_on")
    assert "() {" in tracing.check("cat trace")


def test_time_asleep(tracing):
    def longest(options):
        text = graph(tracing, "sleep 1", f"funcgraph-proc {options}", before="echo schedule_until > set_ftrace_filter")
        times = re.findall(r"sleep-\d+ +\| .? *([\d.]+) us", text)
        assert times, text
        return max(float(us) for us in times)

    # The second begins before the function: a busy machine may take the CPU between the two.
    assert longest("") >= 900000
    assert longest("nosleep-time") < 500000
    assert longest("") >= 900000


def test_values_and_callers(tracing):
    before = "echo vfs_open place_find > set_ftrace_filter"
    text = graph(tracing, "cat /nothing || true", "funcgraph-retval", before=before)
    assert re.search(r"\(\); /\* = -2 \*/|\} /\* vfs_open = -2 \*/", text)
    text = graph(tracing, "cat /nothing || true", "funcgraph-retval funcgraph-retval-hex", before=before)
    assert re.search(r" = 0x(ffffffff)?fffffffe \*/", text) and "= -2" not in text
    text = graph(tracing, "cat /nothing || true", "funcgraph-retaddr", before=before)
    assert re.search(r"place_find\(\);? (\{ )?/\* <-\w+\+0x[0-9a-f]+/0x[0-9a-f]+ \*/", text)
    # Callers are real, also when another user has hooked the return before.
    text = graph(tracing, "cat /nothing || true", "funcgraph-retaddr", before=before + "; echo 1 > function_profile_enabled")
    tracing.check("echo 0 > function_profile_enabled")
    assert "/* <-" in text and "return_to_handler" not in text
    text = graph(tracing, "cat /nothing || true", "funcgraph-retaddr funcgraph-retval", before=before)
    assert re.search(r"place_find\(\); /\* <-\w+\+0x[0-9a-f]+/0x[0-9a-f]+ ret=-2 \*/", text)
    assert "} /* vfs_open ret=-2 */" in text
    text = graph(tracing, "cat /nothing || true", before=before)
    assert "/*" not in text


def test_interrupts(tracing):
    before = "echo timer_interrupt scheduler_tick vfs_open > set_ftrace_filter"
    text = graph(tracing, "hackbench 1 600; cat README > /dev/null", before=before)
    entered, left = text.count("==========>"), text.count("<==========")
    assert entered >= 2 and abs(entered - left) <= 2
    assert set(re.findall(r"^ \d(\) .*=====.*)\n", text, re.M)) == {")   ==========> |", ")   <========== |"}
    assert re.search(r"^ \d\)   ==========> \|\n \d\) .*\|  +timer_interrupt\(\)", text, re.M)
    text = graph(tracing, "hackbench 1 600; cat README > /dev/null", "nofuncgraph-irqs", before=before)
    assert "=====" not in text and "timer_interrupt" not in text and "vfs_open" in text
    # Nothing of what they call: no line in hardirq context.
    tracing.check("echo nofuncgraph-irqs > trace_options; echo latency-format > trace_options")
    text = tracing.check("cat trace; echo nolatency-format > trace_options; echo funcgraph-irqs > trace_options")
    assert not re.search(r"^ \d\)  ..[hH].. \|.*\(\)", text, re.M)


def test_comments(tracing):
    text = graph(tracing, "echo hello graph > trace_marker", before="echo 'trace_file_*' > set_ftrace_filter")
    assert re.search(r"^ \d\)               \|  +/\* hello graph \*/$", text, re.M)
    assert strange(plain(text), sample("graph"), sample("graph-comments")) == []


def test_switches_name_both_threads(tracing):
    text = graph(tracing, "sleep 0.02", lines=2000)
    blocks = re.findall(r"^ -{42}\n \d\) ([^\n]{14}) => ([^\n]{14})\n -{42}\n\n", text, re.M)
    assert any("sleep-" in old + new for old, new in blocks)
    assert any("<idle>-0" in old + new for old, new in blocks)


def test_threads_of_a_set(tracing):
    """set_ftrace_pid: calls of other threads are not recorded."""
    before = f"{FILTER}; echo $$ > set_ftrace_pid"
    text = graph(tracing, "hackbench 1 1; echo x > /dev/null", "funcgraph-proc", before=before)
    pids = set(re.findall(r"^ \d\) +\S+-(\d+) +\|", text, re.M))
    assert len(pids) == 1


def test_two_instances_at_once(tracing):
    tracing.check("mkdir instances/graph; echo place_find > instances/graph/set_ftrace_filter")
    tracing.check("echo function_graph > instances/graph/current_tracer")
    try:
        text = graph(tracing, "cat README > /dev/null", before="echo vfs_open > set_ftrace_filter")
        other = tracing.check("echo 0 > instances/graph/tracing_on; cat instances/graph/trace")
        assert {name for _, name, _ in CALL.findall(text)} == {"vfs_open"}
        assert {name for _, name, _ in CALL.findall(other)} == {"place_find"}
        assert header(other) == header(sample("graph"))
    finally:
        tracing.check("echo nop > instances/graph/current_tracer; rmdir instances/graph")


def test_boot_parameters():
    cmdline = (
        "ftrace=function_graph ftrace_graph_filter=vfs_*,no_such_function ftrace_graph_notrace=vfs_init "
        "ftrace_graph_max_depth=2 trace_options=funcgraph-proc ftrace_dump_on_oops"
    )
    with Guest("gcc", 2, cmdline=cmdline) as guest:
        assert "ftrace_graph_filter: no function matches no_such_function" in guest.check("dmesg")
        assert guest.check("cat current_tracer max_graph_depth set_graph_notrace") == "function_graph\n2\nvfs_init\n"
        assert "vfs_open\n" in guest.check("cat set_graph_function")
        text = guest.check("ls / > /dev/null; echo 0 > tracing_on; cat trace")
        assert header(text) == header(sample("graph-proc"))
        calls = re.findall(r"us +\|  ( *)(\w+)\(\)|\|               \|  ( *)(\w+)\(\)", text)
        assert {len(a or b) for a, _, b, _ in calls} <= {0, 2}
        assert all((b or d).startswith("vfs_") for a, b, c, d in calls if not (a or c))
        guest.check("> set_graph_function; echo 0 > max_graph_depth; echo 1 > tracing_on; hackbench 1 2")
        guest.send("panic\r")
        before, _ = guest.expect(rb"end of panic")
    text = before.decode("utf-8", "replace").replace("\r\n", "\n")
    dump = re.search(r"^Dumping ftrace buffer:\n-+\n(\([^\n]*\n)?(.*?)^-{33}\n", text, re.M | re.S).group(2)
    assert dump.count(";\n") > 20
    assert strange(plain(dump), sample("graph-proc")) == []
