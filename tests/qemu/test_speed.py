"""The cost of tracing stays within its budget: the figures of `make bench` that need no bigger kernel."""
import re
import sys

import pytest
from guest import BUILDS, ROOT, Guest

sys.path.insert(0, str(ROOT / "tests" / "bench"))
import bench  # noqa: E402
from rows import PROBES, ROWS, SYSTEM  # noqa: E402

NAMES = (
    "site_off op_empty ops_two op_regs direct func_event func_event_bytes ring_16 patch_all_syncs "
    "hist_pid hist_2keys hist_3keys hist_sum hist_str hist_stack hist_full hist_entry_bytes "
    "event_int event_three event_off event_pid_miss event_soft_off event_inst2 event_bytes instance_bytes "
    "filter_match filter_discard filter_3and filter_str_match filter_str_discard "
    "kprobe_site kprobe_event0 kprobe_event1 kprobe_event3 kprobe_event_mem kprobe_event_str kprobe_filter_discard "
    "kprobe_define1000 kprobe_event_int3 kretprobe_event eprobe_int "
    "func_off func_full func_args3 func_profile graph_pair graph_off profile trace_printk tp_off tp_probe count_event event_dynstr "
    "monitor_off monitor_on monitor_timed event_inst3 synth_latency synth_off trace_line_event instance_make glob_insn events_all_on"
)
# The target is for 1,400 events; with the kernel's own, some 70, each bears more of what a write costs by itself.
FEW = {"events_all_on": 1125}
CALIBRATION = 0.5  # an empty loop is subtracted: what remains of it


@pytest.fixture(scope="module")
def guest():
    with Guest("gcc", 1, tests=True, icount=True) as booted:
        yield booted


@pytest.fixture(scope="module")
def measured(guest):
    """Probes in a kernel of their own, as what others leave behind makes them dearer."""
    rows, probes = [[name for name in NAMES.split() if (name in PROBES) == is_probe] for is_probe in (False, True)]
    found = bench.values(guest.check("bench " + " ".join(rows).replace("patch_all_syncs", "patch_all_insn")))
    with Guest("gcc", 1, tests=True, icount=True) as other:
        return found | bench.values(other.check("bench " + " ".join(probes)))


@pytest.mark.parametrize("name", NAMES.split())
def test_cost_is_within_its_target(measured, name):
    _, _, linux, target = (ROWS | PROBES)[name]
    assert 0 < measured[name] <= FEW.get(name, target) + CALIBRATION
    assert linux is None or target <= linux


@pytest.mark.xdist_group("speed")
def test_all_sites_take_three_syncs(measured):
    """No more, and no fewer: without any one of them a processor may execute half of a change."""
    assert measured["patch_all_syncs"] == 3


def test_bench_counts_events(guest):
    settings = "cat current_tracer tracing_on trace_clock options/overwrite set_ftrace_filter; ls instances"
    before = guest.check(settings)
    rows = guest.check("bench func_off func_full func_inst1")
    assert re.findall(r"^bench (\S+) ", rows, re.M) == ["func_off", "func_full", "func_inst1"]
    assert rows.splitlines()[-1].startswith("bench: 3 rows; a cost per call is the mean of 50000 rounds, less that of a loop ")
    assert guest.run("bench nosuch 2>&1") == ("bench: no row has such a name\n", 1)
    assert guest.check(settings) == before
    output, status = guest.run("echo 0 > tracing_on; bench func_event 2>&1; x=$?; echo 1 > tracing_on; (exit $x)")
    assert (output, status) == (
        "bench: func_event: 0 events where there should be 151000\n" "bench: func_event: Numerical result out of range\n",
        1,
    )


def test_boot_to_prompt():
    with Guest("gcc", 4, tests=True, icount=True) as guest:
        assert 100_000 < bench.values(guest.check("bench boot_to_prompt"))["boot_to_prompt"] <= SYSTEM["boot_to_prompt"][3]


def test_the_image_has_room():
    assert 500_000 < bench.image_bytes(BUILDS["gcc"] / "fathom.elf") <= SYSTEM["image_bytes_programs"][3]
