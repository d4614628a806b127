"""The tracer hwlat: its threads watch the clock, and write the lines that Linux writes."""
import re

import pytest

BOTH = [{"build": "gcc", "cpus": 2}, {"build": "clang", "cpus": 2}]
both = pytest.mark.parametrize("guest", BOTH, indirect=True, ids=["gcc", "clang"])
# An emulator's CPU stands still for longer than this again and again.
SHORT = "echo 20000 > hwlat_detector/width; echo 30000 > hwlat_detector/window; echo 1 > tracing_thresh; "
RESET = (
    "echo nop > current_tracer; echo 0 > profile/on; echo timer > profile/clock; echo 500000 > hwlat_detector/width; "
    "echo 1000000 > hwlat_detector/window; echo round-robin > hwlat_detector/mode; echo 3 > tracing_cpumask; "
    "echo 0 > tracing_thresh; echo 0 > tracing_max_latency"
)
LINE = re.compile(
    r" +(?:hwlatd(?:/(\d))?|<\.\.\.>)-\d+ +\[00(\d)\] d\S+ +\d+\.\d{6}: #(\d+) +inner/outer\(us\): +(\d+)/(\d+) +"
    r"ts:(\d+\.\d{9}) count:(\d+)(?: nmi-total:(\d+) nmi-count:(\d+))?"
)


@pytest.fixture(autouse=True)
def hwlat_reset(tracing):
    yield
    tracing.check(RESET)


def watch(guest, mode, more=""):
    """The lines of some windows in that mode; the names of the threads."""
    guest.check(f"{SHORT}{more}echo {mode} > hwlat_detector/mode; echo hwlat > current_tracer; sleep 0.25")
    names = sorted(re.findall(r"hwlatd\S*", guest.check("ps")))
    guest.check("echo 0 > tracing_on")
    text = guest.check("cat trace")
    guest.check("echo nop > current_tracer; echo 1 > tracing_on")
    assert "hwlatd" not in guest.check("ps")
    lines = [LINE.fullmatch(line) for line in text.splitlines() if "inner/outer" in line]
    assert lines and all(lines), text
    return lines, names


@both
def test_lines_and_modes(tracing):
    now = float(tracing.check("date +%s"))
    lines, names = watch(tracing, "round-robin")
    assert names == ["hwlatd"]
    assert {line[2] for line in lines} == {"0", "1"}
    assert [int(line[3]) for line in lines] == list(range(1, len(lines) + 1))
    assert all(max(int(line[4]), int(line[5])) > 1 and int(line[7]) >= 1 for line in lines)
    assert all(-2 <= float(line[6]) - now <= 60 for line in lines)
    assert not any(line[9] for line in lines)
    lines, names = watch(tracing, "per-cpu")
    assert names == ["hwlatd/0", "hwlatd/1"]
    assert {line[2] for line in lines} == {"0", "1"}
    assert all(line[1] in (None, line[2]) for line in lines)
    lines, names = watch(tracing, "per-cpu", "echo 2 > tracing_cpumask; ")
    assert names == ["hwlatd/1"] and {line[2] for line in lines} == {"1"}
    lines, names = watch(tracing, "none", "echo 3 > tracing_cpumask; echo nmi > profile/clock; echo 1 > profile/on; ")
    assert names == ["hwlatd"]
    # A sample by NMI interrupts the watching.
    assert any(line[9] and int(line[9]) >= 1 for line in lines)


def test_limits(tracing):
    """The maximum is the longest of all lines; the threshold that was set before is back afterwards."""
    assert tracing.check("cat hwlat_detector/mode") == "none [round-robin] per-cpu\n"
    tracing.check(SHORT + "echo hwlat > current_tracer; sleep 0.1; echo 0 > tracing_on")
    longest = max(max(int(a), int(b)) for a, b in re.findall(r"inner/outer\(us\): +(\d+)/(\d+)", tracing.check("cat trace")))
    assert int(tracing.check("cat tracing_max_latency")) == longest
    assert tracing.run("echo 30001 > hwlat_detector/width")[1]
    assert "longer than the window" in tracing.check("cat error_log")
    tracing.check("mkdir instances/one")
    assert tracing.run("echo hwlat > instances/one/current_tracer")[1]
    tracing.check("rmdir instances/one; echo nop > current_tracer; echo 1 > tracing_on")
    assert tracing.check("cat tracing_thresh") == "1\n"
