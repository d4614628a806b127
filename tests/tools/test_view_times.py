"""Time on and off the CPUs of `fathom view`: samples and switches made here, whose times by stack are known."""
import struct
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "host")]

from feed import Feed, event  # noqa: E402
from view.kernel import Kernel  # noqa: E402
from view.live import Hub, Live, has_all_switches  # noqa: E402
from view.model import Model, Symbols  # noqa: E402
from view.times import Times  # noqa: E402

FIRST, SECOND, THIRD = 0x80100000, 0x80100010, 0x80100030
KALLSYMS = "ffffffff80100000 T first\nffffffff80100010 t second\nffffffff80100030 T third\n"
RUNS, SLEEPS, WAITS, DEAD, ZOMBIE = 0, 1, 2, 0x10, 0x20
KERNEL, PROGRAM, IDLE = 0, 1, 2


def switch(before, state, after, delta):
    names = (b"idle" if pid == 0 else f"task-{pid}".encode() for pid in (before, after))
    left, right = (name.ljust(16, b"\0") for name in names)
    return event(1, before, left + struct.pack("<iiI", before, 120, state) + right + struct.pack("<ii", after, 120), delta)


def sample(pid, context, place, delta, period=1000):
    return event(5, pid, struct.pack("<QIB", place, period, context), delta)


def stack(pid, *callers):
    """The innermost caller first, at the time of the event before it."""
    return event(6, pid, struct.pack(f"<{len(callers)}Q", *(one | 0xFFFFFFFF00000000 for one in callers)), 0)


def kmalloc(pid, delta=0):
    return event(4, pid, struct.pack("<Q", 32), delta)


def page(begin, *events, flags=0):
    data = b"".join(events)
    return begin.to_bytes(8, "little") + (len(data) | flags).to_bytes(8, "little") + data.ljust(4080, b"\0")


@pytest.fixture
def model():
    return Model(Kernel(Feed(1000)).format_of, Symbols(KALLSYMS))


def paths(tree, above=()):
    """{path: (ns, how often)} of the innermost frames of a picture."""
    found = {}
    for name, spent, calls, children in tree[3]:
        found.update(paths((name, spent, calls, children), (*above, name)) if children else {(*above, name): (spent, calls)})
    return found


def pictures(model):
    model.drain()
    model.drain()
    found = model.times.pictures(model.complete)
    return paths(found["on"]), paths(found["off"]), found["ns"]


def test_time_off_the_cpu_by_stack(model):
    """Two sleeps of one thread by two ways, and one of another without a stack; the idle thread never waits."""
    model.page(
        0,
        page(
            1000,
            switch(7, SLEEPS, 0, 0),
            stack(7, THIRD, FIRST),
            switch(0, RUNS, 7, 500),
            switch(7, WAITS, 8, 10),
            stack(7, SECOND, FIRST),
            switch(8, SLEEPS, 7, 200),
            switch(7, RUNS, 8, 30),
        ),
    )
    on, off, span = pictures(model)
    assert on == {} and span == 740
    assert off == {
        ("task-7", "first", "third", "(S) sleeps"): (500, 1),
        ("task-7", "first", "second", "(D) waits, no signal ends it"): (200, 1),
        ("task-8", "(S) sleeps"): (30, 1),
    }


def test_a_thread_that_comes_back_on_another_cpu(model):
    """The ring of that CPU is read first."""
    model.page(1, page(1700, switch(0, RUNS, 7, 0), switch(7, SLEEPS, 0, 5)))
    model.page(0, page(1000, switch(7, SLEEPS, 0, 0), stack(7, FIRST), kmalloc(0, 705)))
    assert pictures(model)[1] == {("task-7", "first", "(S) sleeps"): (700, 1)}


def test_waits_that_go_on_last_until_now(model):
    """A wait that has no end yet grows with each picture, and counts once when it ends; a thread that has ended waits for nothing."""
    model.page(0, page(1000, switch(7, SLEEPS, 5, 0), switch(5, DEAD, 6, 10), switch(6, ZOMBIE, 0, 10), kmalloc(0, 80)))
    assert pictures(model)[1] == {("task-7", "(S) sleeps"): (100, 0)}
    model.page(0, page(1100, kmalloc(0, 300)))
    assert pictures(model)[1] == {("task-7", "(S) sleeps"): (400, 0)}
    model.page(0, page(1400, switch(0, RUNS, 7, 50)))
    assert pictures(model)[1] == {("task-7", "(S) sleeps"): (450, 1)}


