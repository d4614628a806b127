"""The `print fmt:` of an event: a format and expressions of C, made into a function of an event.

compiled(text) always gives a function; it raises Unsupported when called, if the text says something that is not
understood. Nothing of the text is ever executed as Python.
"""
import re

TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:\\.|[^"\\])*")|(?P<char>'(?:\\.|[^'\\])')|(?P<number>0[xX][0-9a-fA-F]+|\d+)[uUlL]*
                       |(?P<word>[A-Za-z_]\w*)|(?P<sign>->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>?:,.(){}\[\]]))""",
    re.X,
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
BINARY = [("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%")]
BITS_OF = {
    "char": 8,
    "short": 16,
    "int": 32,
    "bool": 8,
    "pid_t": 32,
    **{f"{under}{sign}{bits}": bits for under in ("", "__") for sign in "us" for bits in (8, 16, 32, 64)},
}
TYPES = {"unsigned", "signed", "long", "void", "const", "struct", "enum", "size_t", *BITS_OF}
DEEPEST = 60
WORD = (1 << 64) - 1


class Unsupported(Exception):
    """Something that this is not made for."""


def unescaped(token):
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), token[1:-1])


def tokens_of(text):
    at, found = 0, []
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            raise Unsupported(text[at : at + 20])
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


def number(value):
    if isinstance(value, int):
        return value
    raise Unsupported("a number is needed")


def divided(left, right):
    if right == 0:
        raise Unsupported("a division by 0")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


APPLY = {
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: (a << (b & 63)) & WORD,
    ">>": lambda a, b: a >> (b & 63),
    "+": lambda a, b: a + b & WORD if a + b > WORD else a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b & WORD if a * b > WORD else a * b,
    "/": divided,
    "%": lambda a, b: a - b * divided(a, b),
}


def as_type(value, words):
    """A cast. To an address it changes nothing."""
    if "*" in words or not isinstance(value, int):
        return value
    bits = 64 if "long" in words else next((BITS_OF[word] for word in words if word in BITS_OF), 64)
    value &= (1 << bits) - 1
    is_signed = "unsigned" not in words and not words[-1].lstrip("_").startswith("u") and words[-1] not in ("size_t", "bool")
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value


def flags_text(value, between, pairs):
    said = []
    for bits, text in pairs:
        if bits and value & bits == bits:
            said.append(text)
            value &= ~bits
    return between.join(said + ([f"0x{value:x}"] if value else []))


def symbolic_text(value, pairs):
    return next((text for key, text in pairs if key == value), f"0x{value & WORD:x}")


class Parser:
    """Recursive descent; each method gives a function of (event, symbols)."""

    def __init__(self, text):
        self.tokens, self.at, self.depth = tokens_of(text), 0, 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else (None, None)

    def take(self, text=None):
        kind, found = self.peek()
        if kind is None or text is not None and found != text:
            raise Unsupported(f"{found!r} instead of {text!r}")
        self.at += 1
        return found

    def if_next(self, text):
        if self.peek()[1] != text or self.peek()[0] == "string":
            return False
        self.at += 1
        return True

    def whole(self):
        """ "format", argument, argument ..."""
        form, arguments = self.string(), []
        while self.if_next(","):
            arguments.append(self.expression())
        if self.peek()[0] is not None:
            raise Unsupported(self.peek()[1])
        return form, arguments

    def string(self):
        text = unescaped(self.take()) if self.peek()[0] == "string" else None
        if text is None:
            raise Unsupported("no format")
        while self.peek()[0] == "string":
            text += unescaped(self.take())
        return text

    def expression(self):
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unsupported("too deep")
        condition = self.binary(0)
        if self.if_next("?"):
            yes = self.expression()
            self.take(":")
            no = self.expression()
            self.depth -= 1
            return lambda event, symbols: yes(event, symbols) if condition(event, symbols) else no(event, symbols)
        self.depth -= 1
        return condition

    def binary(self, level):
        if level == len(BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek()[0] == "sign" and self.peek()[1] in BINARY[level]:
            left = self.applied(APPLY[self.take()], left, self.binary(level + 1))
        return left

    @staticmethod
    def applied(apply, left, right):
        return lambda event, symbols: apply(number(left(event, symbols)), number(right(event, symbols)))

    def unary(self):
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unsupported("too deep")
        value = self.signed() if self.peek()[1] in ("-", "~", "!", "+") and self.peek()[0] == "sign" else self.cast()
        self.depth -= 1
        return value

    def signed(self):
        sign, operand = self.take(), self.unary()
        apply = {"-": lambda v: -v, "~": lambda v: ~v, "!": lambda v: int(not v), "+": lambda v: v}[sign]
        return lambda event, symbols: apply(number(operand(event, symbols)))

    def cast(self):
        if self.peek() != ("sign", "(") or self.peek(1)[1] not in TYPES:
            return self.postfix()
        self.take("(")
        words = []
        while not self.if_next(")"):
            words.append(self.take())
        operand = self.unary()
        return lambda event, symbols: as_type(operand(event, symbols), words)

    def postfix(self):
        value = self.primary()
        while self.if_next("["):
            value = self.indexed(value, self.expression())
            self.take("]")
        return value

    @staticmethod
    def indexed(array, index):
        def at(event, symbols):
            values, place = array(event, symbols), number(index(event, symbols))
            if not isinstance(values, (list, bytes)) or not 0 <= place < len(values):
                raise Unsupported("no such element")
            return values[place]

        return at

    def primary(self):
        kind, text = self.peek()
        if kind == "string":
            constant = self.string()
            return lambda event, symbols: constant
        self.take()
        if text == "(":
            value = self.expression()
            self.take(")")
            return value
        if kind == "number":
            constant = int(text, 16 if text[:2] in ("0x", "0X") else 10)
            return lambda event, symbols: constant
        if kind == "char":
            constant = ord(unescaped(text)[0])
            return lambda event, symbols: constant
        if text == "REC":
            self.take("->")
            return self.field(self.take())
        if text in CALLS:
            return self.call(CALLS[text])
        raise Unsupported(text)

    @staticmethod
    def field(name):
        def value(event, symbols):
            if name not in event.fields:
                raise Unsupported(f"no field {name}")
            return event.fields[name]

        return value

    def call(self, make):
        self.take("(")
        made = make(self)
        self.take(")")
        return made

    # ---- Functions of the kernel's formats ----

    def named_field(self):
        return self.field(self.take())

    def length(self):
        name = self.take()
        return lambda event, symbols: len(event.raw(name))

    def pairs(self):
        found = []
        while self.if_next(","):
            self.take("{")
            key = self.expression()
            self.take(",")
            found.append((number(key(None, None)), self.string()))
            self.take("}")
        return found

    def symbolic(self):
        value, pairs = self.expression(), self.pairs()
        return lambda event, symbols: symbolic_text(number(value(event, symbols)), pairs)

    def flags(self):
        value = self.expression()
        self.take(",")
        between, pairs = self.string(), self.pairs()
        return lambda event, symbols: flags_text(number(value(event, symbols)), between, pairs)

    def several(self):
        found = [self.expression()]
        while self.if_next(","):
            found.append(self.expression())
        return found

    def array(self):
        first, count = self.several()[:2]

        def text(event, symbols):
            values = first(event, symbols)
            if not isinstance(values, list):
                raise Unsupported("no array")
            return "{" + ",".join(f"0x{value & WORD:x}" for value in values[: number(count(event, symbols))]) + "}"

        return text

    def hex_bytes(self):
        first, count = self.several()[:2]

        def text(event, symbols):
            values = first(event, symbols)
            if not isinstance(values, (list, bytes)):
                raise Unsupported("no bytes")
            return " ".join(f"{value & 255:02x}" for value in values[: number(count(event, symbols))])

        return text

    def cpus(self):
        name = self.take()

        def text(event, symbols):
            mask = event.raw(name)
            return ",".join(f"{int.from_bytes(mask[at:at + 4], 'little'):08x}" for at in reversed(range(0, len(mask), 4)))

        return text


CALLS = {
    "__print_symbolic": Parser.symbolic,
    "__print_flags": Parser.flags,
    "__get_str": Parser.named_field,
    "__get_rel_str": Parser.named_field,
    "__get_dynamic_array": Parser.named_field,
    "__get_dynamic_array_len": Parser.length,
    "__print_array": Parser.array,
    "__print_hex": Parser.hex_bytes,
    "__get_cpumask": Parser.cpus,
}

CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|\d*))?"
    r"(?P<length>hh|h|ll|l|L|z|t|j)?(?P<kind>[diuxXocsp%])(?P<more>(?:(?<=p)[A-Za-z]\w*)?)"
)
BITS = {"hh": 8, "h": 16, None: 32}
WIDEST = 1 << 12


def number_text(match, value):
    bits = BITS.get(match["length"], 64)
    value &= (1 << bits) - 1
    if match["kind"] in "di":
        return str(value - (1 << bits) if value >> (bits - 1) else value)
    return ("0x" if "#" in match["flags"] and match["kind"] == "x" else "") + format(value, {"u": "d"}.get(match["kind"], match["kind"]))


def address_text(match, value, symbols):
    if isinstance(value, str):
        return value
    kind = match["more"][:1]
    if kind in ("s", "f"):
        return symbols.name(value & WORD)
    if kind in ("S", "F", "B"):
        return symbols.with_offset(value & WORD)
    return f"{value & WORD:016x}"


def one_text(match, take, symbols):
    """The text of one conversion; take() gives the next argument."""
    width = number(take()) if match["width"] == "*" else int(match["width"] or 0)
    precision = number(take()) if match["precision"] == "*" else int(match["precision"] or 0) if match["precision"] is not None else None
    kind, value = match["kind"], take()
    if kind == "s":
        text = value if isinstance(value, str) else "" if value == [] else None
        if text is None:
            raise Unsupported("no text")
        text = text if precision is None else text[:precision]
    elif kind == "p":
        text = address_text(match, value if isinstance(value, str) else number(value), symbols)
    elif kind == "c":
        text = chr(number(value) & 255)
    else:
        text = number_text(match, number(value))
    if abs(width) > WIDEST:
        raise Unsupported("too wide")
    if "-" in match["flags"] or width < 0:
        return text.ljust(abs(width))
    return text.zfill(width) if "0" in match["flags"] and kind not in "sp" else text.rjust(width)


def formatted(form, take, symbols):
    """The text of a format of printf; take() gives the arguments one by one."""
    return CONVERSION.sub(lambda match: "%" if match["kind"] == "%" else one_text(match, take, symbols), form)


def conversions(form):
    """The conversions of a format that take an argument."""
    return [match for match in CONVERSION.finditer(form) if match["kind"] != "%"]


def compiled(text):
    try:
        form, arguments = Parser(text).whole()
    except (Unsupported, RecursionError) as err:
        reason = str(err)

        def refused(event, symbols):
            raise Unsupported(reason)

        return refused

    def printed(event, symbols):
        following = iter(arguments)

        def take():
            argument = next(following, None)
            if argument is None:
                raise Unsupported("too few arguments")
            return argument(event, symbols)

        return formatted(form, take, symbols)

    return printed
