"""Function commands and stack traces: what they do, how they are listed, what they refuse; golden
samples say how Linux answers."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

from mask import header, sample, strange, transcript  # noqa: E402

GUEST = {"tests": True}  # bench, ktest, and functions without callers
# Functions of Linux's guest, and ours that stand for them: they have no callers here.
STAND_INS = (
    ("gold_leaf2", "test_semaphore"),
    ("gold_leaf", "test_heap"),
    ("gold_nested", "test_strings"),
    ("gold_tail", "test_numbers"),
    ("gold_outer", "test_memcmp"),
    ("gold_sleep", "test_memmove"),
    ("gold_marks", "test_overrun"),
    ("gold_busy", "test_limits"),
    ("gold_recurse", "test_find"),
    ("gold_printk", "test_join"),
    ("gold_irqoff", "torture_stop_workers"),
    ("gold_irq_entry", "torture_start_workers"),
    ("gold_irq_leaf", "torture_release_workers"),
    ("gold_irq*", "torture_[sr]*_workers"),
    ("gold_ir*", "torture_[sr]*_workers"),
)
# Our error_log knows more; Linux remembers a function of a module that may come; and its guest's shell.
OURS = re.compile(r"cat error_log|.*:mod:|cat enabled_functions|ls |rmdir instances/one$")
CLEAN = (
    "for c in traceon traceoff snapshot stacktrace; do echo '!*:'$c >> set_ftrace_filter; "
    "echo '!*:'$c:0 >> set_ftrace_filter; done; echo '!*:dump' >> set_ftrace_filter; "
    "echo '!*:cpudump' >> set_ftrace_filter; > set_ftrace_filter; echo 1 > tracing_on; echo 0 > snapshot"
)


@pytest.fixture
def commands(tracing):
    yield tracing
    tracing.run(CLEAN)
    tracing.check(
        "for o in func_stack_trace func-no-repeats stacktrace sym-offset sym-addr raw hex latency-format; " "do echo 0 > options/$o; done"
    )
    assert tracing.check("cat set_ftrace_filter") == "#### all functions enabled ####\n"


def stand_in(text):
    for theirs, ours in STAND_INS:
        text = text.replace(theirs, ours)
    return text


def in_groups(text):
    """Functions under one command come in the order of a hash there, of addresses here."""
    lines, groups = text.splitlines(), []
    for line in lines:
        command = line.split(":")[1] if re.fullmatch(r"\w+:\w+:\S+", line) else line if ":" in line else "functions"
        if not groups or groups[-1][0] != command:
            groups.append((command, []))
        groups[-1][1].append(line)
    return [(name, sorted(members)) for name, members in groups]


@pytest.mark.parametrize("name", ["filter-commands", "filter-commands-errors", "filter-commands-instance"])
def test_answers_of_linux(commands, name):
    """The lines that were typed to Linux, typed here in order."""
    if name.endswith("instance"):
        commands.check("mkdir instances/one")
    different = []
    for command, answer in transcript(name):
        command, answer = stand_in(command), stand_in(answer)
        if command.startswith("rmdir") and name.endswith("instance"):
            commands.check("rmdir instances/one")
            break
        if OURS.match(command) or ":mod:" in answer:
            continue
        said = commands.run(command)[0]
        if in_groups(said) != in_groups(answer):
            different.append((command, said, answer))
    assert different == []


def test_errors_say_what_and_where(commands):
    commands.run(
        "> error_log; echo 'schedule:nonsense' > set_ftrace_filter; echo schedule:traceoff:x > set_ftrace_filter; "
        "echo schedule:traceoff:18446744073709551615 > set_ftrace_filter; echo no_such:traceon > set_ftrace_filter; "
        "echo '!schedule:traceon' > set_ftrace_filter; echo schedule:traceon > set_ftrace_notrace"
    )
    said = commands.check("cat error_log").splitlines()
    assert [re.sub(r"^\[.*?\] ", "", line) for line in said[0::3]] == [
        "set_ftrace_filter: error: nonsense: no such command",
        "set_ftrace_filter: error: x: count is not a number",
        "set_ftrace_filter: error: 18446744073709551615: count is too large",
        "set_ftrace_filter: error: no_such: no function matches that has not got the command",
        "set_ftrace_filter: error: !schedule: no such command without a count is set",
        "set_ftrace_notrace: error: schedule: function commands go into set_ftrace_filter",
    ]
    assert [line.index("^") - len("  Command: ") for line in said[2::3]] == [9, 18, 18, 0, 0, 0]


def test_traceoff_and_traceon(commands):
    on = "cat tracing_on"
    commands.check("echo vfs_mkdir:traceoff > set_ftrace_filter")
    assert commands.check(on) == "1\n"
    commands.check("mkdir /tmp/x")
    assert commands.check(on) == "0\n"
    commands.check("echo vfs_rmdir:traceon:1 >> set_ftrace_filter; rmdir /tmp/x")
    assert commands.check(on) == "1\n"
    assert "vfs_rmdir:traceon:count=0\nvfs_mkdir:traceoff:unlimited\n" in commands.check("cat set_ftrace_filter")
    commands.check("mkdir /tmp/x; rmdir /tmp/x")
    assert commands.check(on) == "0\n"
    commands.check("echo '!vfs_mkdir:traceoff' >> set_ftrace_filter; echo 1 > tracing_on; mkdir /tmp/x; rmdir /tmp/x")
    assert commands.check(on) == "1\n"


@pytest.mark.parametrize("cpus", [1, 8])
def test_counts_are_exact(guest_pool, cpus):
    """However many CPUs run the function: as many stacks as the count says."""
    guest = guest_pool(cpus=cpus)
    guest.check(
        "> trace; echo schedule:stacktrace:37 > set_ftrace_filter; echo sched_account:stacktrace:5 > set_ftrace_filter; "
        "hackbench 2 20 > /dev/null"
    )
    text = guest.check("cat trace")
    listed = guest.check("cat set_ftrace_filter")
    guest.check(CLEAN)
    tops = re.findall(r"<stack trace>\n => (\w+)\n", text)
    assert {name: tops.count(name) for name in set(tops)} == {"schedule": 37, "sched_account": 5}
    assert "schedule:stacktrace:count=0\n" in listed and "sched_account:stacktrace:count=0\n" in listed


def test_switches_of_events_are_counted_exactly(guest_pool):
    """All CPUs switch an event on and off at once: each real switch takes one from the count, and no other."""
    guest = guest_pool(cpus=8)
    event = "workqueue:workqueue_execute_end"
    guest.check(
        f"echo schedule:enable_event:{event}:37 > set_ftrace_filter; "
        f"echo sched_account:disable_event:{event}:1000 >> set_ftrace_filter; hackbench 2 40 > /dev/null"
    )
    listed = guest.check("cat set_ftrace_filter; cat events/workqueue/workqueue_execute_end/enable")
    guest.check(f"echo '!*:enable_event:{event}:0' >> set_ftrace_filter; echo '!*:disable_event:{event}:0' >> set_ftrace_filter")
    assert f"schedule:enable_event:{event}:count=0\n" in listed
    assert f"sched_account:disable_event:{event}:count=963\n" in listed and listed.endswith("\n0*\n")
    assert guest.check("cat events/workqueue/workqueue_execute_end/enable set_ftrace_filter") == "0\n#### all functions enabled ####\n"


def test_stacktrace(commands):
    commands.check("echo vfs_mkdir:stacktrace > set_ftrace_filter; mkdir /tmp/x; rmdir /tmp/x")
    text = commands.check("cat trace")
    assert header(text) == header(sample("filter-commands-stacktrace"))
    assert strange(text, sample("filter-commands-stacktrace")) == []
    calls = re.findall(r" => (\w+)", text)
    assert calls[0] == "vfs_mkdir" and "sh_run_command" in calls and calls[-1] == "arch_thread_start"


def test_snapshot(commands):
    commands.check(
        "echo vfs_mkdir:snapshot:1 > set_ftrace_filter; echo before > trace_marker; mkdir /tmp/x; rmdir /tmp/x; "
        "echo after > trace_marker; mkdir /tmp/x; rmdir /tmp/x"
    )
    assert "before" in commands.check("cat snapshot") and "after" not in commands.check("cat snapshot")
    assert "after" in commands.check("cat trace") and "before" not in commands.check("cat trace")


def dumped(guest, command):
    """Lines that come on the console by themselves when `command` was run."""
    out = guest.check(f"{command}; sleep 1; echo; true")
    return re.sub(r"^\[ *\d+\.\d+\] ", "", out, flags=re.M)


def test_dump(commands):
    commands.check("echo vfs_mkdir:dump > set_ftrace_filter; echo marked > trace_marker")
    out = dumped(commands, "mkdir /tmp/x; rmdir /tmp/x")
    assert commands.check("cat tracing_on") == "0\n"
    text = out[out.index("Dumping") :].rstrip("\n")
    lines = text.splitlines()
    assert strange(lines[2], sample("filter-commands-dump")) == [] and "tracing_mark_write: marked" in lines[2]
    assert lines[:2] + lines[3:] == [line for line in sample("filter-commands-dump").splitlines() if "us " not in line]
    assert "Dumping" not in dumped(commands, "echo 1 > tracing_on; mkdir /tmp/x; rmdir /tmp/x")
    assert "vfs_mkdir:dump:count=0\n" in commands.check("cat set_ftrace_filter")


def test_cpudump_of_an_instance(commands):
    """Only this CPU's events, each time recording is on."""
    commands.check("mkdir instances/a; cd instances/a; echo vfs_mkdir:cpudump > set_ftrace_filter")
    for word in ("first", "second"):
        commands.check(f"> trace; echo 1 > tracing_on; echo {word} > trace_marker")
        out = dumped(commands, "mkdir /tmp/x; rmdir /tmp/x")
        assert "Dumping ftrace instance a buffer:" in out
    assert commands.check("cat tracing_on /sys/kernel/tracing/tracing_on") == "0\n1\n"
    commands.check("cd ../..; rmdir instances/a")
    assert "vfs_mkdir" not in commands.check("cat enabled_functions")


