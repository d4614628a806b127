"""Pages of rings on their way into a trace.dat.

They are written as they come, behind room for the head. At the end they are put into the order of the file, each CPU's together,
in their places: the disk need not hold them twice, and what has come so far becomes a whole file when the disk is full.
"""
import array
import os
import struct

from host import _dat as dat
from host import _stacks

CHUNK_PAGES = 64  # that are compressed together
SLACK = 128 << 10  # for what the head may grow by: names of tasks


class Pages:
    def __init__(self, target, facts):
        self.target, self.page_size, self.nr_cpus = target, facts.page_size, facts.nr_cpus
        self.partial = target.with_name(f"{target.name}.{os.getpid()}")
        self.stack_event = _stacks.number_of(facts.ftrace_formats) if facts.may_have_stacks else None
        self.cpus = array.array("H")  # of the pages, in the order of the file
        head = max(len(dat.head(facts, [(0, 0)] * facts.nr_cpus, version)) for version in (6, 7))
        self.start = -(-(head + SLACK) // self.page_size) * self.page_size
        self.fd = os.open(self.partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            self._write(bytes(self.start), 0)
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

    def add(self, cpu, page):
        """OSError when the disk is full: the page is not in the file then, and all before it are."""
        for one in [page] if self.stack_event is None else _stacks.widened(page, self.stack_event):
            self._write(one, self._place(len(self.cpus)))
            self.cpus.append(cpu)

    @property
    def nr_bytes(self):
        return len(self.cpus) * self.page_size

    def _table(self):
        """(offset, bytes) of each CPU, and the first slot of each."""
        counts = [self.cpus.count(cpu) for cpu in range(self.nr_cpus)]
        first = [sum(counts[:cpu]) for cpu in range(self.nr_cpus)]
        return [(self._place(first[cpu]), counts[cpu] * self.page_size) for cpu in range(self.nr_cpus)], first

    def _sort(self, first):
        """Move each page to its CPU's, along the cycles of the permutation."""
        goal = array.array("Q")
        for cpu in self.cpus:
            goal.append(first[cpu])
            first[cpu] += 1
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

    def _head(self, facts, table, version):
        """If need be without the names of the oldest tasks: the room for it is what it is."""
        head = dat.head(facts, table, version)
        if len(head) > self.start:
            names = facts.cmdlines[len(head) - self.start:]
            facts.cmdlines = names[names.find(b"\n") + 1:]
            head = dat.head(facts, table, version)
        return head

    def finish(self, facts, version, compression):
        """Make the file. OSError when there is no room for a compressed one; then it can be made without compression."""
        table, first = self._table()
        self._sort(list(first))
        self.cpus = array.array("H", sorted(self.cpus))
        os.ftruncate(self.fd, self._place(len(self.cpus)))
        if compression:
            self._finish_compressed(facts, table, compression)
        else:
            self._write(self._head(facts, table, version), 0)
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

    def _finish_compressed(self, facts, table, compression):
        small = self.partial.with_name(f"{self.partial.name}.small")
        try:
            with open(small, "wb") as out:
                out.seek(self.start)
                places = []
                for offset, size in table:
                    out.seek(-(-out.tell() // self.page_size) * self.page_size)
                    place = out.tell()
                    places.append((place, self._compressed(out, offset, size, compression[2]) if size else 0))
                out.seek(0)
                out.write(dat.head(facts, places, 7, compression))
            small.rename(self.target)
        finally:
            small.unlink(missing_ok=True)
