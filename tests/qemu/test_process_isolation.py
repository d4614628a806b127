"""
Programs and the kernel keep apart: page tables read from outside the machine while programs run and code is patched, and NMIs
that come at all moments of entries and exits.
"""
import re

import pytest
from guest import Guest
from page_tables import Leaf, Memory, faults
from programs import BUSYBOX, archive, built, leaves_nothing
from qmp import Qmp

MEMORY = 64  # MiB
LOOKS = range(5, 200)  # so often the machine is stopped: at least, and at most until all kinds of address spaces were seen
UPPER = 0xFFFFFFFF80000000
PROGRAMS = ("hello", "hostile", "memory", "signals", "threads", "threads_storm", "vectors")


@pytest.fixture(scope="module", params=[("gcc", 2, "qemu64"), ("clang", 4, "max")], ids=lambda p: "-".join(map(str, p)))
def host(request, tmp_path_factory):
    build, cpus, cpu = request.param
    folder = tmp_path_factory.mktemp("isolation")
    files = {f"bin/{name}": built(name, build) for name in PROGRAMS}
    initrd = archive(folder / "files.cpio", files | {"bin/busybox": BUSYBOX})
    with Guest(build, cpus, cpu=cpu, mem=f"{MEMORY}M", initrd=initrd, tests=True, extra=Qmp.option(folder / "qmp")) as guest:
        guest.qmp = Qmp(folder / "qmp")
        guest.cpus = cpus
        yield guest


def test_faults_are_found():
    """Of address spaces that are made up."""
    code = Leaf(UPPER, 0x200000, 0x2000, 0)
    for wrong, tables, text in (
        (Leaf(UPPER + 0x5000, 0x201000, 0x1000, 1 << 63 | 2), (), "writable view"),
        (Leaf(UPPER + 0x5000, 0x300000, 0x1000, 2), (), "written and executed"),
        (Leaf(UPPER + 0x5000, 0x300000, 0x1000, 1 << 63 | 4), (), "for programs"),
        (Leaf(0x400000, 0x300000, 0x1000, 0), (), "for programs"),
        (Leaf(0x400000, 0x201000, 0x1000, 4), (), "view of the kernel"),
        (Leaf(0x400000, 0x300000, 0x1000, 4), (0x300,), "view of the kernel"),
    ):
        assert any(text in fault for fault in faults([code, wrong], set(tables)))
        assert not faults([code], set(tables))


def spaces(qmp, path):
    """{root: (leaves, tables)} of the address spaces that the CPUs are in at this moment."""
    qmp("stop")
    memory = Memory(qmp, path, MEMORY << 20)
    qmp("cont")
    found = {root: memory.walk(root) for root in memory.roots}
    memory.close()
    return found


def test_page_tables(host, tmp_path):
    """
    No address space has memory that is written and executed, none shows a program the kernel's code or page tables. A view of
    the code that can be written has only that of text pokes, which one CPU at most is in.
    """
    host.check("threads_storm 600 1000 > /dev/null & while true; do echo function > current_tracer; echo nop > current_tracer; done &")
    of_programs, pokes = set(), 0
    for look in LOOKS:
        poking = 0
        for root, (leaves, tables) in spaces(host.qmp, tmp_path / "memory").items():
            low = [leaf for leaf in leaves if leaf.virtual < UPPER >> 1]
            if low and not any(leaf.user for leaf in low):
                poking += 1
                assert not any(leaf.execute for leaf in low), low
                leaves = [leaf for leaf in leaves if leaf not in low]
            elif low:
                of_programs.add(root)
            assert not faults(leaves, tables)
        assert poking <= 1
        pokes += poking
        if pokes and len(of_programs) > 2 and look >= LOOKS[0]:
            break
    host.run("kill %1 %2; wait")
    assert pokes and len(of_programs) > 2


def test_nmis(host):
    """Thousands a second, while programs enter the kernel and leave it in every way, and functions are traced."""
    host.check("cd profile; echo nmi > clock; echo 20000 > frequency; echo 100 > max_percent; cd ..")
    host.check("echo function_graph > current_tracer; echo 1 > profile/on; vectors 1 > /tmp/v &")

    def work():
        assert host.run("hostile nmi_rsp > /dev/null; hostile kernel_rsp > /dev/null; hostile mov_ss > /dev/null")[1] == 0
        for name in ("handlers", "vectors", "faults"):
            assert host.run(f"signals {name}") == (f"{name} is right\n", 0)
        assert host.run("memory; threads ids")[0].endswith("memory is as it should be\nids is right\n")

    work()
    leaves_nothing(host, work)
    host.check("echo 0 > profile/on; echo nop > current_tracer; wait")
    assert re.fullmatch(r"(avx|sse) kept\n", host.check("cat /tmp/v"))
    samples = [int(count) for count in re.findall(r"samples (\d+)", host.check("cat profile/stats"))]
    assert len(samples) == host.cpus and min(samples) > 100, samples
    assert not re.search("WARNING|BUG|got one that nobody sent", host.check("dmesg"))
