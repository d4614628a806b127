"""fathom record: trace a command in the kernel, and have the trace as a file of this machine."""
from host import _recording

HELP = "trace while a command runs in the kernel, and write a trace.dat, which trace-cmd and KernelShark read"
EXAMPLE = "tools/fathom record -p function -l '*sched*' -e sched -o trace.dat -- hackbench 2 && trace-cmd report trace.dat"


add_arguments = _recording.add_arguments


def run(options):
    _recording.record(options)
