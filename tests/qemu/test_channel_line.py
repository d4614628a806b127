"""The machine channel, on COM2 and on a port of virtio-serial: reads that wait, and whatever may happen to a line."""
import errno
import re
import select
import struct
import time

import pytest

from channelguest import SHELL, TRACING, failure, port_at, wait_until
from guest import PATIENCE, Guest
from ninep import LOPEN, NONBLOCK, NOTAG, POLL, RDONLY, RDWR, READ, VERSION, WALK, WRITE, WRONLY, Ninep, message, text


def read_of(client, fid, offset=0):
    return client.request(READ, struct.pack("<IQI", fid, offset, 4000))


def threads(machine):
    return machine.check("ps").count("9p-wait")


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
    before = threads(machine)
    for name, nr in (("README", 0), ("trace", 0), ("per_cpu/cpu0/trace_pipe_raw", 1)):
        fid = client.find(f"{TRACING}/{name}")
        client.open(fid)
        assert threads(machine) == before + nr, name
        client.clunk(fid)


def test_a_read_that_shall_not_wait(client, machine):
    machine.check("echo > trace")
    with client.opened(TRACING + "/trace_pipe", NONBLOCK) as fid:
        assert failure(client.read, fid, 0, 100) == errno.EAGAIN


IN, OUT, READABLE = select.POLLIN, select.POLLOUT, select.POLLIN | select.POLLRDNORM


def poll_of(client, fid, wait_ms=3600 * 1000):
    return client.request(POLL, struct.pack("<III", fid, READABLE, wait_ms))


def test_poll(client, machine):
    """Is there something to read? A read that waits holds nothing up, and what waits is answered once there is."""
    machine.check("echo > trace")
    with client.opened(TRACING + "/trace_pipe", NONBLOCK) as pipe:
        assert client.poll(pipe, READABLE) == 0 == client.poll(pipe, READABLE, 1), "over at once, and behind a millisecond"
        tags = [poll_of(client, pipe) for _ in range(2)]
        client.flush(tags[0])
        assert client.poll(pipe, READABLE) == 0
        machine.check("echo first > trace_marker")
        assert client.poll_end(tags[1]) == READABLE and tags[0] not in client.answers
        assert client.poll(pipe, IN) == IN and client.poll(pipe, OUT) == 0 and client.poll(pipe, READABLE, 5) == READABLE
        assert client.read(pipe, 0, 4000).endswith(b"first\n")
        assert client.poll(pipe, READABLE) == 0
    pipe = client.find(TRACING + "/trace_pipe")
    client.open(pipe)
    read, tag = read_of(client, pipe), poll_of(client, pipe)
    assert client.poll(pipe, READABLE) == 0, "a read waits there"
    client.clunk(pipe)
    assert failure(client.poll_end, tag) == errno.EBADF == failure(client.poll, pipe, READABLE) and read in client.answers
    with client.opened(TRACING + "/trace_marker", WRONLY) as marker, client.opened(TRACING) as tree, client.opened(
        TRACING + "/trace"
    ) as trace:
        assert client.poll(marker, IN | OUT, 1000) == OUT and client.poll(tree, IN | OUT, 1000) == IN == client.poll(trace, IN)


def test_poll_knows_buffer_percent(client, machine):
    machine.check("echo 0 > tracing_on; echo > trace; echo 50 > buffer_percent; echo 1 > tracing_on; echo few > trace_marker")
    cpu = re.search(r"\[(\d+)\]", machine.check("cat trace"))[1].lstrip("0") or "0"
    with client.opened(f"{TRACING}/per_cpu/cpu{cpu}/trace_pipe_raw", NONBLOCK) as raw:
        assert client.poll(raw, IN) == 0
        machine.check("echo 0 > buffer_percent")
        assert client.poll(raw, IN) == IN
    machine.check("echo 50 > buffer_percent")


def test_poll_of_histograms(client, machine):
    """Worth reading until it is read; news (POLLPRI) are told once, and a waiter is told when they come. The
    shell's poll likewise."""
    fork, pri = "events/sched/sched_process_fork", select.POLLPRI
    # A background command is a thread that has been started, so it counts.
    condition = 'if child_comm == "sleep"'
    machine.check(f"echo 'hist:keys=common_type {condition}' > {fork}/trigger")
    with client.opened(f"{TRACING}/{fork}/hist") as hist:
        assert client.poll(hist, IN | pri) == 0 == client.poll(hist, IN | pri, 1)
        assert machine.run(f"poll {fork}/hist 0.02")[1] == 1 == machine.run(f"poll -P {fork}/hist 0.02")[1]
        tag = client.request(POLL, struct.pack("<III", hist, pri, 3600 * 1000))
        machine.check("sleep 0 &")
        assert client.poll_end(tag) == pri and client.poll(hist, IN | pri) == IN
        assert b"hitcount" in client.read(hist, 0, 4000)
        assert client.read(hist, 0, 4000).count(b"Totals") == 1 and client.poll(hist, IN | pri) == 0
        machine.check(f"poll {fork}/hist 5; sleep 0 &")
        machine.check(f"wait; (while true; do sleep 0 & wait; done) & poll -P {fork}/hist 60; kill %1; wait")
    machine.check(f"> {fork}/trigger")


def test_polls_have_a_limit(client, machine):
    machine.check("echo > trace")
    with client.opened(TRACING + "/trace_pipe", NONBLOCK) as pipe:
        tags = [poll_of(client, pipe) for _ in range(257)]
        assert failure(client.poll_end, tags[256]) == errno.EAGAIN
        client.flush(tags[0])
        machine.check("echo all > trace_marker")
        assert [client.poll_end(tag) for tag in tags[1:256]] == [READABLE] * 255


