"""What tracing costs stays within its budget: the figures of `make bench` that need no bigger kernel."""
import sys

import pytest
from guest import ROOT, Guest

sys.path.insert(0, str(ROOT / "tests" / "bench"))
import bench  # noqa: E402

NAMES = "site_off op_empty ops_two op_regs direct func_event func_event_bytes ring_16 patch_all_syncs"
CALIBRATION = 0.5  # an empty loop is subtracted: what remains of it


@pytest.fixture(scope="module")
def measured():
    with Guest("gcc", 1, icount=True) as guest:
        return bench.values(guest.check("bench " + NAMES.replace("patch_all_syncs", "patch_all_insn")))


@pytest.mark.parametrize("name", NAMES.split())
def test_cost_is_within_its_target(measured, name):
    _, _, linux, target = bench.ROWS[name]
    assert 0 < measured[name] <= target + CALIBRATION
    assert target <= linux


@pytest.mark.xdist_group("speed")
def test_all_sites_take_three_syncs(measured):
    """No more, and no fewer: without any one of them a processor may execute half of a change."""
    assert measured["patch_all_syncs"] == 3


def test_boot_to_prompt():
    with Guest("gcc", 4, icount=True) as guest:
        assert 100_000 < bench.values(guest.check("bench boot_to_prompt"))["boot_to_prompt"] < 150_000_000
