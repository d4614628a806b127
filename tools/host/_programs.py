"""Names of programs' functions, by the symbols of their files, which are below a folder of this machine.

The file of a process is the one that sched_process_exec names; if the trace has no such event of it, the one of a folder for programs that has
the name of its first thread. Position-independent programs are taken to lie where Fathom puts them without random places: programs that
begin while `-O userstacktrace` is recorded do. Libraries have no place that is known, and addresses in them no name.
"""
import bisect
import functools
import struct
from pathlib import Path, PurePosixPath

from host._common import Failure

FOLDERS = ("bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "")
PIE_BASE = 0x555555554000  # MM_PIE_BASE of kernel/process/mm.h
SYMTAB, DYNSYM, FUNC, DYNAMIC, MOST_LINKS = 2, 11, 2, 3, 40
LOAD, MAY_RUN = 1, 1  # of parts of a program


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


class Functions:
    """Of an ELF file of 64 bits: where it is put, and the functions of .symtab, or of .dynsym."""

    def __init__(self, data):
        self.starts, self.found, self.base = [], [], 0
        try:
            if data[:6] == b"\x7fELF\x02\x01":
                self._read(data)
        except (struct.error, ValueError):
            self.starts, self.found = [], []  # a damaged file has no names

    def _read(self, data):
        self.base = PIE_BASE if struct.unpack_from("<H", data, 16)[0] == DYNAMIC else 0
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

    def name(self, address):
        at = bisect.bisect_right(self.starts, address - self.base) - 1
        if at < 0 or address - self.base - self.starts[at] >= self.found[at][0]:
            return None
        return self.found[at][1]


def code_of(path):
    """(address, bytes, where they are in the file) of the parts of a program that are run; none if it is no such file."""
    try:
        data = path.read_bytes()
        kind, (first,), (size, count) = data[16], struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
        parts = [struct.unpack_from("<IIQQQQQQ", data, first + size * i) for i in range(count)]
    except (OSError, IndexError, struct.error):
        return []
    base = PIE_BASE if kind == DYNAMIC else 0
    is_elf = data[:6] == b"\x7fELF\x02\x01"
    return [(base + part[3], part[6], part[2]) for part in parts if is_elf and part[0] == LOAD and part[1] & MAY_RUN]


class Programs:
    """The processes of a recording with their files."""

    def __init__(self, root):
        self.runs, self.by_path = {}, {}
        self.below = functools.cache(functools.partial(below, root))

    def learn(self, event):
        """Of an event that begins a program or a process."""
        if event.name == "sched_process_exec":
            self._add(event.number("pid"), event.ts, event.fields.get("filename"))
        elif event.name == "sched_process_fork":
            self._add(event.number("child_pid"), event.ts, self._run(event.number("parent_pid"), event.ts))

    def _add(self, pid, ts, path):
        if isinstance(path, str):
            bisect.insort(self.runs.setdefault(pid, []), (ts, path))

    def _run(self, pid, ts):
        runs = self.runs.get(pid, [])
        at = bisect.bisect_right(runs, ts, key=lambda run: run[0])
        return runs[at - 1][1] if at else None

    def file(self, event, tgid):
        """That of a process at the time of the event, or None."""
        path, comm = self._run(tgid, event.ts), event.trace.comm(tgid)
        if path:
            return self.below(path)
        if tgid in self.runs or "/" in comm:
            return None
        return next(filter(None, (self.below(f"{folder}/{comm}") for folder in FOLDERS)), None)

    def _functions(self, path):
        if path not in self.by_path:
            try:
                self.by_path[path] = Functions(path.read_bytes())
            except OSError:
                self.by_path[path] = Functions(b"")
        return self.by_path[path]

    def name(self, event, address, is_return):
        """The function of a caller in a user_stack; None when that is not known. A return address lies behind its call."""
        path = self.file(event, event.number("tgid"))
        return self._functions(path).name(address - is_return) if path else None
