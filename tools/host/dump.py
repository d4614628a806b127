"""fathom dump: the memory of the machine as an ELF core, for gdb with the commands of tools/gdb."""
import os
from pathlib import Path

from host._common import DISK_FULL, FAILED, Failure
from host._qmp import Qmp

HELP = "write the machine's memory and registers to an ELF core, which gdb opens"
EXAMPLE = "tools/fathom dump core && gdb -x tools/gdb/fathom.py build/fathom.elf core -ex 'ft trace 50'"


def add_arguments(parser):
    parser.add_argument("file", metavar="FILE", help="the core; an old one is replaced once the new one is complete")
    parser.add_argument(
        "--qmp",
        metavar="SOCKET",
        default="build/qmp",
        help="QEMU's machine protocol (default: %(default)s, of `make run`; `make debug`: build/debug/qmp)",
    )
    parser.add_argument("--stop", action="store_true", help="leave the machine stopped afterwards")


def check(path):
    """QEMU may have stopped in the middle, on a full disk for instance."""
    with open(path, "rb") as core:
        if core.read(4) != b"\x7fELF":
            raise Failure(f"QEMU wrote no ELF core to {path}")


def dump(qmp, partial):
    """The machine stands still meanwhile. QEMU walks the page tables, so that addresses are the kernel's."""
    try:
        qmp("dump-guest-memory", seconds=600, paging=True, protocol=f"file:{partial}")
    except Failure as failure:
        space = os.statvfs(partial.parent)
        if space.f_bavail * space.f_frsize < 1 << 20:
            raise Failure(f"the disk is full: {failure}", DISK_FULL) from None
        raise
    check(partial)


def run(options):
    target = Path(options.file).resolve()
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    if not target.parent.is_dir():
        raise Failure(f"there is no folder {target.parent}", FAILED)
    qmp = Qmp(options.qmp)
    was_running = qmp("query-status").get("running")
    try:
        qmp("stop")
        dump(qmp, partial)
        partial.rename(target)
    finally:
        partial.unlink(missing_ok=True)
        if was_running and not options.stop:
            qmp("cont")
        qmp.close()
    print(f"{target}: {target.stat().st_size >> 20} MiB")
