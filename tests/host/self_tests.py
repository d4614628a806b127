"""Linux's ftrace self-tests, unchanged: one of each kind on mounted files, all of them inside of the guest.

All of them on mounted files: make self-tests.
"""
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "qemu"))
from guest import PATIENCE  # noqa: E402
from test_mount import can_mount  # noqa: E402

HERE = Path(__file__).resolve().parent / "selftests"
SOME = {
    "6.1": (
        "00basic/",
        "event/event-enable",
        "ftrace/func_event",
        "instances/",
        "kprobe/kprobe_args_type",
        "kprobe/kprobe_syntax",
        "preemptirq/",
        "inter-event/trigger-onmatch-action",
        "trigger/trigger-filter",
        "dynevent/add_remove_kprobe",
    ),
    "6.12": ("00basic/mount_options", "00basic/ringbuffer", "00basic/snapshot.tc", "ftrace/func_traceonoff"),
}


def groups(version):
    """{why: how many} of the list of those that do not pass."""
    counts, why = {}, None
    for line in (HERE / f"linux-{version}").read_text().splitlines():
        if line.startswith("# ") and line.endswith(":"):
            why = line[2:-1].split(",")[0]
        elif line and not line.startswith("#"):
            counts[why] = counts.get(why, 0) + 1
    return counts


def test_the_table_counts_what_is_listed():
    rows = re.findall(r"^\| \**([A-Za-z ]+?)\** \| \**(\d+)\** \| \**(\d+)\** \|", (HERE / "README.md").read_text(), re.M)
    for column, version in enumerate(SOME, 1):
        listed = groups(version)
        assert {row[0]: int(row[column]) for row in rows} == {**listed, "together": sum(listed.values())}


@pytest.mark.parametrize("version", SOME)
def test_the_counts_of_those_inside(version):
    sys.path.insert(0, str(HERE))
    from results import expected

    said = re.search(rf"\b(\d+) of the (\d+) of {version} pass with dash, (\d+) with busybox", (HERE / "README.md").read_text())
    assert [int(said.group(2)) - len(expected(f"inside-{version}", shell)) for shell in ("dash", "busybox")] == [
        int(said.group(i)) for i in (1, 3)
    ]


def run(*words):
    done = subprocess.run([HERE / "run", *words], capture_output=True, text=True, timeout=3600 * PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not can_mount(), reason="this machine has no usable /dev/fuse")
@pytest.mark.parametrize("version", SOME)
def test_some_of_linux(version):
    run(version, *SOME[version])


@pytest.mark.parametrize("shell", ["dash", "busybox"])
def test_all_inside(shell):
    run("--inside", shell, "6.1")
