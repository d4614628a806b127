"""The files of a running kernel, and its shell, by the machine channel.

    with Guest("build/channel") as guest:
        guest.write("current_tracer", "function")       # one write, as `echo` does it; append=True: as with >>
        names = guest.names("events/sched")
        text = guest.text("/proc/version")              # read() gives bytes
        with guest.open("per_cpu/cpu0/trace_pipe_raw") as raw:
            page = raw.read(4096)                       # may wait
            future = raw.read_later(4096)               # does not: any number, on any number of files
            raw.cancel(future)
        status, output = guest.sh("hackbench 2 | tail -1")

A path without a slash in front begins at /sys/kernel/tracing, as in the kernel's shell. What the kernel refuses raises the
OSError that a program there would get; a kernel that has gone, or whose answers make no sense, raises Failure. What is read whole
has a bound, EFBIG behind it: a file may have no end. Any thread may use a Guest.
"""
import errno
import itertools
import os
import re
import struct
from pathlib import Path

from host import _ninep as ninep
from host._common import Failure
from host._ninep import Line, as_bytes, text

TRACING = "/sys/kernel/tracing"
RDONLY, WRONLY, RDWR, CREATE, TRUNC, APPEND, NONBLOCK = 0, 1, 2, 0o100, 0o1000, 0o2000, 0o4000
REMOVEDIR = 0x200
DIRECTORY = 0x80  # in the type of a qid
WALK_MAX = 16  # names of one Twalk
READ_MAX = 64 << 20  # bytes of a file, or of a command's output, that is read whole
PIECES_MAX = 1 << 15  # reads of such a file
NAMES_MAX = 1 << 16  # of a directory
NAME_AT = 24  # of an entry of Rreaddir: behind qid, offset, type and the name's length
INTERRUPTED = 130


def add_channel(parser):
    """The argument of all commands that speak with a kernel."""
    parser.add_argument(
        "--channel",
        metavar="SOCKET",
        default="build/channel",
        type=Path,
        help="the machine channel (default: %(default)s, of `make run`; `make debug`: build/debug/channel)",
    )


def quoted(word):
    """As one word of the kernel's shell."""
    return "'" + word.replace("'", "'\\''") + "'"


def too_large(path):
    return OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)


class File:
    """An open file. Reads and writes go on where the last one ended."""

    def __init__(self, guest, fid, path):
        self.guest, self.fid, self.path, self.offset = guest, fid, path, 0

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def read_later(self, count, offset=0):
        """A Future of at most `count` bytes, for files that consume what they show: others need the offset. See result()."""
        return self.guest.line.send(ninep.READ, struct.pack("<IQI", self.fid, offset, min(count, self.guest.io_max)))

    @staticmethod
    def result(future, seconds=None):
        """The bytes of a read_later()."""
        return future.result(seconds)[4:]

    def cancel(self, future):
        """End a read that waits. result() then has what came in time, or raises InterruptedError."""
        self.guest.line.flush(future)

    def read(self, count=1 << 30):
        """At most `count` bytes, waiting for them; b"" at the end."""
        data = self.guest.named(self.path, self.result, self.read_later(count, self.offset))
        self.offset += len(data)
        return data

    def _write_message(self, data):
        body = struct.pack("<IQI", self.fid, self.offset, len(data)) + data
        taken = struct.unpack("<I", self.guest.named(self.path, self.guest.line.call, ninep.WRITE, body))[0]
        self.offset += taken
        return taken

    def write(self, data):
        """How many bytes the kernel took. It is one write of the kernel's, or several of whole lines if a message has no room for it."""
        data, taken = as_bytes(data), 0
        while True:
            part = data[taken : taken + self.guest.io_max]
            if taken + len(part) < len(data):
                part = part[: part.rfind(b"\n") + 1] or part
            try:
                got = self._write_message(part)
            except OSError:
                if taken:
                    return taken  # the next write meets the error again
                raise
            taken += got
            if got < len(part) or taken == len(data):
                return taken

    def close(self):
        self.guest.named(self.path, self.guest.line.call, ninep.CLUNK, struct.pack("<I", self.fid))


class Command:
    """One that has been started in a shell of the kernel. close() interrupts it, as Ctrl-C does; any thread may call it."""

    def __init__(self, guest, command, on_output=None):
        self.on_output, self.is_closed = on_output, False
        self.file = guest.open("/dev/shell", RDWR)
        # The status comes behind a zero byte. `sh -c`: so that it also comes after a wrong syntax, or `exit`.
        self.file.write(f"sh -c {quoted(command)}; printf '\\000%d' $?")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        if not self.is_closed:
            self.is_closed = True
            self.file.close()

    def _read(self):
        try:
            return self.file.read()
        except OSError:
            if self.is_closed:
                return b""
            raise

    def wait(self):
        """(exit status, output and errors), see Guest.sh()."""
        output = bytearray()
        while part := self._read():
            output += part
            if self.on_output:
                shown, mark, rest = output.rpartition(b"\0")
                self.on_output(bytes(shown if mark else rest))
                output = mark + rest if mark else bytearray()
            if len(output) > READ_MAX:
                raise too_large(self.file.path)
        output, mark, status = output.rpartition(b"\0")
        if not mark:  # the shell has been ended
            return INTERRUPTED, bytes(status)
        if not re.fullmatch(rb"\d{1,3}", status):
            raise Failure(f"the shell of the kernel ends with {bytes(status[:20])!r}, which is no exit status")
        return int(status), bytes(output)


