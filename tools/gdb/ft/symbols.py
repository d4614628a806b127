"""Names of code as the kernel itself prints them: by the table in its image, <kernel/symbols_format.h>."""
import bisect
import struct

import gdb
from ft import memory
from ft.memory import MASK, Damaged

MAGIC = 0x344D59534B544146
TRAMPOLINE = "ftrace_trampoline"  # all trampolines have this name
SHARED = ("ftrace_caller", "ftrace_regs_caller")


class Symbols:
    """The table, read once: it is constant."""

    def __init__(self):
        blob = memory.symbol_address("symbols_blob")
        head = struct.unpack("<QQ10I", memory.read(blob, 56))
        if head[0] != MAGIC or head[2] > 64 << 20:
            raise Damaged("the kernel's table of symbols is damaged, or not in memory yet")
        self.base, total = head[1], head[2]
        self.nr_symbols, self.nr_addressed = head[3], head[4]
        text_pos, place_pos, _, _, len_pos, names_pos = head[5:11]
        data = memory.read(blob, total)
        lengths = data[len_pos : len_pos + 256]
        self.tokens = [data[text_pos + 8 * i : text_pos + 8 * i + lengths[i]] for i in range(256)]
        places = struct.unpack_from(f"<{2 * (self.nr_symbols + 1)}I", data, place_pos)
        self.offsets = places[0 : 2 * self.nr_addressed : 2]
        # Behind those with an address stands an entry for no symbol.
        self.other_offsets = places[2 * self.nr_addressed + 2 :: 2]
        self.sizes = places[1 : 2 * self.nr_addressed : 2]
        self.data = data
        self.names = []  # positions of the names
        pos = names_pos
        for _ in range(self.nr_symbols):
            self.names.append(pos)
            pos += 1 + data[pos]

    def name(self, index):
        pos = self.names[index]
        tokens = self.data[pos + 1 : pos + 1 + self.data[pos]]
        return b"".join(self.tokens[token] for token in tokens).decode("utf-8", "replace")

    def all(self):
        """(address, name) of each symbol, aliases and boundaries too."""
        for index, offset in enumerate(self.offsets + self.other_offsets):
            yield self.base + offset, self.name(index)

    def find(self, address):
        """(name, start, size) of what lies at an address, or None."""
        offset = address - self.base
        index = bisect.bisect_right(self.offsets, offset) - 1
        if index < 0 or offset - self.offsets[index] >= self.sizes[index]:
            return None
        return self.name(index), self.base + self.offsets[index], self.sizes[index]


def in_file(path, address, size):
    """An ELF file's bytes for the memory at an address; None when it has none."""
    with open(path, "rb") as file:
        head = file.read(64)
        if head[:4] != b"\x7fELF":
            return None
        first = struct.unpack_from("<Q", head, 32)[0]
        for i in range(struct.unpack_from("<H", head, 56)[0]):
            file.seek(first + 56 * i)
            kind, _, offset, start, _, length = struct.unpack_from("<IIQQQQ", file.read(56))
            if kind == 1 and start <= address and address + size <= start + length:
                file.seek(offset + address - start)
                return file.read(size)
    return None


def image_problem():
    """A sentence when the kernel in memory is not the one whose ELF file gdb has; None when it is, or when
    that cannot be told."""
    path, blob = gdb.current_progspace().filename, memory.symbol_address("symbols_blob")
    try:
        head = in_file(path, blob, 56) if path and blob else None
        if not head or struct.unpack_from("<Q", head)[0] != MAGIC:
            return None
        # This table has the place of each function, so that two builds hardly have the same.
        size = struct.unpack_from("<I", head, 16)[0]
        if memory.read(blob, size) == in_file(path, blob, size):
            return None
    except (OSError, struct.error, Damaged):
        pass
    return f"memory does not hold the kernel of {path}: it has not started yet, or is another build"


_tables = {}


def table():
    """Of the image that gdb looks at."""
    key = gdb.current_progspace().filename
    if key not in _tables:
        _tables[key] = Symbols()
    return _tables[key]


def exec_area():
    """The memory of trampolines: its start and its end."""
    start = memory.symbol_address("exec_pool_start")
    size = memory.symbol_address("exec_pool_end") - start
    return EXEC_BASE, EXEC_BASE + size


EXEC_BASE = 0xFFFFFFFFA0000000  # <arch/paging.h>


def in_exec_area(address):
    start, end = exec_area()
    return start <= address < end


def in_trampoline(address):
    if in_exec_area(address):
        return original(address) is None
    return any(memory.symbol_address(name) <= address < memory.symbol_address(name + "_end") for name in SHARED)


# ---- Copies of probed instructions, trace/arch/x86_64/probe_private.h ----

EXEC_UNIT = 64  # TRACE_EXEC_UNIT of <trace/arch_host.h>
SLOTS = 2  # of a unit
CALL_AT, COPY_AT = 5, 10  # in a detour: the call, behind a push of an address; the copies, behind the call
USED_DETOUR = 0x80


def note_of(address, type_name):
    """The instruction at the end of a copy, which ends at `address`; and which instruction was copied first."""
    note = memory.at(address - gdb.lookup_type(type_name).sizeof, type_name)
    return note, unpack(int(note["origin"]))


def original(address):
    """The instruction that code made for a probe is a copy of, or that it goes on with; None for all other code."""
    if not in_exec_area(address):
        return None
    unit, at = divmod(address - EXEC_BASE, EXEC_UNIT)
    try:
        used = int(memory.variable("used", "probe_slot.c")[unit])
    except Damaged:  # a kernel without probes
        return None
    if used == USED_DETOUR:
        note, origin = note_of(address - at + EXEC_UNIT, "struct detour_note")
        return origin + min(max(at - COPY_AT, 0), int(note["bytes"]))
    slot, at = divmod(at, EXEC_UNIT // SLOTS)
    if not used >> slot & 1:
        return None
    note, origin = note_of(address - at + EXEC_UNIT // SLOTS, "struct slot_note")
    return origin + (0 if at < int(note["len"]) else int(note["len"]))


def pushed(address):
    """How many bytes a detour has on the stack when its instruction at `address` is next."""
    at = address - EXEC_BASE
    is_call = in_exec_area(address) and at % EXEC_UNIT == CALL_AT
    return 8 if is_call and int(memory.variable("used", "probe_slot.c")[at // EXEC_UNIT]) == USED_DETOUR else 0


def unpack(packed):
    """A code address that was kept in 32 bits."""
    return packed | 0xFFFFFFFF00000000 if packed & 0x80000000 else packed


def find(address, is_return=False):
    """(name, start, size) or None; of a return address, the function that made the call."""
    if in_exec_area(address):
        copied = original(address)
        if copied is None:
            return TRAMPOLINE, address, 0
        found = find(copied)
        return found and (found[0], found[1] + address - copied, found[2])
    try:
        names = table()
        return (names.find(address - 1) if is_return else None) or names.find(address)
    except Damaged:
        return None


def describe(address, is_return=False):
    """`function+offset`, as the kernel prints it."""
    address &= MASK
    found = find(address, is_return)
    if not found:
        return f"{address:#x}"
    name, start, _ = found
    return name if address == start else f"{name}+{address - start:#x}"


def name_of(address):
    """The name of the function alone; the address when there is none."""
    found = find(address & MASK)
    return found[0] if found else f"{address & MASK:#x}"
