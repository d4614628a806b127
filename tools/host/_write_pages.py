"""Pages of rings on their way into a trace.dat.

They are written as they come, behind room for the head. At the end they are put into the order of the file, each ring's together,
in their places: the disk need not hold them twice, and what has come so far becomes a whole file when the disk is full.

Rings are numbered through all buffers. In front of those of each buffer there is one more number: in all buffers but the first it
has one page, whose end is the header of the buffer's section in version 7.
"""
import array
import itertools
import os
import struct

from host import _write_head as dat
from host._common import Failure

CHUNK_PAGES = 64  # that are compressed together
SLACK = 128 << 10  # for what the head may grow by: names of tasks


class Pages:
    def __init__(self, target, facts):
        self.target, self.page_size, self.nr_cpus = target, facts.page_size, facts.nr_cpus
        self.partial = target.with_name(f"{target.name}.{os.getpid()}")
        self.nr_buffers = len(facts.buffers)
        self.rings = array.array("H")  # of the pages, in the order of the file
        nowhere = [dat.Place([(0, 0)] * facts.nr_cpus)] * self.nr_buffers
        head = max(len(dat.head(facts, nowhere, version)) for version in (6, 7))
        self.start = -(-(head + SLACK) // self.page_size) * self.page_size
        self.fd = os.open(self.partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            self._write(bytes(self.start), 0)
            for buffer in range(1, self.nr_buffers):
                self._append(self._ring(buffer, 0) - 1, bytes(self.page_size))
        except BaseException:
            self.drop()
            raise

    def drop(self):
        """Leave nothing behind."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        self.partial.unlink(missing_ok=True)

    def _write(self, data, offset):
        view = memoryview(data)
        while view:
            put = os.pwrite(self.fd, view, offset)
            offset, view = offset + put, view[put:]

    def _place(self, slot):
        return self.start + slot * self.page_size

    def _ring(self, buffer, cpu):
        return buffer * (self.nr_cpus + 1) + 1 + cpu

    def _append(self, ring, page):
        self._write(page, self._place(len(self.rings)))
        self.rings.append(ring)

    def add(self, cpu, page, buffer=0):
        """OSError when the disk is full: the page is not in the file then, and all before it are."""
        if len(page) != self.page_size:
            raise Failure(f"a page of CPU {cpu} makes no sense: it has {len(page)} bytes")
        self._append(self._ring(buffer, cpu), page)

    @property
    def nr_pages(self):
        return len(self.rings) - (self.nr_buffers - 1)

    @property
    def nr_bytes(self):
        return self.nr_pages * self.page_size

    def _places(self):
        """A Place for each buffer, and the first slot of each ring."""
        counts = [self.rings.count(ring) for ring in range(self._ring(self.nr_buffers - 1, self.nr_cpus))]
        first = [0, *itertools.accumulate(counts)]
        rings = [(self._place(slot), count * self.page_size) for slot, count in zip(first, counts)]
        places = []
        for buffer in range(self.nr_buffers):
            begin = self._ring(buffer, 0)
            section = rings[begin][0] - dat.SECTION_HEADER.size if buffer else None
            places.append(dat.Place(rings[begin : begin + self.nr_cpus], section))
        return places, first

    def _sort(self, first):
        """Move each page to its ring's, along the cycles of the permutation."""
        goal = array.array("Q")
        for ring in self.rings:
            goal.append(first[ring])
            first[ring] += 1
        for slot in range(len(goal)):
            if goal[slot] == slot:
                continue
            page = os.pread(self.fd, self.page_size, self._place(slot))
            while goal[slot] != slot:
                to = goal[slot]
                following = os.pread(self.fd, self.page_size, self._place(to))
                self._write(page, self._place(to))
                goal[slot], goal[to], page = goal[to], to, following
            self._write(page, self._place(slot))

    def _head(self, facts, places, version):
        """If need be without the names of the oldest tasks: the room for it is what it is."""
        head = dat.head(facts, places, version)
        if len(head) > self.start:
            names = facts.cmdlines[len(head) - self.start :]
            facts.cmdlines = names[names.find(b"\n") + 1 :]
            head = dat.head(facts, places, version)
        return head

    def finish(self, facts, version, compression):
        """Make the file. OSError when there is no room for a compressed one; then it can be made without compression."""
        places, first = self._places()
        self._sort(first)
        self.rings = array.array("H", sorted(self.rings))
        os.ftruncate(self.fd, self._place(len(self.rings)))
        if compression:
            self._finish_compressed(facts, places, compression)
        else:
            for place in places[1:]:
                self._write(dat.pages_header(place.section, place, False), place.section)
            self._write(self._head(facts, places, version), 0)
            self.partial.rename(self.target)
        self.drop()

    def _compressed(self, out, offset, size, compress):
        """Write the pages from `offset` on as chunks; their bytes."""
        step = CHUNK_PAGES * self.page_size
        begin = out.tell()
        out.write(struct.pack("<I", -(-size // step)))
        for at in range(0, size, step):
            chunk = os.pread(self.fd, min(step, size - at), offset + at)
            small = compress(chunk)
            out.write(struct.pack("<II", len(small), len(chunk)) + small)
        return out.tell() - begin

    def _compress_buffer(self, out, place, compress):
        """Its Place in the compressed file. In front of the pages is the header of their section, but for the first buffer."""
        section, found = out.tell(), []
        if place.section:
            out.seek(section + dat.SECTION_HEADER.size)
        for offset, size in place.table:
            if size:  # or the file might end in front of that
                out.seek(-(-out.tell() // self.page_size) * self.page_size)
            at = out.tell()
            found.append((at, self._compressed(out, offset, size, compress) if size else 0))
        made, end = dat.Place(found, section if place.section else None), out.tell()
        if made.section:
            out.seek(section)
            out.write(dat.pages_header(section, made, True))
            out.seek(end)
        return made

    def _finish_compressed(self, facts, places, compression):
        small = self.partial.with_name(f"{self.partial.name}.small")
        try:
            with open(small, "wb") as out:
                out.seek(self.start)
                places = [self._compress_buffer(out, place, compression[2]) for place in places]
                out.seek(0)
                out.write(dat.head(facts, places, 7, compression))
            small.rename(self.target)
        finally:
            small.unlink(missing_ok=True)
