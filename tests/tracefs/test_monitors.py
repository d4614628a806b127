"""Monitors on real CPUs, and the faults that those of the kernel have to see. tests/unit/trace has their language."""
import re

import pytest

from guest import Guest

OFF = "> rv/enabled_monitors; echo 0 > events/enable; > monitors; for m in swnl wip wrs wwnr; do echo nop > rv/monitors/$m/reactors; done; echo 0 > snapshot"


@pytest.fixture(autouse=True)
def nothing_left(tracing):
    yield
    tracing.check(OFF)
    assert tracing.check("cat rv/available_monitors") == "swnl\nwip\nwrs\nwwnr\n"


def hits(guest, monitor):
    """The numbers of `hits`, by what is behind or in front of them."""
    text = guest.check(f"cat rv/monitors/{monitor}/hits")
    numbers = dict(re.findall(r"^([a-z ]+): (\d+)$", text, re.M))
    numbers.update((what, nr) for nr, what in re.findall(r"^ +(\d+)  (.*)$", text, re.M))
    return {what: int(nr) for what, nr in numbers.items()}


@pytest.mark.parametrize("guest", [{"cpus": 4, "tests": True}], indirect=True, ids=["4 CPUs"])
def test_lock_held_at_a_switch(tracing):
    """No other thread does that, so there is exactly this violation, and what follows from it."""
    tracing.check("echo swnl > rv/enabled_monitors; hackbench 1 20 > /dev/null; sleep 0.01")
    assert hits(tracing, "swnl")["violations"] == 0
    tracing.check(
        "echo traceoff > rv/monitors/swnl/reactors; echo 1 > events/rv/error_swnl/enable; echo 1 > events/sched/sched_switch/enable; "
        "echo stacktrace > events/rv/error_swnl/trigger; fault lock"
    )
    assert hits(tracing, "swnl")["two x switch -> violation"] == 1
    text = tracing.check("cat trace")
    # The switch itself, the violation, and where; with that recording has ended. Another CPU may have switched just then, too.
    tail = text[text.rindex("sched_switch: prev_comm=fault ") :]
    tail = re.sub(r"^ +\S+ +\[00[1-3]\] .*\n", "", tail, flags=re.M)
    assert re.match(
        r"sched_switch: prev_comm=fault .* prev_state=D ==>.*\n +fault-\d+ +\[000\] \S+ +[\d.]+: error_swnl: event switch not expected in the "
        r"state two\n",
        tail,
    )
    assert "=> fault_lock_held" in tail
    tracing.check("echo '!stacktrace' > events/rv/error_swnl/trigger; echo 1 > tracing_on")


@pytest.mark.parametrize("guest", [{"cpus": 4, "tests": True}], indirect=True, ids=["4 CPUs"])
def test_wakeup_while_running(tracing):
    """The line in the log names thread and place; `hits` has the place, too."""
    tracing.check(
        "echo printk > rv/monitors/wwnr/reactors; echo wwnr > rv/enabled_monitors; echo 1 > events/rv/error_wwnr/enable; fault wake"
    )
    assert re.search(
        r"rv: monitor wwnr does not allow event wakeup on state running: fault-\d+, CPU 0, at .* < fault_wake\+", tracing.check("dmesg")
    )
    pid = re.search(r"fault-(\d+) .*error_wwnr: (\d+): event wakeup not expected in the state running\n", tracing.check("cat trace"))
    assert pid[1] == pid[2]
    assert hits(tracing, "wwnr")["running x wakeup -> violation"] >= 1


@pytest.mark.parametrize("guest", [{"cpus": 4, "tests": True}], indirect=True, ids=["4 CPUs"])
@pytest.mark.parametrize(
    "monitor, fault, sentence",
    [("swnl", "lock", "event switch not expected in the state two"), ("wwnr", "wake", "event wakeup not expected in the state running")],
)
def test_what_is_done_about_a_fault(tracing, monitor, fault, sentence):
    """Each reactor in turn, for each of the two faults on purpose."""

    def logged():
        return tracing.check("dmesg").count(f"rv: monitor {monitor} does not allow event")

    before = logged()
    tracing.check(f"echo {monitor} > rv/enabled_monitors; echo 1 > events/rv/error_{monitor}/enable; fault {fault}")
    assert f"error_{monitor}: " in tracing.check("cat trace")
    assert logged() == before  # nop does nothing more
    tracing.check(f"echo printk > rv/monitors/{monitor}/reactors; fault {fault}")
    assert logged() > before
    tracing.check(f"> trace; echo snapshot > rv/monitors/{monitor}/reactors; fault {fault}")
    assert f"error_{monitor}: " in tracing.check("cat snapshot")
    tracing.check(f"> trace; echo traceoff > rv/monitors/{monitor}/reactors; fault {fault}")
    assert tracing.check("cat tracing_on") == "0\n"
    assert f": the monitor {monitor}, which has the reactor traceoff, was violated in thread fault-" in tracing.check("why")
    last = tracing.check("tail -n 1 trace")
    assert f"error_{monitor}: " in last
    assert last.endswith(sentence + "\n")
    tracing.check("echo 1 > tracing_on")


