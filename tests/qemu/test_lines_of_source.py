"""Lines of the source: `why FILE:LINE` and the place of a function, against what the debug information says."""
import re
import subprocess

import pytest

from guest import BUILDS, ROOT


def address_of(kernel, name):
    return next(
        line.split()[0]
        for line in subprocess.run(["nm", kernel], check=True, capture_output=True, text=True).stdout.splitlines()
        if line.endswith(f" {name}")
    )


@pytest.mark.parametrize("guest", [{"build": "gcc", "cpus": 2}, {"build": "clang", "cpus": 1}], indirect=True, ids=["gcc", "clang"])
def test_places(guest, request):
    kernel = BUILDS[request.node.callspec.params["guest"]["build"]] / "fathom.elf"
    for name in "kmalloc", "vfs_stat", "schedule":
        path, line = re.search(r"^    (\S+\.c):(\d+)$", guest.run(f"why {name}")[0], re.M).groups()
        said = subprocess.run(["addr2line", "-e", kernel, address_of(kernel, name)], check=True, capture_output=True, text=True).stdout
        assert re.sub(r"^\./", "", said.split()[0]).endswith(f"{path}:{line}")
        short = path.split("/")[-1]
        answer = rf"{path}:{line} is at {name}\+0x0(, the first of \d+ pieces of code)?\n"
        assert re.fullmatch(rf"{path}:{line}: {answer}", guest.check(f"why {path}:{line}"))
        assert re.fullmatch(rf"{short}:{line}: {answer}", guest.check(f"why {short}:{line}"))
        # A line of the comment in front of the function has no code.
        source = (ROOT / path).read_text().splitlines()
        empty = max(number for number in range(1, int(line)) if not source[number - 1].strip() or source[number - 1].strip() == "*/")
        assert re.fullmatch(rf"{path}:{empty}: line {empty} has no code; the next that has: {answer}", guest.check(f"why {path}:{empty}"))


def test_refusals(guest):
    assert guest.run("why nothing.c:1") == ("nothing.c:1: no code comes from a file of that name\n", 1)
    assert guest.run("why kernel/mm/slab.c:999999") == ("kernel/mm/slab.c:999999: there is no code from that line on\n", 1)
    assert guest.run("why slab.c:x") == ("slab.c:x: this is not FILE:LINE\n", 1)
    assert guest.run("why lab.c:1") == ("lab.c:1: no code comes from a file of that name\n", 1)
