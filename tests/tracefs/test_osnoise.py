"""The tracers osnoise and timerlat: their threads, and the lines that Linux writes."""
import re

import pytest

BOTH = [{"build": "gcc", "cpus": 2}, {"build": "clang", "cpus": 2}]
both = pytest.mark.parametrize("guest", BOTH, indirect=True, ids=["gcc", "clang"])
RESET = (
    "echo nop > current_tracer; echo 0 > events/osnoise/enable; echo 1 > tracing_on; echo DEFAULTS > osnoise/options; "
    "echo 0-1 > osnoise/cpus; echo 1000000 > osnoise/period_us; echo 1000000 > osnoise/runtime_us; "
    "echo 1000 > osnoise/timerlat_period_us; echo 0 > osnoise/stop_tracing_us; echo 0 > osnoise/stop_tracing_total_us; "
    "echo 0 > osnoise/print_stack; echo 0 > tracing_max_latency"
)
SHORT = "echo 20000 > osnoise/runtime_us; echo 30000 > osnoise/period_us; "
HEAD = r" +(\S+)-\d+ +\[00(\d)\] \S+ +\d+\.\d{6}: "
OSNOISE = re.compile(HEAD + r"(\d+) +(\d+) +(\d+\.\d{5}) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)")
TIMERLAT = re.compile(HEAD + r"#(\d+) +context +(irq|thread) timer_latency +(\d+) ns")


@pytest.fixture(autouse=True)
def osnoise_reset(tracing):
    yield
    tracing.check(RESET)


def record(guest, tracer, more="", seconds=0.15):
    """The trace after some time of the tracer; the names of its threads."""
    guest.check(f"{more}echo {tracer} > current_tracer; sleep {seconds}")
    names = sorted(re.findall(rf"{tracer}/\d", guest.check("ps")))
    guest.check("echo 0 > tracing_on")
    text = guest.check("cat trace")
    guest.check("echo nop > current_tracer; echo 1 > tracing_on")
    assert f"{tracer}/" not in guest.check("ps")
    return text, names


@both
def test_osnoise(tracing):
    text, names = record(tracing, "osnoise", SHORT + "echo 1 > events/osnoise/enable; ", 0.3)
    lines = [line for line in map(OSNOISE.fullmatch, text.splitlines()) if line]
    assert names == ["osnoise/0", "osnoise/1"]
    assert {line[2] for line in lines} == {"0", "1"}
    for line in lines:
        runtime, noise, longest = int(line[3]), int(line[4]), int(line[6])
        assert runtime >= 20000 and longest <= noise <= runtime
        assert abs(float(line[5]) - 100 * (runtime - noise) / runtime) < 0.001
    # The tick comes each 4 ms, and its noise is told, too.
    assert sum(int(line[9]) for line in lines) >= 1
    assert re.search(r"irq_noise: local_timer:\d+ start \d+\.\d{9} duration \d+ ns", text)
    assert re.search(r"sample_threshold: start \d+\.\d{9} duration \d+ ns interference \d+", text)


@both
def test_timerlat(tracing):
    text, names = record(tracing, "timerlat", "echo 2000 > osnoise/timerlat_period_us; echo 1 > osnoise/print_stack; ")
    found = [line for line in map(TIMERLAT.fullmatch, text.splitlines()) if line]
    assert names == ["timerlat/0", "timerlat/1"]
    for cpu in "01":
        lines = {(int(line[3]), line[4]): int(line[5]) for line in found if line[2] == cpu}
        threads = [number for number, context in lines if context == "thread"]
        assert threads == list(range(1, len(threads) + 1)) and len(threads) > 2
        # The interrupt comes first, and its stack says where.
        assert all(lines[number, "irq"] <= lines[number, "thread"] for number in threads)
    assert "<stack trace>" in text and " => timer_interrupt" in text


def test_limit(tracing):
    """A latency above the limit stops recording, and `why` says so."""
    tracing.check("echo 1 > osnoise/stop_tracing_total_us; echo timerlat > current_tracer; sleep 0.1")
    assert tracing.check("cat tracing_on") == "0\n"
    assert re.search(r"stop tracing hit on cpu [01]\n", tracing.check("cat trace"))
    assert "the tracer timerlat saw a time above its limit in thread timerlat/" in tracing.check("cat why")
    tracing.check("mkdir instances/one")
    assert tracing.run("echo osnoise > instances/one/current_tracer")[1]
    tracing.check("rmdir instances/one")
