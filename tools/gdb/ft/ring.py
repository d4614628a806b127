"""Events in the rings of the CPUs, as trace/ring/ keeps them: read without the kernel's help, consuming nothing.

ring_cpu.h draws the words, ring_event.c the events. The machine stands still, so nothing changes under us; what a CPU was
writing when it stopped lies behind `commit` and is left out, as every reader leaves it out.
"""
import struct
from collections import namedtuple

from ft import memory
from ft.memory import Damaged

TAKEN_BITS = 20
TAKEN_MASK = (1 << TAKEN_BITS) - 1
PAGE_HEAD = 16
TYPE_LONG, TYPE_PADDING, TYPE_EXTEND, TYPE_STAMP = 0, 29, 30, 31
MAX_SLOTS = 1 << 20

Event = namedtuple("Event", "ts cpu data lost")


def decode(data, ts, left, lost, cpu):
    """The `left` events of a piece of a sub-buffer, before which the time is `ts`."""
    pos = 0
    while left and pos + 4 <= len(data):
        head = struct.unpack_from("<I", data, pos)[0]
        kind, delta = head & 31, head >> 5
        more = struct.unpack_from("<I", data, pos + 4)[0] if pos + 8 <= len(data) else None
        if TYPE_LONG < kind < TYPE_PADDING:
            begin, size = 4, 4 + 4 * kind
        elif more is None:
            break
        elif kind in (TYPE_LONG, TYPE_PADDING):
            begin, size = 8 if kind == TYPE_LONG else 4, 4 + more
        else:
            begin, size = 4, 8
            delta |= more << 27
        if size > len(data) - pos or size % 4 or size < begin:
            raise Damaged(f"an event of {size} bytes at byte {pos} of {len(data)} cannot be")
        ts = ts & ~((1 << 59) - 1) | delta if kind == TYPE_STAMP else ts + delta
        if kind < TYPE_PADDING:
            yield Event(ts, cpu, data[pos + begin : pos + size], lost)
            lost = 0
            left -= 1
        pos += size
    if left:
        raise Damaged(f"{left} events are missing in a sub-buffer")


