"""The machine channel, on COM2 and on a port of virtio-serial: 9P2000.L as it is said byte by byte, files through it, and
whatever may happen to a line."""
import errno
import struct
import tempfile
import time
from pathlib import Path

import pytest

from guest import PATIENCE, Guest
from ninep import (APPEND, DIRECTORY, EXCL, FSYNC, LOPEN, NONBLOCK, NOTAG, RDONLY, RDWR, READ, REMOVEDIR, RENAMEAT, STATFS, TRUNC, VERSION,
                   WALK, WRITE, WRONLY, XATTRWALK, Ninep, message, text)

TRACING = "/sys/kernel/tracing"
SHELL = "/dev/shell"
SIZE = 8  # of Tsetattr


@pytest.fixture(scope="module")
def machine():
    with tempfile.TemporaryDirectory(prefix="fathom-channel-") as directory:
        channel = Path(directory) / "com2"
        with Guest("gcc", 2, com2=f"unix:{channel},server=on,wait=off", extra=port_at(f"{channel}.port")) as guest:
            guest.channel, guest.port = channel, f"{channel}.port"
            yield guest


def port_at(path, name="fathom.9p"):
    return ["-device", "virtio-serial-pci", "-chardev", f"socket,id=port,path={path},server=on,wait=off",
            "-device", f"virtserialport,chardev=port,name={name}"]


@pytest.fixture
def client(machine):
    with Ninep(machine.channel) as one:
        one.version_after_noise()
        one.attach(0)
        yield one


def failure(call, *args):
    """The errno that a call ends with."""
    with pytest.raises(OSError) as info:
        call(*args)
    return info.value.errno


def output_of(client, fid):
    """What is read from a file that has no positions, up to its end."""
    data = b""
    while part := client.read(fid, 0, 4000):
        data += part
    return data


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_bytes_of_a_session(machine):
    """Written down from the description of the protocol, not with the client of the other tests."""
    with Ninep(machine.channel) as line:
        line.version_after_noise()
        for question, answer in (
                # Tversion msize 8192
                ("15000000 64 ffff 00200000 0800 3950323030302e4c", "15000000 65 ffff 00200000 0800 3950323030302e4c"),
                # Tversion of a version that nobody knows
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
                ("08000000 78 0a00 01", "0b000000 07 0a00 16000000")):
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
            for offset, count in ((0, 1), (1, 1), (2999, 3), (100, 2000), (len(whole) - 5, 5), (len(whole) - 5, 50), (7, 0),
                                  (len(whole), 9), (len(whole) + 1000, 9), (1500, 1), (0, 40)):
                assert client.read(fid, offset, count) == whole[offset:offset + count], (path, offset, count)
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
    assert failure(client.create, client.find(TRACING), "new") == errno.EACCES
    assert failure(client.mkdir, client.find(TRACING), "new") == errno.EPERM
    assert failure(client.attach, 0) == errno.EBADF
    assert failure(client.attach, 70, "/nowhere") == errno.ENOENT
    assert failure(client.attach, 70, "/proc/version") == errno.ENOTDIR
    nowhere = struct.pack("<I", 0) + text("a") + struct.pack("<I", 0) + text("b")
    assert failure(client.call, RENAMEAT, nowhere) == errno.EOPNOTSUPP
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
def test_a_shell_that_is_closed_ends_its_commands(machine, client, end):
    fid = client.find(SHELL)
    client.open(fid, RDWR)
    client.write(fid, 0, "echo begun; sleep 1000 | cat; while true; do sleep 1000; done")
    assert client.read(fid, 0, 100) == b"begun\n"
    wait_until(lambda: machine.check("ps").count(" sleep\n") == 1)
    client.clunk(fid) if end == "clunk" else client.version()
    wait_until(lambda: " sleep\n" not in machine.check("ps"))
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
    assert client.walk(0, 80, *f"{TRACING}/trace".split("/")[1:])[-1] == \
        client.walk(0, 81, *"sys/kernel/debug/tracing/trace".split("/"))[-1]


def test_a_fid_leads_to_its_file_or_nowhere(machine, client):
    machine.check("mkdir instances/box")
    first = client.find(TRACING + "/instances/box/trace")
    identity = client.getattr(first)["qid"]
    machine.check("rmdir instances/box && mkdir instances/box")
    assert failure(client.getattr, first) == errno.ENOENT
    assert failure(client.open, first) == errno.ENOENT
    assert client.getattr(client.find(TRACING + "/instances/box/trace"))["qid"] != identity
    machine.check("rmdir instances/box")


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
    # What is removed while it is listed takes nothing else along.
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


def read_of(client, fid, offset=0):
    return client.request(READ, struct.pack("<IQI", fid, offset, 4000))


