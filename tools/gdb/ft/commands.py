"""The commands: `ft NAME`. `help ft` lists them."""
import re
import struct
import sys
from collections import deque

import gdb
from ft import header, lines, locks, log, memory, probes, sites, symbols, threads, types
from ft.memory import MASK, Damaged

RECORDS = 1  # TRACE_EVENT_RECORDS
SENSELESS = (ArithmeticError, LookupError, ValueError, struct.error)  # where damaged memory leads


class Command(gdb.Command):
    """A command that fails with a sentence, not with a Python traceback."""

    def __init__(self, name, function, doc, kind=gdb.COMMAND_STATUS):
        self.__doc__ = doc
        self.function = function
        self.takes_nothing = ":" in doc.split()[1]  # `ft NAME: ...`
        super().__init__(name, kind)

    def invoke(self, argument, from_tty):
        if argument.strip() and self.takes_nothing:
            raise gdb.GdbError(f"this takes no argument: {argument.strip()}")
        check_image()
        try:
            self.function(argument.strip())
        except gdb.error as err:  # gdb.MemoryError is one
            raise gdb.GdbError(str(err)) from None
        except SENSELESS as err:
            raise gdb.GdbError(f"what is in memory makes no sense: {err!r}") from None


_checked = set()


def check_image():
    """Say so when gdb has the ELF file of another kernel than the one in memory: nothing would be where it is looked for."""
    path = gdb.current_progspace().filename
    if path not in _checked:
        problem = symbols.image_problem()
        if problem:
            print(f"({problem})")
        else:
            _checked.add(path)


# ---- Things that are traced ----


def trace(argument):
    """The last N lines' events; all of them without a number."""
    words = argument.split()
    count = None
    if words and re.fullmatch("-?[0-9]+", words[0]):
        count = min(int(words.pop(0)), sys.maxsize)
        if count <= 0:
            raise gdb.GdbError("N is how many events from the end, 1 or more")
    if len(words) > 1:
        raise gdb.GdbError("ft trace [N] [INSTANCE]")
    walk = lines.Walk(lines.find_instance(words[0] if words else ""))
    gdb.write(header.text(walk))
    for line in walk.lines() if count is None else deque(walk.lines(), maxlen=count):
        try:
            gdb.write(line())
        except (gdb.error, *SENSELESS) as err:
            gdb.write(f"# an event that cannot be printed: {err}\n")
    for problem in header.problems(walk):
        gdb.write(f"# {problem}\n")


def events(argument):
    """Types of events; those that are on, with the instances in which they are."""
    if argument not in ("", "all"):
        raise gdb.GdbError("ft events [all]")
    on = {}
    for tr in lines.instances():
        slot = memory.at(memory.address_of(tr["slots"]["events"]), "struct trace_array_events")
        name = memory.array_text(tr["name"]) or "(global)"
        for file in memory.chain(slot["files"], lambda f: f["next_of_array"], "events of an instance"):
            if int(file["front"]["flags"]) & RECORDS:
                on.setdefault(int(file["type"]), []).append(name)
    nr = 0
    for kind in types.Types().all():
        nr += 1
        if argument == "all" or kind.number in on:
            print(f"{kind.number:>5} {kind.system}:{kind.name}" + (f"  on in {', '.join(on[kind.number])}" if kind.number in on else ""))
    print(f"{len(on)} of {nr} events are on" + ("" if argument else "; `ft events all` lists the others, too"))


# ---- CPUs and threads ----


def cpus(argument):
    for cpu, local in threads.cpus():
        current = local["current"]
        name = threads.name_of(current) if int(current) else "(none)"
        print(f"CPU {cpu}: pid {int(local['current_pid'])} {name}: {threads.preempt_words(int(local['preempt_count']))}")


def list_threads(argument):
    print(f"{'PID':>5} S CPU {'NAME':<16} AT")
    for t in threads.threads():
        running = int(t["on_cpu"]) != 0
        state = threads.STATES.get(int(t["state"]), "?")
        print(f"{int(t['pid']):>5} {state} {int(t['cpu']):>3} {threads.name_of(t):<16} {'running' if running else threads.waiting_in(t)}")


