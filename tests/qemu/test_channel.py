"""The machine channel, on COM2: 9P2000.L as it is said byte by byte, and files through it."""
import errno
import struct

import pytest

from channelguest import SHELL, TRACING, failure, output_of, wait_until
from ninep import APPEND, DIRECTORY, EXCL, FSYNC, RDONLY, RDWR, REMOVEDIR, STATFS, TRUNC, WRONLY, XATTRWALK, Ninep, text

SIZE = 8  # of Tsetattr


def test_bytes_of_a_session(machine):
    """Written down from the description of the protocol, not with the client of the other tests."""
    with Ninep(machine.channel) as line:
        line.version_after_noise()
        for question, answer in (
            # Tversion msize 8192
            ("15000000 64 ffff 00200000 0800 3950323030302e4c", "15000000 65 ffff 00200000 0800 3950323030302e4c"),
            # Tversion of an unknown version
            ("13000000 64 ffff 00200000 0600 395032303030", "14000000 65 ffff 00200000 0700 756e6b6e6f776e"),
            # nothing else is understood before the next one: EINVAL
            ("0b000000 78 0100 00000000", "0b000000 07 0100 16000000"),
            ("15000000 64 ffff 00200000 0800 3950323030302e4c", "15000000 65 ffff 00200000 0800 3950323030302e4c"),
            # Tattach of fid 1 to /proc
            ("1c000000 68 0200 01000000 ffffffff 0000 0500 2f70726f63 00000000", None),
            # Twalk 1 -> 2 without a name
            ("11000000 6e 0300 01000000 02000000 0000", "09000000 6f 0300 0000"),
            # Twalk 2 -> 3 nowhere: ENOENT
            ("15000000 6e 0400 02000000 03000000 0100 0200 6e6f", "0b000000 07 0400 02000000"),
            # Tlopen of fid 2, a directory, for writing: EISDIR
            ("0f000000 0c 0500 02000000 01000000", "0b000000 07 0500 15000000"),
            # Tclunk 3, which is not there: EBADF; 2
            ("0b000000 78 0600 03000000", "0b000000 07 0600 09000000"),
            ("0b000000 78 0700 02000000", "07000000 79 0700"),
            # Tflush of a tag that is not there
            ("09000000 6c 0800 3412", "07000000 6d 0800"),
            # a type that the protocol does not have, and a body that is too short
            ("07000000 fe 0900", "0b000000 07 0900 5f000000"),
            ("08000000 78 0a00 01", "0b000000 07 0a00 16000000"),
        ):
            line.raw(bytes.fromhex(question))
            kind, tag, body = line.receive()
            got = struct.pack("<IBH", 7 + len(body), kind, tag) + body
            if answer:
                assert got == bytes.fromhex(answer), question
            else:
                assert kind == 105 and len(body) == 13 and body[0] == 0x80


def test_version(client):
    assert client.version(1 << 30) == (128 << 10, "9P2000.L")
    assert client.version(4096, "9P2000.L.fathom") == (4096, "9P2000.L")
    assert client.version(4096, "9P2000.u") == (4096, "unknown")
    assert failure(client.version, 64) == errno.EMSGSIZE


def test_files_byte_by_byte(machine, client):
    for path in ("/proc/kallsyms", TRACING + "/README", TRACING + "/available_filter_functions"):
        whole = client.read_all(path, 50000)
        assert len(whole) == int(machine.check(f"cat {path} | wc -c")) > 3000
        with client.opened(path) as fid:
            for offset, count in (
                (0, 1),
                (1, 1),
                (2999, 3),
                (100, 2000),
                (len(whole) - 5, 5),
                (len(whole) - 5, 50),
                (7, 0),
                (len(whole), 9),
                (len(whole) + 1000, 9),
                (1500, 1),
                (0, 40),
            ):
                assert client.read(fid, offset, count) == whole[offset : offset + count], (path, offset, count)
    assert client.read_all("/proc/version").decode() == machine.check("cat /proc/version")


