"""Markers of programs, as <sys/sdt.h> of SystemTap leaves them in a file: notes in its section .note.stapsdt.

A note has the address of the marker, that of .stapsdt.base when the file was linked, that of a semaphore or 0, and three words: the
provider, the name, and the arguments in the assembler's spelling: `-4@%edi 8@-16(%rbp)`.
"""
import re
import struct
from dataclasses import dataclass

from host._common import Failure

NOTE, SYMTAB, LOAD = 7, 2, 1
KIND, OWNER = 3, b"stapsdt\0"
WIDE = {name: name[1:] for name in "rax rbx rcx rdx rsi rdi rbp rsp rip".split()}
NARROW = {f"e{name}": name for name in "ax bx cx dx si di bp sp".split()}
SHORT = {name: name for name in "ax bx cx dx si di bp sp".split()}
BYTES = {f"{letter}l": f"{letter}x" for letter in "abcd"} | {f"{name}l": name for name in "si di bp sp".split()}
NEW = {f"r{n}{tail}": f"r{n}" for n in range(8, 16) for tail in ("", "d", "w", "b")}
REGISTERS = WIDE | NARROW | SHORT | BYTES | NEW  # of the assembler, and of probes
ARGUMENT = re.compile(r"(-?[1248])@(.+)")
MEMORY = re.compile(r"(-?(?:0x[0-9a-f]+|\d+))?\(%(\w+)\)")
SYMBOL = re.compile(r"(?:(-?\d+)\+)?([A-Za-z_.$][\w.$@]*)([+-]\d+)?\(%rip\)")


@dataclass
class Marker:
    provider: str
    name: str
    arguments: list  # words, as they stand in the note
    address: int
    offset: int  # in the file
    semaphore: int  # its offset in the file; 0: there is none


def string(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode("utf-8", "replace"), end + 1


class Elf:
    """An ELF file of 64 bits, little endian. Damage in it raises one of _common.SENSELESS."""

    def __init__(self, data):
        if data[:6] != b"\x7fELF\x02\x01":
            raise Failure("this is no ELF file of 64 bits")
        self.data = data
        programs, sections = struct.unpack_from("<QQ", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        self.loads = [struct.unpack_from("<IIQQQQ", data, programs + size * i) for i in range(count)]
        size, count, names = struct.unpack_from("<HHH", data, 58)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", data, sections + size * i) for i in range(count)]
        self.names = [string(data, self.sections[names][4] + one[0])[0] for one in self.sections]

    def section(self, name):
        return self.sections[self.names.index(name)] if name in self.names else None

    def contents(self, section):
        return self.data[section[4] : section[4] + section[5]]

    def offset(self, address):
        """That of an address in the file; None: the file does not have it."""
        for kind, _, offset, virtual, _, size in self.loads:
            if kind == LOAD and virtual <= address < virtual + size:
                return address - virtual + offset
        return None

    def symbols(self):
        """{name: address}."""
        found = {}
        for table in self.sections:
            if table[1] == SYMTAB:
                for name, _, _, _, value, _ in struct.iter_unpack("<IBBHQQ", self.contents(table)):
                    found.setdefault(string(self.data, self.sections[table[6]][4] + name)[0], value)
        return found


def notes(data):
    """The descriptions of SystemTap's notes in a section."""
    at = 0
    while at + 12 <= len(data):
        owner, size, kind = struct.unpack_from("<III", data, at)
        begin = at + 12 + -(-owner // 4) * 4
        if kind == KIND and data[at + 12 : at + 12 + owner] == OWNER:
            yield data[begin : begin + size]
        at = begin + -(-size // 4) * 4


def marker(elf, note):
    address, linked, semaphore = struct.unpack_from("<QQQ", note)
    provider, at = string(note, 24)
    name, at = string(note, at)
    arguments, _ = string(note, at)
    base = elf.section(".stapsdt.base")
    moved = base[3] - linked if base and linked else 0
    offset = elf.offset(address + moved)
    if offset is None:
        raise Failure(f"the marker {provider}:{name} is at {address:#x}, which the file does not have")
    where = elf.offset(semaphore + moved) if semaphore else 0
    return Marker(provider, name, arguments.split(), address + moved, offset, where or 0)


def markers(elf):
    """All markers of a file, in the order of its notes."""
    found = [one for one in elf.sections if one[1] == NOTE]
    return [marker(elf, note) for section in found for note in notes(elf.contents(section))]


class Untranslated(Exception):
    """An argument that no probe can have, and why."""


def register(word):
    if word not in REGISTERS:
        raise Untranslated(f"%{word} is no register of probes")
    return "%" + REGISTERS[word]


def memory(one, symbols, operand):
    """A value in memory: by a register, or of a variable, which is as far from the marker as it is in the file's addresses."""
    plain, named = MEMORY.fullmatch(operand), SYMBOL.fullmatch(operand)
    if plain and plain[2] != "rip":
        return f"{int(plain[1] or '0', 0):+d}({register(plain[2])})"
    if named and named[2] in symbols:
        address = symbols[named[2]] + int(named[1] or "0") + int(named[3] or "0")
        return f"@+{address - one.address + one.offset:#x}"
    raise Untranslated("no variable of that name is in the file's symbols" if named else "a probe has no such address")


def translated(one, symbols, word):
    """An argument of a marker in the words of probes: `%di:s32`."""
    found = ARGUMENT.fullmatch(word)
    if not found:
        raise Untranslated("a probe has no such type")
    bits, operand = abs(int(found[1])) * 8, found[2]
    kind = f"{'s' if int(found[1]) < 0 else 'u'}{bits}"
    if operand.startswith("$"):
        return f"\\{int(operand[1:], 0)}:{kind}"
    if operand.startswith("%"):
        return f"{register(operand[1:])}:{kind}"
    return f"{memory(one, symbols, operand)}:{kind}"
