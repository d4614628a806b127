"""The text of `trace` has the layout of a real Linux 6.1, byte for byte: tests/golden has its output."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

from mask import header, sample, strange, transcript  # noqa: E402

PRINTS = (
    "echo a marker > trace_marker; printf 'no newline' > trace_marker; echo > trace_marker; "
    r"printf '\001\000\000\000raw' > trace_marker_raw"
)


def opposite(option):
    return option[2:] if option.startswith("no") else "no" + option


def printed(guest, tracer, options, command):
    """The text of `trace` under `options` after `command` ran under `tracer`."""
    guest.check(f"echo {tracer} > current_tracer; > trace; {command}; echo 0 > tracing_on")
    for option in options:
        guest.check(f"echo {option} > trace_options")
    try:
        return guest.check("cat trace | head -n 400")
    finally:
        for option in options:
            guest.check(f"echo {opposite(option)} > trace_options")


def check(text, *names):
    """Same header as the first sample, no line of a form that none of them has."""
    assert header(text) == header(sample(names[0]))
    assert strange(text, *map(sample, names)) == []


@pytest.mark.parametrize(
    "name, options",
    [
        ("function", ""),
        ("function-no-print-parent", "noprint-parent"),
        ("function-sym-offset", "sym-offset"),
        ("function-sym-addr", "sym-addr"),
        ("function-sym-offset-addr", "sym-offset sym-addr"),
        ("function-verbose", "verbose"),
        ("function-raw", "raw"),
        ("function-hex", "hex"),
        ("function-no-irq-info", "noirq-info"),
        ("function-no-context-info", "nocontext-info"),
        ("function-no-annotate", "noannotate"),
        ("function-latency-format", "latency-format"),
        ("function-latency-format-verbose", "latency-format verbose"),
        ("function-latency-format-no-irq-info", "latency-format noirq-info"),
        ("function-latency-format-no-context-info", "latency-format nocontext-info"),
        ("function-latency-format-sym-addr", "latency-format sym-addr"),
    ],
)
def test_function(tracing, name, options):
    tracing.check("echo '*sched*' > set_ftrace_filter")
    text = printed(tracing, "function", options.split(), "hackbench 1 1")
    check(text, name)
    assert len(text.splitlines()) > 50


@pytest.mark.parametrize(
    "name, options",
    [
        ("trace-printk", ""),
        ("trace-printk-latency-format", "latency-format"),
        ("trace-printk-no-context-info", "nocontext-info"),
        ("trace-printk-raw", "raw"),
        ("trace-printk-hex", "hex"),
    ],
)
def test_prints(tracing, name, options):
    check(printed(tracing, "nop", options.split(), PRINTS), name)


@pytest.mark.parametrize("options", ["", "latency-format", "latency-format verbose"])
@pytest.mark.parametrize("clock", ["global", "counter", "uptime", "mono", "x86-tsc"])
def test_clocks(tracing, clock, options):
    tracing.check(f"echo '*sched*' > set_ftrace_filter; echo {clock} > trace_clock")
    text = printed(tracing, "function", options.split(), "hackbench 1 1")
    # The latency of the header is the clock's, whatever it counts.
    assert strange("\n".join(l for l in text.splitlines() if not l.startswith("#")), sample("clocks")) == []
    assert text.count("<-") > 20


def test_overruns(tracing):
    tracing.check("echo 8 > buffer_size_kb; echo function > current_tracer; hackbench 1 20; echo 0 > tracing_on")
    text = tracing.check("cat trace")
    check(text, "function", "function-buffers-begin")
    assert "buffer started ####" in text
    text = tracing.check("cat trace_pipe")
    assert strange(text, sample("function"), sample("function-lost")) == []
    assert "[LOST " in text
    stats = tracing.check("cat per_cpu/cpu0/stats")
    assert strange(stats, sample("function-lost")) == []


def test_nothing_recorded(tracing):
    text = sample("function-empty")
    usual = printed(tracing, "function", [], "echo 0 > tracing_on; > trace")
    latency = printed(tracing, "function", ["latency-format"], "echo 0 > tracing_on; > trace")
    assert usual in text
    assert latency in text


def test_enabled_functions(tracing):
    tracing.check("echo '*sched*' > set_ftrace_filter; echo function > current_tracer")
    assert strange(tracing.check("cat enabled_functions"), sample("enabled-functions")) == []


# Functions of Linux's guest, and ours that stand for them.
STAND_INS = (("gold_leaf2", "sched_switch"), ("gold_leaf", "sched_account"), ("gold_tail", "sched_pull"))
# docs/tracefs.md: sizes count the head of a sub-buffer; error_log knows more; no `ls` in columns.
OURS = re.compile(r"cat (per_cpu/cpu0/)?buffer_size_kb|cat error_log|ls .*|.*buffer_subbuf_size_kb")  # the last: of 6.8
# Where Linux cuts a number to 32 bits, we refuse it.
STRICTER = {"echo 4294967296 > max_graph_depth": "sh: write error: Numerical result out of range\n"}


def test_wrong_input(tracing):
    """The lines that were typed to Linux, typed here in order: same answers, same contents behind them."""
    files = tracing.check("ls").split() + ["options/" + name for name in tracing.check("ls options").split()]
    different = []
    for command, answer in transcript("errors"):
        target = re.search(r"(?:>+ |cat )(\S+)$", command)
        if OURS.match(command) or (target and target[1] not in files):
            continue
        for theirs, ours in STAND_INS:
            command, answer = command.replace(theirs, ours), answer.replace(theirs, ours)
        said = tracing.run(command)[0]
        # Lists of functions are in the order of a hash there, of addresses here.
        if sorted(said.splitlines()) != sorted(STRICTER.get(command, answer).splitlines()):
            different.append((command, said, answer))
    assert different == []
