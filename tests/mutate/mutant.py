"""A mutant: one fault at one place."""
import hashlib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    path: str
    function: str
    line: int
    operator: str
    start: int  # of the text that goes
    end: int
    new: str
    before: str  # the line or statement, blanks folded
    after: str
    lines: tuple = ()  # first and last of the statement, and first of the function
    nth: int = 1  # of those that read alike in the function

    @property
    def key(self):
        return (self.path, self.function, self.before, self.after, self.nth)

    def rank(self, seed):
        """Where it stands in the draw: by what it says, not by where it is, so that other changes leave it there.

        A file may get another name: its mutants stay.
        """
        return hashlib.sha256(repr((seed, *self.key[1:])).encode()).hexdigest()

    def apply(self, text):
        """The file with the mutant in it; no line moves, for some code contains its line number."""
        gone = text[self.start : self.end].count("\n") - self.new.count("\n")
        return text[: self.start] + self.new + "\n" * gone + text[self.end :]


def folded(text):
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", " ", text, flags=re.S)).strip()


def numbered(found):
    """The mutants of one function; those that read alike are told apart."""
    seen = {}
    for i, mutant in enumerate(found):
        seen[mutant.key] = seen.get(mutant.key, 0) + 1
        if seen[mutant.key] > 1:
            found[i] = Mutant(**{**mutant.__dict__, "nth": seen[mutant.key]})
    return found


# Words in the names of functions that wait for others, of those that undo, and of those that refuse. They are known by what
# goes wrong without them only later, or elsewhere.
WAITS = re.compile(r"synchroni[sz]e|(^|_)(wait|sync|join|flush|drain|grace)(_|$)|wait_for")
UNDOES = re.compile(
    r"(^|_)(free|put|unregister|remove|destroy|undo|release|unhook|unlink|cancel|close|clunk|drop|detach"
    r"|clear|reset|restore|stop|disable|end|discard|pop|popleft|pop_front|leave|forget|kill|terminate"
    r"|shutdown|wake|wake_all|notify|notify_all)(_|$)"
)

CHECKS = re.compile(r"(^|_)(refuse|reject|want|expect|verify)(_|$)")


def dropped(name, plain):
    """The operator that leaves a call out."""
    kinds = {"drop-wait": WAITS, "drop-undo": UNDOES, "drop-check": CHECKS}
    return next((operator for operator, words in kinds.items() if words.search(name)), plain)


# The faults that programmers make; the other operators make those that a machine would.
FAULTS = frozenset(
    (
        "drop-wait",
        "drop-undo",
        "drop-check",
        "swap-publish",
        "early-unlock",
        "late-lock",
        "drop-lock",
        "skip-arm",
        "drop-operand",
        "drop-term",
        "drop-flag",
        "pick-arm",
        "return-early",
        "limit",
        "narrow",
        "zero",
    )
)
