"""check-dead on a small tree: what nothing in the kernel uses is named, and nothing else."""
import pytest

from tablekit import ROOT, must, run

MAIN = "int lib(void);\nint main(void) { return lib(); }\n"
LIB = "int lib(void) { return 0; }\n"
DEAD = "int dead(void) { return 0; }\n"
WITH_DEAD = {"kernel/lib.c": LIB + DEAD}


@pytest.fixture
def check(tmp_path):
    """Compile kernel/main.c, which calls lib(), and other sources, by path; returns what is wrong."""
    (tmp_path / "tools").mkdir()

    def judge(sources, allow=""):
        sources = {"kernel/main.c": MAIN, "linker.ld": "ENTRY(main)\n", "tools/dead.allow": allow, **sources}
        for name, text in sources.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        for name in sources:
            if name.endswith(".c") and not name.startswith(("tests/", "trace/default/")):
                target = tmp_path / f"obj/{name}.notrace.o"
                target.parent.mkdir(parents=True, exist_ok=True)
                must("gcc", "-O2", "-c", "-I", tmp_path, tmp_path / name, "-o", target)
        done = run(ROOT / "tools/check-dead", "obj", cwd=tmp_path)
        assert (done.returncode == 0) == (done.stdout == "check-dead: ok\n"), done.stdout + done.stderr
        return [] if done.returncode == 0 else done.stdout.splitlines()

    return judge


def test_used(check):
    assert not check({"kernel/lib.c": LIB})


@pytest.mark.parametrize("path", ["kernel/lib.c", "arch/lib.c", "trace/lib.c"])
def test_dead(check, path):
    text = f'/* Not dead() at all. */\n{DEAD}const char *const lib_text = "dead";\nint lib_nr;\n' + LIB
    assert check({path: text}) == [f"{path}: {name}: nothing uses it" for name in ("dead", "lib_nr", "lib_text")]


def test_declared_is_not_used(check):
    assert check({**WITH_DEAD, "kernel/lib.h": "int dead(void);\n"}) == ["kernel/lib.c: dead: nothing uses it"]


def test_only_tests_use_it(check):
    test = "int dead(void);\nint test(void) { return dead(); }\n"
    assert check({**WITH_DEAD, "tests/test.c": test}) == ["kernel/lib.c: dead: only tests use it"]


def test_own_source_uses_it(check):
    own = "__attribute__((noinline)) int own(void) { return 0; }\nint lib(void) { return own(); }\n"
    assert check({"kernel/lib.c": own}) == ["kernel/lib.c: own: only this file uses it: make it static"]
    assert not check({"kernel/lib.c": own, "tests/test.c": "int own(void);\nint test(void) { return own(); }\n"})


def test_weak(check):
    assert not check({"kernel/lib.c": LIB + "__attribute__((weak)) " + DEAD})


def test_api(check):
    assert not check({**WITH_DEAD, "trace/include/trace/api.h": "int dead(void);\n"})
    assert check({**WITH_DEAD, "trace/include/trace/api.h": "", "trace/api.h": "int dead(void);\n"})


@pytest.mark.parametrize(
    "path, text",
    [
        ("kernel/main.c", MAIN.replace("lib();", "0 ? dead() : lib();").replace("int lib", "int dead(void);\nint lib")),
        ("trace/default/idle.c", "int dead(void);\nint idle(void) { return dead(); }\n"),
        ("kernel/lib.h", "int dead(void);\n#define LIB_LEFT_OUT() \\\n\tdead()\n#undef LIB_LEFT_OUT\n"),
        ("linker.ld", "ENTRY(main)\nEXTERN(dead)\n"),
    ],
)
def test_code_that_is_left_out(check, path, text):
    """Code that this build does not compile, or throws away, may use it, too."""
    assert not check({**WITH_DEAD, path: text})


def test_inline(check):
    header = "static inline int used(void) { return 0; }\nstatic inline int unused(int nr)\n{\n\treturn nr;\n}\n"
    main = '#include "kernel/lib.h"\n' + MAIN.replace("lib();", "lib() + used();")
    sources = {"kernel/lib.h": header, "kernel/main.c": main, "kernel/lib.c": LIB}
    assert check(sources) == ["kernel/lib.h: unused: nothing uses it"]
    sources["tests/test.c"] = '#include "kernel/lib.h"\nint test(void) { return unused(1); }\n'
    assert check(sources) == ["kernel/lib.h: unused: only tests use it"]


def test_macro(check):
    macros = "#define LIB_USED 0\n#define LIB_UNUSED 1\n#  define LIB_BOTH(x) \\\n\t(x)\n"
    main = '#include "kernel/lib.h"\n' + MAIN.replace("lib();", "lib() + LIB_USED;")
    sources = {"kernel/lib.h": macros, "kernel/main.c": main, "kernel/lib.c": "#define LIB_ODD /* LIB_ODD */\n" + LIB}
    assert check(sources) == [
        "kernel/lib.c: LIB_ODD: nothing uses it",
        "kernel/lib.h: LIB_UNUSED: nothing uses it",
        "kernel/lib.h: LIB_BOTH: nothing uses it",
    ]
    sources["tests/test.c"] = "int nr = LIB_UNUSED;\n"
    sources["tools/other.h"] = "int nr = LIB_BOTH(1);\n"
    sources["kernel/lib.c"] = LIB
    assert check(sources) == ["kernel/lib.h: LIB_UNUSED: only tests use it"]
    sources["trace/include/trace/stages/lib.h"] = sources.pop("kernel/lib.h")
    sources["kernel/main.c"] = main.replace("kernel/lib.h", "trace/include/trace/stages/lib.h")
    sources["kernel/lib.h"] = ""
    assert not check(sources)


def test_exceptions(check):
    sources = {"kernel/lib.c": LIB + DEAD + DEAD.replace("dead", "dead_2")}
    assert not check(sources, "# What it means.\n\ndead*  seen by a debugger\n")
    assert check(sources, "dead  seen by a debugger\n") == ["kernel/lib.c: dead_2: nothing uses it"]
    assert check(sources, "dead*\n") == ["tools/dead.allow:1: dead*: no reason given"]
    assert check(sources, "dead*  seen\nlib  called\n") == ["tools/dead.allow:2: lib needs no exception"]


def test_object_of_a_source_that_is_gone(check, tmp_path):
    assert check({"kernel/lib.c": LIB, "kernel/moved.c": DEAD})
    (tmp_path / "kernel/moved.c").unlink()
    assert not check({"kernel/lib.c": LIB})


def test_no_objects(tmp_path):
    done = run(ROOT / "tools/check-dead", tmp_path, cwd=ROOT)
    assert done.returncode == 1 and "no objects" in done.stderr


def test_label_in_assembly(check, tmp_path):
    """Global, so that it has a type and a size in the symbol table."""
    text = "global used:function, unused:function\nextern lib\nused:\n\tjmp used\nunused:\n\tjmp lib ; not unused\n"
    (tmp_path / "kernel").mkdir()
    (tmp_path / "obj/kernel").mkdir(parents=True)
    (tmp_path / "kernel/entry.asm").write_text(text)
    must("nasm", "-f", "elf64", tmp_path / "kernel/entry.asm", "-o", tmp_path / "obj/kernel/entry.asm.o")
    assert check({"kernel/lib.c": LIB}) == ["kernel/entry.asm: unused: nothing uses it"]
