"""The profiler: shares of time that are known come out, code with interrupts off is found by NMI, programs are seen.

The load of `shares` gives 50, 30 and 20 % of its work to three functions, and with `sleep` half of its time to idle. Under -icount
time is instructions, so the shares are true by construction. PROFILE_CPUS: the numbers of CPUs of a long run, 10,000 samples each.
"""
import collections
import os
import re

import pytest

GUEST = {"tests": True}  # shares
KEYS = "hist:keys=context,ip.sym,common_pid.execname:size=8192"
HIST = re.compile(r"^\{ context: +(\d+), ip: \[\w+\] (\S*) *, common_pid: (\S+) .*\} hitcount: +(\d+)$", re.M)
CONTEXTS = ("kernel", "user", "idle", "irq", "softirq")
LONG = [int(cpus) for cpus in os.environ.get("PROFILE_CPUS", "").split()]
exact = pytest.mark.parametrize("guest", [{"cpus": 2, "icount": True}], indirect=True, ids=["2 CPUs"])
FILES = "clock cpus frequency max_percent on pids"


@pytest.fixture(autouse=True)
def profile_reset(tracing):
    before = tracing.check(f"cd profile; grep '' {FILES}; cd ..")
    yield
    tracing.check("echo 0 > profile/on; echo timer > profile/clock; echo 997 > profile/frequency; > profile/pids")
    assert tracing.check(f"cd profile; grep '' {FILES}; cd ..") == before


def profile(guest, command, frequency, clock="timer", condition=""):
    """Samples by context and function: those of the command's threads, and of idle."""
    guest.check(
        f"echo {clock} > profile/clock; echo {frequency} > profile/frequency; echo '{KEYS}{condition}' > events/profile/sample/trigger; "
        f"{command}; echo '{KEYS}:pause{condition}' >> events/profile/sample/trigger"
    )
    text = guest.check("cat events/profile/sample/hist", timeout=300)
    guest.check(f"echo '!{KEYS}{condition}' >> events/profile/sample/trigger")
    rows, nr = collections.Counter(), 0
    for context, function, thread, hits in HIST.findall(text):
        nr += int(hits)
        if CONTEXTS[int(context)] == "idle" or thread == command.split()[0][:15]:
            rows[CONTEXTS[int(context)], function] += int(hits)
    assert nr == int(re.search(r"Hits: (\d+)", text)[1]) and "Dropped: 0\n" in text
    return rows


def percent(rows, *functions):
    total = sum(rows.values())
    return [100 * sum(hits for (_, name), hits in rows.items() if name == function) / total for function in functions]


def close(found, expected, nr):
    """Within two percentage points when there are 10,000 samples; fewer tell less."""
    assert all(abs(a - b) < (2 if nr >= 10000 else 1 + 2 * (10000 / nr) ** 0.5) for a, b in zip(found, expected)), (found, expected)


def shares_are_true(guest, ms, frequency):
    """A round of the load takes 20 us: the frequencies are such that the samples walk through it evenly."""
    functions = ("shares_half", "shares_third", "shares_fifth")
    rows = profile(guest, f"shares {ms}", frequency)
    rows = collections.Counter({row: hits for row, hits in rows.items() if row[0] != "idle"})  # before and after
    close(percent(rows, *functions), (50, 30, 20), rows.total())
    rows = profile(guest, f"shares {2 * ms} sleep", frequency)
    close(percent(rows, *functions), (25, 15, 10), rows.total())
    idle = sum(hits for (context, _), hits in rows.items() if context == "idle")
    close([100 * idle / rows.total()], [50], rows.total())
    assert not any(re.search("sample|profile", name) for _, name in rows), rows
    return rows.total()


@exact
def test_shares_of_time_come_out(tracing):
    assert shares_are_true(tracing, 60, 19061) > 2000


