"""Text changes under load: every call counted, no int3 left, text as at first, no page lost."""
import os
import re

import pytest
from guest import Guest

# The soak (make soak) asks for more.
ROUNDS = int(os.environ.get("TORTURE_ROUNDS", "2000"))
CROWD_ROUNDS = ROUNDS
CROWD_SECONDS = int(os.environ.get("TORTURE_CROWD_SECONDS", "3"))
SECONDS = int(os.environ.get("TORTURE_SECONDS", "400"))


@pytest.mark.parametrize("build", ["gcc", "clang"])
@pytest.mark.parametrize("cpus", [1, 2, 4, 8])
def test_torture(build, cpus):
    with Guest(build, cpus, limit=SECONDS + CROWD_SECONDS + 120, timeout=SECONDS + CROWD_SECONDS) as guest:
        output, status = guest.run(f"torture {ROUNDS}")
        assert status == 0, output
        print(build, output, end="")
        assert int(re.search(r"(\d+) rounds", output).group(1)) >= ROUNDS
        stats = dict(re.findall(r"^(\w+): *(\d+)$", guest.check("cat text_poke_stats"), re.M))
        assert int(stats["batches"]) >= ROUNDS
        # beside every other user of tracing
        output, status = guest.run(f"torture crowd {CROWD_ROUNDS} {CROWD_SECONDS}")
        assert status == 0, output
        print(build, output, end="")
        assert int(re.search(r"(\d+) rounds", output).group(1)) > 0
        # the machine is as it was
        guest.check("hackbench 1 20")
        assert guest.check("cat enabled_functions") == ""
        assert guest.check("ls instances") == ""
        assert guest.check("cat current_tracer tracing_on") == "nop\n1\n"
        assert guest.check("cat set_ftrace_filter") == "#### all functions enabled ####\n"
        assert not re.search(r"ftrace bug|BUG|PANIC", guest.check("dmesg"))


def test_damaged_text_stops_tracing_and_nothing_else():
    with Guest("gcc", 2, limit=60) as guest:
        assert "damage was noticed" in guest.check("torture damage")
        log = guest.check("dmesg")
        assert re.search(r"ftrace failed to modify \[<[0-9a-f]{16}>\] target_call\+0x0", log)
        assert "actual:   0f:1f:bb:00:00" in log
        assert "expected: 0f:1f:44:00:00" in log
        output, status = guest.run("echo function > current_tracer")
        assert (output, status) == ("sh: write error: No such device\n", 1)
        guest.check("hackbench 1 20")
