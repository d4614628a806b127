"""`tools/fathom mount`: the kernel's files in a directory of this machine, with the programs of this machine."""
import concurrent.futures
import os
import re
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from channelguest import port_at
from guest import BUILDS, PATIENCE, ROOT, Guest, usual_signals
from ninep import Ninep


def can_mount():
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(not can_mount(), reason="this machine has no usable /dev/fuse")


def fathom(*words):
    return subprocess.run(
        [ROOT / "tools/fathom", "mount", "--build", BUILDS["gcc"], *words], capture_output=True, text=True, timeout=60 * PATIENCE
    )


class Mounted:
    """A guest whose files are at .dir, the trace tree at .tracing; by COM2, or by virtio, which is faster."""

    def __init__(self, has_port=True):
        self.temporary = tempfile.TemporaryDirectory(prefix="fathom-mount-", ignore_cleanup_errors=True)
        base = Path(self.temporary.name)
        self.channel, self.dir = base / "channel", base / "files"
        self.tracing = self.dir / "sys/kernel/tracing"
        self.dir.mkdir()
        if has_port:
            self.guest = Guest("gcc", 2, extra=port_at(self.channel))
        else:
            self.guest = Guest("gcc", 2, com2=f"unix:{self.channel},server=on,wait=off")
        try:
            self.mount()
        except BaseException:
            self.guest.close()
            raise

    def mount(self, *words):
        run = fathom(self.dir, "--channel", self.channel, *words)
        assert run.returncode == 0, run.stderr

    def close(self):
        if os.path.ismount(self.dir):
            fathom(self.dir, "--unmount")
        self.guest.close()
        self.temporary.cleanup()

    def sh(self, command):
        """The output of a command of bash whose directory is that of the trace files."""
        run = subprocess.run(["bash", "-c", command], cwd=self.tracing, capture_output=True, text=True, timeout=60 * PATIENCE)
        return run.stdout + run.stderr


@pytest.fixture(scope="module")
def mounted():
    one = Mounted()
    yield one
    one.close()


def test_reading_and_listing(mounted):
    assert (mounted.dir / "proc/version").read_text() == mounted.guest.check("cat /proc/version")
    assert sorted(os.listdir(mounted.tracing)) == sorted(mounted.guest.check("ls /sys/kernel/tracing").split())
    for name in ("README", "available_filter_functions"):
        assert (mounted.tracing / name).read_text() == mounted.guest.check(f"cat {name}")
    found = mounted.sh("find events/sched options | wc -l")
    assert found == mounted.guest.check("find events/sched options | wc -l")
    assert (
        mounted.sh("stat -c '%F %a %s' options trace current_tracer")
        == "directory 750 0\nregular empty file 640 0\nregular empty file 640 0\n"
    )


def test_writing_takes_effect_at_once(mounted):
    """Also what takes effect when the file is closed, and what another program has read before."""
    for name in ("vfs_open", "vfs_stat", "vfs_open"):
        assert mounted.sh(f"echo {name} > set_ftrace_filter; cat set_ftrace_filter") == name + "\n"
    assert sorted(mounted.sh("echo vfs_stat >> set_ftrace_filter; cat set_ftrace_filter").split()) == ["vfs_open", "vfs_stat"]
    mounted.guest.check("echo vfs_mkdir > set_ftrace_filter")
    assert (
        mounted.sh("cat set_ftrace_filter; : > set_ftrace_filter; cat set_ftrace_filter") == "vfs_mkdir\n#### all functions enabled ####\n"
    )
    assert mounted.sh("echo function > current_tracer; grep -c ' <-' trace; echo nop > current_tracer; cat current_tracer").endswith(
        "\nnop\n"
    )
    assert "Invalid argument" in mounted.sh("echo nonsense > current_tracer")
    assert "Permission denied" in mounted.sh("echo > new_file")


