"""A Fathom kernel in QEMU, driven over its serial console.

Guest() boots a kernel and waits for the prompt; run(command) gives what a command printed, byte exact
but for CR LF, and its exit status. QEMU runs under timeout(1): nothing here can hang for good. It ends with the process that
started it, however that ends.
"""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pexpect
from pexpect import fdpexpect
from pexpect.expect import searcher_re

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "fathom# "
PATIENCE = 5  # how much slower than an idle one a machine may be: bounds of time only end what hangs
# The same for one answer. Of a kernel with a fault in it many do not come, so whoever tries many of those waits less.
PATIENCE_ANSWER = float(os.environ.get("GUEST_PATIENCE", PATIENCE))
OVMF = "/usr/share/OVMF/OVMF_CODE_4M.fd"
BUILDS = {
    "gcc": Path(os.environ.get("FATHOM_BUILD", ROOT / "build")),
    "clang": Path(os.environ.get("FATHOM_BUILD_CLANG", ROOT / "build" / "clang")),
}


def usual_signals():
    """For a program that a test interrupts, as preexec_fn: a job in the background ignores SIGINT, and what it starts would, too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class GuestError(AssertionError):
    """The guest did something else than expected; the message ends with what it printed last."""


def iso_for(build, cmdline="", tests=False, uefi=False):
    """The ISO of a build's kernel, or of its test kernel, with a command line of its own; made once for each.
    `uefi`: one that boots there as well, which takes half as long again with BIOS."""
    kernel = build / ("fathom-test.stripped" if tests else "fathom.stripped")
    firmware = "all" if uefi else "bios"
    stamp = f"{kernel}:{kernel.stat().st_mtime_ns}:{firmware}:{cmdline}"
    name = hashlib.sha256(stamp.encode()).hexdigest()[:16]
    directory = build / "isos"
    directory.mkdir(parents=True, exist_ok=True)
    iso = directory / f"{name}.iso"
    if not iso.exists():
        fresh = directory / f"{name}.{os.getpid()}"
        subprocess.run([ROOT / "iso" / "make-iso", kernel, fresh, cmdline, "direct.cfg.in", firmware], check=True)
        fresh.rename(iso)
    return iso


class Searcher(searcher_re):
    """Looks for patterns in what is fresh, and `reach` bytes before it; in everything without a reach."""

    def __init__(self, patterns, reach):
        super().__init__(patterns)
        self.reach = reach

    def search(self, buffer, freshlen, searchwindowsize=None):
        return super().search(buffer, freshlen, None if self.reach is None else freshlen + self.reach)


class Console(fdpexpect.fdspawn):
    """The serial port of QEMU, as it prints and reads it: pipes, as QEMU writes each byte by itself, for
    which a socket takes several times as long; and a socket with 300 of them unread is full."""

    def __init__(self, process, **options):
        super().__init__(process.stdout, **options)
        self.process = process

    def send(self, data):
        return os.write(self.process.stdin.fileno(), self._coerce_send_string(data))


class Guest:
    """One boot, as `qemu -kernel` does it, or by GRUB: with `grub`, `uefi` or an `iso` of one's own, which takes three times as
    long. `initrd`: the archive of its files, see programs.py. `tests`: of the kernel that has ktest, torture, bench and failalloc. `limit` bounds the life of QEMU,
    `timeout` each wait, in seconds of an idle machine."""

    def __init__(
        self,
        build="gcc",
        cpus=1,
        mem="256M",
        machine="q35",
        cpu="max",
        uefi=False,
        cmdline="",
        tests=False,
        icount=False,
        iso=None,
        grub=False,
        com2="null",
        initrd=None,
        extra=(),
        limit=300,
        timeout=60,
        wait=True,
    ):
        self.timeout = timeout
        self.counts_instructions = icount
        self.dir = Path(tempfile.mkdtemp(prefix="fathom-guest-"))
        build = BUILDS.get(build, Path(str(build)))
        if grub or uefi or iso:
            boot = ["-cdrom", iso or iso_for(build, cmdline, tests, uefi), "-boot", "d"]
        else:
            # GRUB asks for a display; a firmware that finds none has 12 % less to do in such a short boot
            boot = ["-vga", "none", "-kernel", build / ("fathom-test.stripped" if tests else "fathom.stripped"), "-append", cmdline]
            if initrd:
                boot += ["-initrd", initrd]
        args = [
            "setpriv",
            "--pdeathsig",
            "TERM",
            "timeout",
            "-k",
            "5",
            str(limit * PATIENCE),
            os.environ.get("QEMU", "qemu-system-x86_64"),
            "-machine",
            machine,
            "-cpu",
            cpu,
            "-smp",
            str(cpus),
            "-m",
            mem,
            *boot,
            "-no-reboot",
            "-net",
            "none",
            "-display",
            "none",
            "-monitor",
            "none",
            "-device",
            "isa-debug-exit,iobase=0xf4,iosize=4",
            "-serial",
            "stdio",
            "-serial",
            com2,
        ]
        if icount:
            args += ["-accel", "tcg", "-icount", "shift=0,sleep=off"]
        else:
            args += ["-accel", "tcg,thread=multi"]
        if uefi:
            args += ["-drive", f"if=pflash,format=raw,readonly=on,file={OVMF}"]
        args += list(extra)
        self.log = open(self.dir / "qemu.log", "wb")
        self.process = subprocess.Popen([str(a) for a in args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.transcript = open(self.dir / "transcript", "wb")
        self.console = Console(self.process, timeout=timeout, maxread=65536)
        self.console.delaybeforesend = None
        self.console.delayafterread = 0.001  # s: the guest sends a few bytes at a time, and each read costs more than they do
        self.console.logfile_read = self.transcript
        self.boot_output = self.wait_prompt() if wait else ""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """End QEMU, the process that this object started and no other."""
        if self.process.poll() is None:
            self.freeze(False)
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.transcript.close()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def _tail(self):
        self.transcript.flush()
        text = (self.dir / "transcript").read_bytes()[-3000:]
        return text.decode("utf-8", "replace").replace("\r", "")

    def expect(self, pattern, timeout=None, reach=None):
        """
        Wait for a regular expression (bytes); what came before it, and the match. `reach`: it begins so many bytes at most
        before what was just read, so that long output is not searched from its beginning again and again.
        """
        seconds = (timeout or self.timeout) * PATIENCE_ANSWER
        try:
            self.console.expect_loop(Searcher(self.console.compile_pattern_list(pattern), reach), seconds)
        except pexpect.TIMEOUT:
            raise GuestError(f"no {pattern!r} within {seconds} s:\n{self._tail()}") from None
        except pexpect.EOF:
            raise GuestError(f"QEMU ended before {pattern!r}:\n{(self.dir / 'qemu.log').read_text()}{self._tail()}") from None
        return self.console.before, self.console.match

    def listen(self, seconds):
        """The output of the next seconds."""
        try:
            self.console.expect(pexpect.EOF, timeout=seconds)
        except pexpect.TIMEOUT:
            pass
        return (self.console.before or b"").decode("utf-8", "replace").replace("\r\n", "\n")

    def freeze(self, frozen):
        """With icount an idle guest jumps from timer to timer and takes a processor: it stands still while unused."""
        if self.counts_instructions:
            for child in self.children():
                os.kill(child, signal.SIGSTOP if frozen else signal.SIGCONT)

    def children(self):
        """QEMU's pid, as that of a child of timeout(1)."""
        return [int(word) for word in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]

    def processor_seconds(self):
        """The processor time that QEMU has used, which other load of this machine hardly changes."""
        words = [word for child in self.children() for word in Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[11:13]]
        return sum(map(int, words)) / os.sysconf("SC_CLK_TCK")

    def send(self, data):
        self.console.send(data)

    def wait_prompt(self, timeout=None):
        """The output up to the next prompt; a panic fails."""
        before, match = self.expect(rb"fathom# $|PANIC: [^\r]*\r\n", timeout, reach=4096)
        if match.group(0) != PROMPT.encode():
            self.listen(2)
            raise GuestError("the kernel panicked:\n" + self._tail())
        return before.decode("utf-8", "replace").replace("\r\n", "\n")

    def run(self, command, timeout=None):
        """Type a line; its output and exit status."""
        output = self.output_of(command, timeout)
        status = self.output_of("echo $?", timeout)
        return output, int(status)

    def output_of(self, command, timeout=None):
        """Type a line; what it printed."""
        self.send(command + "\r")
        self.expect(rb"\r\n", timeout)
        return self.wait_prompt(timeout)

    def check(self, command, timeout=None):
        """Type a line that must succeed; what it printed."""
        output, status = self.run(command, timeout)
        if status != 0:
            raise GuestError(f"{command!r} ended with {status}:\n{output}")
        return output

    def nr_cpus(self):
        """CPUs online, as the guest lists them."""
        return len(re.findall(r"^ +\d+ +\d+ ", self.check("cpus"), re.M))

    def used_pages(self):
        """Pages of memory in use, once caches have given back what they can."""
        return int(re.search(r"(\d+) used", self.check("free")).group(1))

    def wait_exit(self, timeout=30):
        """QEMU's exit status once it has ended by itself."""
        try:
            self.console.expect(pexpect.EOF, timeout=timeout * PATIENCE)
        except pexpect.TIMEOUT:
            raise GuestError(f"QEMU still runs:\n{self._tail()}") from None
        return self.process.wait(timeout * PATIENCE)

    def everything(self):
        """All that was read from the console so far."""
        self.transcript.flush()
        return (self.dir / "transcript").read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
