"""fathom stream: as record, but what is traced is taken all the time: it may be more than the kernel's buffers hold."""
from host import _boot, _recording, _settings

HELP = "trace into a trace.dat of any length: events are taken out of the kernel while they come"
EXAMPLE = "tools/fathom stream -e sched -b 4096 -o trace.dat -- stress 60"


def add_arguments(parser):
    _settings.add_arguments(parser)
    _recording.add_file(parser)
    _boot.add_arguments(parser)
    _recording.add_command(parser)


def run(options):
    _recording.stream(options)
