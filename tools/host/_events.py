"""Events out of pages, in the order of time, whether those are of a file (_read_dat.py) or of a running kernel (_live.py).

    for event in recording.events():
        if isinstance(event, Lost): ...                 # .ts .cpu .count, None when their number is unknown
        event.ts, event.cpu, event.pid, event.comm, event.system, event.name, event.fields, event.text
"""
import bisect
import heapq
import re
import struct
import zlib

from host import _pages, _printfmt
from host._common import Failure
from host._formats import EventType

SMALLEST_PAGE, LARGEST_PAGE = 64, 1 << 24
# Which fields of the scheduler's events name a thread.
NAMES = (("comm", "pid"), ("prev_comm", "prev_pid"), ("next_comm", "next_pid"), ("child_comm", "child_pid"))


class Cut(Exception):
    """The bytes end before what should be there."""


class Cursor:
    """Takes one thing after the other out of bytes."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Cut(f"{count} bytes are missing behind byte {self.at}")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, width):
        return int.from_bytes(self.take(width), "little")

    def string(self):
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise Cut(f"the text at byte {self.at} has no end")
        text = self.data[self.at : end]
        self.at = end + 1
        return text.decode("utf-8", "replace")

    def sized_text(self, width):
        return self.take(self.number(width)).decode("utf-8", "replace")


class Symbols:
    """Functions by their addresses, from the lines of /proc/kallsyms."""

    def __init__(self, text=""):
        found = {}
        for line in text.splitlines():
            words = line.split()
            if len(words) >= 3 and words[1] not in "aA" and re.fullmatch("[0-9a-fA-F]{1,16}", words[0]):
                found.setdefault(int(words[0], 16), words[2])
        self.addresses = sorted(found)
        self.names = [found[address] for address in self.addresses]
        self.cache = {}

    def find(self, address):
        at = bisect.bisect_right(self.addresses, address) - 1
        return (self.names[at], address - self.addresses[at]) if at >= 0 else (None, 0)

    def name(self, address):
        if address not in self.cache:
            self.cache[address] = self.find(address)[0] or f"0x{address:x}"
        return self.cache[address]

    def with_offset(self, address):
        """How large a function is, which the kernel says here, too, no table of symbols says."""
        name, offset = self.find(address)
        return f"0x{address:x}" if name is None else f"{name}+0x{offset:x}"


class Lost:
    """At this time events of this CPU are missing. count: how many, None when that is not known."""

    def __init__(self, ts, cpu, count):
        self.ts, self.cpu, self.count = ts, cpu, count

    @property
    def text(self):
        return f"LOST {self.count} EVENTS" if self.count else "LOST EVENTS"


class Event:
    """One event. What it consists of is decoded when it is asked for."""

    __slots__ = ("ts", "cpu", "pid", "type", "data", "trace", "_fields")

    def __init__(self, ts, cpu, kind, data, trace):
        self.ts, self.cpu, self.type, self.data, self.trace = ts, cpu, kind, data, trace
        self.pid = struct.unpack_from("<i", data, 4)[0]
        self._fields = None

    @property
    def name(self):
        return self.type.name

    @property
    def system(self):
        return self.type.system

    @property
    def comm(self):
        return self.trace.comm(self.pid)

    @property
    def fields(self):
        if self._fields is None:
            self._fields = self.type.decoded(self.data)
        return self._fields

    def raw(self, name):
        """The bytes of a field."""
        return self.type.raw(name, self.data)

    def number(self, field):
        """A field that is a number; 0 if it is not there, or something else: a file may say anything of its events."""
        value = self.fields.get(field)
        return value if isinstance(value, int) else 0

    def function(self, field="func"):
        """The name of the function that a field holds."""
        return self.trace.symbols.name(self.number(field))

    def stack(self):
        """The functions of a kernel_stack or a user_stack, the innermost first; addresses where their names are not known."""
        callers = self.fields.get("caller")
        found = [address for address in callers if 0 < address < (1 << 64) - 1] if isinstance(callers, list) else []
        if self.name != "user_stack":
            return [self.trace.symbols.name(address) for address in found]
        programs = self.trace.programs
        return [programs and programs.name(self, address, at > 0) or hex(address) for at, address in enumerate(found)]

    @property
    def text(self):
        """The text behind the name in a line of `trace`, without a newline at its end."""
        if self.name == "function" and self.system == "ftrace":
            return f"{self.function('ip')} <-{self.function('parent_ip')}"
        if self.name == "bprint" and self.system == "ftrace":
            return self.trace.packed_text(self)
        return self.type.text(self, self.trace.symbols).rstrip("\n")


class UnknownType:
    """A record whose type the file does not describe."""

    system, by_name = "", {}

    def __init__(self, number):
        self.name = f"type-{number}"

    @staticmethod
    def decoded(data):
        return {}

    @staticmethod
    def raw(name, data):
        raise _printfmt.Unsupported(f"no field {name}")

    @staticmethod
    def text(event, symbols):
        return f"{len(event.data)} bytes"


class Recording:
    """The means to decode events: types, symbols, names of threads; rings() gives (CPU, its pages one by one), also several of a CPU."""

    def __init__(self, name):
        self.name, self.types, self.comms, self.formats_of_bprint = name, {}, {}, {}
        self.symbols, self.clock, self.page_bytes, self.cpus = Symbols(), "local", 4096, []
        self.maps = {}  # {process: Maps of _maps.py}, as far as they are known
        self.programs = None  # a Programs, for names in stacks of programs
        self.header_page, self.formats = "", {}  # the texts; those of formats with their systems, by the type's number

    # ---- Its parts ----

    def read_header_page(self, text):
        self.header_page = text
        data = re.search(r" data;\s*offset:(\d+);\s*size:(\d+);", text)
        if data:
            self.page_bytes = int(data[1]) + int(data[2])
        if not SMALLEST_PAGE <= self.page_bytes <= LARGEST_PAGE:
            raise ValueError(f"pages of {self.page_bytes} bytes")

    def read_format(self, system, text):
        kind = EventType(system, text)
        self.types[kind.id] = kind
        self.formats[kind.id] = (system, text)

    def read_printk(self, text):
        for address, form in re.findall(r'^0x([0-9a-fA-F]{1,16}) : "(.*)"$', text, re.M):
            self.formats_of_bprint[int(address, 16)] = form.replace("\\n", "\n").replace('\\"', '"')

    def read_cmdlines(self, text):
        for pid, name in re.findall(r"^(\d{1,10}) (.*)$", text, re.M):
            self.comms[int(pid)] = name

    def read_clock(self, text):
        chosen = re.search(r"\[(\S+)\]", text)
        self.clock = chosen[1] if chosen else text.strip() or self.clock

    # ---- Threads, texts ----

    def comm(self, pid):
        return "<idle>" if pid == 0 else self.comms.get(pid, "<...>")

    def _learn_names(self, event):
        for comm, pid in NAMES:
            if comm in event.type.by_name and pid in event.type.by_name:
                name = event.fields.get(comm)
                if event.number(pid) and isinstance(name, str):
                    self.comms[event.number(pid)] = name

    def packed_text(self, event):
        """A trace_printk() whose arguments were kept, not its text."""
        form = self.formats_of_bprint.get(event.number("fmt"))
        where = f"{event.function('ip')}: "
        if form is None:
            return f"{where}format at 0x{event.number('fmt'):x}"
        try:
            return where + _printfmt.formatted(form, Packed(form, event.raw("buf")).take, self.symbols).rstrip("\n")
        except (_printfmt.Unsupported, Cut, IndexError):
            return where + form.rstrip("\n")

    # ---- Events ----

    def events(self):
        return heapq.merge(*(self._of_ring(cpu, pages) for cpu, pages in self.rings()), key=lambda event: event.ts)

    def _of_ring(self, cpu, pages):
        number = 0
        try:
            for number, page in enumerate(pages):
                yield from self._of_page(cpu, page)
        except (Cut, zlib.error, ValueError, struct.error) as err:
            raise Failure(f"{self.name} is damaged: CPU {cpu}, page {number}: {err}") from None

    def _of_page(self, cpu, page):
        start, length, lost = _pages.page_head(page)
        if length > len(page) - _pages.HEAD:
            raise ValueError(f"it is said to hold {length} bytes of events")
        if lost != 0:
            yield Lost(start, cpu, lost)
        for time, first, end in _pages.events_of(page):
            if end - first < 8 or end > _pages.HEAD + length:
                raise ValueError(f"an event of {end - first} bytes at byte {first}")
            number = _pages.type_of(page, first)
            kind = self.types.get(number) or self.types.setdefault(number, UnknownType(number))
            event = Event(time, cpu, kind, page[first:end], self)
            if kind.system == "sched":
                self._learn_names(event)
                if self.programs:
                    self.programs.learn(event)
            yield event


class Packed:
    """The arguments of a trace_printk() in the order of its conversions."""

    def __init__(self, form, data):
        self.cursor = Cursor(data)
        self.kinds = iter(self._kinds(form))

    @staticmethod
    def _kinds(form):
        for match in _printfmt.conversions(form):
            yield from ["int"] * ((match["width"] == "*") + (match["precision"] == "*"))
            yield "text" if match["kind"] == "s" else "long" if match["kind"] == "p" or match["length"] in (
                "l",
                "ll",
                "L",
                "z",
                "t",
                "j",
            ) else "int"

    def take(self):
        kind = next(self.kinds)
        if kind == "text":
            return self.cursor.string()
        self.cursor.at = self.cursor.at + 3 & ~3
        return self.cursor.number(8 if kind == "long" else 4)
