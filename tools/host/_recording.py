"""Recordings: a trace.dat from settings, a command in the kernel, and pages of its rings. What the commands share."""
import contextlib
import errno
import signal
import sys
import threading
import time
from pathlib import Path

from host import _boot, _compress, _facts, _settings
from host._boot import kernel
from host._common import DIED, DISK_FULL, NOTHING, Failure, Unread
from host._guest import Command, quoted
from host._write_pages import Pages
from host._take import Counters, Stream, what_is_there

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PROGRESS_SECONDS = 1


def add_file(parser):
    parser.add_argument("-o", metavar="FILE", dest="output", type=Path, default="trace.dat", help="the file (default: %(default)s)")
    parser.add_argument("--file-version", type=int, choices=(6, 7), help="of trace.dat (default: 6, which every reader knows)")
    parser.add_argument("--compression", choices=_compress.NAMES, help="make the file smaller; it has version 7 then")


def add_arguments(parser):
    """The settings, the file, the kernel, the command."""
    _settings.add_arguments(parser)
    add_file(parser)
    _boot.add_arguments(parser)
    parser.add_argument("words", metavar="COMMAND", nargs="*", help="a line for the kernel's shell; without one, until Ctrl-C")


def say(text):
    print(text, file=sys.stderr)


def show(data):
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise Unread from None


def stop_like_ctrl_c(*unused):
    raise KeyboardInterrupt


def output_of(options):
    """(the file, how it is compressed)"""
    target, compression = options.output.resolve(), _compress.by_name(options.compression)
    if options.compression and options.file_version == 6:
        raise Failure("only files of version 7 are compressed")
    if not target.parent.is_dir():
        raise Failure(f"there is no folder {target.parent}")
    return target, compression


def write_file(pages, facts, options, compression):
    version = 7 if compression else options.file_version or 6
    try:
        pages.finish(facts, version, compression)
    except OSError as err:
        if not compression or err.errno not in DISK_ERRORS:
            raise
        pages.finish(facts, 7, None)
        say("there was no room for a compressed copy: the file is not compressed")


class Buffer:
    """The machine's own, or an instance's. number: in the file, where the machine's is always the first, if only in name."""

    def __init__(self, guest, instance, number, may_make):
        self.guest, self.name, self.number = guest, instance or "", number
        self.settings = _settings.Settings(guest, instance, may_make)
        self.tracing = self.settings.tracing


class Recording:
    """From the settings to the file. close() puts back what was set. wanted: (instance or None, what is to be set) of each buffer."""

    def __init__(self, guest, options, wanted):
        self.guest, self.options, self.wanted = guest, options, wanted
        self.target, self.compression = output_of(options)
        self.buffers = []
        self.pages = self.facts = None

    def __enter__(self):
        signal.signal(signal.SIGTERM, stop_like_ctrl_c)
        return self

    def __exit__(self, kind, failure, unused):
        if self.pages:
            self.pages.drop()
        with contextlib.suppress(Failure):  # a kernel that has ended
            for buffer in reversed(self.buffers):
                for text in buffer.settings.undo():
                    say(f"not put back: {text}")

    def _open_buffers(self, may_make):
        for instance, _ in self.wanted:
            number = sum(bool(one.name) for one in self.buffers) + 1 if instance else 0
            self.buffers.append(Buffer(self.guest, instance, number, may_make))

    def begin(self):
        """All is set but `tracing_on`. Formats are read first: that is slow while functions are traced."""
        self._open_buffers(may_make=True)
        self.facts = _facts.gather(self.guest, self.buffers)
        for buffer, (_, wanted) in zip(self.buffers, self.wanted):
            buffer.settings.apply(wanted)
        self._begin_file()

    def begin_late(self):
        """Others have traced, who knows how."""
        self._open_buffers(may_make=False)
        for buffer in self.buffers:
            buffer.settings.change("tracing_on", "0")
        self.facts = _facts.gather(self.guest, self.buffers)
        self._begin_file()

    def _begin_file(self):
        _facts.gather_last(self.guest, self.facts, self.buffers)
        self.pages = Pages(self.target, self.facts)

    def trace(self, is_on):
        for buffer in self.buffers:
            self.guest.write(f"{buffer.tracing}tracing_on", "1" if is_on else "0")

    def take(self, file="trace_pipe_raw"):
        """The contents of the rings."""
        for buffer in self.buffers:
            what_is_there(buffer, self.pages, file)

    def command_line(self):
        """The line for the kernel's shell: tracing is on just as long as the command takes."""
        words = " ".join(self.options.words)
        on, off = ("; ".join(f"echo {bit} > {one.tracing}tracing_on" for one in self.buffers) for bit in (1, 0))
        return f"{on}; sh -c {quoted(words)}; status=$?; {off}; exit $status"

    def tell_status(self, status):
        if status:
            say(f"the command ended with status {status}")

    def _write_file(self):
        write_file(self.pages, self.facts, self.options, self.compression)

    def finish(self):
        """Make the file of what there is. Without anything there is none."""
        if not self.pages.nr_bytes:
            raise Failure("nothing was traced, so there is no file; -p and -e say what is traced", NOTHING)
        with contextlib.suppress(Failure):  # then with the names of tasks that were known before
            _facts.gather_last(self.guest, self.facts, self.buffers)
        self._write_file()
        say(self.summary())

    def summary(self):
        text = f"{self.options.output}: {self.pages.nr_bytes / 1e6:.1f} MB of events"
        with contextlib.suppress(Failure):
            events, lost = Counters(self.guest, self.buffers).read()
            text += f", {events - lost} events, {lost} lost"
        return text

    @contextlib.contextmanager
    def keeping_what_came(self, rescue=lambda: None):
        """When the kernel dies or the disk is full in here, the file has what came before, and is whole."""
        try:
            yield
        except Failure as failure:
            if failure.code != DIED:
                raise
            rescue()
            self._end_early(failure, f"{failure}", DIED)
        except OSError as err:
            if err.errno not in DISK_ERRORS:
                raise
            self.trace(False)
            self._end_early(err, "the disk is full", DISK_FULL)

    def _end_early(self, cause, text, code):
        if not self.pages or not self.pages.nr_bytes:
            raise Failure(f"{text}, before anything was written", code) from cause
        nr_bytes = self.pages.nr_bytes
        self._write_file()
        raise Failure(f"{text}; {self.target} has what came before: {nr_bytes / 1e6:.1f} MB of events", code) from cause


