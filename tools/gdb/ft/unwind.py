"""Backtraces by gdb itself: unwinding through trampolines and hooked returns, and names for what has no symbol.

Traps and thread switches need nothing from here: their assembly carries unwind information. A trampoline is made at run
time, so no file describes it; its frame is fixed instead (trace/arch/x86_64/trampoline_code.asm): rbp pushed and set, saved
registers below, above it two return addresses: into the traced function, behind its call site, and into that function's
caller. A function whose return is hooked returns into return_to_handler; the shadow stack of its thread has the address
that stood there before. Probed instructions run from copies: a detour of several, which calls trace_probe_detour first, or a
slot of one.
"""
import re

import gdb
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator

from ft import memory, symbols, threads
from ft.memory import MASK, Damaged

PUSH_RBP = b"\x55"
POP_AT_RSP = b"\x8f\x04\x24"
MOV_RSP_RBP = b"\x48\x89\xe5"
RET = b"\xc3"
RET_MORE = b"\xc2"
RAISE_RSP = b"\x48\x8d\x64\x24"  # lea rsp, [rsp + the byte behind this]
CALL = 0xE8
CALL_BYTES = 5

# In the order in which a trampoline pushes them, below the place that rbp points to.
SAVED = ["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9"]
UNTOUCHED = ["rbx", "r12", "r13", "r14", "r15"]
REGISTERS = {"rip", "rsp", "rbp", *SAVED, "r10", "r11", *UNTOUCHED}
BREAKPOINT_VECTOR, INT3 = 3, 0xCC


class FrameId:
    def __init__(self, sp, pc):
        self.sp = gdb.Value(sp).cast(gdb.lookup_type("unsigned long"))
        self.pc = gdb.Value(pc).cast(gdb.lookup_type("unsigned long"))


class KernelUnwinder(gdb.unwinder.Unwinder):
    """Common to trampolines and hooked returns: the caller's registers are known one by one."""

    def __call__(self, pending):
        def register(name):
            return int(pending.read_register(name)) & MASK

        pc = register("rip")
        if not self.is_mine(pc):
            return None
        try:
            found = self.unwind(pc, register("rsp"), register("rbp"))
        except (Damaged, gdb.error):  # a backtrace ends there, as gdb's own would
            return None
        if not found:
            return None
        frame_sp, values = found
        long = gdb.lookup_type("unsigned long")
        info = pending.create_unwind_info(FrameId(frame_sp, pc))
        for name in (each for each in UNTOUCHED if each not in values):
            info.add_saved_register(name, gdb.Value(register(name)).cast(long))
        for name, value in values.items():
            info.add_saved_register(name, gdb.Value(value).cast(long))
        return info


class TrampolineUnwinder(KernelUnwinder):
    def __init__(self):
        super().__init__("fathom-trampoline")

    def is_mine(self, pc):
        return symbols.in_trampoline(pc)

    def unwind(self, pc, rsp, rbp):
        code = memory.read(pc, 3)
        caller_rbp = rbp
        if code.startswith(PUSH_RBP) or code.startswith(RET):
            ret_at = rsp
        elif code == MOV_RSP_RBP:
            ret_at = rsp + 8
            caller_rbp = memory.word(rsp)
        elif code == POP_AT_RSP:  # on its way to a direct call
            ret_at = rsp + 16
        else:
            ret_at = rbp + 8
            caller_rbp = memory.word(rbp)
        values = {"rip": memory.word(ret_at), "rsp": ret_at + 8, "rbp": caller_rbp}
        if memory.read(pc - CALL_BYTES, 1)[0] == CALL and ret_at == rbp + 8:
            for number, name in enumerate(SAVED, 1):
                values[name] = memory.word(rbp - 8 * number)
        return ret_at + 8, values


class ReturnUnwinder(KernelUnwinder):
    """The frame of a function that returns into the hook: nothing of it is on the stack but the slot."""

    def __init__(self):
        super().__init__("fathom-return")

    def is_mine(self, pc):
        return pc == memory.symbol_address("return_to_handler")

    def unwind(self, pc, rsp, rbp):
        selected = gdb.selected_thread()
        ret = threads.real_return(rsp - 8, selected.num - 1 if selected else 0)
        return (rsp, {"rip": ret, "rsp": rsp, "rbp": rbp}) if ret else None


