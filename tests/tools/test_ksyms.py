"""The symbol table: every name, every address, in order, and nothing else."""
import re
import shutil
import struct

from elftools.elf.elffile import ELFFile

from tablekit import must, run


def code_symbols(path):
    """Functions of the file: (address, size, name)."""
    with open(path, "rb") as file:
        elf = ELFFile(file)
        return [
            (symbol["st_value"], symbol["st_size"], symbol.name)
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
            if symbol["st_info"]["type"] == "STT_FUNC"
            and isinstance(symbol["st_shndx"], int)
            and elf.get_section(symbol["st_shndx"])["sh_flags"] & 4
        ]


def test_first_link_knows_nothing(program):
    assert program.ask("count", "lookup 401000", "find main", "next 401000", program=program.first) == ["0 0", "- 0 0", "0", "- 0"]


def test_every_name_is_found(program):
    lowest = {}
    for address, _, name in code_symbols(program.second):
        lowest[name] = min(address, lowest.get(name, address))
    assert len(lowest) > 500
    answers = program.ask(*[f"find {name}" for name in lowest])
    assert answers == [f"{address:x}" for address in lowest.values()]


def test_unknown_names(program):
    answers = program.ask("find ", "find no_such_name", "find zzzz", "find !", "find traced_plai", "find traced_plain_")
    assert answers == ["0"] * 6


def test_every_address(program):
    """First and last byte of each function lead to one of its names."""
    names = {}
    for address, size, name in code_symbols(program.second):
        names.setdefault(address, set()).add(name)
    sized = [(address, size) for address, size, _ in code_symbols(program.second) if size]
    starts = sorted(names)
    for address, size in sized:
        inside = [start for start in starts if address < start < address + size]
        last = address + size - 1
        answers = program_cache(program)
        assert answers[address][0] in names[address]
        assert answers[address][1] == address
        if not inside:
            assert answers[last][0] in names[address]


def program_cache(program):
    if not hasattr(program, "answers"):
        wanted = sorted({x for address, size, _ in code_symbols(program.second) if size for x in (address, address + size - 1)})
        lines = program.ask(*[f"lookup {address:x}" for address in wanted])
        program.answers = {address: (line.split()[0], int(line.split()[1], 16)) for address, line in zip(wanted, lines)}
    return program.answers


def test_cursor_agrees_with_lookup(program):
    wanted = sorted(program_cache(program))
    lines = program.ask(*[f"next {address:x}" for address in wanted])
    for address, line in zip(wanted, lines):
        name = program_cache(program)[address][0]
        assert line == f"{name} {len(name)}"


def test_cursor_below_its_place(program):
    start = int(program.ask("find main")[0], 16)
    low = min(program_cache(program))
    assert program.ask(f"next {start:x}", f"next {low:x}", f"next {start + 1:x}") == ["main 4", "- 0", "main 4"]


def test_never_a_wrong_neighbour(program):
    routine, gap_end = [int(x, 16) for x in program.ask("find assembly_routine", "find after_gap")]
    size = next(size for _, size, name in code_symbols(program.second) if name == "assembly_routine")
    assert gap_end - routine >= 64
    nobody = [routine + size, gap_end - 1, gap_end + 1, 0, 1, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF80000000, 0x200000]
    assert program.ask(*[f"lookup {address:x}" for address in nobody]) == ["- 0 0"] * len(nobody)
    assert program.ask(*[f"next {address:x}" for address in nobody]) == ["- 0"] * len(nobody)


