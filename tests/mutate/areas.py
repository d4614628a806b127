"""Which sources are mutated, and what could kill a mutant in each."""
import fnmatch
import re

from engine import Compared
from suites import PYTEST, Boots, Command, Tools, Units
from trees import ROOT

# Each is judged by itself. A file belongs to the first one with a pattern for it.
AREAS = {
    "hist": ("trace/*hist_*", "trace/*/hist*"),
    "monitors": ("trace/monitors/*", "trace/fs/fs_monitor*"),
    "probes": ("trace/probes/*", "trace/fs/fs_probe*", "trace/fs/fs_kprobe*"),
    "kprobes": ("trace/kprobes/*",),
    "uprobes": ("trace/uprobes/*",),
    "sample": ("trace/sample/*",),
    "types": ("trace/types/*",),
    "why": ("trace/why/*",),
    "events": ("trace/events/*", "trace/fs/fs_event*"),
    "machine": (
        "trace/arch/x86_64/*",
        "arch/x86_64/smp_sync*",
        "arch/x86_64/smp_nmi*",
        "arch/x86_64/trap*",
        "arch/x86_64/alias*",
        "arch/x86_64/unwind_probe*",
        "arch/x86_64/*kprobe*",
    ),
    "scripts": ("trace/scripts/*",),
    "trace": ("trace/*",),
    "ninep": ("kernel/ninep/*",),
    "virtio": ("kernel/virtio/*",),
    "processes": ("kernel/process/*", "kernel/syscall/*"),
    "kernel": ("kernel/trace_*", "kernel/sched/grace.c", "kernel/sched/sched_rt_limit.c"),
    "tools/host": ("tools/host/*.py",),
    "tools/view": ("tools/view/*.py",),
    "tools/mount": ("tools/mount/*",),
    "tools/recordmcount": ("tools/recordmcount/*",),
}


def area_of(path):
    """The name of its area; None: it is not mutated."""
    is_python = path.startswith(("tools/host/", "tools/view/"))
    if not path.endswith(".py" if is_python else (".c", ".h", ".asm")) or (path.endswith(".asm") and "arch/" not in path):
        return None
    return next((name for name, patterns in AREAS.items() if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)), None)


def weight(path):
    """Code that few lines of carry much is drawn from more often; that of programs, which takes a boot each time, less."""
    if area_of(path) == "processes":
        return 0.25
    return 1 if path.startswith(("trace/", "tools/host/", "tools/view/")) and not path.startswith("trace/arch/") else 2


KERNEL = ("BUILD=build/kernel", "CC=gcc")

CODE = ("trace/", "arch/", "kernel/", "boot/")
PROCESSES = ("kernel/process/", "kernel/syscall/")
BELOW_THEM = ("trace/", "arch/", "kernel/trace_", "kernel/sched/", "kernel/ninep/", "kernel/virtio/", "boot/")
IMPATIENT = {"GUEST_PATIENCE": "0.4"}
# The kernel without tests in it is not built here, so those that boot it are left out.
ONE_CPU = "gcc and not max and not test_init"
MORE_CPUS = "gcc and (max or gcc-8) and not 2-max and not torture"
CALLS = [f"tests/qemu/test_process{name}.py" for name in ("", "_signals", "_threads", "_ptrace", "_terminal", "_policy")]
PROGRAMS = [f"tests/qemu/test_process_{name}.py" for name in ("busybox", "dynamic", "events", "scripts")]
UPROBES = [f"tests/qemu/test_uprobe{name}.py" for name in ("s", "_events")]
BOOTED = (
    ("calls", [*CALLS, "-k", ONE_CPU], 12, IMPATIENT, PROCESSES),
    ("programs", [*PROGRAMS, *UPROBES, "-k", ONE_CPU], 8, IMPATIENT, PROCESSES),
    ("programs on CPUs", [*CALLS, *UPROBES, "-k", MORE_CPUS], 8, IMPATIENT, PROCESSES),
    ("ktest", ["tests/qemu/test_kernel.py::test_unit_tests_inside[gcc-4-128M]"], 20, {}, BELOW_THEM),
    (
        "torture",
        ["tests/qemu/test_torture.py::test_torture[gcc-4]"],
        20,
        {"TORTURE_ROUNDS": "300", "TORTURE_CROWD_SECONDS": "1"},
        BELOW_THEM,
    ),
    ("the channel", ["tests/qemu/test_channel.py"], 120, {}, ("kernel/ninep/", "kernel/virtio/")),
)
BUILD = {"FATHOM_BUILD": "build/kernel", "FATHOM_BUILD_CLANG": "/nowhere"}
MOUNT = "build/kernel/tools/mount"


