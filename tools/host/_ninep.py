"""9P2000.L on the machine channel: requests in any order from any thread, answers as futures. docs/channel.md describes it.

    line = Line("build/channel")
    future = line.send(READ, body)      # a Future: result() is the answer's body, or raises the kernel's OSError
    line.call(CLUNK, body)              # the same, and waits
    line.flush(future)                  # ends a read that waits; what it has got meanwhile is not lost

A thread of its own takes the answers. When the line ends, all that waits fails with Failure and its code DIED. An answer that
is not one of 9P2000.L to what was asked ends the line: bodies have the form that their kind has, with at most as much as was wanted.
"""
import contextlib
import errno
import os
import socket
import struct
import threading
import time
from concurrent.futures import Future, TimeoutError as FutureTimeout
from pathlib import Path

from host._common import BUSY, DIED, FAILED, NOT_RUNNING, Failure

NOFID, NOTAG = 0xFFFFFFFF, 0xFFFF
RLERROR = 7
LOPEN, READDIR = 12, 40
MKDIR, UNLINKAT, VERSION, ATTACH, FLUSH, WALK, READ, WRITE, CLUNK = 72, 76, 100, 104, 108, 110, 116, 118, 120
HEADER = 7
MSIZE, SMALLEST_MSIZE = 128 << 10, 512
LONGEST_NAME = 0xFFFF  # bytes of a text in a message
LAST_ERRNO = 4095
# Bytes of the answers whose length is always the same.
LENGTHS = {LOPEN: 17, MKDIR: 13, UNLINKAT: 0, ATTACH: 13, FLUSH: 0, WRITE: 4, CLUNK: 0}
SIGN = b"9P2000.L"
VERSION_TRIES, VERSION_SECONDS = 4, 1.5  # longer than the kernel waits for the rest of a message
ANSWER_SECONDS = 60  # the longest that a request which does not wait may take
ENDED = "the kernel or QEMU has ended"


class Senseless(Exception):
    """An answer that no server of 9P2000.L gives, and why."""


def as_bytes(value):
    """Of a text; of one that came from a command line with bytes that are no text, those bytes."""
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def text(value):
    value = as_bytes(value)
    if len(value) > LONGEST_NAME:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    return struct.pack("<H", len(value)) + value


def message(kind, tag, body):
    return struct.pack("<IBH", HEADER + len(body), kind, tag) + body


def most_of(kind, body):
    """How many bytes, or names, a request asks for; None where that is not the question."""
    if kind in (READ, READDIR, WRITE):
        return struct.unpack_from("<I", body, 12)[0]
    return struct.unpack_from("<H", body, 8)[0] if kind == WALK else None


def check(future, kind, body):
    """Senseless, unless a message of this type and with this body is an answer to the request."""
    if kind != future.kind + 1:
        raise Senseless(f"an answer of type {kind} to a request of type {future.kind}")
    got = int.from_bytes(body[: 2 if kind == WALK + 1 else 4], "little")
    length = {READ: 4 + got, READDIR: 4 + got, WALK: 2 + 13 * got}.get(future.kind, LENGTHS.get(future.kind))
    if length is not None and len(body) != length:
        raise Senseless(f"{len(body)} bytes to a request of type {future.kind}")
    if future.most is not None and got > future.most:
        raise Senseless(f"{got} to a request for {future.most}")


def error_of(body):
    number = int.from_bytes(body, "little")
    if len(body) != 4 or not 0 < number <= LAST_ERRNO:
        raise Senseless(f"an error with the number {number}, in {len(body)} bytes")
    return OSError(number, os.strerror(number))


QUESTION = message(VERSION, NOTAG, struct.pack("<I", MSIZE) + text(SIGN))
ANSWER_HEAD = struct.pack("<IBH", len(QUESTION), VERSION + 1, NOTAG)


def connected(path):
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(path))
    except OSError as err:
        connection.close()
        if len(str(path)) > 107:
            raise Failure(f"names of sockets are short: {path} has too many bytes", FAILED) from None
        reason = err.strerror or err
        raise Failure(f"no kernel is behind {path} ({reason}); is it running? `make run` starts one", NOT_RUNNING) from None
    return connection


