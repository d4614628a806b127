"""`make run` and `make debug` as a user types them."""
import os
import subprocess
import time
from pathlib import Path

import pexpect
import pytest

from guest import BUILDS, PATIENCE, PROMPT, ROOT, usual_signals


@pytest.mark.parametrize("uefi", [0, 1], ids=["bios", "uefi"])
def test_make_run(uefi):
    """Through the menu, which goes on by itself, to the prompt of a kernel that runs a program and powers itself off."""
    console = pexpect.spawn(
        "timeout",
        ["-k", "5", str(200 * PATIENCE), "make", "run", f"BUILD={BUILDS['gcc']}", f"UEFI={uefi}", "CPUS=2"],
        cwd=str(ROOT),
        timeout=150 * PATIENCE,
    )
    console.expect_exact("Fathom, trace from boot")
    console.expect_exact(PROMPT)
    console.send("cat current_tracer; cpus\r")
    console.expect(r"\nnop\r+\n")
    console.expect_exact(PROMPT)
    console.send("busybox uname -s\r")
    console.expect(r"\nLinux\r+\n" + PROMPT)
    console.send("poweroff\r")
    console.expect(pexpect.EOF, timeout=30 * PATIENCE)
    console.close()
    assert console.exitstatus == 0


def test_keys_reach_the_guest():
    """All control characters are the shell's; QEMU's escape key is another, which is said at start."""
    console = pexpect.spawn("timeout", ["-k", "5", "200", "make", "run", f"BUILD={BUILDS['gcc']}", "CPUS=1"], cwd=str(ROOT), timeout=60)
    console.expect_exact("Ctrl-] and then x ends QEMU")
    console.expect_exact(PROMPT, timeout=150)
    console.send("cho start\x01e\x05 end\r")  # Ctrl-A, Ctrl-E
    console.expect(r"\nstart end\r+\n" + PROMPT)
    console.send("sleep 1000\r")
    console.expect_exact("\n")
    console.send("\x03")
    console.expect_exact(PROMPT)
    console.send("echo $?\r")
    console.expect(r"\n130\r+\n" + PROMPT)
    for key in "\x13\x1a\x1c":  # Ctrl-S, Ctrl-Z, Ctrl-\\: each ends a search, for it has reached the shell
        console.send("\x12")
        console.expect_exact("(reverse-i-search)`':")
        console.send(key)
        console.expect_exact(PROMPT)
    console.send("\x1dx")
    console.expect(pexpect.EOF, timeout=30)
    console.close()
    assert console.exitstatus == 0


def test_make_debug(tmp_path):
    """gdb is attached to a machine that has not started yet, and takes it to kernel_main()."""
    gdb = tmp_path / "gdb"
    gdb.write_text("#!/bin/sh\nexec gdb -nx -batch \"$@\" -ex 'hbreak kernel_main' -ex continue -ex bt " "-ex fathom-cpus\n")
    gdb.chmod(0o755)
    run = subprocess.run(
        ["timeout", "-k", "5", str(120 * PATIENCE), "make", "debug", f"BUILD={BUILDS['gcc']}"],
        cwd=ROOT,
        env={**os.environ, "GDB": str(gdb)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert "Breakpoint 1, kernel_main" in run.stdout
    assert "in arch_start (" in run.stdout
    assert "CPU 0: pid 0" in run.stdout


def processes_with(word):
    """Command lines of QEMUs that were started in this tree and name `word`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            is_ours = (path.parent / "cwd").samefile(ROOT)
        except OSError:
            continue  # it has ended
        if is_ours and word in line and "qemu" in line.split(" ")[0]:
            found.append(line)
    return found


def test_make_debug_by_hand(tmp_path):
    """Ctrl-C stops the guest, as often as one likes, and it goes on; leaving gdb leaves nothing behind."""
    build = BUILDS["gcc"]
    console = pexpect.spawn(
        "timeout",
        ["--foreground", "-k", "5", "200", "make", "debug", f"BUILD={build}", "CPUS=2"],
        cwd=str(ROOT),
        timeout=100,
        env={**os.environ, "GDB": "gdb -nx"},
        encoding="utf-8",
        preexec_fn=usual_signals,
    )
    console.expect_exact("(gdb) ")
    qemu = f"{build.relative_to(ROOT) if build.is_relative_to(ROOT) else build}/debug/gdb"
    assert processes_with(qemu)
    console.sendline("fathom-ps")
    console.expect_exact("(gdb) ")
    assert "Cannot access memory" in console.before and "Python" not in console.before, console.before
    for is_up in (lambda: True, lambda: PROMPT in (build / "debug/console.log").read_text(errors="replace")):
        console.sendline("continue")
        console.expect_exact("Continuing.")
        deadline = time.monotonic() + 100
        while not is_up() and time.monotonic() < deadline:
            time.sleep(0.2)
        time.sleep(0.5)
        console.sendintr()
        console.expect("received signal SIGINT")
        console.expect_exact("(gdb) ")
    for command, answer in (
        ("fathom-bt x", 'x: PID or `all` is wanted: No symbol "x" in current context'),
        ("fathom-bt", "PID or `all` is missing"),
        ("fathom-bt 99999", "no thread 99999"),
        ("fathom-symbol zz", 'zz: an address is wanted: No symbol "zz" in current context'),
        ("fathom-symbol", "an address is missing"),
    ):
        console.sendline(command)
        console.expect_exact("(gdb) ")
        assert answer in console.before and "Python" not in console.before, console.before
    console.sendline("set confirm off")
    console.expect_exact("(gdb) ")
    console.sendline("quit")
    console.expect(pexpect.EOF, timeout=30)
    console.close()
    assert console.exitstatus == 0, console.before
    assert not processes_with(qemu)
