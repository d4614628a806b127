"""What a trace.dat says beside its pages, from a running kernel."""
from concurrent.futures import ThreadPoolExecutor

from host._common import Failure
from host._dat import Facts

AT_ONCE = 8  # files that are read at the same time: a request takes longer than its bytes


def cpus_of(guest, tracing):
    """Numbers of the CPUs that have a ring."""
    return sorted(int(name[3:]) for name in guest.names(f"{tracing}per_cpu"))


def clock_of(guest, tracing):
    return guest.text(f"{tracing}trace_clock").split("[")[1].split("]")[0]


def formats(guest, pool):
    """Of the tracers' own events, and (system, formats) of the others."""
    own = [f"events/ftrace/{name}/format" for name in guest.names("events/ftrace") if name not in ("enable", "filter")]
    events = [line.partition(":")[::2] for line in guest.text("available_events").split()]
    texts = list(pool.map(guest.read, own + [f"events/{system}/{event}/format" for system, event in events]))
    systems = {}
    for (system, _), text in zip(events, texts[len(own):]):
        systems.setdefault(system, []).append(text)
    return texts[:len(own)], sorted(systems.items())


def may_have_stacks(guest, tracing):
    """Is somebody tracing stacks?"""
    if any(guest.text(f"{tracing}options/{name}").strip() == "1" for name in ("stacktrace", "func_stack_trace")):
        return True
    return any("stacktrace" in guest.text(tracing + name) for name in ("show_event_triggers", "set_ftrace_filter"))


def page_size_of(guest, buffers):
    """One for all buffers of a file, as its head and `header_page` say it."""
    sizes = {int(guest.text(f"{one.tracing}buffer_subbuf_size_kb")) << 10 for one in buffers}
    if len(sizes) > 1:
        raise Failure("the buffers have sub-buffers of different sizes (buffer_subbuf_size_kb): they cannot be in one file")
    return sizes.pop()


def gather(guest, buffers):
    """`buffers`: those that are recorded, see _recording.py."""
    facts = Facts(*(one.name for one in buffers if one.name))
    facts.cmdlines = guest.read("saved_cmdlines")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        facts.ftrace_formats, facts.systems = formats(guest, pool)
    facts.header_page = guest.read(f"{buffers[0].tracing}events/header_page")
    facts.header_event = guest.read("events/header_event")
    facts.uname = guest.text("/proc/version").strip()
    facts.page_size = page_size_of(guest, buffers)
    facts.nr_cpus = cpus_of(guest, "")[-1] + 1
    gather_last(guest, facts, buffers)
    return facts


def names_of_tasks(guest, before=b""):
    """Lines `pid name`, with those of an earlier answer: each thread that serves us may push the name of one that has ended out."""
    names = {}
    for text in (before.decode("utf-8", "replace"), guest.text("saved_cmdlines")):
        names.update(line.split(" ", 1) for line in text.splitlines())
    return "".join(f"{pid} {name}\n" for pid, name in names.items()).encode()


def gather_last(guest, facts, buffers):
    """What changes while it is traced: names of functions and tasks, and the counters of the rings."""
    facts.buffers[0].clock = clock_of(guest, buffers[0].tracing)
    facts.kallsyms, facts.printk, facts.cmdlines = guest.read("/proc/kallsyms"), guest.read("printk_formats"), names_of_tasks(guest, facts.cmdlines)
    for one in buffers:
        its = facts.buffers[one.number]
        its.clock = clock_of(guest, one.tracing)
        its.stats = [f"CPU: {cpu}\n{guest.text(f'{one.tracing}per_cpu/cpu{cpu}/stats')}" for cpu in cpus_of(guest, one.tracing)]
