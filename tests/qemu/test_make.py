"""`make run` and `make debug` as a user types them."""
import os
import subprocess

import pexpect
import pytest

from guest import BUILDS, PROMPT, ROOT


@pytest.mark.parametrize("uefi", [0, 1], ids=["bios", "uefi"])
def test_make_run(uefi):
    """Ends at the prompt of a kernel that powers itself off."""
    console = pexpect.spawn("timeout", ["-k", "5", "200", "make", "run", f"BUILD={BUILDS['gcc']}",
                                        f"UEFI={uefi}", "CPUS=2"], cwd=str(ROOT), timeout=150)
    console.expect_exact(PROMPT)
    console.send("cpus\r")
    console.expect_exact(PROMPT)
    console.send("poweroff\r")
    console.expect(pexpect.EOF, timeout=30)
    console.close()
    assert console.exitstatus == 0


def test_make_debug(tmp_path):
    """gdb is attached to a machine that has not started yet, and takes it to kernel_main()."""
    gdb = tmp_path / "gdb"
    gdb.write_text("#!/bin/sh\nexec gdb -nx -batch \"$@\" -ex 'hbreak kernel_main' -ex continue -ex bt "
                   "-ex fathom-cpus\n")
    gdb.chmod(0o755)
    run = subprocess.run(["timeout", "-k", "5", "120", "make", "debug", f"BUILD={BUILDS['gcc']}"],
                         cwd=ROOT, env={**os.environ, "GDB": str(gdb)}, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "Breakpoint 1, kernel_main" in run.stdout
    assert "in arch_start (" in run.stdout
    assert "CPU 0: pid 0" in run.stdout
