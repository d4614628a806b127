"""Each command of tools/fathom against a kernel that lies, liar.py: a sentence and an exit status, and that soon."""
import importlib.machinery
import importlib.util
import os
import socket
import struct
import sys
import threading
import time

import pytest

import liar
from liar import RLERROR, Liar
from tablekit import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from host import _ninep, _take, view  # noqa: E402
from host._common import Failure  # noqa: E402
from host._guest import READ_MAX, Command, Guest  # noqa: E402

SECONDS = 25  # five on an idle machine
LOADER = importlib.machinery.SourceFileLoader("fathom_command", str(ROOT / "tools/fathom"))
FATHOM = importlib.util.module_from_spec(importlib.util.spec_from_loader("fathom_command", LOADER))
LOADER.exec_module(FATHOM)

COMMANDS = {
    "record": ["record", "-e", "sched", "-b", "500", "-C", "global", "-B", "box", "-e", "all", "--", "true"],
    "stream": ["stream", "-e", "sched", "--", "true"],
    "extract": ["extract"],
    "flame": ["flame", "live", "-o", "flame.svg"],
    "flame of a histogram": ["flame", "--hist", "sched/sched_switch", "-o", "flame.svg"],
    "perfetto": ["perfetto", "live"],
    "view": ["view", "--no-browser"],
}


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(view, "libraries", lambda build: build)
    monkeypatch.setattr(view, "until_ctrl_c", lambda live: live.dead.wait(0.1))
    with Liar(tmp_path / "channel") as one:
        yield one


def run(command, monkeypatch, capfd):
    """(exit status, its last words) of a command, in this process: starting a Python for each lie takes too long."""
    name, *words = COMMANDS[command]
    monkeypatch.setattr(sys, "argv", ["fathom", name, *(["--channel", "channel"] if name != "dump" else []), *words])
    begin = time.monotonic()
    status = FATHOM.main()
    assert time.monotonic() - begin < SECONDS
    said = capfd.readouterr().err
    assert "Traceback" not in said, said
    return status, said


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"view"}))
def test_an_honest_kernel(kernel, command, monkeypatch, capfd):
    """The commands come to their ends here: where they fail below, the lie is the reason."""
    status, said = run(command, monkeypatch, capfd)
    assert status == 0, said


def answering(kinds, body):
    """A lie about all requests of some kinds."""
    return lambda asked, honest: (asked.kind + 1, body) if asked.kind in kinds else honest


def to_reads(change):
    """A lie about what stands in files: change(its text, as the kernel would give it here) has what is given."""

    def lie(asked, honest):
        if asked.kind != liar.READ or asked.path.endswith("_raw") or not honest or honest[0] == RLERROR:
            return honest
        text = change(honest[1][4:])[: struct.unpack_from("<I", asked.body, 12)[0]]
        return asked.kind + 1, struct.pack("<I", len(text)) + text

    return lie


def raw_pages(page):
    """A lie about the events."""
    return lambda asked, honest: (asked.kind + 1, struct.pack("<I", len(page)) + page) if asked.is_read_of("trace_pipe_raw") else honest


def entries(names, cut=0):
    """A lie about what is in directories."""
    data = b"".join(bytes(13) + struct.pack("<QBH", 1, 0, len(name)) + name for name in names)
    data = data[: len(data) - cut]
    return answering([liar.READDIR], struct.pack("<I", len(data)) + data)


def but_version(lie):
    return lambda asked, honest: honest if asked.kind == liar.VERSION else lie(asked, honest)


