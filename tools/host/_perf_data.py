"""perf.data: its records, and the two forms of a file, one with a head and one that goes through a pipe.

    attributes = [Attribute.clock(period), Attribute.tracepoint(number)]
    file_of(attributes, Features(build_id, tracing), records)      # or piped_of()

Each sample begins with the number of its attribute, and each other record ends with one (`sample_id_all`), so that a file has any number of
events. Described in perf.data-file-format.txt of Linux's tools/perf; what that does not say is in its header.c: the data of
trace-point formats are the head of a trace.dat, and a reader of a pipe expects attributes of the length that it knows.
"""
import struct

from host._write_head import LITTLE_ENDIAN, LONG_BYTES, sized, zero_ended
from host._write_head import MAGIC as TRACING

MAGIC, HEADER_BYTES = b"PERFILE2", 104
ATTR_BYTES, PIPED_ATTR_BYTES = 64, 128  # the first version's, and that of perf 6
SOFTWARE, TRACEPOINT, CPU_CLOCK = 1, 2, 0
IP, TID, TIME, CALLCHAIN, CPU, PERIOD, RAW, IDENTIFIER = (1 << bit for bit in (0, 1, 2, 5, 7, 8, 10, 16))
OF_ALL = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CALLCHAIN
HAS_MMAP, HAS_COMM, BY_FREQUENCY, HAS_TASK, SAMPLE_ID_ALL = (1 << bit for bit in (8, 9, 10, 13, 18))
MMAP, COMM, EXIT, FORK, SAMPLE, HEADER_ATTR, HEADER_TRACING, HEADER_BUILD_ID, FINISHED_ROUND = 1, 3, 4, 7, 9, 64, 66, 67, 68
IN_KERNEL, IN_USER = 1, 2
OF_BUILD_ID = IN_KERNEL | 1 << 15  # its length is given
KERNEL_PART, USER_PART = (1 << 64) - 128, (1 << 64) - 512
TRACING_DATA, BUILD_ID, FEATURE_BITS = 1, 2, 256
KERNEL, KERNEL_MAP, NO_PID = b"[kernel.kallsyms]", b"[kernel.kallsyms]_text", 0xFFFFFFFF


def record(kind, misc, data):
    return struct.pack("<IHH", kind, misc, 8 + len(data)) + data


