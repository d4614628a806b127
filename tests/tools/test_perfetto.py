"""`tools/fathom perfetto` on files put together here: slices, instants, arrows, curves, what is lost, and mistakes."""
import io
import os
import random
import re
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import datkit
import pftrace
from test_read_dat import FORMATS, PAGES, SYMBOLS, demo, enter, header, leave, parts

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from host import flame, perfetto  # noqa: E402
from host._common import Failure  # noqa: E402
from host._flamegraph import draw  # noqa: E402
from host._read_dat import Trace  # noqa: E402

WAKE = [("char comm[16]", 8, 16, 1), ("int pid", 24, 4, 1)]
SCHED = {
    "sched": [
        datkit.format_of(
            "sched_switch",
            50,
            [("char prev_comm[16]", 8, 16, 1), ("int prev_pid", 24, 4, 1), ("char next_comm[16]", 28, 16, 1), ("int next_pid", 44, 4, 1)],
        ),
        datkit.format_of("sched_waking", 51, WAKE),
        datkit.format_of("sched_wakeup", 52, WAKE),
        datkit.format_of("sched_wakeup_new", 53, WAKE),
    ],
    "irq": [
        datkit.format_of("irq_handler_entry", 60, [("int irq", 8, 4, 1)], '"irq=%d", REC->irq'),
        datkit.format_of("irq_handler_exit", 61, [("int irq", 8, 4, 1)]),
    ],
}


def switch(pid, comm, next_pid, next_comm):
    return header(50, pid) + struct.pack("<16si16si", comm.encode(), pid, next_comm.encode(), next_pid)


def wake(kind, waker, pid, comm):
    return header(kind, waker) + struct.pack("<16si", comm.encode(), pid)


def fathom(*words, **more):
    return subprocess.run([ROOT / "tools/fathom", "perfetto", *words], capture_output=True, text=True, timeout=60, **more)


def converted(folder, pages, *words, formats=FORMATS):
    (folder / "trace.dat").write_bytes(datkit.version_6(datkit.Parts({**formats, **SCHED}, pages, kallsyms=SYMBOLS, cmdlines="5 five\n")))
    run = fathom("-o", folder / "out", *words, folder / "trace.dat")
    assert run.returncode == 0, run.stderr
    return pftrace.Trace((folder / "out").read_bytes())


def test_calls_are_slices(tmp_path):
    records = [
        (1, enter(0x100, 0)),
        (2, enter(0x200, 1)),
        (1, demo(9)),
        (5, leave(0x200, 1, 6)),
        (1, leave(0x100, 0, 9)),
        (9, leave(0x200, 0, 4)),
    ]
    trace = converted(tmp_path, {0: datkit.page(100, *(datkit.record(*one) for one in records))})
    track = trace.track("five-5")
    assert track.thread == {1: 1, 2: 5, 5: b"five"}
    assert track.slices == [
        ["first", 101, 110, 0, {"duration_ns": 9}],
        ["second", 103, 109, 1, {"duration_ns": 6}],
        ["second", 115, 119, 0, {"duration_ns": 4, "incomplete": "its entry or its return was not recorded"}],
    ]
    ((ts, name, arguments),) = track.instants
    assert (ts, name, arguments["small"], arguments["flags"]) == (104, "demo", 9, 3)
    assert arguments["line"] == "comm=abcd small=9 text=hello flags=A|B"


def test_arrows_from_waking_to_running(tmp_path):
    trace = converted(
        tmp_path,
        {
            0: datkit.page(
                100,
                datkit.record(0, wake(51, 5, 6, "six")),
                datkit.record(2, wake(52, 5, 6, "six")),
                datkit.record(9, wake(51, 5, 7, "seven")),
                datkit.record(1, wake(53, 5, 8, "eight")),
            ),
            1: datkit.page(103, datkit.record(2, switch(0, "swapper/1", 6, "six")), datkit.record(9, switch(6, "six", 0, "swapper/1"))),
        },
    )
    assert trace.flows == {
        1: [(100, "five-5", "sched_waking", False), (102, "five-5", "sched_wakeup", False), (105, "CPU 1", "six-6", True)],
        2: [(111, "five-5", "sched_waking", False)],
        3: [(112, "five-5", "sched_wakeup_new", False)],
    }
    assert [one[:3] for one in trace.track("CPU 1").slices] == [["six-6", 105, 114], ["swapper/1", 114, 114]]
    assert [one[1] for one in trace.track("swapper/1").instants] == ["sched_switch"]


