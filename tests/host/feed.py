"""In the place of a guest: a kernel whose rings give as many events a second as is wanted, for tests of the page alone."""
import errno
import os
import struct
import threading
import time
from concurrent.futures import Future

COMMON = """
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
"""
SWITCH = """
	field:char prev_comm[16];	offset:8;	size:16;	signed:1;
	field:int prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:unsigned int prev_state;	offset:32;	size:4;	signed:0;
	field:char next_comm[16];	offset:36;	size:16;	signed:1;
	field:int next_pid;	offset:52;	size:4;	signed:1;
	field:int next_prio;	offset:56;	size:4;	signed:1;
"""
ENTRY = """
	field:unsigned int func;	offset:8;	size:4;	signed:0;
	field:int depth;	offset:12;	size:4;	signed:1;
"""
EXIT = """
	field:unsigned int func;	offset:8;	size:4;	signed:0;
	field:unsigned short depth;	offset:12;	size:2;	signed:0;
	field:unsigned short overrun;	offset:14;	size:2;	signed:0;
	field:unsigned long long duration;	offset:16;	size:8;	signed:0;
"""
KMALLOC = """
	field:unsigned long bytes_req;	offset:8;	size:8;	signed:0;
"""
SAMPLE = """
	field:unsigned long ip;	offset:8;	size:8;	signed:0;
	field:unsigned int period;	offset:16;	size:4;	signed:0;
	field:unsigned char context;	offset:20;	size:1;	signed:0;
"""
STACK = """
	field:unsigned long caller[];	offset:8;	size:0;	signed:0;
"""
FORMATS = {
    "sched/sched_switch": (1, SWITCH),
    "ftrace/funcgraph_entry": (2, ENTRY),
    "ftrace/funcgraph_exit": (3, EXIT),
    "kmem/kmalloc": (4, KMALLOC),
    "profile/sample": (5, SAMPLE),
    "ftrace/kernel_stack": (6, STACK),
}
FUNCTION = 0x80100000  # the first of those that are called, 16 bytes each
THREADS = [f"worker-{number}".encode() for number in range(6)]


def event(kind, pid, body, delta):
    data = struct.pack("<HBBi", kind, 0, 0, pid) + body
    data += bytes(-len(data) % 4)
    return struct.pack("<I", len(data) // 4 | delta << 5) + data


def round_of(number, delta):
    """Ten events: a switch, three calls inside each other, three others."""
    pid, after = 100 + number % 6, 100 + (number + 1) % 6
    names = THREADS[number % 6].ljust(16, b"\0"), THREADS[(number + 1) % 6].ljust(16, b"\0")
    some = [event(1, pid, names[0] + struct.pack("<iiI", pid, 120, 0) + names[1] + struct.pack("<ii", after, 120), delta)]
    functions = [FUNCTION + 16 * ((number + depth * 3) % 12) for depth in range(3)]
    some += [event(2, after, struct.pack("<Ii", function, depth), delta) for depth, function in enumerate(functions)]
    some += [event(3, after, struct.pack("<IHHQ", functions[depth], depth, 0, (2 * (2 - depth) + 1) * delta), delta) for depth in (2, 1, 0)]
    return some + [event(4, after, struct.pack("<Q", 32 << number % 5), delta) for _ in range(3)]


class Ring:
    """Pages of events at equal distances. A read finds all whose time has come."""

    def __init__(self, delta):
        events, self.pages, length = [], [], 0
        for number in range(60):
            for one in round_of(number, delta):
                if length + len(one) > 4080:
                    self.finish(events, delta)
                    events, length = [], 0
                events.append(one)
                length += len(one)
        self.finish(events, delta)
        self.now, self.turn = time.monotonic_ns(), 0

    def finish(self, events, delta):
        data = b"".join(events)
        self.pages.append((len(events) * delta, len(events), struct.pack("<Q", len(data)) + data.ljust(4080, b"\0")))

    def next(self):
        """(page, how many events), or None if it is not full yet."""
        lasts, count, data = self.pages[self.turn]
        if self.now + lasts > time.monotonic_ns():
            return None
        page = struct.pack("<Q", self.now) + data
        self.now, self.turn = self.now + lasts, (self.turn + 1) % len(self.pages)
        return page, count


class File:
    def __init__(self, data, ring=None, count=None):
        self.data, self.ring, self.count = data, ring, count

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass

    def close(self):
        pass

    def read(self, _count=0):
        data, self.data = self.data, b""
        return data

    def read_later(self, _count, _offset=0):
        future, found = Future(), self.ring.next()
        if found:
            self.count(found[1])
            future.set_result(bytes(4) + found[0])
        else:
            future.set_exception(BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)))
        return future


class Feed:
    """The part of a host._guest.Guest that view.kernel.Kernel needs."""

    def __init__(self, events_a_second, cpus=4):
        self.lock, self.given = threading.Lock(), 0
        self.rings = {cpu: Ring(round(1e9 * cpus / events_a_second)) for cpu in range(cpus)}
        self.files = {
            "available_events": "sched:sched_switch\nkmem:kmalloc\nprofile:sample\n",
            "available_tracers": "function_graph nop\n",
            "tracing_on": "1\n",
            "current_tracer": "function_graph\n",
            "set_event": "sched:sched_switch\nkmem:kmalloc\n",
            "events/sched/sched_switch/enable": "1\n",
            "buffer_subbuf_size_kb": "4\n",
            "set_ftrace_filter": "#### all functions enabled ####\n",
            "available_filter_functions": "demo_0\n",
            "why": "A feed for tests.\n",
            "/proc/version": "Feed 1\n",
            "/proc/uptime": "1.0 1.0\n",
            "tracing_max_latency": "0\n",
            "/proc/kallsyms": "".join(f"{0xffffffff00000000 + FUNCTION + 16 * n:x} T demo_{n}\n" for n in range(13)),
        }
        for name, (number, fields) in FORMATS.items():
            self.files[f"events/{name}/format"] = f"name: {name.split('/')[1]}\nID: {number}\nformat:{COMMON}{fields}\nprint fmt: \"\"\n"

    def count(self, events):
        with self.lock:
            self.given += events

    def behind(self):
        """Seconds of events that are still to be taken."""
        return max(time.monotonic_ns() - ring.now for ring in self.rings.values()) / 1e9

    def names(self, path):
        return [f"cpu{cpu}" for cpu in self.rings] if path == "per_cpu" else []

    def text(self, path):
        return self.files.get(path, "")

    def open(self, path, _flags=0):
        if path.endswith("trace_pipe_raw"):
            return File(b"", self.rings[int(path.split("/")[1].removeprefix("cpu"))], self.count)
        if path.startswith("events/") and path not in self.files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return File(self.text(path).encode())

    def write(self, path, text, append=False):
        self.files[path] = (self.text(path) if append else "") + text

    def sh(self, _command):
        return 0, b""
