"""A small client of 9P2000.L, for tests: each call is one request, and what it raises is the errno of the answer.

    client = Ninep(path of QEMU's socket); client.version(); client.attach(0)
    with client.opened("/proc/version") as fid: client.read(fid, 0, 100)

request() sends without waiting for the answer, raw() any bytes. Answers are found by their tags, in whatever order they come.
"""
import contextlib
import errno
import os
import socket
import struct
import time

from guest import PATIENCE

NOFID, NOTAG = 0xFFFFFFFF, 0xFFFF
RLERROR = 7
STATFS, LOPEN, LCREATE, RENAME, GETATTR, SETATTR, XATTRWALK, READDIR, FSYNC = 8, 12, 14, 20, 24, 26, 30, 40, 50
MKDIR, RENAMEAT, UNLINKAT, VERSION, ATTACH, FLUSH, WALK, READ, WRITE, CLUNK, REMOVE = 72, 74, 76, 100, 104, 108, 110, 116, 118, 120, 122
POLL, SETFL = 128, 130
RDONLY, WRONLY, RDWR, EXCL, TRUNC, APPEND, NONBLOCK, DIRECTORY = 0, 1, 2, 0o200, 0o1000, 0o2000, 0o4000, 0o200000
REMOVEDIR = 0x200
SIGN = b"9P2000.L"


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<H", len(value)) + value


def message(kind, tag, body):
    return struct.pack("<IBH", 7 + len(body), kind, tag) + body


def connect(path):
    """Connect to a socket of QEMU's, which takes one client at a time."""
    end = time.monotonic() + 20 * PATIENCE
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
            return connection
        except OSError:
            connection.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


