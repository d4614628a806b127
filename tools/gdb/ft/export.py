"""The contents of a trace.dat, out of memory: `tools/fathom extract --core` runs write() in gdb, and makes the file of what it leaves.

    FOLDER/cpu0, cpu1, ...    the pages of each CPU's ring, as trace_pipe_raw would give them
    FOLDER/facts.json         texts of the kernel's files, by the names of tools/host/_write_head.py; or why there are none: `failure`
"""
import json
import struct
from pathlib import Path

import gdb
from ft import formats, lines, log, memory, ring, symbols, threads, types
from ft.commands import SENSELESS
from ft.memory import Damaged

MISSED_STORED, MISSED_EVENTS = 1 << 30, 1 << 31  # <trace/ring_buffer.h>
GONE = 0x1000  # in trace/arch/x86_64/trampoline.c
ESCAPES = str.maketrans({"\n": "\\n", "\t": "\\t", "\\": "\\\\", '"': '\\"'})


def page_of(size, data, ts, lost):
    """As ring_consume.c puts it together."""
    commit, room = len(data), size - ring.PAGE_HEAD - len(data)
    if room < 0 or lost < 0:
        raise Damaged(f"a piece of {len(data)} bytes with {lost} events lost before it cannot be")
    if lost:
        commit |= MISSED_EVENTS
    if lost and room >= 8:
        commit |= MISSED_STORED
        data += struct.pack("<Q", lost)
    return (struct.pack("<QQ", ts, commit) + data).ljust(size, b"\0")


def write_pages(each, path):
    """(events, those lost between them). What is damaged ends them, and the ring's `problem` says so."""
    events = missed = 0
    with open(path, "wb") as out:
        if not each.is_readable():
            return 0, 0
        try:
            for data, ts, nr, lost in each.pieces():
                for _ in ring.decode(data, ts, nr, 0, each.cpu):
                    pass  # finds damage before it is in the file
                out.write(page_of(each.size, data, ts, lost))
                events, missed = events + nr, missed + lost
        except Damaged as err:
            each.problem = f"is damaged: {err}"
    return events, missed


def kallsyms():
    """Of /proc/kallsyms the lines."""
    out = [f"{address:016x} t {name}\n" for address, name in symbols.table().all()]
    starts = memory.variable("starts", "trampoline.c")
    data = memory.read(memory.address_of(starts), starts.type.sizeof)
    for unit, (start,) in enumerate(struct.iter_unpack("<H", data)):
        if start and not start & GONE:
            out.append(f"{symbols.EXEC_BASE + unit * symbols.EXEC_UNIT:016x} t ftrace_trampoline\t[__builtin__ftrace]\n")
    return "".join(out)


def printk_formats():
    first, last = (memory.symbol_address(f"__{end}_trace_printk_fmts") for end in ("start", "stop"))
    pointers = [memory.word(at) for at in range(first, min(last, first + 8 * 65536), 8)]
    return "".join(f'0x{at:x} : "{memory.text(at, 4096).translate(ESCAPES)}"\n' for at in pointers if at)


def version():
    """The line with which the kernel has begun its messages."""
    return next((text.strip() for _, text in log.messages() if text.startswith("Fathom ")), "Fathom")


def formats_of_all():
    """Of the tracers' own events, and [system, formats] of the others."""
    own, systems = [], {}
    for kind in types.Types().all():
        (own if kind.system == "ftrace" else systems.setdefault(kind.system, [])).append(formats.text(kind))
    return own, sorted(systems.items())


def time_text(clock, time):
    us = (time + 500) // 1000
    return f"{us // 1000000:5}.{us % 1000000:06}" if int(clock["is_ns"]) else f"{time}"


def stats_of(each, clock):
    """As the kernel's file has them, but for `now ts`: when the machine stopped is not in its memory."""
    entries, overrun = each.counts()
    rc, oldest = each.rc, next((event.ts for event in each.events()), 0)
    return (
        f"CPU: {each.cpu}\nentries: {entries}\noverrun: {overrun}\ncommit overrun: {int(rc['nr_commit_overrun'])}\nbytes: {each.nr_bytes()}\n"
        f"oldest event ts: {time_text(clock, oldest)}\ndropped events: {int(rc['nr_dropped'])}\n"
        f"read events: {int(rc['nr_taken']) - int(rc['chunk']['left'])}\n"
    )


def facts_of(tr, buffer):
    problems = []
    page_size = int(buffer["subbuf_size"])
    own, systems = formats_of_all()
    names = threads.names(problems.append)
    return {
        "header_page": formats.header_page(page_size),
        "header_event": formats.HEADER_EVENT,
        "ftrace_formats": own,
        "systems": systems,
        "kallsyms": kallsyms(),
        "printk": printk_formats(),
        "cmdlines": "".join(f"{pid} {name}\n" for pid, name in names.items() if pid),
        "clock": memory.text(int(tr["clock"]["name"])),
        "uname": version(),
        "page_size": page_size,
        "problems": problems,
    }


def found(folder, instance, is_snapshot):
    tr = lines.find_instance(instance).tr
    if is_snapshot:
        buffer = memory.at(memory.address_of(tr["slots"]["snapshot"]), "struct trace_snapshot")["buffer"]
    else:
        buffer = tr["buffer"]
    if not int(buffer):
        return {"events": 0, "problems": []}
    buffer = buffer.dereference()
    rings = ring.rings(buffer)
    facts = facts_of(tr, buffer) | {"events": 0, "missed": 0, "nr_cpus": max((each.cpu + 1 for each in rings), default=0), "stats": []}
    for each in rings:
        events, missed = write_pages(each, folder / f"cpu{each.cpu}")
        facts["events"] += events
        facts["missed"] += missed
        if each.problem:
            facts["problems"].append(f"the ring of CPU {each.cpu} {each.problem}; what is in front of that is there")
        else:
            facts["stats"].append(stats_of(each, tr["clock"]))
    return facts


def write(folder, instance="", is_snapshot=False):
    folder = Path(folder)
    problem = symbols.image_problem()
    if not memory.symbol_address("symbols_blob"):
        problem = f"{gdb.current_progspace().filename} is not the ELF file of a Fathom kernel, with its debug information"
    try:
        facts = {"failure": problem} if problem else found(folder, instance, is_snapshot)
    except (gdb.error, gdb.GdbError) as err:
        facts = {"failure": str(err)}
    except SENSELESS as err:
        facts = {"failure": f"what is in memory makes no sense: {err!r}"}
    (folder / "facts.json").write_text(json.dumps(facts))
