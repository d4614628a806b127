"""Lines of events of probes, and kprobe_profile, have the form that Linux gives them (tests/golden, probe-*)."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))
from mask import sample, transcript  # noqa: E402

PLACE = r"[\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+"


def shape(event):
    """The text of an event without its facts."""
    for pattern, to in (
        (PLACE, "PLACE"),
        (r'"[^"]*"', "TEXT"),
        (r"0x[0-9a-f]+", "HEX"),
        (r"(?<=[={,])-?\d+", "NR"),
        (r"<- [\w.]+\)", "<- NAME)"),
    ):
        event = re.sub(pattern, to, event)
    return event


def events(text):
    """The shapes of each event's lines, by its name."""
    shapes = {}
    for name, event in re.findall(r"^ .* [\d.]+: (\w+): (\(.*)$", text.replace("\r", ""), re.M):
        shapes.setdefault(name, set()).add(shape(event))
    return shapes


# Differences: our shape of the event, and why.
DIFFERENT = {
    # Linux does not know the place when two probes of a return are hit one after the other.
    "opened": "(PLACE <- NAME) fd=NR",
    # As newer kernels: a text is one, whatever its type.
    "ev": "(sched.sched_switch) prev=NR next=TEXT state=NR arg4=HEX",
}


def test_lines_as_linux(tracing):
    """The line of the sample, at our vfs_open; the path is its second argument, too, but of the kernel's memory."""
    linux = sample("probe-trace")
    defined = re.findall(r"^([pre](?:10)?:.*)$", linux.split("$ cat dynamic_events\n")[1].split("# tracer")[0], re.M)
    assert len(defined) >= 10
    for line in defined:
        line = line.replace("do_sys_openat2", "vfs_open").replace("ustring", "string")
        tracing.check(f"echo '{line}' >> dynamic_events")
    tracing.run("> trace; echo 1 > events/kprobes/enable; cat /proc/uptime /nothing; echo 0 > events/kprobes/enable")
    tracing.check("echo 1 > events/eprobes/enable; sleep 0.01; echo 0 > events/eprobes/enable")
    ours, theirs = events(tracing.check("cat trace")), events(linux.split("--- raw")[0])
    assert set(ours) == set(theirs)
    for name, shapes in theirs.items():
        assert ours[name] == ({DIFFERENT[name]} if name in DIFFERENT else shapes), name
    tracing.check("> dynamic_events; > trace")


def test_profile_as_linux(tracing):
    """Columns of kprobe_profile."""
    tracing.check(
        "echo 'p:one vfs_open' > kprobe_events; echo 'r:two vfs_open' >> kprobe_events; echo 'p:my/three kfree' >> kprobe_events; "
        "echo 'p:a_name_that_is_longer_than_the_column_it_stands_in kmalloc' >> kprobe_events"
    )
    said = tracing.check("cat kprobe_profile").replace("\r", "")
    assert said == sample("probe-profile").split("$ cat kprobe_profile\n")[1].split("$ echo")[0]
    tracing.check("echo > kprobe_events")


def test_list_as_linux(tracing):
    """Lines of kprobes/list, whatever their order: off and on, and what the two switches do to them; the files beside it."""
    debug, optimization = "/sys/kernel/debug/kprobes", "/proc/sys/debug/kprobes-optimization"
    linux = [answer.replace("schedule", "vfs_open") for command, answer in transcript("probe-list")]

    def listed():
        return sorted(line.split("  ", 1)[1] for line in tracing.check(f"cat {debug}/list").replace("\r", "").splitlines())

    for line in "p:entry vfs_open", "p:middle vfs_open+5", "r:back vfs_open":
        tracing.check(f"echo '{line}' >> kprobe_events")
    assert listed() == sorted(linux[0].splitlines())
    tracing.check(f"echo 1 > events/kprobes/enable; for i in $(seq 100); do grep -q OPTIMIZED {debug}/list && break; sleep 0.1; done")
    assert listed() == sorted(linux[1].splitlines())
    assert tracing.check(f"cat {debug}/enabled {optimization}") == linux[2]
    assert tracing.check(f"ls {debug}").split() == linux[3].split()
    tracing.check(f"echo 0 > {optimization}")
    assert listed() == sorted(linux[4].splitlines())
    tracing.check(f"echo 0 > {debug}/enabled")
    assert listed() == sorted(linux[5].splitlines())
    tracing.check(f"echo 1 > {debug}/enabled; echo 1 > {optimization}; echo 0 > events/kprobes/enable; echo > kprobe_events")
    assert listed() == []
