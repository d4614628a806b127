"""Calls of functions, from the entries and returns that function_graph records.

    calls = Calls()
    for event in trace.events(): finished = calls.take(event)      # what this event has ended, the innermost first
    finished = calls.rest()                                         # what had not ended when the trace did

Each thread has a stack of open calls; the idle threads share the number 0 and have one for each CPU. An entry whose return
is missing (events were lost, tracing ended) ends when its caller goes on; a return whose entry is missing began as long
before as it says that the call took.
"""
ENTRIES = {"funcgraph_entry", "fgraph_retaddr_entry", "funcgraph_args_entry"}
RETURNS = {"funcgraph_exit", "funcgraph_exit_retval"}


def thread_of(event):
    """The key that tells threads apart."""
    return (0, event.cpu) if event.pid == 0 else (event.pid, None)


class Call:
    """begin and end in ns. whole: both were recorded. parent: the call around it."""

    __slots__ = ("thread", "name", "depth", "begin", "end", "parent", "children_ns", "duration_ns", "retval", "whole")

    def __init__(self, thread, name, depth, begin, parent):
        self.thread, self.name, self.depth, self.begin, self.parent = thread, name, depth, begin, parent
        self.end, self.children_ns, self.duration_ns, self.retval, self.whole = None, 0, None, None, True

    @property
    def self_ns(self):
        """The time in the function itself, without those that it called."""
        return max(self.end - self.begin - self.children_ns, 0)

    def path(self):
        """The functions from the outermost to this one."""
        names, call = [], self
        while call:
            names.append(call.name)
            call = call.parent
        return names[::-1]


class Calls:
    def __init__(self):
        self.open, self.last, self.exited = {}, {}, set()

    def take(self, event):
        """The calls that end with this event; of other events than function_graph's none."""
        name = getattr(event, "name", None)
        if name == "sched_process_exit":
            self.exited.add(thread_of(event))
        if name not in ENTRIES and name not in RETURNS:
            return []
        thread = thread_of(event)
        self.last[thread] = event.ts
        stack = self.open.setdefault(thread, [])
        if name in ENTRIES:
            return self._enter(stack, thread, event)
        return self._leave(stack, thread, event)

    def rest(self, end=None):
        """All that is still open ends with the last event of its thread; at `end` (ns) if the thread has not exited before."""
        finished = []
        for thread, stack in self.open.items():
            finished += self._cut(stack, 0, self.last[thread] if end is None or thread in self.exited else end)
        return finished

    def _enter(self, stack, thread, event):
        depth = event.number("depth")
        finished = self._cut(stack, depth, event.ts)
        stack.append(Call(thread, event.function(), depth, event.ts, stack[-1] if stack else None))
        return finished

    def _leave(self, stack, thread, event):
        depth, name = event.number("depth"), event.function()
        duration = event.number("duration") if "duration" in event.fields else event.number("rettime") - event.number("calltime")
        finished = []
        if any(call.depth == depth and call.name == name for call in stack):
            finished = self._cut(stack, depth + 1, event.ts)
            call = stack.pop()
        else:
            begin = max(event.ts - duration, 0)
            finished = self._cut(stack, depth, begin)
            call = Call(thread, name, depth, max(begin, stack[-1].begin if stack else 0), stack[-1] if stack else None)
            call.whole = False
        call.duration_ns, call.retval = duration, event.fields.get("retval")
        self._end(call, event.ts)
        return finished + [call]

    def _cut(self, stack, depth, now):
        """Ends the calls as deep as that, or deeper: their returns were not recorded."""
        finished = []
        while stack and stack[-1].depth >= depth:
            call = stack.pop()
            call.whole = False
            self._end(call, max(now, call.begin))
            finished.append(call)
        return finished

    @staticmethod
    def _end(call, end):
        call.end = end
        if call.parent:
            call.parent.children_ns += end - call.begin


def moments(calls):
    """(ns, call) when a call of one thread begins, (ns, None) when the last begun one ends: always inside each other."""
    ends = []
    for call in sorted(calls, key=lambda call: (call.begin, -call.end, call.depth)):
        while ends and ends[-1] <= call.begin:
            yield ends.pop(), None
        yield call.begin, call
        ends.append(min(call.end, ends[-1]) if ends else call.end)
    while ends:
        yield ends.pop(), None