@pytest.mark.parametrize(
    "monitor, fault, sentence", [("swnl", "lock", "event switch on state two"), ("wwnr", "wake", "event wakeup on state running")]
)
def test_panic_at_a_fault(monitor, fault, sentence):
    with Guest("gcc", 2, tests=True, wait=True) as guest:
        guest.check(f"echo {monitor} > rv/enabled_monitors; echo panic > rv/monitors/{monitor}/reactors")
        guest.send(f"fault {fault}\r")
        before, _ = guest.expect(rb"end of panic")
    assert f"PANIC: rv: monitor {monitor} does not allow {sentence}: fault-".encode() in before


@pytest.mark.parametrize("guest", [{"cpus": 4, "tests": True, "icount": True}], indirect=True, ids=["4 CPUs"])
def test_written_by_hand(tracing):
    """Steps are exact: as many as the events that are recorded beside it. The clock is, too: no sleep is over before it begins."""
    tracing.check(
        'echo \'m:nap enable=1 per=thread awake -sched_switch[prev_pid]{prev_state == 1 && prev_comm == "sleep"}-> asleep '
        '-sched_waking[pid]{comm == "sleep"}-> awake\' > monitors; for i in 1 2 3 4 5; do sleep 0.001; done'
    )
    got = hits(tracing, "nap")
    assert got["violations"] == 0
    assert got["begun"] == 5
    tracing.check(
        'echo \'m:naps enable=1 asleep -sched_waking{comm == "sleep"}-> awake -sched_switch{prev_state == 1 && prev_comm == "sleep"}-> asleep\' >> '
        "monitors; echo 1 > events/rv/event_naps/enable; for i in 1 2 3 4 5; do sleep 0.001; done"
    )
    got = hits(tracing, "naps")
    assert (got["begun"], got["violations"], got["awake x sched_switch -> asleep"]) == (1, 0, 4)
    assert tracing.check("grep -c 'event_naps: asleep x sched_waking -> awake$' trace") == "5\n"
    assert tracing.check("grep -c 'event_naps: awake x sched_switch -> asleep (final)' trace") == "4\n"


@pytest.mark.parametrize("guest", [{"cpus": 8}], indirect=True, ids=["8 CPUs"])
def test_come_and_go_under_load(tracing):
    """While the events occur on all CPUs; at the end each CPU's locks are where they were."""
    tracing.check("(while true; do hackbench 1 20; sleep 0.03; done) > /dev/null & load=$!")
    tracing.check(
        "for i in 1 2 3; do echo 'm:p per=thread enable=1 off -in=sched_switch[next_pid]-> on -out=sched_switch[prev_pid]-> off' >> monitors; "
        "echo 'm:l per=lockdep_addr size=50 enable=1 free -lock_acquired-> held -lock_release-> free' >> monitors; echo 1 > events/rv/enable; "
        "cat rv/monitors/*/state > /dev/null; echo 0 > events/rv/enable; echo '!p' >> monitors; echo '!l' >> monitors; done"
    )
    tracing.check(
        "kill $load; wait; echo 'm:l per=lockdep_addr size=2000 enable=1 free -lock_acquired-> held -lock_release-> free' >> monitors; "
        "echo swnl > rv/enabled_monitors; echo 1 > rv/monitors/l/enable; hackbench 1 30 > /dev/null"
    )
    for monitor in "l", "swnl":
        got = hits(tracing, monitor)
        assert got["violations"] == 0
        assert got["steps"] > 640  # of 1920 messages, many of which wait for each other on a busy host
    assert hits(tracing, "l")["drops"] == 0


@pytest.mark.parametrize(
    "guest", [{"cpus": cpus, "tests": True, "icount": True} for cpus in (1, 4)], indirect=True, ids=["1 CPU", "4 CPUs"]
)
def test_woken_thread_waits(tracing):
    """The thread `nap` alone is late, once, by the time that another one keeps the CPU."""
    tracing.check("echo printk > rv/monitors/wrs/reactors; echo wrs > rv/enabled_monitors; for i in 1 2 3; do sleep 0.003; done")
    got = hits(tracing, "wrs")
    assert got["woken x in -> waits"] >= 3
    assert got["violations"] == 0
    tracing.check("echo 1 > events/rv/error_wrs/enable; fault late")
    got = hits(tracing, "wrs")
    assert (got["violations"], got["woken x in -> late: violation"]) == (1, 1)
    assert re.search(r"rv: monitor wrs does not allow event in on state woken with x=[34]\d{6}ns: ", tracing.check("dmesg"))
    pid = re.search(
        r"last: event in not expected in the state woken, of thread (\d+), x [34]\d{3}\.\d{3} us\n",
        tracing.check("cat rv/monitors/wrs/hits"),
    )
    assert f"error_wrs: {pid[1]}: event in not expected in the state woken\n" in tracing.check("cat trace")
