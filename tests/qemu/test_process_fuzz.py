"""Programs that try at random to bring the kernel down, or that take all there is: it stays, and all is as it was before."""
import os
import re

import pytest
from guest import Guest
from programs import archive, built

# Of `make soak`: so many times as much, on more CPUs.
TIMES = int(os.environ.get("FUZZ_TIMES", "1"))
HOSTS = (
    [("gcc", 1, "qemu64"), ("clang", 2, "max")]
    if TIMES == 1
    else [(build, cpus, "max") for build in ("gcc", "clang") for cpus in (1, 2, 4, 8)]
)
SEED = int(os.environ.get("FUZZ_SEED", "1"))


@pytest.fixture(scope="module", params=HOSTS, ids=lambda p: "-".join(map(str, p)))
def host(request, tmp_path_factory):
    build, cpus, cpu = request.param
    initrd = archive(tmp_path_factory.mktemp("fuzz") / "root.cpio", {f"bin/{name}": built(name, build) for name in ("fuzz", "fuzz_calls")})
    with Guest(build, cpus, cpu=cpu, mem="64M", initrd=initrd, limit=300 + 600 * TIMES) as guest:
        yield guest


def state(host):
    """Pages and objects in use, and threads. The shell's history grows by pieces of 16 and 32 bytes."""
    said = host.check("free -s; ps")
    objects = [int(nr) for size, nr in re.findall(r"^\S+ +(\d+) +(\d+) +\d+$", said, re.M) if int(size) > 32]
    assert len(objects) > 5 and "kreaper" in said
    return int(re.search(r"(\d+) used", said)[1]), sum(objects), len(re.findall(r"^ +\d+ +\d+ \w", said, re.M))


def leaves_nothing(host, command, said):
    """The same command, again and again: memory ceases to grow, and no thread is left. The first time makes what stays."""
    seen = []
    while len(seen) < 2 or any(now > before for now, before in zip(seen[-1], seen[-2])):
        assert len(seen) < 8, seen
        assert host.run(command, timeout=60 * TIMES) == (said, 0)
        seen.append(state(host))


@pytest.mark.parametrize("user", ["user", "root"])
def test_calls(host, user):
    """All calls of the table, with arguments that fit and such that do not."""
    leaves_nothing(host, f"fuzz_calls {user} {SEED} {25 * TIMES} 60", "calls are as they should be\n")


@pytest.mark.parametrize("name,rounds", [("frames", 10), ("unmap", 100), ("forks", 1)])
def test_races(host, name, rounds):
    leaves_nothing(host, f"fuzz {name} {SEED} {rounds * TIMES}", f"{name} is right\n")


def test_damaged_files(host):
    """Bytes of the head are changed: ENOEXEC, or a program that runs as long as it can."""
    leaves_nothing(host, f"fuzz elf {SEED} {40 * TIMES}", "elf is right\n")


def test_many_files(host):
    leaves_nothing(host, f"fuzz files {SEED} {10000 if TIMES > 1 else 500}", "files is right\n")


def test_all_memory(host):
    output, status = host.run(f"fuzz memory {SEED} {TIMES}")
    assert output.endswith("memory is right\n") and status == 0
    assert "out of memory: fuzz " in host.check("dmesg")
