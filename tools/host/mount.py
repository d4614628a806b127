"""fathom mount: the kernel's files as a directory of this machine, by FUSE. The work is done by tools/mount."""
import os
import subprocess
from pathlib import Path

from host._common import FAILED, Failure

HELP = "show the kernel's files in a directory of this machine"
EXAMPLE = "tools/fathom mount /tmp/fathom && cat /tmp/fathom/sys/kernel/tracing/trace"
ROOT = Path(__file__).resolve().parents[2]


def add_channel_arguments(parser):
    parser.add_argument(
        "--channel", metavar="SOCKET", default="build/channel", help="the machine channel (default: %(default)s, of `make run`)"
    )
    parser.add_argument("--build", default=ROOT / "build", type=Path, help="where the tools are built (default: build)")
    parser.add_argument(
        "--patience",
        metavar="SECONDS",
        type=int,
        default=20,
        help="a kernel that answers nothing for so long is taken for silent (default: %(default)s)",
    )


def add_arguments(parser):
    parser.add_argument("dir", metavar="DIR", help="an empty directory")
    add_channel_arguments(parser)
    parser.add_argument("--tree", metavar="PATH", default="/", help="the kernel's directory to show (default: %(default)s)")
    parser.add_argument("--foreground", action="store_true", help="end when it is unmounted, or at Ctrl-C")
    parser.add_argument("--status", action="store_true", help="say which machine is shown in DIR, and whether it answers")
    parser.add_argument("--unmount", action="store_true", help="take the files away from DIR again")


def unmount(directory):
    done = subprocess.run(["fusermount3", "-u", directory], capture_output=True, text=True)
    if done.returncode:
        raise Failure(done.stderr.strip().removeprefix("fusermount3: "))


def status(directory):
    """The mount program says it of itself: the kernel is not asked."""
    try:
        print(os.getxattr(directory, "user.fathom.guest").decode(errors="replace"))
    except OSError:
        raise Failure(f"no kernel's files are mounted at {directory}") from None


def built(directory, name):
    """A program of tools/mount, which `make` does not build, because it needs libfuse3."""
    path = directory / "tools" / name
    if not path.exists():
        done = subprocess.run(["make", "-s", "-C", ROOT, f"BUILD={directory.resolve()}", "host-tools"], capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"`make host-tools` failed:\n{(done.stdout + done.stderr).strip()}")
    return path.resolve()


def start(options, directory, tree, is_foreground=False):
    """Show `tree` in `directory`. Returns once it is there, or in the foreground when it has gone again."""
    words = [built(options.build, "mount"), options.channel, tree, directory, "-p", str(max(1, options.patience))]
    if is_foreground:
        done = subprocess.run([*words, "-f"])
    else:
        # In the background it has no output of ours any more: only a pipe would be held open.
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failure((done.stderr or "").strip() or f"cannot mount at {directory}", done.returncode or FAILED)


def run(options):
    if options.unmount:
        return unmount(options.dir)
    if options.status:
        return status(options.dir)
    if not Path(options.dir).is_dir():
        raise Failure(f"there is no folder {options.dir}")
    start(options, options.dir, options.tree, options.foreground)
