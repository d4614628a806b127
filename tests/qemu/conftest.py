"""Guests shared by the tests of a run: booting is the dear part of a test."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from channelguest import client_on, guest_with_channels  # noqa: E402
from guest import Guest  # noqa: E402


@pytest.fixture(scope="session")
def guest_pool():
    """Guests by their options; a guest that ended or panicked is booted anew."""
    pool = {}

    def get(**options):
        key = tuple(sorted(options.items()))
        guest = pool.get(key)
        if guest is None or guest.process.poll() is not None or guest.failed:
            if guest is not None:
                guest.close()
            guest = Guest(limit=1200, **options)
            guest.failed = False
            pool[key] = guest
        guest.freeze(False)
        return guest

    yield get
    for guest in pool.values():
        guest.close()


@pytest.fixture
def guest(request, guest_pool):
    """A 2-CPU guest that other tests have used before: leave it as it was. GUEST in a file: what all of its guests are."""
    options = {**getattr(request.module, "GUEST", {}), **getattr(request, "param", {"cpus": 2})}
    shared = guest_pool(**options)
    yield shared
    if shared.process.poll() is None:
        shared.freeze(True)
    if getattr(request.node, "failed_call", False):
        shared.failed = True


@pytest.fixture(scope="module")
def machine():
    """A guest with both machine channels, for a file that has no machine of its own."""
    with guest_with_channels() as channels:
        yield channels


@pytest.fixture(scope="module", params=[("gcc", 1, "qemu64"), ("clang", 4, "max")], ids=lambda p: "-".join(map(str, p)))
def computer(request):
    """A compiler, a number of CPUs and their model."""
    return request.param


@pytest.fixture(scope="module")
def host(computer, initrd):
    """A guest for the programs of a file, which has an `initrd`. It has its own, because most of its tests end programs by force."""
    build, cpus, cpu = computer
    with Guest(build, cpus, cpu=cpu, initrd=initrd, tests=True) as guest:
        guest.build = build
        yield guest


@pytest.fixture
def client(machine):
    with client_on(machine.channel) as one:
        yield one


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.when == "call" and outcome.get_result().failed:
        item.failed_call = True
