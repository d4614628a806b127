"""tools/host/_read_dat.py: files put together here, right ones and all kinds of wrong ones; and calls out of entries and returns."""
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import datkit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from host import _calls, _printfmt, _read_dat  # noqa: E402
from host._common import Failure  # noqa: E402
from host._events import Lost  # noqa: E402
from host._formats import EventType  # noqa: E402
from host._read_dat import Trace  # noqa: E402

SYMBOLS = "ffffffff80100000 T start\nffffffff80100100 t first\nffffffff80100200 t second\n0000000000000007 A absolute\n"
DEMO = datkit.format_of(
    "demo",
    7,
    [("char comm[4]", 8, 4, 1), ("int small", 12, 4, 1), ("__data_loc char[] text", 16, 4, 1), ("unsigned int flags", 20, 4, 0)],
    r'"comm=%s small=%d text=%s flags=%s", REC->comm, REC->small, __get_str(text), '
    r'__print_flags(REC->flags, "|", { 0x01, "A" }, { 0x02, "B" })',
)
FORMATS = {
    "test": [DEMO],
    "ftrace": [
        datkit.format_of("function", 1, [("unsigned int ip", 8, 4, 0), ("unsigned int parent_ip", 12, 4, 0)]),
        datkit.format_of("kernel_stack", 4, [("unsigned int caller[]", 8, 0, 0)]),
        datkit.format_of(
            "bprint",
            6,
            [
                ("unsigned int ip", 8, 4, 0),
                ("unsigned short args_bytes", 12, 2, 0),
                ("const char * fmt", 16, 8, 0),
                ("unsigned char buf[]", 24, 0, 0),
            ],
        ),
        datkit.format_of("funcgraph_entry", 11, [("unsigned int func", 8, 4, 0), ("int depth", 12, 4, 1)]),
        datkit.format_of(
            "funcgraph_exit",
            10,
            [
                ("unsigned int func", 8, 4, 0),
                ("unsigned short depth", 12, 2, 0),
                ("unsigned short overrun", 14, 2, 0),
                ("unsigned long long duration", 16, 8, 0),
            ],
        ),
    ],
}


def header(kind, pid=5):
    return struct.pack("<HBBi", kind, 0, 0, pid)


def demo(small, text=b"hello", flags=3, pid=5):
    return header(7, pid) + struct.pack("<4siII", b"abcd", small, len(text) + 1 << 16 | 24, flags) + text + b"\0"


def function(ip, parent):
    return header(1) + struct.pack("<II", 0x80100000 + ip, 0x80100000 + parent)


def enter(func, depth, pid=5):
    return header(11, pid) + struct.pack("<Ii", 0x80100000 + func, depth)


def leave(func, depth, duration, pid=5):
    return header(10, pid) + struct.pack("<IHHQ", 0x80100000 + func, depth, 0, duration)


def parts(pages, **more):
    return datkit.Parts(
        FORMATS, pages, kallsyms=SYMBOLS, cmdlines="5 some name\n6 other\n", printk='0xffffffff80300000 : "n=%d %s %lx\\n"\n', **more
    )


PAGES = {
    0: datkit.page(1000, datkit.record(10, demo(-1)), datkit.record(5, function(0x104, 0x210)), lost=42)
    + datkit.page(2000, datkit.record(0, demo(2, flags=8)), lost=0),
    1: datkit.page(
        1012,
        datkit.record(1, header(4) + struct.pack("<III", 0x80100110, 0x80100220, 0x80100001)),
        datkit.record(1, header(99)),
        datkit.record(1, demo(3, b"x" * 200)),
    ),
    2: b"",
}


def opened(folder, data):
    path = folder / "trace.dat"
    path.write_bytes(data)
    return Trace(path)


def seen(trace):
    return [
        (event.ts, event.cpu, event.count) if isinstance(event, Lost) else (event.ts, event.cpu, event.comm, event.name, event.text)
        for event in trace.events()
    ]


