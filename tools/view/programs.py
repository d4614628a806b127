"""Functions of programs in stacks of a running kernel: where files of a process lie is asked when one of its addresses comes."""
import time

from host import _maps

AGAIN = 1  # seconds until a process is asked once more about an address in no file that was known


class Programs:
    """files: a host._programs.Programs."""

    def __init__(self, guest, files):
        self.guest, self.files = guest, files
        self.known = {}  # {process: (when it was asked, its Maps or None)}

    def _asked(self, process):
        try:
            maps = _maps.parsed(self.guest.text(f"/proc/{process}/maps"))
        except OSError:
            maps = self.known.get(process, (0, None))[1]  # it has ended
        self.known[process] = time.monotonic(), maps
        return maps

    def name(self, process, address):
        """None: there is no name."""
        when, maps = self.known.get(process, (None, None))
        is_old = when is None or time.monotonic() - when > AGAIN
        if is_old and not (maps and maps.find(address)[1]):
            maps = self._asked(process)
        return self.files.function(maps, address) if maps else None
