"""Markers of programs (USDT) as events: lines that tools/fathom usdt writes, and programs that ask whether they are wanted."""
import re
import subprocess

import pytest
from guest import ROOT, Guest
from programs import archive, linked

LINE = re.compile(r"marked-\d+ +\[\d+\] \S+ +[\d.]+: (.*?)\r?\n")


def usdt(*words):
    return subprocess.run([ROOT / "tools/fathom", "usdt", *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module", params=[("gcc", 1, "qemu64"), ("clang", 2, "max")], ids=lambda p: "-".join(map(str, p)))
def host(request, tmp_path_factory):
    build, cpus, cpu = request.param
    program = linked("marked", build)
    with Guest(build, cpus, cpu=cpu, initrd=archive(tmp_path_factory.mktemp("usdt") / "cpio", {"bin/marked": program})) as guest:
        guest.program, guest.lines = program, usdt("--path", "/bin/marked", program).splitlines()
        yield guest


def test_markers(host):
    for line in host.lines:
        host.check(f"echo '{line}' >> uprobe_events")
    assert len(host.check("cat uprobe_events").splitlines()) == 2
    assert host.check("marked 5") == "0 of 5\n"
    host.check("echo 1 > events/marked/enable")
    assert host.check("marked 4") == "4 of 4\n"
    host.check("echo 0 > events/marked/enable")
    assert host.check("marked 5") == "0 of 5\n"
    seen = LINE.findall(host.check("cat trace"))
    steps = [re.sub(r"\(.*?\) ", "", text) for text in seen if text.startswith("step: ")]
    totals = [1000, 1001, 1003, 1006]
    assert steps == [f"step: arg1={i} arg2={total} arg3=-7" for i, total in enumerate(totals)]
    assert len([text for text in seen if text.startswith("wanted: (0x")]) == 4 and len(seen) == 8
    host.check("> uprobe_events; > trace")


def test_semaphores_of_programs_that_run(host):
    """A program is told while it runs; of two events there the last one that goes takes the word back."""
    (line,) = (line for line in host.lines if "marked/wanted" in line)
    host.check(f"echo '{line}' > uprobe_events; echo '{line.replace('marked/', 'more/')}' >> uprobe_events")
    host.check("echo 1 > events/marked/enable; echo 1 > events/more/enable; echo 0 > events/marked/enable")
    assert host.check("marked 2") == "2 of 2\n"
    host.check("echo 0 > events/more/enable")
    assert host.check("marked 2") == "0 of 2\n"
    host.check("> uprobe_events; > trace")
