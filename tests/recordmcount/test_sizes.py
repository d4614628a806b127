"""Big objects: many functions, and more sections than the file header can count."""
import resource

import pytest

from elf import entries, functions, sites
from workshop import must
from elftools.elf.elffile import ELFFile

LIMIT = 0xFF00  # SHN_LORESERVE


def processor_seconds():
    """Of the programs that were run: what else the machine does is not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_20000_functions_in_a_second(shop, fast_tool):
    functions = (f".globl f{i}\n.type f{i},@function\nf{i}: call __fentry__\nret\n.size f{i}, .-f{i}\n" for i in range(20000))
    made = shop.assemble("made", ".text\n" + "".join(functions))
    begin = processor_seconds()
    must(fast_tool, made)
    assert processor_seconds() - begin < 1.0
    assert entries(made) == 20000


def sectioned(shop, nr, plain=0):
    """An object with `nr` functions, each in a section of its own, and `plain` more sections."""
    lines = []
    for i in range(nr):
        lines.append(
            f'.section .text.f{i},"ax",@progbits\n.globl f{i}\n.type f{i},@function\n' f"f{i}: call __fentry__\nret\n.size f{i}, .-f{i}\n"
        )
    for i in range(plain):
        lines.append(f'.section .rodata.r{i},"a",@progbits\n.byte 1\n')
    lines.append('.section .note.GNU-stack,"",@progbits\n')
    return shop.assemble("sectioned", "".join(lines))


def count(path):
    with open(path, "rb") as file:
        elf = ELFFile(file)
        return elf.header["e_shnum"], elf.num_sections()


@pytest.mark.parametrize(
    "nr, plain, before, after",
    [
        (40, 65120, False, True),  # the table makes it one that needs the extended count
        (400, 65100, True, True),
        (33000, 0, True, True),
    ],
)
def test_extended_section_count(shop, fast_tool, nr, plain, before, after):
    made = sectioned(shop, nr, plain)
    in_header, total = count(made)
    assert (in_header == 0) == before == (total >= LIMIT)
    must(fast_tool, made)
    in_header, new_total = count(made)
    assert (in_header == 0) == after == (new_total >= LIMIT)
    assert new_total == total + 2 * nr
    linked = shop.link("linked", made)
    known = functions(linked)
    assert sites(linked) == sorted(known[f"f{i}"] for i in range(nr))


def test_extended_section_count_sanitized(shop, tool):
    made = sectioned(shop, 100, 65300)
    must(tool, made)
    must(tool, made)
    assert sites(shop.link("linked", made)) == sorted(
        address for name, address in functions(shop.path("linked")).items() if name.startswith("f")
    )
