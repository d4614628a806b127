"""Text changes under load: every call counted, no int3 left, text as at first, no page lost."""
import os
import re

import pytest
from guest import Guest
from programs import archive, built

# A taste, each number of CPUs with one compiler. The soak (make soak) asks for more, and for all.
PAIRS = [("gcc", 1), ("clang", 2), ("gcc", 4), ("clang", 8)]
if "TORTURE_ROUNDS" in os.environ:
    PAIRS = [(build, cpus) for cpus in (1, 2, 4, 8) for build in ("gcc", "clang")]
ROUNDS = int(os.environ.get("TORTURE_ROUNDS", "40"))
CROWD_ROUNDS = max(ROUNDS, 2000)
CROWD_SECONDS = int(os.environ.get("TORTURE_CROWD_SECONDS", "1"))
KPROBE_ROUNDS = CROWD_ROUNDS if "TORTURE_ROUNDS" in os.environ else 6
SECONDS = int(os.environ.get("TORTURE_SECONDS", "400"))


@pytest.mark.parametrize("build, cpus", PAIRS)
def test_torture(build, cpus):
    patience = SECONDS + CROWD_SECONDS
    with Guest(build, cpus, tests=True, limit=patience + CROWD_SECONDS + 120, timeout=patience) as guest:
        output, status = guest.run(f"torture {ROUNDS}")
        assert status == 0, output
        print(build, output, end="")
        assert int(re.search(r"(\d+) rounds", output).group(1)) >= ROUNDS
        stats = dict(re.findall(r"^(\w+): *(\d+)$", guest.check("cat text_poke_stats"), re.M))
        assert int(stats["batches"]) >= ROUNDS
        # beside every other user of tracing
        output, status = guest.run(f"torture crowd {CROWD_ROUNDS} {CROWD_SECONDS}")
        assert status == 0, output
        print(build, output, end="")
        assert int(re.search(r"(\d+) rounds", output).group(1)) > 0
        # probes at random instructions of the same functions
        output, status = guest.run(f"torture kprobes {KPROBE_ROUNDS} {CROWD_SECONDS}")
        assert status == 0, output
        print(build, output, end="")
        assert int(re.search(r"(\d+) rounds", output).group(1)) > 0
        # the machine is as it was
        guest.check("hackbench 1 20")
        assert guest.check("cat enabled_functions /sys/kernel/debug/kprobes/list") == ""
        assert guest.check("ls instances") == ""
        assert guest.check("cat current_tracer tracing_on") == "nop\n1\n"
        assert guest.check("cat set_ftrace_filter") == "#### all functions enabled ####\n"
        assert not re.search(r"ftrace bug|BUG|PANIC", guest.check("dmesg"))


# A script that takes away each CPU but the first, and brings it back, again and again.
PLUG = (
    "while true; do for c in {cpus}; do echo 0 > /sys/devices/system/cpu/cpu$c/online; "
    "echo 1 > /sys/devices/system/cpu/cpu$c/online; done; done"
)
# A taste, with one compiler. The soak asks for 4 and 8, and for the rest of what changes text.
PLUG_PAIRS = PAIRS[4:] if "TORTURE_ROUNDS" in os.environ else [("clang", 3)]


@pytest.mark.parametrize("build, cpus", PLUG_PAIRS)
def test_torture_while_cpus_come_and_go(build, cpus):
    with Guest(build, cpus, tests=True, limit=SECONDS + 120, timeout=SECONDS) as guest:
        guest.check(f"echo '{PLUG.format(cpus=' '.join(map(str, range(1, cpus))))}' > /tmp/plug")
        guest.check("sh /tmp/plug &")
        output, status = guest.run(f"torture {max(ROUNDS // 8, 3)}")
        assert status == 0, output
        print(build, output, end="")
        if "TORTURE_ROUNDS" in os.environ:
            output, status = guest.run(f"torture kprobes {KPROBE_ROUNDS // 8} {CROWD_SECONDS}")
            assert status == 0, output
            print(build, output, end="")
            for _ in range(20):
                guest.check("livepatch load demo_version; livepatch unload demo_version")
        guest.check("kill %1; wait")
        assert len(re.findall("is now online", guest.check("dmesg"))) >= cpus
        assert guest.check("cat enabled_functions /sys/kernel/debug/kprobes/list") == ""
        guest.check("hackbench 1 20")
        assert not re.search(r"ftrace bug|BUG|PANIC|does not answer|preemption off for", guest.check("dmesg"))


# A script that traces, probes and patches functions which all programs call, again and again.
TRACERS = (
    "for i in $(seq {rounds}); do for t in function function_graph nop; do echo $t > current_tracer; done; "
    "echo 'p:torn vfs_read' > kprobe_events; echo 'r:torn2 schedule' >> kprobe_events; echo 1 > events/kprobes/enable; "
    "echo 1 > events/syscalls/enable; livepatch load demo_version > /dev/null; livepatch unload demo_version > /dev/null; "
    "echo 0 > events/enable; echo > kprobe_events; done"
)
IS_SOAK = "TORTURE_ROUNDS" in os.environ
STORM_PAIRS = PAIRS[2:] if IS_SOAK else [("clang", 8)]
STORM_WORK = (f"torture crowd {CROWD_ROUNDS} {CROWD_SECONDS}", f"torture kprobes {KPROBE_ROUNDS} {CROWD_SECONDS}")


