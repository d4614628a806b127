"""Arguments and results of traced calls by their types, as trace/tracers/call_types.c prints them out of BTF: here by DWARF."""
import struct

import gdb
from ft import memory, symbols
from ft.memory import Damaged

REGS = 6
WORD = 8
TEXT_MAX = 32
TEXT_LOST = 0xFF
ESCAPES = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


# Words behind the head of a type in BTF, of some kinds a part for each of its `vlen`: (fixed, each), in bytes.
PARTS = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0), 15: (0, 12), 17: (4, 0), 19: (0, 12)}
FUNC = 12
MAX_BYTES = 64 << 20
_names = {}


def known_names():
    """
    The functions whose types the kernel has, which are not all that gdb knows: none of which two have one name. None: it has no
    table of types, or a damaged one.
    """
    blob = memory.symbol_address("btf_blob")
    key = (gdb.current_progspace().filename, blob)
    if key not in _names:
        _names[key] = read_names(blob) if blob else None
    return _names[key]


def read_names(blob):
    try:
        magic, _, _, head, types_at, types, names_at, names = struct.unpack("<HBBIIIII", memory.read(blob, 24))
        if magic != 0xEB9F or max(head, types_at, types, names_at, names) > MAX_BYTES:
            return None
        data, text = memory.read(blob + head + types_at, types), memory.read(blob + head + names_at, names)
        found, at = set(), 0
        while at < types:
            name, info, _ = struct.unpack_from("<III", data, at)
            kind, nr = info >> 24 & 31, info & 0xFFFF
            fixed, each = PARTS.get(kind, (0, 0))
            at += 12 + fixed + each * nr
            if kind == FUNC:
                found.add(text[name : text.index(b"\0", name)].decode())
        return found
    except (Damaged, ValueError, struct.error):
        return None


class Function:
    """The result and the arguments of the function at an address."""

    def __init__(self, address):
        self.result, self.arguments, self.is_variadic, self.is_known = None, [], False, False
        name = symbols.name_of(address)
        block = gdb.block_for_pc(address)
        while block is not None and block.function is None:
            block = block.superblock
        names = known_names()
        if block is None or block.function.name != name or not names or name not in names:
            return
        self.is_known = True
        kind = block.function.type
        self.result = kind.target()
        self.arguments = [(symbol.name, symbol.type) for symbol in block if symbol.is_argument]
        self.is_variadic = str(kind).endswith("...)")


_functions = {}


def function_at(address):
    key = (gdb.current_progspace().filename, address)
    if key not in _functions:
        _functions[key] = Function(address)
    return _functions[key]


def is_char(kind):
    kind = kind.unqualified()
    return kind.code == gdb.TYPE_CODE_INT and kind.name == "char"


def is_size(kind):
    while kind.code == gdb.TYPE_CODE_TYPEDEF:
        if kind.unqualified().name == "size_t":
            return True
        kind = kind.target()
    return False


def value_text(kind, value):
    plain = kind.strip_typedefs().unqualified()
    bits = 8 * min(plain.sizeof or 8, 8)
    value &= (1 << bits) - 1
    extended = value - (1 << bits) if value >> (bits - 1) else value
    if plain.code == gdb.TYPE_CODE_BOOL:
        return "true" if value else "false"
    if plain.code == gdb.TYPE_CODE_ENUM:
        names = [field.name for field in plain.fields() if field.enumval & 0xFFFFFFFF == value & 0xFFFFFFFF]
        return names[0] if names else str(extended)
    if plain.code == gdb.TYPE_CODE_INT:
        if is_char(plain):
            c = value & 255
            return f"'{chr(c)}'" if 32 <= c < 127 else str(c - 256 if c > 127 else c)
        if plain.is_signed:
            return str(extended)
        return str(value) if is_size(kind) else f"{value:#x}"
    return f"{value:#x}"


def result_text(address, value):
    """None when the type is not known; "" for void."""
    function = function_at(address)
    if not function.is_known:
        return None
    code = function.result.strip_typedefs().code
    return "" if code == gdb.TYPE_CODE_VOID else value_text(function.result, value)


def quoted(text):
    shown = "".join(ESCAPES.get(c, c if c >= " " else ".") for c in text.decode("utf-8", "replace"))
    return f'"{shown}"' + ("..." if len(text) == TEXT_MAX else "")


def is_const_text(kind):
    plain = kind.strip_typedefs()
    if plain.code != gdb.TYPE_CODE_PTR:
        return False
    target = plain.target()
    return is_char(target.strip_typedefs()) and str(target) != str(target.unqualified())


def arguments_text(address, values, texts):
    """`(name=value, ...)` of the values that an event has, and its texts one behind the other."""
    function, parts, at = function_at(address), [], 0
    if not function.is_known or not values:
        return "()"
    for name, kind in function.arguments:
        words = (kind.sizeof + WORD - 1) // WORD
        code = kind.strip_typedefs().code
        if at + words > len(values):
            parts.append(f"{name}=?")
            continue
        mine, at = values[at : at + words], at + words
        if code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) or words > 1:
            parts.append(f"{name}={{" + ", ".join(f"{value:#x}" for value in mine) + "}")
        elif is_const_text(kind) and texts:
            text, _, texts = texts.partition(b"\0")
            lost = text[-1:] == bytes([TEXT_LOST])
            parts.append(f"{name}=" + (f"{mine[0]:#x}" + ("(fault)" if mine[0] else "") if not mine[0] or lost else quoted(text)))
        else:
            parts.append(f"{name}={value_text(kind, mine[0])}")
    return "(" + ", ".join(parts + (["..."] if function.is_variadic else [])) + ")"
