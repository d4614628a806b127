"""The client of the machine channel, and what it says of a kernel that has ended or hangs."""
import socket
import struct
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
            others[0].sendall(_ninep.ANSWER_HEAD + _ninep.QUESTION[_ninep.HEADER :])

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


def request_of(other):
    """(type, tag, body) of the next request."""
    size, kind, tag = struct.unpack("<IBH", other.recv(_ninep.HEADER, socket.MSG_WAITALL))
    return kind, tag, other.recv(size - _ninep.HEADER, socket.MSG_WAITALL) if size > _ninep.HEADER else b""


def read_by(line):
    return line.send(_ninep.READ, struct.pack("<IQI", 1, 0, 8))


def test_a_tag_belongs_to_a_read_that_waits(ends):
    """Also when all other tags have been used since: each answer goes to its own read."""
    line, other = ends
    waiting = read_by(line)
    line.last_tag = (waiting.tag - 1) % _ninep.NOTAG
    later = read_by(line)
    assert [request_of(other)[1] for _ in range(2)] == [waiting.tag, later.tag] and waiting.tag != later.tag
    for future, data in ((later, b"later"), (waiting, b"first")):
        other.sendall(_ninep.message(_ninep.READ + 1, future.tag, struct.pack("<I", 5) + data))
    assert waiting.result(10)[4:] == b"first" and later.result(10)[4:] == b"later"


def test_a_tag_is_busy_until_its_flush_is_answered(ends):
    """The answer that comes meanwhile does not make it free, and what is answered before needs no flush."""
    line, other = ends
    waiting = read_by(line)
    flushing = threading.Thread(target=line.flush, args=(waiting,))
    flushing.start()
    request_of(other)
    kind, tag, body = request_of(other)
    assert kind == _ninep.FLUSH and struct.unpack("<H", body)[0] == waiting.tag
    other.sendall(_ninep.message(_ninep.READ + 1, waiting.tag, bytes(4)))
    assert waiting.result(10) == bytes(4)
    line.last_tag = (waiting.tag - 1) % _ninep.NOTAG
    assert read_by(line).tag not in (waiting.tag, tag)
    other.sendall(_ninep.message(_ninep.FLUSH + 1, tag, b""))
    flushing.join()
    line.last_tag = (waiting.tag - 1) % _ninep.NOTAG
    again = read_by(line)
    assert again.tag == waiting.tag
    line.flush(waiting)
    assert not again.done(), "the flush was of the request that had the tag before"


def test_a_flush_of_what_still_waits(ends):
    line, other = ends
    waiting = read_by(line)
    flushing = threading.Thread(target=line.flush, args=(waiting,))
    flushing.start()
    request_of(other)
    other.sendall(_ninep.message(_ninep.FLUSH + 1, request_of(other)[1], b""))
    flushing.join()
    with pytest.raises(InterruptedError):
        waiting.result(10)


def test_no_tag_is_free(ends):
    line, _ = ends
    line.futures.update({tag: None for tag in range(_ninep.NOTAG)})
    with pytest.raises(BlockingIOError):
        read_by(line)
    line.futures.clear()


def test_a_name_that_no_socket_can_have(tmp_path):
    """The reason is the name, and no kernel that is not there."""
    with pytest.raises(Failure, match="names of sockets are short"):
        _ninep.connected(tmp_path / ("n" * 120))
    with pytest.raises(Failure, match="no kernel is behind"):
        _ninep.connected("/nosuch")
