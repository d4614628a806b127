"""The feed of the pages while the kernel runs: one thread empties the rings, one looks at the settings."""
import collections
import json
import queue
import re
import threading
import time

from host._common import SENSELESS, Failure, making_sense
from host._pages import page_head
from host._programs import LivePrograms
from view.kernel import LATENCY
from view.model import Model, Symbols
from view.scripts import Scripts

LAST_WORDS = 0.5  # seconds for what the console says last
TICK = 0.1  # seconds between two looks at the rings
LOOK = 0.5  # between two looks at the settings
AT_ONCE = 4  # pages that are asked for together of a ring whose first one was full
FULL = 0.8  # of a page that the next one follows
BUDGET = 0.07  # seconds of a tick for reading and decoding: what comes faster is lost in the ring, and counted there
HISTORY = 6 << 20  # bytes of what was sent that a page gets when it is loaded
CONSOLE = 128 << 10  # characters of the console that are kept
WAITING = 300  # messages that a page may be behind


def as_message(kind, content):
    return json.dumps({"kind": kind, **content}, separators=(",", ":")).encode()


def has_all_switches(settings, enable):
    """Whether no switch is left out. `enable`: the text of that file, because set_event lists an event that has only a trigger, too."""
    is_on = settings["tracing_on"].strip() == "1" and enable.startswith("1")
    return is_on and not re.search(r"^sched:sched_switch\s", settings["show_event_filters"], re.M)


class Hub:
    """Everything that is sent goes to all pages, in one order."""

    def __init__(self):
        self.lock = threading.Lock()
        self.pages = []
        self.history, self.history_bytes = collections.deque(), 0
        self.newest = {}  # kind: message, of what a new page has to know at once
        self.rare = collections.deque(maxlen=50)
        self.console = ""

    def send(self, kind, content, keep=None):
        """`keep`: "newest", the newest of its kind is for new pages, too; "history": all of them are; "rare": the last 50."""
        message = as_message(kind, content)
        with self.lock:
            if keep == "newest":
                self.newest[kind] = message
            elif keep == "history":
                self.history.append(message)
                self.history_bytes += len(message)
                while self.history_bytes > HISTORY:
                    self.history_bytes -= len(self.history.popleft())
            elif keep == "rare":
                self.rare.append(message)
            for page in self.pages:
                self.put(page, message)

    def forget_history(self, rare=False):
        with self.lock:
            self.history.clear()
            self.history_bytes = 0
            if rare:
                self.rare.clear()

    def say(self, text):
        """The console's text; its last part is for new pages, too."""
        with self.lock:
            self.console = (self.console + text)[-CONSOLE:]
            for page in self.pages:
                self.put(page, as_message("console", {"text": text}))

    @staticmethod
    def put(page, message):
        """A page that is far behind loses what it has not taken yet: better a gap than old news."""
        try:
            page.put_nowait(message)
        except queue.Full:
            with page.mutex:
                page.queue.clear()
            page.put_nowait(b'{"kind":"gap"}')
            page.put_nowait(message)

    def join(self):
        """A queue of messages, which begins with what a new page has to know."""
        page = queue.Queue(WAITING)
        with self.lock:
            before = [*self.newest.values(), *self.rare, as_message("console", {"text": self.console}), *self.history]
            self.pages.append(page)
        return page, before

    def leave(self, page):
        with self.lock:
            self.pages.remove(page)


