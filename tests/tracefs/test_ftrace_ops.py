"""Ops of each kind on a function, through the command `ops`: what they do, what files say, what is refused."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

from mask import sample, strange  # noqa: E402

TARGET = "ops_target"
PAST = "(?: M |   )"  # an earlier test may have changed where its calls go
KINDS = "plain plain2 dynamic guarded permanent regs double ipmodify ipmodify2 ipnoregs replace seven jump direct".split()
ENABLED = sample("enabled-functions")
BUSY, INVALID = "Device or resource busy", "Invalid argument"


@pytest.fixture
def ops(tracing):
    yield tracing
    for kind in KINDS:
        tracing.run(f"ops {kind} off")
    tracing.check("echo nop > current_tracer; echo 1 > /proc/sys/kernel/ftrace_enabled")
    assert tracing.check("cat enabled_functions") == ""


def called(guest, a=30, b=12):
    """The result of ops_target(a, b)."""
    return int(re.fullmatch(rf"{TARGET}\({a}, {b}\) = (-?\d+)\n", guest.check(f"ops call {a} {b}"))[1])


def counts(guest):
    return {kind: int(n) for kind, n in re.findall(r"^(\w+) .* (\d+) calls, ", guest.check("ops"), re.M)}


def enabled(guest):
    """enabled_functions, each line of a form that Linux prints."""
    text = guest.check("cat enabled_functions")
    assert strange(text, ENABLED) == []
    return text


def refused(guest, kind, error, func=TARGET):
    before = guest.check("cat enabled_functions")
    assert guest.run(f"ops {kind} {func}") == (f"ops: {kind}: {error}\n", 1)
    assert guest.check("cat enabled_functions") == before


@pytest.mark.parametrize("options", ["nofunc_stack_trace", "func_stack_trace"])
def test_events_are_the_same_beside_other_ops(ops, options):
    """The depth of preempt-off sections is the function's, whoever calls the tracer."""
    ops.check(f"echo {TARGET} > set_ftrace_filter; echo function > current_tracer; echo {options} > trace_options")
    for kind in (None, "plain", "regs"):
        if kind:
            ops.check(f"ops {kind} {TARGET}")
        ops.check("> trace; ops call 1 2")
        events = re.findall(r" \[00\d\] (\S+) +\d+\.\d+: (.*)", ops.check("cat trace"))
        assert [e for e in events if "stack" not in e[1]] == [(".....", f"{TARGET} <-ops_run")]
    ops.check("echo nofunc_stack_trace > trace_options")


def test_flags_of_enabled_functions(ops):
    """One after the other on one site: flags, trampolines of one and of two ops, and back."""
    ops.check(f"ops plain {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(1\)      {PAST}\ttramp: 0x[0-9a-f]{{16}} \((\S+)\) ->\1\n", enabled(ops))
    ops.check(f"ops regs {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(2\) R    {PAST} ->ftrace_trampoline\+0x0/\S+\n", enabled(ops))
    ops.check("ops plain off")
    assert re.fullmatch(rf"{TARGET} \(1\) R    {PAST}\ttramp: 0x[0-9a-f]{{16}} \((\S+)\) ->\1\n", enabled(ops))
    ops.check(f"ops regs off; ops guarded {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(1\)      {PAST}\ttramp: 0x\S+ \(count\+\S+\) ->ftrace_ops_assist_func\+\S+\n", enabled(ops))
    ops.check(f"ops plain {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(2\)      {PAST} ->ftrace_trampoline\+0x0/\S+\n", enabled(ops))
    ops.check(f"ops plain off; ops guarded off; ops ipmodify {TARGET}")
    assert enabled(ops).startswith(f"{TARGET} (1) R I   M \ttramp: 0x")
    ops.check(f"echo {TARGET} > set_ftrace_filter; echo function > current_tracer")
    assert enabled(ops).startswith(f"{TARGET} (2) R I   M  ->")
    called(ops)
    assert counts(ops)["ipmodify"] == 1
    assert f"{TARGET} <-" in ops.check("cat trace")


def test_registers_and_redirection(ops):
    for kind, result in (("double", 72), ("replace", 360), ("seven", 7), ("jump", 360)):
        ops.check(f"ops {kind} {TARGET}")
        assert called(ops) == result
        ops.check(f"ops plain {TARGET}")  # beside it
        assert called(ops) == result
        assert counts(ops)["plain"] == 1
        ops.check("ops plain off")
        assert called(ops) == result
        ops.check(f"ops {kind} off")
        assert called(ops) == 42


