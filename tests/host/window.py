"""A screen without a monitor, for programs that have a window: Xvfb, whose pixels are in a file."""
import contextlib
import os
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

WIDTH, HEIGHT = 2000, 1400


class Screen:
    """started(words): a program on it. What is shown: shown() and share_of_colours(), parts of the whole; picture(path)."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fathom-screen-")
        number, out = os.pipe()
        words = [
            "setpriv",
            "--pdeathsig",
            "TERM",
            "Xvfb",
            "-displayfd",
            str(out),
            "-screen",
            "0",
            f"{WIDTH}x{HEIGHT}x24",
            "-nolisten",
            "tcp",
            "-fbdir",
            self.folder.name,
        ]
        self.process = subprocess.Popen(
            words, pass_fds=[out], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(out)
        with open(number) as answer:
            self.display = f":{answer.readline().strip()}"
        assert self.display != ":", "Xvfb did not start"
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    @contextlib.contextmanager
    def started(self, *words, **more):
        environment = {
            **os.environ,
            "DISPLAY": self.display,
            "QT_QPA_PLATFORM": "xcb",
            "HOME": self.folder.name,
            "XDG_RUNTIME_DIR": self.folder.name,
            **more,
        }
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
            assert process.poll() is None, f"{words[0]} has ended with {process.returncode}"
        finally:
            process.terminate()
            process.wait()

    def rows(self):
        """The pixels of each row, four bytes each: blue, green, red, nothing."""
        data = (Path(self.folder.name) / "Xvfb_screen0").read_bytes()
        header = struct.unpack(">25I", data[:100])
        start, width, height, row_bytes = header[0] + 12 * header[19], header[4], header[5], header[12]
        return [data[start + row * row_bytes : start + row * row_bytes + 4 * width] for row in range(height)]

    def pixels(self):
        """Some of them, (blue, green, red)."""
        return [tuple(row[at : at + 3]) for row in self.rows()[::4] for at in range(0, len(row), 16)]

    def shown(self):
        """That is not black, as where there is no window."""
        some = self.pixels()
        return sum(any(one) for one in some) / len(some)

    def share_of_colours(self):
        """That is neither black nor white nor grey."""
        some = self.pixels()
        return sum(max(one) - min(one) > 100 for one in some) / len(some)

    def picture(self, path):
        """As PNG, without what is black at the right and below."""
        rows = self.rows()
        height = max(at for at, row in enumerate(rows) if any(row)) + 1
        width = max(len(row.rstrip(b"\0")) + 3 for row in rows) // 4
        lines = bytearray()
        for row in (row[: 4 * width] for row in rows[:height]):
            line = bytearray(3 * len(row) // 4)
            line[0::3], line[1::3], line[2::3] = row[2::4], row[1::4], row[0::4]
            lines += b"\0" + line

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(bytes(lines)))
            + chunk(b"IEND", b"")
        )
