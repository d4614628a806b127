"""fathom shell: this machine's programs with the kernel's files where they look for those of their own kernel."""
import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

from host import mount
from host._common import Failure

HELP = "run this machine's tracing tools on the kernel"
EXAMPLE = "tools/fathom shell trace-cmd record -e sched sleep 1"

# A mount namespace of the program's own. $1: the kernel's files; $2: an empty directory; $3: a library to preload; the rest: the program.
#
# Files of /proc/sys/kernel that this machine does not have cannot be bound there. So another directory takes its place: links to this
# machine's, files of the kernel's. Programs of perf take no place that is no tracefs, unless $TRACEFS_PATH names it.
ENTER = """set -e
files=$1 settings=$2 library=$3
shift 3
mount --bind "$files/sys/kernel/tracing" /sys/kernel/tracing
mount --bind "$files/sys/kernel/debug" /sys/kernel/debug
mount --bind "$files/proc/kallsyms" /proc/kallsyms
mount -t tmpfs none "$settings"
mkdir "$settings/.host"
mount --rbind /proc/sys/kernel "$settings/.host"
for file in "$settings"/.host/*; do ln -s ".host/${file##*/}" "$settings/${file##*/}"; done
for file in "$files"/proc/sys/kernel/*; do
	own=$settings/${file##*/}
	rm -f "$own"
	: > "$own"
	mount --bind "$file" "$own"
done
mount --rbind "$settings" /proc/sys/kernel
export TRACEFS_PATH=/sys/kernel/tracing LD_PRELOAD=$library${LD_PRELOAD:+:$LD_PRELOAD}
exec "$@"
"""


def add_arguments(parser):
    mount.add_channel_arguments(parser)
    parser.add_argument("--dir", metavar="DIR", help="where `fathom mount` shows the kernel's files already (default: a mount of its own)")
    parser.add_argument(
        "program", metavar="COMMAND", nargs="...", help="a program and its words (default: your shell, in /sys/kernel/tracing)"
    )


def enter(files, options):
    """Run the program; its exit code."""
    program, directory = options.program, None
    if not program:
        program, directory = [os.environ.get("SHELL", "/bin/sh")], "/sys/kernel/tracing"
    # A user who is not root becomes root in a user namespace, where files may be bound.
    unshare = ["unshare", "-m"] + ["-r"] * (os.geteuid() != 0)
    cd = f"cd {directory}\n" if directory else ""
    with tempfile.TemporaryDirectory(prefix="fathom-shell-") as settings:
        script = ENTER.replace("exec ", cd + "exec ")
        words = [*unshare, "sh", "-c", script, "fathom shell", files, settings, mount.built(options.build, "splice.so"), *program]
        with subprocess.Popen(words) as child:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program
            return child.wait()


def run(options):
    if options.dir:
        code = enter(Path(options.dir).resolve(), options)
    else:
        with tempfile.TemporaryDirectory(prefix="fathom-files-") as files:
            mount.start(options, files, "/")
            try:
                code = enter(files, options)
            finally:
                subprocess.run(["fusermount3", "-u", "-z", files], stderr=subprocess.DEVNULL)
    if code:
        raise Failure(f"{shlex.join(options.program) or 'the shell'} ended with {code}", code if code > 0 else 128 - code)
