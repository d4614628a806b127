"""docs/porting.md against what it describes: the flags of `make libtrace`, the functions of the host."""
import re
import subprocess

import pytest
from workshop import ROOT, libtrace, libtrace_for_process

TEXT = (ROOT / "docs/porting.md").read_text()
PARTS = {
    "base": ["include/trace/platform.h"],
    "arch": ["arch/x86_64/include/trace/arch_host.h"],
    **{part: [f"include/trace/platform_{part}.h"] for part in ("ring", "threads", "ops", "graph", "events", "full")},
}


def section(title):
    return re.search(rf"^## {title}$(.*?)(?=^## |\Z)", TEXT, re.M | re.S)[1]


def rows(text):
    for line in re.findall(r"^\| (.*) \|$", text, re.M):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        yield re.findall(r"`([^`]+)`", cells[0]), cells


def declared(name):
    """Functions that a header declares."""
    text = re.sub(r"/\*.*?\*/|^#.*?$", "", (ROOT / "trace" / name).read_text(), flags=re.S | re.M)
    return set(re.findall(r"\b((?:trace_plat|trace_arch|ftrace_regs|ftrace_override)_\w+)\(", text))


def test_flags():
    """Each flag of a list has its row, each row a list that has it."""
    table = [flag for flags, _ in rows(section("2. Compile one file with call sites")) for flag in flags if flag[0] == "-"]
    lists = [(libtrace(compiler, "ops") / "flags.traced").read_text().split() for compiler in ("gcc", "clang")]
    used = {flag for flags in lists for flag in flags if not flag.startswith("-I")}
    assert sorted(table) == sorted(used)


def test_flags_of_a_process():
    """Those whose row does not say that they are a kernel's."""
    table = [
        flag
        for flags, cells in rows(section("2. Compile one file with call sites"))
        for flag in flags
        if flag[0] == "-" and not cells[1].startswith("kernels: ")
    ]
    flags = (libtrace_for_process("gcc") / "flags.traced").read_text().split()
    assert sorted(table) == sorted(flag for flag in flags if not flag.startswith("-I"))


def test_plain_files_have_no_sites():
    folder = libtrace("gcc", "ops")
    plain, traced = ((folder / name).read_text().split() for name in ("flags", "flags.traced"))
    assert traced[: len(plain)] == plain and not {"-pg", "-mfentry"} & set(plain)


def functions():
    """(functions, part, who has them) of each row."""
    for names, cells in rows(section("What your kernel provides")):
        if names:
            yield names, cells[1], cells[3].strip("*`")


@pytest.mark.parametrize("part", PARTS)
def test_functions(part):
    table = [name for names, of, _ in functions() for name in names if of == part]
    assert sorted(table) == sorted(set().union(*map(declared, PARTS[part])))


def test_who_has_them():
    """Defaults are weak in the archive, what is to be written is asked for, the rest is in the header that is named."""
    nm = subprocess.run(["nm", "-g", libtrace_for_process("gcc") / "libtrace.a"], capture_output=True, text=True, check=True)
    kinds = {}
    for line in nm.stdout.splitlines():
        words = line.split()
        if len(words) in (2, 3):
            kinds.setdefault(words[-1], set()).add(words[-2])
    one, per_cpu, place = (next(ROOT.glob(f"trace/**/{name}")).read_text() for name in ("one_cpu.h", "arch_per_cpu.h", "arch_in_place.h"))
    arch = "".join((ROOT / f"trace/arch/x86_64/include/trace/arch_{name}.h").read_text() for name in ("inline", "regs", "user"))
    is_so = {
        "default": lambda name: "W" in kinds.get(name, ()),
        "write": lambda name: kinds.get(name) == {"U"},
        "one": lambda name: all(re.search(rf"\b{name}\([^;]*\)\n{{", header) for header in (one, per_cpu)),
        "place": lambda name: re.search(rf"\b{name}\([^;]*\)\n{{", place),
        "arch": lambda name: re.search(rf"\b{name}\([^;]*\)\n{{", arch) or "T" in kinds.get(name, ()),
        "inline": lambda name: name not in kinds,
    }
    assert [f"{name}: {who}" for names, _, who in functions() for name in names if not is_so[who](name)] == []


def test_linker_script():
    """The lines of the linker script are those of both examples."""
    lines = [line.strip() for line in re.findall(r"^    (\S.*[;}]|INCLUDE .*)$", section("3. Link"), re.M)]
    assert len(lines) == 3
    for example in ("tiny", "smp"):
        script = (ROOT / f"examples/{example}/linker.ld").read_text()
        assert [line for line in lines if line not in script] == []


def lines_of_code(*paths):
    """Without blank lines and comments."""
    texts = (re.sub(r"/\*.*?\*/", "", (ROOT / "examples" / path).read_text(), flags=re.S) for path in paths)
    return sum(bool(line.strip()) for text in texts for line in text.splitlines())


def test_glue():
    """The lines of glue of the guide: the host's headers, and its functions that the library calls."""
    headers = ["trace_plat_facts.h", "trace_plat_inline.h", "trace_arch_inline.h"]
    tiny = lines_of_code("tiny/trace_host.c", *(f"tiny/include/{name}" for name in headers))
    smp = lines_of_code("smp/trace_host.c", "smp/threads.c", "smp/patch_int3.c", *(f"smp/include/{name}" for name in [*headers, "cpu.h"]))
    found = re.search(r"is (\d+) lines in the one and (\d+) in the other", TEXT)
    assert (int(found[1]), int(found[2])) == (tiny, smp)