def variables(path):
    """Variables of the file, at or above data_start, and constants: (address, size, name)."""
    with open(path, "rb") as file:
        elf = ELFFile(file)
        symbols = list(elf.get_section_by_name(".symtab").iter_symbols())
        start = next(symbol["st_value"] for symbol in symbols if symbol.name == "data_start")
        code = min(symbol["st_value"] for symbol in symbols if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_value"])

        def is_listed(symbol):
            section = elf.get_section(symbol["st_shndx"])
            if section["sh_flags"] & 1:
                return symbol["st_value"] >= start
            return section.name == ".rodata" and symbol["st_info"]["bind"] != "STB_WEAK" and symbol["st_value"] >= code

        return [
            (symbol["st_value"], symbol["st_size"], symbol.name)
            for symbol in symbols
            if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_size"] and isinstance(symbol["st_shndx"], int) and is_listed(symbol)
        ]


def test_variables(program):
    """By name with how many there are, and by each address in them, constants as well; functions are none."""
    known = variables(program.second)
    assert len(known) > 3 and {"cursor", "constant_table"} <= {name for _, _, name in known}
    for address, size, name in known:
        same = sorted((a, s) for a, s, n in known if n == name)
        assert program.ask(f"variable {name}") == [f"{len(same)} {same[0][0]:x} {same[0][1]}"]
        inside = {n for a, s, n in known if a <= address + size - 1 < a + s}
        assert program.ask(f"variable_at {address + size - 1:x}")[0] in inside
    main = program.ask("find main")[0]
    assert program.ask("variable main", "variable no_such_name", f"variable_at {main}", "variable_at 0") == ["0 0 0", "0 0 0", "-", "-"]


def test_assembly(program):
    """Labels without a size reach to the next symbol; those inside a function are names only."""
    label, fentry, inner = [int(x, 16) for x in program.ask("find assembly_label", "find __fentry__", "find inner_label")]
    assert program.ask(f"lookup {label:x}", f"lookup {label + 1:x}") == [f"assembly_label {label:x} {fentry - label}"] * 2
    assert inner and program.ask(f"lookup {inner:x}")[0].startswith("assembly_routine ")
    assert program.ask("find assembly_label.local") == ["0"]


def test_aliases(program):
    address = program.ask("find after_gap")[0]
    assert program.ask("find assembly_alias", "find __a_much_worse_alias") == [address, address]
    assert program.ask(f"lookup {address}")[0].split()[0] == "after_gap"


def test_table_order(program):
    total, addressed = map(int, program.ask("count")[0].split())
    lines = program.ask(*[f"get {i}" for i in range(total)])
    addresses = [int(line.split()[1], 16) for line in lines]
    assert addresses[:addressed] == sorted(set(addresses[:addressed]))
    assert all(len(line.split()[0]) == int(line.split()[2]) for line in lines)


def test_check(program, tools, tmp_path):
    assert must(tools["ksyms"], "--check", program.second).stdout == ""
    done = run(tools["ksyms"], "--check", program.first)
    assert done.returncode == 1 and "empty" in done.stderr


def test_check_notices_moved_text(program, tools, tmp_path):
    """The table of one link in a kernel whose functions stand elsewhere."""
    moved = tmp_path / "moved"
    pad = tmp_path / "pad.s"
    pad.write_text('.text\n.space 64\n.section .note.GNU-stack,"",@progbits\n')
    must("gcc", "-c", pad, "-o", tmp_path / "pad.o")
    objects = program.objects
    program.objects = [tmp_path / "pad.o", *objects]
    try:
        program.link(moved, program.ksyms)
    finally:
        program.objects = objects
    done = run(tools["ksyms"], "--check", moved)
    assert done.returncode == 1 and "moved" in done.stderr


def test_check_notices_damage(program, tools, tmp_path):
    copy = tmp_path / "damaged"
    shutil.copy(program.second, copy)
    data = bytearray(copy.read_bytes())
    sizes = [m.start() for m in re.finditer(re.escape(b"FATKSYM4"), data)]
    at = next(x for x in sizes if struct.unpack_from("<I", data, x + 20)[0] > 500)
    names_pos = struct.unpack_from("<I", data, at + 48)[0]
    data[at + names_pos + 5] ^= 1
    copy.write_bytes(data)
    done = run(tools["ksyms"], "--check", copy)
    assert done.returncode == 1 and "another kernel" in done.stderr


def test_reproducible(program, tools, tmp_path):
    must(tools["ksyms"], "-o", tmp_path / "again.o", program.first)
    assert (tmp_path / "again.o").read_bytes() == program.ksyms.read_bytes()


def test_nm(program, tools, tmp_path):
    must(tools["ksyms"], "--nm", tmp_path / "list", program.second)
    ours = (tmp_path / "list").read_text().splitlines()
    theirs = must("nm", program.second).stdout.splitlines()
    assert [line.split()[0] for line in ours] == sorted(line.split()[0] for line in ours)

    def simple(lines):  # nm has letters of its own for indirect and unique symbols
        return sorted(re.sub(r" [A-Za-z] ", " ", line) for line in lines if " U " not in line and line[:1] != " ")

    assert simple(ours) == simple(theirs)
    assert re.search(r"^[0-9a-f]{16} T main$", "\n".join(ours), re.M)
    assert re.search(r"^[0-9a-f]{16} R symbols_blob$", "\n".join(ours), re.M)


def test_low_startup_code_is_left_out(tools, tmp_path):
    """Start-up code at 1 MiB, the kernel at -2 GiB."""
    (tmp_path / "k.s").write_text(
        """
        .section .boot,"ax",@progbits
        .globl low
        low: ret
        .text
        .globl high
        .type high, @function
        high: ret
        .size high, 1
        """
    )
    (tmp_path / "k.ld").write_text("SECTIONS { . = 1M; .boot : { *(.boot) } . = 0xffffffff80200000; .text : { *(.text) } }")
    must("gcc", "-c", tmp_path / "k.s", "-o", tmp_path / "k.o")
    must("ld", "-e", "low", "-T", tmp_path / "k.ld", tmp_path / "k.o", "-o", tmp_path / "k")
    must(tools["ksyms"], "-o", tmp_path / "t.o", tmp_path / "k")
    data = (tmp_path / "t.o").read_bytes()
    base, _, symbols, addressed = struct.unpack_from("<QIII", data, data.find(b"FATKSYM4") + 8)
    assert (base, symbols, addressed) == (0xFFFFFFFF80200000, 1, 1)


def test_name_too_long(tools, tmp_path):
    for length, status in ((119, 0), (120, 1)):
        (tmp_path / "k.s").write_text(f".globl {'x' * length}\n{'x' * length}: ret\n")
        must("gcc", "-c", tmp_path / "k.s", "-o", tmp_path / "k.o")
        must("ld", "-e", "0", tmp_path / "k.o", "-o", tmp_path / "k")
        done = run(tools["ksyms"], "-o", tmp_path / "t.o", tmp_path / "k")
        assert done.returncode == status, done.stderr


def test_bad_input(tools, program, tmp_path):
    assert run(tools["ksyms"]).returncode == 2
    for name, data in (("empty", b""), ("text", b"hello"), ("cut", program.first.read_bytes()[:5000])):
        path = tmp_path / name
        path.write_bytes(data)
        for words in (["-o", tmp_path / "out.o"], ["--check"], ["--nm", tmp_path / "out"]):
            done = run(tools["ksyms"], *words, path)
            assert done.returncode == 1 and done.stderr.startswith(f"ksyms: {path}: ")
    assert not (tmp_path / "out.o").exists()
