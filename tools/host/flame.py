"""fathom flame: where the time goes, or which ways lead to an event, as a flame graph.

Out of function_graph comes time; out of stack traces, and of histograms by stack, how often. In the picture threads of one name
are one box, on top of them are their functions; for speedscope each thread is a profile. Text with lines of the form of hist_folded is
drawn, too.

All of it is brought to {(thread, outermost function, ..., innermost): weight}.
"""
import collections
import json

from host import _programs, _source
from host._calls import Calls, moments
from host._common import NOTHING, Failure
from host._events import Lost
from host._flamegraph import draw
from host._guest import Guest
from host._output import replaced

HELP = "draw a flame graph of calls, stack traces or a histogram by stack"
EXAMPLE = "tools/fathom flame -o flame.svg --speedscope flame.json trace.dat"
SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def add_arguments(parser):
    parser.add_argument("-o", "--output", metavar="FILE", help="the picture, an SVG (default: flame.svg, if there is no --speedscope)")
    parser.add_argument("--speedscope", metavar="FILE", help="write this file for https://www.speedscope.app")
    parser.add_argument(
        "--of", choices=("calls", "stacks"), help="what to draw (default: the calls of function_graph if there are some, else stacks)"
    )
    parser.add_argument("--event", metavar="NAME", help="only the stacks of this event")
    parser.add_argument("--hist", metavar="SYSTEM/EVENT", help="the histograms of this event in the running kernel, by their hist_folded")
    parser.add_argument("--min", metavar="PERCENT", type=float, default=0, help="leave out of the picture what is less than this")
    parser.add_argument("--title", help="what is written above the picture")
    _source.add_arguments(parser)
    _programs.add_arguments(parser)


def time_text(ns):
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns} ns"


class Flames:
    """stacks: what is drawn. profiles: those of speedscope, whose frames are numbers in self.frames."""

    def __init__(self, unit):
        self.unit, self.stacks, self.profiles, self.frames = unit, {}, [], {}

    def frame(self, name):
        return self.frames.setdefault(name, len(self.frames))

    def add(self, path, weight):
        if weight > 0:
            self.stacks[path] = self.stacks.get(path, 0) + weight

    def amount(self, weight):
        return time_text(weight) if self.unit == "nanoseconds" else f"{weight:,}"

    def speedscope(self, name):
        return {
            "$schema": SCHEMA,
            "exporter": "fathom",
            "name": name,
            "activeProfileIndex": 0,
            "shared": {"frames": [{"name": frame} for frame in self.frames]},
            "profiles": self.profiles,
        }

    # ---- Calls: time ----

    def thread_of_calls(self, comm, label, calls):
        """Time belongs to the function that was called last and has not returned."""
        events, stack, before = [], [], 0
        for ts, call in moments(calls):
            if stack:
                self.add((f"[{comm}]", *(name for name, _ in stack)), ts - before)
            before = ts
            if call:
                stack.append((call.name, self.frame(call.name)))
                events.append({"type": "O", "frame": stack[-1][1], "at": ts})
            else:
                events.append({"type": "C", "frame": stack.pop()[1], "at": ts})
        self.profiles.append(
            {
                "type": "evented",
                "name": label,
                "unit": self.unit,
                "startValue": events[0]["at"],
                "endValue": events[-1]["at"],
                "events": events,
            }
        )

    # ---- Stacks: how often ----

    def samples(self, label, counted):
        """counted: {path: number} of a thread."""
        self.profiles.append(
            {
                "type": "sampled",
                "name": label,
                "unit": self.unit,
                "startValue": 0,
                "endValue": sum(counted.values()),
                "samples": [[self.frame(name) for name in path] for path in counted],
                "weights": list(counted.values()),
            }
        )


def label_of(recording, thread):
    pid, cpu = thread
    return f"swapper/{cpu}" if pid == 0 else f"{recording.comm(pid)}-{pid}"


def flames_of_calls(recording, by_thread):
    flames = Flames("nanoseconds")
    for thread, calls in sorted(by_thread.items(), key=lambda item: str(item[0])):
        label = label_of(recording, thread)
        flames.thread_of_calls("idle" if thread[0] == 0 else recording.comm(thread[0]), label, calls)
    return flames


def flames_of_stacks(recording, by_thread):
    flames = Flames("none")
    for thread, counted in sorted(by_thread.items(), key=lambda item: str(item[0])):
        comm = "idle" if thread[0] == 0 else recording.comm(thread[0])
        for path, count in counted.items():
            flames.add((f"[{comm}]", *path), count)
        flames.samples(label_of(recording, thread), counted)
    return flames


WAITING = 64  # events of a thread that a stack may come behind


