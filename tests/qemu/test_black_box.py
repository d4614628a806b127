"""Events that survive a reset: by system_reset, by a panic in another build's place, by a triple fault, by reboot; docs/black-box.md."""
import re

from guest import Guest
from qmp import Qmp

BOX = "/sys/kernel/tracing/instances/box/"
CMDLINE = (
    "reserve_mem=4M:4096:trace trace_instance=box^traceprintk@trace,sched,irq,timer,kmem,syscalls "
    "trace_instance=backup=box panic=-1 loglevel=3"
)


def next_boot(guest):
    guest.expect(rb"Command line: ")
    guest.wait_prompt()


def last_boot(guest, instance="backup"):
    """The numbers of last_boot_info, by their names."""
    text = guest.check(f"cat /sys/kernel/tracing/instances/{instance}/last_boot_info")
    assert re.match(r"[0-9a-f]{16}\t\[kernel\]\n", text), text
    return dict(re.findall(r"# ([a-z -]+): (.*)", text))


def test_events_survive(tmp_path):
    """Four ends in a row; each time all that was recorded is there, with names and symbols, and recording goes on."""
    extra = ["-action", "reboot=reset", *Qmp.option(tmp_path / "qmp")]
    with Guest("gcc", 2, cmdline=CMDLINE, extra=extra, tests=True) as guest:
        assert guest.check(f"cat {BOX}last_boot_info") == "# Current\n# the memory was cleared\n"
        guest.check("hackbench 1 1")
        guest.check(f"echo first end > {BOX}trace_marker")
        Qmp(tmp_path / "qmp")("system_reset")
        next_boot(guest)
        said = last_boot(guest)
        assert said["build"].endswith("the same as now") and said["damaged sub-buffers"] == "0", said
        trace = guest.check("cat /sys/kernel/tracing/instances/backup/trace | grep -v kmalloc | tail -400")
        assert re.search(r" sh-\d+ +\[00\d\] .* tracing_mark_write: first end\n", trace), trace[-2000:]
        assert "Unknown" not in trace and "LOST" not in trace
        assert "sched_switch: prev_comm=" in trace
        assert f"# events: {said['events']}\n" in guest.check("cat /sys/kernel/tracing/instances/backup/last_boot_info")
        assert guest.check(f"cat {BOX}tracing_on") == "1\n"
        guest.check(f"echo second end > {BOX}trace_marker")
        guest.send("panic -fault\r")
        next_boot(guest)
        assert last_boot(guest)["damaged sub-buffers"] == "0"
        trace = guest.check("cat /sys/kernel/tracing/instances/backup/trace | grep mark_write")
        assert "second end" in trace and "first end" not in trace
        guest.check(f"echo third end > {BOX}trace_marker")
        guest.send("fault triple\r")
        next_boot(guest)
        assert last_boot(guest)["damaged sub-buffers"] == "0"
        trace = guest.check("cat /sys/kernel/tracing/instances/backup/trace | grep -e mark_write -e next_comm=fault")
        assert re.search(r"mark_write: third end\n(.*\n)*.*sched_switch: .* ==> next_comm=fault ", trace), trace
        guest.check(f"echo fourth end > {BOX}trace_marker")
        guest.send("reboot\r")
        next_boot(guest)
        assert "fourth end" in guest.check("cat /sys/kernel/tracing/instances/backup/trace | grep mark_write")