def padded(text, to=8):
    return (text + b"\0").ljust((len(text) + to) // to * to, b"\0")


class Attribute:
    """An event of the file. number: by which samples name it."""

    def __init__(self, kind, config, period, is_raw):
        self.kind, self.config, self.period, self.is_raw, self.number = kind, config, period, is_raw, config + 1

    @classmethod
    def clock(cls, period):
        return cls(SOFTWARE, CPU_CLOCK, period, False)

    @classmethod
    def tracepoint(cls, number):
        return cls(TRACEPOINT, number, 1, True)

    def encoded(self, size):
        sample_type = OF_ALL | (RAW if self.is_raw else 0)
        flags = HAS_MMAP | HAS_COMM | HAS_TASK | SAMPLE_ID_ALL
        fields = (self.kind, size, self.config, self.period, sample_type, 0, flags, 0, 0, 0)
        return struct.pack("<IIQQQQQIIQ", *fields).ljust(size, b"\0")


# ---- Records ----


def of_thread(kind, misc, data, pid, time=0, number=1):
    """A record about a thread or process, with what all records have at their ends. Time 0: before all others."""
    return record(kind, misc, data + struct.pack("<IIQIIQ", pid, pid, time, 0, 0, number))


def kernel_map(first, nr_bytes):
    return of_thread(MMAP, IN_KERNEL, struct.pack("<IIQQQ", NO_PID, 0, first, nr_bytes, first) + padded(KERNEL_MAP), 0)


def program_map(process, code, path, time):
    """code: (address, bytes, where they are in the file)"""
    return of_thread(MMAP, IN_USER, struct.pack("<IIQQQ", process, process, *code) + padded(str(path).encode()), process, time)


def name(process, pid, comm, time=0):
    return of_thread(COMM, 0, struct.pack("<II", process, pid) + padded(comm.encode()), pid, time)


def birth(child, parent, time):
    return of_thread(FORK, 0, struct.pack("<IIIIQ", child, parent, child, parent, time), child, time)


def end(pid, time):
    return of_thread(EXIT, 0, struct.pack("<IIIIQ", pid, pid, pid, pid, time), pid, time)


def chain_of(kernel, user):
    chain = ([KERNEL_PART, *kernel] if kernel else []) + ([USER_PART, *user] if user else [])
    return struct.pack(f"<{len(chain) + 1}Q", len(chain), *chain)


def raw_of(data):
    """With its length in front, a multiple of 8 bytes together."""
    data = data.ljust((len(data) + 4 + 7) // 8 * 8 - 4, b"\0")
    return struct.pack("<I", len(data)) + data


# ---- Features ----


def build_id(digest):
    """Of the kernel: with it perf takes no names of another one, such as that it runs on."""
    return struct.pack("<I", NO_PID) + digest + bytes([len(digest), 0, 0, 0]) + padded(KERNEL, 64)


def tracing_data(header_page, formats):
    """The formats of trace-point samples. formats: {system: texts}, those of ftrace included."""
    own = formats.pop("ftrace", [])
    data = TRACING + zero_ended("0.6") + struct.pack("<BBI", LITTLE_ENDIAN, LONG_BYTES, 4096)
    data += zero_ended("header_page") + sized(header_page.encode()) + zero_ended("header_event") + sized(b"\n")
    data += struct.pack("<I", len(own)) + b"".join(sized(text.encode()) for text in own) + struct.pack("<I", len(formats))
    for system, texts in formats.items():
        data += zero_ended(system) + struct.pack("<I", len(texts)) + b"".join(sized(text.encode()) for text in texts)
    return data + sized(b"", "<I") + sized(b"", "<I") + sized(b"")  # symbols, trace_printk, names of threads


# ---- Files ----


def file_of(attributes, features, records):
    """features: {TRACING_DATA or BUILD_ID: its bytes}. Bits and sections are in the order of the numbers."""
    features = {**features, BUILD_ID: record(0, OF_BUILD_ID, features[BUILD_ID])}
    ids = b"".join(struct.pack("<Q", one.number) for one in attributes)
    attrs_at = HEADER_BYTES + len(ids)
    attrs = b"".join(one.encoded(ATTR_BYTES) + struct.pack("<QQ", HEADER_BYTES + 8 * i, 8) for i, one in enumerate(attributes))
    data_at = attrs_at + len(attrs)
    at, table = data_at + len(records) + 16 * len(features), b""
    for number in sorted(features):
        table += struct.pack("<QQ", at, len(features[number]))
        at += len(features[number])
    flags = sum(1 << number for number in features).to_bytes(FEATURE_BITS // 8, "little")
    places = (HEADER_BYTES, ATTR_BYTES + 16, attrs_at, len(attrs), data_at, len(records), 0, 0)
    head = MAGIC + struct.pack("<QQQQQQQQ", *places) + flags
    return head + ids + attrs + records + table + b"".join(features[number] for number in sorted(features))


def piped_of(attributes, features, records):
    data = MAGIC + struct.pack("<Q", 16)
    for one in attributes:
        data += record(HEADER_ATTR, 0, one.encoded(PIPED_ATTR_BYTES) + struct.pack("<Q", one.number))
    if TRACING_DATA in features:
        formats = features[TRACING_DATA]
        formats = formats.ljust((len(formats) + 7) // 8 * 8, b"\0")
        data += record(HEADER_TRACING, 0, struct.pack("<I", len(formats))) + formats
    data += record(HEADER_BUILD_ID, OF_BUILD_ID, features[BUILD_ID]) + records
    return data + record(FINISHED_ROUND, 0, b"")