def test_interrupts_curves_and_losses(tmp_path):
    irq = [
        (1, header(60) + struct.pack("<i", 4)),
        (4, header(61) + struct.pack("<i", 4)),
        (1, demo(17)),
        (1, demo(-3)),
        (1, header(60) + struct.pack("<i", 5)),
    ]
    trace = converted(
        tmp_path,
        {0: datkit.page(100, *(datkit.record(*one) for one in irq), lost=12)},
        "--counter",
        "demo.small",
        "--counter",
        "test:demo.flags",
    )
    assert [one[:3] for one in trace.track("CPU 0 interrupts").slices] == [["irq_handler irq=4", 101, 105], ["irq_handler irq=5", 108, 108]]
    assert trace.track("CPU 0").instants == [(100, "LOST 12 EVENTS", {})]
    assert trace.track("demo.small").values == [(106, 17), (107, 2**64 - 3)] and trace.track("demo.flags").values == [(106, 3), (107, 3)]


def test_events_with_names_of_ftrace(tmp_path):
    """Of another system they are events as all are."""
    names = ["function", "funcgraph_entry", "funcgraph_exit", "kernel_stack"]
    own = [datkit.format_of(name, 80 + number, [("int nr", 8, 4, 1)]) for number, name in enumerate(names)]
    records = [datkit.record(1, header(80 + number) + struct.pack("<i", number)) for number in range(4)]
    trace = converted(tmp_path, {0: datkit.page(100, *records)}, formats={**FORMATS, "own": own})
    track = trace.track("five-5")
    assert [(name, arguments["nr"]) for _, name, arguments in track.instants] == [(name, number) for number, name in enumerate(names)]
    assert not track.slices


def test_long_arrays_are_no_arguments(tmp_path):
    own = [datkit.format_of(f"of_{nr}", nr, [(f"int numbers[{nr}]", 8, 4 * nr, 1)]) for nr in (63, 64)]
    records = [datkit.record(1, header(nr) + bytes(4 * nr)) for nr in (63, 64)]
    trace = converted(tmp_path, {0: datkit.page(100, *records)}, formats={**FORMATS, "own": own})
    assert [(name, "numbers" in arguments) for _, name, arguments in trace.track("five-5").instants] == [("of_63", True), ("of_64", False)]


def test_a_stack_belongs_to_its_event(tmp_path):
    stack = header(4) + struct.pack("<II", 0x80100110, 0x80100220)
    trace = converted(tmp_path, {0: datkit.page(100, datkit.record(0, demo(1)), datkit.record(0, stack))})
    assert [(name, arguments["stack"]) for _, name, arguments in trace.track("five-5").instants] == [("demo", "first\nsecond")]


def test_mistakes(tmp_path):
    """One sentence each, the right exit code, and no file."""
    (tmp_path / "none").write_bytes(datkit.version_6(parts({0: b""})))
    (tmp_path / "good").write_bytes(datkit.version_6(parts(PAGES)))
    (tmp_path / "half").write_bytes(datkit.version_6(parts(PAGES))[:-4000])
    (tmp_path / "text").write_text("# tracer: nop\n")
    for words, code, said in (
        (["none"], 5, "has no events"),
        (["half"], 1, "CPU 1"),
        (["text"], 1, "no trace.dat"),
        (["nosuch"], 1, "there is no"),
        (["good", "-o", "no/such/x"], 1, "there is no folder"),
        (["good", "--counter", "x"], 2, "one of its fields"),
        (["."], 1, "directory"),
    ):
        run = fathom(*words, cwd=tmp_path)
        assert run.returncode == code and said in run.stderr and run.stderr.count("\n") == 1 and not run.stdout, (words, run)
    assert sorted(os.listdir(tmp_path)) == ["good", "half", "none", "text"]


