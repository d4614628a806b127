"""
Samples of programs with their stacks: shares of time that are known come out by caller, also of system calls with interrupts off.

The three callers of tests/user/burns.c take 50, 30 and 20 % of its time. Under -icount time is instructions, so the shares are
true by construction. PROFILE_CPUS: the numbers of CPUs of a long run, 10,000 samples each.
"""
import os
import re
import subprocess

import pytest
from guest import Guest
from programs import BUSYBOX, FIXED, archive, built

CALLERS = {"half": 50, "third": 30, "fifth": 20}
LONG = [int(cpus) for cpus in os.environ.get("PROFILE_CPUS", "").split()]


def symbols(program):
    text = subprocess.run(["nm", "-n", program], check=True, capture_output=True, text=True).stdout
    return [(int(at, 16), name) for at, name in re.findall(r"^(\w+) \w (\w+)$", text, re.M)]


@pytest.fixture(scope="module", params=LONG or [2], ids=lambda cpus: f"{cpus} CPUs")
def machine(request, tmp_path_factory):
    flags = (*FIXED, "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
    programs = {name: built(name, "gcc", flags) for name in ("burns", "paged")}
    files = {"bin/busybox": BUSYBOX} | {f"bin/{name}": program for name, program in programs.items()}
    files = archive(tmp_path_factory.mktemp("burns") / "files.cpio", files)
    with Guest("gcc", request.param, icount=True, initrd=files, mem="512M", limit=600, timeout=300) as guest:
        guest.starts = {name: symbols(program) for name, program in programs.items()}
        guest.cpus = request.param
        guest.check(
            "cd /sys/kernel/tracing; echo userstacktrace > trace_options; echo 19061 > profile/frequency; echo 16384 > buffer_size_kb"
        )
        yield guest


def counted(machine, filters):
    """How often each line of the trace is there that the filters leave."""
    text = machine.check(f"cat trace | {filters} | busybox sort | busybox uniq -c").replace("\r", "")
    return {line: int(nr) for nr, line in re.findall(r"^ *(\d+) (.*?) *$", text, re.M)}


def profiled(machine, command, clock):
    """
    Run it on each CPU at once, whose time is all CPUs' instructions; with NMIs on one, as QEMU lets a CPU stand still whose sender is busy. The number of its samples
    by kind, and of its stacks by the functions in them.
    """
    runs = " ".join(f"busybox taskset {1 << cpu:x} {command} &" for cpu in range(1 if clock == "nmi" else machine.cpus))
    machine.check(f"> trace; echo {clock} > profile/clock; echo 1 > profile/on; {runs} wait; echo 0 > profile/on")
    name = command.split()[0]
    samples = f"busybox grep '^ *{name}-.*sample:' | busybox sed 's/.*sample: \\([a-z]*\\) ip.* period=[0-9]*/\\1/'"
    kinds, functions = counted(machine, samples), dict.fromkeys(CALLERS, 0)
    for frame, nr in counted(machine, "busybox grep '^ => '").items():
        address = int(frame[-17:-1], 16)
        function = max((start for start in machine.starts[name] if start[0] < address), default=(0, ""))[1]
        functions[function] = functions.get(function, 0) + nr
    return kinds, functions


def close(functions):
    """Within two percentage points when there are 10,000 samples; fewer tell less."""
    nr = sum(functions[caller] for caller in CALLERS)
    most = 2 if nr >= 10000 else 1 + 2 * (10000 / nr) ** 0.5
    shares = {caller: 100 * functions[caller] / nr for caller in CALLERS}
    assert all(abs(shares[caller] - share) < most for caller, share in CALLERS.items()), (nr, shares)
    return nr


def test_shares_by_caller(machine):
    kinds, functions = profiled(machine, f"burns {21500 // max(1, machine.cpus**2 * 2 // 3) if LONG else 1100}", "timer")
    nr = close(functions)
    assert nr >= (10000 if LONG else 500), functions
    assert abs(functions["work"] - nr) < 0.02 * nr, functions  # the function that was hit; where it begins it has no frame yet
    assert 0.98 * kinds["user"] <= nr <= sum(kinds.values()), (kinds, functions)


@pytest.mark.parametrize("where", ("", " pipe"), ids=("program", "calls"))
def test_shares_by_nmi(machine, where):
    """It hits system calls with interrupts off, too; the stack of the program comes when it goes on."""
    if machine.cpus == 1:
        pytest.skip("NMIs come from another CPU")
    kinds, functions = profiled(machine, f"burns {(10000 if where else 21500) if LONG else 800 if where else 500}{where}", "nmi")
    nr = close(functions)
    assert abs(functions["work_in_calls" if where else "work"] - nr) < 0.02 * nr, functions
    assert 0.9 * sum(kinds.values()) < nr <= sum(kinds.values()), (kinds, functions)
    assert nr >= (2000 if LONG else 200) and (not where or kinds["kernel irqs-off"] > 4), (kinds, functions)


def test_kernel_stack_where_rbp_is_the_programs(machine):
    """An NMI hits the entry of a system call that has no frame yet; rbp is small, odd, or leads nowhere."""
    if machine.cpus == 1:
        pytest.skip("NMIs come from another CPU")
    machine.check("echo stacktrace > trace_options; echo nouserstacktrace > trace_options; > trace; echo nmi > profile/clock")
    machine.check("echo 1 > profile/on; busybox taskset 1 burns 600 rbp; echo 0 > profile/on")
    machine.check("echo nostacktrace > trace_options; echo userstacktrace > trace_options")
    kinds = counted(machine, "busybox grep '^ *burns-.*sample:' | busybox sed 's/.*sample: \\([a-z]*\\) ip.* period=[0-9]*/\\1/'")
    assert kinds["kernel irqs-off"] > 20 and sum(kinds.values()) > 100, kinds


@pytest.mark.parametrize("page", ("given", "locked"))
def test_page_of_the_stack_that_is_away(machine, page):
    """It is mapped again when the program goes on; one that cannot be read shortens the stack."""
    _, functions = profiled(machine, f"paged 60 {page}", "timer")
    nr, most = functions["work"], functions.get("main_program", 0) + functions.get("on_stack", 0)
    assert nr > 100 and functions["outer"] > 0.95 * nr, functions
    assert most < 0.1 * nr if page == "locked" else most > 0.95 * nr, functions


def test_one_stack_for_all_samples_of_a_call(machine):
    """A read of 32 MB is hit again and again; the program is at the same place all the time."""
    machine.check(
        "> trace; echo timer > profile/clock; echo 1 > profile/on; busybox dd if=/dev/zero of=/dev/null bs=32M count=1; echo 0 > profile/on"
    )
    text = machine.check("cat trace | busybox grep '^ *busybox-\\|^ *dd-'")
    assert re.search(r"(sample: kernel .*\n.*){4,}user stack trace", text), text
