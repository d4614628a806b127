"""A guest with gdb on QEMU's stub, in batch mode, with the kernel's commands."""
import re
import subprocess
import tempfile
import time
from pathlib import Path

from guest import BUILDS, PATIENCE, ROOT, Guest

ELF = BUILDS["gcc"] / "fathom.elf"
GDB = ["timeout", "-k", "5", str(120 * PATIENCE), "gdb", "-q", "-nx", "-batch"]


class Gdb:
    """gdb in batch mode on a guest's stub: the guest runs on when the script ends (detach)."""

    def __init__(self, extra=(), elf=ELF, **options):
        self.elf = elf
        self.dir = tempfile.TemporaryDirectory(prefix="fathom-gdb-")
        self.socket = f"{self.dir.name}/gdb"
        self.guest = Guest(extra=["-gdb", f"unix:{self.socket},server=on,wait=off", *extra], **options)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.guest.close()
        self.dir.cleanup()

    def start(self, script, ready="Continuing"):
        """Start gdb with `script`; returns once it has printed `ready`."""
        path = Path(self.dir.name) / "script"
        path.write_text(
            f"set pagination off\nset confirm off\nset width 0\n"
            f"source {ROOT}/tools/gdb/fathom.py\n"
            f"target remote {self.socket}\n{script}\n"
        )
        self.out = Path(self.dir.name) / "out"
        self.process = subprocess.Popen(
            [*GDB, "-x", path, self.elf], stdin=subprocess.DEVNULL, stdout=self.out.open("wb"), stderr=subprocess.STDOUT
        )
        deadline = time.monotonic() + 60 * PATIENCE
        while ready not in self.out.read_text():
            assert self.process.poll() is None and time.monotonic() < deadline, self.out.read_text()
            time.sleep(0.1)

    def ask(self, script):
        """The output of a script that does not let the guest run."""
        self.start(f"echo ASKED\\n\n{script}\necho TOLD\\n\ndetach", "")
        return self.finish().split("ASKED\n", 1)[1].split("TOLD\n", 1)[0]

    def finish(self):
        """The output of gdb, once the script is through."""
        status = self.process.wait(120 * PATIENCE)
        text = self.out.read_text()
        assert status == 0, text
        assert "Error in sourced command file" not in text, text
        return text


def frames(text, mark):
    """Function names of the backtrace between `mark` and the next line that starts with END."""
    block = text.split(mark, 1)[1].split("END", 1)[0]
    return [re.sub(r"\+.*", "", m.group(1)) for m in re.finditer(r"^#\d+\s+(?:0x[0-9a-f]+ in )?([^\s(]+)", block, re.MULTILINE)]


def in_order(names, wanted):
    """True when `wanted` occurs in `names` in that order, perhaps with others between."""
    rest = iter(names)
    return all(any(name == want for name in rest) for want in wanted)