def test_a_kernel_that_ends_meanwhile(tmp_path):
    """QEMU's socket closes while the first answers are on their way: exit code 7, and no file."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "channel"))
        server.listen()

        def answer():
            line = server.accept()[0]
            question = line.recv(100)
            line.sendall(question[:4] + b"\x65" + question[5:])  # Rversion, as it was asked
            line.recv(100)
            line.close()

        thread = threading.Thread(target=answer)
        thread.start()
        run = fathom("live", "--channel", "channel", cwd=tmp_path)
        thread.join()
    assert run.returncode == 7 and run.stderr.count("\n") == 1, run
    assert os.listdir(tmp_path) == ["channel"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk(tmp_path):
    (tmp_path / "good").write_bytes(datkit.version_6(parts(PAGES)))
    run = fathom("good", "-o", "/dev/full", cwd=tmp_path)
    assert run.returncode == 6 and "No space left" in run.stderr


def test_formats_that_lie(tmp_path):
    """Types, places and sizes of fields are exchanged: a trace, a picture, or one sentence."""
    words = [
        b"char",
        b"int",
        b"unsigned",
        b"long",
        b"__data_loc",
        b"[]",
        b"[4]",
        b"size:4",
        b"size:8",
        b"size:0",
        b"offset:8",
        b"offset:999",
        b"depth",
        b"func",
        b"duration",
        b"pid",
        b"comm",
        b"caller",
        b"%d",
        b"%s",
        b"REC->",
    ]
    records = [
        (1, enter(0x100, 0)),
        (2, enter(0x200, 1)),
        (1, demo(9)),
        (1, header(4) + struct.pack("<II", 0x80100110, 0x80100220)),
        (5, leave(0x200, 1, 6)),
        (1, leave(0x100, 0, 9)),
        (9, leave(0x200, 0, 4)),
        (1, switch(5, "five", 6, "six")),
        (2, wake(52, 5, 6, "six")),
    ]
    good = datkit.version_6(
        datkit.Parts({**FORMATS, **SCHED}, {0: datkit.page(100, *(datkit.record(*one) for one in records), lost=3)}, kallsyms=SYMBOLS)
    )
    random.seed(1)
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(random.choice((1, 2, 4))):
            word = random.choice([one for one in words if one in good])
            at = random.choice([match.start() for match in re.finditer(re.escape(word), good)])
            bad[at : at + len(word)] = random.choice(words)[: len(word)].ljust(len(word))
        (tmp_path / "trace.dat").write_bytes(bad)
        try:
            perfetto.Converter(Trace(tmp_path / "trace.dat"), ["demo.small"]).convert().write(io.BytesIO())
            flames = flame.of_recording(Trace(tmp_path / "trace.dat"), random.choice((None, "stacks")), None)
            assert not flames.stacks or draw(flames.stacks, "a title", flames.amount)
        except Failure as failure:
            assert "\n" not in str(failure)


@pytest.mark.parametrize("declaration", ["int NAME[2]", "char NAME[4]", "__data_loc char[] NAME", "int other"])
def test_fields_of_other_types(tmp_path, declaration):
    """An argument that is looked for by its name may be a list, a text, or missing."""

    def changed(text):
        return re.sub(
            r"field:[\w ]+? (func|depth|duration|pid|next_pid|caller)(\[\])?;",
            lambda match: f"field:{declaration.replace('NAME', match[1])};",
            text,
        )

    formats = {system: [changed(text) for text in texts] for system, texts in {**FORMATS, **SCHED}.items()}
    records = [
        (1, enter(0x100, 1)),
        (1, header(4) + bytes(8)),
        (5, leave(0x200, 1, 6)),
        (1, leave(0x100, 0, 9)),
        (1, wake(52, 5, 6, "six")),
        (1, switch(5, "five", 6, "six")),
    ]
    (tmp_path / "trace.dat").write_bytes(
        datkit.version_6(datkit.Parts(formats, {0: datkit.page(100, *(datkit.record(*one) for one in records))}))
    )
    assert "6 events" in fathom("-o", "out", "trace.dat", cwd=tmp_path).stdout
    assert pftrace.Trace((tmp_path / "out").read_bytes()).tracks


KMEM = {
    "kmem": [
        datkit.format_of("kmalloc", 70, [("unsigned long ptr", 8, 8, 0), ("size_t bytes_alloc", 16, 8, 0)]),
        datkit.format_of("kfree", 71, [("unsigned long ptr", 8, 8, 0)]),
    ]
}


def test_memory_that_is_given_back(tmp_path):
    """Once: a second kfree of the same address is of memory whose kmalloc was not seen."""
    kinds = [
        header(70) + struct.pack("<QQ", 0x1000, 64),
        header(70) + struct.pack("<QQ", 0x2000, 32),
        header(71) + struct.pack("<Q", 0x1000),
        header(71) + struct.pack("<Q", 0x1000),
        header(71) + struct.pack("<Q", 0x3000),
    ]
    trace = converted(tmp_path, {0: datkit.page(100, *(datkit.record(1, one) for one in kinds))}, formats={**FORMATS, **KMEM})
    assert trace.track("kmalloc: bytes not given back").values == [(101, 64), (102, 96), (103, 32)]


def test_stacks(tmp_path):
    """Each is of the event in front of it, of its thread: not of another thread's, nor of a call's, nor of an older one's."""
    stack = struct.pack("<II", 0x80100110, 0x80100220)
    records = [
        demo(1),
        header(4) + stack,
        header(4) + stack[:4],
        demo(2),
        header(4, pid=6) + stack,
        demo(3),
        enter(0x100, 0),
        header(4) + stack,
        demo(4, pid=6),
        switch(5, "five", 6, "six"),
        header(4) + stack,
    ]
    trace = converted(tmp_path, {0: datkit.page(100, *(datkit.record(1, one) for one in records))})
    instants = [one for name in ("five-5", "<...>-6") for one in trace.track(name).instants]
    assert {(name, arguments.get("small")): arguments.get("stack") for _, name, arguments in instants} == {
        ("demo", 1): "first\nsecond",
        ("demo", 2): None,
        ("demo", 3): None,
        ("demo", 4): None,
        ("sched_switch", None): "first\nsecond",
    }


