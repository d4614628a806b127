"""A file tree of Debian packages, fetched as tools/rootfs does it: everyday programs run, as they are shipped."""
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parents[1] / "qemu"))
from guest import BUILDS, ROOT, Guest  # noqa: E402

PACKAGES = (
    "dash bash coreutils findutils grep sed gawk diffutils gzip tar less procps bsdutils python3-minimal libpython3-stdlib".split()
    + "trace-cmd xz-utils ncurses-base".split()
)


@pytest.fixture(scope="module")
def archive():
    build = BUILDS["gcc"]
    made = subprocess.run(
        [ROOT / "tools/rootfs", "-o", build / "root.cpio", "-c", build / "rootfs", *PACKAGES], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    assert re.fullmatch(r"\S+/root\.cpio: \d+\.\d MiB, \d+ files of \d+ packages\n", made.stdout)
    return build / "root.cpio"


@pytest.fixture(scope="module", params=[("gcc", 1, "qemu64"), ("clang", 4, "max")], ids=lambda p: "-".join(map(str, p)))
def host(request, archive):
    build, cpus, cpu = request.param
    with Guest(build, cpus, cpu=cpu, mem="1G", initrd=archive) as guest:
        yield guest


def bash(host, text):
    quoted = "; ".join(text.splitlines()).replace("'", "'\\''")
    return host.run(f"bash -c '{quoted}'", timeout=120)


def test_shells(host):
    assert bash(host, "for ((i = 1; i < 4; i++)); do echo $((i * i)); done; [[ abc =~ b ]] && echo yes") == ("1\n4\n9\nyes\n", 0)
    assert bash(host, "x=(a b c); echo ${#x[@]} ${x[-1]}; cat <<< here; diff <(seq 2) <(seq 3); seq 3 | tail -n1 /dev/stdin") == (
        "3 c\nhere\n2a3\n> 3\n3\n",
        0,
    )
    assert host.run("dash -c 'trap \"echo end\" EXIT; (exit 3); echo $?'")[0] == "3\nend\n"
    assert host.check("readlink -f /bin/sh /lib64/ld-linux-x86-64.so.2").split() == [
        "/usr/bin/dash",
        "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
    ]


def test_files(host):
    script = """cd $(mktemp -d); mkdir -p a/b; echo text > a/b/f; ln -s b/f a/l; cp -a a c; diff -r a c && cat c/l
        touch -d 2020-01-02 c/b/f; stat -c %y c/b/f; chmod 4710 c/b/f; chown 5:6 c/b/f; stat -c '%a %u %g' c/b/f
        tar czf t.tgz c; rm -r c; tar xzf t.tgz; stat -c '%a %y' c/b/f; find . -type l; du -s a | cut -f1"""
    assert bash(host, script)[0].splitlines() == [
        "text",
        "2020-01-02 00:00:00.000000000 +0000",
        "710 5 6",
        "710 2020-01-02 00:00:00.000000000 +0000",
        "./a/l",
        "./c/l",
        "4",
    ]


def test_filters(host):
    assert bash(host, "seq 1000 | sort -rn | head -n 2; seq 9 | gawk '{s += $1} END {print s}'; seq 3 | sed -n 2p") == (
        "1000\n999\n45\n2\n",
        0,
    )
    assert bash(host, "find /etc -name passwd | xargs grep -c root; dd if=/dev/zero bs=1M count=4 status=none | md5sum") == (
        "1\nb5cfa9d6c8febd618f91ac2843d50a1c  -\n",
        0,
    )


def test_processes(host):
    assert re.search(r"^root +\d+ .* bash -c ps aux", bash(host, "ps aux; true")[0], re.M)
    assert re.search(r"^top - .* load average: ", bash(host, "TERM=linux /usr/bin/top -b -n 1; true")[0], re.M)
    assert re.search(r"^ +\d+ +\d+ +0 +\d+ ", host.check("vmstat"), re.M)
    assert re.search(r"^Mem: +\d+ +\d+ +\d+", bash(host, "/usr/bin/free")[0], re.M)
    assert bash(host, "sleep 60 & kill $!; wait $!; echo $?; timeout 0.1 sleep 9; echo $?")[0].splitlines()[-2:] == ["143", "124"]


def test_terminals(host):
    """Terminals that programs make: script and the module pty of python3; each names its own."""
    assert host.run("tty") == ("/dev/console\n", 0)
    assert bash(host, "script -qec 'tty; stty size; exit 5' /tmp/o; echo $?; grep -c pts/0 /tmp/o; ls /dev/pts")[0] == (
        "/dev/pts/0\n24 80\n5\n1\n"
    )
    assert bash(host, "echo echo typed | script -qc 'bash --norc' /dev/null | grep -c '^typed'")[0] == "1\n"
    inner = "import os; print(os.ttyname(0), os.getpgrp() == os.tcgetpgrp(0))"
    assert bash(host, f'python3 -c \'import pty; pty.spawn(["python3", "-c", "{inner}"])\'')[0] == "/dev/pts/0 True\n"


def test_python(host):
    assert host.run("python3 -c 'import os; print(sum(range(10)), os.path.exists(\"/proc/self/maps\"))'", timeout=120) == ("45 True\n", 0)


THREADS = """
import threading
count, lock, done = 0, threading.Condition(), threading.Barrier(9)
def work():
    global count
    for i in range(200):
        with lock:
            count += 1
            lock.notify_all()
    done.wait()
for i in range(8):
    threading.Thread(target=work, name="t%d" % i).start()
with lock:
    lock.wait_for(lambda: count == 1600)
done.wait()
print(count, threading.active_count() <= 9)
"""


def test_threads(host):
    """Programs that use several threads: python, sort, xz."""
    host.check(f"echo '{THREADS}' > /tmp/threads.py")
    assert host.run("python3 /tmp/threads.py", timeout=120) == ("1600 True\n", 0)
    assert bash(host, "seq 200000 | shuf > /tmp/n; sort -n --parallel=4 -S 8M /tmp/n | cmp - <(seq 200000) && echo same") == ("same\n", 0)
    assert bash(host, "xz -T4 --block-size=200KiB -k /tmp/n; xz -T4 -dc /tmp/n.xz | cmp - /tmp/n && rm /tmp/n*; echo $?") == ("0\n", 0)


def test_trace_cmd(host):
    """Debian's trace-cmd inside: it records this kernel by itself, through splice(), and reads what it has recorded."""
    host.check("cd /tmp; trace-cmd record -e sched -e syscalls -o x.dat ls / > list", timeout=120)
    report = host.check("trace-cmd report x.dat", timeout=120)
    assert re.search(r"sys_enter_getdents64: +fd: 0x0+3, ", report) and "sched_switch:" in report
    assert re.search(r'sys_enter_openat: .*filename: 0x\w+ "/", ', report)
    host.check("trace-cmd start -p function -l 'vfs_*' -e sched_waking")
    assert host.check("cat /sys/kernel/tracing/current_tracer /sys/kernel/tracing/set_event") == "function\nsched:sched_waking\n"
    assert "vfs_open <-" in host.check("trace-cmd show", timeout=120)
    assert "Tracer: function" in host.check("trace-cmd stat")
    host.check("trace-cmd stop && trace-cmd extract -o /tmp/y.dat && trace-cmd reset", timeout=120)
    assert "function:" in host.check("trace-cmd report /tmp/y.dat", timeout=120)