def test_a_read_waits_and_others_go_on(machine, client):
    machine.check("echo > trace")
    with client.opened(TRACING + "/trace_pipe") as pipe:
        tag = read_of(client, pipe)
        assert client.read_all("/proc/version")
        machine.check("echo first > trace_marker")
        first = client.read_end(tag)
        assert first.endswith(b"tracing_mark_write: first\n")
        # Flushed: no answer, and what comes later is still there.
        tag = read_of(client, pipe, len(first))
        behind = read_of(client, pipe, len(first))
        client.flush(tag)
        client.flush(behind)
        assert tag not in client.answers and behind not in client.answers
        machine.check("echo second > trace_marker")
        second = client.read(pipe, len(first), 4000)
        assert second.endswith(b"second\n")
        # Flushed when its answer may be on the way: then that comes first. Nothing is lost.
        machine.check("echo third > trace_marker")
        tag = read_of(client, pipe, len(first + second))
        client.flush(tag)
        third = client.read_end(tag) if tag in client.answers else client.read(pipe, len(first + second), 4000)
        assert third.endswith(b"third\n")
        client.flush(4711)


def test_clunk_ends_a_read(client, machine):
    machine.check("echo > trace")
    pipe = client.find(TRACING + "/trace_pipe")
    client.open(pipe)
    tag, behind = read_of(client, pipe), read_of(client, pipe)
    client.clunk(pipe)
    for one in (tag, behind):
        assert failure(client.read_end, one) == errno.EINTR


def test_who_waits_has_a_thread(machine, client):
    """Files whose reads never wait are read by the channel's own."""
    def threads():
        return machine.check("ps").count("9p-wait")

    before = threads()
    for name, nr in (("README", 0), ("trace", 0), ("per_cpu/cpu0/trace_pipe_raw", 1)):
        fid = client.find(f"{TRACING}/{name}")
        client.open(fid)
        assert threads() == before + nr, name
        client.clunk(fid)


def test_a_read_that_shall_not_wait(client, machine):
    machine.check("echo > trace")
    with client.opened(TRACING + "/trace_pipe", NONBLOCK) as fid:
        assert failure(client.read, fid, 0, 100) == errno.EAGAIN


def test_console(machine, client):
    with client.opened("/dev/console", RDWR) as fid:
        assert failure(client.read, fid, 0, 10) == errno.EIO, "what is typed is for the shell"
        assert client.write(fid, 0, "said by the host\n") == 17
    machine.expect(rb"said by the host\r\n")
    machine.check("true")


def threads(machine):
    return machine.check("ps").count("9p-")


def test_many_fids_and_waits(machine, client):
    tags = [client.request(WALK, struct.pack("<IIH", 0, 1000 + i, 1) + text("proc")) for i in range(600)]
    for tag in tags:
        client.body_of(WALK, tag)
    assert client.getattr(1599)["qid"] == client.getattr(1000)["qid"]
    pipes = []
    for _ in range(64):
        pipes.append(client.find("/dev/console"))
        client.open(pipes[-1])
    assert failure(client.open, client.find("/dev/tty")) == errno.EMFILE
    assert threads(machine) == 65
    client.clunk(pipes.pop())
    client.open(client.find("/dev/tty"))
    client.version()
    assert threads(machine) == 1


def test_version_ends_what_was(machine, client):
    machine.check("echo > trace")
    pages = machine.used_pages()
    for _ in range(3):
        pipe = client.find(TRACING + "/trace_pipe")
        client.open(pipe)
        tag = read_of(client, pipe)
        client.version()
        assert tag not in client.answers
        assert failure(client.clunk, 0) == errno.EBADF
        client.attach(0)
    client.version()
    assert machine.used_pages() <= pages
    assert threads(machine) == 1
    # The pipe is not held by anybody.
    assert machine.check("echo free > trace_marker; cat trace").count("free") == 1


def test_garbage(machine):
    noises = [bytes(range(256)) * 20, b"\0" * 5000, b"\xff" * 5000, b"\x15\0\0\0\x64\xff\xff" * 50, b"\x07\0\0\0",
              message(WALK, 1, b"\xff" * 90), message(WRITE, 2, struct.pack("<IQI", 1, 0, 0xFFFFFFFF)), b"9P2000.L" * 3]
    for noise in noises:
        with Ninep(machine.channel) as client:
            client.raw(noise)
            client.version_after_noise()
            client.attach(0)
            assert client.read_all("/proc/version").startswith(b"Fathom")


