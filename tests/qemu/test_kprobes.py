"""Probes at instructions: the files about them."""
import re

from guest import Guest

DEBUG = "/sys/kernel/debug/kprobes"
SYSCTL = "/proc/sys/debug/kprobes-optimization"


def test_files():
    with Guest("gcc", 2) as guest:
        assert guest.check(f"cat {DEBUG}/list") == ""
        lines = guest.check(f"cat {DEBUG}/blacklist").splitlines()
        assert len(lines) > 1000
        assert all(re.fullmatch(r"0x[0-9a-f]{16}-0x[0-9a-f]{16}\t\S+", line) for line in lines)
        names = {line.split("\t")[1] for line in lines}
        assert {"ring_buffer_write", "text_poke_batch", "trap_common", "kprobe_hit_run"} <= names
        assert not {"kmalloc", "vfs_init"} & names
        for name, words in ((f"{DEBUG}/enabled", ("0", "1", "n", "Y")), (SYSCTL, ("0", "1", "0", "1"))):
            assert guest.check(f"cat {name}") == "1\n"
            for word, state in zip(words, "0101"):
                guest.check(f"echo {word} > {name}")
                assert guest.check(f"cat {name}") == f"{state}\n"
            output, status = guest.run(f"echo x > {name}")
            assert "Invalid argument" in output and status == 1
        assert "Invalid argument" in guest.run(f"echo 2 > {SYSCTL}")[0]
