"""types: what pahole finds, without what is not sure or not needed, in the order in which the kernel looks for it."""
import os
import re
import shutil
import struct
from pathlib import Path

import pytest

from tablekit import HERE, must, run

pytestmark = pytest.mark.skipif(not shutil.which("pahole") or not shutil.which("bpftool"), reason="needs pahole and bpftool")


class Types:
    def __init__(self, path):
        self.bytes = Path(path).read_bytes()
        self.dump = must("bpftool", "btf", "dump", "file", path).stdout
        self.header = must("bpftool", "btf", "dump", "file", path, "format", "c").stdout
        self.funcs = re.findall(r"^\[(\d+)\] FUNC '(\w+)'", self.dump, re.M)


def types_of(tools, program, directory):
    must(tools["types"], "--for-pahole", directory / "copy", program)
    must("pahole", "-J", "--skip_encoding_btf_vars", f"--btf_encode_detached={directory / 'raw'}", directory / "copy")
    must(tools["types"], "--btf", directory / "btf", directory / "raw", program)
    return Types(directory / "btf")


COMPILERS = ["gcc", "clang", "clang -gdwarf-5", "gcc -gdwarf-4"]
EVERY = int(os.environ.get("DAMAGE_EVERY", "4"))  # of so many words one is damaged


@pytest.fixture(scope="module", params=COMPILERS)
def compiled(request, tools, tmp_path_factory):
    directory = tmp_path_factory.mktemp("types")
    flags = [*request.param.split(), "-std=gnu11", "-O2", "-g", "-fno-pie", "-no-pie"]
    flags += [] if "clang" in flags else ["-fno-ipa-sra", "-fno-ipa-cp"]
    must(*flags, "-o", directory / "program", HERE / "types.c", HERE / "types_second.c")
    return types_of(tools, directory / "program", directory), request.param, directory


def test_atomic_members_keep_their_type(compiled):
    types = compiled[0]
    qualifier = "" if compiled[1] == "gcc -gdwarf-4" else "volatile "  # DWARF 4 does not know _Atomic
    assert f"\t{qualifier}uint32_t refs;" in types.header
    size = re.search(r"^\[\d+\] STRUCT 'shape' size=(\d+) ", types.dump, re.M)
    assert size and int(size.group(1)) == 48


def test_functions_are_last_and_sorted(compiled):
    types = compiled[0]
    ids, names = [int(number) for number, _ in types.funcs], [name for _, name in types.funcs]
    assert {"paint", "second", "main"} <= set(names)
    assert names == sorted(names, key=str.encode)
    assert ids == list(range(ids[0], ids[0] + len(ids)))
    assert ids[-1] == max(int(number) for number in re.findall(r"^\[(\d+)\]", types.dump, re.M))


def test_what_no_function_needs_is_left_out(compiled):
    types = compiled[0]
    assert "not_needed" not in types.dump and b"not_needed" not in types.bytes
    assert "STRUCT 'frame'" in types.dump
    assert "enum colour" in types.header and "GREEN = 7" in types.header


def test_unsure_functions_are_left_out(compiled):
    """Two functions share a name; clang leaves out an argument of another."""
    names = {name for _, name in compiled[0].funcs}
    assert "twice" not in names
    assert ("shorten" in names) == compiled[1].startswith("gcc")


def test_same_input_same_output(compiled, tools, tmp_path):
    directory = compiled[2]
    assert types_of(tools, directory / "program", tmp_path).bytes == compiled[0].bytes
    for name in "a.o", "b.o":
        must(tools["types"], "-o", tmp_path / name, directory / "raw", directory / "program")
    assert (tmp_path / "a.o").read_bytes() == (tmp_path / "b.o").read_bytes()
    symbols = must("nm", tmp_path / "a.o").stdout
    assert re.search(r"^0+ R btf_blob$", symbols, re.M)


def test_errors(compiled, tools, tmp_path):
    directory = compiled[2]
    assert run(tools["types"]).returncode == 2
    assert run(tools["types"], "-o", tmp_path / "o", "x").returncode == 2
    stripped = tmp_path / "stripped"
    must("strip", "-g", "-o", stripped, directory / "program")
    for arguments in (["--for-pahole", tmp_path / "o", stripped], ["-o", tmp_path / "o", directory / "raw", stripped]):
        done = run(tools["types"], *arguments)
        assert done.returncode == 1 and "no debug information: compile with -g" in done.stderr
    missing = run(tools["types"], "-o", tmp_path / "o", tmp_path / "none", directory / "program")
    assert missing.returncode == 1 and missing.stderr == f"types: {tmp_path}/none: cannot open\n"


def test_damaged_input_is_refused(compiled, tools, tmp_path):
    """Cut anywhere, or with any word changed: it ends, without reading outside (the tool is sanitized).

    Each compiler's has other words changed; `make soak` changes all of each.
    """
    directory = compiled[2]
    raw = (directory / "raw").read_bytes()
    bad = tmp_path / "bad"
    for size in (0, 1, 23, 24, 40, len(raw) // 2, len(raw) - 1):
        bad.write_bytes(raw[:size])
        done = run(tools["types"], "--btf", tmp_path / "out", bad, directory / "program")
        assert done.returncode == 1 and done.stderr.startswith(f"types: {bad}: "), done.stderr
    step = 4 * max(1, len(raw) // 200)
    for at in range(step * (COMPILERS.index(compiled[1]) % EVERY), len(raw), step * EVERY):
        for word in 0xFFFFFFFF, 0x7F000000:
            damaged = bytearray(raw)
            struct.pack_into("<I", damaged, min(at, len(raw) - 4), word)
            bad.write_bytes(damaged)
            done = run(tools["types"], "--btf", tmp_path / "out", bad, directory / "program")
            assert done.returncode in (0, 1) and (done.returncode == 0 or done.stderr.startswith(f"types: {bad}: ")), done.stderr