def test_a_read_is_cut_to_the_message(client):
    client.version(1000)
    client.attach(0)
    with client.opened("/dev/zero") as fid:
        assert client.read(fid, 0, 1 << 31) == bytes(1000 - 11)


def test_one_write_is_one_write(machine, client):
    machine.check("echo > trace")
    client.write_file(TRACING + "/trace_marker", "one " * 200)
    assert machine.check("cat trace").count("one " * 200) == 1
    machine.check("echo > set_ftrace_filter")
    with client.opened(TRACING + "/set_ftrace_filter", WRONLY | TRUNC) as fid:
        client.write(fid, 0, "vfs_open ")
        client.write(fid, 9, "vfs_stat\n")
        assert failure(client.write, fid, 18, "no_such_function\n") == errno.EINVAL
    assert set(client.read_all(TRACING + "/set_ftrace_filter").split()) == {b"vfs_open", b"vfs_stat"}
    with client.opened(TRACING + "/set_ftrace_filter", WRONLY | APPEND) as fid:
        client.write(fid, 0, "vfs_mkdir\n")
    assert sorted(machine.check("cat set_ftrace_filter").split()) == ["vfs_mkdir", "vfs_open", "vfs_stat"]
    machine.check("echo > set_ftrace_filter; echo > trace")


def test_what_linux_sends_for_a_truncating_open(machine, client):
    """Tlopen without O_TRUNC, then Tsetattr of the size: what was in the file is not to come back."""
    machine.check("echo vfs_open > set_ftrace_filter")
    fid = client.find(TRACING + "/set_ftrace_filter")
    client.open(fid, WRONLY)
    client.setattr(fid, SIZE)
    client.write(fid, 0, "vfs_stat\n")
    client.clunk(fid)
    assert machine.check("cat set_ftrace_filter") == "vfs_stat\n"
    client.setattr(client.find(TRACING + "/set_ftrace_filter"), SIZE)
    assert "vfs_stat" not in machine.check("cat set_ftrace_filter")


def test_errors(client):
    tracing = client.find(TRACING)
    assert failure(client.find, "/sys/nowhere/at/all") == errno.ENOENT
    assert len(client.walk(0, 50, "proc", "version", "x")) == 2 and failure(client.getattr, 50) == errno.EBADF
    assert failure(client.walk, 0, tracing) == errno.EBADF
    assert failure(client.walk, 99999, 50) == errno.EBADF
    assert failure(client.walk, 0, 50, "a" * 200) == errno.ENAMETOOLONG
    assert failure(client.walk, 0, 50, "a/b") == errno.ENOENT
    assert failure(client.walk, 0, 50, "") == errno.ENOENT
    assert failure(client.read, tracing, 0, 10) == errno.EBADF
    assert failure(client.open, tracing, RDWR) == errno.EISDIR
    assert failure(client.open, client.find("/proc/version"), DIRECTORY) == errno.ENOTDIR
    assert failure(client.open, client.find("/proc/version"), 3) == errno.EINVAL
    client.open(tracing)
    assert failure(client.open, tracing) == errno.EBADF
    assert failure(client.read, tracing, 0, 10) == errno.EISDIR
    with client.opened("/proc/version") as fid:
        assert failure(client.write, fid, 0, "x") == errno.EBADF
        assert failure(client.readdir, fid, 0, 100) == errno.ENOTDIR
        assert client.call(FSYNC, struct.pack("<II", fid, 0)) == b""
        assert failure(client.setattr, fid, 1, 0o777) == errno.EPERM
        client.setattr(fid, 1 | 2 | 4, client.getattr(fid)["mode"])
        assert failure(lambda: client.setattr(fid, 4, owner=(0, 5))) == errno.EPERM
    fid = client.find(TRACING + "/events/sched/sched_switch/enable")
    client.setattr(fid, 1 | 2, 0o600, owner=(7, 5))
    again = client.getattr(client.find(TRACING + "/events/sched/sched_switch/enable"))
    assert again["owner"] == (7, 0) and again["mode"] & 0o7777 == 0o600
    client.setattr(fid, 1 | 2, 0o640)
    assert failure(client.create, client.find(TRACING), "new") == errno.EACCES
    assert failure(client.mkdir, client.find(TRACING), "new") == errno.EPERM
    assert failure(client.attach, 0) == errno.EBADF
    assert failure(client.attach, 70, "/nowhere") == errno.ENOENT
    assert failure(client.attach, 70, "/proc/version") == errno.ENOTDIR
    assert failure(client.call, XATTRWALK, struct.pack("<II", 0, 51) + text("user.x")) == errno.EOPNOTSUPP


