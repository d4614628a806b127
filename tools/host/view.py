"""fathom view: a page in the browser that shows what the kernel does, and switches what is traced."""
import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import webbrowser
from pathlib import Path

from host import _boot, _programs
from host._common import DIED, Failure, making_sense
from host._guest import Guest
from view.boot import Machine
from view.kernel import Kernel, Refused
from view.live import Hub, Live
from view.server import Server
from view.shell import LineShell

HELP = "show in a browser what the kernel does, live, and switch what is traced"
EXAMPLE = "tools/fathom view --boot --run 'hackbench 4 2000'"
ROOT = Path(__file__).resolve().parents[2]
VIEWS = ("now", "timeline", "flame", "histograms", "latency", "log", "shell")


def a_write(text):
    """(name of a file, what is written there) of FILE=TEXT."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form FILE=TEXT")
    return name, value


def add_arguments(parser):
    group = _boot.add_arguments(parser)
    group.set_defaults(cpus=4)
    group.add_argument("--run", metavar="COMMAND", help="type this into its shell")
    parser.add_argument(
        "--write",
        metavar="FILE=TEXT",
        dest="writes",
        action="append",
        default=[],
        type=a_write,
        help="switch something on at the beginning, as the page does it; again for more",
    )
    parser.add_argument(
        "--show", metavar="VIEW", choices=VIEWS, default="now", help=f"the page's first view: {', '.join(VIEWS)} (default: %(default)s)"
    )
    parser.add_argument(
        "-B", metavar="NAME", dest="instance", default="", help="look at this instance at first; the page can choose another one"
    )
    _programs.add_arguments(parser)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="of 127.0.0.1 (default: one that is free)")
    parser.add_argument("--no-browser", action="store_true", help="only print the page's address")


def libraries(build):
    """The folder with the page's libraries, which npm installs there once. Without them the page has no terminal and no chart."""
    done = subprocess.run(["make", "-s", "-C", ROOT, f"BUILD={build.resolve()}", "view-page"], capture_output=True, text=True)
    if done.returncode:
        print(
            f"The page will lack its terminal and its chart: `make view-page` failed:\n{(done.stdout + done.stderr).strip()}",
            file=sys.stderr,
        )
    return build.resolve() / "view" / "node_modules"


@contextlib.contextmanager
def shown(address, folder):
    """
    The page in a browser. Every user of this machine can see with which words a browser is started, so the address with its
    token is not among them: it stands in a file that only this user can read, and which leads there.
    """
    # Without a display there may be browsers of the terminal, which would take it.
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", prefix="open-", suffix=".html", dir=folder) as file:  # of mode 600
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Fathom</a>\n')
        file.flush()
        webbrowser.open(Path(file.name).resolve().as_uri())
        yield


def write_all(live, writes):
    for name, text in writes:
        try:
            error = live.write(name, text, append=False)["error"]
        except Refused as err:
            error = str(err)
        if error:
            raise Failure(f"--write {name}={text}: {error}")


def until_ctrl_c(live):
    live.dead.wait()
    # The page that says what has happened can still be read.
    print("The kernel has ended; the page shows what is known until Ctrl-C.", file=sys.stderr, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()


def serve(options, guest, machine):
    hub = Hub()
    with making_sense("what the kernel says"):
        live = Live(Kernel(guest, bool(machine)), hub, machine.last_words if machine else lambda: "", _programs.programs_of(options))
    if options.instance:
        try:
            live.choose(options.instance)
        except Refused as err:
            raise Failure(str(err)) from None
    if machine:
        machine.show_on(hub)
        machine.on_panic = lambda: live.die_soon("it has panicked")
    terminal = machine or LineShell(guest, hub.say)
    with Server(options.port, live, terminal, libraries(options.build)) as server:
        server.start()
        live.start()
        with making_sense("what the kernel says"):
            write_all(live, options.writes)
        address = server.address + (f"#{options.show}" if options.show != "now" else "")
        print(f"{address}\nCtrl-C ends it.", flush=True)
        if machine and options.run:
            machine.type(options.run + "\r")
        with contextlib.nullcontext() if options.no_browser else shown(address, options.build / "view"):
            until_ctrl_c(live)
    if live.dead.is_set():
        raise Failure(f"the kernel had ended: {live.why}", DIED)


def run(options):
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(143))  # so that what is temporary is removed
    machine = Machine(options) if options.boot else None
    try:
        with Guest(machine.channel if machine else options.channel) as guest:
            serve(options, guest, machine)
    finally:
        if machine:
            machine.close()
