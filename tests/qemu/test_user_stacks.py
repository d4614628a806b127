"""Stacks of programs without frame pointers, by the tables that compilers write for exceptions: static ones, and Debian's with its C library."""
import re
import struct
import subprocess
from pathlib import Path

import pytest
from guest import Guest
from programs import BUSYBOX, FIXED, archive, built
from test_process_dynamic import LOADER, libraries

CAT = Path("/bin/cat")
WRITE = "events/syscalls/sys_enter_write"
# cat has the first line, and then waits for the last one until the trace was read.
LINES = "(echo 1; until [ -e /tmp/seen ]; do busybox usleep 20000; done; echo 2)"
SEEN = "until busybox grep -q 'cat-.*user stack' trace; do busybox usleep 20000; done"
TABLES = (*FIXED, "-fomit-frame-pointer", "-fasynchronous-unwind-tables")
FUNCTIONS = ["inner", "middle", "outer", "main_program", "_start"]


@pytest.fixture(scope="module", params=["gcc", "clang"])
def tracing(request, tmp_path_factory):
    """A guest with the option userstacktrace, whose shell is in the directory of the trace."""
    files = {"bin/busybox": BUSYBOX, "bin/unframed": built("frames", request.param, TABLES), "bin/cat": CAT, LOADER: Path(f"/{LOADER}")}
    files["bin/framed"] = built("frames", request.param, (*FIXED, "-O0"))
    initrd = archive(tmp_path_factory.mktemp(f"stacks-{request.param}") / "files.cpio", files | libraries(CAT))
    with Guest(request.param, 2, initrd=initrd, mem="256M") as guest:
        guest.programs = files
        guest.check("cd /sys/kernel/tracing; echo userstacktrace > trace_options; echo sym-userobj > trace_options")
        yield guest


@pytest.fixture(autouse=True)
def from_the_start(request):
    yield
    request.getfixturevalue("tracing").check("echo 0 > events/enable; echo > trace")


def stacks(text):
    """Each stack of a trace, the innermost caller first."""
    return [re.findall(r"^ => +(\S.*?)\r?$", part, re.M) for part in text.split("<user stack trace>")[1:]]


def names(tracing, program, stack):
    """Functions by the program's own symbols, because it has ended."""
    symbols = subprocess.run(["nm", "-n", tracing.programs[program]], check=True, capture_output=True, text=True).stdout
    starts = [(int(at, 16), name) for at, _, name in (line.split() for line in symbols.splitlines())]
    return [max(start for start in starts if start[0] < int(line.strip("<>"), 16))[1] for line in stack]


@pytest.mark.parametrize("program", ["unframed", "framed"])
def test_both_kinds_of_programs(tracing, program):
    """Without frame pointers, and with them, where no table is needed."""
    listed = subprocess.run(["readelf", "-WS", tracing.programs[f"bin/{program}"]], check=True, capture_output=True, text=True).stdout
    assert program == "framed" or ".eh_frame " in listed
    text = tracing.check(f"echo 1 > {WRITE}/enable; {program}; cat trace")
    (stack,) = stacks(text)
    assert names(tracing, f"bin/{program}", stack)[-5:] == FUNCTIONS, text
    assert re.search(program + r"-\d+ +\[\d+\] \.\.\.\.\. .*<user stack trace>", text)


def test_events_of_one_stay_in_the_kernel_share_a_late_stack(tracing):
    """The first one's tables have yet to come: it stands behind the call's end. Later ones have theirs at once."""
    on = f"echo 1 > {WRITE}/enable; echo 1 > events/syscalls/sys_exit_write/enable"
    tracing.check(f"{on}; busybox sh -c '(echo 1; busybox sleep 0.3; echo 2) | /bin/cat > /dev/null'")
    text = tracing.check("grep cat- trace").replace("\r", "")
    order = re.findall(r"(sys_write\(|sys_write ->|user stack)", text)
    once = ["sys_write(", "sys_write ->", "user stack"]
    assert order in (once, [*once, "sys_write(", "user stack", "sys_write ->", "user stack"]), text


def test_programs_of_debian(tracing):
    """From the C library through the program to its first instruction."""
    script = f"rm -f /tmp/seen; {LINES} | /bin/cat > /dev/null & {SEEN}; cat trace; > /tmp/seen; wait"
    text = tracing.check(f'echo 1 > {WRITE}/enable; busybox sh -c "{script}"')
    stack = stacks(text[text.index(" cat-") :])[0]
    files = [re.match(r"\S+/([a-z]+)\S*?\[", line)[1] for line in stack]
    assert files[0] == "libc" and files[-3:] == ["libc", "libc", "cat"] and set(files[1:-3]) == {"cat"}, text
    assert re.search(r" (__)?write\+0x", stack[0]), text
    entry = struct.unpack_from("<Q", CAT.read_bytes(), 24)[0]
    offset = int(re.search(r"\[\+0x(\w+)\]", stack[-1])[1], 16)
    assert 0 < (offset - entry) % 4096 < 64, text


def test_a_program_that_ends_in_a_call(tracing):
    """Its last stack is read before its memory goes; so is that of a program that another one follows."""
    text = tracing.check("echo 1 > events/syscalls/sys_enter_exit_group/enable; unframed; cat trace").replace("\r", "")
    assert re.search(r"unframed-\d+ .*sys_exit_group\(.*\n.*unframed-\d+ .*<user stack trace>\n( => .*\n){2}", text), text
    text = tracing.check(
        "echo 0 > events/enable; > trace; echo 1 > events/syscalls/sys_enter_execve/enable; busybox env cat /dev/null; cat trace"
    )
    assert len(stacks(text)) == len(re.findall(r"sys_execve\(", text)) > 0, text
