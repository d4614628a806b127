"""Probes in programs: every call is counted, whatever the program does meanwhile, and none changes what it does."""
import re
import subprocess

import pytest
from guest import Guest
from programs import archive, built, leaves_nothing

FIRST = "f_nop f_push f_lea f_mov f_jmp f_call f_call_mem f_jmp_mem f_pushf".split()
PLACES = FIRST + "f_jcc_at f_call_reg_at f_ret_at f_loop_at f_marker_at".split()
CALLS = 14  # of a round
HITS_OF_A_ROUND = len(PLACES) + 2 + 3  # a loop's instruction is done three times; f_nop is called by three others


def offsets(program):
    """The offset in the file of each symbol."""
    headers = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    loads = [[int(x, 16) for x in line.split()[1:5]] for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
    out = {}
    for line in subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout.splitlines():
        addr, _, name = line.split()
        for offset, virt, _, size in loads:
            if virt <= int(addr, 16) < virt + size:
                out[name] = int(addr, 16) - virt + offset
    return out


@pytest.fixture(scope="module", params=[("gcc", 1, "qemu64"), ("clang", 4, "max")], ids=lambda p: "-".join(map(str, p)))
def host(request, tmp_path_factory):
    build, cpus, cpu = request.param
    program = built("probed", build)
    initrd = archive(tmp_path_factory.mktemp("uprobes") / f"{build}.cpio", {"bin/probed": program})
    with Guest(build, cpus, cpu=cpu, initrd=initrd, tests=True) as guest:
        guest.at = offsets(program)
        yield guest


def probe(host, names, suffix=""):
    places = " ".join(f"{host.at[name]}{suffix}" for name in names)
    return host.check(f"uprobe /bin/probed {places}")


def counts(host):
    """Hits, returns and missed returns; the probes go."""
    return [int(n) for n in re.findall(r"\d+", host.check("uprobe -"))]


def calls(host, command):
    return [int(n) for n in re.findall(r"\d+", host.check(command))]


def test_all_instructions(host):
    probe(host, PLACES)
    assert calls(host, "probed all 50") == [50 * CALLS]
    assert counts(host) == [50 * HITS_OF_A_ROUND, 0, 0]
    assert calls(host, "probed all 5") == [5 * CALLS]


def test_forks(host):
    """Copies have the probes, and die, while pages are mapped and go."""
    probe(host, PLACES)
    assert calls(host, "probed fork 20") == [20 * 5 * CALLS]
    assert counts(host)[0] == 20 * 5 * HITS_OF_A_ROUND


def test_execs(host):
    probe(host, PLACES)
    assert host.check("probed exec 15") == "executed\n"
    assert counts(host)[0] == 15 * HITS_OF_A_ROUND


def test_returns(host):
    probe(host, FIRST, "%return")
    calls(host, "probed all 50")
    hits = 50 * (len(FIRST) + 3)
    assert counts(host) == [hits, hits, 0]
    probe(host, ["f_forks"], "%return")
    calls(host, "probed forks 10")
    assert counts(host) == [10, 20, 0]


def test_longjmp(host):
    probe(host, ["f_deep"], "%return")
    hits, returns = calls(host, "probed longjmp 300")
    assert counts(host) == [hits, returns, 0]


def test_signals(host):
    """Signals come at any time, and to handlers with probes: also in a slot, from where the thread is taken."""
    probe(host, PLACES)
    made, signals = calls(host, "probed signals 300")
    assert signals
    assert counts(host)[0] == made // CALLS * HITS_OF_A_ROUND + signals


def test_breakpoints_of_programs(host):
    probe(host, PLACES)
    assert calls(host, "probed int3 20") == [20 * CALLS]
    assert counts(host)[0] == 20 * HITS_OF_A_ROUND


def test_steps_of_programs(host):
    probe(host, ["f_push", "f_lea", "f_marker_at"])
    assert calls(host, "probed steps 20") == [60]
    assert counts(host)[0] == 60
    probe(host, ["f_push", "f_lea"], "%return")
    assert calls(host, "probed steps 20") == [60]
    assert counts(host) == [40, 40, 0]


def test_counter(host):
    place = f"{host.at['f_nop']}:{host.at['f_counter']}"
    assert host.check("probed look") == "144 0\n"
    host.check(f"uprobe /bin/probed {place}")
    assert host.check("probed look") == "204 1\n"
    counts(host)
    assert host.check("probed look") == "144 0\n"


NOP10 = "102 46 15 31 132 0 0 0 0 0\n"
BREAKPOINT10 = NOP10.replace("102", "204")
CALL10 = r"72 141 100 36 128 232 \d+ \d+ \d+ \d+\n"  # lea -128(%rsp), %rsp; call


def test_markers_become_calls(host):
    """The first hit puts a call in the place of the 10-byte NOP; a child has its parent's."""
    assert host.check("probed marker 1") == NOP10
    probe(host, ["f_marker_at"])
    assert host.check("probed marker 0") == BREAKPOINT10
    assert re.fullmatch(CALL10, host.check("probed marker 1"))
    assert re.fullmatch(CALL10, host.check("probed marker 5"))
    assert calls(host, "probed fork 3") == [3 * 5 * CALLS]
    assert counts(host)[0] == 6 + 15
    assert host.check("probed marker 1") == NOP10


def test_markers_without_calls(host):
    """A breakpoint stays where a tracer may have its own, and where no page for the trampoline is near."""
    probe(host, ["f_marker_at"])
    assert host.check("probed traced 3") == BREAKPOINT10
    assert host.check("probed full 3") == BREAKPOINT10
    assert counts(host)[0] == 6


def test_code_with_calls_moves(host):
    probe(host, ["f_marker_at"])
    assert calls(host, "probed move 3") == [15]
    assert counts(host)[0] == 15


def test_call_of_the_trampoline_from_elsewhere(host):
    assert host.check("probed enters") == "6\n"


@pytest.fixture(scope="module", params=[("gcc", 8)], ids=lambda p: "-".join(map(str, p)))
def busy(request, tmp_path_factory):
    build, cpus = request.param
    program = built("probed", build)
    initrd = archive(tmp_path_factory.mktemp("busy") / f"{build}.cpio", {"bin/probed": program})
    with Guest(build, cpus, initrd=initrd, tests=True) as guest:
        guest.at = offsets(program)
        yield guest


LOAD = "probed threads 20 > /tmp/1 & probed fork 15 > /tmp/2 & probed fork 15 > /tmp/3 & probed exec 8 > /tmp/4 & "


def test_every_hit_is_counted(busy):
    """Programs that fork, execute, map and die on all CPUs at once."""
    probe(busy, PLACES, "%return")
    busy.check(LOAD + "wait", timeout=120)
    assert calls(busy, "cat /tmp/1 /tmp/2 /tmp/3") == [100 * CALLS, 75 * CALLS, 75 * CALLS]
    assert busy.check("cat /tmp/4") == "executed\n"
    hits, returns, missed = counts(busy)
    assert hits == (100 + 75 + 75 + 8) * HITS_OF_A_ROUND
    assert returns + missed > 0


def test_threads(busy):
    for suffix in ("", "%return"):
        probe(busy, PLACES if not suffix else FIRST, suffix)
        assert calls(busy, "probed threads 60") == [5 * 60 * CALLS]
        hits = 5 * 60 * (HITS_OF_A_ROUND if not suffix else len(FIRST) + 3)
        assert counts(busy) == [hits, hits if suffix else 0, 0]


def test_probes_come_and_go(busy):
    """They disturb no program that is in the middle of their places."""
    places = " ".join(str(busy.at[name]) for name in PLACES)
    again = f"for i in 1 2 3 4 5 6 7 8 9 10; do uprobe /bin/probed {places} > /dev/null; uprobe - > /dev/null; done"
    busy.check(f"{LOAD} {again}; wait", timeout=120)
    assert calls(busy, "cat /tmp/1 /tmp/2 /tmp/3") == [100 * CALLS, 75 * CALLS, 75 * CALLS]
    assert busy.check("cat /tmp/4") == "executed\n"
    assert calls(busy, "probed all 1") == [CALLS]


def test_nothing_is_left(host):
    def work():
        probe(host, ["f_marker_at", *FIRST], "%return")
        host.check("probed fork 5; probed exec 3")
        counts(host)

    leaves_nothing(host, work)


def test_without_memory(host):
    """Registering says so and changes nothing; or the program has no memory, and is ended."""
    for nth in range(1, 30, 3):
        host.output_of(f"failalloc {nth}; uprobe /bin/probed {host.at['f_nop']} > /dev/null; failalloc > /dev/null; uprobe - > /dev/null")
        host.output_of(f"failalloc {nth}; probed all 1 > /dev/null; failalloc > /dev/null")
    assert calls(host, "probed all 2") == [2 * CALLS]
    assert host.check("probed look") == "144 0\n"
