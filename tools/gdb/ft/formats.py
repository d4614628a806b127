"""The texts of `format` files, made of the types in memory as trace/print/event_format.c makes them."""
import re

from ft import memory, types

COMMON = (
    "unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0",
    "unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0",
    "unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0",
    "int common_pid;\toffset:4;\tsize:4;\tsigned:1",
)
SIGNED = {1: "%hhd", 2: "%hd", 4: "%d"}
# A text in quotes, a sizeof() with what is in it, a word, any other character. A member, REC->name, is no enumerator.
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"?|->\w+|sizeof\([^)]*\)?|\w+|.', re.ASCII | re.DOTALL)


def field_line(field):
    size = f"\toffset:{field.offset};\tsize:{field.size};\tsigned:{int(field.is_signed)};\n"
    if field.kind != types.PLAIN:
        where = "rel" if field.kind == types.REL_LOC else "data"
        brackets = "" if field.filter_type == memory.enum("FILTER_CPUMASK") else "[]"
        return f"\tfield:__{where}_loc {field.type}{brackets} {field.name};{size}"
    brackets = "[]" if not field.size else f"[{field.size // field.element_size}]" if field.is_array else ""
    return f"\tfield:{field.type} {field.name}{brackets};{size}"


def conversion(field):
    if field.is_array:
        return "%s"
    if field.is_address:
        return "%ps"
    if field.is_pointer:
        return "%lx"
    if field.is_signed:
        return SIGNED.get(field.element_size, "%lld")
    return "%llu" if field.element_size == 8 else "%u"


def argument(field):
    if field.is_array and not field.is_char:
        return f"__print_array(REC->{field.name}, {field.size // field.element_size}, {field.element_size})"
    if field.is_address:
        return f"(void *)(((REC->{field.name} + 0x80000000ul) & 0xfffffffful) - 0x80000000ul)"
    return f"(unsigned long)REC->{field.name}" if field.is_pointer else f"REC->{field.name}"


def own_fmt(kind):
    """Of a type that has none: all its fields; an array up to the end of the event cannot be described."""
    fields = [field for field in kind.fields if field.size or field.is_char]
    text = '"' + " ".join(f"{field.name}={conversion(field)}" for field in fields) + '"'
    return text + "".join(f", {argument(field)}" for field in fields)


def with_numbers(kind):
    """The print fmt with numbers for enumerators and sizes."""
    maps = types.eval_maps()

    def number(match):
        value = maps.get((kind.system, match[0]))
        return match[0] if value is None else f"{value - (1 << 64) if value >> 63 else value}"

    return TOKEN.sub(number, kind.print_fmt)


def text(kind):
    """The text of events/SYSTEM/NAME/format."""
    fmt = own_fmt(kind) if not kind.print_fmt else with_numbers(kind) if kind.call else kind.print_fmt
    common = "".join(f"\tfield:{line};\n" for line in COMMON)
    fields = "".join(map(field_line, kind.fields))
    return f"name: {kind.name}\nID: {kind.number}\nformat:\n{common}\n{fields}\nprint fmt: {fmt}\n"


def header_page(page_size):
    return (
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
        "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
        f"\tfield: char data;\toffset:16;\tsize:{page_size - 16};\tsigned:1;\n"
    )


HEADER_EVENT = (
    "# compressed entry header\n"
    "\ttype_len    :    5 bits\n"
    "\ttime_delta  :   27 bits\n"
    "\tarray       :   32 bits\n\n"
    "\tpadding     : type == 29\n"
    "\ttime_extend : type == 30\n"
    "\ttime_stamp : type == 31\n"
    "\tdata max type_len  == 28\n"
)
