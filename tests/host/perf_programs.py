"""A program linked for any place, at a random one, in Debian's perf: its functions and the C library's against the places that it tells itself."""
import collections
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "qemu"))
from datguest import Machine  # noqa: E402
from guest import ROOT  # noqa: E402
from programs import BUSYBOX, USER, archive  # noqa: E402
from test_dat_programs import folder_of  # noqa: E402
from test_process_dynamic import libraries  # noqa: E402

sys.path.insert(0, str(ROOT / "tools"))
from host._events import Lost  # noqa: E402
from host._read_dat import Trace  # noqa: E402

START = "anywhere 300 /tmp/begin /tmp/end &"


def output(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=300).stdout


@pytest.fixture(scope="module", params=["-static-pie", "-pie"], ids=["static", "dynamic"])
def profile(request, tmp_path_factory):
    """(perf.data, {function: (where it lay, its bytes)}). The static one begins while it is recorded; the other one had begun before."""
    folder, is_static = tmp_path_factory.mktemp("perf"), request.param == "-static-pie"
    program = folder / "anywhere"
    output("gcc", "-O1", "-fno-omit-frame-pointer", "-fPIE", request.param, "-o", program, USER / "anywhere.c")
    files = {"bin/anywhere": program, "bin/busybox": BUSYBOX, **({} if is_static else libraries(program))}
    root, data = folder_of(folder / "root", files), folder / "perf.data"
    machine = Machine(initrd=archive(folder / "files.cpio", files))
    try:
        assert machine.guest.check("busybox mkfifo /tmp/begin /tmp/end; cat /proc/sys/kernel/randomize_va_space") == "2\n"
        if not is_static:
            machine.guest.check(START)
            machine.guest.check("until busybox grep -qs libc.so /proc/[0-9]*/maps; do sleep 0.01; done")
        words = ["--root", root, "-o", data, "record", "-O", "userstacktrace", "-e", "sched:sched_process_exec"]
        line = f"{START if is_static else ''} echo 1 > /tmp/begin; busybox cat /tmp/end"
        run = machine.fathom("perf", *words, line)
        assert run.returncode == 0, run
    finally:
        machine.close()
    symbols = output("nm", "-S", program) + ("" if is_static else output("nm", "-DS", root / "lib/x86_64-linux-gnu/libc.so.6"))
    sizes = {name: int(size, 16) for size, name in re.findall(r"^\w+ (\w+) \w (\w+)", symbols, re.M)}
    return data, {name: (int(at, 16), sizes[name]) for name, at in re.findall(r"(\w+)=0x(\w+)", run.stdout)}


def with_names(data):
    return ("-i", data, "--kallsyms", f"{data}.kallsyms")


def test_functions_of_program_and_library(profile):
    """As many samples of each function as the trace has between its first and its last byte."""
    data, places = profile
    recording, counted = Trace(Path(f"{data}.trace.dat")), collections.Counter()
    for event in recording.events():
        if not isinstance(event, Lost) and event.name == "sample":
            counted.update(name for name, (at, size) in places.items() if at <= event.number("ip") < at + size)
    text = output("perf", "report", *with_names(data), "--stdio", "--no-children", "-g", "none", "-n", "-F", "sample,comm,sym")
    found = {name.strip("_"): int(number) for number, name in re.findall(r"^ +(\d+)  anywhere +\[\.\] (\w+)", text, re.M)}
    assert set(places) == {"in_program", "in_library", "random"} and counted["in_program"] > 3 < counted["random"], (places, text)
    assert {name: found.get(name, 0) for name in places} == {name: counted[name] for name in places}, text


def test_callers(profile):
    """The program's callers, and the C library's function that has called main()."""
    text = output("perf", "script", *with_names(profile[0]), "-F", "comm,ip,sym")
    stacks = [re.findall(r"^\s+[0-9a-f]+ (\S+)", stack, re.M) for stack in re.findall(r"^anywhere.*\n((?:\s+[0-9a-f]+ .*\n)+)", text, re.M)]
    assert any(stack[:3] == ["in_library", "main", "__libc_start_call_main"] for stack in stacks), stacks[:20]
