"""Damaged input: a message with file and reason, status 1, the file as it was. No crash."""
import os
import random
import re
import resource
import signal
import struct

import pytest

from elf import entries
from samples import MIXED
from structure import Object, misaligned
from workshop import SANITIZED, build_tool, must, run

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
(TYPE, MACHINE, SHOFF, SHENTSIZE, SHNUM, SHSTRNDX) = (1, 2, 6, 11, 12, 13)


def refused(tool, path, *reasons):
    before = path.read_bytes()
    done = run(tool, path)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith(f"recordmcount: {path}: ") and done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""
    for reason in reasons:
        assert reason in done.stderr
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir() if p.name.startswith(path.name + ".")] == []


def with_header(path, **fields):
    data = bytearray(path.read_bytes())
    values = list(HEADER.unpack_from(data))
    for name, value in fields.items():
        values[globals()[name]] = value
    HEADER.pack_into(data, 0, *values)
    path.write_bytes(data)
    return path


def with_section(path, name, **fields):
    """Change fields of a section header."""
    from elftools.elf.elffile import ELFFile

    places = {
        "sh_name": (0, "<I"),
        "sh_type": (4, "<I"),
        "sh_flags": (8, "<Q"),
        "sh_offset": (24, "<Q"),
        "sh_size": (32, "<Q"),
        "sh_link": (40, "<I"),
        "sh_info": (44, "<I"),
        "sh_entsize": (56, "<Q"),
    }
    with open(path, "rb") as file:
        elf = ELFFile(file)
        at = elf.header["e_shoff"] + 64 * elf.get_section_index(name)
    data = bytearray(path.read_bytes())
    for field, value in fields.items():
        offset, form = places[field]
        struct.pack_into(form, data, at + offset, value)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("contents", [b"", b"int main;\n", b"\x7fELF", b"!<arch>\n", b"\0" * 4096])
def test_not_elf(shop, tool, contents):
    path = shop.path("file.o")
    path.write_bytes(contents)
    refused(tool, path)


def test_missing_file_and_directory(shop, tool):
    done = run(tool, shop.path("nothing.o"))
    assert done.returncode == 1 and "nothing.o: cannot open: No such file" in done.stderr
    done = run(tool, shop.directory)
    assert done.returncode == 1 and "not a regular file" in done.stderr


def test_usage(tool):
    done = run(tool)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "usage: recordmcount OBJECT...\n")


def test_32_bit(shop, tool):
    refused(tool, shop.assemble("narrow", "nop\n", "-m32"), "not a 64-bit")


def test_linked_file(shop, tool):
    refused(tool, shop.link("linked", shop.assemble("a", "nop\n")), "not a relocatable object")


def test_other_machine(shop, tool):
    refused(tool, with_header(shop.compile("made", MIXED), MACHINE=183), "machine 183, not x86-64")


def test_truncated_anywhere(shop, tool):
    made = shop.compile("made", MIXED, "-g")
    whole = made.read_bytes()
    points = sorted({*range(0, 80), *range(80, len(whole), 97), len(whole) - 1})
    files = []
    for size in points:
        part = shop.path(f"part{size}.o")
        part.write_bytes(whole[:size])
        files.append(part)
    done = run(tool, *files)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert [line.split(": ")[1] for line in lines] == [str(path) for path in files]
    for size, path in zip(points, files):
        assert path.read_bytes() == whole[:size]


@pytest.mark.parametrize(
    "fields, reason",
    [
        ({"SHOFF": 1 << 40}, "truncated"),
        ({"SHOFF": 0}, "no section headers"),
        ({"SHENTSIZE": 40}, "no section headers"),
        ({"SHNUM": 0xFE00}, "truncated"),
        ({"SHNUM": 0}, "damaged section headers"),
        ({"SHSTRNDX": 0xFE00}, "no section name table"),
        ({"SHSTRNDX": 0}, "no section name table"),
    ],
)
def test_damaged_header(shop, tool, fields, reason):
    refused(tool, with_header(shop.compile("made", MIXED), **fields), reason)


