"""trace-cmd on the directory of `tools/fathom mount`: it takes the kernel's files for those of its own machine."""
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parents[1] / "qemu"))
from datguest import Machine  # noqa: E402
from guest import BUILDS, PATIENCE, ROOT  # noqa: E402
from programs import BUSYBOX, archive  # noqa: E402
from test_mount import Mounted, can_mount  # noqa: E402

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parents[2] / "tools"))
from host import _write_head  # noqa: E402

pytestmark = pytest.mark.skipif(not can_mount(), reason="this machine has no usable /dev/fuse")


@pytest.fixture(scope="module")
def mounted():
    one = Mounted()
    # Events hold the low half of a function's address, and some of trace-cmd's own printing takes that for the whole.
    one.names = one.channel.with_name("kallsyms")
    one.names.write_bytes(_write_head.symbols((one.dir / "proc/kallsyms").read_bytes()))
    yield one
    one.close()


def trace_cmd(mounted, words, directory="/"):
    run = subprocess.run(
        [
            ROOT / "tools/fathom",
            "shell",
            "--build",
            BUILDS["gcc"],
            "--dir",
            mounted.dir,
            "sh",
            "-c",
            f"mount --bind {mounted.names} /proc/kallsyms && exec trace-cmd {words}",
        ],
        capture_output=True,
        text=True,
        cwd=directory,
        timeout=120 * PATIENCE,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_start_stat_and_reset(mounted):
    trace_cmd(mounted, "start -p function -l 'vfs_*' -e sched_switch")
    assert mounted.guest.check("cat current_tracer set_event") == "function\nsched:sched_switch\n"
    stat = trace_cmd(mounted, "stat")
    assert "Tracer: function" in stat and "sched_switch" in stat
    assert "vfs_open <-" in trace_cmd(mounted, "show")
    trace_cmd(mounted, "reset")
    assert mounted.guest.check("cat current_tracer; cat set_ftrace_filter; cat set_event") == "nop\n#### all functions enabled ####\n"
    mounted.guest.check("echo 1 > tracing_on")


def test_extract_has_what_the_trace_has(mounted, tmp_path):
    """It makes the kernel's files not wait when they are open already, and reads them to their ends."""
    trace_cmd(mounted, "start -e sched")
    trace_cmd(mounted, "stop")
    theirs = re.findall(r"\[(\d+)\] \S+ +([\d.]+): (\w+):", mounted.guest.check("cat trace", 120))
    trace_cmd(mounted, "extract -o x.dat", tmp_path)
    ours = re.findall(r"\[(\d+)\] +([\d.]+): (\w+):", trace_cmd(mounted, "report x.dat", tmp_path))
    assert ours == theirs and len(ours) > 100
    assert mounted.guest.check("cat trace | grep -v '^#'; true") == ""
    trace_cmd(mounted, "reset")
    mounted.guest.check("echo 1 > tracing_on")


def recorded(mounted, tmp_path, words, run):
    """[(the guest's own `trace`, the report)] of each CPU, of what happens in the guest meanwhile."""
    trace_cmd(mounted, f"start {words}")
    mounted.guest.check(run)
    trace_cmd(mounted, "stop")
    theirs = [mounted.guest.check(f"cat per_cpu/cpu{cpu}/trace", 120) for cpu in range(2)]
    trace_cmd(mounted, "extract -o z.dat", tmp_path)
    reports = [trace_cmd(mounted, f"report --cpu {cpu} z.dat", tmp_path) for cpu in range(2)]
    trace_cmd(mounted, "reset")
    mounted.guest.check("echo 1 > tracing_on")
    return zip(theirs, reports)


def test_calls_are_read_as_they_are(mounted, tmp_path):
    """trace-cmd prints returns in a way of its own, by two times. Each call in its order, with its depth and how long it took."""
    call = re.compile(r"[|] ( *)(?:(\w+)\(\)(;| \{)|\})")

    def calls(text, number):
        return [(len(found[1]), found[2], found[3], number(line)) for line in text.splitlines() if (found := call.search(line))]

    def time_of(line):
        found = re.search(r"([\d.]+) us +\|", line)
        return found and f"{float(found[1]):.1f}"

    found = [
        (calls(theirs, time_of), calls(report, time_of))
        for theirs, report in recorded(
            mounted, tmp_path, "-p function_graph -g vfs_open -O nofuncgraph-irqs", "cat /proc/version > /dev/null"
        )
    ]
    for own, ours in found:
        assert [one[1:] for one in ours] == [one[1:] for one in own]
    assert sum(len(own) for own, _ in found) > 20 and all(one[3] for own, _ in found for one in own if one[2] == ";")


def test_stacks_are_read_as_they_are(mounted, tmp_path):
    """`-T`: each stack with each function, line by line."""
    nr = 0
    for theirs, report in recorded(mounted, tmp_path, "-e sched_waking -T", "sleep 0.1"):
        own = [re.findall(r"^ => (\w+)", part, re.M) for part in theirs.split("<stack trace>")[1:]]
        ours = [re.findall(r"^=> (\w+) ", part, re.M) for part in report.split("kernel_stack:")[1:]]
        assert ours == own and all(len(stack) > 3 for stack in own)
        nr += len(own)
    assert nr > 2


def test_record(mounted, tmp_path):
    """The command runs here, the trace comes from there, while it runs: the buffer takes far less."""
    trace_cmd(mounted, "record -b 64 -e sched -o y.dat sleep 3", tmp_path)
    report = trace_cmd(mounted, "report y.dat", tmp_path)
    assert "sched_switch:" in report
    trace_cmd(mounted, "record -b 64 -p function -o z.dat sleep 3", tmp_path)
    assert (tmp_path / "z.dat").stat().st_size > 2 * 64 << 10 and trace_cmd(mounted, "report z.dat", tmp_path).count("function:") > 20000


def test_system_calls(tmp_path):
    """Paths, buffers, results and durations of a program's calls, from a file that `tools/fathom extract` has written."""
    initrd = archive(tmp_path / "files.cpio", {"bin/busybox": BUSYBOX})
    machine = Machine(initrd=initrd)
    try:
        machine.guest.check("echo 'syscalls:* raw_syscalls:* latency:*' > set_event; busybox cat /proc/version; echo 0 > events/enable")
        theirs = machine.guest.check("cat trace")
        run = machine.fathom("extract", "-o", "x.dat")
        assert run.returncode == 0, run.stderr
        report = subprocess.run(["trace-cmd", "report", machine.folder / "x.dat"], capture_output=True, text=True)
    finally:
        machine.guest.close()
    assert report.stderr == "" and "FAILED" not in report.stdout
    opened = re.search(
        r'sys_enter_openat: +dfd: 0xffffff9c, filename: (0x\w+) "/proc/version", flags: 0x0+, mode: 0x0+$', report.stdout, re.M
    )
    assert f'filename: {opened[1]} "/proc/version", flags: 0, mode: 0)' in theirs
    for shown, said in (
        (r"sys_exit: +NR (\d+ = -?\d+)$", r"sys_exit: NR (\d+ = -?\d+)$"),
        (r"syscall_latency: +(\w+ lat=\d+ ret=\S+)$", r"syscall_latency: (\w+ lat=\d+ ret=\S+)$"),
        (r"sys_exit_\w+: +(0x\w+)$", r"sys_\w+ -> (0x\w+)$"),
    ):
        ours = re.findall(shown, report.stdout, re.M)
        assert ours == re.findall(said, theirs.replace("\r", ""), re.M) and len(ours) > 15
