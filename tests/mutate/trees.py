"""Copies of the source tree to mutate in, and the commands that make builds them with.

Every worker has a copy of its own in the build directory: a mutant is written into the file's place there, so that
headers, relative includes and make itself work as they do in the tree, and the file is put back afterwards.
"""
import math
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEMORY_MB = 3000
PATIENCE = 8


class Timeout(Exception):
    """A command took too long; its processes are gone."""


def run(command, cwd, seconds=600, env=None):
    """
    The exit status of a command. It may use so many seconds of a CPU; on a busy machine it gets some times as long for
    them. What it started and left behind is ended with it.
    """
    words = ["sh", "-c", command] if isinstance(command, str) else command
    settings = dict(os.environ, ASAN_OPTIONS=f"hard_rss_limit_mb={MEMORY_MB}", PYTHONDONTWRITEBYTECODE="1", **(env or {}))
    with open(os.devnull, "wb") as out:
        process = subprocess.Popen(
            ["prlimit", f"--cpu={math.ceil(seconds)}:{math.ceil(seconds) + 2}", "--", *words],
            cwd=cwd,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(PATIENCE * seconds)
            if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
                raise Timeout
            return status
        except subprocess.TimeoutExpired:
            raise Timeout from None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def must(command, cwd, seconds=1200):
    done = subprocess.run(command, cwd=cwd, shell=isinstance(command, str), capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode:
        raise SystemExit(f"mutate: failed: {command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def listed():
    """The files that git knows and the new ones; not what is deleted or ignored."""
    names = must(["git", "ls-files", "-co", "--exclude-standard"], ROOT).split("\n")
    return [name for name in names if name and (ROOT / name).is_file()]


class Plan:
    """The commands of a dry run of make: how each object is compiled and each program linked."""

    def __init__(self, text):
        self.compile = {}  # object: (source, command)
        self.link = {}  # program: command
        self.members = {}  # archive: objects
        self.lines = text.split("\n")
        for line in self.lines:
            made = re.search(r" -o (\S+)", line)
            source = re.search(r" -c (\S+)", line) or (line.startswith("nasm") and re.search(r" (\S+\.asm)$", line))
            archive = re.search(r"ar rcs (\S+) (.*)", line)
            if archive:
                self.members[archive[1]] = archive[2].split()
            elif source and made:
                self.compile[made[1]] = (source[1], line)
            elif made and ".o " in line:
                self.link[made[1]] = line

    def linked(self, program):
        """The objects in a program or in the archives that it links."""
        words = self.link[program].split()
        return [word for word in words if word in self.compile] + [member for word in words for member in self.members.get(word, ())]


def prerequisites(depfile):
    if not depfile.exists():
        return set()
    words = depfile.read_text().replace("\\\n", " ").split()
    return {os.path.normpath(word) for word in words if not word.endswith(":")}


class Tree:
    """One copy of the sources, with its builds in `build` inside."""

    def __init__(self, path):
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.dependents = {}

    def sync(self):
        """Make the sources those of the checkout; an unchanged file keeps its time."""
        wanted = set(listed())
        for name in wanted:
            here, there = self.path / name, ROOT / name
            if not here.exists() or here.read_bytes() != there.read_bytes():
                here.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(there, here)
        for top in {name.split("/")[0] for name in wanted if "/" in name}:
            for here in (self.path / top).rglob("*"):
                if here.is_file() and str(here.relative_to(self.path)) not in wanted:
                    here.unlink()

    def borrow(self, other):
        """Start from what another tree has built."""
        if not (self.path / "build").exists() and (other.path / "build").exists():
            must(["cp", "-a", other.path / "build", self.path / "build"], ROOT)

    def make(self, makefile, *words, jobs=1):
        return must(["make", "-s", f"-j{jobs}", "-f", makefile, *words], self.path)

    def plan(self, makefile, *words):
        return Plan(must(["make", "-n", "-B", "-f", makefile, "V=1", *words], self.path))

    def depending(self, plan, path):
        """The objects of a plan that are made from `path`, or include it, as some tests do with a source."""
        key = (id(plan), path)
        if key not in self.dependents:
            self.dependents[key] = [
                name for name, (source, _) in plan.compile.items() if source == path or path in prerequisites(self.path / depfile(name))
            ]
        return self.dependents[key]

    def is_newer(self, made, source):
        """Was a file made after its source was written?"""
        made = self.path / made
        return made.exists() and made.stat().st_mtime_ns >= (self.path / source).stat().st_mtime_ns

    def put(self, path, text):
        (self.path / path).write_text(text)

    def restore(self, path, text, times):
        """As it was, its time as well: what was built from it is still good."""
        (self.path / path).write_text(text)
        os.utime(self.path / path, ns=times)

    def times(self, path):
        status = (self.path / path).stat()
        return status.st_atime_ns, status.st_mtime_ns


def depfile(made):
    return made + ".d" if made.endswith(".asm.o") else re.sub(r"\.o$", ".d", made)


def redirected(command, made, other):
    """A compile command that writes elsewhere, without debug information, warnings and dependencies."""
    words = []
    skip = False
    for word in command.split(" "):
        if skip or word in ("-MMD", "-MP", "-MD", "-MF", "-g", "-Werror"):
            skip = word in ("-MF",) or (word == "-MD" and command.startswith("nasm"))
            continue
        words.append(other if word == made else word)
    return " ".join(words) + ("" if command.startswith("nasm") else " -g0 -w")