@pytest.mark.parametrize(
    "section, fields, reason",
    [
        (".text", {"sh_offset": 1 << 40}, "truncated"),
        (".text", {"sh_size": 3}, "lies outside section"),
        (".rela.text", {"sh_info": 999}, "no section 999"),
        (".rela.text", {"sh_entsize": 23}, "unknown format"),
        (".rela.text", {"sh_size": 25}, "unknown format"),
        (".symtab", {"sh_entsize": 23}, "symbol table of an unknown format"),
        (".symtab", {"sh_info": 9999}, "local symbols"),
        (".symtab", {"sh_link": 0}, "symbol table without names"),
        (".symtab", {"sh_size": 24 * 6}, "no symbol"),
        (".strtab", {"sh_size": 4}, "name outside the string table"),
        (".comment", {"sh_name": 1 << 30}, "name outside the string table"),
        (".text", {"sh_name": 1 << 30}, "name outside the string table"),
        # a table of section numbers that is none, that belongs to no symbol table, that is too short
        (".comment", {"sh_type": 18, "sh_size": 6, "sh_entsize": 4}, "cannot be read"),
        (".comment", {"sh_type": 18, "sh_size": 4, "sh_entsize": 4}, "does not fit the symbol table"),
    ],
)
def test_damaged_section(shop, tool, section, fields, reason):
    refused(tool, with_section(shop.compile("made", MIXED), section, **fields), reason)


def with_bytes(path, section, at, data):
    """Change bytes of a section's contents; `section` is a name or a number."""
    old = Object(path.read_bytes())
    numbers = [i for i in range(1, len(old.sections)) if section in (i, old.name(i))]
    start = old.sections[numbers[0]].offset + at
    path.write_bytes(old.data[:start] + data + old.data[start + len(data) :])
    return path


# .text, .rela.text, .data, .bss are sections 1 to 4; the calls stand at 0 and 6 of .text
CALLS = """
.text
call __fentry__
nop
call __fentry__
.section .rodata.address,"a"
.quad far
.section .text.other,"ax"
call __fentry__
.section .note.GNU-stack,"",@progbits
"""


def test_exact_messages_about_calls(shop, tool):
    def exact(path, message):
        refused(tool, path, f"recordmcount: {path}: {message}\n")

    made = shop.assemble("calls", CALLS)
    exact(with_section(made, ".text", sh_size=10), "relocation at 0x7 lies outside section 1")
    made = shop.assemble("calls", CALLS)
    exact(with_bytes(made, ".rela.text", 24, struct.pack("<Q", 8)), "relocation at 0x8 lies outside section 1")
    made = shop.assemble("calls", CALLS)
    exact(with_bytes(made, ".rela.text", 24, struct.pack("<Q", (1 << 64) - 1)), "relocation at 0xffffffffffffffff lies outside section 1")
    made = shop.assemble("calls", CALLS)
    exact(with_bytes(made, ".rela.text", 40, struct.pack("<q", -3)), "call at 0x6 of section 1 has addend -3")
    made = shop.assemble("calls", CALLS)
    nr = len(Object(made.read_bytes()).symbols)
    exact(with_bytes(made, ".rela.text", 36, struct.pack("<I", nr)), f"relocation 1 of section 2: no symbol {nr}")
    made = shop.assemble("calls", CALLS)
    exact(with_bytes(made, ".rela.rodata.address", 12, struct.pack("<I", nr)), f"relocation against missing symbol {nr}")