def test_instances(mounted):
    assert mounted.sh("mkdir instances/box && cat instances/box/current_tracer && rmdir instances/box && ls instances") == "nop\n"
    assert "Operation not permitted" in mounted.sh("mkdir box")


def test_files_of_memory(mounted):
    big = os.urandom(70000)  # more than one message
    target = mounted.dir / "tmp/copy"
    target.write_bytes(big)
    assert target.read_bytes() == big and target.stat().st_size == len(big)
    with open(target, "r+b") as file:
        file.seek(50000)
        file.write(b"here")
    assert target.read_bytes()[49990:50010] == big[49990:50000] + b"here" + big[50004:50010]
    assert (
        mounted.sh("mv ../../../tmp/copy ../../../tmp/moved; wc -c < ../../../tmp/moved; rm ../../../tmp/moved; " "ls ../../../tmp")
        == "70000\n"
    )


def test_files_are_renamed(mounted):
    """As editors do that write beside a file and put the new one in its place; mv copies only what goes to another file system."""
    tmp = mounted.dir / "tmp"
    (tmp / "notes").write_text("one\ntwo\n")
    same = (tmp / "notes").stat().st_ino
    with open(tmp / "notes") as held:
        mounted.sh("mv ../../../tmp/notes ../../../tmp/moved")
        assert (tmp / "moved").stat().st_ino == same == os.fstat(held.fileno()).st_ino and held.read() == "one\ntwo\n"
    assert mounted.sh("sed -i s/two/three/ ../../../tmp/moved; cat ../../../tmp/moved; ls ../../../tmp") == "one\nthree\nmoved\n"
    assert mounted.guest.check("cat /tmp/moved; mkdir /tmp/box; mv /tmp/moved /tmp/box/renamed; mv /tmp/box /tmp/case") == "one\nthree\n"
    # A file that the guest has renamed is found anew.
    assert (
        mounted.sh(
            "cat ../../../tmp/case/renamed; mv ../../../tmp/case ../../../tmp/box; mv -n ../../../tmp/box/renamed ../../../tmp/notes; "
            "ls ../../../tmp ../../../tmp/box; rmdir ../../../tmp/box; rm ../../../tmp/notes"
        )
        == "one\nthree\n../../../tmp:\nbox\nnotes\n\n../../../tmp/box:\n"
    )
    assert "Operation not permitted" in mounted.sh("mv trace other")
    assert (
        mounted.sh("mv tracing_on ../../../tmp/on 2> /dev/null; cat ../../../tmp/on; rm ../../../tmp/on; ls ../../../tmp; cat tracing_on")
        == "1\n1\n"
    )
    with pytest.raises(OSError, match="cross-device"):
        os.rename(mounted.tracing / "trace", tmp / "x")


def test_a_pipe_is_followed_while_others_work(mounted):
    mounted.sh("echo > trace")
    # A shell that has started the tests in the background has made them ignore Ctrl-C.
    cat = subprocess.Popen(["cat", "trace_pipe"], cwd=mounted.tracing, stdout=subprocess.PIPE, text=True, preexec_fn=usual_signals)
    try:
        for word in ("one", "two", "three"):
            mounted.sh(f"echo {word} > trace_marker")
            assert cat.stdout.readline().endswith(f"tracing_mark_write: {word}\n")
    finally:
        cat.send_signal(signal.SIGINT)
        assert cat.wait(20 * PATIENCE) == -signal.SIGINT, "it waits in a read, and is interrupted there"
        cat.stdout.close()
    mounted.sh("echo four > trace_marker")
    assert mounted.guest.check("cat trace").count("four") == 1, "nobody reads the pipe any more"


def test_reads_stop_waiting_when_the_program_says_so(mounted):
    """Behind the open, too: that is how trace-cmd reads a buffer to its end."""
    mounted.sh("echo > trace; echo word > trace_marker")
    with open(mounted.tracing / "trace_pipe", "rb", buffering=0) as pipe:
        os.set_blocking(pipe.fileno(), False)
        assert pipe.read(4096).endswith(b"tracing_mark_write: word\n")
        assert pipe.read(4096) is None, "EAGAIN"
        mounted.sh("echo more > trace_marker")
        os.set_blocking(pipe.fileno(), True)
        assert pipe.read(4096).endswith(b"tracing_mark_write: more\n")


