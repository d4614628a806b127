"""snapshot: what was recorded is kept while recording goes on."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

import mask  # noqa: E402

HELP = re.compile(r"# tracer: \w+\n#\n#\n# \* Snapshot is (freed|allocated) \*\n#\n# Snapshot commands:\n" r"(?:# .*\n)+$")


@pytest.fixture
def snap(tracing):
    tracing.check("echo 0 > snapshot; > trace")
    yield tracing
    tracing.check("echo nop > current_tracer; echo 0 > snapshot; echo 1 > tracing_on")


def state(guest, path="snapshot"):
    found = HELP.fullmatch(guest.check(f"cat {path}"))
    return found and found[1]


def test_help_begins_as_linux_does(snap):
    """All of the head but the sentences about commands, which are ours."""
    head = mask.sample("defaults").split("--- ./snapshot\n")[1].split("# echo 0")[0]
    for path in ("snapshot", "per_cpu/cpu0/snapshot"):
        assert snap.check(f"cat {path}").startswith(head)


def test_commands(snap):
    assert state(snap) == "freed"
    for word in ("garbage", "-1", "", "1 2"):
        assert snap.run(f"echo {word} > snapshot") == ("sh: write error: Invalid argument\n", 1)
    snap.check("echo 2 > snapshot; echo 5 > snapshot")
    assert state(snap) == "freed"
    snap.check("echo first > trace_marker; echo 1 > snapshot; echo second > trace_marker")
    assert "first" in snap.check("cat snapshot") and "second" not in snap.check("cat snapshot")
    assert "second" in snap.check("cat trace") and "first" not in snap.check("cat trace")
    snap.check("echo 2 > snapshot")
    assert state(snap) == "allocated" and state(snap, "per_cpu/cpu1/snapshot") == "allocated"
    snap.check("echo 0 > snapshot")
    assert state(snap) == "freed" and "second" in snap.check("cat trace")


def test_layout(snap):
    snap.check(
        "echo 'sched_*' > set_ftrace_filter; echo function > current_tracer; hackbench 1 2; " "echo 1 > snapshot; echo 0 > tracing_on"
    )
    text = snap.check("cat snapshot")
    assert not mask.strange(text, mask.sample("function"), mask.sample("snapshot"))
    assert text.count(" <-") > 20


def test_one_cpu(snap):
    snap.check(
        "echo 'sched_*' > set_ftrace_filter; echo function > current_tracer; hackbench 2 5; "
        "echo 1 > per_cpu/cpu1/snapshot; echo 0 > tracing_on"
    )
    assert state(snap, "per_cpu/cpu0/snapshot") == "allocated"
    kept = snap.check("cat per_cpu/cpu1/snapshot")
    assert " [001] " in kept and " [000] " not in kept
    assert snap.run("echo 0 > per_cpu/cpu1/snapshot") == ("sh: write error: Invalid argument\n", 1)
    assert int(snap.check("cat per_cpu/cpu1/snapshot_raw | wc -c")) % 4096 == 0
    assert state(snap) == "allocated"  # the raw file consumes
    assert int(snap.check("cat per_cpu/cpu1/snapshot_raw | wc -c")) == 0


def test_sizes_follow(snap):
    snap.check("echo 1 > snapshot; echo 256 > buffer_size_kb; echo 1 > snapshot")
    assert snap.check("cat buffer_size_kb") == "256\n"
    snap.check("echo 1 > snapshot; echo 64 > per_cpu/cpu0/buffer_size_kb; echo 1 > snapshot")
    assert snap.check("cat per_cpu/cpu0/buffer_size_kb") == "64\n"
    snap.check("echo 1408 > buffer_size_kb")


def test_nothing_is_lost(snap):
    """Every marker is in the one buffer or in the other, whenever they were exchanged."""
    snap.check("echo 1 > snapshot; echo 2 > snapshot; > trace")
    snap.check(
        'for t in 1 2 3; do for i in $(seq 150); do echo "thread $t line $i" > trace_marker; done & done; '
        "for i in $(seq 60); do echo 1 > snapshot; echo 1 > per_cpu/cpu1/snapshot; done; wait"
    )
    seen = re.findall(r": thread (\d) line (\d+)$", snap.check("cat snapshot trace"), re.M)
    assert len(seen) == 450 and len(set(seen)) == 450


def test_free_buffer(snap):
    snap.check("echo x > free_buffer")
    assert snap.check("cat buffer_size_kb tracing_on") == "8\n1\n"
    snap.check("echo 1 > options/disable_on_free; echo x > free_buffer")
    assert snap.check("cat tracing_on") == "0\n"
    snap.check("echo 0 > options/disable_on_free; echo 1 > tracing_on; echo 1408 > buffer_size_kb")


def test_buffer_percent(snap):
    assert snap.check("cat buffer_percent") == "50\n"
    for word in ("101", "-1", "x"):
        assert snap.run(f"echo {word} > buffer_percent") == ("sh: write error: Invalid argument\n", 1)
    snap.check("echo 0 > buffer_percent; echo 50 > buffer_percent")
    # Who polls the raw pages of a CPU is told when the buffer is filled so far; 0: by any event.
    snap.check("echo 64 > buffer_size_kb; > trace")
    assert snap.run("poll per_cpu/cpu0/trace_pipe_raw 0.05") == ("", 1)
    snap.check("echo sched_switch > set_ftrace_filter; echo function > current_tracer; sleep 0.1")
    assert snap.run("poll per_cpu/cpu0/trace_pipe_raw 0.02")[1] == 1
    snap.check("echo 0 > buffer_percent; poll per_cpu/cpu0/trace_pipe_raw 5; echo 100 > buffer_percent")
    snap.check("> set_ftrace_filter; hackbench 2 40 > /dev/null & poll per_cpu/cpu0/trace_pipe_raw 20")
    snap.check("wait")
    snap.check("echo nop > current_tracer; echo 50 > buffer_percent; echo 1408 > buffer_size_kb")
    assert snap.run("poll nosuch 1")[1] == 1 and snap.check("poll trace 1") == ""
