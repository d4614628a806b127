"""Options, boot parameters, and switches from code: each is set, seen in what comes out, and cleared.

What options do to the layout of events is in test_golden.py; the function tracer's are in
test_function_commands.py, function_graph's in test_graph.py, the latency tracers' in test_latency.py.
"""
import re

import pytest

GUEST = {"tests": True}  # ktest
SPEAK = "ktest trace_printk_caller > /dev/null"


@pytest.fixture
def options(tracing):
    before = tracing.check("cat trace_options")
    yield tracing
    assert tracing.check("cat trace_options") == before


def test_trace_printk(options):
    options.run(f"echo notrace_printk > trace_options; {SPEAK}")
    assert options.check("cat options/trace_printk") == "0\n"
    assert "speaker" not in options.check("cat trace")
    options.check(f"echo trace_printk > trace_options; {SPEAK}")
    assert options.check("cat trace").count(": ktest_trace_speaker: ") == 3


def test_stacktrace(options):
    options.check(f"echo 1 > options/stacktrace; {SPEAK}; echo x > trace_marker")
    text = options.check("cat trace")
    assert text.count(": <stack trace>\n => ktest_trace_speaker\n => test_caller\n") == 3
    assert text.count("<stack trace>") == 3  # none behind the marker
    options.check(f"echo 0 > options/stacktrace; {SPEAK}")
    assert "<stack trace>" not in options.check("cat trace")


def test_markers(options):
    options.check("echo nomarkers > trace_options")
    for file in ("trace_marker", "trace_marker_raw"):
        assert options.run(f"echo refused > {file}") == ("sh: write error: Invalid argument\n", 1)
    assert "refused" not in options.check("cat trace")
    options.check("echo markers > trace_options; echo taken > trace_marker; echo taken > trace_marker_raw")
    text = options.check("cat trace")
    assert "tracing_mark_write: taken\n" in text and "# 656b6174 buf: 6e 0a" in text


def test_record_cmd(options):
    """Without it no name is asked for; one that was saved before is shown, so a new size forgets them first."""
    options.check("echo 128 > saved_cmdlines_size; echo x > trace_marker; echo norecord-cmd > trace_options")
    assert re.search(r"^ +<\.\.\.>-\d+ .*: x$", options.check("cat trace"), re.M)
    options.check("echo record-cmd > trace_options")
    assert re.search(r"^ +sh-\d+ .*: x$", options.check("cat trace"), re.M)


def test_record_tgid(options):
    """Threads of a program have its pid; other threads are processes of their own."""
    options.check("echo x > trace_marker; echo record-tgid > trace_options")
    text = options.check("cat trace")
    assert "#           TASK-PID       TGID    CPU#  |||||  TIMESTAMP  FUNCTION\n" in text
    pid = re.search(r"^ +sh-(\d+) +\( *\1\) \[00\d\] .*: x$", text, re.M).group(1)
    assert f"{pid} {pid}\n" in options.check("cat saved_tgids")
    options.check("echo norecord-tgid > trace_options")
    assert "TGID" not in options.check("cat trace") and f"{pid} {pid}\n" not in options.check("cat saved_tgids")


def test_pause_on_trace(options):
    """Nothing is recorded while `trace` is open; with the option off they do not mind each other."""
    options.check(
        "echo 1 > options/pause-on-trace; sleep 1000 < trace & pid=$!; "
        "while echo before > trace_marker; do sleep 0.01; done 2> /dev/null; true"
    )
    assert options.run("echo during > trace_marker") == ("sh: write error: Bad file descriptor\n", 1)
    assert options.check("cat tracing_on") == "1\n"
    options.check("echo 0 > options/pause-on-trace")
    assert options.run("echo during > trace_marker")[1] == 1  # it counts what was set at the opening
    options.check("kill $pid; wait; > trace; echo after > trace_marker; sleep 1000 < trace & pid=$!")
    options.check("sleep 0.2; echo beside > trace_marker; kill $pid; wait")
    assert re.findall(r"mark_write: (\w+)", options.check("cat trace")) == ["after", "beside"]


def test_bin(options):
    """Per call: thread, CPU, time, function, caller."""
    options.check("echo schedule > set_ftrace_filter; echo function > current_tracer; sleep 0.1; echo 0 > tracing_on")
    lines = options.check("cat trace").splitlines()
    head = sum(len(line) + 1 for line in lines if line.startswith("#"))
    nr = sum("<-" in line for line in lines)
    options.check("echo bin > trace_options")
    assert nr > 0 and int(options.check("cat trace | wc -c")) == head + nr * (4 + 4 + 8 + 8 + 8)
    options.check("echo nobin > trace_options")
    assert options.check("cat trace").splitlines() == lines
    options.check("echo nop > current_tracer")


