"""rtla of Debian inside of the guest, the user program of osnoise and timerlat: what it counts is what the trace of another instance has."""
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parents[1] / "qemu"))
from guest import BUILDS, ROOT, Guest  # noqa: E402

TRACING = "/sys/kernel/tracing"
CONTEXTS = ("irq", "thread")
BUCKET_US, NR_BUCKETS = 100, 50


@pytest.fixture(scope="module", params=["gcc", "clang"])
def host(request):
    build = BUILDS["gcc"]
    made = subprocess.run(
        [ROOT / "tools/rootfs", "-o", build / "rtla.cpio", "-c", build / "rootfs", "dash", "coreutils", "rtla"],
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    with Guest(request.param, 2, mem="1G", initrd=build / "rtla.cpio") as guest:
        yield guest


@pytest.fixture(autouse=True)
def clean(host):
    """rtla leaves settings as it has found them, and no instance."""
    before = host.check(f"cat {TRACING}/osnoise/*")
    yield
    host.check(f"cd {TRACING}; echo nop > current_tracer; echo > trace")
    assert host.check(f"cat {TRACING}/osnoise/*; ls {TRACING}/instances") == before


def beside(host, tracer, words):
    """The output of rtla, and the lines of the top instance, in which the tracer runs, too: [(CPU, text)]."""
    host.check(f"cd {TRACING}; echo {tracer} > current_tracer; cd /tmp")
    said = host.check(f"rtla {tracer} {words}", timeout=60)
    text = host.check(f"echo 0 > {TRACING}/tracing_on; cat {TRACING}/trace; echo 1 > {TRACING}/tracing_on", timeout=60)
    return said, [(int(cpu), line) for cpu, line in re.findall(r"\[(\d+)\] \S+ +[\d.]+: (.*)", text)]


def windows(rows, nr):
    """All lists of `nr` rows that follow each other."""
    return (rows[i : i + nr] for i in range(len(rows) - nr + 1))


def buckets(times):
    found = [0] * NR_BUCKETS
    for us in times:
        if us // BUCKET_US < NR_BUCKETS:
            found[us // BUCKET_US] += 1
    return found


def test_osnoise_top(host):
    """The sums of each column, over as many lines as rtla has read."""
    said, lines = beside(host, "osnoise", "top -q -d 2s -p 200000 -r 100000")
    told = re.findall(r"^ +(\d) #(\d+) +(\d+) +(\d+) +([\d.]+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) *$", said, re.M)
    assert [row[0] for row in told] == ["0", "1"], said
    for cpu, nr, runtime, noise, _, _, longest, *counts in told:
        rows = [[int(n) for n in re.sub(r" +\d+\.\d{5} ", " ", line).split()] for at, line in lines if at == int(cpu)]
        wanted = [int(n) for n in (runtime, noise, *counts)]
        assert any(
            [sum(column) for column in zip(*(row[:2] + row[3:] for row in window))] == wanted
            and max(row[2] for row in window) == int(longest)
            for window in windows(rows, int(nr))
        ), (said, rows)


def test_osnoise_hist(host):
    said = host.check("rtla osnoise hist -d 2s -p 200000 -r 100000 -b 1000 -E 20", timeout=60)
    assert re.search(r"^Index +CPU-000 +CPU-001$", said, re.M)
    assert all(int(n) > 0 for n in re.search(r"^count: +(\d+) +(\d+)", said, re.M).groups()), said


def test_timerlat_top(host):
    said, _ = beside(host, "timerlat", "top -q -d 2s -p 2000")
    told = re.findall(r"^ +(\d) #(\d+) +\|(.*)\|(.*)$", said, re.M)
    assert [row[0] for row in told] == ["0", "1"], said
    for _, nr, irq, thread in told:
        (_, least, mean, most), (_, least_of_thread, *_) = [int(n) for n in irq.split()], [int(n) for n in thread.split()]
        assert int(nr) > 10 and least <= mean <= most and least <= least_of_thread


def test_timerlat_hist(host):
    """Each bucket of each CPU, for interrupts and threads."""
    said, lines = beside(host, "timerlat", f"hist -d 2s -p 2000 -b {BUCKET_US} -E {NR_BUCKETS} --with-zeros --no-header")
    told = [[int(n) for n in line.split()[1:]] for line in said.splitlines() if re.match(r"\d+ ", line)]
    assert len(told) >= NR_BUCKETS - 1, said
    counts = [int(n) for n in re.search(r"^count:(.*)", said, re.M)[1].split()]
    for column, nr in enumerate(counts):
        cpu, context = column // 2, CONTEXTS[column % 2]
        times = [
            int(found[1]) // 1000 for at, line in lines if at == cpu and (found := re.search(rf"{context} timer_latency +(\d+) ns", line))
        ]
        assert nr > 10
        assert any(buckets(window)[: len(told)] == [row[column] for row in told] for window in windows(times, nr)), said


def test_stop(host):
    """A latency above the limit stops it, with a trace that says so."""
    said = host.check("cd /tmp; rtla timerlat top -q -d 10s -p 2000 -T 1 -s 1 -t", timeout=60)
    assert "rtla timerlat hit stop tracing" in said
    trace = host.check("cat /tmp/timerlat_trace.txt")
    assert "# tracer: timerlat" in trace and "<stack trace>" in trace
    assert re.search(r"stop tracing hit on cpu [01]", trace) and re.search(r"irq_noise: local_timer:\d+ start ", trace)