def test_a_host_that_vanishes_in_the_middle(machine):
    whole = message(WRITE, 1, struct.pack("<IQI", 1, 0, 40000) + b"x" * 40000)
    for cut in (1, 4, 30, 20000):
        with Ninep(machine.channel) as client:
            client.version_after_noise()
            client.raw(whole[:cut])
        with Ninep(machine.channel) as client:
            client.version_after_noise()
            client.attach(0)
            assert client.read_all("/proc/version").startswith(b"Fathom")


def test_a_host_that_pauses_in_the_middle(client, machine):
    """Its message goes on, even with what looks like the beginning of another session."""
    machine.check("echo > /tmp/paused")
    sign = message(VERSION, NOTAG, struct.pack("<I", 65536) + text("9P2000.L"))
    with client.opened("/tmp/paused", RDWR) as fid:
        for data in (b"before" + b"after", b"before" + sign[:20] + b"!"):
            whole = message(WRITE, 7, struct.pack("<IQI", fid, 0, len(data)) + data)
            client.raw(whole[:-len(data) + 6])
            time.sleep(1.6)
            client.raw(whole[-len(data) + 6:])
            assert struct.unpack("<I", client.body_of(WRITE, 7))[0] == len(data)
            assert client.read(fid, 0, 100)[:len(data)] == data
    machine.check("rm /tmp/paused")


def test_a_host_that_does_not_read(machine):
    with Ninep(machine.channel) as client:
        client.version_after_noise()
        client.attach(0)
        fid = client.find("/dev/zero")
        client.open(fid)
        for _ in range(4):
            client.request(READ, struct.pack("<IQI", fid, 0, 60000))
        pipe = client.request(LOPEN, struct.pack("<II", fid, 0))
        wait_until(lambda: "running" in machine.check("echo running"))
        assert pipe
    with Ninep(machine.channel) as client:
        client.version_after_noise()
        client.attach(0)
        assert client.read_all("/proc/version").startswith(b"Fathom")


# ---- A port of virtio-serial ----


@pytest.fixture
def port(machine):
    with Ninep(machine.port) as one:
        one.version_after_noise()
        one.version(1 << 17)
        one.attach(0)
        yield one


def test_each_channel_has_its_client(machine, client, port):
    """Fids are their own; the files are the same."""
    client.walk(0, 5, "proc")
    assert failure(port.getattr, 5) == errno.EBADF
    port.walk(0, 5, "tmp")
    assert client.getattr(5) != port.getattr(5)
    machine.check("echo > trace")
    pipe = port.find(TRACING + "/trace_pipe")
    port.open(pipe)
    tag = read_of(port, pipe)
    client.write_file(TRACING + "/trace_marker", "from the other")
    assert port.read_end(tag).endswith(b"from the other\n")
    port.version()
    assert client.getattr(5) and failure(port.getattr, 5) == errno.EBADF


def test_port_byte_by_byte(machine, port):
    data = bytes(range(256)) * 800
    port.walk(0, 60, "tmp")
    port.create(60, "large", RDWR)
    for offset in range(0, len(data), 100001):
        part = data[offset:offset + 100001]
        assert port.write(60, offset, part) == len(part)
    for count in (131072 - 11, 8192, 8193, 4096 - 11):
        assert b"".join(port.read(60, offset, count) for offset in range(0, len(data), count)) == data
    port.remove(60)


def test_port_is_fast(port):
    """Ten megabytes a second are asked for; an idle machine has thirty times that."""
    with port.opened("/dev/zero") as fid:
        begin, done = time.monotonic(), 0
        while done < 20 << 20:
            done += len(port.read(fid, 0, 1 << 17))
    assert done / (time.monotonic() - begin) > 10e6 / PATIENCE


def test_port_survives_its_host(machine):
    """Garbage, half a message, and one that asks for more than there is room for and does not read it."""
    with Ninep(machine.port) as client:
        client.raw(b"\xff" * 100000)
    with Ninep(machine.port) as client:
        client.version_after_noise()
        client.raw(message(WRITE, 1, struct.pack("<IQI", 1, 0, 40000) + b"x" * 40000)[:30000])
    with Ninep(machine.port) as client:
        client.version_after_noise()
        client.attach(0)
        fid = client.find("/dev/zero")
        client.open(fid)
        for _ in range(40):
            client.request(READ, struct.pack("<IQI", fid, 0, 60000))
        time.sleep(0.3)
    with Ninep(machine.port) as client:
        client.version_after_noise()
        client.attach(0)
        assert client.read_all("/proc/version").startswith(b"Fathom")


def test_a_port_of_another_name_is_left_alone(tmp_path):
    with Guest("gcc", 1, machine="pc", extra=port_at(tmp_path / "port", "org.example.0")) as guest:
        with Ninep(tmp_path / "port", timeout=0.2) as client, pytest.raises(TimeoutError):
            client.version()
        assert "9p" not in guest.check("dmesg; ps")
