"""Where the files of processes lie in their memory: read from the kernel's /proc/PID/maps, and kept in trace.dat as the options PROCMAPS of trace-cmd.

Such an option is a text with a NUL behind it: `PID NUMBER PROGRAM`, and so many lines `BEGIN END FILE`, all numbers in hexadecimal. A file is one
line however many mappings it has: they lie together, and the first one begins where the file does.
"""
import re

PROCESSES_MAX, GROWTH_MAX = 4096, 64 << 10
LINE = re.compile(r"([0-9a-f]{1,16})-([0-9a-f]{1,16}) \S+ \S+ \S+ +\S+ +(/.*)")


class Maps:
    """Of a process. files: (begin, end, path) by address; the program is the first one."""

    def __init__(self, program, files):
        self.program, self.files = program, files

    def find(self, address):
        """(begin, path) of the file that has the address; (None, None): none has."""
        return next(((begin, path) for begin, end, path in self.files if begin <= address < end), (None, None))

    def joined(self, newer):
        """With the files that the process has mapped since, unless it has begun a program since then: a file lies elsewhere then."""
        places = dict((path, begin) for begin, _, path in self.files)
        if newer.program != self.program or any(places.get(path, begin) != begin for begin, _, path in newer.files):
            return self
        return Maps(self.program, sorted({*self.files, *newer.files}))


def parsed(text):
    """Of a text of /proc/PID/maps; None: the process has no program."""
    files = []
    for begin, end, path in LINE.findall(text):
        begin, end = int(begin, 16), int(end, 16)
        if files and files[-1][2] == path:
            begin = files.pop()[0]
        files.append((begin, end, path))
    return Maps(files[0][2], files) if files else None


def gather(guest):
    """{pid: Maps} of the processes that there are."""
    found = {}
    for name in [name for name in guest.names("/proc") if re.fullmatch(r"[1-9]\d{0,8}", name)][:PROCESSES_MAX]:
        try:
            maps = parsed(guest.text(f"/proc/{name}/maps"))
        except OSError:
            continue  # it has ended
        if maps:
            found[int(name)] = maps
    return found


def joined(before, after):
    """Both of a recording's ends. What is new stays small, as the room in the file has been measured."""
    made, growth = dict(before), 0
    for pid, maps in after.items():
        maps = before[pid].joined(maps) if pid in before else maps
        growth += len(as_option(pid, maps)) - (len(as_option(pid, before[pid])) if pid in before else 0)
        if growth <= GROWTH_MAX:
            made[pid] = maps
    return made


def as_option(pid, maps):
    lines = "".join(f"{begin:x} {end:x} {path}\n" for begin, end, path in maps.files)
    return f"{pid:x} {len(maps.files):x} {maps.program}\n{lines}".encode("utf-8", "surrogateescape") + b"\0"


def of_option(data):
    """(pid, Maps); None: it makes no sense."""
    head, _, rest = data.partition(b"\0")[0].decode("utf-8", "replace").partition("\n")
    words = re.fullmatch(r"([0-9a-f]{1,8}) [0-9a-f]{1,8} (.+)", head)
    lines = re.findall(r"^([0-9a-f]{1,16}) ([0-9a-f]{1,16}) (.+)$", rest, re.M)
    return (int(words[1], 16), Maps(words[2], [(int(begin, 16), int(end, 16), path) for begin, end, path in lines])) if words else None
