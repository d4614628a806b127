"""Some of Linux's ftrace self-tests, unchanged: one of each kind. All of them: make self-tests."""
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "qemu"))
from guest import PATIENCE  # noqa: E402
from test_mount import can_mount  # noqa: E402

pytestmark = pytest.mark.skipif(not can_mount(), reason="this machine has no usable /dev/fuse")
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


@pytest.mark.parametrize("version", SOME)
def test_some_of_linux(version):
    run = subprocess.run(
        [Path(__file__).parent / "selftests" / "run", version, *SOME[version]], capture_output=True, text=True, timeout=3600 * PATIENCE
    )
    assert run.returncode == 0, run.stdout + run.stderr
