"""Resets at random moments, of the boot and of the check, too: nothing that a program was told is written gets lost; and the three ends
of a kernel under OVMF; `make soak-reset`."""
import os
import random
import re

import pexpect
from guest import Guest
from qmp import Qmp

ROUNDS = int(os.environ.get("RESETS", "1000"))
PER_GUEST = 25
SHOWN = 400  # marks that are read after a reset: the serial port takes most of a round
SEED = int(os.environ.get("SEED", str(random.randrange(1 << 30))))
BOX = "/sys/kernel/tracing/instances/box/"
BACKUP = "/sys/kernel/tracing/instances/backup/"
CMDLINE = "reserve_mem=2M:4096:trace trace_instance=box^traceoff@trace,sched,irq,timer,kmem trace_instance=backup=box loglevel=3"
LOAD = f"hackbench 1 40 > /dev/null & while true; do echo mark $n > {BOX}trace_marker; echo done $n; n=$((n+1)); done"


def drain(guest, seconds):
    """The output of the next seconds, which no later wait sees again."""
    text = guest.listen(seconds)
    guest.console.expect([rb"(?s).+", pexpect.TIMEOUT], timeout=0)
    return text


def told(guest, seconds):
    """The last mark that the loop of the guest has reported within `seconds`, or None."""
    marks = re.findall(r"^done (\d+)$", drain(guest, seconds), re.M)
    return int(marks[-1]) if marks else None


def wait_shell(guest):
    """The shell of the boot that stays: a prompt may be that of one which a reset has ended since."""
    nonce = random.randrange(1 << 30)
    while True:
        guest.send(f"echo back {nonce}\r")
        if re.search(f"^back {nonce}$", drain(guest, 0.3), re.M):
            break
    guest.send(f"echo last {nonce}\r")  # behind it there are no more answers to the lines before
    guest.expect(rf"\nlast {nonce}\r\nfathom# ".encode())


def check(guest, mark):
    """The copy holds mark after mark, none missing, up to `mark` at least: from where no CPU has written over its oldest events."""
    info = guest.check(f"cat {BACKUP}last_boot_info")
    assert "# damaged sub-buffers: 0\n" in info, info
    assert guest.check(f"grep -c LOST {BACKUP}trace || true").strip() == "0"
    text = guest.check(f"grep -e mark_write -e started {BACKUP}trace | tail -n {SHOWN}").split(" started ")[-1]
    marks = [int(nr) for nr in re.findall(r"mark_write: mark (\d+)", text)]
    assert marks and marks == list(range(marks[0], marks[-1] + 1)), marks
    assert marks[-1] >= mark, (marks[-1], mark)


def resets(guest, qmp, rand, rounds):
    for _ in range(rounds):
        guest.check(f"echo 1 > {BOX}tracing_on")
        guest.send(f"n=0; {LOAD}\r")
        guest.expect(rb"done 0\r\n")
        mark = told(guest, rand.random() * 0.3) or 0
        qmp("system_reset")
        while rand.random() < 0.3:  # again, in the middle of the boot, which leaves the events as they are
            drain(guest, rand.random())
            qmp("system_reset")
        wait_shell(guest)
        check(guest, mark)


def test_resets_at_random(tmp_path):
    print("SEED", SEED)
    rand = random.Random(SEED)
    for nr in range(0, ROUNDS, PER_GUEST):
        path = tmp_path / f"qmp{nr}"
        extra = ["-action", "reboot=reset", *Qmp.option(path)]
        with Guest("gcc", rand.choice([1, 2, 4, 8]), cmdline=CMDLINE, extra=extra, limit=3000) as guest:
            resets(guest, Qmp(path), rand, min(PER_GUEST, ROUNDS - nr))


def test_ends_under_ovmf(tmp_path):
    """Events and messages survive system_reset, a panic and `reboot` where OVMF and GRUB have had the memory first."""
    cmdline = f"{CMDLINE.replace('^traceoff', '')} reserve_mem=256K:4096:oops ramoops.mem_name=oops panic=-1"
    extra = ["-action", "reboot=reset", *Qmp.option(tmp_path / "qmp")]
    with Guest("gcc", 2, uefi=True, cmdline=cmdline, extra=extra, timeout=200) as guest:
        for number, end in enumerate(
            (lambda: Qmp(tmp_path / "qmp")("system_reset"), lambda: guest.send("panic\r"), lambda: guest.send("reboot\r"))
        ):
            guest.check(f"echo end {number} > {BOX}trace_marker; echo word {number} > /dev/pmsg0")
            end()
            guest.expect(rb"Command line: ")
            guest.wait_prompt()
            info = guest.check(f"cat {BACKUP}last_boot_info")
            assert "# damaged sub-buffers: 0\n" in info, info
            assert f"end {number}\n" in guest.check(f"grep mark_write {BACKUP}trace")
            assert guest.check("cat /sys/fs/pstore/pmsg-ramoops-0") == f"word {number}\n"
        assert "dmesg-ramoops-0" in guest.check("ls /sys/fs/pstore")
