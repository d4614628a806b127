"""fathom bt: a script runs in the kernel, by the files of scripts/NAME, and its output comes here: docs/scripts.md."""
import contextlib
import os
import signal
import threading
from pathlib import Path

from host import _guest
from host._common import Failure, Unread
from host._guest import Guest
from host._recording import say, show, stop_like_ctrl_c

HELP = "run a script in the kernel, in the words of bpftrace, and print its output here"
EXAMPLE = "tools/fathom bt -c 'hackbench 2' 'kprobe:vfs_read { @[comm] = count(); }'"
OUTPUT_BYTES = 64 << 10  # of one read


def add_arguments(parser):
    parser.add_argument("script", metavar="SCRIPT", help="the script, or a file of this machine that has it; it runs until Ctrl-C")
    parser.add_argument("-c", dest="line", metavar="LINE", help="run it just as long as a line of the kernel's shell takes")
    _guest.add_channel(parser)


def text_of(script):
    """The script itself; of a name of a file, the text in it."""
    if "{" in script:
        return script
    try:
        return Path(script).read_bytes()
    except OSError as err:
        raise Failure(f"{script}: {err.strerror}; a script has clauses in braces") from None


class Script:
    """A directory of scripts/ while it is needed. close() ends the script and removes it."""

    def __init__(self, guest):
        self.guest, self.folder, self.output = guest, f"scripts/fathom-{os.getpid()}", None
        guest.mkdir(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        with contextlib.suppress(Failure):  # a kernel that has ended
            self.stop()
            if self.output:
                self.output.close()
            self.guest.rmdir(self.folder)

    def _tell(self, file, data):
        """Write to a file. The kernel's words about its refusal, with a caret under the place, become those of the Failure."""
        before = self.guest.text("error_log")
        try:
            self.guest.write(f"{self.folder}/{file}", data)
        except OSError as err:
            after = self.guest.text("error_log")
            lines = after.rstrip().splitlines()
            starts = [i for i, line in enumerate(lines) if line.startswith("[")] if after != before else []
            why = "".join(f"\n{line}" for line in lines[starts[-1] :]) if starts else ""
            raise Failure(f"the kernel does not take the script: {err.strerror}{why}") from None

    def start(self, text):
        """Its output has a reader before it runs."""
        self._tell("program", text)
        self.output = self.guest.open(f"{self.folder}/output")
        self._tell("enable", "1")

    def stop(self):
        self.guest.write(f"{self.folder}/enable", "0")

    def show_output(self):
        """Until it has ended. Ctrl-C ends it, and leaves the lines that END prints to be shown."""
        future = self.output.read_later(OUTPUT_BYTES)
        while True:
            try:
                data = self.output.result(future)
            except KeyboardInterrupt:
                self.stop()
                continue
            if not data:
                return
            show(data)
            future = self.output.read_later(OUTPUT_BYTES)

    def show_maps(self):
        show(self.guest.read(f"{self.folder}/maps"))


def run_line(guest, script, line):
    """The thread of -c. Its end is that of the script."""
    with contextlib.suppress(Failure, OSError, Unread):  # the thread that reads the output says it, or has ended the script
        try:
            status = guest.sh(line, show)[0]
            if status:
                say(f"the command ended with status {status}")
        finally:
            script.stop()


def run(options):
    text = text_of(options.script)
    signal.signal(signal.SIGTERM, stop_like_ctrl_c)
    with Guest(options.channel) as guest, Script(guest) as script:
        script.start(text)
        if options.line:
            threading.Thread(target=run_line, args=(guest, script, options.line), daemon=True).start()
        script.show_output()
        script.show_maps()
