"""make mutate on a small program: a fault that its test notices, one that it does not, and changes that are none."""
import argparse
import importlib.machinery
import importlib.util
import queue
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/mutate"))

import suites  # noqa: E402
from areas import area_of  # noqa: E402
from engine import HUNG, KILLED, SAME, SURVIVED, TWIN, UNLINKED, Compared, Draw, Outcome, ask, bytecode, in_threads, order  # noqa: E402
from mutant import FAULTS  # noqa: E402
from operators import mutants_of  # noqa: E402
from suites import LINKED, Boots, Command, Units  # noqa: E402
from trees import Plan, Tree  # noqa: E402
from verdicts import Verdicts, lines_of  # noqa: E402

PROGRAM = """\
/* if (a < b) in a comment */
#define TWICE(x) ((x) + (x))
static const char text[] = "a < b";

int limit(int value, int max)
{
	unsigned int steps = 0;

	log_info("%d < 1", 1);
	if (value > max)
		return max;
	if (max == 77)
		return 7;
	while (steps < 3)
		steps++;
	return value + text[0] - 'a';
}
"""
TEST = """\
int limit(int value, int max);
int main(void)
{
	return limit(9, 5) != 5 || limit(3, 5) != 3;
}
"""


@pytest.fixture
def tree(tmp_path):
    tree = Tree(tmp_path)
    (tmp_path / "build").mkdir()
    tree.put("limit.c", "#define log_info(...)\n" + PROGRAM)
    tree.put("test.c", TEST)
    return tree


def test_outcomes(tree, monkeypatch):
    monkeypatch.setattr(suites, "SHORTEST", 1)
    text = (tree.path / "limit.c").read_text()
    plan = Plan("gcc -O2 -c limit.c -o limit.o")
    suite = Command("test", "gcc -w limit.c test.c -o t && exec ./t", [""], 0.1)
    outcomes = list(Draw("limit.c", text, 1000, "1").run(tree, Compared(plan), [suite]))
    what = {(outcome.mutant.operator, outcome.mutant.before, outcome.mutant.after): outcome.what for outcome in outcomes}

    assert what["never", "if (value > max)", "if ((value > max) && 0)"] == KILLED
    assert what["return", "return max;", "return 0;"] == KILLED
    assert what["drop-step", "steps++;", ";"] == HUNG
    assert what["swap", "return value + text[0] - 'a';", "return value - text[0] - 'a';"] == KILLED
    assert what["bound", "while (steps < 3)", "while (steps <= 3)"] == SAME
    assert what["constant", "while (steps < 3)", "while (steps < 4)"] == SAME
    # the same value at the bound: another machine code, which no test can tell apart
    assert what["limit", "if (value > max)", "if (value >= max)"] in (SURVIVED, SAME)
    assert what["constant", "return value + text[0] - 'a';", "return value + text[1] - 'a';"] == KILLED
    assert TWIN in (what["negate", "if (max == 77)", "if (!(max == 77))"], what["equal", "if (max == 77)", "if (max != 77)"])
    assert not any("comment" in before or "TWICE" in before or "log" in before for _, before, _ in what)
    assert (tree.path / "limit.c").read_text() == text


def test_survivor_and_verdict(tree):
    """Without its second check the test is blind to a value that is passed through."""
    text = (tree.path / "limit.c").read_text()
    tree.put("test.c", TEST.replace(" || limit(3, 5) != 3", ""))
    suite = Command("test", "gcc -w limit.c test.c -o t && ./t", [""], 0.1)
    outcomes = Draw("limit.c", text, 1000, "1").run(tree, Compared(Plan("gcc -O2 -c limit.c -o limit.o")), [suite])
    lived = [outcome.mutant for outcome in outcomes if outcome.what == SURVIVED]
    always = next(mutant for mutant in lived if mutant.operator == "always")

    told = Verdicts(f"### `limit.c`\n\n{lines_of(always)}\n  hole: no test asks for a small value\n")
    assert told.of(always) == "hole"
    assert [told.of(mutant) for mutant in lived if mutant != always] == [None] * (len(lived) - 1)
    with pytest.raises(ValueError):
        Verdicts(f"### `limit.c`\n\n{lines_of(always)}\n  whatever: it is fine\n")


CHOSEN = """\
int absent(int value);
static int once(int value)
{
	return 1 - value;
}
int chosen(int value)
{
	if (sizeof(value) == 4)
		return once(value) + 1;
	return absent(value);
}
"""
MAKEFILE = f"""\
test-kernel: {LINKED}
	! grep -q 'return once(value);' chosen.c
{LINKED}: build/kernel/chosen.o build/kernel/main.o
	gcc -o $@ $^
build/kernel/%.o: %.c
	@mkdir -p $(@D)
	gcc -O2 -Wall -Werror -c $< -o $@
"""


