"""examples/process, made from what `make libtrace FOR=process` gives and nothing else, and typed at."""
import ctypes
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from workshop import ROOT, libtrace_for_process, must

FUNCTIONS = """\
work <-run_worker
fill <-work
sort <-work
partition <-sort
sort <-sort
partition <-sort
sort <-sort
partition <-sort
sort <-sort
sort <-sort
sort <-sort
sort <-sort
partition <-sort
sort <-sort
sort <-sort
deviation <-work
mean <-deviation
square <-deviation
square <-deviation
square <-deviation
square <-deviation
square <-deviation
square <-deviation
square_root <-deviation""".splitlines()
GRAPH = """\
work() {
  fill();
  deviation() {
    mean();
    square_root();
  }
}""".splitlines()
SELFTEST_INT3 = 3
FLIPS_IN_BATCHES = 100000
CHANGES_OF_PROBES = 2000
LIBC = ctypes.CDLL(None)
FLIPS = 200  # more than there would be room for, were trampolines not freed
# The whole library takes half a minute to compile: the programs of both compilers are linked with gcc's, but for
# `make soak`. The profile `probes` is small, and made by each.
LIBRARY_BY = {"gcc": "gcc", "clang": os.environ.get("PROCESS_LIBRARY_BY", "gcc")}


@pytest.fixture(scope="module", params=["gcc", "clang"])
def compiler(request):
    return request.param


def library_for(compiler, folder):
    """With its headers and flags for this compiler, as `make libtrace` gives them."""
    if LIBRARY_BY[compiler] == compiler:
        return libtrace_for_process(compiler)
    own = libtrace_for_process(compiler, "probes")
    shutil.copytree(own, folder / "libtrace", ignore=shutil.ignore_patterns("obj", "libtrace.a"))
    shutil.copy(libtrace_for_process(LIBRARY_BY[compiler]) / "libtrace.a", folder / "libtrace")
    return folder / "libtrace"


@pytest.fixture(scope="module")
def folder(compiler, tmp_path_factory):
    """Where the programs are, built outside of the tree: they need no other file of it."""
    folder = tmp_path_factory.mktemp(compiler)
    library = library_for(compiler, folder)
    shutil.copytree(ROOT / "examples/process", folder / "process")
    must("make", "-C", folder / "process", f"CC={compiler}", f"LIBTRACE={library}", f"OUT={folder}")
    if "no core-sync barrier" in run(folder).stdout:
        pytest.skip("this kernel has no core-sync barrier")
    return folder