def test_commands(client):
    """Each open file is a shell of its own; its output comes as it is made, then the end."""
    with client.opened(SHELL, RDWR) as fid, client.opened(SHELL, RDWR) as second:
        assert failure(client.read, fid, 0, 10) == errno.EINVAL
        assert client.write(fid, 0, "pwd; sleep 1; x=1; nope; echo $x$?\n") == 35
        assert failure(client.write, fid, 35, "ls") == errno.EBUSY
        assert client.read(fid, 0, 100) == b"/sys/kernel/tracing\n"
        client.write(second, 0, "echo second; cat; exit 3; echo not this")
        assert output_of(client, second) == b"second\n"
        assert output_of(client, fid) == b"sh: nope: command not found\n1127\n"
    for flags in (RDONLY, WRONLY, WRONLY | TRUNC):
        assert failure(client.open, client.find(SHELL), flags) == errno.EINVAL
    with client.opened(SHELL, RDWR) as fid:
        client.write(fid, 0, "if")
        assert output_of(client, fid) == b"sh: syntax error: unexpected end of file\n"
    client.version(128 << 10)
    client.attach(0)
    with client.opened(SHELL, RDWR) as fid:
        assert failure(client.write, fid, 0, "#" * 65537) == errno.E2BIG


@pytest.mark.parametrize("end", ["clunk", "version"])
@pytest.mark.parametrize(
    "commands, nr",
    [
        ("sleep 1000 | cat; while true; do sleep 1000; done", 1),
        ("(sleep 1000; true) & while true; do sleep 1000; done & sleep 1000", 3),
        ("sh -c 'sleep 1000 & sleep 1000 & true' & true", 2),
    ],
)
def test_a_shell_that_is_closed_ends_its_commands(machine, client, end, commands, nr):
    """The end of a shell ends its threads, those in the background too. Another shell's go on, until the
    client goes."""

    def begin(text):
        fid = client.find(SHELL)
        client.open(fid, RDWR)
        client.write(fid, 0, "echo begun; " + text)
        assert client.read(fid, 0, 100) == b"begun\n"
        return fid

    def sleeping():
        return machine.check("ps").count(" sleep\n")

    begin("sleep 1000 & wait")
    fid = begin(commands)
    wait_until(lambda: sleeping() == nr + 1)
    if end == "clunk":
        client.clunk(fid)
        wait_until(lambda: sleeping() == 1)
    client.version()
    wait_until(lambda: sleeping() == 0)
    assert machine.check("echo $?") == "0\n"


def test_ctrl_c_on_the_console_is_not_for_other_shells(machine, client):
    with client.opened(SHELL, RDWR) as fid:
        client.write(fid, 0, "echo begun; sleep 2; echo done")
        assert client.read(fid, 0, 100) == b"begun\n"
        machine.send("sleep 1000\r")
        machine.expect(rb"\r\n")
        machine.send("\x03")
        machine.wait_prompt()
        assert output_of(client, fid) == b"done\n"


