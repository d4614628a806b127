"""The parts of a trace.dat beside its pages, from a running kernel."""
import re
from concurrent.futures import ThreadPoolExecutor

from host import _maps
from host._common import Failure
from host._write_head import Facts

AT_ONCE = 8  # files that are read at the same time: a request takes longer than its bytes
CPUS_MAX, SUBBUF_KB_MAX = 4096, 16 << 10


def matched(guest, path, pattern):
    """The first group of the pattern, which what stands in a file has to match."""
    text = guest.text(path)
    found = re.match(pattern, text)
    if not found:
        raise Failure(f"what the kernel says in {path} makes no sense: {text[:60]!r}")
    return found[1]


def number_of(guest, path):
    return int(matched(guest, path, r"(\d{1,18})\s*$"))


def cpus_of(guest, tracing):
    """Numbers of the CPUs that have a ring."""
    names = guest.names(f"{tracing}per_cpu")
    cpus = sorted(int(name[3:]) for name in names if re.fullmatch(r"cpu\d{1,4}", name))
    if not cpus or len(cpus) < len(names) or cpus[-1] >= CPUS_MAX:
        raise Failure(f"what the kernel has in {tracing}per_cpu makes no sense: {' '.join(names)[:60]!r}")
    return cpus


def clock_of(guest, tracing):
    return matched(guest, f"{tracing}trace_clock", r"[^\[]*\[(\w+)\]")


def formats(guest, pool):
    """Of the tracers' own events, and (system, formats) of the others."""
    own = [f"events/ftrace/{name}/format" for name in guest.names("events/ftrace") if name not in ("enable", "filter")]
    events = [line.partition(":")[::2] for line in guest.text("available_events").split()]
    texts = list(pool.map(guest.read, own + [f"events/{system}/{event}/format" for system, event in events]))
    systems = {}
    for (system, _), text in zip(events, texts[len(own) :]):
        systems.setdefault(system, []).append(text)
    return texts[: len(own)], sorted(systems.items())


def subbuf_bytes(guest, tracing):
    """Of a page as trace_pipe_raw gives it."""
    path = f"{tracing}buffer_subbuf_size_kb"
    kb = number_of(guest, path)
    if not 0 < kb <= SUBBUF_KB_MAX:
        raise Failure(f"what the kernel says in {path} makes no sense: {kb}")
    return kb << 10


def most_pages(guest, folder, page_size):
    """No ring has more, that of the CPU whose folder it is; what comes behind them is new."""
    return AT_ONCE + 2 * int(matched(guest, f"{folder}/buffer_size_kb", r"(\d{1,12})\b")) * 1024 // page_size


def page_size_of(guest, buffers):
    """One for all buffers of a file, as its head and `header_page` say it."""
    sizes = {subbuf_bytes(guest, one.tracing) for one in buffers}
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
        names.update(re.findall(r"^(\d+) (.*)$", text, re.M))
    return "".join(f"{pid} {name}\n" for pid, name in names.items()).encode()


def gather_last(guest, facts, buffers):
    """The facts that change while it is traced: names of functions and tasks, files of processes, and the counters of the rings."""
    facts.buffers[0].clock = clock_of(guest, buffers[0].tracing)
    facts.kallsyms, facts.printk, facts.cmdlines = (
        guest.read("/proc/kallsyms"),
        guest.read("printk_formats"),
        names_of_tasks(guest, facts.cmdlines),
    )
    facts.maps = _maps.joined(facts.maps, _maps.gather(guest))
    for one in buffers:
        its = facts.buffers[one.number]
        its.clock = clock_of(guest, one.tracing)
        its.stats = [f"CPU: {cpu}\n{guest.text(f'{one.tracing}per_cpu/cpu{cpu}/stats')}" for cpu in cpus_of(guest, one.tracing)]
