"""Scripts of the kernel and their tables for the page: the files scripts/NAME, docs/scripts.md."""
import re

from host._guest import NONBLOCK

OWN = "view"  # the directory of the script that is typed on the page
MOST = 200  # keys of a table that are shown
SAID = 20000  # characters of the output that are kept
PIECE = 16 << 10  # bytes of output that are read at once
TOO_MUCH = 1 << 20  # bytes of a file
NAME = re.compile(r"(@\w*)")
ROW = re.compile(r"([\[(][^|]*?[\])]) +(\d+) \|")  # [2, 4)      7 |@@@@   |


def parse(text):
    """[{name, key, value, number, bars}] for each key of the tables in a file `maps`; `bars`: (text, count) of a histogram."""
    found, lines = [], iter(text.splitlines())
    for line in lines:
        if row := ROW.match(line):
            if found:
                found[-1]["bars"].append((row[1], int(row[2])))
        elif name := NAME.match(line):
            found.append(entry(name[1], whole(line[name.end() :], lines)))
    return found


def whole(rest, lines):
    """The rest of an entry, behind the name of its table: keys that are stacks have a line for each function."""
    while rest.startswith("[") and "]: " not in rest:
        more = next(lines, None)
        if more is None:
            break
        rest += f" {more.strip()}" if rest != "[" else more.strip()
    return rest


def entry(name, rest):
    key, _, value = rest.rpartition("]: ") if rest.startswith("[") else ("", "", rest.removeprefix(": "))
    numbers = re.match(r"-?\d+|.*\btotal (-?\d+)", value)  # stats() has the sum behind that word
    number = int(numbers[1] or numbers[0]) if numbers else 0
    return {"name": name, "key": key[1:].strip(), "value": value.strip(), "number": number, "bars": []}


def tables(text):
    """[{name, entries}], in the order of the file; of long tables the last entries, which are the largest."""
    found = {}
    for one in parse(text):
        found.setdefault(one["name"], []).append(one)
    return [{"name": name, "entries": entries[-MOST:]} for name, entries in found.items()]


class Scripts:
    """`kernel` is a view.kernel.Kernel. What the script of the page prints is read here, so its intervals run."""

    def __init__(self, kernel):
        self.kernel, self.guest = kernel, kernel.guest
        self.output, self.said = None, ""

    def names(self):
        try:
            return sorted(self.guest.names("scripts"))
        except OSError:  # a kernel without scripts
            return []

    def run(self, text):
        """The script of the page, in the place of the one before. The last command, with what was wrong."""
        if OWN not in self.names():
            self.kernel.mkdir(f"scripts/{OWN}")
        done = self.kernel.write(f"scripts/{OWN}/enable", "0")
        if not done["error"]:
            done = self.kernel.write(f"scripts/{OWN}/program", text)
        if not done["error"]:
            self.begin()
            done = self.kernel.write(f"scripts/{OWN}/enable", "1")
        return done

    def begin(self):
        self.said = ""
        if not self.output:
            self.output = self.guest.open(f"scripts/{OWN}/output", NONBLOCK)

    def listen(self):
        """Take what the script has printed."""
        try:
            while self.output and (part := self.output.read(PIECE)):
                self.said = (self.said + part.decode("utf-8", "replace"))[-SAID:]
                if len(part) < PIECE:
                    break
        except OSError:  # there is nothing now
            return

    def look(self):
        """All that the page shows: [{name, on, program, tables}], and the lines of its own one."""
        self.listen()
        found = []
        for name in self.names():
            try:
                read = {file: self.kernel.read(f"scripts/{name}/{file}", TOO_MUCH) for file in ("enable", "program", "maps")}
            except OSError:
                continue  # it was removed just now
            one = {"name": name, "on": read["enable"].strip() == "1", "program": read["program"].strip()}
            found.append({**one, "tables": tables(read["maps"])})
        return {"list": found, "said": self.said}
