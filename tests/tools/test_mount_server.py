"""tools/mount against a server that lies, dies or says nothing: programs get an error or can be killed, nothing is lost or kept."""
import errno
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ninep_server import CLUNK, FLUSH, GETATTR, LCREATE, LOPEN, POLL, READ, READDIR, RLERROR, STATFS, VERSION, WALK, WRITE, Server

ROOT = Path(__file__).resolve().parents[2]
BOUND = 60  # seconds; whatever hangs ends then
BUSY, DIED = 4, 7


def can_mount():
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(not can_mount(), reason="this machine has no usable /dev/fuse")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The mount program, with checks for what it does to memory."""
    build = tmp_path_factory.mktemp("mount")
    subprocess.run(
        [
            "make",
            "-s",
            "-C",
            ROOT,
            f"BUILD={build}",
            "HOST_CFLAGS=-O1 -g -Wall -std=gnu11 -fsanitize=address,undefined " "-fno-sanitize-recover=all",
            f"{build}/tools/mount",
        ],
        check=True,
    )
    return build / "tools/mount"


class Mount:
    def __init__(self, program, base, files, patience=BOUND):
        self.dir, self.path = base / "files", base / "channel"
        self.dir.mkdir()
        self.server = Server(self.path, files)
        self.errors = open(base / "errors", "w+")
        self.process = subprocess.Popen(
            [program, self.path, "/", self.dir, "-f", "-p", str(patience)],
            stderr=self.errors,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
        )
        # Whatever hangs in its files, this process too, goes on when it has gone.
        self.watchdog = threading.Timer(2 * BOUND, self.process.kill)
        self.watchdog.start()
        wait_until(lambda: os.path.ismount(self.dir) or self.process.poll() is not None)
        self.children = []

    def __truediv__(self, name):
        return self.dir / name

    def start(self, *words, **more):
        """A program that looks at the files: only it hangs when they do."""
        child = subprocess.Popen(words, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
        self.children.append(child)
        return child

    def python(self, text, **more):
        return self.start(sys.executable, "-c", f"import os, select, signal, sys, threading\ndir = {str(self.dir)!r}\n" + text, **more)

    def run(self, *words):
        child = self.start(*words)
        return child.communicate(timeout=BOUND)[0]

    def saw(self, kind):
        wait_until(lambda: any(one[0] == kind for one in self.server.seen))

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def close(self):
        """The program first: then nothing hangs any more."""
        self.watchdog.cancel()
        self.process.terminate()
        try:
            self.process.wait(BOUND)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for child in self.children:
            child.kill()
            child.wait(BOUND)
            child.stdout.close()
        subprocess.run(["fusermount3", "-u", "-z", "-q", self.dir], stderr=subprocess.DEVNULL)
        self.server.__exit__()
        said = self.said()
        self.errors.close()
        assert "Sanitizer" not in said and "runtime error" not in said, said


def wait_until(condition):
    end = time.monotonic() + BOUND
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@pytest.fixture
def mount(program, tmp_path):
    one = Mount(program, tmp_path, {"file": b"text of the file\n"})
    yield one
    one.close()


@pytest.fixture
def hasty(program, tmp_path):
    """One that takes a second without an answer for silence."""
    one = Mount(program, tmp_path, {"file": b"text of the file\n"}, patience=1)
    yield one
    one.close()


def no_answer(server, tag, body):
    return None


# ---- A guest that says nothing ----


def test_programs_can_be_killed(mount):
    """Whatever they wait for, and though others wait for them, as for the lock of a directory."""
    server = mount.server
    for kind, words in {
        LOPEN: ["cat", "file"],
        READ: ["cat", "file"],
        WRITE: ["sh", "-c", "echo 1 >> file"],
        LCREATE: ["sh", "-c", "echo 1 > new"],
    }.items():
        server.hooks = {kind: lambda server, tag, body, kind=kind: server.hush() or server.held.append((kind, tag, body))}
        server.seen.clear()
        children = [subprocess.Popen(words, cwd=mount.dir, stderr=subprocess.DEVNULL)]
        mount.saw(kind)
        children += [
            subprocess.Popen(words, cwd=mount.dir, stderr=subprocess.DEVNULL)
            for words in (
                ["stat", "file"],
                ["stat", "-f", "."],
                ["ls", "."],
                ["mkdir", "box"],
                ["rm", "-f", "file"],
                ["chmod", "600", "file"],
            )
        ]
        nr = len(server.seen)
        wait_until(lambda: len(server.seen) > nr)
        for child in children:
            child.kill()
        assert {child.wait(BOUND) for child in children} == {-signal.SIGKILL}, kind
        server.hooks = {}
        server.resume()
        assert mount.run("cat", mount / "file").startswith("text of the file\n")
        wait_until(lambda: len(server.fids) <= 3)  # the directory, `file` and `new`: what was opened too late is closed


def test_a_silent_guest_is_told_from_one_that_waits(hasty):
    server = hasty.server
    server.hooks[READ] = no_answer
    waits = hasty.start("cat", hasty / "file")
    hasty.saw(READ)
    server.seen.clear()
    wait_until(lambda: sum(kind == FLUSH for kind, _, _ in server.seen) > 8)  # some seconds: each is a question whether it is there
    assert waits.poll() is None and os.getxattr(hasty.dir, "user.fathom.guest").decode() == f"{hasty.path}: answers"
    server.hush()
    assert waits.communicate(timeout=BOUND)[0] == f"cat: {hasty / 'file'}: Host is down\n"
    assert "Host is down" in hasty.run("ls", hasty.dir)
    assert os.getxattr(hasty.dir, "user.fathom.guest").decode().startswith(f"{hasty.path}: no answer for ")
    assert f"{hasty.path} at {hasty.dir}: the kernel does not answer" in hasty.said()
    server.hooks.clear()
    server.resume()
    wait_until(lambda: hasty.run("cat", hasty / "file") == "text of the file\n")
    assert "the kernel answers again" in hasty.said()
    wait_until(lambda: len(server.fids) <= 2)  # the directory and the file: what was opened too late is closed


def test_who_polls_hears_of_silence(hasty):
    def poll(server, tag, body):
        return None if struct.unpack("<III", body)[2] else server.message(POLL + 1, tag, bytes(4))

    hasty.server.hooks[POLL] = poll
    child = hasty.python(
        "poll = select.poll(); poll.register(os.open(dir + '/file', os.O_RDONLY), select.POLLIN)\n"
        "print(poll.poll(1), flush=True); print([event for _, event in poll.poll()])"
    )
    assert child.stdout.readline() == "[]\n"
    # Two looks of the first call, one of the second, which waits then.
    wait_until(lambda: sum(kind == POLL and not struct.unpack("<III", body)[2] for kind, _, body in hasty.server.seen) > 2)
    time.sleep(0.1)
    hasty.server.hush()
    assert child.communicate(timeout=BOUND)[0] == f"[{select.POLLERR}]\n"


def test_what_an_interrupted_read_brings_is_for_the_next(mount):
    server, held = mount.server, []
    server.hooks[READ] = lambda server, tag, body: held.append(tag)
    server.hooks[FLUSH] = no_answer
    child = mount.python(
        """
