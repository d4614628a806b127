"""Latency tracers: what they measure is what happened, and their output has the layout of Linux's.

Under -icount the guest's clock counts its instructions: a delay of so many microseconds is measured to
a few of them, however busy this machine is. With CPUs that run in parallel it may only take longer.
"""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

from mask import header, sample, strange  # noqa: E402

GUEST = {"tests": True}  # ktest
TRACERS = ("irqsoff", "preemptoff", "preemptirqsoff", "wakeup", "wakeup_rt")
EXACT = [{"build": "gcc", "cpus": 1, "icount": True}, {"build": "clang", "cpus": 1, "icount": True}]
exact = pytest.mark.parametrize("guest", EXACT[:1], indirect=True, ids=["gcc"])
both = pytest.mark.parametrize("guest", EXACT, indirect=True, ids=["gcc", "clang"])
RESET = "echo 1 > options/function-trace; echo 0 > options/display-graph; echo 0 > tracing_thresh; "


@pytest.fixture(autouse=True)
def latency_reset(tracing):
    yield
    tracing.check("echo nop > current_tracer; echo 1 > tracing_on; " + RESET)


def latency_of(text):
    return int(re.search(r"^# latency: (\d+) us, ", text, re.M)[1])


def places(text):
    return re.findall(r"^#  => (?:started at: |ended at:   )(\w+)$", text, re.M)


def measure(guest, tracer, command, options=""):
    """`trace` after `command`; the maximum agrees with it."""
    settings = "".join(f"echo {o} > trace_options; " for o in options.split())
    guest.check(
        f"echo nop > current_tracer; echo 0 > tracing_on; {settings}echo {tracer} > current_tracer; echo 1 > tracing_on; "
        f"{command}; echo 0 > tracing_on"
    )
    text = guest.check("cat trace")
    assert latency_of(text) == int(guest.check("cat tracing_max_latency"))
    return text


@exact
@pytest.mark.parametrize("clock", ["global", "uptime", "mono", "counter"])
def test_events_come_to_their_end_with_any_clock(tracing, clock):
    """A clock is read inside of each event: one that made events itself, by switching interrupts off, would go on for ever."""
    for tracer in TRACERS[:3]:
        tracing.check(f"echo {clock} > trace_clock; echo {tracer} > current_tracer")
        took = tracing.check("time echo hello > trace_marker")
        tracing.check("echo nop > current_tracer")
        assert float(re.match(r"real\t0m(\d\.\d{3})s\n$", took)[1]) < 0.01
    tracing.check("echo local > trace_clock")


@both
@pytest.mark.parametrize(
    "tracer, mode, factor, function",
    [
        ("irqsoff", "irq", 1, "delay_irqs_off"),
        ("irqsoff", "nested", 1, "delay_irqs_off"),
        ("preemptoff", "preempt", 1, "delay_preempt_off"),
        ("preemptoff", "nested", 3, "delay_nested"),
        ("preemptirqsoff", "irq", 1, "delay_irqs_off"),
        ("preemptirqsoff", "preempt", 1, "delay_preempt_off"),
        ("preemptirqsoff", "nested", 3, "delay_nested"),
    ],
)
def test_delay_is_measured(tracing, tracer, mode, factor, function):
    text = measure(tracing, tracer, f"preemptirq_delay {mode} 3000")
    assert 3000 * factor <= latency_of(text) <= 3000 * factor + 30
    assert places(text) == [function, function]
    assert re.search(r"#    \| task: preemptirq_dela-\d+ \(uid:0 nice:0 policy:0 rt_prio:0\)", text)
    assert f"delay_busy <-{function}" in text and "=> delay_run" in text
    first = [line for line in text.splitlines() if not line.startswith("#")][0]
    assert re.search(rf" 0us.: {function}\b", first)


@exact
def test_irqs_alone_are_not_preemption(tracing):
    assert latency_of(measure(tracing, "preemptoff", "preemptirq_delay irq 5000")) < 3000
    assert latency_of(measure(tracing, "irqsoff", "preemptirq_delay preempt 5000")) < 3000


