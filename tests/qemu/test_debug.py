"""A kernel built with DEBUG=1: its assertions hold in everything that it can be made to do."""
import bisect
import re
import struct
import subprocess

import pytest
from gdb_guest import Gdb
from guest import BUILDS, ROOT
from qmp import Qmp


@pytest.fixture(scope="module")
def debug_build():
    """As tests/run-all has built it before."""
    directory = BUILDS["gcc"] / "debug"
    subprocess.run(
        ["make", "-C", ROOT, "-j2", f"BUILD={directory}", "CC=gcc", "DEBUG=1", "test-kernel"],
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=3600,
    )
    return directory


def documented_order():
    """Lists of locks, outermost first, as docs/locking.md has them: objects, without the member."""
    text = (ROOT / "docs/locking.md").read_text()
    return [re.findall(r"^\| `(\w+)", part, re.M) for part in text.split("\n## ")[1:]]


def seen_order(build, tmp_path):
    """(outer, inner) of locks in the kernel's image, by the objects that they lie in."""
    listed = subprocess.run(["nm", "-n", build / "fathom-test.elf"], check=True, capture_output=True, text=True).stdout
    symbols = [(int(address, 16), name) for address, kind, name in (line.split() for line in listed.splitlines())]
    value = {name: address for address, name in symbols}
    copy = tmp_path / "pairs"
    Qmp(tmp_path / "qmp")("memsave", val=value["lock_pairs"] - 2**64, size=8192, filename=str(copy))
    addresses = [address for address, _ in symbols]

    def object_at(number):
        return symbols[bisect.bisect_right(addresses, value["kernel_start"] + number) - 1][1]

    return {(object_at(pair >> 32), object_at(pair & 0xFFFFFFFF)) for pair in struct.unpack("<1024Q", copy.read_bytes()) if pair}


def check_order(build, tmp_path):
    """The order of locks that the kernel has seen is the document's."""
    orders = documented_order()
    sources = "".join(path.read_text() for path in (ROOT / "tests/kernel").rglob("*.c"))
    seen = seen_order(build, tmp_path)
    assert len(seen) > 30
    for outer, inner in sorted(seen):
        # An unlocking thread wakes others: the queue of a lock, and below it only the run queues.
        if outer == inner or inner == "run_queues" or re.search(rf"\b{outer}\b", sources):
            continue
        names = ["thread" if name == "boot_thread" else name for name in (outer, inner)]
        order = next((order for order in orders if set(names) <= set(order)), None)
        assert order, f"docs/locking.md does not have both of {names}"
        assert order.index(names[0]) < order.index(names[1]), f"docs/locking.md has {names[1]} before {names[0]}"


def check_locks_in_gdb(gdb):
    """`ft locks` where code is about to be changed: who holds which mutexes, and a spin lock's CPU, which only this build writes down."""
    gdb.start("thbreak text_poke_batch\necho READY\\n\ncontinue\nft locks\nthbreak spin_unlock\ncontinue\nft locks\ndetach", "READY")
    gdb.guest.send("echo vfs_open > set_ftrace_filter; echo function > current_tracer\r")
    told = gdb.finish()
    gdb.guest.wait_prompt()
    owner = re.search(r"^text_mutex: mutex at 0x[0-9a-f]+, held by (pid \d+ sh)$", told, re.M)
    assert owner, told
    held = re.search(rf"^{owner[1]} holds, in this order: (.*)$", told, re.M)
    assert held and held[1].split(", ")[-1] == "text_mutex" and "ftrace_lock" in held[1].split(", "), told
    # Where one is about to be given back.
    assert re.search(r"^CPU \d holds, in this order: [a-z]\S+", told, re.M), told
    gdb.guest.check("echo nop > current_tracer; > set_ftrace_filter")


@pytest.mark.parametrize("cpus", [1, 4])
def test_nothing_asserted(debug_build, cpus, tmp_path):
    with Gdb(
        build=debug_build,
        elf=debug_build / "fathom-test.elf",
        cpus=cpus,
        mem="96M",
        tests=True,
        limit=280,
        timeout=200,
        extra=Qmp.option(tmp_path / "qmp"),
    ) as gdb:
        guest = gdb.guest
        output, status = guest.run("ktest")
        assert re.search(r"^\d{2,} passed, 0 failed$", output, re.M) and status == 0, output
        assert re.search(r": ok$", guest.check("torture 5"), re.M)
        guest.check("echo function > current_tracer; hackbench 1 5; stress all -n 5; echo nop > current_tracer")
        guest.check("mkdir instances/a; echo function_graph > instances/a/current_tracer; echo 1 > instances/a/snapshot")
        guest.check("echo 1 > function_profile_enabled; hackbench 1 5; echo 0 > function_profile_enabled; rmdir instances/a")
        guest.check("echo kmalloc:traceoff:1 > set_ftrace_filter; echo > set_ftrace_filter; echo 64 > buffer_size_kb")
        assert "PANIC" not in guest.everything()
        check_order(debug_build, tmp_path)
        if cpus > 1:
            check_locks_in_gdb(gdb)
