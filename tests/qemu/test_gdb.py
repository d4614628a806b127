"""gdb on the running kernel: breakpoints while tracing is switched, backtraces through everything."""
import re
import subprocess

import pytest

from gdb_guest import ELF, Gdb, frames, in_order


@pytest.fixture(scope="module")
def gdb():
    with Gdb(cpus=2, limit=400) as debugger:
        yield debugger


def test_break_on_call_sites_while_tracing_is_switched(gdb):
    """Breakpoints on the very bytes that are patched: QEMU's do not touch memory."""
    gdb.start(
        "hbreak *yield\ncommands\nsilent\necho HIT\\n\ncontinue\nend\n"
        "hbreak *wake_up_process\nignore 2 1000000\n"
        "break cmd_uptime\necho READY\\n\ncontinue\n"
        "info breakpoints\ndelete\ndetach",
        "READY",
    )
    output = gdb.guest.output_of(
        "for i in 1 2 3; do echo function > current_tracer; "
        "echo nop > current_tracer; done; hackbench 1 20; "
        "cat text_poke_stats; uptime",
        200,
    )
    text = gdb.finish()
    hits = re.search(r"in wake_up_process .*\n\s+breakpoint already hit (\d+) times", text)
    assert hits and int(hits.group(1)) > 10, text
    assert "stale: 0" in output
    assert gdb.guest.check("cat current_tracer") == "nop\n"


def test_backtrace_through_a_trampoline(gdb):
    """From the tracer's callback to the first function of the thread, nothing left out."""
    guest = gdb.guest
    guest.check("echo sh_run_command > set_ftrace_filter")
    gdb.start("hbreak trace_function_call\necho READY\\n\ncontinue\n" "echo TRACE\\n\nbt 40\necho END\\n\ndelete\ndetach", "READY")
    guest.send("echo function > current_tracer; true\r")
    text = gdb.finish()
    guest.wait_prompt()
    names = frames(text, "TRACE")
    assert in_order(names, ["trace_function_call", "ftrace_trampoline", "sh_run_command", "thread_start", "arch_thread_start"]), text
    guest.check("echo nop > current_tracer; > set_ftrace_filter")


def test_backtrace_from_the_return_hook(gdb):
    """Once the real address is in the slot, and when it is in a register alone: the same caller, which comes next."""
    guest = gdb.guest
    # The breakpoint goes with its first hit: gdb may run into it again where it would step on, with two CPUs.
    guest.check("echo sh_run_command > set_ftrace_filter")
    gdb.start(
        "thbreak *return_to_handler_pop\necho READY\n\ncontinue\n"
        "echo SLOT\n\nbt 40\necho END\n\nstepi\necho REGISTER\n\nset var *(long *)($rsp - 8) = 0\nbt 40\necho END\n\n"
        "stepi\necho CALLER\n\nbt 40\necho END\n\ndetach",
        "READY",
    )
    guest.send("echo function_graph > current_tracer; true\r")
    text = gdb.finish()
    guest.wait_prompt()
    slot, register, caller = (frames(text, mark) for mark in ("SLOT", "REGISTER", "CALLER"))
    assert slot[1:] == caller == register[1:], f"{slot}\n{register}\n{caller}\n{text}"
    assert in_order(caller, ["thread_start", "arch_thread_start"]), text
    guest.check("echo nop > current_tracer; > set_ftrace_filter")


def test_backtrace_through_an_interrupt(gdb):
    """From an interrupt handler to the interrupted function, and on to the thread's first."""
    gdb.start(
        "break scheduler_tick if $_thread > 0\necho READY\\n\ncontinue\n" "echo TRACE\\n\nbt 40\necho END\\n\ndelete\ndetach", "READY"
    )
    gdb.guest.send("stress locks 1\r")
    text = gdb.finish()
    gdb.guest.wait_prompt()
    names = frames(text, "TRACE")
    assert in_order(names, ["scheduler_tick", "trap_dispatch", "trap_common"]), text
    assert names[-1] in ("arch_thread_start", "arch_start", "ap_high", "smp_ap_entry"), text
    assert len(names) > names.index("trap_common") + 2, text


