"""Events of system calls: their texts, and the print fmt of those of entry, as trace/syscalls/syscall_text.c writes them."""
import struct

from ft import memory
from ft.memory import MASK

ARGS_AT = 16  # from the start of an event
FIRST_RESTART = 512


def call_of(call, member):
    """(struct syscall_event, struct trace_syscall) of the struct trace_event_call at `call`."""
    own = memory.at(call - memory.offset_of("struct syscall_event", member), "struct syscall_event")
    return own, own["call"].dereference()


def arguments(call):
    """(name, whether memory that it points to is recorded: None, or 0 for bytes, 1 for a text) of each argument."""
    own, names = call_of(call, "enter")
    vals = [own["vals"][i] for i in range(int(own["nr_vals"]))]
    kept = {int(val["arg"]): int(val["is_text"]) for val in vals}
    return [(memory.text(int(names["args"][i])), kept.get(i)) for i in range(int(own["nr_args"]))]


# ---- print fmt ----

CONVERSIONS = {None: "", 0: " (%s)", 1: ' \\"%s\\"'}
VALUES = {
    None: "",
    0: ", __print_hex(__get_dynamic_array(__{0}_val), __get_dynamic_array_len(__{0}_val))",
    1: ", __get_str(__{0}_val)",
}


def print_fmt(event):
    """The `format` of an event of entry."""
    found = arguments(int(event["call"]))
    fmt = ", ".join(f"{name}: 0x%08lx{CONVERSIONS[kept]}" for name, kept in found)
    return f'"{fmt}"' + "".join(f", ((unsigned long)(REC->{name})){VALUES[kept].format(name)}" for name, kept in found)


# ---- Lines of `trace` ----


def is_printable(byte):
    return 0x20 <= byte <= 0x7E


def bytes_text(kept, count):
    """Bytes, of which there were `count`: as digits, and if one of them is printable, as characters."""
    is_cut = len(kept) < count
    text = " (" + ":".join(f"{byte:02x}" for byte in kept) + (", ...)" if is_cut else ")")
    if any(map(is_printable, kept)):
        text += ' "' + "".join(chr(byte) if is_printable(byte) else "." for byte in kept) + ('"...' if is_cut else '"')
    return text


def memory_text(data, at, is_text, count):
    """The memory of an argument, whose place and size are at `at` of the event."""
    loc = struct.unpack_from("<I", data, at)[0]
    start, size = loc & 0xFFFF, loc >> 16
    kept = data[start : start + size] if start + size <= len(data) else b""
    return ' "' + kept.split(b"\0")[0].decode("utf-8", "replace") + '"' if is_text else bytes_text(kept, count)


def arguments_text(printer, call, data):
    own, names = call_of(call, "enter")
    found, at = arguments(call), int(own["user_at"])
    values = [*struct.unpack_from(f"<{len(found)}Q", data, ARGS_AT), 0]
    parts = []
    for i, (name, kept) in enumerate(found):
        part = memory.text(int(names["types"][i])) + " " if printer.has("VERBOSE") else ""
        part += f"{name}: " + (f"{values[i]}" if values[i] < 10 else f"{values[i]:#x}")
        if kept is not None:
            part += memory_text(data, at, kept, values[i + 1])
            at += 4
        parts.append(part)
    return ", ".join(parts)


def enter_text(printer, kind, data):
    own, names = call_of(kind.call, "enter")
    is_whole = len(data) >= int(own["fixed_bytes"])
    return f"sys_{memory.text(int(names['name']))}({arguments_text(printer, kind.call, data) if is_whole else ''})\n"


def errname(printer, ret):
    """The name of the error that was returned, if names are wanted and it is one."""
    if not printer.has("ERRNO_NAMES"):
        return ""
    for table, first in (("errno_names", 0), ("restart_names", FIRST_RESTART)):
        names = memory.variable(table, "syscall_errno.c")
        nr = (-ret & MASK) - first
        if 0 <= nr <= names.type.range()[1] and int(names[nr]):
            return f" ({memory.text(int(names[nr]))})"
    return ""


def exit_text(printer, kind, data):
    ret = struct.unpack_from("<Q", data, ARGS_AT)[0] if len(data) >= ARGS_AT + 8 else 0
    return f"sys_{memory.text(int(call_of(kind.call, 'exit')[1]['name']))} -> {ret:#x}{errname(printer, ret)}\n"


def latency_text(printer, kind, data):
    lat, ret, name = struct.unpack_from("<Qq24s", data, ARGS_AT) if len(data) >= ARGS_AT + 40 else (0, 0, b"")
    return f"syscall_latency: {name.split(bytes(1))[0].decode()} lat={lat} ret={ret}{errname(printer, ret)}\n"


TEXTS = {"enter": enter_text, "exit": exit_text, "latency": latency_text}


def part_of(funcs):
    """The part of a system call that a type with these functions is the event of: a key of TEXTS, or None."""
    return next((part for part in TEXTS if memory.symbol_address(f"trace_syscall_{part}_funcs") == funcs), None)
