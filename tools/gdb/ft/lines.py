"""The lines of `trace`, made of the rings in memory as trace/print/ and trace/tracers/output_graph.c make them."""
import heapq
import struct
from itertools import dropwhile, zip_longest

import gdb
from ft import calls, memory, ring, symbols, threads, types
from ft.memory import MASK

(
    GRAPH_OVERRUN,
    GRAPH_CPU,
    GRAPH_OVERHEAD,
    GRAPH_PROC,
    GRAPH_DURATION,
    GRAPH_ABSTIME,
    GRAPH_IRQS,
    GRAPH_TAIL,
    GRAPH_RETVAL,
    GRAPH_RETVAL_HEX,
    GRAPH_RETADDR,
) = (1 << bit for bit in range(11))
GRAPH_RELTIME, GRAPH_ARGS = 1 << 13, 1 << 14
LATENCY_COLUMNS = GRAPH_CPU | GRAPH_PROC | GRAPH_RELTIME | GRAPH_DURATION
GRAPH_DEPTH = 72
MAX_INDENT = 1024
IRQS_OFF, NEED_RESCHED, HARDIRQ, SOFTIRQ, PREEMPT_RESCHED, NMI, BH_OFF = 1, 4, 8, 16, 32, 64, 128
MARKS = ((1000000000, "$"), (100000000, "@"), (10000000, "*"), (1000000, "#"), (100000, "!"), (10000, "+"))
RULE = " ------------------------------------------\n"


def delay_mark(ns):
    return next((mark for above, mark in MARKS if ns > above), " ")


def state_of(flags, depth):
    """irqs-off, need-resched, hardirq or softirq, preempt depth, migration: five characters."""
    irqs = ("D" if flags & BH_OFF else "d") if flags & IRQS_OFF else "b" if flags & BH_OFF else "."
    resched = ("N" if flags & PREEMPT_RESCHED else "n") if flags & NEED_RESCHED else "p" if flags & PREEMPT_RESCHED else "."
    if flags & NMI:
        context = "Z" if flags & HARDIRQ else "z"
    elif flags & HARDIRQ:
        context = "H" if flags & SOFTIRQ else "h"
    else:
        context = "s" if flags & SOFTIRQ else "."
    depths = ".123456789abcdef"
    return irqs + resched + context + depths[depth & 15] + depths[depth >> 4]


def to_us(ns):
    return (ns + 500) // 1000


class Instance:
    """A struct trace_array as its `trace` would show it."""

    def __init__(self, tr):
        self.tr = tr
        self.name = memory.array_text(tr["name"])
        self.tracer = tr["tracer"].dereference()
        self.tracer_name = memory.text(int(tr["tracer"]["name"]))
        self.options = int(tr["options"])
        self.names = {}
        snapshot = memory.at(memory.address_of(tr["slots"]["snapshot"]), "struct trace_snapshot")
        self.maximum = None
        buffer, self.start_ts = tr["buffer"], int(tr["start_ts"])
        if int(self.tracer["uses_snapshot"]):
            buffer, self.start_ts = snapshot["buffer"], int(snapshot["start_ts"])
            kept = memory.at(memory.address_of(tr["slots"]["max"]), "struct trace_maximum")["kept"]
            if int(kept["latency_ns"]):
                self.maximum, self.start_ts = kept, int(kept["start_ts"])
        self.is_ns = bool(tr["clock"]["is_ns"])
        self.rings = ring.rings(buffer.dereference()) if int(buffer) else []

    def has(self, option):
        if option not in self.names:
            self.names[option] = self.options >> memory.enum(f"TRACE_OPT_{option}") & 1
        return self.names[option]

    def graph_flags(self):
        """The columns of function_graph's lines; None when each event has a line of its own."""
        if self.tracer_name == "function_graph":
            slot = memory.at(memory.address_of(self.tr["slots"]["graph"]), "struct trace_graph")
            return int(slot["options"])
        if int(self.tracer["print_line"]) and self.has("DISPLAY_GRAPH"):
            return LATENCY_COLUMNS
        return None


def instances():
    """All of them, the global one first."""
    return memory.chain(memory.variable("trace_global").address, lambda tr: tr["next"], "instances")


def find_instance(name):
    for pointer in instances():
        if memory.array_text(pointer["name"]) == name:
            return Instance(pointer.dereference())
    raise gdb.GdbError(f"there is no instance `{name}`")


