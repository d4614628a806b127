"""Reads trace.dat files, of trace-cmd's versions 6 and 7: Trace("trace.dat") is a Recording of _events.py.

A file has the buffer of the machine, and may have those of instances: all events of all, or those of one instance.

A file that is damaged, or no such file, ends in a Failure that says what is wrong and where. The layout is described in
trace-cmd.dat(5), that of the pages in docs/ring-buffer.md.
"""
import mmap
import struct
import zlib

from host import _decompress, _maps
from host._common import Failure
from host._events import Cursor, Cut, Recording, Symbols

MAGIC = b"\x17\x08\x44tracing"
COMPRESSED = 1  # flag of a section
DONE, BUFFER, TRACECLOCK, PROCMAPS = 0, 3, 4, 10
HEADER_INFO, FTRACE_EVENTS, EVENT_FORMATS, KALLSYMS, PRINTK, CMDLINES = range(16, 22)
MOST_CPUS = 1 << 16


class Ring:
    """Where the pages of a CPU in a buffer are. are_chunks: they are compressed."""

    def __init__(self, buffer, cpu, offset, size, are_chunks=False):
        self.buffer, self.cpu, self.offset, self.size, self.are_chunks = buffer, cpu, offset, size, are_chunks


class Trace(Recording):
    """An open file. buffer: the instance whose events are wanted, None for all events."""

    def __init__(self, path, buffer=None):
        super().__init__(str(path))
        self.path, self.places = str(path), []
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            self.data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
        if self.data[: len(MAGIC)] != MAGIC:
            raise Failure(f"{path} is no trace.dat: it does not begin as one")
        try:
            self._read_head()
        except Cut as cut:
            raise Failure(f"{path} is cut off: {cut}") from None
        except (ValueError, zlib.error, struct.error) as err:
            raise Failure(f"{path} is damaged: {err}") from None
        self.buffers = list(dict.fromkeys(ring.buffer for ring in self.places))
        if buffer is not None and buffer not in self.buffers:
            names = ", ".join(filter(None, self.buffers))
            raise Failure(f"{path} has no instance {buffer}" + (f", but {names}" if names else ""))
        self.places = [ring for ring in self.places if buffer in (None, ring.buffer)]
        self.cpus = sorted({ring.cpu for ring in self.places})

    # ---- The head, in front of the pages ----

    def _read_head(self):
        head = Cursor(self.data, len(MAGIC))
        version, big_endian, long_bytes = head.string(), head.number(1), head.number(1)
        if big_endian or long_bytes != 8:
            raise Failure(f"{self.path} is of a machine that is not little-endian, or not of 64 bits")
        head.number(4)  # the page size; header_page says how large a sub-buffer is
        if version == "6":
            self._read_version_6(head)
        elif version == "7":
            self._read_version_7(head)
        else:
            raise Failure(f"{self.path} has version {version!r} of trace.dat; 6 and 7 are known")
        for ring in self.places:
            if ring.offset + ring.size > len(self.data):
                raise Cut(
                    f"the events of CPU {ring.cpu} should be at byte {ring.offset}, {ring.size} of them; the file has {len(self.data)}"
                )

    def _read_version_6(self, head):
        self._header_page(head)
        self._own_formats(head)
        self._formats(head)
        self.symbols = Symbols(head.sized_text(4))
        self.read_printk(head.sized_text(4))
        self.read_cmdlines(head.sized_text(8))
        cpus = head.number(4)
        if cpus > MOST_CPUS:
            raise ValueError(f"{cpus} CPUs")
        buffers, start = [], head.at
        if head.string().strip() == "options":
            while (number := head.number(2)) != 0:
                self._option_6(number, head.take(head.number(4)), buffers)
            start = head.at
        self._flyrecord_6("", start, cpus)
        for name, offset in buffers:
            self._flyrecord_6(name, offset, cpus)

    def _flyrecord_6(self, buffer, offset, cpus):
        head = Cursor(self.data, offset)
        word = head.string().strip()
        if word != "flyrecord":
            raise Failure(f"{self.path} holds no pages of events, but {word!r}")
        self.places += [Ring(buffer, cpu, head.number(8), head.number(8)) for cpu in range(cpus)]

    def _option_6(self, number, data, buffers):
        if number == TRACECLOCK:
            self.read_clock(data.split(b"\0")[0].decode("utf-8", "replace"))
        elif number == BUFFER:
            option = Cursor(data)
            offset = option.number(8)
            buffers.append((option.string(), offset))
        elif number == PROCMAPS:
            self._read_maps(data)

    def _read_maps(self, data):
        found = _maps.of_option(data)
        if found:
            self.maps[found[0]] = found[1]

    def _read_version_7(self, head):
        self.compression = head.string()
        head.string()
        if self.compression not in _decompress.MAY_SAY:
            raise Failure(
                f"{self.path} is compressed with {self.compression}; " "`trace-cmd convert --compression none` writes one that is not"
            )
        offset, seen, options = head.number(8), set(), []
        while offset and offset not in seen:
            seen.add(offset)
            block, offset = Cursor(self._section(offset)[1]), 0
            while (number := block.number(2)) != DONE:
                options.append((number, block.take(block.number(4))))
            offset = Cursor(block.take(block.number(4))).number(8)
        for number, data in options:
            self._option_7(number, data)

    def _section(self, offset):
        """(is it compressed, its bytes)"""
        head = Cursor(self.data, offset)
        head.number(2)
        flags, _, size = head.number(2), head.number(4), head.number(8)
        data = head.take(size)
        if not flags & COMPRESSED:
            return False, data
        inner = Cursor(data)
        packed = inner.number(4)
        return True, self._unpacked(inner.take(packed + 4)[4:], int.from_bytes(data[4:8], "little"))

    def _unpacked(self, data, size):
        return _decompress.unpacked(self.compression, data, size)

    def _option_7(self, number, data):
        option = Cursor(data)
        if number == BUFFER:
            return self._buffer(option)
        if number == TRACECLOCK:
            return self.read_clock(data.split(b"\0")[0].decode("utf-8", "replace"))
        if number == PROCMAPS:
            return self._read_maps(data)
        if HEADER_INFO <= number <= CMDLINES:
            section = Cursor(self._section(option.number(8))[1])
            read = {HEADER_INFO: self._header_page, FTRACE_EVENTS: self._own_formats, EVENT_FORMATS: self._formats}.get(number)
            if read:
                return read(section)
            text = section.sized_text(8 if number == CMDLINES else 4)
            if number == KALLSYMS:
                self.symbols = Symbols(text)
            elif number == PRINTK:
                self.read_printk(text)
            else:
                self.read_cmdlines(text)
        return None

    def _buffer(self, option):
        offset, name, clock = option.number(8), option.string(), option.string()
        option.number(4)
        self.read_clock(clock)
        are_chunks = bool(Cursor(self.data, offset + 2).number(2) & COMPRESSED)
        self.places += [
            Ring(name, option.number(4), option.number(8), option.number(8), are_chunks) for _ in range(min(option.number(4), MOST_CPUS))
        ]

    def _header_page(self, cursor):
        for word in ("header_page", "header_event"):
            if cursor.string() != word:
                raise ValueError(f"{word} is not where it should be")
            text = cursor.sized_text(8)
            if word == "header_page":
                self.read_header_page(text)

    def _own_formats(self, cursor):
        for _ in range(cursor.number(4)):
            self.read_format("ftrace", cursor.sized_text(8))

    def _formats(self, cursor):
        for _ in range(cursor.number(4)):
            system = cursor.string()
            for _ in range(cursor.number(4)):
                self.read_format(system, cursor.sized_text(8))

    def rings(self):
        return [(ring.cpu, self._pages(ring)) for ring in self.places]

    def _pages(self, ring):
        end = ring.offset + ring.size
        if not ring.are_chunks:
            for at in range(ring.offset, end, self.page_bytes):
                yield self.data[at : min(at + self.page_bytes, end)]
            return
        block = Cursor(self.data, ring.offset)
        for _ in range(block.number(4) if ring.size else 0):
            packed, whole = block.number(4), block.number(4)
            data = self._unpacked(block.take(packed), whole)
            for at in range(0, len(data), self.page_bytes):
                yield data[at : at + self.page_bytes]
