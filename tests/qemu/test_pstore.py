"""Messages that survive a reset, as files of /sys/fs/pstore: of a panic, of the console, of programs, of functions; docs/black-box.md."""
import re

from guest import Guest
from qmp import Qmp

PSTORE = "/sys/fs/pstore/"
CMDLINE = (
    "reserve_mem=256K:4096:oops ramoops.mem_name=oops ramoops.record_size=0x8000 ramoops.console_size=16384 "
    "ramoops.pmsg_size=4096 ramoops.ftrace_size=8192 panic=-1 loglevel=3"
)


def next_boot(guest):
    guest.expect(rb"Command line: ")
    guest.wait_prompt()


def files(guest):
    return guest.check(f"ls {PSTORE}").split()


def test_messages_survive(tmp_path):
    """Two panics and a reset: each panic has a file, with all CPUs; the others are those of the last kernel."""
    extra = ["-action", "reboot=reset", *Qmp.option(tmp_path / "qmp")]
    with Guest("gcc", 2, cmdline=CMDLINE, extra=extra) as guest:
        assert files(guest) == []
        guest.check("echo first word > /dev/pmsg0; echo second word > /dev/pmsg0")
        guest.send("panic one\r")
        next_boot(guest)
        assert files(guest) == ["console-ramoops-0", "dmesg-ramoops-0", "pmsg-ramoops-0"]
        assert guest.check(f"cat {PSTORE}pmsg-ramoops-0") == "first word\nsecond word\n"
        assert re.search(r"\] Command line: .*mem_name=oops", guest.check(f"head -3 {PSTORE}console-ramoops-0"))
        report = guest.check(f"grep -v PANIC {PSTORE}dmesg-ramoops-0")
        assert report.startswith("Panic#1 Part1\n["), report[:200]
        assert guest.check(f"grep -c 'PANIC: one$' {PSTORE}dmesg-ramoops-0") == "1\n" and "---[ end of panic ]---\n" in report
        assert sorted(re.findall(r"\] CPU (\d): ", report)) == ["0", "1"], report
        guest.check(f"rm {PSTORE}pmsg-ramoops-0; echo 1 > /sys/kernel/debug/pstore/record_ftrace")
        guest.send("panic -fault\r")
        next_boot(guest)
        assert files(guest) == ["console-ramoops-0", "dmesg-ramoops-0", "dmesg-ramoops-1", "ftrace-ramoops-0"]
        assert guest.check(f"grep -v PANIC {PSTORE}dmesg-ramoops-0") == report
        assert "Panic#2 Part1\n" in guest.check(f"cat {PSTORE}dmesg-ramoops-1 | grep Part")
        calls = guest.check(f"cat {PSTORE}ftrace-ramoops-0")
        assert re.fullmatch(
            r"(CPU:[01] ts:\d+ f{8}[0-9a-f]{8}  f{8}[0-9a-f]{8}  [\w.]+ <- [\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+\n){100,}", calls
        ), calls[:300]
        guest.check(f"rm {PSTORE}dmesg-ramoops-0 {PSTORE}ftrace-ramoops-0; echo last > /dev/pmsg0")
        Qmp(tmp_path / "qmp")("system_reset")
        next_boot(guest)
        assert files(guest) == ["console-ramoops-0", "dmesg-ramoops-1", "pmsg-ramoops-0"]
        assert guest.check(f"cat {PSTORE}pmsg-ramoops-0") == "last\n"


def test_what_cannot_be():
    """No such memory, or too little of it: a message, no files, and the kernel goes on."""
    for cmdline, said in (
        ("ramoops.mem_name=oops", "ramoops: no memory of reserve_mem= has the name oops"),
        ("reserve_mem=64K:4096:oops ramoops.mem_name=oops", "ramoops: the sizes are larger than the memory, 65536 bytes"),
    ):
        with Guest("gcc", 1, cmdline=cmdline) as guest:
            assert said in guest.check("dmesg")
            assert "No such" in guest.run(f"ls {PSTORE}")[0]
            assert "no such" in guest.run("ls /dev/pmsg0")[0].lower()
