"""A model of the events of the rings: slices of CPUs, calls with their times, counts. No more than a page can draw.

Reader calls page() for each page of events, and every tenth of a second drain(), which gives what is new, small enough for
a browser however many events there were: slices that are too many are joined, of events some are shown and all are counted.
"""
import bisect
import functools
import struct
from collections import Counter, defaultdict

from host import _pages
from view.flame import Calls
from view.times import Times

SLICES = 200  # of one CPU in one drain(); more are joined with their neighbours
CALLS = 250  # of one CPU in one drain(): the longest
MARKS = 60  # events of one CPU in one drain() that are shown with their fields: evenly spread ones

PID, PID_AT = struct.Struct("<i").unpack_from, 4  # common_pid
ADDRESSES = {"ip", "parent_ip", "func", "function", "call_site", "caller", "caller_ip", "__probe_ip", "__probe_func", "__probe_ret_ip"}
STACKS = {"kernel_stack", "user_stack"}
CALLERS = {"unsigned int": struct.Struct("<I"), "unsigned long": struct.Struct("<Q")}  # their fields, by type
IN_PROGRAM, IDLE = 1, 2  # values of `context` of a sample
# Fields without which an event is one like all others.
NEEDED = {
    "sched_switch": {"prev_comm", "prev_pid", "prev_state", "next_pid", "next_comm"},
    "sample": {"ip", "period", "context"},
    "function": {"ip"},
    "funcgraph_entry": {"func", "depth"},
    "funcgraph_exit": {"func", "depth"},
}


class Symbols:
    """Names of addresses, out of /proc/kallsyms."""

    def __init__(self, kallsyms):
        rows = sorted((int(words[0], 16), words[2]) for words in map(str.split, kallsyms.splitlines()) if len(words) > 2)
        self.addresses, self.names = [row[0] for row in rows], [row[1] for row in rows]
        self.found = {}

    def name(self, address):
        """Addresses of code may be kept in 32 bits, as this kernel does it: then the upper ones are ones."""
        name = self.found.get(address)
        if name is None:
            whole = address | 0xFFFFFFFF00000000 if 1 << 31 <= address < 1 << 32 else address
            at = bisect.bisect_right(self.addresses, whole) - 1
            name = self.found[address] = self.names[at] if at >= 0 else hex(whole)
        return name


class Cpu:
    def __init__(self):
        self.running, self.since = None, 0  # the thread that runs, None if that is not known, and since when
        self.told = None  # what the page knows of that
        self.slices, self.marks = [], []
        self.calls = []  # (depth, begin, end, function, thread, ns): `begin` not before the thread has come to this CPU
        self.caller, self.came = None, 0  # whose calls these are, and since when
        self.last = 0  # the newest time seen
        self.before = None  # the type of its newest event
        self.row, self.row_type = None, None  # of Model.pending: the newest that a stack may belong to, and its event's type
        self.seen, self.step = 0, 1  # events that could have been marks, and every how many-th is one


