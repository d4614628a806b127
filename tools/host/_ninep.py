"""9P2000.L on the machine channel: requests in any order from any thread, answers as futures. docs/channel.md describes it.

    line = Line("build/channel")
    future = line.send(READ, body)      # a Future: result() is the answer's body, or raises the kernel's OSError
    line.call(CLUNK, body)              # the same, and waits
    line.flush(future)                  # ends a read that waits; what it has got meanwhile is not lost

A thread of its own takes the answers. When the line ends, all that waits fails with Failure and its code DIED.
"""
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
LOPEN, LCREATE, GETATTR, READDIR = 12, 14, 24, 40
MKDIR, UNLINKAT, VERSION, ATTACH, FLUSH, WALK, READ, WRITE, CLUNK = 72, 76, 100, 104, 108, 110, 116, 118, 120
HEADER = 7
MSIZE = 128 << 10
SIGN = b"9P2000.L"
VERSION_TRIES, VERSION_SECONDS = 4, 1.5  # longer than the kernel waits for the rest of a message
ANSWER_SECONDS = 60  # the longest that a request which does not wait may take
ENDED = "the kernel or QEMU has ended"


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<H", len(value)) + value


def message(kind, tag, body):
    return struct.pack("<IBH", HEADER + len(body), kind, tag) + body


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
        self.last_tag = 0
        self.ended = None  # why
        self.socket = connected(path)
        try:
            self._begin()
        except BaseException:
            self.socket.close()
            raise
        self.socket.settimeout(None)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", ANSWER_SECONDS, 0))
        threading.Thread(target=self._receive, daemon=True).start()

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
                    came = (came + part)[-len(QUESTION):]
                    if came.startswith(ANSWER_HEAD) and came.endswith(SIGN):
                        self.msize = struct.unpack_from("<I", came, HEADER)[0]
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
            ending = self.futures[NOTAG] = Future()
        try:
            self.socket.sendall(QUESTION)
            ending.result(VERSION_SECONDS)
        except (OSError, Failure, FutureTimeout):
            pass
        self._end(Failure("the channel was closed"))

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
                if not HEADER <= size <= MSIZE:
                    raise EOFError
                self._answer(kind, tag, self._take(size - HEADER))
        except (OSError, EOFError):
            self._end(Failure(ENDED, DIED))

    def _answer(self, kind, tag, body):
        with self.lock:
            future = self.futures.pop(tag, None)
        if future is None:
            return  # a second Rversion, for instance
        if kind == RLERROR:
            number = struct.unpack("<I", body)[0]
            future.set_exception(OSError(number, os.strerror(number)))
        else:
            future.set_result(body)

    def _end(self, reason):
        with self.lock:
            self.ended = self.ended or reason
            left, self.futures = self.futures, {}
        for future in left.values():
            future.set_exception(self.ended)
        self.socket.close()

    # ---- Sending ----

    def send(self, kind, body):
        """Send a request. The Future of its answer."""
        future = Future()
        with self.lock:
            if self.ended:
                raise self.ended
            self.last_tag = (self.last_tag + 1) % NOTAG
            while self.last_tag in self.futures:
                self.last_tag = (self.last_tag + 1) % NOTAG
            future.tag = self.last_tag
            self.futures[future.tag] = future
            try:
                self.socket.sendall(message(kind, future.tag, body))
            except OSError as err:  # an end may be noticed here before the thread that receives does
                self.futures.pop(future.tag, None)
                hangs = isinstance(err, BlockingIOError)
                raise Failure("the kernel does not take requests any more" if hangs else ENDED, DIED) from None
        return future

    def result(self, future, seconds=ANSWER_SECONDS):
        try:
            return future.result(seconds)
        except FutureTimeout:
            raise Failure(f"the kernel has not answered for {seconds} s", DIED) from None

    def call(self, kind, body):
        return self.result(self.send(kind, body))

    def flush(self, future):
        """End a request that waits. Its future then has a result, if it got something in time, or fails with EINTR."""
        self.call(FLUSH, struct.pack("<H", future.tag))
        with self.lock:
            still_there = self.futures.pop(future.tag, None)
        if still_there:
            future.set_exception(InterruptedError(4, "Interrupted system call"))
