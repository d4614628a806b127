"""Events that the kernel tells of: each happens, and its line says what did.

The guest counts instructions: its clock is exact, and nothing else happens in between.
"""
import re
import sys
from pathlib import Path

import pytest

from guest import Guest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))
from mask import sample  # noqa: E402

GUEST = {"tests": True}  # ktest
exact = pytest.mark.parametrize("guest", [{"build": "gcc", "cpus": 1, "icount": True}], indirect=True, ids=["gcc"])
four = pytest.mark.parametrize("guest", [{"build": "gcc", "cpus": 4}], indirect=True, ids=["4 CPUs"])


@pytest.fixture(autouse=True)
def events_off(tracing):
    yield
    tracing.check("echo 0 > events/enable; > trace")


def lines(guest, events, command):
    """The lines of `events` in the trace while `command` runs: thread, the five letters of state, event and text."""
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
    assert names == [
        "sched_process_fork",
        "sched_wakeup_new",
        "sched_process_wait",
        "sched_waking",
        "sched_stat_sleep",
        "sched_wakeup",
        "sched_process_exit",
        "sched_process_free",
    ]
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
    ran = [
        int(t)
        for t in re.findall(
            r"comm=preemptirq_dela pid=\d+ runtime=(\d+) \[ns\] vruntime=\d+ \[ns\]", "\n".join(text for _, _, _, text in found)
        )
    ]
    assert 3_000_000 <= sum(ran) < 3_100_000
    waited = [
        int(t)
        for _, _, name, text in found
        if name == "sched_stat_wait"
        for t in re.findall(r"comm=sleep pid=\d+ delay=(\d+) \[ns\]", text)
    ]
    assert max(waited) > 1_900_000


@exact
def test_blocked(tracing):
    """A sleep that nothing interrupts, of a millisecond each time, is no sched_stat_sleep."""
    found = lines(tracing, "sched_stat_sleep sched_stat_blocked", "ktest grace_sleeper > /dev/null")
    assert any(name == "sched_stat_blocked" and re.fullmatch(r"comm=\S+ pid=\d+ delay=\d+ \[ns\]", text) for _, _, name, text in found)


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
    assert any(name == "preempt_disable" and re.match(r"caller=spin_lock\w*\+\S+ parent=\w+\+", text) for _, _, name, text in found)


def texts(found, name):
    return [text for _, _, which, text in found if which == name]


