"""Types of events, as the kernel has registered them, and the texts of their events.

A type that trace/ itself writes has a function here, by its number, as it has one in the kernel. Any other is printed by
its description in memory: its fields and its print fmt.
"""
import struct

import gdb
from ft import calls, memory, probes, symbols, syscalls, text
from ft.memory import MASK, Damaged

FN, CTX, WAKE, STACK, PRINT, BPRINT = 1, 2, 3, 4, 5, 6
GRAPH_RET, GRAPH_ENT, BPUTS, RAW_DATA, FUNC_REPEATS = 10, 11, 14, 18, 19
GRAPH_RETADDR_ENT, GRAPH_RETVAL, FUNC_ARGS, GRAPH_ARGS_ENT = 20, 21, 22, 23
PIECE_SLOTS = 256
MAX_FIELDS = 256
PLAIN, DATA_LOC, REL_LOC = 0, 1, 2
STACK_MAX = 64


class Field:
    """One struct trace_event_field."""

    def __init__(self, raw):
        self.name = memory.text(int(raw["name"]))
        self.type = memory.text(int(raw["type"]))
        for name in ("offset", "size", "element_size", "kind", "filter_type"):
            setattr(self, name, int(raw[name]))
        self.is_signed = bool(raw["is_signed"])
        self.is_address = bool(raw["is_address"])
        self.is_char = self.type == "char"
        self.is_pointer = self.type.endswith("*")
        self.is_array = self.size != self.element_size

    def number(self, data, index=0):
        """An element, extended by its sign, an address unpacked; 0 when it is not there."""
        at = self.offset + index * self.element_size
        piece = data[at : at + self.element_size]
        if len(piece) < self.element_size or self.element_size > 8:
            return 0
        value = int.from_bytes(piece, "little", signed=self.is_signed)
        return symbols.unpack(value) if self.is_address else value


class Record:
    """An event, for the expressions of its print fmt."""

    def __init__(self, kind, data):
        self.kind, self.data = kind, data

    def of(self, name):
        if name not in self.kind.by_name:
            raise Damaged(f"the type {self.kind.name} has no field {name}")
        return self.kind.by_name[name]

    def bytes(self, name):
        """The bytes of a field: of one behind the fixed part, where it says that it is."""
        field = self.of(name)
        at, size = field.offset, field.size or max(len(self.data) - field.offset, 0)
        if field.kind != PLAIN:
            loc = int.from_bytes(self.data[at : at + 4], "little")
            at, size = (loc & 0xFFFF) + (at + 4 if field.kind == REL_LOC else 0), loc >> 16
        return self.data[at : at + size]

    def text(self, name):
        return self.bytes(name).split(b"\0")[0].decode("utf-8", "replace")

    def field(self, name):
        if name.startswith("common_"):
            at, size, form = COMMON.get(name, (0, 2, "<H"))
            return struct.unpack(form, self.data[at : at + size])[0]
        field = self.of(name)
        if field.kind != PLAIN:
            return self.bytes(name)
        if field.is_char and field.is_array:
            return self.text(name)
        if field.is_array:
            return self.bytes(name)
        # The print fmt of a type of trace/ unpacks addresses itself.
        value = field.number(self.data)
        return value & 0xFFFFFFFF if field.is_address else value

    def element(self, name, index):
        field = self.of(name)
        data = self.bytes(name)[index * field.element_size : (index + 1) * field.element_size]
        return int.from_bytes(data, "little", signed=field.is_signed)


COMMON = {"common_type": (0, 2, "<H"), "common_flags": (2, 1, "<B"), "common_preempt_count": (3, 1, "<B"), "common_pid": (4, 4, "<i")}


def print_fmt(event):
    """A type's own print fmt for its `format`; "": that is made of its fields."""
    if int(event["print_fmt"]):
        return memory.text(int(event["print_fmt"]), 1 << 16)
    # Those of probes and of entries of system calls are written when they are asked for.
    if not int(event["funcs"]["print_fmt"]):
        return ""
    return syscalls.print_fmt(event) if syscalls.part_of(int(event["funcs"])) else probes.print_fmt(event)


