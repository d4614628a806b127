"""A machine for the self-tests whose files are mounted: they run on this machine, on the files of a guest (see `inside`)."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import HERE, found

sys.path.insert(0, str(HERE.parents[1] / "qemu"))

from channelguest import port_at  # noqa: E402
from guest import BUILDS, PATIENCE, ROOT, Guest  # noqa: E402
from programs import BUSYBOX, archive  # noqa: E402

SECONDS = 120 * PATIENCE  # that a test may take
# The load of the kernel meanwhile: programs begin and end, wake and wait for each other, on all CPUs. The first loop is for pids of
# some digits: tests look for a pid anywhere in a line's number. `$$` is the pid that the tests take for their own.
LOAD = (
    "for i in $(seq 1500); do (true); done; /bin/sh -c '"
    "echo $$ > /tmp/self; while true; do busybox true > /dev/null; (:); echo 0 | cat > /dev/null; usleep 1000; done' > /dev/null"
)


class Mounted:
    """A guest whose files are mounted, and that is not idle."""

    def __init__(self, tests):
        self.tests = tests
        self.dir = tempfile.TemporaryDirectory(prefix="fathom-selftests-", ignore_cleanup_errors=True)
        self.files, channel = Path(self.dir.name) / "files", Path(self.dir.name) / "channel"
        self.files.mkdir()
        programs = archive(Path(self.dir.name) / "programs.cpio", dict.fromkeys(("bin/sh", "bin/busybox", "bin/ping"), BUSYBOX))
        self.guest = Guest("gcc", 2, extra=port_at(channel), initrd=programs, limit=3600)
        subprocess.run([ROOT / "tools/fathom", "mount", "--build", BUILDS["gcc"], self.files, "--channel", channel], check=True)
        self.load = open(self.files / "dev/shell", "r+b", buffering=0)
        self.load.write(LOAD.encode())
        while not (self.files / "tmp/self").exists() or not (self.files / "tmp/self").read_text():
            time.sleep(0.1)
        self.pid = (self.files / "tmp/self").read_text().strip()

    def close(self):
        self.guest.process.terminate()  # requests of the mount that still wait end with it
        self.guest.process.wait(10 * PATIENCE)
        self.load.close()
        subprocess.run([ROOT / "tools/fathom", "mount", "--unmount", self.files], stderr=subprocess.DEVNULL)
        self.guest.close()
        self.dir.cleanup()

    def run(self, case, logs):
        """{False or True, for the run in an instance: result} of one .tc file."""
        shutil.rmtree(logs, ignore_errors=True)
        words = ["unshare", "-m", "-p", "-f", "--kill-child", HERE / "inside", self.files, HERE, self.tests, case, logs]
        process = subprocess.Popen(
            words,
            env={**os.environ, "GUEST_PID": self.pid},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            said = process.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
        logs.mkdir(parents=True, exist_ok=True)
        (logs / "said").write_text(said)
        return found(said)
