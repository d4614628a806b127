"""trace-cmd on the directory of `tools/fathom mount`: it takes the kernel's files for those of its own machine."""
import re
import shlex
import subprocess
import sys

import pytest

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parents[1] / "qemu"))
from guest import BUILDS, PATIENCE, ROOT  # noqa: E402
from test_mount import Mounted, can_mount  # noqa: E402

pytestmark = pytest.mark.skipif(not can_mount(), reason="this machine has no usable /dev/fuse")


@pytest.fixture(scope="module")
def mounted():
    one = Mounted()
    yield one
    one.close()


def trace_cmd(mounted, words, directory="/"):
    run = subprocess.run([ROOT / "tools/fathom", "shell", "--build", BUILDS["gcc"], "--dir", mounted.dir, "trace-cmd", *shlex.split(words)],
                         capture_output=True, text=True, cwd=directory, timeout=120 * PATIENCE)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_start_stat_and_reset(mounted):
    trace_cmd(mounted, "start -p function -l 'vfs_*' -e sched_switch")
    assert mounted.guest.check("cat current_tracer set_event") == "function\nsched:sched_switch\n"
    stat = trace_cmd(mounted, "stat")
    assert "Tracer: function" in stat and "sched_switch" in stat
    assert "vfs_open <-" in trace_cmd(mounted, "show")
    trace_cmd(mounted, "reset")
    assert mounted.guest.check("cat current_tracer; cat set_ftrace_filter; cat set_event") == \
        "nop\n#### all functions enabled ####\n"
    mounted.guest.check("echo 1 > tracing_on")


def test_extract_has_what_the_trace_has(mounted, tmp_path):
    """It makes the kernel's files not wait when they are open already, and reads them to their ends."""
    trace_cmd(mounted, "start -e sched")
    trace_cmd(mounted, "stop")
    theirs = re.findall(r"\[(\d+)\] \S+ +([\d.]+): (\w+):", mounted.guest.check("cat trace", 120))
    trace_cmd(mounted, "extract -o x.dat", tmp_path)
    ours = re.findall(r"\[(\d+)\] +([\d.]+): (\w+):", trace_cmd(mounted, "report x.dat", tmp_path))
    assert ours == theirs and len(ours) > 100
    assert mounted.guest.check("cat trace | grep -v '^#'; true") == ""
    trace_cmd(mounted, "reset")
    mounted.guest.check("echo 1 > tracing_on")


def test_record(mounted, tmp_path):
    """The command runs here, the trace comes from there, while it runs: the buffer takes far less."""
    trace_cmd(mounted, "record -b 64 -e sched -o y.dat sleep 3", tmp_path)
    report = trace_cmd(mounted, "report y.dat", tmp_path)
    assert "sched_switch:" in report
    trace_cmd(mounted, "record -b 64 -p function -o z.dat sleep 3", tmp_path)
    assert (tmp_path / "z.dat").stat().st_size > 2 * 64 << 10 and trace_cmd(mounted, "report z.dat", tmp_path).count("function:") > 20000
