"""A profile of the guest in Debian's perf: `tools/fathom perf`, then `perf report` and `perf script`, against the trace itself."""
import collections
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "qemu"))
from guest import BUILDS, ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "tools"))
from host._events import Lost  # noqa: E402
from host._read_dat import Trace  # noqa: E402


def output(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=300).stdout


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """(perf.data, how many samples the trace has of each thread and function, by the event's own format)"""
    folder = tmp_path_factory.mktemp("perf")
    fathom, trace, data = ROOT / "tools/fathom", folder / "trace.dat", folder / "perf.data"
    output(
        *(fathom, "record", "--boot", "--build", BUILDS["gcc"], "--cpus", 2, "-o", trace, "-e", "profile:sample", "-T", "hackbench 2 600")
    )
    assert re.fullmatch(rf"{data}: \d+ samples; perf report .*\n", output(fathom, "perf", "-o", data, trace))
    recording, counted = Trace(trace), collections.Counter()
    for event in recording.events():
        if not isinstance(event, Lost) and event.name == "sample":
            comm = recording.comm(event.pid) if event.pid else "swapper"
            counted[comm, re.match(r"\w+ ip=(\w+)", event.text)[1]] += 1
    return data, counted


def with_names(data):
    return ("-i", data, "--kallsyms", f"{data}.kallsyms")


def test_report_counts_what_the_trace_has(profile):
    data, counted = profile
    text = output("perf", "report", *with_names(data), "--stdio", "--no-children", "-g", "none", "-n", "-F", "sample,comm,sym")
    found = {(comm, function): int(number) for number, comm, function in re.findall(r"^ +(\d+)  (\S+) +\[k\] (\w+)", text, re.M)}
    assert found == dict(counted) and sum(found.values()) > 50


def test_script_has_the_stacks(profile):
    data, counted = profile
    text = output("perf", "script", *with_names(data))
    stacks = re.findall(r"cpu-clock:?\w*: \n((?:\t.*\n)+)", text)
    assert len(stacks) == counted.total()
    called = [re.findall(r"^\s+[0-9a-f]+ (\w+)\+0x", stack, re.M) for stack in stacks]
    assert any(names[-2:] == ["thread_start", "arch_thread_start"] and "vfs_write" in names for names in called)


def test_symbols_of_another_kernel_are_not_taken(profile):
    """Without names perf shows addresses, and not those of the kernel that it runs on."""
    text = output("perf", "report", "-i", profile[0], "--stdio", "--no-children", "-g", "none", "-F", "sample,sym")
    assert set(re.findall(r"\[k\] (\w\w)", text)) == {"0x"}


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """(perf.data with a copy of the kernel's file, the trace) of samples and trace events with their stacks, as threads begin and end."""
    folder = tmp_path_factory.mktemp("events")
    fathom, trace, data = ROOT / "tools/fathom", folder / "trace.dat", folder / "perf.data"
    wanted = [word for event in ("profile:sample", "kmem:kmalloc", "sched:sched_process_*") for word in ("-e", event)]
    output(fathom, "record", "--boot", "--build", BUILDS["gcc"], "--cpus", 2, "-o", trace, *wanted, "-T", "hackbench 2 600")
    assert re.search(r": \d+ samples, \d+ events; ", output(fathom, "perf", "-o", data, "--elf", BUILDS["gcc"] / "fathom.elf", trace))
    return data, trace


def test_trace_events_are_read_with_their_formats(events):
    """As many as the trace has, with the text that perf makes of the format, the names of threads from their first to their last event."""
    data, trace = events
    text = output("perf", "script", *with_names(data), "-F", "comm,tid,event,trace")
    recording = Trace(trace)
    ours = [one for one in recording.events() if not isinstance(one, Lost) and one.system in ("kmem", "sched")]
    found = re.findall(r"^ *(\S.*?) +(\d+) +\w+:(\w+): +(.*)$", text, re.M)
    assert [(int(tid), name) for _, tid, name, _ in found] == [(one.pid, one.name) for one in ours] and len(ours) > 100
    for (comm, tid, name, words), one in zip(found, ours):
        assert name != "kmalloc" or f"bytes_req={one.number('bytes_req')} " in words, (words, one.fields)
        assert int(tid) == 0 or comm == recording.comm(one.pid), (comm, tid)


