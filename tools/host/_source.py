"""Where a command takes its trace from: a trace.dat, or the kernel that runs."""
from host._common import Failure
from host._guest import Guest, add_channel
from host._live import Live
from host._programs import programs_of
from host._read_dat import Trace


def add_arguments(parser):
    parser.add_argument(
        "source",
        metavar="trace.dat|live",
        nargs="?",
        default="trace.dat",
        help="a file (default: %(default)s), or what the running kernel has recorded: its events are taken out of its buffer",
    )
    parser.add_argument(
        "-B",
        metavar="NAME",
        dest="instance",
        help="only the events of this instance (default: all that are in the file, or in the kernel's own buffer)",
    )
    add_channel(parser)


def opened_with_programs(options):
    """A Recording that names functions of programs, with the option of _programs.py."""
    programs = programs_of(options)
    recording = opened(options)
    if programs:
        programs.maps = recording.maps
    recording.programs = programs
    return recording


def opened(options):
    """A Recording."""
    try:
        if options.source != "live":
            return Trace(options.source, options.instance)
        with Guest(options.channel) as guest:
            return Live(guest, options.instance)
    except FileNotFoundError as err:
        raise Failure(f"there is no {err.filename or options.source}") from None
