"""make mutate on a small program: a fault that its test notices, one that it does not, and changes that are none."""
import queue
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/mutate"))

import suites  # noqa: E402
from engine import HUNG, KILLED, SAME, SURVIVED, TWIN, Compared, Draw, in_threads  # noqa: E402
from operators import mutants_of  # noqa: E402
from suites import Command  # noqa: E402
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
    assert what["bound", "if (value > max)", "if (value >= max)"] in (SURVIVED, SAME)
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

    told = Verdicts(f"### `limit.c`\n\n{lines_of(always)}\n  hole: nobody asks for a small value\n")
    assert told.of(always) == "hole"
    assert [told.of(mutant) for mutant in lived if mutant != always] == [None] * (len(lived) - 1)
    with pytest.raises(ValueError):
        Verdicts(f"### `limit.c`\n\n{lines_of(always)}\n  whatever: it is fine\n")


def test_error_of_one_worker_ends_all():
    """Of SystemExit in a thread nobody hears; what is left would look like a whole run."""
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
    text = (ROOT / "tests/mutants.md").read_text()
    assert isinstance(Verdicts(text).kinds, dict)


def test_every_file_can_be_read():
    """Each function that the compiler sees is found, so that none is left out unnoticed."""
    source = ROOT / "trace/ring/ring_write.c"
    names = {mutant.function for mutant in mutants_of("trace/ring/ring_write.c", source.read_text())}
    tags = subprocess.run(["grep", "-cE", r"^\{", source], capture_output=True, text=True, check=True).stdout
    assert len(names) >= int(tags) - 2