@pytest.mark.parametrize(
    "section, fields, reason",
    [
        (".rela.text", {"sh_type": 9}, "relocation section 2: unknown format"),
        (".rela.text", {"sh_link": 1}, "relocation section 2: unknown format"),
        (".rela.text", {"sh_info": 0}, "relocation section 2: no section 0"),
        (".rela.rodata.address", {"sh_size": 23}, "relocations with a partial entry"),
        (".rela.rodata.address", {"sh_type": 9, "sh_size": 15, "sh_entsize": 16}, "relocations with a partial entry"),
        (".rodata.address", {"sh_type": 2, "sh_size": 8}, "symbol table of an unknown format"),
        (".symtab", {"sh_size": 0}, "symbol table of an unknown format"),
        (".symtab", {"sh_size": 25}, "symbol table of an unknown format"),
        (".symtab", {"sh_link": 1}, "symbol table without names"),
        (".symtab", {"sh_link": 9999}, "symbol table without names"),
    ],
)
def test_damaged_table(shop, tool, section, fields, reason):
    made = with_section(shop.assemble("calls", CALLS), section, **fields)
    refused(tool, made, f"recordmcount: {made}: {reason}\n")


def test_unknown_section_about_symbols(shop, tool):
    """It would have to be renumbered. Where no symbol is inserted it may be anything."""
    made = shop.assemble("calls", CALLS)
    symtab = Object(made.read_bytes()).symtab
    refused(
        tool,
        with_section(made, ".note.GNU-stack", sh_type=0x6FFFFFF0, sh_link=symtab),
        f"recordmcount: {made}: section type 0x6ffffff0 refers to symbols in an unknown way\n",
    )
    made = shop.compile("known", "int f(void) { return 1; }\n", "-g")
    symtab = Object(made.read_bytes()).symtab
    must(tool, with_section(made, ".note.GNU-stack", sh_type=0x6FFFFFF0, sh_link=symtab))
    assert entries(made) == 1


def test_two_symbol_tables(shop, tool):
    made = shop.assemble("calls", CALLS + ".data\n.zero 24\n")
    old = Object(made.read_bytes())
    refused(
        tool,
        with_section(made, ".data", sh_type=2, sh_entsize=24, sh_link=old.sections[old.symtab].link),
        f"recordmcount: {made}: two symbol tables\n",
    )


@pytest.mark.parametrize(
    "word, number, reason",
    [
        (1, 0, "group {group}: no section 0"),
        (1, 9999, "group {group}: no section 9999"),
        (1, 1 << 31, "group {group}: no section 2147483648"),
        (2, "same", "section {member} is in two groups"),
    ],
)
def test_damaged_group(shop, tool, word, number, reason):
    made = shop.assemble(
        "groups",
        """
    .section .text.a,"axG",@progbits,a,comdat
    call __fentry__
    """,
    )
    old = Object(made.read_bytes())
    group = next(i for i, section in enumerate(old.sections) if section.type == 17)
    member = old.words(group)[1]
    assert len(old.words(group)) == 3
    with_bytes(made, group, 4 * word, struct.pack("<I", member if number == "same" else number))
    refused(tool, made, f"recordmcount: {made}: {reason.format(group=group, member=member)}\n")


@pytest.mark.parametrize("kind", ["GOTPCREL", "GOTPCRELX", "REX_GOTPCRELX"])
@pytest.mark.parametrize("at", [0, 1, 9])
def test_indirect_call(shop, tool, kind, at):
    """The first byte of the section included; all three types that assemblers use."""
    made = shop.assemble(
        "indirect",
        f"""
    .section .text.i,"ax"
    .zero {at}
    .byte 0xff, 0x15
    .reloc ., R_X86_64_{kind}, __fentry__ - 4
    .long 0
    """,
    )
    old = Object(made.read_bytes())
    section = next(i for i in range(len(old.sections)) if old.name(i) == ".text.i")
    refused(tool, made, f"recordmcount: {made}: 6-byte call at {at:#x} of section {section}: compile with -fno-pie\n")