@exact
def test_device_interrupts(tracing):
    """The serial port has an interrupt for what the shell prints; each handler that begins ends."""
    found = lines(tracing, "irq:irq_handler*", "echo hello; sleep 0.01")
    names = [name for _, _, name, _ in found]
    assert names and names == ["irq_handler_entry", "irq_handler_exit"] * (len(names) // 2)
    assert set(texts(found, "irq_handler_entry")) == {"irq=4 name=uart"}
    assert "irq=4 ret=handled" in texts(found, "irq_handler_exit")
    assert all(state[0] == "d" and state[2] == "h" for _, state, _, _ in found)


@exact
def test_timer(tracing):
    """A sleep: its timer is set up, started, and expires in the softirq that the timer's interrupt raises."""
    found = lines(tracing, "timer:* irq:softirq* irq_vectors:*", "sleep 0.002")
    told = [(name, text) for _, _, name, text in found]
    begin = [i for i, (name, text) in enumerate(told) if name == "timer_start" and "wake_ring_alarm" in text][0]
    timer, expires, left = re.fullmatch(
        r"timer=(\w+) function=wake_ring_alarm expires=(\d+) \[timeout=(\d+)\] cpu=0", told[begin][1]
    ).groups()
    assert 1_990_000 < int(left) <= 2_000_000
    assert told[begin - 1] == ("timer_init", f"timer={timer}")
    rest = told[begin + 1 :]
    now = int(re.fullmatch(rf"timer={timer} function=wake_ring_alarm now=(\d+)", dict(rest)["timer_expire_entry"])[1])
    assert int(expires) <= now < int(expires) + 20_000
    assert [word for word, _ in rest[:9]] == [
        "tick_stop",
        "local_timer_entry",
        "softirq_raise",
        "local_timer_exit",
        "softirq_entry",
        "timer_expire_entry",
        "timer_expire_exit",
        "softirq_exit",
        "tick_stop",
    ][: len(rest[:9])]
    assert rest[0][1] == "success=1 dependency=NONE" and rest[1][1] == rest[3][1] == "vector=236"
    assert {rest[i][1] for i in (2, 4, 7)} == {"vec=0 [action=TIMER]"} and rest[6][1] == f"timer={timer}"


@exact
def test_timer_that_is_cancelled(tracing):
    found = lines(tracing, "timer:timer_*", "ktest timer_cancel > /dev/null")
    started = [text.split()[0] for text in texts(found, "timer_start")]
    assert texts(found, "timer_cancel") and set(texts(found, "timer_cancel")) <= set(started)


@exact
def test_work(tracing):
    """Work is queued and activated, runs in the worker of that CPU, and ends."""
    found = lines(tracing, "workqueue:*", "ktest timer_work > /dev/null")
    queued = re.fullmatch(r"work struct=(\w+) function=(\w+) cpu=0", texts(found, "workqueue_queue_work")[0])
    assert texts(found, "workqueue_activate_work")[0] == f"work struct {queued[1]}"
    for name in "workqueue_execute_start", "workqueue_execute_end":
        assert texts(found, name)[0] == f"work struct {queued[1]}: function {queued[2]}"
        assert {who for who, _, which, _ in found if which == name} == {f"kworker/0-{pid_of(tracing, 'kworker/0')}"}


@exact
def test_memory(tracing):
    """A command frees all that it allocates, and both events have its name."""
    found = lines(tracing, "kmem:*", "sleep 0.001")
    mine = [text for who, _, name, text in found if name == "kmalloc" and who.startswith("sleep-")]
    call, pointer = re.fullmatch(r"call_site=(sh_run_command\+\S+) ptr=(\w{16}) bytes_req=\d+ bytes_alloc=2048", mine[0]).groups()
    assert [t for t in texts(found, "kfree") if t.endswith(f"ptr={pointer}")][0].startswith("call_site=sh_run_command+")
    thread = re.fullmatch(r"call_site=kernel_clone\+\S+ ptr=(\w{16}) bytes_req=(\d+) bytes_alloc=\d+", texts(found, "kmem_cache_alloc")[0])
    assert re.fullmatch(rf"call_site=thread_join\+\S+ ptr={thread[1]} name=thread", texts(found, "kmem_cache_free")[0])
    found = lines(tracing, "kmem:mm_page*", "ktest mm_pages_join > /dev/null")
    pages = [re.fullmatch(r"page=(\w{16}) pfn=(0x\w+) order=(\d+)", text).groups() for text in texts(found, "mm_page_alloc")]
    freed = [re.fullmatch(r"page=(\w{16}) pfn=(0x\w+) order=(\d+)", text).groups() for text in texts(found, "mm_page_free")]
    assert pages and set(pages) & set(freed)


@four
def test_calls_of_other_cpus(tracing):
    found = lines(tracing, "ipi:* irq_vectors:*", "ktest smp_call > /dev/null; hackbench 2 50 > /dev/null")
    assert any(
        re.fullmatch(r"cpumask=00000000,0000000[0-f] callsite=\w+\+\S+ callback=\w+\+0x0/\S+", t) for t in texts(found, "ipi_send_cpumask")
    )
    assert any(re.fullmatch(r"cpu=[0-3] callsite=\w+\+\S+ callback=\w+\+0x0/\S+", t) for t in texts(found, "ipi_send_cpu"))
    assert any(re.fullmatch(r"cpu=[0-3] callsite=\w+\+\S+ callback=0x0", t) for t in texts(found, "ipi_send_cpu"))
    for name, vector in ("call_function", 243), ("reschedule", 242):
        assert set(texts(found, f"{name}_entry")) == set(texts(found, f"{name}_exit")) == {f"vector={vector}"}


@four
def test_locks_that_are_waited_for(tracing):
    """Whoever begins to wait for a lock gets it, and says so, before anything else of his. CPUs that a busy machine runs one after
    the other do not wait for each other: again then."""
    kinds, ends = set(), []
    for _ in range(20):
        found = lines(
            tracing,
            "lock:contention*",
            "echo 256 > buffer_size_kb; ktest lock_spinlock > /dev/null; ktest lock_mutex > /dev/null; ktest lock_semaphore > /dev/null",
        )
        kinds |= {re.fullmatch(r"\w{16} \(flags=(\w*)\)", text)[1] for text in texts(found, "contention_begin")}
        ends += texts(found, "contention_end")
        if {"SPIN", "MUTEX"} <= kinds:
            break
    assert {"SPIN", "MUTEX"} <= kinds <= {"SPIN", "MUTEX", ""}
    assert any(re.fullmatch(r"\w{16} \(ret=0\)", text) for text in ends)


@exact
def test_messages_and_patches(tracing):
    """A live patch moves all threads at once when none stands in its functions, and the log says it."""
    found = lines(
        tracing,
        "printk:* livepatch:*",
        "livepatch load demo_version; echo 0 > /sys/kernel/livepatch/demo_version/enabled; " "livepatch unload demo_version",
    )
    told = [(name, text) for _, _, name, text in found]
    begin = told.index(("livepatch_transition_begin", "patch=demo_version to=patched"))
    assert told[begin + 1] == ("console", "livepatch: 'demo_version': starting patching transition")
    end = told.index(("livepatch_transition_end", "patch=demo_version to=patched"))
    assert told[end + 1] == ("console", "livepatch: 'demo_version': patching complete")
    assert ("livepatch_transition_begin", "patch=demo_version to=unpatched") in told
    assert told[-2:] == [
        ("livepatch_transition_end", "patch=demo_version to=unpatched"),
        ("console", "livepatch: 'demo_version': unpatching complete"),
    ]


def test_panic():
    """The last events before a panic are those of the panic."""
    with Guest("gcc", 1, cmdline="ftrace_dump_on_oops") as guest:
        guest.check("echo 'exceptions:* error_report:*' > set_event")
        guest.send("panic -fault\r")
        before, _ = guest.expect(rb"end of panic")
        text = before.decode("utf-8", "replace").replace("\r\n", "\n")
    dump = re.search(r"^Dumping ftrace buffer:\n-+\n(.*)^-+\n", text, re.M | re.S)[1].splitlines()
    address, function = re.search(r"page fault: write to 0x0*(\w+), (?:.*\n)*?.*RIP \w+:([\w.]+)\+", text).groups()
    assert dump[-2].endswith(f"page_fault_kernel: address=0x{address} ip={function} error_code=0x2")
    assert re.search(r"error_report_end: \[panic\] ffffffff8\w+$", dump[-1])


def test_all_events_at_once():
    """Eight CPUs under load with every event on: nothing hangs, and the shell still does what it is told."""
    with Guest("gcc", 8, tests=True) as guest:
        known = set(guest.check("cat available_events").replace(":", "/").split())
        assert known == {path[7:-7] for path in guest.check("grep -l . events/*/*/enable").split()} and len(known) >= 59
        guest.check("echo 64 > buffer_size_kb; echo 1 > events/enable")
        assert guest.check("cat events/enable") == "1\n"
        guest.check("hackbench 2 100 > /dev/null", timeout=60)
        assert "ok" in guest.check("stress locks 1", timeout=60)
        guest.check("echo 1 > options/stacktrace; hackbench 1 20 > /dev/null; echo 0 > options/stacktrace", timeout=60)
        guest.check("echo 0 > events/enable; echo 1 > events/enable; echo 0 > events/enable")
        seen = set(re.findall(r": (\w+): ", guest.check("cat trace | tail -3000")))
        assert {"sched_switch", "irq_disable", "kmalloc", "softirq_entry"} <= seen
        guest.check("> trace")


def test_stack_in_the_state_of_its_event(tracing):
    """The tracepoint switches preemption off, which neither an event nor the stack behind it shows."""
    tracing.check(
        "> trace; echo 1 > options/stacktrace; echo 1 > events/kmem/kfree/enable; ls > /dev/null; "
        "echo 0 > events/enable; echo 0 > options/stacktrace"
    )
    text = tracing.check("cat trace")
    states = set(re.findall(r"\[\d+\] (\S{5}) +\S+: kfree: ", text))
    assert "....." in states
    assert set(re.findall(r"\[\d+\] (\S{5}) +\S+: <stack trace>", text)) == states


def test_steps_of_the_start(guest_pool):
    """initcall events, on from the command line: each step begins and ends once, in order, without an error."""
    guest = guest_pool(cpus=2, cmdline="trace_event=initcall:*")
    found = re.findall(r" (initcall_\w+): func=(\w+)\+0x0/0x[0-9a-f]+(?: ret=(-?\d+))?$", guest.check("cat trace"), re.M)
    steps = [
        "main_start_cpus",
        "main_start_cpu_threads",
        "trace_defer_init",
        "command_init",
        "main_init_vfs",
        "pstore_init",
        "ninep_init",
    ]
    assert found == [line for step in steps for line in (("initcall_start", step, ""), ("initcall_finish", step, "0"))]


@four
def test_injected(tracing):
    """An event that is off, without a trigger and with one that acts behind it; and its fields one by one."""
    inject = "echo 'prev_comm=\"made up\" next_pid=3' > events/sched/sched_switch/inject"
    line = "prev_comm=made up prev_pid=0 prev_prio=0 prev_state=R ==> next_comm= next_pid=3 next_prio=0"
    tracing.check(f"> trace; {inject}; {inject}")
    assert re.findall(r": sched_switch: (.*)", tracing.check("cat trace")) == [line, line]
    tracing.check("echo 'traceoff:1 if next_pid == 3' > events/sched/sched_switch/trigger; > trace")
    tracing.check(f"{inject}; echo '!traceoff' > events/sched/sched_switch/trigger; {inject}")
    assert re.findall(r": sched_switch: (.*)", tracing.check("cat trace")) == [line]
    tracing.check("echo 1 > options/fields")
    assert "sched_switch: prev_comm=made up prev_pid=0x0 (0) " in tracing.check("cat trace; echo 0 > options/fields")


def fields_of(text):
    """{event: [(type and name, size, sign)]} of what `format` files say, without the common fields."""
    return {
        part.split("\n", 1)[0]: re.findall(r"field:(.*);\toffset:\d+;\tsize:(\d+);\tsigned:(\d);", part)[4:]
        for part in re.split(r"^name: ", text, flags=re.M)[1:]
    }


def test_fields_are_those_of_linux(tracing):
    """In its order, with its types; some are left out, and few are ours alone."""
    ours = {
        "mm_page_alloc": [("const void * page", "8", "0")],
        "mm_page_free": [("const void * page", "8", "0")],
        "timer_start": [("unsigned int cpu", "4", "0")],
        "sched_switch": [("long prev_state", "4", "1")],
        "sched_process_exec": [("unsigned long base", "8", "0")],
    }
    systems = ("sched", "irq", "kmem", "lock", "timer", "workqueue")
    linux = {}
    for system in systems:
        linux.update(fields_of(sample(f"events-formats-{system}")))
    shown = fields_of(tracing.check("for system in " + " ".join(systems) + "; do cat events/$system/*/format; done"))
    compared = [event for event in shown if event in linux]
    assert len(compared) > 20 and {"sched_switch", "kmalloc", "timer_start"} <= set(compared)
    for event in compared:
        rest = iter(linux[event])
        assert all(field in rest for field in shown[event] if field not in ours.get(event, ())), (event, shown[event], linux[event])
    assert fields_of(tracing.check("cat events/preemptirq/irq_disable/format"))["irq_disable"] == [
        ("unsigned int caller_offs", "4", "0"),
        ("unsigned int parent_offs", "4", "0"),
    ]
