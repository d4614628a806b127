"""Each reason why a function has no call site, with its place; proposals for names that do not exist."""
import re
from pathlib import Path

import pytest

from tablekit import HERE, must, run

TRACEABLE, INLINED, NOTRACE_FUNC, NOTRACE_FILE, ASSEMBLY, DISCARDED, COLD_PART, RENAMED, UNKNOWN = range(9)


def line_of(name, source="traced.c"):
    """Line of the definition."""
    for number, line in enumerate((HERE / source).read_text().splitlines(), 1):
        if re.search(rf"\b{name}\(.*\)$", line):
            return number
    raise AssertionError(name)


def why(program, name):
    reason, _, sentence = program.ask(f"why {name}")[0].partition(" ")
    return int(reason), sentence


def test_inlined(program):
    reason, sentence = why(program, "only_inlined")
    assert reason == INLINED
    found = re.fullmatch(r"inlined into (\w+) \(traced\.c:(\d+)\), (\w+) \(traced\.c:(\d+)\) and (\d+) more", sentence)
    assert found, sentence
    callers = {"caller_one": 2, "caller_two": 2, "caller_three": 2, "caller_four": 2, "entry": None}
    lines = (HERE / "traced.c").read_text().splitlines()
    for caller, line in (found.group(1, 2), found.group(3, 4)):
        assert caller in callers
        assert "only_inlined(" in lines[int(line) - 1]
    assert found.group(1) != found.group(3)
    assert int(found.group(5)) >= 2


def test_notrace_function(program):
    assert why(program, "marked_notrace") == (NOTRACE_FUNC, f"notrace: marked so in the source (traced.c:{line_of('marked_notrace')})")


def test_notrace_file(program):
    assert why(program, "untraced_file") == (
        NOTRACE_FILE,
        f"notrace: its file is built without call sites (untraced.c:{line_of('untraced_file', 'untraced.c')})",
    )


@pytest.mark.parametrize("name, line", [("assembly_routine", "mov %edi, %eax"), ("assembly_label", "nop"), ("__fentry__", "ret")])
def test_assembly(program, name, line):
    lines = (HERE / "routine.s").read_text().splitlines()
    label = lines.index(f"{name}:")
    assert lines[label + 1].strip() == line
    assert why(program, name) == (ASSEMBLY, f"assembly routine without a call site (routine.s:{label + 2})")


@pytest.mark.parametrize("name", ["assembly_end", "inner_label", "__a_much_worse_alias"])
def test_label(program, name):
    assert why(program, name) == (ASSEMBLY, "label, not a function")


