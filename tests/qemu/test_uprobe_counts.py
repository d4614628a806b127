"""Each hit is counted: of programs that fork, execute, die, map, unmap and change their text, while probes come and go.

UPROBE_ROUNDS of them, with 8 CPUs too if it is more than one: make soak.
"""
import os
import re
import subprocess

import pytest
from guest import Guest
from programs import USER, archive, built
from test_uprobes import CALLS, HITS_OF_A_ROUND, PLACES, offsets

ROUNDS = int(os.environ.get("UPROBE_ROUNDS", "1"))
HITS_ELSEWHERE = 11  # of the nine calls in a mapping of its own
LIBC = "lib/x86_64-linux-gnu/libc.so.6"
LOADER = "lib64/ld-linux-x86-64.so.2"
CPUS = [("gcc", 2, "qemu64"), ("clang", 4, "max"), *([("gcc", 8, "qemu64")] if ROUNDS > 1 else [])]
LOADS = {"threads 10": 50, "fork 8": 40, "exec 5": 5, "rewrite 20": 20, "remap 20": 0}  # and their rounds of all calls
HITS = sum(LOADS.values()) * HITS_OF_A_ROUND + 20 * HITS_ELSEWHERE


def dynamic(name, out):
    """The program tests/user/NAME.c, which the C library of this machine is linked to when it starts."""
    subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", out / name, USER / f"{name}.c"], check=True)
    return out / name


@pytest.fixture(scope="module", params=CPUS, ids=lambda p: "-".join(map(str, p)))
def host(request, tmp_path_factory):
    build, cpus, cpu = request.param
    program, out = built("probed", build), tmp_path_factory.mktemp("counts")
    files = {"bin/probed": program, "bin/mallocs": dynamic("mallocs", out), LIBC: f"/{LIBC}", LOADER: f"/{LOADER}"}
    with Guest(build, cpus, cpu=cpu, initrd=archive(out / "cpio", files)) as guest:
        guest.at = offsets(program)
        yield guest


@pytest.fixture
def tracing(host):
    yield host
    host.check("echo 0 > events/enable; > dynamic_events; > trace")


def counted(host, event):
    """Hits of an event, at all of its places."""
    rows = re.findall(r"^  \S+ (\w+) +(\d+)\r?$", host.check("cat uprobe_profile"), re.M)
    return sum(int(nr) for name, nr in rows if name == event)


def kprobe_hits(host, event):
    return sum(int(nr) for nr in re.findall(rf"^  {event} +(\d+) ", host.check("cat kprobe_profile"), re.M))


def calls(text):
    return [int(n) for n in re.findall(r"(\d+) calls", text)]


def test_while_probes_come_and_go(tracing):
    """Of the same places, and of one beside them, in the same pages."""
    for name in PLACES:
        tracing.check(f"echo 'p:count /bin/probed:{tracing.at[name]:#x}' >> uprobe_events")
        tracing.check(f"echo 'p:more /bin/probed:{tracing.at[name]:#x} sp=%sp' >> uprobe_events")
    tracing.check(f"echo 'r:back /bin/probed:{tracing.at['f_nop']:#x}' >> uprobe_events")
    tracing.check(f"echo 'p:beside /bin/probed:{tracing.at['f_touch']:#x}' >> uprobe_events; echo 1 > events/uprobes/count/enable")
    others = "".join(f"echo $on > events/uprobes/{name}/enable; " for name in ("more", "back", "beside"))
    for _ in range(ROUNDS):
        before = counted(tracing, "count")
        for i, load in enumerate(LOADS):
            tracing.check(f"probed {load} > /tmp/{i} &")
        tracing.check(f"for i in 1 2 3 4 5 6 7 8; do for on in 1 0; do {others}done; done; wait", timeout=120)
        said = tracing.check("cat /tmp/0 /tmp/1 /tmp/2 /tmp/3 /tmp/4")
        assert calls(said) == [50 * CALLS, 40 * CALLS, 20 * CALLS, 20 * 9] and "executed" in said
        assert counted(tracing, "count") - before == HITS
    tracing.check("echo 0 > events/enable")
    assert calls(tracing.check("probed rewrite 3")) == [3 * CALLS] and "144 0" in tracing.check("probed look")


def test_malloc_in_twenty_processes(tracing):
    """All of them call that of one C library, which they have in common; what starts a program calls it, too."""
    tracing.check(f"echo 'p:malloc /{LIBC}:malloc bytes=%di:u64' > uprobe_events; echo 'r:given /{LIBC}:malloc' >> uprobe_events")
    tracing.check("echo hist:keys=common_pid > events/uprobes/malloc/trigger; echo 1 > events/uprobes/enable; mallocs 0")
    own = counted(tracing, "malloc")
    tracing.check("for i in $(seq 20); do mallocs 100 > /tmp/m$i & done; wait", timeout=120)
    assert calls(tracing.check("cat /tmp/m*")) == [100] * 20
    assert counted(tracing, "malloc") == counted(tracing, "given") == 20 * (100 + own) + own
    by_pid = [int(nr) for nr in re.findall(r"hitcount: +(\d+)", tracing.check("cat events/uprobes/malloc/hist"))]
    assert sorted(nr for nr in by_pid if nr >= 100) == [100 + own] * 20
    tracing.check("echo '!hist:keys=common_pid' > events/uprobes/malloc/trigger")


def test_other_tracing_in_the_middle_of_hits(tracing):
    """NMIs with stacks, the function tracer, kprobes at functions that a hit calls, at their entries and returns."""
    for name in PLACES:
        tracing.check(f"echo 'p:count /bin/probed:{tracing.at[name]:#x}' >> uprobe_events")
    tracing.check(f"echo 'r:back /bin/probed:{tracing.at['f_nop']:#x}' >> uprobe_events; echo 1 > events/uprobes/enable")
    for name in ("uprobe_host_step", "uprobe_slot_get", "uprobe_leave_slot"):
        tracing.check(f"echo 'p:enters {name}' >> kprobe_events; echo 'r:leaves {name}' >> kprobe_events")
    tracing.check(
        "echo nmi > profile/clock; echo 10000 > profile/frequency; echo 100 > profile/max_percent; echo stacktrace > trace_options"
    )
    tracing.check("echo function > current_tracer; echo 1 > events/kprobes/enable; echo 1 > profile/on")
    before, enters = counted(tracing, "count"), kprobe_hits(tracing, "enters")
    for i, load in enumerate(LOADS):
        tracing.check(f"probed {load} > /tmp/{i} &")
    tracing.check("wait", timeout=120)
    tracing.check("echo 0 > profile/on; echo nop > current_tracer; echo nostacktrace > trace_options; echo 0 > events/kprobes/enable")
    assert calls(tracing.check("cat /tmp/0 /tmp/1 /tmp/2 /tmp/3 /tmp/4")) == [50 * CALLS, 40 * CALLS, 20 * CALLS, 20 * 9]
    assert counted(tracing, "count") - before == HITS
    assert kprobe_hits(tracing, "enters") - enters > 1000
    assert all(int(nr) > 10 for nr in re.findall(r"samples (\d+)", tracing.check("cat profile/stats")))
