"""A machine that Fathom cannot run on gets a sentence on the serial port, and a halt."""
import os
import struct
import subprocess

import pytest

from guest import BUILDS, PATIENCE, Guest

EARLY = [
    ("qemu64,-lm", "256M", b"this CPU has no 64-bit long mode"),
    ("486", "256M", b"this CPU has no 64-bit long mode"),
    ("qemu64,-nx", "256M", b"this CPU has no NX"),
    ("qemu64,-cx16", "256M", b"this CPU has no CMPXCHG16B"),
    ("qemu64", "12M", b"too little memory, 12 MiB are needed"),
]


@pytest.mark.parametrize("cpu,mem,reason", EARLY, ids=[f"{c}-{m}" for c, m, _ in EARLY])
def test_refused_with_reason_and_halt(cpu, mem, reason):
    with Guest(cpu=cpu, mem=mem, machine="pc", grub=True, limit=60, wait=False) as guest:
        guest.expect(b"Fathom cannot start: " + reason, 30)
        guest.expect(rb"System halted\.\r\n", 5)
        assert guest.process.poll() is None, "the machine must halt, not reset"


LATE = [
    ("qemu64,-apic", [], b"this CPU has no local APIC"),
    ("max,-apic,-x2apic", [], b"this CPU has no local APIC"),
    ("max", ["-no-acpi"], b"its firmware names no IO APIC"),
]


@pytest.mark.parametrize("cpu,extra,reason", LATE, ids=["no apic", "no apic, max", "no acpi"])
def test_interrupt_controllers(cpu, extra, reason):
    with Guest(cpu=cpu, extra=extra, machine="pc", limit=60, wait=False) as guest:
        guest.expect(b"Fathom cannot start: " + reason, 30)
        guest.expect(rb"System halted\.\r\n", 5)
        assert b"PANIC" not in guest.everything().encode()


def test_other_loader(tmp_path):
    """One that comes in as QEMU's -kernel does, but brings no information that we know: its magic is another number."""
    kernel = (BUILDS["gcc"] / "fathom.stripped").read_bytes()
    magic = struct.pack("<I", 0x336EC578)
    other = tmp_path / "kernel"
    other.write_bytes(kernel.replace(b"\x81\xfd" + magic, b"\x81\xfd" + bytes(4), 1))  # cmp ebp, magic
    assert kernel.count(b"\x81\xfd" + magic) == 1
    with subprocess.Popen(
        [
            "timeout",
            "-k",
            "5",
            str(60 * PATIENCE),
            os.environ.get("QEMU", "qemu-system-x86_64"),
            "-accel",
            "tcg",
            "-kernel",
            other,
            "-display",
            "none",
            "-monitor",
            "none",
            "-serial",
            "stdio",
            "-net",
            "none",
            "-no-reboot",
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as qemu:
        printed = b""
        while b"System halted." not in printed and (line := qemu.stdout.readline()):
            printed += line
        assert (
            b"Fathom cannot start: it must be loaded by GRUB (multiboot2 command) or another loader that knows multiboot2 or PVH" in printed
        )
        with pytest.raises(subprocess.TimeoutExpired):  # halted: it does not end by itself
            qemu.wait(1)
        qemu.terminate()