def test_threads(gdb):
    """Every thread is listed, and one that sleeps has a backtrace to its first function."""
    gdb.start("fathom-cpus\necho PS\\n\nfathom-ps\necho BT\\n\nfathom-bt all\necho READY\\n\ndetach", "READY")
    text = gdb.finish()
    assert re.search(r"^CPU 0: pid \d+ ", text, re.MULTILINE), text
    assert re.search(r"^CPU 1: pid \d+ ", text, re.MULTILINE), text
    listed = set(re.findall(r"^ *(\d+) [RSDZ] ", text.split("PS\n")[1], re.MULTILINE))
    shown = set(re.findall(r"^ *(\d+) ", gdb.guest.check("ps"), re.MULTILINE))
    # The same threads, but for the one that runs ps, and a command that ended just before.
    assert len(shown & listed) >= 5 and len(shown ^ listed) <= 2, text
    block = re.search(r"^\d+ sh\n((?:  .*\n)+)", text.split("BT\n")[1], re.MULTILINE)
    assert block and block.group(1).splitlines()[-1].strip().startswith("arch_thread_start"), text


# The work of the CPU for INT 2, which unlike an NMI blocks no further ones: as after an int3 inside.
SOFT_NMI = """
python
import struct
def get(name):
    return int(gdb.execute(f"print/x ${name}", to_string=True).split("=")[1], 16)
top = 0xffffffffd000fff0 + (gdb.selected_thread().num - 1) * 0x10000
words = [get(name) for name in ("rip", "cs", "eflags", "rsp", "ss")]
gdb.selected_inferior().write_memory(top - 40, struct.pack("<5Q", *words))
for name, value in (("eflags", get("eflags") & ~0x200), ("rsp", top - 40), ("rip", ENTRY)):
    gdb.newest_frame().select()  # gdb selects the frame that looks like the one before
    gdb.execute(f"set ${name} = {value:#x}")
gdb.newest_frame().select()
end
"""


@pytest.mark.parametrize("steps", [0, 2], ids=["before the check", "before iretq"])
def test_nmi_at_the_end_of_an_nmi(gdb, steps):
    """
    The worst moments for a second NMI: the first has restored everything and is about to return.
    Its frame must survive, and the handler must run again.
    """

    def where(name):
        out = subprocess.run(["nm", ELF], stdout=subprocess.PIPE, check=True, text=True).stdout
        return "*0x" + next(l.split()[0] for l in out.splitlines() if l.endswith(" " + name))

    window, nested = where("nmi_entry.window"), where("nmi_entry.nested")
    soft_nmi = SOFT_NMI.replace("ENTRY", where("nmi_entry")[1:])
    gdb.start(
        f"hbreak cmd_uptime\necho READY\\n\ncontinue\ndelete\n{soft_nmi}"
        f"thbreak {window}\ncontinue\n" + "stepi\n" * steps + f'printf "AT %#lx\\n", $rip\nthbreak {nested}\n{soft_nmi}continue\n'
        f"echo NESTED\\n\nbt 8\necho END\\n\n"
        f"thbreak trap_nmi\ncontinue\necho AGAIN\\n\nbt 8\necho END\\n\ndelete\ndetach",
        "READY",
    )
    output = gdb.guest.output_of("uptime")
    text = gdb.finish()
    at = int(re.search(r"AT (0x[0-9a-f]+)", text).group(1), 16)
    assert (at == int(window[1:], 16)) == (steps == 0) and at < int(nested[1:], 16), text
    assert in_order(frames(text, "NESTED"), ["nmi_entry", "nmi_entry", "cmd_uptime"]), text
    again = frames(text, "AGAIN")
    assert again[0] == "trap_nmi" and in_order(again, ["nmi_entry", "cmd_uptime"]), text
    assert "up" in output
    assert gdb.guest.check("echo alive") == "alive\n"
