"""fathom perfetto: a trace as the TrackEvents that Perfetto shows, ui.perfetto.dev.

Each thread is a track with its system calls and the calls of function_graph as slices, and all other events as instants. Each CPU is one, too, with
the thread that it runs as slice and the moments where events were lost, and below it one with its interrupts. A slice of a call
goes from the record of its entry to that of its return; its duration_ns is what function_graph has measured, to which what comes
between call and record does not belong. Arrows (flows) go from waking a thread to where a CPU switches to it. Counters: the idle
state of each CPU, memory from kmalloc() that was not given back, and whatever --counter names.

Messages of protobuf are written here by hand: fields are numbers, see trace_packet.proto, track_event.proto,
track_descriptor.proto and debug_annotation.proto of Perfetto.
"""
import collections
import functools
import struct

from host import _programs, _source
from host._calls import ENTRIES, RETURNS, Calls, moments, thread_of
from host._common import NOTHING, USAGE, Failure
from host._events import Lost
from host._output import replaced

HELP = "write a trace for Perfetto (ui.perfetto.dev): threads, CPUs, calls, events, who woke whom"
EXAMPLE = "tools/fathom perfetto -o trace.pftrace trace.dat"

# Of a TracePacket
TIMESTAMP, SEQUENCE, TRACK_EVENT, INTERNED, SEQUENCE_FLAGS, TRACK_DESCRIPTOR = 8, 10, 11, 12, 13, 60
STATE_CLEARED, NEEDS_STATE = 1, 2
WAITING = 64  # events of a thread that a stack may come behind
# Of a TrackEvent
ANNOTATION, TYPE, NAME_IID, TRACK, CATEGORY, COUNTER_VALUE, FLOW, FLOW_END = 4, 9, 10, 11, 22, 30, 47, 48
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
# Of InternedData and what it holds
EVENT_NAMES, ANNOTATION_NAMES = 2, 3
PROCESS_TRACK, CPUS_TRACK, COUNTERS_TRACK, FIRST_TRACK = 1, 2, 3, 16
PROCESS = 1  # one process holds all threads, which are the kernel's
ENDED_BY = {"irq_handler_exit": "irq_handler_entry", "softirq_exit": "softirq_entry"}


def add_arguments(parser):
    parser.add_argument("-o", "--output", metavar="FILE", default="trace.pftrace", help="the file to write (default: %(default)s)")
    parser.add_argument(
        "--counter",
        metavar="EVENT.FIELD",
        action="append",
        default=[],
        help="a curve of this field of each such event, for instance kmalloc.bytes_req; may be said several times",
    )
    _source.add_arguments(parser)
    _programs.add_arguments(parser)


# ---- Bytes ----


@functools.lru_cache(1 << 14)  # nearly all are numbers of fields, tracks, names
def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A field of a message: numbers as varint, texts and messages with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode("utf-8", "replace")
    return varint(number << 3 | 2) + varint(len(value)) + value


def fixed64(number, value):
    return varint(number << 3 | 1) + struct.pack("<Q", value)


# ---- The file ----


class Names:
    """Names that are written once and have numbers from then on."""

    def __init__(self, kind):
        self.kind, self.numbers, self.fresh = kind, {}, b""

    def number(self, name):
        if name not in self.numbers:
            self.numbers[name] = len(self.numbers) + 1
            self.fresh += field(self.kind, field(1, self.numbers[name]) + field(2, name))
        return self.numbers[name]

    def take_fresh(self):
        fresh, self.fresh = self.fresh, b""
        return fresh


