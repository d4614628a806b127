"""Three deaths that the black box tells of after the reset, and `tools/fathom postmortem`; docs/black-box.md."""
import re
import subprocess
import time

import pytest

from channelguest import port_at
from guest import ROOT, Guest
from qmp import Qmp

BOX = "/sys/kernel/tracing/instances/box/"
BACKUP = "/sys/kernel/tracing/instances/backup/"
CMDLINE = (
    "reserve_mem=4M:4096:trace trace_instance=box@trace,sched,irq,timer trace_instance=backup=box "
    "reserve_mem=256K:4096:oops ramoops.mem_name=oops panic=-1 loglevel=3"
)


@pytest.fixture(name="guest", scope="module")
def guest_fixture(tmp_path_factory):
    """Each test ends the kernel, and leaves the next one at its prompt."""
    folder = tmp_path_factory.mktemp("box")
    extra = ["-action", "reboot=reset", *Qmp.option(folder / "qmp"), *port_at(folder / "port")]
    with Guest("gcc", 2, cmdline=CMDLINE, extra=extra) as guest:
        guest.qmp, guest.port = Qmp(folder / "qmp"), folder / "port"
        yield guest


def next_boot(guest):
    guest.expect(rb"Command line: ")
    guest.wait_prompt()


def postmortem(guest, folder):
    words = [ROOT / "tools/fathom", "postmortem", "--channel", guest.port, "-o", folder]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def last_line_of(guest, cpu):
    """(time, text) of the last event of a CPU."""
    line = guest.check(f"tail -1 {BACKUP}per_cpu/cpu{cpu}/trace")
    found = re.search(r"\] +\S+ +([\d.]+): (.*)$", line)
    return float(found[1]), found[2]


def test_hung_cpu(guest):
    """The last event of the CPU is the switch to the thread that holds it, while the other CPU goes on."""
    guest.check("while :; do :; done & while :; do :; done &")
    guest.send("{ echo it goes on; sleep 0.2; preemptirq_delay irq 1000000000; } &\r")
    guest.expect(rb"it goes on\r\n")
    time.sleep(1.5)
    guest.qmp("system_reset")
    next_boot(guest)
    ends = sorted(last_line_of(guest, cpu) for cpu in (0, 1))
    assert " ==> next_comm=preemptirq_dela " in ends[0][1], ends
    assert ends[1][0] - ends[0][0] > 0.02, ends


def test_dead_lock(guest):
    """Each of the two threads went to sleep for good in mutex_wait(), under the function that asked for the mutex."""
    guest.check(f"echo 1 > {BOX}options/stacktrace; deadlock; while ps | grep -q ' [SR] .*t-first'; do sleep 0.01; done; sleep 0.05")
    guest.qmp("system_reset")
    next_boot(guest)
    trace = guest.check(f"cat {BACKUP}trace | tail -4000")
    for name in ("left", "right"):
        events = re.findall(rf"sched_(?:waking|switch): (?:prev_)?comm={name}-first .*", trace)
        assert "prev_state=D" in events[-1], events
        stack = trace[trace.rindex(events[-1]) :]
        assert re.search(rf"<stack trace>\n(?: => \w+\n)* => mutex_wait\n(?: => \w+\n)* => deadlock_{name}_first\n", stack), stack[:800]


def test_stack_overflow(guest, tmp_path):
    """The panic's report says it, and names the function; one command on this machine fetches all that is left."""
    guest.check(f"echo 1 > {BOX}options/stacktrace; echo it ends here > {BOX}trace_marker")
    guest.send("panic -stack\r")
    next_boot(guest)
    run = postmortem(guest, tmp_path / "crash")
    assert run.returncode == 0, run.stderr
    report = (tmp_path / "crash/report.txt").read_text()
    assert report.startswith("The last panic (dmesg-ramoops-0)\n")
    assert re.search(r"\] PANIC: stack overflow at cmd_use_stack\+0x", report)
    assert re.search(r"cmd_use_stack\+0x\w+/0x\w+\n.*\.\.\. the same 4\d\d times more\n", report)
    assert "The last messages (console-ramoops-0)\n" in report and ", the same as now\n" in report
    assert "<svg" in (tmp_path / "crash/flame.svg").read_text()
    dat = subprocess.run(["trace-cmd", "report", tmp_path / "crash/trace.dat"], capture_output=True, text=True, timeout=60, check=True)
    assert "it ends here" in dat.stdout and "sched_switch" in dat.stdout


def test_nothing_is_left(guest, tmp_path):
    """After the files are removed and the events are taken there is nothing to tell, and no folder."""
    guest.check("rm /sys/fs/pstore/*")
    run = postmortem(guest, tmp_path / "crash")
    assert run.returncode == 5 and "nothing of a kernel before this one is there" in run.stderr, (run.returncode, run.stderr)
    assert not (tmp_path / "crash").exists()
    run = subprocess.run(
        [ROOT / "tools/fathom", "postmortem", "--channel", guest.port, "-B", "nope"], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 1 and "there is no instance nope" in run.stderr