class Line:
    def __init__(self, path):
        self.path = Path(path)
        self.lock = threading.Lock()  # guards what follows, and lets one message be sent at a time
        self.futures = {}  # by tag
        self.flushing = []  # tags of requests whose Tflush has no answer yet: they are in use until then
        self.last_tag = 0
        self.ended = None  # why
        self.socket = connected(path)
        try:
            self._begin()
        except BaseException:
            self.socket.close()
            raise
        self.socket.settimeout(None)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", *divmod(int(ANSWER_SECONDS * 1000000), 1000000)))
        self.receiver = threading.Thread(target=self._receive, daemon=True)
        self.receiver.start()

    def _begin(self):
        """Ask for the version until the answer comes. The line may be in any state: what comes before it is passed over."""
        came = b""
        for _ in range(VERSION_TRIES):
            end = time.monotonic() + VERSION_SECONDS
            try:
                self.socket.sendall(QUESTION)
                while (left := end - time.monotonic()) > 0:
                    self.socket.settimeout(left)
                    part = self.socket.recv(MSIZE)
                    if not part:
                        raise Failure(f"QEMU has closed {self.path}", DIED)
                    came = (came + part)[-len(QUESTION) :]
                    if came.startswith(ANSWER_HEAD) and came.endswith(SIGN):
                        self.msize = struct.unpack_from("<I", came, HEADER)[0]
                        if not SMALLEST_MSIZE <= self.msize <= MSIZE:
                            raise Failure(f"what answers at {self.path} offers messages of {self.msize} bytes", FAILED)
                        return
            except TimeoutError:
                continue
            except OSError as err:
                raise Failure(f"QEMU has closed {self.path} ({err.strerror})", DIED) from None
        raise Failure(f"nobody answers at {self.path}: another program uses this channel, or the kernel stands still", BUSY)

    def close(self):
        """End the session: the kernel closes its files, ends reads that wait and interrupts commands that still run."""
        with self.lock:
            if self.ended:
                return
            self.ended = Failure("the channel was closed")
            ending = self.futures[NOTAG] = Future()
            ending.kind, ending.most = VERSION, None
        try:
            self.socket.sendall(QUESTION)
            ending.result(VERSION_SECONDS)
        except (OSError, Failure, FutureTimeout):
            pass
        self._end(self.ended)
        self.receiver.join()

    # ---- Receiving ----

    def _take(self, size):
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def _receive(self):
        try:
            while True:
                size, kind, tag = struct.unpack("<IBH", self._take(HEADER))
                if not HEADER <= size <= self.msize:
                    raise Senseless(f"a message of {size} bytes")
                self._answer(kind, tag, self._take(size - HEADER))
        except (OSError, EOFError):
            self._end(Failure(ENDED, DIED))
        except Senseless as err:
            self._end(Failure(f"what answers at {self.path} makes no sense: {err}", DIED))

    def _answer(self, kind, tag, body):
        with self.lock:
            future = self.futures.get(tag)
            if future is None:
                return  # a second Rversion, for instance
            error = error_of(body) if kind == RLERROR else None
            if not error:
                check(future, kind, body)
            del self.futures[tag]
        if error:
            future.set_exception(error)
        else:
            future.set_result(body)

    def _end(self, reason):
        # A close() alone neither ends the recv() of another thread nor tells QEMU, as long as that one is within it.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        with self.lock:
            self.ended = self.ended or reason
            left, self.futures = self.futures, {}
        for future in left.values():
            future.set_exception(self.ended)
        self.socket.close()

    # ---- Sending ----

    def _free_tag(self):
        if len(self.futures) + len(self.flushing) >= NOTAG:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        while True:
            self.last_tag = (self.last_tag + 1) % NOTAG
            if self.last_tag not in self.futures and self.last_tag not in self.flushing:
                return self.last_tag

    def send(self, kind, body):
        """Send a request. The Future of its answer."""
        if HEADER + len(body) > self.msize:
            raise OSError(errno.EMSGSIZE, os.strerror(errno.EMSGSIZE))
        future = Future()
        future.kind, future.most = kind, most_of(kind, body)
        with self.lock:
            if self.ended:
                raise self.ended
            future.tag = self._free_tag()
            self.futures[future.tag] = future
            try:
                self.socket.sendall(message(kind, future.tag, body))
            except OSError as err:  # an end may be noticed here before the thread that receives does
                self.futures.pop(future.tag, None)
                raise self._cannot_send(err) from None
        return future

    def _cannot_send(self, err):
        """The Failure for it. Of a message that was not taken a part may have been: then the line can take no other."""
        if not isinstance(err, BlockingIOError):
            return Failure(ENDED, DIED)
        self.ended = Failure("the kernel does not take requests any more", DIED)
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        return self.ended

    def result(self, future, seconds=None):
        seconds = ANSWER_SECONDS if seconds is None else seconds
        try:
            return future.result(seconds)
        except FutureTimeout:
            raise Failure(f"the kernel has not answered for {seconds} s", DIED) from None

    def call(self, kind, body):
        return self.result(self.send(kind, body))

    def flush(self, future):
        """
        End a request that waits. Its future then has a result, if it got something in time, or fails with EINTR. Its tag is not
        another's before the kernel has answered this.
        """
        with self.lock:
            if self.futures.get(future.tag) is not future:
                return  # it has its answer, and its tag may be another's
            self.flushing.append(future.tag)
        self.call(FLUSH, struct.pack("<H", future.tag))
        with self.lock:
            self.flushing.remove(future.tag)
            waits = self.futures.get(future.tag) is future
            if waits:
                del self.futures[future.tag]
        if waits:
            future.set_exception(InterruptedError(errno.EINTR, os.strerror(errno.EINTR)))