def test_samples(model):
    """Each stands for its period, by the stack right behind it, or by the function that it hit; idle is no time on a CPU."""
    model.names[7] = "task-7"
    model.page(
        0,
        page(
            1000,
            sample(7, KERNEL, THIRD, 0),
            stack(7, THIRD, FIRST),
            sample(7, KERNEL, THIRD, 1000),
            stack(7, THIRD, FIRST),
            sample(7, KERNEL, SECOND, 1000, period=400),
            sample(7, PROGRAM, 0x400000, 1000),
            sample(0, IDLE, FIRST, 1000),
            sample(9, KERNEL, FIRST, 1000),
        ),
    )
    on, off, span = pictures(model)
    assert off == {} and span == 5000
    assert on == {
        ("task-7", "first", "third"): (2000, 2),
        ("task-7", "second"): (400, 1),
        ("task-7", "(program)"): (1000, 1),
        ("thread 9", "first"): (1000, 1),
    }


def test_a_stack_belongs_to_the_event_before_it_alone(model):
    """The stacks of an event between, of one after, and of another CPU are not the switch's."""
    model.page(0, page(1000, switch(7, SLEEPS, 0, 0), kmalloc(0), stack(0, SECOND), switch(0, RUNS, 7, 50)))
    model.page(1, page(1000, switch(8, SLEEPS, 0, 0), sample(0, IDLE, FIRST, 0), stack(0, FIRST), stack(8, THIRD), switch(0, RUNS, 8, 60)))
    model.page(2, page(1000, switch(9, SLEEPS, 0, 0)))
    model.page(3, page(1000, stack(9, FIRST), kmalloc(0, 100)))
    model.page(2, page(1070, switch(0, RUNS, 9, 0)))
    assert pictures(model)[1] == {(f"task-{pid}", "(S) sleeps"): (ns, 1) for pid, ns in ((7, 50), (8, 60), (9, 70))}


def test_lost_events_end_no_wait(model):
    """A thread that was away may have run meanwhile, and a stack behind the gap is another event's."""
    model.page(0, page(1000, switch(7, SLEEPS, 0, 0), switch(0, RUNS, 9, 10), sample(9, KERNEL, FIRST, 10)))
    model.page(0, page(1200, stack(9, THIRD), switch(0, RUNS, 7, 100), kmalloc(7, 100), flags=1 << 31))
    on, off, _ = pictures(model)
    assert on == {("task-9", "first"): (1000, 1)} and off == {}


def test_both_begin_anew_at_one_moment(model):
    """A wait that goes on counts from then, by the same stack, whether a picture was made before or not."""
    model.page(0, page(1000, sample(7, KERNEL, FIRST, 0), switch(7, SLEEPS, 0, 0), stack(7, THIRD), kmalloc(0, 600)))
    model.drain()
    model.drain()
    model.times.clear(model.complete)
    assert pictures(model) == ({}, {}, 0)
    model.page(0, page(1600, kmalloc(0, 25)))
    assert pictures(model) == ({}, {("task-7", "third", "(S) sleeps"): (25, 0)}, 25)
    model.times.clear(model.complete)
    model.page(0, page(1625, switch(0, RUNS, 7, 40)))
    assert pictures(model) == ({}, {("task-7", "third", "(S) sleeps"): (40, 1)}, 40)


def test_states_without_a_word():
    times = Times()
    times.switch(10, 7, "one", 0x103, 0, ())
    assert paths(times.pictures(30)["off"]) == {("one", "state 0x103"): (20, 0)}


@pytest.mark.parametrize(
    "is_on, enable, filters, has_all",
    [
        ("1", "1\n", "", True),
        ("1", "1*\n", "kmem:kmalloc\tcommon_pid == 1", True),
        ("0", "1\n", "", False),
        ("1", "0\n", "", False),
        ("1", "0*\n", "", False),
        ("1", "1\n", "kmem:kmalloc\tbytes_req > 1\nsched:sched_switch\tprev_pid == 1", False),
    ],
)
def test_waits_end_when_switches_are_not_recorded(is_on, enable, filters, has_all):
    """The page is told both trees; without all switches, waits that go on do not grow with the time of other events."""
    guest, settings = Feed(1000), {"tracing_on": is_on, "show_event_filters": filters}
    guest.files["events/sched/sched_switch/enable"] = enable
    live = Live(Kernel(guest), Hub())
    live.model.page(0, page(1000, switch(7, SLEEPS, 0, 0), switch(0, RUNS, 8, 10), switch(8, SLEEPS, 7, 20), kmalloc(7, 500)))
    live.model.drain()
    live.model.drain()
    assert has_all_switches(settings, enable) == has_all
    queue = live.hub.join()[0]
    live.look_at_times(settings)
    assert queue.get_nowait().startswith(b'{"kind":"times","on":["all",0,0,[]],"off":["all",%d,1,' % (530 if has_all else 30))
    live.clear_flame()
    assert b'"off":["all",0,0,[]]' in queue.get_nowait() + queue.get_nowait()
