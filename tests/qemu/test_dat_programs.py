"""A recording of programs, read on the host with names of their functions."""
import json

from datguest import Machine
from programs import BUSYBOX, FIXED, archive, built


def test_names_of_functions(tmp_path):
    """By the files that the archive was made of; the programs have ended. One of them lies at another random place each time."""
    moved = built("frames", flags=("-static-pie", "-fpie", "-O0"))
    programs = {"bin/frames": built("frames", flags=(*FIXED, "-O0")), "bin/moved": moved, "bin/busybox": BUSYBOX}
    for name, path in programs.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(path.read_bytes())
    machine = Machine(initrd=archive(tmp_path / "files.cpio", programs))
    try:
        events = ["-e", "syscalls:sys_enter_write", "-e", "sched:sched_process_exec", "-O", "userstacktrace"]
        run = machine.fathom("record", *events, "-o", "x.dat", "--", "frames; moved; moved; cat /proc/sys/kernel/randomize_va_space")
        assert run.returncode == 0 and run.stdout.splitlines()[-1] == "2", run
        run = machine.fathom("flame", "--root", tmp_path, "--of", "stacks", "--speedscope", "x.json", "x.dat")
        assert run.returncode == 0, run
        scope = json.loads((machine.folder / "x.json").read_text())
    finally:
        machine.close()
    names = [frame["name"] for frame in scope["shared"]["frames"]]
    stacks = [[names[number] for number in sample] for profile in scope["profiles"] for sample in profile["samples"]]
    functions = ["main_program", "outer", "middle", "inner", "put", "syscall6"]
    assert sum(stack[-6:] == functions for stack in stacks) == 3, stacks
