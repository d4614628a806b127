"""`tools/fathom record`, `stream` and `extract`: their files are read by trace-cmd, and hold what the kernel's `trace` says."""
import os
import re
import signal
import subprocess
import sys
import time
from operator import itemgetter

import pytest

from datguest import Machine, events_of_report, is_valid, report
from guest import PATIENCE, ROOT, usual_signals

sys.path.insert(0, str(ROOT / "tools"))

from host._guest import Guest  # noqa: E402
from host._read_dat import Trace  # noqa: E402


@pytest.fixture(scope="module")
def machine():
    one = Machine()
    yield one
    one.close()


def test_each_event_is_the_kernels(machine):
    """One by one: task, pid, CPU, time, name, fields."""
    machine.guest.check("echo function > current_tracer; echo 'vfs_* sched_*' > set_ftrace_filter; echo 'sched:*' > set_event")
    told = machine.trace("echo 1 > tracing_on; ls | wc -l; hackbench 1 3 > /dev/null; echo hello > trace_marker")
    run = machine.fathom("extract", "-o", "all.dat")
    machine.guest.check("echo nop > current_tracer; echo > set_ftrace_filter; echo > set_event; echo 1 > tracing_on")
    assert run.returncode == 0, run.stderr
    assert is_valid(machine.folder / "all.dat")
    read = events_of_report(machine.folder / "all.dat")
    assert len(told) > 500 and {event[4] for event in told} >= {"function", "sched_switch", "sched_waking", "print"}
    # Events of one microsecond on two CPUs have no order.
    assert sorted(read, key=itemgetter(3, 2)) == sorted(told, key=itemgetter(3, 2))


