"""trace.dat files of each kind, read by trace-cmd and by KernelShark's library, which say the same of each event as the kernel. `make test-host`.

The library is called by kshark.c. Also what happens over the slow line, on a full disk, beside another client; and how fast pages come.
"""
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "qemu")]

from datguest import Machine, events_of_report, is_valid, report  # noqa: E402
from guest import BUILDS, PATIENCE, ROOT  # noqa: E402
from ninep import Ninep  # noqa: E402
from window import Screen  # noqa: E402

CLEAN = "echo nop > current_tracer; echo > set_event; echo > set_ftrace_filter; echo > set_graph_function; echo 0 > options/stacktrace; echo 1 > tracing_on"
# The events that are traced, and the command that runs meanwhile.
TRACES = {
    "functions": ("echo function > current_tracer; echo 'vfs_* sched_* sh_*' > set_ftrace_filter", "ls | wc -l; hackbench 1 5"),
    "events": ("echo 'sched:*' > set_event; echo 'kmem:*' >> set_event; echo 'irq:*' >> set_event", "ls | wc -l; hackbench 1 5; sleep 0.1"),
    "stacks": ("echo 1 > options/stacktrace; echo 'sched:sched_switch' > set_event", "ls | sort | wc -l; hackbench 1"),
    "printk": ("echo sched:sched_switch > set_event", "ktest trace_printk_caller; echo marker > trace_marker"),
    "nothing else": ("true", "echo one > trace_marker"),
}
FILES = ([], ["--file-version", "7"], ["--compression", "zstd"])


@pytest.fixture(scope="module")
def machine():
    one = Machine(tests=True)
    yield one
    one.close()


@pytest.fixture(scope="module")
def kshark():
    """The program that reads by KernelShark's library."""
    folder = BUILDS["gcc"] / "host"
    folder.mkdir(parents=True, exist_ok=True)
    flags = subprocess.run(["pkg-config", "--cflags", "libkshark"], capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["gcc", "-Wall", "-Werror", *flags, "-o", folder / "kshark", HERE / "kshark.c", "-lkshark"], check=True)
    return folder / "kshark"


def lines_of_kshark(program, path):
    run = subprocess.run([program, path], capture_output=True, text=True, timeout=120 * PATIENCE)
    assert run.returncode == 0, run.stderr
    return re.findall(r"^(\d+) (\d+) (\d+) \w+/(\w+): ", run.stdout, re.M)


def plain(events):
    """Without what trace-cmd writes otherwise: the size of a function behind an offset in it, 0x in front of an address."""
    return in_order((*event[:5], re.sub(r"(\+0x[0-9a-f]+)/0x[0-9a-f]+", r"\1", event[5]).replace("0xffff", "ffff")) for event in events)


def in_order(events):
    return sorted(events, key=lambda event: (event[3], event[2]))


@pytest.mark.parametrize("name", TRACES)
def test_all_readers_say_what_the_kernel_says(machine, kshark, name):
    """Task, pid, CPU, time, name, fields, one by one; but of stacks trace-cmd prints the addresses, too."""
    settings, commands = TRACES[name]
    for number, words in enumerate(FILES):
        path = machine.folder / f"{number}.dat"
        machine.guest.check(settings)
        told = machine.trace(f"echo 1 > tracing_on; {commands}")
        run = machine.fathom("extract", "-o", path, *words)
        machine.guest.check(CLEAN)
        assert run.returncode == 0, run.stderr
        assert is_valid(path)
        read = events_of_report(path)
        assert len(read) == len(told) > 0
        assert [event[:4] for event in in_order(read)] == [event[:4] for event in in_order(told)]
        if name != "stacks":
            names = {event[4] for event in read} - {"bprint", "bputs", "print"}
            fields = [event for event in told if event[4] in names]
            assert plain(event for event in read if event[4] in names) == plain(fields)
        shown = lines_of_kshark(kshark, path)
        assert len(shown) == len(read)
        assert sorted((f"{(int(ns) + 500) // 1000 / 1e6:.6f}", int(cpu), int(pid), event) for ns, cpu, pid, event in shown) == sorted(
            (f"{float(when):.6f}", int(cpu), int(pid), event) for _, pid, cpu, when, event, _ in read
        )


@pytest.mark.parametrize("words", FILES)
def test_instances(machine, kshark, words):
    """Of two instances and the machine's own buffer, or of instances alone: each event, under its buffer's name."""
    recorded = ["-B", "box", "-e", "sched_switch", "-B", "case", "-p", "function", "-l", "vfs_*"]
    for front in (["-e", "irq"], []):
        run = machine.fathom("record", *front, *recorded, "-o", "some.dat", *words, "--", "ls | wc -l; sleep 0.1")
        assert run.returncode == 0, run.stderr
        run = subprocess.run([kshark, machine.folder / "some.dat"], capture_output=True, text=True, timeout=120 * PATIENCE)
        assert run.returncode == 0, run.stderr
        shown = re.findall(r"^(?:(\w+) )?(\d+) (\d+) (\d+) (\w+)/\w+: ", run.stdout, re.M)
        assert {(one[0], one[4]) for one in shown} == {("", "irq"), ("box", "sched"), ("case", "ftrace")} - (
            set() if front else {("", "irq")}
        )
        lines = re.findall(r"^(?: *(\w+): )? *\S.*-(\d+) +\[(\d+)\] +([\d.]+): \w+:", report(machine.folder / "some.dat", "-N"), re.M)
        assert sorted((name, int(pid), int(cpu), when) for name, pid, cpu, when in lines) == sorted(
            (name, int(pid), int(cpu), f"{(int(ns) + 500) // 1000 / 1e6:.6f}") for name, ns, cpu, pid, _ in shown
        )


