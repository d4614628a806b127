"""Markers of a program that was built with SystemTap's own <sys/sdt.h>: listed as readelf lists them, and seen as events."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

QEMU = Path(__file__).resolve().parents[1] / "qemu"
sys.path.insert(0, str(QEMU))
from guest import Guest  # noqa: E402
from programs import USER, archive  # noqa: E402
from test_usdt import LINE, usdt  # noqa: E402


@pytest.fixture(scope="module", params=["gcc", "clang"])
def program(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("sdt") / "marked"
    subprocess.run([request.param, "-O2", "-Wall", "-DHAS_SDT", "-static", "-o", out, USER / "marked.c"], check=True)
    return out


def test_as_readelf_lists_them(program):
    notes = subprocess.run(["readelf", "-n", program], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"Provider: (\S+)\n +Name: (\S+)\n.*, Semaphore: (0x\w+)\n +Arguments: *(.*)\n", notes)
    listed = [line.split(" ", 3) for line in usdt("--list", program).splitlines()]
    assert [(name, "".join(args)) for name, _, _, *args in listed] == [(f"{owner}:{name}", args) for owner, name, _, args in found]
    assert len(found) == 2 and all(words[2].startswith("semaphore=0x") for words in listed)


def test_as_events(program, tmp_path):
    with Guest("gcc", 2, initrd=archive(tmp_path / "cpio", {"bin/marked": program})) as guest:
        for line in usdt("--path", "/bin/marked", program).splitlines():
            guest.check(f"echo '{line}' >> uprobe_events")
        assert guest.check("marked 3") == "0 of 3\n"
        guest.check("echo 1 > events/marked/enable")
        assert guest.check("marked 3") == "3 of 3\n"
        seen = [re.sub(r"\(.*?\) ?", "", text) for text in LINE.findall(guest.check("cat trace"))]
    assert [text for text in seen if text.startswith("step")] == [
        f"step: arg1={i} arg2={1000 + i * (i + 1) // 2} arg3=-7" for i in range(3)
    ]
    assert len(seen) == 6
