"""The check of the site table finds each kind of mistake, and sorts."""
import re
import struct

import pytest
from elftools.elf.elffile import ELFFile

from tablekit import must, run

FLAGS = "-std=gnu11 -O2 -fno-pie -mcmodel=kernel -fcf-protection=none -pg -mfentry".split()
SOURCE = "".join(f"int f{i}(int a); int __attribute__((noinline)) f{i}(int a) {{ return a * {i + 3}; }}\n" for i in range(6))
QUIET = """
int q1(int a); int __attribute__((no_instrument_function)) q1(int a) { return a; }
"""
SCRIPT = """
SECTIONS {
    . = 0xffffffff80100000;
    .text : {
        *(.text)
        quiet_start = .;
        *(.text.quiet)
        quiet_end = .;
        *(.text.*)
    }
    .rodata : { . = ALIGN(8); __start_mcount_loc = .; KEEP(*(__mcount_loc)) __stop_mcount_loc = .; }
    /DISCARD/ : { *(.comment) *(.note*) *(.eh_frame) }
}
"""
TRACER = """
.text
.globl __fentry__
.type __fentry__, @function
__fentry__: ret
.size __fentry__, 1
.section .note.GNU-stack,"",@progbits
"""


class Kernel:
    def __init__(self, tools, directory):
        self.tools, self.directory, self.path = tools, directory, directory / "kernel"
        self.objects = []

    def add(self, name, source, *flags, record=True):
        path = self.directory / name
        path.write_text(source)
        out = self.directory / f"{name}.o"
        must("gcc", *(FLAGS if name.endswith(".c") else []), *flags, "-c", path, "-o", out)
        if record:
            must(self.tools["recordmcount"], out)
        self.objects.append(out)
        return self

    def link(self, script=SCRIPT):
        (self.directory / "k.ld").write_text(script)
        must("ld", "-e", "0", "-T", self.directory / "k.ld", *self.objects, "-o", self.path)
        return self

    def check(self, *words):
        return run(self.tools["sites"], *words, self.path)

    def elf(self):
        with open(self.path, "rb") as file:
            elf = ELFFile(file)
            names = {s.name: s["st_value"] for s in elf.get_section_by_name(".symtab").iter_symbols() if s.name}
            places = [(s["sh_addr"], s["sh_offset"], s["sh_size"]) for s in elf.iter_sections() if s["sh_flags"] & 2]
        return names, places

    def offset(self, address):
        return next(at + address - start for start, at, size in self.elf()[1] if start <= address < start + size)

    def table(self):
        names = self.elf()[0]
        start, stop = names["__start_mcount_loc"], names["__stop_mcount_loc"]
        at = self.offset(start) if stop > start else 0
        return list(struct.unpack_from(f"<{(stop - start) // 8}Q", self.path.read_bytes(), at))

    def set_table(self, values):
        self.write(self.elf()[0]["__start_mcount_loc"], struct.pack(f"<{len(values)}Q", *values))

    def write(self, address, data):
        whole = bytearray(self.path.read_bytes())
        at = self.offset(address)
        whole[at : at + len(data)] = data
        self.path.write_bytes(whole)

    def address(self, name):
        return self.elf()[0][name]


@pytest.fixture
def kernel(tools, tmp_path):
    return Kernel(tools, tmp_path).add("f.c", SOURCE).add("tracer.s", TRACER).add("quiet.c", QUIET).link()


def refused(kernel, *wanted, words=()):
    before = kernel.path.read_bytes()
    done = kernel.check(*words)
    assert done.returncode == 1
    for text in wanted:
        assert text in done.stderr
    assert kernel.path.read_bytes() == before
    return done.stderr


def test_good_kernel(kernel):
    done = kernel.check()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert kernel.table() == sorted(kernel.address(f"f{i}") for i in range(6))


def test_sorts_in_place(kernel):
    table = kernel.table()
    kernel.set_table(table[::-1])
    assert kernel.check().returncode == 0
    assert kernel.table() == table
    before = kernel.path.stat().st_ino
    assert kernel.check().returncode == 0
    assert kernel.path.stat().st_ino == before  # sorted already: not written again


def test_missing_entry(kernel):
    table = kernel.table()
    kernel.set_table([table[0], *table[:-1]])
    refused(kernel, "two entries for one site", "f5+0x0: call to __fentry__ or mcount without an entry", "2 mistakes in its call sites")


def test_entry_beside_the_call(kernel):
    table = kernel.table()
    kernel.set_table([table[0] + 1, *table[1:]])
    refused(kernel, "f0+0x1: entry does not point at a call", "f0+0x0: call to __fentry__ or mcount without")


def test_entry_outside_code(kernel):
    table = kernel.table()
    for bad in (0x1000, kernel.address("__start_mcount_loc"), 0xFFFFFFFFFFFFFFFF):
        kernel.set_table([bad, *table[1:]])
        refused(kernel, f"0x{bad:x}: entry does not point at a call")


def test_call_to_something_else(kernel):
    kernel.write(kernel.address("f2"), b"\xe8\0\0\0\0")
    refused(kernel, "f2+0x0: entry does not point at a call")


def test_call_that_is_a_nop_already(kernel):
    kernel.write(kernel.address("f2"), b"\x0f\x1f\x44\0\0")
    refused(kernel, "f2+0x0: entry does not point at a call")


