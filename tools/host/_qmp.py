"""QEMU's machine protocol: JSON lines over a Unix socket, `-qmp unix:PATH,server=on,wait=off`."""
import json
import socket
import time

from host._common import BUSY, DIED, NOT_RUNNING, Failure

LINE_MAX = 1 << 20  # bytes


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
        line = self.stream.readline(LINE_MAX)
        if not line:
            raise Failure("QEMU has ended", DIED)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise Failure(f"not QEMU's machine protocol: {line[:60]!r}")
        return answer

    def __call__(self, command, seconds=10, **arguments):
        """The command's answer."""
        self.socket.settimeout(seconds)
        try:
            self.stream.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
            self.stream.flush()
            end = time.monotonic() + seconds
            while time.monotonic() < end:  # lines about something else may come between
                answer = self._line()
                if "error" in answer:
                    raise Failure(f"QEMU refuses {command}: {dict(answer['error']).get('desc')}")
                if "return" in answer:
                    return dict(answer["return"])
            raise TimeoutError
        except (TypeError, ValueError):
            raise Failure(f"QEMU's answer to {command} makes no sense") from None
        except TimeoutError:
            raise Failure(f"QEMU has not answered {command} for {seconds} s") from None
        except (BrokenPipeError, ConnectionResetError):
            raise Failure("QEMU has ended", DIED) from None

    def close(self):
        self.socket.close()