class Model:
    """`format_of(number)` gives the Format of a type of events, or None; it is asked when the first one comes."""

    def __init__(self, format_of, symbols, programs=None):
        self.format_of, self.symbols, self.programs = format_of, symbols, programs
        self.handlers, self.cpus = {}, defaultdict(Cpu)
        self.names = {0: "<idle>"}  # of threads
        self.new_names = {}
        self.counts, self.functions = Counter(), Counter()  # since the last statistics()
        self.busy = defaultdict(int)  # thread: ns on a CPU since then
        self.lost = 0
        self.last = 0  # the newest time seen
        # Calls of what follows threads wait here, as [time, function, arguments...]: a thread may go on elsewhere, so they must be
        # made in the order of their times.
        self.pending, self.before = [], 0  # `before`: the newest time at the last drain()
        self.complete = self.counted = 0  # what is older has come from every CPU; what statistics() has counted
        self.calls, self.times = Calls(), Times()

    # ---- Events in ----

    def handler(self, number):
        """(name, function) for events of that type; the function is made for the places where its fields lie."""
        form = self.format_of(number)
        if not form:
            return f"type {number}", None
        makers = {
            "sched_switch": self.switch_handler,
            "function": self.function_handler,
            "funcgraph_entry": self.entry_handler,
            "funcgraph_exit": self.exit_handler,
            "sample": self.sample_handler,
            "kernel_stack": self.stack_handler,
        }
        can_be_read = NEEDED.get(form.name, set()) <= {one.name for one in form.fields}
        return form.name, (makers.get(form.name, self.mark_handler) if can_be_read else self.mark_handler)(form)

    def page(self, number, page):
        """The events of one page, of the CPU with that number; the time of the last one."""
        cpu, handlers = self.cpus[number], self.handlers
        page_time, _, lost = _pages.page_head(page)
        if lost != 0:
            self.lost += lost or 1
            cpu.running = cpu.before = None
            self.pending.append((page_time, self.forget))
        counted, time_ns = defaultdict(int), 0
        for time_ns, at, end in _pages.events_of(page):
            kind = page[at] | page[at + 1] << 8
            if kind not in handlers:
                handlers[kind] = self.handler(kind)
            counted[kind] += 1
            handle = handlers[kind][1]
            if handle:
                handle(cpu, number, time_ns, page, at, end)
            cpu.before = kind
        for kind, count in counted.items():
            self.counts[handlers[kind][0]] += count
        cpu.last = max(cpu.last, time_ns)
        self.last = max(self.last, cpu.last)
        return cpu.last

    def switch_handler(self, form):
        before_at, after_at = form.field("prev_pid").offset, form.field("next_pid").offset
        name_at, size = form.field("next_comm").offset, form.field("next_comm").size
        known, busy = {}, self.busy
        name_before, state = form.field("prev_comm").value, form.field("prev_state").value

        def handle(cpu, _number, time_ns, page, at, end):
            before, after = PID(page, at + before_at)[0], PID(page, at + after_at)[0]
            if cpu.running is not None:
                cpu.slices.append((cpu.since, time_ns, before))
                busy[before] += time_ns - cpu.since
            cpu.running, cpu.since = after, time_ns
            self.ask_stack(
                cpu, form, [time_ns, self.times.switch, time_ns, before, name_before(page, at, end), state(page, at, end), after]
            )
            name = page[at + name_at : at + name_at + size]
            if known.get(after) != name and after:
                known[after] = name
                self.names[after] = self.new_names[after] = name.split(b"\0", 1)[0].decode("utf-8", "replace")

        return handle

    def ask_stack(self, cpu, form, call):
        """A call for `pending`, whose last argument is the stack that comes right behind this event on its CPU, or none."""
        cpu.row, cpu.row_type = [*call, ()], form.id
        self.pending.append(cpu.row)

    def stack_handler(self, form):
        mark = self.mark_handler(form)

        def handle(cpu, number, time_ns, page, at, end):
            if cpu.row and cpu.before == cpu.row_type:
                cpu.row[-1] = self.stack_of(form, page, at, end)[::-1]
            cpu.row = None
            mark(cpu, number, time_ns, page, at, end)

        return handle

    def sample_handler(self, form):
        mark, (place, period, context) = self.mark_handler(form), (form.field(name).value for name in ("ip", "period", "context"))

        def handle(cpu, number, time_ns, page, at, end):
            pid, kind = PID(page, at + PID_AT)[0], context(page, at, end)
            where = "(program)" if kind == IN_PROGRAM else self.symbols.name(place(page, at, end))
            if kind != IDLE:
                name = self.names.get(pid, f"thread {pid}")
                self.ask_stack(cpu, form, [time_ns, self.times.sample, time_ns, name, period(page, at, end), where])
            mark(cpu, number, time_ns, page, at, end)

        return handle

    def function_handler(self, form):
        address, functions, mark = form.field("ip").value, self.functions, self.mark_handler(form)

        def handle(cpu, number, time_ns, page, at, end):
            functions[address(page, at, end)] += 1
            mark(cpu, number, time_ns, page, at, end)

        return handle

    def entry_handler(self, form):
        function, depth, pending = form.field("func").value, form.field("depth").value, self.pending

        def handle(cpu, number, time_ns, page, at, end):
            pid = PID(page, at + PID_AT)[0]
            if pid != cpu.caller:
                cpu.caller, cpu.came = pid, time_ns
            pending.append((time_ns, self.calls.enter, number, pid, depth(page, at, end), function(page, at, end)))

        return handle

    def exit_handler(self, form):
        value = {one.name: one.value for one in form.fields}

        def handle(cpu, number, time_ns, page, at, end):
            function, depth, pid = value["func"](page, at, end), value["depth"](page, at, end), PID(page, at + PID_AT)[0]
            # Linux keeps both times; this kernel their difference, which is shorter.
            spent = (
                value["duration"](page, at, end)
                if "duration" in value
                else value["rettime"](page, at, end) - value["calltime"](page, at, end)
            )
            self.functions[function] += 1
            self.pending.append((time_ns, self.calls.leave, number, pid, depth, function, spent))
            if pid != cpu.caller:
                cpu.caller, cpu.came = pid, time_ns
            cpu.calls.append((depth, max(time_ns - spent, cpu.came), time_ns, function, pid, spent))

        return handle

    def mark_handler(self, form):
        """Of more events than are shown every second one is dropped, again and again: those left are spread evenly."""

        def handle(cpu, _number, time_ns, page, at, end):
            cpu.seen += 1
            if cpu.seen % cpu.step:
                return
            if len(cpu.marks) >= 2 * MARKS:
                cpu.marks, cpu.step = cpu.marks[1::2], cpu.step * 2
            cpu.marks.append((time_ns, form, page, at, end))

        return handle

    def follow_calls(self, behind):
        """
        In the order of their times, as far as every CPU's have come: of a ring that is empty now, all that was there at the
        drain() before; of one that is not, what was read of it.
        """
        self.complete = max(self.complete, min([self.before, *(self.cpus[number].last for number in behind)]))
        self.before = self.last
        self.pending.sort(key=lambda row: row[0])
        ready = bisect.bisect_right(self.pending, self.complete, key=lambda row: row[0])
        for _, take, *about in self.pending[:ready]:
            take(*about)
        del self.pending[:ready]

    def forget(self):
        """Events were lost."""
        self.calls.forget()
        self.times.forget()

    # ---- New parts ----

    def describe(self, form, page, at, end):
        """The fields of an event as a line; addresses of code by their names."""
        if form.name in STACKS:
            return " < ".join(self.stack_of(form, page, at, end))

        def word(name, value):
            return self.symbols.name(value) if name in ADDRESSES and isinstance(value, int) else as_text(value)

        return " ".join(f"{name}={word(name, value)}" for name, value in form.values(page, at, end).items())

    def stack_of(self, form, page, at, end):
        """The callers, the innermost first."""
        values = form.values(page, at, end)
        field = form.field("caller")
        kind = CALLERS.get(field.type if field else "", CALLERS["unsigned long"])
        data = values["caller"] if isinstance(values.get("caller"), bytes) else b""
        callers = [one for (one,) in kind.iter_unpack(data[: len(data) // kind.size * kind.size])]
        callers = callers[: next((number for number, one in enumerate(callers) if one in (0, (1 << 64) - 1)), None)]
        if form.name == "kernel_stack":
            return [self.symbols.name(one) for one in callers]
        name = functools.partial(self.programs.name, values.get("tgid")) if self.programs else lambda address: None
        return [name(one - (number > 0)) or hex(one) for number, one in enumerate(callers)]

    def drain(self, behind=()):
        """{cpu: ...} of what came since the last call, for the page's store.js; `behind`: CPUs whose rings have more."""
        self.follow_calls(behind)
        out = {"slices": {}, "calls": {}, "marks": {}, "running": {}}
        for number, cpu in self.cpus.items():
            if cpu.slices:
                out["slices"][number] = joined(cpu.slices, SLICES)
            if cpu.calls:
                some = sorted(cpu.calls, key=lambda call: call[1] - call[2])[:CALLS] if len(cpu.calls) > CALLS else cpu.calls
                out["calls"][number] = [(depth, begin, end, self.symbols.name(func), *rest) for depth, begin, end, func, *rest in some]
            if cpu.marks:
                some = cpu.marks[:: -(-len(cpu.marks) // MARKS)]
                out["marks"][number] = [
                    (time_ns, form.name, PID(page, at + PID_AT)[0], self.describe(form, page, at, end))
                    for time_ns, form, page, at, end in some
                ]
            running = None if cpu.running is None else (cpu.running, cpu.since)
            if running != cpu.told:
                out["running"][number] = cpu.told = running
            cpu.slices, cpu.calls, cpu.marks, cpu.seen, cpu.step = [], [], [], 0, 1
        if self.new_names:
            out["names"], self.new_names = self.new_names, {}
        return out

    def most_called(self):
        """By name: a tracer may report places inside of a function, too."""
        names = Counter()
        for address, count in self.functions.most_common(60):
            names[self.symbols.name(address)] += count
        return names.most_common(15)

    def statistics(self):
        """Counts since the last call: of events, of functions, and ns of threads; `ns` of the kernel's time are those of the threads."""
        for cpu in self.cpus.values():
            if cpu.running is not None and self.complete > cpu.since:  # what runs on is not over, but has run
                cpu.slices.append((cpu.since, self.complete, cpu.running))
                self.busy[cpu.running] += self.complete - cpu.since
                cpu.since = self.complete
        span, self.counted = self.complete - (self.counted or self.complete), self.complete
        out = {
            "ns": span,
            "events": self.counts.most_common(12),
            "total": sum(self.counts.values()),
            "lost": self.lost,
            "functions": self.most_called(),
            "busy": sorted(((pid, ns) for pid, ns in self.busy.items()), key=lambda row: -row[1])[:15],
        }
        for one in (self.counts, self.functions, self.busy):
            one.clear()
        return out


def as_text(value):
    return value.hex() if isinstance(value, bytes) else str(value)


def joined(slices, most):
    """[begin, end, thread, how many slices it stands for]: neighbours joined until there are no more than `most`, or so."""
    if len(slices) <= most:
        return [(begin, end, pid, 1) for begin, end, pid in slices]
    width = max((slices[-1][1] - slices[0][0]) // most, 1)
    out, times, begin, count = [], defaultdict(int), slices[0][0], 0
    for start, end, pid in slices:
        times[pid] += end - start
        count += 1
        if end - begin >= width:
            out.append((begin, end, max(times, key=times.get), count))
            times, begin, count = defaultdict(int), end, 0
    if count:
        out.append((begin, slices[-1][1], max(times, key=times.get), count))
    return out
