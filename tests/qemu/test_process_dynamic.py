"""Dynamic programs: those of this machine, with its ld.so and C library; and ELF files with every kind of damage."""
import random
import re
import shutil
import struct
import subprocess
import time
from pathlib import Path

import pytest
from programs import archive, built, leaves_nothing

PROGRAMS = "true false echo cat ls wc sort seq head tail cut tr expr env printenv dirname basename uname sleep test readlink stat".split()
LOADER = "lib64/ld-linux-x86-64.so.2"


def libraries(program):
    """The shared objects that a program of this machine is linked with, by the names under which it looks for them."""
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    paths = [word for line in listed.splitlines() for word in line.split() if word.startswith("/")]
    return {path.lstrip("/"): path for path in paths}


# Offsets in the header, and in a program header, of fields and the way they are packed.
HEADER = {"class": (4, "B"), "data": (5, "B"), "type": (16, "H"), "machine": (18, "H"), "entry": (24, "Q"), "phoff": (32, "Q")}
HEADER |= {"phentsize": (54, "H"), "phnum": (56, "H")}
PHDR = {"type": (0, "I"), "offset": (8, "Q"), "vaddr": (16, "Q"), "filesz": (32, "Q"), "memsz": (40, "Q")}
PHOFF, PH_BYTES = 64, 56
PT_LOAD, PT_INTERP = 1, 3
FORMAT, LIBRARY, NONE = "Exec format error", "Accessing a corrupted shared library", "No such file or directory"


def put(elf, at, form, value):
    changed = bytearray(elf)
    struct.pack_into("<" + form, changed, at, value)
    return bytes(changed)


def header(elf, field, value):
    return put(elf, *HEADER[field], value)


def phdr(elf, kind, field, value):
    """`elf` with another value in its first program header of that kind."""
    number = struct.unpack_from("<H", elf, 56)[0]
    kinds = [struct.unpack_from("<I", elf, PHOFF + i * PH_BYTES)[0] for i in range(number)]
    offset, form = PHDR[field]
    return put(elf, PHOFF + kinds.index(kind) * PH_BYTES + offset, form, value)


def damaged(static, dynamic):
    """Files that no kernel can run, by name: contents, and the error that tells so."""
    top = 0x7FFFFFFFF000
    files = {f"cut{n}": (static[:n], FORMAT) for n in (4, 63, 64, 100, 175)}
    for field, values in {
        "class": (0, 1),
        "data": (2,),
        "type": (0, 1, 4, 0xFFFF),
        "machine": (3, 183),
        "entry": (top, 1 << 63, (1 << 64) - 1),
        "phoff": (len(static), 1 << 40, 1 << 63, (1 << 64) - 1),
        "phentsize": (0, 55, 57),
        "phnum": (0, 65, 0xFFFF),
    }.items():
        files |= {f"{field}{i}": (header(static, field, value), FORMAT) for i, value in enumerate(values)}
    for field, values in {
        "offset": (1, 1 << 63),
        "vaddr": (0, 0x400001, top, 1 << 47, 1 << 63, (1 << 64) - 4096),
        "filesz": (1 << 20, 1 << 63, (1 << 64) - 1),
        "memsz": (0, 1 << 47, (1 << 64) - 1),
    }.items():
        files |= {f"load_{field}{i}": (phdr(static, PT_LOAD, field, value), FORMAT) for i, value in enumerate(values)}
    for field, values in {"offset": (1 << 40, 1 << 63), "filesz": (0, 1, 5, 257, 1 << 63)}.items():
        files |= {f"interp_{field}{i}": (phdr(dynamic, PT_INTERP, field, value), FORMAT) for i, value in enumerate(values)}
    for name, error in {"/no/file": NONE, "/bad/cut64": LIBRARY, "/bad/static": LIBRARY, "/bin": "Permission denied"}.items():
        interp = dynamic.replace(f"/{LOADER}".encode(), name.encode().ljust(len(LOADER) + 1, b"\0"))
        files[f"names_{name.strip('/').replace('/', '_')}"] = (phdr(interp, PT_INTERP, "filesz", len(name) + 1), error)
    return files


def noisy(elf, number):
    """Copies with a few bytes changed in the headers. Some run."""
    for seed in range(number):
        generator = random.Random(seed)
        changed = bytearray(elf)
        for _ in range(generator.choice((1, 2, 8))):
            changed[generator.randrange(4, PHOFF + 4 * PH_BYTES)] = generator.choice((0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256)))
        yield bytes(changed)


@pytest.fixture(scope="module")
def damage(tmp_path_factory):
    """Those files, in a directory; and the names of noisy ones."""
    folder = tmp_path_factory.mktemp("damaged")
    static, dynamic = built("hello").read_bytes(), Path(shutil.which("true")).read_bytes()
    files = damaged(static, dynamic)
    noise = {f"noise{i}": text for i, text in enumerate([*noisy(static, 20), *noisy(dynamic, 20)])}
    for name, text in {**{name: text for name, (text, _) in files.items()}, **noise, "static": static}.items():
        (folder / name).write_bytes(text)
        (folder / name).chmod(0o755)
    return folder, {name: error for name, (_, error) in files.items()}, list(noise)


@pytest.fixture(scope="module")
def initrd(tmp_path_factory, damage):
    files = {f"bad/{path.name}": path for path in damage[0].iterdir()}
    for name in PROGRAMS + ["dash"]:
        path = shutil.which(name)
        files[f"bin/{name}"] = path
        files |= libraries(path)
    return archive(tmp_path_factory.mktemp("dynamic") / "files.cpio", files)


