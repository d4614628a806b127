"""A Debian kernel whose second serial port is joined to Fathom's mounts Fathom's files with its own 9p client. `make test-host`.

The packages of its kernel and of busybox are downloaded by apt-get, and unpacked below build/host; nothing is installed.
"""
import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "qemu"))

from guest import BUILDS, PATIENCE, Guest  # noqa: E402

STORE = BUILDS["gcc"] / "host"
MODULES = ("netfs", "fscache", "9pnet", "9pnet_fd", "9p")


def unpacked(package):
    """The folder with the files of a Debian package."""
    folder = STORE / package
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=STORE) as work:
            subprocess.run(["apt-get", "download", "-q", package], cwd=work, check=True)
            subprocess.run(["dpkg-deb", "-x", next(Path(work).glob("*.deb")), f"{work}/files"], check=True)
            os.rename(f"{work}/files", folder)
    return folder


def newest_kernel():
    out = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], capture_output=True, text=True, check=True).stdout
    return next(line.split()[1] for line in out.splitlines() if "Depends:" in line)


def archive(files):
    """A cpio archive (newc), as the kernel unpacks it: (name, mode, bytes) each."""
    out = b""
    for number, (name, mode, data) in enumerate([*files, ("TRAILER!!!", 0, b"")], 1):
        words = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08X" % word for word in words) + name.encode() + b"\0"
        out += head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)
    return gzip.compress(out, 1)


@pytest.fixture(scope="module")
def linux(tmp_path_factory):
    """The words of QEMU for a Linux that runs init."""
    STORE.mkdir(parents=True, exist_ok=True)
    kernel, busybox = unpacked(newest_kernel()), unpacked("busybox-static")
    files = [(name, 0o40755, b"") for name in ("bin", "proc", "dev", "mnt", "modules")]
    files += [("init", 0o100755, (HERE / "init").read_bytes()), ("bin/busybox", 0o100755, (busybox / "bin/busybox").read_bytes())]
    files += [(f"modules/{name}.ko", 0o100644, next(kernel.rglob(f"{name}.ko")).read_bytes()) for name in MODULES]
    ramdisk = tmp_path_factory.mktemp("linux") / "ramdisk"
    ramdisk.write_bytes(archive(files))
    return ["-kernel", next(kernel.glob("boot/vmlinuz*")), "-initrd", ramdisk, "-append", "console=ttyS0 quiet panic=-1"]


def test_linux_mounts_the_files(linux, tmp_path):
    channel = tmp_path / "com2"
    with Guest("gcc", 2, com2=f"unix:{channel},server=on,wait=off") as guest:
        run = subprocess.run(
            [
                "timeout",
                "-k",
                "5",
                str(60 * PATIENCE),
                "qemu-system-x86_64",
                "-accel",
                "tcg",
                "-cpu",
                "max",
                "-m",
                "512M",
                "-display",
                "none",
                "-monitor",
                "none",
                "-no-reboot",
                "-net",
                "none",
                *linux,
                "-serial",
                "stdio",
                "-serial",
                f"unix:{channel}",
            ],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        lines = [line.rstrip() for line in run.stdout.splitlines()]
        assert "begin" in lines and "end" in lines, run.stdout + run.stderr
        said = lines[lines.index("begin") + 1 : lines.index("end")]
        assert said == [
            guest.check("cat /proc/version").strip(),
            guest.check("ls | wc -l").strip(),
            "function",
            "vfs_open",
            "vfs_stat",
            "2",
            "#### all functions enabled ####",
            "box",
            "sh: write error: Invalid argument",
            "regular empty file 640 0",
            "directory 750 0",
            "two",
            "mv: can't rename 'trace': Operation not permitted",
            "Terminated",
            "over 143",
            guest.check("find . | wc -l").strip(),
        ]
        assert guest.check("cat current_tracer") == "nop\n"
