"""Commands of tools/fathom: programs that they start, files that they leave, and what they ask of the kernel."""
import importlib.machinery
import importlib.util
import os
import signal
import socket
import struct
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest

import liar
from liar import Liar
from tablekit import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from host import _events, _guest, _ninep, _read_dat, _take, dump, mount, shell, view  # noqa: E402
from host._common import DISK_FULL, Failure  # noqa: E402

LOADER = importlib.machinery.SourceFileLoader("fathom_command", str(ROOT / "tools/fathom"))
FATHOM = importlib.util.module_from_spec(importlib.util.spec_from_loader("fathom_command", LOADER))
LOADER.exec_module(FATHOM)


@pytest.fixture
def fathom(tmp_path, monkeypatch, capfdbinary):
    """A function that runs a command: (exit status, its output, its errors)."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["fathom", *map(str, words)])
        status = FATHOM.main()
        said = capfdbinary.readouterr()
        return status, said.out.decode(), said.err.decode()

    return run


@pytest.fixture
def kernel(tmp_path):
    with Liar(tmp_path / "channel") as one:
        yield one


def written(kernel):
    return [(asked.path.removeprefix(liar.TRACING), asked.body[16:].decode()) for asked in kernel.asked if asked.kind == liar.WRITE]


# ---- Recordings ----


def test_the_command_is_traced_and_shown(kernel, fathom, tmp_path):
    """Tracing is on while it runs, all that was set is put back, and what it says is said."""
    kernel.lie = one_page
    status, out, err = fathom("record", "--channel", "channel", "-e", "sched", "-o", "new.dat", "--", "echo", "said")
    assert status == 0, err
    assert out == "said\n" and "new.dat: 0.0 MB of events, 2 events, 0 lost" in err
    [(_, line)] = [one for one in written(kernel) if one[0] == "/dev/shell"]
    on, off = (f"echo {bit} > tracing_on" for bit in (1, 0))
    assert _guest.quoted(f"{on}; sh -c 'echo said'; status=$?; {off}; exit $status") in line
    assert [text for name, text in written(kernel) if name == "tracing_on"][-1].strip() == "1"  # as it was
    assert [event.name for event in _read_dat.Trace(tmp_path / "new.dat").events()] == ["sched_switch", "kernel_stack"]


def one_page(asked, honest):
    """The ring of the CPU has one page, for the first who asks."""
    if asked.is_read_of("_raw") and not one_page.was_read.get(id(asked.path)):
        one_page.was_read[id(asked.path)] = True
        return asked.kind + 1, struct.pack("<I", len(liar.PAGE)) + liar.PAGE
    return honest


@pytest.fixture(autouse=True)
def fresh_ring():
    one_page.was_read = {}


@pytest.mark.parametrize("words, name", [((), "trace_pipe_raw"), (("-s",), "snapshot_raw")])
def test_extract_takes_the_right_ring(kernel, fathom, words, name, tmp_path):
    kernel.files[f"{liar.TRACING}per_cpu/cpu0/snapshot_raw"] = ""
    kernel.lie = one_page
    status, out, err = fathom("extract", "--channel", "channel", "-o", "taken.dat", *words)
    assert status == 0, err
    assert {asked.path.rsplit("/", 1)[1] for asked in kernel.asked if asked.is_read_of("_raw")} == {name}
    # It was on: off while the rings are read, and on again.
    assert [text.strip() for name, text in written(kernel) if name == "tracing_on"] == ["0", "1"]
    assert [event.name for event in _read_dat.Trace(tmp_path / "taken.dat").events()] == ["sched_switch", "kernel_stack"]
    assert out == "" and "taken.dat" in err


def test_words_of_the_kernels_shell():
    """A word for the kernel's shell is one for any shell."""
    for word in ("", "plain", "two words", "it's", "'", "$x `y` \\", "a\nb"):
        assert subprocess.run(["sh", "-c", f"printf %s {_guest.quoted(word)}"], capture_output=True, text=True, check=True).stdout == word


