"""fathom extract: what the kernel's buffers hold, as a file of this machine."""
from host import _boot, _recording

HELP = "write what the kernel has traced to a trace.dat; its buffers are empty afterwards"
EXAMPLE = "tools/fathom extract -o trace.dat && trace-cmd report trace.dat"


def add_arguments(parser):
    parser.add_argument("-s", dest="snapshot", action="store_true", help="the snapshot instead")
    parser.add_argument("-B", metavar="NAME", dest="instance", help="of this instance")
    _recording.add_file(parser)
    _boot.add_arguments(parser)


def run(options):
    _recording.extract(options)