@pytest.mark.parametrize("make", [datkit.version_6, datkit.version_7, lambda some: datkit.version_7(some, "zlib")])
def test_events_of_all_cpus_in_order(tmp_path, make):
    trace = opened(tmp_path, make(parts(PAGES, clock="global")))
    assert (trace.clock, trace.cpus) == ("global", [0, 1, 2])
    assert seen(trace) == [
        (1000, 0, 42),
        (1010, 0, "some name", "demo", "comm=abcd small=-1 text=hello flags=A|B"),
        (1013, 1, "some name", "kernel_stack", ""),
        (1014, 1, "some name", "type-99", "8 bytes"),
        (1015, 0, "some name", "function", "first <-second"),
        (1015, 1, "some name", "demo", "comm=abcd small=3 text=" + "x" * 200 + " flags=A|B"),
        (2000, 0, None),
        (2000, 0, "some name", "demo", "comm=abcd small=2 text=hello flags=0x8"),
    ]
    stack = next(event for event in trace.events() if getattr(event, "name", "") == "kernel_stack")
    assert stack.stack() == ["first", "second", "start"]


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_what_trace_cmd_writes(tmp_path, compression):
    """The same file, converted by trace-cmd to its version 7."""
    (tmp_path / "old.dat").write_bytes(datkit.version_6(parts(PAGES)))
    run = subprocess.run(
        ["trace-cmd", "convert", "-i", "old.dat", "-o", "new.dat", "--file-version", "7", "--compression", compression],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "new.dat").read_bytes()[10:12] == b"7\0" and seen(Trace(tmp_path / "new.dat")) == seen(Trace(tmp_path / "old.dat"))


def test_as_many_cpus_as_may_be(tmp_path, monkeypatch):
    for make in (datkit.version_6, datkit.version_7):
        data = make(parts(PAGES))
        monkeypatch.setattr(_read_dat, "MOST_CPUS", 3)
        assert opened(tmp_path, data).cpus == [0, 1, 2]
        monkeypatch.setattr(_read_dat, "MOST_CPUS", 2)
        try:
            assert opened(tmp_path, data).cpus == [0, 1]
        except Failure as failure:
            assert "3" in str(failure)


def test_large_sub_buffers(tmp_path):
    page = datkit.HEADER_PAGE.replace("4080", str(8192 - 16))
    records = [datkit.record(1, demo(number)) for number in range(150)]
    trace = opened(tmp_path, datkit.version_6(parts({0: datkit.page(0, *records, size=8192) * 2}, header_page=page)))
    assert [event.fields["small"] for event in trace.events()] == [*range(150), *range(150)]


def test_arguments_of_trace_printk(tmp_path):
    args = struct.pack("<i", -3) + b"word\0" + bytes(3) + struct.pack("<Q", 1 << 40)
    record = header(6) + struct.pack("<IHHQ", 0x80100104, len(args), 0, 0xFFFFFFFF80300000) + args
    assert seen(opened(tmp_path, datkit.version_6(parts({0: datkit.page(0, datkit.record(1, record))})))) == [
        (1, 0, "some name", "bprint", "first: n=-3 word 10000000000")
    ]


def test_arguments_that_are_cut_off(tmp_path):
    """The format stands in the place of the text."""
    record = header(6) + struct.pack("<IHHQ", 0x80100104, 2, 0, 0xFFFFFFFF80300000) + b"\1\2\0\0"
    assert seen(opened(tmp_path, datkit.version_6(parts({0: datkit.page(0, datkit.record(1, record))})))) == [
        (1, 0, "some name", "bprint", "first: n=%d %s %lx")
    ]


def test_what_a_file_is_refused_for(tmp_path):
    good = datkit.version_6(parts(PAGES))
    for data, words in (
        (b"", "is no trace.dat"),
        (b"# tracer: nop\n", "is no trace.dat"),
        (good[:200], "cut off"),
        (good[:-1], "CPU 1"),
        (good.replace(b"tracing6", b"tracing9", 1), "version '9'"),
        (good.replace(b"flyrecord", b"latency  ", 1), "holds no pages"),
        (datkit.version_7(parts(PAGES)).replace(b"none\0", b"lzma\0", 1), "trace-cmd convert"),
    ):
        with pytest.raises(Failure) as failure:
            list(opened(tmp_path, data).events())
        assert words in str(failure.value)


