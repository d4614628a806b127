"""fathom usdt: the markers that a program has for tracing (USDT, <sys/sdt.h>), as lines for uprobe_events.

Places of one marker are one event. Arguments whose types differ from place to place make events of their own: NAME_2 and so on.
"""
import fnmatch
import os
import re
from pathlib import Path

from host import _guest, _sdt
from host._common import NOTHING, Failure, making_sense

HELP = "list the markers of a program (USDT), as events for uprobe_events"
EXAMPLE = "tools/fathom usdt --path /usr/bin/python3.11 rootfs/usr/bin/python3.11 'python:function__*'"


def add_arguments(parser):
    parser.add_argument("file", metavar="FILE", help="a program or a library")
    parser.add_argument("marker", metavar="PROVIDER:NAME", nargs="*", help="only these; * and ? stand for any letters")
    parser.add_argument("--path", help="where the traced machine has the file (default: where this one has it)")
    parser.add_argument("--list", action="store_true", help="list the markers as they are: name, place, semaphore, arguments")
    parser.add_argument("--define", action="store_true", help="add the lines to uprobe_events of the running kernel")
    _guest.add_channel(parser)


def wanted(marker, patterns):
    return not patterns or any(fnmatch.fnmatchcase(f"{marker.provider}:{marker.name}", pattern) for pattern in patterns)


def listed(marker):
    words = [f"{marker.provider}:{marker.name}", f"{marker.offset:#x}"]
    words += [f"semaphore={marker.semaphore:#x}"] if marker.semaphore else []
    return " ".join(words + marker.arguments)


def identifier(word):
    """A name that an event may have."""
    return re.sub(r"^(?=\d)|\W", "_", word, flags=re.ASCII)


def arguments(marker, symbols):
    """Those that a probe can have, and sentences about the others."""
    words, left = [], []
    for number, word in enumerate(marker.arguments, 1):
        try:
            words.append(f"arg{number}={_sdt.translated(marker, symbols, word)}")
        except _sdt.Untranslated as why:
            left.append(f"arg{number}, {word}: {why}")
    return words, left


def definitions(markers, symbols, path):
    """Lines, each a marker's; what is left out stands behind a #, which the kernel ignores."""
    shapes, lines = {}, []
    for marker in markers:
        words, left = arguments(marker, symbols)
        shape = tuple(re.sub(r"=.*:", ":", word) for word in words)
        known = shapes.setdefault((marker.provider, marker.name), [])
        if shape not in known:
            known.append(shape)
        number = known.index(shape) + 1
        name = f"{identifier(marker.provider)}/{identifier(marker.name)}" + (f"_{number}" if number > 1 else "")
        place = f"{path}:{marker.offset:#x}" + (f"({marker.semaphore:#x})" if marker.semaphore else "")
        lines.append(" ".join([f"p:{name}", place, *words, *([f"# without {'; '.join(left)}"] if left else [])]))
    return lines


def run(options):
    try:
        data = Path(options.file).read_bytes()
    except OSError as err:
        raise Failure(f"{options.file}: {err.strerror}") from None
    with making_sense(options.file):
        elf = _sdt.Elf(data)
        found = [one for one in _sdt.markers(elf) if wanted(one, options.marker)]
        symbols = elf.symbols()
    if not found:
        raise Failure(f"{options.file} has no markers" + (" of such a name" if options.marker else ""), NOTHING)
    lines = [listed(one) for one in found] if options.list else definitions(found, symbols, options.path or os.path.abspath(options.file))
    if options.define and not options.list:
        with _guest.Guest(options.channel) as guest:
            guest.write("uprobe_events", "".join(line + "\n" for line in lines), append=True)
    print("\n".join(lines))
