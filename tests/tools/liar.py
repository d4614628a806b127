"""A kernel that serves its files by 9P2000.L and is a few files in the memory of this process, for tests of those who ask it.

    with Liar(path) as kernel:              # listens at `path`, one client after the other
        kernel.lie = lambda asked, answer: ...

It is honest until it has a lie: a function of what is asked, an Asked, and of the honest answer, (type, body), which has the
answer instead: (type, body), bytes as they are sent, or None for silence. QUIET is what it says by itself: nothing.
"""
import socket
import struct
import threading

import datkit

RLERROR = 7
LOPEN, READDIR, MKDIR, UNLINKAT, VERSION, ATTACH, FLUSH, WALK, READ, WRITE, CLUNK = 12, 40, 72, 76, 100, 104, 108, 110, 116, 118, 120
KINDS = {
    "lopen": LOPEN,
    "readdir": READDIR,
    "mkdir": MKDIR,
    "version": VERSION,
    "attach": ATTACH,
    "flush": FLUSH,
    "walk": WALK,
    "read": READ,
    "write": WRITE,
    "clunk": CLUNK,
}
NONBLOCK, TRUNC = 0o4000, 0o1000
ENOENT, EBADF, EAGAIN = 2, 9, 11
TRACING = "/sys/kernel/tracing/"
SWITCH = datkit.format_of("sched_switch", 7, [("pid_t next_pid", 8, 4, 1)], '"next_pid=%d", REC->next_pid')
STACK = datkit.format_of("kernel_stack", 4, [("int size", 8, 4, 1), ("unsigned int caller[]", 12, 0, 0)], '"stack"')
CALL = datkit.format_of("funcgraph_entry", 11, [("unsigned int func", 8, 4, 0), ("int depth", 12, 4, 1)], '"call"')
RETURN = datkit.format_of(
    "funcgraph_exit",
    10,
    [
        ("unsigned int func", 8, 4, 0),
        ("int depth", 12, 4, 1),
        ("unsigned long long calltime", 16, 8, 0),
        ("unsigned long long rettime", 24, 8, 0),
    ],
    '"return"',
)
PAGE = datkit.page(
    1000, datkit.record(1, struct.pack("<HBBii", 7, 0, 0, 5, 6)), datkit.record(1, struct.pack("<HBBiII", 4, 0, 0, 5, 1, 0x80100000))
)
EMPTY = (
    "available_filter_functions",
    "set_event",
    "set_ftrace_filter",
    "set_ftrace_notrace",
    "set_graph_function",
    "set_ftrace_pid",
    "set_event_pid",
    "trace",
    "show_event_filters",
    "show_event_triggers",
    "error_log",
    "printk_formats",
    "dynamic_events",
    "events/header_event",
    "why",
)


def tree():
    """{path: text or bytes}, as much of a kernel as our commands ask for."""
    files = {TRACING + name: "" for name in EMPTY}
    files.update(
        {
            TRACING + name: text
            for name, text in {
                "available_events": "sched:sched_switch\n",
                "available_tracers": "nop function\n",
                "current_tracer": "nop\n",
                "tracing_on": "1\n",
                "trace_clock": "[local] global\n",
                "saved_cmdlines": "5 sh\n6 cat\n",
                "saved_cmdlines_size": "4096\n",
                "buffer_size_kb": "64\n",
                "buffer_subbuf_size_kb": "4\n",
                "tracing_max_latency": "0\n",
                "tracing_thresh": "0\n",
                "events/header_page": datkit.HEADER_PAGE,
                "options/stacktrace": "0\n",
                "options/func_stack_trace": "0\n",
                "events/sched/sched_switch/format": SWITCH,
                "events/sched/sched_switch/hist_folded": "a;b 3\n",
                "events/ftrace/kernel_stack/format": STACK,
                "events/ftrace/funcgraph_entry/format": CALL,
                "events/ftrace/funcgraph_exit/format": RETURN,
                "per_cpu/cpu0/stats": "entries: 1\noverrun: 0\nread events: 1\n",
                "per_cpu/cpu0/trace_pipe_raw": "",
                "per_cpu/cpu0/buffer_size_kb": "64\n",
            }.items()
        }
    )
    files.update({path.replace(TRACING, TRACING + "instances/box/"): text for path, text in files.items()})
    return {**files, "/proc/kallsyms": "ffffffff80100000 T start\n", "/proc/version": "Fathom\n", "/dev/shell": ""}


class Asked:
    """A request. path: of its file, where it has one."""

    def __init__(self, kind, tag, body, path):
        self.kind, self.tag, self.body, self.path = kind, tag, body, path

    def is_read_of(self, end):
        return self.kind == READ and self.path.endswith(end)


