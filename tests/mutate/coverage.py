"""The unit test programs without a mutant: their CPU time and the lines that they execute.

Kept in a file for programs whose sources are what they were. With `keep`, for those whose own sources are: in a file
that has changed since, every line counts as executed.
"""
import hashlib
import json
import resource

from trees import depfile, must, prerequisites, run

MAKEFILE = "tests/unit/build.mk"
# An exit in a child process would lose its counts.
COUNTING = (
    "BUILD=build/cover",
    "asan=-O0 --coverage -D_exit=exit",
    "flags_tsan=-O0 --coverage -fprofile-update=atomic -D_exit=exit -Itests/unit/fake/plat",
)


def command_of(program):
    """TSan cannot place its memory where addresses are randomised by more than 28 bits."""
    return ["setarch", "-R", program] if "/tsan/" in program else [program]


def variant_of(program):
    return program.split("/")[2]


class Coverage:
    """By program of the ordinary build: `seconds`, and per file the lines with code and those that ran."""

    def __init__(self, tree, plan, store, keep=False):
        self.tree, self.plan, self.store, self.keep = tree, plan, store, keep
        self.known = json.loads(store.read_text()) if store.exists() else {}
        self.digests = {}

    def measure(self, programs, jobs):
        for program in programs:
            needs = self._needs(program)
            if not self._is_current(self.known.get(program), needs):
                self.known[program] = {"needs": needs, "seconds": self._time(program), **self._count(program, jobs)}
                self.store.write_text(json.dumps(self.known))

    def _is_current(self, known, needs):
        if not known:
            return False
        if not self.keep:
            return known["needs"] == needs
        return all(known["needs"].get(name) == digest for name, digest in needs.items() if name.startswith("tests/"))

    def seconds(self, program):
        return self.known[program]["seconds"]

    def executes(self, program, mutant):
        """Did the program execute the mutant's statement? Its function, when the compiler has no line of it."""
        known = self.known[program]
        if known["ran"] is None or known["needs"].get(mutant.path) != self._digest(mutant.path):
            return True
        first, last, function = mutant.lines
        code, ran = known["code"].get(mutant.path, ()), known["ran"].get(mutant.path, ())
        if any(first <= line <= last for line in code):
            return any(first <= line <= last for line in ran)
        return any(function - 6 <= line <= first for line in ran)

    def _digest(self, name):
        """Of a file as it is without a mutant: each is looked at once, before there are any."""
        if name not in self.digests:
            path = self.tree.path / name
            self.digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""
        return self.digests[name]

    def _needs(self, program):
        """The sources of a program, by digest."""
        names = set()
        for made in self.plan.linked(program):
            names |= prerequisites(self.tree.path / depfile(made))
        return {name: self._digest(name) for name in sorted(names) if not name.startswith("/")}

    def _time(self, program):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if run(command_of(program), self.tree.path, 300):
            raise SystemExit(f"mutate: {program} fails without a mutant")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def _count(self, program, jobs):
        """
        A step test stops at every instruction: counting would take minutes. One on simulated CPUs runs what it links.
        Neither is counted: each may execute all that it links.
        """
        if variant_of(program) not in ("gcc", "tsan"):
            return {"code": None, "ran": None}
        counting = program.replace("build/", "build/cover/", 1)
        self.tree.make(MAKEFILE, *COUNTING, counting, jobs=jobs)
        for data in (self.tree.path / "build/cover").rglob("*.gcda"):
            data.unlink()
        run([counting], self.tree.path, 300)
        return self._read()

    def _read(self):
        data = [str(name.relative_to(self.tree.path)) for name in (self.tree.path / "build/cover").rglob("*.gcda")]
        code, ran = {}, {}
        reports = must(["gcov", "--json-format", "--stdout", *data], self.tree.path).splitlines() if data else ()
        for file in (file for report in reports for file in json.loads(report)["files"]):
            path = file["file"].removeprefix(f"{self.tree.path}/")
            code.setdefault(path, set()).update(line["line_number"] for line in file["lines"])
            ran.setdefault(path, set()).update(line["line_number"] for line in file["lines"] if line["count"])
        return {"code": {path: sorted(lines) for path, lines in code.items()}, "ran": {path: sorted(lines) for path, lines in ran.items()}}
