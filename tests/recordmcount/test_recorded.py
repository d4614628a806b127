"""The table is right: the sites that are there, at their addresses, in the linked file."""
import re

import pytest

from elf import entries, functions, has_section_symbol, sections_named, sites, symbols
from samples import EXTERNAL, MIXED, MIXED_SITES
from workshop import KERNEL_FLAGS, SCRIPT, must, run

COMPILERS = ["gcc", "clang"]
VARIANTS = {"plain": [], "debug": ["-g"], "sections": ["-ffunction-sections"], "unwind": ["-fasynchronous-unwind-tables"]}


def expected(linked, names):
    known = functions(linked)
    return sorted(known[name] for name in names)


def linked_sample(shop, tool, compiler, *flags, record=True, prefix=""):
    objects = [
        shop.compile(prefix + "mixed", MIXED, *flags, compiler=compiler),
        shop.compile(prefix + "external", EXTERNAL, *flags, compiler=compiler),
    ]
    if record:
        must(tool, *objects)
    return shop.link(prefix + "linked", *objects)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_function_has_its_entry(shop, tool, compiler, variant):
    linked = linked_sample(shop, tool, compiler, *VARIANTS[variant])
    assert sites(linked) == expected(linked, MIXED_SITES)


@pytest.mark.parametrize("variant", VARIANTS)
def test_same_table_as_the_compiler(shop, tool, variant):
    flags = VARIANTS[variant]
    ours = linked_sample(shop, tool, "gcc", *flags)
    theirs = linked_sample(shop, tool, "gcc", *flags, "-mrecord-mcount", record=False, prefix="cc_")
    assert sites(ours) == sites(theirs)
    assert len(sites(ours)) == len(MIXED_SITES)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_endbr64_in_front(shop, tool, compiler):
    """The site is the call behind endbr64, not the first byte."""
    linked = linked_sample(shop, tool, compiler, "-fcf-protection=branch")
    known = functions(linked)
    starts = {known[name] for name in MIXED_SITES}
    assert len(sites(linked)) == len(MIXED_SITES)
    for site in sites(linked):
        assert (site - 4 in starts) or site in starts  # a local function needs no endbr64
    assert any(site - 4 in starts for site in sites(linked))


def test_endbr64_same_table_as_the_compiler(shop, tool):
    ours = linked_sample(shop, tool, "gcc", "-fcf-protection=branch")
    theirs = linked_sample(shop, tool, "gcc", "-fcf-protection=branch", "-mrecord-mcount", record=False, prefix="cc_")
    assert sites(ours) == sites(theirs)


def test_mcount_is_not_the_first_instruction(shop, tool):
    flags = [*KERNEL_FLAGS, "-pg", "-mno-fentry"]
    objects = [shop.compile("mixed", MIXED, *flags, plain=True), shop.compile("external", EXTERNAL, *flags, plain=True)]
    must(tool, *objects)
    linked = shop.link("linked", *objects)
    starts = expected(linked, MIXED_SITES)
    assert len(sites(linked)) == len(starts)
    assert all(start < site < start + 32 for site, start in zip(sites(linked), starts))


def test_mcount_same_table_as_the_compiler(shop, tool):
    tables = []
    for record in ([], ["-mrecord-mcount"]):
        flags = [*KERNEL_FLAGS, "-pg", "-mno-fentry", *record]
        out = shop.compile(f"mixed{len(record)}", MIXED, *flags, plain=True)
        external = shop.compile("external", EXTERNAL, *flags, plain=True)
        if not record:
            must(tool, out, external)
        tables.append(sites(shop.link(f"linked{len(record)}", out, external)))
    assert tables[0] == tables[1]


def test_assembly(shop, tool):
    source = """
    extern __fentry__
    section .text
    global routine:function
    routine:
        call __fentry__
        jmp __fentry__          ; a jump is no site
        mov rax, __fentry__     ; nor is its address
        ret
    section .data
    pointer: dq __fentry__
    """
    routine = shop.nasm("routine", source)
    must(tool, routine)
    linked = shop.link("linked", routine)
    assert sites(linked) == [symbols(linked)["routine"]]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_section_symbols_are_made(shop, tool, compiler):
    """Without debug information nothing refers to the sections: their symbols are missing."""
    source = """
    int __attribute__((weak)) first(int a) { return a + 1; }
    int __attribute__((weak, section(".text.b"))) second(int a) { return first(a) * 2; }
    int counter = 3;
    int use(int a) { return second(a) + counter; }
    """
    made = shop.compile("made", source, compiler=compiler)
    assert not has_section_symbol(made, ".text.b")
    must(tool, made)
    assert has_section_symbol(made, ".text.b")
    assert run("readelf", "-aW", made).stderr == ""
    linked = shop.link("linked", made)
    assert sites(linked) == expected(linked, ["first", "second", "use"])


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", [[], ["-g"], ["-ffunction-sections", "-fasynchronous-unwind-tables"]])
def test_program_still_runs(shop, tool, compiler, flags):
    """Renumbered symbols and relocations: a program made of processed objects does what it did."""
    source = """
    #include <stdio.h>
    #include <stdint.h>
    extern uintptr_t table[] __asm__("__start___mcount_loc"), table_end[] __asm__("__stop___mcount_loc");
    int __attribute__((weak)) twice(int a) { return a * 2; }
    int __attribute__((section(".text.other"))) other(int a) { return twice(a) + 1; }
    int (*pointers[])(int) = { twice, other };
    int main(void)
    {
        int found = 0;
        for (uintptr_t *t = table; t < table_end; t++)
            found += *t == (uintptr_t)twice || *t == (uintptr_t)other || *t == (uintptr_t)main;
        printf("%d %d %s %d %d\\n", pointers[0](20), pointers[1](20), "text", found, (int)(table_end - table));
        return 0;
    }
    """
    tracer = shop.assemble("tracer", '.globl __fentry__\n__fentry__: ret\n.section .note.GNU-stack,"",@progbits\n')
    program = shop.compile(
        "program", source, "-O2", "-fno-pie", "-pg", "-mfentry", "-fcf-protection=none", *flags, compiler=compiler, plain=True
    )
    must(tool, program)
    must("gcc", "-no-pie", program, tracer, "-o", shop.path("program"))
    assert must(shop.path("program")).stdout == "40 41 text 3 3\n"