class Type:
    """One struct trace_event."""

    def __init__(self, number, event, nr_bytes):
        self.number = number
        self.bytes = nr_bytes
        self.name = memory.text(int(event["name"]))
        self.system = memory.text(int(event["system"]))
        nr = int(event["nr_fields"])
        if nr > MAX_FIELDS:
            raise Damaged(f"the type {self.name} says that it has {nr} fields")
        self.fields = [Field(event["fields"][i]) for i in range(nr)]
        self.by_name = {field.name: field for field in self.fields}
        self.print_fmt = print_fmt(event)
        self.has_text = bool(int(event["funcs"]["trace"]))
        self.has_message = bool(int(event["funcs"]["message"]))
        self.call = int(event["call"])
        self.syscall_part = syscalls.part_of(int(event["funcs"]))
        self.is_synthetic = self.system == "synthetic"
        self.formatter = None

    def names(self, word):
        """The value of a word of the print fmt: an enumerator."""
        maps = eval_maps()
        if (self.system, word) in maps:
            return maps[self.system, word]
        try:
            return int(gdb.parse_and_eval(word))
        except gdb.error:
            raise Damaged(f"`{word}` is not known") from None

    def message(self, data):
        """An event's text by its print fmt."""
        if not self.formatter:
            self.formatter = text.compile_fmt(self.print_fmt, self.names)
        return self.formatter(Record(self, data))


def eval_maps():
    """Enumerators that events name in their print fmt: by system and name."""
    first, last = (memory.symbol_address(f"__{end}_trace_eval_maps") for end in ("start", "stop"))
    key = (gdb.current_progspace().filename, first)
    if key not in _eval_maps:
        found = {}
        for at in range(first, min(last, first + 8 * 65536), 8):
            entry = memory.at(memory.word(at), "struct trace_eval_map")
            found[memory.text(int(entry["system"])), memory.text(int(entry["text"]))] = int(entry["value"])
        _eval_maps[key] = found
    return _eval_maps[key]


_eval_maps = {}


