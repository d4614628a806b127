"""trace.dat, the file of trace-cmd and KernelShark: its head in version 6 and 7. Data of CPUs are pages of the kernel's rings, as they are.

    head = dat.head(facts, places, version=6)       # places: a Place for each of facts.buffers

The first buffer is the machine's own, and has no name; the others are instances. In version 6 those are not described: the option
BUFFER has the place of such a buffer and its name, and there is what the main buffer has at the end of the head: `flyrecord`, the
table of CPUs, the clock.

Described by trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5). What they do not say: with the option TRACECLOCK, version 6 has the
clock once more behind the table of CPUs. trace-cmd leaves the option itself empty there, but then reads it as text all the same,
which is whatever its heap held before: once in some hundred reports it believes that times are no nanoseconds.
"""
import struct

from host import _maps

MAGIC = b"\x17\x08\x44tracing"
LITTLE_ENDIAN, LONG_BYTES = 0, 8

# Options of both versions; from HEADER_INFO on they are sections of version 7, too.
DONE, CPUSTAT, BUFFER, TRACECLOCK, UNAME, CPUCOUNT, VERSION, PROCMAPS = 0, 2, 3, 4, 5, 8, 9, 10
STRINGS, HEADER_INFO, FTRACE_EVENTS, EVENT_FORMATS, KALLSYMS, PRINTK, CMDLINES = range(15, 22)
SECTION_HEADER = struct.Struct("<HHIQ")  # id, flags, where its description is among the strings, bytes
IS_COMPRESSED = 1

DESCRIPTIONS = {
    DONE: "options",
    BUFFER: "buffer flyrecord",
    STRINGS: "strings",
    HEADER_INFO: "headers",
    FTRACE_EVENTS: "ftrace events",
    EVENT_FORMATS: "events format",
    KALLSYMS: "kallsyms",
    PRINTK: "trace_printk",
    CMDLINES: "command lines",
}


class Buffer:
    """A buffer of the file. name: the instance's, "" for the machine's own. stats: a text for each CPU."""

    def __init__(self, name="", clock="local", stats=()):
        self.name, self.clock, self.stats = name, clock, stats


class Place:
    """Where a buffer's pages are. table: (offset, bytes) for each CPU, by number. section: in version 7, of all but the first."""

    def __init__(self, table, section=None):
        self.table, self.section = table, section

    @property
    def end(self):
        return max(offset + size for offset, size in self.table)


class Facts:
    """All that a reader has to know beside the pages. Texts are bytes, as the kernel's files have them."""

    header_page = header_event = kallsyms = printk = cmdlines = b""
    ftrace_formats = ()  # of the events of tracers
    systems = ()  # (name, formats) of the others
    uname = ""
    page_size = 4096
    nr_cpus = 1

    def __init__(self, *names):
        """Of the machine's own buffer, and of the instances with these names."""
        self.buffers = [Buffer(), *map(Buffer, names)]
        self.maps = {}  # by process, see _maps.py

    @property
    def clock(self):
        """That of a file is told once in version 6; an own buffer without pages has the others'."""
        return self.buffers[0].clock


def sized(data, width="<Q"):
    return struct.pack(width, len(data)) + data


def zero_ended(text):
    return text.encode() + b"\0"


def option(number, data):
    return struct.pack("<HI", number, len(data)) + data


def symbols(kallsyms):
    """
    The kernel's symbols, each also at the low half of its address: events hold only that, and readers that print functions
    in a way of their own look it up without the upper half.
    """
    lines = [line for line in kallsyms.splitlines() if len(line) > 17]
    low = [b"00000000" + line[8:] for line in lines if line.startswith(b"ffffffff")]
    return b"\n".join(low + lines) + b"\n"


def texts(facts):
    """The parts of both versions, in the order that version 6 asks for."""
    systems = struct.pack("<I", len(facts.systems))
    for name, formats in facts.systems:
        systems += zero_ended(name) + struct.pack("<I", len(formats)) + b"".join(map(sized, formats))
    return {
        HEADER_INFO: b"header_page\0" + sized(facts.header_page) + b"header_event\0" + sized(facts.header_event),
        FTRACE_EVENTS: struct.pack("<I", len(facts.ftrace_formats)) + b"".join(sized(text) for text in facts.ftrace_formats),
        EVENT_FORMATS: systems,
        KALLSYMS: sized(symbols(facts.kallsyms), "<I"),
        PRINTK: sized(facts.printk, "<I"),
        CMDLINES: sized(facts.cmdlines),
    }


def options_of_stats(buffer):
    texts = [f"\nBuffer: {buffer.name}\n\n"] if buffer.name else []
    return b"".join(option(CPUSTAT, zero_ended(text)) for text in [*texts, *buffer.stats])


