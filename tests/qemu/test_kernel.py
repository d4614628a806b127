"""The kernel core: its own unit tests on several CPU counts, panic, faults, parameters, leaks."""
import os
import re

import pexpect
import pytest
from guest import PATIENCE, Guest
from qmp import Qmp


def end_of(guest, command):
    """Type a line that ends the machine; what came after it, and QEMU's exit status."""
    guest.send(command + "\r")
    guest.console.expect(pexpect.EOF, timeout=30 * PATIENCE)
    text = guest.console.before.decode("utf-8", "replace").replace("\r\n", "\n")
    return text, guest.process.wait(10 * PATIENCE)


# Those under load have few rounds each; the soak (make soak) runs all of them more often, each time in a fresh guest.
@pytest.mark.parametrize(
    "build,cpus,mem", [("gcc", 1, "64M"), ("gcc", 4, "128M"), ("clang", 2, "128M")] * int(os.environ.get("KTEST_TIMES", "1"))
)
def test_unit_tests_inside(build, cpus, mem):
    with Guest(build, cpus, mem, tests=True) as guest:
        output, status = guest.run("ktest")
        result = re.search(
            r"^ktest: (\d+) tests ran once each and made (\d+) checks; pages in use compared "
            r"before and after each\n(\d{2,}) passed, 0 failed\n\Z",
            output,
            re.M,
        )
        assert result, "\n".join(line for line in output.splitlines() if not line.startswith("ok "))
        tests, checks, passed = result.groups()
        assert tests == passed and int(checks) > 1000
        assert status == 0
        assert guest.check("ktest -b data_nosuch") == (
            "ktest: 0 tests ran once each and made 0 checks; memory not compared, as others use it (-b)\n0 passed, 0 failed\n"
        )


def test_unit_tests_while_traced():
    with Guest("gcc", 4, tests=True) as guest:
        guest.check("echo function > current_tracer")
        for group in ("mm_", "lock_", "timer_", "thread_", "smp_"):
            assert re.search(r"\d passed, 0 failed$", guest.check(f"ktest {group}"), re.M)
        guest.check("echo nop > current_tracer")


def test_panic_shows_every_cpu():
    with Guest("gcc", 3) as guest:
        guest.send("panic because\r")
        guest.expect(rb"end of panic")
        text = guest.console.before.decode().replace("\r\n", "\n")
    assert re.search(r"^PANIC: because$", text, re.M), text
    for cpu in range(3):
        assert re.search(rf"^CPU {cpu}: \S+ pid \d+", text, re.M), text
    # The CPUs that were stopped: each with the registers it was stopped with.
    assert len(re.findall(r"^RIP 0008:\S+\+0x\S+, RSP 0x[0-9a-f]{16}, .*\nRAX [0-9a-f]{16} ", text, re.M)) == 2, text
    assert len(re.findall(r"^CR0 [0-9a-f]{16} ", text, re.M)) == 1, text
    # Symbolised, innermost first, down to the start of the thread.
    assert re.search(r"\] panic\+0x[0-9a-f]+/0x[0-9a-f]+\n(.*\n)*.*\] thread_start\+0x", text), text
    assert text.count("PANIC: ") == 1


@pytest.mark.parametrize("how,what", [("-fault", "page fault"), ("-stack", "stack overflow")])
def test_faults_name_their_place(how, what):
    with Guest("gcc", 2) as guest:
        guest.send(f"panic {how}\r")
        guest.expect(rb"end of panic")
        text = guest.console.before.decode().replace("\r\n", "\n")
    assert re.search(rf"^PANIC: {what} at \S+\+0x[0-9a-f]+/0x[0-9a-f]+$", text, re.M), text
    assert re.search(r"^RAX [0-9a-f]{16} ", text, re.M) and "] thread_start+0x" in text, text


