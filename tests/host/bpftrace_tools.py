"""The tools that Debian's bpftrace brings, unchanged, by the command bt: which of them run, and the reasons of the others, are a table of docs/scripts.md."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parents[1] / "qemu"))
from guest import ROOT, Guest  # noqa: E402
from programs import BUSYBOX, archive, built  # noqa: E402
from test_process_dynamic import libraries  # noqa: E402

TOOLS = sorted(Path("/usr/sbin").glob("*.bt"))
RUN = "they run"
NAMED = [f"/lib/x86_64-linux-gnu/{name}" for name in ("libpthread.so.0", "libssl.so.3", "libcrypto.so.3")]  # libraries that tools name
# A command of the shell, and a line that the tool prints about it, for each that runs.
SEEN = {
    "bashreadline": ("echo echo hi | bash --norc -i > /dev/null 2>&1", r"^\d\d:\d\d:\d\d +\d+ +echo hi$"),
    "cpuwalk": ("busybox sleep 0.3", r"^@cpu: \n\[\d, "),
    "execsnoop": ("busybox env busybox echo some words > /dev/null", r"^\d+ +\d+ +busybox echo some words$"),
    "gethostlatency": ("getent ahosts localhost > /dev/null", r"^\d\d:\d\d:\d\d +\d+ +getent +\d+ +localhost$"),
    "killsnoop": ("busybox kill -0 1", r"^\d\d:\d\d:\d\d +\d+ +busybox +0 +1 +-?\d+$"),
    "loads": ("busybox sleep 1.3", r"^\d\d:\d\d:\d\d load averages: \d+\.\d{3} \d+\.\d{3} \d+\.\d{3}$"),
    "opensnoop": ("busybox cat /proc/version > /dev/null", r"^\d+ +busybox +\d+ +0 +/proc/version$"),
    "pidpersec": ("busybox sleep 1.3", r"^\d\d:\d\d:\d\d PIDs/sec: @: \d+$"),
    "runqlat": ("busybox sleep 0.1", r"^@usecs: \n\["),
    "setuids": ("ids", r"^\d\d:\d\d:\d\d \d+ +ids +0 +setresuid ruid="),
    "statsnoop": ("busybox stat -f / > /dev/null", r"^\d+ +busybox +0 +/$"),
    "syncsnoop": ("busybox sync", r"^\d\d:\d\d:\d\d +\d+ +busybox +tracepoint:syscalls:sys_enter_sync$"),
    "syscount": ("busybox true", r"^@process\[busybox\]: \d+$"),
    "vfscount": ("busybox cat /proc/version > /dev/null", r"^@\[vfs_open\]: \d+$"),
}


def table():
    """The rows of the document: {tool: reason}."""
    text = (ROOT / "docs/scripts.md").read_text()
    rows = re.findall(r"^\| (.*?) \| ((?:`\w+\.bt`(?:, )?)+) \|$", text, re.M)
    return {name: said for said, names in rows for name in re.findall(r"`(\w+)\.bt`", names)}


REASONS = table()


@pytest.fixture(scope="module", params=["gcc", "clang"])
def host(request, tmp_path_factory):
    files = {"bin/busybox": BUSYBOX, "bin/ids": built("ids", "gcc"), **{f"tools/{path.name}": path for path in TOOLS}}
    for program in ("/bin/bash", "/usr/bin/getent"):
        files |= {f"bin/{Path(program).name}": program, **libraries(program)}
    files |= {f"lib/x86_64-linux-gnu/{Path(path).name}": path for path in NAMED}
    hosts = tmp_path_factory.mktemp("etc") / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    files["etc/hosts"] = hosts
    with Guest(request.param, 2, initrd=archive(tmp_path_factory.mktemp("tools") / "tools.cpio", files)) as guest:
        yield guest


def test_table_has_each_tool():
    assert [path.stem for path in TOOLS] == sorted(REASONS), "is bpftrace installed, in version 0.17?"
    assert {name for name, said in REASONS.items() if said == RUN} == set(SEEN)


@pytest.mark.parametrize("tool", sorted(SEEN))
def test_runs(host, tool):
    command, line = SEEN[tool]
    text = host.check(f"bt -c '{command}' /tools/{tool}.bt", timeout=60)
    assert re.search(line, text, re.M), text


@pytest.mark.parametrize("tool", sorted(set(REASONS) - set(SEEN)))
def test_is_refused_for_its_reason(host, tool):
    """The reason of the table is the end of the error's first line, and no probe stays."""
    text, status = host.run(f"bt -c 'busybox true' /tools/{tool}.bt", timeout=60)
    place, _, why = text.splitlines()[0].partition(": ")[2].partition(": ")
    assert status == 1 and re.fullmatch(r"\d+:\d+", place)
    assert REASONS[tool].startswith(f"`{why}`") or f"`{why.rpartition(' ')[2]}`" in REASONS[tool], text
    assert host.check("cat enabled_functions") == ""