def test_files_in_memory(machine, client):
    client.walk(0, 60, "tmp")
    made = client.mkdir(60, "box")
    assert made[0] == 0x80 and failure(client.mkdir, 60, "box") == errno.EEXIST
    box = client.find("/tmp/box")
    client.walk(box, 61)
    opened = client.create(61, "file", RDWR | EXCL)
    assert client.write(61, 0, b"0123456789") == 10
    assert client.write(61, 5000, b"end") == 3
    assert client.read(61, 3, 4) == b"3456"
    assert client.read(61, 9, 9999) == b"9" + bytes(4990) + b"end"
    facts = client.getattr(61)
    assert facts["size"] == 5003 and facts["qid"] == opened and facts["mode"] == 0o100644 and facts["blocks"] == 10
    client.walk(box, 62)
    assert failure(client.create, 62, "file", WRONLY | EXCL) == errno.EEXIST
    client.setattr(61, SIZE)
    assert client.getattr(61)["size"] == 0
    assert failure(client.setattr, 61, SIZE, 0, 9) == errno.EOPNOTSUPP
    assert failure(client.unlinkat, 60, "box", REMOVEDIR) == errno.ENOTEMPTY
    assert failure(client.unlinkat, box, "file", REMOVEDIR) == errno.ENOTDIR
    client.clunk(61)
    client.remove(client.find("/tmp/box/file"))
    assert client.names("/tmp/box") == [".", ".."]
    assert failure(client.clunk, 61) == errno.EBADF
    client.unlinkat(60, "box", REMOVEDIR)
    assert failure(client.getattr, box) == errno.ENOENT
    total, free = struct.unpack_from("<8xQQ", client.call(STATFS, struct.pack("<I", 0)))
    assert 0 < free < total < 65536


def test_identities(machine, client):
    def all_below(path, depth):
        found = {}
        with client.opened(path) as fid:
            entries, offset = [], 0
            while part := client.readdir(fid, offset, 4000):
                entries += part
                offset = part[-1][1]
        for qid, _, kind, name in entries:
            if name in (".", ".."):
                continue
            assert (kind == 4) == (qid[0] == 0x80)
            found[f"{path}/{name}"] = qid
            if depth and kind == 4:
                found.update(all_below(f"{path}/{name}", depth - 1))
        return found

    machine.check("livepatch load demo_version")
    for top in ("/proc", "/sys/kernel/livepatch", TRACING + "/events/sched", TRACING + "/options"):
        first, again = all_below(top, 2), all_below(top, 2)
        assert first == again and len(set(first.values())) == len(first) > 3, top
    machine.check("livepatch unload demo_version")
    # The same directory has a second place.
    assert (
        client.walk(0, 80, *f"{TRACING}/trace".split("/")[1:])[-1] == client.walk(0, 81, *"sys/kernel/debug/tracing/trace".split("/"))[-1]
    )


def test_a_fid_leads_to_its_file_or_nowhere(machine, client):
    machine.check("mkdir instances/box")
    first = client.find(TRACING + "/instances/box/trace")
    identity = client.getattr(first)["qid"]
    machine.check("rmdir instances/box && mkdir instances/box")
    assert failure(client.getattr, first) == errno.ENOENT
    assert failure(client.open, first) == errno.ENOENT
    assert client.getattr(client.find(TRACING + "/instances/box/trace"))["qid"] != identity
    machine.check("rmdir instances/box")


def test_renames(machine, client):
    """Fids go along: those of the file, and of what is in a directory. What was in the place of the new name is gone."""
    machine.check("cd /tmp; mkdir box box/in; echo first > a; echo second > b; echo deep > box/in/x; cd -")
    tmp, first, second, deep, box = map(client.find, ("/tmp", "/tmp/a", "/tmp/b", "/tmp/box/in/x", "/tmp/box"))
    of = {fid: client.getattr(fid)["qid"] for fid in (first, second, deep, box)}
    client.renameat(tmp, "a", tmp, "b")
    assert client.getattr(first)["qid"] == of[first] == client.getattr(client.find("/tmp/b"))["qid"]
    assert failure(client.getattr, second) == errno.ENOENT and client.read_all("/tmp/b") == b"first\n"
    client.renameat(tmp, "b", box, "a name that is longer than the one before")
    client.rename(box, tmp, "case")
    assert client.getattr(deep)["qid"] == of[deep] and client.getattr(box)["qid"] == of[box]
    assert client.read_all("/tmp/case/a name that is longer than the one before") == b"first\n"
    client.rename(deep, box, "x")
    client.open(deep)
    client.renameat(box, "x", box, "x")
    client.rename(deep, tmp, "y")
    assert (
        client.read(deep, 0, 100) == b"deep\n"
        and machine.check("find /tmp; cat /tmp/y")
        == "/tmp\n/tmp/case\n/tmp/case/a name that is longer than the one before\n/tmp/case/in\n/tmp/y\ndeep\n"
    )
    machine.check("rm /tmp/y /tmp/case/a*; rmdir /tmp/case/in /tmp/case")