def test_programs_wait_until_there_is_something(mounted):
    """By select, poll and epoll, several at once, also where they share a file."""
    mounted.sh("echo > trace; mkdir instances/box")
    ready = select.POLLIN | select.POLLRDNORM
    with open(mounted.tracing / "trace_pipe", "rb", buffering=0) as pipe, open(
        mounted.tracing / "instances/box/trace_pipe", "rb", buffering=0
    ) as box:
        poll, epoll = select.poll(), select.epoll()
        poll.register(pipe, ready)
        epoll.register(pipe, select.EPOLLIN)
        assert poll.poll(0) == [] == epoll.poll(0) and select.select([pipe, box], [], [], 0.01)[0] == []
        waits = [lambda: select.select([pipe, box], [], [])[0], poll.poll, epoll.poll]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            woken = [pool.submit(wait) for wait in waits]
            assert not concurrent.futures.wait(woken, 0.1)[0]
            mounted.guest.check("echo word > trace_marker")
            assert [one.result(60 * PATIENCE) for one in woken] == [[pipe], [(pipe.fileno(), ready)], [(pipe.fileno(), select.EPOLLIN)]]
        assert pipe.read(4096).endswith(b"tracing_mark_write: word\n") and poll.poll(0) == []
        mounted.sh("echo other > instances/box/trace_marker")
        assert select.select([pipe, box], [], [], 60 * PATIENCE)[0] == [box]
    mounted.sh("rmdir instances/box")
    with open(mounted.tracing / "trace_marker", "w") as marker, open(mounted.tracing / "trace") as trace:
        assert select.select([trace], [marker], [], 0)[:2] == ([trace], [marker])


def test_programs_wait_for_a_histogram(mounted):
    """POLLPRI for what is new, which the kernel says once, and POLLIN until it is read."""
    fork = "events/sched/sched_process_fork"
    mounted.guest.check(f"echo 'hist:keys=common_type if child_comm == \"sleep\"' > {fork}/trigger")
    with open(mounted.tracing / fork / "hist", "rb", buffering=0) as file:
        for event in (select.POLLPRI, select.POLLIN):
            poll = select.poll()
            poll.register(file, event)
            assert poll.poll(0) == []
            with concurrent.futures.ThreadPoolExecutor() as pool:
                woken = pool.submit(poll.poll, 20000 * PATIENCE)
                assert not concurrent.futures.wait([woken], 0.1)[0]
                mounted.guest.check("sleep 0 &")
                assert woken.result() == [(file.fileno(), event)]
            file.seek(0)
            assert b"Hits: " in file.read(65536)
    mounted.guest.check(f"wait; > {fork}/trigger")