@pytest.mark.parametrize("build, cpus", STORM_PAIRS)
def test_torture_of_dying_programs(tmp_path, build, cpus):
    """Programs of several threads end in every state, while the code that they execute in the kernel changes."""
    programs = {f"bin/{name}": built(name, build) for name in ("threads", "threads_storm")}
    with Guest(build, cpus, tests=True, initrd=archive(tmp_path / "files.cpio", programs), limit=SECONDS + 120, timeout=SECONDS) as guest:
        guest.check(f"threads_storm {SECONDS + 120} {cpus} > /tmp/storm &")
        guest.check(TRACERS.format(rounds=max(ROUNDS // 10, 4)))
        for command in STORM_WORK if IS_SOAK else ():
            output, status = guest.run(command)
            assert status == 0, output
            print(build, output, end="")
        guest.run("kill %1; wait")
        assert guest.check("cat enabled_functions /sys/kernel/debug/kprobes/list") == ""
        assert guest.run("threads ids") == ("ids is right\n", 0)
        assert not re.search(r"ftrace bug|BUG|PANIC|WARNING|preemption off for", guest.check("dmesg"))


def test_memory_of_others_is_no_leak():
    """Commands beside it take memory and give it back when they like."""
    with Guest("gcc", 2, tests=True, mem="16M", limit=100) as guest:
        assert "ok" in guest.check("sleep 2 & torture 5 5")
        for _ in range(3):
            assert "ok" in guest.check("torture 10 5 | tail -1")


def test_damaged_text_stops_tracing_and_nothing_else():
    with Guest("gcc", 2, tests=True, limit=60) as guest:
        assert "damage was noticed" in guest.check("torture damage")
        log = guest.check("dmesg")
        assert re.search(r"ftrace failed to modify \[<[0-9a-f]{16}>\] target_call\+0x0", log)
        assert "actual:   0f:1f:bb:00:00" in log
        assert "expected: 0f:1f:44:00:00" in log
        output, status = guest.run("echo function > current_tracer")
        assert (output, status) == ("sh: write error: No such device\n", 1)
        guest.check("hackbench 1 20")


def test_damaged_records_stop_tracing_and_nothing_else():
    with Guest("gcc", 2, tests=True, limit=60) as guest:
        guest.check("echo function > current_tracer")
        assert "a damaged event was noticed" in guest.check("torture records")
        assert re.search(r"ring buffer: damaged events on CPU [01]", guest.check("dmesg"))
        assert guest.run("echo function_graph > current_tracer") == ("sh: write error: No such device\n", 1)
        guest.check("hackbench 1 20")


def test_what_damage_leaves_goes_without_harm():
    """Sites that called an instance's tracer or command go on doing so: it stops recording, and may be removed."""
    users = (("calls", "ops_target", "function"), ("graph", "show_version", "function_graph"), ("latency", "show_uptime", "irqsoff"))
    with Guest("gcc", 2, tests=True, limit=100) as guest:
        for name, function, tracer in users:
            guest.check(f"mkdir instances/{name}; cd instances/{name}")
            guest.check(f"echo {function} > set_ftrace_filter; echo {tracer} > current_tracer; cd ../..")
        guest.check("mkdir instances/command; echo ops_replacement:traceoff > instances/command/set_ftrace_filter")
        guest.check("ops call 1 2; cat /proc/version /proc/uptime")
        assert "ops_target <-" in guest.check("cat instances/calls/trace")
        guest.check("torture damage")
        assert guest.check("cat tracing_on instances/*/tracing_on") == "0\n" * 5
        before = guest.check("cat instances/calls/trace instances/graph/trace")
        assert guest.check("ops call 3 4; ops call 3 4") == "ops_target(3, 4) = 7\n" * 2
        guest.check("cat /proc/version /proc/uptime")
        assert guest.check("cat instances/calls/trace instances/graph/trace") == before
        guest.check("rmdir instances/calls instances/graph instances/latency instances/command")
        assert guest.check("ls instances") == ""
        # what was freed would have other contents now
        guest.check("stress alloc 1")
        for _ in range(3):
            assert guest.check("ops call 3 4") == "ops_target(3, 4) = 7\n"
            guest.check("cat /proc/version /proc/uptime")
        assert guest.run("ops plain ops_target") == ("ops: plain: No such device\n", 1)
        guest.check("mkdir instances/calls; rmdir instances/calls; hackbench 1 20")
        assert not re.search(r"BUG|PANIC", guest.check("dmesg"))
