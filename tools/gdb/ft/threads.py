"""CPUs and threads: who runs where, who waits in what, and the backtraces of those that do not run."""
import struct

from ft import memory, symbols
from ft.memory import MASK, Damaged

IDLE = "<idle>"
UNKNOWN = "<...>"
STATES = {0: "R", 1: "S", 2: "D", 4: "Z"}
# Functions that only wait. `ft threads` shows the function that called them.
WAITING = (
    "arch_switch",
    "sched_switch",
    "schedule",
    "schedule_until",
    "waitq_sleep",
    "waitq_wait",
    "mutex_lock",
    "mutex_wait",
    "thread_sleep_ns",
)
MAX_CPUS = 256
FRAME_BYTES = 56  # struct fgraph_frame
STACK_BYTES = 4096
NR_FRAMES = STACK_BYTES // FRAME_BYTES


def cpus():
    """(number, struct cpu_local) of each CPU that was ever brought up."""
    cpu_areas = memory.variable("cpu_areas", "percpu.c")
    for cpu in range(min(cpu_areas.type.range()[1] + 1, MAX_CPUS)):
        if int(cpu_areas[cpu]["local"]["self"]):
            yield cpu, cpu_areas[cpu]["local"]


def threads():
    """Every struct thread."""
    return memory.ring_list(memory.variable("all_threads", "thread_list.c"), "struct thread", "all_link", "threads")


def name_of(thread):
    return memory.array_text(thread["name"])


def names(say=print):
    """Names of threads by their numbers: of the living, of dead ones whose names were saved. `say` is told when some are missing."""
    found = {}
    try:
        saved = memory.variable("saved", "cmdlines.c")
        for i in range(min(int(saved["nr"]), 1 << 16)):
            line = saved["ring"][i]
            found[int(line["pid"])] = memory.array_text(line["comm"])
        if int(memory.variable("trace_global")["options"]) & 1 << memory.enum("TRACE_OPT_RECORD_CMD"):
            for thread in threads():
                found[int(thread["pid"])] = name_of(thread)
    except Damaged as err:
        say(f"(names of threads are missing: {err})")
    found[0] = IDLE
    return found


def comms():
    """A function that gives the name of a thread by its number, as the lines of a trace have it."""
    known = names()
    return lambda pid: known.get(pid, UNKNOWN)


def preempt_words(count):
    parts = [f"depth {count & 0xff}"]
    for shift, mask, name in ((8, 0xFF, "softirq"), (16, 0xF, "hardirq"), (20, 0xF, "NMI")):
        if count >> shift & mask:
            parts.append(name)
    if not count >> 31:
        parts.append("reschedule wanted")
    return ", ".join(parts)


# ---- Backtraces ----


def shadow_stack(thread):
    """The real return addresses behind the hooks on a thread's stack, by their place there."""
    base, top = int(thread["trace"]["graph_base"]), int(thread["trace"]["graph_top"])
    if not base or not base <= top <= base + STACK_BYTES:
        return {}
    try:
        data = memory.read(base, (top - base) // FRAME_BYTES * FRAME_BYTES)
    except Damaged:
        return {}
    hook = memory.symbol_address("return_to_handler")
    found = {}
    for at in range(0, len(data), FRAME_BYTES):
        slot = struct.unpack_from("<Q", data, at + 32)[0]
        ret = symbols.unpack(struct.unpack_from("<I", data, at + 44)[0])
        # Several frames of one call: the lowest has the address, the others have the hook.
        if ret != hook:
            found[slot] = ret
    return found


def running(cpu):
    """The thread that a CPU runs, or None."""
    for number, local in cpus():
        if number == cpu and int(local["current"]):
            return local["current"].dereference()
    return None


def real_return(slot, cpu):
    """The return address that the hook at `slot` of a stack hides: of the thread that `cpu` runs, or of any; or None."""
    thread = running(cpu)
    if thread is not None:
        found = shadow_stack(thread).get(slot)
        if found:
            return found
    for thread in threads():
        found = shadow_stack(thread).get(slot)
        if found:
            return found
    return None


def copied_from(address):
    """Of code that was made for a probe, the instruction that it is a copy of; any other as it is."""
    return symbols.original(address) or address


def backtrace(thread, limit=64):
    """Return addresses of a thread that does not run: what arch_switch() left, then frame pointers."""
    hook, real = memory.symbol_address("return_to_handler"), shadow_stack(thread)

    def returns_to(at):
        address = memory.word(at)
        return real.get(at, address) if address == hook else address

    rsp = int(thread["context"]["rsp"]) & MASK
    rbp = memory.word(rsp + 5 * 8)
    addresses = [returns_to(rsp + 6 * 8)]
    while rbp and not rbp & 6 and len(addresses) < limit:
        try:
            if rbp & 1:  # an interrupt, whose handler has switched: what it interrupted
                regs = memory.at(rbp - 1, "struct trap_frame")
                addresses.append(copied_from(int(regs["rip"]) & MASK))
                rbp = int(regs["rbp"]) & MASK
                continue
            ret = returns_to(rbp + 8)
            if not ret:
                break
            if symbols.original(ret):  # a detour: the probed function goes on with what it had
                addresses.append(copied_from(ret))
                rbp = memory.word(rbp)
                continue
            if symbols.in_trampoline(addresses[-1]):
                addresses.append(ret)
                ret = returns_to(rbp + 16)
            addresses.append(ret)
            above = memory.word(rbp)
        except Damaged:
            break
        if above <= rbp and not above & 1:
            break  # frames only lie higher and higher; anything else would go round
        rbp = above
    return addresses


def waiting_in(thread):
    """The first function of its backtrace that is not about waiting itself."""
    try:
        addresses = backtrace(thread)
    except Damaged as err:
        return f"({err})"
    names = [symbols.describe(address, True) for address in addresses]
    return next((name for name in names if name.split("+")[0] not in WAITING), names[0])
