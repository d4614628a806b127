"""The tracing files that a recording changes, as trace-cmd's options name them, and put back afterwards."""
import argparse
import re

from host._common import FAILED, Failure
from host._facts import clock_of, cpus_of, matched, number_of

CHUNK = 32 << 10  # bytes of names in one write
NAMES = 4096
NO_LIST = "####"  # a list of functions that is empty begins with it


class OfLastEvent(argparse.Action):
    """-f and -R belong to the -e in front of them."""

    def __call__(self, parser, namespace, value, option_string=None):
        if not namespace.events:
            parser.error(f"{option_string} belongs behind the -e that it is for")
        namespace.events[-1][1].append((self.dest, value))


class Event(argparse.Action):
    def __call__(self, parser, namespace, value, option_string=None):
        namespace.events = (namespace.events or []) + [(value, [])]


# The parts of a buffer that are wanted.
WANTED = (
    "instance",
    "tracer",
    "events",
    "set_ftrace_filter",
    "set_ftrace_notrace",
    "set_graph_function",
    "options",
    "buffer_size_kb",
    "trace_clock",
    "pids",
    "tracing_cpumask",
)


def wanted(namespace):
    return argparse.Namespace(**{name: getattr(namespace, name) for name in WANTED})


class AnotherBuffer(argparse.Action):
    """Options behind -B are for the instance, as in trace-cmd; those in front of it for the buffer before."""

    def __call__(self, parser, namespace, value, option_string=None):
        before = [one.instance for one in namespace.buffers or []] + [namespace.instance]
        if not value or "/" in value or value in before:
            parser.error(f"{option_string} {value}: {'twice' if value in before else 'not a name of an instance'}")
        namespace.buffers = [*(namespace.buffers or []), wanted(namespace)]
        for name in WANTED:
            setattr(namespace, name, parser.get_default(name))
        namespace.instance = value


def wanted_buffers(namespace):
    """The settings wanted of each buffer; nothing of the machine's own, if all stands behind -B."""
    found = [*(namespace.buffers or []), wanted(namespace)]
    return found if len(found) == 1 or any(vars(found[0]).values()) else found[1:]


def add_arguments(parser):
    group = parser.add_argument_group("what is traced, as trace-cmd has it")
    group.add_argument("-p", metavar="TRACER", dest="tracer", help="function, function_graph, wakeup …")
    group.add_argument(
        "-e", metavar="EVENT", dest="events", action=Event, help="a system, SYSTEM:EVENT or EVENT, * in each; all; again for more"
    )
    group.add_argument("-f", metavar="FILTER", dest="filter", action=OfLastEvent, help="of the events of the -e in front")
    group.add_argument("-R", metavar="TRIGGER", dest="trigger", action=OfLastEvent, help="of the events of the -e in front")
    group.add_argument(
        "-l", metavar="FUNCTION", dest="set_ftrace_filter", action="append", help="trace only these; * in it; again for more"
    )
    group.add_argument("-n", metavar="FUNCTION", dest="set_ftrace_notrace", action="append", help="do not trace these")
    group.add_argument(
        "-g", metavar="FUNCTION", dest="set_graph_function", action="append", help="function_graph: these and what they call"
    )
    group.add_argument("-O", metavar="OPTION", dest="options", action="append", default=[], help="set an option; noOPTION clears it")
    group.add_argument("-T", dest="options", action="append_const", const="stacktrace", help="a stack trace with each event")
    group.add_argument("-b", metavar="KB", dest="buffer_size_kb", type=int, help="buffer of each CPU")
    group.add_argument("-C", metavar="CLOCK", dest="trace_clock", help="local, global, mono …")
    group.add_argument(
        "-P", metavar="PID", dest="pids", type=int, action="append", default=[], help="trace only this thread; again for more"
    )
    group.add_argument("-M", metavar="MASK", dest="tracing_cpumask", help="trace only on these CPUs, in hexadecimal")
    group.add_argument(
        "-B",
        metavar="NAME",
        dest="instance",
        action=AnotherBuffer,
        help="what follows is for this instance, which is made if need be, and then removed; again for more",
    )
    parser.set_defaults(buffers=None)


