"""`--root` of `tools/fathom flame` and `perfetto`: names of programs' functions by files of this machine."""
import json
import struct
import subprocess
import sys

import pytest

import datkit
from test_flame import ROOT, fathom, folded
from test_read_dat import FORMATS, SYMBOLS, demo, header

sys.path.insert(0, str(ROOT / "tools"))

from host import _maps, _programs  # noqa: E402

SOURCE = """
__attribute__((noinline)) void inner(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void outer(void) { inner(); __asm__ volatile("nop"); }
void _start(void) { outer(); for (;;) ; }
"""
OWN = {
    **FORMATS,
    "ftrace": [
        *FORMATS["ftrace"],
        datkit.format_of("user_stack", 12, [("unsigned int tgid", 8, 4, 0), ("unsigned long caller[2]", 16, 16, 0)]),
    ],
    "sched": [
        datkit.format_of(
            "sched_process_exec",
            20,
            [("__data_loc char[] filename", 8, 4, 1), ("int pid", 12, 4, 1), ("int old_pid", 16, 4, 1), ("unsigned long base", 24, 8, 0)],
        ),
        datkit.format_of("sched_process_fork", 21, [("int parent_pid", 8, 4, 1), ("int child_pid", 12, 4, 1)]),
    ],
}


def built(path, *flags):
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["gcc", "-nostdlib", "-static", "-O1", "-fno-pie", "-no-pie", *flags, "-x", "c", "-", "-o", path]
    subprocess.run(words, input=SOURCE, text=True, check=True)
    lines = subprocess.run(["nm", "-S", path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {words[3]: range(int(words[0], 16), int(words[0], 16) + int(words[1], 16)) for words in map(str.split, lines) if len(words) == 4}


def executed(pid, path, base=0):
    return header(20, pid) + struct.pack("<IiiIQ", len(path) + 1 << 16 | 32, pid, pid, 0, base) + path.encode() + b"\0"


def stack(pid, *addresses):
    return [demo(1, pid=pid), header(12, pid) + struct.pack("<II2Q", pid, 0, *addresses)]


def stacks_of(tmp_path, records, *words, options=()):
    pages = {0: datkit.page(100, *(datkit.record(1, one) for one in records))}
    (tmp_path / "trace.dat").write_bytes(
        datkit.version_6(datkit.Parts(OWN, pages, kallsyms=SYMBOLS, cmdlines="5 program\n6 old\n7 other\n9 older\n", options=options))
    )
    run = fathom("--speedscope", "x.json", *words, cwd=tmp_path)
    assert run.returncode == 0 and not run.stderr, run
    scope = json.loads((tmp_path / "x.json").read_text())
    return {profile["name"]: set(folded(profile, scope["shared"]["frames"])) for profile in scope["profiles"]}


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    (folder / "sbin").mkdir(parents=True)
    (folder / "sbin/other").symlink_to("/bin/program")  # of the traced machine, not of this one
    return folder


def test_names(tmp_path, root):
    """By the name of the thread; a return address behind a function's last call is of that function."""
    at = built(root / "bin/program")
    inner, outer, nowhere = at["inner"].start, at["outer"].stop, at["outer"].stop + 0x900000
    records = [*stack(5, inner, outer), *stack(7, outer - 1, outer), *stack(6, inner, outer), *stack(5, inner, nowhere)]
    assert stacks_of(tmp_path, records, "--root", "root") == {
        "program-5": {("outer", "inner"), (hex(nowhere), "inner")},
        "other-7": {("outer", "outer")},
        "old-6": {(hex(outer), hex(inner))},
    }
    assert stacks_of(tmp_path, records)["program-5"] == {(hex(outer), hex(inner)), (hex(nowhere), hex(inner))}
    written = subprocess.run(
        [ROOT / "tools/fathom", "perfetto", "--root", "root", "-o", "x.pftrace", "trace.dat"], cwd=tmp_path, timeout=60, check=False
    )
    assert written.returncode == 0 and b"inner\nouter" in (tmp_path / "x.pftrace").read_bytes()


def test_programs_that_begin(tmp_path, root):
    """Each from its exec on, its children too; one that is put anywhere is where the event says. One that began before has no names then."""
    at, moved = built(root / "bin/program"), built(root / "deep/moved", "-static-pie", "-fpie")
    built(root / "bin/older", "-static-pie", "-fpie")
    base, nearer = 0x555555554000, 0x7F0000
    there = base + moved["inner"].start
    fork = header(21, 6) + struct.pack("<ii", 6, 8)
    records = [
        *stack(6, at["inner"].start, 1),
        executed(6, "/bin/program"),
        *stack(6, at["inner"].start, 2),
        fork,
        *stack(8, at["inner"].start, 3),
    ]
    records += [executed(6, "/deep/moved", base), *stack(6, there, 4), executed(6, "/gone"), *stack(6, at["inner"].start, 5)]
    records += [executed(8, "/deep/moved", nearer), *stack(8, nearer + moved["inner"].start, 6), *stack(9, there, 7)]
    assert stacks_of(tmp_path, records, "--root", "root") == {
        "old-6": {("0x1", hex(at["inner"].start)), ("0x2", "inner"), ("0x4", "inner"), ("0x5", hex(at["inner"].start))},
        "<...>-8": {("0x3", "inner"), ("0x6", "inner")},
        "older-9": {("0x7", hex(there))},
    }


def mapped(pid, program, *files):
    """The option PROCMAPS of a process."""
    lines = "".join(f"{begin:x} {end:x} {path}\n" for begin, end, path in files)
    return 10, f"{pid:x} {len(files):x} {program}\n{lines}".encode() + b"\0"


def test_programs_that_began_before(tmp_path, root):
    """Where a recording has their maps: program and libraries, of children too; until they run another program."""
    fixed, moved, library = (
        built(root / "bin/program"),
        built(root / "bin/moved", "-static-pie", "-fpie"),
        built(root / "lib/lib.so", "-shared", "-fpic"),
    )
    pie, lib = 0x555555554000, 0x7FFFF7000000
    files = (pie, pie + 0x10000, "/bin/moved"), (lib, lib + 0x10000, "/lib/lib.so"), (lib + 0x100000, lib + 0x110000, "/gone")
    in_library, in_program = lib + library["inner"].start, pie + moved["outer"].start + 1
    records = [*stack(5, in_library, in_program), header(21, 5) + struct.pack("<ii", 5, 8), *stack(8, in_library, in_program)]
    records += [*stack(5, lib + 0x100040, lib + 0x20000), executed(5, "/bin/program"), *stack(5, fixed["inner"].start, in_program)]
    records += [*stack(7, fixed["inner"].start, in_library)]
    options = [mapped(5, "/bin/moved", *files), mapped(7, "/bin/program", (0x400000, 0x410000, "/bin/program")), (10, b"7 no\0")]
    assert stacks_of(tmp_path, records, "--root", "root", options=options) == {
        "program-5": {("outer", "inner"), (hex(lib + 0x20000), hex(lib + 0x100040)), (hex(in_program), "inner")},
        "<...>-8": {("outer", "inner")},
        "other-7": {(hex(in_library), "inner")},
    }


def test_maps_of_a_process():
    """As /proc/PID/maps and trace-cmd have them; later ones are added, but not those of another program."""
    text = "00400000-00401000 r--p 00000000 00:01 12 /bin/a b\n00401000-00402000 r-xp 00001000 00:01 12 /bin/a b\n"
    text += "00500000-00501000 rw-p 00000000 00:00 0 [heap]\n7f0000000000-7f0000001000 r-xp 00000000 00:01 13 /lib/c\nnonsense\n"
    maps = _maps.parsed(text)
    assert (maps.program, maps.files) == ("/bin/a b", [(0x400000, 0x402000, "/bin/a b"), (0x7F0000000000, 0x7F0000001000, "/lib/c")])
    option = _maps.as_option(26, maps)
    assert option == b"1a 2 /bin/a b\n400000 402000 /bin/a b\n7f0000000000 7f0000001000 /lib/c\n\0"
    pid, again = _maps.of_option(option)
    assert pid == 26 and vars(again) == vars(maps) and _maps.parsed("00500000-00501000 rw-p 00000000 00:00 0\n") is None
    more = _maps.Maps("/bin/a b", [*maps.files, (0x7F0000002000, 0x7F0000003000, "/lib/d")])
    moved = _maps.Maps("/bin/a b", [maps.files[0], (0x7F1000000000, 0x7F1000001000, "/lib/c")])
    other = _maps.Maps("/bin/b", [(1, 2, "/bin/b")])
    joined = _maps.joined({1: maps, 2: maps, 3: maps, 4: maps}, {1: more, 2: other, 3: moved, 5: other})
    assert joined == {1: joined[1], 2: maps, 3: maps, 4: maps, 5: other} and joined[1].files == more.files
    assert maps.find(0x401FFF) == (0x400000, "/bin/a b") and maps.find(0x402000) == (None, None)
    assert len(_maps.joined({}, {number: more for number in range(10000)})) < 1000  # as many as there is room for


def test_files_that_are_none(tmp_path, root):
    """Damaged ones have no names, and links lead nowhere else."""
    at = built(root / "bin/program")
    whole = (root / "bin/program").read_bytes()
    for size in range(0, len(whole), 97):
        _programs.Functions(whole[:size])
    assert _programs.Functions(whole).name(at["inner"].start) == "inner"
    assert _programs.Functions(whole[: len(whole) // 2]).name(at["inner"].start) is None
    moved = root / "bin/moved"
    built(moved, "-static-pie", "-fpie")
    (start, *rest), *_ = _programs.code_of(moved, 0x7F0000)
    assert _programs.code_of(moved) == [] and _programs.code_of(moved, 0)[0] == (start - 0x7F0000, *rest)
    assert _programs.code_of(root / "bin/program") == _programs.code_of(root / "bin/program", 0) != []
    (root / "bin/loop").symlink_to("loop")
    (root / "bin/up").symlink_to("../../../../bin/program")
    assert _programs.below(root, "/bin/loop") is None and _programs.below(root, "/bin") is None
    assert _programs.below(root, "/bin/up") == _programs.below(root, "bin/../sbin/other") == root / "bin/program"
    run = fathom("--root", "nowhere", cwd=tmp_path)
    assert run.returncode == 1 and "--root: nowhere is no folder" in run.stderr and run.stderr.count("\n") == 1
