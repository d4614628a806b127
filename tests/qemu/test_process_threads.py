"""Threads of programs: the calls that make, wake and end them, on 1 to 8 CPUs; and the C library's threads on top of these."""
import pytest
from guest import Guest
from programs import archive, built, leaves_nothing, linked

NAMES = {
    "threads": "ids clone3 flags leader group signals stop exec memory faults forks",
    "futexes": "errors times wakes wake_ops interrupts processes robust",
}


def threads_archive(build, folder):
    files = {f"bin/{name}": built(name, build) for name in NAMES} | {"bin/pthreads": linked("pthreads", build)}
    return archive(folder / f"{build}.cpio", files)


HOSTS = [("gcc", 1, "qemu64"), ("clang", 4, "max")]


@pytest.fixture(scope="module", params=HOSTS, ids=lambda p: "-".join(map(str, p)))
def host(request, tmp_path_factory):
    build, cpus, cpu = request.param
    with Guest(build, cpus, cpu=cpu, initrd=threads_archive(build, tmp_path_factory.mktemp("threads")), tests=True) as guest:
        yield guest


@pytest.mark.parametrize("program", NAMES)
def test_calls(host, program):
    """Each of these programs ends well on Linux, too."""
    for name in NAMES[program].split():
        said = "executed" if name == "exec" else name
        assert host.run(f"{program} {name}", timeout=60) == (f"{said} is right\n", 0)


def test_c_library(host):
    leaves_nothing(host, lambda: host.check("pthreads", timeout=60))


def test_without_memory(host):
    """An allocation that fails costs the call its success, and nothing is left of what it began."""
    for nth in range(1, 16):
        host.output_of(f"failalloc {nth}; threads ids > /dev/null; failalloc")
        host.output_of(f"failalloc {nth}; futexes robust > /dev/null; failalloc")
    leaves_nothing(host, lambda: host.check("threads ids; futexes wakes"))
