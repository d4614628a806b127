"""Taking the pages of a kernel's rings: those that are there, or all that come while it is traced."""
import queue
import time

from host._common import DIED, Failure
from host._facts import cpus_of
from host._guest import NONBLOCK

AHEAD = 8  # reads of each CPU that are under way: the way there and back takes longer than the page
ANSWER_SECONDS = 30  # a kernel that does not say anything for so long has died
TICK = 0.5


def lost_of(stats):
    """(events written, events lost) by the text of a CPU's `stats`."""
    values = dict(line.split(": ", 1) for line in stats.splitlines() if ": " in line)
    number = {name: int(value) for name, value in values.items() if value.strip().isdigit()}
    lost = sum(number.get(name, 0) for name in ("overrun", "commit overrun", "dropped events"))
    return number.get("entries", 0) + number.get("read events", 0) + lost, lost


class Counters:
    """Of all CPUs, since the rings were emptied."""

    def __init__(self, guest, tracing):
        self.guest, self.tracing, self.cpus = guest, tracing, cpus_of(guest, tracing)

    def read(self):
        both = [lost_of(self.guest.text(f"{self.tracing}per_cpu/cpu{cpu}/stats")) for cpu in self.cpus]
        return tuple(map(sum, zip(*both)))


class Reader:
    """Reads of one CPU's ring, several under way. `ready` gets (reader, future) for each that has come."""

    def __init__(self, guest, path, cpu, ready):
        self.guest, self.cpu, self.ready = guest, cpu, ready
        self.file = guest.open(path, NONBLOCK if ready is None else 0)
        self.futures = []

    def ask(self, count):
        future = self.file.read_later(count)
        self.futures.append(future)
        if self.ready is not None:
            future.add_done_callback(lambda done: self.ready.put((self, done)))

    def close(self):
        self.file.close()


def what_is_there(guest, tracing, pages, file="trace_pipe_raw"):
    """Add what the rings hold to `pages`. Tracing is off meanwhile, or it might never end."""
    for cpu in cpus_of(guest, tracing):
        reader = Reader(guest, f"{tracing}per_cpu/cpu{cpu}/{file}", cpu, None)
        for _ in range(AHEAD):
            reader.ask(pages.page_size)
        while reader.futures:
            page = page_of(reader, reader.futures.pop(0))
            if page:
                pages.add(cpu, page)
                reader.ask(pages.page_size)
        reader.close()


def page_of(reader, future):
    """The page, or b"" when there was none."""
    try:
        return reader.file.result(future, ANSWER_SECONDS)
    except (BlockingIOError, InterruptedError):
        return b""
    except TimeoutError:
        raise Failure("the kernel does not answer any more", DIED) from None


class Stream:
    """All CPUs, while it is traced."""

    def __init__(self, guest, tracing, pages):
        self.guest, self.pages, self.ready = guest, pages, queue.SimpleQueue()
        self.tracing = tracing
        self.resting = []  # readers that found tracing off: they ask again later
        self.readers = [Reader(guest, f"{tracing}per_cpu/cpu{cpu}/trace_pipe_raw", cpu, self.ready) for cpu in cpus_of(guest, tracing)]
        for reader in self.readers:
            for _ in range(AHEAD):
                reader.ask(pages.page_size)

    def _take(self, reader, future, again):
        reader.futures.remove(future)
        page = page_of(reader, future)
        if page:
            self.pages.add(reader.cpu, page)
        if again and page:
            reader.ask(self.pages.page_size)
        elif again:
            self.resting.append(reader)

    def take(self, seconds):
        """Add what comes in so many seconds."""
        resting, self.resting = self.resting, []
        for reader in resting:
            reader.ask(self.pages.page_size)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                self._take(*self.ready.get(timeout=left), again=True)
            except queue.Empty:
                return

    def finish(self):
        """Tracing is off: what still waits comes to an end, and what is left in the rings is taken."""
        for reader in self.readers:
            for future in list(reader.futures):
                if not future.done():
                    reader.file.cancel(future)
            for future in list(reader.futures):
                self._take(reader, future, again=False)
            reader.close()
        what_is_there(self.guest, self.tracing, self.pages)

    def rescue(self):
        """The kernel has died: what came before it."""
        for reader in self.readers:
            for future in list(reader.futures):
                if future.done() and not future.exception():
                    self._take(reader, future, again=False)