def test_what_cannot_be_renamed(machine, client):
    machine.check("mkdir /tmp/box /tmp/full; echo > /tmp/full/x; echo > /tmp/x")
    root, tmp, tracing, box, x = map(client.find, ("/", "/tmp", TRACING, "/tmp/box", "/tmp/x"))
    for words, number in (
        ((tmp, "x", tracing, "x"), errno.EXDEV),
        ((tracing, "trace", tmp, "x"), errno.EXDEV),
        ((tracing, "trace", tracing, "other"), errno.EPERM),
        ((tracing, "none", tracing, "trace"), errno.ENOENT),
        ((root, "tmp", root, "temp"), errno.EBUSY),
        ((tmp, "x", root, "tmp"), errno.EISDIR),
        ((tmp, "box", root, "proc"), errno.EBUSY),
        ((tmp, "box", box, "in"), errno.EINVAL),
        ((tmp, "box", tmp, "x"), errno.ENOTDIR),
        ((tmp, "x", tmp, "box"), errno.EISDIR),
        ((tmp, "box", tmp, "full"), errno.ENOTEMPTY),
        ((tmp, "none", tmp, "x"), errno.ENOENT),
        ((x, "x", tmp, "y"), errno.ENOTDIR),
        ((tmp, "x", x, "y"), errno.ENOTDIR),
        ((tmp, "x", 99, "y"), errno.EBADF),
        ((tmp, "x", tmp, "a/b"), errno.ENOENT),
        ((tmp, "x", tmp, ""), errno.ENOENT),
        ((tmp, "x", tmp, "y" * 128), errno.ENAMETOOLONG),
    ):
        assert failure(client.renameat, *words) == number, words
    for words, number in (
        ((99, tmp, "y"), errno.EBADF),
        ((x, 99, "y"), errno.EBADF),
        ((root, tmp, "y"), errno.EBUSY),
        ((tracing, tmp, "y"), errno.EBUSY),
    ):
        assert failure(client.rename, *words) == number, words
    assert machine.check("find /tmp; rm /tmp/x /tmp/full/x; rmdir /tmp/box /tmp/full") == "/tmp\n/tmp/box\n/tmp/full\n/tmp/full/x\n/tmp/x\n"


def test_listing(machine, client):
    names = client.names(TRACING)
    assert names[:2] == [".", ".."]
    assert sorted(names[2:]) == sorted(machine.check(f"ls {TRACING}").split())
    assert client.names(TRACING, 60) == names
    with client.opened(TRACING) as fid:
        assert failure(client.readdir, fid, 0, 20) == errno.EINVAL
        client.readdir(fid, 0, 100)
        assert client.readdir(fid, 5, 4000)[0][3] == names[5]
        assert client.readdir(fid, len(names), 4000) == client.readdir(fid, 1 << 60, 4000) == []
    # A file that is removed during a listing takes no other out of the list.
    machine.check("mkdir /tmp/many; for n in 1 2 3 4 5 6 7 8; do echo > /tmp/many/$n; done")
    box, found, offset = client.find("/tmp/many"), [], 0
    with client.opened("/tmp/many") as fid:
        while part := client.readdir(fid, offset, 60):
            for _, offset, _, name in part:
                found.append(name)
                if name[0] != ".":
                    client.unlinkat(box, name)
    assert found == [".", "..", *"12345678"]
    machine.check("rmdir /tmp/many")
