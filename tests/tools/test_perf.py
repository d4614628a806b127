"""`tools/fathom perf` on files put together here: the records of the perf.data, in a file and in a pipe, and files without samples."""
import struct
import subprocess
from pathlib import Path

import datkit
from test_read_dat import FORMATS, SYMBOLS, demo, header

ROOT = Path(__file__).resolve().parents[2]
FIELDS = [
    ("unsigned long ip", 8, 8, 0),
    ("unsigned int period", 16, 4, 0),
    ("unsigned char context", 20, 1, 0),
    ("unsigned char irqs_off", 21, 1, 0),
]
STACK = [("unsigned long caller[]", 8, 0, 0)]
WITH_SAMPLES = {
    **FORMATS,
    "ftrace": [*FORMATS["ftrace"], datkit.format_of("kernel_stack", 52, STACK)],
    "profile": [datkit.format_of("sample", 51, FIELDS)],
}
BASE = 0xFFFFFFFF80100000


def sample(ip, context=0, pid=5):
    return header(51, pid) + struct.pack("<QIBBH", ip, 1000, context, 0, 0)


def stack(*callers):
    return header(52) + struct.pack(f"<{len(callers)}Q", *callers)


SCHED = [
    datkit.format_of("sched_process_fork", 61, [("pid_t parent_pid", 8, 4, 1), ("pid_t child_pid", 12, 4, 1)]),
    datkit.format_of("sched_process_exit", 62, [("pid_t pid", 8, 4, 1)]),
    datkit.format_of("sched_process_exec", 63, [("__data_loc char[] filename", 8, 4, 0), ("pid_t pid", 12, 4, 1)]),
]
USER_STACK = datkit.format_of("user_stack", 12, [("unsigned int tgid", 8, 4, 0), ("unsigned long caller[2]", 16, 16, 0)])
KERNEL, USER = (1 << 64) - 128, (1 << 64) - 512


def perf(folder, pages, *more, formats=None):
    built = datkit.Parts(formats or WITH_SAMPLES, pages, kallsyms=SYMBOLS, cmdlines="5 some name\n6 other\n")
    (folder / "trace.dat").write_bytes(datkit.version_6(built))
    words = [ROOT / "tools/fathom", "perf", *(more or ("-o", "perf.data")), "trace.dat"]
    return subprocess.run(words, capture_output=True, timeout=60, cwd=folder, check=False)


def split(data, at, end):
    """(kind, misc, its bytes) of each record."""
    found = []
    while at < end:
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        found.append((kind, misc, data[at + 8 : at + size]))
        at += size
        if kind == 66:  # of a pipe: what it tells of stands behind it
            at += struct.unpack("<I", found[-1][2])[0]
    assert at == end
    return found


def records(data):
    magic, size, attr_size, _, _, at, length = struct.unpack_from("<8sQQQQQQ", data)
    assert (magic, size, attr_size) == (b"PERFILE2", 104, 80) and length % 8 == 0
    return split(data, at, at + length)


def attributes(data):
    """(kind, configuration, what samples consist of, their number) of each event."""
    at, length = struct.unpack_from("<QQ", data, 24)
    found = []
    for attr in range(at, at + length, 80):
        kind, size, config, _, sample_type = struct.unpack_from("<IIQQQ", data, attr)
        place, nr_bytes = struct.unpack_from("<QQ", data, attr + 64)
        assert (size, nr_bytes) == (64, 8)
        found.append((kind, config, sample_type, struct.unpack_from("<Q", data, place)[0]))
    return found


def words_of(data):
    return struct.unpack(f"<{len(data) // 8}Q", data)


PAGE = datkit.page(
    1000,
    datkit.record(10, sample(BASE + 0x104)),
    datkit.record(1, stack(BASE + 0x104, BASE + 0x210)),
    datkit.record(5, sample(0x401000, context=1, pid=6)),
    datkit.record(5, demo(-1)),
    datkit.record(1, stack(BASE + 0x210)),
    datkit.record(4, sample(BASE + 0x108, context=2, pid=0)),
)


def check_samples(found):
    samples = [(misc, words_of(data)) for kind, misc, data in found if kind == 9]
    event = samples.pop(2)
    assert samples == [
        (1, (1, BASE + 0x104, 5 << 32 | 5, 1010, 0, 1000, 3, KERNEL, BASE + 0x104, BASE + 0x210)),
        (2, (1, 0x401000, 6 << 32 | 6, 1016, 0, 1000, 2, USER, 0x401000)),
        (1, (1, BASE + 0x108, 0, 1026, 0, 1000, 2, KERNEL, BASE + 0x108)),
    ]
    assert event[1][:2] == (2, BASE + 0x210) and event[1][3:9] == (1021, 0, 1, 2, KERNEL, BASE + 0x210)
    raw = b"".join(struct.pack("<Q", word) for word in event[1][9:])
    assert struct.unpack_from("<I", raw)[0] == len(raw) - 4 and raw[4:].startswith(demo(-1))