@pytest.mark.skipif(not LONG, reason="a part of make soak")
@pytest.mark.parametrize("guest", [{"cpus": cpus, "icount": True} for cpus in LONG], indirect=True, ids=[f"{cpus} CPUs" for cpus in LONG])
def test_shares_of_10000_samples(tracing):
    assert shares_are_true(tracing, 1000 // tracing.nr_cpus(), 10807) > 10000


@exact
def test_code_with_interrupts_off_is_found_by_nmi(tracing):
    command, condition = "preemptirq_delay irq 10000", " if irqs_off == 1"
    assert not profile(tracing, command, 4999, "timer", condition)  # the timer waits until they are on again
    rows = profile(tracing, command, 4999, "nmi", condition)
    assert sum(rows.values()) in range(40, 60) and "irq" not in {context for context, _ in rows}, rows
    assert rows["kernel", "delay_busy"] > 0, rows
    assert not re.search("NMI", tracing.check("dmesg"))


@exact
def test_stacks_and_threads(tracing):
    """A histogram of stacks leads to the caller; profile/pids has one thread alone."""
    tracing.check("echo 9973 > profile/frequency; echo hist:keys=stacktrace > events/profile/sample/trigger")
    tracing.check("preemptirq_delay preempt 10000")
    text = tracing.check("cat events/profile/sample/hist; > events/profile/sample/trigger")
    assert re.search(r"\n +delay_busy\+\S+\n +delay_preempt_off\+\S+\n +delay_run\+", text), text
    assert not re.search("sample_|upcall_sample|timer_interrupt", text)
    tracing.check("echo 0 1 > profile/pids; echo 1 > profile/on; sleep 0.02; echo 0 > profile/on")
    lines = re.findall(r"^ +\S+-(\d+) +\[\d+\].*: sample: (\w+) ", tracing.check("cat trace"), re.M)
    assert lines and set(lines) <= {("0", "idle"), ("1", "kernel")}


def beside_load(guest, command, pattern, nr):
    """
    The output of `profile` beside a load, and `nr` rows in it. Where all CPUs are busy, its instance may be made only when the load
    has ended: then it is done again.
    """
    for _ in range(8):
        text = guest.check(f"shares 150 & {command}; wait")
        rows = re.findall(pattern, text, re.M)
        if len(rows) >= nr:
            return text, rows
    raise AssertionError(text)


@exact
def test_command_shows_functions_and_stacks(tracing):
    """In 80 columns; the instance that it makes is gone afterwards, and wrong settings leave none."""
    pattern = r"^ +(\d+\.\d) +\d+  shares +(shares_\w+)$"
    _, rows = beside_load(tracing, "profile -d 0.08 -n 1 -f 10807", pattern, 3)
    # A short look at a load that repeats itself: tests above hold the shares themselves.
    shares = [float(share) for share, _ in rows]
    assert {name for _, name in rows[:3]} == {"shares_half", "shares_third", "shares_fifth"}, rows
    assert shares == sorted(shares, reverse=True) and min(shares[:3]) > 5 and 60 < sum(shares) <= 100.1, rows
    pattern = r"^ +\d+\.\d +\d+  shares_half < shares_thread < thread_start < arch_thread_start$"
    text, _ = beside_load(tracing, "profile -s -d 0.04 -n 2", pattern, 2)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert tracing.run("profile -c clock")[1] == tracing.run("profile -n 1 -f 0")[1] == 1
    assert tracing.run("profile -d")[1] == 2
    assert tracing.check("ls instances") == ""


def test_hits_that_were_missed_are_counted(tracing):
    """CPUs that run beside each other on a busy host miss some; none is lost without a trace."""
    tracing.check("echo 4999 > profile/frequency")
    counts = "cat profile/stats"
    before = [int(number) for number in re.findall(r"\d+(?= |\n)", tracing.check(counts))]
    tracing.check("echo 1 > profile/on; hackbench 2 50; sleep 0.2; echo 0 > profile/on")
    after = [int(number) for number in re.findall(r"\d+(?= |\n)", tracing.check(counts))]
    hits = sum(b - a for a, b in zip(before, after))
    assert hits > 2 * 0.2 * 4999 * 0.9, (before, after)
