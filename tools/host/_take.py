"""Taking the pages of a kernel's rings: those that are there, or all that come while it is traced."""
import queue
import time

from host._common import DIED, Failure
from host._facts import cpus_of, most_pages
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
    """Of all CPUs of the buffers, since the rings were emptied."""

    def __init__(self, guest, buffers):
        self.guest = guest
        self.folders = [f"{one.tracing}per_cpu/cpu{cpu}" for one in buffers for cpu in cpus_of(guest, one.tracing)]

    def read(self):
        both = [lost_of(self.guest.text(f"{folder}/stats")) for folder in self.folders]
        return tuple(map(sum, zip(*both)))


class Reader:
    """Reads of one CPU's ring in a buffer, several under way. `ready` gets (reader, future) for each that has come."""

    def __init__(self, buffer, cpu, file, ready=None):
        self.buffer, self.cpu, self.ready = buffer, cpu, ready
        self.file = buffer.guest.open(f"{buffer.tracing}per_cpu/cpu{cpu}/{file}", NONBLOCK if ready is None else 0)
        self.futures = []

    def ask(self, count):
        future = self.file.read_later(count)
        self.futures.append(future)
        if self.ready is not None:
            future.add_done_callback(lambda done: self.ready.put((self, done)))

    def add(self, pages, page):
        pages.add(self.cpu, page, self.buffer.number)

    def close(self):
        self.file.close()


def what_is_there(buffer, pages, file="trace_pipe_raw"):
    """Add what the rings hold to `pages`. Tracing is off meanwhile, or it might never end."""
    for cpu in cpus_of(buffer.guest, buffer.tracing):
        most = most_pages(buffer.guest, f"{buffer.tracing}per_cpu/cpu{cpu}", pages.page_size)
        reader = Reader(buffer, cpu, file)
        for _ in range(AHEAD):
            reader.ask(pages.page_size)
        while reader.futures:
            page = page_of(reader, reader.futures.pop(0))
            if page:
                reader.add(pages, page)
                most -= 1
            if page and most > AHEAD:
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
    """All CPUs of the buffers, while it is traced."""

    def __init__(self, buffers, pages):
        self.buffers, self.pages, self.ready = buffers, pages, queue.SimpleQueue()
        self.resting = []  # readers that found tracing off: they ask again later
        self.readers = [Reader(one, cpu, "trace_pipe_raw", self.ready) for one in buffers for cpu in cpus_of(one.guest, one.tracing)]
        for reader in self.readers:
            for _ in range(AHEAD):
                reader.ask(pages.page_size)

    def _take(self, reader, future, again):
        reader.futures.remove(future)
        page = page_of(reader, future)
        if page:
            reader.add(self.pages, page)
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
        for buffer in self.buffers:
            what_is_there(buffer, self.pages)

    def rescue(self):
        """The kernel has died: what came before it."""
        for reader in self.readers:
            for future in list(reader.futures):
                if future.done() and not future.exception():
                    self._take(reader, future, again=False)