def test_unrecorded_object(tools, tmp_path):
    kernel = Kernel(tools, tmp_path).add("f.c", SOURCE, record=False).add("tracer.s", TRACER).link()
    refused(kernel, "6 mistakes")


def test_call_in_the_middle(tools, tmp_path):
    middle = """
    .globl f
    .type f, @function
    f: nop
    call __fentry__
    ret
    .size f, . - f
    .section .note.GNU-stack,"",@progbits
    """
    kernel = Kernel(tools, tmp_path).add("middle.s", middle).add("tracer.s", TRACER).link()
    refused(kernel, "f+0x1: call to __fentry__ that does not start a function")


def test_endbr64(tools, tmp_path):
    kernel = Kernel(tools, tmp_path).add("f.c", SOURCE, "-fcf-protection=branch").add("tracer.s", TRACER).link()
    assert kernel.check().returncode == 0
    assert kernel.table() == [kernel.address(f"f{i}") + 4 for i in range(6)]


def test_mcount(tools, tmp_path):
    tracer = TRACER.replace("__fentry__", "mcount")
    kernel = Kernel(tools, tmp_path).add("f.c", SOURCE, "-mno-fentry").add("tracer.s", tracer).link()
    assert kernel.check().returncode == 0
    assert len(kernel.table()) == 6


def test_mcount_far_from_the_start(tools, tmp_path):
    far = ".globl f\n.type f, @function\nf: .space 100, 0x90\ncall mcount\nret\n.size f, . - f\n" '.section .note.GNU-stack,"",@progbits\n'
    kernel = Kernel(tools, tmp_path).add("far.s", far).add("tracer.s", TRACER.replace("__fentry__", "mcount")).link()
    refused(kernel, "f+0x64: call to mcount far from the start")


def test_notrace_range(tools, tmp_path):
    quiet = 'int q2(int a); int __attribute__((section(".text.quiet"))) q2(int a) { return a; }\n'
    kernel = Kernel(tools, tmp_path).add("f.c", SOURCE).add("tracer.s", TRACER).add("q.c", quiet).link()
    assert kernel.check().returncode == 0
    refused(kernel, "q2+0x0: site in code that must not have one", "1 mistakes", words=["--notrace", "quiet_start", "quiet_end"])
    refused(kernel, "q2+0x0", words=["--notrace", "f0", "f1", "--notrace", "quiet_start", "quiet_end"])
    refused(kernel, "no nothing, quiet_end", words=["--notrace", "nothing", "quiet_end"])
    refused(kernel, "lies behind", words=["--notrace", "quiet_end", "quiet_start"])


def test_dead_weak_function(tools, tmp_path):
    weak = "int f(int a); int __attribute__((weak)) f(int a) { return a; }\n" + SOURCE
    strong = "int f(int a); int f(int a) { return a + 1; }\n"
    kernel = Kernel(tools, tmp_path).add("weak.c", weak).add("strong.c", strong).add("tracer.s", TRACER).link()
    for _ in range(2):  # the second time the entry is 0 already
        done = kernel.check()
        assert done.returncode == 0
        table = kernel.table()
        assert len(table) == 8 and table[0] == 0 and table == sorted(table)
        assert kernel.address("f") in table
    assert kernel.address("f") not in table[:1]


def test_kernel_without_sites(tools, tmp_path):
    assert Kernel(tools, tmp_path).add("tracer.s", TRACER).link().check().returncode == 0


def test_no_table(tools, tmp_path):
    script = re.sub(r"__(start|stop)_mcount_loc = .;", "", SCRIPT)
    refused(Kernel(tools, tmp_path).add("f.c", SOURCE).add("tracer.s", TRACER).link(script), "no __start_mcount_loc")


def test_bad_input(tools, kernel, tmp_path):
    assert run(tools["sites"]).returncode == 2
    assert run(tools["sites"], "--notrace", "a", tmp_path).returncode == 2
    whole = kernel.path.read_bytes()
    for size in (0, 10, 63, 64, 200, 1000, len(whole) - 1):
        kernel.path.write_bytes(whole[:size])
        done = kernel.check()
        assert done.returncode == 1 and done.stderr.startswith(f"sites: {kernel.path}: ")


BRANCH = """
.text
.globl branchy
.type branchy, @function
branchy: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
ret
other: ret
.size branchy, . - branchy
.section .data, "aw"
key: .quad 0
.section .static_branches, "aw"
entry: .quad branchy, other, key
.section .note.GNU-stack,"",@progbits
"""


def test_static_branches(tools, tmp_path):
    script = SCRIPT.replace(
        "/DISCARD/", ".data : { static_branches_start = .; KEEP(*(.static_branches)) " "static_branches_end = .; *(.data) }\n    /DISCARD/"
    )
    kernel = Kernel(tools, tmp_path).add("tracer.s", TRACER).add("branch.s", BRANCH).link(script)
    assert kernel.check().returncode == 0
    start, code = kernel.address("static_branches_start"), kernel.address("branchy")
    good = struct.pack("<3Q", code, kernel.address("other"), kernel.address("key"))
    for words, wanted in (
        ((code + 5, code, 1), "branchy+0x5: static branch that is no NOP"),
        ((start, code, 1), "static branch that is no NOP"),
        ((code, start, 1), "static branch to nowhere"),
        ((code, code, 0), "static branch without a key"),
    ):
        kernel.write(start, struct.pack("<3Q", *words))
        refused(kernel, wanted)
    kernel.write(start, good)
    assert kernel.check().returncode == 0
