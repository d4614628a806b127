"""The stack tracer: the deepest stack of threads, who stood on it; interrupts and NMIs apart."""
import re
import sys
from pathlib import Path

import pytest

from guest import Guest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

from mask import sample  # noqa: E402

ENABLED = "/proc/sys/kernel/stack_tracer_enabled"
OFF = f"echo 0 > {ENABLED}; > stack_trace_filter; echo 0 > stack_max_size"
HEAD = re.compile(r"        Depth    Size   Location    \((\d+) entries\)\n        -----    ----   --------\n")
LINE = re.compile(r"([ \d]{3})\) ([ \d]{8})   ([ \d]{5})   (\w[\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+\n")


@pytest.fixture
def tracer(tracing):
    tracing.check(OFF)
    yield tracing
    tracing.check(OFF)


def parse(text):
    """[(depth, function)] of one listing whose columns and sums are right."""
    head = HEAD.match(text)
    lines = [LINE.fullmatch(line) for line in text[head.end() :].splitlines(keepends=True)]
    assert all(lines), text
    assert len(lines) == int(head[1])
    depths = [int(line[2]) for line in lines] + [0]
    for number, line in enumerate(lines):
        assert int(line[1]) == number
        assert int(line[3]) == depths[number] - depths[number + 1] > 0
        assert depths[number] % 8 == 0
    return [(int(line[2]), line[4]) for line in lines]


def sections(text):
    """{kind: listing}; the thread's, which comes first, has no title."""
    parts = re.split(r"\n(\w+) stack, CPU \d+:\n", text)
    return {"thread": parts[0], **dict(zip(parts[1::2], parts[2::2]))}


def test_the_sample_of_linux_has_this_layout():
    text = sample("stack-trace").split("--- on\n2104\n")[1].split("--- off again")[0]
    assert parse(text)[0] == (2208, "rcu_segcblist_enqueue")


def test_depth_of_a_known_stack(tracer):
    """Each further call of the recursion is as deep as the one before; the sizes add up."""
    tracer.check(f"echo recurse_step > stack_trace_filter; echo 1 > {ENABLED}; recurse 20")
    first = parse(tracer.check("cat stack_trace"))
    assert [name for _, name in first[:21]] == ["recurse_step"] * 20 + ["recurse_run"]
    assert int(tracer.check("cat stack_max_size")) == first[0][0]
    frames = {first[i][0] - first[i + 1][0] for i in range(1, 19)}
    assert len(frames) == 1
    tracer.check("recurse 5")  # less deep: nothing changes
    assert parse(tracer.check("cat stack_trace")) == first
    tracer.check("recurse 50")
    assert parse(tracer.check("cat stack_trace"))[0][0] == first[0][0] + 30 * frames.pop()
    tracer.check("echo 0 > stack_max_size; recurse 5")
    assert parse(tracer.check("cat stack_trace"))[0][0] < first[0][0]


def test_a_stack_through_hooked_returns(tracer):
    """Return addresses that other tracers have replaced show as they were."""
    if "function_graph" not in tracer.check("cat available_tracers"):
        pytest.skip("no function_graph")
    tracer.check(f"echo recurse_step > stack_trace_filter; echo 1 > {ENABLED}; recurse 9")
    plain = parse(tracer.check("cat stack_trace"))
    tracer.check("echo 0 > stack_max_size; echo function_graph > current_tracer; recurse 9; echo nop > current_tracer")
    assert parse(tracer.check("cat stack_trace")) == plain


def test_filter(tracer):
    tracer.check(f"echo 'vfs_*' > stack_trace_filter; echo 1 > {ENABLED}; cat trace > /dev/null")
    assert re.fullmatch(r"(vfs_\w+\n)+", tracer.check("cat stack_trace_filter"))
    assert parse(tracer.check("cat stack_trace"))[0][1].startswith("vfs_")
    assert tracer.check("grep -v '^vfs_' enabled_functions | wc -l") == "0\n"
    tracer.check("echo '!vfs_*' >> stack_trace_filter")
    assert tracer.check("cat stack_trace_filter") == "#### all functions enabled ####\n"


