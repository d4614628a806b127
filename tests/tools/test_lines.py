"""lines: the table of source lines says of each address what the debug information says, and of no others."""
import re
import struct

import pytest

from tablekit import HERE, must, run


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def rows_of(data):
    """(address, path and line, or None where nothing is known from there on)."""
    base, nr, files, at, size = struct.unpack_from("<QIIII", data)
    places = struct.unpack_from(f"<{nr}I", data, files)
    paths = [data[place : data.index(b"\0", place)].decode() for place in places]
    assert paths == sorted(set(paths), key=str.encode)
    end, address, line, file, rows = at + size, base, 0, None, []
    while at < end:
        byte, at = data[at], at + 1
        if byte == 0xF1:
            file, at = number(data, at)
            continue
        if byte == 0xF2:
            rows[-1] = (rows[-1][0], None)
            continue
        if byte == 0xF0:
            step, at = number(data, at)
            zigzag, at = number(data, at)
            address, line = address + step, line + (zigzag >> 1 ^ -(zigzag & 1))
        else:
            address, line = address + (byte & 15), line + (byte >> 4) - 7
        rows.append((address, f"{paths[file]}:{line}"))
    return rows


@pytest.mark.parametrize("compiler", ["gcc", "clang", "gcc -gdwarf-4", "clang -gdwarf-5"])
def test_rows_are_those_of_the_debug_information(tools, tmp_path, compiler):
    must(
        *compiler.split(),
        "-std=gnu11",
        "-O2",
        "-g",
        "-fno-pie",
        "-no-pie",
        "-o",
        tmp_path / "program",
        "types.c",
        "types_second.c",
        cwd=HERE,
    )
    for name in "a.o", "b.o":
        must(tools["lines"], "-o", tmp_path / name, tmp_path / "program")
    assert (tmp_path / "a.o").read_bytes() == (tmp_path / "b.o").read_bytes()
    must("objcopy", "-O", "binary", "-j", ".lines", tmp_path / "a.o", tmp_path / "table")
    rows = rows_of((tmp_path / "table").read_bytes())
    addresses = [address for address, _ in rows]
    assert addresses == sorted(set(addresses)) and len(rows) > 8
    assert any(place is None for _, place in rows)
    said = {}
    listed = must("readelf", "--debug-dump=decodedline", tmp_path / "program").stdout
    for path, line, address in re.findall(r"^(\S+\.c) +(\d+) +0x([0-9a-f]+).* x$", listed, re.M):
        said.setdefault(int(address, 16), set()).add(f"{path}:{line}")
    for address, place in rows:
        assert place is None or place.split("/")[-1] in said[address], (hex(address), place)
    # Wherever the debug information begins a statement, the row in force is of one of its lines.
    for address in said:
        place = [place for at, place in rows if at <= address][-1]
        assert place and place.split("/")[-1] in said[address], hex(address)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_function_begins_with_its_own_line(tools, tmp_path, compiler):
    """Not with that of a function of a header that is inlined at the same address."""
    (tmp_path / "small.h").write_text("static inline __attribute__((always_inline)) int small(const int *p)\n{\n\treturn *p;\n}\n")
    (tmp_path / "big.c").write_text(
        '#include "small.h"\n\nint big(const int *p)\n{\n\treturn small(p);\n}\n\nint main(void)\n{\n\treturn big(&(int){ 0 });\n}\n'
    )
    must(compiler, "-O2", "-g", "-fno-pie", "-no-pie", "-fcf-protection=none", "-o", "program", "big.c", cwd=tmp_path)
    must(tools["lines"], "-o", tmp_path / "o", tmp_path / "program")
    must("objcopy", "-O", "binary", "-j", ".lines", tmp_path / "o", tmp_path / "table")
    start = int(re.search(r"^([0-9a-f]+) T big$", must("nm", tmp_path / "program").stdout, re.M)[1], 16)
    listed = must("readelf", "--debug-dump=decodedline", tmp_path / "program").stdout
    at_start = re.findall(rf"^(\S+) +(\d+) +{start:#x}.* x$", listed, re.M)
    assert len(at_start) > 1 and at_start[-1][0] == "small.h"
    place = dict(rows_of((tmp_path / "table").read_bytes()))[start]
    assert place.split("/")[-1] in ("big.c:3", "big.c:4")


def test_errors(tools, tmp_path):
    assert run(tools["lines"]).returncode == 2
    must("gcc", "-o", tmp_path / "plain", "-O1", HERE / "types.c", HERE / "types_second.c")
    done = run(tools["lines"], "-o", tmp_path / "o", tmp_path / "plain")
    assert done.returncode == 1 and "no lines in the debug information: compile with -g" in done.stderr
