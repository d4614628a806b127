"""Formats as <trace/fmt.h> has them, and the expressions of a `print fmt`.

A print fmt is C: a format and arguments, in which REC is the event. compile_fmt() makes a function of it, once for each
type of event, that is given the event and returns its text.
"""
import re
import struct

from ft import memory, symbols
from ft.memory import MASK, Damaged

WIDEST = 32767
CONVERSION = re.compile(r"%([-+ 0#]*)(\*|\d*)(?:\.(\*|\d*))?(hh|h|ll|l|z|j|t)?(p[SsB]?|[idxXoucs%])?")
BYTES = {"hh": 1, "h": 2, None: 4, "l": 8, "ll": 8, "z": 8, "j": 8, "t": 8}


def signed(value, size):
    value &= (1 << 8 * size) - 1
    return value - (1 << 8 * size) if value >> (8 * size - 1) else value


def pad(text, flags, width):
    return text.ljust(width) if "-" in flags else text.rjust(width)


def number(value, flags, width, precision, size, kind):
    """One of %d %u %x %X %o."""
    value = signed(value, size) if kind in "di" else value & (1 << 8 * size) - 1
    sign = "-" if value < 0 else "+" if "+" in flags and kind in "di" else " " if " " in flags and kind in "di" else ""
    digits = format(abs(value), {"x": "x", "X": "X", "o": "o"}.get(kind, "d"))
    if precision is not None:
        digits = "" if not value and not precision else digits.rjust(precision, "0")
    if "#" in flags and value:
        sign = {"x": "0x", "X": "0X", "o": "" if digits.startswith("0") else "0"}.get(kind, sign)
    if "0" in flags and "-" not in flags and precision is None:
        digits = digits.rjust(width - len(sign), "0")
    return pad(sign + digits, flags, width)


def pointer(address, kind, flags, width):
    address &= MASK
    if kind == "p":
        return format(address, "016x") if not width else number(address, flags, width, None, 8, "x")
    found = symbols.find(address, kind == "pB")
    if not found:
        return pad(f"{address:#x}", flags, width)
    name, start, size = found
    return pad(name if kind == "ps" else f"{name}+{address - start:#x}/{size:#x}", flags, width)


def take(text, arguments):
    """(conversion, width, precision, flags) with stars taken from the arguments."""
    flags, width, precision = text.group(1), text.group(2), text.group(3)
    if width == "*":
        width = signed(next(arguments), 4)
        flags += "-" if width < 0 else ""
    if precision == "*":
        precision = signed(next(arguments), 4)
        precision = None if precision < 0 else precision
    elif precision is not None:
        precision = min(int(precision or 0), WIDEST)
    return flags, min(abs(int(width or 0)), WIDEST), precision


def formatted(fmt, arguments):
    """printf, with an iterator of numbers and of texts. What is no conversion stands as it is."""
    arguments = iter(arguments)

    def one(match):
        kind = match.group(5)
        if not kind:
            return match.group(0)
        try:
            flags, width, precision = take(match, arguments)
            if kind == "%":
                return "%"
            value = next(arguments)
        except StopIteration:
            return "(missing)"
        if kind == "s":
            shown = value if isinstance(value, str) else memory.text(value) if value else "(null)"
            return pad(shown[:precision], flags, width)
        if kind == "c":
            return pad(chr(value & 255), flags, width)
        if kind[0] == "p":
            return pointer(value, kind, flags, width)
        return number(value, flags, width, precision, BYTES[match.group(4)], kind)

    return CONVERSION.sub(one, fmt)


def packed_arguments(fmt, data):
    """The arguments that trace_bin_pack() has packed for this format, one after the other."""
    pos = 0
    for match in CONVERSION.finditer(fmt):
        flags, width, precision, size, kind = match.groups()
        sizes = [4 for part in (width, precision) if part == "*"]
        if kind == "s":
            sizes.append(None)
        elif kind and kind != "%":
            sizes.append(8 if kind[0] == "p" or kind != "c" and BYTES[size] == 8 else 4)
        for nr in sizes:
            if nr is None:
                end = data.find(b"\0", pos)
                end = end if end >= 0 else len(data)
                yield data[pos:end].decode("utf-8", "replace")
                pos = end + 1
                continue
            pos += -pos % 4  # integers are aligned
            if pos + nr <= len(data):
                yield int.from_bytes(data[pos : pos + nr], "little")
                pos += nr
            else:
                yield 0


# ---- The functions of a print fmt ----


def print_flags(delimiter, flags, names):
    parts = []
    for mask, name in names:
        if not flags:
            break
        if name and flags & mask == mask:
            flags &= ~mask
            parts.append(name)
    return delimiter.join(parts + ([f"{flags:#x}"] if flags else []))


