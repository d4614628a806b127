"""libtracefs, the library under trace-cmd and others, in `tools/fathom shell`: tracefs.c calls each kind of its functions, tracefs_dynamic.c those that make events.

Debian has the library, not its own tests. Those were read for what they call; the ones that are not here need what the kernel does
not have, or what is this machine's.
"""
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "qemu"))
from guest import BUILDS, PATIENCE, ROOT  # noqa: E402
from test_mount import Mounted, can_mount  # noqa: E402

pytestmark = pytest.mark.skipif(not can_mount(), reason="this machine has no usable /dev/fuse")
TESTS = (
    "files instances tracers on_off options events enabling filters functions markers following pages_read pages_piped trace_pipe "
    "probes histograms queries"
).split()
# Of those that the library knows: of block devices, user memory and groups of threads, which there are not.
NO_OPTIONS = ["blk_cgname", "blk_cgroup", "blk_classic", "record-tgid"]
STATE = (
    "cat current_tracer set_ftrace_filter set_ftrace_notrace dynamic_events set_event trace_options tracing_on tracing_cpumask "
    "events/sched/sched_switch/trigger events/sched/sched_switch/filter; ls instances"
)


@pytest.fixture(scope="module")
def mounted():
    one = Mounted()
    yield one
    one.close()


@pytest.fixture(scope="module")
def program():
    folder = BUILDS["gcc"] / "host"
    folder.mkdir(parents=True, exist_ok=True)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libtracefs"], capture_output=True, text=True, check=True).stdout.split()
    command = [
        "gcc",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        folder / "tracefs",
        HERE / "tracefs.c",
        HERE / "tracefs_dynamic.c",
        *flags,
        "-lpthread",
    ]
    subprocess.run(command, check=True)
    return folder / "tracefs"


def test_all_are_called(program):
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout.split() == TESTS


def test_document_counts_the_functions():
    folder = subprocess.run(
        ["pkg-config", "--variable=includedir", "libtracefs"], capture_output=True, text=True, check=True
    ).stdout.strip()
    header = next(path for path in (Path(folder) / "tracefs.h", Path(folder) / "tracefs/tracefs.h") if path.exists())
    functions = set(re.findall(r"\btracefs_\w+(?=\()", header.read_text()))
    sources = " ".join((HERE / name).read_text() for name in ("tracefs.c", "tracefs_dynamic.c", "tracefs_test.h"))
    called = functions & set(re.findall(r"\btracefs_\w+", sources))
    assert f"of libtracefs {len(called)} of {len(functions)} functions:" in (ROOT / "docs/channel.md").read_text()


@pytest.mark.parametrize("name", TESTS)
def test_library(mounted, program, name):
    before = mounted.guest.check(STATE)
    shell = [ROOT / "tools/fathom", "shell", "--build", BUILDS["gcc"], "--dir", mounted.dir]
    run = subprocess.run([*shell, program, name], capture_output=True, text=True, timeout=120 * PATIENCE)
    assert run.returncode == 0, run.stdout + run.stderr
    said = [f"no option: {option}" for option in NO_OPTIONS] if name == "options" else []
    assert run.stdout.splitlines() == said
    assert mounted.guest.check(STATE) == before