@pytest.mark.parametrize("command", ["panic -locks", "echo function > current_tracer; panic -locks"])
def test_panic_with_locks_held(command):
    """Interrupts off, two spin locks held: everything is printed all the same."""
    with Guest("gcc", 4, cmdline="ftrace_dump_on_oops") as guest:
        guest.check("hackbench 1 10")
        guest.send(command + "\r")
        guest.expect(rb"end of panic")
        text = guest.console.before.decode().replace("\r\n", "\n")
    assert re.search(r"^PANIC: with the locks of threads and of memory held$", text, re.M), text
    assert "] thread_each+0x" in text, text
    for cpu in range(4):
        assert re.search(rf"^CPU {cpu}: \S+ pid \d+", text, re.M), text
    if "function" in command:  # these calls never return: nothing of the callers follows them
        assert ": panic <-cmd_panic_in_cache\n" in text and ": die <-panic\n" in text, text


def test_panic_ends_qemu_when_asked():
    with Guest("gcc", 2, cmdline="exit") as guest:
        text, status = end_of(guest, "panic")
        assert "PANIC: " in text and status == 3  # (1 << 1) | 1
    with Guest("gcc", 2, cmdline="panic=-1") as guest:
        _, status = end_of(guest, "panic")
        assert status == 0  # rebooted; -no-reboot ends QEMU


def test_long_command_line():
    """60,000 bytes, as GRUB hands them over: all count, and can be read."""
    line = f"loglevel=3 run=\"true {'x' * 60000}; echo ran > /tmp/ran\""
    with Guest("gcc", 1, cmdline=line, grub=True) as guest:
        assert guest.check("cat /tmp/ran") == "ran\n"
        assert len(line) < int(guest.check("cat /proc/cmdline | wc -c")) < len(line) + 10  # GRUB adds backslashes


def test_parameters():
    line = "maxcpus=2 nosuch=1 alsonot loglevel=4294967296 panic=soon"
    with Guest("gcc", 4, cmdline=line) as guest:
        assert "Unknown boot parameter: nosuch" in guest.boot_output
        assert "Unknown boot parameter: alsonot" in guest.boot_output
        assert "maxcpus" not in re.sub(r"Command line.*", "", guest.boot_output)
        assert "Boot parameter loglevel=4294967296: out of range, ignored" in guest.boot_output
        assert "Boot parameter panic=soon: not a number, ignored" in guest.boot_output
        assert guest.check("cat /proc/cmdline").strip() == line
        # The other two are offline, and have files but no buffers, of 1408 KiB for each CPU.
        assert re.findall(r"^ +(\d+) offline$", guest.check("cpus"), re.M) == ["2", "3"]
        assert guest.nr_cpus() == 2
        used = guest.used_pages()
        guest.check("mkdir instances/one")
        assert 2 * 352 <= guest.used_pages() - used < 3 * 352
        text = guest.check("cat tracing_cpumask; cd instances/one/per_cpu; cat cpu1/stats cpu3/stats cpu3/buffer_size_kb cpu3/trace")
        assert text.startswith("f\n") and text.count("dropped events: 0\n") == 2 and "\n1408\n# tracer: nop\n" in text


@pytest.mark.parametrize("text,cpus", [("0", 1), ("0x2", 2), ("99999999999", 3), ("many", 3), ("-1", 3)])
def test_maxcpus(text, cpus):
    """As on Linux, 0 means the boot CPU alone."""
    with Guest("gcc", 3, cmdline=f"maxcpus={text}") as guest:
        assert guest.nr_cpus() == cpus
        assert ("not a number, ignored" in guest.boot_output) == (text == "many")
        assert ("out of range, ignored" in guest.boot_output) == (text == "-1")


def test_commands_leak_nothing():
    def used(guest):
        text = guest.check("free")
        pages = int(re.search(r"(\d+) used", text).group(1))
        return pages - int(re.search(r"(\d+) page tables", text).group(1)), text

    with Guest("gcc", 4) as guest:
        workload = "hackbench 1 20; stress alloc -n 10; ls /dev | wc -l; ps | grep sh | head -n 1"
        guest.check(workload)
        before, first = used(guest)
        for _ in range(4):
            guest.check(workload)
        after, last = used(guest)
        assert after < before + 4, first + last  # a page a round would be a leak; a slab more or less is none