class Everywhere:
    """Coverage of programs that execute each mutant."""

    def executes(self, program, mutant):
        return True

    def seconds(self, program):
        return 0.1


def test_mutants_that_do_not_link(tree):
    """They are left out, with a unit test that calls the function and without; the kernel's linker has the last word."""
    made = "build/kernel/chosen.o"
    plan = Plan(f"gcc -O2 -c chosen.c -o {made}\ngcc {made} main.o -o main")
    (tree.path / "build/kernel").mkdir()
    (tree.path / made).with_suffix(".d").write_text(f"{made}: chosen.c\n")
    for name, text in (
        ("chosen.c", CHOSEN),
        ("main.c", "int chosen(int);\nint main(void) { return chosen(1); }\n"),
        ("Makefile", MAKEFILE),
    ):
        tree.put(name, text)
    subprocess.run(["gcc", "-c", "main.c"], cwd=tree.path, check=True)
    units = Units.__new__(Units)
    units.programs, units.plan, units.coverage = ["main"], plan, Everywhere()
    boots = Boots(plan, (), ())

    def fate(after, *asked):
        mutant = next(mutant for mutant in mutants_of("chosen.c", CHOSEN) if (mutant.function, mutant.after) == ("chosen", after))
        tree.put("chosen.c", mutant.apply(CHOSEN))
        return ask(asked, tree, mutant)

    absent, minus, less = "if (sizeof(value) != 4)", "return once(value) - 1;", "return once(value);"
    assert fate(absent, units) == fate(absent, boots) == fate(absent, units, boots) == (UNLINKED, "")
    assert fate(minus, boots) == (SURVIVED, "")
    assert fate(less, boots) == fate("return 0;", boots) == (KILLED, "the build")  # its check, its compiler
    units.plan = Plan(f"gcc -O2 -c chosen.c -o {made}\ngcc {made} absent.o -o main")  # a test that links no mutant
    assert fate(minus, units) == (UNLINKED, "")
    assert fate(minus, units, boots) == (SURVIVED, "")
    assert not (tree.path / made).exists()


PUBLISHED = """\
static struct place *place_add(struct list *list, int value)
{
	struct place *place = place_find(list);

	if (list->nr == PLACES_MAX)
		return NULL;
	trace_plat_lock(&list->lock);
	place->value = value; /* before the others see it */
	atomic_store_explicit(&list->first, place, memory_order_release);
	trace_plat_unlock(&list->lock);
	wait_for_readers();
	place->flags = place->is_old && !value || list->is_full ? OLD_PLACE | WAS_FULL : 0;
	return place;
}

static int place_make(struct list *list)
{
	int err = place_hook(list);

	if (err)
		goto free_places;
	err = place_name(list, PLACE_NAME);
	if (err)
		goto unhook;
	else
		count(&list->nr_named);
	return place_bytes(list) - 2 * WORD;
unhook:
	if (list->is_hooked)
		place_unhook(list);
free_places:
	places_drop_all(list);
	return err;
}
"""
FAULTS_OF_C = {
    ("limit", "if (list->nr > PLACES_MAX)"),
    ("late-lock", "place->value = value; trace_plat_lock(&list->lock);"),
    ("swap-publish", "atomic_store_explicit(&list->first, place, memory_order_release); place->value = value;"),
    ("early-unlock", "trace_plat_unlock(&list->lock); atomic_store_explicit(&list->first, place, memory_order_release);"),
    ("drop-wait", ";"),
    ("drop-operand", "place->flags = !value || list->is_full ? OLD_PLACE | WAS_FULL : 0;"),
    ("drop-operand", "place->flags = place->is_old || list->is_full ? OLD_PLACE | WAS_FULL : 0;"),
    ("drop-operand", "place->flags = place->is_old && !value ? OLD_PLACE | WAS_FULL : 0;"),
    ("pick-arm", "place->flags = OLD_PLACE | WAS_FULL;"),
    ("drop-flag", "place->flags = place->is_old && !value || list->is_full ? WAS_FULL : 0;"),
    ("return-early", "return NULL; wait_for_readers();"),
    ("skip-arm", "goto free_places;"),
    ("zero", "err = place_name(list, 0);"),
    ("return-early", "{ count(&list->nr_named); return 0; }"),
    ("drop-term", "return place_bytes(list);"),
    ("drop-undo", ";"),
}
PYTHON = """\
class Hub:
    def leave(self, page):
        with self.mutex:
            if page in self.pages and not page.is_gone:
                self.pages.remove(page)
        self.bytes = max(0, self.bytes - page.bytes)
        gone = self.names.pop(page.name)
        return gone & 0xFFFFF if page.nr >= LIMIT else None

    def tell(self, page):
        try:
            page.last = self.text
            page.queue.put(self.text)
        finally:
            page.close()
"""
FAULTS_OF_PYTHON = {
    ("drop-lock", "if True:"),
    ("drop-operand", "if not page.is_gone:"),
    ("drop-operand", "if page in self.pages:"),
    ("drop-undo", "pass"),
    ("return-early", "self.pages.remove(page); return"),
    ("limit", "self.bytes = self.bytes - page.bytes"),
    ("drop-term", "self.bytes = max(0, self.bytes)"),
    ("drop-undo", "gone = self.names[page.name]"),
    ("narrow", "return gone & 0xFFFF if page.nr >= LIMIT else None"),
    ("limit", "return gone & 0xFFFFF if page.nr > LIMIT else None"),
    ("pick-arm", "return gone & 0xFFFFF"),
    ("swap-publish", "page.queue.put(self.text); page.last = self.text"),
}