@pytest.mark.parametrize("make", [datkit.version_6, datkit.version_7, lambda some: datkit.version_7(some, "zlib")])
def test_damaged_files_are_read_or_refused(tmp_path, make):
    """Whatever a byte is changed to, and wherever the file ends: events or one sentence."""
    random.seed(7)
    good, refused = make(parts(PAGES)), 0
    for _ in range(400):
        bad = bytearray(good)
        for _ in range(random.choice((1, 1, 3))):
            bad[random.choice((random.randrange(len(bad)), random.randrange(100)))] = random.randrange(256)
        if random.random() < 0.3:
            del bad[random.randrange(len(bad)) :]
        try:
            trace = opened(tmp_path, bytes(bad))
            assert sum(len(event.text) for event in trace.events()) < 1 << 20
        except Failure as failure:
            refused += 1
            assert str(tmp_path) in str(failure) and "\n" not in str(failure)
    assert refused > 50


@pytest.mark.parametrize(
    "text, said",
    [
        (r'"%d%% %5u|%-5d|%05x", -1, 7, 8, 255', "-1%     7|8    |000ff"),
        (r'"%s", REC->one > 2 ? "more" : "less"', "more"),
        (r'"%d %d", (7 + 3) * 2 - 1, -7 / 2', "19 -3"),
        (r'"%ps %pS", (void *)REC->at, (void *)(REC->at + 4)', "first first+0x4"),
        (r'"%s", __print_symbolic(REC->one, { 1, "A" }, { 3, "C" })', "C"),
        (r'"%lx %x %d", ~0ul, ~0u, (int)0xffffffff', "ffffffffffffffff ffffffff -1"),
        (r'"%d %d", (unsigned char)200, (signed char)200', "200 -56"),
        (r'"%.s|%.0s|%.2s|%.*s|%5.1s", "text", "text", "text", 3, "text", "text"', "||te|tex|    t"),
        (r'"%d %d %d", (u8)200, (__u16)65535, (s8)200', "200 65535 -56"),
        (r'"%s %02x", __print_array(REC->list, 2, 8), REC->list[1]', "{0x5,0x6} 06"),
    ],
)
def test_print_formats(text, said):
    class Event:
        fields = {"one": 3, "at": 0xFFFFFFFF80100100, "list": [5, 6]}

    class Symbols:
        name = staticmethod(lambda address: "first")
        with_offset = staticmethod(lambda address: f"first+{address - Event.fields['at']:#x}")

    assert _printfmt.compiled(text)(Event, Symbols) == said


@pytest.mark.parametrize(
    "text",
    [
        "",
        '"%d"',
        '"%d", 1 / 0',
        '"%s", REC->nosuch',
        '"%d", __import__("os")',
        '"%d", ' + "(" * 5000,
        '"%d", ' + "-" * 5000 + "1",
        '"%d" 1',
        '"%*d", 1 << 30, 1',
        '"%d", REC->list[9]',
        '"x',
        '"%d", 1,',
    ],
)
def test_print_formats_that_are_refused(text):
    class Event:
        fields = {"list": [1]}

    with pytest.raises(_printfmt.Unsupported):
        _printfmt.compiled(text)(Event, None)


def test_events_that_are_lost():
    """Their number is said when it is known."""
    assert [Lost(1, 0, count).text for count in (7, None)] == ["LOST 7 EVENTS", "LOST EVENTS"]


def test_lists_of_numbers():
    """Half an address is one in a field that holds addresses, and a number elsewhere."""
    field = "\tfield:u32 %s[];\toffset:4;\tsize:0;\tsigned:0;\n"
    for name, first in (("caller", 0xFFFFFFFF80000001), ("list", 0x80000001)):
        kind = EventType("ftrace", "name: one\nID: 5\nformat:\n" + field % name + '\nprint fmt: ""\n')
        assert kind.value(name, struct.pack("<3I", 5, 0x80000001, 7)) == [first, 7]


