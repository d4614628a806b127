"""Memory of the kernel, its variables, structs and lists."""
import struct

import gdb

MASK = (1 << 64) - 1
LONGEST_LIST = 100000


class Damaged(gdb.error):
    """A value in memory that cannot be; the text says which."""


def read(address, size):
    """Bytes of memory; Damaged when it cannot be read, or when the number is absurd."""
    if not 0 <= size <= 1 << 28:
        raise Damaged(f"{size} bytes at {address & MASK:#x} are too many to be true")
    try:
        return bytes(gdb.selected_inferior().read_memory(address & MASK, size)) if size else b""
    except gdb.MemoryError:
        raise Damaged(f"memory at {address & MASK:#x} cannot be read") from None


def word(address):
    return struct.unpack("<Q", read(address, 8))[0]


def text(address, most=256):
    """The text at an address, up to its NUL; a page at a time, because the next one may not be there."""
    found = b""
    while len(found) < most:
        size = min(4096 - (address + len(found)) % 4096, most - len(found))
        found += read(address + len(found), size)
        if b"\0" in found:
            break
    return found.split(b"\0")[0].decode("utf-8", "replace")


def variable(name, file=None):
    """A variable of the kernel; `file` for one that is static there. Damaged when this kernel has none."""
    try:
        return gdb.parse_and_eval(f"'{file}'::{name}" if file else name)
    except gdb.error as err:
        raise Damaged(str(err)) from None


NUMBERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR)
PLACES = (gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_ARRAY, gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)


def number_of(expression, what, is_place=False):
    """
    The value of an expression that a user has typed. is_place: of a function, an array or a struct, where it is. GdbError, which gdb
    prints as it is, when it has none.
    """
    if not expression.strip():
        raise gdb.GdbError(f"{what} is missing")
    try:
        value = gdb.parse_and_eval(expression)
        code = value.type.strip_typedefs().code
        if code in NUMBERS:
            return int(value)
        if is_place and code in PLACES and value.address is not None:
            return int(value.address)
    except (gdb.error, ValueError, OverflowError) as err:
        raise gdb.GdbError(f"{expression}: {what} is wanted: {err}") from None
    raise gdb.GdbError(f"{expression}: {what} is wanted, and this is of the type {value.type}")


_addresses = {}


def symbol_address(name):
    """The address of a symbol, of assembly and the linker, too; 0 when this kernel has none."""
    key = (gdb.current_progspace().filename, name)
    if key not in _addresses:
        try:
            _addresses[key] = int(gdb.parse_and_eval(f"(unsigned long)&{name}")) & MASK
        except gdb.error:
            return 0
    return _addresses[key]


def enum(name):
    return int(variable(name))


def address_of(value):
    """An address as a number: of a pointer's target, or of the object itself."""
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
        return int(value) & MASK
    return int(value.address) & MASK


def at(address, type_name):
    """The object of that type at an address."""
    return gdb.Value(address & MASK).cast(gdb.lookup_type(type_name).pointer()).dereference()


def offset_of(type_name, member):
    return next(f.bitpos // 8 for f in gdb.lookup_type(type_name).fields() if f.name == member)


def array_text(value):
    """Text in an array of characters: up to its NUL."""
    size = value.type.sizeof
    return read(address_of(value), size).split(b"\0")[0].decode("utf-8", "replace")


def chain(first, follow, what):
    """The objects of a list that ends with NULL: of pointers. Damaged when it goes round or never ends."""
    seen = set()
    at_now = first
    while int(at_now):
        if int(at_now) in seen or len(seen) > LONGEST_LIST:
            raise Damaged(f"{what}: the list is damaged at {int(at_now) & MASK:#x}")
        seen.add(int(at_now))
        yield at_now
        try:
            at_now = follow(at_now)
        except gdb.MemoryError:
            raise Damaged(f"{what}: the list is damaged at {int(at_now) & MASK:#x}") from None


def ring_list(head, type_name, member, what):
    """The objects on a <kernel/list.h> list, whose head is a variable."""
    offset = offset_of(type_name, member)
    end = address_of(head)

    def follow(link):
        return link["next"] if int(link["next"]) & MASK != end else gdb.Value(0)

    start = follow(head)
    for link in chain(start, follow, what):
        yield at(int(link) - offset, type_name)
