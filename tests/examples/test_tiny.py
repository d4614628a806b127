"""examples/tiny, made from what `make libtrace` gives and nothing else: booted, its output compared line by line."""
import re
import shutil

import pytest
from workshop import ROOT, boot, libtrace, must

TINY = ROOT / "examples/tiny"
MAX_LINES = 400
FUNCTIONS = """\
demo <-trace_functions
sum_of_cubes <-demo
cube <-sum_of_cubes
square <-cube
cube <-sum_of_cubes
square <-cube
cube <-sum_of_cubes
square <-cube
sum <-demo
square <-demo""".splitlines()
GRAPH = """\
 | demo() {
 |   sum_of_cubes() {
N |     cube();
N |     cube();
N |   }
N |   sum();
N | }""".splitlines()


@pytest.fixture(scope="module", params=["gcc", "clang"])
def lines(request, tmp_path_factory):
    """Built outside of the tree: it needs no other file of it."""
    folder = tmp_path_factory.mktemp(request.param)
    shutil.copytree(TINY, folder / "tiny")
    must("make", "-C", folder / "tiny", f"CC={request.param}", f"LIBTRACE={libtrace(request.param, 'graph')}", f"OUT={folder}/out")
    return boot(folder / "out/tiny.elf")


def test_start(lines):
    assert lines[:4] == [
        "ftrace: allocating 5 entries in 1 pages",
        "ftrace: allocated 1 pages with 1 groups",
        "text poke: int3 self-test passed: nop, call, jmp",
        "5 functions can be traced",
    ]


def test_functions(lines):
    first = lines.index("function trace of demo(3), which is true:") + 1
    assert lines[first : first + len(FUNCTIONS)] == FUNCTIONS


def test_graph(lines):
    graph = lines[lines.index("graph of demo(2), without square():") + 1 :]
    assert [re.sub(r"^ *(\d+ ns)? +\|", lambda m: "N |" if m[1] else " |", line) for line in graph] == GRAPH


def test_durations_hold_each_other(lines):
    """In the order of their ends: cube, cube, sum_of_cubes, sum, demo."""
    cube1, cube2, cubes, total, demo = [int(ns) for ns in re.findall(r"(\d+) ns", "\n".join(lines))]
    assert cube1 + cube2 < cubes and cubes + total < demo < 10**9


def code_lines(path):
    """Without blank lines and comments."""
    text = path.read_text()
    if path.suffix == ".asm":
        text = re.sub(r";.*", "", text)
    else:
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return sum(bool(line.strip()) for line in text.splitlines())


def test_size():
    """With the program that is traced, and what it does with the traces."""
    files = [path for path in TINY.rglob("*") if path.suffix in (".c", ".h", ".asm")]
    assert 300 < sum(map(code_lines, files)) <= MAX_LINES


def test_no_conditional_compilation_but_guards():
    for path in TINY.rglob("*.[ch]"):
        assert len(re.findall(r"^#if", path.read_text(), re.M)) == (path.suffix == ".h"), path