def late(*unused): raise TimeoutError
signal.signal(signal.SIGUSR1, late)
file = os.open(dir + '/file', os.O_RDONLY)
try: os.read(file, 100)
except TimeoutError: print('interrupted', flush=True)
sys.stdin.readline()
print(os.read(file, 4), os.read(file, 100))""",
        stdin=subprocess.PIPE,
    )
    mount.saw(READ)
    child.send_signal(signal.SIGUSR1)
    assert child.stdout.readline() == "interrupted\n"
    server.send(server.message(READ + 1, held.pop(), struct.pack("<I", 9) + b"in flight"))
    time.sleep(0.1)  # nothing else can tell that it has come; if it has not, the next read waits for it
    assert child.communicate("\n", timeout=BOUND)[0] == "b'in f' b'light'\n"
    assert sum(kind == READ for kind, _, _ in server.seen) == 1


@pytest.mark.parametrize("end", ("data", "flush"))
def test_the_next_read_waits_for_an_interrupted_one(mount, end):
    """It takes what comes for that; when nothing does, it asks itself."""
    server, held, flushes = mount.server, [], []
    server.hooks[READ] = lambda server, tag, body: held.append(tag)
    server.hooks[FLUSH] = lambda server, tag, body: flushes.append(tag)
    child = mount.python(
        """
