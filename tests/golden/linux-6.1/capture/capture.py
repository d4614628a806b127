#!/usr/bin/python3
"""capture.py --kernel BZIMAGE --busybox BUSYBOX [--modules FILE.ko ...] [--session FILE] [--only RE] OUT: boots Linux
under QEMU (TCG), runs the sections of a session in it and unpacks what they printed into OUT."""
import argparse
import gzip
import io
import re
import subprocess
import tarfile
import tempfile
import time
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
STALL = 30
BOOTS = 6


def entry(name, data, mode, inode):
    """One member of a cpio archive of the form `newc`."""
    fields = [inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08x" % f for f in fields) + name.encode() + b"\0"
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def initrd(files, path):
    names = ["bin", "proc", "sys", "dev", "tmp"]
    members = [(name, b"", 0o40755) for name in names]
    members += [(name, Path(src).read_bytes(), 0o100755) for name, src in files.items()]
    members.append(("TRAILER!!!", b"", 0))
    archive = b"".join(entry(*m, i + 1) for i, m in enumerate(members))
    path.write_bytes(gzip.compress(archive, 1))


def watch(proc, log):
    """Ends the guest when it began no section for STALL seconds: TCG loses an interrupt now and then."""
    size, since = -1, time.monotonic()
    while proc.poll() is None:
        time.sleep(0.5)
        now = len(re.findall(rb"^section", log.read_bytes(), re.M)) if log.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > STALL:
            proc.terminate()
            proc.wait()


def boot(args, sections, tmp):
    """Runs the sections in one guest; returns {name: output} of those that it finished."""
    sent, log, session = tmp / "sent", Path(args.log), tmp / "session"
    sent.write_bytes(b"")
    log.unlink(missing_ok=True)
    session.write_text("".join("== %s\n%s" % s for s in sections.items()))
    files = {"init": HERE / "init", "prelude": HERE / "prelude", "session": session, "bin/busybox": args.busybox}
    files.update({Path(m).name: m for m in args.modules})
    initrd(files, tmp / "initrd")
    watch(
        subprocess.Popen(
            [
                "qemu-system-x86_64",
                "-nodefaults",
                "-no-reboot",
                "-display",
                "none",
                "-m",
                "768M",
                "-smp",
                str(args.cpus),
                "-accel",
                "tcg,thread=multi",
                "-cpu",
                "max",
                "-kernel",
                args.kernel,
                "-initrd",
                str(tmp / "initrd"),
                "-append",
                "console=ttyS0 quiet panic=-1 " + args.cmdline,
                "-serial",
                "file:%s" % log,
                "-serial",
                "file:%s" % sent,
            ],
            stdin=subprocess.DEVNULL,
        ),
        log,
    )
    return dict(received(sent.read_bytes()))


def received(data):
    while data:
        stream = zlib.decompressobj(31)
        try:
            plain = stream.decompress(data) + stream.flush()
        except zlib.error:
            return
        if not stream.eof:
            return
        data = stream.unused_data
        with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
            for member in tar:
                yield member.name, tar.extractfile(member).read()


def parse(text, only):
    parts = re.split(r"^== (\S+)\n", text, flags=re.M)[1:]
    sections = dict(zip(parts[::2], parts[1::2]))
    return {n: s for n, s in sections.items() if not only or re.fullmatch(only, n)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--busybox", required=True)
    parser.add_argument("--modules", nargs="*", default=[])
    parser.add_argument("--session", default=HERE / "session")
    parser.add_argument("--only", help="a pattern of section names")
    parser.add_argument("--cmdline", default="")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--log", default="/tmp/capture.log")
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    sections = parse(Path(args.session).read_text(), args.only)
    args.out.mkdir(parents=True, exist_ok=True)
    for _ in range(BOOTS):
        with tempfile.TemporaryDirectory() as tmp:
            for name, text in boot(args, sections, Path(tmp)).items():
                (args.out / name).write_bytes(text)
                del sections[name]
        if not sections:
            break
        print("not finished:", *sections)
        # The one that stalled goes last.
        first = next(iter(sections))
        sections[first] = sections.pop(first)


if __name__ == "__main__":
    main()
