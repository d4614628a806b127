"""`tools/fathom perfetto` and `flame` on what a kernel has recorded, as a file and from the running kernel, against the text of its `trace`."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from guest import PATIENCE, ROOT, Guest
from ninep import Ninep

sys.path.insert(0, str(ROOT / "tests/tools"))

import datkit  # noqa: E402
import pftrace  # noqa: E402

NOTHING = (
    "echo nop > current_tracer; > set_event; > set_graph_function; echo 0 > options/stacktrace; echo 1408 > buffer_size_kb; "
    "echo 1 > tracing_on; > trace"
)


class Machine:
    def __init__(self, folder):
        self.folder, self.channel = Path(folder), Path(folder) / "channel"
        self.guest = Guest(
            "gcc",
            2,
            extra=[
                "-device",
                "virtio-serial-pci",
                "-chardev",
                f"socket,id=port,path={self.channel},server=on,wait=off",
                "-device",
                "virtserialport,chardev=port,name=fathom.9p",
            ],
        )

    def record(self, commands):
        """The text of the trace of these commands."""
        self.guest.check(NOTHING)
        self.guest.check(commands + "; echo 0 > tracing_on")
        return self.guest.check("cat trace")

    def write_file(self):
        """Recorded events come into trace.dat."""
        with Ninep(self.channel) as client:
            client.version_after_noise()
            client.attach(0)
            (self.folder / "trace.dat").write_bytes(datkit.version_6(datkit.of_guest(client)))

    def fathom(self, *words):
        run = subprocess.run(
            [ROOT / "tools/fathom", *words, "--channel", "channel"], capture_output=True, text=True, cwd=self.folder, timeout=60 * PATIENCE
        )
        assert run.returncode == 0, run.stderr
        return run.stdout


@pytest.fixture(scope="module")
def machine():
    with tempfile.TemporaryDirectory(prefix="fathom-pictures-") as folder:
        machine = Machine(folder)
        with machine.guest:
            yield machine


def events_in(text):
    """(thread, CPU, time in us, name, the rest) of each line of `trace`."""
    lines = re.findall(r"^ *(.+)-(\d+) +\[(\d+)\] \S+ +(\d+)\.(\d+): (\w+): (.*)$", text, re.M)
    return [((comm, int(pid)), int(cpu), int(seconds + us), name, rest) for comm, pid, cpu, seconds, us, name, rest in lines]


def calls_in(text):
    """(thread, function, begin in us, duration as printed, how many calls are around it, end in us) of all calls, by funcgraph-proc
    and funcgraph-abstime."""
    found, stacks = [], {}
    for line in text.splitlines():
        match = re.match(r" *(\d+)\.(\d+) \|  *(\d+)\)  *(\S.*)-(\d+) +\| .?(?: *([\d.]+) us)? +\| +(?:(\S+)\(\)(;| \{)|\})", line)
        if not match:
            continue
        seconds, us, cpu, comm, pid, duration, name, kind = match.groups()
        stack = stacks.setdefault((pid, cpu if pid == "0" else ""), [])
        if kind == " {":
            stack.append((name, int(seconds + us)))
        elif kind == ";":
            begin = int(seconds + us)
            found.append((int(pid), name, begin, duration, len(stack), begin + float(duration)))
        elif stack:
            name, begin = stack.pop()
            found.append((int(pid), name, begin, duration, len(stack), int(seconds + us)))
    return found


def test_slices_are_the_calls_of_the_text(machine):
    text = machine.record(
        "echo vfs_open > set_graph_function; echo 0 > tracing_on; echo function_graph > current_tracer; "
        "echo funcgraph-proc > trace_options; echo funcgraph-abstime > trace_options; echo 1 > tracing_on; cat README > /dev/null; ls -l / > /dev/null; hackbench 1 2 > /dev/null"
    )
    wanted = calls_in(text)
    assert len(wanted) > 60
    machine.write_file()
    machine.fathom("perfetto", "-o", "out", "trace.dat")
    trace = pftrace.Trace((machine.folder / "out").read_bytes())
    got = [
        (track.thread[2], name, begin, f"{arguments['duration_ns'] / 1000:.3f}")
        for track in trace.tracks.values()
        if track.thread
        for name, begin, end, _, arguments in track.slices
        if "incomplete" not in arguments
    ]
    assert len(got) == len(wanted)
    # Two calls in one microsecond are in the order of their times here, and of their lines there.
    for mine, text_ in zip(sorted(got, key=lambda call: call[:3]), sorted(wanted, key=lambda call: call[:3])):
        assert mine[:2] == text_[:2] and abs((mine[2] + 500) // 1000 - text_[2]) <= 1
        assert mine[3].startswith(text_[3])  # long ones have fewer digits


def test_arrows_and_instants_are_the_events_of_the_text(machine):
    text = machine.record("echo sched_switch sched_waking irq:* > set_event; hackbench 1 5 > /dev/null")
    lines = events_in(text)
    machine.fathom("perfetto", "-o", "out", "live")
    trace = pftrace.Trace((machine.folder / "out").read_bytes())
    instants = sorted((ts, name, arguments["line"]) for track in trace.tracks.values() for ts, name, arguments in track.instants)
    assert sorted((name, rest) for _, _, _, name, rest in lines) == sorted((name, line) for _, name, line in instants)
    woken, arrows = {}, []
    for _, cpu, us, name, rest in lines:
        if name == "sched_waking":
            woken.setdefault(int(re.search(r"\bpid=(\d+)", rest)[1]), us)
        elif name == "sched_switch" and (pid := int(re.search(r"next_pid=(\d+)", rest)[1])) in woken:
            arrows.append((woken.pop(pid), us, f"CPU {cpu}"))
    drawn = [((steps[0][0] + 500) // 1000, (steps[-1][0] + 500) // 1000, steps[-1][1]) for steps in trace.flows.values() if steps[-1][3]]
    assert len(arrows) >= 5 and len(drawn) == len(arrows)
    for mine, text_ in zip(sorted(drawn), sorted(arrows)):
        assert abs(mine[0] - text_[0]) <= 1 and abs(mine[1] - text_[1]) <= 1 and mine[2] == text_[2]


def test_what_was_overwritten_is_marked(machine):
    machine.record("echo 8 > buffer_size_kb; echo 1 > events/sched/enable; hackbench 2 20 > /dev/null")
    machine.fathom("perfetto", "-o", "out", "live")
    trace = pftrace.Trace((machine.folder / "out").read_bytes())
    said = [name for track in trace.tracks.values() for _, name, _ in track.instants if name.startswith("LOST")]
    assert said and all(re.fullmatch(r"LOST( \d+)? EVENTS", name) for name in said)


def test_the_flame_has_the_time_of_the_outermost_calls(machine):
    text = machine.record(
        "echo vfs_open > set_graph_function; echo 0 > tracing_on; echo function_graph > current_tracer; "
        "echo funcgraph-proc > trace_options; echo funcgraph-abstime > trace_options; echo 1 > tracing_on; "
        "cat README > /dev/null"
    )
    outermost = [end - begin for _, _, begin, _, depth, end in calls_in(text) if depth == 0]
    machine.fathom("flame", "-o", "out.svg", "--speedscope", "out.json", "live")
    said = re.search(r"<title>all \(([\d.]+) (us|ms), 100.0%\)</title>", (machine.folder / "out.svg").read_text())
    assert abs(float(said[1]) * {"us": 1, "ms": 1000}[said[2]] - sum(outermost)) <= 1 + len(outermost)
    profiles = json.loads((machine.folder / "out.json").read_text())["profiles"]
    assert {profile["name"].rpartition("-")[0] for profile in profiles} == {"sh", "cat"}


def test_the_flame_of_a_histogram_has_all_its_hits(machine):
    machine.record(
        "echo 'hist:keys=prev_comm,common_stacktrace' > events/sched/sched_switch/trigger; hackbench 1 5 > /dev/null; "
        "echo 'hist:keys=prev_comm,common_stacktrace:pause' >> events/sched/sched_switch/trigger"
    )
    hits = int(re.search(r"Hits: (\d+)", machine.guest.check("cat events/sched/sched_switch/hist"))[1])
    machine.fathom("flame", "-o", "out.svg", "--hist", "sched/sched_switch")
    picture = (machine.folder / "out.svg").read_text()
    machine.guest.check("echo '!hist:keys=prev_comm,common_stacktrace' >> events/sched/sched_switch/trigger")
    assert f"<title>all ({hits:,}, 100.0%)</title>" in picture and 'data-name="thread_start"' in picture


def test_a_channel_that_is_busy_or_has_nobody(machine):
    """Exit codes 4, 3 and 5, and one sentence each."""

    def failed(*words):
        run = subprocess.run(
            [ROOT / "tools/fathom", "perfetto", "live", *words], capture_output=True, text=True, cwd=machine.folder, timeout=60 * PATIENCE
        )
        assert run.stderr.count("\n") == 1 and not run.stdout
        return run.returncode

    with Ninep(machine.channel) as client:
        client.version_after_noise()
        assert failed("--channel", "channel") == 4
    assert failed("--channel", "nosuch") == 3
    machine.guest.check("echo 0 > tracing_on; > trace")
    assert failed("--channel", "channel") == 5