def test_buffer_percent(mounted):
    mounted.sh("echo > trace; echo few > trace_marker")
    cpu = int(re.search(r"\[(\d+)\]", mounted.sh("cat trace"))[1])
    raw = os.open(mounted.tracing / f"per_cpu/cpu{cpu}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert mounted.sh("cat buffer_percent") == "50\n" and select.select([raw], [], [], 0.1)[0] == []
        with concurrent.futures.ThreadPoolExecutor() as pool:
            woken = pool.submit(select.select, [raw], [], [])
            mounted.sh("echo 0 > buffer_percent")
            assert woken.result(60 * PATIENCE)[0] == [raw] and len(os.read(raw, 4096)) == 4096
    finally:
        os.close(raw)
        mounted.sh("echo 50 > buffer_percent")


def test_markers_of_all_programs_come_from_one_thread(mounted):
    mounted.sh("echo > trace; for word in one two three; do echo $word > trace_marker; done")
    writers = set(re.findall(r"(\S+) +\[\d+\] .*tracing_mark_write: ", mounted.sh("cat trace")))
    assert len(writers) == 1 and writers.pop().startswith("9p-virtio-")


def test_tail_follows_what_the_guest_writes(mounted):
    mounted.guest.check("echo first > /tmp/log")
    tail = subprocess.Popen(["tail", "-s", "0.1", "-f", "tmp/log"], cwd=mounted.dir, stdout=subprocess.PIPE, text=True)
    try:
        for word in ("first", "second", "third"):
            assert tail.stdout.readline() == word + "\n"
            mounted.guest.check(f"echo {'second' if word == 'first' else 'third'} >> /tmp/log")
    finally:
        tail.terminate()
        tail.wait(20 * PATIENCE)
        tail.stdout.close()
    mounted.guest.check("rm /tmp/log")


def test_several_at_once(mounted):
    loops = [
        subprocess.Popen(
            [
                "bash",
                "-c",
                f"for n in 1 2 3 4 5; do mkdir instances/at{i} && cat instances/at{i}/trace README > /dev/null "
                f"&& rmdir instances/at{i} || exit 1; done",
            ],
            cwd=mounted.tracing,
        )
        for i in range(4)
    ]
    assert [loop.wait(60 * PATIENCE) for loop in loops] == [0] * 4
    assert os.listdir(mounted.tracing / "instances") == []


def shell(mounted, *words):
    return subprocess.run(
        [ROOT / "tools/fathom", "shell", "--build", BUILDS["gcc"], "--dir", mounted.dir, *words],
        capture_output=True,
        text=True,
        timeout=60 * PATIENCE,
    )


@pytest.fixture(scope="module")
def in_shell(mounted):
    if subprocess.run(["unshare", "-m", "mount", "--bind", mounted.dir, "/sys/kernel/tracing"], capture_output=True).returncode:
        pytest.skip("not allowed to mount at /sys/kernel/tracing, even privately")
    return lambda *words: shell(mounted, *words)


def test_shell(mounted, in_shell):
    """Everything is where tools look, and this machine's is elsewhere."""
    run = in_shell(
        "sh",
        "-c",
        "cat /sys/kernel/debug/tracing/trace_clock /proc/sys/kernel/ftrace_enabled /proc/sys/kernel/stack_tracer_enabled; "
        "head -3 /proc/kallsyms; cat /proc/sys/kernel/random/boot_id /proc/sys/kernel/ostype; pwd; exit 7",
    )
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text()
    assert (
        run.stdout == mounted.guest.check("cat trace_clock; echo 1; echo 0; head -3 /proc/kallsyms") + boot_id + f"Linux\n{os.getcwd()}\n"
    )
    assert run.returncode == 7
    assert in_shell("sh", "-c", "kill -9 $$").returncode == 128 + 9
    assert shell(mounted, "--dir", "/nowhere", "true").returncode not in (0, 128)


def test_splice_in_the_shell(mounted, in_shell):
    """Whole sub-buffers once buffer_percent is reached, nothing where the file does not wait, and never more than the pipe takes."""
    mounted.sh("echo > trace; echo 0 > buffer_percent; echo word > trace_marker")
    cpu = int(re.search(r"\[(\d+)\]", mounted.sh("cat trace"))[1])
    run = in_shell(
        "python3",
        "-c",
        f"""
import os
raw = os.open('/sys/kernel/tracing/per_cpu/cpu{cpu}/trace_pipe_raw', os.O_RDONLY)
out, into = os.pipe()
print(os.splice(raw, into, 65536), b'word' in os.read(out, 4096), end=' ')
try: os.splice(raw, into, 65536, flags=2)
except BlockingIOError: print('nothing', end=' ')
try: os.splice(raw, os.open('/dev/null', os.O_WRONLY), 65536)
except OSError as err: print(err.strerror, end=' ')
os.write(into, bytes(65536))
try: os.splice(raw, into, 4096, flags=2)
except BlockingIOError: print('full', end=' ')
own = os.open('/etc/passwd', os.O_RDONLY)
os.read(out, 65536); print(os.splice(own, into, 10))""",
    )
    mounted.sh("echo 50 > buffer_percent")
    assert run.stdout == "4096 True nothing Invalid argument full 10\n", run.stderr


def test_trace_cmd(mounted, in_shell):
    assert in_shell("trace-cmd", "list", "-t").stdout.split() == mounted.guest.check("cat available_tracers").split()
    assert "sched:sched_switch" in in_shell("trace-cmd", "list", "-e").stdout.split()
    mounted.guest.check("echo > trace; echo 'for trace-cmd' > trace_marker")
    assert "tracing_mark_write: for trace-cmd" in in_shell("trace-cmd", "show").stdout
    assert in_shell("trace-cmd", "stop").returncode == 0 and mounted.guest.check("cat tracing_on") == "0\n"
    assert "Tracing is disabled" in in_shell("trace-cmd", "stat").stdout
    mounted.guest.check("echo 1 > tracing_on; echo > trace")
    assert (
        in_shell("trace-cmd", "stack", "--start").returncode == 0
        and mounted.guest.check("cat /proc/sys/kernel/stack_tracer_enabled") == "1\n"
    )
    assert "Depth    Size   Location" in in_shell("trace-cmd", "stack").stdout
    assert (
        in_shell("trace-cmd", "stack", "--stop").returncode == 0
        and mounted.guest.check("cat /proc/sys/kernel/stack_tracer_enabled") == "0\n"
    )


def test_the_channel_has_one_client(mounted, tmp_path):
    run = fathom(tmp_path, "--channel", mounted.channel, "--patience", str(2 * PATIENCE))
    assert run.returncode == 4 and run.stderr.count("\n") == 1 and "no answer from" in run.stderr


def test_nobody_there(tmp_path):
    run = fathom(tmp_path, "--channel", tmp_path / "channel")
    assert run.returncode == 3 and "no machine listens on" in run.stderr
    run = fathom(tmp_path / "nowhere", "--channel", tmp_path / "channel")
    assert run.returncode == 1 and "there is no folder" in run.stderr


def test_the_machine_ends(tmp_path):
    """And a new one can be mounted, or an old one again, whatever the mount before has left on the line."""
    one = Mounted(has_port=False)
    try:
        held = subprocess.Popen(["cat", "trace_pipe"], cwd=one.tracing, stderr=subprocess.DEVNULL)
        assert fathom(one.dir, "--unmount").returncode == 1, "it is in use"
        held.terminate()
        held.wait(20 * PATIENCE)
        assert fathom(one.dir, "--unmount").returncode == 0
        with Ninep(one.channel) as noise:
            noise.raw(b"\xff" * 100)
        one.mount("--patience", str(2 * PATIENCE))
        assert (one.dir / "proc/version").read_text().startswith("Fathom")
        assert fathom(one.dir, "--status").stdout == f"{one.channel}: answers\n"
        one.guest.send("panic\r")
        one.guest.expect(rb"end of panic")
        killed = subprocess.Popen(["cat", "proc/version"], cwd=one.dir, stdout=subprocess.DEVNULL)
        killed.kill()
        assert killed.wait(20 * PATIENCE) == -signal.SIGKILL, "who waits for a kernel that has panicked can be ended"
        with pytest.raises(OSError, match="Host is down"):
            (one.dir / "proc/version").read_text()
        assert fathom(one.dir, "--status").stdout.startswith(f"{one.channel}: no answer for ")
        one.guest.close()
        end = time.monotonic() + 20 * PATIENCE
        while os.path.ismount(one.dir):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert os.listdir(one.dir) == [] and fathom(one.dir, "--status").returncode == 1
    finally:
        one.close()
