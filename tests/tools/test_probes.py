"""check-probes: what a small program calls, also through pointers, is found and judged."""
import pytest

from tablekit import ROOT, must, run

HEAD = """
#define NOTRACE __attribute__((no_instrument_function))
#define NOINLINE __attribute__((noinline))
NOTRACE void __fentry__(void) {}
int volatile value;
typedef void (*step_fn)(int);
struct steps { step_fn first; long (*second)(long); };
extern struct steps *steps;
extern const struct steps mine;
NOINLINE void traced(int x) { value = x; }
NOTRACE void untraced(int x) { value = x + 1; }
NOTRACE long half(long x) { return x / 2; }
"""
TAIL = """
const struct steps mine = { untraced, half };
struct steps *steps = (struct steps *)&mine;
NOTRACE void start(void) { probe(1); }
"""


@pytest.fixture(params=["gcc", "clang"])
def check(request, tmp_path):
    """Build a program around `text`, hold it against a file of roots; returns what is wrong."""

    def judge(text, *lines):
        (tmp_path / "program.c").write_text(HEAD + text + TAIL)
        must(
            request.param,
            "-std=gnu11",
            "-O2",
            "-g",
            "-ffreestanding",
            "-fno-pie",
            "-fno-pic",
            "-mcmodel=kernel",
            "-fcf-protection=none",
            "-pg",
            "-mfentry",
            "-static",
            "-nostdlib",
            "-Wl,-e,start",
            "-Wl,-Ttext-segment=0xffffffff80100000",
            "program.c",
            "-o",
            "program",
            cwd=tmp_path,
        )
        (tmp_path / "roots").write_text("\n".join(("root probe", *lines)) + "\n")
        done = run(ROOT / "tools/check-probes", "program", "roots", cwd=tmp_path)
        *wrong, last = done.stdout.splitlines()
        assert done.stderr == "" and last.startswith("check-probes: ")
        assert (done.returncode == 0) == (not wrong)
        return "\n".join(wrong)

    return judge


def test_direct_calls(check):
    assert not check("NOTRACE NOINLINE void deep(int x) { untraced(x); value = 2; } NOTRACE void probe(int x) { deep(x); value = 1; }")
    wrong = check("NOTRACE NOINLINE void deep(int x) { traced(x); value = 2; } NOTRACE void probe(int x) { deep(x); value = 1; }")
    assert wrong == "a probe can reach a call site: traced <- deep <- probe"
    assert not check(
        "NOTRACE NOINLINE void deep(int x) { traced(x); value = 2; } NOTRACE void probe(int x) { deep(x); value = 1; }", "cut deep"
    )


def test_roots_and_cuts_exist(check):
    wrong = check("NOTRACE void probe(int x) { untraced(x); }", "root prob", "cut untrace")
    assert "no function prob\n" in wrong and wrong.endswith("no function untrace")
    assert "call site: traced" in check("NOTRACE void probe(int x) { untraced(x); }", "root tr*ed")


def test_pointer_of_which_nothing_is_said(check):
    """Inlined or not, the function of the source is the one that is named."""
    text = "static inline void go(int x)\n{\n\tsteps->first(x);\n}\nNOTRACE void probe(int x)\n{\n\tgo(x);\n\tvalue = 1;\n}\n"
    assert "go() calls through a pointer" in check(text)
    assert not check(text, "call go steps.first")


CALLS_FIRST = "NOTRACE void probe(int x)\n{\n\tsteps->first(x);\n\tvalue = 1;\n}\n"


def test_any_function_of_the_type_may_be_called(check):
    """Whoever keeps its address, and wherever: in code, in data."""
    for keeper in ("void keep(void) { static step_fn volatile kept; kept = traced; }", "step_fn kept = traced;"):
        wrong = check(CALLS_FIRST + keeper, "call probe steps.first")
        assert wrong == "a probe can reach a call site: traced <- probe"
    assert not check(CALLS_FIRST + "void user(void) { traced(1); value = 3; }", "call probe steps.first")
    assert not check(CALLS_FIRST + "NOINLINE long also(long x) { return x + value; } long (*kept)(long) = also;", "call probe steps.first")


def test_all_functions_of_a_type_are_roots(check):
    wrong = check(
        "NOTRACE void probe(int x) { untraced(x); } NOINLINE long also(long x) { return x + value; } " "long (*kept)(long) = also;",
        "type steps.second",
    )
    assert wrong == "a probe can reach a call site: also"


def test_the_source_has_to_name_the_pointer(check):
    assert "does not name the pointer steps.second" in check(CALLS_FIRST, "call probe steps.second")


def test_pointers_exist_and_lead_somewhere(check):
    assert "steps.third is no pointer to a function" in check(CALLS_FIRST, "call probe steps.third")
    assert "no_such_fn is no pointer to a function" in check(CALLS_FIRST, "type no_such_fn")
    assert "no function has the type of rare_fn" in check(
        "typedef int (*rare_fn)(char *, int); rare_fn rare;" + CALLS_FIRST, "call probe steps.first", "type rare_fn"
    )


def test_only_what_callers_hand_over(check):
    text = """
NOTRACE NOINLINE void wait_for(int x, step_fn done)
{
	done(x);
	value = 4;
}
step_fn kept = traced;
NOTRACE void probe(int x) { wait_for(x, untraced); wait_for(x, %s); value = 1; }
"""
    assert not check(text % "kept == traced ? untraced : untraced", "call wait_for wait_for()")
    wrong = check(text % "x ? untraced : traced", "call wait_for wait_for()")
    assert wrong == "a probe can reach a call site: traced <- wait_for <- probe"


def test_a_macro_names_function_and_pointer(check):
    text = (
        "typedef void (*tell_news_fn)(int); extern tell_news_fn news; NOTRACE NOINLINE void tell_news_call(int x) { news(x); value = 5; }"
        "NOTRACE void probe(int x) { tell_news_call(x); value = 1; } tell_news_fn news = untraced;"
    )
    assert "tell_news_call() calls through a pointer" in check(text)
    assert not check(text, "call tell_*_call tell_*_fn")


def test_a_switch_is_no_pointer(check):
    cases = "".join(f"case {n}: value = {n * n}; value = value + {n * 7}; break;" for n in range(12))
    assert not check("NOTRACE void probe(int x) { switch (x) { " + cases + " } }")


def test_code_that_runs_into_the_next(check):
    text = """
__asm__(".text; .globl probe; .type probe, @function; probe: nop; .size probe, . - probe;"
	".globl behind; .type behind, @function; behind: call traced; ret; .size behind, . - behind");
void probe(int x);
"""
    assert check(text) == "a probe can reach a call site: traced <- behind <- probe"


def test_a_jump_that_leaves(check):
    """A call is none."""
    text = """
__asm__(".text; .globl probe; .type probe, @function; probe: %s; ret; .size probe, . - probe");
void probe(int x);
"""
    assert "probe() calls through a pointer" in check(text % "jmp *%rax")
    assert not check(text % "jmp *%rax", "leave probe")
    assert "probe() calls through a pointer" in check(text % "call *%rax", "leave probe")