def test_annotate_and_diff(events):
    """perf takes the copy of the kernel's file, by its build-id, and shows instructions and lines of a function with samples."""
    data, _ = events
    counts = output("perf", "report", *with_names(data), "--stdio", "--no-children", "-g", "none", "-F", "sample,sym")
    function = re.search(r"^ +\d+  \[k\] (pipe_\w+|spin_\w+|sched_\w+|mutex_\w+)$", counts, re.M)[1]
    text = output("perf", "annotate", "-i", data, "-k", f"{data}.elf", "--stdio", "-s", function)
    assert "call " in text and re.search(r"kernel/\S+\.c:\d+", text) and re.search(r"^ +\d+\.\d\d +:", text, re.M)
    text = output("perf", "diff", "--kallsyms", f"{data}.kallsyms", data, data)
    assert re.search(rf"\+0\.00% .*\[k\] {function}\n", text)


def test_through_a_pipe(events):
    """`--to`: perf reads the same samples from its standard input."""
    data, trace = events
    words = "report --stdio --no-children -g none -n -F sample,comm,sym".split()
    kept, piped = (
        re.findall(r"^ +\d+  .*$", text, re.M)
        for text in (
            output("perf", *words, *with_names(data)),
            output(ROOT / "tools/fathom", "perf", "--to", f"perf {' '.join(words)}", trace),
        )
    )
    assert sorted(kept) == sorted(piped) and len(kept) > 10


def test_commands_of_perf(events):
    """`fathom perf report` and `script` say what perf says of the file; `record` makes one of a kernel of its own."""
    data, trace = events
    for job, words in (
        ("script", ["-F", "comm,tid,time,ip,sym"]),
        ("report", ["--stdio", "--no-children", "-g", "none", "-F", "sample,sym"]),
    ):
        kept, piped = output("perf", job, *with_names(data), *words), output(ROOT / "tools/fathom", "perf", job, trace, *words)
        lines = [sorted(line for line in text.splitlines() if not line.startswith("#")) for text in (kept, piped)]
        assert lines[0] == lines[1] and len(lines[0]) > 10
    made = data.with_name("made.data")
    text = output(ROOT / "tools/fathom", "perf", "-o", made, "record", "--boot", "--build", BUILDS["gcc"], "-e", "sched", "hackbench 2 200")
    assert re.search(rf"^{made}: \d+ samples, \d+ events; ", text, re.M)
    assert "sched:sched_switch" in output("perf", "script", *with_names(made), "-F", "event")
    assert re.search(r"\[k\] (pipe|sched|hackbench)_\w+", output("perf", "report", *with_names(made), "--stdio", "-F", "sample,sym"))


def test_report_has_the_shares_of_the_histogram(tmp_path):
    """The kernel's histogram of the same samples, function by function. It begins and ends a little later than the recording."""
    trigger, data = "hist:keys=ip.sym", tmp_path / "perf.data"
    file = "events/profile/sample/trigger"
    line = f"echo {trigger}:clear >> {file}; hackbench 2 20000 > /dev/null; echo 0 > tracing_on; echo {trigger}:pause >> {file}; cat {file[:-7]}hist"
    told = output(ROOT / "tools/fathom", "perf", "-o", data, "record", "-R", trigger, "--boot", "--build", BUILDS["gcc"], line)
    ours = collections.Counter()
    for name, hits in re.findall(r"^\{ ip: \[[0-9a-f]+\] (\w+) *\} hitcount: +(\d+)", told, re.M):
        ours[name] += int(hits)
    text = output("perf", "report", *with_names(data), "--stdio", "--no-children", "-g", "none", "-n", "-F", "sample,sym")
    found = collections.Counter({function: int(number) for number, function in re.findall(r"^ +(\d+)  \[k\] (\w+)", text, re.M)})
    differ = sum(abs(ours[name] - found[name]) for name in ours.keys() | found.keys())
    assert found.total() > 300 and len(found) > 10 and differ < 0.03 * found.total() + 10, (differ, ours, found)