def test_programs(host):
    assert host.run("/bin/true") == ("", 0)
    assert host.run("/bin/false") == ("", 1)
    assert host.run("/bin/echo hello there") == ("hello there\n", 0)
    assert host.check("/bin/seq 5 | /bin/tail -n 2; echo a:b | /bin/cut -d: -f2") == "4\n5\nb\n"
    assert host.run("/bin/env -i A=1 /bin/printenv") == ("A=1\n", 0)
    assert host.run("/lib64/ld-linux-x86-64.so.2 /bin/expr 3 + 4") == ("7\n", 0)


def test_dash(host):
    output = host.run("/bin/dash -c 'for i in c a b; do echo $i; done | sort; uname -s; (exit 3); echo $?; cat /nowhere'")
    assert output == ("a\nb\nc\nLinux\n3\ncat: /nowhere: No such file or directory\n", 1)


def test_proc(host):
    """Files of a process: of the one that reads, of another, and of one that is no more."""
    maps = host.check("/bin/cat /proc/self/maps").splitlines()
    columns = [re.fullmatch(r"([0-9a-f]+)-([0-9a-f]+) [r-][w-][x-]p [0-9a-f]{8} 00:(\d\d) (\d+) +(.*)", line) for line in maps]
    assert all(columns) and [m[1] for m in columns] == sorted(m[1] for m in columns), maps
    names = {m[5] for m in columns}
    (dev, inode) = next((m[3], m[4]) for m in columns if m[5] == "/bin/cat")
    assert host.check("/bin/stat -c '%D %i' /bin/cat").split() == [dev.lstrip("0"), inode]
    assert {"/bin/cat", "[heap]", "[stack]", f"/{LOADER}"} < names and any(name.endswith("/libc.so.6") for name in names)
    assert host.check("/bin/cat /proc/self/comm") == "cat\n"
    stat = host.check("/bin/cat /proc/self/stat").split()
    assert len(stat) == 52 and stat[1:3] == ["(cat)", "R"] and int(stat[22]) > 1 << 20 and 50 < int(stat[23]) < 1000, stat
    assert "Name:\tcat\n" in host.check("/bin/cat /proc/self/status")
    strings = host.check("/bin/env -i A=1 B=2 /bin/cat /proc/self/cmdline /proc/self/environ").rstrip("\n")
    assert strings == "/bin/cat\0/proc/self/cmdline\0/proc/self/environ\0A=1\0B=2\0"
    assert host.check("cd /tmp; /bin/readlink /proc/self/exe; /bin/readlink /proc/self/cwd; cd -").split() == [
        "/bin/readlink",
        "/tmp",
        "/sys/kernel/tracing",
    ]
    assert host.check("/bin/ls -F /proc/self/fd").split()[:3] == ["0@", "1@", "2@"]
    assert host.check("/bin/echo pipe | /bin/cat /dev/stdin /dev/fd/0; /bin/readlink /dev/stdin") == "pipe\n/proc/self/fd/0\n"
    script = "sleep 5 & pid=$!; until [ x$c = xsleep ]; do read c < /proc/$pid/comm; done; ls -d /proc/$pid; tr '\\0' ' ' < /proc/$pid/cmdline; kill $pid; wait; cat /proc/$pid/stat"
    output = host.run(f'/bin/dash -c "{script}"'.replace("$", "\\$"))[0]
    assert re.fullmatch(r"(/proc/\d+)\nsleep 5 cat: \1/stat: No such file or directory\n", output), output
    assert host.run("cat /proc/self/stat")[1] == 1  # the kernel's shell is no program
    assert "cpu0 " in host.check("/bin/cat /proc/stat") and "ramfs / " in host.check("/bin/cat /proc/self/mounts")
    last = host.nr_cpus() - 1
    lists = host.check("cd /sys/devices/system/cpu; /bin/cat possible present online").splitlines()
    assert lists == 3 * [f"0-{last}" if last else "0"]


def test_damaged(host, damage):
    """Each kind of damage has its error; nothing of it stays in memory."""
    _, errors, noise = damage

    def work():
        for name, error in errors.items():
            assert host.run(f"/bad/{name}") == (f"sh: /bad/{name}: {error}\n", 126 if error != NONE else 127), name
        for i in range(0, len(noise), 20):
            host.run("; ".join(f"/bad/{name} > /dev/null 2> /dev/null" for name in noise[i : i + 20]), timeout=120)
        assert host.run("/bad/static; /bin/true") == ("hello from a program\n/bad/static\n", 0)

    leaves_nothing(host, work)


def settled_pages(host):
    """Pages in use when children that have lost their parent have ended, too."""
    used = [host.used_pages(), None]
    while used[-1] != used[-2]:
        time.sleep(0.2)
        used.append(host.used_pages())
    return used[-1]


def test_allocations_fail(host):
    """
    Programs that start, fork and map: every other allocation fails once, half of them on each guest; the program ends or says so,
    nothing is lost. A page more may be one that caches of small objects share out in another way; what is lost is lost again each time.
    """
    first = 1 if host.nr_cpus() == 1 else 3
    for command in ("/bin/true", "/bin/dash -c '(echo a | cat) > /tmp/out'"):
        used = []
        for start in (first, first + 4) * 2:
            for nth in range(start, 600, 8):
                told = host.output_of(f"failalloc {nth}; {command}; failalloc")
                host.output_of("failalloc; true")
                if "not reached" in told:
                    break
            assert nth > 20 and "not reached" in told, f"{command}: {nth}: {told}"
            assert host.run(command) == ("", 0)
            used.append(settled_pages(host))
            if len(used) > 1 and used[-1] <= used[-2]:
                break
        assert used[-1] <= used[-2], (command, used)