# ---- Calls ----


def calls_of(trace):
    calls, found = _calls.Calls(), []
    for event in trace.events():
        found += calls.take(event)
    return found + calls.rest()


def test_calls(tmp_path):
    records = [(1, enter(0x100, 0)), (2, enter(0x200, 1)), (5, leave(0x200, 1, 5)), (1, leave(0x100, 0, 8)), (1, leave(0x200, 0, 4))]
    trace = opened(tmp_path, datkit.version_6(parts({0: datkit.page(100, *(datkit.record(*one) for one in records))})))
    assert [(call.name, call.path(), call.begin, call.end, call.self_ns, call.whole) for call in calls_of(trace)] == [
        ("second", ["first", "second"], 103, 108, 5, True),
        ("first", ["first"], 101, 109, 3, True),
        ("second", ["second"], 106, 110, 4, False),
    ]


def test_calls_always_lie_inside_each_other(tmp_path):
    """Whatever is missing: each moment begins a call or ends the one begun last, and time never goes back."""
    random.seed(3)
    for _ in range(60):
        now, events, stack = 1000, [], []
        for _ in range(80):
            now += random.randrange(0, 4)
            if stack and random.random() < 0.5:
                func, begin = stack.pop()
                events.append((now, leave(func, len(stack), now - begin)))
            else:
                func = random.choice((0x100, 0x200))
                events.append((now, enter(func, len(stack))))
                stack.append((func, now))
        kept, last, records = [one for one in events if random.random() < 0.8], 1000, []
        for time, data in kept:
            records.append(datkit.record(time - last, data))
            last = time
        calls = calls_of(opened(tmp_path, datkit.version_6(parts({0: datkit.page(1000, *records)}))))
        assert len(calls) <= len(kept) and all(call.end >= call.begin for call in calls)
        open_calls, at = 0, 0
        for time, call in _calls.moments(calls):
            assert time >= at
            at, open_calls = time, open_calls + (1 if call else -1)
            assert open_calls >= 0
        assert open_calls == 0


def test_options_that_lead_back(tmp_path):
    """In version 7 the end of a block of options says where the next one is: a block that is named twice is read once."""
    data = bytearray(datkit.version_7(parts(PAGES)))
    first = struct.unpack_from("<Q", data, data.index(b"none") + 6)[0]
    assert data[-10:] == struct.pack("<IQ", 8, 0)[-10:] and data[-14:-12] == bytes(2)
    data[-8:] = struct.pack("<Q", first)
    (tmp_path / "t.dat").write_bytes(data)
    trace = Trace(tmp_path / "t.dat")
    assert len(list(trace.events())) == len(list(Trace(written(tmp_path)).events()))


def written(folder):
    (folder / "right.dat").write_bytes(datkit.version_7(parts(PAGES)))
    return folder / "right.dat"


def test_an_entry_whose_return_was_lost():
    """Its caller has it as a child, and the next call beside it does not lie within it."""

    class Event:
        def __init__(self, ts, name, func, depth, duration=0):
            self.ts, self.name, self.cpu, self.pid, self.system = ts, name, 0, 5, "ftrace"
            self.fields = {"func": func, "depth": depth, "duration": duration}

        def number(self, name):
            return self.fields[name]

        def function(self, name="func"):
            return self.fields[name]

    calls, ended = _calls.Calls(), []
    for one in (
        Event(1, "funcgraph_entry", "outer", 0),
        Event(2, "funcgraph_entry", "lost", 1),
        Event(6, "funcgraph_entry", "beside", 1),
        Event(9, "funcgraph_exit", "beside", 1, 3),
        Event(10, "funcgraph_exit", "outer", 0, 9),
    ):
        ended += calls.take(one)
    assert [(call.name, call.begin, call.end, call.whole, call.path()) for call in ended] == [
        ("lost", 2, 6, False, ["outer", "lost"]),
        ("beside", 6, 9, True, ["outer", "beside"]),
        ("outer", 1, 10, True, ["outer"]),
    ]
