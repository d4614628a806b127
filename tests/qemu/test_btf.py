"""Types in the image: /sys/kernel/btf/vmlinux is BTF that Linux's own tools read, of each kernel."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from guest import BUILDS

FILE = "/sys/kernel/btf/vmlinux"


def section(build):
    """The types that the build put into the image."""
    listed = subprocess.run(["readelf", "-SW", build / "fathom.elf"], check=True, capture_output=True, text=True).stdout
    offset = re.search(r" \.btf +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", listed)
    start, size = (int(word, 16) for word in offset.groups())
    return Path(build / "fathom.elf").read_bytes()[start : start + size]


@pytest.mark.parametrize("guest", [{"build": "gcc", "cpus": 2}, {"build": "clang", "cpus": 1}], indirect=True, ids=["gcc", "clang"])
def test_btf_of_the_kernel(guest, tmp_path, request):
    build = BUILDS[request.node.callspec.params["guest"]["build"]]
    guest.send(f"cat {FILE}\r")
    guest.expect(rb"\r\n")
    served = guest.expect(rb"\r\nfathom# $")[0].replace(b"\r\n", b"\n")
    assert len(served) == int(guest.check(f"wc -c < {FILE}"))
    assert section(build).startswith(served) and not section(build)[len(served) :].strip(b"\0")
    assert 50_000 < len(served) < 420_000
    path = tmp_path / "btf"
    path.write_bytes(served)
    thread = subprocess.run([shutil.which("pahole"), "-F", "btf", path, "-C", "thread"], check=True, capture_output=True, text=True).stdout
    assert re.search(r"^\tchar +name\[16\];", thread, re.M) and "volatile uint32_t" in thread
    dump = subprocess.run(["bpftool", "btf", "dump", "file", path], check=True, capture_output=True, text=True).stdout
    proto = re.search(r"FUNC 'kmalloc' type_id=(\d+)", dump).group(1)
    assert re.search(rf"^\[{proto}\] FUNC_PROTO '\(anon\)' ret_type_id=\d+ vlen=1\n\t'bytes' type_id=\d+\n", dump, re.M)


def test_read_in_parts(guest):
    """Positions count: parts put together are the whole."""
    guest.check(f"head -c 1000 {FILE} > /tmp/a; tail -c +1001 {FILE} >> /tmp/a; cat {FILE} > /tmp/b")
    assert guest.check("wc -c < /tmp/a") == guest.check("wc -c < /tmp/b")
    assert guest.run(f"echo x > {FILE}")[1] == 1
    guest.check("rm /tmp/a /tmp/b")
