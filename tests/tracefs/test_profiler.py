"""The function profiler: what Linux shows of calls whose number and time are known."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

from mask import header, sample, strange  # noqa: E402

HEAD = (
    "  Function                               Hit    Time            Avg             s^2\n"
    "  --------                               ---    ----            ---             ---\n"
)
OFF = (
    "echo 0 > function_profile_enabled; echo 1 > options/graph-time; echo 1 > options/sleep-time; "
    "> set_ftrace_filter; > set_ftrace_notrace; echo nop > current_tracer"
)


@pytest.fixture
def profiler(tracing):
    tracing.check(OFF)
    yield tracing
    tracing.check(OFF)


def parse(text):
    """{function: (hits, us, average us, s^2)} of one listing that is sorted by time."""
    assert text.startswith(HEAD)
    found = {}
    for line in text[len(HEAD) :].splitlines():
        m = re.fullmatch(r"  (\S+) +(\d+)    ([\d.]+) us +([\d.]+) us +([\d.]+) us +", line)
        assert m, line
        found[m[1]] = int(m[2]), float(m[3]), float(m[4]), float(m[5])
    times = [time for _, time, _, _ in found.values()]
    assert times == sorted(times, reverse=True)
    for hits, time, average, _ in found.values():
        assert average == pytest.approx(time / hits, rel=0.01, abs=0.002)
    return found


def total(guest, cpus, name):
    """Hits and time of a function over all CPUs."""
    rows = [parse(guest.check(f"cat trace_stat/function{cpu}")).get(name, (0, 0.0, 0, 0)) for cpu in range(cpus)]
    return sum(row[0] for row in rows), sum(row[1] for row in rows)


def test_layout_of_linux(profiler):
    profiler.check(
        "echo 'file_*' 'vfs_*' recurse_step > set_ftrace_filter; echo 1 > function_profile_enabled; "
        "hackbench 1 5; recurse 40; cat trace > /dev/null; echo 0 > function_profile_enabled"
    )
    for cpu in range(2):
        text = profiler.check(f"cat trace_stat/function{cpu}")
        parse(text)
        assert header(text) == header(sample("profile"))
        assert not strange(text, sample("profile"), sample("profile-no-graph-time"), sample("profile-no-sleep-time"))


def test_every_call_is_counted(profiler):
    profiler.check(
        "echo recurse_step > set_ftrace_filter; echo 1 > function_profile_enabled; " "for i in 1 2 3 4 5 6 7 8; do recurse 25 & done; wait"
    )
    assert total(profiler, 2, "recurse_step")[0] == 200
    profiler.check("echo 0 > function_profile_enabled; recurse 9")
    assert total(profiler, 2, "recurse_step")[0] == 200
    profiler.check("echo 1 > function_profile_enabled; recurse 9")
    assert total(profiler, 2, "recurse_step")[0] == 9


def test_sleep_time(profiler):
    """A sleep of a second is in the time, or not."""
    profiler.check("echo thread_sleep_ns > set_ftrace_filter; echo 1 > function_profile_enabled; sleep 1")
    assert 1000000 <= total(profiler, 2, "thread_sleep_ns")[1] < 10000000
    profiler.check("echo 0 > options/sleep-time; echo 0 > function_profile_enabled; " "echo 1 > function_profile_enabled; sleep 1")
    assert 0 < total(profiler, 2, "thread_sleep_ns")[1] < 500000


def test_graph_time(profiler):
    """With it, each level of a recursion has the time of those below it too; without, only its own."""

    def time_of_recursion():
        profiler.check("echo 0 > function_profile_enabled; echo 1 > function_profile_enabled; recurse 50")
        return total(profiler, 2, "recurse_step")[1]

    profiler.check("echo recurse_step > set_ftrace_filter")
    whole = min(time_of_recursion() for _ in range(5))
    profiler.check("echo 0 > options/graph-time")
    assert 0 < 5 * min(time_of_recursion() for _ in range(5)) < whole


def test_filters_while_it_runs(profiler):
    profiler.check(
        "echo recurse_step > set_ftrace_filter; echo 1 > function_profile_enabled; recurse 5; "
        "echo recurse_run >> set_ftrace_filter; recurse 5; echo recurse_step > set_ftrace_notrace; recurse 5"
    )
    assert total(profiler, 2, "recurse_step")[0] == 10
    assert total(profiler, 2, "recurse_run")[0] == 2
    assert profiler.check("cut -d ' ' -f 1,2 enabled_functions") == "recurse_run (1)\n"


def test_mistakes_as_in_linux(profiler):
    want = sample("profile-errors")
    for command, answer in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", want, re.M):
        out, _ = profiler.run(command)
        if command.startswith("ls "):  # a file per CPU; no total of blocks here
            answer = answer.replace("total 0\n", "")
            answer = "".join(sorted(set(answer.splitlines(True)))) * out.count("\n")
        assert (command, out) == (command, answer)


@pytest.mark.parametrize("build, cpus", [("clang", 1), ("gcc", 4), ("clang", 8)])
def test_all_functions_beside_other_tracers(guest_pool, build, cpus):
    """On every site with the graph, read while it counts, switched under load: nothing is lost or damaged."""
    guest = guest_pool(build=build, cpus=cpus)
    guest.check(OFF)
    guest.check(
        "hackbench 1 20 > /dev/null & echo 1 > function_profile_enabled; echo function_graph > current_tracer; "
        "cat trace_stat/* > /dev/null; echo 0 > options/sleep-time; echo 0 > options/graph-time; "
        "hackbench 1 5 > /dev/null; echo nop > current_tracer; wait",
        timeout=120,
    )
    for cpu in range(cpus):
        assert len(parse(guest.check(f"cat trace_stat/function{cpu}"))) > 5
    guest.check(
        "hackbench 1 20 > /dev/null & echo 0 > function_profile_enabled; echo 1 > options/sleep-time; "
        "echo 1 > options/graph-time; echo 1 > function_profile_enabled; echo 0 > function_profile_enabled; wait",
        timeout=120,
    )
    guest.check("echo recurse_step > set_ftrace_filter; echo 1 > function_profile_enabled; recurse 30")
    assert total(guest, cpus, "recurse_step")[0] == 30
    assert "no room" not in guest.check("cat trace_stat/function0")
    guest.check(OFF)
    assert guest.check("cat enabled_functions") == ""
