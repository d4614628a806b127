"""The kernel comes up: firmwares, machines, processors, memory sizes, CPU counts, compilers."""
import re
import time

import pytest
from guest import BUILDS, Guest, GuestError

MATRIX = [
    # A row for each value with some of the others. A boot with UEFI is as dear as ten: q35 with the best CPU is
    # test_make.py's, q35 with qemu64 has the menu below.
    # build, cpus, mem, machine, cpu, uefi, the command that ends it
    ("gcc", 1, "64M", "pc", "qemu64", False, "poweroff"),
    ("gcc", 4, "1G", "pc", "max", False, "reboot"),
    ("gcc", 8, "256M", "q35", "max", False, "poweroff"),
    ("gcc", 2, "256M", "q35", "Nehalem", False, "poweroff"),
    ("clang", 1, "64M", "q35", "max", False, "reboot"),
    ("clang", 4, "256M", "pc", "EPYC", True, "poweroff"),
    ("clang", 8, "256M", "q35", "max", False, "poweroff"),
]


def works_and_ends(guest, cpus, end):
    assert guest.nr_cpus() == cpus
    assert guest.check("cat available_tracers").split()[-1] == "nop"
    assert re.search(r"ftrace: allocating \d+ entries in \d+ pages", guest.check("dmesg"))
    guest.check("echo '*sched*' > set_ftrace_filter; echo function > current_tracer; hackbench 1 2")
    assert "sched_switch <-" in guest.check("echo 0 > tracing_on; cat trace")
    guest.send(end + "\r")  # QEMU runs with -no-reboot: a reset ends it as well
    assert guest.wait_exit() == 0


@pytest.mark.parametrize("build,cpus,mem,machine,cpu,uefi,end", MATRIX)
def test_boots_to_prompt_and_ends(build, cpus, mem, machine, cpu, uefi, end):
    with Guest(build, cpus, mem, machine, cpu, uefi, grub=True) as guest:
        works_and_ends(guest, cpus, end)


@pytest.mark.parametrize("cpus,cpu,uefi", [(2, "max", False), (3, "qemu64", True)], ids=["bios", "uefi"])
def test_second_entry_of_the_menu_traces_from_boot(cpus, cpu, uefi):
    """Of the image that `make` builds. The menu waits a second (test_make.py: and goes on by itself) and this machine
    may be busy: a key that came too late gets a new boot."""
    for _ in range(10):
        with Guest("gcc", cpus, cpu=cpu, uefi=uefi, iso=BUILDS["gcc"] / "fathom.iso", wait=False) as guest:
            guest.expect(rb"Fathom, trace from boot")
            guest.send("\x0e")  # as the arrow down, but one byte
            time.sleep(0.3)
            guest.send("\r")
            guest.wait_prompt()
            if guest.check("cat current_tracer") == "function\n":
                assert "ftrace=function" in guest.check("cat /proc/cmdline")
                assert guest.check("grep -c smp_start_all trace") != "0\n"
                guest.check("echo nop > current_tracer")  # which empties the trace
                works_and_ends(guest, cpus, "reboot")
                return
    raise GuestError("the key never reached the menu in time")


def test_boots_with_64_cpus():
    with Guest("gcc", 64, "512M", limit=240, timeout=200) as guest:
        assert guest.nr_cpus() == 64
        guest.check("hackbench 1 50")


# This QEMU's TCG has neither x2APIC nor a TSC-deadline timer: test_bochs.py has both.
@pytest.mark.parametrize("machine,extra,clock", [("pc", [], "HPET"), ("pc", ["-no-hpet"], "PM timer"), ("q35", ["-no-hpet"], "PM timer")])
def test_clocks(machine, extra, clock):
    with Guest("gcc", 4, machine=machine, extra=extra) as guest:
        assert f"measured with {clock}" in guest.check("dmesg")
        assert "xapic" in guest.check("cpus")
        guest.check("hackbench 1 50")


def test_boots_with_8_gib():
    with Guest("gcc", 2, "8G") as guest:
        total_kb = int(re.search(r"Mem: +(\d+)", guest.check("free")).group(1))
        assert 8_000_000 < total_kb < 8 * 1024 * 1024
        guest.check("stress alloc 1")


def test_shell_in_32_mib():
    with Guest("gcc", 1, "32M") as guest:
        guest.check("echo function > current_tracer")
        guest.check("hackbench 1 20")
        assert "schedule" in guest.check("cat trace | tail -n 2000 | grep -m 1 schedule || " "cat trace | grep schedule | head -n 1")
        guest.check("echo nop > current_tracer")


def test_command_line_reaches_the_kernel():
    with Guest("gcc", 4, cmdline='maxcpus=2 nonsense=1 run="echo one; echo two three"') as guest:
        text = guest.everything()
        assert re.search(r"^one$", text, re.M) and re.search(r"^two three$", text, re.M)
        assert re.search(r"nonsense", guest.check("dmesg")), "an unknown parameter is reported"
        assert guest.nr_cpus() == 2


@pytest.mark.parametrize("command,status", [("true", 1), ("false", 3), ("cat /no/such", 3)])
def test_run_and_exit(command, status):
    with Guest("gcc", 2, cmdline=f'run="{command}" exit', wait=False) as guest:
        assert guest.wait_exit(60) == status


def test_no_page_is_writable_and_executable(guest):
    assert re.search(r"W\^X: 0 of \d+ pages", guest.check("dmesg")), "checked at boot"


def test_panic_prints_every_cpu():
    with Guest("gcc", 4) as guest:
        guest.send("panic 'test message'\r")
        guest.expect(rb"PANIC: [^\r]*test message\r\n")
        text, _ = guest.expect(rb"end of panic")
    # the CPU that panicked comes first, whichever it is
    assert sorted(re.findall(rb"^CPU (\d+): ", text, re.M)) == [b"0", b"1", b"2", b"3"]


def test_com2_is_silent(tmp_path):
    """The machine channel says nothing that it was not asked, not even in a panic."""
    channel = tmp_path / "com2"
    with Guest("gcc", 2, com2=f"file:{channel}", cmdline="ftrace=function ftrace_dump_on_oops") as guest:
        guest.check("hackbench 1 10; cat trace | wc -l; nosuch || true")
        guest.send("panic\r")
        guest.expect(rb"end of panic")
        assert channel.exists() and channel.read_bytes() == b""
