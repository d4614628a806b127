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
