"""Ops of each kind on a function, through the command `hook`: what they do, what files say, what is refused."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

from mask import sample, strange  # noqa: E402

TARGET = "hook_target"
PAST = "(?: M |   )"  # an earlier test may have changed where its calls go
KINDS = "plain plain2 dynamic guarded permanent regs double ipmodify ipmodify2 ipnoregs replace seven jump direct".split()
ENABLED = sample("enabled-functions")
BUSY, INVALID = "Device or resource busy", "Invalid argument"


@pytest.fixture
def hooks(tracing):
    yield tracing
    for kind in KINDS:
        tracing.run(f"hook {kind} off")
    tracing.check("echo nop > current_tracer; echo 1 > /proc/sys/kernel/ftrace_enabled")
    assert tracing.check("cat enabled_functions") == ""


def called(guest, a=30, b=12):
    """What hook_target(a, b) returns."""
    return int(re.fullmatch(rf"{TARGET}\({a}, {b}\) = (-?\d+)\n", guest.check(f"hook call {a} {b}"))[1])


def counts(guest):
    return {kind: int(n) for kind, n in re.findall(r"^(\w+) .* (\d+) calls, ", guest.check("hook"), re.M)}


def enabled(guest):
    """enabled_functions, each line of a form that Linux prints."""
    text = guest.check("cat enabled_functions")
    assert strange(text, ENABLED) == []
    return text


def refused(guest, kind, error, func=TARGET):
    before = guest.check("cat enabled_functions")
    assert guest.run(f"hook {kind} {func}") == (f"hook: {kind}: {error}\n", 1)
    assert guest.check("cat enabled_functions") == before


@pytest.mark.parametrize("options", ["nofunc_stack_trace", "func_stack_trace"])
def test_events_are_the_same_beside_other_ops(hooks, options):
    """The depth of preempt-off sections is the function's, whoever calls the tracer."""
    hooks.check(f"echo {TARGET} > set_ftrace_filter; echo function > current_tracer; echo {options} > trace_options")
    for kind in (None, "plain", "regs"):
        if kind:
            hooks.check(f"hook {kind} {TARGET}")
        hooks.check("> trace; hook call 1 2")
        events = re.findall(r" \[00\d\] (\S+) +\d+\.\d+: (.*)", hooks.check("cat trace"))
        assert [e for e in events if "stack" not in e[1]] == [(".....", f"{TARGET} <-hook_run")]
    hooks.check("echo nofunc_stack_trace > trace_options")


def test_flags_of_enabled_functions(hooks):
    """One after the other on one site: flags, trampolines of one and of two ops, and back."""
    hooks.check(f"hook plain {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(1\)      {PAST}\ttramp: 0x[0-9a-f]{{16}} \((\S+)\) ->\1\n", enabled(hooks))
    hooks.check(f"hook regs {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(2\) R    {PAST} ->ftrace_trampoline\+0x0/\S+\n", enabled(hooks))
    hooks.check("hook plain off")
    assert re.fullmatch(rf"{TARGET} \(1\) R    {PAST}\ttramp: 0x[0-9a-f]{{16}} \((\S+)\) ->\1\n", enabled(hooks))
    hooks.check(f"hook regs off; hook guarded {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(1\)      {PAST}\ttramp: 0x\S+ \(count\+\S+\) ->ftrace_ops_assist_func\+\S+\n", enabled(hooks))
    hooks.check(f"hook plain {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(2\)      {PAST} ->ftrace_trampoline\+0x0/\S+\n", enabled(hooks))
    hooks.check(f"hook plain off; hook guarded off; hook ipmodify {TARGET}")
    assert enabled(hooks).startswith(f"{TARGET} (1) R I   M \ttramp: 0x")
    hooks.check(f"echo {TARGET} > set_ftrace_filter; echo function > current_tracer")
    assert enabled(hooks).startswith(f"{TARGET} (2) R I   M  ->")
    called(hooks)
    assert counts(hooks)["ipmodify"] == 1
    assert f"{TARGET} <-" in hooks.check("cat trace")


def test_registers_and_redirection(hooks):
    for kind, result in (("double", 72), ("replace", 360), ("seven", 7), ("jump", 360)):
        hooks.check(f"hook {kind} {TARGET}")
        assert called(hooks) == result
        hooks.check(f"hook plain {TARGET}")  # beside it
        assert called(hooks) == result
        assert counts(hooks)["plain"] == 1
        hooks.check("hook plain off")
        assert called(hooks) == result
        hooks.check(f"hook {kind} off")
        assert called(hooks) == 42


def test_jump_at_the_site(hooks):
    hooks.check(f"hook jump {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(1\) R I   M \tjump-->hook_replacement\+0x0/0x\w+\n", hooks.check("cat enabled_functions"))
    assert called(hooks) == 360 and counts(hooks)["jump"] == 0
    # The old function is traced where it was, the new one as itself.
    hooks.check(f"echo {TARGET} hook_replacement > set_ftrace_filter; echo function > current_tracer")
    assert called(hooks) == 360 and counts(hooks)["jump"] == 1
    assert re.findall(r"(hook_\w+) <-", hooks.check("cat trace")) == [TARGET, "hook_replacement"]
    hooks.check("echo nop > current_tracer")
    assert called(hooks) == 360 and counts(hooks)["jump"] == 1


