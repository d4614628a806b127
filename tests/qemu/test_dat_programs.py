"""A recording of programs, read on the host with names of their functions."""
import json
from pathlib import Path

from datguest import Machine, report
from programs import BUSYBOX, FIXED, archive, built
from test_process_dynamic import libraries


def folder_of(root, files):
    """A copy of the files of a machine."""
    for name, path in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(Path(path).read_bytes())
    return root


def stacks(machine, root):
    """Those of x.dat, the outermost function first."""
    run = machine.fathom("flame", "--root", root, "--of", "stacks", "--speedscope", "x.json", "x.dat")
    assert run.returncode == 0, run
    scope = json.loads((machine.folder / "x.json").read_text())
    names = [frame["name"] for frame in scope["shared"]["frames"]]
    return [[names[number] for number in sample] for profile in scope["profiles"] for sample in profile["samples"]]


def test_programs_that_began_before(tmp_path):
    """A program of this machine, with its C library: it waits when the recording begins, and its calls in the library have names."""
    files = {"bin/cat": "/bin/cat", "bin/busybox": BUSYBOX, **libraries("/bin/cat")}
    machine = Machine(initrd=archive(tmp_path / "files.cpio", files))
    try:
        machine.guest.check("busybox mkfifo /tmp/pipe; /bin/cat /tmp/pipe > /tmp/out &")
        machine.guest.check("until busybox grep -qs libc.so /proc/[0-9]*/maps; do sleep 0.01; done")
        words = ["-e", "syscalls:sys_enter_write", "-O", "userstacktrace", "--file-version", "7", "-o", "x.dat"]
        run = machine.fathom("record", *words, "--", "echo 1 > /tmp/pipe; while busybox pidof cat > /dev/null; do sleep 0.01; done")
        assert run.returncode == 0, run
        found = stacks(machine, folder_of(tmp_path / "root", files))
        assert "user_stack" in report(machine.folder / "x.dat")
        assert any(stack[-1].strip("_") == "write" for stack in found), found
    finally:
        machine.close()


def test_names_of_functions(tmp_path):
    """By the files that the archive was made of; the programs have ended. One of them lies at another random place each time."""
    moved = built("frames", flags=("-static-pie", "-fpie", "-O0"))
    programs = {"bin/frames": built("frames", flags=(*FIXED, "-O0")), "bin/moved": moved, "bin/busybox": BUSYBOX}
    machine = Machine(initrd=archive(tmp_path / "files.cpio", programs))
    try:
        events = ["-e", "syscalls:sys_enter_write", "-e", "sched:sched_process_exec", "-O", "userstacktrace"]
        run = machine.fathom("record", *events, "-o", "x.dat", "--", "frames; moved; moved; cat /proc/sys/kernel/randomize_va_space")
        assert run.returncode == 0 and run.stdout.splitlines()[-1] == "2", run
        found = stacks(machine, folder_of(tmp_path / "root", programs))
    finally:
        machine.close()
    functions = ["main_program", "outer", "middle", "inner", "put", "syscall6"]
    assert sum(stack[-6:] == functions for stack in found) == 3, found
