"""fathom stream: as record, but what is traced is taken all the time: it may be more than the kernel's buffers hold."""
from host import _recording

HELP = "trace into a trace.dat of any length: events are taken out of the kernel while they come"
EXAMPLE = "tools/fathom stream -e sched -b 4096 -o trace.dat -- stress 60"


add_arguments = _recording.add_arguments


def run(options):
    _recording.stream(options)