# ---- Stack traces and repeats of the function tracer ----


@pytest.mark.parametrize(
    "name, options",
    [
        ("function-stack-trace", ""),
        ("function-stack-trace-sym-offset", "sym-offset"),
        ("function-stack-trace-sym-addr", "sym-addr"),
        ("function-stack-trace-latency-format", "latency-format"),
    ],
)
def test_func_stack_trace(commands, name, options):
    commands.check(
        "echo vfs_mkdir > set_ftrace_filter; echo function > current_tracer; echo func_stack_trace > trace_options; "
        "> trace; mkdir /tmp/x; rmdir /tmp/x; echo 0 > tracing_on"
    )
    for option in options.split():
        commands.check(f"echo {option} > trace_options")
    text = commands.check("cat trace")
    commands.check("echo 1 > tracing_on")
    assert header(text) == header(sample(name))
    assert strange(text, sample(name)) == []
    first = re.search(r"<stack trace>\n => (\w+).*\n => (\w+)", text)
    assert first.groups() == re.search(r": (\w+)\S*(?: <\w+>)? <-(\w+)", text).groups()


def test_stack_through_an_interrupt_and_hooked_returns(commands):
    """The interrupted thread is below the handler, with its real callers though the graph tracer has their returns."""
    commands.check("mkdir instances/graph; echo function_graph > instances/graph/current_tracer")
    commands.check(
        "echo scheduler_tick > set_ftrace_filter; echo function > current_tracer; echo func_stack_trace > trace_options; > trace; "
        "hackbench 2 100 > /dev/null; echo 0 > tracing_on"
    )
    text = commands.check("cat trace")
    commands.check("echo nop > instances/graph/current_tracer; rmdir instances/graph; echo 1 > tracing_on")
    assert strange(text, sample("function-stack-trace-irq")) == []
    stacks = [re.findall(r" => (\S+)", part) for part in text.split("<stack trace>")[1:]]
    assert len(stacks) > 3
    for stack in stacks:
        assert stack[0] == "scheduler_tick"
        if "do_exit" in stack:
            continue  # it will not return any more, and its hooks are gone
        # In the hook itself the interrupt may come; no call returns into it.
        assert stack.count("return_to_handler") <= 1 and not [n for n in stack if n.startswith("0x")], stack
        assert stack[-1] in ("arch_thread_start", "ap_high", "arch_start.cold", "arch_start"), stack


