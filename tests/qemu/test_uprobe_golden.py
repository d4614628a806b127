"""Probes of programs: commands that were typed to Linux 6.1 (tests/golden, uprobe-*), typed here to the same shell."""
import re
import sys
from pathlib import Path

import pytest
from guest import Guest
from programs import BUSYBOX, archive

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))
from mask import sample  # noqa: E402

CAPTURE = GOLDEN / "linux-6.1" / "capture"
SECTIONS = dict(re.findall(r"^== (\S+)\n(.*?)(?=^== |\Z)", (CAPTURE / "session-uprobes").read_text(), re.M | re.S))
# Bytes of busybox at the places that the commands name.
CODE = {0xEBF0: bytes.fromhex("31ed4989d15e4889e2"), 0x62140: bytes.fromhex("b8660000000f05c3")}
EINVAL = "sh: write error: Invalid argument\n"
FORM = "Command must be of the form: LETTER[:[GROUP/]NAME] PLACE [ARGUMENT]..."
PLACE = "Place must be of the form: PATH:OFFSET or PATH:SYMBOL[+OFFSET]"
KIND = "There are no events of this kind"
NUMBER = "Maxactive is only for function exit"
REMOVAL = "Removal must be of the form: -:[system/]name"
USED = "Given group/event name is already used by another event"
BTF = "BTF is not available or not supported"
BEHIND = "Failed to register probe event: the file ends before it"
NONE, NOT_SO = "There is no such event", "There is no such event at that place, with these arguments"
BUSY = "uprobes/one is in use: it is on or has triggers in some instance, or another event needs it, or something of it is open"
SILENT = "Linux refuses it without a word"
LETTER = "Linux does not look at what is behind the letter"
MARK = "ours marks the word that is wrong, Linux another one"
# Differences: our answer to the line, if it is another one; our words, and how far into the line they point; the reason.
DIFFERENT = {
    "p": (None, FORM, 1, SILENT),
    "r": (None, FORM, 1, SILENT),
    "p:": (None, "Event name is not specified", 2, SILENT),
    "p:one": (None, FORM, 5, SILENT),
    "px /bin/busybox:0xebf0": (EINVAL, KIND, 0, LETTER),
    "p100 /bin/busybox:0xebf0": (EINVAL, NUMBER, 1, LETTER),
    "r100 /bin/busybox:0xebf0": (EINVAL, NUMBER, 1, LETTER),
    "r0 /bin/busybox:0xebf0": (EINVAL, NUMBER, 1, LETTER),
    "p /bin/busybox": (None, PLACE, 2, SILENT),
    "p /bin/busybox:": (None, PLACE, 2, SILENT),
    "p busybox:0xebf0": (
        "sh: write error: No such file or directory\n",
        "Failed to find the given file",
        2,
        "Linux wants a slash in the path",
    ),
    "p :100": (None, PLACE, 2, SILENT),
    "p /bin/busybox:-1": (None, "Invalid uprobe offset", 15, SILENT),
    "p /bin/busybox:x": ("sh: write error: No data available\n", "The file has no symbols: write an offset", 15, "ours has symbols"),
    "p /bin/busybox:0x10000000": (EINVAL, BEHIND, 2, "Linux looks when the event is switched on"),
    "p /bin/busybox:0xffffffffffffffff": (EINVAL, BEHIND, 2, "Linux looks when the event is switched on"),
    "p /bin/busybox:0x1ffffffffffffffff": (EINVAL, "Invalid uprobe offset", 15, "a number that is too big is a wrong one"),
    "p /bin/busybox:(10)": (None, "Invalid uprobe offset", 15, SILENT),
    "p /bin/busybox:0x62140%return(0x1db000)": (
        None,
        "Reference counter is not that of another probe at this place",
        2,
        SILENT,
    ),
    "p:enable /bin/busybox:0xebf0": (
        "sh: write error: File exists\n",
        USED,
        2,
        "its directory would be in the way of a file",
    ),
    "p:sched/sched_switch /bin/busybox:0xebf0": (None, USED, 8, MARK),
    "p:there /bin/busybox:0xec478": (None, "Argument type or name is different from existing probe", 28, MARK),
    "p /bin/busybox:0xebf0 @": (None, "Invalid memory address", 22, "there is no symbol"),
    "p /bin/busybox:0xebf0 a": (None, BTF, 22, "the words of newer kernels"),
    "p /bin/busybox:0xebf0 a=foo": (None, BTF, 24, "the words of newer kernels"),
    "p /bin/busybox:0xebf0 $comm:u8": (
        None,
        "$comm and immediate-string only accepts string type",
        28,
        "the words of newer kernels",
    ),
    "p /bin/busybox:0xebf0 %ip:symbol": (EINVAL, "Unknown type is specified", 26, "as newer kernels"),
    "p /bin/busybox:0xebf0 %ip:symstr": (EINVAL, "Unknown type is specified", 26, "as newer kernels"),
    "x /bin/busybox:0xebf0": (None, KIND, 0, SILENT),
    "/bin/busybox:0xebf0": (None, KIND, 0, SILENT),
    "-:one": (None, BUSY, 2, SILENT),
    "-:uprobes/one": (None, BUSY, 2, SILENT),
    "-:nothing": (None, NONE, 2, SILENT),
    "-:my/one": (None, NONE, 2, SILENT),
    "-:my/three /bin/busybox:0xebf0": (None, NOT_SO, 2, SILENT),
    "-:my/three /bin/busybox:0x62140 arg1=%di": (None, NOT_SO, 2, SILENT),
    "-:four /bin/busybox:0x00000000000ebf0": (None, NOT_SO, 2, SILENT),
    "-:four /bin/busybox:0xec478 arg1=%di": (None, NOT_SO, 2, SILENT),
    "-": (None, REMOVAL, 0, SILENT),
    "-:": (None, REMOVAL, 0, SILENT),
    "-one": (None, REMOVAL, 0, SILENT),
}
# Types of newer kernels, and lines of `ls`, as ours writes them.
NEWER = {
    "%Lu": "%llu",
    "%Ld": "%lld",
    "%Lx": "%llx",
    "u8 arg1[];": "u8 arg1[4];",
    "u32 words[];": "u32 words[2];",
    "s16 s[];": "s16 s;",
    "s={%d}": "s={%hd}",
    "e=%d f=%d": "e=%hhd f=%hd",
    "char[][2] name;": "char[] name[2];",
}


