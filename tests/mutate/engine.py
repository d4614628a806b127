"""Draws mutants of a file and finds out what becomes of each."""
import contextlib
import hashlib
import queue
import threading
import time
from dataclasses import dataclass

from mutant import FAULTS
from operators import mutants_of
from trees import redirected, run

KILLED, HUNG, SURVIVED = "killed", "timed out", "SURVIVED"
BROKEN, UNLINKED, SAME, TWIN = "does not compile", "does not link", "same code", "code of another mutant"
COUNTED = (KILLED, HUNG, SURVIVED)


@dataclass
class Outcome:
    mutant: object
    what: str
    by: str = ""
    seconds: float = 0.0
    code: str = ""  # digest of the machine code


class Compared:
    """Machine code of a file's objects as the product is built, to tell mutants that change nothing."""

    def __init__(self, plan):
        self.plan = plan

    def digest(self, tree, path):
        """A digest of the objects that have `path` in them; None when it does not compile."""
        if path.endswith(".py"):
            return bytecode((tree.path / path).read_text())
        digest = hashlib.sha256()
        for name in tree.depending(self.plan, path):
            _, command = self.plan.compile[name]
            if run(redirected(command, name, "build/compared.o"), tree.path):
                return None
            digest.update((tree.path / "build/compared.o").read_bytes())
        return digest.hexdigest()


def bytecode(text):
    """A digest of what a Python file is compiled to, without places in the text; None when that cannot be."""

    def shape(code):
        return (
            code.co_code,
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_exceptiontable,
            tuple(shape(value) if hasattr(value, "co_code") else (type(value).__name__, repr(value)) for value in code.co_consts),
        )

    try:
        return hashlib.sha256(repr(shape(compile(text, "file", "exec", dont_inherit=True))).encode()).hexdigest()
    except SyntaxError:
        return None


def order(mutants, seed):
    """
    How they are drawn: the faults that programmers make and those of a machine take turns. Of the former the first
    of each operator come first, then the second ones: some operators have many more places than others.
    """
    ranked = sorted(mutants, key=lambda mutant: mutant.rank(seed))
    nr_of, faults = {}, []
    for mutant in ranked:
        if mutant.operator in FAULTS:
            nr_of[mutant.operator] = nr_of.get(mutant.operator, 0) + 1
            faults.append((nr_of[mutant.operator], len(faults), mutant))
    faults = [mutant for _, _, mutant in sorted(faults)]
    others = [mutant for mutant in ranked if mutant.operator not in FAULTS]
    turns = [mutant for pair in zip(faults, others) for mutant in pair]
    nr = len(turns) // 2
    return turns + faults[nr:] + others[nr:]


def ask(suites, tree, mutant):
    """Its fate, and the test that killed it. Without a kill the last suite that says something about it is right."""
    fate = SURVIVED
    for suite in suites:
        what, by = suite.judge(tree, mutant)
        if what in (KILLED, HUNG):
            return what, by
        fate = what or fate
    return fate, ""


class Draw:
    """The mutants of one file, in the order in which they are drawn, until `quota` of them have counted."""

    def __init__(self, path, text, quota, seed, operators=""):
        self.path, self.text, self.quota = path, text, quota
        self.order = order(mutants_of(path, text, operators), seed)

    def run(self, tree, compared, suites, known=lambda mutant: None, stop=lambda: False):
        """Yields the outcomes as they come, of mutants that do not count as well. None when it was stopped."""
        counted = 0
        codes = {}
        for mutant in self.order:
            if counted >= self.quota:
                return
            if stop():
                yield None
                return
            outcome = known(mutant)
            if outcome is None:
                if SAME not in codes.values():
                    codes[compared.digest(tree, self.path)] = SAME
                outcome = self._judge(tree, compared, suites, mutant, codes)
            codes.setdefault(outcome.code, TWIN)
            counted += outcome.what in COUNTED
            yield outcome

    def _judge(self, tree, compared, suites, mutant, codes):
        begin = time.monotonic()
        times = tree.times(self.path)
        tree.put(self.path, mutant.apply(self.text))
        try:
            code = compared.digest(tree, self.path)
            if code is None:
                return Outcome(mutant, BROKEN)
            if code in codes:
                return Outcome(mutant, codes[code], code=code)
            what, by = ask(suites, tree, mutant)
            return Outcome(mutant, what, by, time.monotonic() - begin, code)
        finally:
            tree.restore(self.path, self.text, times)


def in_threads(workers, work):
    """Run them side by side. A thread would end with an error in silence: the others get no more work, and it is raised here."""
    errors = []

    def run(worker):
        try:
            worker()
        except BaseException as error:
            errors.append(error)
            with contextlib.suppress(queue.Empty):
                while True:
                    work.get_nowait()

    threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
