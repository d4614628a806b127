"""gdb for Fathom: unwinding through ftrace trampolines, and what each CPU and thread is doing.

    fathom-cpus             each CPU: running thread, preempt count in words
    fathom-ps               all threads
    fathom-bt PID|all       backtrace of a thread that does not run (a running one: `thread N`, `bt`)
    fathom-symbol ADDRESS   what lies there, trampolines included

Traps and thread switches need nothing from here: their assembly carries unwind information. A
trampoline is made at run time, so no file describes it; its frame is fixed instead
(trace/arch/x86_64/trampoline_code.asm): rbp pushed and set, saved registers below, above it two return
addresses: into the traced function, behind its call site, and into that function's caller.
"""
import re
import struct

import gdb
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator

EXEC_BASE = 0xFFFFFFFFA0000000  # <arch/paging.h>
EXEC_BYTES = 256 << 10
TRAMPOLINE_NAME = "ftrace_trampoline"
MASK = (1 << 64) - 1

PUSH_RBP = b"\x55"
POP_AT_RSP = b"\x8f\x04\x24"
MOV_RSP_RBP = b"\x48\x89\xe5"
RET = b"\xc3"
CALL = 0xE8
CALL_BYTES = 5

# In the order in which a trampoline pushes them, below the place that rbp points to.
SAVED = ["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9"]
UNTOUCHED = ["rbx", "r12", "r13", "r14", "r15"]


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address & MASK, size))


def word(address):
    return struct.unpack("<Q", read(address, 8))[0]


def symbol_range(first, last):
    try:
        return (int(gdb.parse_and_eval(f"(unsigned long)&{first}")),
                int(gdb.parse_and_eval(f"(unsigned long)&{last}")))
    except gdb.error:
        return (0, 0)


def in_trampoline(pc):
    if EXEC_BASE <= pc < EXEC_BASE + EXEC_BYTES:
        return True
    ranges = [symbol_range(name, name + "_end") for name in ("ftrace_caller", "ftrace_regs_caller")]
    return any(start <= pc < end for start, end in ranges)


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class TrampolineUnwinder(gdb.unwinder.Unwinder):
    def __init__(self):
        super().__init__("fathom-trampoline")

    def __call__(self, pending):
        def register(name):
            return int(pending.read_register(name)) & MASK

        pc = register("rip")
        if not in_trampoline(pc):
            return None
        try:
            return self.unwind(pending, pc, register("rsp"), register("rbp"))
        except gdb.MemoryError:
            return None

    def unwind(self, pending, pc, rsp, rbp):
        code = read(pc, 3)
        caller_rbp = rbp
        if code.startswith(PUSH_RBP) or code.startswith(RET):
            ret_at = rsp
        elif code == MOV_RSP_RBP:
            ret_at = rsp + 8
            caller_rbp = word(rsp)
        elif code == POP_AT_RSP:  # on its way to a direct call
            ret_at = rsp + 16
        else:
            ret_at = rbp + 8
            caller_rbp = word(rbp)

        long = gdb.lookup_type("unsigned long")
        info = pending.create_unwind_info(
            FrameId(gdb.Value(ret_at + 8).cast(long), gdb.Value(pc).cast(long)))
        values = {"rip": word(ret_at), "rsp": ret_at + 8, "rbp": caller_rbp}
        for name in UNTOUCHED:
            values[name] = int(pending.read_register(name)) & MASK
        if read(pc - CALL_BYTES, 1)[0] == CALL and ret_at == rbp + 8:
            for number, name in enumerate(SAVED, 1):
                values[name] = word(rbp - 8 * number)
        for name, value in values.items():
            info.add_saved_register(name, gdb.Value(value).cast(long))
        return info


class KernelFrame(FrameDecorator):
    """Names a trampoline, which has no symbol. Names a trap, which gdb would call a signal handler."""

    def function(self):
        frame = self.inferior_frame()
        if EXEC_BASE <= frame.pc() < EXEC_BASE + EXEC_BYTES:
            return TRAMPOLINE_NAME
        if frame.type() == gdb.SIGTRAMP_FRAME:
            return re.sub(r"[.+].*", "", describe(frame.pc()))  # without the label inside
        return super().function()

    def filename(self):
        is_trap = self.inferior_frame().type() == gdb.SIGTRAMP_FRAME
        return None if is_trap else super().filename()


class KernelFilter:
    """Names for the frames of `bt` that gdb cannot name."""

    def __init__(self):
        self.name = "fathom"
        self.priority = 100
        self.enabled = True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        # The boot code calls C with return address 0.
        return (KernelFrame(f) for f in frames if f.inferior_frame().pc() != 0)


def describe(address):
    """`function+offset`, as the kernel prints it."""
    if EXEC_BASE <= address < EXEC_BASE + EXEC_BYTES:
        return TRAMPOLINE_NAME
    text = gdb.execute(f"info symbol {address:#x}", to_string=True)
    if text.startswith("No symbol"):
        return f"{address:#x}"
    return text.split(" in section")[0].strip().replace(" + ", "+")


