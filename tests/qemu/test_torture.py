"""Text changes under load: every call counted, no int3 left, text as at first, no page lost."""
import os
import re

import pytest
from guest import Guest

# The soak (make soak) asks for more.
ROUNDS = int(os.environ.get("TORTURE_ROUNDS", "2000"))
SECONDS = int(os.environ.get("TORTURE_SECONDS", "400"))


@pytest.mark.parametrize("build", ["gcc", "clang"])
@pytest.mark.parametrize("cpus", [1, 2, 4, 8])
def test_torture(build, cpus):
    with Guest(build, cpus, limit=SECONDS + 60, timeout=SECONDS) as guest:
        output, status = guest.run(f"torture {ROUNDS}")
        assert status == 0, output
        assert int(re.search(r"(\d+) rounds", output).group(1)) >= ROUNDS
        stats = dict(re.findall(r"^(\w+): *(\d+)$", guest.check("cat text_poke_stats"), re.M))
        assert int(stats["batches"]) >= ROUNDS
        # the machine is as it was
        guest.check("hackbench 1 20")
        assert guest.check("cat enabled_functions") == ""