def test_the_window(machine):
    """KernelShark's own, on a virtual screen; its picture is left in build/host, to be looked at."""
    run = machine.fathom("record", "-e", "sched", "-e", "irq", "-o", "window.dat", "--", "hackbench 1; ls | sort | wc -l")
    assert run.returncode == 0, run.stderr
    picture = BUILDS["gcc"] / "host/kernelshark.png"
    picture.unlink(missing_ok=True)
    (machine.folder / "setting.ini").write_text("[General]\nnoRootWarn=true\n")
    with Screen() as screen, screen.started("kernelshark", "-i", machine.folder / "window.dat", KS_USER_CACHE_DIR=machine.folder):
        end = time.monotonic() + 30 * PATIENCE
        # The window, which takes a fifth of the screen, with bars in the colours of tasks: neither a message nor an empty one.
        while screen.shown() < 0.1 or screen.share_of_colours() < 0.002:
            assert time.monotonic() < end, (screen.shown(), screen.share_of_colours())
            time.sleep(0.5)
        time.sleep(1)
        screen.picture(picture)


def test_texts_of_trace_printk(machine):
    run = machine.fathom("record", "-e", "sched_switch", "-o", "said.dat", "--", "ktest trace_printk_caller; cat trace > /tmp/said")
    assert run.returncode == 0, run.stderr
    said = re.findall(r"(\d+\.\d+): (ktest_trace_speaker: .*)", machine.guest.check("cat /tmp/said"))
    assert len(said) > 2 and any("number -7 word" in text for _, text in said)
    for plain in ([], ["-N"]):
        assert (
            re.findall(r"(\d+\.\d+): (?:bprint|bputs|print): +(ktest_trace_speaker: .*)", report(machine.folder / "said.dat", *plain))
            == said
        )


def test_stacks_are_the_kernels(machine):
    machine.guest.check(f"{TRACES['stacks'][0]}; echo 0 > tracing_on; echo > trace; echo 1 > tracing_on; hackbench 1; echo 0 > tracing_on")
    told = [re.findall(r"^ => (\S+)", part, re.M) for part in machine.guest.check("cat trace").split("<stack trace>")[1:]]
    run = machine.fathom("extract", "-o", "stacks.dat")
    machine.guest.check(CLEAN)
    assert run.returncode == 0, run.stderr
    read = [re.findall(r"^=> (\S+) ", part, re.M) for part in report(machine.folder / "stacks.dat").split("<stack trace >")[1:]]
    assert len(told) > 50 and sorted(read) == sorted(told)


def test_durations_of_calls(machine):
    """As the kernel prints them."""
    machine.guest.check(
        "echo function_graph > current_tracer; echo vfs_open > set_graph_function; echo 0 > tracing_on; echo > trace; echo 1 > tracing_on; "
        "cat /proc/version; echo 0 > tracing_on"
    )
    told = re.findall(r"([\d.]+) us +\|  ( *)(\S+\(\);|\})", machine.guest.check("cat trace"))
    run = machine.fathom("extract", "-o", "graph.dat")
    machine.guest.check(CLEAN)
    assert run.returncode == 0, run.stderr
    assert (
        sorted(re.findall(r"([\d.]+) us +\|  ( *)(\S+\(\);|\})", report(machine.folder / "graph.dat"))) == sorted(told) and len(told) > 10
    )


def test_hist(machine):
    run = machine.fathom("record", "-e", "sched_switch", "-T", "-o", "hist.dat", "--", "hackbench 1")
    assert run.returncode == 0, run.stderr
    found = subprocess.run(["trace-cmd", "hist", "-i", machine.folder / "hist.dat"], capture_output=True, text=True, timeout=60 * PATIENCE)
    assert found.returncode == 0 and "hackbench" in found.stdout and "schedule" in found.stdout


def test_over_the_serial_line(machine):
    """Slow, and all is there; while another client uses the other channel."""
    with Ninep(machine.channel) as other:
        other.version_after_noise()
        run = machine.fathom("record", "-e", "sched_switch", "-o", "com2.dat", "--", "hackbench 1 3", channel=machine.com2, seconds=200)
        assert run.returncode == 0, run.stderr
        assert len(events_of_report(machine.folder / "com2.dat")) > 20
        busy = machine.fathom("extract")
    assert busy.returncode == 4 and "another program uses this channel" in busy.stderr and busy.stderr.count("\n") == 1


