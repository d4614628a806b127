"""QEMU's machine protocol, as far as tests need it."""
import json
import socket

from guest import PATIENCE


class Qmp:
    """QEMU was started with option(path); qmp("command", argument=...) gives the answer, which is no error."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10 * PATIENCE)
        self.socket.connect(str(path))
        self.stream = self.socket.makefile("rw")
        self.stream.readline()
        self("qmp_capabilities")

    @staticmethod
    def option(path):
        return ["-qmp", f"unix:{path},server=on,wait=off"]

    def __call__(self, command, **arguments):
        self.stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.stream.flush()
        while True:
            answer = json.loads(self.stream.readline())
            if "event" not in answer:
                assert "error" not in answer, answer
                return answer