class Live:
    def __init__(self, kernel, hub, last_words=lambda: "", programs=None):
        """programs: a host._programs.Programs, for the names of their functions."""
        self.kernel, self.hub, self.last_words, self.programs = kernel, hub, last_words, programs
        self.model = self.new_model()
        self.lock = threading.Lock()  # of the model, and of which rings are read
        self.opened = kernel.open_rings()
        self.look_lock = threading.Lock()  # of what follows
        self.settings, self.maximum, self.probes = {}, 0, None
        self.scripts = Scripts(kernel)
        self.page_bytes = 4096
        self.looked = time.monotonic()
        self.ahead = None  # how far the kernel's clock is ahead of ours, ns
        self.dead, self.why = threading.Event(), ""
        hub.send("about", kernel.about(), "newest")
        hub.send("commands", {"list": kernel.commands}, "newest")

    def new_model(self):
        programs = LivePrograms(self.kernel.guest, self.programs) if self.programs else None
        return Model(self.kernel.format_of, Symbols(self.kernel.guest.text("/proc/kallsyms")), programs)

    def start(self):
        for work in (self.rings, self.looks):
            threading.Thread(target=self.until_dead, args=(work,), daemon=True).start()

    def until_dead(self, work):
        try:
            work()
        except Failure as gone:
            self.die(str(gone))
        except SENSELESS as err:
            self.die(f"what the kernel says makes no sense: {err!r}")
        except OSError as err:
            self.die(f"{err.filename or 'a file'}: {err.strerror}")
        except Exception as err:
            self.die(f"the server of this page has failed: {err!r}")
            raise

    def die_soon(self, reason):
        """For who cannot wait."""
        threading.Thread(target=self.die, args=(reason,), daemon=True).start()

    def die(self, reason):
        if not self.dead.is_set():
            self.why = reason
            self.dead.set()
            time.sleep(LAST_WORDS)
            self.hub.send("dead", {"reason": reason, "console": self.last_words()}, "newest")

    # ---- Rings ----

    def rings(self):
        while not self.dead.is_set():
            rings = self.opened
            while rings is self.opened and not self.dead.is_set():
                begin = time.monotonic()
                behind = self.empty(rings, begin + BUDGET)
                with self.lock:
                    self.tell(self.model.drain(behind))
                time.sleep(max(TICK - (time.monotonic() - begin), 0.01))
            for file in rings.values():
                file.close()

    def tell(self, new):
        """With the lock held, so that it cannot come behind what tells the pages to begin anew."""
        if any(new.values()):
            self.hub.send("batch", {"now": self.now(), **new}, "history")
        else:
            self.hub.send("now", {"now": self.now()})

    def empty(self, rings, end):
        """
        Every CPU has its turn, some pages each time, until all that was there is read or the time is over; those that have more.
        A page with news that is not full was the last one: what has come since then is mostly what reading has caused.
        """
        full, count = rings, 1
        while full and time.monotonic() < end:
            more = set()
            for cpu, page in self.kernel.pages(full, self.page_bytes, count):
                with self.lock:
                    if self.opened is not rings:
                        return set()
                    with making_sense(f"a page of CPU {cpu}"):
                        newest = self.model.page(cpu, page)
                if page_head(page)[1] > self.page_bytes * FULL or newest <= self.model.before:
                    more.add(cpu)
                else:
                    more.discard(cpu)
            full, count = {cpu: file for cpu, file in full.items() if cpu in more}, AT_ONCE
        return set(full)

    def now(self):
        """The kernel's time; while nothing happens there ours tells how it goes on."""
        mine = time.monotonic_ns()
        if self.model.last:
            self.ahead = max(self.model.last - mine, self.ahead if self.ahead is not None else self.model.last - mine)
        return mine + self.ahead if self.ahead is not None else 0

    # ---- Settings ----

    def looks(self):
        while not self.dead.is_set():
            begin = time.monotonic()
            self.look()
            time.sleep(max(LOOK - (time.monotonic() - begin), 0.1))

    def look_at_settings(self):
        """Tell the pages if they have changed. One at a time: what was read before a change must not be told after it."""
        with self.look_lock:
            settings = self.kernel.settings()
            if settings["dynamic_events"] != self.probes:
                self.probes = settings["dynamic_events"]
                with self.lock:
                    self.kernel.forget_formats()
                    self.model.handlers.clear()
            if settings["trace_clock"] != self.settings.get("trace_clock", settings["trace_clock"]):
                self.begin_anew()
            if settings != self.settings:
                self.settings = settings
                self.page_bytes = self.kernel.page_bytes()
                self.hub.send("settings", {"settings": settings}, "newest")
        return settings

    def begin_anew(self, has_other_events=False):
        """Another clock: times of before and of now do not mix. Or another instance: nothing of before is its."""
        with self.lock:
            self.model, self.ahead = self.new_model(), None
            self.hub.forget_history(rare=has_other_events)
            self.hub.send("restart", {"all": has_other_events})
        if has_other_events:
            self.clear_flame()

    def look(self):
        settings = self.look_at_settings()
        with self.lock:
            numbers = self.model.statistics()
            seconds, self.looked = time.monotonic() - self.looked, time.monotonic()
            if settings["current_tracer"] == "function_graph":
                self.hub.send("flame", {"tree": self.model.calls.picture(self.model.symbols.name)}, "newest")
        self.look_at_times(settings)
        self.hub.send("numbers", {"seconds": seconds, "at": time.time(), **numbers})
        self.hub.send("histograms", {"at": time.time(), "list": self.kernel.histograms(settings["show_event_triggers"])}, "newest")
        with self.look_lock:
            scripts = self.scripts.look()
        self.hub.send("scripts", scripts, "newest")
        self.look_at_latency(settings)

    def look_at_times(self, settings):
        """While switches are not recorded, or not all of them, no thread is known to wait on."""
        is_whole = has_all_switches(settings, self.kernel.read_if_there("events/sched/sched_switch/enable"))
        with self.lock:
            if not is_whole:
                self.model.times.forget()
            pictures = self.model.times.pictures(self.model.complete)
        if pictures["on"][1] or pictures["off"][1]:
            self.hub.send("times", pictures, "newest")

    def look_at_latency(self, settings):
        """A new maximum, with the trace that led to it."""
        if settings["current_tracer"] not in LATENCY:
            self.maximum = 0
            return
        longest = self.kernel.latency()
        if longest > self.maximum:
            self.hub.send(
                "latency",
                {"tracer": settings["current_tracer"], "us": longest, "at": time.time(), "trace": self.kernel.read("trace", 256 << 10)},
                "rare",
            )
        self.maximum = longest

    # ---- Questions of pages ----

    def choose(self, instance):
        """Look at another instance, "" for the root. Its rings are opened first: from then on it cannot be
        removed."""
        with self.look_lock:
            place, rings = self.kernel.place_of(instance), self.kernel.open_rings(instance)
            with self.lock:
                self.opened, self.kernel.place, self.maximum = rings, place, 0
                self.page_bytes = self.kernel.page_bytes()
            self.begin_anew(has_other_events=True)
        self.look_at_settings()

    def write(self, name, text, append):
        done = self.kernel.write(name, text, append)
        self.hub.send("commands", {"list": self.kernel.commands}, "newest")
        self.look_at_settings()  # so that a switch shows at once what it has done
        return done

    def run_script(self, text):
        with self.look_lock:
            done = self.scripts.run(text)
        self.hub.send("commands", {"list": self.kernel.commands}, "newest")
        return done

    def clear_flame(self):
        with self.lock:
            self.model.calls.clear()
            self.model.times.clear(self.model.complete)
            self.hub.send("flame", {"tree": self.model.calls.picture(str)}, "newest")
            self.hub.send("times", self.model.times.pictures(self.model.complete), "newest")
