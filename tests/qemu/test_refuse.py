"""A machine that Fathom cannot run on gets a sentence on the serial port, and a halt."""
import os
import subprocess

import pytest

from guest import BUILDS, Guest

EARLY = [
    ("qemu64,-lm", "256M", b"this CPU has no 64-bit long mode"),
    ("486", "256M", b"this CPU has no 64-bit long mode"),
    ("qemu64,-nx", "256M", b"this CPU has no NX"),
    ("qemu64,-cx16", "256M", b"this CPU has no CMPXCHG16B"),
    ("qemu64", "12M", b"too little memory, 12 MiB are needed"),
]


@pytest.mark.parametrize("cpu,mem,reason", EARLY, ids=[f"{c}-{m}" for c, m, _ in EARLY])
def test_refused_with_reason_and_halt(cpu, mem, reason):
    with Guest(cpu=cpu, mem=mem, machine="pc", limit=60, wait=False) as guest:
        guest.expect(b"Fathom cannot start: " + reason, 30)
        guest.expect(rb"System halted\.\r\n", 5)
        assert guest.process.poll() is None, "the machine must halt, not reset"


def test_no_apic():
    with Guest(cpu="qemu64,-apic", limit=60, wait=False) as guest:
        guest.expect(rb"PANIC: [^\r]*interrupt controller", 30)


def test_other_loader():
    """QEMU's -kernel enters through the PVH note, without multiboot2 information."""
    build = BUILDS["gcc"]
    run = subprocess.run(
        ["timeout", "-k", "2", "6", os.environ.get("QEMU", "qemu-system-x86_64"), "-accel", "tcg",
         "-kernel", build / "fathom.stripped", "-display", "none", "-monitor", "none",
         "-serial", "stdio", "-net", "none", "-no-reboot"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    assert b"Fathom cannot start: it must be loaded by a multiboot2 loader" in run.stdout
    assert run.returncode == 124, "halted, so timeout(1) had to end it"