def test_samples_and_events_with_their_stacks(tmp_path):
    run = perf(tmp_path, {0: PAGE})
    assert run.returncode == 0 and run.stdout.startswith(b"perf.data: 3 samples, 1 events; perf report "), run.stderr
    data = (tmp_path / "perf.data").read_bytes()
    found = records(data)
    assert [kind for kind, _, _ in found] == [1, 3, 3, 3, 9, 9, 9, 9]
    names = [data[8:-32].rstrip(b"\0") for kind, _, data in found if kind == 3]
    assert names == [b"swapper", b"some name", b"other"]
    all_of = 1 << 16 | 1 | 2 | 4 | 1 << 5 | 1 << 7 | 1 << 8
    (number,) = struct.unpack_from("<H", demo(-1))
    assert attributes(data) == [(1, 0, all_of, 1), (2, number, all_of | 1 << 10, 2)]
    check_samples(found)
    names = (tmp_path / "perf.data.kallsyms").read_text().splitlines()
    assert [name.split()[2] for name in names] == ["_text", "start", "first", "second"]


def test_stacks_of_programs(tmp_path):
    """One belongs to all samples of its thread since the one before it, not to another thread's event in between."""
    user = header(12) + struct.pack("<II2Q", 5, 0, 0x401000, 0x402000)
    events = [sample(BASE + 0x104), sample(BASE + 0x108), demo(-1, pid=6), user, sample(BASE + 0x108)]
    own = {**WITH_SAMPLES, "ftrace": [*WITH_SAMPLES["ftrace"], USER_STACK]}
    run = perf(tmp_path, {0: datkit.page(1000, *(datkit.record(1, one) for one in events))}, formats=own)
    assert run.returncode == 0, run.stderr
    found = [words_of(data) for kind, _, data in records((tmp_path / "perf.data").read_bytes()) if kind == 9]
    assert [words[6:] for words in found if words[0] == 1] == [
        (5, KERNEL, BASE + 0x104, USER, 0x401000, 0x402000),
        (5, KERNEL, BASE + 0x108, USER, 0x401000, 0x402000),
        (2, KERNEL, BASE + 0x108),
    ]
    assert not [words for words in found if words[0] == 2 and USER in words]


def test_stacks_that_come_late(tmp_path):
    """A program's stack that was written when it went on belongs to all events of its stay in the kernel."""
    user = header(12) + struct.pack("<II2Q", 5, 0, 0x401000, 0x402000)
    own = {**WITH_SAMPLES, "ftrace": [*WITH_SAMPLES["ftrace"], USER_STACK]}
    events = [demo(-1), demo(-2), user, demo(-3)]
    run = perf(tmp_path, {0: datkit.page(1000, *(datkit.record(1, one) for one in events))}, formats=own)
    assert run.returncode == 0, run.stderr
    found = [words_of(data) for kind, _, data in records((tmp_path / "perf.data").read_bytes()) if kind == 9]
    assert [USER in words and words[words.index(USER) + 1] == 0x401000 for words in found] == [True, True, False]


def test_a_pipe(tmp_path):
    """The same records behind those that the head of a file stands for; --to starts a reader that finds the names."""
    run = perf(tmp_path, {0: PAGE}, "-o", "-", "--kallsyms", "names")
    assert run.stdout[:16] == b"PERFILE2" + struct.pack("<Q", 16), run.stderr
    found = split(run.stdout, 16, len(run.stdout))
    assert [kind for kind, _, _ in found] == [64, 64, 66, 67, 1, 3, 3, 3, 9, 9, 9, 9, 68]
    assert [struct.unpack_from("<Q", data, 128) for kind, _, data in found if kind == 64] == [(1,), (2,)]
    check_samples(found)
    reader = "sh -c 'test -s $3 && cat > piped'"
    assert perf(tmp_path, {0: PAGE}, "--to", reader).returncode == 0
    assert (tmp_path / "piped").read_bytes() == run.stdout
    failed = perf(tmp_path, {0: PAGE}, "--to", "false")
    assert failed.returncode and b"false ended with status 1" in failed.stderr


