"""Debian's trinity inside: system calls at random, with arguments that a call would like. `make soak-trinity`.

As another user and as root, in rounds, each with a seed of its own; a line says how many calls a round was. No process is
left, and memory ceases to grow.
"""
import os
import random
import re
import subprocess

import pytest
from guest import BUILDS, ROOT, Guest

SECONDS = int(os.environ.get("TRINITY_SECONDS", "1800"))
ROUND = int(os.environ.get("TRINITY_ROUND", "100"))  # s
SEED = int(os.environ.get("SEED", str(random.randrange(1 << 20))))
SEEDS = range(SEED, SEED + max(3, SECONDS // ROUND))
# Not called: those that end the machine, or after which a process of trinity's only waits; by root also those that end the
# processes around it, or take their file tree from them.
LEFT_OUT = {
    "--dropprivs": ["reboot", "pause", "rt_sigsuspend"],
    "--dangerous": ["reboot", "pause", "rt_sigsuspend", "kexec_load", "kexec_file_load", "kill", "tkill", "tgkill"]
    + ["rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal", "umount", "chroot", "pivot_root", "sethostname", "setdomainname"],
}


def command(user, seed):
    """Its first process gets as long as the round again to end: when it is killed, its children stay."""
    left_out = " ".join(f"-x {name}" for name in LEFT_OUT[user])
    trinity = f"timeout -k {ROUND} -s INT {ROUND} trinity -q -a 64 -C 8 --disable-fds=sockets {left_out} {user} -s {seed}"
    return (
        f"mkdir -m 777 /tmp/t; cd /tmp/t; {trinity} > /out 2>&1;"
        'cd /; chmod -R u+rwx /tmp/t; rm -rf /tmp/t; grep -a -E "Ran|iterations" /out | tail -n 1'
    )


SLACK = 400  # pages that two rounds may differ by


@pytest.fixture(scope="module")
def archive():
    build = BUILDS["gcc"]
    made = [ROOT / "tools/rootfs", "-o", build / "trinity.cpio", "-c", build / "rootfs", "dash", "coreutils", "procps", "grep", "trinity"]
    subprocess.run(made, check=True, stdout=subprocess.PIPE)
    return build / "trinity.cpio"


@pytest.fixture(params=["gcc", "clang"])
def guest_of(request, archive):
    return lambda: Guest(request.param, 4, mem="1536M", initrd=archive, limit=20 * SECONDS + 3000)


def trinity(guest, user, seed):
    """One round. The pages used afterwards; the kernel answers, and has found no fault of its own."""
    said, _ = guest.run(f"dash -c '{command(user, seed)}'", timeout=10 * ROUND)
    used = int(re.search(r"(\d+) used", guest.check("free -s"))[1])
    print(seed, said.splitlines()[-1:], used, flush=True)
    assert not re.search(r"BUG|WARNING|panic", guest.check("dmesg"))
    return said, used


@pytest.mark.parametrize("user", LEFT_OUT)
def test_trinity(guest_of, user):
    with guest_of() as guest:
        before = guest.check("ps | wc -l")
        rounds = [trinity(guest, user, seed) for seed in SEEDS]
        assert all(re.search(r"Ran \d{3,} syscalls", said) for said, _ in rounds)
        assert guest.check("ps | wc -l") == before
        assert rounds[-1][1] < rounds[1][1] + SLACK
