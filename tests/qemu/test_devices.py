"""Interrupts and CPUs as the machine deals them out: CPUs that never answer, NMIs from outside. And the guest as a process."""
import re
import struct
import subprocess
import sys
import time
from pathlib import Path

from guest import PATIENCE, ROOT, Guest
from qmp import Qmp


def test_cpu_that_does_not_answer_is_left_out(tmp_path):
    # A second MADT names a local APIC that no CPU has.
    madt = tmp_path / "madt"
    madt.write_bytes(struct.pack("<II", 0xFEE00000, 1) + bytes([0, 8, 9, 9, 1, 0, 0, 0]))
    table = f"sig=APIC,rev=1,oem_id=FATHOM,oem_table_id=TESTMADT,oem_rev=1,asl_compiler_id=TEST,data={madt}"
    with Guest("gcc", 3, tests=True, extra=["-acpitable", table]) as guest:
        log = guest.check("dmesg")
        assert "CPU 3 (APIC id 9) does not answer, left out" in log
        assert "SMP: 3 of 4 CPUs online" in log
        assert "3 offline" in guest.check("cpus")
        guest.check("stress ipi -n 100")
        guest.check("torture 5")


def nmi_counts(guest):
    line = next(line for line in guest.check("irqs").splitlines() if line.startswith("NMI"))
    return [int(word) for word in line.split()[1:]]


def test_nmi_from_outside_is_reported_and_survived(tmp_path):
    # QEMU sends it to the NMI pin of every CPU, wherever each of them is. The warnings may come between two commands: not on the console.
    with Guest("gcc", 4, tests=True, cmdline="loglevel=3", extra=Qmp.option(tmp_path / "qmp")) as guest:
        qmp = Qmp(tmp_path / "qmp")
        # It is something to warn of: the trace of what led up to it ends there, if one wants that.
        guest.check("echo 1 > /proc/sys/kernel/traceoff_on_warning; echo 1 > events/sched/enable")
        qmp("inject-nmi")
        guest.check("while [ $(cat tracing_on) = 1 ]; do sleep 0.01; done; echo 0 > /proc/sys/kernel/traceoff_on_warning")
        assert re.search(
            r"^[^#].* sched_\w+: .*\n(.*\n)*.* nmi_handler: Disabling tracing due to warning\n", guest.check("cat trace"), re.M
        )
        assert re.search(
            r"^Tracing has been off for \S+ \w+: nmi_handler warned in thread \S+, and traceoff_on_warning is set;", guest.check("cat why")
        )
        guest.check("echo 0 > events/enable; echo 1 > tracing_on; stress locks 1 &")
        for _ in range(20):
            qmp("inject-nmi")
            time.sleep(0.03)
        guest.check("wait", 60)
        counts = nmi_counts(guest)
        assert len(counts) == 4 and all(count > 0 for count in counts), counts
        strays = guest.check("dmesg").count("got one that nobody sent")
        assert 1 <= strays <= sum(counts).bit_length(), "said when their number has doubled"
        guest.check("torture 5")


def test_a_cpu_is_traced_from_the_moment_it_is_online():
    # Before that it must not run a call site: it would not be told of patches.
    with Guest("gcc", 4, cmdline="ftrace=function trace_buf_size=4M") as guest:
        guest.check("echo 0 > tracing_on")
        assert "smp_start_all <-" in guest.check("cat per_cpu/cpu0/trace | grep smp_start_all")
        for cpu in (1, 2, 3):
            events = guest.check(f"cat per_cpu/cpu{cpu}/trace | grep -v '^#' | head -n 2").splitlines()
            assert "arch_timer_init_cpu <-smp_ap_entry" in events[0], events


def command_line(pid):
    """Empty when the process has ended, waited for or not."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_guest_ends_with_who_started_it():
    """A test that is killed leaves no guest behind that goes on taking a processor."""
    script = (
        "import sys, time; sys.path.insert(0, 'tests/qemu'); from guest import Guest; pid = Guest().process.pid; "
        "print(open(f'/proc/{pid}/task/{pid}/children').read(), flush=True); time.sleep(1000)"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) as starter:
        qemu = int(starter.stdout.readline())
        assert b"qemu" in command_line(qemu)
        starter.kill()
    deadline = time.monotonic() + 10 * PATIENCE
    while command_line(qemu):
        assert time.monotonic() < deadline
        time.sleep(0.05)