@pytest.fixture(scope="module", params=[("gcc", 1, "qemu64"), ("clang", 2, "max")], ids=lambda p: "-".join(map(str, p)))
def host(request, tmp_path_factory):
    build, cpus, cpu = request.param
    program = BUSYBOX.read_bytes()
    if any(program[at : at + len(code)] != code for at, code in CODE.items()):
        pytest.skip("the samples were made with another version of busybox")
    out = tmp_path_factory.mktemp("golden")
    files = {"bin/busybox": BUSYBOX, "prelude": CAPTURE / "prelude"}
    for name, text in SECTIONS.items():
        files[name] = out / name
        files[name].write_text(f". /prelude\n{text}")
    with Guest(build, cpus, cpu=cpu, initrd=archive(out / "cpio", files)) as guest:
        guest.check("busybox ln -s busybox /bin/sh")
        yield guest


def masked(answer):
    """Without the facts of a machine: times, numbers of events, the name of the script."""
    answer = re.sub(r"^\[ *\d+\.\d+\] ", "[] ", answer, flags=re.M)
    answer = re.sub(r"^ID: \d+$", "ID: N", answer, flags=re.M)
    return re.sub(r"^/[\w.-]+: eval: line", "sh: eval: line", answer, flags=re.M)


def commands(text):
    parts = re.split(r"^\$ (.*)\n", text, flags=re.M)[1:]
    return list(zip(parts[::2], map(masked, parts[1::2])))


def replayed(host, name):
    """Commands and answers, ours beside Linux's."""
    said = host.check(f"busybox sh /{name} 2>&1", timeout=120).replace("\r", "")
    ours, theirs = commands(said), commands(sample(name))
    assert [command for command, _ in ours] == [command for command, _ in theirs] and len(ours) > 5
    return [(command, answer, expected) for (command, answer), (_, expected) in zip(ours, theirs)]


def differences(rows):
    """Of commands that write a line, and of error_log behind them."""
    different, line = [], None
    for command, ours, linux in rows:
        typed = re.fullmatch(r"echo '(.*)' >+ \w+", command)
        line = typed[1] if typed else line
        answer, why, at, _ = DIFFERENT.get(line, (None, None, None, None))
        if typed:
            linux = linux if answer is None else answer
        elif command == "cat error_log" and line in DIFFERENT:
            where = "trace_uprobe" if line[0] in "pr" and why != KIND else "uprobe_events"
            linux = f"[] {where}: error: {why}\n  Command: {line}\n{' ' * (11 + at)}^\n" if why else ""
        if ours != linux:
            different.append((command, ours, linux))
    return different


@pytest.mark.parametrize("name", ["uprobe-remove", "uprobe-errors", "uprobe-profile"])
def test_lines_that_are_refused(host, name):
    assert differences(replayed(host, name)) == []


def test_each_difference_is_met():
    typed = {line for name in SECTIONS for command, _ in commands(sample(name)) for line in re.findall(r"^echo '(.*)' >", command)}
    assert set(DIFFERENT) - typed == set()


def test_lines_that_are_listed(host):
    assert differences(replayed(host, "uprobe-lines")) == []


def test_formats(host):
    for command, ours, linux in replayed(host, "uprobe-formats"):
        for theirs, newer in NEWER.items():
            linux = linux.replace(theirs, newer)
        if command.startswith("ls "):
            assert set(linux.split()) <= set(ours.split())
        elif "trigger" in command:
            assert ours.splitlines()[:3] == linux.splitlines()[:3]
        else:
            assert ours == linux, command


def shown(text):
    """The events of a trace, each without its task and time."""
    return sorted(re.findall(r"^ .*busybox-\d+ .* [\d.]+: (\w+: \(.*)$", text.replace("\r", ""), re.M))


def test_traces(host):
    """Addresses and all: the program is the same. Linux cannot read the text that is in the definition itself."""
    said = host.check("busybox sh /uprobe-trace 2>&1", timeout=120)
    linux = [line.replace("h=(fault)", 'h="text"') for line in shown(sample("uprobe-trace"))]
    assert shown(said) == linux and len(linux) == 9 + 3 * 2