def print_symbolic(value, names):
    return next((name for mask, name in names if name and mask & MASK == value & MASK), f"{value & MASK:#x}")


def print_array(data, nr, size):
    values = [int.from_bytes(data[i * size : (i + 1) * size], "little") for i in range(min(nr, len(data) // max(size, 1)))]
    return "{" + ",".join(f"{value:#x}" for value in values) + "}"


def print_bitmask(data):
    words = struct.unpack(f"<{len(data) // 4}I", data[: len(data) & ~3])
    return ",".join(f"{value:08x}" for value in reversed(words))


def print_hex_dump(prefix, prefix_type, row_bytes, group, data, has_ascii):
    row_bytes = 32 if row_bytes == 32 else 16
    out = "\n"
    for at in range(0, len(data), row_bytes):
        row = data[at : at + row_bytes]
        each = group if group in (2, 4, 8) and len(row) % group == 0 else 1
        line = " ".join(format(int.from_bytes(row[i : i + each], "little"), f"0{2 * each}x") for i in range(0, len(row), each))
        if has_ascii:
            line = line.ljust(row_bytes * 2 + row_bytes // each + 1)
            line += "".join(chr(c) if 0x20 <= c <= 0x7E else "." for c in row)
        out += prefix + (f"{at:08x}: " if prefix_type == 2 else "") + line + "\n"
    return out


# ---- Expressions ----

TOKEN = re.compile(
    r'\s*("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|[A-Za-z_]\w*|->|<<|>>|<=|>=|==|!='
    r"|&&|\|\||[-+*/%&|^~!<>?:()\[\]{},.])"
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "0": "\0", "a": "\a", "b": "\b"}
BINARY = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]
TYPE_WORDS = {
    "unsigned",
    "signed",
    "int",
    "long",
    "short",
    "char",
    "void",
    "const",
    "bool",
    "struct",
    "size_t",
    "u8",
    "u16",
    "u32",
    "u64",
    "s8",
    "s16",
    "s32",
    "s64",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "pid_t",
    "gfp_t",
    "uintptr_t",
    "__u64",
    "__u32",
    "__u16",
    "__u8",
}


def unquoted(token):
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(1)), token[1:-1])


def cast_of(words):
    """A function that does what a cast to that type does."""
    name = " ".join(words)
    if "*" in words:
        return lambda value: value & MASK if isinstance(value, int) else value
    size = 1 if re.search(r"char|8", name) else 2 if re.search(r"short|16", name) else 8 if re.search(r"long|64|size_t|ptr", name) else 4
    is_unsigned = re.search(r"unsigned|\bu\d|uint|size_t|ptr|__u|gfp", name)
    if is_unsigned:
        return lambda value: value & (1 << 8 * size) - 1
    return lambda value: signed(value, size)


def divide(a, b):
    """As C does it: towards 0."""
    if not b:
        raise Damaged("division by 0")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << (b & 63),
    ">>": lambda a, b: a >> (b & 63),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "%": lambda a, b: a - b * divide(a, b),
}