def test_nasm_places(tools, tmp_path):
    """Also for a routine that starts with a macro of an include file."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "macros.inc").write_text("%macro begin 0\n\tpush rbp\n%endmacro\n")
    (tmp_path / "src" / "r.asm").write_text(
        '%include "macros.inc"\nsection .text\nglobal one:function, two:function\none:\n\tret\ntwo:\n\tbegin\n\tret\n'
    )
    (tmp_path / "k.ld").write_text("SECTIONS { . = 1M; .text : { *(.text) } __start_mcount_loc = .; __stop_mcount_loc = .; }")
    must("nasm", "-f", "elf64", "-g", "-F", "dwarf", "-Isrc/", "src/r.asm", "-o", "r.o", cwd=tmp_path)
    must("ld", "-e", "0", "-T", "k.ld", "r.o", "-o", "k", cwd=tmp_path)
    listing = must(tools["whynot"], "--list", "k", cwd=tmp_path).stdout
    assert "one src/r.asm:5 reason 4 " in listing
    assert re.search(r"^two src/r\.asm:[78] reason 4 ", listing, re.M), listing


@pytest.mark.parametrize("length", [119, 120, 255, 256, 400])
@pytest.mark.parametrize("what", ["name", "path"])
def test_text_too_long(tools, tmp_path, what, length):
    """The kernel has room for 119 characters, wherever they come from: here an inlined function without a symbol."""
    name, path = "x" * length, "k.c"
    if what == "path":
        name, path = "inlined", "d" * (length // 2) + "/" + "f" * (length - length // 2 - 3) + ".c"
        assert len(path) == length
        (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_text(
        f"static inline __attribute__((always_inline)) int {name}(int *p)\n{{\n\treturn ++*p;\n}}\n\n"
        f"int kept(int *p)\n{{\n\treturn {name}(p);\n}}\n"
    )
    (tmp_path / "k.ld").write_text("SECTIONS { . = 1M; .text : { *(.text) } __start_mcount_loc = .; __stop_mcount_loc = .; }")
    must("gcc", "-g", "-O2", "-c", path, "-o", "k.o", cwd=tmp_path)
    must("ld", "-e", "0", "-T", "k.ld", "k.o", "-o", "k", cwd=tmp_path)
    done = run(tools["whynot"], "-o", "t.o", "k", cwd=tmp_path)
    text = name if what == "name" else path
    assert done.stderr == ("" if length == 119 else f"whynot: name or path longer than 119 characters: {text}\n")
    assert done.returncode == (length != 119) and (tmp_path / "t.o").exists() == (length == 119)


def test_dropped_by_the_compiler(program):
    assert why(program, "never_used") == (
        DISCARDED,
        f"not in the kernel: unused, or optimised away by the compiler (traced.c:{line_of('never_used')})",
    )


def test_traceable(program):
    assert why(program, "traced_plain")[0] == TRACEABLE
    assert why(program, "seldom") == (TRACEABLE, "can be traced")


def test_traceable_but_also_inlined(program):
    reason, sentence = why(program, "traced_and_inlined")
    assert reason == TRACEABLE
    assert re.match(r"can be traced, but (1 call is|\d+ calls are) inlined: into \w+ \(traced\.c:\d+\)", sentence), sentence


def test_cold_part(program):
    known = must("nm", program.second).stdout
    if "splits.cold" not in known:
        assert program.compiler == "clang"
        pytest.skip("clang does not split functions")
    assert why(program, "splits.cold") == (COLD_PART, "cold part of splits, entered by a jump")
    assert why(program, "splits")[0] == TRACEABLE


def test_clone(program):
    clone = re.search(r" t (cloned\.\S+)$", must("nm", program.second).stdout, re.M)
    if not clone:
        assert program.compiler == "clang"
        pytest.skip("clang keeps the name of its clones")
    assert why(program, "cloned") == (RENAMED, f"compiled as {clone.group(1)}, which can be traced")
    assert why(program, clone.group(1)) == (TRACEABLE, "can be traced")


@pytest.mark.parametrize(
    "typed, near",
    [
        ("traced_plan", "traced_plain"),
        ("trcaed_plain", "traced_plain"),
        ("traced_plainx", "traced_plain"),
        ("caller_tow", "caller_two"),
        ("only_inline", "only_inlined"),
        ("never_use", "never_used"),
        ("assembly_rutine", "assembly_routine"),
    ],
)
def test_near_names(program, typed, near):
    reason, sentence = why(program, typed)
    assert reason == UNKNOWN
    assert sentence.startswith("no such function; did you mean: ")
    proposals = sentence.split(": ")[1].split(", ")
    assert proposals[0] == near
    assert len(proposals) <= 3 and len(set(proposals)) == len(proposals)


def test_part_of_a_name(program):
    reason, sentence = why(program, "plain")
    assert reason == UNKNOWN and "traced_plain" in sentence


@pytest.mark.parametrize("name", ["xqzxqzxqzxqz", "q" * 119, "q" * 120, "q" * 500], ids=len)
def test_nothing_near(program, name):
    assert why(program, name) == (UNKNOWN, "no such function")


def test_sentence_is_cut(program):
    whole = why(program, "only_inlined")[1]
    for size in (1, 2, 10, 30, len(whole), len(whole) + 1, len(whole) + 2):
        assert program.ask(f"cut {size} only_inlined")[0] == f"{INLINED} {whole[:size - 1]}"
    assert program.ask("cut 0 only_inlined")[0] == f"{INLINED} "


def test_first_link_has_no_table(program):
    assert program.ask("why only_inlined", program=program.first) == [f"{UNKNOWN} no such function"]


def test_reproducible(program, tools, tmp_path):
    must(tools["whynot"], "-o", tmp_path / "again.o", program.first, cwd=HERE)
    assert (tmp_path / "again.o").read_bytes() == program.whynot.read_bytes()


SCANNED = r"""
/* int in_comment(void) { } */
// int in_line_comment(void) { }
#define IN_MACRO(x) int in_macro_##x(void) { return 0; }
#define CONTINUED \
    int in_directive(void) { }
static const char *text = "int in_string(void) { }";
char quote = '"', brace = '{';
int declared(int a);
int *defined_pointer(int a)
{
    if (a) { called(a); }
    return 0;
}
static __attribute__((cold)) int
    defined_over_lines(int (*callback)(int), char c)
{
    return '}' + "}"[0];
}
struct point { int x; };
struct point points[] = { [0] = { not_a_call(1) } };
enum { A = sizeof(int), B };
TEST(in_test_macro)
{
}
int last(void) { return 0; }
"""


def test_source_scan(program, tools, tmp_path):
    """Definitions in a file that the kernel does not contain: found without a compiler."""
    (tmp_path / "scanned.c").write_text(SCANNED)
    (tmp_path / "list").write_text("scanned.c\nmissing.c\n")
    listing = must(tools["whynot"], "--list", "--sources", "list", program.first, cwd=tmp_path).stdout
    found = dict(re.findall(r"^(\S+) scanned\.c:(\d+) reason 5 ", listing, re.M))
    lines = SCANNED.splitlines()
    assert {name: int(line) for name, line in found.items()} == {
        name: 1 + next(i for i, line in enumerate(lines) if name in line) for name in ("defined_pointer", "defined_over_lines", "last")
    }


def test_bad_input(tools, program, tmp_path):
    assert run(tools["whynot"]).returncode == 2
    assert run(tools["whynot"], "--list").returncode == 2
    stripped = tmp_path / "stripped"
    must("strip", "-g", program.first, "-o", stripped)
    done = run(tools["whynot"], "-o", tmp_path / "out.o", stripped)
    assert done.returncode == 1 and "no debug information" in done.stderr
    for name, data in (("empty", b""), ("cut", program.first.read_bytes()[:9000])):
        path = tmp_path / name
        path.write_bytes(data)
        done = run(tools["whynot"], "-o", tmp_path / "out.o", path)
        assert done.returncode == 1 and done.stderr.startswith(f"whynot: {path}: ")
    done = run(tools["whynot"], "-o", tmp_path / "out.o", "--sources", tmp_path / "nothing", program.first)
    assert done.returncode == 1 and "cannot open" in done.stderr
    assert not Path(tmp_path / "out.o").exists()
