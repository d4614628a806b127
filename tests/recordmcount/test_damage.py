"""Damaged input: a message with file and reason, status 1, the file as it was. No crash."""
import os
import random
import resource
import signal
import struct

import pytest

from elf import entries
from samples import MIXED
from workshop import must, run

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
(TYPE, MACHINE, SHOFF, SHENTSIZE, SHNUM, SHSTRNDX) = (1, 2, 6, 11, 12, 13)


def refused(tool, path, *reasons):
    before = path.read_bytes()
    done = run(tool, path)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith(f"recordmcount: {path}: "), done.stderr
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
    places = {"sh_name": (0, "<I"), "sh_type": (4, "<I"), "sh_offset": (24, "<Q"), "sh_size": (32, "<Q"),
              "sh_link": (40, "<I"), "sh_info": (44, "<I"), "sh_entsize": (56, "<Q")}
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
    assert run(tool).returncode == 2


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


@pytest.mark.parametrize("fields, reason", [
    ({"SHOFF": 1 << 40}, "truncated"),
    ({"SHOFF": 0}, "no section headers"),
    ({"SHENTSIZE": 40}, "no section headers"),
    ({"SHNUM": 0xfe00}, "truncated"),
    ({"SHNUM": 0}, "damaged section headers"),
    ({"SHSTRNDX": 0xfe00}, "no section name table"),
    ({"SHSTRNDX": 0}, "no section name table"),
])
def test_damaged_header(shop, tool, fields, reason):
    refused(tool, with_header(shop.compile("made", MIXED), **fields), reason)


@pytest.mark.parametrize("section, fields, reason", [
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
])
def test_damaged_section(shop, tool, section, fields, reason):
    refused(tool, with_section(shop.compile("made", MIXED), section, **fields), reason)


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
            data[at:at + 8] = struct.pack("<Q", dice.choice([0, 1, 0xff, 0xffff, 1 << 31, (1 << 64) - 1, len(data)]))
        else:
            table = struct.unpack_from("<Q", data, 40)[0]
            if table + 64 <= len(data):  # a field of a section header
                at = dice.randrange(table, len(data), 4)
                data[at:at + 4] = struct.pack("<I", dice.choice([0, 1, 7, 30, 0xffff, 1 << 31, (1 << 32) - 1]))
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