def print_backtrace(thread):
    for i, address in enumerate(threads.backtrace(thread)):
        print(f"  {symbols.describe(address, i > 0)}")


def backtrace(argument):
    pid = None if argument == "all" else memory.number_of(argument, "PID or `all`")
    found = False
    for t in threads.threads():
        if pid is not None and int(t["pid"]) != pid:
            continue
        found = True
        print(f"{int(t['pid'])} {threads.name_of(t)}")
        if int(t["on_cpu"]):
            print(f"  running on CPU {int(t['cpu'])}: `thread {int(t['cpu']) + 1}`, `bt`")
            continue
        print_backtrace(t)
    if not found:
        raise gdb.GdbError(f"no thread {argument}")


def backtrace_all(argument):
    """gdb's backtrace of each CPU, then those of threads that do not run."""
    selected = gdb.selected_thread()
    by_cpu = {number: threads.running(number) for number, _ in threads.cpus()}
    for inferior_thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
        cpu = inferior_thread.num - 1
        who = by_cpu.get(cpu)
        print(f"CPU {cpu}: " + (f"{int(who['pid'])} {threads.name_of(who)}" if who is not None else "(no thread)"))
        inferior_thread.switch()
        try:
            gdb.execute("bt 64")
        except gdb.error as err:
            print(f"  ({err})")
    if selected:
        selected.switch()
    for t in threads.threads():
        if not int(t["on_cpu"]):
            print(f"{int(t['pid'])} {threads.name_of(t)}")
            try:
                print_backtrace(t)
            except Damaged as err:
                print(f"  ({err})")


def symbol(argument):
    print(symbols.describe(memory.number_of(argument, "an address", is_place=True) & MASK))


COMMANDS = (
    (
        "sites",
        lambda glob: sites.show(glob),
        "ft sites [GLOB]: call sites that call something, or those of functions that match; "
        "how many ops want each, and what stands in the code there.",
    ),
    ("ops", lambda _: sites.show_ops(), "ft ops: who wants function calls, which ones, and what is called."),
    (
        "probes",
        lambda _: probes.show(),
        "ft probes: where probes are, by which means, what they call, hits and misses; the events of probes.",
    ),
    ("trace", trace, "ft trace [N] [INSTANCE]: the trace, or the last N events of it, out of the rings in memory."),
    ("events", events, "ft events [all]: events that are on, and where."),
    ("dmesg", lambda _: log.show(), "ft dmesg: the kernel's messages."),
    ("threads", list_threads, "ft threads: all threads, and where those that do not run stopped."),
    ("cpus", cpus, "ft cpus: what each CPU runs, and its preempt count in words."),
    ("bt", backtrace, "ft bt PID|all: the backtrace of threads that do not run."),
    ("bt-all", backtrace_all, "ft bt-all: the backtraces of all CPUs and of all threads."),
    ("locks", lambda _: locks.show(), "ft locks: locks that are taken, by whom, and who waits for them."),
    ("symbol", symbol, "ft symbol ADDRESS|NAME: the function there, or the trampoline."),
    ("break", sites.set_breakpoint, "ft break FUNCTION|*ADDRESS: a breakpoint; a hardware one where the kernel changes code."),
)
OLD_NAMES = (("fathom-cpus", "ft cpus"), ("fathom-ps", "ft threads"), ("fathom-bt", "ft bt"), ("fathom-symbol", "ft symbol"))


class Prefix(gdb.Command):
    """Fathom's commands; each reads memory alone, so it works on a machine that hangs or has died."""

    def __init__(self):
        super().__init__("ft", gdb.COMMAND_USER, prefix=True)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError(f"there is no command `ft {argument.split()[0]}`; `help ft` lists them")
        gdb.execute("help ft")


def register():
    Prefix()
    for name, function, doc in COMMANDS:
        Command(f"ft {name}", function, doc)
    for old, new in OLD_NAMES:
        gdb.execute(f"alias {old} = {new}")