SLOW = "timer_interrupt scheduler_tick sched_account sched_rt_tick sched_balance_tick timer_program"


@both
def test_interrupts_keep_preemption_off(tracing):
    """A tick that others make slow, and that comes when interrupts are on again, is the longest time of all."""
    tracing.check(
        f"mkdir instances/slow; echo {SLOW} > instances/slow/set_ftrace_filter; "
        "echo 1 > instances/slow/options/func_stack_trace; echo function > instances/slow/current_tracer; "
        + "".join(f"echo {name}:stacktrace >> set_ftrace_filter; " for name in SLOW.split())
    )
    found = set()
    for _ in range(8):  # one that comes while preemption is off already makes that time longer
        found |= set(places(measure(tracing, "preemptoff", "preemptirq_delay irq 5000", "nofunction-trace")))
        if found & {"trap_dispatch", "dispatch_irq"}:
            break
    tracing.check(
        "echo nop > instances/slow/current_tracer; rmdir instances/slow; "
        + "".join(f"echo '!{name}:stacktrace' >> set_ftrace_filter; " for name in SLOW.split())
    )
    assert found & {"trap_dispatch", "dispatch_irq"}, found


@exact
@pytest.mark.parametrize("tracer, mode", [("irqsoff", "irq"), ("preemptoff", "preempt"), ("preemptirqsoff", "preempt")])
def test_layout(tracing, tracer, mode):
    delay = f"preemptirq_delay {mode} 3000"
    for options, name in (
        ("", tracer),
        ("nofunction-trace", f"{tracer}-no-function-trace"),
        ("function-trace display-graph", f"{tracer}-display-graph"),
    ):
        text = measure(tracing, tracer, delay, options)
        assert header(text) == header(sample(name))
        assert strange(text, sample(name), sample("irqsoff-display-graph"), sample("graph-latency-format")) == []
        assert ("delay_busy" in text) == ("-no-" not in name)
    if mode == "irq":  # no tick comes between entry and return
        assert re.search(r"\| +3\d\d\d\.\d+ us \|.* delay_busy\(\);", text)


@exact
def test_layout_of_options(tracing):
    delay = "preemptirq_delay irq 3000"
    for options, name in (("verbose", "irqsoff-verbose"), ("sym-offset", "irqsoff-sym-offset")):
        text = measure(tracing, "irqsoff", delay)
        tracing.check(f"echo {options} > trace_options")
        text = tracing.check("cat trace")
        tracing.check(f"echo no{options} > trace_options")
        assert header(text) == header(sample(name))
        assert strange(text, sample(name)) == []
    tracing.check("echo nolatency-format > trace_options")
    assert header(tracing.check("cat trace")) == header(sample("irqsoff-no-latency-format"))


@both
def test_wakeup(tracing):
    for tracer in ("wakeup", "wakeup_rt"):
        text = measure(tracing, tracer, "chrt -f 50 sleep 0.01; chrt -f 50 sleep 0.01")
        assert header(text) == header(sample("wakeup_rt").replace("wakeup_rt", tracer))
        assert strange(text, sample("wakeup_rt").replace("wakeup_rt", tracer), sample("irqsoff")) == []
        assert re.search(r": +\d+:120:R   \+ \[000\] +\d+: 49:[RSD] sleep\n", text)
        assert re.search(r": +\d+:120:R ==> \[000\] +\d+: 49:R sleep\n", text)
        assert re.search(r"\| task: sleep-\d+ \(uid:0 nice:0 policy:1 rt_prio:50\)", text)
        assert 0 < latency_of(text) < 1000
        assert places(text) == []
        assert "sched_switch" in text
    text = measure(tracing, "wakeup_rt", "chrt -f 50 sleep 0.01", "nofunction-trace")
    assert "sched_pick_next" not in text and "==>" in text
    text = measure(tracing, "wakeup_rt", "chrt -f 50 sleep 0.01", "function-trace display-graph")
    graph = re.sub(r"#  => (started|ended) at: .*\n(#\n(?=#\n))?", "", sample("wakeup_rt-display-graph"))
    assert header(text) == header(graph)
    assert strange(text, graph, sample("irqsoff-display-graph"), sample("graph-latency-format")) == []
    assert re.search(r"\| +/\* +\d+:120:R ==> \[000\] +\d+: 49:R sleep \*/\n", text) and "sched_pick_next() {" in text
    tracing.check("echo 0 > options/display-graph")
    # It cannot run before preemption comes back.
    tracing.check("echo wakeup_rt > current_tracer; echo 1 > tracing_on")
    tracing.check("chrt -r 7 sleep 0.02 & sleep 0.001; preemptirq_delay preempt 30000; wait; echo 0 > tracing_on")
    assert 5000 < int(tracing.check("cat tracing_max_latency")) < 31000


