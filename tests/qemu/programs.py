"""Programs for a guest: those of tests/user, built here, and busybox, in an archive that QEMU hands over."""
import os
import subprocess
from pathlib import Path

from guest import BUILDS, ROOT

USER = ROOT / "tests" / "user"
FLAGS = "-O2 -static -nostdlib -ffreestanding -fno-stack-protector -fcf-protection=none -Wall -Wextra -Werror".split()
FLAGS_OF_CLANG = ["-Wno-unused-command-line-argument"]
BUSYBOX = Path("/bin/busybox")


FIXED = ("-fno-pie", "-no-pie")  # linked for one address


def built(name, build="gcc", flags=FIXED):
    """The program tests/user/NAME.c, compiled by the compiler of the build."""
    out = BUILDS.get(build, Path(str(build))) / "user" / (name + "".join(flags))
    sources = [USER / f"{name}.c", *USER.glob("*.h"), ROOT / "kernel" / "syscall" / "syscalls.h"]
    out.parent.mkdir(parents=True, exist_ok=True)
    if not out.exists() or any(source.stat().st_mtime > out.stat().st_mtime for source in sources):
        fresh = out.with_name(f"{out.name}.{os.getpid()}")
        compiler = ["clang", *FLAGS_OF_CLANG] if "clang" in str(build) else ["gcc"]
        subprocess.run([*compiler, *FLAGS, *flags, "-o", fresh, sources[0]], check=True)
        fresh.rename(out)
    return out


def linked(name, build="gcc"):
    """The program tests/user/NAME.c with the C library of Debian and its threads, in one static file."""
    out = BUILDS.get(build, Path(str(build))) / "user" / name
    source = USER / f"{name}.c"
    out.parent.mkdir(parents=True, exist_ok=True)
    if not out.exists() or source.stat().st_mtime > out.stat().st_mtime:
        fresh = out.with_name(f"{out.name}.{os.getpid()}")
        compiler = "clang" if "clang" in str(build) else "gcc"
        subprocess.run([compiler, "-O2", "-static", "-pthread", "-Wall", "-Wextra", "-Werror", "-o", fresh, source], check=True)
        fresh.rename(out)
    return out


def archive(out, files):
    """Write an archive of the files, a dict from names to paths, to `out`, which is the result."""
    subprocess.run([ROOT / "tools" / "initramfs", out, *(f"{name}={path}" for name, path in files.items())], check=True)
    return out


def leaves_nothing(host, work, most=8):
    """Memory in use ceases to grow while `work` is done again and again. A leak grows each time, a slab more does not."""
    used = []
    while len(used) < 3 or used[-1] > used[-2]:
        assert len(used) < most, used
        work()
        used.append(host.used_pages())