def test_threads_and_programs(tmp_path):
    """Births and ends have their times; a program's code is mapped where it runs, from the file below --root."""
    root, name = tmp_path / "root/bin", b"/bin/one\0"
    root.mkdir(parents=True)
    code = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, 0x401000, 0x401000, 0x2000, 0x2000, 0x1000)
    ident = b"\x7fELF\x02\x01".ljust(16, b"\0") + struct.pack("<H", 2)
    (root / "one").write_bytes(
        (ident.ljust(32, b"\0") + struct.pack("<Q", 64)).ljust(54, b"\0") + struct.pack("<HH", 56, 1) + bytes(6) + code
    )
    page = datkit.page(
        1000,
        datkit.record(10, header(61, 5) + struct.pack("<ii", 5, 6)),
        datkit.record(1, header(63, 6) + struct.pack("<Ii", len(name) << 16 | 16, 6) + name),
        datkit.record(1, sample(0x401010, context=1, pid=6)),
        datkit.record(1, header(62, 6) + struct.pack("<i", 6)),
    )
    run = perf(tmp_path, {0: page}, "-o", "perf.data", "--root", "root", formats={**WITH_SAMPLES, "sched": SCHED})
    assert run.returncode == 0, run.stderr
    found = [(kind, data) for kind, _, data in records((tmp_path / "perf.data").read_bytes()) if kind != 9]
    assert [kind for kind, _ in found] == [1, 3, 3, 7, 3, 1, 4]
    (_, birth), (_, _), (_, mapped), (_, end) = found[3:]
    assert struct.unpack_from("<IIIIQ", birth) == (6, 5, 6, 5, 1010) and struct.unpack_from("<IIIIQ", end) == (6, 6, 6, 6, 1013)
    assert struct.unpack_from("<IIQQQ", mapped) == (6, 6, 0x401000, 0x2000, 0x1000)
    assert mapped[32:].split(b"\0")[0] == str((root / "one").resolve()).encode()
    assert struct.unpack("<IIQIIQ", mapped[-32:]) == (6, 6, 1011, 0, 0, 1)


def test_the_kernels_file_gets_the_build_id(tmp_path):
    words = ["gcc", "-x", "c", "-c", "-o", tmp_path / "some.elf", "-"]
    subprocess.run(words, input=b"int some;", timeout=60, check=True)
    assert perf(tmp_path, {0: PAGE}, "-o", "perf.data", "--elf", "some.elf").returncode == 0
    data = (tmp_path / "perf.data").read_bytes()
    notes = subprocess.run(["readelf", "-n", tmp_path / "perf.data.elf"], capture_output=True, text=True, timeout=60, check=True).stdout
    digest = notes.split("Build ID: ")[-1].split()[0]
    assert bytes.fromhex(digest) + b"\x14" in data
    run = perf(tmp_path, {0: PAGE}, "-o", "perf.data", "--elf", "nosuch")
    assert run.returncode and b"nosuch" in run.stderr


def test_a_trace_without_samples(tmp_path):
    run = perf(tmp_path, {0: datkit.page(1000, datkit.record(10, stack(BASE)))})
    assert run.returncode == 5 and b"has neither events profile:sample" in run.stderr
    assert not list(tmp_path.glob("perf*"))


def jobs(folder, *words, path=""):
    """fathom perf WORDS with a trace.dat in the folder."""
    built = datkit.Parts(WITH_SAMPLES, {0: PAGE}, kallsyms=SYMBOLS, cmdlines="5 some name\n6 other\n")
    (folder / "trace.dat").write_bytes(datkit.version_6(built))
    command = [ROOT / "tools/fathom", "perf", *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, cwd=folder, check=False, env={"PATH": f"{path}/usr/bin:/bin"}
    )


def test_report_and_script_start_perf(tmp_path):
    """The words behind a source go to perf as they are; without a source it is trace.dat; its status is told."""
    perf_there = tmp_path / "bin/perf"
    perf_there.parent.mkdir()
    perf_there.write_text('#!/bin/sh\ncat > piped\nprintf "<%s>" "$@"\ntest "$1" = script\n')
    perf_there.chmod(0o755)
    path = f"{perf_there.parent}:"
    run = jobs(tmp_path, "script", "trace.dat", "-F", "comm, ip", path=path)
    assert run.returncode == 0 and run.stdout.startswith("<script><-F><comm, ip><-i><-><--kallsyms><"), run
    assert (tmp_path / "piped").read_bytes().startswith(b"PERFILE2")
    run = jobs(tmp_path, "report", "--stdio", path=path)
    assert run.stdout.startswith("<report><--stdio><-i>") and "perf ended with status 1" in run.stderr and run.returncode == 1
    run = jobs(tmp_path, "report", "nosuch", path=path)
    assert run.returncode == 1 and "there is no nosuch" in run.stderr and not run.stdout


def test_options_of_a_job(tmp_path):
    """Options behind a file are fathom's, too; wrong ones end with the usage of that job, and nothing is written."""
    run = jobs(tmp_path, "trace.dat", "-o", "other")
    assert run.returncode == 0 and run.stdout.startswith("other: 3 samples, 1 events; "), run.stderr
    for words, said in (
        (("trace.dat", "more"), "usage: fathom perf [-h]"),
        (("record", "--nosuch"), "usage: fathom perf record [-h]"),
        (("-B", "one", "record", "ls"), "-B stands behind record"),
        (("--channel", "nosuch", "stat", "ls"), "nosuch"),
    ):
        run = jobs(tmp_path, *words)
        assert run.returncode in (1, 2, 3) and said in run.stderr, (words, run)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "other.kallsyms", "trace.dat"]