def late(*unused): raise TimeoutError
signal.signal(signal.SIGUSR1, late)
file = os.open(dir + '/file', os.O_RDONLY)
try: os.read(file, 100)
except TimeoutError: print('interrupted', flush=True)
print(os.read(file, 100))"""
    )
    mount.saw(READ)
    child.send_signal(signal.SIGUSR1)
    assert child.stdout.readline() == "interrupted\n"
    time.sleep(0.2)  # the next one has come, or comes a little later: that makes no difference
    assert len(held) == 1
    if end == "data":
        server.send(server.message(READ + 1, held[0], struct.pack("<I", 17) + b"text of the file\n"))
    else:
        server.hooks.clear()
        for tag in flushes:
            server.send(server.message(FLUSH + 1, tag))
    assert child.communicate(timeout=BOUND)[0] == "b'text of the file\\n'\n"


def test_a_tag_is_busy_until_its_flush_is_answered(mount):
    server, flushes = mount.server, {}
    server.hooks[READ] = no_answer
    server.hooks[FLUSH] = lambda server, tag, body: flushes.setdefault(struct.unpack("<H", body)[0], tag) and None
    child = mount.start("cat", mount / "file")
    mount.saw(READ)
    child.kill()
    child.wait(BOUND)
    old = next(tag for kind, tag, _ in server.seen if kind == READ)
    del server.hooks[READ]
    server.send(server.message(READ + 1, old, struct.pack("<I", 0)))
    server.seen.clear()
    for _ in range(600):
        os.stat(mount / "file")
    tags = [tag for kind, tag, _ in server.seen]
    assert len(tags) > 1100 and old not in tags and len(set(tags)) > 1000
    server.hooks.clear()
    for tag in flushes.values():
        server.send(server.message(FLUSH + 1, tag))
    for _ in range(1100):
        os.stat(mount / "file")
    assert old in [tag for kind, tag, _ in server.seen]


def test_more_requests_than_tags(mount):
    """Then there is an error, and no fid is forgotten to be closed."""
    server, held = mount.server, []
    for name in range(150):
        server.files[f"f{name}"], server.ids[f"f{name}"] = b"", 1000 + name
    clunks = []
    child = mount.python(
        """
files = [os.open(f'{dir}/f{i}', os.O_RDONLY) for i in range(150)]
file = os.open(dir + '/file', os.O_RDONLY)
print('opened', flush=True); sys.stdin.readline()
threading.stack_size(65536)
codes = []
def read():
    try: codes.append(os.pread(file, 10, 0))
    except OSError as err: codes.append(err.errno)
