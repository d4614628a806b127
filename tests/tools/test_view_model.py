"""The model of `fathom view`, made of events without a kernel: slices, calls, marks, and that a page never gets more than it can draw."""
import struct
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "host")]

from feed import Feed, Ring, round_of  # noqa: E402
from host import _programs  # noqa: E402
from host._pages import Format  # noqa: E402
from view import histogram  # noqa: E402
from view.flame import Calls  # noqa: E402
from view.kernel import Kernel, as_command, quoted  # noqa: E402
from view.live import Hub  # noqa: E402
from view.model import CALLS, MARKS, SLICES, Model, Symbols, joined  # noqa: E402

KALLSYMS = "ffffffff80100000 T first\nffffffff80100010 t second\nffffffff80100030 T third\n"


def model():
    return Model(Kernel(Feed(1000)).format_of, Symbols(KALLSYMS))


def page(begin, *events, flags=0):
    data = b"".join(events)
    return begin.to_bytes(8, "little") + (len(data) | flags).to_bytes(8, "little") + data.ljust(4080, b"\0")


def test_symbols():
    names = Symbols(KALLSYMS)
    assert [names.name(one) for one in (0x80100000, 0xFFFFFFFF8010000F, 0x80100010, 0x80100031)] == ["first", "first", "second", "third"]
    assert names.name(0x1000) == "0x1000"
    assert names.name(0x7FFFFFFF) == "0x7fffffff", "the upper half of 32 bits is code"