class Ninep:
    def __init__(self, path, timeout=20):
        self.socket = connect(path)
        self.socket.settimeout(timeout * PATIENCE)
        self.msize, self.next_tag, self.next_fid = 65536, 0, 100
        self.answers = {}

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self.socket.close()

    # ---- Bytes and messages ----

    def raw(self, data):
        self.socket.sendall(data)

    def _take(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError("QEMU closed the channel")
            data += part
        return data

    def receive(self):
        """The next message: (type, tag, body)."""
        size, kind, tag = struct.unpack("<IBH", self._take(7))
        assert 7 <= size <= 1 << 20, f"a message of {size} bytes"
        return kind, tag, self._take(size - 7)

    def request(self, kind, body, tag=None):
        """Send a request; its tag."""
        if tag is None:
            tag = self.next_tag = (self.next_tag + 1) % 0xFFFF
        self.raw(message(kind, tag, body))
        return tag

    def answer(self, tag):
        """(type, body) of the answer with that tag, as soon as it comes."""
        while tag not in self.answers:
            kind, got, body = self.receive()
            self.answers[got] = (kind, body)
        return self.answers.pop(tag)

    def body_of(self, kind, tag):
        got, body = self.answer(tag)
        if got == RLERROR:
            number = struct.unpack("<I", body)[0]
            raise OSError(number, os.strerror(number))
        assert got == kind + 1, f"{got} is no answer to {kind}"
        return body

    def call(self, kind, body):
        return self.body_of(kind, self.request(kind, body))

    # ---- Requests ----

    def version(self, msize=65536, version="9P2000.L"):
        self.answers.clear()
        body = self.body_of(VERSION, self.request(VERSION, struct.pack("<I", msize) + text(version), NOTAG))
        self.msize = struct.unpack_from("<I", body)[0]
        return self.msize, body[6:].decode()

    def version_after_noise(self, seconds=1.5, tries=40):
        """As a client does that finds the channel in any state: asks until an answer comes, passes over what is none."""
        question = message(VERSION, NOTAG, struct.pack("<I", 65536) + text(SIGN))
        noise = b""
        for _ in range(tries):
            self.raw(question)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                self.socket.settimeout(0.1)
                with contextlib.suppress(TimeoutError):
                    noise += self.socket.recv(65536)
                if noise[-21:][:1] == b"\x15" and noise[-17:-14] == b"\x65\xff\xff" and noise.endswith(SIGN):
                    self.socket.settimeout(20 * PATIENCE)
                    return noise[:-21]
        raise AssertionError(f"no answer, only {noise[-100:]!r}")

    def attach(self, fid=0, tree="/"):
        return qid(self.call(ATTACH, struct.pack("<II", fid, NOFID) + text("test") + text(tree) + struct.pack("<I", 0)))

    def walk(self, fid, new_fid, *names):
        body = self.call(WALK, struct.pack("<IIH", fid, new_fid, len(names)) + b"".join(text(name) for name in names))
        count = struct.unpack_from("<H", body)[0]
        assert len(body) == 2 + 13 * count
        return [qid(body[2 + 13 * i :]) for i in range(count)]

    def find(self, path):
        """A new fid for a path from the root that fid 0 stands for."""
        self.next_fid += 1
        names = [name for name in path.split("/") if name]
        qids = self.walk(0, self.next_fid, *names)
        if len(qids) < len(names):
            raise FileNotFoundError(errno.ENOENT, path)
        return self.next_fid

    def open(self, fid, flags=RDONLY):
        body = self.call(LOPEN, struct.pack("<II", fid, flags))
        assert len(body) == 17
        return qid(body)

    def create(self, fid, name, flags=WRONLY, mode=0o644):
        return qid(self.call(LCREATE, struct.pack("<I", fid) + text(name) + struct.pack("<III", flags, mode, 0)))

    def read(self, fid, offset, count):
        return self.read_end(self.request(READ, struct.pack("<IQI", fid, offset, count)))

    def read_end(self, tag):
        body = self.body_of(READ, tag)
        assert struct.unpack_from("<I", body)[0] == len(body) - 4
        return body[4:]

    def write(self, fid, offset, data):
        data = data.encode() if isinstance(data, str) else data
        return struct.unpack("<I", self.call(WRITE, struct.pack("<IQI", fid, offset, len(data)) + data))[0]

    def clunk(self, fid):
        assert self.call(CLUNK, struct.pack("<I", fid)) == b""

    def remove(self, fid):
        assert self.call(REMOVE, struct.pack("<I", fid)) == b""

    def flush(self, old_tag):
        assert self.call(FLUSH, struct.pack("<H", old_tag)) == b""

    def poll(self, fid, events, wait_ms=0):
        return self.poll_end(self.request(POLL, struct.pack("<III", fid, events, wait_ms)))

    def poll_end(self, tag):
        return struct.unpack("<I", self.body_of(POLL, tag))[0]

    def setfl(self, fid, flags):
        assert self.call(SETFL, struct.pack("<II", fid, flags)) == b""

    def getattr(self, fid):
        body = self.call(GETATTR, struct.pack("<IQ", fid, 0x7FF))
        assert len(body) == 153
        valid, mode, uid, gid, nlink, rdev, size, blksize, blocks = struct.unpack_from("<Q13xIIIQQQQQ", body)
        assert valid & 0x7FF == 0x7FF
        return {
            "qid": qid(body[8:]),
            "mode": mode,
            "size": size,
            "nlink": nlink,
            "owner": (uid, gid),
            "rdev": rdev,
            "blksize": blksize,
            "blocks": blocks,
        }

    def setattr(self, fid, valid, mode=0, size=0, owner=(0, 0)):
        assert self.call(SETATTR, struct.pack("<IIIIIQQQQQ", fid, valid, mode, *owner, size, 0, 0, 0, 0)) == b""

    def readdir(self, fid, offset, count):
        """[(qid, offset of the next, type, name)]"""
        body = self.call(READDIR, struct.pack("<IQI", fid, offset, count))
        assert struct.unpack_from("<I", body)[0] == len(body) - 4 <= count
        found, at = [], 4
        while at < len(body):
            following, kind, length = struct.unpack_from("<QBH", body, at + 13)
            found.append((qid(body[at:]), following, kind, body[at + 24 : at + 24 + length].decode()))
            at += 24 + length
        return found

    def mkdir(self, fid, name):
        return qid(self.call(MKDIR, struct.pack("<I", fid) + text(name) + struct.pack("<II", 0o755, 0)))

    def unlinkat(self, fid, name, flags=0):
        assert self.call(UNLINKAT, struct.pack("<I", fid) + text(name) + struct.pack("<I", flags)) == b""

    def renameat(self, fid, name, new_fid, new_name):
        assert self.call(RENAMEAT, struct.pack("<I", fid) + text(name) + struct.pack("<I", new_fid) + text(new_name)) == b""

    def rename(self, fid, new_fid, new_name):
        """Of the file itself, as clients did before Trenameat."""
        assert self.call(RENAME, struct.pack("<II", fid, new_fid) + text(new_name)) == b""

    # ---- Several at once ----

    @contextlib.contextmanager
    def opened(self, path, flags=RDONLY):
        fid = self.find(path)
        self.open(fid, flags)
        yield fid
        self.clunk(fid)

    def read_all(self, path, count=8000):
        data = b""
        with self.opened(path) as fid:
            while part := self.read(fid, len(data), count):
                data += part
        return data

    def write_file(self, path, data, flags=WRONLY):
        with self.opened(path, flags) as fid:
            assert self.write(fid, 0, data) == len(data)

    def names(self, path, count=4000):
        found, offset = [], 0
        with self.opened(path) as fid:
            while part := self.readdir(fid, offset, count):
                found += [name for _, _, _, name in part]
                offset = part[-1][1]
        return found


def qid(body):
    """(type, version, path)"""
    return struct.unpack_from("<BIQ", body)
