"""fathom postmortem: all that a kernel which has died has left in memory that survives a reset, taken out of the kernel that was booted after it.

A folder with report.txt, trace.dat and flame.svg: the report of the panic, the last messages, what programs said, the end of the trace; its
events for trace-cmd and KernelShark; and where the time went in its last second. docs/black-box.md says how a kernel keeps them.
"""
import argparse
import re
from pathlib import Path

from host import _boot, flame
from host._common import NOTHING, Failure
from host._events import Lost
from host._flamegraph import draw
from host._output import replaced
from host._programs import add_arguments as add_programs
from host._programs import programs_of
from host._read_dat import Trace
from host._recording import Recording, say

HELP = "write report, trace.dat and flame graph of the kernel that died before the one that runs; its events are taken out of the buffer"
EXAMPLE = "tools/fathom postmortem -o crash && less crash/report.txt && trace-cmd report crash/trace.dat"
PSTORE = "/sys/fs/pstore"
LAST_LINES = 100


def add_arguments(parser):
    parser.add_argument("-o", metavar="DIR", dest="folder", type=Path, default=Path("postmortem"), help="the folder (default: %(default)s)")
    parser.add_argument("-B", metavar="NAME", dest="instance", help="the instance with its events (default: the first that has some)")
    parser.add_argument("--seconds", type=float, default=1, help="how much of the end is in the flame graph (default: %(default)s)")
    add_programs(parser)
    _boot.add_channel(parser)


# ---- Messages ----


def kept_messages(guest):
    """{name: text} of the files of pstore."""
    if not guest.exists(PSTORE):
        return {}
    return {name: guest.text(f"{PSTORE}/{name}") for name in guest.names(PSTORE)}


def number_of_panic(text):
    found = re.match(r"Panic#(\d+)", text)
    return int(found[1]) if found else 0


def sections_of_messages(messages):
    """(title, text) of each: the newest panic, and the files that there is one of."""
    panics = sorted((name for name in messages if name.startswith("dmesg-")), key=lambda name: number_of_panic(messages[name]))
    if panics:
        others = f"; older ones: {', '.join(reversed(panics[:-1]))}" if panics[1:] else ""
        yield f"The last panic ({panics[-1]}{others})", messages[panics[-1]]
    for name, title in (("console-", "The last messages"), ("pmsg-", "Messages of programs"), ("ftrace-", "The last calls")):
        for one in (one for one in messages if one.startswith(name)):
            yield f"{title} ({one})", "".join(messages[one].splitlines(True)[-LAST_LINES:])


# ---- Events ----


def end_of_trace(guest, instance):
    status, output = guest.sh(f"tail -{LAST_LINES} instances/{instance}/trace")
    text = output.decode("utf-8", "replace")
    if status:
        raise Failure(f"the trace of {instance} cannot be read: {text.strip()}")
    return text


def info_of(guest, instance):
    """The file last_boot_info, if the instance has events of the last kernel; else None."""
    path = f"instances/{instance}/last_boot_info"
    text = guest.text(path) if guest.exists(path) else ""
    has_some = re.search(r"^# events: [1-9]", text, re.M) and re.search(r"^[^#\n]", end_of_trace(guest, instance), re.M)
    return text if has_some else None


def instance_of(guest, wanted):
    """(name, last_boot_info) of the instance, or (None, "")."""
    if wanted and not guest.exists(f"instances/{wanted}"):
        raise Failure(f"there is no instance {wanted}")
    for name in [wanted] if wanted else guest.names("instances"):
        info = info_of(guest, name)
        if info:
            return name, info
    return None, ""


class OwnNames(Recording):
    """Names of functions only if the kernel that died was the same build."""

    is_same_build = True

    def _write_file(self):
        if not self.is_same_build:
            self.facts.kallsyms = b""
        super()._write_file()


def take_events(guest, instance, info, target):
    options = argparse.Namespace(output=target, file_version=None, compression=None)
    with OwnNames(guest, options, [(instance, None)]) as recording:
        recording.is_same_build = ", the same as now" in info
        recording.begin_late()
        recording.take()
        recording.finish()


def draw_end(source, options, target):
    """The flame graph of the last second, up to the last event of all CPUs; what it shows, or why there is none."""
    recording = Trace(str(source))
    recording.programs = programs_of(options)
    last_ts = max((event.ts for event in recording.events() if not isinstance(event, Lost)), default=0)
    flames = flame.of_recording(recording, None, None, max(last_ts - int(options.seconds * 1e9), 0), last_ts)
    if not flames.stacks:
        return "no flame graph: there are neither calls of function_graph nor stacks in that time"
    with replaced(str(target)) as file:
        file.write(draw(flames.stacks, f"the last {options.seconds:g} s", flames.amount, 0))
    return f"{target}: {flames.amount(sum(flames.stacks.values()))}, {len(flames.stacks)} different stacks"


# ---- The folder ----


def write_report(target, sections):
    with replaced(str(target)) as file:
        for title, text in sections:
            file.write(f"{title}\n{'=' * len(title)}\n\n{text.rstrip()}\n\n")


def run(options):
    with _boot.Guest(options.channel) as guest:
        sections = list(sections_of_messages(kept_messages(guest)))
        instance, info = instance_of(guest, options.instance)
        if instance:
            sections.append((f"The end of the trace (instance {instance})", f"{info}\n{end_of_trace(guest, instance)}"))
        if not sections:
            raise Failure("nothing of a kernel before this one is there; docs/black-box.md says how it is kept", NOTHING)
        options.folder.mkdir(parents=True, exist_ok=True)
        write_report(options.folder / "report.txt", sections)
        say(f"{options.folder / 'report.txt'}: {', '.join(title for title, _ in sections)}")
        if instance:
            take_events(guest, instance, info, options.folder / "trace.dat")
    if instance:
        say(draw_end(options.folder / "trace.dat", options, options.folder / "flame.svg"))