def common_options(facts):
    made = option(UNAME, zero_ended(facts.uname)) + option(VERSION, zero_ended("fathom"))
    made += option(TRACECLOCK, zero_ended(f"[{facts.clock}]"))
    made += b"".join(option(PROCMAPS, _maps.as_option(pid, maps)) for pid, maps in sorted(facts.maps.items()))
    return made + b"".join(map(options_of_stats, facts.buffers))


def beginning(facts, version):
    return MAGIC + zero_ended(str(version)) + struct.pack("<BBI", LITTLE_ENDIAN, LONG_BYTES, facts.page_size)


def flyrecord(buffer, place):
    return b"flyrecord\0" + b"".join(struct.pack("<QQ", *entry) for entry in place.table) + sized(f"[{buffer.clock}]".encode())


def head_6(facts, places):
    head = beginning(facts, 6) + b"".join(texts(facts).values())
    head += struct.pack("<I", facts.nr_cpus) + b"options  \0" + common_options(facts)
    blocks = [flyrecord(*both) for both in zip(facts.buffers, places)]
    names = [zero_ended(buffer.name) for buffer in facts.buffers[1:]]
    at = len(head) + len(b"".join(option(BUFFER, bytes(8) + name) for name in names)) + 2
    for name, block in zip(names, blocks):
        at += len(block)  # that of the buffer in front
        head += option(BUFFER, struct.pack("<Q", at) + name)
    return head + struct.pack("<H", DONE) + b"".join(blocks)


class Sections:
    """The sections of version 7, one behind the other, from a place in the file on."""

    def __init__(self, offset, compress):
        self.offset, self.compress, self.data = offset, compress, b""
        self.names, self.strings = {}, b""
        for number, name in DESCRIPTIONS.items():
            self.names[number] = len(self.strings)
            self.strings += zero_ended(name)

    def add(self, number, data, may_compress=True):
        """Where the section is."""
        place, flags = self.offset + len(self.data), 0
        if self.compress and may_compress:
            small = self.compress(data)
            data, flags = struct.pack("<II", len(small), len(data)) + small, IS_COMPRESSED
        self.data += SECTION_HEADER.pack(number, flags, self.names[number], len(data)) + data
        return place


def buffer_option(facts, buffer, section, table):
    data = (
        struct.pack("<Q", section) + zero_ended(buffer.name) + zero_ended(buffer.clock) + struct.pack("<II", facts.page_size, facts.nr_cpus)
    )
    return option(BUFFER, data + b"".join(struct.pack("<IQQ", cpu, *entry) for cpu, entry in enumerate(table)))


def buffer_options(facts, places, first):
    """`first`: where the section of the first one is."""
    sections = [first] + [place.section or 0 for place in places[1:]]
    return b"".join(buffer_option(facts, buffer, section, place.table) for buffer, section, place in zip(facts.buffers, sections, places))


def pages_header(begin, place, is_compressed):
    """Of a section of pages that begins at `begin`: a gap in front of the first page belongs to it."""
    nr_bytes = max(0, place.end - begin - SECTION_HEADER.size)
    return SECTION_HEADER.pack(BUFFER, IS_COMPRESSED if is_compressed else 0, Sections(0, None).names[BUFFER], nr_bytes)


def head_7(facts, places, compression):
    """The section of the first buffer is the last one: its header ends the head, and the first page is where the table says."""
    name, release, compress = compression or ("none", "", None)
    head = beginning(facts, 7) + zero_ended(name) + zero_ended(release)
    sections = Sections(len(head) + 8, compress)
    options = common_options(facts) + option(CPUCOUNT, struct.pack("<I", facts.nr_cpus))
    for number, data in texts(facts).items():
        options += option(number, struct.pack("<Q", sections.add(number, data)))
    options += option(STRINGS, struct.pack("<Q", sections.add(STRINGS, sections.strings, may_compress=False)))
    last = option(DONE, struct.pack("<Q", 0))
    nr_bytes = len(options) + len(buffer_options(facts, places, 0)) + len(last)
    first = sections.offset + len(sections.data)
    # Never compressed, so that its length is known before the place behind it is written into it.
    options += buffer_options(facts, places, first + SECTION_HEADER.size + nr_bytes) + last
    sections.add(DONE, options, may_compress=False)
    pages = pages_header(sections.offset + len(sections.data), places[0], compress)
    return head + struct.pack("<Q", first) + sections.data + pages


def head(facts, places, version=6, compression=None):
    """compression: (name, release, function), for version 7."""
    return head_6(facts, places) if version == 6 else head_7(facts, places, compression)