class Writer:
    """Collects what happens on tracks, and writes it in the order of time."""

    def __init__(self):
        self.tracks, self.described, self.happened = {}, [], []

    def describe(self, uuid, name, parent=None, more=b""):
        self.described.append(field(1, uuid) + (field(2, name) if name else b"") + (field(5, parent) if parent else b"") + more)

    def track(self, key, make):
        """The number of a track; make(number) describes it when it is asked for first."""
        if key not in self.tracks:
            self.tracks[key] = FIRST_TRACK + len(self.tracks)
            make(self.tracks[key])
        return self.tracks[key]

    def add(self, ts, track, kind, name=None, category=None, arguments=(), more=b""):
        self.happened.append((ts, track, kind, name, category, arguments, more))

    def write(self, file):
        flags = STATE_CLEARED
        for descriptor in self.described:
            file.write(field(1, field(SEQUENCE, 1) + field(SEQUENCE_FLAGS, flags) + field(TRACK_DESCRIPTOR, descriptor)))
            flags = NEEDS_STATE
        names, annotations = Names(EVENT_NAMES), Names(ANNOTATION_NAMES)
        self.happened.sort(key=lambda one: one[0])  # stable: what has the same time stays in its order
        for ts, track, kind, name, category, arguments, more in self.happened:
            event = field(TYPE, kind) + field(TRACK, track) + more
            if name is not None:
                event += field(NAME_IID, names.number(name))
            if category:
                event += field(CATEGORY, category)
            for key, value in arguments:
                event += field(ANNOTATION, field(1, annotations.number(key)) + annotation(value))
            interned = names.take_fresh() + annotations.take_fresh()
            packet = field(TIMESTAMP, ts) + field(SEQUENCE, 1) + field(SEQUENCE_FLAGS, flags) + field(TRACK_EVENT, event)
            file.write(field(1, packet + (field(INTERNED, interned) if interned else b"")))


def annotation(value):
    if isinstance(value, int):
        return field(4, value) if -(1 << 63) <= value < 1 << 63 else field(3, value)
    return field(6, value if isinstance(value, str) else " ".join(f"{one:#x}" if isinstance(one, int) else str(one) for one in value))


# ---- From a trace to tracks ----


