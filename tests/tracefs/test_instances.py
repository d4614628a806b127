"""instances/: traces of their own. Who belongs to whom, what is refused, what goes on meanwhile."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

import mask  # noqa: E402

LINE = re.compile(r"^ *(\S.*)-(\d+) +\[(\d{3})\] (.{5}) +(\S+): (\S+) <-(\S+)$", re.M)


@pytest.fixture
def one(tracing):
    """A directory `one`, removed afterwards."""
    tracing.check("cd /sys/kernel/tracing; mkdir instances/one")
    yield tracing
    tracing.check("cd /sys/kernel/tracing; rmdir instances/one; ls instances") == ""


def functions(guest, path):
    return {name for *_, name, _ in LINE.findall(guest.check(f"head -n 300 {path}"))}


def test_names(tracing):
    for command, message in (
        ("mkdir instances/one/two", "No such file or directory"),
        ("mkdir other", "Operation not permitted"),
        ("rmdir instances", "Operation not permitted"),
        ("rmdir instances/none", "No such file or directory"),
        ("mkdir instances/" + 128 * "x", "File name too long"),
    ):
        out, status = tracing.run(command)
        assert status == 1 and out.endswith(f": {message}\n"), command
    tracing.check('mkdir "instances/a name" "instances/..."')
    assert tracing.check("ls -a instances").split()[-3:] == ["...", "a", "name"]
    out, status = tracing.run("mkdir instances/...")
    assert status == 1 and out.endswith(": File exists\n")
    out, status = tracing.run("mkdir instances/.../two; rmdir instances/.../per_cpu")
    assert status == 1 and out.count(": Operation not permitted\n") == 2
    out, status = tracing.run("rm instances/.../trace; echo > instances/file")
    assert status == 1 and "Operation not permitted" in out and "Permission denied" in out
    tracing.check('rmdir "instances/a name" instances/...')
    assert tracing.check("ls instances") == ""


def test_files_are_those_of_linux(one):
    """Every file of ours that an instance of Linux has too has its mode there, and none is
    missing."""
    part = mask.sample("files").split("--- instances/one\n")[1].split("\n--- ")[0]
    linux = dict(reversed(line.split()) for line in part.splitlines() if line)
    listing = one.check("ls -l instances/one")
    ours = {line.split()[-1]: line.split()[0] for line in listing.splitlines() if len(line.split()) > 1}
    assert set(linux) <= set(ours)
    for name in set(ours) & set(linux):
        assert ours[name] == linux[name], name
    # Those of later versions of Linux, and our own.
    assert set(ours) - set(linux) == {
        "set_graph_function",
        "set_graph_notrace",
        "max_graph_depth",
        "profile",
        "buffer_subbuf_size_kb",
        "show_event_filters",
        "show_event_triggers",
        "why",
    }
    options = set(one.check("ls instances/one/options").split())
    assert "overwrite" in options and not options & {"trace_printk", "record-cmd", "printk-msg-only"}


def test_apart(one):
    one.check("mkdir instances/two")
    one.check("echo 'sched_*' > instances/one/set_ftrace_filter; echo function > instances/one/current_tracer")
    one.check("echo 'timer*' > instances/two/set_ftrace_filter; echo function > instances/two/current_tracer")
    one.check("hackbench 1 2; sleep 0.1")
    sched, timer = functions(one, "instances/one/trace"), functions(one, "instances/two/trace")
    assert sched and all(name.startswith("sched_") for name in sched)
    assert timer and all(name.startswith("timer") for name in timer)
    assert functions(one, "trace") == set()
    # tracing_on, clock, size, mask, options, filters, markers, errors: each its own.
    one.check(
        "echo 0 > instances/two/tracing_on; echo mono > instances/two/trace_clock; "
        "echo 100 > instances/two/buffer_size_kb; echo 1 > instances/two/tracing_cpumask; "
        "echo 1 > instances/two/options/sym-addr; echo hello > instances/one/trace_marker; "
        "> instances/two/error_log"
    )
    assert one.check("cat tracing_on instances/one/tracing_on instances/two/tracing_on") == "1\n1\n0\n"
    assert "[local]" in one.check("cat instances/one/trace_clock")
    assert "[mono]" in one.check("cat instances/two/trace_clock")
    assert one.check("cat instances/one/buffer_size_kb instances/two/buffer_size_kb") == "1408\n100\n"
    assert one.check("cat tracing_cpumask instances/two/tracing_cpumask") == "3\n1\n"
    assert one.check("cat options/sym-addr instances/two/options/sym-addr") == "0\n1\n"
    assert "hello" in one.check("grep hello instances/one/trace")
    assert one.run("grep hello trace") == ("", 1)
    assert one.run("echo nosuch > instances/two/set_ftrace_filter")[1] == 1
    assert "nosuch" in one.check("cat instances/two/error_log") and one.check("cat error_log") == ""
    # One goes, the other goes on.
    one.check("rmdir instances/two; > instances/one/trace; hackbench 1 1")
    assert functions(one, "instances/one/trace")


def test_tracers_side_by_side(one):
    """function here, function_graph there, on the same sites."""
    one.check(
        "echo 'sched_*' > set_ftrace_filter; echo 'sched_*' > instances/one/set_ftrace_filter; "
        "echo function > current_tracer; echo function_graph > instances/one/current_tracer; hackbench 1 3; "
        "echo 0 > tracing_on; echo 0 > instances/one/tracing_on"
    )
    assert functions(one, "trace")
    graph = one.check("cat instances/one/trace | head -100")
    assert graph.startswith("# tracer: function_graph\n") and re.search(r"\| +sched_\w+\(\)", graph)
    one.check("echo nop > current_tracer; echo 1 > tracing_on")


def test_busy(one):
    one.check(
        "echo x > instances/one/trace_marker; cat instances/one/trace_pipe > /tmp/read & "
        "until test -s /tmp/read; do sleep 0.01; done; rm /tmp/read"
    )
    assert one.run("rmdir instances/one") == ("rmdir: 'instances/one': Device or resource busy\n", 1)
    one.check("kill %1; wait")
    one.check("rmdir instances/one; mkdir instances/one")
    # Any file of it, read or written.
    for file in (
        "< trace",
        "< set_ftrace_filter",
        "< options/overwrite",
        "< per_cpu/cpu0/stats",
        "> trace_marker",
        "> snapshot",
        "> set_ftrace_pid",
        "> error_log",
    ):
        way, name = file.split()
        assert one.run(f"rmdir instances/one {way} instances/one/{name}") == ("rmdir: 'instances/one': Device or resource busy\n", 1), file
    # A shell may stand in it: its directory is then a name that leads nowhere.
    one.check("cd instances/one; rmdir ../one")
    assert one.run("cat trace")[1] == 1
    one.check("cd /sys/kernel/tracing; mkdir instances/one")


def test_pids(one):
    """Threads are filtered for each instance; children follow where it is wished."""
    one.check(
        "echo $$ > instances/one/set_ftrace_pid; echo 'sched_switch' > instances/one/set_ftrace_filter; "
        "echo function > instances/one/current_tracer; echo function > current_tracer; "
        "echo sched_switch > set_ftrace_filter; sleep 0.1; hackbench 1 2"
    )
    shell = one.check("echo $$").strip()
    seen = {pid for _, pid, *_ in LINE.findall(one.check("tail -n 300 instances/one/trace"))}
    assert seen == {shell}
    assert len({pid for _, pid, *_ in LINE.findall(one.check("tail -n 300 trace"))}) > 3
    one.check("echo 1 > instances/one/options/function-fork; > instances/one/trace; hackbench 1 2")
    assert len({pid for _, pid, *_ in LINE.findall(one.check("tail -n 300 instances/one/trace"))}) > 3
    assert one.run("echo garbage > instances/one/set_ftrace_pid") == ("sh: write error: Invalid argument\n", 1)
    one.check("> instances/one/set_ftrace_pid")
    assert one.check("cat instances/one/set_ftrace_pid") == "no pid\n"


def test_no_memory(tracing):
    """A buffer that no memory is there for: nothing is left."""
    for kb in (120000, 80000, 40000):
        if tracing.run(f"echo {kb} > buffer_size_kb")[1] == 0:
            break
    before = tracing.check("ls instances")
    made = 0
    while made < 60:
        out, status = tracing.run(f"mkdir instances/big{made}")
        if status:
            assert out.endswith("Cannot allocate memory\n")
            break
        made += 1
    assert made < 60
    for i in range(made):
        tracing.check(f"rmdir instances/big{i}")
    assert tracing.check("ls instances") == before
    tracing.check("echo 1408 > buffer_size_kb; mkdir instances/small; rmdir instances/small")


@pytest.mark.parametrize("guest", [{"cpus": n} for n in (1, 2, 4, 8)], indirect=True, ids=lambda o: str(o["cpus"]))
def test_come_and_go_under_load(tracing):
    """Instances come and go, are switched, snapshots are exchanged, while all CPUs are traced."""
    tracing.check("stress locks 1 > /dev/null & hackbench 2 20 > /dev/null &")
    tracing.check(
        "for i in 1 2 3; do mkdir instances/a instances/b; "
        "echo function > instances/a/current_tracer; echo 'sched*' > instances/b/set_ftrace_filter; "
        "echo function > instances/b/current_tracer; echo 1 > instances/a/snapshot; "
        "echo 300 > instances/b/buffer_size_kb; echo 1 > instances/a/per_cpu/cpu0/snapshot; "
        "cat instances/b/trace | head -40 > /dev/null; echo 1 > instances/b/snapshot; "
        "rmdir instances/a; echo nop > instances/b/current_tracer; rmdir instances/b; done"
    )
    tracing.check("wait")
    assert tracing.check("ls instances") == ""
    assert tracing.check("cat enabled_functions") == ""
    tracing.check("echo function > current_tracer; hackbench 1 1")
    assert functions(tracing, "trace")


def test_markers_of_many_threads(one):
    """Every line that several threads write arrives whole, once, in the right instance."""
    one.check("echo 3000 > instances/one/buffer_size_kb")
    one.check('for t in 1 2 3 4; do for i in $(seq 200); do echo "thread $t line $i" > ' "instances/one/trace_marker; done & done; wait")
    seen = re.findall(r": thread (\d) line (\d+)$", one.check("cat instances/one/trace"), re.M)
    assert len(seen) == 800 and len(set(seen)) == 800
    for thread in "1234":
        assert [int(i) for t, i in seen if t == thread] == list(range(1, 201))
    assert one.run("grep -c thread trace")[0] == "0\n"


def test_boot():
    from guest import Guest

    with Guest(
        cpus=2,
        cmdline="trace_instance=first trace_instance=second,sched:sched_switch "
        "alloc_snapshot ftrace=function ftrace_filter=sched_* ftrace_boot_snapshot",
    ) as guest:
        assert guest.check("ls instances").split() == ["first", "second"]
        assert guest.check("cat instances/second/set_event") == "sched:sched_switch\n"
        assert guest.check("cat instances/first/set_event") == ""
        snapshot = guest.check("cat snapshot")
        assert snapshot.startswith("# tracer: function\n") and " <-" in snapshot
        guest.check("rmdir instances/first instances/second")