def test_faults_of_programmers():
    for path, text, wanted in (("place.c", PUBLISHED, FAULTS_OF_C), ("hub.py", PYTHON, FAULTS_OF_PYTHON)):
        mutants = mutants_of(path, text)
        assert wanted - {(mutant.operator, mutant.after) for mutant in mutants} == set()
        for mutant in mutants:
            assert mutant.apply(text).count("\n") == text.count("\n")
    assert not any(bytecode(mutant.apply(PYTHON)) is None for mutant in mutants_of("hub.py", PYTHON))
    assert bytecode(PYTHON.replace("pages:", "pages :")) == bytecode(PYTHON) != bytecode(PYTHON.replace("0,", "1,"))


def test_programmers_and_machines_take_turns():
    drawn = order(mutants_of("place.c", PUBLISHED), "1")
    assert [mutant.operator in FAULTS for mutant in drawn[:8]] == [True, False] * 4
    faults = [mutant.operator for mutant in drawn if mutant.operator in FAULTS]
    nr = len(set(faults))
    assert len(set(faults[:nr])) == nr  # each once, before any comes twice


def test_areas():
    assert [
        area_of(path) for path in ("trace/ring/ring.c", "tools/host/_write_head.py", "tools/host/README.md", "kernel/ninep/ninep_fid.c")
    ] == [
        "trace",
        "tools/host",
        None,
        "ninep",
    ]
    assert area_of("kernel/process/fork.c") == area_of("kernel/syscall/epoll.c") == "processes"
    assert area_of("kernel/mm/slab.c") is area_of("tools/lines/lines.py") is None


def test_error_of_one_worker_ends_all():
    """SystemExit in a thread is not heard of; the rest would look like a whole run."""
    work = queue.SimpleQueue()
    for number in range(5):
        work.put(number)

    def worker():
        raise SystemExit("no such test")

    with pytest.raises(SystemExit, match="no such test"):
        in_threads([worker], work)
    assert work.empty()


def test_draw_is_steady():
    """A change elsewhere, lines that move, another name of the file: the mutants of a function and their order stay."""
    moved = PROGRAM.replace("int limit", "int other(int a)\n{\n\treturn a == 1;\n}\n\nint limit", 1)

    def order(path, text):
        ranked = sorted(mutants_of(path, text), key=lambda mutant: mutant.rank("1"))
        return [mutant.key[1:] for mutant in ranked if mutant.function == "limit"]

    assert order("limit.c", PROGRAM) == order("elsewhere/bound.c", moved) != []


def test_verdicts_of_this_tree():
    """Each is on a mutant that the sources have."""
    verdicts = Verdicts((ROOT / "tests/mutants.md").read_text())
    assert verdicts.kinds
    assert not list(verdicts.stale(ROOT))


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """A run of the program itself over a tree with one source; without trees to build in."""
    loader = importlib.machinery.SourceFileLoader("mutate", str(ROOT / "tests/mutate/mutate"))
    program = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
    loader.exec_module(program)
    monkeypatch.setattr(program, "ROOT", tmp_path)
    monkeypatch.setattr(program, "listed", lambda: ["trace/types/limit.c"])
    for folder in ("trace/types", "tests", "build"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "trace/types/limit.c").write_text(PROGRAM)
    (tmp_path / "tests/mutants.md").write_text("")
    return program.Campaign(argparse.Namespace(only="types", operators="", mutants=1, seed="1", build="build", seconds=0, jobs=1))