def test_an_open_file_learns_not_to_wait(client, machine):
    machine.check("echo > trace; echo first > trace_marker")
    with client.opened(TRACING + "/trace_pipe") as pipe:
        client.setfl(pipe, NONBLOCK)
        first = client.read(pipe, 0, 4000)
        assert first.endswith(b"first\n") and failure(client.read, pipe, len(first), 4000) == errno.EAGAIN
        client.setfl(pipe, RDONLY)
        tag = read_of(client, pipe, len(first))
        assert client.poll(pipe, IN) == 0 and tag not in client.answers
        machine.check("echo second > trace_marker")
        assert client.read_end(tag).endswith(b"second\n")
    with client.opened(TRACING + "/per_cpu/cpu0/trace_pipe_raw", NONBLOCK) as raw:
        client.setfl(raw, RDONLY)
        tag = read_of(client, raw)
        assert client.poll(raw, IN) == 0, "it waits in a thread that it did not have at first"
        client.flush(tag)
    assert failure(client.setfl, 4711, 0) == errno.EBADF


def test_markers_of_a_client_come_from_one_thread(client, machine):
    machine.check("echo > trace")
    for word in ("one", "two", "three"):
        client.write_file(TRACING + "/trace_marker", word)
    writers = re.findall(r"(\S+)-(\d+) .*tracing_mark_write", machine.check("cat trace"))
    assert len(writers) == 3 and len(set(writers)) == 1 and writers[0][0] == "9p-com2"


def test_console(machine, client):
    with client.opened("/dev/console", RDWR) as fid:
        assert failure(client.read, fid, 0, 10) == errno.EIO, "what is typed is for the shell"
        assert client.write(fid, 0, "said by the host\n") == 17
    machine.expect(rb"said by the host\r\n")
    machine.check("true")


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
    assert threads(machine) == 64
    client.clunk(pipes.pop())
    client.open(client.find("/dev/tty"))
    client.version()
    assert threads(machine) == 0


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
    assert threads(machine) == 0
    # The pipe is free.
    assert machine.check("echo free > trace_marker; cat trace").count("free") == 1


def test_garbage(machine):
    noises = [
        bytes(range(256)) * 20,
        b"\0" * 5000,
        b"\xff" * 5000,
        b"\x15\0\0\0\x64\xff\xff" * 50,
        b"\x07\0\0\0",
        message(WALK, 1, b"\xff" * 90),
        message(WRITE, 2, struct.pack("<IQI", 1, 0, 0xFFFFFFFF)),
        b"9P2000.L" * 3,
    ]
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
            client.raw(whole[: -len(data) + 6])
            time.sleep(1.6)
            client.raw(whole[-len(data) + 6 :])
            assert struct.unpack("<I", client.body_of(WRITE, 7))[0] == len(data)
            assert client.read(fid, 0, 100)[: len(data)] == data
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
        part = data[offset : offset + 100001]
        assert port.write(60, offset, part) == len(part)
    for count in (131072 - 11, 8192, 8193, 4096 - 11):
        assert b"".join(port.read(60, offset, count) for offset in range(0, len(data), count)) == data
    port.remove(60)


def test_requests_that_wait_take_some_memory_and_no_more(machine, port):
    """1,024 reads of 128 KiB on 16 shells that print nothing: 8 MiB wait, the others get EAGAIN."""
    shells = [port.find(SHELL) for _ in range(16)]
    for fid in shells:
        port.open(fid, RDWR)
        port.write(fid, 0, "sleep 1000")
    pages = machine.used_pages()
    tags = []
    for _ in range(64):
        tags += [port.request(READ, struct.pack("<IQI", fid, 0, 1 << 17)) for fid in shells]
        port.getattr(0)  # takes the answers that have come: the line does not hold all of them
    answers = [tag for tag in tags if tag in port.answers]
    assert len(tags) - len(answers) == (8 << 20) // (1 << 17)
    assert {failure(port.read_end, tag) for tag in answers} == {errno.EAGAIN}
    assert machine.used_pages() - pages <= (9 << 20) // 4096
    port.version()
    assert machine.used_pages() < pages


def test_a_message_that_is_too_long_is_answered(machine, client, port):
    """The session goes on. The limit is what both sides have agreed on, and the longest that there is."""
    for one, msize in ((client, 600), (port, 1 << 17)):
        one.version(msize)
        one.attach(0)
        one.walk(0, 60, "tmp")
        one.create(60, f"long{msize}", RDWR)
        head = len(message(WRITE, 0, struct.pack("<IQI", 60, 0, 0)))
        assert one.write(60, 0, b"x" * (msize - head)) == msize - head
        for more in (1, 3 * msize):
            assert failure(one.write, 60, 0, b"y" * (msize - head + more)) == errno.EMSGSIZE
        assert one.read(60, 0, 10) == b"x" * 10
        one.remove(60)


def test_port_is_fast(machine, port):
    """Ten megabytes a second of QEMU's processor time are asked for; an idle machine has thirty times that."""
    with port.opened("/dev/zero") as fid:
        begin, done = machine.processor_seconds(), 0
        while done < 20 << 20:
            done += len(port.read(fid, 0, 1 << 17))
    assert machine.processor_seconds() - begin < done / 10e6 * PATIENCE


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
