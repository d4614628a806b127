"""A kernel of the page's own, in QEMU, with its console on a socket: `fathom view --boot`."""
import codecs
import collections
import socket
import subprocess
import tempfile
import threading
import time

from host._boot import BOOT_SECONDS, qemu_words, started
from host._common import NOT_RUNNING, Failure

PANIC = "\nPANIC: "
KEPT = 128 << 10  # bytes of the console that a page gets when it is loaded


class Machine:
    """QEMU, which ends with us. Its console is read all the time; pages are told from show_on() on."""

    def __init__(self, options):
        self.directory = tempfile.TemporaryDirectory(prefix="fathom-view-")
        console, self.channel = f"{self.directory.name}/console", f"{self.directory.name}/channel"
        words = qemu_words(options, self.directory.name, f"unix:{console},server=on,wait=on")
        self.process = started(words, subprocess.PIPE)
        self.lock, self.said, self.length, self.hub = threading.Lock(), collections.deque(), 0, None
        self.has_panicked, self.on_panic = False, lambda: None
        self.socket = self.connect(console)
        self.is_up = threading.Event()
        threading.Thread(target=self.listen, daemon=True).start()
        if not self.is_up.wait(BOOT_SECONDS):
            raise Failure(f"the kernel has not come up:\n{self.text()[-2000:]}", NOT_RUNNING)

    def connect(self, path):
        while True:
            one = socket.socket(socket.AF_UNIX)
            try:
                one.connect(path)
                return one
            except OSError:
                one.close()
            if self.process.poll() is not None:
                raise Failure(f"QEMU did not start: {self.process.stderr.read().decode().strip()}", NOT_RUNNING)
            time.sleep(0.02)

    def listen(self):
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        while data := self.receive():
            with self.lock:
                self.said.append(data)
                self.length += len(data)
                while self.length > KEPT:
                    self.length -= len(self.said.popleft())
            if not self.is_up.is_set() and "fathom# " in self.text():
                self.is_up.set()
            if not self.has_panicked and PANIC in self.text():
                self.has_panicked = True
                self.on_panic()
            if self.hub:
                self.hub.say(decode(data))
        self.is_up.set()

    def receive(self):
        try:
            return self.socket.recv(65536)
        except OSError:
            return b""

    def text(self):
        with self.lock:
            return b"".join(self.said).decode("utf-8", "replace")

    def show_on(self, hub):
        """From here on what the console says goes to the pages, after what it has said before."""
        hub.say(self.text())
        self.hub = hub

    def last_words(self):
        """Of a kernel that has ended: from its panic on, if there was one."""
        text = self.text()
        at = text.rfind(PANIC)
        return text[at + 1 :] if at >= 0 else text[-2000:]

    def type(self, text):
        try:
            self.socket.sendall(text.encode())
        except OSError:
            pass  # the page is told by the channel that the machine has ended

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.socket.close()
        self.directory.cleanup()
