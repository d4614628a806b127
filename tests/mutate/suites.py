"""
The suites that could kill a mutant. A suite's judge() gives (how, by which test). When the mutant lives, or the suite has
no test of it, that is (None, ""); (UNLINKED, "") is a program that the linker refuses, (SURVIVED, "") one that it took.
"""
import re

from coverage import MAKEFILE, Coverage, command_of, variant_of
from engine import HUNG, KILLED, SURVIVED, UNLINKED
from trees import ROOT, Timeout, redirected, run

PYTEST = ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
NO_SUCH_TEST = (4, 5)  # what pytest then returns: no mutant is killed by that
SLACK = 10  # a test that needs so many times the CPU time that it usually does hangs,
SHORTEST = 5  # and so many seconds of it
LINKED = "build/kernel/fathom-test.stage1"


def is_asked(program, words):
    """Has its path one of the words? Without words each is."""
    return not words or any(word in program for word in words.split())


def bound(seconds):
    return max(SHORTEST, min(SLACK * seconds, seconds + 60))


def attempt(name, command, tree, seconds, env=None):
    """One test against the mutant in the tree."""
    try:
        status = run(command, tree.path, bound(seconds), env)
    except Timeout:
        return HUNG, name
    if status in NO_SUCH_TEST and command[: len(PYTEST)] == PYTEST:
        raise SystemExit(f"mutate: pytest finds no test in {' '.join(command[len(PYTEST):])}")
    return (KILLED, name) if status else (None, "")


class Command:
    """A command that builds what it tests, for files whose path starts with one of `paths`."""

    def __init__(self, name, command, paths, seconds, env=None):
        self.name, self.command, self.paths, self.seconds, self.env = name, command, tuple(paths), seconds, env

    def judge(self, tree, mutant):
        if not mutant.path.startswith(self.paths):
            return None, ""
        return attempt(self.name, self.command, tree, self.seconds, self.env)


class Tools:
    """The tests of the host's Python programs, those first that name the file."""

    def __init__(self, tests, seconds):
        """`tests`: their paths, with the text of each."""
        self.tests, self.seconds = tests, seconds

    def judge(self, tree, mutant):
        if not mutant.path.endswith(".py"):
            return None, ""
        word = re.compile(rf"\b{re.escape(mutant.path.rsplit('/', 1)[1].removesuffix('.py'))}\b")
        names = sorted(self.tests, key=lambda name: not word.search(self.tests[name]))
        return attempt("tests/tools", [*PYTEST, *names], tree, self.seconds)


class Boots:
    """
    A kernel with the mutant in it, booted. Dear, so asked last. One that the linker refuses is no mutant; one that the
    compiler warns of, or that the build's own checks refuse, is killed by the build.
    """

    def __init__(self, plan, variables, tests):
        """`tests`: (name, pytest's arguments, seconds, environment, paths they are for), the first ones first; may be none."""
        self.plan, self.variables, self.tests = plan, variables, tests
        self.passed = set()  # the tests that are known to pass without a mutant

    def judge(self, tree, mutant):
        touched = tree.depending(self.plan, mutant.path)
        if mutant.path.startswith("tools/") or not touched:
            return None, ""
        try:
            if run(["make", "-s", *self.variables, LINKED], tree.path):
                is_compiled = all(tree.is_newer(name, mutant.path) for name in touched)
                return (UNLINKED, "") if is_compiled else (KILLED, "the build")
            if run(["make", "-s", *self.variables, "test-kernel"], tree.path):
                return KILLED, "the build"
            builds = {"FATHOM_BUILD": str(tree.path / "build/kernel"), "FATHOM_BUILD_CLANG": "/nowhere"}
            for name, words, seconds, env, paths in self.tests:
                if not mutant.path.startswith(paths):
                    continue
                what, by = self._boot(name, words, tree, seconds, {**builds, **env})
                if what and name not in self.passed:
                    self._passes(name, words, tree, mutant, {**builds, **env})
                if what:
                    return what, by
            return SURVIVED, ""
        finally:
            for name in touched:  # the source gets its old time back, and they would stay
                (tree.path / name).unlink(missing_ok=True)

    def _passes(self, name, words, tree, mutant, env):
        """A test that fails without the mutant as well says nothing: the run ends."""
        text = (tree.path / mutant.path).read_text()
        tree.put(mutant.path, self.original(mutant.path))
        run(["make", "-s", *self.variables, "test-kernel"], tree.path)
        if self._boot(name, words, tree, 600, env)[0]:
            raise SystemExit(f"mutate: without a mutant fails, too: {' '.join(words)}")
        self.passed.add(name)
        tree.put(mutant.path, text)

    @staticmethod
    def original(path):
        """The text of a source of the checkout."""
        return (ROOT / path).read_text()

    @staticmethod
    def _boot(name, words, tree, seconds, env):
        """Beside load a guest may fail of itself, so a failure counts that comes twice."""
        what, by = attempt(name, [*PYTEST, *words], tree, seconds, env)
        return attempt(name, [*PYTEST, *words], tree, seconds, env) if what == KILLED else (what, by)


class Units:
    """The programs of tests/unit that execute the mutant, fastest first. Only its objects are compiled again."""

    def __init__(self, trees, store, args):
        main, jobs = trees[0], args.jobs
        # The library without a feature runs the same test each time, and says little.
        self.programs = [
            name
            for name in main.make(MAKEFILE, "BUILD=build", "list").split()
            if not variant_of(name).endswith("clang") and "/without_" not in name and is_asked(name, args.programs)
        ]
        if not self.programs:
            raise SystemExit(f"mutate: no unit test program has one of these words in its path: {args.programs}")
        self.plan = main.plan(MAKEFILE, "BUILD=build", *self.programs)
        for tree in trees:
            tree.borrow(main)
            tree.make(MAKEFILE, "BUILD=build", *self.programs, jobs=jobs)
        self.coverage = Coverage(main, self.plan, store, args.keep)
        self.coverage.measure(self.programs, jobs)
        self.programs.sort(key=self.coverage.seconds)

    def judge(self, tree, mutant):
        touched = set(tree.depending(self.plan, mutant.path))
        made, fate = {}, None
        for program in self.programs:
            mine = touched.intersection(self.plan.linked(program))
            if not mine or not self.coverage.executes(program, mutant):
                continue
            if not self._compile(tree, mine, made) or run(self._link(program, mine, made), tree.path):
                fate = fate or UNLINKED
                continue
            fate = SURVIVED
            command = [word if word != program else "build/mutant" for word in command_of(program)]
            what, by = attempt(program.removeprefix("build/unit/"), command, tree, self.coverage.seconds(program))
            if what:
                return what, by
        return fate, ""

    def _compile(self, tree, names, made):
        for name in names - made.keys():
            copy = re.sub(r"^build/", "build/mutated/", name)
            (tree.path / copy).parent.mkdir(parents=True, exist_ok=True)
            if run(redirected(self.plan.compile[name][1], name, copy), tree.path):
                return False  # and what lies there is of an earlier mutant
            made[name] = copy
        return True

    def _link(self, program, names, made):
        """The link command with the mutant's objects; those before an archive leave its members of that name out."""
        words = self.plan.link[program].split()
        out = []
        for word in words:
            if word in self.plan.members:
                out += [made[name] for name in sorted(names.difference(words))]
            out.append(made[word] if word in names else "build/mutant" if word == program else word)
        return " ".join(out)