def test_overridden_weak_function_keeps_its_own_address(shop, tool):
    """The entry points at the dead code, never at the function that took the name."""
    weak = shop.compile("weak", "int f(int a); int __attribute__((weak)) f(int a) { return a; }\n")
    strong = shop.compile("strong", "int f(int a); int f(int a) { return a + 1; }\n")
    must(tool, weak, strong)
    linked = shop.link("linked", weak, strong)
    table = sites(linked)
    assert len(table) == 2 and len(set(table)) == 2
    assert functions(linked)["f"] in table


def test_discarded_section_takes_its_entries_along(shop, tool):
    source = """
    int __attribute__((section(".exit.text"))) leaving(int a) { return a; }
    int staying(int a) { return a; }
    """
    made = shop.compile("made", source)
    must(tool, made)
    script = SCRIPT.replace("*(.exit.text)", "").replace("/DISCARD/ : {", "/DISCARD/ : { *(.exit.text)")
    linked = shop.link("linked", made, script=script)
    assert sites(linked) == expected(linked, ["staying"])


COMDAT = """
.section .text.shared,"axG",@progbits,shared,comdat
.weak shared
.type shared, @function
shared: call __fentry__
    ret
.size shared, . - shared
.text
.globl user%d
.type user%d, @function
user%d: call __fentry__
    call shared
    ret
.size user%d, . - user%d
.section .note.GNU-stack,"",@progbits
"""


def test_comdat_group(shop, tool):
    """Two objects bring the same group: one copy and one entry stay."""
    objects = [shop.assemble(f"comdat{i}", COMDAT.replace("%d", str(i))) for i in (1, 2)]
    must(tool, *objects)
    assert "__mcount_loc" in re.search(r"\[shared\].*?(?=\n\n|\Z)", must("readelf", "-gW", objects[0]).stdout, re.S).group()
    linked = shop.link("linked", *objects)
    assert sites(linked) == expected(linked, ["shared", "user1", "user2"])


def test_unused_section_is_not_kept_alive(shop, tool):
    """With --gc-sections and a table that is not KEPT, dead code goes and so do its entries."""
    source = "int used(int a) { return a; }\nint unused(int a) { return a; }\n"
    made = shop.compile("made", source, "-ffunction-sections")
    must(tool, made)
    script = SCRIPT.replace("KEEP(*(__mcount_loc))", "*(__mcount_loc)")
    linked = shop.link("linked", made, script=script, flags=["--gc-sections", "-u", "used"])
    assert "unused" not in functions(linked)
    assert sites(linked) == expected(linked, ["used"])


def test_object_without_sites_stays(shop, tool):
    made = shop.compile("made", MIXED, *KERNEL_FLAGS, plain=True)
    before = made.stat(), made.read_bytes()
    must(tool, made)
    assert (made.stat().st_ino, made.stat().st_mtime_ns) == (before[0].st_ino, before[0].st_mtime_ns)
    assert made.read_bytes() == before[1]


@pytest.mark.parametrize("by_compiler", [False, True])
def test_processed_object_stays(shop, tool, by_compiler):
    made = shop.compile("made", MIXED, *(["-mrecord-mcount"] if by_compiler else []))
    if not by_compiler:
        must(tool, made)
    before = made.stat().st_ino, made.read_bytes()
    must(tool, made)
    assert (made.stat().st_ino, made.read_bytes()) == before
    assert entries(made) == len(MIXED_SITES) - 1


def test_same_input_same_output(shop, tool):
    contents = []
    for i in range(2):
        made = shop.compile("made", MIXED, "-g")
        must(tool, made)
        contents.append(made.read_bytes())
    assert contents[0] == contents[1]


def test_table_looks_like_the_compilers(shop, tool):
    made, theirs = shop.compile("made", MIXED), shop.compile("theirs", MIXED, "-mrecord-mcount")
    must(tool, made)
    for path in (made, theirs):
        listing = must("readelf", "-SW", path).stdout
        assert re.search(r"\] __mcount_loc +PROGBITS +0+ [0-9a-f]+ [0-9a-f]+ 00 +AL? ", listing)
        assert all(not any(data) for data in sections_named(path, "__mcount_loc"))
    kinds = set(re.findall(r"R_X86_64_64 +\S+ (\S+) \+", must("readelf", "-rW", made).stdout))
    assert kinds == {".text", ".init.text", ".text.unlikely"}