def test_jump_at_the_site(ops):
    ops.check(f"ops jump {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(1\) R I   M \tjump-->ops_replacement\+0x0/0x\w+\n", ops.check("cat enabled_functions"))
    assert called(ops) == 360 and counts(ops)["jump"] == 0
    # The old function is traced where it was, the new one as itself.
    ops.check(f"echo {TARGET} ops_replacement > set_ftrace_filter; echo function > current_tracer")
    assert called(ops) == 360 and counts(ops)["jump"] == 1
    assert re.findall(r"(ops_\w+) <-", ops.check("cat trace")) == [TARGET, "ops_replacement"]
    ops.check("echo nop > current_tracer")
    assert called(ops) == 360 and counts(ops)["jump"] == 1


def test_direct(ops):
    ops.check(f"ops direct {TARGET}")
    alone = enabled(ops)
    assert re.fullmatch(
        rf"{TARGET} \(1\) R   D M \ttramp: ftrace_regs_caller\+0x0/0x\w+ \(call_direct_funcs\+0x0/0x\w+\)\n"
        r"\tdirect-->ops_direct\+0x0/0x\w+\n",
        alone,
    )
    assert called(ops) == 42 and counts(ops)["direct"] == 1
    ops.check(f"ops plain {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(2\) R   D M  ->\S+\n\tdirect-->ops_direct\+0x0/0x\w+\n", enabled(ops))
    assert called(ops) == 42 and counts(ops) == {"plain": 1, "direct": 2}
    ops.check("ops direct modify")  # the other one counts by thousands
    assert "\tdirect-->ops_direct2+0x0/" in enabled(ops)
    assert called(ops) == 42 and counts(ops) == {"plain": 2, "direct": 1002}
    ops.check("ops plain off")
    assert called(ops) == 42 and counts(ops)["direct"] == 2002
    refused(ops, "ipmodify", BUSY)
    ops.check(f"ops direct off; ops ipmodify {TARGET}")
    refused(ops, "direct", BUSY)


def test_refusals(ops):
    refused(ops, "ipnoregs", INVALID)
    refused(ops, "plain", INVALID, "no_such_function")
    ops.check(f"ops ipmodify {TARGET}")
    refused(ops, "ipmodify2", BUSY)
    refused(ops, "seven", BUSY)
    refused(ops, "ipmodify2", BUSY, "ops_*")  # none of the others either
    ops.check("ops ipmodify2 ops_replacement")
    ops.check(f"ops ipmodify off; ops ipmodify2 off; ops ipmodify2 {TARGET}")


def test_master_switch(ops):
    switch = "/proc/sys/kernel/ftrace_enabled"
    assert ops.check(f"cat {switch}") == "1\n"
    ops.check(f"ops plain {TARGET}; ops direct ops_replacement; echo function > current_tracer; echo 0 > {switch}")
    assert ops.check(f"cat {switch} enabled_functions") == "0\n"
    assert called(ops) == 42 and counts(ops)["plain"] == 0
    ops.check("> trace; hackbench 1 2")
    assert "<-" not in ops.check("tail -n 1 trace")
    ops.check(f"ops regs {TARGET}; echo 1 > {switch}")  # registered while it was off
    assert called(ops) == 42 and counts(ops) == {"plain": 1, "regs": 1, "direct": 0}
    assert ops.run(f"echo x > {switch}") == ("sh: write error: Invalid argument\n", 1)
    ops.check(f"ops permanent {TARGET}")
    assert ops.run(f"echo 0 > {switch}") == ("sh: write error: Device or resource busy\n", 1)
    assert called(ops) == 42 and counts(ops)["permanent"] == 1
    ops.check(f"ops permanent off; echo 0 > {switch}")
    refused(ops, "permanent", BUSY)


def test_names_of_trampolines(ops):
    def listed():
        return re.findall(r"^([0-9a-f]{16}) t ftrace_trampoline\t\[__builtin__ftrace\]$", ops.check("grep trampoline /proc/kallsyms"), re.M)

    assert listed() == []
    ops.check(f"ops plain {TARGET}; ops regs ops_replacement; ops plain2 {TARGET}")
    addresses = listed()
    assert len(addresses) == 4 and addresses == sorted(addresses)  # one each, and one for two
    ops.check("ops plain2 off")
    assert "0x" + listed()[0] in enabled(ops) and len(listed()) == 2
    ops.check("ops plain off; ops regs off; ops dynamic vfs_*")
    assert len(listed()) == 1
    assert listed()[0] in enabled(ops)


@pytest.mark.parametrize("guest", [{"build": "clang", "cpus": 4}], indirect=True)
def test_all_kinds_with_the_other_compiler(ops):
    test_registers_and_redirection(ops)
    test_direct(ops)


@pytest.mark.parametrize("guest", [{"cpus": 8, "tests": True}], indirect=True)
def test_filter_switches_on_many_cpus(guest):
    """With reset, under load: no call of a function outside both filters (1, 2 and 4 CPUs: tests/qemu)."""
    assert "1 passed, 0 failed" in guest.check("ktest ops_load_reset", timeout=120)
