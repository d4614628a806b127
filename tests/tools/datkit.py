"""Writes trace.dat files of version 6 and 7 for tests: of texts and pages, however right or wrong those are."""
import struct
import zlib

COMMON = """
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

"""
HEADER_PAGE = """	field: u64 timestamp;	offset:0;	size:8;	signed:0;
	field: local_t commit;	offset:8;	size:8;	signed:1;
	field: int overwrite;	offset:8;	size:1;	signed:1;
	field: char data;	offset:16;	size:4080;	signed:1;
"""
HEAD = b"\x17\x08\x44tracing"
ALIGNED = 4096


def format_of(name, number, fields, print_fmt='""'):
    """The text of a `format` file. fields: (declaration, offset, size, signed) each."""
    lines = "".join(f"\tfield:{words};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n" for words, offset, size, signed in fields)
    return f"name: {name}\nID: {number}\nformat:{COMMON}{lines}\nprint fmt: {print_fmt}\n"


def record(delta, data):
    """An event of a page: its head and its bytes."""
    data += b"\0" * (-len(data) % 4)
    assert delta < 1 << 27
    if len(data) > 112:
        return struct.pack("<II", delta << 5, len(data) + 4) + data
    return struct.pack("<I", len(data) // 4 | delta << 5) + data


def page(start, *records, lost=None, size=4096):
    """lost: how many events are missing before it; 0: an unknown number."""
    data = b"".join(records)
    flags = 0 if lost is None else 1 << 31 | (1 << 30 if lost else 0)
    behind = struct.pack("<Q", lost) if lost else b""
    return (struct.pack("<QQ", start, len(data) | flags) + data + behind).ljust(size, b"\0")


def sized(width, text):
    text = text if isinstance(text, bytes) else text.encode()
    return len(text).to_bytes(width, "little") + text


def by_system(formats):
    """formats: {system: [text]}; the part of a file with those that are no tracers' own."""
    others = {system: texts for system, texts in formats.items() if system != "ftrace"}
    return struct.pack("<I", len(others)) + b"".join(
        system.encode() + b"\0" + struct.pack("<I", len(texts)) + b"".join(sized(8, text) for text in texts)
        for system, texts in others.items()
    )


class Parts:
    """The parts of a file. pages: {cpu: bytes}."""

    def __init__(self, formats, pages, kallsyms="", cmdlines="", printk="", header_page=HEADER_PAGE, clock="local", options=()):
        self.headers = b"header_page\0" + sized(8, header_page) + b"header_event\0" + sized(8, "")
        own = formats.get("ftrace", [])
        self.own = struct.pack("<I", len(own)) + b"".join(sized(8, text) for text in own)
        self.formats, self.kallsyms, self.printk, self.cmdlines = (
            by_system(formats),
            sized(4, kallsyms),
            sized(4, printk),
            sized(8, cmdlines),
        )
        self.pages, self.clock = pages, clock.encode()
        self.options = b"".join(
            struct.pack("<HI", number, len(data)) + data for number, data in options
        )  # beside those that all files have


def version_6(parts):
    clock = b"[" + parts.clock + b"]\0"
    head = HEAD + b"6\0" + struct.pack("<BBI", 0, 8, 4096) + parts.headers + parts.own + parts.formats
    head += parts.kallsyms + parts.printk + parts.cmdlines + struct.pack("<I", len(parts.pages))
    head += b"options  \0" + struct.pack("<HI", 4, len(clock)) + clock + parts.options + struct.pack("<H", 0) + b"flyrecord\0"
    at = len(head) + 16 * len(parts.pages) + 8 + len(clock)
    at += -at % ALIGNED
    table, data = b"", b""
    for cpu in sorted(parts.pages):
        table += struct.pack("<QQ", at + len(data), len(parts.pages[cpu]))
        data += parts.pages[cpu]
    return (head + table + sized(8, clock)).ljust(at, b"\0") + data


def packed(data):
    small = zlib.compress(data)
    return struct.pack("<II", len(small), len(data)) + small


def version_7(parts, compression="none"):
    squeeze = compression == "zlib"
    out = bytearray(HEAD + b"7\0" + struct.pack("<BBI", 0, 8, 4096) + compression.encode() + b"\0\0" + struct.pack("<Q", 0))
    start = len(out) - 8
    options = b""

    def section(number, data):
        at, data = len(out), packed(data) if squeeze else data
        out.extend(struct.pack("<HHIQ", number, int(squeeze), 0, len(data)) + data)
        return at

    for number, data in (
        (16, parts.headers),
        (17, parts.own),
        (18, parts.formats),
        (19, parts.kallsyms),
        (20, parts.printk),
        (21, parts.cmdlines),
    ):
        options += struct.pack("<HIQ", number, 8, section(number, data))
    at = len(out)
    out.extend(struct.pack("<HHIQ", 3, int(squeeze), 0, 0))
    table = b""
    for cpu in sorted(parts.pages):
        data = parts.pages[cpu]
        data = struct.pack("<I", 1) + packed(data) if squeeze and data else data
        out.extend(b"\0" * (-len(out) % ALIGNED))
        table += struct.pack("<IQQ", cpu, len(out), len(data))
        out.extend(data)
    buffer = struct.pack("<Q", at) + b"\0" + parts.clock + b"\0" + struct.pack("<II", 4096, len(parts.pages)) + table
    options += struct.pack("<HI", 3, len(buffer)) + buffer + struct.pack("<HIQ", 0, 8, 0)
    out[start : start + 8] = struct.pack("<Q", len(out))
    out.extend(struct.pack("<HHIQ", 0, 0, 0, len(options)) + options)
    return bytes(out)


def of_guest(client, tracing="/sys/kernel/tracing"):
    """The parts of a guest's trace, by a client of its channel, while recording is off. Names first: reading makes threads, too."""
    texts = {
        name: client.read_all(path).decode()
        for name, path in (
            ("cmdlines", f"{tracing}/saved_cmdlines"),
            ("kallsyms", "/proc/kallsyms"),
            ("printk", f"{tracing}/printk_formats"),
        )
    }
    formats = {}
    for system in client.names(f"{tracing}/events"):
        if system in (".", "..", "enable", "header_page", "header_event"):
            continue
        folder = f"{tracing}/events/{system}"
        names = [name for name in client.names(folder) if name not in (".", "..", "enable", "filter")]
        formats[system] = [client.read_all(f"{folder}/{name}/format").decode() for name in names]
    pages = {}
    for cpu in sorted(int(name[3:]) for name in client.names(f"{tracing}/per_cpu") if name.startswith("cpu")):
        pages[cpu] = pages_of(client, f"{tracing}/per_cpu/cpu{cpu}/trace_pipe_raw")
    return Parts(formats, pages, header_page=client.read_all(f"{tracing}/events/header_page").decode(), **texts)


def pages_of(client, path, nonblock=0o4000):
    data = b""
    with client.opened(path, nonblock) as fid:
        try:
            while part := client.read(fid, len(data), 4096):
                data += part.ljust(4096, b"\0")
        except BlockingIOError:
            pass
    return data
