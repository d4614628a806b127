"""tp_printk: events in the kernel's log, as they occur, wherever that is."""
import fcntl
import re

import pytest

from guest import Guest

SETTING = "/proc/sys/kernel/tracepoint_printk"
EVENTS = "tp_printk traceoff_on_warning trace_event=sched:sched_process_fork,printk:console"
FORK = r"\[ +\d+\.\d{6}\] sched_process_fork: comm=\S+ pid=\d+ child_comm=(\S+) child_pid=\d+\n"


@pytest.fixture(scope="module", params=["gcc", "clang"])
def printing(request):
    """A guest that prints events; nothing else is typed while it does than what a test wants to see."""
    with Guest(request.param, 2, cmdline=EVENTS, tests=True) as guest:
        yield guest


def missed(guest):
    return int(guest.check(f"cat {SETTING}_missed"))


def test_events_of_the_boot(printing):
    assert {"ksoftirqd/0", "ksoftirqd/1"} <= set(re.findall(FORK, printing.boot_output))
    # A line that the kernel prints itself is an event here, too.
    assert re.search(r"\] console: SMP: 2 of 2 CPUs online\n", printing.boot_output)
    printing.check(f"echo 0 > {SETTING}")
    log = printing.check("dmesg")
    assert "sh" in re.findall(FORK, log)
    # That an event was printed is recorded, and not printed.
    assert printing.check("grep -c 'console: sched_process_fork: comm=init' trace") != "0\n"
    assert "console: sched_process_fork" not in log
    assert missed(printing) >= len(re.findall(FORK, log)) > 3


def test_setting(printing):
    printing.check(f"echo 0 > {SETTING}; dmesg -c > /dev/null; echo 0 > events/enable")
    assert printing.check(f"cat {SETTING} /proc/sys/kernel/traceoff_on_warning") == "0\n1\n"
    assert printing.run(f"echo 1x > {SETTING}") == ("sh: write error: Invalid argument\n", 1)
    assert printing.run(f"echo 1 > {SETTING}_missed") == ("sh: write error: Permission denied\n", 1)
    printing.check("echo 1 > events/sched/sched_process_fork/enable; sleep 0 & wait")
    assert "sched_process_fork" not in printing.check("dmesg")
    out = printing.output_of(f"echo 1 > {SETTING}; sleep 0 & wait; echo 0 > {SETTING}; cat {SETTING}; dmesg | grep -c 'child_comm=sleep'")
    assert "child_comm=sleep" in out and out.endswith("0\n1\n")
    printing.check("echo 0 > events/enable")


def test_an_event_comes_before_later_output(printing):
    """Also when the line is written at once, and the softirq that shows events has not run yet."""
    printing.check(
        f"echo 0 > {SETTING}; echo 0 > events/enable; echo 'p:probes/echoes cmd_echo' > kprobe_events; echo 1 > events/probes/enable"
    )
    out = printing.output_of(f"echo 1 > {SETTING}; for i in 1 2 3 4 5; do echo line $i; done; echo 0 > {SETTING}")
    printing.check("echo 0 > events/probes/enable; > kprobe_events")
    assert re.sub(r"(?m)^\[.*\] echoes: \(cmd_echo.*\)$", "echoes", out) == "".join(f"echoes\nline {i}\n" for i in range(1, 6)) + "echoes\n"


def test_all_events_under_load(printing):
    # Printing makes events, so the console always has more: with a terminal as slow as this one, others have their turns, too.
    fcntl.fcntl(printing.process.stdout, fcntl.F_SETPIPE_SZ, 4096)
    printing.console.delayafterread = 0.05
    # Interrupts, NMIs, the scheduler with its locks, the console that prints all that.
    before = missed(printing)
    printing.send(
        f"echo 1 > events/enable; echo 1 > {SETTING}; hackbench 2 100; stress ipi -n 20; torture 2; "
        f"cat trace > /dev/null; echo 0 > {SETTING}; echo 0 > events/enable; dmesg > /all; dmesg -c > /dev/null; echo sur''vived\r"
    )
    printing.expect(rb"\nsurvived\r\n", reach=100)
    printing.wait_prompt()
    assert int(printing.check("grep -c '] sched_switch: prev_comm=' /all")) > 0
    assert missed(printing) > before
    assert printing.check("rm /all; cat tracing_on error_log") == "1\n"
    assert printing.check("dmesg | grep -c . || true") == "0\n"


def test_the_last_events_before_a_panic(printing):
    printing.check("echo 1 > events/sched/sched_process_fork/enable")
    printing.send(f"echo 1 > {SETTING}; sleep 0 & wait; panic\r")
    before, _ = printing.expect(rb"PANIC: ")
    assert b"child_comm=sleep" in before
    printing.expect(rb"end of panic")