def until_ctrl_c(recording):
    recording.trace(True)
    say("tracing; Ctrl-C ends it")
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(PROGRESS_SECONDS)
            Counters(recording.guest, recording.buffers).read()  # notices when the kernel dies


def wanted_of(options):
    return [(one.instance, one) for one in _settings.wanted_buffers(options)]


def record(options):
    """Trace, and then take what the rings hold."""
    with kernel(options) as guest, Recording(guest, options, wanted_of(options)) as recording:
        with recording.keeping_what_came():
            recording.begin()
            try:
                if options.words:
                    recording.tell_status(guest.sh(recording.command_line(), show)[0])
                else:
                    until_ctrl_c(recording)
            except KeyboardInterrupt:
                say("the command was interrupted")
            recording.trace(False)
            recording.take()
            recording.finish()


def extract(options):
    """Take what the rings hold."""
    wanted = [(instance, None) for instance in options.instances or [None]]
    with kernel(options) as guest, Recording(guest, options, wanted) as recording:
        with recording.keeping_what_came():
            recording.begin_late()
            recording.take("snapshot_raw" if options.snapshot else "trace_pipe_raw")
            recording.finish()


class Progress:
    """A line that is written over and over, on a terminal."""

    def __init__(self, recording):
        self.recording, self.counters = recording, Counters(recording.guest, recording.buffers)
        self.last, self.last_events = time.monotonic(), 0

    def show(self):
        """Also notices when the kernel dies."""
        events, lost = self.counters.read()
        now = time.monotonic()
        rate = (events - lost - self.last_events) / max(now - self.last, 1e-3)
        self.last, self.last_events = now, events - lost
        if sys.stderr.isatty():
            megabytes = self.recording.pages.nr_bytes / 1e6
            print(f"\r{megabytes:10.1f} MB {rate:10.0f} events/s {lost:10} lost ", end="", file=sys.stderr, flush=True)

    def end(self):
        if sys.stderr.isatty():
            say("")


class Runner(threading.Thread):
    """The command, in a thread of its own. `status` once it has ended."""

    def __init__(self, guest, line):
        super().__init__(daemon=True)
        self.command, self.status = Command(guest, line, show), None
        self.start()

    def run(self):
        with contextlib.suppress(Failure, Unread):  # who watches the kernel says it
            self.status = self.command.wait()[0]

    def close(self):
        with contextlib.suppress(Failure, OSError):
            self.command.close()


def stream_loop(recording, stream, runner):
    progress = Progress(recording)
    try:
        while runner is None or runner.is_alive():
            stream.take(PROGRESS_SECONDS)
            progress.show()
    except KeyboardInterrupt:
        pass
    finally:
        progress.end()


def stream(options):
    """Take pages while it is traced."""
    with kernel(options) as guest, Recording(guest, options, wanted_of(options)) as recording:
        with recording.keeping_what_came():
            recording.begin()
        taking = Stream(recording.buffers, recording.pages)
        runner = None
        with recording.keeping_what_came(taking.rescue):
            try:
                if options.words:
                    runner = Runner(guest, recording.command_line())
                else:
                    recording.trace(True)
                stream_loop(recording, taking, runner)
            finally:
                if runner:
                    runner.close()
            recording.trace(False)
            taking.finish()
            if runner:
                recording.tell_status(runner.status)
            recording.finish()
