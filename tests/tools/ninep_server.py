"""A server of 9P2000.L for tests of clients: a directory with files in memory, and every lie that a test wants.

    with Server(path, {"file": b"text"}) as server: server.hooks[READ] = lambda server, tag, body: server.error(EIO)

A hook gets the requests of a type: what it returns is the answer's bytes, DEFAULT means as usual, None no answer. Between hush() and
resume() no request is answered, then all are; while it is `frozen` none is read. Requests that were seen are in .seen, the fids that there
are in .fids.
"""
import errno
import socket
import struct
import threading
import time

RLERROR = 7
STATFS, LOPEN, LCREATE, GETATTR, SETATTR, XATTRWALK, READDIR, FSYNC, MKDIR, UNLINKAT = 8, 12, 14, 24, 26, 30, 40, 50, 72, 76
VERSION, ATTACH, FLUSH, WALK, READ, WRITE, CLUNK, POLL, SETFL = 100, 104, 108, 110, 116, 118, 120, 128, 130
DEFAULT = object()
ROOT = 1  # its qid.path


class Server:
    def __init__(self, path, files):
        self.files = dict(files)
        self.ids = {name: ROOT + 1 + i for i, name in enumerate(self.files)}
        self.fids, self.seen, self.hooks, self.held = {}, [], {}, []
        self.most_fids = 0
        self.silent = self.frozen = False
        self.connection = None
        self.lock = threading.RLock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(1)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for end in (self.listener, self.connection):
            if end:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()
        self.thread.join(10)

    # ---- Messages ----

    def send(self, data):
        with self.lock:
            self.connection.sendall(data)

    @staticmethod
    def message(kind, tag, body=b""):
        return struct.pack("<IBH", 7 + len(body), kind, tag) + body

    def error(self, tag, number):
        return self.message(RLERROR, tag, struct.pack("<I", number))

    def _take(self, size):
        data = b""
        while len(data) < size:
            part = self.connection.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def _serve(self):
        try:
            self.connection, _ = self.listener.accept()
            while True:
                while self.frozen:
                    time.sleep(0.01)
                size, kind, tag = struct.unpack("<IBH", self._take(7))
                body = self._take(size - 7)
                self.seen.append((kind, tag, body))
                reply = self._answer(kind, tag, body)
                if reply is not None:
                    self.send(reply)
        except (EOFError, OSError):
            pass

    def _answer(self, kind, tag, body):
        with self.lock:
            if self.silent:
                self.held.append((kind, tag, body))
                return None
        reply = self.hooks[kind](self, tag, body) if kind in self.hooks else DEFAULT
        return self.usual(kind, tag, body) if reply is DEFAULT else reply

    def hush(self):
        self.silent = True

    def resume(self):
        with self.lock:
            self.silent, held, self.held = False, self.held, []
            for kind, tag, body in held:
                reply = self._answer(kind, tag, body)
                if reply is not None:
                    self.send(reply)

    # ---- The work of a server ----

    def usual(self, kind, tag, body):
        handler = getattr(self, f"_on_{kind}", None)
        if not handler:
            return self.error(tag, errno.EOPNOTSUPP)
        try:
            answer = handler(tag, body)
        except OSError as err:
            return self.error(tag, err.errno)
        return None if answer is None else self.message(kind + 1, tag, answer)

    def qid(self, number):
        return struct.pack("<BIQ", 0x80 if number == ROOT else 0, 0, number)

    def name_of(self, fid):
        """None is the directory."""
        if fid not in self.fids:
            raise OSError(errno.EBADF, "")
        return self.fids[fid]

    def _set(self, fid, name):
        self.fids[fid] = name
        self.most_fids = max(self.most_fids, len(self.fids))

    def _on_100(self, tag, body):
        self.fids.clear()
        return body

    def _on_104(self, tag, body):
        self._set(struct.unpack_from("<I", body)[0], None)
        return self.qid(ROOT)

    def _on_110(self, tag, body):
        fid, new, count = struct.unpack_from("<IIH", body)
        name = self.name_of(fid)
        if not count:
            self._set(new, name)
            return struct.pack("<H", 0)
        name = body[12:].decode()
        if name not in self.files:
            raise OSError(errno.ENOENT, "")
        self._set(new, name)
        return struct.pack("<H", 1) + self.qid(self.ids[name])

    def attr(self, name):
        mode, number, size = (0o40755, ROOT, 0) if name is None else (0o100644, self.ids[name], len(self.files[name]))
        return struct.pack("<Q", 0x7FF) + self.qid(number) + struct.pack("<IIIQQQQQ", mode, 0, 0, 1, 0, size, 4096, 0) + bytes(80)

    def _on_24(self, tag, body):
        return self.attr(self.name_of(struct.unpack_from("<I", body)[0]))

    def _on_26(self, tag, body):
        self.name_of(struct.unpack_from("<I", body)[0])
        return b""

    def _on_12(self, tag, body):
        name = self.name_of(struct.unpack_from("<I", body)[0])
        return self.qid(ROOT if name is None else self.ids[name]) + bytes(4)

    def _on_14(self, tag, body):
        fid, length = struct.unpack_from("<IH", body)
        name = body[6 : 6 + length].decode()
        self.files[name] = b""
        self.ids[name] = ROOT + 1 + len(self.ids)
        self.fids[fid] = name
        return self.qid(self.ids[name]) + bytes(4)

    def _on_116(self, tag, body):
        fid, offset, count = struct.unpack("<IQI", body)
        part = self.files[self.name_of(fid)][offset : offset + count]
        return struct.pack("<I", len(part)) + part

    def _on_118(self, tag, body):
        fid, offset, count = struct.unpack_from("<IQI", body)
        name = self.name_of(fid)
        old = self.files[name].ljust(offset, b"\0")
        self.files[name] = old[:offset] + body[16:] + old[offset + count :]
        return struct.pack("<I", count)

    def _on_40(self, tag, body):
        offset = struct.unpack_from("<Q", body, 4)[0]
        names = list(self.files)[offset:]
        entries = b"".join(
            self.qid(self.ids[name]) + struct.pack("<QBH", offset + i + 1, 8, len(name)) + name.encode() for i, name in enumerate(names)
        )
        return struct.pack("<I", len(entries)) + entries

    def _on_108(self, tag, body):
        return b""

    def _on_8(self, tag, body):
        return struct.pack("<IIQQQQQQI", 0, 4096, 1, 1, 1, 1, 1, 1, 255)

    def _on_72(self, tag, body):
        return self.qid(ROOT)

    def _on_76(self, tag, body):
        return b""

    def _on_120(self, tag, body):
        fid = struct.unpack("<I", body)[0]
        self.name_of(fid)
        del self.fids[fid]
        return b""

    def _on_50(self, tag, body):
        return b""