class Converter:
    def __init__(self, trace, counters):
        self.trace, self.writer, self.calls = trace, Writer(), Calls()
        self.by_thread, self.flows, self.next_flow = {}, {}, 1
        self.running, self.interrupts, self.allocated, self.in_use = {}, {}, {}, 0
        self.in_call = {}  # {thread: system call that it is in}
        self.counters = [tuple(one.rsplit(".", 1)) for one in counters]
        self.seen, self.previous = 0, None
        self.waiting = {}  # by thread, where its events are for which the stack of its program has not come yet
        self.instant = None  # where the last event is in what has happened, if a stack may follow
        self.writer.describe(PROCESS_TRACK, None, more=field(3, field(1, PROCESS) + field(6, "kernel")))
        self.writer.describe(CPUS_TRACK, "CPUs")
        self.writer.describe(COUNTERS_TRACK, "counters")

    def thread(self, key):
        pid, cpu = key

        def make(uuid):
            if pid == 0:
                self.writer.describe(uuid, f"swapper/{cpu}", PROCESS_TRACK)
            else:
                thread = field(1, PROCESS) + field(2, pid) + field(5, self.trace.comm(pid))
                self.writer.describe(uuid, f"{self.trace.comm(pid)}-{pid}", PROCESS_TRACK, field(4, thread))

        return self.writer.track(("thread", key), make)

    def cpu(self, cpu):
        return self.writer.track(("cpu", cpu), lambda uuid: self.writer.describe(uuid, f"CPU {cpu}", CPUS_TRACK))

    def cpu_interrupts(self, cpu):
        parent = self.cpu(cpu)
        return self.writer.track(("interrupts", cpu), lambda uuid: self.writer.describe(uuid, f"CPU {cpu} interrupts", parent))

    def count(self, ts, name, value):
        track = self.writer.track(("counter", name), lambda uuid: self.writer.describe(uuid, name, COUNTERS_TRACK, field(8, b"")))
        self.writer.add(ts, track, COUNTER, more=field(COUNTER_VALUE, value))

    def convert(self):
        for event in self.trace.events():
            self.seen += 1
            if isinstance(event, Lost):
                self.waiting.clear()
                self.writer.add(event.ts, self.cpu(event.cpu), INSTANT, event.text, "lost")
                continue
            self.one(event)
            self.previous = event
        for call in self.calls.rest():
            self.by_thread.setdefault(call.thread, []).append(call)
        self.end_of_trace()
        return self.writer

    def one(self, event):
        if event.system == "ftrace" and (event.name in ENTRIES or event.name in RETURNS):
            for call in self.calls.take(event):
                self.by_thread.setdefault(call.thread, []).append(call)
            self.instant = None
            return
        if event.system == "ftrace" and event.name in ("kernel_stack", "user_stack"):
            self.add_stack(event)
            return
        if event.system == "syscalls" and self.system_call(event):
            self.instant = len(self.writer.happened) - 1
            self.wait_for_stack(event)
            return
        more = self.wake(event) if event.name in ("sched_waking", "sched_wakeup", "sched_wakeup_new") else b""
        name = event.text if (event.system, event.name) == ("ftrace", "function") else event.name
        arguments = [
            ("line", event.text),
            *((key, value) for key, value in event.fields.items() if not isinstance(value, list) or len(value) < 64),
        ]
        track = self.thread(thread_of(event))
        self.instant = len(self.writer.happened)
        self.writer.add(event.ts, track, INSTANT, name, event.system, arguments, more)
        self.wait_for_stack(event)
        if event.name == "sched_switch":
            self.switch(event)
        self.interrupt(event)
        self.curves(event)

    def wait_for_stack(self, event):
        self.waiting.setdefault(thread_of(event), collections.deque(maxlen=WAITING)).append(self.instant)

    def add_stack(self, event):
        """
        The stack belongs to the event before it, if that is one of the same thread that was written; a program's to all events of
        the thread since the stack before: it may have been written when the program went on.
        """
        is_kernel, thread = event.name == "kernel_stack", thread_of(event)
        places = [] if is_kernel else self.waiting.pop(thread, [])
        if not places and self.instant is not None and thread_of(self.previous) == thread:
            places = [self.instant]
        for place in places:
            self.add_stack_to(place, "stack" if is_kernel else "stack of the program", event)

    def add_stack_to(self, place, key, event):
        ts, track, kind, name, category, arguments, more = self.writer.happened[place]
        if key not in dict(arguments):
            arguments = [*arguments, (key, "\n".join(event.stack()))]
            self.writer.happened[place] = (ts, track, kind, name, category, arguments, more)

    def system_call(self, event):
        """A call is a slice from its sys_enter to its sys_exit. False: it is an end whose begin was not recorded."""
        is_exit, thread = event.name.startswith("sys_exit_"), thread_of(event)
        if is_exit and thread not in self.in_call:
            return False
        track, line = self.thread(thread), ("line", event.text)
        if thread in self.in_call:  # without an exit: it ended the thread or its program
            self.writer.add(event.ts, track, END, arguments=[("result", event.number("ret")), line] if is_exit else [])
            del self.in_call[thread]
        if not is_exit:
            self.in_call[thread] = event.name.removeprefix("sys_enter_")
            arguments = [(key, value) for key, value in event.fields.items() if not isinstance(value, list) or len(value) < 64]
            self.writer.add(event.ts, track, BEGIN, self.in_call[thread], "syscalls", [line, *arguments])
        return True

    def wake(self, event):
        """The first of waking and wakeup begins an arrow, the other one lies on its way."""
        pid = event.number("pid")
        if pid not in self.flows:
            self.flows[pid] = self.next_flow
            self.next_flow += 1
        return fixed64(FLOW, self.flows[pid])

    def switch(self, event):
        cpu, pid, fields = self.cpu(event.cpu), event.number("next_pid"), event.fields
        if self.running.get(event.cpu):
            self.writer.add(event.ts, cpu, END)
        flow = self.flows.pop(pid, None) if pid else None
        name = f"{fields.get('next_comm', '')}-{pid}" if pid else f"swapper/{event.cpu}"
        arguments = [(key, value) for key, value in fields.items() if key.startswith("next_")]
        self.writer.add(event.ts, cpu, BEGIN, name, "sched", arguments, fixed64(FLOW_END, flow) if flow else b"")
        self.running[event.cpu] = True

    def interrupt(self, event):
        """Slices of what is between an entry and an exit."""
        begin = ENDED_BY.get(event.name) or (
            event.name.removesuffix("_exit") + "_entry" if event.system == "irq_vectors" and event.name.endswith("_exit") else None
        )
        is_entry = event.name in ENDED_BY.values() or event.system == "irq_vectors" and event.name.endswith("_entry")
        stack = self.interrupts.setdefault(event.cpu, [])
        if is_entry:
            stack.append(event.name)
            name = event.fields.get("name") or event.text or event.name.removesuffix("_entry")
            self.writer.add(
                event.ts, self.cpu_interrupts(event.cpu), BEGIN, f"{event.name.removesuffix('_entry')} {name}"[:200], event.system
            )
        elif begin in stack:
            while stack and stack.pop() != begin:
                self.writer.add(event.ts, self.cpu_interrupts(event.cpu), END)
            self.writer.add(event.ts, self.cpu_interrupts(event.cpu), END)

    def curves(self, event):
        if event.name == "cpu_idle":
            state = event.number("state") & 0xFFFFFFFF
            self.count(event.ts, f"CPU {event.number('cpu_id')} idle state", 0 if state == 0xFFFFFFFF else state)
        if event.name == "kmalloc":
            self.allocated[event.number("ptr")] = event.number("bytes_alloc")
            self.in_use += event.number("bytes_alloc")
            self.count(event.ts, "kmalloc: bytes not given back", self.in_use)
        if event.name == "kfree" and event.number("ptr") in self.allocated:
            self.in_use -= self.allocated.pop(event.number("ptr"))
            self.count(event.ts, "kmalloc: bytes not given back", self.in_use)
        for name, key in self.counters:
            if name in (event.name, f"{event.system}:{event.name}") and isinstance(event.fields.get(key), int):
                self.count(event.ts, f"{event.name}.{key}", event.fields[key])

    def end_of_trace(self):
        last = self.previous.ts if self.previous else 0
        for cpu, is_running in self.running.items():
            if is_running:
                self.writer.add(last, self.cpu(cpu), END)
        for cpu, stack in self.interrupts.items():
            for _ in stack:
                self.writer.add(last, self.cpu_interrupts(cpu), END)
        for thread in self.in_call:
            self.writer.add(last, self.thread(thread), END)
        for thread, calls in self.by_thread.items():
            self.slices(self.thread(thread), calls)

    def slices(self, track, calls):
        for ts, call in moments(calls):
            if call is None:
                self.writer.add(ts, track, END)
                continue
            arguments = [("duration_ns", call.duration_ns)] if call.duration_ns is not None else []
            arguments += [("retval", call.retval)] if call.retval is not None else []
            arguments += [] if call.whole else [("incomplete", "its entry or its return was not recorded")]
            self.writer.add(ts, track, BEGIN, call.name, "function_graph", arguments)


def run(options):
    for counter in options.counter:
        if counter.count(".") != 1 or counter.startswith(".") or counter.endswith("."):
            raise Failure(f"--counter {counter}: an event and one of its fields, such as kmalloc.bytes_req", USAGE)
    converter = Converter(_source.opened_with_programs(options), options.counter)
    writer = converter.convert()
    if not converter.seen:
        raise Failure(f"{options.source} has no events", NOTHING)
    with replaced(options.output, "wb") as file:
        writer.write(file)
    print(f"{options.output}: {converter.seen} events, {len(writer.tracks)} tracks; open it in https://ui.perfetto.dev")
