"""Call sites: who is called there, what stands there now, and breakpoints that do not disturb that."""
import bisect
import struct
from fnmatch import fnmatchcase

import gdb
from ft import memory, symbols
from ft.memory import MASK, Damaged

SITE_BYTES = 5
NOP = b"\x0f\x1f\x44\x00\x00"
INT3, CALL, JMP = 0xCC, 0xE8, 0xE9
REF_MAX = (1 << 14) - 1
PAST = 1 << 25 | 1 << 14  # TOUCHED and MODIFIED: of a site that calls nothing now, too
SET_SHIFT, SET_MASK = 15, 0xFF
FLAGS = ((1 << 30, "R"), (1 << 28, "T"), (1 << 26, "I"), (1 << 24, "D"))
MAX_SITES = 1 << 22
MAX_SHOWN = 8


def table():
    """The addresses of all call sites, ascending: constant."""
    key = gdb.current_progspace().filename
    if key not in _tables:
        start, stop = memory.symbol_address("__start_mcount_loc"), memory.symbol_address("__stop_mcount_loc")
        data = memory.read(start, stop - start)
        _tables[key] = struct.unpack(f"<{len(data) // 8}Q", data)
    return _tables[key]


_tables = {}


def site_of(address):
    """The call site whose bytes an address is among, or None."""
    sites = table()
    at = bisect.bisect_right(sites, address) - 1
    return sites[at] if at >= 0 and address - sites[at] < SITE_BYTES else None


def records():
    """(address, flags) of each struct dyn_ftrace."""
    groups = memory.variable("ftrace_groups")
    nr_groups = int(memory.variable("ftrace_nr_groups"))
    if nr_groups > groups.type.range()[1] + 1:
        raise Damaged(f"there are {nr_groups} groups of call sites, which cannot be")
    for i in range(nr_groups):
        nr = int(groups[i]["nr"])
        if nr > MAX_SITES:
            raise Damaged(f"a group says that it has {nr} call sites")
        words = struct.unpack(f"<{2 * nr}I", memory.read(int(groups[i]["records"]), 8 * nr))
        for at in range(0, 2 * nr, 2):
            yield symbols.unpack(words[at]), words[at + 1]


def flight():
    """The bytes that each site of the batch in flight is to hold: {address: bytes}; empty when no code is being changed."""
    batch = memory.variable("poke_state", "text_poke.c")["flight"]
    if not int(batch):
        return {}
    nr, first = int(batch["nr"]), int(batch["pokes"])
    if nr > MAX_SITES:
        raise Damaged(f"a batch of {nr} sites is in flight, which cannot be")
    size, offset = gdb.lookup_type("struct trace_poke").sizeof, memory.offset_of("struct trace_poke", "new_insn")
    data = memory.read(first, nr * size)
    site = memory.offset_of("struct trace_poke", "site")
    return {
        symbols.unpack(struct.unpack_from("<I", data, at + site)[0]): data[at + offset : at + offset + SITE_BYTES]
        for at in range(0, nr * size, size)
    }


def ops_list():
    return list(memory.chain(memory.variable("ftrace_ops_list"), lambda ops: ops["next"], "ops"))


class Code:
    """The meaning of the bytes of a site."""

    def __init__(self):
        self.flight = flight()
        self.trampolines = {}
        self.pages = {}
        for ops in ops_list():
            if int(ops["trampoline"]["addr"]):
                self.trampolines[int(ops["trampoline"]["addr"])] = symbols.name_of(int(ops["func"]))

    def read(self, address):
        """The bytes of a site; a page of code at a time, for there are thousands of sites."""
        page = address & ~0xFFF
        if page not in self.pages:
            try:
                self.pages[page] = memory.read(page, 4096 + SITE_BYTES)
            except Damaged:
                self.pages[page] = b""
        return self.pages[page][address - page : address - page + SITE_BYTES]

    def target(self, address, code):
        to = address + SITE_BYTES + struct.unpack("<i", code[1:])[0] & MASK
        func = self.trampolines.get(to)
        name = f"{to:#x}" if symbols.in_exec_area(to) else symbols.describe(to)
        return f"{name} ({func})" if func else name

    def meaning(self, address, code):
        if len(code) < SITE_BYTES:
            return "cannot be read"
        if code == NOP:
            return "nop"
        if code[0] == CALL:
            return f"call {self.target(address, code)}"
        if code[0] == JMP:
            return f"jmp {self.target(address, code)}"
        if code[0] == INT3:
            return "int3: a breakpoint"
        return f"bytes {code.hex(' ')}, which the kernel has not written"

    def shown(self, address):
        code = self.read(address)
        if address in self.flight:
            state = "int3" if code[:1] == bytes([INT3]) else self.meaning(address, code)
            return f"{state}, being changed to {self.meaning(address, self.flight[address])}"
        return self.meaning(address, code)


