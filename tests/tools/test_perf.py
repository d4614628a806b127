"""`tools/fathom perf` on files put together here: the records of the perf.data, and files without samples."""
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


def perf(folder, pages):
    built = datkit.Parts(WITH_SAMPLES, pages, kallsyms=SYMBOLS, cmdlines="5 some name\n6 other\n")
    (folder / "trace.dat").write_bytes(datkit.version_6(built))
    words = [ROOT / "tools/fathom", "perf", "-o", "perf.data", "trace.dat"]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=folder)


def records(data):
    """(kind, misc, its bytes) of each record."""
    magic, size, attr_size, _, _, at, length = struct.unpack_from("<8sQQQQQQ", data)
    assert (magic, size, attr_size) == (b"PERFILE2", 104, 80)
    found, end = [], at + length
    while at < end:
        kind, misc, bytes_ = struct.unpack_from("<IHH", data, at)
        assert bytes_ % 8 == 0
        found.append((kind, misc, data[at + 8 : at + bytes_]))
        at += bytes_
    assert at == end
    return found


def test_samples_and_their_stacks(tmp_path):
    page = datkit.page(
        1000,
        datkit.record(10, sample(BASE + 0x104)),
        datkit.record(1, stack(BASE + 0x104, BASE + 0x210)),
        datkit.record(5, sample(0x401000, context=1, pid=6)),
        datkit.record(5, demo(-1)),
        datkit.record(5, sample(BASE + 0x108, context=2, pid=0)),
    )
    run = perf(tmp_path, {0: page})
    assert run.returncode == 0 and run.stdout.startswith("perf.data: 3 samples; perf report "), run.stderr
    found = records((tmp_path / "perf.data").read_bytes())
    assert [kind for kind, _, _ in found] == [1, 3, 3, 3, 9, 9, 9]
    assert [data[8:].rstrip(b"\0") for kind, _, data in found if kind == 3] == [b"swapper", b"some name", b"other"]
    samples = [(misc, struct.unpack(f"<{len(data) // 8}Q", data)) for kind, misc, data in found if kind == 9]
    kernel, user = (1 << 64) - 128, (1 << 64) - 512
    assert samples == [
        (1, (BASE + 0x104, 5 << 32 | 5, 1010, 0, 1000, 3, kernel, BASE + 0x104, BASE + 0x210)),
        (2, (0x401000, 6 << 32 | 6, 1016, 0, 1000, 2, user, 0x401000)),
        (1, (BASE + 0x108, 0, 1026, 0, 1000, 2, kernel, BASE + 0x108)),
    ]
    names = (tmp_path / "perf.data.kallsyms").read_text().splitlines()
    assert [name.split()[2] for name in names] == ["_text", "start", "first", "second"]


def test_a_trace_without_samples(tmp_path):
    run = perf(tmp_path, {0: datkit.page(1000, datkit.record(10, demo(-1)))})
    assert run.returncode == 5 and "has no events profile:sample" in run.stderr
    assert not list(tmp_path.glob("perf*"))
