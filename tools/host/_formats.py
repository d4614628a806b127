"""Types of events in a file: what _pages.py reads of a `format` file, made to numbers, texts and lists, and to a line of text."""
import struct

from host import _printfmt
from host._pages import Format

WIDTHS = {"char": 1, "short": 2, "int": 4, "long": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8, "s8": 1, "s16": 2, "s32": 4, "s64": 8}
LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
# Fields of the tracers' own events that are functions; Fathom keeps the low half of such an address.
ADDRESSES = {"ip", "parent_ip", "func", "retaddr", "caller"}


def element_of(words):
    """The type of an array's elements."""
    size = 8 if "*" in words else next((WIDTHS[word] for word in reversed(words.split()) if word in WIDTHS), 1)
    return struct.Struct("<" + LETTERS[size])


def whole_address(value):
    """Of the low half of a kernel's address the address."""
    return value | 0xFFFFFFFF00000000 if 0x80000000 <= value < 1 << 32 else value


class EventType(Format):
    """An event's name, number, fields, and how it is printed."""

    def __init__(self, system, text):
        try:
            super().__init__(text)
        except ValueError as err:
            raise ValueError(f"of the system {system!r}: {err}") from None
        self.system = system
        self.by_name = {field.name: field for field in self.fields}
        self.elements = {field.name: element_of(field.type) for field in self.fields if not field.number and not field.is_text}
        self.addresses = (
            {field.name for field in self.fields if field.name in ADDRESSES and not field.is_text} if system == "ftrace" else set()
        )
        self.printer = None

    def value(self, name, data):
        """A number, a text, or a list of numbers."""
        value = self.by_name[name].value(data, 0, len(data))
        if name in self.elements:
            element = self.elements[name]
            value = [one for one, in element.iter_unpack(value[: len(value) // element.size * element.size])]
            return [whole_address(one) for one in value] if name in self.addresses else value
        return whole_address(value) if name in self.addresses else value

    def decoded(self, data):
        """{name: value} of a record; fields that a shorter record lacks are left out."""
        found = {}
        for name in self.by_name:
            try:
                found[name] = self.value(name, data)
            except struct.error:
                continue
        return found

    def raw(self, name, data):
        """The bytes of an array."""
        if name not in self.by_name:
            raise _printfmt.Unsupported(f"no field {name}")
        value = self.by_name[name].value(data, 0, len(data))
        if isinstance(value, int):
            raise _printfmt.Unsupported(f"{name} is no array")
        return value.encode() + b"\0" if isinstance(value, str) else value

    def text(self, event, symbols):
        """The text behind the name in a line of `trace`. If its print fmt says something that is not understood: all fields."""
        if self.printer is None:
            self.printer = _printfmt.compiled(self.print_fmt)
        try:
            return self.printer(event, symbols)
        except _printfmt.Unsupported:
            return " ".join(f"{name}={value}" for name, value in event.fields.items())