class Ring:
    """The ring of one CPU."""

    def __init__(self, pointer, number):
        rc = pointer.dereference()
        self.cpu = number
        self.rc = rc
        self.problem = None
        self.nr_slots = int(rc["nr_slots"])
        self.shift = int(rc["subbuf_shift"])
        self.size = int(rc["subbuf_mask"]) + 1
        self.commit = int(rc["commit"])
        self.base = int(rc["base"])
        self.slots = []
        if not self.base:
            return  # its CPU has never come online
        if int(rc["is_moving"]):
            self.problem = "was being emptied or resized"
        elif not 2 <= self.nr_slots <= MAX_SLOTS or self.size != 1 << self.shift or self.size < 256:
            self.problem = f"says that it has {self.nr_slots} sub-buffers of {self.size} bytes, which cannot be"
        else:
            words = struct.unpack(f"<{4 * self.nr_slots}Q", memory.read(int(rc["slots"]), 32 * self.nr_slots))
            self.slots = [words[i : i + 4] for i in range(0, len(words), 4)]
            if self.slot_of_commit() >= self.nr_slots:
                self.problem = f"has its end in sub-buffer {self.slot_of_commit()} of {self.nr_slots}"

    def slot_of_commit(self):
        return (self.commit - 1 & 0xFFFFFFFF) >> self.shift

    def is_readable(self):
        return bool(self.slots) and not self.problem

    def committed(self):
        """The number of events since the ring was emptied."""
        near = self.slots[self.slot_of_commit()][2]
        return near + struct.unpack("<i", struct.pack("<I", (self.commit >> 32) - near & 0xFFFFFFFF))[0]

    def oldest(self, seq):
        """The sub-buffer `seq`, or the oldest that is left."""
        for _ in range(self.nr_slots + 1):
            there = self.slots[seq % self.nr_slots][0] >> TAKEN_BITS
            if there <= seq:
                return seq
            seq = there - self.nr_slots + 1
        raise Damaged("the numbers of its sub-buffers go round in a circle")

    def extent(self, seq):
        """(end of the data, events, first event's number, dropped before, may more come?)"""
        slot = seq % self.nr_slots
        _, end, first, dropped = self.slots[slot]
        offset = self.commit & self.size - 1
        if slot == self.slot_of_commit():
            entries = self.committed() - first
            if offset:
                return offset, entries, first, dropped, False
            is_finished = False
        else:
            entries = self.slots[(slot + 1) % self.nr_slots][2] - first
            is_finished = True
        stop = (end & TAKEN_MASK) + PAGE_HEAD if end >> TAKEN_BITS == seq else self.size
        return stop, entries, first, dropped, is_finished

    def counts(self):
        """(events to be read, overwritten ones)"""
        if not self.is_readable():
            return 0, 0
        seq, left = int(self.rc["reader"]["seq"]), int(self.rc["chunk"]["left"])
        for _ in range(self.nr_slots + 1):
            seq = self.oldest(seq)
            taken = self.slots[seq % self.nr_slots][0] & TAKEN_MASK
            _, entries, first, _, is_finished = self.extent(seq)
            if not is_finished or entries:
                break
            seq += 1
        first += taken
        return self.committed() - first + left, first - int(self.rc["nr_taken"])

    def pieces(self):
        """(data, time, events, lost before them): what the reader has not consumed, oldest first."""
        chunk, cursor = self.rc["chunk"], self.rc["reader"]
        if int(chunk["left"]):
            pos, end = int(chunk["pos"]), int(chunk["end"])
            if not pos <= end <= self.size:
                raise Damaged(f"the reader stands at byte {pos} of {end}")
            yield memory.read(int(chunk["data"]) + pos, end - pos), int(chunk["ts"]), int(chunk["left"]), int(chunk["lost"])
        seq, offset, taken = int(cursor["seq"]), int(cursor["offset"]), int(cursor["taken"])
        ts, expected, dropped_before = int(cursor["ts"]), int(cursor["next_event"]), int(cursor["dropped"])
        for _ in range(2 * self.nr_slots + 2):
            oldest = self.oldest(seq)
            if oldest != seq:
                seq, offset, taken = oldest, PAGE_HEAD, 0
            end, entries, first, dropped, is_finished = self.extent(seq)
            if not offset <= end <= self.size or not taken <= entries <= TAKEN_MASK:
                raise Damaged(f"sub-buffer {seq} says that it has {entries} events up to byte {end}")
            page = self.base + (seq % self.nr_slots << self.shift)
            if entries > taken:
                if offset == PAGE_HEAD:
                    ts = memory.word(page)
                lost = first + taken - expected + dropped - dropped_before
                yield memory.read(page + offset, end - offset), ts, entries - taken, lost
                expected, dropped_before = first + entries, dropped
            if not is_finished:
                return
            seq, offset, taken = seq + 1, PAGE_HEAD, 0
        raise Damaged("it has more sub-buffers than fit into it")

    def nr_bytes(self):
        """Of the events that the reader has not consumed, with their heads."""
        return sum(len(data) for data, *_ in self.pieces()) if self.is_readable() else 0

    def events(self):
        """All events, oldest first. What is damaged ends them, and `problem` says so."""
        if not self.is_readable():
            return
        is_first = True
        try:
            for piece in self.pieces():
                for event in decode(*piece, self.cpu):
                    # The number of events lost before the first one is in the header.
                    yield event._replace(lost=0) if is_first else event
                    is_first = False
        except Damaged as err:
            self.problem = f"is damaged: {err}"


def rings(buffer):
    """The rings of a struct ring_buffer, by CPU; those of CPUs that never came are left out."""
    nr = int(buffer["nr_cpus"])
    if not 0 < nr <= 4096:
        raise Damaged(f"a buffer says that it has rings of {nr} CPUs")
    found = []
    for cpu in range(nr):
        pointer = buffer["cpu"][cpu]
        ring = Ring(pointer, cpu)
        if ring.base:
            found.append(ring)
    return found
