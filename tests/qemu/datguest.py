"""A guest with a machine channel, tools/fathom on it, and trace.dat files as text: for tests of those commands."""
import re
import subprocess
import tempfile
from pathlib import Path

from guest import PATIENCE, ROOT, Guest

# The settings that a recording may change, and has to restore.
SETTINGS = (
    "current_tracer",
    "set_event",
    "set_ftrace_filter",
    "set_ftrace_notrace",
    "set_graph_function",
    "set_ftrace_pid",
    "set_event_pid",
    "trace_options",
    "buffer_size_kb",
    "trace_clock",
    "tracing_cpumask",
    "tracing_on",
    "saved_cmdlines_size",
    "show_event_filters",
    "show_event_triggers",
)
IN_GUEST = re.compile(r"^ *(\S.*)-(\d+) +\[(\d+)\] \S+ +([\d.]+): (.*)$")
IN_REPORT = re.compile(r"^ *(\S.*)-(\d+) +\[(\d+)\] +([\d.]+): (\w+): *(.*)$")


class Machine:
    """.guest; .fathom(command, words) runs the tool on its channel, in .folder."""

    def __init__(self, **options):
        self.temporary = tempfile.TemporaryDirectory(prefix="fathom-dat-")
        self.folder = Path(self.temporary.name)
        self.channel, self.com2 = self.folder / "channel", self.folder / "com2"
        self.guest = Guest(
            "gcc",
            2,
            com2=f"unix:{self.com2},server=on,wait=off",
            extra=[
                "-device",
                "virtio-serial-pci",
                "-chardev",
                f"socket,id=port,path={self.channel},server=on,wait=off",
                "-device",
                "virtserialport,chardev=port,name=fathom.9p",
            ],
            **options,
        )

    def words(self, command, *words, channel=None):
        return [ROOT / "tools/fathom", command, "--channel", channel or self.channel, *words]

    def fathom(self, *words, channel=None, seconds=60):
        return subprocess.run(
            self.words(*words, channel=channel), capture_output=True, text=True, cwd=self.folder, timeout=seconds * PATIENCE
        )

    def settings(self):
        return {name: self.guest.check(f"cat {name}") for name in SETTINGS}

    def trace(self, commands):
        """The text of the trace made while the commands run, after recording has stopped."""
        self.guest.check(f"echo 0 > tracing_on; echo > trace; {commands}; echo 0 > tracing_on")
        return events_of_guest(self.guest.check("cat trace"))

    def close(self):
        self.guest.close()
        self.temporary.cleanup()


def report(path, *words):
    """The output of `trace-cmd report`. -N: by the formats only, without ways of its own."""
    run = subprocess.run(["trace-cmd", "report", "-i", path, *words], capture_output=True, text=True, timeout=60 * PATIENCE)
    assert run.returncode == 0 and not run.stderr, run.stderr
    return run.stdout


def events_of_guest(text):
    """(task, pid, CPU, time, event, fields), as trace-cmd has them."""
    found = []
    for line in text.splitlines():
        if match := IN_GUEST.match(line):
            *head, body = match.groups()
            if call := re.fullmatch(r"(\S+) <-(\S+)", body):
                event = ("function", f"{call[1]} <-- {call[2]}")
            else:
                name, _, rest = body.partition(": ")
                event = ("print", f"{name}: {rest}") if name == "tracing_mark_write" else (name, rest.strip())
            found.append((*head, *event))
    return found


def events_of_report(path):
    return [(*match.groups()[:5], match[6].strip()) for line in report(path, "-N").splitlines() if (match := IN_REPORT.match(line))]


def is_valid(path):
    run = subprocess.run(["trace-cmd", "dump", "--validate", "-i", path], capture_output=True, text=True, timeout=60 * PATIENCE)
    return run.returncode == 0 and "is a valid trace-cmd file" in run.stdout
