"""Parts of trace.dat files that need no kernel: pages in the order of the file, sections, and a disk that is full."""
import random
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import datkit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from host import _read_dat, _write_head, _write_pages  # noqa: E402
from host._common import Failure  # noqa: E402

OTHER = 9
SIZE = 4096


def facts(cpus, *names):
    made = _write_head.Facts(*names)
    made.nr_cpus = cpus
    for buffer in made.buffers:
        buffer.stats = ["CPU: %d\n" % cpu for cpu in range(cpus)]
    return made


def nowhere(cpus):
    return [_write_head.Place([(0, 0)] * cpus)]


def page_of(words, flags=0, time=1000):
    """A page with events: (delta, number, 32-bit values)."""
    data = b""
    for delta, number, values in words:
        payload = struct.pack("<HBBi", number, 0, 0, 7) + struct.pack(f"<{len(values)}I", *values)
        data += datkit.record(delta, payload)
    return (struct.pack("<QQ", time, flags | len(data)) + data).ljust(SIZE, b"\0")


@pytest.mark.parametrize("cpus", [1, 2, 5])
def test_pages_get_together(tmp_path, cpus):
    chance = random.Random(cpus)
    for round in range(20):
        target = tmp_path / f"{round}.dat"
        pages = _write_pages.Pages(target, facts(cpus))
        order = [chance.randrange(cpus) for _ in range(chance.randrange(60))]
        for number, cpu in enumerate(order):
            pages.add(cpu, struct.pack("<II", cpu, number) * (SIZE // 8))
        assert not target.exists()
        pages.finish(facts(cpus), 6, None)
        data = target.read_bytes()
        at = len(data) - len(order) * SIZE
        assert at % SIZE == 0 and at >= len(_write_head.head(facts(cpus), nowhere(cpus)))
        found = [struct.unpack_from("<II", data, place) for place in range(at, len(data), SIZE)]
        assert found == sorted((cpu, number) for number, cpu in enumerate(order))
        assert [path.name for path in tmp_path.iterdir()] == [target.name]
        target.unlink()


@pytest.mark.parametrize("version, compression", [(6, None), (7, None), (7, "zlib")])
@pytest.mark.parametrize("empty", [(), (0,), (1,), (0, 2)])
def test_buffers_of_instances(tmp_path, version, compression, empty):
    """Each has its pages, its clock, its name, and in version 7 a section of its own, which holds them."""
    chance, wanted = random.Random(len(empty)), {}
    pages = _write_pages.Pages(tmp_path / "t.dat", facts(2, "box", "case"))
    for number in range(50):
        buffer, cpu = chance.choice([one for one in range(3) if one not in empty]), chance.randrange(2)
        page = page_of([(1, OTHER, [number])])
        pages.add(cpu, page, buffer)
        wanted.setdefault((("", "box", "case")[buffer], cpu), []).append(page)
    known = facts(2, "box", "case")
    known.header_page = datkit.HEADER_PAGE.encode()
    for buffer, clock in zip(known.buffers, ("local", "global", "mono")):
        buffer.clock = clock
    pages.finish(known, version, ("zlib", "", zlib.compress) if compression else None)
    trace = _read_dat.Trace(tmp_path / "t.dat")
    assert trace.buffers == ["", "box", "case"]
    assert {(ring.buffer, ring.cpu): [bytes(page) for page in trace._pages(ring)] for ring in trace.places if ring.size} == wanted
    for name in ("box", "case"):
        one = _read_dat.Trace(tmp_path / "t.dat", name)
        assert sum(len(list(pages)) for _, pages in one.rings()) == sum(
            len(pages) for (buffer, _), pages in wanted.items() if buffer == name
        )
    with pytest.raises(Failure, match="no instance nope, but box, case"):
        _read_dat.Trace(tmp_path / "t.dat", "nope")
    run = subprocess.run(["trace-cmd", "dump", "--validate", "-i", tmp_path / "t.dat"], capture_output=True, text=True)
    assert compression or "is a valid trace-cmd file" in run.stdout, run.stderr


def sections_of(data):
    """[(number, where it begins, bytes)] from the first on: one follows the other."""
    at, found = data.index(b"none") + 6, []
    at += 8
    while at < len(data):
        number, _, _, size = struct.unpack_from("<HHIQ", data, at)
        found.append((number, at, size))
        at += 16 + size
    return found, at


@pytest.mark.parametrize("names", [(), ("box",)])
def test_sections_fill_the_file(tmp_path, names):
    """The length of each, those of pages too: the next section, or the end of the file, is where it ends."""
    pages = _write_pages.Pages(tmp_path / "t.dat", facts(1, *names))
    for buffer in range(len(names) + 1):
        for number in range(3):
            pages.add(0, page_of([(1, OTHER, [number])]), buffer)
    pages.finish(facts(1, *names), 7, None)
    data = (tmp_path / "t.dat").read_bytes()
    found, end = sections_of(data)
    assert end == len(data) and [number for number, _, _ in found].count(_write_head.BUFFER) == len(names) + 1


def test_a_compressed_file_that_fails(tmp_path):
    """Nothing of it is left, and the pages can still be written as they are."""

    def full(_data):
        raise OSError(28, "No space left on device")

    pages = _write_pages.Pages(tmp_path / "t.dat", facts(1))
    pages.add(0, page_of([(1, OTHER, [1])]))
    with pytest.raises(OSError, match="No space"):
        pages.finish(facts(1), 7, ("zlib", "", full))
    assert [path.suffix for path in tmp_path.iterdir()] == [pages.partial.suffix]
    pages.finish(facts(1), 7, None)
    assert [path.name for path in tmp_path.iterdir()] == ["t.dat"]


@pytest.mark.parametrize("version", [6, 7])
def test_the_clock_is_in_its_option(version):
    """trace-cmd reads this option as text, without a look at its length."""
    assert struct.pack("<HI8s", _write_head.TRACECLOCK, 8, b"[local]") in _write_head.head(facts(2), nowhere(2), version)


def test_more_names_than_there_is_room(tmp_path):
    pages = _write_pages.Pages(tmp_path / "t.dat", facts(1))
    pages.add(0, bytes(SIZE))
    known = facts(1)
    known.cmdlines = b"".join(b"%d name\n" % pid for pid in range(100000))
    pages.finish(known, 6, None)
    assert known.cmdlines.endswith(b"\n99999 name\n") and re.match(rb"\d+ name\n", known.cmdlines)
    assert 100 << 10 < len(known.cmdlines) <= pages.start and (tmp_path / "t.dat").stat().st_size == pages.start + SIZE


FULL = """
import resource, struct, sys
sys.path[:0] = [{tools!r}, {here!r}]
from pathlib import Path
import test_write_pages
from host import _write_pages
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
target = Path({target!r})
try:
    pages = _write_pages.Pages(target, test_write_pages.facts(2))
    while True:
        pages.add(pages.nr_pages % 2, struct.pack("<I", pages.nr_pages) * 1024)
except OSError as err:
    print(err.errno)
if "pages" in dir():
    pages.finish(test_write_pages.facts(2), 6, None)
    print(pages.nr_pages)
"""


@pytest.mark.parametrize("limit, whole", [(300 << 10, True), ((300 << 10) + 1000, True), (10 << 10, False)])
def test_a_full_disk(tmp_path, limit, whole):
    """The part before is a file; when not even its head has room, nothing is left."""
    here = Path(__file__).resolve().parent
    code = FULL.format(tools=str(here.parents[1] / "tools"), here=str(here), limit=limit, target=str(tmp_path / "t.dat"))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    if not whole:
        assert run.stdout == "27\n" and not list(tmp_path.iterdir())
        return
    number = int(run.stdout.split()[1])
    assert run.stdout.split()[0] == "27" and number > 20
    data = (tmp_path / "t.dat").read_bytes()
    found = [struct.unpack_from("<I", data, place)[0] for place in range(len(data) - number * SIZE, len(data), SIZE)]
    assert found == list(range(0, number, 2)) + list(range(1, number, 2))