def number_of(argument, what):
    """The value of an expression; GdbError, which gdb prints as it is, when it has none."""
    if not argument.strip():
        raise gdb.GdbError(f"{what} is missing")
    try:
        return int(gdb.parse_and_eval(argument))
    except (gdb.error, ValueError, OverflowError) as err:
        raise gdb.GdbError(f"{argument}: {what} is wanted: {err}")


def threads():
    """Every struct thread, as gdb values."""
    head = gdb.parse_and_eval("&'thread_list.c'::all_threads")
    thread = gdb.lookup_type("struct thread")
    offset = next(f.bitpos // 8 for f in thread.fields() if f.name == "all_link")
    link = head["next"]
    while link != head:
        yield gdb.Value(int(link) - offset).cast(thread.pointer())
        link = link["next"]


def preempt_words(count):
    parts = [f"depth {count & 0xff}"]
    for shift, mask, name in ((8, 0xFF, "softirq"), (16, 0xF, "hardirq"), (20, 0xF, "NMI")):
        if count >> shift & mask:
            parts.append(name)
    if not count >> 31:
        parts.append("reschedule wanted")
    return ", ".join(parts)


class Command(gdb.Command):
    """A command that fails with a sentence, not with a Python traceback."""

    def invoke(self, argument, from_tty):
        try:
            self.run(argument)
        except gdb.error as err:  # gdb.MemoryError is one: the kernel has not started, for instance
            raise gdb.GdbError(str(err))


class Cpus(Command):
    """Each CPU: the thread it runs and its preempt count."""

    def __init__(self):
        super().__init__("fathom-cpus", gdb.COMMAND_STATUS)

    def run(self, argument):
        nr = len(gdb.selected_inferior().threads())
        areas = gdb.parse_and_eval("'percpu.c'::areas")
        for cpu in range(nr):
            local = areas[cpu]["local"]
            if not int(local["self"]):
                continue
            current = local["current"]
            name = current["name"].string() if int(current) else "(none)"
            print(f"CPU {cpu}: pid {int(local['current_pid'])} {name}: "
                  f"{preempt_words(int(local['preempt_count']))}")


# Functions that only wait. fathom-ps shows the function that called them.
WAITING = ("sched_switch", "schedule", "schedule_until", "waitq_sleep", "waitq_wait", "mutex_lock",
           "thread_sleep_ns")
STATES = {0: "R", 1: "S", 2: "D", 4: "Z"}


class Ps(Command):
    """All threads: pid, state, CPU, name, and where those that do not run stopped."""

    def __init__(self):
        super().__init__("fathom-ps", gdb.COMMAND_STATUS)

    def run(self, argument):
        print(f"{'PID':>5} S CPU {'NAME':<16} AT")
        for t in threads():
            running = int(t["on_cpu"]) != 0
            state = STATES.get(int(t["state"]), "?")
            at = "running" if running else waiting_in(t)
            print(f"{int(t['pid']):>5} {state} {int(t['cpu']):>3} {t['name'].string():<16} {at}")


def waiting_in(thread):
    """The first function of its backtrace that is not about waiting itself."""
    names = [describe(address) for address in backtrace(thread)]
    return next((n for n in names if n.split("+")[0] not in WAITING), names[0])


def backtrace(thread, limit=32):
    """Return addresses of a thread that does not run: what arch_switch() left, then frame pointers."""
    rsp = int(thread["context"]["rsp"]) & MASK
    rbp = word(rsp + 5 * 8)
    addresses = [word(rsp + 6 * 8)]
    while rbp and not rbp & 1 and len(addresses) < limit:
        ret = word(rbp + 8)
        if not ret:
            break
        if in_trampoline(addresses[-1]):
            addresses.append(ret)
            ret = word(rbp + 16)
        addresses.append(ret)
        rbp = word(rbp)
    return addresses


class Backtrace(Command):
    """fathom-bt PID|all: the backtrace of threads that do not run."""

    def __init__(self):
        super().__init__("fathom-bt", gdb.COMMAND_STACK)

    def run(self, argument):
        wanted = argument.strip()
        pid = None if wanted == "all" else number_of(wanted, "PID or `all`")
        found = False
        for t in threads():
            if pid is not None and int(t["pid"]) != pid:
                continue
            found = True
            print(f"{int(t['pid'])} {t['name'].string()}")
            if int(t["on_cpu"]):
                print("  running: use `thread` and `bt`")
                continue
            for address in backtrace(t):
                print(f"  {describe(address)}")
        if not found:
            raise gdb.GdbError(f"no thread {wanted}")


class Symbol(Command):
    """fathom-symbol ADDRESS: the function there, or the trampoline."""

    def __init__(self):
        super().__init__("fathom-symbol", gdb.COMMAND_DATA)

    def run(self, argument):
        print(describe(number_of(argument, "an address") & MASK))


gdb.unwinder.register_unwinder(None, TrampolineUnwinder(), replace=True)
KernelFilter()
Cpus()
Ps()
Backtrace()
Symbol()
