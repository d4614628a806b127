"""Which sources are mutated, and what could kill a mutant in each."""
import fnmatch
import re

from engine import Compared
from suites import PYTEST, Boots, Command, Units

PATTERNS = ("trace/*.c", "trace/*.h", "tools/recordmcount/*.c", "kernel/sched/grace.c") + tuple(
    f"{name}*{suffix}" for name in ("trace/arch/x86_64/", "arch/x86_64/smp_sync", "arch/x86_64/smp_nmi", "arch/x86_64/trap",
                                    "arch/x86_64/alias") for suffix in (".c", ".h", ".asm"))


def counts(path):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in PATTERNS)


def weight(path):
    """Code that few lines of carry much is drawn from more often."""
    return 1 if path.startswith("trace/") and not path.startswith("trace/arch/") else 2


KERNEL = ("BUILD=build/kernel", "CC=gcc")

BOOTED = (
    ("ktest", ["tests/qemu/test_kernel.py::test_unit_tests_inside[gcc-4-128M]"], 20, {}),
    ("torture", ["tests/qemu/test_torture.py::test_torture[gcc-4]"], 20,
     {"TORTURE_ROUNDS": "300", "TORTURE_CROWD_SECONDS": "1"}),
)


def prepare(trees, paths, args, directory):
    """How to see what a mutant changes, and the suites in the order in which they are asked."""
    suites = []
    if any(not path.startswith("tools/") for path in paths):
        suites.append(Units(trees, directory / "coverage.json", args.jobs, args.keep))
    suites += [
        Command("tests/recordmcount", [*PYTEST, "tests/recordmcount", "-k", "not 20000 and not section_count"],
                ["tools/recordmcount/"], 20),
        Command("tests/recordmcount/test_sizes.py", [*PYTEST, "tests/recordmcount/test_sizes.py"],
                ["tools/recordmcount/"], 20),
        Command("examples/process", ["make", "-s", "BUILD=build/flips", "FLIPS=300000", "flips"],
                ["trace/arch/x86_64/text_"], 60),
    ]
    plan = product_plan(trees, args.jobs)
    if args.boots:
        suites.append(Boots(plan, KERNEL, BOOTED))
    return Compared(plan), suites


def product_plan(trees, jobs):
    """How the kernel and recordmcount are compiled. The kernel is built, for what it generates and its dependencies."""
    for tree in trees:
        tree.borrow(trees[0])
        tree.make("Makefile", *KERNEL, "test-kernel", jobs=jobs)
    plan = trees[0].plan("Makefile", *KERNEL, "test-kernel")
    command = next(line for line in plan.lines if " -o build/kernel/tools/recordmcount " in line)
    before, _, after = command.partition(" -o ")
    for source in re.findall(r"tools/recordmcount/\w+\.c", after):
        made = f"build/kernel/{source}.o"
        plan.compile[made] = (source, f"{before} -c {source} -o {made}")
    return plan