def test_output_comes_while_the_command_runs(kernel):
    """Its output is handed on part by part, without the status behind it."""
    parts, said = [b"one", b" two\n", b"three\0", b"7", b""], []

    def lie(asked, honest):
        part = parts.pop(0) if asked.is_read_of("/dev/shell") else None
        return honest if part is None else (asked.kind + 1, struct.pack("<I", len(part)) + part)

    kernel.lie = lie
    with _guest.Guest(kernel.path) as guest:
        status, rest = _guest.Command(guest, "x", said.append).wait()
    assert status == 7 and b"".join(said) == b"one two\nthree" and rest == b""


def test_a_command_that_is_closed_while_it_is_read():
    """Its end is no error then; another time it is one."""

    def refuse():
        raise OSError(5, "Input/output error")

    command = _guest.Command.__new__(_guest.Command)
    command.on_output, command.is_closed, command.file = None, False, SimpleNamespace(read=refuse, close=lambda: None)
    with pytest.raises(OSError, match="Input/output error"):
        command.wait()
    command.close()
    assert command.wait() == (_guest.INTERRUPTED, b"")


class Wire:
    """A file whose reads come when the test says so."""

    def __init__(self):
        self.asked, self.cancelled, self.is_closed = [], [], False

    def open(self, path, flags):
        self.path, self.flags = path, flags
        return self

    def read_later(self, count):
        self.asked.append(Future())
        return self.asked[-1]

    def result(self, future, seconds):
        return future.result(seconds)

    def cancel(self, future):
        self.cancelled.append(future)
        future.set_exception(InterruptedError())

    def close(self):
        self.is_closed = True


class Pages:
    page_size = 4096

    def __init__(self):
        self.added = []

    def add(self, cpu, page, number):
        self.added.append((cpu, page, number))


def test_the_end_of_a_stream(monkeypatch):
    """Reads that have come are taken, those that wait are ended; then the rest of the rings."""
    wire, pages, rest = Wire(), Pages(), []
    monkeypatch.setattr(_take, "cpus_of", lambda guest, tracing: [3])
    monkeypatch.setattr(_take, "what_is_there", lambda buffer, pages: rest.append(buffer))
    buffer = SimpleNamespace(guest=wire, tracing="/t/", number=2)
    stream = _take.Stream([buffer], pages)
    assert wire.path == "/t/per_cpu/cpu3/trace_pipe_raw" and wire.flags == 0 and len(wire.asked) == _take.AHEAD
    wire.asked[0].set_result(b"first")
    stream.take(0.05)
    assert pages.added == [(3, b"first", 2)] and len(wire.asked) == _take.AHEAD + 1
    wire.asked[1].set_result(b"second")
    wire.asked[2].set_exception(BlockingIOError())
    waiting = wire.asked[3:]
    stream.finish()
    assert pages.added == [(3, b"first", 2), (3, b"second", 2)] and wire.cancelled == waiting
    assert wire.is_closed and rest == [buffer] and not stream.readers[0].futures
    assert len(wire.asked) == _take.AHEAD + 1  # nothing more is asked for


def test_rescue(monkeypatch):
    """Of a kernel that has died: the reads that have come."""
    wire, pages = Wire(), Pages()
    monkeypatch.setattr(_take, "cpus_of", lambda guest, tracing: [0])
    stream = _take.Stream([SimpleNamespace(guest=wire, tracing="/t/", number=0)], pages)
    wire.asked[4].set_result(b"came")
    wire.asked[5].set_exception(Failure("gone"))
    stream.rescue()
    assert pages.added == [(0, b"came", 0)] and not wire.is_closed


def test_a_line_that_takes_nothing():
    """It ends when a part of a message may have been sent; another error says that the other side has ended."""
    line = _ninep.Line.__new__(_ninep.Line)
    line.ended, (line.socket, other) = None, socket.socketpair()
    failure = line._cannot_send(ConnectionResetError())
    assert str(failure) == _ninep.ENDED and failure.code == _ninep.DIED and line.ended is None
    failure = line._cannot_send(BlockingIOError())
    assert line.ended is failure and failure.code == _ninep.DIED and "take requests" in str(failure)
    with other, line.socket:
        assert other.recv(10) == b""  # both sides see it


# ---- Files of trace.dat ----


def test_texts_of_a_file():
    cursor = _events.Cursor(b"\0one\0two")
    assert cursor.string() == "" and cursor.string() == "one"
    with pytest.raises(_events.Cut, match="byte 5"):
        cursor.string()


