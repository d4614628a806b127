"""examples/smp, made from what `make libtrace` gives and nothing else: code is changed while CPUs run over it."""
import re
import shutil

import pytest
from workshop import LIBTRACE_CFLAGS, ROOT, boot, libtrace_together, must

SMP = ROOT / "examples/smp"
ROUNDS = int(re.search(r"#define ROUNDS\s+(\d+)", (SMP / "kernel.c").read_text())[1])
SELFTEST_SITES, ALWAYS_SITES = 3, 1


@pytest.fixture(scope="module", params=[("gcc", 4, "int3"), ("clang", 2, "int3"), ("gcc", 3, "stop")], ids=["gcc", "clang", "gcc-stop"])
def result(request, tmp_path_factory):
    """(how code is changed, CPUs, what it printed). The second library of a compiler takes over what the first one has."""
    compiler, cpus, patch = request.param
    folder = tmp_path_factory.getbasetemp() / compiler
    made = {"TRACE_ARCH_PATCH": patch, "LIBTRACE_CFLAGS": LIBTRACE_CFLAGS}
    library = libtrace_together(compiler, "ops", "examples/smp/include", folder / "libtrace", **made)
    shutil.copytree(SMP, folder / "smp", dirs_exist_ok=True)
    must("make", "-C", folder / "smp", f"CC={compiler}", f"LIBTRACE={library}", f"OUT={folder}/{patch}", f"PATCH={patch}")
    return patch, cpus, boot(folder / patch / "smp.elf", cpus)


def test_start(result):
    patch, cpus, lines = result
    tested = ["text poke: int3 self-test passed: nop, call, jmp"] if patch == "int3" else []
    assert lines[:-4] == ["ftrace: allocating 1 entries in 1 pages", "ftrace: allocated 1 pages with 1 groups", *tested, f"{cpus} CPUs"]


def numbers(pattern, line):
    return map(int, re.fullmatch(pattern.replace("N", r"(\d+)"), line).groups())


def test_every_call_is_counted(result):
    calls, counted, seen = numbers("N calls, N counted, N of them seen by the ops that came and went", result[2][-3])
    assert 0 < seen < counted == calls


def test_changes_live(result):
    """Each round takes two changes of the site; CPUs were on it meanwhile, or stood still and met no int3."""
    patch, _, lines = result
    rounds, sites, batches, hits = numbers("N rounds, N sites changed in N batches, an int3 hit N times", lines[-4])
    tested = SELFTEST_SITES if patch == "int3" else 0
    assert rounds >= ROUNDS and sites == batches == tested + 2 * ALWAYS_SITES + 2 * rounds
    assert hits > tested if patch == "int3" else hits == 0


def test_preemption(result):
    """Threads were switched in the middle of trampolines, and no trampoline waits for one of them for ever."""
    switches, inside = numbers("N switches of threads, N of them in trampolines", result[2][-2])
    assert switches > inside > 0
    assert result[2][-1] == "the memory of all trampolines is free"
