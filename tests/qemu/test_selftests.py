"""Some of Linux's ftrace self-tests, unchanged, by busybox in the guest; where `make self-tests` has left the sources of Linux."""
import sys
from pathlib import Path

import pytest

SELFTESTS = Path(__file__).resolve().parents[1] / "host/selftests"
sys.path.insert(0, str(SELFTESTS))
from sources import FOLDER, STORE  # noqa: E402
from within import Within  # noqa: E402

SOME = "00basic/basic1 event/toplevel-enable kprobe/add_and_remove trigger/trigger-eventonoff".split()
KEPT = STORE / "linux-6.1" / FOLDER


@pytest.mark.skipif(not KEPT.exists(), reason="no sources of Linux's self-tests: make self-tests INSIDE=busybox fetches them")
def test_some_by_busybox(tmp_path):
    machine = Within("busybox", KEPT)
    try:
        for name in SOME:
            results = machine.run(KEPT / "test.d" / f"{name}.tc", tmp_path / "logs")
            assert results and set(results.values()) == {"PASS"}, (name, results, (tmp_path / "logs/log").read_text())
    finally:
        machine.close()
