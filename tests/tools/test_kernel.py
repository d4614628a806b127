"""The tables of the real kernel, by both compilers: complete, small, and in agreement with each other."""
import os
import re
import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tablekit import ROOT, must

BUILDS = {
    "gcc": Path(os.environ.get("FATHOM_BUILD", ROOT / "build")),
    "clang": Path(os.environ.get("FATHOM_BUILD_CLANG", ROOT / "build" / "clang")),
}
TRACEABLE, INLINED, NOTRACE_FUNC, NOTRACE_FILE, ASSEMBLY, DISCARDED, COLD_PART, RENAMED = range(8)


def symbols_of(table):
    """(name, value, size, type) of each that has a name. All at once: one by one takes the library seconds."""
    kinds = {0: "STT_NOTYPE", 1: "STT_OBJECT", 2: "STT_FUNC", 3: "STT_SECTION", 4: "STT_FILE"}
    names = table.stringtable.data()
    for name, info, _, _, value, size in struct.iter_unpack("<IBBHQQ", table.data()):
        if name:
            yield names[name : names.index(b"\0", name)].decode(), value, size, kinds[info & 15]


class Kernel:
    def __init__(self, tools, build, compiler):
        self.path = build / "fathom.elf"
        if not self.path.exists():
            must("make", "-C", ROOT, "-j2", f"BUILD={build}", f"CC={compiler}", "all")
        self.build = build
        with open(self.path, "rb") as file:
            elf = ELFFile(file)
            self.sections = [
                (s["sh_addr"], s.data(), s["sh_flags"]) for s in elf.iter_sections() if s["sh_flags"] & 2 and s["sh_type"] != "SHT_NOBITS"
            ]
            self.symbols = list(symbols_of(elf.get_section_by_name(".symtab")))
        self.value = {name: value for name, value, _, _ in self.symbols}
        start, stop = self.value["__start_mcount_loc"], self.value["__stop_mcount_loc"]
        self.sites = list(struct.unpack(f"<{(stop - start) // 8}Q", self.bytes_at(start, stop - start)))
        listing = must(tools["whynot"], "--list", "--sources", build / "gen/fathom.sources", self.path, cwd=ROOT).stdout
        self.reasons = {name: int(reason) for name, reason in re.findall(r"^(\S+) \S+ reason (\d+) ", listing, re.M)}

    def bytes_at(self, address, size):
        return next(
            data[address - start : address - start + size]
            for start, data, _ in self.sections
            if start <= address and address + size <= start + len(data)
        )


@pytest.fixture(scope="module", params=BUILDS)
def kernel(request, tools):
    return Kernel(tools, BUILDS[request.param], request.param)


def test_sites_are_calls_at_function_starts(kernel):
    starts = {value for _, value, _, kind in kernel.symbols if kind == "STT_FUNC"}
    assert len(kernel.sites) > 500
    assert kernel.sites == sorted(set(kernel.sites))
    for site in kernel.sites:
        code = kernel.bytes_at(site, 5)
        assert code[0] == 0xE8 and site + 5 + struct.unpack("<i", code[1:])[0] == kernel.value["__fentry__"]
        assert site in starts


def test_no_site_in_code_of_probes(kernel):
    low, high = kernel.value["__notrace_text_start"], kernel.value["__notrace_text_end"]
    assert low < high
    assert not [hex(site) for site in kernel.sites if low <= site < high]


def test_table_is_that_of_the_kernel(kernel, tools):
    must(tools["ksyms"], "--check", kernel.path)


def test_list_is_nm(kernel):
    lines = (kernel.build / "fathom.sym").read_text().splitlines()
    assert {(line.split()[2], int(line.split()[0], 16)) for line in lines} == {
        (name, value) for name, value, _, kind in kernel.symbols if kind != "STT_FILE"
    }


def test_tables_are_small(kernel):
    sizes = {name: size for name, _, size, _ in kernel.symbols}
    assert 1000 < sizes["whynot_blob"] < 32 * len(kernel.symbols)
    assert 1000 < sizes["symbols_blob"] < 25 * len(kernel.symbols)


def test_every_symbol_has_a_site_or_a_reason(kernel):
    sites = set(kernel.sites)
    values = {}
    for name, value, _, kind in kernel.symbols:
        if kind == "STT_FUNC" and value >= kernel.value["text_start"]:
            values.setdefault(name, set()).add(value)
    assert len(values) > 1000
    for name, places in values.items():
        traced = {place in sites for place in places}
        if traced == {True}:
            assert kernel.reasons[name] == TRACEABLE, name
        elif traced == {False}:
            assert kernel.reasons[name] in (NOTRACE_FUNC, NOTRACE_FILE, ASSEMBLY, COLD_PART, RENAMED), name
        else:  # static functions of one name: one that can be traced is enough
            assert kernel.reasons[name] == TRACEABLE, name


def source_functions():
    """Definitions as the style writes them: name and parenthesis, then a brace at the start of a line."""
    for listed in must("git", "-C", ROOT, "ls-files", "kernel/*.c", "arch/*.c", "trace/*.c").stdout.split():
        if (ROOT / listed).exists():
            text = (ROOT / listed).read_text()
            for name in re.findall(r"^(?:[a-z][\w ]*[ *]+)(\w+)\([^;{}=]*?\)\n\{", text, re.M):
                if name != "__attribute__" and not name.isupper():
                    yield listed, name


def test_every_function_of_the_source_is_known(kernel):
    linked = set((kernel.build / "gen/fathom.sources").read_text().split())
    checked = 0
    for path, name in source_functions():
        if path in linked:
            assert name in kernel.reasons, f"{path}: {name}"
            assert kernel.reasons[name] != ASSEMBLY, f"{path}: {name}"
            checked += 1
    assert checked > 1000


def test_each_error_has_a_text():
    """The shell names each answer of a file: each number of errno.h, in the words of this host's C library."""
    numbers = re.findall(r"^#define (E\w+)\s+(\d+)$", (ROOT / "trace/include/trace/errno.h").read_text(), re.M)
    texts = dict(re.findall(r'^\t\{ (E\w+), "(.*)" \},$', (ROOT / "kernel/shell/cmd/command_io.c").read_text(), re.M))
    assert len(numbers) > 30
    assert texts == {name: os.strerror(int(number)) for name, number in numbers}
