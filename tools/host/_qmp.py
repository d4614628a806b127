"""QEMU's machine protocol: JSON lines over a Unix socket, `-qmp unix:PATH,server=on,wait=off`."""
import json
import socket

from host._common import BUSY, DIED, NOT_RUNNING, Failure


class Qmp:
    """One connection. QEMU serves one at a time and lets others wait."""

    def __init__(self, path, seconds=10):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds)
        try:
            self.socket.connect(str(path))
        except OSError as err:
            raise Failure(f"no QEMU listens at {path} ({err.strerror}); is the kernel running?", NOT_RUNNING) from None
        self.stream = self.socket.makefile("rwb")
        try:
            self._line()
        except TimeoutError:
            raise Failure(f"QEMU does not answer at {path}: somebody else is connected", BUSY) from None
        self("qmp_capabilities")

    def _line(self):
        line = self.stream.readline()
        if not line:
            raise Failure("QEMU has ended", DIED)
        try:
            return json.loads(line)
        except ValueError:
            raise Failure(f"not QEMU's machine protocol: {line[:60]!r}") from None

    def __call__(self, command, seconds=10, **arguments):
        """What the command returns."""
        self.socket.settimeout(seconds)
        try:
            self.stream.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
            self.stream.flush()
            while True:
                answer = self._line()
                if "error" in answer:
                    raise Failure(f"QEMU refuses {command}: {answer['error']['desc']}")
                if "return" in answer:
                    return answer["return"]
        except TimeoutError:
            raise Failure(f"QEMU has not answered {command} for {seconds} s") from None
        except (BrokenPipeError, ConnectionResetError):
            raise Failure("QEMU has ended", DIED) from None

    def close(self):
        self.socket.close()
