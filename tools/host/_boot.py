"""A kernel of one's own: QEMU, which ends with what is done with it."""
import contextlib
import subprocess
import tempfile
import time
from pathlib import Path

from host._common import FAILED, NOT_RUNNING, Failure
from host._guest import Guest, add_channel

ROOT = Path(__file__).resolve().parents[2]
BOOT_SECONDS = 120


def add_arguments(parser):
    """Which kernel: --channel of one that runs, or --boot. The group of arguments for the latter."""
    add_channel(parser)
    group = parser.add_argument_group("a kernel of its own")
    group.add_argument("--boot", action="store_true", help="start one in QEMU, and end it afterwards")
    group.add_argument("--cpus", type=int, default=2, metavar="N", help="its CPUs (default: %(default)s)")
    group.add_argument("--mem", default="256M", metavar="SIZE", help="its memory (default: %(default)s)")
    group.add_argument("--cmdline", default="", metavar="TEXT", help="its boot parameters")
    group.add_argument("--build", type=Path, default=ROOT / "build", metavar="DIR", help="where it is built (default: build)")
    return group


def qemu_words(options, folder, serial="null"):
    """Its channel is at FOLDER/channel; `serial` is QEMU's word for the console."""
    kernel = options.build / "fathom.stripped"
    if not kernel.exists():
        raise Failure(f"there is no kernel in {options.build}: `make` builds it", FAILED)
    return [
        "setpriv",
        "--pdeathsig",
        "TERM",
        "qemu-system-x86_64",
        "-machine",
        "q35",
        "-cpu",
        "max",
        "-accel",
        "tcg,thread=multi",
        "-smp",
        str(options.cpus),
        "-m",
        options.mem,
        "-kernel",
        kernel,
        "-append",
        options.cmdline,
        "-display",
        "none",
        "-monitor",
        "none",
        "-no-reboot",
        "-net",
        "none",
        "-serial",
        serial,
        "-device",
        "virtio-serial-pci",
        "-chardev",
        f"socket,id=channel,path={folder}/channel,server=on,wait=off",
        "-device",
        "virtserialport,chardev=channel,name=fathom.9p",
    ]


def started(words, output):
    """QEMU, whose words go to `output`, as subprocess has it."""
    try:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=output)
    except FileNotFoundError as err:
        raise Failure(f"{err.filename} is not installed", FAILED) from None


def connected(process, channel, log):
    """A Guest as soon as it answers."""
    end = time.monotonic() + BOOT_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            return Guest(channel)
        except Failure:
            time.sleep(0.05)
    raise Failure(f"the kernel did not start: {log.read_text().strip() or 'it says nothing'}", NOT_RUNNING)


@contextlib.contextmanager
def booted(options):
    with tempfile.TemporaryDirectory(prefix="fathom-boot-") as folder:
        log = Path(folder) / "log"
        with open(log, "wb") as out:
            process = started(qemu_words(options, folder), out)
        try:
            yield connected(process, f"{folder}/channel", log)
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def kernel(options):
    """The Guest that the arguments ask for."""
    if options.boot:
        with booted(options) as guest:
            yield guest
        return
    with Guest(options.channel) as guest:
        yield guest
