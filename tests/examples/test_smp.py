"""examples/smp, made from what `make libtrace` gives and nothing else: code is changed while CPUs run over it."""
import re
import shutil

import pytest
from workshop import ROOT, boot, libtrace, must

SMP = ROOT / "examples/smp"
ROUNDS = int(re.search(r"#define ROUNDS (\d+)", (SMP / "kernel.c").read_text())[1])
SELFTEST_SITES, ALWAYS_SITES = 3, 1


@pytest.fixture(scope="module", params=[("gcc", 4), ("clang", 2)], ids=["gcc", "clang"])
def result(request, tmp_path_factory):
    """(CPUs, what it printed)."""
    compiler, cpus = request.param
    folder = tmp_path_factory.mktemp(compiler)
    library = libtrace(compiler, "ops", host="examples/smp/include", folder=folder / "libtrace")
    shutil.copytree(SMP, folder / "smp")
    must("make", "-C", folder / "smp", f"CC={compiler}", f"LIBTRACE={library}", f"OUT={folder}/out")
    return cpus, boot(folder / "out/smp.elf", cpus)


def test_start(result):
    cpus, lines = result
    assert lines[:4] == ["ftrace: allocating 1 entries in 1 pages", "ftrace: allocated 1 pages with 1 groups",
                         "text poke: int3 self-test passed: nop, call, jmp", f"{cpus} CPUs"]


def test_every_call_is_counted(result):
    calls, counted, seen = map(int, re.fullmatch(r"(\d+) calls, (\d+) counted, (\d+) of them seen by .*", result[1][-1]).groups())
    assert 0 < seen < counted == calls


def test_changes_live(result):
    """Each round takes two changes of the site; CPUs were on it meanwhile."""
    sites, batches, hits = map(int, re.fullmatch(r"(\d+) sites changed in (\d+) batches, an int3 hit (\d+) times",
                                                 result[1][-2]).groups())
    assert sites == batches == SELFTEST_SITES + ALWAYS_SITES + 2 * ROUNDS
    assert hits > SELFTEST_SITES