def prepare(trees, paths, args, directory):
    """How to see what a mutant changes, and the suites in the order in which they are asked."""
    suites = []
    if any(path.startswith(CODE) for path in paths):
        suites.append(Units(trees, directory / "coverage.json", args))
    suites += [
        Command(
            "tests/recordmcount", [*PYTEST, "tests/recordmcount", "-k", "not 20000 and not section_count"], ["tools/recordmcount/"], 20
        ),
        Command("tests/recordmcount/test_sizes.py", [*PYTEST, "tests/recordmcount/test_sizes.py"], ["tools/recordmcount/"], 20),
        Command("examples/process", ["make", "-s", "BUILD=build/flips", "FLIPS=300000", "flips"], ["trace/arch/x86_64/text_"], 60),
        Tools(tests_of_tools(), 20),
    ]
    if not any(path.startswith((*CODE, "tools/mount/", "tools/recordmcount/")) for path in paths) and not args.boots:
        return Compared(None), suites
    plan = product_plan(trees, args.jobs)
    if any(path.startswith("tools/mount/") for path in paths):
        suites.append(mount_suite(trees))
    suites.append(Boots(plan, KERNEL, BOOTED if args.boots else ()))
    if args.boots:
        suites += [
            Command("tests/qemu/test_view.py", [*PYTEST, "tests/qemu/test_view.py"], ["tools/view/"], 120, BUILD),
            Command("tests/qemu/test_dat.py", [*PYTEST, "tests/qemu/test_dat.py"], ["tools/host/"], 120, BUILD),
        ]
    return Compared(plan), suites


def tests_of_tools():
    """Those of tests/tools that need no kernel, by path: each with its text."""
    texts = {f"tests/tools/{path.name}": path.read_text() for path in sorted((ROOT / "tests/tools").glob("test_*.py"))}
    return {
        name: text
        for name, text in texts.items()
        if re.search(r"^from (host|view)\b|tools/fathom|import test_read_dat|" r"^from test_read_dat", text, re.M)
    }


def mount_suite(trees):
    """The program is built, and its tests run: those with a guest of their own, and one with the kernel's."""
    for tree in trees:
        tree.make("Makefile", *KERNEL, MOUNT)
    tests = [f"tests/tools/{path.name}" for path in (ROOT / "tests/tools").glob("test_mount*.py")] + ["tests/qemu/test_mount.py"]
    command = f"make -s {' '.join(KERNEL)} {MOUNT} && {' '.join([*PYTEST, *tests])}"
    return Command("the tests of mount", command, ["tools/mount/"], 60, BUILD)


def product_plan(trees, jobs):
    """How the kernel and the host's programs are compiled. The kernel is built, for what it generates and its dependencies."""
    for tree in trees:
        tree.borrow(trees[0])
        tree.make("Makefile", *KERNEL, "test-kernel", jobs=jobs)
    plan = trees[0].plan("Makefile", *KERNEL, "test-kernel", MOUNT)
    for program in ("recordmcount", "mount"):
        command = next(line for line in plan.lines if f" -o build/kernel/tools/{program} " in line)
        before, _, after = command.partition(" -o ")
        for source in re.findall(rf"tools/{program}/\w+\.c", command):
            made = f"build/kernel/compared/{source}.o"
            plan.compile[made] = (source, f"{re.sub(rf' tools/{program}/[^ ]+[.]c', '', before)} -c {source} -o {made}")
            headers = " ".join(f"tools/{program}/{path.name}" for path in (ROOT / f"tools/{program}").glob("*.h"))
            for tree in trees:
                (tree.path / made).parent.mkdir(parents=True, exist_ok=True)
                (tree.path / made).with_suffix(".d").write_text(f"{made}: {source} {headers}\n")
    return plan