def test_no_repeats(commands):
    commands.check(
        "echo bench_target > set_ftrace_filter; echo function > current_tracer; echo func-no-repeats > trace_options; "
        "> trace; bench op_empty > /dev/null; echo 0 > tracing_on"
    )
    text = commands.check("cat trace")
    commands.check("echo raw > trace_options")
    raw = commands.check("cat trace")
    commands.check("echo noraw > trace_options; echo 1 > tracing_on")
    samples = [sample(n) for n in ("function-no-repeats", "function-no-repeats-raw")]
    assert strange(text, samples[0]) == [] and strange(raw, *samples) == []
    # 50 rounds of 3000 calls and 1000 to warm up; the last run of repeats is still being counted.
    counts = [int(n) for n in re.findall(r"\(repeats: (\d+), ", text)]
    assert counts and set(counts) == {65535}
    assert sum(counts) + text.count("<-bench_loop_target\n") <= 151000 < sum(counts) + text.count("<-bench_loop_target\n") + 65536
    assert {int(line.split()[5]) for line in raw.splitlines() if len(line.split()) == 7 and line[0] != "#"} <= {65535}


def test_both_options_in_an_instance(commands):
    commands.check(
        "mkdir instances/b; echo vfs_mkdir > instances/b/set_ftrace_filter; echo function > instances/b/current_tracer; "
        "echo 1 > instances/b/options/func_stack_trace; echo 1 > instances/b/options/func-no-repeats; mkdir /tmp/x; rmdir /tmp/x"
    )
    text = commands.check("cat instances/b/trace")
    assert text.count("<stack trace>") == 1 and text.count("<-") == 1
    assert commands.check("cat options/func_stack_trace options/func-no-repeats") == "0\n0\n"
    commands.check("rmdir instances/b")


def test_option_stacktrace(commands):
    """Behind what trace_printk() writes, not behind markers, as in Linux."""
    commands.check("echo stacktrace > trace_options; echo x > trace_marker; ktest trace_stack; echo nostacktrace > trace_options")
    assert "<stack trace>" not in commands.check("cat trace")
