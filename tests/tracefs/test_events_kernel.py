"""Events that the kernel tells of: each happens, and its line says what did.

The guest counts instructions: its clock is exact, and nothing else happens in between.
"""
import re

import pytest

GUEST = {"tests": True}  # ktest
exact = pytest.mark.parametrize("guest", [{"build": "gcc", "cpus": 1, "icount": True}], indirect=True, ids=["gcc"])
four = pytest.mark.parametrize("guest", [{"build": "gcc", "cpus": 4}], indirect=True, ids=["4 CPUs"])


@pytest.fixture(autouse=True)
def events_off(tracing):
    yield
    tracing.check("echo 0 > events/enable; > trace")


def lines(guest, events, command):
    """What the trace has of `events` while `command` runs: thread, the five letters of state, event and text."""
    guest.check(f"> trace; echo '{events}' > set_event; {command}; echo 0 > events/enable")
    text = guest.check("cat trace")
    return re.findall(r"^ *(\S+-\d+) +\[\d{3}\] (.{5}) +\d+\.\d{6}: (\w+): (.*)$", text, re.M)


def pid_of(guest, name):
    return int(re.search(rf"^ *(\d+) .* {name}$", guest.check("ps"), re.M)[1])


@exact
def test_life_of_a_thread(tracing):
    """A command that sleeps: who makes, wakes, runs, waits and frees, in this order."""
    found = lines(tracing, "sched:*", "sleep 0.002")
    told = [(name, text) for _, _, name, text in found if "sleep" in text or name == "sched_process_wait"]
    names = [name for name, _ in told if name not in ("sched_stat_runtime", "sched_switch", "sched_stat_wait")]
    assert names == ["sched_process_fork", "sched_wakeup_new", "sched_process_wait", "sched_waking", "sched_stat_sleep",
                     "sched_wakeup", "sched_process_exit", "sched_process_free"]
    of = dict(told)
    shell = pid_of(tracing, "sh")
    pid = int(re.fullmatch(rf"comm=sh pid={shell} child_comm=sleep child_pid=(\d+)", of["sched_process_fork"])[1])
    for name in "sched_wakeup_new", "sched_waking", "sched_wakeup":
        assert of[name] == f"comm=sleep pid={pid} prio=120 target_cpu=000"
    for name in "sched_process_exit", "sched_process_free":
        assert of[name] == f"comm=sleep pid={pid} prio=120"
    assert of["sched_process_wait"] == f"comm=sh pid={pid} prio=120"
    delay = int(re.fullmatch(rf"comm=sleep pid={pid} delay=(\d+) \[ns\]", of["sched_stat_sleep"])[1])
    assert 2_000_000 <= delay < 2_020_000
    states = {name: (who, state) for who, state, name, _ in found}
    assert states["sched_process_fork"] == states["sched_process_free"] == (f"sh-{shell}", ".....")
    assert states["sched_process_exit"] == (f"sleep-{pid}", ".....")


@exact
def test_time_on_the_cpu(tracing):
    """All run times of a thread are what `ps` counts; a thread that is ready waits while another one runs."""
    found = lines(tracing, "sched_stat_runtime sched_stat_wait", "preemptirq_delay preempt 3000 & sleep 0.001; wait")
    ran = [int(t) for t in re.findall(r"comm=preemptirq_dela pid=\d+ runtime=(\d+) \[ns\] vruntime=\d+ \[ns\]",
                                      "\n".join(text for _, _, _, text in found))]
    assert 3_000_000 <= sum(ran) < 3_100_000
    waited = [int(t) for _, _, name, text in found if name == "sched_stat_wait"
              for t in re.findall(r"comm=sleep pid=\d+ delay=(\d+) \[ns\]", text)]
    assert max(waited) > 1_900_000


@exact
def test_blocked(tracing):
    """A sleep that nothing interrupts, of a millisecond each time, is no sched_stat_sleep."""
    found = lines(tracing, "sched_stat_sleep sched_stat_blocked", "ktest grace_sleeper > /dev/null")
    assert any(name == "sched_stat_blocked" and re.fullmatch(r"comm=\S+ pid=\d+ delay=\d+ \[ns\]", text)
               for _, _, name, text in found)


@four
def test_migration(tracing):
    """Threads that wake go to CPUs that are idle, and say from where to where; there is where they run next."""
    found = lines(tracing, "sched_migrate_task", "hackbench 2 20 > /dev/null")
    moves = [re.fullmatch(r"comm=(.*) pid=(\d+) prio=120 orig_cpu=(\d) dest_cpu=(\d)", text).groups() for _, _, _, text in found]
    assert moves and all(orig != dest for _, _, orig, dest in moves)


@exact
def test_idle(tracing):
    found = lines(tracing, "power:*", "sleep 0.002")
    assert [text for _, _, _, text in found[:2]] == ["state=1 cpu_id=0", "state=4294967295 cpu_id=0"]
    assert all(who == "<idle>-0" and state[0] == "d" for who, state, _, _ in found)


@exact
def test_critical_sections(tracing):
    """Pairs, in the order in which they nest, with the function that did it and the one it did it for."""
    found = lines(tracing, "preemptirq:*", "preemptirq_delay irq 10")
    at = [i for i, (_, _, name, text) in enumerate(found) if name == "irq_disable" and "delay_irqs_off" in text]
    assert len(at) == 1
    (_, state, _, text), after = found[at[0]], found[at[0] + 1]
    assert state == "d...." and re.fullmatch(r"caller=delay_irqs_off\+0x\w+/0x\w+ parent=0x0", text)
    assert after[2] == "irq_enable" and "caller=delay_irqs_off+" in after[3]
    assert any(name == "preempt_disable" and re.match(r"caller=spin_lock\w*\+\S+ parent=\w+\+", text)
               for _, _, name, text in found)
