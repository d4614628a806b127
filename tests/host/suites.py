"""Suites of others inside: busybox's own tests and Linux's nolibc-test, beside the same on Debian's Linux in the same emulator.

Results that differ from those on Linux are listed in suites/differences, each with a reason; a result that is not as listed
is an error, also a better one. The sources come from Debian's packages, and are kept in build/host.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for folder in HERE.parent / "qemu", HERE / "selftests", HERE:
    sys.path.insert(0, str(folder))

from guest import BUILDS, PATIENCE, ROOT, Guest  # noqa: E402
from linux_mount import archive, newest_kernel, unpacked  # noqa: E402
from packages import fetched  # noqa: E402
from sources import sources  # noqa: E402
from within import only_busybox  # noqa: E402

STORE = BUILDS["gcc"] / "host"
RESULT = re.compile(r"^(PASS|FAIL|SKIPPED|UNTESTED): (.*)$", re.M)
CALL = re.compile(r"^\d+ (\w+) = .*\[ ?(OK|FAIL|SKIPPED) ?\]$", re.M)
HOURS = 2 * 3600  # s: bound of a run on a busy machine


def busybox_sources():
    """The folder with busybox's tests, and the configuration of Debian's static build beside it."""
    kept = STORE / "busybox-tests"
    if not kept.exists():
        STORE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=STORE) as work:
            fetched(Path(work), "bookworm", ["source", "--download-only", "busybox"], "deb-src")
            for packed in Path(work).glob("busybox_*.tar.*"):
                subprocess.run(["tar", "-xf", packed, "-C", work], check=True)
            made = Path(work) / "made"
            made.mkdir()
            next(Path(work).glob("busybox-*/testsuite")).rename(made / "testsuite")
            shutil.copy(Path(work) / "debian/config/pkg/static", made / ".config")
            made.rename(kept)
    return kept


def nolibc_test(out):
    """Linux's test of its smallest C library, which is one of system calls."""
    headers = "tools/include/nolibc"
    tests = sources("6.1", "tools/testing/selftests/nolibc", headers)
    words = "gcc -Os -fno-stack-protector -nostdlib -static".split()
    include = out.parent / "nolibc"
    shutil.copytree(tests.parents[2] / "include/nolibc", include)
    (include / "arch.h").unlink()
    shutil.copy(include / "arch-x86_64.h", include / "arch.h")
    subprocess.run([*words, f"-I{include}", "-o", out, tests / "nolibc-test.c", "-lgcc"], check=True)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A file tree in which each program is busybox, with the tests."""
    folder = tmp_path_factory.mktemp("suites")
    tree = folder / "tree"
    tree.mkdir()
    only_busybox(tree)
    nolibc_test(folder / "nolibc-test")
    shutil.copy(folder / "nolibc-test", tree / "bin/nolibc-test")
    shutil.copytree(busybox_sources(), tree / "suite")
    (tree / "suite/busybox").symlink_to("/bin/busybox")
    shutil.copy(HERE / "suites/run", tree / "init")
    return tree


def results(said):
    """{"applet: test": result}, of a test of several results the last."""
    found, applet = {}, None
    for part in re.split(r"^== (?=\S+$)", said.replace("\r", ""), flags=re.M)[1:]:
        applet, text = part.split("\n", 1)
        pairs = CALL.findall(text) if applet == "nolibc" else [pair[::-1] for pair in RESULT.findall(text)]
        found |= {f"{applet}: {name.strip()}": "PASS" if result == "OK" else result for name, result in pairs}
    assert applet == "end", said[-3000:]
    return found


def files_of(tree):
    """The tree for linux_mount.archive(): (name, mode, bytes) each."""
    for path in sorted(tree.rglob("*")):
        name = str(path.relative_to(tree))
        if path.is_symlink():
            yield name, 0o120777, str(path.readlink()).encode()
        elif path.is_dir():
            yield name, 0o40755, b""
        else:
            yield name, 0o100000 | (path.stat().st_mode & 0o777), path.read_bytes()


@pytest.fixture(scope="module")
def on_linux(tree, tmp_path_factory):
    """Starts a Linux with the tests, which runs beside the other kernel; a function that gives its results."""
    STORE.mkdir(parents=True, exist_ok=True)
    ramdisk = tmp_path_factory.mktemp("linux") / "ramdisk"
    empty = [(name, 0o40755, b"") for name in ("proc", "sys", "dev", "tmp")]
    ramdisk.write_bytes(archive([*empty, *files_of(tree)]))
    kernel = next(unpacked(newest_kernel()).glob("boot/vmlinuz*"))
    words = "-accel tcg -cpu max -m 1G -smp 2 -display none -monitor none -no-reboot -net none -serial stdio".split()
    command = ["timeout", "-k", "5", str(HOURS), "qemu-system-x86_64", *words, "-kernel", kernel, "-initrd", ramdisk]
    said = ramdisk.with_name("said")
    with said.open("wb") as out:
        process = subprocess.Popen([*command, "-append", "console=ttyS0 quiet panic=-1"], stdin=subprocess.DEVNULL, stdout=out)

        def wait():
            process.wait(HOURS)
            return results(said.read_text(errors="replace"))

        yield wait
        process.terminate()


def on_fathom(tree, out):
    subprocess.run([ROOT / "tools/initramfs", out, tree], check=True)
    with Guest("gcc", 2, mem="1G", initrd=out, cmdline="init=/init", limit=HOURS // PATIENCE, wait=False) as guest:
        guest.wait_exit(HOURS // PATIENCE)
        return results(guest.everything())


def listed():
    """{"applet: test": (result, reason)} of those that differ."""
    table, reason = {}, None
    for line in (HERE / "suites/differences").read_text().splitlines():
        if line.startswith("#"):
            reason = line[2:]
        elif line:
            result, name = line.split(None, 1)
            table[name] = result, reason
    return table


def counts(found):
    passed = sum(result == "PASS" for result in found.values())
    return passed, sum(result == "FAIL" for result in found.values()), len(found)


def test_beside_linux(on_linux, tree, tmp_path):
    here = on_fathom(tree, tmp_path / "suites.cpio")
    there = on_linux()
    print("Linux", counts(there), "Fathom", counts(here))
    differ = {name: here.get(name, "NONE") for name in there | here if here.get(name) != there.get(name)}
    assert differ == {name: result for name, (result, _) in listed().items()}
    rows = re.findall(r"^\| (Linux|Fathom) \| (\d+) \| (\d+) \| (\d+) \|$", (HERE / "suites/README.md").read_text(), re.M)
    assert [tuple(map(int, row[1:])) for row in rows] == [counts(there), counts(here)]
