"""The build itself: reproducible, incremental, and the same sites whoever records them."""
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "qemu"))

from guest import Guest  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
JOBS = os.environ.get("JOBS", "2")
MAIN = Path(os.environ.get("FATHOM_BUILD", ROOT / "build"))
EVERY = int(os.environ.get("REBUILD_EVERY", "16"))  # of so many objects one is made a second time


def make(*arguments, **variables):
    words = [f"{name}={value}" for name, value in variables.items()]
    done = subprocess.run(["make", "-C", ROOT, f"-j{JOBS}", *arguments, *words], capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def section(kernel, start, stop):
    """Contents between two symbols of the linked kernel, as 64-bit words."""
    symbols = dict(
        (name, int(value, 16))
        for value, name in re.findall(
            r"^([0-9a-f]+) \w (\S+)$", subprocess.run(["nm", kernel], check=True, capture_output=True, text=True).stdout, re.M
        )
    )
    segments = re.findall(
        r"LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+)",
        subprocess.run(["readelf", "-lW", kernel], check=True, capture_output=True, text=True).stdout,
    )
    for offset, address, size in ([int(x, 16) for x in s] for s in segments):
        if address <= symbols[start] < address + size:
            at = offset + symbols[start] - address
            data = Path(kernel).read_bytes()[at : at + symbols[stop] - symbols[start]]
            return list(struct.unpack(f"<{len(data) // 8}Q", data))
    raise AssertionError(f"{start} is in no segment")


def loaded(kernel):
    """(address, contents) of each segment that is loaded, and where the kernel starts."""
    data = Path(kernel).read_bytes()
    entry, headers = struct.unpack_from("<QQ", data, 24)
    size, count = struct.unpack_from("<HH", data, 54)
    found = [struct.unpack_from("<IIQQQQQQ", data, headers + i * size) for i in range(count)]
    return entry, [(address, data[offset : offset + bytes], memory) for kind, _, offset, address, _, bytes, memory, _ in found if kind == 1]


def take_over(directory):
    """All but one of EVERY objects, from the first build. Which ones are left out changes with the kernel."""
    for name in "obj", "tools", "gen":
        shutil.copytree(MAIN / name, directory / name)
    for linked in (directory / "gen").glob("*.o"):
        linked.unlink()
    written = re.escape(os.path.relpath(MAIN, ROOT) if MAIN.is_relative_to(ROOT) else str(MAIN))
    for listed in (directory / "obj").rglob("*.d"):
        listed.write_text(re.sub(rf"(?m)(?<!\S){written}/", f"{directory}/", listed.read_text()))
    objects = sorted((directory / "obj").rglob("*.c*.o"))
    for left_out in objects[int(digest(MAIN / "fathom.elf"), 16) % EVERY :: EVERY]:
        left_out.unlink()


@pytest.fixture(scope="module")
def second_build(tmp_path_factory):
    """The same source in another directory, where the compiler records the sites."""
    directory = tmp_path_factory.mktemp("second")
    stamps = [directory / "flags", directory / "flags.sites"]
    make(*map(str, stamps), BUILD=directory, CC="gcc", RECORDMCOUNT="cc")
    for stamp in stamps:
        os.utime(stamp, (0, 0))
    if EVERY > 1:
        take_over(directory)
    printed = make("all", BUILD=directory, CC="gcc", RECORDMCOUNT="cc")
    assert len(compiled(printed)) > 300 // EVERY
    yield directory
    shutil.rmtree(directory)


def test_reproducible(second_build):
    """Another directory, objects made anew, their sites recorded by the compiler: the same bytes at the same addresses."""
    first = loaded(MAIN / "fathom.elf")
    assert sum(len(contents) for _, contents, _ in first[1]) > 1 << 19
    assert loaded(second_build / "fathom.elf") == first


def test_image_is_reproducible(second_build):
    """Made anew in the other directory, from the first one's kernel: tool and compiler leave other section flags in it."""
    kernel = second_build / "fathom.stripped"
    shutil.copyfile(MAIN / "fathom.stripped", kernel)
    make("all", BUILD=second_build, CC="gcc", RECORDMCOUNT="cc")
    assert digest(kernel) == digest(MAIN / "fathom.stripped")
    assert digest(second_build / "fathom.iso") == digest(MAIN / "fathom.iso")


def test_help_is_plain_text():
    """`make help` prints each row of the table in docs/building.md, and no Markdown: of a link, its text."""
    rows = re.findall(r"^\| `(make[^`]*)` \|", (ROOT / "docs/building.md").read_text(encoding="utf-8"), re.M)
    lines = make("-s", "--no-print-directory", "help").splitlines()
    assert rows and [line.split(": ")[0] for line in lines] == rows
    assert not [line for line in lines if re.search(r"`|\]\(", line)]
    assert any(line.endswith(", see docs/porting.md") for line in lines)


def test_nothing_to_do_twice():
    make("all", BUILD=MAIN, CC="gcc")
    printed = make("all", BUILD=MAIN, CC="gcc")
    assert not re.search(r"^  (CC|LD|NASM|ISO) ", printed, re.M), printed


def compiled(printed):
    return set(re.findall(r"^  CC +(\S+)", printed, re.M))


def test_header_change_rebuilds(second_build):
    """-W: as if it had been changed now. The tree stays as it is, for other suites that run."""
    printed = make("all", "-W", "kernel/load/work_stress.h", BUILD=second_build, CC="gcc", RECORDMCOUNT="cc")
    users = {str(path.relative_to(ROOT)) for path in ROOT.glob("kernel/load/*.c") if '#include "work_stress.h"' in path.read_text()}
    assert len(users) > 2 and compiled(printed) == users


@pytest.fixture(scope="module")
def inside():
    """A directory inside the tree, which can be written in two ways."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="spelled-") as directory:
        yield Path(directory)


@pytest.mark.parametrize(
    "makefile,object_name",
    [
        ("Makefile", "obj/trace/ring/ring_write.c.notrace.o"),
        ("Makefile", "libtrace/obj/trace/ring/ring_write.c.o"),
        ("tests/unit/build.mk", "unit/fast/trace/ring/ring_write.o"),
    ],
)
def test_header_change_rebuilds_however_build_is_written(inside, makefile, object_name):
    """Relative and absolute: after each of them, with each."""

    def is_made(build, *options):
        made = inside / object_name
        before = made.stat().st_mtime_ns if made.exists() else 0
        make("-f", makefile, *options, f"{build}/{object_name}", BUILD=build, LIBTRACE=f"{build}/libtrace", CC="gcc")
        return made.stat().st_mtime_ns != before

    relative, absolute = inside.relative_to(ROOT), inside
    assert is_made(relative)
    for build in absolute, relative, absolute:
        assert not is_made(build)
        assert is_made(build, "-W", "trace/ring/ring_fast.h")


def test_command_line_changes_the_iso_only(second_build):
    make("all", BUILD=second_build, CC="gcc", RECORDMCOUNT="cc")
    before = digest(second_build / "fathom.iso")
    printed = make("all", BUILD=second_build, CC="gcc", RECORDMCOUNT="cc", CMDLINE="maxcpus=1")
    assert not compiled(printed)
    assert digest(second_build / "fathom.iso") != before


def probe_without_tables(build):
    """A kernel without types and lines: probes by registers and numbers work, what needs the tables is refused with the reason."""
    with Guest(build, 2) as guest:
        assert guest.check("why kmalloc") == "kmalloc: can be traced\n"
        assert guest.run("why slab.c:338") == ("slab.c:338: this kernel has no table of lines (LINE_TABLE=0)\n", 1)
        guest.check("echo 'p:in kmalloc size=%di first=$arg1:u32' > kprobe_events; echo 'r:out kmalloc $retval' >> kprobe_events")
        for line, why in ("p kmalloc bytes", "BTF is not available or not supported"), (
            "p slab.c:338",
            "This kernel has no table of lines",
        ):
            assert guest.run(f"echo '{line}' >> kprobe_events")[1] == 1
            assert f": error: {why}\n  Command: {line}\n" in guest.check("cat error_log; > error_log")
        guest.check("echo 1 > events/kprobes/enable; ls > /dev/null; echo 0 > events/kprobes/enable")
        text = guest.check("cat trace")
        assert re.search(r": in: \(kmalloc\+0x0/\S+\) size=0x[0-9a-f]+ first=\d+\n", text) and " <- kmalloc) arg1=0xffff" in text
        for option in "func-args", "funcgraph-args":
            assert guest.run(f"echo 1 > options/{option}") == ("sh: write error: Operation not supported\n", 1)


def test_without_types(second_build):
    """BTF=0, or no pahole: the kernel is the same but for them, and the build says so. Then they come back."""

    def types():
        listed = subprocess.run(["readelf", "-SW", second_build / "fathom.elf"], check=True, capture_output=True, text=True).stdout
        found = re.search(r" \.btf +PROGBITS +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)", listed)
        return int(found.group(1), 16) if found else 0

    options = {"BUILD": second_build, "CC": "gcc", "RECORDMCOUNT": "cc"}
    printed = make("all", **options)
    before = digest(second_build / "fathom.elf")
    assert types() > 50_000 and "NOTYPES" not in printed
    for variables, reason in ({"PAHOLE": "no-such-program"}, "no pahole (package dwarves)"), ({"BTF": 0}, "BTF=0"):
        printed = make("all", **options, **variables)
        assert not compiled(printed) and types() < 8192
        if variables.get("BTF") is None:
            assert f"  NOTYPES  fathom.elf: {reason}\n" in printed
    make("all", **options, BTF=0, LINE_TABLE=0)
    listed = subprocess.run(["readelf", "-SW", second_build / "fathom.elf"], check=True, capture_output=True, text=True).stdout
    assert not re.search(r" \.lines ", listed)
    probe_without_tables(second_build)
    make("all", **options)
    assert digest(second_build / "fathom.elf") == before


def test_image_is_small():
    text = subprocess.run(["readelf", "-SW", MAIN / "fathom.elf"], check=True, capture_output=True, text=True).stdout
    loaded = sum(
        int(size, 16)
        for name, kind, size, flags in re.findall(r"\] (\.\S+) +(\S+) +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Z]*)", text)
        if "A" in flags and kind != "NOBITS" and name not in (".ksyms", ".whynot", ".btf", ".lines")
    )
    assert loaded < 1_468_006, "with programs"


@pytest.mark.parametrize(
    "variables,compiler",
    [
        ({"CROSS_COMPILE": ""}, "gcc"),
        ({"CC": "clang"}, "clang"),
        ({"CROSS_COMPILE": "x86_64-linux-gnu-"}, "x86_64-linux-gnu-gcc"),
        ({"CC": "gcc", "CROSS_COMPILE": "x86_64-linux-gnu-"}, "x86_64-linux-gnu-gcc"),
    ],
)
def test_compiler_that_is_named(tmp_path, variables, compiler):
    planned = make("-n", f"{tmp_path}/obj/kernel/heap.c.o", BUILD=tmp_path, **variables)
    used = re.search(r"^(\S+) -std=gnu11 .* -c kernel/heap\.c ", planned, re.M)
    assert used and used.group(1) == compiler, planned


def test_cross_compiler_on_path_is_used(tmp_path):
    for tool in ("gcc", "ld", "objcopy"):
        (tmp_path / f"x86_64-elf-{tool}").symlink_to(shutil.which(tool))
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{tmp_path}:{before}"
    try:
        planned = make("-n", "all", BUILD=tmp_path / "b")
    finally:
        os.environ["PATH"] = before
    assert re.search(r"^x86_64-elf-gcc .* -c kernel/heap\.c ", planned, re.M)
    assert re.search(r"^x86_64-elf-ld .*fathom\.elf", planned, re.M)


def test_tool_and_compiler_record_the_same_sites(second_build):
    tool = section(MAIN / "fathom.elf", "__start_mcount_loc", "__stop_mcount_loc")
    compiler = section(second_build / "fathom.elf", "__start_mcount_loc", "__stop_mcount_loc")
    assert len(tool) > 500
    assert tool == sorted(tool)
    assert tool == compiler


def test_only_what_has_sites_is_made_anew_for_the_tool(second_build):
    objects = [f"{second_build}/obj/{name}" for name in ("kernel/heap.c.o", "trace/ring/ring_write.c.notrace.o")]
    assert compiled(make(*objects, BUILD=second_build, CC="gcc", RECORDMCOUNT="tool")) == {"kernel/heap.c"}


def test_debug_rebuilds_what_asks_for_it(second_build):
    objects = [f"{second_build}/obj/kernel/{name}.c.o" for name in ("heap", "mm/page")]
    assert compiled(make(*objects, BUILD=second_build, CC="gcc", DEBUG=1)) >= {"kernel/mm/page.c"}
    assert compiled(make(*objects, BUILD=second_build, CC="gcc", DEBUG=0)) == {"kernel/mm/page.c"}


def test_flag_change_rebuilds_all(second_build):
    """The last one that uses this build: it would all be made anew."""
    printed = make(f"{second_build}/obj/kernel/heap.c.o", BUILD=second_build, CC="gcc", WARN="-Wall")
    assert compiled(printed) == {"kernel/heap.c"}


@pytest.fixture(scope="module")
def commands():
    """The compilation database. A tree that had none has none afterwards."""
    path = ROOT / "compile_commands.json"
    was_there = path.exists()
    make(path.name, BUILD=MAIN)
    yield json.loads(path.read_text())
    if not was_there:
        path.unlink()


def test_commands_name_each_source_once(commands):
    """But for what other hosts than this kernel get from trace/."""
    listed = subprocess.run(
        ["git", "ls-files", "arch/*.c", "kernel/*.c", "trace/*.c", "tests/kernel/*.c"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    others = (
        "trace/default/",
        "trace/log/",
        "trace/arch/x86_64/default",
        "trace/arch/x86_64/memory.c",
        "trace/arch/x86_64/stacks.c",
        "trace/arch/x86_64/int3_entry.c",
        "trace/arch/x86_64/text_stop.c",
        "trace/arch/x86_64/probe_stop.c",
        "trace/arch/x86_64/probe_user.c",
    )
    mine = [path for path in listed if (ROOT / path).exists() and not path.startswith(others)]
    assert sorted(entry["file"] for entry in commands) == sorted(mine)


@pytest.mark.parametrize("source", ["trace/ring/ring_write.c", "kernel/main.c", "arch/x86_64/smp.c"])
def test_a_command_can_be_used(commands, source, tmp_path):
    """By clang as it is, without the object that it would make."""
    entry = next(entry for entry in commands if entry["file"] == source)
    words = [word for word in entry["arguments"] if word not in ("-MMD", "-MP")]
    words[words.index("-o") + 1] = tmp_path / "unused.o"
    done = subprocess.run([*words, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