class Settings:
    """Changes of files, which undo() takes back, the last one first."""

    def __init__(self, guest, instance, may_make):
        self.guest, self.undos = guest, []
        self.tracing = f"instances/{instance}/" if instance else ""
        if instance and not guest.exists(self.tracing):
            if not may_make:
                raise Failure(f"there is no instance {instance}")
            guest.mkdir(f"instances/{instance}")
            self.undos.append((guest.rmdir, (f"instances/{instance}",)))

    def undo(self):
        """A list of what could not be put back."""
        failures = []
        for call, args in reversed(self.undos):
            try:
                call(*args)
            except OSError as err:
                failures.append(f"{err.filename or args[0]}: {err.strerror}")
        self.undos = []
        return failures

    def _why(self, data):
        """The kernel's words about its refusal of the data, with a caret under the place; "" when it says nothing."""
        try:
            lines = self.guest.text(f"{self.tracing}error_log").rstrip().splitlines()
        except OSError:
            return ""
        starts = [i for i, line in enumerate(lines) if line.startswith("[")]
        last = "\n".join(lines[starts[-1] :]) if starts else ""
        return f"\n{last}" if f" {str(data).strip()}\n" in last else ""

    def write(self, name, data, append=False):
        try:
            self.guest.write(self.tracing + name, data, append)
        except OSError as err:
            raise Failure(f"the kernel does not take {str(data).strip()!r} for {name}: {err.strerror}{self._why(data)}", FAILED) from None

    def change(self, name, data, old=None):
        """Write a file that holds one value."""
        old = self.guest.text(self.tracing + name).strip() if old is None else old
        self.write(name, data)
        self.undos.append((self.guest.write, (self.tracing + name, old)))

    def _write_list(self, name, words):
        self.guest.write(self.tracing + name, "")
        text = "\n".join(words)
        while text:
            cut = len(text) if len(text) <= CHUNK else text.rindex("\n", 0, CHUNK)
            self.guest.write(self.tracing + name, text[:cut] + "\n", append=True)
            text = text[cut + 1 :]

    def change_list(self, name, words):
        """Write a file that is a list; those of functions show commands, too, which stay whatever is written."""
        lines = self.guest.text(self.tracing + name).splitlines()
        old = [line for line in lines if not line.startswith(NO_LIST) and not (name.startswith("set_ftrace") and ":" in line)]
        self.undos.append((self._write_list, (name, [line for line in old if line != "no pid"])))
        self.guest.write(self.tracing + name, "")
        for word in words:
            self.write(name, f"{word}\n", append=True)

    # ---- Meanings of the options ----

    def _event_folder(self, event):
        """The folder below events/ whose filter and trigger are those of the events, or None for a pattern."""
        system, _, name = event.partition(":")
        for folder in [f"{system}/{name}"] if name and name != "*" else [system] + self._systems_of(system):
            if self.guest.exists(f"{self.tracing}events/{folder}/enable"):
                return folder
        return None

    def _systems_of(self, event):
        """`sched_switch` is in sched."""
        return [line.replace(":", "/") for line in self.guest.text("available_events").split() if line.partition(":")[2] == event]

    def _event(self, event, extras):
        name = "*:*" if event == "all" else event
        for kind, value in extras:
            folder = self._event_folder(event)
            if folder is None or kind == "trigger" and "/" not in folder:
                raise Failure(f"-{'f' if kind == 'filter' else 'R'} needs one event, or for -f one system: {event} is neither")
            self._extra(folder, kind, value)
        self.write("set_event", f"{name}\n", append=True)

    def _extra(self, folder, kind, value):
        path = f"events/{folder}/{kind}"
        if kind == "trigger":
            self.write(path, value, append=True)
            self.undos.append((self.guest.write, (self.tracing + path, f"!{value}", True)))
            return
        self.write(path, value)
        self.undos.append((self.guest.write, (self.tracing + path, "0")))

    def _clear_filters(self):
        for event, text in re.findall(r"^(\S+)\s+(\S.*)$", self.guest.text(f"{self.tracing}show_event_filters"), re.M):
            self.change(f"events/{event.replace(':', '/')}/filter", "0", text)

    def _buffer_size(self, kb):
        """CPUs may have rings of different sizes: then the file of all says X."""
        old = self._kb("buffer_size_kb")
        if old != "X":
            return self.change("buffer_size_kb", str(kb), old)
        for cpu in cpus_of(self.guest, self.tracing):
            name = f"per_cpu/cpu{cpu}/buffer_size_kb"
            self.change(name, str(kb), self._kb(name))

    def _kb(self, name):
        """Without what stands behind it, "(expanded: 1408)"."""
        return matched(self.guest, self.tracing + name, r"(\d+|X)\b")

    def _keep_names(self):
        """Of more threads that end than usual."""
        old = number_of(self.guest, "saved_cmdlines_size")
        if old < NAMES:
            self.guest.write("saved_cmdlines_size", str(NAMES))
            self.undos.append((self.guest.write, ("saved_cmdlines_size", str(old))))

    def _option(self, name):
        plain, value = (name, "1") if self.guest.exists(f"{self.tracing}options/{name}") else (name.removeprefix("no"), "0")
        if not self.guest.exists(f"{self.tracing}options/{plain}"):
            raise Failure(f"the kernel has no option {name}")
        self.change(f"options/{plain}", value)

    def apply(self, wanted):
        """All but `tracing_on`, which is 0 afterwards. The buffer is empty then."""
        self.change("tracing_on", "0")
        self.change("current_tracer", "nop")
        self._keep_names()
        self.change_list("set_event", [])
        for name in ("set_ftrace_filter", "set_ftrace_notrace", "set_graph_function"):
            self.change_list(name, getattr(wanted, name) or [])
        for name in ("set_ftrace_pid", "set_event_pid"):
            self.change_list(name, wanted.pids)
        for name in wanted.options:
            self._option(name)
        if wanted.trace_clock:
            self.change("trace_clock", wanted.trace_clock, clock_of(self.guest, self.tracing))
        if wanted.tracing_cpumask:
            self.change("tracing_cpumask", wanted.tracing_cpumask)
        if wanted.buffer_size_kb:
            self._buffer_size(wanted.buffer_size_kb)
        self._clear_filters()
        self.write("trace", "")
        for event, extras in wanted.events or []:
            self._event(event, extras)
        if wanted.tracer:
            self.write("current_tracer", wanted.tracer)
            self.undos.append((self.guest.write, (f"{self.tracing}current_tracer", "nop")))