def test_direct(hooks):
    hooks.check(f"hook direct {TARGET}")
    alone = enabled(hooks)
    assert re.fullmatch(
        rf"{TARGET} \(1\) R   D M \ttramp: ftrace_regs_caller\+0x0/0x\w+ \(call_direct_funcs\+0x0/0x\w+\)\n"
        r"\tdirect-->hook_direct\+0x0/0x\w+\n",
        alone,
    )
    assert called(hooks) == 42 and counts(hooks)["direct"] == 1
    hooks.check(f"hook plain {TARGET}")
    assert re.fullmatch(rf"{TARGET} \(2\) R   D M  ->\S+\n\tdirect-->hook_direct\+0x0/0x\w+\n", enabled(hooks))
    assert called(hooks) == 42 and counts(hooks) == {"plain": 1, "direct": 2}
    hooks.check("hook direct modify")  # the other one counts by thousands
    assert "\tdirect-->hook_direct2+0x0/" in enabled(hooks)
    assert called(hooks) == 42 and counts(hooks) == {"plain": 2, "direct": 1002}
    hooks.check("hook plain off")
    assert called(hooks) == 42 and counts(hooks)["direct"] == 2002
    refused(hooks, "ipmodify", BUSY)
    hooks.check(f"hook direct off; hook ipmodify {TARGET}")
    refused(hooks, "direct", BUSY)


def test_refusals(hooks):
    refused(hooks, "ipnoregs", INVALID)
    refused(hooks, "plain", INVALID, "no_such_function")
    hooks.check(f"hook ipmodify {TARGET}")
    refused(hooks, "ipmodify2", BUSY)
    refused(hooks, "seven", BUSY)
    refused(hooks, "ipmodify2", BUSY, "hook_*")  # none of the others either
    hooks.check("hook ipmodify2 hook_replacement")
    hooks.check(f"hook ipmodify off; hook ipmodify2 off; hook ipmodify2 {TARGET}")


def test_master_switch(hooks):
    switch = "/proc/sys/kernel/ftrace_enabled"
    assert hooks.check(f"cat {switch}") == "1\n"
    hooks.check(f"hook plain {TARGET}; hook direct hook_replacement; echo function > current_tracer; echo 0 > {switch}")
    assert hooks.check(f"cat {switch} enabled_functions") == "0\n"
    assert called(hooks) == 42 and counts(hooks)["plain"] == 0
    hooks.check("> trace; hackbench 1 2")
    assert "<-" not in hooks.check("tail -n 1 trace")
    hooks.check(f"hook regs {TARGET}; echo 1 > {switch}")  # registered while it was off
    assert called(hooks) == 42 and counts(hooks) == {"plain": 1, "regs": 1, "direct": 0}
    assert hooks.run(f"echo x > {switch}") == ("sh: write error: Invalid argument\n", 1)
    hooks.check(f"hook permanent {TARGET}")
    assert hooks.run(f"echo 0 > {switch}") == ("sh: write error: Device or resource busy\n", 1)
    assert called(hooks) == 42 and counts(hooks)["permanent"] == 1
    hooks.check(f"hook permanent off; echo 0 > {switch}")
    refused(hooks, "permanent", BUSY)


def test_names_of_trampolines(hooks):
    def listed():
        return re.findall(
            r"^([0-9a-f]{16}) t ftrace_trampoline\t\[__builtin__ftrace\]$", hooks.check("grep trampoline /proc/kallsyms"), re.M
        )

    assert listed() == []
    hooks.check(f"hook plain {TARGET}; hook regs hook_replacement; hook plain2 {TARGET}")
    addresses = listed()
    assert len(addresses) == 4 and addresses == sorted(addresses)  # one each, and one for two
    hooks.check("hook plain2 off")
    assert "0x" + listed()[0] in enabled(hooks) and len(listed()) == 2
    hooks.check("hook plain off; hook regs off; hook dynamic vfs_*")
    assert len(listed()) == 1
    assert listed()[0] in enabled(hooks)


@pytest.mark.parametrize("guest", [{"build": "clang", "cpus": 4}], indirect=True)
def test_all_kinds_with_the_other_compiler(hooks):
    test_registers_and_redirection(hooks)
    test_direct(hooks)


@pytest.mark.parametrize("guest", [{"cpus": 8, "tests": True}], indirect=True)
def test_filter_switches_on_many_cpus(guest):
    """With reset, under load: no call of a function outside both filters (1, 2 and 4 CPUs: tests/qemu)."""
    assert "1 passed, 0 failed" in guest.check("ktest hooks_load_reset", timeout=120)