@exact
def test_wakeup_follows_the_urgent(tracing):
    for tracer in ("wakeup", "wakeup_rt"):
        tracing.check(f"echo 1 > tracing_on; echo {tracer} > current_tracer; sleep 0.01; hackbench 1 5")
        assert tracing.check("cat trace") == f"# tracer: {tracer}\n#\n"
        assert tracing.check("cat tracing_max_latency") == "0\n"


@exact
def test_maximum_and_threshold(tracing):
    """Only what is longer than the maximum counts; with a threshold, everything at least as long."""
    delay = "preemptirq_delay irq"
    tracing.check(f"echo irqsoff > current_tracer; {delay} 4000; {delay} 2000")
    assert 4000 <= int(tracing.check("cat tracing_max_latency")) < 4030
    tracing.check(f"echo 9000 > tracing_max_latency; {delay} 5000")
    assert tracing.check("cat tracing_max_latency") == "9000\n"
    assert latency_of(tracing.check("cat trace")) < 4030
    tracing.check(f"echo 0 > tracing_max_latency; {delay} 2500")
    assert 2500 <= int(tracing.check("cat tracing_max_latency")) < 2530
    tracing.check(f"echo 3000 > tracing_thresh; {delay} 6000; {delay} 3500; {delay} 2900")
    assert 3500 <= int(tracing.check("cat tracing_max_latency")) < 3530
    assert 3500 <= latency_of(tracing.check("cat trace")) < 3530
    tracing.check("> trace")
    assert tracing.check("cat trace") == "# tracer: irqsoff\n#\n"
    tracing.check("echo 0 > tracing_thresh; echo preemptoff > current_tracer")
    assert int(tracing.check("cat tracing_max_latency")) < 3000  # a new tracer begins anew


@exact
def test_threshold_of_all_instances(tracing):
    """The root has the file; what it says holds in instances too."""
    delay, maximum = "preemptirq_delay irq", "cat instances/one/tracing_max_latency"
    tracing.check("mkdir instances/one; echo 500000 > tracing_thresh; echo irqsoff > instances/one/current_tracer; " f"{delay} 4000")
    assert tracing.check(maximum) == "0\n"
    tracing.check(f"echo 3000 > tracing_thresh; {delay} 4000; {delay} 3500; {delay} 2900")
    assert 3500 <= int(tracing.check(maximum)) < 3530
    tracing.check(
        "echo 0 > tracing_thresh; echo delay_busy delay_irqs_off > instances/one/set_ftrace_filter; "
        "echo function_graph > instances/one/current_tracer; echo 3000 > tracing_thresh; "
        f"{delay} 2900; {delay} 3500; echo 0 > instances/one/tracing_on"
    )
    assert re.findall(r"\} /\* (\w+) \*/$", tracing.check("cat instances/one/trace"), re.M) == ["delay_busy", "delay_irqs_off"]
    tracing.check("echo 0 > tracing_thresh; rmdir instances/one")


