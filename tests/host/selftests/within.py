"""A machine for the self-tests that run inside of the guest: by dash and Debian's programs, or by busybox alone.

The folder of the tests is /selftests there, unchanged. Compiled programs are `ping` (see its source), and `poll` of newer versions.
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from results import HERE, found

sys.path.insert(0, str(HERE.parents[1] / "qemu"))

from guest import BUILDS, ROOT, Guest, GuestError  # noqa: E402

PACKAGES = "dash coreutils debianutils diffutils findutils grep sed gawk procps util-linux mount".split()
BUSYBOX = Path("/bin/busybox")
SECONDS = 120  # that a test may take on an idle machine
ETC = {"passwd": "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/:/bin/sh\n", "group": "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n"}


def debian(out):
    """A file tree of packages, in the archive `out`; the directory of the tree."""
    cache = out.parent / "rootfs"
    made = subprocess.run([ROOT / "tools/rootfs", "-o", out, "-c", cache, *PACKAGES], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return cache / "tree"


def only_busybox(tree):
    """A file tree in which each program is busybox."""
    (tree / "bin").mkdir()
    (tree / "etc").mkdir()
    shutil.copy(BUSYBOX, tree / "bin/busybox")
    listed = subprocess.run([BUSYBOX, "--list"], check=True, capture_output=True, text=True).stdout.split()
    for name in set(listed) - {"busybox"}:
        (tree / "bin" / name).symlink_to("busybox")
    for name, text in ETC.items():
        (tree / "etc" / name).write_text(text)
    return tree


def compiled(tests, to):
    """Programs for the guest whose sources lie among the tests, and ours."""
    for source in sorted([*tests.rglob("*.c"), HERE / "ping.c"]):
        subprocess.run(["gcc", "-O2", "-static", "-o", to / source.stem, source], check=True)


def archive_of(shell, tests, out):
    """Write the archive of a guest in which `shell` is /bin/sh, with the tests. What is added comes before what packages have."""
    with tempfile.TemporaryDirectory(dir=out.parent) as work:
        added = Path(work)
        tree = debian(out.with_name("dash.cpio")) if shell == "dash" else only_busybox(added)
        (added / "usr/bin").mkdir(parents=True)
        compiled(tests, added / "usr/bin")
        shutil.copytree(tests, added / "selftests")
        subprocess.run([ROOT / "tools/initramfs", out, *dict.fromkeys([tree, added])], check=True)
    return out


class Within:
    """A guest with a shell and the tests."""

    def __init__(self, shell, tests):
        self.tests = tests
        out = BUILDS["gcc"] / "host" / f"selftests-{shell}.cpio"
        self.guest = Guest("gcc", 2, mem="1G", initrd=archive_of(shell, tests, out), limit=7200)

    def close(self):
        self.guest.close()

    def run(self, case, logs):
        """{False or True, for the run in an instance: result} of one .tc file; None when it does not end."""
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        name = case.relative_to(self.tests)
        try:
            said = self.guest.run(f"/bin/sh -c 'cd /selftests; ./ftracetest -k -l /tmp/logs {name}'", SECONDS)[0]
            (logs / "said").write_text(said)
            (logs / "log").write_text(self.guest.run("/bin/sh -c 'cat /tmp/logs/*.tc-log*; rm -rf /tmp/logs'", SECONDS)[0])
        except GuestError as error:
            (logs / "said").write_text(str(error))
            return None
        return found(said)
