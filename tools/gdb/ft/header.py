"""The head of `trace`, above its first line, as trace/print/output_head.c and output_graph_columns.c have it."""
from ft import lines, memory

STATE_COLUMNS = """\
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
"""
COLUMNS = """\
#           TASK-PID     CPU#     TIMESTAMP  FUNCTION
#              | |         |         |         |
"""
LATENCY_COLUMNS = """\
#                    _------=> CPU#            \n\
#                   / _-----=> irqs-off/BH-disabled
#                  | / _----=> need-resched    \n\
#                  || / _---=> hardirq/softirq \n\
#                  ||| / _--=> preempt-depth   \n\
#                  |||| / _-=> migrate-disable \n\
#                  ||||| /     delay           \n\
#  cmd     pid     |||||| time  |   caller     \n\
#     \\   /        ||||||  \\    |    /       \n"""
GRAPH_FRONT = (
    (lines.GRAPH_ABSTIME, "     TIME       ", "      |         "),
    (lines.GRAPH_RELTIME, "   REL TIME     ", "      |         "),
    (lines.GRAPH_CPU, " CPU", " |  "),
    (lines.GRAPH_PROC, "  TASK/PID       ", "   |    |        "),
)
GRAPH_WIDTHS = (16, 16, 4, 17)
GRAPH_STATE = (
    "  _-----=> irqs-off        ",
    " / _----=> need-resched    ",
    "| / _---=> hardirq/softirq ",
    "|| / _--=> preempt-depth   ",
    "||| /                      ",
)
REAL_TIME = 100
HIGHEST = 99


def nr_online():
    return bin(int(memory.variable("smp_online"))).count("1")


def counts(walk):
    return f"{walk.entries}/{walk.written}"


def latency_summary(walk):
    instance, kept = walk.instance, walk.instance.maximum
    latency = cpu = pid = prio = policy = 0
    comm, places = "", ""
    if kept is not None:
        latency, cpu, pid, prio, policy = (int(kept[name]) for name in ("latency_ns", "cpu", "pid", "prio", "policy"))
        comm = memory.array_text(kept["comm"])
        if int(kept["started_at"]):
            places = (
                f"#  => started at: {walk.printer.ip(int(kept['started_at']) & 0xFFFFFFFF)}\n"
                f"#  => ended at:   {walk.printer.ip(int(kept['ended_at']) & 0xFFFFFFFF)}\n#\n"
            )
    rt_prio = HIGHEST - prio if latency and prio < REAL_TIME else 0
    return (
        f"# {instance.tracer_name} latency trace v1.1.5 on fathom\n"
        f"# {'-' * 68}\n"
        f"# latency: {latency // 1000} us, #{counts(walk)}, CPU#{cpu} | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:{nr_online()})\n"
        f"#    -----------------\n"
        f"#    | task: {comm:.16}-{pid} (uid:0 nice:0 policy:{policy} rt_prio:{rt_prio})\n"
        f"#    -----------------\n{places}#\n"
    )


def graph_header(walk):
    instance, flags = walk.instance, walk.flags
    out, latency = "", instance.has("LATENCY_FORMAT")
    if latency:
        if not walk.entries:
            return ""
        width = sum(size for size, column in zip(GRAPH_WIDTHS, GRAPH_FRONT) if flags & column[0])
        out = latency_summary(walk) + "".join(f"#{' ' * width}{line}\n" for line in GRAPH_STATE)
    for marks in (False, True):
        out += "#" + "".join(column[1 + marks] for column in GRAPH_FRONT if flags & column[0]) + ("||||   " if latency else "")
        if flags & lines.GRAPH_DURATION:
            out += "   |   |      " if marks else "  DURATION   "
        out += "               |   |   |   |\n" if marks else "               FUNCTION CALLS\n"
    return out


def text(walk):
    instance = walk.instance
    out = f"# tracer: {instance.tracer_name}\n#\n"
    if int(memory.variable("ftrace_died", "ftrace_dead.c")):
        out += "# WARNING: FUNCTION TRACING IS CORRUPTED\n#          MAY BE MISSING FUNCTION EVENTS\n"
    if not instance.has("CONTEXT_INFO"):
        return out
    if walk.flags is not None:
        return out + graph_header(walk)
    if instance.has("LATENCY_FORMAT"):
        if not walk.entries:
            return out
        return out + latency_summary(walk) + ("" if instance.has("VERBOSE") else LATENCY_COLUMNS)
    if instance.has("VERBOSE"):
        return out
    out += f"# entries-in-buffer/entries-written: {counts(walk)}   #P:{nr_online()}\n#\n"
    return out + (STATE_COLUMNS if instance.has("IRQ_INFO") else COLUMNS)


def problems(walk):
    """Notes: parts that could not be read, and differences from the kernel's own text."""
    found = [f"the ring of CPU {each.cpu} {each.problem}" for each in walk.instance.rings if each.problem]
    form = next((option for option in ("RAW", "HEX", "BIN", "FIELDS") if walk.instance.has(option)), None)
    if form:
        found.append(f"the option {form.lower()} is not followed here: lines are text")
    return found
