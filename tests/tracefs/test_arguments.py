"""func-args, funcgraph-args, typed results: what functions are called with, by both compilers' types."""
import re

import pytest

KERNELS = [{"build": "gcc", "cpus": 2}, {"build": "clang", "cpus": 2}]
both = pytest.mark.parametrize("guest", KERNELS, indirect=True, ids=["gcc", "clang"])
OPTIONS = "func-args func-no-repeats func_stack_trace funcgraph-args funcgraph-retval funcgraph-retaddr"


@pytest.fixture
def traced(tracing):
    yield tracing
    tracing.check(f"echo nop > current_tracer; for o in {OPTIONS}; do echo 0 > options/$o; done")


@both
def test_names_and_texts(traced):
    traced.check(
        "echo 'vfs_open vfs_stat kmalloc' > set_ftrace_filter; echo 1 > options/func-args; echo function > current_tracer; "
        "cat /proc/version > /dev/null; ls /nothing || true; echo 0 > tracing_on"
    )
    text = traced.check("cat trace")
    assert re.search(
        r'cat-\d+ .*: vfs_open\(cwd="/sys/kernel/tracing", path="/proc/version", flags=0x[0-9a-f]+, '
        r"out_\w+=0x[0-9a-f]{16}\) <-command_open\n",
        text,
    ), text[-3000:]
    assert re.search(r': vfs_stat\(cwd="/sys/kernel/tracing", path="/nothing", \w+=0x[0-9a-f]{16}\) <-', text)
    assert re.search(r": kmalloc\(bytes=\d+\) <-", text)
    # Off again: the lines that are there stay, new ones have none.
    traced.check("echo 0 > options/func-args; > trace; echo 1 > tracing_on; cat /proc/version > /dev/null; echo 0 > tracing_on")
    text = traced.check("cat trace")
    assert re.search(r"cat-\d+ .*: vfs_open <-command_open\n", text) and "vfs_open(" not in text


@both
def test_every_function(traced):
    """All of them, in all contexts, while the option changes, beside a graph: lines are whole, and names are those of the source."""
    traced.check(
        "mkdir instances/args; echo 250 > instances/args/buffer_size_kb; echo 250 > buffer_size_kb"
    )  # for the lines that are looked at
    traced.check(
        "echo function_graph > current_tracer; echo 1 > options/funcgraph-args; echo 1 > options/funcgraph-retval; "
        "echo function > instances/args/current_tracer; hackbench 2 100 > /dev/null & "
        "for i in 1 2 3 4 5 6 7 8 9; do echo 1 > instances/args/options/func-args; echo 0 > options/funcgraph-args; sleep 0.02; "
        "echo 0 > instances/args/options/func-args; echo 1 > options/funcgraph-args; sleep 0.02; done; "
        "echo 1 > instances/args/options/func-args; sleep 0.1; echo 0 > tracing_on; echo 0 > instances/args/tracing_on; wait"
    )
    lines = traced.check("cat instances/args/trace | tail -n 3000").splitlines()
    calls = [line.split(": ", 1)[1] for line in lines if not line.startswith("#")]
    assert len(calls) > 1000
    for line in calls:
        assert re.fullmatch(r"[\w.]+(\((.*)\))? <-[\w.]+(\+0x\w+)?", line), line
    assert any(re.match(r"spin_lock\(lock=0xffff[0-9a-f]{12}\) ", line) for line in calls)
    graph = traced.check("tail -n 3000 trace")
    assert re.search(r"  spin_lock\(lock=0xffff[0-9a-f]{12}\)", graph) and "BUG" not in graph
    traced.check("echo nop > instances/args/current_tracer; rmdir instances/args; dmesg | tail -n 20")


@both
def test_graph(traced):
    traced.check(
        "echo 'vfs_stat ram_lookup mutex_lock' > set_ftrace_filter; echo 1 > options/funcgraph-args; echo 1 > options/funcgraph-retval; "
        "echo function_graph > current_tracer; ls /tmp /nothing || true; echo 0 > tracing_on"
    )
    text = traced.check("cat trace")
    assert re.search(r'\|  vfs_stat\(cwd="/sys/kernel/tracing", path="/tmp", \w+=0x[0-9a-f]{16}\) \{\n', text), text
    assert (
        re.search(r'\|    ram_lookup\(dir=0x[0-9a-f]{16}, name="nothing", \w+=0x[0-9a-f]{16}\) \{\n', text)
        and "} /* ram_lookup = -2 */\n" in text
    )
    assert re.search(r"\|  \} /\* vfs_stat = 0 \*/\n", text) and re.search(r"\|  \} /\* vfs_stat = -2 \*/\n", text)
    # A function that returns nothing has no value.
    assert re.search(r"\| +mutex_lock\(mutex=0x[0-9a-f]{16}\);\n", text)
    # With callers.
    traced.check("echo 1 > options/funcgraph-retaddr; > trace; echo 1 > tracing_on; ls /tmp; echo 0 > tracing_on")
    text = traced.check("cat trace")
    assert re.search(r"mutex_lock\(mutex=0x[0-9a-f]{16}\); /\* <-\w+\+0x\w+/0x\w+ \*/\n", text) and "} /* vfs_stat ret=0 */\n" in text


def test_with_other_options(traced):
    traced.check(
        "echo vfs_open > set_ftrace_filter; echo 1 > options/func-args; echo 1 > options/func_stack_trace; echo function > current_tracer; "
        "cat /proc/version > /dev/null; echo 0 > tracing_on"
    )
    text = traced.check("cat trace")
    assert re.search(
        r'vfs_open\(cwd=.* path="/proc/version", .*\) <-command_open\n.*: <stack trace>\n => vfs_open\n => command_open\n', text
    )