@pytest.mark.parametrize(
    "text, word", [("plain-1.2", "plain-1.2"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$x;y", "'$x;y'")]
)
def test_words_of_the_shell(text, word):
    """A word gets quotes only where it needs them: commands are shown to be read."""
    assert quoted(text) == word


def test_histograms_that_are_none():
    """A text without a line about a trigger, or without keys there, is passed over; the others are read."""
    good = "# event histogram\n#\n# trigger info: hist:keys=pid:vals=hitcount [active]\n#\n\n{ pid:  7 } hitcount:  3\n\nTotals:\n    Hits: 3\n"
    [one] = histogram.parse("# event histogram\n\nnothing\n" + good + "# event histogram\n# trigger info: hist:vals=hitcount\n")
    assert (one["keys"], one["hits"], one["state"], one["entries"]) == ("pid", 3, "active", [(["7"], {"hitcount": 3})])


USER_STACK = """name: user_stack
ID: 9
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned int tgid;	offset:8;	size:4;	signed:0;
	field:unsigned long caller[4];	offset:16;	size:32;	signed:0;
"""
KERNEL_STACK = """name: kernel_stack
ID: 10
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned int caller[];	offset:8;	size:0;	signed:0;
"""


class Files:
    """In place of a Programs of the files of the machine."""

    def function(self, maps, address):
        return f"{maps.program}@{address:x}" if maps.find(address)[1] else None


class Processes:
    """In place of a guest: one process, which maps a library later."""

    def __init__(self):
        self.asked, self.lines = [], "00400000-00401000 r-xp 00000000 00:01 12 /bin/a\n"

    def text(self, path):
        self.asked.append(path)
        if path != "/proc/7/maps":
            raise FileNotFoundError(path)
        return self.lines


def test_stacks(monkeypatch):
    """Callers by name; a process is asked again when an address is in none of its files, but not too often, and what has ended is remembered."""
    processes, now = Processes(), [100.0]
    monkeypatch.setattr(_programs.time, "monotonic", lambda: now[0])
    one = Model(None, Symbols(KALLSYMS), _programs.LivePrograms(processes, Files()))

    def text(form, body):
        data = bytes(8) + body
        return one.describe(Format(form), data, 0, len(data))

    def user(tgid, *callers):
        return text(USER_STACK, struct.pack("<II4Q", tgid, 0, *(*callers, (1 << 64) - 1, 0, 0, 0)[:4]))

    assert user(7, 0x400010, 0x400020, 0x500000) == "/bin/a@400010 < /bin/a@40001f < 0x500000"
    processes.lines += "00500000-00501000 r-xp 00000000 00:01 13 /lib/b\n"
    assert user(7, 0x500000) == "0x500000" and len(processes.asked) == 1
    now[0] += 2
    assert user(7, 0x500000) == "/bin/a@500000" and len(processes.asked) == 2
    assert user(8, 0x400010) == "0x400010" and len(processes.asked) == 3
    processes.lines = ""
    now[0] += 2
    assert user(7, 0x400010, 0x600000) == "/bin/a@400010 < 0x600000"
    assert text(KERNEL_STACK, struct.pack("<3I", 0x80100000, 0x80100031, 0)) == "first < third"


def test_a_round():
    one = model()
    one.page(2, page(1000, *round_of(0, 10)))
    marks = one.drain()["marks"][2]
    out = one.drain()  # calls are complete when every ring was read behind them
    assert one.counts["sched_switch"] == 1 and one.counts["kmalloc"] == 3
    assert out["slices"] == {} and one.cpus[2].running == 101 and one.names[101] == "worker-1"
    one.page(2, page(5000, *round_of(1, 10)))
    out = one.drain()
    assert out["slices"] == {2: [(1010, 5010, 101, 1)]}
    assert [mark[1] for mark in out["marks"][2]] == [mark[1] for mark in marks], "few events are all marked, again and again"
    tree = one.calls.picture(one.symbols.name)
    assert tree[1] == 50 and tree[2] == 1, "the outer call of the first round; the second round's are not complete"
    name, spent, calls, [[_, inner, _, [[_, innermost, _, []]]]] = tree[3][0]
    assert (name, spent, calls, inner, innermost) == ("first", 50, 1, 30, 10)


def test_a_thread_that_goes_on_elsewhere():
    """Its return is read before its entry, because the ring of that CPU is read first."""
    one = model()
    entry, leave = round_of(0, 10)[1], round_of(0, 10)[6]
    one.page(0, page(2000, leave))
    one.page(1, page(1000, entry))
    one.drain()
    one.drain()
    assert one.calls.picture(str)[2] == 1 and not one.calls.stacks[101]


def test_a_ring_that_has_more_is_waited_for():
    one = model()
    entry, leave = round_of(0, 10)[1], round_of(0, 10)[6]
    one.page(0, page(2000, leave))
    one.page(1, page(100, round_of(0, 10)[9]))
    for _ in range(3):
        one.drain(behind={1})
    assert one.calls.picture(str)[2] == 0
    one.page(1, page(1000, entry))
    one.drain()
    one.drain()
    assert one.calls.picture(str)[2] == 1


def test_what_was_lost_is_not_made_up():
    one = model()
    one.page(0, page(1000, *round_of(0, 10)))
    one.page(0, page(9000, *round_of(1, 10), flags=1 << 31))
    assert one.lost == 1 and one.drain()["slices"] == {}
    calls = Calls()
    calls.enter(0, 5, 3, "deep")
    calls.leave(0, 5, 3, "deep", 100)
    calls.leave(0, 5, 2, "never entered", 500)
    _, spent, _, [[name, below, _, [row]]] = calls.picture(str)
    assert (name, spent, below, row[:2]) == ("(not seen)", 100, 100, ["deep", 100])


def test_never_more_than_can_be_drawn():
    one, ring = model(), Ring(10)
    for _ in range(200):
        ring.now = 0
        data, _ = ring.next()
        one.page(0, (one.last + 10).to_bytes(8, "little") + data[8:])
        assert len(one.cpus[0].marks) <= 2 * MARKS
    total = sum(one.counts.values())
    out = one.drain()
    assert total > 10000 and len(out["slices"][0]) <= SLICES + 1 and len(out["calls"][0]) == CALLS and len(out["marks"][0]) <= MARKS + 1
    slices = out["slices"][0]
    assert sum(count for *_, count in slices) == one.counts["sched_switch"] - 1
    assert all(before[1] == after[0] for before, after in zip(slices, slices[1:])), "without gaps"
    times = [mark[0] for mark in out["marks"][0]]
    gaps = [after - before for before, after in zip(times, times[1:])]
    assert times == sorted(times) and max(gaps) < 2 * (times[-1] - times[0]) / len(gaps), "evenly spread"


def test_joined():
    assert joined([(0, 5, 1), (5, 9, 2)], 2) == [(0, 5, 1, 1), (5, 9, 2, 1)]
    assert joined([(0, 1, 1), (1, 3, 2), (3, 5, 2), (5, 6, 1), (6, 10, 3)], 2) == [(0, 5, 2, 3), (5, 10, 3, 2)]


def test_commands():
    assert as_command("trace", "", False) == "echo > trace"
    assert as_command("set_event", "sched:*", False) == "echo 'sched:*' > set_event"
    assert as_command("kprobe_events", "p:a/b it's $arg1", True) == "echo 'p:a/b it'\\''s $arg1' >> kprobe_events"


def test_a_page_that_is_behind():
    hub = Hub()
    page_, _ = hub.join()
    for number in range(1000):
        hub.send("batch", {"number": number}, "history")
    some = []
    while not page_.empty():
        some.append(page_.get())
    assert b'{"kind":"gap"}' in some and some[-1].endswith(b'"number":999}') and len(some) < 400
    assert len(hub.join()[1]) == 1001, "a new page has all that is kept, and the console"