class Stacks:
    """
    {thread: {path: number}}. A stack belongs to the event before it of the same CPU; that of a program, which lies below that of the
    kernel, to all events of its thread since the stack before: it may have been written when the program went on.
    """

    def __init__(self, event_name):
        self.event_name, self.by_thread, self.before, self.kernel = event_name, {}, {}, {}
        self.waiting = {}  # the kernel's paths of a thread's events, None where there is none

    def take(self, event):
        if event.system != "ftrace" or event.name not in ("kernel_stack", "user_stack"):
            self.before[event.cpu] = (event.name, f"{event.system}:{event.name}")
            self.kernel.pop(event.cpu, None)
            if event.system != "ftrace" and self.is_wanted(event):
                self.waiting.setdefault(event.pid, collections.deque(maxlen=WAITING)).append(None)
        elif event.name == "user_stack" and event.pid in self.waiting:
            for above in self.waiting.pop(event.pid):
                self.add_below(event, above)
        elif self.is_wanted(event) and event.name == "user_stack":
            self.add_below(event, self.kernel.pop(event.cpu, None))
        elif self.is_wanted(event):
            self.add_kernel(event)

    def is_wanted(self, event):
        return not self.event_name or self.event_name in self.before.get(event.cpu, ())

    def counted(self, event):
        return self.by_thread.setdefault((0, event.cpu) if event.pid == 0 else (event.pid, None), {})

    def add_kernel(self, event):
        path, counted = tuple(reversed(event.stack())), self.counted(event)
        counted[path] = counted.get(path, 0) + 1
        self.kernel[event.cpu] = path
        if event.pid in self.waiting and not self.before.get(event.cpu, ("", "ftrace:"))[1].startswith("ftrace:"):
            self.waiting[event.pid][-1] = path

    def add_below(self, event, above):
        """The path of the program, and of the kernel above it, which was counted alone before."""
        path, counted = tuple(reversed(event.stack())) + (above or ()), self.counted(event)
        if above:
            counted[above] -= 1
            if not counted[above]:
                del counted[above]
        counted[path] = counted.get(path, 0) + 1

    def forget(self):
        """Events were lost: the next stacks may belong to one of them."""
        self.waiting.clear()


def of_recording(recording, wanted, event_name, begin=0, end=None):
    """
    Flames of the calls in it, or of the stacks, from `begin` on (ns). Calls that have not returned when the recording ends go on until
    `end`, if that is given.
    """
    calls, by_thread, stacks = Calls(), {}, Stacks(event_name)
    finished = []
    for event in recording.events():
        if isinstance(event, Lost):
            stacks.forget()
            continue
        finished += calls.take(event)
        if event.ts >= begin:
            stacks.take(event)
    for call in finished + calls.rest(end):
        if call.end <= begin:
            continue
        call.begin = max(call.begin, begin)
        by_thread.setdefault(call.thread, []).append(call)
    if wanted == "calls" or wanted is None and by_thread and not event_name:
        return flames_of_calls(recording, by_thread)
    return flames_of_stacks(recording, stacks.by_thread)


def of_folded(text, name):
    """Lines of `outermost;...;innermost number`, as hist_folded and many tools have them."""
    counted = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        path, _, count = line.rstrip().rpartition(" ")
        if not path or not count.isdecimal():
            raise Failure(f"{name}, line {number}: this is no stack with a number behind it: {line[:60]!r}")
        key = tuple(path.split(";"))
        counted[key] = counted.get(key, 0) + int(count)
    flames = Flames("none")
    for path, count in counted.items():
        flames.add(path, count)
    if flames.stacks:
        flames.samples(name, counted)
    return flames


def folded_file(name):
    """The text of a file if it can be one of folded stacks, else None."""
    try:
        with open(name, "rb") as file:
            head = file.read(512)
            if b"\0" in head or not head:
                return None
            return (head + file.read()).decode("utf-8", "replace")
    except OSError:
        return None


def flames_of(options):
    if options.hist:
        with Guest(options.channel) as guest:
            return of_folded(guest.text(f"events/{options.hist.replace(':', '/')}/hist_folded"), options.hist)
    text = None if options.source == "live" else folded_file(options.source)
    if text is not None:
        return of_folded(text, options.source)
    return of_recording(_source.opened_with_programs(options), options.of, options.event)


def run(options):
    flames = flames_of(options)
    source = options.hist or options.source
    if not flames.stacks:
        raise Failure(
            f"{source} has no calls of function_graph, and no stacks (options/stacktrace, stacktrace triggers, histograms by stack)",
            NOTHING,
        )
    title = options.title or f"{source}: {'time' if flames.unit == 'nanoseconds' else 'how often'}"
    picture = options.output or (None if options.speedscope else "flame.svg")
    if picture:
        with replaced(picture) as file:
            file.write(draw(flames.stacks, title, flames.amount, min(options.min, 100) / 100))
    if options.speedscope:
        with replaced(options.speedscope) as file:
            json.dump(flames.speedscope(title), file)
    written = " and ".join(name for name in (picture, options.speedscope) if name)
    print(f"{written}: {flames.amount(sum(flames.stacks.values()))}, {len(flames.stacks)} different stacks")
