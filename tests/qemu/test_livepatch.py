"""Live patches: replaced, stacked, reverted, traced; under load each call is of one version."""
import os
import re
import time

import pytest
from guest import PATIENCE, Guest

KLP = "/sys/kernel/livepatch"
SECONDS = int(os.environ.get("LIVEPATCH_SECONDS", "0"))  # make soak has them


def settled(guest, patch, gone=False):
    """Wait until the transition of the patch has ended."""
    end = time.monotonic() + 20 * PATIENCE
    while time.monotonic() < end:
        out, status = guest.run(f"cat {KLP}/{patch}/transition 2> /dev/null")
        if (gone and status) or (not gone and out == "0\n"):
            return
        time.sleep(0.05)
    raise AssertionError(f"{patch} does not settle: {out!r}")


@pytest.fixture(params=["gcc", "clang"])
def patched(request, guest_pool):
    guest = guest_pool(build=request.param, cpus=4)
    guest.check("echo nop > current_tracer; > set_ftrace_filter; > trace; echo 1 > tracing_on")
    yield guest
    guest.check("echo nop > current_tracer; > set_ftrace_filter; > trace")
    if getattr(request.node, "failed_call", False):
        guest.failed = True


def test_replace_and_revert(patched):
    before = patched.check("cat /proc/version")
    assert patched.check(f"ls {KLP}") == ""
    patched.check("livepatch load demo_version")
    settled(patched, "demo_version")
    assert patched.check("cat /proc/version").endswith("this has been live patched\n")
    assert patched.check(f"cat {KLP}/demo_version/enabled") == "1\n"
    assert patched.check(f"ls {KLP}/demo_version/vmlinux") == "show_version,1\n"
    # the site has no other user: it jumps
    assert re.search(r"^show_version \(1\) R I", patched.check("cat enabled_functions"), re.M)
    patched.check(f"echo 0 > {KLP}/demo_version/enabled")
    settled(patched, "demo_version", gone=True)
    assert patched.check("cat /proc/version") == before
    assert patched.check("cat enabled_functions") == ""
    assert patched.check(f"ls {KLP}") == ""


def test_stacked_in_any_order(patched):
    before = patched.check("cat /proc/version")
    for first, second in (("demo_version", "demo_stacked"), ("demo_stacked", "demo_version")):
        patched.check("livepatch load demo_version")
        settled(patched, "demo_version")
        patched.check("livepatch load demo_stacked")
        settled(patched, "demo_stacked")
        assert "patched twice" in patched.check("cat /proc/version")
        assert "still the same boot" in patched.check("cat /proc/uptime")
        patched.check(f"livepatch unload {first}")
        settled(patched, first, gone=True)
        assert ("patched twice" if first == "demo_version" else "live patched") in patched.check("cat /proc/version")
        patched.check(f"livepatch unload {second}")
        settled(patched, second, gone=True)
        assert patched.check("cat /proc/version") == before


