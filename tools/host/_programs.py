"""Names of programs' functions, by the symbols of their files, which are below a folder of this machine.

A recording has where the files of processes lay, program and libraries, as far as these were there at its beginning or at its end. Of other processes
the file is the one that sched_process_exec names; if the trace has no such event, the one of a folder for programs that has the name of
the first thread. The event says, too, where a position-independent program lies. Without the event that is not known, and the program's addresses have
no name then, nor have those in libraries.
"""
import bisect
import functools
import struct
import time
from pathlib import Path, PurePosixPath

from host import _maps
from host._common import Failure

FOLDERS = ("bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "")
SYMTAB, DYNSYM, FUNC, DYNAMIC, MOST_LINKS = 2, 11, 2, 3, 40
LOAD, MAY_RUN, PAGE = 1, 1, 4096  # of parts of a program
ASK_AGAIN = 1  # seconds until a process is asked once more about an address in no file that was known


def add_arguments(parser):
    parser.add_argument(
        "--root",
        metavar="DIR",
        help="the folder with the files of the traced machine: functions of its programs are shown by their names (default: as addresses)",
    )


def programs_of(options):
    """A Programs, or None without --root."""
    if options.root is None:
        return None
    if not Path(options.root).is_dir():
        raise Failure(f"--root: {options.root} is no folder")
    return Programs(Path(options.root))


def below(root, path):
    """The file that the traced machine finds at a path: links are followed inside of the folder. None: there is none."""
    parts, done, links = list(PurePosixPath("/", path).parts[1:]), [], 0
    while parts:
        part = parts.pop(0)
        if part == "..":
            done = done[:-1]
            continue
        here = root.joinpath(*done, part)
        if not here.is_symlink():
            done.append(part)
            continue
        links += 1
        if links > MOST_LINKS:
            return None
        target = PurePosixPath(here.readlink())
        done = [] if target.is_absolute() else done
        parts = [one for one in target.parts if one != "/"] + parts
    found = root.joinpath(*done)
    return found if found.is_file() else None


def parts_of(data):
    """Those of a program that are put into memory."""
    (first,), (size, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    return [part for part in (struct.unpack_from("<IIQQQQQQ", data, first + size * i) for i in range(count)) if part[0] == LOAD]


def code_of(path, base=None):
    """(address, bytes, where they are in the file) of the parts of a program that are run; none if it is no such file, or may be anywhere."""
    try:
        data = path.read_bytes()
        kind, parts = data[16], parts_of(data)
    except (OSError, IndexError, struct.error):
        return []
    if data[:6] != b"\x7fELF\x02\x01" or base is None and kind == DYNAMIC:
        return []
    return [((base or 0) + part[3], part[6], part[2]) for part in parts if part[1] & MAY_RUN]


class Functions:
    """Of an ELF file of 64 bits: may it be put anywhere, the first address in it, and the functions of .symtab, or of .dynsym."""

    def __init__(self, data):
        self.starts, self.found, self.is_anywhere, self.first = [], [], False, 0
        try:
            if data[:6] == b"\x7fELF\x02\x01":
                self._read(data)
        except (struct.error, ValueError):
            self.starts, self.found = [], []  # a damaged file has no names

    def _read(self, data):
        self.is_anywhere = struct.unpack_from("<H", data, 16)[0] == DYNAMIC
        self.first = min((part[3] for part in parts_of(data)), default=0) & -PAGE
        (first,) = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        sections = [struct.unpack_from("<IIQQQQII", data, first + size * i) for i in range(count)]
        tables = [one for kind in (SYMTAB, DYNSYM) for one in sections if one[1] == kind]
        functions = {}
        for name, info, _, section, start, length in self._symbols(data, tables[0]) if tables else ():
            if info & 15 == FUNC and section and length:
                at = sections[tables[0][6]][4] + name
                functions.setdefault(start, (length, data[at : data.index(b"\0", at)].decode("utf-8", "replace")))
        self.starts = sorted(functions)
        self.found = [functions[start] for start in self.starts]

    @staticmethod
    def _symbols(data, table):
        return struct.iter_unpack("<IBBHQQ", data[table[4] : table[4] + table[5] // 24 * 24])

    def base(self, begin):
        """The number that is added to its addresses when it begins there."""
        return begin - self.first if self.is_anywhere else 0

    def name(self, address, base=None):
        """base: what was added to the addresses in the file, if that is known."""
        if base is None and self.is_anywhere:
            return None
        address -= base or 0
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0 or address - self.starts[at] >= self.found[at][0]:
            return None
        return self.found[at][1]


class Programs:
    """The processes of a recording with their files."""

    def __init__(self, root):
        self.runs, self.parents, self.by_path = {}, {}, {}
        self.maps = {}  # {process: Maps of _maps.py}
        self.below = functools.cache(functools.partial(below, root))

    def learn(self, event):
        """Of an event that begins a program or a process."""
        if event.name == "sched_process_exec":
            self._add(event.number("pid"), event.ts, event.fields.get("filename"), event.fields.get("base"))
        elif event.name == "sched_process_fork":
            child, parent = event.number("child_pid"), event.number("parent_pid")
            self.parents.setdefault(child, parent)
            self._add(child, event.ts, *self._run(parent, event.ts))

    def _add(self, pid, ts, path, base):
        if isinstance(path, str):
            bisect.insort(self.runs.setdefault(pid, []), (ts, path, base if isinstance(base, int) else None), key=lambda run: run[0])

    def _run(self, pid, ts):
        runs = self.runs.get(pid, [])
        at = bisect.bisect_right(runs, ts, key=lambda run: run[0])
        return runs[at - 1][1:] if at else (None, None)

    def _maps(self, tgid, ts):
        """Those of the process, or of the one that it was forked from, if it runs that program at the time."""
        seen = set()
        (path, base), origin = self._run(tgid, ts), tgid
        while origin not in self.maps and origin in self.parents and origin not in seen:
            seen.add(origin)
            origin = self.parents[origin]
        maps = self.maps.get(origin)
        if not maps or path and (self.below(path) != self.below(maps.program) or base and base != self._bases(maps)[0][1]):
            return None
        return maps

    def _bases(self, maps):
        """(file or None, what was added to its addresses) of each."""
        files = [(self.below(path), begin) for begin, _, path in maps.files]
        return [(file, self._functions(file).base(begin)) if file else (None, None) for file, begin in files]

    def files(self, event, tgid):
        """[(one of a process at the time of the event or None, what was added to its addresses, None: not known)], the program first."""
        (path, base), comm = self._run(tgid, event.ts), event.trace.comm(tgid)
        maps = self._maps(tgid, event.ts)
        if maps:
            return self._bases(maps)
        if path:
            return [(self.below(path), base)]
        if tgid in self.runs or "/" in comm:
            return [(None, None)]
        return [(next(filter(None, (self.below(f"{folder}/{comm}") for folder in FOLDERS)), None), None)]

    def _functions(self, path):
        if path not in self.by_path:
            try:
                self.by_path[path] = Functions(path.read_bytes())
            except OSError:
                self.by_path[path] = Functions(b"")
        return self.by_path[path]

    def function(self, maps, address):
        """The one at an address, by the files of its process; None when that is not known."""
        begin, path = maps.find(address)
        file = path and self.below(path)
        functions = self._functions(file) if file else None
        return functions.name(address, functions.base(begin)) if functions else None

    def name(self, event, address, is_return):
        """The function of a caller in a user_stack; None when that is not known. A return address lies behind its call."""
        tgid = event.number("tgid")
        maps = self._maps(tgid, event.ts)
        if maps:
            return self.function(maps, address - is_return)
        path, base = self.files(event, tgid)[0]
        return self._functions(path).name(address - is_return, base) if path else None


class LivePrograms:
    """Of a running kernel: where files of a process lie is asked when one of its addresses comes. files: a Programs."""

    def __init__(self, guest, files):
        self.guest, self.files = guest, files
        self.known = {}  # {process: (when it was asked, its Maps or None)}

    def _asked(self, process):
        try:
            maps = _maps.parsed(self.guest.text(f"/proc/{process}/maps"))
        except OSError:
            maps = self.known.get(process, (0, None))[1]  # it has ended
        self.known[process] = time.monotonic(), maps
        return maps

    def name(self, process, address):
        """None: there is no name."""
        when, maps = self.known.get(process, (None, None))
        is_old = when is None or time.monotonic() - when > ASK_AGAIN
        if is_old and not (maps and maps.find(address)[1]):
            maps = self._asked(process)
        return self.files.function(maps, address) if maps else None