class Compiler:
    """Makes functions of expressions: each takes the event, an object with field(), bytes() and text()."""

    def __init__(self, source, names):
        self.tokens = []
        self.pos = 0
        self.names = names  # what a word that is no field stands for
        pos = 0
        while pos < len(source) and source[pos:].strip():
            match = TOKEN.match(source, pos)
            if not match:
                raise Damaged(f"`{source[pos:pos + 20]}` is not understood")
            self.tokens.append(match.group(1))
            pos = match.end()

    def peek(self):
        return self.tokens[self.pos] if self.pos < len(self.tokens) else ""

    def next(self, wanted=None):
        token = self.peek()
        if not token or wanted and token != wanted:
            raise Damaged(f"`{wanted or 'more'}` is missing at `{' '.join(self.tokens[self.pos:self.pos + 5])}`")
        self.pos += 1
        return token

    def takes(self, token):
        if self.peek() != token:
            return False
        self.pos += 1
        return True

    def expression(self):
        condition = self.binary(0)
        if not self.takes("?"):
            return condition
        yes = self.expression()
        self.next(":")
        no = self.expression()
        return lambda rec: yes(rec) if condition(rec) else no(rec)

    def binary(self, level):
        if level == len(BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in BINARY[level]:
            left = self.joined(left, self.next(), self.binary(level + 1))
        return left

    @staticmethod
    def joined(left, operator, right):
        if operator == "||":
            return lambda rec: int(bool(left(rec)) or bool(right(rec)))
        if operator == "&&":
            return lambda rec: int(bool(left(rec)) and bool(right(rec)))
        operation = OPERATIONS[operator]
        return lambda rec: operation(left(rec), right(rec))

    def unary(self):
        token = self.peek()
        if token in ("-", "~", "!", "+"):
            self.next()
            inner = self.unary()
            return {"-": lambda rec: -inner(rec), "~": lambda rec: ~inner(rec), "!": lambda rec: int(not inner(rec)), "+": inner}[token]
        if token in ("*", "&"):  # of a field that is an array: the same thing
            self.next()
            return self.unary()
        if token == "(" and self.tokens[self.pos + 1 : self.pos + 2] and self.tokens[self.pos + 1] in TYPE_WORDS:
            self.next()
            words = []
            while self.peek() != ")":
                words.append(self.next())
            self.next(")")
            inner, cast = self.unary(), cast_of(words)
            return lambda rec: cast(inner(rec))
        return self.postfix()

    def postfix(self):
        token = self.next()
        if token == "(":
            inner = self.expression()
            self.next(")")
            return self.indexed(inner)
        if token == "REC":
            self.next("->")
            name = self.next()
            return self.indexed(lambda rec: rec.field(name), name)
        if token[0] == '"':
            text = unquoted(token)
            while self.peek()[:1] == '"':
                text += unquoted(self.next())
            return lambda rec: text
        if token[0] == "'":
            value = ord(unquoted(token)[:1] or "\0")
            return lambda rec: value
        if token[0].isdigit():
            value = int(token.rstrip("uUlL"), 0)
            return lambda rec: value
        if self.peek() == "(":
            return self.call(token)
        value = self.names(token)
        return lambda rec: value

    def indexed(self, inner, name=None):
        if not self.takes("["):
            return inner
        index = self.expression()
        self.next("]")
        return lambda rec: rec.element(name, index(rec))

    def argument_name(self):
        self.next("(")
        name = self.next()
        self.next(")")
        return name

    def pairs(self):
        """{ NUMBER, "text" }, ... up to the closing parenthesis; constant."""
        found = []
        while self.takes(","):
            self.next("{")
            mask = self.expression()(None)
            self.next(",")
            found.append((mask, self.expression()(None)))
            self.next("}")
        self.next(")")
        return [(mask, name) for mask, name in found if isinstance(name, str)]

    def call(self, name):
        if name in ("__get_str", "__get_rel_str"):
            field = self.argument_name()
            return lambda rec: rec.text(field)
        if name in ("__get_dynamic_array", "__get_rel_dynamic_array", "__get_sockaddr", "__get_stacktrace"):
            field = self.argument_name()
            return self.indexed(lambda rec: rec.bytes(field), field)
        if name in ("__get_dynamic_array_len", "__get_rel_dynamic_array_len"):
            field = self.argument_name()
            return lambda rec: len(rec.bytes(field))
        if name in ("__get_bitmask", "__get_rel_bitmask", "__get_cpumask", "__get_rel_cpumask"):
            field = self.argument_name()
            return lambda rec: print_bitmask(rec.bytes(field))
        self.next("(")
        if name == "__print_flags" or name == "__print_flags_u64":
            value = self.expression()
            self.next(",")
            delimiter, names = self.expression(), self.pairs()
            return lambda rec: print_flags(delimiter(rec) or "", value(rec) & MASK, names)
        if name in ("__print_symbolic", "__print_symbolic_u64"):
            value, names = self.expression(), self.pairs()
            return lambda rec: print_symbolic(value(rec), names)
        arguments = [] if self.peek() == ")" else [self.expression()]
        while self.takes(","):
            arguments.append(self.expression())
        self.next(")")
        return self.function(name, arguments)

    @staticmethod
    def function(name, arguments):
        """One that takes values."""
        known = {
            "__print_array": (3, print_array),
            "__print_hex": (2, lambda data, size: " ".join(f"{c:02x}" for c in data[:size])),
            "__print_hex_str": (2, lambda data, size: data[:size].hex()),
            "__print_hex_dump": (
                7,
                lambda prefix, kind, row, group, data, size, ascii: print_hex_dump(prefix, kind, row, group, data[:size], ascii),
            ),
            "__print_ns_to_secs": (1, lambda ns: ns // 1000000000),
            "__print_ns_without_secs": (1, lambda ns: ns % 1000000000),
        }
        if name not in known or known[name][0] != len(arguments):
            raise Damaged(f"the function {name} is not known here")
        return lambda rec: known[name][1](*[argument(rec) for argument in arguments])


def compile_fmt(source, names):
    """A function from the event to its text. Damaged when the expression is not understood."""
    compiler = Compiler(source, names)
    fmt = compiler.expression()
    arguments = []
    while compiler.takes(","):
        arguments.append(compiler.expression())
    if compiler.peek():
        raise Damaged(f"`{compiler.peek()}` is not expected there")
    return lambda rec: formatted(fmt(rec), [argument(rec) for argument in arguments])