@exact
def test_options(tracing):
    """Set while such a tracer runs, and set back after it; overwrite cannot be cleared."""
    before = tracing.check("cat trace_options")
    assert "nolatency-format\n" in before and "nopause-on-trace\n" in before and "function-trace\n" in before
    tracing.check("echo 0 > options/overwrite; echo irqsoff > current_tracer")
    during = tracing.check("cat trace_options")
    assert "\nlatency-format\n" in during and "\npause-on-trace\n" in during and "\noverwrite\n" in during
    assert tracing.run("echo 0 > options/overwrite") == ("sh: write error: Invalid argument\n", 1)
    assert tracing.run("echo nooverwrite > trace_options") == ("sh: write error: Invalid argument\n", 1)
    assert tracing.check("cat options/overwrite") == "1\n"
    tracing.check("echo function > current_tracer")
    assert tracing.check("cat options/overwrite options/latency-format options/pause-on-trace") == "0\n0\n0\n"
    tracing.check("echo 1 > options/overwrite; echo nop > current_tracer")
    assert tracing.check("cat trace_options") == before


@exact
def test_filter_and_switch(tracing):
    tracing.check("echo delay_busy > set_ftrace_filter")
    text = measure(tracing, "irqsoff", "preemptirq_delay irq 3000")
    assert re.findall(r": (\w+) <-delay_irqs_off", text) == ["delay_busy", "critical_report"]
    tracing.check(
        "> set_ftrace_filter; echo irqsoff > current_tracer; echo 0 > tracing_max_latency; "
        "echo 0 > tracing_on; preemptirq_delay irq 9000"
    )
    assert int(tracing.check("cat tracing_max_latency")) < 9000
    tracing.check("echo 1 > tracing_on; preemptirq_delay irq 9000")
    assert int(tracing.check("cat tracing_max_latency")) >= 9000