def test_record_sets_and_puts_back(machine):
    """The options of trace-cmd, each in what is recorded; nothing of them is left."""
    machine.guest.check(
        "echo 'vfs_stat vfs_open' > set_ftrace_filter; echo 'common_pid == 1' > events/sched/sched_waking/filter; "
        "echo sched:sched_wakeup > set_event; echo function > current_tracer; echo 4 > set_ftrace_pid"
    )
    before = machine.settings()
    run = machine.fathom(
        "record",
        "-p",
        "function",
        "-l",
        "walk_*",
        "-l",
        "vfs_*",
        "-n",
        "vfs_entry",
        "-e",
        "sched:sched_switch",
        "-f",
        "next_pid != 0",
        "-e",
        "sched_waking",
        "-R",
        "stacktrace",
        "-O",
        "nooverwrite",
        "-b",
        "500",
        "-C",
        "mono",
        "-M",
        "3",
        "-o",
        "record.dat",
        "--",
        "ls | wc -l; exit 3",
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip().isdigit() and "ended with status 3" in run.stderr and re.search(r"\d+ events, 0 lost", run.stderr)
    assert machine.settings() == before
    read = events_of_report(machine.folder / "record.dat")
    names = {event[5].split()[0] for event in read if event[4] == "function"}
    assert {"vfs_open", "walk_append"} <= names and "vfs_entry" not in names and all(name.startswith(("vfs_", "walk_")) for name in names)
    switches = [event[5] for event in read if event[4] == "sched_switch"]
    assert switches and not any("next_pid=0 " in text for text in switches)
    assert any(event[4] == "kernel_stack" for event in read) and "=> sched_" in report(machine.folder / "record.dat")
    machine.guest.check(
        "echo nop > current_tracer; echo > set_ftrace_filter; echo 0 > events/sched/sched_waking/filter; echo > set_event; echo > set_ftrace_pid"
    )


def test_the_channel_is_free_again(machine):
    """QEMU serves one client, and notices that one has gone also when a thread of it waits for an answer."""
    for _ in range(3):
        with Guest(machine.channel) as guest:
            guest.open("trace_pipe").read_later(100)
            assert guest.text("tracing_on") == "1\n"


def test_graph(machine):
    """trace-cmd prints calls and returns in a way of its own: with durations, and calls of leaves in one line."""
    run = machine.fathom("record", "-p", "function_graph", "-g", "vfs_open", "-o", "graph.dat", "--", "true < /proc/version")
    assert run.returncode == 0, run.stderr
    text = report(machine.folder / "graph.dat")
    assert re.search(r"funcgraph_entry: +\|  vfs_open\(\) \{", text) and re.search(
        r"funcgraph_entry: +[!+#*@$]? *[\d.]+ us +\| +walk_append\(\);", text
    )
    assert re.search(r"funcgraph_exit: +[!+#*@$]? *[\d.]+ us +\|  \}", text)


def test_stream(machine):
    """More than the rings hold. A slow reader loses events only with a mark."""
    run = machine.fathom(
        "stream",
        "-e",
        "sched",
        "-b",
        "200",
        "-o",
        "stream.dat",
        "--",
        "for i in 1 2 3 4 5 6 7 8; do hackbench 1; sleep 0.2; done > /dev/null",
    )
    assert run.returncode == 0, run.stderr
    events, lost = map(int, re.search(r"(\d+) events, (\d+) lost", run.stderr).groups())
    read = events_of_report(machine.folder / "stream.dat")
    assert (machine.folder / "stream.dat").stat().st_size > 800 << 10
    assert len(read) == events > 10000
    # Where a page is full there is no room for their number.
    dropped = re.findall(r"\[(\d*) ?EVENTS DROPPED\]", report(machine.folder / "stream.dat"))
    assert bool(dropped) == bool(lost) and sum(int(number or 0) for number in dropped) <= lost
    assert machine.guest.check("cat set_event buffer_size_kb tracing_on") == "1408\n1\n"


def names_in(text):
    """{buffer: names of its events} of a report: lines of an instance have its name in front."""
    found = {}
    for line in text.splitlines():
        if match := re.match(r"^(?: *(\w+): )? *\S.*-\d+ +\[\d+\] +[\d.]+: (\w+):", line):
            found.setdefault(match[1] or "", set()).add(match[2])
    return found


@pytest.mark.parametrize("version", [["6"], ["7"], ["7", "--compression", "zstd"]])
def test_an_instance(machine, version):
    run = machine.fathom("record", "-B", "box", "-e", "sched_switch", "-o", "box.dat", "--file-version", *version, "--", "sleep 0.1")
    assert run.returncode == 0, run.stderr
    assert names_in(report(machine.folder / "box.dat", "-N")) == {"box": {"sched_switch"}} and is_valid(machine.folder / "box.dat")
    assert machine.guest.check("ls instances; cat trace | grep -v '^#' | wc -l") == "0\n"
    stats = report(machine.folder / "box.dat", "--stat")
    assert re.search(r"Buffer: box\s+CPU: 0\s+entries: 0\n(.*\n)*?read events: [1-9]", stats), stats


@pytest.mark.parametrize("command", ["record", "stream"])
def test_several_buffers(machine, command):
    """Options behind -B are for that instance, those in front of the first -B for the machine's own buffer."""
    machine.guest.check("mkdir instances/old; echo global > instances/old/trace_clock; echo sched_wakeup > instances/old/set_event")
    run = machine.fathom(
        command,
        "-e",
        "sched_switch",
        "-B",
        "box",
        "-p",
        "function",
        "-l",
        "vfs_open",
        "-B",
        "old",
        "-e",
        "sched_waking",
        "-f",
        "pid != 0",
        "-b",
        "64",
        "-o",
        "three.dat",
        "--",
        "ls | cat > /dev/null",
    )
    assert run.returncode == 0, run.stderr
    path = machine.folder / "three.dat"
    assert names_in(report(path, "-N")) == {"": {"sched_switch"}, "box": {"function"}, "old": {"sched_waking"}}
    assert (
        machine.guest.check(
            "ls instances; cd instances/old; grep -o '.global.' trace_clock; cat set_event buffer_size_kb; cat events/sched/sched_waking/filter; cd -"
        )
        == "old\n[global]\nsched:sched_wakeup\n1408\nnone\n/sys/kernel/tracing\n"
    )
    machine.guest.check("rmdir instances/old")
    whole, one = Trace(path), Trace(path, "box")
    assert {event.name for event in whole.events()} == {"sched_switch", "function", "sched_waking"} and {
        event.name for event in one.events()
    } == {"function"}
    assert len(list(whole.events())) == int(re.search(r"(\d+) events, 0 lost", run.stderr)[1])
    run = machine.fathom("perfetto", "-B", "nope", "three.dat")
    assert run.returncode == 1 and "no instance nope, but box, old" in run.stderr


def test_extract_of_instances(machine):
    machine.guest.check("mkdir instances/a instances/b; echo from a > instances/a/trace_marker; echo from b > instances/b/trace_marker")
    run = machine.fathom("extract", "-B", "a", "-B", "b", "-o", "two.dat")
    assert run.returncode == 0, run.stderr
    assert re.findall(r"(\w+):.*from (\w)", report(machine.folder / "two.dat", "-N")) == [("a", "a"), ("b", "b")]
    machine.guest.check("echo 8 > instances/b/buffer_subbuf_size_kb; echo again > instances/b/trace_marker")
    run = machine.fathom("extract", "-B", "a", "-B", "b")
    assert run.returncode == 1 and "sub-buffers of different sizes" in run.stderr
    run = machine.fathom("extract", "-B", "b", "-o", "b.dat")
    assert run.returncode == 0 and "again" in report(machine.folder / "b.dat", "-N"), run.stderr
    machine.guest.check("rmdir instances/a instances/b")


def test_refusals(machine):
    """One sentence each, what the kernel says with it, the exit code; nothing is changed and no file is there."""
    before = machine.settings()
    for words, code, text in (
        (["record", "-l", "no_such", "--", "true"], 1, "no_such: no such function"),
        (["record", "-p", "nope", "--", "true"], 1, "current_tracer: Invalid argument"),
        (["record", "-e", "nope", "--", "true"], 1, "set_event"),
        (["record", "-e", "sched_switch", "-f", "nope == 1", "--", "true"], 1, "^"),
        (["record", "-e", "*", "-f", "x == 1", "--", "true"], 1, "is neither"),
        (["record", "-O", "nope", "--", "true"], 1, "no option nope"),
        (["record", "--", "true"], 5, "nothing was traced"),
        (["record", "-f", "x == 1", "--", "true"], 2, "-f belongs behind"),
        (["record", "--compression", "zstd", "--file-version", "6", "--", "true"], 1, "version 7"),
        (["extract", "-B", "nope"], 1, "no instance nope"),
        (["record", "-B", "box", "-e", "sched", "-B", "box", "--", "true"], 2, "-B box: twice"),
        (["record", "-B", "a/b", "-e", "sched", "--", "true"], 2, "not a name of an instance"),
        (["record", "-B", "box", "-e", "sched", "-B", "other", "-e", "nope", "--", "true"], 1, "set_event"),
        (["extract"], 5, "nothing was traced"),
        (["record", "-o", "no/file", "--", "true"], 1, "no folder"),
    ):
        run = machine.fathom(*words)
        assert run.returncode == code and text in run.stderr and "Traceback" not in run.stderr, (words, run.stderr)
        assert not (machine.folder / "trace.dat").exists(), words
    assert machine.settings() == before and machine.guest.check("ls instances") == ""


def test_ctrl_c_makes_the_file(machine, request):
    """While a command runs, and without one; what ran is interrupted."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a job in the background
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    for words in (
        ["stream", "-e", "sched_switch", "-o", "stopped.dat", "--", "echo begun; sleep 1000"],
        ["record", "-e", "sched_switch", "-o", "stopped.dat"],
    ):
        with subprocess.Popen(
            machine.words(*words), cwd=machine.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=usual_signals
        ) as process:
            (process.stdout if "stream" in words else process.stderr).readline()
            time.sleep(0.3)
            process.send_signal(signal.SIGINT if "stream" in words else signal.SIGTERM)
            assert process.wait(60 * PATIENCE) == 0, process.stderr.read()
        assert len(events_of_report(machine.folder / "stopped.dat")) > 5
        (machine.folder / "stopped.dat").unlink()
        assert " sleep\n" not in machine.guest.check("ps") and machine.guest.check("cat set_event") == ""


def test_no_kernel(tmp_path):
    run = subprocess.run(
        [ROOT / "tools/fathom", "record", "--channel", tmp_path / "nope", "--", "true"], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 3 and run.stderr.count("\n") == 1 and not os.listdir(tmp_path)


def test_the_kernel_ends_in_a_stream():
    """The events before it make a file; the exit code and one sentence say so."""
    machine = Machine()
    try:
        with subprocess.Popen(
            machine.words("stream", "-e", "sched", "-o", "died.dat", "--", "echo begun; stress 1000"),
            cwd=machine.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            process.stdout.readline()
            time.sleep(2)
            machine.guest.process.terminate()
            assert process.wait(60 * PATIENCE) == 7
            said = process.stderr.read()
        assert "has ended" in said and "has what came before" in said and "Traceback" not in said
        assert is_valid(machine.folder / "died.dat") and len(events_of_report(machine.folder / "died.dat")) > 100
    finally:
        machine.close()


def test_commands_of_perf(machine):
    """`fathom perf record` keeps the events that it made a perf.data of; `stat` and `top` are the kernel's own, words and status as they are."""
    run = machine.fathom("perf", "-o", "perf.data", "record", "-e", "sched_process_fork", "hackbench 2 400")
    found = re.match(r"[^\n]*perf.data: (\d+) samples, (\d+) events; perf report", run.stdout.splitlines()[-1])
    assert run.returncode == 0 and found, (run.stdout, run.stderr)
    names = [event.name for event in Trace(machine.folder / "perf.data.trace.dat").events() if hasattr(event, "name")]
    assert names.count("sample") == int(found[1]) > 0 and names.count("sched_process_fork") == int(found[2]) > 0
    assert machine.guest.check("cat profile/on options/stacktrace") == "0\n0\n"
    run = machine.fathom("perf", "stat", "-e", "sched:sched_process_exit", "sh", "-c", "echo 'two  words'; exit 3")
    assert run.returncode == 1 and "two  words\n" in run.stdout and re.search(r" \d+ +sched:sched_process_exit", run.stdout), run
    assert "the command ended with status 3" in run.stderr
    run = machine.fathom("perf", "top", "-d", "0.04", "-n", "1")
    assert run.returncode == 0 and re.search(r"^\d+ samples\n +% ", run.stdout, re.M), run


def test_bt(machine):
    """A script while a line runs, one that has a mistake, and one that SIGINT ends."""
    script = 'tracepoint:raw_syscalls:sys_enter { } BEGIN { printf("begin\\n"); @x = 7; } END { printf("end\\n"); }'
    run = machine.fathom("bt", "-c", "echo inside", script)
    assert run.returncode == 0 and not run.stderr, run
    assert sorted(run.stdout.split()) == ["7", "@x:", "begin", "end", "inside"] and run.stdout.endswith("end\n@x: 7\n"), run

    run = machine.fathom("bt", "BEGIN { @ = nope; }")
    assert run.returncode == 1 and not run.stdout and re.search(r"Command: BEGIN.*\n *\^$", run.stderr.rstrip()), run
    assert machine.fathom("bt", "no-such-file").returncode == 1

    with subprocess.Popen(machine.words("bt", script), stdout=subprocess.PIPE, text=True, preexec_fn=usual_signals) as process:
        assert process.stdout.readline() == "begin\n"
        process.send_signal(signal.SIGINT)
        assert "end\n" in process.communicate(timeout=60)[0] and process.returncode == 0
    assert not machine.guest.check("ls scripts").split()


def test_bt_without_a_reader(machine):
    """As in front of `head`: it ends without a word, and so does its script."""
    script = 'interval:ms:10 { printf("tick\\n"); }'
    command = machine.words("bt", script)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=usual_signals) as process:
        assert process.stdout.readline() == "tick\n"
        process.stdout.close()
        assert process.stderr.read() == "" and process.wait(60) == 128 + signal.SIGPIPE
    assert not machine.guest.check("ls scripts").split()
