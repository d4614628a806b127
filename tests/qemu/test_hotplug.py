"""CPUs that go and come while the machine works: what is on them goes elsewhere, and tracing follows."""
import os
import re

import pytest
from guest import Guest
from programs import BUSYBOX, archive

CPUS = "/sys/devices/system/cpu"


# In `make test` one compiler, the soak asks for both.
BUILDS = ["gcc", "clang"] if "TORTURE_ROUNDS" in os.environ else ["gcc"]


@pytest.fixture(scope="module", params=BUILDS)
def machine(request, tmp_path_factory):
    initrd = archive(tmp_path_factory.mktemp("hotplug") / "files.cpio", {"bin/busybox": BUSYBOX})
    with Guest(request.param, 4, initrd=initrd) as booted:
        yield booted


def switch(machine, cpu, on):
    machine.check(f"echo {on} > {CPUS}/cpu{cpu}/online")
    assert machine.check(f"cat {CPUS}/cpu{cpu}/online") == f"{on}\n"


def test_files(machine):
    assert machine.check(f"cd {CPUS}; cat possible present online offline; cd /sys/kernel/tracing") == "0-3\n0-3\n0-3\n\n"
    switch(machine, 2, 0)
    assert machine.check(f"cat {CPUS}/online {CPUS}/offline {CPUS}/present") == "0-1,3\n2\n0-3\n"
    assert machine.check("busybox nproc") == "3\n"
    assert re.findall(r"^cpu\d", machine.check("cat /proc/stat"), re.M) == ["cpu0", "cpu1", "cpu3"]
    assert re.findall(r"processor.: (\d)", machine.check("cat /proc/cpuinfo")) == ["0", "1", "3"]
    switch(machine, 2, 0)
    switch(machine, 2, 1)
    switch(machine, 2, 1)
    assert machine.check(f"cat {CPUS}/online; busybox nproc") == "0-3\n4\n"
    output, status = machine.run(f"echo 0 > {CPUS}/cpu0/online")
    assert status and "Operation not permitted" in output
    output, status = machine.run(f"echo x > {CPUS}/cpu1/online")
    assert status and "Invalid argument" in output
    assert machine.check(f"cat {CPUS}/online") == "0-3\n"


def test_events(machine):
    """Each step has two, with Linux's fields and texts."""
    machine.check("echo 1 > events/cpuhp/enable")
    switch(machine, 2, 0)
    switch(machine, 2, 1)
    trace = machine.check("echo 0 > events/cpuhp/enable; cat trace; echo > trace")
    told = re.findall(
        r" cpuhp_(?:enter: cpu: 0002 target: +(\d) step: +(\d) \((\w+)\)|exit:  cpu: 0002  state: +(\d) step: +(\d) ret: 0)\n", trace
    )
    downwards = [(5, "cpu_tell_tracers"), (4, "cpu_free_threads"), (3, "cpu_stop"), (2, "cpu_take_timers"), (1, "cpu_take_softirqs")]
    upwards = [(3, "cpu_start"), (5, "cpu_tell_tracers"), (6, "cpu_start_threads")]
    wanted = []
    for target, steps in (0, downwards), (6, upwards):
        for step, name in steps:
            wanted += [(str(target), str(step), name, "", ""), ("", "", "", str(step), str(step))]
    assert told == wanted, trace
    form = machine.check("cat events/cpuhp/cpuhp_enter/format events/cpuhp/cpuhp_exit/format")
    fields = re.findall(r"field:([^;]+);\toffset:\d+;\tsize:(\d);\tsigned:(\d);", form)
    own = [field for field in fields if not field[0].split()[-1].startswith("common_")]
    unsigned, signed = [("unsigned int cpu", "4", "0")], [(f"int {name}", "4", "1") for name in ("target", "idx", "state", "idx", "ret")]
    assert own == [*unsigned, *signed[:2], ("void * fun", "8", "0"), *unsigned, *signed[2:]]
    assert 'print fmt: "cpu: %04u target: %3d step: %3d (%ps)", REC->cpu, REC->target, REC->idx, REC->fun\n' in form
    assert 'print fmt: " cpu: %04u  state: %3d step: %3d ret: %d", REC->cpu, REC->state, REC->idx, REC->ret\n' in form