threads = [threading.Thread(target=read) for _ in range(1000)]
for one in threads: one.start()
while len(codes) < 40: pass
for one in files: os.close(one)
try: os.stat(dir + '/file')
except OSError as err: print(err.errno, flush=True)
for one in threads: one.join()
print(sorted(set(map(str, codes))), flush=True)""",
        stdin=subprocess.PIPE,
    )
    assert child.stdout.readline() == "opened\n"
    server.hooks[READ] = lambda server, tag, body: held.append((READ, tag, body))
    server.hooks[CLUNK] = lambda server, tag, body: clunks.append((CLUNK, tag, body))
    child.stdin.write("\n")
    child.stdin.flush()
    assert child.stdout.readline() == f"{errno.EAGAIN}\n"
    assert len(held) == 1024 - 64 - len([one for one in clunks if one not in clunks[:64]]) and len(clunks) <= 64
    server.hooks.clear()
    for kind, tag, body in held + clunks:
        server.send(server.usual(kind, tag, body))
    assert child.communicate(timeout=BOUND)[0] == f"['{errno.EAGAIN}', \"b'text of th'\"]\n"
    wait_until(lambda: sum(name is not None and name != "file" for name in server.fids.values()) <= 150)
    subprocess.run(["sh", "-c", "echo 2 > /proc/sys/vm/drop_caches"], stderr=subprocess.DEVNULL)


def test_files_that_are_closed_leave_tags(mount):
    """While the guest has not answered a thousand closes, a program can go on; and all are answered in the end."""
    server, clunks = mount.server, []
    server.hooks[CLUNK] = lambda server, tag, body: clunks.append((CLUNK, tag, body))
    child = mount.python("for _ in range(1100): os.close(os.open(dir + '/file', os.O_RDONLY))\nprint(os.stat(dir + '/file').st_size)")
    assert child.communicate(timeout=BOUND)[0] == f"{len(server.files['file'])}\n"
    assert len(clunks) == 256
    server.hooks.clear()
    for kind, tag, body in clunks:
        server.send(server.usual(kind, tag, body))
    wait_until(lambda: list(server.fids.values()).count("file") <= 1)


# ---- A guest that lies ----


def body_of(kind, data):
    return lambda server, tag, body: server.message(kind + 1, tag, data)


def rlerror(data):
    return lambda server, tag, body: server.message(RLERROR, tag, data)


LIES = {
    "read of more than there is": (READ, body_of(READ, struct.pack("<I", 100) + b"few"), "cat"),
    "read of 4 GB": (READ, body_of(READ, struct.pack("<I", 0xFFFFFFFF)), "cat"),
    "read without a length": (READ, body_of(READ, b"\1\0"), "cat"),
    "write of more than there was": (WRITE, body_of(WRITE, struct.pack("<I", 500)), "write"),
    "write without a length": (WRITE, body_of(WRITE, b""), "write"),
    "attributes that end early": (GETATTR, body_of(GETATTR, bytes(152)), "stat"),
    "facts that end early": (STATFS, body_of(STATFS, bytes(59)), "statfs"),
    "another type": (READ, body_of(WRITE, struct.pack("<I", 4) + b"text"), "cat"),
    "error 0": (READ, rlerror(struct.pack("<I", 0)), "cat"),
    "error 2^31": (READ, rlerror(struct.pack("<I", 1 << 31)), "cat"),
    "error without a number": (READ, rlerror(b"\5"), "cat"),
    "open without a file": (LOPEN, rlerror(b""), "cat"),
}


def do(mount, action):
    name = mount / "file"
    if action == "cat":
        name.read_bytes()
    elif action == "write":
        with open(name, "ab", buffering=0) as file:
            file.write(b"more")
    elif action == "stat":
        os.stat(name)
    else:
        os.statvfs(mount.dir)


def test_lies_are_errors(mount):
    for lie, (kind, hook, action) in LIES.items():
        mount.server.hooks = {kind: hook}
        with pytest.raises(OSError) as err:
            do(mount, action)
        assert err.value.errno == errno.EIO, lie
        mount.server.hooks = {}
        do(mount, action)


def test_answers_to_what_was_not_asked(mount):
    server = mount.server
    for tag in (0, 5, 1023, 1024, 1029, 2047, 2048, 2049, 0xFFFE, 0xFFFF):
        for kind in (READ + 1, FLUSH + 1, VERSION + 1, RLERROR, 0, 255):
            server.send(server.message(kind, tag, bytes(20)))
    assert mount.run("cat", mount / "file") == "text of the file\n"


@pytest.mark.parametrize(
    "entry",
    (b"\1" * 23, b"\1" * 24, bytes(13) + struct.pack("<QBH", 1, 8, 300) + b"n" * 300, bytes(13) + struct.pack("<QBH", 1, 8, 50) + b"short"),
)
def test_listings_that_end_early(mount, entry):
    mount.server.hooks[READDIR] = lambda server, tag, body: server.message(READDIR + 1, tag, struct.pack("<I", len(entry)) + entry)
    assert os.listdir(mount.dir) == []


@pytest.mark.parametrize("size", (0, 6, (128 << 10) + 1, 0xFFFFFFFF))
def test_sizes_that_no_message_has(mount, size):
    mount.server.send(struct.pack("<IBH", size, READ + 1, 0))
    assert mount.process.wait(BOUND) == DIED
    assert os.listdir(mount.dir) == []


def test_messages_come_in_pieces(mount):
    def in_pieces(server, tag, body):
        for byte in server.usual(READ, tag, body):
            server.send(bytes([byte]))

    mount.server.hooks[READ] = in_pieces
    assert mount.run("cat", mount / "file") == "text of the file\n"


def test_half_a_message(hasty):
    hasty.server.hooks[READ] = lambda server, tag, body: server.usual(READ, tag, body)[:9]
    assert "Host is down" in hasty.run("cat", hasty / "file")


@pytest.mark.parametrize("lie", ("noise", "no attach"))
def test_a_channel_that_never_gets_ready(program, tmp_path, lie):
    with Server(tmp_path / "channel", {}) as server:

        def noise(server, tag, body):
            def make():
                try:
                    while True:
                        server.send(b"\x15\0\0\0")
                        time.sleep(0.01)
                except OSError:
                    pass

            threading.Thread(target=make, daemon=True).start()

        if lie == "noise":
            server.hooks[VERSION] = noise
        else:
            server.hooks[VERSION] = lambda server, tag, body: server.hush() or server.usual(VERSION, tag, body)
        run = subprocess.run([program, tmp_path / "channel", "/", tmp_path, "-p", "1"], capture_output=True, text=True, timeout=BOUND)
        assert run.returncode == BUSY and run.stderr.startswith("no answer from ")


# ---- Kept answers, and none that is lost ----


def test_fids_are_closed(mount):
    """Of files that are looked for again, of those that are not there, and of those that cannot be looked at."""
    server = mount.server
    for _ in range(300):
        os.stat(mount / "file")
        assert not (mount / "nowhere").exists()
        (mount / "file").read_bytes()
    numbers = {struct.unpack_from("<II", body)[1] for kind, _, body in server.seen if kind == WALK}
    assert server.most_fids < 20 and max(numbers) < 20
    server.hooks[GETATTR] = lambda server, tag, body: server.error(tag, errno.EACCES)
    for _ in range(50):
        with pytest.raises(PermissionError):
            os.stat(mount / "file")
    del server.hooks[GETATTR]
    os.stat(mount / "file")
    assert server.most_fids < 20


def test_what_the_line_does_not_take_at_once(mount):
    """Forty writes of 64 KiB, while the server reads nothing."""
    server = mount.server
    block = bytes(range(256)) * 256
    for i in range(40):
        server.files[f"f{i}"], server.ids[f"f{i}"] = b"", 1000 + i
    files = [os.open(mount / f"f{i}", os.O_WRONLY) for i in range(40)]
    server.frozen = True
    writers = [threading.Thread(target=os.write, args=(file, block)) for file in files]
    for one in writers:
        one.start()
    time.sleep(0.3)
    server.frozen = False
    for one in writers:
        one.join(BOUND)
    for file in files:
        os.close(file)
    assert all(server.files[f"f{i}"] == block for i in range(40))
