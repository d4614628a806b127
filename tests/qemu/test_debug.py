"""A kernel built with DEBUG=1: its assertions hold in everything that it can be made to do."""
import re
import subprocess

import pytest
from guest import BUILDS, ROOT, Guest


@pytest.fixture(scope="module")
def debug_build():
    """As tests/run-all has built it before."""
    directory = BUILDS["gcc"] / "debug"
    subprocess.run(["make", "-C", ROOT, "-j2", f"BUILD={directory}", "CC=gcc", "DEBUG=1", "all"], check=True,
                   stdout=subprocess.DEVNULL, timeout=3600)
    return directory


@pytest.mark.parametrize("cpus", [1, 4])
def test_nothing_asserted(debug_build, cpus):
    with Guest(debug_build, cpus, limit=280, timeout=200) as guest:
        output, status = guest.run("ktest")
        assert re.search(r"^\d{2,} passed, 0 failed$", output, re.M) and status == 0, output
        assert re.search(r": ok$", guest.check("torture 30"), re.M)
        guest.check("echo function > current_tracer; hackbench 1 20; stress all -n 20; echo nop > current_tracer")
        assert "PANIC" not in guest.everything()