class Graph:
    """Memory of function_graph's lines for a CPU."""

    def __init__(self):
        self.pid = None
        self.irq_depth = None  # the depth at which an interrupt began that is not shown
        self.comment_depth = 0
        self.open = {}


class Walk:
    """A walk over the events of an instance, in the order of time: a text for each line, or for several."""

    def __init__(self, instance):
        self.instance = instance
        self.types = types.Types()
        self.comms = threads.comms()
        self.printer = types.Printer(instance.has, self.comms)
        self.flags = instance.graph_flags()
        self.graphs = {}
        self.started = set()
        self.index = -1
        self.irq_entry = memory.symbol_address("irq_entry_start"), memory.symbol_address("irq_entry_end")
        self.cpu_width = len(str(max(len(list(threads.cpus())) - 1, 0)))
        self.events = [list(each.events()) for each in instance.rings]
        self.entries = self.overruns = self.written = 0
        for i, each in enumerate(instance.rings):
            self.count(i, *each.counts())

    def count(self, i, entries, overruns):
        """Leaves out what is older than the maximum, as the kernel's header counts it."""
        shown = list(dropwhile(lambda event: not self.is_of_maximum(event), self.events[i]))
        skipped = len(self.events[i]) - len(shown)
        self.events[i] = shown
        self.entries += max(entries - skipped, 0)
        self.written += max(entries - skipped, 0) + (0 if skipped else overruns)
        self.overruns += overruns

    # ---- Order ----

    def is_of_maximum(self, event):
        kept = self.instance.maximum
        if kept is None:
            return True
        return event.ts >= int(kept["start_ts"]) and (not int(kept["is_one_cpu"]) or event.cpu == int(kept["cpu"]))

    def merged(self):
        """(event, the next one of its CPU), oldest first; of equal times that of the lower CPU."""
        pairs = [zip_longest(events, events[1:]) for events in self.events]
        return heapq.merge(*pairs, key=lambda pair: pair[0].ts)

    def lines(self):
        """Functions that give the text of a line, in order; what they depend on is computed at once."""
        skipped = set()  # CPUs whose next event was taken along with the one before
        merged = self.merged()
        item = next(merged, None)
        while item:
            event, follower = item
            item = next(merged, None)
            if event.cpu in skipped:
                skipped.remove(event.cpu)
                self.index += 1
                continue
            self.index += 1
            later = item[0].ts if item and item[0].ts > event.ts else event.ts
            yield self.line(event, follower, later, skipped)

    def line(self, event, follower, later, skipped):
        head = struct.unpack_from("<HBBi", event.data) if len(event.data) >= 8 else (0, 0, 0, 0)
        kind = self.types.get(head[0])
        if kind and not types.is_whole(kind, event):
            kind = None
        lost = f"CPU:{event.cpu} [LOST {event.lost} EVENTS]\n" if event.lost else ""
        # Which type a line of the graph is of does not depend on whether the event is whole, but its fields do.
        text = self.graph_line(kind, head, event, follower, skipped) if self.flags is not None else None
        if text is None:
            start = self.start_line(event)
            index = self.index
            return lambda: lost + start + self.plain_line(kind, head, event, later, index)
        return lambda: lost + text()

    # ---- Lines of their own ----

    def start_line(self, event):
        if not self.overruns or not self.instance.has("ANNOTATE") or event.cpu in self.started:
            return ""
        self.started.add(event.cpu)
        return f"##### CPU {event.cpu} buffer started ####\n" if self.index > 1 else ""

    def plain_line(self, kind, head, event, later, index):
        message = types.message_of(kind, event) if kind and self.instance.has("PRINTK_MSG_ONLY") else None
        if message is not None:
            return message
        context = ""
        if self.instance.has("CONTEXT_INFO"):
            context = self.latency_context(head, event, later, index) if self.instance.has("LATENCY_FORMAT") else self.context(head, event)
        return context + (types.event_text(self.printer, kind, event, self.instance.is_ns) if kind else f"Unknown type {head[0]}\n")

    def context(self, head, event):
        _, flags, depth, pid = head
        state = state_of(flags, depth) if self.instance.has("IRQ_INFO") else ""
        pid_text = f"-{pid}"
        return f"{self.comms(pid):>16}{pid_text:<8} [{event.cpu:03}] {state} " f"{types.seconds(event.ts, self.instance.is_ns):>12}: "

    def latency_context(self, head, event, later, index):
        _, flags, depth, pid = head
        since, delay = event.ts - self.instance.start_ts & MASK, later - event.ts & MASK
        if self.instance.has("VERBOSE"):
            before = f"{self.comms(pid):>16} {pid:7} {event.cpu:3} {flags} {depth & 15:08x} {index:08x} "
            if not self.instance.is_ns:
                return before + f"[{event.ts:016x}] {since} (+{delay}): "
            since, delay = to_us(since), to_us(delay)
            return before + (f"[{to_us(event.ts):08x}] {since // 1000}.{since % 1000:03}ms " f"(+{delay // 1000}.{delay % 1000:03}ms): ")
        time = f" {to_us(since):4}us{delay_mark(delay)}: " if self.instance.is_ns else f" {since:4}: "
        return f"{self.comms(pid)[:8]:>8}-{pid:<7} {event.cpu:3}{state_of(flags, depth)}{time}"

    # ---- Lines of function_graph: what stands in front ----

    def proc(self, pid):
        text = f"{self.comms(pid)[:7]}-{pid}"
        spaces = max(14 - len(text), 0)
        return " " * (spaces // 2) + text + " " * (spaces - spaces // 2)

    def columns(self, head, event):
        if not self.instance.has("CONTEXT_INFO"):
            return ""
        out = ""
        if self.flags & GRAPH_ABSTIME:
            us = event.ts // 1000
            out += f"{us // 1000000:5}.{us % 1000000:06} |  "
        if self.flags & GRAPH_RELTIME:
            out += f"{(event.ts - self.instance.start_ts) // 1000:9} us |  "
        if self.flags & GRAPH_CPU:
            out += f" {event.cpu:{self.cpu_width}}) "
        if self.flags & GRAPH_PROC:
            out += self.proc(head[3]) + " | "
        if self.instance.has("LATENCY_FORMAT"):
            out += f" {state_of(head[1], head[2])} | "
        return out

    def switch(self, graph, head, event):
        before, graph.pid = graph.pid, head[3]
        if before is None or before == head[3]:
            return ""
        return f"{RULE} {event.cpu:{self.cpu_width}}) {self.proc(before)} => {self.proc(head[3])}\n{RULE}\n"

    def has_duration(self):
        return self.flags & GRAPH_DURATION and self.instance.has("CONTEXT_INFO")

    def duration(self, ns):
        if not self.has_duration():
            return ""
        text = f"{ns // 1000}"
        if len(text) < 7:
            text += "." + f"{ns % 1000:03}"[: min(7 - len(text), 3)]
        return (delay_mark(ns) if self.flags & GRAPH_OVERHEAD else " ") + " " + (text + " us ").ljust(12) + "|  "

    def no_duration(self):
        return "              |  " if self.has_duration() else ""

    def arrow(self, head, event, ip, is_entry):
        if not self.irq_entry[0] <= symbols.unpack(ip) < self.irq_entry[1]:
            return ""
        arrow = "==========>" if is_entry else "<=========="
        return self.columns(head, event) + ("  " if self.has_duration() else "") + arrow + (" |" if self.has_duration() else "") + "\n"

    # ---- Lines of function_graph: which event becomes which ----

    def graph_line(self, kind, head, event, follower, skipped):
        """A function that gives the text; None: the event has a line as everywhere."""
        graph = self.graphs.setdefault(event.cpu, Graph())
        if head[0] in (types.GRAPH_ENT, types.GRAPH_RETADDR_ENT, types.GRAPH_ARGS_ENT) and kind:
            return self.entry(graph, head, event, follower, skipped)
        if head[0] in (types.GRAPH_RET, types.GRAPH_RETVAL) and kind:
            return self.returned(graph, head, event)
        if head[0] in (types.FN, types.STACK) or not kind:
            return None
        return self.comment(graph, kind, head, event)

    def hides_entry(self, graph, ip, depth):
        if self.flags & GRAPH_IRQS:
            return False
        if graph.irq_depth is None and self.irq_entry[0] <= symbols.unpack(ip) < self.irq_entry[1]:
            graph.irq_depth = depth
        return graph.irq_depth is not None

    def hides_return(self, graph, depth):
        if self.flags & GRAPH_IRQS or graph.irq_depth is None:
            return False
        if depth <= graph.irq_depth:
            graph.irq_depth = None
        return True

    @staticmethod
    def is_leaf(head, ip, follower):
        if not follower or follower.lost or len(follower.data) < 12:
            return False
        kind, _, _, pid, func = struct.unpack_from("<HBBiI", follower.data)
        return kind in (types.GRAPH_RET, types.GRAPH_RETVAL) and pid == head[3] and func == ip

    def retval(self, event):
        if not self.flags & GRAPH_RETVAL or len(event.data) < 32 or struct.unpack_from("<H", event.data)[0] != types.GRAPH_RETVAL:
            return ""
        value = struct.unpack_from("<Q", event.data, 24)[0]
        equals = "ret=" if self.flags & GRAPH_RETADDR else "= "
        number = value - (1 << 64) if value >> 63 else value
        if value >> 31 == 1:
            number = value - (1 << 32)
        if not self.flags & GRAPH_RETVAL_HEX:
            typed = calls.result_text(symbols.unpack(struct.unpack_from("<I", event.data, 8)[0]), value)
            if typed is not None:
                return f" {equals}{typed}" if typed else ""
        if -4095 <= number < 0 and not self.flags & GRAPH_RETVAL_HEX:
            return f" {equals}{number}"
        return f" {equals}{value:#x}"

    def values(self, head, event, ret):
        retaddr = ""
        if self.flags & GRAPH_RETADDR and head[0] != types.GRAPH_ENT:
            address = struct.unpack_from("<I", event.data, 16)[0]
            retaddr = " <-" + self.printer.symbol(address, True, True)
            retaddr += f" <{symbols.unpack(address):x}>" if self.instance.has("SYM_ADDR") else ""
        shown = retaddr + (self.retval(ret) if ret else "")
        return f" /*{shown} */\n" if shown else "\n"

    def entry(self, graph, head, event, follower, skipped):
        ip, depth = struct.unpack_from("<2I", event.data, 8)
        if self.hides_entry(graph, ip, depth):
            return lambda: ""
        leaf = self.is_leaf(head, ip, follower)
        switch = self.switch(graph, head, event)
        graph.comment_depth = depth - 1 if leaf else depth
        if depth < GRAPH_DEPTH:
            graph.open[depth] = 0 if leaf else ip
        if leaf:
            skipped.add(event.cpu)

        def text():
            before = switch + self.arrow(head, event, ip, True) + self.columns(head, event)
            indent = " " * (2 * min(depth, MAX_INDENT)) + self.printer.symbol(ip)
            indent += types.arguments(ip, event.data, 20) if head[0] == types.GRAPH_ARGS_ENT and self.flags & GRAPH_ARGS else "()"
            if not leaf:
                return before + self.no_duration() + indent + " {" + self.values(head, event, None)
            ns = struct.unpack_from("<Q", follower.data, 16)[0]
            return before + self.duration(ns) + indent + ";" + self.values(head, event, follower) + self.arrow(head, event, ip, False)

        return text

    def returned(self, graph, head, event):
        ip, depth, overrun, ns = struct.unpack_from("<IHHQ", event.data, 8)
        if self.hides_return(graph, depth):
            return lambda: ""
        matches = True
        if depth < GRAPH_DEPTH:
            matches = graph.open.get(depth, 0) == ip
            graph.open[depth] = 0
        graph.comment_depth = depth - 1
        switch = self.switch(graph, head, event)

        def text():
            retval = self.retval(event)
            named = not matches or retval or self.flags & GRAPH_TAIL
            out = switch + self.columns(head, event) + self.duration(ns) + " " * (2 * min(depth, MAX_INDENT)) + "}"
            if named:
                out += " /* " + self.printer.symbol(ip) + retval + " */"
            out += "\n" + (f" (Overruns: {overrun})\n" if self.flags & GRAPH_OVERRUN else "")
            return out + self.arrow(head, event, ip, False)

        return text

    def comment(self, graph, kind, head, event):
        switch, depth = self.switch(graph, head, event), graph.comment_depth

        def text():
            message = types.message_of(kind, event)
            if message is None:
                message = types.event_text(self.printer, kind, event, self.instance.is_ns)
            message = message[:-1] if message.endswith("\n") else message
            indent = " " * (2 * (min(depth, MAX_INDENT - 1) + 1)) if depth > 0 else ""
            return switch + self.columns(head, event) + self.no_duration() + indent + f"/* {message} */\n"

        return text