class ProbeUnwinder(KernelUnwinder):
    """
    Copies of instructions that a CPU runs in place of probed ones, and trace_probe_detour, which a detour calls. The probed function
    goes on above them: with the same registers, but for its address.
    """

    def __init__(self):
        super().__init__("fathom-probe")

    def is_mine(self, pc):
        return in_detour_code(pc) or symbols.original(pc) is not None

    def unwind(self, pc, rsp, rbp):
        if not in_detour_code(pc):
            return self.unwind_copy(pc, rsp, rbp)
        code = memory.read(pc, 5)
        if code.startswith((PUSH_RBP, RET_MORE)):
            ret_at, caller_rbp = rsp, rbp
        elif code.startswith(MOV_RSP_RBP):
            ret_at, caller_rbp = rsp + 8, memory.word(rsp)
        elif code.startswith(RAISE_RSP):
            ret_at, caller_rbp = rsp + code[4], rbp
        else:
            ret_at, caller_rbp = rbp + 8, memory.word(rbp)
        sp = ret_at + 16  # what the detour has pushed is gone, too
        return sp, {"rip": memory.word(ret_at), "rsp": sp, "rbp": caller_rbp}

    @staticmethod
    def unwind_copy(pc, rsp, rbp):
        # gdb looks one byte in front of a caller's address for its function and its frame: that is the instruction.
        rsp += symbols.pushed(pc)
        return rsp, {"rip": symbols.original(pc) + 1, "rsp": rsp, "rbp": rbp}


class BreakpointUnwinder(KernelUnwinder):
    """
    The trap of an int3 that the kernel has written. Its address is behind that byte, in the middle of the instruction that has
    not run; gdb would take it for where the CPU is. That of a call is looked for one byte in front, which is right here.
    """

    def __init__(self):
        super().__init__("fathom-breakpoint")

    def is_mine(self, pc):
        found = symbols.find(pc)
        return found is not None and found[0] == "trap_common"

    def unwind(self, pc, rsp, rbp):
        if not rbp & 1:
            return None
        regs = memory.at(rbp - 1, "struct trap_frame")
        rip = int(regs["rip"]) & MASK
        if int(regs["vector"]) != BREAKPOINT_VECTOR or memory.read(rip - 1, 1)[0] != INT3:
            return None
        names = [field.name for field in regs.type.fields() if field.name in REGISTERS]
        return rbp - 1 + regs.type.sizeof, {name: int(regs[name]) & MASK for name in names}


def in_detour_code(pc):
    found = symbols.find(pc)
    return found is not None and found[0] in ("trace_probe_detour", "trace_probe_detour_args")


class KernelFrame(FrameDecorator):
    """Names a trampoline, which has no symbol. Names a trap, which gdb would call a signal handler."""

    def function(self):
        frame = self.inferior_frame()
        if symbols.in_exec_area(frame.pc()):
            return symbols.name_of(frame.pc())
        if frame.type() == gdb.SIGTRAMP_FRAME:
            return re.sub(r"[.+].*", "", symbols.describe(frame.pc()))  # without the label inside
        return super().function()

    def filename(self):
        is_trap = self.inferior_frame().type() == gdb.SIGTRAMP_FRAME
        return None if is_trap else super().filename()


def is_shown(frame):
    """
    The boot code calls C with return address 0. A hooked return, or the copy of a probed instruction, is no frame of its own but
    where the CPU is.
    """
    pc = frame.pc() & MASK
    if pc == 0 or frame.newer() is None:
        return pc != 0
    return pc != memory.symbol_address("return_to_handler") and symbols.original(pc) is None


class KernelFilter:
    """Names for the frames of `bt` that gdb cannot name; those left out that are none."""

    def __init__(self):
        self.name = "fathom"
        self.priority = 100
        self.enabled = True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        return (KernelFrame(frame) for frame in frames if is_shown(frame.inferior_frame()))


def register():
    gdb.unwinder.register_unwinder(None, TrampolineUnwinder(), replace=True)
    gdb.unwinder.register_unwinder(None, ReturnUnwinder(), replace=True)
    gdb.unwinder.register_unwinder(None, ProbeUnwinder(), replace=True)
    gdb.unwinder.register_unwinder(None, BreakpointUnwinder(), replace=True)
    KernelFilter()