def test_names_that_events_tell():
    """A thread is called as the last event has it; the idle thread and names that are no text do not count."""

    def learn(**fields):
        recording._learn_names(SimpleNamespace(type=SimpleNamespace(by_name=fields), fields=fields, number=fields.get))

    recording = _events.Recording.__new__(_events.Recording)
    recording.comms = {5: "five"}
    learn(prev_comm="six", prev_pid=6, next_comm="other", next_pid=5)
    learn(prev_comm="idle", prev_pid=0, next_comm=[1], next_pid=8)
    learn(prev_comm="no number", next_pid=9)
    assert recording.comms == {5: "other", 6: "six"}


# ---- Memory dumps ----


class Machine:
    """QEMU's machine protocol as far as `fathom dump` needs it."""

    said, running, core, free = [], True, b"\x7fELF" + bytes(100), None

    def __init__(self, path):
        self.path = path

    def __call__(self, name, seconds=0, **more):
        self.said.append(name)
        if name == "query-status":
            return {"running": self.running}
        if name == "dump-guest-memory":
            Path(more["protocol"].removeprefix("file:")).write_bytes(self.core)
            assert more["paging"] is True and ".core." not in more["protocol"]
            if self.free is not None:
                raise Failure("no space left")
        return {}

    def close(self):
        self.said.append("close")


@pytest.fixture
def machine(monkeypatch):
    class One(Machine):
        said = []

    monkeypatch.setattr(dump, "Qmp", One)
    return One


@pytest.mark.parametrize("words, running, last", [((), True, "cont"), (("--stop",), True, None), ((), False, None)])
def test_a_dump(machine, fathom, tmp_path, words, running, last):
    """The machine stands still meanwhile, and runs on if it did. Nothing but the core is left."""
    machine.running = running
    (tmp_path / "core").write_bytes(b"old")
    status, out, err = fathom("dump", "core", *words)
    assert (status, err) == (0, "") and out == f"{tmp_path}/core: 0 MiB\n"
    assert machine.said == ["query-status", "stop", "dump-guest-memory", *([last] if last else []), "close"]
    assert (tmp_path / "core").read_bytes() == machine.core and os.listdir() == ["core"]


