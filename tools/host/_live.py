"""What a running kernel has recorded, as a Recording of _events.py. Its events are taken out of the kernel's buffer."""
from host._common import Failure
from host._events import Recording, Symbols
from host._guest import NONBLOCK

FILES = {"enable", "filter", "header_page", "header_event"}


class Live(Recording):
    """All of it is read here; names of threads first, because reading makes threads, too."""

    def __init__(self, guest, instance=None):
        super().__init__("the kernel's trace")
        tracing = f"instances/{instance}/" if instance else ""
        if not guest.exists(f"{tracing}trace"):
            raise Failure(f"there is no instance {instance}")
        self.read_cmdlines(guest.text("saved_cmdlines"))
        self.read_header_page(guest.text(f"{tracing}events/header_page"))
        self.read_clock(guest.text(f"{tracing}trace_clock"))
        self.symbols = Symbols(guest.text("/proc/kallsyms"))
        self.pages = {int(name[3:]): self._pages(guest, f"{tracing}per_cpu/{name}/trace_pipe_raw") for name in guest.names("per_cpu")}
        self.cpus = sorted(self.pages)
        self.read_printk(guest.text("printk_formats"))
        self._formats(guest)

    def _formats(self, guest):
        for system in guest.names("events"):
            if system not in FILES:
                for name in guest.names(f"events/{system}"):
                    if name not in FILES:
                        self.read_format(system, guest.text(f"events/{system}/{name}/format"))

    def _pages(self, guest, path):
        found = []
        with guest.open(path, NONBLOCK) as file:
            while True:
                try:
                    page = file.read(self.page_bytes)
                except BlockingIOError:
                    return found
                if not page:
                    return found
                found.append(page.ljust(self.page_bytes, b"\0"))

    def rings(self):
        return self.pages.items()