def called(text):
    """Functions below the first end, and how deep."""
    lines = "\n".join([line for line in text.splitlines() if not line.startswith("#")][1:])
    if " |  " in lines:
        return [(name, len(indent) // 2) for indent, name in re.findall(r"\|  ( *)(\w+)\(\)(?:;| \{)$", lines, re.M)]
    return [(name, 0) for name in re.findall(r": (\w+) <-", lines)]


@exact
@pytest.mark.parametrize("form", ["nodisplay-graph", "display-graph"])
def test_thread_filters(tracing, form):
    """The two ends and the stack are there whoever runs; calls are those of the threads that are wanted."""
    for setting, is_wanted in (
        ("> set_ftrace_pid", True),
        ("echo 1 > set_ftrace_pid", False),
        ("> set_ftrace_pid; echo 1 > set_ftrace_notrace_pid", True),
        ("> set_ftrace_notrace_pid", True),
    ):
        tracing.check(setting)
        text = measure(tracing, "irqsoff", "preemptirq_delay irq 2000", form)
        assert text.count("delay_irqs_off") >= 4 and places(text) == ["delay_irqs_off"] * 2
        assert "=> delay_run" in text and ("delay_busy" in dict(called(text))) == is_wanted, setting


@exact
def test_settings_of_the_graph(tracing):
    """As for function_graph: how deep, from which functions on, below which not."""

    def graph(setting, tracer="wakeup_rt", command="chrt -f 50 sleep 0.01"):
        tracing.check("> set_graph_function; > set_graph_notrace; echo 0 > max_graph_depth; " + setting)
        return called(measure(tracing, tracer, command, "display-graph"))

    everything = graph("")
    assert max(depth for _, depth in everything) > 1 and ("sched_switch", 0) in everything
    assert {depth for _, depth in graph("echo 1 > max_graph_depth")} == {0}
    assert {depth for _, depth in graph("echo 2 > max_graph_depth")} == {0, 1}
    begin, first, *inside, end = graph("echo sched_switch > set_graph_function")
    assert begin == everything[0] and first == ("sched_switch", 0) and end == everything[-1]
    assert inside and min(depth for _, depth in inside) == 1
    outside = graph("echo sched_switch > set_graph_notrace")
    assert "sched_pick_next" in dict(everything) and "sched_pick_next" not in dict(outside)
    # A time begins at level 0, whatever the thread was in before.
    for setting, calls in (("", 1), ("echo 1 > max_graph_depth", 1), ("echo delay_busy > set_graph_notrace", 0)):
        assert graph(setting, "irqsoff", "preemptirq_delay irq 2000").count(("delay_busy", 0)) == calls


@exact
def test_one_instance_at_a_time(tracing):
    tracing.check("mkdir instances/lat; echo irqsoff > instances/lat/current_tracer; preemptirq_delay irq 3000")
    assert tracing.run("echo preemptoff > current_tracer")[0] == "sh: write error: Device or resource busy\n"
    assert tracing.check("cat current_tracer") == "nop\n"
    assert places(tracing.check("cat instances/lat/trace")) == ["delay_irqs_off"] * 2
    tracing.check("echo wakeup_rt > current_tracer")
    tracing.check("echo nop > instances/lat/current_tracer; rmdir instances/lat; echo preemptoff > current_tracer")


@pytest.mark.parametrize(
    "guest",
    [{"build": "gcc", "cpus": 2}, {"build": "gcc", "cpus": 4}, {"build": "clang", "cpus": 8}],
    indirect=True,
    ids=["gcc-2", "gcc-4", "clang-8"],
)
def test_parallel(tracing):
    """Every tracer under load: what is shown is longer than nothing, and begins where it says."""
    for tracer, mode in (("irqsoff", "irq"), ("preemptoff", "preempt"), ("preemptirqsoff", "nested")):
        tracing.check(f"echo {tracer} > current_tracer; hackbench 1 5 & preemptirq_delay {mode} 60000; wait; " "echo 0 > tracing_on")
        text = tracing.check("cat trace")
        assert latency_of(text) >= 60000 and latency_of(text) == int(tracing.check("cat tracing_max_latency"))
        events = [line for line in text.splitlines() if not line.startswith("#")]
        cpus = set(re.findall(r"-\d+ +(\d+)[.dDb][.N][.hHsSzZ]", text))
        assert cpus == {re.search(r" CPU#(\d+) ", text)[1]}
        assert places(text)[0] in events[0] or "<-" in events[0]
        tracing.check("echo 1 > tracing_on")
    tracing.check("echo wakeup_rt > current_tracer")
    tracing.check("hackbench 1 5 & for i in 1 2 3 4 5; do chrt -f 5 sleep 0.005; done; wait; echo 0 > tracing_on")
    text = tracing.check("cat trace")
    assert "policy:1 rt_prio:5" in text and re.search(r"==> \[\d+\] +\d+: 94:R sleep", text)
    tracing.check("echo nop > current_tracer; ktest rt_")


@pytest.mark.parametrize("tracer", ["irqsoff", "preemptirqsoff", "wakeup"])
def test_boot(guest_pool, tracer):
    if tracer == "wakeup":
        guest = guest_pool(cpus=2, cmdline="ftrace=wakeup trace_options=display-graph")
        assert guest.check("cat current_tracer options/display-graph") == "wakeup\n1\n"
        return
    guest = guest_pool(cpus=2, cmdline=f"ftrace={tracer}")
    assert guest.check("cat current_tracer") == tracer + "\n"
    assert int(guest.check("cat tracing_max_latency")) > 0
    assert "=> started at: " in guest.check("cat trace")


@pytest.mark.parametrize("guest", [{"build": "gcc", "cpus": 4}, {"build": "clang", "cpus": 8}], indirect=True, ids=["gcc-4", "clang-8"])
def test_switched_under_load(tracing):
    """Ops come and go while all CPUs run over their sites; in the end none is left."""
    tracers = "irqsoff wakeup preemptoff wakeup_rt preemptirqsoff function nop"
    printed = tracing.check(
        "stress locks 2 & for g in 0 1; do echo $g > options/display-graph; "
        f"for t in {tracers}; do echo $t > current_tracer; preemptirq_delay alternate 500; "
        "chrt -f 5 hackbench 1 2 > /dev/null; cat trace > /dev/null; done; done; wait"
    )
    assert re.fullmatch(r"stress: locks: \d+ rounds on \d+ CPUs, ok: no step of a counter lost under any lock\n", printed)
    tracing.check("echo irqsoff > current_tracer; echo nop > current_tracer; > trace; preemptirq_delay irq 1000")
    assert not [line for line in tracing.check("cat trace").splitlines() if not line.startswith("#")]
