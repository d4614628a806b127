"""buffer_subbuf_size_kb: sub-buffers of every size, longer events, nothing lost unseen under load."""
import re

import pytest

GUESTS = [{"cpus": 1}, {"cpus": 4}, {"build": "clang", "cpus": 2}, {"build": "clang", "cpus": 8}]
IDS = ["gcc-1", "gcc-4", "clang-2", "clang-8"]
# $s: a word of 2^N letters.
WORD = "s={0}; for i in $(seq {1}); do s=$s$s; done"
BUSY = "sh: write error: Device or resource busy\n"


@pytest.fixture
def sizes(tracing):
    yield tracing
    tracing.run("kill $load $pipe; wait; echo 0 > snapshot; rmdir instances/one")
    tracing.check("echo 4 > buffer_subbuf_size_kb; echo 1408 > buffer_size_kb")


def stats(guest, cpu):
    return {name: int(value) for name, value in re.findall(r"^(.*): (\d+)$", guest.check(f"cat per_cpu/cpu{cpu}/stats"), re.M)}


def test_sizes_and_errors(sizes):
    assert sizes.check("cat buffer_subbuf_size_kb") == "4\n"
    for kb, made, buffer in (
        (5, 8, 1408),
        (16, 16, 1408),
        (17, 32, 1408),
        (128, 128, 1408),
        (200, 256, 1536),
        (512, 512, 1536),
        (1, 4, 1408),
    ):
        assert (
            sizes.check(f"echo {kb} > buffer_subbuf_size_kb; cat buffer_subbuf_size_kb buffer_size_kb " "per_cpu/cpu1/buffer_size_kb")
            == f"{made}\n{buffer}\n{buffer}\n"
        )
    for wrong in ("0", "513", "-1", "x", "4k", "0x10", "''"):
        assert sizes.run(f"echo {wrong} > buffer_subbuf_size_kb") == ("sh: write error: Invalid argument\n", 1)
    assert sizes.run("echo 99999999999999999999 > buffer_subbuf_size_kb") == ("sh: write error: Numerical result out of range\n", 1)
    assert sizes.check("cat buffer_subbuf_size_kb") == "4\n"


def test_contents_and_readers(sizes):
    sizes.check("echo kept > trace_marker; echo 4 > buffer_subbuf_size_kb")
    assert "kept" in sizes.check("cat trace")  # no change, nothing dropped
    assert sizes.run("echo 8 > buffer_subbuf_size_kb < trace") == (BUSY, 1)
    assert "kept" in sizes.check("cat trace") and sizes.check("cat buffer_subbuf_size_kb") == "4\n"
    sizes.check("echo 8 > buffer_subbuf_size_kb")
    assert "kept" not in sizes.check("cat trace")
    assert stats(sizes, 0)["overrun"] == 0 and stats(sizes, 0)["entries"] == 0


def test_out_of_memory(sizes):
    """Half of the memory is there, not all: nothing changes."""
    sizes.check("echo kept > trace_marker; echo $((70 * 1024)) > buffer_size_kb; echo kept > trace_marker")
    size = sizes.check("cat buffer_size_kb")
    assert sizes.run("echo 64 > buffer_subbuf_size_kb") == ("sh: write error: Cannot allocate memory\n", 1)
    assert sizes.check("cat buffer_size_kb buffer_subbuf_size_kb") == size + "4\n"
    assert sizes.check("grep -c kept trace") == "2\n"