class Guest:
    def __init__(self, channel):
        self.line = Line(channel)
        self.io_max = self.line.msize - 24  # bytes of one read or write
        self.fids = itertools.count(1)
        try:
            self.line.call(ninep.ATTACH, struct.pack("<II", 0, ninep.NOFID) + text("root") + text("/") + struct.pack("<I", 0))
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """All files that are still open are closed, commands that still run are interrupted."""
        self.line.close()

    @staticmethod
    def named(path, call, *args):
        """Call, and have the path in the message of what it raises."""
        try:
            return call(*args)
        except OSError as err:
            raise OSError(err.errno, err.strerror, path) from None

    def _clunk(self, fid):
        self.line.call(ninep.CLUNK, struct.pack("<I", fid))

    def _walk(self, path):
        """A new fid for the path, and whether it is a directory."""
        names = [name for name in (path if path.startswith("/") else f"{TRACING}/{path}").split("/") if name]
        fid, old, kind = next(self.fids), 0, DIRECTORY
        for start in range(0, len(names) or 1, WALK_MAX):
            part = names[start : start + WALK_MAX]
            body = self.line.call(ninep.WALK, struct.pack("<IIH", old, fid, len(part)) + b"".join(map(text, part)))
            if struct.unpack_from("<H", body)[0] < len(part):
                if old:
                    self._clunk(fid)
                raise FileNotFoundError(2, os.strerror(2))
            old, kind = fid, body[-13] if part else kind
        return fid, bool(kind & DIRECTORY)

    def _open(self, path, flags):
        fid, _ = self._walk(path)
        try:
            self.line.call(ninep.LOPEN, struct.pack("<II", fid, flags))
        except OSError:
            self._clunk(fid)
            raise
        return File(self, fid, path)

    def open(self, path, flags=RDONLY):
        """A File, which exists already."""
        return self.named(path, self._open, path, flags)

    def read(self, path, most=READ_MAX):
        """All of a file, which has at most so many bytes: open() is for others, which are read piece by piece."""
        data, pieces = bytearray(), 0
        with self.open(path) as file:
            while part := file.read():
                data += part
                pieces += 1
                if len(data) > most or pieces > PIECES_MAX:
                    raise too_large(path)
        return bytes(data)

    def text(self, path):
        return self.read(path).decode("utf-8", "replace")

    def write(self, path, data, append=False):
        """`echo DATA > PATH`, or with append >>. All of the data is one write, as far as the file and a message take it."""
        data = as_bytes(data)
        with self.open(path, WRONLY | (APPEND if append else TRUNC)) as file:
            taken = file.write(data)
            while taken < len(data):
                more = file.write(data[taken:])
                if not more:
                    raise OSError(errno.EIO, "it takes no more than a part", path)
                taken += more

    def exists(self, path):
        try:
            self._clunk(self._walk(path)[0])
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    @staticmethod
    def _entries(path, body):
        """(name, offset of the next) of each entry of an Rreaddir."""
        at = 4
        while at < len(body):
            if at + NAME_AT > len(body):
                raise Failure(f"the kernel's list of {path} makes no sense: an entry is cut off")
            offset, _, length = struct.unpack_from("<QBH", body, at + 13)
            at += NAME_AT + length
            if at > len(body):
                raise Failure(f"the kernel's list of {path} makes no sense: a name is cut off")
            name = body[at - length : at].decode("utf-8", "surrogateescape")
            if not name or "/" in name or "\0" in name:
                raise Failure(f"the kernel's list of {path} makes no sense: {name!r} is no name")
            yield name, offset

    def names(self, path):
        """Names in a directory, without . and .., in the kernel's order; NAMES_MAX at most."""
        found, offset = [], 0
        with self.open(path) as file:
            while True:
                body = self.named(path, self.line.call, ninep.READDIR, struct.pack("<IQI", file.fid, offset, self.io_max))
                if len(body) == 4:
                    return [name for name in found if name not in (".", "..")]
                for name, offset in self._entries(path, body):
                    found.append(name)
                if len(found) > NAMES_MAX:
                    raise too_large(path)

    def _change_dir(self, path, kind, last):
        parent, _, name = path.rstrip("/").rpartition("/")
        fid, _ = self._walk(parent or ("/" if path.startswith("/") else ""))
        try:
            self.line.call(kind, struct.pack("<I", fid) + text(name) + last)
        finally:
            self._clunk(fid)

    def mkdir(self, path):
        self.named(path, self._change_dir, path, ninep.MKDIR, struct.pack("<II", 0o755, 0))

    def rmdir(self, path):
        self.named(path, self._change_dir, path, ninep.UNLINKAT, struct.pack("<I", REMOVEDIR))

    def sh(self, command, on_output=None):
        """
        Run a line or more in a shell of its own, in /sys/kernel/tracing; (exit status, output and errors). With
        on_output(bytes), that is called for each piece instead, as it comes, and the output is b"".
        """
        with Command(self, command, on_output) as one:
            return one.wait()
