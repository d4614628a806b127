"""A second emulator, for what QEMU's TCG does not have: x2APIC, the TSC-deadline timer, SERIALIZE.

Bochs runs its CPUs in turns of a few instructions, one host thread, so every run is the same: other
interleavings than QEMU's, and none that depend on the host.
"""
import os
import re
import shutil
from pathlib import Path

import pexpect
import pytest
from guest import BUILDS, PATIENCE, iso_for

# The guest's second has 8 million instructions: with more, most of a run goes into waiting for times to pass.
CONFIG = """\
display_library: term
cpu: model={model}, count={cpus}, ips=8000000, reset_on_triple_fault=0, ignore_bad_msrs=1
memory: guest=128, host=128
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
ata0-master: type=cdrom, path={iso}, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev={dir}/com1
log: {dir}/log
panic: action=fatal
clock: sync=none
"""


def run_bochs(directory, model, cpus, cmdline, limit=240):
    """Boot, wait until the guest turned the machine off; what it printed on COM1."""
    assert shutil.which("bochs-bin"), "Bochs is not installed: tools/install-deps test"
    iso = iso_for(BUILDS["gcc"], cmdline, tests=True)
    config, script = directory / "bochsrc", directory / "commands"
    config.write_text(CONFIG.format(model=model, cpus=cpus, iso=iso, dir=directory))
    script.write_text("c\n")  # Debian's Bochs starts in its debugger
    # Its only display without a window system wants a terminal.
    bochs = pexpect.spawn(
        "timeout",
        ["-k", "5", str(limit * PATIENCE), "bochs-bin", "-q", "-f", str(config), "-rc", str(script)],
        env={**os.environ, "TERM": "vt100"},
        timeout=limit * PATIENCE + 10,
    )
    bochs.expect(pexpect.EOF)
    bochs.close()
    log = (directory / "log").read_text(errors="replace")
    text = (directory / "com1").read_text(errors="replace").replace("\r\n", "\n")
    assert "soft power off" in log, "did not turn itself off:\n" + text[-3000:] + log[-1500:]
    return text


# Breakpoints of probes, and jumps.
PROBES = "ktest kprobe_jumps; ktest kprobe_nmi; torture kprobes 1; "


@pytest.mark.parametrize(
    "model,cpus,param,apic,more",
    [
        ("corei7_haswell_4770", 2, "nox2apic ", "xAPIC", PROBES),
        ("tigerlake", 4, "", "x2APIC", ""),  # with SERIALIZE
    ],
)
def test_patching(tmp_path: Path, model, cpus, param, apic, more):
    text = run_bochs(tmp_path, model, cpus, f'{param}run="dmesg; cpus; hackbench 1 5; stress ipi -n 50; torture 3; {more}poweroff"')
    assert f"APIC: {apic}, boot CPU has id 0" in text
    assert "timer: tsc-deadline," in text
    assert f"SMP: {cpus} of {cpus} CPUs online" in text
    assert len(re.findall(r"^ *\d+ +\d+ +-?\d+ ", text, re.M)) == cpus
    assert re.search(r"^Time: ", text, re.M), "hackbench ended"
    assert re.search(rf"^stress: ipi: \d+ rounds on {cpus} CPUs, ok: each call ran once", text, re.M)
    assert re.search(r"^torture: 3 rounds.*: ok$", text, re.M)
    if more:
        assert len(re.findall(r"^ok     kprobe_(?:jumps|nmi) ", text, re.M)) == 2
        assert re.search(r"^torture: 1 rounds?.*: ok$", text, re.M)
    assert "PANIC" not in text
