"""Programs that trace programs, by ptrace(): system calls, memory, registers, steps, signals, threads, and their ends."""
import pytest
from programs import archive, built, leaves_nothing

TESTS = {"ptraces": "calls memory vectors steps signals".split(), "ptraces_ends": "events attach seize ends".split()}


@pytest.fixture(scope="module")
def initrd(computer, tmp_path_factory):
    build = computer[0]
    return archive(tmp_path_factory.mktemp("ptrace") / f"{build}.cpio", {f"bin/{name}": built(name, build) for name in TESTS})


@pytest.mark.parametrize("program,name", [(program, name) for program in TESTS for name in TESTS[program]])
def test_ptrace(host, program, name):
    assert host.run(f"{program} {name}") == (f"{name} are right\n", 0)


def test_nothing_is_left(host):
    leaves_nothing(host, lambda: host.check("ptraces; ptraces_ends"))