def test_both_sides_are_traced(patched):
    """A tracer on the old function sees the call, and on the new one too, patched or not."""
    patched.check("echo show_version patched_show_version > set_ftrace_filter; echo function > current_tracer")
    patched.check("livepatch load demo_version")
    settled(patched, "demo_version")
    patched.check("> trace; cat /proc/version > /dev/null")
    names = re.findall(r": (\w+) <-", patched.check("cat trace"))
    assert names == ["show_version", "patched_show_version"] * (len(names) // 2) and names
    assert re.search(r"^show_version \(2\) R I", patched.check("cat enabled_functions"), re.M)
    patched.check("livepatch unload demo_version")
    settled(patched, "demo_version", gone=True)
    patched.check("> trace; cat /proc/version > /dev/null")
    assert set(re.findall(r": (\w+) <-", patched.check("cat trace"))) == {"show_version"}


def refused(guest, command, text):
    out, status = guest.run(command)
    assert status == 1 and text in out, out


def test_errors(patched):
    refused(patched, "livepatch load nonsense", "No such file or directory")
    refused(patched, "livepatch unload demo_version", "Invalid argument")
    patched.check("livepatch load demo_version")
    settled(patched, "demo_version")
    refused(patched, "livepatch load demo_version", "File exists")
    for value in ("1", "2", "x", "", " 0", "o", "-1", "t", "yes", "Y", "on", "ON"):  # it is on, or none of the words
        refused(patched, f"echo '{value}' > {KLP}/demo_version/enabled", "Invalid argument")
    for value in ("1", "y", "on", "force"):
        refused(patched, f"echo {value} > {KLP}/demo_version/force", "Invalid argument")
    refused(patched, f"mkdir {KLP}/x", "Operation not permitted")
    refused(patched, f"rmdir {KLP}/demo_version", "Operation not permitted")
    # The switch for tracing does not bring back what was replaced.
    switch = "/proc/sys/kernel/ftrace_enabled"
    refused(patched, f"echo 0 > {switch}", "Device or resource busy")
    assert patched.check("cat /proc/version").endswith("this has been live patched\n")
    patched.check("livepatch unload demo_version")
    settled(patched, "demo_version", gone=True)
    patched.check(f"echo 0 > {switch}")
    refused(patched, "livepatch load demo_version", "Device or resource busy")
    patched.check(f"echo 1 > {switch}")


def test_words(patched):
    """The words that the files take for yes and no, as Linux does: the first letters count."""
    for off in ("0", "n", "N", "off", "oFF", "no", "0x1", "of course not"):
        patched.check("livepatch load demo_version")
        settled(patched, "demo_version")
        for nothing in ("0", "n", "off"):
            patched.check(f"echo {nothing} > {KLP}/demo_version/force")
        assert patched.check(f"cat {KLP}/demo_version/enabled") == "1\n"
        patched.check(f"echo -n '{off}' > {KLP}/demo_version/enabled")
        settled(patched, "demo_version", gone=True)


@pytest.mark.parametrize("build, cpus", [("clang", 1), ("gcc", 2), ("clang", 4), ("gcc", 8)])
def test_under_load(build, cpus):
    """No pass of mixed versions, no call missed or doubled, with tracers on the same sites."""
    load = f"stress livepatch {SECONDS or '-n 300'}"  # rounds, and a patch changes in one of 16
    with Guest(build, cpus, limit=120 + 2 * SECONDS) as guest:
        assert re.search(r"stress: livepatch: \d+ rounds on \d+ CPUs, ok", guest.check(load, timeout=60 + SECONDS))
        guest.check("echo 'klp_stress_*' 'stress_livepatch_*' > set_ftrace_filter")
        guest.check(f"echo function > current_tracer; {load}", timeout=60 + SECONDS)
        guest.check("echo nop > current_tracer; > set_ftrace_filter")
        assert guest.check("cat enabled_functions") == ""


def test_stays_when_tracing_is_dead():
    with Guest("clang", 2, tests=True, limit=100) as guest:
        guest.check("livepatch load demo_version")
        settled(guest, "demo_version")
        patched_version = guest.check("cat /proc/version")
        assert "live patched" in patched_version
        guest.check("torture damage")
        refused(guest, "livepatch unload demo_version", "livepatch: demo_version: No such device")
        refused(guest, f"echo 0 > {KLP}/demo_version/enabled", "sh: write error: No such device")
        # on top of it, where no site would have to be added, and beside it
        refused(guest, "livepatch load demo_stacked", "livepatch: demo_stacked: No such device")
        time.sleep(0.2)
        assert guest.check("cat /proc/version") == patched_version
        assert guest.check(f"cat {KLP}/demo_version/enabled {KLP}/demo_version/transition") == "1\n0\n"
        assert guest.check(f"ls {KLP}") == "demo_version\n"
        assert "demo_version   enabled" in guest.check("livepatch")
        assert "unpatching" not in guest.check("dmesg")
        guest.check("hackbench 1 20")


def hits_of(guest, command):
    """The probes that a command hits, by name."""
    return sorted(set(re.findall(r": (entry|inside): \(show_version\+0x", guest.check(f"> trace; {command} > /dev/null; cat trace"))))


def define_probes(guest):
    """One at the call site of the function that is patched, and one behind it; both are on."""
    guest.check("cd /sys/kernel/tracing; echo p:lp/entry show_version > kprobe_events")
    assert any(guest.run(f"echo p:lp/inside show_version+{at} >> kprobe_events")[1] == 0 for at in range(6, 30))
    guest.check("echo 1 > events/lp/enable")


@pytest.mark.parametrize("patch_first", [False, True], ids=["probe_then_patch", "patch_then_probe"])
def test_probes(patched, patch_first):
    """The site of a patched function can be probed, whichever came first. What is behind it does not run, and `why` says so."""
    silent = "The probe inside is not hit: all calls of show_version go elsewhere"
    if not patch_first:
        define_probes(patched)
        assert hits_of(patched, "cat /proc/version") == ["entry", "inside"]
        assert silent not in patched.check("why")
    patched.check("livepatch load demo_version")
    settled(patched, "demo_version")
    if patch_first:
        define_probes(patched)
    assert hits_of(patched, "cat /proc/version") == ["entry"]
    assert patched.check("cat /proc/version").endswith("this has been live patched\n")
    assert silent in patched.check("why")
    listed = patched.check("cat /sys/kernel/debug/kprobes/list")
    assert re.search(r"  k  show_version\+0x0    \[FTRACE\]", listed) and "[GONE]" not in listed
    patched.check("livepatch unload demo_version")
    settled(patched, "demo_version", gone=True)
    assert hits_of(patched, "cat /proc/version") == ["entry", "inside"]
    assert silent not in patched.check("why")
    patched.check("echo 0 > events/lp/enable; echo > kprobe_events; > trace")
