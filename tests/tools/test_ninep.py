"""The client of the machine channel, and what it says of a kernel that has ended or hangs."""
import socket
import sys
import threading

import pytest

from tablekit import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from host import _ninep  # noqa: E402
from host._common import Failure  # noqa: E402


@pytest.fixture
def ends(tmp_path, monkeypatch):
    """(client, the socket of the one that it talks to), who both know the version."""
    monkeypatch.setattr(_ninep, "ANSWER_SECONDS", 1)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "channel"))
        listener.listen()
        others = []

        def answer():
            others.append(listener.accept()[0])
            others[0].recv(len(_ninep.QUESTION), socket.MSG_WAITALL)
            others[0].sendall(_ninep.ANSWER_HEAD + _ninep.QUESTION[_ninep.HEADER:])

        answering = threading.Thread(target=answer)
        answering.start()
        line = _ninep.Line(tmp_path / "channel")
        answering.join()
        with others[0]:
            yield line, others[0]


def test_it_has_ended(ends):
    """Whoever asks may know it before the thread that receives."""
    line, other = ends
    other.shutdown(socket.SHUT_RD)
    with pytest.raises(Failure, match="^the kernel or QEMU has ended$"):
        line.send(_ninep.READ, bytes(16))


def test_what_waits_when_it_ends(ends):
    line, other = ends
    waiting = line.send(_ninep.READ, bytes(16))
    other.close()
    with pytest.raises(Failure, match="^the kernel or QEMU has ended$"):
        waiting.result(10)


def test_it_hangs(ends):
    """It takes no requests, or takes them and never answers."""
    line, _ = ends
    with pytest.raises(Failure, match="^the kernel has not answered for 0.1 s$"):
        line.result(line.send(_ninep.READ, bytes(16)), 0.1)
    with pytest.raises(Failure, match="^the kernel does not take requests any more$"):
        for _ in range(100):
            line.send(_ninep.WRITE, bytes(100000))