def test_its_threads_go_elsewhere(machine):
    machine.check("busybox taskset 8 busybox sleep 100 & sleep 0.1")
    switch(machine, 3, 0)
    told = re.search(r"process (\d+) \(busybox\) no longer affine to cpu3", machine.check("dmesg"))
    assert machine.check(f"busybox taskset -p {told[1]}").endswith("affinity mask: 7\n")
    output, status = machine.run("busybox taskset 8 busybox true")
    assert status and "Invalid argument" in output
    # Work of all kinds goes on without it: threads, timers, calls of other CPUs, grace periods.
    machine.check("hackbench 1 20; echo function > current_tracer; echo nop > current_tracer; sleep 0.1")
    switch(machine, 3, 1)
    assert machine.check("busybox taskset 8 busybox echo here") == "here\n"
    machine.check("kill %1; wait")


def test_timers_go_elsewhere(machine):
    """A sleep that began on a CPU ends although that CPU has gone."""
    machine.check("for i in 1 2 3 4 5 6 7 8 9; do sleep 0.3 & done")
    for cpu in (1, 2, 3):
        switch(machine, cpu, 0)
    machine.check("wait")
    for cpu in (1, 2, 3):
        switch(machine, cpu, 1)


def test_tracing_follows(machine):
    """The ring of a CPU that has gone can be read, and gets events again when it has come back."""
    machine.check("echo 1 > tracing_on; > trace; echo function > current_tracer; busybox taskset 4 busybox true")
    switch(machine, 2, 0)
    machine.check("echo 0 > tracing_on")
    assert "busybox" in machine.check("grep -m 1 'busybox-.*\\[002\\]' per_cpu/cpu2/trace")
    assert "#P:3" in machine.check("head -n 4 trace")
    machine.check("> trace; echo 1 > tracing_on; hackbench 1 5; echo 0 > tracing_on")
    assert not machine.run("grep -c '\\[002\\]' trace")[0].strip("0\n")
    switch(machine, 2, 1)
    machine.check("echo 1 > tracing_on; busybox taskset 4 busybox true; echo 0 > tracing_on")
    assert "busybox" in machine.check("grep -m 1 'busybox-.*\\[002\\]' trace")
    machine.check("echo nop > current_tracer; echo 1 > tracing_on; > trace")


@pytest.mark.parametrize("tracer", ["timerlat", "osnoise", "hwlat"])
def test_threads_of_tracers_leave_and_return(machine, tracer):
    name = "hwlatd" if tracer == "hwlat" else tracer
    if tracer == "hwlat":
        machine.check("echo per-cpu > hwlat_detector/mode")
    machine.check(f"echo {tracer} > current_tracer")
    for on, cpus in ((0, "023"), (1, "0123")):
        switch(machine, 1, on)
        assert sorted(re.findall(rf"{name}/(\d)", machine.check("ps"))) == list(cpus)
    machine.check("echo nop > current_tracer; > trace")
    if tracer == "hwlat":
        machine.check("echo round-robin > hwlat_detector/mode")


@pytest.mark.parametrize("clock", ["timer", "nmi"])
def test_profile_returns(machine, clock):
    """Samples of a CPU that was away come again, by its own timer and by NMIs of the next CPU."""
    machine.check(f"echo {clock} > profile/clock; echo 1 > events/profile/enable")
    for cpu in (2, 3):
        switch(machine, cpu, 0)
        switch(machine, cpu, 1)
        machine.check(f"> trace; busybox taskset {1 << cpu} busybox timeout 0.1 busybox yes > /dev/null; true")
        assert f"[00{cpu}]" in machine.check("grep sample trace")
    machine.check("echo 0 > events/profile/enable; echo timer > profile/clock; > trace")


def test_a_cpu_that_was_left_out_at_boot_comes():
    with Guest("gcc", 3, cmdline="maxcpus=1") as guest:
        assert guest.check(f"cat {CPUS}/online {CPUS}/offline") == "0\n1-2\n"
        switch(guest, 2, 1)
        assert guest.check(f"cat {CPUS}/online") == "0,2\n"
        assert "ksoftirqd/2" in guest.check("ps") and "kworker/2" in guest.check("ps")
        guest.check("hackbench 1 20; echo function > current_tracer; hackbench 1 5; echo 0 > tracing_on")
        assert "[002]" in guest.check("grep -m 1 '\\[002\\]' trace")
