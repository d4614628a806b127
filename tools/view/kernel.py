"""Questions of the page to the kernel: its settings, the commands that change them, facts about a function."""
import re
import threading

from host import _pages
from host._common import DIED, Failure
from host._facts import cpus_of, subbuf_bytes
from host._guest import NONBLOCK, File
from host._ninep import ANSWER_SECONDS
from view import histogram

LATENCY = ("irqsoff", "preemptoff", "preemptirqsoff", "wakeup", "wakeup_rt")
SUBBUF = "buffer_subbuf_size_kb"
# The settings that the page shows: each is one small file.
SETTINGS = (
    "tracing_on",
    "current_tracer",
    "set_event",
    "set_ftrace_filter",
    "set_graph_function",
    "dynamic_events",
    "show_event_filters",
    "show_event_triggers",
    "tracing_max_latency",
    "tracing_thresh",
    "buffer_size_kb",
    SUBBUF,
    "trace_clock",
)
BUILT_IN = (
    "ftrace:function",
    "ftrace:funcgraph_entry",
    "ftrace:funcgraph_exit",
    "ftrace:print",
    "ftrace:kernel_stack",
    "ftrace:user_stack",
)
COMMANDS_KEPT = 500
WORD = re.compile(r"[A-Za-z0-9_@%+=:,./^-]+")


def quoted(text):
    """As one word of the shell."""
    return text if WORD.fullmatch(text) else "'" + text.replace("'", "'\\''") + "'"


def as_command(path, text, append):
    """The line of shell that does what a write does, in /sys/kernel/tracing."""
    sign = ">>" if append else ">"
    return f"echo {quoted(text)} {sign} {path}" if text else f"echo {sign} {path}"


class Refused(Exception):
    """A request that makes no sense, with a sentence for the page."""