def test_options_of_nop(options):
    for word in ("test_nop_accept", "notest_nop_accept"):
        options.check(f"echo {word} > trace_options")
        assert options.check("cat options/test_nop_accept") == ("0\n" if word.startswith("no") else "1\n")
    assert options.run("echo test_nop_refuse > trace_options") == ("sh: write error: Invalid argument\n", 1)
    assert options.run("echo 1 > options/test_nop_refuse") == ("sh: write error: Invalid argument\n", 1)
    assert options.check("cat options/test_nop_refuse") == "0\n"


def test_options_of_other_tracers(options):
    """By name only while their tracer runs; by their files always, and they count at its next start."""
    assert options.run("echo func_stack_trace > trace_options") == ("sh: write error: Invalid argument\n", 1)
    options.check("echo 1 > options/func_stack_trace; echo schedule > set_ftrace_filter; echo function > current_tracer")
    assert "\nfunc_stack_trace\n" in options.check("cat trace_options")
    options.check("sleep 0.05; echo nofunc_stack_trace > trace_options")
    assert "<stack trace>" in options.check("cat trace")
    options.check("> trace; sleep 0.05")
    assert "<stack trace>" not in options.check("cat trace")
    options.check("echo nop > current_tracer")


def test_snapshot_reads_numbers_as_linux_does(options):
    for word in ("0x1", "01x", "1 1"):
        assert options.run(f"echo {word} > snapshot")[1] == 1
    options.check("echo 01 > snapshot; echo 00 > snapshot")


def test_commands_are_for_the_filter(options):
    for file, error in (
        ("set_ftrace_notrace", "Invalid argument"),
        ("stack_trace_filter", "No such device"),
        ("set_graph_function", "Invalid argument"),
    ):
        assert options.run(f"echo schedule:traceoff > {file}") == (f"sh: write error: {error}\n", 1)
    assert options.check("cat set_ftrace_filter") == "#### all functions enabled ####\n"
    options.check("> error_log")


def test_many_threads_in_one_write(options):
    options.check("echo $(seq 2000) > set_ftrace_pid")
    assert options.check("cat set_ftrace_pid | wc -l") == "2000\n"
    options.check("> set_ftrace_pid; printf '%0200d' 17 > set_ftrace_pid")
    assert options.check("cat set_ftrace_pid") == "15\n"  # octal, all of its digits


# ---- From code ----


def test_switched_from_code(options):
    assert ", 0 failed" in options.check("ktest trace_switch")


# ---- At boot ----


def test_graph_at_boot():
    from guest import Guest

    with Guest(
        "clang",
        2,
        cmdline="ftrace=function_graph ftrace_graph_filter=sched_*,nosuch ftrace_graph_notrace=sched_account "
        "ftrace_graph_max_depth=2 trace_options=funcgraph-proc,nofuncgraph-cpu,nonsense alloc_snapshot "
        "tp_printed traceoff_on_error",
    ) as guest:
        log = guest.check("dmesg")
        for line in (
            "ftrace_graph_filter: no function matches nosuch",
            "trace_options: no option nonsense",
            "Unknown boot parameter: tp_printed",
            "Unknown boot parameter: traceoff_on_error",
            "Starting tracer 'function_graph'",
        ):
            assert line in log
        assert guest.check("cat current_tracer max_graph_depth options/funcgraph-proc options/funcgraph-cpu") == (
            "function_graph\n2\n1\n0\n"
        )
        assert "Snapshot is allocated" in guest.check("cat snapshot")
        chosen = guest.check("cat set_graph_function").split()
        assert chosen and all(name.startswith("sched_") for name in chosen)
        assert guest.check("cat set_graph_notrace") == "sched_account\n"
        guest.check("echo 0 > tracing_on")
        lines = [line for line in guest.check("head -n 300 trace").splitlines() if re.search(r"\|  +\w+\(\)", line)]
        calls = [line.split("|")[-1] for line in lines]
        assert {re.match(r" *", call).end() for call in calls} <= {2, 4}  # two levels
        assert {call.split("(")[0].strip() for call in calls if call[:3] != "   "} <= set(chosen)
        assert not any("sched_account" in call for call in calls)
        assert lines and all(re.match(r" *\S+-\d+ +\|", line) for line in lines)
