"""Scheduling policies and nice, as programs of this machine set them, and what they do."""
import re

import pytest
from guest import Guest
from programs import archive
from test_process_dynamic import libraries

PROGRAMS = "nice chrt dash sleep".split()
SPIN = "dash -c 'while :; do :; done' &"


@pytest.fixture(scope="module", params=["gcc", "clang"])
def host(request, tmp_path_factory):
    files = {f"bin/{name}": f"/usr/bin/{name}" for name in PROGRAMS}
    for name in PROGRAMS:
        files |= libraries(f"/usr/bin/{name}")
    with Guest(request.param, 1, tests=True, initrd=archive(tmp_path_factory.mktemp("policy") / "files.cpio", files)) as guest:
        yield guest


def test_nice(host):
    assert host.check("/bin/nice") == "0\n"
    assert host.check("/bin/nice -n 5 /bin/nice") == "5\n"
    assert host.check("/bin/nice -n 5 /bin/nice -n -7 /bin/nice; /bin/nice -n 99 /bin/nice; /bin/nice -n -99 /bin/nice") == "-2\n19\n-20\n"
    host.check(
        "cd /sys/kernel/tracing; echo 'comm == \"sleep\"' > events/sched/sched_waking/filter; echo 1 > events/sched/sched_waking/enable"
    )
    host.check("/bin/nice -n 3 /bin/sleep 0.01; echo 0 > events/sched/sched_waking/enable")
    assert "comm=sleep" in host.check("grep 'prio=123' trace")


def test_policies(host):
    assert re.search(
        r"policy: SCHED_OTHER\n.*priority: 0\n", host.check("/bin/chrt -p $(/bin/dash -c 'echo $PPID'); /bin/dash -c '/bin/chrt -p $$'")
    )
    for letter, name in ("f", "FIFO"), ("r", "RR"):
        shown = host.check(f"/bin/chrt -{letter} 7 /bin/dash -c '/bin/chrt -p $$'")
        assert re.search(rf"policy: SCHED_{name}\n.*priority: 7\n", shown), shown
    assert "SCHED_FIFO min/max priority\t: 1/99\n" in host.check("/bin/chrt -m")
    assert host.run("/bin/chrt -f 100 /bin/sleep 0")[1] == 1


def test_shares_of_a_cpu(host):
    """Ten steps of nice are nine times the time."""
    host.check("cd /sys/kernel/tracing; echo 'hist:keys=pid:vals=runtime if comm == \"dash\"' > events/sched/sched_stat_runtime/trigger")
    host.check(f"/bin/{SPIN}")
    host.check(f"/bin/nice -n 10 /bin/{SPIN}")
    host.check("sleep 1; cat events/sched/sched_stat_runtime/hist > /tmp/hist; kill %1 %2", timeout=120)
    shares = sorted(map(int, re.findall(r"runtime: +(\d+)", host.check("cat /tmp/hist"))))[-2:]
    assert 5 < shares[1] / shares[0] < 15, shares