class Session:
    """A client, until it goes."""

    def __init__(self, files, pages):
        self.files, self.pages = files, pages
        self.paths, self.waiting, self.nonblock, self.shells = {}, {}, set(), {}

    def is_dir(self, path):
        return any(name.startswith(path.rstrip("/") + "/") for name in self.files)

    def path_of(self, body):
        return self.paths.get(struct.unpack_from("<I", body)[0], "") if len(body) >= 4 else ""

    def answer(self, kind, tag, body):
        """(type, body) of what an honest kernel answers; None when that has to wait."""
        name = {number: name for name, number in KINDS.items()}.get(kind)
        found = getattr(self, f"do_{name}")(tag, body) if name else ENOENT
        return (RLERROR, struct.pack("<I", found)) if isinstance(found, int) else found and (kind + 1, found[0])

    def do_version(self, _tag, body):
        self.paths.clear()
        return (body,)

    def do_attach(self, _tag, _body):
        self.paths[0] = ""
        return (bytes(13),)

    def do_walk(self, _tag, body):
        old, new, count = struct.unpack_from("<IIH", body)
        path, at, qids = self.paths.get(old, ""), 10, b""
        for _ in range(count):
            length = struct.unpack_from("<H", body, at)[0]
            further = f"{path}/{body[at + 2:at + 2 + length].decode()}"
            at += 2 + length
            if further not in self.files and not self.is_dir(further):
                break
            path = further
            qids += struct.pack("<BIQ", 0x80 if self.is_dir(path) else 0, 0, 1)
        if not qids and count:
            return ENOENT
        if len(qids) == 13 * count:
            self.paths[new] = path
        return (struct.pack("<H", len(qids) // 13) + qids,)

    def do_lopen(self, _tag, body):
        fid, flags = struct.unpack_from("<II", body)
        (self.nonblock.add if flags & NONBLOCK else self.nonblock.discard)(fid)
        return (bytes(17),)

    def do_read(self, tag, body):
        fid, offset, count = struct.unpack_from("<IQI", body)
        path = self.paths.get(fid)
        if path is None:
            return EBADF
        if path.endswith("trace_pipe_raw"):
            data = self.pages.pop() if self.pages else None
            if data is None and fid in self.nonblock:
                return EAGAIN
            if data is None:
                self.waiting[tag] = fid
                return None
        elif path == "/dev/shell":
            data = self.shells.pop(fid, b"")
        else:
            data = self.files.get(path, "").encode()[offset:]
        return (struct.pack("<I", len(data[:count])) + data[:count],)

    def do_readdir(self, _tag, body):
        fid, offset, _ = struct.unpack_from("<IQI", body)
        front = self.paths.get(fid, "") + "/"
        names = sorted({name.removeprefix(front).split("/")[0] for name in self.files if name.startswith(front)})
        data = b"".join(
            bytes(13) + struct.pack("<QBH", number, 0, len(name)) + name.encode() for number, name in enumerate(names, 1) if number > offset
        )
        return (struct.pack("<I", len(data)) + data,)

    def do_write(self, _tag, body):
        fid, _, count = struct.unpack_from("<IQI", body)
        if self.path_of(body) == "/dev/shell":
            self.shells[fid] = b"said\n\0000"
        return (struct.pack("<I", count),)

    def do_mkdir(self, _tag, _body):
        return (bytes(13),)

    def do_flush(self, _tag, body):
        self.waiting.pop(struct.unpack("<H", body)[0], None)
        return (b"",)

    def do_clunk(self, _tag, _body):
        return (b"",)


def message(tag, kind, body):
    return struct.pack("<IBH", 7 + len(body), kind, tag) + body


class Liar:
    def __init__(self, path):
        self.path, self.lie, self.asked, self.files = path, None, [], tree()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.connection = None
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        """A client that still waits is sent away."""
        for one in (self.listener, self.connection):
            try:
                if one:
                    one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.thread.join()
        self.listener.close()

    def serve(self):
        while True:
            try:
                self.connection = self.listener.accept()[0]
            except OSError:
                return
            with self.connection:
                try:
                    self.session(self.connection, Session(self.files, [PAGE]))
                except (OSError, EOFError):
                    pass

    def session(self, connection, known):
        stream = connection.makefile("rb")
        while head := stream.read(7):
            size, kind, tag = struct.unpack("<IBH", head)
            body = stream.read(size - 7)
            asked = Asked(kind, tag, body, known.path_of(body))
            self.asked.append(asked)
            answer = known.answer(kind, tag, body)
            if self.lie:
                answer = self.lie(asked, answer)
            if answer is not None:
                connection.sendall(answer if isinstance(answer, bytes) else message(tag, *answer))