def test_messages_wait_for_the_end_of_a_line(tmp_path):
    """An NMI's warning appears neither behind the prompt nor inside the typed line."""
    path = tmp_path / "qmp"
    with Guest("gcc", 2, extra=Qmp.option(path)) as guest:
        qmp = Qmp(path)
        guest.send("echo on")
        guest.expect(rb"echo on$")
        qmp("inject-nmi")
        assert "NMI" not in guest.listen(1)
        guest.send("e\r")
        before, _ = guest.expect(rb"\r\nfathom# $")
        text = before.decode().replace("\r\n", "\n")
        assert re.match(r"e\n", text), text
        lines = text.split("\n")
        assert "one" in lines, text
        assert any(re.match(r"\[ +\d+\.\d{6}\] NMI: CPU \d+ ", line) for line in lines), text
        assert "NMI: " in guest.check("dmesg")


def test_a_realtime_spinner_leaves_the_shell():
    """On the only CPU: the shell gets its share, and the log says once why."""
    with Guest("gcc", 1, cmdline="loglevel=3", limit=100) as guest:  # the message may come before the prompt
        guest.check("chrt -f 50 sh -c 'while :; do :; done' &")
        assert guest.check("sleep 1.2; echo alive") == "alive\n"
        guest.check("n=0; while [ $(dmesg | grep -c 'RT throttling') = 0 ] && [ $n -lt 30 ]; do sleep 1.2; n=$((n + 1)); done")
        assert guest.check("dmesg").count("sched: RT throttling activated") == 1
        assert guest.check("cat /proc/sys/kernel/sched_rt_period_us /proc/sys/kernel/sched_rt_runtime_us") == "1000000\n950000\n"
        for name, value in (("runtime", "1000001"), ("runtime", "-2"), ("period", "0"), ("period", "900000")):
            assert guest.run(f"echo {value} > /proc/sys/kernel/sched_rt_{name}_us") == ("sh: write error: Invalid argument\n", 1)
        guest.check("kill $!; wait; echo -1 > /proc/sys/kernel/sched_rt_runtime_us")
        assert guest.check("cat /proc/sys/kernel/sched_rt_runtime_us") == "-1\n"


@pytest.mark.parametrize("build,cpus", [("gcc", 2), ("clang", 4)])
def test_tracers_change_beside_a_realtime_spinner(build, cpus):
    """There is no wait for threads that a spinner keeps from running: they are not inside of code that goes."""
    with Guest(build, cpus, limit=100) as guest:
        guest.check("echo -1 > /proc/sys/kernel/sched_rt_runtime_us")
        guest.check("chrt -f 50 sh -c 'while :; do :; done' &")
        guest.check("stress alloc 100 &")
        for tracer in ("function", "function_graph", "nop", "function", "nop"):
            guest.check(f"echo {tracer} > current_tracer")
            assert guest.check("cat current_tracer") == f"{tracer}\n"
        guest.check("mkdir instances/a; echo function > instances/a/current_tracer; rmdir instances/a")
        assert "inside code" not in guest.check("dmesg")


def test_tracing_changes_beside_realtime_load():
    """A thread that changes filters, and waits for its turn, gets it soon: 8 spinners on 4 CPUs leave 5 % of
    each to others. QEMU counts instructions here, and gives the CPUs their turns by the times of their ticks."""
    with Guest("gcc", 4, icount=True, cmdline="loglevel=3", limit=300, timeout=100) as guest:
        guest.check("for n in 1 2 3 4 5 6 7 8; do chrt -f 50 sh -c 'while true; do true; done' & done")
        for bound, text in (
            (0.25, "echo function > current_tracer; echo nop > current_tracer"),
            (0.1, "echo p:x vfs_open > kprobe_events; echo > kprobe_events"),
        ):
            seconds = []
            for _ in range(8):
                took = re.search(r"real\t(\d+)m([\d.]+)s", guest.check(f"time sh -c '{text}'"))
                seconds.append(60 * int(took[1]) + float(took[2]))
            assert max(seconds) < bound, (text, seconds)
