"""
Three deaths that the black box tells of after the reset, and `tools/fathom postmortem`: docs/black-box.md. The lines are those of
docs/questions/died.md, and WRITE=1 draws its pictures anew.
"""
import re
import subprocess
import time

import pytest

from channelguest import port_at
from guest import ROOT, Guest
from pages import check_picture, compare, steps, text_of
from qmp import Qmp

BOX = "/sys/kernel/tracing/instances/box/"
BACKUP = "/sys/kernel/tracing/instances/backup/"
_, PAGE_BEGIN, HUNG_CPU, DEAD_LOCK, STACK_OVERFLOW = re.split("^## ", text_of("died"), flags=re.M)
CMDLINE = re.search(r'make run CMDLINE="(.*)"', PAGE_BEGIN)[1] + " loglevel=3"


@pytest.fixture(name="guest", scope="module")
def guest_fixture(tmp_path_factory):
    """Each test ends the kernel, and leaves the next one at its prompt."""
    folder = tmp_path_factory.mktemp("box")
    (folder / "build").mkdir()
    (folder / "tools").symlink_to(ROOT / "tools")
    extra = ["-action", "reboot=reset", *Qmp.option(folder / "qmp"), *port_at(folder / "build/channel")]
    with Guest("gcc", 2, cmdline=CMDLINE, extra=extra) as guest:
        guest.qmp, guest.port, guest.folder = Qmp(folder / "qmp"), folder / "build/channel", folder
        yield guest


def next_boot(guest):
    guest.expect(rb"Command line: ")
    guest.wait_prompt()


def die(guest, section):
    """Type the lines of a section before its first one on this machine, up to the prompt of the next boot."""
    for prompt, command, wanted in steps(section):
        if prompt == "host$":
            return
        if prompt == "(qemu)":
            guest.qmp(command)
            next_boot(guest)
        elif command.endswith("panic -stack"):
            guest.send(command + "\r")
            next_boot(guest)
        elif command.endswith(" irq 1000000000"):
            guest.send(command + "\r")
            guest.expect(wanted[0].encode() + rb"\r\n")
            time.sleep(1.5)
        else:
            compare(command, wanted, guest.run(command)[0])


def fetch(guest, section):
    """The lines that a section types on this machine, and its picture; the folder that they wrote."""
    for prompt, command, wanted in steps(section):
        if prompt == "host$":
            run = subprocess.run(
                command, shell=True, cwd=guest.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
            )
            compare(command, wanted, run.stdout)
    name = re.search(r"!\[.*\]\((.*)\.svg\)", section)[1]
    check_picture(f"{name}.svg", guest.folder / name / "flame.svg")
    return guest.folder / name


def end_of(guest, cpu):
    """(time of the last event of a CPU, its last switch)"""
    line = guest.check(f"tail -1 {BACKUP}per_cpu/cpu{cpu}/trace")
    switch = guest.check(f"grep sched_switch: {BACKUP}per_cpu/cpu{cpu}/trace | tail -1")
    return float(re.search(r"\] +\S+ +([\d.]+): ", line)[1]), switch


def test_hung_cpu(guest):
    """The last switch of the CPU is that to the thread that holds it, while the other CPU goes on."""
    die(guest, HUNG_CPU)
    ends = sorted(end_of(guest, cpu) for cpu in (0, 1))
    assert " ==> next_comm=preemptirq_dela " in ends[0][1], ends
    assert ends[1][0] - ends[0][0] > 0.02, ends
    fetch(guest, HUNG_CPU)


def test_dead_lock(guest):
    """Each of the two threads went to sleep for good in mutex_wait(), under the function that asked for the mutex."""
    guest.check(f"echo 1 > {BOX}options/stacktrace")
    die(guest, DEAD_LOCK)
    trace = guest.check(f"cat {BACKUP}trace | tail -4000")
    for name in ("left", "right"):
        events = re.findall(rf"sched_(?:waking|switch): (?:prev_)?comm={name}-first .*", trace)
        assert "prev_state=D" in events[-1], events
        stack = trace[trace.rindex(events[-1]) :]
        assert re.search(rf"<stack trace>\n(?: => \w+\n)* => mutex_wait\n(?: => \w+\n)* => deadlock_{name}_first\n", stack), stack[:800]
    fetch(guest, DEAD_LOCK)


def test_stack_overflow(guest):
    """The panic's report says it, and names the function; one command on this machine fetches all that is left."""
    guest.check(f"echo 1 > {BOX}options/stacktrace")
    die(guest, STACK_OVERFLOW)
    crash = fetch(guest, STACK_OVERFLOW)
    report = (crash / "report.txt").read_text()
    assert report.startswith("The last panic (dmesg-ramoops-0)\n")
    assert re.search(r"\] PANIC: stack overflow at \w+\+0x", report)
    assert re.search(r"cmd_use_stack\+0x\w+/0x\w+\n.*\.\.\. the same \d\d\d times more\n", report)
    assert "The last messages (console-ramoops-0)\n" in report and ", the same as now\n" in report
    dat = subprocess.run(["trace-cmd", "report", crash / "trace.dat"], capture_output=True, text=True, timeout=60, check=True)
    assert "it ends here" in dat.stdout and "sched_switch" in dat.stdout


def test_nothing_is_left(guest, tmp_path):
    """After the files are removed and the events are taken there is nothing to tell, and no folder."""
    guest.check("rm /sys/fs/pstore/*")
    words = [ROOT / "tools/fathom", "postmortem", "--channel", guest.port, "-o", tmp_path / "crash"]
    run = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert run.returncode == 5 and "nothing of a kernel before this one is there" in run.stderr, (run.returncode, run.stderr)
    assert not (tmp_path / "crash").exists()
    run = subprocess.run(
        [ROOT / "tools/fathom", "postmortem", "--channel", guest.port, "-B", "nope"], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 1 and "there is no instance nope" in run.stderr
