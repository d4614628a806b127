"""The events of a running kernel, as a Recording of _events.py. Its events are taken out of the kernel's buffer."""
from host import _maps
from host._common import Failure, making_sense
from host._events import Recording, Symbols
from host._facts import cpus_of, most_pages
from host._guest import NONBLOCK

FILES = {"enable", "filter", "header_page", "header_event"}


class Live(Recording):
    """All of it is read here; names of threads first, because reading makes threads, too."""

    def __init__(self, guest, instance=None):
        super().__init__("the kernel's trace")
        tracing = f"instances/{instance}/" if instance else ""
        if not guest.exists(f"{tracing}trace"):
            raise Failure(f"there is no instance {instance}")
        with making_sense("what the kernel says of its trace"):
            self._read(guest, tracing)

    def _read(self, guest, tracing):
        self.read_cmdlines(guest.text("saved_cmdlines"))
        self.read_header_page(guest.text(f"{tracing}events/header_page"))
        self.read_clock(guest.text(f"{tracing}trace_clock"))
        self.symbols = Symbols(guest.text("/proc/kallsyms"))
        self.pages = {cpu: self._pages(guest, f"{tracing}per_cpu/cpu{cpu}") for cpu in cpus_of(guest, tracing)}
        self.cpus = sorted(self.pages)
        self.maps = _maps.gather(guest)
        self.read_printk(guest.text("printk_formats"))
        self._formats(guest)

    def _formats(self, guest):
        for system in guest.names("events"):
            if system not in FILES:
                for name in guest.names(f"events/{system}"):
                    if name not in FILES:
                        self.read_format(system, guest.text(f"events/{system}/{name}/format"))

    def _pages(self, guest, folder):
        found, most = [], most_pages(guest, folder, self.page_bytes)
        with guest.open(f"{folder}/trace_pipe_raw", NONBLOCK) as file:
            while len(found) < most:
                try:
                    page = file.read(self.page_bytes)
                except BlockingIOError:
                    break
                if not page:
                    break
                found.append(page.ljust(self.page_bytes, b"\0"))
        return found

    def rings(self):
        return self.pages.items()
