"""fathom extract: what the kernel's buffers hold, as a file of this machine."""
from pathlib import Path

from host import _boot, _read_dump, _recording
from host._common import USAGE, Failure

HELP = "write what the kernel has traced to a trace.dat; its buffers are empty afterwards, but not those of a memory dump"
EXAMPLE = "tools/fathom extract -o trace.dat && trace-cmd report trace.dat"


def add_arguments(parser):
    parser.add_argument("-s", dest="snapshot", action="store_true", help="the snapshot instead")
    parser.add_argument("-B", metavar="NAME", dest="instances", action="append", default=[], help="of this instance; again for more")
    parser.add_argument(
        "--core", metavar="CORE", type=Path, help="of a kernel that hangs or has died: out of what `fathom dump` has written, by gdb"
    )
    parser.add_argument(
        "--elf", metavar="FILE", type=Path, help="the kernel that CORE is of (default: fathom.elf in the folder of --build)"
    )
    _recording.add_file(parser)
    _boot.add_arguments(parser)


def run(options):
    if options.elf and not options.core:
        raise Failure("--elf is the kernel of a CORE: --core is missing", USAGE)
    if options.core:
        _read_dump.extract(options)
    else:
        _recording.extract(options)