def test_draw_of_nothing_is_an_error(campaign, monkeypatch, capsys):
    assert [quota for _, _, quota in campaign.files()] == [1]
    campaign.args.mutants = 0.1
    monkeypatch.setattr(campaign, "_fraction", lambda path: 0.0)
    with pytest.raises(SystemExit, match="nothing is drawn"):
        campaign.run()
    assert campaign.report() == 1  # as if each of those drawn had left the machine code alone
    assert "draw more" in capsys.readouterr().out


def test_some_operators_only():
    text = "int f(int a)\n{\n\tif (a > MAX)\n\t\ttext_refuse(a);\n\twant_number(a);\n\tshow(a);\n\treturn a;\n}\n"
    found = {(mutant.operator, mutant.line) for mutant in mutants_of("f.c", text, "drop-check limit")}
    assert found == {("limit", 3), ("drop-check", 4), ("drop-check", 5)}
    assert len(mutants_of("f.c", text)) > len(found)


class Twice:
    """Of two attempts at a boot those that fail, by the number."""

    def __init__(self, failures):
        self.failures, self.nr = failures, 0

    def __call__(self, name, *unused):
        self.nr += 1
        return (KILLED, name) if self.nr in self.failures else (None, "")


@pytest.mark.parametrize("failures,what", [((), None), ((1,), None), ((1, 2), KILLED)])
def test_a_boot_fails_twice(monkeypatch, failures, what):
    monkeypatch.setattr(suites, "attempt", Twice(failures))
    assert Boots._boot("calls", [], None, 1, {})[0] == what


@pytest.mark.parametrize("failures,ends", [((), False), ((1, 2), True)])
def test_a_boot_that_fails_without_a_mutant(tree, monkeypatch, failures, ends):
    monkeypatch.setattr(suites, "attempt", Twice(failures))
    monkeypatch.setattr(suites, "run", lambda *unused: 0)
    monkeypatch.setattr(Boots, "original", staticmethod(lambda path: PROGRAM))
    mutant = mutants_of("limit.c", PROGRAM)[0]
    tree.put("limit.c", mutant.apply(PROGRAM))
    boots = Boots(None, (), ())
    if ends:
        with pytest.raises(SystemExit, match="without a mutant fails"):
            boots._passes("calls", ["test.py"], tree, mutant, {})
    else:
        boots._passes("calls", ["test.py"], tree, mutant, {})
        assert boots.passed == {"calls"}
        assert (tree.path / "limit.c").read_text() == mutant.apply(PROGRAM)


def test_the_name_of_an_area_is_no_part_of_a_path(campaign):
    named = type(campaign).files.__globals__["is_named"]
    words = ("kernel", "virtio", "kernel/", "trace/types/")
    paths = ("kernel/trace_host.c", "kernel/virtio/virtio_pci.c", "kernel/ninep/ninep_virtio.c", "trace/types/btf.c")
    assert [[named(path, word) for path in paths] for word in words] == [
        [True, False, False, False],
        [False, True, False, False],
        [True, True, True, False],
        [False, False, False, True],
    ]


def test_some_unit_tests_only():
    for words, wanted in (("", 3), ("/kprobes/ sim_", 2), ("step_", 0)):
        programs = ("gcc/bin/trace/kprobes/test_kprobe", "sim/bin/arch/sim_nmi", "gcc/bin/trace/ring/test_ring")
        assert sum(suites.is_asked(program, words) for program in programs) == wanted


def test_stale_verdict_is_an_error(campaign, tmp_path, capsys):
    killed, other = mutants_of("trace/types/limit.c", PROGRAM)[:2]
    campaign.outcomes = [Outcome(killed, KILLED)]
    text = f"### `{other.path}`\n\n{lines_of(other)}\n  hole: it is not tested\n"
    (tmp_path / "tests/mutants.md").write_text(text)
    assert campaign.report() == 0
    for stale in (text.replace("limit.c", "other.c"), text.replace(f"`{other.function}`", "`elsewhere`")):
        (tmp_path / "tests/mutants.md").write_text(stale)
        assert campaign.report() == 1
        assert "verdict without a mutant" in capsys.readouterr().out


def test_every_file_can_be_read():
    """Each function that the compiler sees is found, so that none is left out unnoticed."""
    source = ROOT / "trace/ring/ring_write.c"
    names = {mutant.function for mutant in mutants_of("trace/ring/ring_write.c", source.read_text())}
    tags = subprocess.run(["grep", "-cE", r"^\{", source], capture_output=True, text=True, check=True).stdout
    assert len(names) >= int(tags) - 2
