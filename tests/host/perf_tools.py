"""perf-tools of Debian and `perf ftrace` in `tools/fathom shell`, against what the guest does meanwhile.

Each tool of the package is run here, or is listed with what it needs that the kernel does not have.
"""
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "qemu"))
from guest import BUILDS, PATIENCE, ROOT, usual_signals  # noqa: E402
from test_mount import Mounted, can_mount  # noqa: E402

LOCK = Path("/var/tmp/.ftrace-lock")
RUN = "funccount functrace funcgraph funcslower kprobe tpoint reset-ftrace".split()
# A word of the script: a directory or file of tracefs, or else a function.
OTHERS = {
    "bitesize": "block",
    "iosnoop": "block",
    "iolatency": "block",
    "killsnoop": "syscalls",
    "opensnoop": "syscalls",
    "syscount": "syscalls",
    "uprobe": "uprobe_events",
    "cachestat": "mark_page_accessed",
    "execsnoop": "do_execve",
    "tcpretrans": "tcp_retransmit_skb",
    "perf-stat-hist": "perf stat",  # which counts in this machine's kernel
}

pytestmark = pytest.mark.skipif(not can_mount(), reason="this machine has no usable /dev/fuse")


@pytest.fixture(scope="module")
def mounted():
    """A guest that does something all the time: files are looked at."""
    one, done = Mounted(), threading.Event()

    def look():
        while not done.wait(0.05):
            (one.dir / "proc/version").read_text()

    thread = threading.Thread(target=look)
    thread.start()
    yield one
    done.set()
    thread.join()
    one.close()


@pytest.fixture(autouse=True)
def clean(mounted):
    """Each leaves the kernel as it has found it."""
    state = (
        "cat current_tracer set_ftrace_filter set_graph_function kprobe_events set_event tracing_thresh events/sched/sched_switch/filter"
    )
    before = mounted.guest.check(state)
    yield
    LOCK.unlink(missing_ok=True)  # of a script that was killed
    assert mounted.guest.check(state) == before


@contextlib.contextmanager
def started(mounted, *words):
    """In a session of its own; whatever is left of it at the end, or when it takes too long, is killed."""
    tool = subprocess.Popen(
        [ROOT / "tools/fathom", "shell", "--build", BUILDS["gcc"], "--dir", mounted.dir, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=usual_signals,
    )

    def kill():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(tool.pid, signal.SIGKILL)

    watchdog = threading.Timer(60 * PATIENCE, kill)
    watchdog.start()
    try:
        yield tool
    finally:
        watchdog.cancel()
        kill()
        tool.wait()
        tool.stdout.close()


def run(mounted, *words):
    """The output of a tool that ends by itself."""
    with started(mounted, *words) as tool:
        output = tool.communicate()[0]
        assert tool.returncode == 0, output
    return output


@contextlib.contextmanager
def interrupted(tool):
    """By Ctrl-C, again and again: a script that is between two programs takes a note of it, and starts the second one."""
    has_ended = threading.Event()

    def interrupt():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(tool.pid, signal.SIGINT)
            while not has_ended.wait(2):
                os.killpg(tool.pid, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


def until(mounted, pattern, *words):
    """The output of a tool up to Ctrl-C, which comes once the pattern was there: it shows events at once, not at its end."""
    output = ""
    with started(mounted, *words) as tool:
        for line in tool.stdout:
            output += line
            if re.search(pattern, line):
                break
        else:
            raise AssertionError(output)
        with interrupted(tool):
            return output + tool.stdout.read()


def test_funccount(mounted):
    counts = dict(re.findall(r"^(\w+) +(\d+)$", run(mounted, "funccount-perf", "-d", "1", "vfs_*"), re.MULTILINE))
    assert int(counts["vfs_stat"]) > 0 and all(name.startswith("vfs_") for name in counts)
    assert len(re.findall(r"^vfs_\w+ ", run(mounted, "funccount-perf", "-i", "1", "-d", "2", "-t", "2", "vfs_*"), re.MULTILINE)) <= 4


def test_functrace(mounted):
    assert re.search(r"9p-virtio-\d+ .* vfs_stat <-", run(mounted, "functrace-perf", "-d", "1", "vfs_s*"))
    assert "Ending tracing" in until(mounted, r" vfs_open <-", "functrace-perf", "vfs_open")


def test_funcgraph(mounted):
    assert re.search(r"\d\) .*\|  vfs_stat\(\) \{\n", run(mounted, "funcgraph-perf", "-d", "1", "vfs_stat"))
    assert "TIME        CPU  DURATION" in until(mounted, r"vfs_open\(\);", "funcgraph-perf", "-Ht", "-m", "1", "vfs_open")


def test_funcslower(mounted):
    assert re.search(r"[1-9]\.\d+ us +\|  } /\* vfs_stat \*/", until(mounted, r"vfs_stat \*/", "funcslower-perf", "vfs_stat", "1"))


def test_kprobe(mounted):
    assert "Ending tracing" in until(mounted, r"nr1: \(vfs_open\+0x0", "kprobe-perf", "p:nr1 vfs_open")
    assert re.search(r"back: \(\w+\+0x\w+/0x\w+ <- vfs_open\) arg1=0", until(mounted, r"back: ", "kprobe-perf", "r:back vfs_open $retval"))
    assert "=> vfs_stat" in until(mounted, "=> vfs_stat", "kprobe-perf", "-s", "p:vfs_stat")


def test_tpoint(mounted):
    assert "sched:sched_switch\n" in run(mounted, "tpoint-perf", "-l")
    assert "prev_comm" in run(mounted, "tpoint-perf", "-v", "sched:sched_switch")
    output = until(mounted, "sched_switch: ", "tpoint-perf", "sched:sched_switch", "prev_prio == 120")
    assert "prev_prio=120" in output
    assert "<stack trace>" in until(mounted, "<stack trace>", "tpoint-perf", "-s", "sched:sched_switch")


def test_reset_ftrace(mounted):
    mounted.guest.check(
        "echo function > current_tracer; echo vfs_open > set_ftrace_filter; echo p vfs_stat > kprobe_events; "
        "echo 1 > events/sched/enable"
    )
    assert "current_tracer, after:" in run(mounted, "reset-ftrace-perf")
    mounted.guest.check("echo > trace")


def test_all_tools_are_known():
    assert sorted(path.name.removesuffix("-perf") for path in Path("/usr/sbin").glob("*-perf")) == sorted([*RUN, *OTHERS])


@pytest.mark.parametrize("name", OTHERS)
def test_others_need_what_there_is_not(mounted, name):
    need = OTHERS[name]
    script = Path(f"/usr/sbin/{name}-perf").read_text()
    assert need in script
    if need != "perf stat":
        assert mounted.guest.check(f"ls {need} events/{need} 2> /dev/null; grep -w '{need}' available_filter_functions; true") == ""


def test_perf_ftrace(mounted):
    """It reads while it traces: a line is shown before its end."""
    assert "vfs_open <-" in until(mounted, "vfs_open <-", "perf", "ftrace", "trace", "-a", "-T", "vfs_open")
    assert re.search(r"\d\) .*\|  vfs_stat\(\) \{\n", until(mounted, r"vfs_stat\(\) \{", "perf", "ftrace", "trace", "-a", "-G", "vfs_stat"))
    assert "vfs_open\n" in run(mounted, "perf", "ftrace", "trace", "-F", "vfs_*")
    histogram = run(mounted, "perf", "ftrace", "latency", "-a", "-T", "vfs_stat", "--", "ls", mounted.dir / "sys")
    assert sum(map(int, re.findall(r"\| +(\d+) \|", histogram))) > 0