def test_large_numbers(tmp_path):
    """From 2^63 on they are numbers without a sign, and stay what they are."""
    large = datkit.format_of("large", 72, [("u64 value", 8, 8, 0), ("s64 less", 16, 8, 1)])
    data = header(72) + struct.pack("<Qq", (1 << 63) + 5, -(1 << 63))
    trace = converted(tmp_path, {0: datkit.page(100, datkit.record(1, data))}, formats={**FORMATS, "large": [large]})
    [(_, _, arguments)] = trace.track("five-5").instants
    assert arguments["value"] == (1 << 63) + 5 and arguments["less"] == 1 << 63, "as the wire has them, by the number of their field"
    raw = (tmp_path / "out").read_bytes()
    assert raw.count(pftrace_field(3, (1 << 63) + 5)) == 1 and raw.count(pftrace_field(4, (1 << 63) + 5)) == 0


def pftrace_field(number, value):
    return perfetto.field(number, value)


def test_system_calls_are_slices(tmp_path):
    """From enter to exit, with the stacks of kernel and program; a call without an exit ends with the next one."""
    fields = [("int __syscall_nr", 8, 4, 1), ("unsigned long fd", 16, 8, 0)]
    calls = [datkit.format_of(f"sys_enter_{name}", 90 + nr, fields) for nr, name in enumerate(("read", "execve"))]
    calls += [datkit.format_of("sys_exit_read", 95, [("int __syscall_nr", 8, 4, 1), ("long ret", 16, 8, 1)])]
    own = {**FORMATS, "syscalls": calls}
    own["ftrace"] = [
        *FORMATS["ftrace"],
        datkit.format_of("user_stack", 12, [("unsigned int tgid", 8, 4, 0), ("unsigned long caller[8]", 16, 64, 0)]),
    ]
    user = header(12) + struct.pack("<II8Q", 5, 0, 0x401000, 0x402000, *[0] * 6)
    records = [
        (0, header(95) + struct.pack("<iiq", 0, 0, 9)),  # its begin was not recorded
        (1, header(90) + struct.pack("<iiQ", 0, 0, 3)),
        (0, header(4) + struct.pack("<I", 0x80100110)),
        (0, user),
        (4, demo(1)),
        (5, header(95) + struct.pack("<iiq", 0, 0, -4)),
        (1, header(91) + struct.pack("<iiQ", 59, 0, 0)),
        (2, header(90) + struct.pack("<iiQ", 0, 0, 4)),
    ]
    trace = converted(tmp_path, {0: datkit.page(100, *(datkit.record(*one) for one in records))}, formats=own)
    track = trace.track("five-5")
    assert [one[:3] for one in track.slices] == [["read", 101, 110], ["execve", 111, 113], ["read", 113, 113]]
    assert [name for _, name, _ in track.instants] == ["sys_exit_read", "demo"]
    first = track.slices[0][4]
    assert (first["fd"], first["stack"], first["stack of the program"]) == (3, "first", "0x401000\n0x402000")
