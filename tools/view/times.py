"""Time on and off the CPUs by thread and call stack: two trees over the same time, out of profile:sample and sched_switch."""
from view.flame import Tree

# The bits of prev_state. A thread in one of the states ENDED does not come back.
STATES = {
    0x00: "(R) could run",
    0x01: "(S) sleeps",
    0x02: "(D) waits, no signal ends it",
    0x04: "(T) stopped",
    0x08: "(t) stopped by a tracer",
    0x40: "(P) parked",
    0x80: "(I) idle",
    0x100: "(R+) preempted",
}
ENDED = 0x10 | 0x20


class Times:
    """
    On: each sample stands for its period. Off: from the switch away from a thread to the next one to it, by the stack with
    which it left; threads that wait on have waited until now. The idle threads have neither.
    """

    def __init__(self):
        self.waits = {}  # thread: (since when, path) of those that are away
        self.clear(None)

    def clear(self, now):
        """Begin anew at this time, ns of the kernel; None: with the first event."""
        self.on, self.off, self.since = Tree(), Tree(), now or None
        self.waits = {pid: (now, path) for pid, (_, path) in self.waits.items()}

    def switch(self, time_ns, before, name, state, after, stack):
        """stack: names of functions, the outermost first, of the thread that leaves; empty if it is not known."""
        self.since = self.since or time_ns
        if after in self.waits:
            begin, path = self.waits.pop(after)
            self.off.add(path, time_ns - begin)
        if before and not state & ENDED:
            self.waits[before] = time_ns, (name, *stack, STATES.get(state, f"state {state:#x}"))

    def sample(self, time_ns, name, period_ns, place, stack):
        """place: the function that was interrupted, for samples without a stack."""
        self.since = self.since or time_ns
        self.on.add((name, *(stack or [place])), period_ns)

    def forget(self):
        """Events were lost: a thread that was away may have run."""
        self.waits.clear()

    def pictures(self, now):
        """{"on": tree, "off": tree, "ns": the time that they are over}, each tree as Tree.picture() has it."""
        for pid, (begin, path) in self.waits.items():
            self.off.add(path, now - begin, calls=0)
            self.waits[pid] = now, path
        return {"on": self.on.picture(str), "off": self.off.picture(str), "ns": now - self.since if self.since else 0}
