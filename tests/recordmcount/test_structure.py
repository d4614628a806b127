"""Every header, symbol, relocation and byte of the new object, against a reading of the old one."""
import pytest

from samples import MIXED
from structure import Change, Object, misaligned
from workshop import KERNEL_FLAGS, must

END = '.section .note.GNU-stack,"",@progbits\n'


def changed(tool, *paths):
    """Process the objects; what happened to each."""
    before = [path.read_bytes() for path in paths]
    done = must(tool, *paths)
    assert done.stdout == done.stderr == ""
    return [Change(old, path.read_bytes()).check() for old, path in zip(before, paths)]


def unchanged(tool, path):
    before = path.read_bytes(), path.stat().st_ino
    done = must(tool, path)
    assert done.stdout == done.stderr == ""
    assert (path.read_bytes(), path.stat().st_ino) == before


def calls(path):
    return list(Object(path.read_bytes()).calls().values())


VARIANTS = {
    "plain": [],
    "debug": ["-g"],
    "sections": ["-ffunction-sections", "-fdata-sections"],
    "unwind": ["-fasynchronous-unwind-tables"],
    "endbr": ["-fcf-protection=branch"],
    "small": ["-Os"],
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compiled(shop, tool, compiler, variant):
    made = shop.compile("made", MIXED, *VARIANTS[variant], compiler=compiler)
    changed(tool, made)
    assert must("readelf", "-aW", made).stderr == ""


def test_mcount(shop, tool):
    changed(tool, shop.compile("made", MIXED, *KERNEL_FLAGS, "-pg", "-mno-fentry", plain=True))


@pytest.mark.parametrize("nr", [1, 2, 63, 64, 65, 127, 128, 129, 300])
def test_numbers_of_sites(shop, tool, nr):
    made = shop.assemble("many", "f: .rept %d\ncall __fentry__\nnop\n.endr\n" % nr + END)
    (change,) = changed(tool, made)
    assert change.calls == {1: [6 * i for i in range(nr)]}


def test_relocations_in_any_order_and_twice(shop, tool):
    """The table rises and names each call once, whatever the order of the relocations."""
    made = shop.assemble(
        "shuffled",
        """
    .text
    .byte 0xe8; a: .long 0
    .byte 0xe8; b: .long 0
    .byte 0xe8; c: .long 0
    .byte 0xe8; d: .long 0
    .reloc c, R_X86_64_PLT32, __fentry__ - 4
    .reloc a, R_X86_64_PC32, __fentry__ - 4
    .reloc d, R_X86_64_PLT32, mcount - 4
    .reloc c, R_X86_64_PC32, __fentry__ - 4
    .reloc b, R_X86_64_PLT32, __fentry__ - 4
    .reloc a, R_X86_64_PLT32, __fentry__ - 4
    .reloc a, R_X86_64_PLT32, mcount - 4
    """
        + END,
    )
    order = [offset for offset, *_ in Object(made.read_bytes()).relocations(2)]
    assert order != sorted(order) and len(set(order)) < len(order)
    (change,) = changed(tool, made)
    assert change.calls == {1: [0, 5, 10, 15]}


def test_two_relocation_sections_for_one_code_section(shop, tool):
    """Sites of a section from two lists, one of them behind that of another section: still one table each."""
    source = '.text\ncall __fentry__\ncall __fentry__\nnop\nnop\n.section .text.b,"ax"\ncall __fentry__\n'
    source += '.section .text.c,"ax"\ncall __fentry__\nnop\ncall __fentry__\n' + END
    made = shop.assemble("lists", source)
    data = bytearray(made.read_bytes())
    old = Object(bytes(data))
    last = max(i for i, section in enumerate(old.sections) if section.type == 4)
    assert old.sections[old.sections[last].info].size == 11
    at = old.start + 64 * last + 44  # sh_info: the last list is of .text as well, its calls at 0 and 6
    data[at : at + 4] = (1).to_bytes(4, "little")
    text = old.sections[1].offset
    data[text + 6] = 0xE8
    made.write_bytes(data)
    assert calls(made) == [[0, 5, 6], [0]]
    changed(tool, made)


def test_what_is_no_call(shop, tool):
    """Nothing but E8 before a relocation of a branch in a section with code."""
    unchanged(
        tool,
        shop.assemble(
            "none",
            """
    .section .data.before,"aw"
    .byte 0xff, 0xe8
    .section .text.first,"ax"       # the byte in front belongs to another function
    .reloc ., R_X86_64_PLT32, __fentry__ - 4
    .long 0
    .section .text.jump,"ax"
    jmp __fentry__
    .byte 0xe8
    .reloc ., R_X86_64_32, __fentry__
    .long 0
    .byte 0xe8
    .reloc ., R_X86_64_64, __fentry__
    .quad 0
    call another__fentry__
    call __fentry__2
    call mcount_
    jmp *__fentry__@GOTPCREL(%rip)
    mov __fentry__@GOTPCREL(%rip), %rax
    lea __fentry__(%rip), %rax
    .byte 0x15
    .reloc ., R_X86_64_GOTPCRELX, __fentry__ - 4
    .long 0
    .byte 0xff, 0x15
    .reloc ., R_X86_64_PC32, __fentry__ - 4
    .long 0
    .section .data.call,"aw"
    .byte 0xe8
    .reloc ., R_X86_64_PLT32, __fentry__ - 4
    .long 0
    .byte 0xff, 0x15
    .reloc ., R_X86_64_GOTPCRELX, __fentry__ - 4
    .long 0
    .section .rodata.call,"a"
    .byte 0xe8
    .reloc ., R_X86_64_PLT32, __fentry__ - 4
    .long 0
    """
            + END,
        ),
    )


@pytest.mark.parametrize("kind", ["GOTPCREL", "GOTPCRELX", "REX_GOTPCRELX"])
def test_indirect_call_without_its_first_byte(shop, tool, kind):
    """FF is the last byte of the section in front, 15 the first one of this: no call."""
    made = shop.assemble(
        "split",
        f"""
    .section .data.before,"aw"
    .byte 0xff
    .section .text.behind,"ax"
    .byte 0x15
    .reloc ., R_X86_64_{kind}, __fentry__ - 4
    .long 0
    """
        + END,
    )
    old = Object(made.read_bytes())
    at = next(section.offset for section in old.sections if section.size == 5)
    assert old.data[at - 1 : at + 1] == b"\xff\x15"
    unchanged(tool, made)


GROUPS = (
    """
.macro code section group type
.section .text.\\section,"axG",@progbits,\\group\\type
call __fentry__
nop
call __fentry__
.endm
.text
call __fentry__
code one_a, one, ",comdat"
code one_b, one, ",comdat"
code two, two, ",comdat"
.section .text.none,"axG",@progbits,none,comdat
ret
code loose, loose
.section .text.last,"ax"
call __fentry__
.section .data.one,"awG",@progbits,one,comdat
.quad 0
.globl one, two, none, loose
.weak other
"""
    + END
)


def test_groups(shop, tool):
    """Groups with two code sections, with one, without calls, that are no COMDAT; code in no group."""
    made = shop.assemble("groups", GROUPS)
    (change,) = changed(tool, made)
    groups = [i for i, section in enumerate(change.old.sections) if section.type == 17]
    assert [change.old.words(group)[0] for group in groups] == [1, 1, 1, 0]
    grown = [len(change.new.words(group)) - len(change.old.words(group)) for group in groups]
    assert grown == [4, 2, 0, 2]
    assert len(change.calls) == 6
    listing = must("readelf", "-SgW", made)
    assert listing.stderr == ""
    assert listing.stdout.count("__mcount_loc") >= 12


def test_group_between_others(shop, tool):
    """The tables of one group need not stand side by side."""
    made = shop.assemble(
        "mixed_groups",
        """
    .section .text.a1,"axG",@progbits,a,comdat
    call __fentry__
    .section .text.b1,"axG",@progbits,b,comdat
    call __fentry__
    .section .text.a2,"axG",@progbits,a,comdat
    call __fentry__
    .section .text.b2,"axG",@progbits,b,comdat
    call __fentry__
    """
        + END,
    )
    (change,) = changed(tool, made)
    assert [len(change.new.words(i)) for i, section in enumerate(change.old.sections) if section.type == 17] == [9, 9]


@pytest.mark.parametrize("length", range(8))
def test_alignment(shop, tool, length):
    """Whatever the length of the name table, that of the symbols, or that of the file."""
    source = f".section .data.{'x' * length},\"aw\"\n.byte 0\n.text\n"
    source += "call __fentry__\n" * (length + 1) + ".weak w\nw: ret\n" + END
    made = shop.assemble("aligned", source)
    with open(made, "ab") as file:  # nothing says that a file ends with its last section
        file.write(b"\xff" * (length * 3))
    (change,) = changed(tool, made)
    assert change.new.start % 8 == 0


def test_tables_at_odd_offsets(shop, tool):
    changed(tool, misaligned(shop.assemble("odd", GROUPS)))
    changed(tool, misaligned(shop.compile("odd_too", MIXED, "-g")))


def test_every_size_of_the_image(shop, tool):
    """Its memory doubles: no size is one where a piece no longer fits."""
    made = shop.assemble("sized", '.section .text.a,"axG",@progbits,a,comdat\ncall __fentry__\n.text\ncall __fentry__\n' + END)
    whole = made.read_bytes()
    (change,) = changed(tool, made)
    longest = len(change.new.data) + 64
    paths = []
    for size in range(8192 - longest, 8192 - len(whole) + 8, 4):
        paths.append(shop.path(f"size{size}.o"))
        paths[-1].write_bytes(whole + b"\xff" * size)
    changes = changed(tool, *paths)
    assert min(len(change.new.data) for change in changes) < 8192 < max(len(change.new.data) for change in changes)


@pytest.mark.parametrize(
    "at, value",
    [
        (6, 0x7000),
        (6, 0xFFF1),
        (6, 0xFF05),
        (6, 0xFFFF),
        (6, 0),  # st_shndx: in no section
        (4, 2),  # st_info: a function
        (8, 8),  # st_value: not where the section begins
    ],
)
def test_symbols_that_are_no_base(shop, tool, at, value):
    """There seems to be a symbol of the section, but it is another thing: one is inserted."""
    made = shop.assemble("base", ".text\ncall __fentry__\n.data\n.quad .text\n" + END)
    old = Object(made.read_bytes())
    (number,) = [i for i in range(len(old.symbols)) if old.symbols[i][1] == 3 and old.home(i) == 1]
    start = old.sections[old.symtab].offset + 24 * number + at
    data = old.data[:start] + value.to_bytes(2 if at == 6 else 1, "little") + old.data[start + (2 if at == 6 else 1) :]
    made.write_bytes(data)
    (change,) = changed(tool, made)
    assert change.added == 1


def test_sections_that_name_symbols(shop, tool):
    """clang's list of addresses that matter is dropped where symbols get other numbers, kept where not."""
    source = "int one(int a) { return a; }\nint (*pointer)(int) = one;\n"
    for flags, added in ([["-ffunction-sections", "-faddrsig"], True], [["-g", "-faddrsig"], False]):
        made = shop.compile(f"addrsig{added}", source, *flags, compiler="clang")
        (change,) = changed(tool, made)
        assert any(section.type == 0x6FFF4C03 for section in change.old.sections)
        assert bool(change.added) == added