class Kernel:
    """`guest` is a host._guest.Guest, or what has its functions."""

    def __init__(self, guest, has_console=False):
        self.guest, self.has_console = guest, has_console
        self.lock = threading.Lock()
        self.commands = []
        self.formats, self.built_in = {}, {}  # by ID: of all events, of those that stay
        self.place = ("", frozenset())  # the instance that is looked at, "" for the root, and the names of its files
        self.events = self.read("available_events").split()
        self.tracers = self.read("available_tracers").split()
        self.cpus = cpus_of(guest, "")

    @staticmethod
    def checked(name):
        """The page has what is in the directory of tracing, and nothing else."""
        if not name or name.startswith("/") or ".." in name.split("/"):
            raise Refused(f"no file of tracing: {name}")
        return name

    def path_of(self, name):
        """Where a file is: an instance has most of them, and the others are the root's for all."""
        instance, own = self.place
        return f"instances/{instance}/{name}" if self.checked(name).split("/")[0] in own else name

    def read(self, name, limit=4 << 20):
        """The text of a file, its first `limit` bytes at most."""
        data = bytearray()
        with self.guest.open(self.path_of(name)) as file:
            while len(data) < limit and (part := file.read(limit - len(data))):
                data += part
        return data.decode("utf-8", "replace")

    def read_if_there(self, name):
        """As read(); nothing, if the kernel has no such file."""
        try:
            return self.read(name)
        except FileNotFoundError:
            return ""

    # ---- Commands ----

    def write(self, name, text, append=False):
        """Do what `echo text > name` does; the command as it is kept and shown, with what was wrong."""
        path = self.path_of(name)
        done = {"command": as_command(path, text, append), "error": ""}
        with self.lock:
            log_before = self.read("error_log")
            try:
                self.guest.write(path, text + "\n", append)
            except OSError as err:
                done["error"] = self.reason(err, log_before)
            self.keep(done)
        return done

    def mkdir(self, path):
        with self.lock:
            self.guest.mkdir(path)
            self.keep({"command": f"mkdir {path}", "error": ""})

    def keep(self, done):
        done["number"] = self.commands[-1]["number"] + 1 if self.commands else 1
        self.commands = [*self.commands[-COMMANDS_KEPT:], done]

    def reason(self, err, before):
        """New lines of error_log since then; an error number alone if it says nothing."""
        log = self.read("error_log")
        newest = re.split(r"^\[ *\d+\.\d+\] *", log, flags=re.M)[-1].strip()
        return f"{err.strerror}: {newest}" if log != before else err.strerror

    # ---- Settings ----

    def settings(self):
        found = {}
        for name in SETTINGS:
            try:
                found[name] = self.read(name, 64 << 10).rstrip("\n")
            except OSError as err:
                found[name] = f"# {err.strerror}"
        instance, own = self.place
        return {**found, "instance": instance, "instances": sorted(self.guest.names("instances")), "own": sorted(own)}

    def place_of(self, instance):
        """The path of `place` for an instance, "" for the root."""
        if instance and instance not in self.guest.names("instances"):
            raise Refused(f"there is no instance {instance}")
        return instance, frozenset(self.guest.names(f"instances/{instance}") if instance else ())

    def about(self):
        return {
            "tracers": self.tracers,
            "events": self.events,
            "cpus": self.cpus,
            "latency": [one for one in self.tracers if one in LATENCY],
            "version": self.guest.text("/proc/version").strip(),
            "has_console": self.has_console,
        }

    def functions(self):
        return self.read("available_filter_functions").splitlines()

    # ---- Events ----

    def format_of(self, number):
        """The Format of the events with that ID, or None."""
        if not self.formats:
            self.learn_formats([*self.events, *BUILT_IN])
            self.built_in = dict(self.formats)
        if number not in self.formats:
            self.learn_formats(found.replace("/", ":") for found in re.findall(r"^[a-z]\d*:(\S+)", self.read("dynamic_events"), re.M))
            self.formats.setdefault(number, None)
        return self.formats[number]

    def learn_formats(self, events):
        for event in events:
            try:
                form = _pages.Format(self.read(f"events/{event.replace(':', '/')}/format"))
            except OSError:
                continue  # a probe that has been removed just now
            self.formats[form.id] = form

    def forget_formats(self):
        """Probes have changed: an ID may be another one's."""
        self.formats = dict(self.built_in)

    # ---- Histograms, latencies ----

    def histograms(self, triggers):
        """[{event, keys, ...}] of each histogram that show_event_triggers lists."""
        found = []
        for event in dict.fromkeys(re.findall(r"^(\S+?:\S+?)\s+hist:", triggers, re.M)):
            name = f"events/{event.replace(':', '/')}"
            try:
                found += [{"event": event, "folded": self.folded(name, one), **one} for one in histogram.parse(self.read(f"{name}/hist"))]
            except OSError:
                continue  # it was removed just now
        return found

    def folded(self, name, one):
        """Stacks as lines for a flame graph, if there are any."""
        return self.read(f"{name}/hist_folded", 256 << 10) if "stacktrace" in one["keys"] else ""

    def latency(self):
        return int(self.read("tracing_max_latency").split(".")[0])

    # ---- Raw pages ----

    def open_rings(self, instance=""):
        folder = f"instances/{instance}/" if instance else ""
        return {cpu: self.guest.open(f"{folder}per_cpu/cpu{cpu}/trace_pipe_raw", NONBLOCK) for cpu in self.cpus}

    def page_bytes(self):
        return subbuf_bytes(self.guest, self.path_of(SUBBUF).removesuffix(SUBBUF))

    @staticmethod
    def pages(rings, page_bytes, count):
        """Up to `count` pages of each of the rings, {cpu: file}, as (cpu, page); asked for at once, which saves waiting."""
        asked = [(cpu, file.read_later(page_bytes)) for _ in range(count) for cpu, file in rings.items()]
        for cpu, future in asked:
            try:
                yield cpu, File.result(future, ANSWER_SECONDS)
            except BlockingIOError:
                continue
            except TimeoutError:
                raise Failure(f"the kernel has not answered for {ANSWER_SECONDS} s", DIED) from None

    def why(self, name):
        """The answer of `why`: for a function, with its prototype, or of the state when no name is given."""
        if not name:
            return self.read("why")
        if not re.fullmatch(r"[A-Za-z0-9_.$:/-]+", name):
            raise Refused(f"not a name of a function: {name}")
        return self.guest.sh(f"why {name}")[1].decode("utf-8", "replace")