LIES = {
    "empty bodies": but_version(lambda asked, _: (asked.kind + 1, b"")),
    "one byte": but_version(lambda asked, _: (asked.kind + 1, b"\1")),
    "an empty body to a read": answering([liar.READ], b""),
    "an empty body to a walk": answering([liar.WALK], b""),
    "an empty list": answering([liar.READDIR], b""),
    "more than was asked for": answering([liar.READ], struct.pack("<I", 200000) + bytes(131000 - 4)),
    "a count without bytes": answering([liar.READ], struct.pack("<I", 100)),
    "more names than were asked for": answering([liar.WALK], struct.pack("<H", 20) + bytes(260)),
    "an error without a number": but_version(lambda asked, _: (RLERROR, b"")),
    "an error above 2^31": but_version(lambda asked, _: (RLERROR, b"\xff\xff\xff\xff")),
    "the error 0": but_version(lambda asked, _: (RLERROR, bytes(4))),
    "another answer": but_version(lambda asked, honest: (asked.kind + 3, honest[1]) if honest else None),
    "a message of 4 GB": but_version(lambda asked, _: struct.pack("<IBH", 0xFFFFFFFF, asked.kind + 1, asked.tag)),
    "a message of 3 bytes": but_version(lambda asked, _: struct.pack("<IBH", 3, asked.kind + 1, asked.tag)),
    "an endless file": to_reads(lambda _: b"7 sh\n" * 26000),
    "an endless ring": raw_pages(liar.PAGE),
    "silence": lambda asked, honest: honest if asked.kind in (liar.VERSION, liar.ATTACH, liar.WALK) else None,
    "no messages": lambda asked, honest: (honest[0], bytes(4) + honest[1][4:]) if asked.kind == liar.VERSION else honest,
    "no text": to_reads(lambda text: b"\xff\xfe[\0" * 3 if text else b""),
    "no numbers": to_reads(lambda text: text.translate(bytes(0x78 if 0x30 <= one <= 0x39 else one for one in range(256)))),
    "large numbers": to_reads(lambda text: text.translate(bytes(0x39 if 0x30 <= one <= 0x39 else one for one in range(256)))),
    "half of each text": to_reads(lambda text: text[: len(text) // 2]),
    "empty files": to_reads(lambda _: b""),
    "an endless list": entries([b"cpu%d" % number for number in range(4000)]),
    "a list that is cut off": entries([b"cpu0", b"cpu1"], cut=3),
    "a list cut off in its numbers": entries([b"cpu0", b""], cut=8),
    "names that are no text": entries([b"cpu0", b"\xff\0/.."]),
    "a page of nothing": raw_pages(bytes(4096)),
    "a page of ones": raw_pages(b"\xff" * 4096),
    "a page that is short": raw_pages(liar.PAGE[:100]),
    "a page whose events are cut": raw_pages(liar.PAGE[:8] + struct.pack("<Q", 18) + liar.PAGE[16:]),
    "nothing is taken": answering([liar.WRITE], bytes(4)),
    "more is taken than was given": answering([liar.WRITE], struct.pack("<I", 5000)),
}
# These may be believed: who says that there is nothing has traced nothing, and a ring has an end where the kernel says.
BELIEVED = {
    "an endless ring",
    "half of each text",
    "large numbers",
    "a page of nothing",
    "a page of ones",
    "a page that is short",
    "a page whose events are cut",
    "no numbers",
    "empty files",
    "names that are no text",
    "more is taken than was given",
    "nothing is taken",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie(kernel, lie, monkeypatch, capfd):
    kernel.lie = LIES[lie]
    if lie == "silence":
        for module in (_ninep, _take):
            monkeypatch.setattr(module, "ANSWER_SECONDS", 0.2)
    for command in COMMANDS:
        status, said = run(command, monkeypatch, capfd)
        is_believed = lie in BELIEVED or "list" in lie and command == "flame of a histogram"  # which reads one file
        assert status in (range(8) if is_believed else range(1, 8)), command
        assert status == 0 or said.splitlines()[-1].startswith(f"fathom {command.split()[0]}: "), said
    assert not [name for name in os.listdir() if ".dat." in name or ".svg." in name], "something is left behind"


QMP = {
    "no line": b"",
    "no JSON": b"hello\n",
    "a list": b"[]\n",
    "a number": b'{"return": 5}\n',
    "nothing": b"{}\n" * 1000,
    "no end": b"x" * (2 << 20),
    "an error without words": b'{"error": []}\n',
    "deep": b"[" * 200000 + b"\n",
    "no status": b'{"return": {}}\n' * 9,
}


@pytest.mark.parametrize("line", QMP)
def test_a_lie_of_qemu(line, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(COMMANDS, "dump", ["dump", "core", "--qmp", "qmp"])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("qmp")
        listener.listen()

        def answer():
            with listener.accept()[0] as connection:
                connection.sendall(b'{"QMP": {}}\n')
                connection.recv(1000)
                try:
                    connection.sendall(QMP[line])
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1000):
                        pass
                except OSError:
                    pass

        thread = threading.Thread(target=answer)
        thread.start()
        status, said = run("dump", monkeypatch, capfd)
        thread.join()
    assert status in range(1, 8) and said.startswith("fathom dump: ") and os.listdir() == ["qmp"], said


def test_one_after_the_other(kernel):
    """The kernel serves one client: it has to see that the one before has gone, also while a thread waits for its answers."""
    for _ in range(3):
        with Guest("channel") as guest:
            waiting = guest.open("per_cpu/cpu0/trace_pipe_raw")
            waiting.read()
            future = waiting.read_later(4096)
            assert guest.text("tracing_on") == "1\n"
        with pytest.raises(Failure, match="the channel was closed"):
            future.result(0)
    kernel.lie = lambda asked, honest: (RLERROR, struct.pack("<I", 5)) if asked.kind == liar.ATTACH else honest
    with pytest.raises(OSError, match="Input/output error"):
        Guest("channel")
    kernel.lie = None
    with Guest("channel"):
        pass


def written(kernel):
    return [asked.body[16:] for asked in kernel.asked if asked.kind == liar.WRITE]


def test_long_writes(kernel):
    """More than a message holds is several, of whole lines as far as there are some; no message is longer than was agreed on."""
    kernel.lie = lambda asked, honest: (honest[0], struct.pack("<I", 4096) + honest[1][4:]) if asked.kind == liar.VERSION else honest
    lines = b"".join(b"function_%d\n" % number for number in range(2000))
    with Guest("channel") as guest:
        guest.write("set_ftrace_filter", lines)
        parts = written(kernel)
        assert b"".join(parts) == lines and len(parts) > len(lines) // 4096 and all(part.endswith(b"\n") for part in parts)
        kernel.asked.clear()
        with guest.open("trace", liar.TRUNC | 1) as file:
            assert file.write(bytes(10000)) == 10000 and list(map(len, written(kernel))) == [4072, 4072, 1856]
        assert max(7 + len(asked.body) for asked in kernel.asked) <= 4096
        # The second part is refused: so much was taken; the next write says why not more.
        kernel.lie = (
            lambda asked, honest: (RLERROR, struct.pack("<I", 22)) if asked.kind == liar.WRITE and asked.body[4:12] != bytes(8) else honest
        )
        with guest.open("trace", liar.TRUNC | 1) as file:
            assert file.write(bytes(10000)) == 4072
            with pytest.raises(OSError, match="Invalid argument.*trace"):
                file.write(bytes(10))
        with pytest.raises(OSError, match="Invalid argument"):
            guest.write("trace", bytes(10000))
        for name, error in (("a" * 5000, "Message too long"), ("a" * 70000, "File name too long")):
            with pytest.raises(OSError, match=error):
                guest.read(name)
        assert guest.text("tracing_on") == "1\n"


def test_bounds(kernel):
    with Guest("channel") as guest:
        kernel.lie = to_reads(lambda _: b"x" * 130000)
        kernel.asked.clear()
        with pytest.raises(OSError, match="File too large.*trace"):
            guest.read("trace")
        assert READ_MAX <= 130000 * len(kernel.asked) < 2 * READ_MAX
        with pytest.raises(OSError, match="File too large"):
            guest.read("trace", 1000)
        shell = Command(guest, "cat endless")
        with pytest.raises(OSError, match="File too large"):
            shell.wait()
        for lie, error in (
            (entries([b"cpu0"], cut=1), "a name is cut off"),
            (entries([b"cpu0", b""], cut=8), "an entry is cut off"),
            (entries([b"a/b"]), "is no name"),
            (entries([b""]), "is no name"),
        ):
            kernel.lie = lie
            with pytest.raises(Failure, match=error):
                guest.names("per_cpu")
        kernel.lie = to_reads(lambda _: b"x")
        with pytest.raises(OSError, match="File too large"):
            guest.read("trace")
        kernel.lie = to_reads(lambda text: b"said\n\0what?" if text else b"")
        with pytest.raises(Failure, match="no exit status"):
            guest.sh("x")


def test_what_is_on_from_the_start(kernel, monkeypatch, capfd):
    """`view --write`: what the kernel takes is a command of the page, what it refuses ends in a sentence."""
    monkeypatch.setitem(
        COMMANDS, "view", [*COMMANDS["view"], "--show", "timeline", "--write", "current_tracer=nop", "--write", "set_event=a=b"]
    )
    kernel.asked.clear()
    monkeypatch.setattr(sys, "argv", ["fathom", *COMMANDS["view"], "--channel", "channel"])
    assert FATHOM.main() == 0 and written(kernel) == [b"nop\n", b"a=b\n"]
    assert capfd.readouterr().out.splitlines()[0].endswith("/#timeline")
    kernel.lie = lambda asked, honest: (RLERROR, struct.pack("<I", 22)) if asked.kind == liar.WRITE else honest
    status, said = run("view", monkeypatch, capfd)
    assert status == 1 and said == "fathom view: --write current_tracer=nop: Invalid argument\n"
    monkeypatch.setattr(sys, "argv", ["fathom", "view", "--write", "nothing"])
    with pytest.raises(SystemExit):
        FATHOM.main()
    assert "not of the form FILE=TEXT" in capfd.readouterr().err


def test_the_token_is_no_argument(kernel, monkeypatch, tmp_path):
    """Arguments of programs can be seen by all users: the browser gets the name of a file that only its owner may read."""
    seen = []

    def opened(address):
        path = address.removeprefix("file://")
        seen.append((os.stat(path).st_mode & 0o777, address, open(path).read()))

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(view.webbrowser, "open", opened)
    monkeypatch.setattr(sys, "argv", ["fathom", "view", "--channel", "channel", "--build", str(tmp_path)])
    assert FATHOM.main() == 0
    [(mode, address, text)] = seen
    target = text.split("url=")[1].split('"')[0]
    assert mode == 0o600 and len(target.split("/")[3]) > 20 and target.split("/")[3] not in address
    assert not list((tmp_path / "view").iterdir())
