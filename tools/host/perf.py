"""fathom perf: the profiler's samples as a perf.data, for `perf report`, `perf script` and the tools that read these.

The events profile:sample become samples of the clock `cpu-clock`, with the stacks that the options stacktrace and userstacktrace have
written behind them as call chains. The names of functions go into a file of their own beside it, in the form of /proc/kallsyms, as
perf.data has no place for them; the build-id in the file keeps perf from taking those of its own kernel instead.

The layout is described in perf.data-file-format.txt of Linux's tools/perf.
"""
import hashlib
import struct

from host import _source
from host._common import NOTHING, Failure
from host._events import Lost
from host._output import replaced

HELP = "write the profiler's samples as a perf.data"
EXAMPLE = "tools/fathom perf -o perf.data trace.dat; perf report -i perf.data --kallsyms perf.data.kallsyms"

MAGIC, HEADER_BYTES, ATTR_BYTES = b"PERFILE2", 104, 64
SOFTWARE, CPU_CLOCK = 1, 0
IP, TID, TIME, CALLCHAIN, CPU, PERIOD = 1 << 0, 1 << 1, 1 << 2, 1 << 5, 1 << 7, 1 << 8
HAS_MMAP, HAS_COMM, BY_FREQUENCY = 1 << 8, 1 << 9, 1 << 10
MMAP, COMM, LOST, SAMPLE = 1, 3, 2, 9
IN_KERNEL, IN_USER, BUILD_ID_SIZE = 1, 2, 1 << 15
KERNEL_PART, USER_PART = (1 << 64) - 128, (1 << 64) - 512
BUILD_ID, FEATURE_BITS = 2, 256
NAME, MAP_NAME = b"[kernel.kallsyms]", b"[kernel.kallsyms]_text"
USER, NO_PID = 1, 0xFFFFFFFF
CONTEXT_USER = USER


def add_arguments(parser):
    parser.add_argument("-o", "--output", metavar="FILE", default="perf.data", help="the file to write (default: %(default)s)")
    _source.add_arguments(parser)


def record(kind, misc, data):
    return struct.pack("<IHH", kind, misc, 8 + len(data)) + data


def padded(text, to=8):
    return (text + b"\0").ljust((len(text) + to) // to * to, b"\0")


# ---- The recording ----


class Sample:
    """An event profile:sample, and the stacks behind it."""

    def __init__(self, event):
        self.event, self.kernel, self.user, self.process = event, [], [], event.pid

    def record(self):
        ip, is_user = self.event.number("ip"), self.event.number("context") == CONTEXT_USER
        kernel = [] if is_user else self.kernel or [ip]
        user = self.user or ([ip] if is_user else [])
        chain = ([KERNEL_PART, *kernel] if kernel else []) + ([USER_PART, *user] if user else [])
        data = struct.pack("<QIIQIIQ", ip, self.process, self.event.pid, self.event.ts, self.event.cpu, 0, self.event.number("period"))
        return record(SAMPLE, IN_USER if is_user else IN_KERNEL, data + struct.pack(f"<Q{len(chain)}Q", len(chain), *chain))


def addresses(callers):
    """Those of a stack, up to its end."""
    found = []
    for address in callers if isinstance(callers, list) else []:
        if address in (0, (1 << 64) - 1):
            break
        found.append(address & (1 << 64) - 1)
    return found


def samples_of(recording):
    """All samples, in the order of time. A stack belongs to the event before it of the same CPU."""
    samples, before = [], {}
    for event in recording.events():
        if isinstance(event, Lost):
            continue
        last = before.get(event.cpu)
        if event.system == "profile" and event.name == "sample":
            before[event.cpu] = Sample(event)
            samples.append(before[event.cpu])
        elif last and event.system == "ftrace" and event.name == "kernel_stack":
            last.kernel = addresses(event.fields.get("caller"))
        elif last and event.system == "ftrace" and event.name == "user_stack":
            last.user, last.process = addresses(event.fields.get("caller")), event.number("tgid")
        else:
            before.pop(event.cpu, None)
    return samples


# ---- The file ----


def kallsyms_of(symbols):
    """perf finds the beginning of the kernel by the name in that of its map."""
    return f"{symbols.addresses[0]:016x} T _text\n" + "".join(
        f"{address:016x} T {name}\n" for address, name in zip(symbols.addresses, symbols.names)
    )


def map_of_kernel(symbols):
    first, last = symbols.addresses[0], symbols.addresses[-1] + 0x1000
    return record(MMAP, IN_KERNEL, struct.pack("<IIQQQ", NO_PID, 0, first, last - first, first) + padded(MAP_NAME))


def names_of(recording, samples):
    """A record for the name of each thread."""
    threads = {sample.event.pid: sample.process for sample in samples}
    return b"".join(
        record(COMM, 0, struct.pack("<II", process, pid) + padded((recording.comm(pid) if pid else "swapper").encode()))
        for pid, process in sorted(threads.items())
    )


def attribute(period):
    sample_type = IP | TID | TIME | CALLCHAIN | CPU | PERIOD
    return struct.pack("<IIQQQQQIIQ", SOFTWARE, ATTR_BYTES, CPU_CLOCK, period, sample_type, 0, HAS_MMAP | HAS_COMM, 0, 0, 0)


def build_id(symbols):
    """Of the names: perf takes no symbols of another kernel for those of this one."""
    digest = hashlib.sha1(kallsyms_of(symbols).encode()).digest()
    return record(0, IN_KERNEL | BUILD_ID_SIZE, struct.pack("<I", NO_PID) + digest + bytes([len(digest), 0, 0, 0]) + padded(NAME, 64))


def perf_data(recording, samples):
    records = map_of_kernel(recording.symbols) + names_of(recording, samples) + b"".join(sample.record() for sample in samples)
    attrs_at = HEADER_BYTES
    data_at = attrs_at + ATTR_BYTES + 16
    features_at = data_at + len(records)
    ids = build_id(recording.symbols)
    flags = (1 << BUILD_ID).to_bytes(FEATURE_BITS // 8, "little")
    head = MAGIC + struct.pack("<QQQQQQQQ", HEADER_BYTES, ATTR_BYTES + 16, attrs_at, ATTR_BYTES + 16, data_at, len(records), 0, 0) + flags
    attrs = attribute(samples[0].event.number("period")) + struct.pack("<QQ", 0, 0)
    return head + attrs + records + struct.pack("<QQ", features_at + 16, len(ids)) + ids


def run(options):
    recording = _source.opened(options)
    samples = samples_of(recording)
    if not samples:
        raise Failure(f"{options.source} has no events profile:sample (docs/profiling.md)", NOTHING)
    if not recording.symbols.addresses:
        raise Failure(f"{options.source} has no names of functions")
    names = f"{options.output}.kallsyms"
    with replaced(names) as file:
        file.write(kallsyms_of(recording.symbols))
    with replaced(options.output, "wb") as file:
        file.write(perf_data(recording, samples))
    print(f"{options.output}: {len(samples)} samples; perf report -i {options.output} --kallsyms {names}")
