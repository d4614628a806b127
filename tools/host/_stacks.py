"""Stack traces of pages, as trace-cmd reads them.

The kernel keeps the low half of each address; trace-cmd prints the event kernel_stack in a way of its own, from whole ones. So pages
with this event are the only ones that are not copied as they are: it gets longer in them, and a page may become several.
"""
import struct

HEADER_BYTES = 16  # of a page: the time, and how much there is
LENGTH_MASK, HAS_COUNT = (1 << 27) - 1, 1 << 30
LONG_FORM, LAST_SHORT, PADDING, TIME_EXTEND, TIME_STAMP = 0, 28, 29, 30, 31
DELTA_BITS = 27
STAMP_MASK = (1 << 59) - 1
CALLERS_AT = 8  # behind the fields that all events have
COUNT_BYTES = 8

FORMAT = b"""name: kernel_stack
ID: %d
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned long caller[];\toffset:8;\tsize:0;\tsigned:0;

print fmt: "\\t=> %%ps\\n\\t=> %%ps\\n\\t=> %%ps\\n\\t=> %%ps\\n", (void *)REC->caller[0], (void *)REC->caller[1], \
(void *)REC->caller[2], (void *)REC->caller[3]
"""


def number_of(ftrace_formats):
    """The event's number, if the kernel keeps half addresses; otherwise None."""
    for text in ftrace_formats:
        if text.startswith(b"name: kernel_stack\n") and b"unsigned int caller[]" in text:
            return int(text.split(b"\nID: ")[1].split()[0])
    return None


def with_whole_addresses(ftrace_formats):
    number = number_of(ftrace_formats)
    return [FORMAT % number if number is not None and text.startswith(b"name: kernel_stack\n") else text for text in ftrace_formats]


def records(page):
    """(time, bytes before the payload, payload) of each record; without payload for those that only carry time or fill."""
    time, commit = struct.unpack_from("<QQ", page)
    at, end = HEADER_BYTES, HEADER_BYTES + (commit & LENGTH_MASK)
    while at < end:
        word, second = struct.unpack_from("<II", page, at) if at + 8 <= len(page) else (struct.unpack_from("<I", page, at)[0], 0)
        kind, delta = word & 31, word >> 5
        if kind == PADDING and not delta:
            return
        start, size = (at + 8, second - 4) if kind in (LONG_FORM, PADDING) else (at + 4, 4 * kind)
        if kind == TIME_STAMP:
            time = (time & ~STAMP_MASK) | delta | second << DELTA_BITS
        else:
            time += delta | second << DELTA_BITS if kind == TIME_EXTEND else delta
        if kind > LAST_SHORT:
            following = start + size if kind == PADDING else at + 8
            yield time, page[at:following], None
        else:
            following = start + size
            yield time, page[at:start], page[start:following]
        at = following


def whole_addresses(payload):
    low = struct.unpack_from(f"<{(len(payload) - CALLERS_AT) // 4}I", payload, CALLERS_AT)
    whole = [address | 0xFFFFFFFF00000000 if address >> 31 else address for address in low]
    return payload[:CALLERS_AT] + struct.pack(f"<{len(whole)}Q", *whole)


def record(delta, payload):
    size = len(payload)
    if size <= 4 * LAST_SHORT and size:
        return struct.pack("<I", size // 4 | delta << 5) + payload
    return struct.pack("<II", LONG_FORM | delta << 5, size + 4) + payload


class Writer:
    """Pages with new records."""

    def __init__(self, page):
        self.page_size, self.pages = len(page), []
        self.time, commit = struct.unpack_from("<QQ", page)
        self.flags = commit & ~LENGTH_MASK
        used = commit & LENGTH_MASK
        self.count = page[HEADER_BYTES + used:HEADER_BYTES + used + COUNT_BYTES] if commit & HAS_COUNT else b""
        self.data = b""

    def room(self):
        return self.page_size - HEADER_BYTES - len(self.data) - len(self.count)

    def end_page(self):
        head = struct.pack("<QQ", self.time, self.flags | len(self.data))
        self.pages.append((head + self.data + self.count).ljust(self.page_size, b"\0"))
        self.flags, self.count, self.data = 0, b"", b""

    def add(self, time, held, payload):
        """`held`: the records since the last payload, which carry time, and this one's header."""
        made = held + payload
        if len(made) > self.room():
            self.end_page()
            self.time = time
            made = record(0, payload)
        self.data += made


def widened(page, number):
    """The pages to write for this one."""
    if bytes([number & 255]) not in page[HEADER_BYTES + 4::4]:
        return [page]
    writer, held = Writer(page), b""
    for time, head, payload in records(page):
        if payload is None:
            held += head
            continue
        if struct.unpack_from("<H", payload)[0] == number:
            payload = whole_addresses(payload)
            head = record(struct.unpack_from("<I", head)[0] >> 5, payload)[:-len(payload)]
        writer.add(time, held + head, payload)
        held = b""
    writer.end_page()
    return writer.pages