def test_long_markers(sizes):
    """As long as the sub-buffer allows: one line in every file that shows it."""
    sizes.check(WORD.format("m", 13) + "; echo $s > trace_marker")
    assert len(re.findall("tracing_mark_write", sizes.check("cat trace"))) == 3  # 4 KiB at a time
    sizes.check("echo 32 > buffer_subbuf_size_kb; echo $s > trace_marker; echo $s$s > trace_marker; echo $s$s > trace_marker_raw")
    text = sizes.check("grep -o 'mark_write: m*$' trace")
    assert [len(line) - 12 for line in text.split()[1::2]] == [8192 - 12, 16384 - 12]
    assert sizes.run("echo $s$s$s$s > trace_marker_raw") == ("sh: write error: Invalid argument\n", 1)
    assert re.search(r": # 6d6d6d6d buf:( 6d)* 0a( 00)*\n$", sizes.check("cat trace"))[0].count(" 6d") == 2 * 8192 - 4 + 1
    counts = [stats(sizes, cpu) for cpu in (0, 1)]
    assert sum(count["entries"] for count in counts) == 3
    assert sum(count["bytes"] for count in counts) > 5 * 8192
    sizes.check("echo 0 > tracing_on")
    for cpu, count in enumerate(counts):  # an empty one would wait for its first event
        if count["entries"]:
            raw = int(sizes.check(f"cat per_cpu/cpu{cpu}/trace_pipe_raw | wc -c"))
            assert count["bytes"] <= raw <= 3 * 32768 and raw % 32768 == 0


def test_snapshot_and_instance(sizes):
    sizes.check(WORD.format("q", 13) + "; mkdir instances/one; echo 1 > snapshot; echo 64 > buffer_subbuf_size_kb")
    assert sizes.check("cat instances/one/buffer_subbuf_size_kb") == "4\n"
    sizes.check("echo $s > trace_marker; echo 1 > snapshot; echo $s$s > trace_marker")
    assert sizes.check("grep -c qqqq snapshot trace") == "snapshot:1\ntrace:1\n"
    assert "Snapshot is allocated" in sizes.check("echo 16 > buffer_subbuf_size_kb; cat snapshot")
    sizes.check(
        "echo 16 > instances/one/buffer_subbuf_size_kb; echo $s > instances/one/trace_marker; "
        "echo 0 > snapshot; echo 128 > buffer_subbuf_size_kb; echo $s$s$s > trace_marker; echo 1 > snapshot"
    )
    assert sizes.check("grep -c qqqq snapshot instances/one/trace") == "snapshot:1\ninstances/one/trace:1\n"
    assert sizes.check("cat instances/one/buffer_subbuf_size_kb buffer_subbuf_size_kb") == "16\n128\n"


@pytest.mark.parametrize("guest", GUESTS, indirect=True, ids=IDS)
def test_under_load(guest, sizes):
    """Sizes change while all CPUs trace and a reader consumes; then all that was recorded is counted."""
    sizes.check(
        "echo '*sched*' > set_ftrace_filter; echo function > current_tracer; echo 200 > buffer_size_kb; echo 1 > snapshot; "
        "(while true; do hackbench 1 20; sleep 0.03; done) > /dev/null & load=$!; cat trace_pipe > /dev/null & pipe=$!"
    )
    sizes.check(
        "for kb in 8 512 16 4 256 64; do echo $kb > buffer_subbuf_size_kb; "
        "echo 1 > snapshot; head -n 40 trace > /dev/null; echo marker > trace_marker; done"
    )
    sizes.check(
        "kill $pipe; wait $pipe; echo 128 > buffer_size_kb; echo 32 > buffer_subbuf_size_kb; sleep 0.3; kill $load; wait; "
        "hackbench 1 60; echo 0 > tracing_on"
    )
    for cpu in range(guest.check("cat per_cpu/cpu*/buffer_size_kb").count("128\n")):
        count = stats(sizes, cpu)
        text = sizes.check(f"cat per_cpu/cpu{cpu}/trace_pipe > /tmp/pipe; grep -vc LOST /tmp/pipe; grep LOST /tmp/pipe; true")
        after = stats(sizes, cpu)
        assert int(text.split()[0]) == count["entries"]
        assert sum(map(int, re.findall(r"LOST (\d+) EVENTS", text))) == count["overrun"]
        assert (after["entries"], after["overrun"], after["dropped events"]) == (0, count["overrun"], 0)
        assert after["read events"] == count["read events"] + count["entries"]
    assert count["bytes"] <= 128 * 1024