@pytest.mark.parametrize("build, cpus", [("gcc", 1), ("clang", 2), ("gcc", 4), ("clang", 8)])
def test_all_functions_under_load(guest_pool, build, cpus):
    """Interrupts have a listing of their own, and no listing is damaged by what came meanwhile."""
    guest = guest_pool(build=build, cpus=cpus, tests=True)
    guest.check(f"{OFF}; echo 1 > {ENABLED}; hackbench 1 10; stress all -n 5")
    for _ in range(2):
        guest.check("echo 0 > stack_max_size; hackbench 1 10; ktest nmi_storm")
        found = sections(guest.check("cat stack_trace"))
        thread, interrupt = parse(found["thread"]), parse(found["interrupt"])
        assert thread[-1][1] in ("arch_thread_start", "sched_idle_loop") or len(thread) > 3
        assert "trap_common" in [name for _, name in interrupt]
        assert cpus <= 2 or "nmi_entry" in [name for _, name in parse(found["NMI"])]
        assert 400 < thread[0][0] < 12000
        assert 200 < interrupt[0][0] < 4000
        assert int(guest.check("cat stack_max_size")) >= thread[0][0]
    guest.check(OFF)
    assert guest.check("cat enabled_functions") == ""


def test_nearly_full_is_said_once(tracer):
    tracer.check("dmesg -c > /dev/null || true")
    tracer.check(f"echo recurse_step > stack_trace_filter; echo 1 > {ENABLED}")
    before = tracer.check("dmesg | grep -c 'stack tracer:' || true")
    out, status = tracer.run("recurse 1000; recurse 1000")
    assert status == 1 and "no more fit on a stack of 16384 bytes" in out
    tracer.check(
        f"n=0; while [ $(dmesg | grep -c 'stack tracer:') -le {int(before)} ] && [ $n -lt 100 ]; " "do sleep 0.1; n=$((n + 1)); done"
    )  # a worker says it
    said = tracer.check("dmesg | grep 'stack tracer:' | tail -n 1")
    assert re.search(r"stack tracer: \d+ of 16384 bytes of a stack left, pid \d+ in recurse_step\+0x0/", said)
    assert int(tracer.check("dmesg | grep -c 'stack tracer:' || true")) == int(before) + 1


def session(guest, name):
    """Type what the sample of Linux was typed, and compare all of it."""
    want = sample(name)
    for command, answer in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", want, re.M):
        assert (command, guest.run(command)[0]) == (command, answer)


def test_mistakes_as_in_linux(tracer):
    session(tracer, "stack-trace-errors")
    text = sample("stack-trace")
    off = text[text.index("        Depth") : text.index("#\n0\n####") + 2]
    with Guest("gcc", 1) as fresh:
        assert fresh.check("cat stack_trace") == off


def test_boot_parameters():
    with Guest("gcc", 2, cmdline="stacktrace_filter=recurse_step,no_such,vfs_*") as guest:
        assert guest.check(f"cat {ENABLED}") == "1\n"
        names = guest.check("cat stack_trace_filter").split()
        assert "recurse_step" in names and "vfs_write" in names
        assert all(name == "recurse_step" or name.startswith("vfs_") for name in names)
        guest.check("recurse 60")
        assert parse(guest.check("cat stack_trace"))[0][1] == "recurse_step"
        assert "stacktrace_filter: no function matches no_such" in guest.check("dmesg")
        assert "Unknown boot parameter" not in guest.check("dmesg")
    with Guest("clang", 2, cmdline="stacktrace") as guest:
        assert guest.check("cat stack_trace_filter") == "#### all functions enabled ####\n"
        assert int(guest.check("cat stack_max_size")) > 500
        parse(sections(guest.check("cat stack_trace"))["thread"])