class Types:
    """All types; each is read when it is wanted for the first time."""

    def __init__(self):
        self.pieces = memory.variable("registry", "event.c")["pieces"]
        self.nr_pieces = self.pieces.type.range()[1] + 1
        self.known = {}

    def get(self, number):
        """The type of a number, or None."""
        if number not in self.known:
            self.known[number] = self.load(number)
        return self.known[number]

    def load(self, number):
        piece = self.pieces[number // PIECE_SLOTS]
        if not int(piece):
            return None
        slot = piece["slots"][number % PIECE_SLOTS]
        return Type(number, slot["event"].dereference(), int(slot["bytes"])) if int(slot["event"]) else None

    def all(self):
        for number in range(PIECE_SLOTS * self.nr_pieces):
            if number % PIECE_SLOTS == 0 and not int(self.pieces[number // PIECE_SLOTS]):
                continue
            if int(self.pieces[number // PIECE_SLOTS]):
                kind = self.get(number)
                if kind:
                    yield kind


# ---- Texts of events ----


class Printer:
    """The options of the instance, and how addresses are printed by them."""

    def __init__(self, has, comms):
        self.has = has  # a function: is the option on?
        self.offset, self.address, self.parent = map(has, ("SYM_OFFSET", "SYM_ADDR", "PRINT_PARENT"))
        self.comms = comms
        self.kept = {}

    def symbol(self, ip, offset=False, is_return=False):
        key = (ip, offset, is_return)
        if key not in self.kept:
            at = symbols.unpack(ip)
            found = symbols.find(at, is_return)
            if not found:
                self.kept[key] = f"{at:#x}"
            else:
                self.kept[key] = f"{found[0]}+{at - found[1]:#x}/{found[2]:#x}" if offset else found[0]
        return self.kept[key]

    def ip(self, ip, is_return=False):
        shown = self.symbol(ip, self.offset, is_return)
        return f"{shown} <{symbols.unpack(ip):x}>" if self.address else shown

    def caller(self, ip, parent):
        return self.ip(ip) + (" <-" + self.ip(parent, True) if self.parent and parent else "")


def seconds(ts, is_ns):
    """A time as a trace has it, without blanks in front."""
    if not is_ns:
        return f"{ts}"
    us = (ts + 500) // 1000
    return f"{us // 1000000}.{us % 1000000:06}"


def func_text(printer, event, is_ns):
    ip, parent = struct.unpack_from("<2I", event.data, 8)
    return printer.caller(ip, parent) + "\n"


def arguments(ip, data, offset):
    """The arguments that an event has: a struct trace_args_part at `offset`."""
    values, texts = (data[loc & 0xFFFF :][: loc >> 16] for loc in struct.unpack_from("<2I", data, offset))
    words = struct.unpack(f"<{len(values) // 8}Q", values[: len(values) & ~7])
    return calls.arguments_text(symbols.unpack(ip), words, texts)


def func_args_text(printer, event, is_ns):
    ip, parent = struct.unpack_from("<2I", event.data, 8)
    caller = printer.caller(ip, parent)
    return caller.replace(printer.ip(ip), printer.ip(ip) + arguments(ip, event.data, 16), 1) + "\n"


def graph_args_text(printer, event, is_ns):
    ip = struct.unpack_from("<I", event.data, 8)[0]
    return printer.symbol(ip) + arguments(ip, event.data, 20) + " {\n"


def repeats_text(printer, event, is_ns):
    ip, parent, word = struct.unpack_from("<2IQ", event.data, 8)
    ago = event.ts - word & (1 << 48) - 1
    return f"{printer.caller(ip, parent)} (repeats: {word >> 48}, last_ts: {seconds(event.ts - ago, is_ns):>12})\n"


def ctx_text(printer, event, is_ns):
    kind = struct.unpack_from("<H", event.data)[0]
    prev, follower, cpu, prev_prio, prev_state, prio, state = struct.unpack_from("<3i4B", event.data, 8)
    return (
        f" {prev:7}:{prev_prio:3}:{chr(prev_state)} {'  +' if kind == WAKE else '==>'} [{cpu:03}] "
        f"{follower:7}:{prio:3}:{chr(state)} {printer.comms(follower)}\n"
    )


def stack_text(printer, event, is_ns):
    ips = struct.unpack_from(f"<{(len(event.data) - 8) // 8}Q", event.data, 8)
    lines = "<stack trace>\n"
    for i, ip in enumerate(ips):
        lines += " => " + (printer.ip(ip & 0xFFFFFFFF, i > 0) if ip else f"... (more than {STACK_MAX})") + "\n"
    return lines


def raw_data_text(printer, event, is_ns):
    number = struct.unpack_from("<I", event.data, 8)[0]
    return f"# {number:x} buf:" + "".join(f" {c:02x}" for c in event.data[12:]) + "\n"


def graph_entry_text(printer, event, is_ns):
    return printer.symbol(struct.unpack_from("<I", event.data, 8)[0]) + "() {\n"


def graph_return_text(printer, event, is_ns):
    return "} /* " + printer.symbol(struct.unpack_from("<I", event.data, 8)[0]) + " */\n"


def print_message(event):
    return event.data[12:].split(b"\0")[0].decode("utf-8", "replace")


def bprint_message(event):
    size, _, fmt = struct.unpack_from("<HHQ", event.data, 12)
    fmt = memory.text(fmt, 4096)
    return text.formatted(fmt, text.packed_arguments(fmt, event.data[24 : 24 + size]))


def bputs_message(event):
    return memory.text(struct.unpack_from("<Q", event.data, 16)[0], 4096)


TEXTS = {
    FN: func_text,
    FUNC_ARGS: func_args_text,
    GRAPH_ARGS_ENT: graph_args_text,
    FUNC_REPEATS: repeats_text,
    CTX: ctx_text,
    WAKE: ctx_text,
    STACK: stack_text,
    RAW_DATA: raw_data_text,
    GRAPH_ENT: graph_entry_text,
    GRAPH_RETADDR_ENT: graph_entry_text,
    GRAPH_RET: graph_return_text,
    GRAPH_RETVAL: graph_return_text,
}
MESSAGES = {PRINT: print_message, BPRINT: bprint_message, BPUTS: bputs_message}
# Bytes that the functions above take for granted.
LEAST = {
    FN: 16,
    FUNC_ARGS: 24,
    GRAPH_ARGS_ENT: 28,
    FUNC_REPEATS: 24,
    CTX: 24,
    WAKE: 24,
    STACK: 8,
    RAW_DATA: 12,
    GRAPH_ENT: 16,
    GRAPH_RETADDR_ENT: 20,
    GRAPH_RET: 24,
    GRAPH_RETVAL: 32,
    PRINT: 12,
    BPRINT: 24,
    BPUTS: 24,
}


def fields_text(printer, kind, data):
    """NAME: FIELD=VALUE ..."""
    parts = []
    for field in kind.fields:
        if not field.is_array:
            value = field.number(data)
            shown = (
                printer.ip(value & 0xFFFFFFFF)
                if field.is_address
                else chr(value & 255)
                if field.is_char
                else f"{value & MASK:x}"
                if field.is_pointer
                else f"{value}"
            )
        elif field.is_char:
            shown = Record(kind, data).text(field.name)
        else:
            room = max(len(data) - field.offset, 0)
            nr = min(field.size or room, room) // field.element_size
            values = (field.number(data, i) for i in range(nr))
            shown = (
                "{"
                + ",".join(
                    printer.ip(value & 0xFFFFFFFF) if field.is_address else f"{value & (1 << 8 * field.element_size) - 1:#x}"
                    for value in values
                )
                + "}"
            )
        parts.append(f" {field.name}={shown}")
    return f"{kind.name}:" + "".join(parts) + "\n"


def synthetic_text(printer, kind, data):
    """As a print fmt cannot say it: stacks have a line for each address."""
    out, ends_line = f"{kind.name}:", False
    record = Record(kind, data)
    for field in kind.fields:
        out += ("" if ends_line else " ") + field.name + "="
        ends_line = field.kind != PLAIN and not field.is_char
        if ends_line:
            stack = record.bytes(field.name)
            out += "STACK:\n"
            for i in range(len(stack) // 8):
                ip = int.from_bytes(stack[8 * i : 8 * i + 4], "little")
                out += f"=> {printer.symbol(ip, True, i > 0)}\n"
        elif field.is_char and (field.is_array or field.kind != PLAIN):
            out += record.text(field.name)
        else:
            value = field.number(data)
            out += f"{value:x}" if field.type == "gfp_t" else f"{value}"
    return out + ("" if ends_line else "\n")


def event_text(printer, kind, event, is_ns):
    """The text behind the columns of an event's line, newline included."""
    number = kind.number
    if number in MESSAGES:
        return printer.ip(struct.unpack_from("<I", event.data, 8)[0]) + ": " + MESSAGES[number](event)
    if number in TEXTS:
        return TEXTS[number](printer, event, is_ns)
    if kind.syscall_part:
        return syscalls.TEXTS[kind.syscall_part](printer, kind, event.data)
    if kind.is_synthetic:
        return synthetic_text(printer, kind, event.data)
    if not kind.has_text or not kind.print_fmt:
        return fields_text(printer, kind, event.data)
    if len(event.data) < kind.bytes:
        return f"{kind.name}: [too short]\n"
    try:
        return f"{kind.name}: {kind.message(event.data)}\n"
    except Damaged as err:
        return fields_text(printer, kind, event.data)[:-1] + f" [its print fmt: {err}]\n"


def message_of(kind, event):
    """For the option printk-msg-only and for comments of function_graph; None when the type has no message."""
    return MESSAGES[kind.number](event) if kind.number in MESSAGES else None


def is_whole(kind, event):
    return len(event.data) >= max(kind.bytes, LEAST.get(kind.number, 0))
