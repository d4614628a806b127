"""A terminal for kernels whose console is elsewhere: lines are edited here, and each is run by /dev/shell."""
import threading

from host._common import Failure
from host._guest import Command

PROMPT = "fathom# "
LONGEST = 4000
KEYS = {"\x1b[A": "up", "\x1bOA": "up", "\x1b[B": "down", "\x1bOB": "down"}


class LineShell:
    """type() takes what the page's terminal sends, `say` shows text on all pages."""

    def __init__(self, guest, say):
        self.guest, self.say = guest, say
        self.lock = threading.Lock()  # of what follows
        self.line, self.history, self.place = "", [], 0
        self.running = None  # a Command; True before it has begun
        self.say(f"Each line is a shell of its own (/dev/shell), in /sys/kernel/tracing.\r\n{PROMPT}")

    def type(self, text):
        with self.lock:
            if text in KEYS:
                self.from_history(-1 if KEYS[text] == "up" else 1)
            elif not text.startswith("\x1b"):
                for key in text:
                    self.key(key)

    def key(self, key):
        if key == "\x03":
            self.interrupt()
        elif self.running:
            return  # commands have /dev/null as input
        elif key in "\r\n":
            self.enter()
        elif key in "\x7f\b" and self.line:
            self.line = self.line[:-1]
            self.say("\b \b")
        elif key == "\x15":
            self.replace("")
        elif key.isprintable() and len(self.line) < LONGEST:
            self.line += key
            self.say(key)

    def replace(self, line):
        self.say("\b \b" * len(self.line) + line)
        self.line = line

    def from_history(self, step):
        if self.running:
            return
        self.place = min(max(self.place + step, 0), len(self.history))
        self.replace(self.history[self.place] if self.place < len(self.history) else "")

    def enter(self):
        line, self.line = self.line.strip(), ""
        self.say("\r\n")
        if not line:
            self.say(PROMPT)
            return
        self.history.append(line)
        self.place = len(self.history)
        self.running = True
        threading.Thread(target=self.run, args=(line,), daemon=True).start()

    def run(self, line):
        try:
            command = Command(self.guest, line, lambda data: self.say(data.decode("utf-8", "replace").replace("\n", "\r\n")))
            with self.lock:
                self.running = command
            command.wait()
            command.close()
        except (OSError, Failure) as err:
            self.say(f"{err}\r\n")
        with self.lock:
            self.running = None
            self.say(PROMPT)

    def interrupt(self):
        self.say("^C\r\n")
        if not self.running:
            self.line = ""
            self.say(PROMPT)
        elif self.running is not True:
            # In a thread of its own: it waits until the command has ended.
            threading.Thread(target=self.close, args=(self.running,), daemon=True).start()

    @staticmethod
    def close(command):
        try:
            command.close()
        except (OSError, Failure):
            pass  # the command, or the kernel, has ended in this moment