def test_a_full_disk(machine):
    """In a stream: the file has what came before, the exit code and one sentence say so, the command does not go on."""
    run = subprocess.run(
        ["prlimit", f"--fsize={3 << 20}", *machine.words("stream", "-p", "function", "-o", "full.dat", "--", "stress 1000")],
        cwd=machine.folder,
        capture_output=True,
        text=True,
        timeout=100 * PATIENCE,
    )
    assert run.returncode == 6 and "the disk is full" in run.stderr and "Traceback" not in run.stderr, run.stderr
    path = machine.folder / "full.dat"
    assert is_valid(path) and 2 << 20 < path.stat().st_size <= 3 << 20 and len(events_of_report(path)) > 10000
    assert machine.guest.check("cat current_tracer tracing_on") == "nop\n1\n" and " stress\n" not in machine.guest.check("ps")
    run = subprocess.run(
        ["prlimit", f"--fsize={100 << 10}", *machine.words("record", "-e", "sched", "-o", "none.dat", "--", "true")],
        cwd=machine.folder,
        capture_output=True,
        text=True,
        timeout=100 * PATIENCE,
    )
    assert run.returncode == 6 and not list(machine.folder.glob("none.dat*")), run.stderr


def test_no_room_for_a_compressed_copy(machine):
    """The pages that are there already become the file."""
    folder = machine.folder / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1600k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("this user cannot mount")
    try:
        run = machine.fathom("record", "-p", "function", "-o", "small/t.dat", "-b", "500", "--compression", "zstd", "--", "hackbench 2")
        assert run.returncode == 0 and "the file is not compressed" in run.stderr, run.stderr
        assert is_valid(folder / "t.dat") and [path.name for path in folder.iterdir()] == ["t.dat"]
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_slow_reader_loses_with_a_count(machine):
    """The tool stands still while the kernel goes on."""
    with subprocess.Popen(
        machine.words("stream", "-p", "function", "-b", "100", "-o", "slow.dat", "--", "hackbench 1; sleep 2; hackbench 1; sleep 2"),
        cwd=machine.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        time.sleep(4)
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=60 * PATIENCE)[1]
    assert process.returncode == 0, said
    events, lost = map(int, re.search(r"(\d+) events, (\d+) lost", said).groups())
    assert lost > 0 and "EVENTS DROPPED" in report(machine.folder / "slow.dat")
    assert len(events_of_report(machine.folder / "slow.dat")) == events


def test_larger_pages(machine):
    machine.guest.check("echo 16 > buffer_subbuf_size_kb")
    run = machine.fathom("record", "-e", "sched", "-o", "large.dat", "--", "hackbench 4")
    machine.guest.check("echo 4 > buffer_subbuf_size_kb")
    assert run.returncode == 0, run.stderr
    assert len(events_of_report(machine.folder / "large.dat")) == int(re.search(r"(\d+) events", run.stderr)[1]) > 1000


def test_a_kernel_of_its_own(tmp_path):
    """Any number of times; QEMU ends with it."""
    for words in (["record"], ["stream", "--cpus", "4"]):
        run = subprocess.run(
            [
                ROOT / "tools/fathom",
                *words,
                "--boot",
                "--build",
                BUILDS["gcc"],
                "-e",
                "sched",
                "-o",
                tmp_path / "t.dat",
                "--",
                "cpus; hackbench 1",
            ],
            capture_output=True,
            text=True,
            timeout=60 * PATIENCE,
        )
        assert run.returncode == 0, run.stderr
        assert len(events_of_report(tmp_path / "t.dat")) > 100
        assert len(re.findall(r"^ +\d+ +\d+ ", run.stdout, re.M)) == (4 if "4" in words else 2)
    assert str(tmp_path) not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("line", ["virtio", "COM2"])
def test_how_fast(machine, line, capsys):
    """The figures of docs/trace-dat.md: time for the pages of full rings, less that for an almost empty one."""
    channel, kilobytes = (machine.channel, 30000) if line == "virtio" else (machine.com2, 300)
    seconds, sizes = [], []
    for commands in ("echo > trace_marker", "for i in 1 2 3 4 5 6 7 8; do hackbench 3; done > /dev/null"):
        machine.guest.check(
            f"echo {kilobytes} > buffer_size_kb; echo '*:*' > set_event; echo 1 > tracing_on; {commands}; echo 0 > tracing_on; echo > set_event"
        )
        begin = time.monotonic()
        run = machine.fathom("extract", "-o", "fast.dat", channel=channel, seconds=300)
        seconds.append(time.monotonic() - begin)
        sizes.append(float(re.search(r"([\d.]+) MB", run.stderr)[1]))
    machine.guest.check(f"echo 1408 > buffer_size_kb; {CLEAN}")
    speed = (sizes[1] - sizes[0]) / (seconds[1] - seconds[0])
    with capsys.disabled():
        print(f"\n{line}: {speed:.2f} MB/s ({sizes[1]} MB)")
    assert speed > (1 if line == "virtio" else 0.01)