def run(folder, lines=(), **options):
    return subprocess.run(
        [folder / "session"],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


def session(folder, *lines):
    """The answer to a typed line."""
    done = run(folder, lines)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def events(lines):
    """(thread, flags, function <-caller) of each line of a trace."""
    found = (re.fullmatch(r" *([\w-]+)-\d+ +\[\d+\] (.{5}) +[\d.]+: (\w+ <-\w+)", line) for line in lines)
    return [match.groups() for match in found if match]


def test_functions(folder):
    """Of both threads, each with a number and a name."""
    found = events(session(folder, "echo function > current_tracer; cat trace", "work 1", "cat trace"))
    for worker in ("worker-1", "worker-2"):
        assert [what for name, _, what in found if name == worker] == FUNCTIONS
    assert len(found) == 2 * len(FUNCTIONS)


def test_graph(folder):
    """Returns are hooked, of functions that return a double, too."""
    lines = session(
        folder,
        "echo square > set_ftrace_notrace; echo sort > set_graph_notrace",
        "echo function_graph > current_tracer",
        "work 1",
        "cat per_cpu/cpu1/trace",
    )
    assert [line.split("|  ")[1] for line in lines if line.startswith(" 1)")] == GRAPH


def test_backtrace(folder):
    lines = session(
        folder,
        "echo mean > set_ftrace_filter; echo function > current_tracer",
        "echo 1 > options/func_stack_trace",
        "work 1",
        "cat per_cpu/cpu1/trace",
    )
    assert re.findall(r"^ => (\w+)", "\n".join(lines), re.M)[:4] == ["mean", "deviation", "work", "run_worker"]


def test_signal(folder):
    """It is an interrupt to the trace, and to who is traced."""
    lines = session(folder, "echo function > current_tracer", "signal", "cat trace; echo > trace", "status")
    assert events(lines) == [("main", "..h..", "work_note_signal <-on_signal")]
    assert lines[-1] == "3 threads, 0 rounds, 0 right, 1 signals"


def test_signals_while_threads_work(folder):
    """They interrupt callbacks, and are traced inside them: each that was handled has its event."""
    with subprocess.Popen(
        [folder / "session"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    ) as program:
        print(
            "echo function > current_tracer; mkdir instances/s; echo work_note_signal > instances/s/set_ftrace_filter\n"
            "echo function > instances/s/current_tracer\nstart\necho ready",
            file=program.stdin,
            flush=True,
        )
        assert program.stdout.readline() == "ready\n"
        for task in list(Path(f"/proc/{program.pid}/task").iterdir()) * 100:
            LIBC.tgkill(program.pid, int(task.name), signal.SIGUSR1)
            time.sleep(0.001)
        # A thread that has worked once more has handled all that was sent to it before.
        out, _ = program.communicate("stop\nwork 1\nstatus\ncat instances/s/trace\n", timeout=60)
    rounds, right, signals = map(int, re.search(r"(\d+) rounds, (\d+) right, (\d+) signals", out).groups())
    assert rounds == right > 0 and 50 < signals <= 300
    found = events(out.splitlines())
    assert len(found) == signals and {name for name, _, _ in found} == {"main", "worker-1", "worker-2"}
    assert {flags[:3] for _, flags, _ in found} == {"..h"} and "..h1." in {flags for _, flags, _ in found}


@pytest.mark.parametrize("tracer", ["function", "function_graph"])
def test_flips_while_threads_work(folder, tracer):
    """Every round of work had the right result; trampolines are freed, with threads that never stop to say so."""
    lines = session(
        folder,
        "start",
        *[f"echo {tracer} > current_tracer; echo nop > current_tracer"] * FLIPS,
        f"echo {tracer} > current_tracer; cat enabled_functions",
        "stop",
        "cat text_poke_stats",
        "status",
    )
    threads, rounds, right = map(int, re.match(r"(\d+) threads, (\d+) rounds, (\d+) right", lines[-1]).groups())
    stats = dict(line.split(": ") for line in lines if re.fullmatch(r"[\w ]+: \d+", line))
    assert threads == 3 and rounds == right > 0
    assert all("tramp: 0x" in line for line in lines[:10])
    assert int(stats["batches"]) > 2 * FLIPS and int(stats["sites"]) > 20 * FLIPS


def test_flips(folder):
    """`make flips` does a million. int3s were hit: threads ran over what was being changed, if not at the first try."""
    int3 = 0
    for _ in range(5):
        lines = must("timeout", "120", folder / "flips", FLIPS_IN_BATCHES).splitlines()
        assert lines[-1] == "3 passed, 0 failed"
        int3 = int(re.search(r"(\d+) int3", lines[-2])[1])
        if int3 > SELFTEST_INT3:
            break
    assert int3 > SELFTEST_INT3


def test_hits(folder):
    """`make hits` does a hundred times as much."""
    lines = must("timeout", "120", folder / "hits", CHANGES_OF_PROBES).splitlines()
    assert lines[-1] == "4 passed, 0 failed"
    probes, jumps = map(int, re.search(r"(\d+) probes, (\d+) jumps", lines[-2]).groups())
    assert probes > CHANGES_OF_PROBES / 2 and jumps


def test_hits_of_the_profile_probes(compiler, folder, tmp_path):
    """The same with a library that has the profile `probes` and nothing above it; gcc's objects are compiled already."""
    objects = [folder / f"{name}.o" for name in ("hits", "mix", "cpus", "text", "text_lock", "trap", "symbols", "trace_host")]
    try:
        library = libtrace_for_process(compiler, "probes")
        must(compiler, f"@{library}/flags", "-c", ROOT / "tests/examples/probes_only.c", "-o", tmp_path / "probes_only.o")
        must(
            compiler,
            "-no-pie",
            "-z",
            "noexecstack",
            *objects,
            tmp_path / "probes_only.o",
            library / "libtrace.a",
            "-o",
            tmp_path / "hits",
            "-lpthread",
        )
    finally:
        if LIBRARY_BY[compiler] == compiler:
            libtrace_for_process(compiler)
    assert must("timeout", "120", tmp_path / "hits", CHANGES_OF_PROBES // 4).splitlines()[-1] == "4 passed, 0 failed"


def test_probe_events(folder):
    """At call sites and behind them, in a signal's handler, at the return: arguments, and depths and flags as without probes."""
    lines = session(
        folder,
        "echo 'p:one work %di' > kprobe_events",
        "echo 'p:two sort+5 nr=%si first=+0(%di):u32' >> kprobe_events",
        "echo 'r:three mean' >> kprobe_events",
        "echo 'p:four work_note_signal+5' >> kprobe_events",
        "echo 1 > events/kprobes/enable",
        "work 1",
        "signal",
        "cat trace; cat kprobe_profile",
        "status",
    )
    found = [re.fullmatch(r" *([\w-]+)-\d+ +\[\d+\] (.{5}) +[\d.]+: (\w+): \((\w+).*?\)(.*)", line) for line in lines]
    found = [match.groups() for match in found if match]
    for worker in ("worker-1", "worker-2"):
        seen = [(event, func, args) for name, flags, event, func, args in found if name == worker and flags == "....."]
        assert seen[0] == ("one", "work", " arg1=0x0") and seen[1] == ("two", "sort", " nr=0x6 first=15470")
        assert [event for event, _, _ in seen] == ["one"] + ["two"] * 9 + ["three"] and seen[-1][1] == "deviation"
    assert found[-1] == ("main", "..h..", "four", "work_note_signal", "")
    assert [line.split() for line in lines[-5:-1]] == [["one", "2", "0"], ["two", "18", "0"], ["three", "2", "0"], ["four", "1", "0"]]
    assert lines[-1] == "3 threads, 2 rounds, 2 right, 1 signals"


def test_probes_become_jumps(folder):
    """And these breakpoints again; the code is the same in the end."""
    lines = session(
        folder,
        "echo 'p:one work_note_signal+5' > kprobe_events; echo 1 > events/kprobes/enable",
        "kprobes",
        "sleep 30",
        "kprobes",
        "signal",
        "signal",
        "cat kprobe_profile",
        "echo 0 > events/kprobes/enable; echo > kprobe_events",
        "kprobes",
        "signal",
        "status",
    )
    assert [line.split()[1:] for line in lines[:2]] == [["k", "work_note_signal+0x5"], ["k", "work_note_signal+0x5", "[OPTIMIZED]"]]
    assert lines[2].split() == ["one", "2", "0"] and lines[3:] == ["3 threads, 0 rounds, 0 right, 3 signals"]


def test_probes_read_bad_memory(folder):
    """That it cannot be read is what the event says. The last address is none at all to the processor."""
    lines = session(
        folder,
        "echo 'p:one work +0(%di):u64 +0(%di):string +0(%sp):u64 +0(@0x800000000000):u32' > kprobe_events",
        "echo 1 > events/kprobes/enable",
        "work 1",
        "cat trace",
        "status",
    )
    found = [line.split(") ", 1)[1] for line in lines if " one: " in line]
    assert len(found) == 2
    for text in found:
        assert re.fullmatch(r"arg1=0 arg2=\(fault\) arg3=[1-9]\d+ arg4=0", text)
    assert lines[-1] == "3 threads, 2 rounds, 2 right, 0 signals"


def test_probes_refused(folder):
    """Addresses that a handler may run through, and those that are no instruction of the program."""
    lines = session(
        folder,
        "echo 'p kprobe_hit_run' > kprobe_events",
        "echo 'p trap_init+4' > kprobe_events",
        "echo 'p work+2' > kprobe_events",
        "cat error_log; cat kprobe_events",
    )
    text = "\n".join(lines)
    assert text.count("the function has no call site: a handler may run through it") == 2
    assert "it is in the middle of the instruction" in text or "not an instruction boundary" in text
    assert not any(line.startswith("p:") for line in lines)


def test_bench(folder):
    """Each row recorded what it should, and calls and returns pair up for the processor."""
    assert must("timeout", "60", folder / "bench", "check").splitlines()[-1] == "20 passed, 0 failed"


def test_errors(folder):
    lines = session(folder, "cat nothing", "echo nothing > current_tracer", "echo fine")
    assert lines == ["error: No such file or directory: cat nothing", "error: Invalid argument: echo nothing > current_tracer", "fine"]


def test_another_trap(folder):
    """A SIGTRAP that is not the library's ends the program, as ever."""
    with subprocess.Popen(
        [folder / "session"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    ) as program:
        print("echo ready", file=program.stdin, flush=True)
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGTRAP)
        assert program.wait(10) == -signal.SIGTRAP