@pytest.mark.parametrize("free, code, words", [(1 << 30, 1, "no space left"), (1000, DISK_FULL, "the disk is full: no space left")])
def test_a_dump_that_fails(machine, fathom, tmp_path, monkeypatch, free, code, words):
    """The half of it goes, an old one stays, the machine runs on."""
    machine.free = free
    monkeypatch.setattr(dump.os, "statvfs", lambda path: SimpleNamespace(f_bavail=free // 100, f_frsize=100))
    (tmp_path / "core").write_bytes(b"old")
    status, _, err = fathom("dump", "core")
    assert status == code and err == f"fathom dump: {words}\n"
    assert machine.said[-2:] == ["cont", "close"] and os.listdir() == ["core"] and (tmp_path / "core").read_bytes() == b"old"
    machine.free, machine.core = None, b"no core"
    status, _, err = fathom("dump", "core")
    assert status and "no ELF core" in err and os.listdir() == ["core"]
    status, _, err = fathom("dump", "nosuch/core")
    assert status and "no folder" in err


# ---- Mounts and programs ----


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Programs that were started: (words, keywords). Each ends with `status` and says `error`."""
    seen = SimpleNamespace(all=[], status=0, error="")

    def run(words, **more):
        seen.all.append(([str(word) for word in words], more))
        return SimpleNamespace(returncode=seen.status, stderr=seen.error, stdout="")

    monkeypatch.setattr(mount.subprocess, "run", run)
    for name in ("mount", "splice.so"):
        (tmp_path / "tools").mkdir(exist_ok=True)
        (tmp_path / "tools" / name).write_text("")
    return seen


def test_a_mount(started, fathom, tmp_path):
    (tmp_path / "there").mkdir()
    own = ["mount", "--build", tmp_path, "--channel", "line"]
    program = str(tmp_path / "tools/mount")
    assert fathom(*own, "there")[0] == 0
    assert fathom(*own, "--patience", "3", "--tree", "/sys", "--foreground", "there")[0] == 0
    assert fathom(*own, "--patience", "0", "there")[0] == 0
    assert [words for words, _ in started.all] == [
        [program, "line", "/", "there", "-p", "20"],
        [program, "line", "/sys", "there", "-p", "3", "-f"],
        [program, "line", "/", "there", "-p", "1"],
    ]
    assert "stderr" not in started.all[1][1] and started.all[0][1]["stderr"] == subprocess.PIPE
    started.status, started.error = 3, " what it says\n"
    assert fathom(*own, "there")[::2] == (3, "fathom mount: what it says\n")
    started.error = ""
    assert fathom(*own, "there")[::2] == (3, "fathom mount: cannot mount at there\n")
    started.all.clear()
    assert fathom(*own, "nowhere")[::2] == (1, "fathom mount: there is no folder nowhere\n") and not started.all
    started.error = "fusermount3: it is busy\n"
    assert fathom("mount", "--unmount", "there")[::2] == (1, "fathom mount: it is busy\n")
    assert started.all[0][0] == ["fusermount3", "-u", "there"]
    assert fathom("mount", "--status", "there")[0] == 1


class Program:
    """A program as subprocess.Popen gives it: it ends with `code`."""

    code, words = 0, None

    def __init__(self, words):
        type(self).words = [str(word) for word in words]

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass

    def wait(self):
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # Ctrl-C is for the program
        return self.code


@pytest.fixture
def program(monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(Program, "code", 0)
    monkeypatch.setattr(shell.subprocess, "Popen", Program)
    yield Program
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("user, more", [(0, []), (1000, ["-r"])])
def test_a_shell(started, program, fathom, tmp_path, monkeypatch, user, more):
    """A program in a mount namespace: its words, its folder, its status; root's rights for others than root."""
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("SHELL", "/bin/some")
    (tmp_path / "files").mkdir()
    own = ["shell", "--build", tmp_path, "--dir", "files"]
    assert fathom(*own, "ls", "-l")[0] == 0
    unshare, script = program.words[: 4 + len(more)], program.words[4 + len(more)]
    assert unshare == ["unshare", "-m", *more, "sh", "-c"] and script == shell.ENTER
    files, settings, library, *words = program.words[6 + len(more) :]
    assert program.words[5 + len(more)] == "fathom shell" and files == str(tmp_path / "files")
    assert library == str(tmp_path / "tools/splice.so") and words == ["ls", "-l"] and not os.path.exists(settings)
    assert not started.all
    # Without a program: the user's shell, in the folder of tracing.
    assert fathom(*own)[0] == 0
    assert program.words[-1] == "/bin/some" and 'cd /sys/kernel/tracing\nexec "$@"' in program.words[4 + len(more)]
    program.code = 5
    assert fathom(*own, "a", "b c")[::2] == (5, "fathom shell: a 'b c' ended with 5\n")
    program.code = -9
    assert fathom(*own)[::2] == (137, "fathom shell: the shell ended with -9\n")


def test_a_shell_with_a_mount_of_its_own(started, program, fathom, tmp_path):
    """It is there before the program, and goes with it, however that ends."""
    program.code = 2
    assert fathom("shell", "--build", tmp_path, "--patience", "7", "ls")[0] == 2
    (mounted, _), (gone, _) = started.all
    files = program.words[6 if os.geteuid() == 0 else 7]
    assert mounted[2:] == ["/", files, "-p", "7"] and gone == ["fusermount3", "-u", "-z", files] and not os.path.exists(files)


# ---- The page ----


def test_the_page_begins_with_an_instance(kernel, fathom, monkeypatch):
    """With its rings; one that is not there is an error."""
    chosen = []
    monkeypatch.setattr(view, "libraries", lambda build: build)
    monkeypatch.setattr(view, "until_ctrl_c", lambda live: chosen.append((live.kernel.place[0], live.opened[0].path, live.page_bytes)))
    kernel.files[f"{liar.TRACING}instances/box/buffer_subbuf_size_kb"] = "16\n"
    status, out, err = fathom("view", "--no-browser", "--channel", "channel", "-B", "box")
    assert status == 0 and "http://127.0.0.1:" in out, err
    assert chosen == [("box", "instances/box/per_cpu/cpu0/trace_pipe_raw", 16384)]
    status, _, err = fathom("view", "--no-browser", "--channel", "channel", "-B", "none")
    assert status == 1 and "none" in err
