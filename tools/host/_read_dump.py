"""A trace.dat of a memory dump: gdb reads the kernel's rings, types and names out of it, tools/gdb/ft/export.py."""
import json
import struct
import subprocess
import tempfile
from pathlib import Path

from host._boot import ROOT
from host._common import NOTHING, USAGE, Failure
from host._write_head import Facts
from host._write_pages import Pages
from host._recording import output_of, say, write_file

ET_CORE = 4


def check_core(path):
    with open(path, "rb") as core:
        head = core.read(18)
    if head[:4] != b"\x7fELF" or len(head) < 18 or struct.unpack_from("<H", head, 16)[0] != ET_CORE:
        raise Failure(f"{path} is no ELF core; `tools/fathom dump` makes one")


def read_core(core, elf, folder, options):
    """The facts that gdb has found in it: all of facts.json."""
    call = f"export.write({str(folder)!r}, {''.join(options.instances)!r}, {options.snapshot})"
    words = ["gdb", "-q", "-nx", "-batch", "-x", ROOT / "tools/gdb/fathom.py", "-ex", f"python from ft import export; {call}", elf, core]
    try:
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except FileNotFoundError:
        raise Failure("gdb is not installed") from None
    try:
        found = json.loads((folder / "facts.json").read_text())
    except (FileNotFoundError, ValueError):
        said = run.stderr.strip().splitlines() or ["it says nothing"]
        raise Failure(f"gdb could not read {core}: {said[-1]}") from None
    if "failure" in found:
        raise Failure(found["failure"])
    if not found["events"]:
        why = "; ".join(["the kernel had traced nothing, so there is no file", *found["problems"]])
        raise Failure(why, NOTHING)
    return found


def facts_of(found, instances):
    facts = Facts(*instances)
    for name in ("header_page", "header_event", "kallsyms", "printk", "cmdlines"):
        setattr(facts, name, found[name].encode())
    facts.ftrace_formats = [text.encode() for text in found["ftrace_formats"]]
    facts.systems = [(name, [text.encode() for text in formats]) for name, formats in found["systems"]]
    facts.uname, facts.page_size, facts.nr_cpus = found["uname"], found["page_size"], found["nr_cpus"]
    facts.buffers[0].clock = facts.buffers[-1].clock = found["clock"]
    facts.buffers[-1].stats = found["stats"]
    return facts


def add_pages(pages, folder):
    for cpu in range(pages.nr_cpus):
        path = folder / f"cpu{cpu}"
        if not path.exists():
            continue
        with open(path, "rb") as ring:
            while page := ring.read(pages.page_size):
                pages.add(cpu, page, pages.nr_buffers - 1)


def extract(options):
    if options.boot:
        raise Failure("--core and --boot: the events are either in a file or in a kernel that runs", USAGE)
    if len(options.instances) > 1:
        raise Failure("--core: one instance at a time", USAGE)
    target, compression = output_of(options)
    elf = options.elf or options.build / "fathom.elf"
    if not elf.exists():
        raise Failure(f"there is no {elf}, the kernel that ran; --elf names it")
    check_core(options.core)
    with tempfile.TemporaryDirectory(prefix="fathom-core-") as folder:
        found = read_core(options.core, elf, Path(folder), options)
        facts = facts_of(found, options.instances)
        pages = Pages(target, facts)
        try:
            add_pages(pages, Path(folder))
            write_file(pages, facts, options, compression)
        finally:
            pages.drop()
    for problem in found["problems"]:
        say(problem)
    say(f"{target}: {pages.nr_bytes / 1e6:.1f} MB of events, {found['events']} events, {found['missed']} lost")
