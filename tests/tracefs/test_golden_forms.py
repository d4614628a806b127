"""Forms that tests of their features do not compare with Linux's: parts of a trace, pipes, interrupts, empty traces."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

from mask import header, sample, strange  # noqa: E402

GUEST = {"tests": True}  # bench
INVALID = "sh: write error: Invalid argument\n"
FILTER = "echo '*sched*' 'vfs_*' timer_interrupt > set_ftrace_filter"


@pytest.fixture
def forms(tracing):
    yield tracing
    for option in ("latency-format", "verbose", "func-no-repeats", "funcgraph-proc", "funcgraph-abstime", "display-graph"):
        tracing.run(f"echo no{option} > trace_options 2> /dev/null")
    tracing.run(
        "for o in context-info irq-info funcgraph-cpu funcgraph-duration funcgraph-irqs function-trace; "
        "do echo $o > trace_options; done 2> /dev/null; echo nop > current_tracer; echo 0 > snapshot"
    )


def record(guest, tracer, command, functions=FILTER):
    guest.check(
        f"{functions}; echo 0 > tracing_on; echo {tracer} > current_tracer; > trace; echo 1 > tracing_on; "
        f"{command}; echo 0 > tracing_on"
    )


def read(guest, options="", path="trace", lines=200):
    """The head of a file as it is under `options`."""
    names = options.split()
    guest.check("; ".join([f"echo {name} > trace_options" for name in names] or ["true"]))
    text = guest.check(f"head -n {lines} {path}")
    back = [name[2:] if name.startswith("no") else "no" + name for name in names]
    guest.check("; ".join([f"echo {name} > trace_options" for name in back] or ["true"]))
    return text


def close(text):
    """As in samples of other lengths: no long durations, no names behind returns whose entry is older."""
    text = re.sub(r"^((?:.*?\) )?)[$@*#] (?=\d+\.?\d* us)", r"\1! ", text, flags=re.M)
    return re.sub(r"\} /\* \S+ \*/", "}", text).removesuffix("\n")


def traces(name):
    """The traces of a sample, one behind the other."""
    return re.split(r"(?m)^(?=# tracer: )", sample(name))[1:]


def same(text, *names):
    want = traces(names[0])[0]
    if "=> started at" not in text:  # where irqsoff had run before, wakeup's header has its places too
        want = re.sub(r"#  => (started|ended) at: .*\n(#\n(?=#\n))?", "", want)
    assert header(text) == header(want)
    assert strange(close(text), *(close(sample(name)) for name in names)) == []


def test_function(forms):
    record(forms, "function", "hackbench 1 1")
    for cpu in (0, 1):
        text = read(forms, path=f"per_cpu/cpu{cpu}/trace")
        same(text, "function-per-cpu", "function")
        assert set(re.findall(r" \[(\d+)\] ", text)) == {f"00{cpu}"}
    whole = forms.check("cat trace | grep -v '^#' | head -n 50")
    piped = forms.check("head -n 50 trace_pipe")
    assert piped == whole and strange(piped, sample("function-trace-pipe")) == []


def test_lost_events_of_the_latency_format(forms):
    forms.check("echo 8 > buffer_size_kb")
    record(forms, "function", "hackbench 1 20", "> set_ftrace_filter")
    text = read(forms, "latency-format", "trace_pipe", 500)
    assert strange(text, sample("function-lost-latency-format"), sample("function-latency-format")) == []
    assert re.search(r"^CPU:\d \[LOST \d+ EVENTS\]$", text, re.M)


def test_repeats(forms):
    forms.check(
        "echo bench_target > set_ftrace_filter; echo function > current_tracer; echo func-no-repeats > trace_options; "
        "> trace; bench op_empty > /dev/null; echo 0 > tracing_on"
    )
    same(read(forms, "latency-format"), "function-no-repeats-latency-format")
    text = read(forms, "nocontext-info sym-offset")
    assert strange(text, sample("function-no-repeats-no-context-info")) == []
    assert text.count("(repeats: ") > 1


def test_prints(forms):
    forms.check("> trace; echo a marker > trace_marker; echo 0 > tracing_on")
    assert read(forms, "printk-msg-only").endswith("FUNCTION\n#              | |         |   |||||     |         |\na marker\n")
    same(read(forms, "sym-offset"), "trace-printk-sym")


@pytest.mark.parametrize(
    "name, options",
    [
        ("graph-irq-entry", ""),
        ("graph-irq-entry-latency-format", "latency-format"),
        ("graph-irq-entry-no-duration", "nofuncgraph-duration"),
        ("graph-irq-entry-proc-abstime", "funcgraph-proc funcgraph-abstime nofuncgraph-cpu"),
    ],
)
def test_interrupts(forms, name, options):
    """Their arrows are compared here, and nowhere else left out."""
    record(forms, "function_graph", "hackbench 1 3000", "echo timer_interrupt scheduler_tick > set_ftrace_filter")
    text = read(forms, options, lines=100)
    assert header(text) == header(sample(name))
    arrows = [line for line in text.splitlines() if "=====" in line]
    assert len(arrows) > 1
    assert strange("\n".join(arrows), sample(name)) == []


def test_graph(forms):
    record(forms, "function_graph", "hackbench 1 1; sleep 0.01")
    for cpu in (0, 1):
        same(drop_arrows(read(forms, path=f"per_cpu/cpu{cpu}/trace")), "graph-per-cpu", "graph")
    same(drop_arrows(read(forms, "latency-format noirq-info")), "graph-no-irq-info-latency-format", "graph-latency-format")
    piped = drop_arrows(read(forms, path="trace_pipe", lines=60))
    assert strange(close(piped), close(sample("graph-trace-pipe")), close(sample("graph"))) == []
    piped = drop_arrows(read(forms, "latency-format", "trace_pipe", 60))
    assert strange(close(piped), close(sample("graph-trace-pipe-latency-format")), close(sample("graph-latency-format"))) == []
    forms.check("echo 2 > max_graph_depth")
    record(forms, "function_graph", "hackbench 1 1")
    same(drop_arrows(read(forms)), "graph-depth-2", "graph")
    forms.check("echo 0 > max_graph_depth")
    record(forms, "function_graph", "hackbench 1 1", "echo nofuncgraph-irqs > trace_options; " + FILTER)
    same(read(forms), "graph-no-irqs", "graph-interrupts-no-irqs")


def drop_arrows(text):
    return re.sub(r"^.*(={10}>|<={10})( \|)?\n", "", text, flags=re.M)


def test_graph_of_other_clocks(forms):
    parts = dict(re.findall(r"^--- (\S+)\n(.*?)(?=^--- |\Z)", sample("graph-clocks"), re.M | re.S))
    for clock, part in parts.items():
        forms.check(f"echo {clock} > trace_clock")
        record(forms, "function_graph", "hackbench 1 1")
        text = drop_arrows(read(forms, "funcgraph-abstime"))
        assert header(text) == header(part)
        assert strange(close(text), close(part), close(sample("graph-abstime"))) == []
    assert len(parts) == 3


def test_graph_that_lost_its_beginning(forms):
    forms.check("echo 8 > buffer_size_kb")
    record(forms, "function_graph", "hackbench 1 20", "> set_ftrace_filter")
    text = drop_arrows(read(forms, lines=1000))
    same(text, "graph-buffers-begin", "graph")
    assert "buffer started" not in text  # only the function tracer's text says that


def test_nothing_recorded(forms):
    for tracer, usual, latency in (("function_graph", "graph-empty", "graph-empty-latency-format"),):
        record(forms, tracer, "true", "echo no_such > set_ftrace_filter 2> /dev/null; echo 0 > tracing_on; " + FILTER)
        forms.check("> trace")
        assert read(forms) == sample(usual)
        assert read(forms, "latency-format") == sample(latency)
    for tracer, name in (("irqsoff", "irqsoff-empty"), ("wakeup_rt", "wakeup-empty")):
        forms.check(f"echo 0 > tracing_on; echo {tracer} > current_tracer")
        assert forms.check("cat trace") == re.sub(r"^\d+\n", "", sample(name))


@pytest.mark.parametrize("guest", [{"cpus": 12}], indirect=True)
def test_twelve_cpus(guest, forms):
    record(forms, "function", "hackbench 2 1")
    for options, wide in zip(("", "latency-format"), traces("12-cpus-function")):
        text = read(forms, options)
        assert header(text) == header(wide) and strange(text, wide) == []
    record(forms, "function_graph", "hackbench 2 1")
    same(drop_arrows(read(forms)), "12-cpus-graph", "12-cpus-graph-switches")
    same(
        drop_arrows(read(forms, "latency-format funcgraph-proc funcgraph-abstime")),
        "12-cpus-graph-latency-format",
        "12-cpus-graph-switches",
    )
    forms.check(
        "echo nop > current_tracer; echo delay_busy > set_ftrace_filter; echo display-graph > trace_options; echo irqsoff > current_tracer; echo 1 > tracing_on; "
        "preemptirq_delay irq 3000; echo 0 > tracing_on"
    )
    # Whoever ran before on the CPU may still be in the buffer.
    same(forms.check("cat trace"), "12-cpus-irqsoff-display-graph", "12-cpus-graph-switches")


def test_latency(forms):
    def measure(tracer, command, options=""):
        forms.check(
            "echo nop > current_tracer; echo 0 > tracing_on; > set_ftrace_filter; "
            + "".join(f"echo {o} > trace_options; " for o in options.split())
            + f"echo {tracer} > current_tracer; echo 1 > tracing_on; {command}; echo 0 > tracing_on"
        )
        return forms.check("cat trace")

    rt = "chrt -f 50 sleep 0.01; chrt -f 50 sleep 0.01"
    same(measure("wakeup_rt", rt, "nofunction-trace"), "wakeup_rt-no-function-trace", "wakeup_rt", "irqsoff")
    text = measure("wakeup_rt", rt, "function-trace")
    text = read(forms, "verbose", lines=1000)
    same(text, "wakeup_rt-verbose", "irqsoff-verbose", "function-latency-format-verbose")
    same(measure("wakeup", rt, "nofunction-trace"), "wakeup-no-function-trace", "wakeup_rt-no-function-trace", "wakeup_rt", "irqsoff")
    same(
        measure("wakeup", rt, "function-trace display-graph"),
        "wakeup-display-graph",
        "wakeup_rt-display-graph",
        "graph-latency-format",
        "irqsoff-display-graph",
    )
    # funcgraph-* are options of another tracer.
    assert forms.run("echo funcgraph-proc > trace_options; echo funcgraph-abstime > trace_options")[0] == INVALID * 2
    text = measure("irqsoff", "preemptirq_delay irq 3000")
    assert header(text) == header(sample("irqsoff-display-graph-proc-abstime").replace(INVALID, ""))
    forms.check("echo 2000 > tracing_thresh")
    text = measure(
        "irqsoff", "preemptirq_delay irq 3000; preemptirq_delay irq 5000; preemptirq_delay irq 3000", "nodisplay-graph nofunction-trace"
    )
    forms.check("echo 0 > tracing_thresh; echo function-trace > trace_options")
    same(text, "irqsoff-thresh", "irqsoff-no-function-trace")
    assert int(re.search(r"^# latency: (\d+) us", text, re.M)[1]) >= 2000


def test_snapshots(forms):
    record(forms, "function_graph", "hackbench 1 1; echo 1 > snapshot")
    same(drop_arrows(forms.check("head -n 150 snapshot")), "graph")
    assert header(forms.check("cat snapshot")) == header(sample("graph"))
