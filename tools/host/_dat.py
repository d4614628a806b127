"""trace.dat, the file of trace-cmd and KernelShark: its head in version 6 and 7. Data of CPUs are pages of the kernel's rings, as they are.

    head = dat.head(facts, table, version=6)        # table: (offset, bytes) for each CPU, by number

Described by trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5). What they do not say: with the option TRACECLOCK, version 6 has the
clock once more behind the table of CPUs. trace-cmd leaves the option itself empty there, but then reads it as text all the same,
which is whatever its heap held before: once in some hundred reports it believes that times are no nanoseconds.
"""
import struct

from host import _stacks

MAGIC = b"\x17\x08\x44tracing"
LITTLE_ENDIAN, LONG_BYTES = 0, 8

# Options of both versions; from HEADER_INFO on they are sections of version 7, too.
DONE, CPUSTAT, BUFFER, TRACECLOCK, UNAME, CPUCOUNT, VERSION = 0, 2, 3, 4, 5, 8, 9
STRINGS, HEADER_INFO, FTRACE_EVENTS, EVENT_FORMATS, KALLSYMS, PRINTK, CMDLINES = range(15, 22)
SECTION_HEADER = struct.Struct("<HHIQ")  # id, flags, where its description is among the strings, bytes
IS_COMPRESSED = 1

DESCRIPTIONS = {DONE: "options", BUFFER: "buffer flyrecord", STRINGS: "strings", HEADER_INFO: "headers", FTRACE_EVENTS: "ftrace events",
                EVENT_FORMATS: "events format", KALLSYMS: "kallsyms", PRINTK: "trace_printk", CMDLINES: "command lines"}


class Facts:
    """What a reader has to know beside the pages. Texts are bytes, as the kernel's files have them."""

    header_page = header_event = kallsyms = printk = cmdlines = b""
    ftrace_formats = ()  # of the events of tracers
    systems = ()  # (name, formats) of the others
    clock = "local"
    uname = ""
    page_size = 4096
    may_have_stacks = True  # events kernel_stack
    nr_cpus = 1
    stats = ()  # a text for each CPU


# trace-cmd prints returns of functions in a way of its own, by two times that Linux records. The event has their difference: it is
# given out as the second one, and as the first the high half of the event's number, which is 0.
DURATION = b"\tfield:unsigned long long duration;\toffset:16;\tsize:8;\tsigned:0;\n"
TIMES = (b"\tfield:unsigned char calltime;\toffset:1;\tsize:1;\tsigned:0;\n"
         b"\tfield:unsigned long long rettime;\toffset:16;\tsize:8;\tsigned:0;\n")


def for_readers(text):
    """A format as readers need it that do not go by `print fmt`."""
    return text.replace(DURATION, DURATION + TIMES) if text.startswith(b"name: funcgraph_exit\n") else text


def sized(data, width="<Q"):
    return struct.pack(width, len(data)) + data


def zero_ended(text):
    return text.encode() + b"\0"


def option(number, data):
    return struct.pack("<HI", number, len(data)) + data


def symbols(facts):
    """
    The kernel's symbols, each also at the low half of its address: events hold only that, and readers that print functions
    in a way of their own look it up without the upper half.
    """
    lines = [line for line in facts.kallsyms.splitlines() if len(line) > 17]
    low = [b"00000000" + line[8:] for line in lines if line.startswith(b"ffffffff")]
    return b"\n".join(low + lines) + b"\n"


def texts(facts):
    """The parts of both versions, in the order that version 6 asks for."""
    systems = struct.pack("<I", len(facts.systems))
    for name, formats in facts.systems:
        systems += zero_ended(name) + struct.pack("<I", len(formats)) + b"".join(map(sized, formats))
    return {
        HEADER_INFO: b"header_page\0" + sized(facts.header_page) + b"header_event\0" + sized(facts.header_event),
        FTRACE_EVENTS: struct.pack("<I", len(facts.ftrace_formats)) + b"".join(sized(for_readers(text)) for text in _stacks.with_whole_addresses(facts.ftrace_formats)),
        EVENT_FORMATS: systems,
        KALLSYMS: sized(symbols(facts), "<I"),
        PRINTK: sized(facts.printk, "<I"),
        CMDLINES: sized(facts.cmdlines)}


def common_options(facts):
    made = option(UNAME, zero_ended(facts.uname)) + option(VERSION, zero_ended("fathom"))
    made += option(TRACECLOCK, zero_ended(f"[{facts.clock}]"))
    return made + b"".join(option(CPUSTAT, zero_ended(text)) for text in facts.stats)


def beginning(facts, version):
    return MAGIC + zero_ended(str(version)) + struct.pack("<BBI", LITTLE_ENDIAN, LONG_BYTES, facts.page_size)


def head_6(facts, table):
    head = beginning(facts, 6) + b"".join(texts(facts).values())
    head += struct.pack("<I", facts.nr_cpus) + b"options  \0" + common_options(facts)
    head += struct.pack("<H", DONE) + b"flyrecord\0" + b"".join(struct.pack("<QQ", *place) for place in table)
    return head + sized(f"[{facts.clock}]".encode())


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


def buffer_option(facts, place, table):
    data = struct.pack("<Q", place) + zero_ended("") + zero_ended(facts.clock) + struct.pack("<II", facts.page_size, facts.nr_cpus)
    return option(BUFFER, data + b"".join(struct.pack("<IQQ", cpu, *entry) for cpu, entry in enumerate(table)))


def head_7(facts, table, compression):
    """The section of the pages is the last one: its header ends the head, and the first page is where the table says."""
    name, release, compress = compression or ("none", "", None)
    head = beginning(facts, 7) + zero_ended(name) + zero_ended(release)
    sections = Sections(len(head) + 8, compress)
    options = common_options(facts) + option(CPUCOUNT, struct.pack("<I", facts.nr_cpus))
    for number, data in texts(facts).items():
        options += option(number, struct.pack("<Q", sections.add(number, data)))
    options += option(STRINGS, struct.pack("<Q", sections.add(STRINGS, sections.strings, may_compress=False)))
    last = option(DONE, struct.pack("<Q", 0))
    nr_bytes = len(options) + len(buffer_option(facts, 0, table)) + len(last)
    first = sections.offset + len(sections.data)
    # Never compressed, so that its length is known before the place behind it is written into it.
    options += buffer_option(facts, first + SECTION_HEADER.size + nr_bytes, table) + last
    sections.add(DONE, options, may_compress=False)
    flags = IS_COMPRESSED if compress else 0
    # The gap in front of the first page belongs to this section.
    begin = sections.offset + len(sections.data) + SECTION_HEADER.size
    nr_bytes = max(0, max(offset + size for offset, size in table) - begin)
    pages = SECTION_HEADER.pack(BUFFER, flags, sections.names[BUFFER], nr_bytes)
    return head + struct.pack("<Q", first) + sections.data + pages


def head(facts, table, version=6, compression=None):
    """compression: (name, release, function), for version 7."""
    return head_6(facts, table) if version == 6 else head_7(facts, table, compression)
