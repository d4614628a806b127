"""Threads of programs: the calls that make, wake and end them, on 1 to 8 CPUs; and the C library's threads on top of these."""
import os
import re

import pytest
from guest import Guest
from programs import archive, built, leaves_nothing, linked

NAMES = {
    "threads": "ids clone3 flags leader group signals stop exec leaves names times directories",
    "threads_memory": "memory faults forks directories",
    "eventfds": "counters timers sets ranges",
    "polls": "pipes others sets many",
    "futexes": "errors times wakes wake_ops interrupts processes robust",
}


def threads_archive(build, folder):
    files = {f"bin/{name}": built(name, build) for name in (*NAMES, "threads_storm")} | {"bin/pthreads": linked("pthreads", build)}
    return archive(folder / f"{build}.cpio", files)


HOSTS = [("gcc", 1, "qemu64"), ("clang", 4, "max")]
if "TORTURE_CROWD_SECONDS" in os.environ:
    HOSTS = [(build, cpus, "max") for cpus in (1, 2, 4, 8) for build in ("gcc", "clang")]
SECONDS = int(os.environ.get("TORTURE_CROWD_SECONDS", "1"))


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
    assert host.run("pthreads", timeout=60) == ("threads are as they should be\n", 0)


def test_events_follow_threads(host):
    """Threads have pids of their own in all events, and are followed as children are; an execve has the pid from before."""
    host.check("echo 1 > options/event-fork; echo 1 > options/function-fork; echo $$ > set_event_pid; echo $$ > set_ftrace_pid")
    host.check("echo sys_gettid > set_ftrace_filter; echo function > current_tracer; echo record-tgid > trace_options; > trace")
    host.check("for e in task/task_newtask syscalls/sys_enter_gettid sched/sched_process_exec; do echo 1 > events/$e/enable; done")
    host.check("threads ids; threads exec; echo 0 > events/enable")
    text, tgids = host.check("cat trace"), host.check("cat saved_tgids; echo norecord-tgid > trace_options")
    host.check(
        "echo nop > current_tracer; > set_event_pid; > set_ftrace_pid; > set_ftrace_filter; echo 0 > options/event-fork; echo 0 > options/function-fork"
    )
    tids = re.findall(r"task_newtask: pid=(\d+) comm=threads clone_flags=350f00 ", text)
    assert len(tids) == 7
    for tid in tids[:4]:
        tgid = re.search(rf"threads-{tid} +\( *(\d+)\) .*: sys_gettid\(\)", text).group(1)
        assert tgid != tid and f"{tid} {tgid}\n" in tgids
        assert re.search(rf"threads-{tid} .*: sys_gettid <-", text)
    pid, old = re.findall(r"sched_process_exec: filename=/bin/threads pid=(\d+) old_pid=(\d+)", text)[-1]
    assert old == tids[-1] and pid not in tids


def test_without_memory(host):
    """An allocation that fails costs the call its success, and nothing is left of what it began."""
    for nth in range(1, 16):
        host.output_of(f"failalloc {nth}; threads ids > /dev/null; failalloc")
        host.output_of(f"failalloc {nth}; futexes robust > /dev/null; failalloc")
        host.output_of(f"failalloc {nth}; eventfds sets > /dev/null; failalloc")
    leaves_nothing(host, lambda: host.check("threads ids; futexes wakes"))


def test_torture(host):
    """Threads that map, unmap, fork, signal and end while others run: programs die, one after the other, and nothing else."""
    counts = re.findall(r"(\d+)\n", host.check(f"threads_storm {SECONDS} {SECONDS * 1000}", timeout=SECONDS + 60))
    assert len(counts) == 6 and int(counts[5]) >= SECONDS
    assert host.run("threads ids") == ("ids is right\n", 0)
    leaves_nothing(host, lambda: host.check("threads group; threads_storm 0 8", timeout=60))