def show(glob):
    """All sites that match, or those at which something is called or changed."""
    code, shown, total = Code(), 0, 0
    if code.flight:
        print(f"code is being changed: a batch of {len(code.flight)} sites is in flight")
    for address, flags in records():
        total += 1
        name = symbols.name_of(address)
        if not fnmatchcase(name, glob) if glob else not flags & ~PAST and address not in code.flight:
            continue
        marks = "".join(letter if flags & bit else "." for bit, letter in FLAGS)
        print(f"{address:016x} {name:<32} {flags & REF_MAX:>2} {marks} {code.shown(address)}")
        shown += 1
    print(f"{shown} of {total} call sites")


def hash_text(pointer, none):
    """How many functions are in a set, and the first of them."""
    if not int(pointer):
        return none
    nr, mask = int(pointer["nr"]), int(pointer["mask"])
    if not nr:
        return none
    if mask > MAX_SITES or nr > mask + 1:
        return f"(a damaged set of {nr} functions)"
    slots = struct.unpack(f"<{mask + 1}I", memory.read(memory.address_of(pointer["slot"]), 4 * (mask + 1)))
    names = sorted(symbols.name_of(symbols.unpack(slot)) for slot in slots if slot)
    return f"{nr}: " + " ".join(names[:MAX_SHOWN]) + (" ..." if nr > MAX_SHOWN else "")


def flag_words(value, prefix, type_name):
    """The names of the bits of an enum that are set."""
    kind = gdb.lookup_type(type_name)
    return " ".join(field.name[len(prefix) :] for field in kind.fields() if int(value) & field.enumval)


def show_ops():
    if int(memory.variable("ftrace_died", "ftrace_dead.c")):
        why = memory.variable("dead_why", "ftrace_dead.c")
        print(f"function tracing is dead: {memory.text(int(why)) if int(why) else 'no reason was kept'}")
    found = ops_list()
    for ops in found:
        func, tramp = int(ops["func"]), int(ops["trampoline"]["addr"])
        print(f"{int(ops) & MASK:#x} calls {symbols.name_of(func)}")
        print(f"    flags    {flag_words(ops['flags'], 'FTRACE_OPS_FL_', 'enum ftrace_ops_flags')}")
        sets = ops["func_hash"]
        print("    filter   " + (hash_text(sets["filter_hash"], "every function") if int(sets) else "every function"))
        if int(sets) and int(sets["notrace_hash"]):
            print("    except   " + hash_text(sets["notrace_hash"], "none"))
        if int(ops["direct_call"]):
            print(f"    direct   {symbols.describe(int(ops['direct_call']))}")
        if int(ops["site_jump"]):
            print(f"    jump     {symbols.describe(int(ops['site_jump']))}")
        if tramp:
            print(f"    its own trampoline at {tramp:#x}, {int(ops['trampoline']['bytes'])} bytes")
    print(f"{len(found)} ops")


# ---- Breakpoints ----


def is_delicate(address):
    """Are the bytes at this address checked, or changed, by the kernel? A debugger may not write there."""
    return site_of(address) is not None or symbols.in_exec_area(address)


def place(expression):
    return memory.number_of(expression, "a function or an address", is_place=True) & MASK


def set_breakpoint(where):
    """
    Of a function: behind its call site, where its arguments are still in their registers. Of an address: a hardware one where
    the kernel changes code.
    """
    if not where:
        raise gdb.GdbError("ft break FUNCTION, or ft break *ADDRESS")
    if where.startswith("*"):
        address = place(where[1:])
        if is_delicate(address):
            return gdb.Breakpoint(f"*{address:#x}", type=gdb.BP_HARDWARE_BREAKPOINT)
        return gdb.Breakpoint(f"*{address:#x}")
    address = place(where)
    return gdb.Breakpoint(
        f"*{address + SITE_BYTES:#x}" if site_of(address) == address else where if where.isidentifier() else f"*{address:#x}"
    )


def warn(breakpoint):
    """A software breakpoint on a call site: an emulator keeps it to itself, anything else writes it into the code."""
    if breakpoint.type != gdb.BP_BREAKPOINT:
        return
    try:
        delicate = [place.address for place in breakpoint.locations if is_delicate(place.address)]
    except (gdb.error, Damaged):  # no code there yet
        return
    for address in delicate:
        print(
            f"Breakpoint {breakpoint.number} is on code that the kernel changes, {symbols.describe(address)}. Under QEMU's TCG that "
            "does no harm; elsewhere delete it and use `ft break`."
        )


def register():
    gdb.events.breakpoint_created.connect(warn)