def test_files_are_closed(shop, tool):
    """Good, damaged and untraced objects, many more than may be open at a time."""
    good = [shop.assemble(f"good{i}", CALLS) for i in range(3)]
    plain = shop.assemble("plain", "nop\n")
    bad = shop.write("bad.o", "nonsense")
    limit = (16, 16)
    done = run(tool, *good, *[plain, bad, shop.directory] * 20, *good, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
    assert done.returncode == 1
    assert done.stderr == (f"recordmcount: {bad}: not an ELF file\n" f"recordmcount: {shop.directory}: not a regular file\n") * 20
    assert [entries(path) for path in good] == [3] * 3


SCARCE = """
#include <errno.h>
#include <stdlib.h>
void *REAL_malloc(size_t size);
void *REAL_calloc(size_t nr, size_t size);
void *REAL_realloc(void *old, size_t size);
void *OURS_malloc(size_t size);
void *OURS_calloc(size_t nr, size_t size);
void *OURS_realloc(void *old, size_t size);
/* Fails once, at the allocation whose number the environment names. */
static int is_due(void)
{
    static int nr;
    const char *at = getenv("FAIL_AT");
    if (!at || ++nr != atoi(at))
        return 0;
    errno = ENOMEM;
    return 1;
}
void *OURS_malloc(size_t size) { return is_due() ? NULL : REAL_malloc(size); }
void *OURS_calloc(size_t nr, size_t size) { return is_due() ? NULL : REAL_calloc(nr, size); }
void *OURS_realloc(void *old, size_t size) { return is_due() ? NULL : REAL_realloc(old, size); }
"""


def reasons_of_failures(shop, tool, prepare=lambda path: path):
    """Two objects, with each allocation failing in turn, and more than there are: why the first one was refused."""
    text = (
        '.section .text.a,"axG",@progbits,a,comdat\ncall __fentry__\n.text\n'
        + "call __fentry__\n" * 65
        + '.section .note.GNU-stack,"",@progbits\n'
    )
    made, other = prepare(shop.assemble("made", text)), shop.assemble("other", CALLS)
    before, others = made.read_bytes(), other.read_bytes()
    reasons = []
    for nr in range(1, 80):
        made.write_bytes(before)
        other.write_bytes(others)
        done = run(tool, made, other, env={**os.environ, "FAIL_AT": str(nr)})
        assert done.returncode == (1 if done.stderr else 0)
        assert entries(other) == 3 or f"{other}: " in done.stderr
        if f"{made}: " in done.stderr:
            assert done.stderr.count("\n") == 1 and made.read_bytes() == before
            reasons.append(done.stderr.removeprefix(f"recordmcount: {made}: "))
        else:
            assert entries(made) == 66
    assert done.stderr == ""
    return reasons


def test_out_of_memory(shop, tmp_path):
    """Of its own allocations: a message, nothing leaks, the file stays; the next one is still processed."""
    source = shop.write("scarce.c", SCARCE.replace("REAL_", "__real_").replace("OURS_", "__wrap_"))
    tool = build_tool(tmp_path, f"{SANITIZED} -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc {source}")
    reasons = reasons_of_failures(shop, tool)
    assert set(reasons) == {"out of memory\n", "cannot write: Cannot allocate memory\n"}
    assert len(reasons) > 12


def test_out_of_memory_in_libelf(shop, tmp_path):
    """Of all allocations in the program, those of libelf among them: it copies what does not lie as it should."""
    source = shop.write("scarce.c", SCARCE.replace("REAL_", "__libc_").replace("OURS_", ""))
    reasons = reasons_of_failures(shop, build_tool(tmp_path, f"gcc {source}"), misaligned)
    assert {re.sub("[0-9]+", "N", reason) for reason in reasons} == {
        "out of memory\n",
        "libelf: out of memory\n",
        "section N cannot be read: out of memory\n",
        "cannot write: Cannot allocate memory\n",
    }


def test_empty_section_at_the_end(shop, tool):
    """It lies at the end of the file, not behind it."""
    path = shop.compile("made", MIXED)
    with_section(path, ".bss", sh_type=1, sh_offset=path.stat().st_size)
    must(tool, path)
    assert entries(path) == 5


def test_position_independent_call(shop, tool):
    """6-byte calls through the GOT, as gcc makes them without -fno-pie, cannot become 5-byte NOPs."""
    made = shop.compile("made", MIXED, "-O2", "-pg", "-mfentry", "-fPIE", plain=True)
    refused(tool, made, "6-byte call", "-fno-pie")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_bytecode(shop, tool, compiler):
    """The calls are made at the link: an object that seems to have no sites is not taken for one without."""
    refused(tool, shop.compile("made", MIXED, "-flto", compiler=compiler), "no machine code yet: compile without -flto")


def test_bytecode_beside_code(shop, tool):
    made = shop.compile("made", MIXED, "-flto", "-ffat-lto-objects")
    must(tool, made)
    assert entries(made) == 5


def test_other_objects_are_still_processed(shop, tool):
    good, also_good = shop.compile("good", MIXED), shop.compile("good2", MIXED)
    bad = shop.write("bad.o", "nonsense")
    done = run(tool, good, bad, also_good)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [f"recordmcount: {bad}: not an ELF file"]
    assert entries(good) == entries(also_good) == 5


def test_failed_write_leaves_the_file(shop, fast_tool):
    made = shop.compile("made", MIXED)
    before = made.read_bytes()

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = run(fast_tool, made, preexec_fn=limit)
    assert done.returncode == 1 and "cannot write: File too large" in done.stderr
    assert made.read_bytes() == before
    assert sorted(p.name for p in shop.directory.iterdir()) == ["made.c", "made.o"]


def test_permissions_and_links_stay(shop, tool):
    made = shop.compile("made", MIXED)
    made.chmod(0o640)
    link = shop.path("link.o")
    link.symlink_to(made)
    must(tool, link)
    assert link.is_symlink() and os.readlink(link) == str(made)
    assert made.stat().st_mode & 0o7777 == 0o640
    assert entries(made) == 5


def mutate(data, dice):
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 8])):
        kind = dice.randrange(3)
        at = dice.randrange(len(data)) if dice.random() < 0.5 else dice.randrange(min(len(data), 64))
        if kind == 0:
            data[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            data[at : at + 8] = struct.pack("<Q", dice.choice([0, 1, 0xFF, 0xFFFF, 1 << 31, (1 << 64) - 1, len(data)]))
        else:
            table = struct.unpack_from("<Q", data, 40)[0]
            if table + 64 <= len(data):  # a field of a section header
                at = dice.randrange(table, len(data), 4)
                data[at : at + 4] = struct.pack("<I", dice.choice([0, 1, 7, 30, 0xFFFF, 1 << 31, (1 << 32) - 1]))
    return bytes(data)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("flags", [("gcc", "-g"), ("gcc", "-ffunction-sections"), ("clang", "-O2")])
def test_damaged_at_random(shop, tool, seed, flags):
    """Under the sanitizers. A file that is refused stays as it was."""
    whole = shop.compile("made", MIXED, *flags[1:], compiler=flags[0]).read_bytes()
    dice = random.Random(f"{seed}{flags}")
    files = {}
    for i in range(150):
        path = shop.path(f"bad{i}.o")
        files[path] = mutate(whole, dice)
        path.write_bytes(files[path])
    done = run(tool, *files, env={**os.environ, "ASAN_OPTIONS": "abort_on_error=1:allocator_may_return_null=1"})
    assert done.returncode in (0, 1), done.stderr[-3000:]
    named = set()
    for line in done.stderr.splitlines():
        assert line.startswith("recordmcount: "), done.stderr[-3000:]
        named.add(line.split(": ")[1])
    assert len(named) > 10
    for path, data in files.items():
        if str(path) in named:
            assert path.read_bytes() == data
