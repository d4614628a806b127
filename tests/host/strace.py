"""Debian's strace inside, by ptrace(): of programs, their children and threads, from the start and while they run."""
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parents[1] / "qemu"))
from guest import BUILDS, ROOT, Guest  # noqa: E402

PACKAGES = "dash bash coreutils procps strace".split()

SOURCE = """
#include <pthread.h>
#include <stdio.h>
static volatile int total;
__attribute__((noinline)) int add(int a, int b)
{
    total = a + b;
    return total;
}
static void *work(void *arg)
{
    add(1, (int)(long)arg);
    return 0;
}
int main(void)
{
    pthread_t thread;

    pthread_create(&thread, 0, work, (void *)5L);
    pthread_join(thread, 0);
    printf("total %d\\n", add(20, 22));
    return 7;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program of two threads."""
    source = tmp_path_factory.mktemp("strace") / "adds.c"
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-O1", "-static", "-pthread", "-o", source.with_suffix(""), source], check=True)
    return source.with_suffix("")


@pytest.fixture(scope="module")
def archive(program, tmp_path_factory):
    """The tree of the packages, and the program."""
    build, folder = BUILDS["gcc"], tmp_path_factory.mktemp("strace_root")
    made = [ROOT / "tools/rootfs", "-o", folder / "packages.cpio", "-c", build / "rootfs", *PACKAGES]
    subprocess.run(made, check=True, stdout=subprocess.PIPE)
    subprocess.run([ROOT / "tools/initramfs", folder / "program.cpio", f"usr/bin/adds={program}"], check=True)
    tree = (folder / "packages.cpio").read_bytes()
    end = tree.rindex(b"TRAILER!!!") - 110  # the header of the last entry, in place of which the other archive begins
    (folder / "root.cpio").write_bytes(tree[:end] + (folder / "program.cpio").read_bytes())
    return folder / "root.cpio"


@pytest.fixture(scope="module", params=[("gcc", 1, "qemu64"), ("clang", 4, "max")], ids=lambda p: "-".join(map(str, p)))
def host(request, archive):
    build, cpus, cpu = request.param
    with Guest(build, cpus, cpu=cpu, mem="1G", initrd=archive) as guest:
        yield guest


def test_strace(host):
    """Calls with their arguments and results, from the first instruction to the end."""
    said = host.check("strace /usr/bin/true", timeout=120).splitlines()
    assert re.fullmatch(r'execve\("/usr/bin/true", \["/usr/bin/true"\], 0x\w+ /\* \d+ vars \*/\) = 0', said[0])
    assert re.search(r'^openat\(AT_FDCWD, "/etc/ld.so.preload|^access\("/etc/ld.so.preload", R_OK\) += -1 ENOENT', "\n".join(said), re.M)
    assert re.fullmatch(r"exit_group\(0\) +=", said[-2].rsplit(" ", 1)[0]) and said[-1] == "+++ exited with 0 +++"


def test_strace_of_children(host):
    said = host.check("strace -f -e trace=execve,wait4 bash -c '/usr/bin/true; /usr/bin/echo done | cat'", timeout=120)
    assert len(re.findall(r"strace: Process \d+ attached", said)) == 3 and "done\n" in said
    assert len(re.findall(r"^\[pid +\d+\] execve\(", said, re.M)) == 3
    assert len(re.findall(r"\+\+\+ exited with 0 \+\+\+", said)) == 4


def test_strace_of_a_thread(host):
    said = host.check("strace -f -tt -e trace=futex,exit,exit_group adds > /dev/null; true", timeout=120)
    assert re.search(r"^\[pid +\d+\] \d\d:\d\d:\d\d\.\d{6} exit\(0\)", said, re.M)
    assert re.search(r"^\d\d:\d\d:\d\d\.\d{6} \+\+\+ exited with 7 \+\+\+$", said, re.M)


def test_strace_counts(host):
    said = host.check("strace -c -w cat /etc/passwd", timeout=120)
    assert re.search(r"^ +\d+\.\d+ +\d+\.\d+ +\d+ +1 +execve$", said, re.M)


def test_strace_attaches(host):
    """To a program that sleeps: its call goes on afterwards, and it ends as it would have."""
    script = "sleep 1 & strace -p $! 2> /tmp/said; wait $!; echo $?; cat /tmp/said"
    said = host.check(f"bash -c '{script}'", timeout=120)
    assert said.splitlines()[-1] == "+++ exited with 0 +++" and re.search(r"^0$", said, re.M)
    assert re.search(r"^(clock_nanosleep|restart_syscall)\(", said, re.M)


# ---- Line by line beside the Linux that this runs on ----

COMPARED = (
    "/usr/bin/true",
    "/usr/bin/echo hi",
    "/usr/bin/cat /etc/debian_version",
    "/usr/bin/date -u +%Y",
    "/usr/bin/touch /tmp/d",
    "/usr/bin/ln -s d /tmp/link",
    "/usr/bin/rm /tmp/d /tmp/link",
    "/usr/bin/dash -c 'cd /usr; pwd; exec /usr/bin/true'",
)
# Numbers that are others each time, or on each machine.
MASKS = (
    (r"^\d+ +", ""),  # the pid
    (r"0x[0-9a-f]{5,}", "ADDRESS"),
    (r"/\* \d+ vars \*/", "VARS"),
    (r" +=", " ="),
    (r"^(set_tid_address\(ADDRESS\)|getpid\(\)|getppid\(\)) = \d+", r"\1 = PID"),
    (r'getrandom\("[^"]*"', 'getrandom("..."'),
    (r"(S_IFDIR\|\d+, st_size)=\d+", r"\1=BYTES"),
)
# Lines that only one of the two has, or has otherwise, and why.
DIFFERENCES = (
    (
        r'"/lib/x86_64-linux-gnu/(glibc-hwcaps|tls|haswell|avx512_1|x86_64)\b',
        "the loader asks for variants of the C library for its processor",
    ),
    (r"^rseq\(", "ENOSYS: each switch of threads would look at the memory of the program"),
    (r"^mmap\(NULL, (8192|12288), PROT_READ\|PROT_WRITE, MAP_PRIVATE\|MAP_ANONYMOUS", "the loader's memory for what it knows of the vDSO"),
    (r"^(clock_gettime|gettimeofday)\(", "there is no vDSO: the question is a call"),
    (r"^fcntl\(\d, F_GETFL\)", "flags that were of use in open() alone are not told"),
)
ENVIRONMENT = "env -i PATH=/usr/bin LC_ALL=C HOME=/ PWD=/"


def masked(text):
    """Its lines without numbers that differ, nor those that are known to."""
    for line in text.replace("\r", "").splitlines():
        for pattern, instead in MASKS:
            line = re.sub(pattern, instead, line)
        if not any(re.search(pattern, line) for pattern, _ in DIFFERENCES):
            yield line


@pytest.fixture(scope="module")
def tree(archive, tmp_path_factory):
    """The same files on this machine."""
    folder = tmp_path_factory.mktemp("tree")
    with archive.open("rb") as packed:
        subprocess.run(["busybox", "cpio", "-idm"], cwd=folder, stdin=packed, stderr=subprocess.DEVNULL, check=True)
    (folder / "tmp").mkdir(exist_ok=True)
    folder.chmod(0o755)
    return folder


def test_lines_of_linux(host, tree):
    """Each line that strace prints is the one that it prints on Linux, with places that are not random."""
    host.check("echo 0 > /proc/sys/kernel/randomize_va_space; cd /")
    for command in COMPARED:
        line = f"{ENVIRONMENT} strace -f -o /tmp/said {command} < /etc/debian_version > /tmp/out"
        native = ["setarch", "-R", "chroot", tree, "/usr/bin/dash", "-c", f"cd /; {line}"]
        subprocess.run(native, check=True, timeout=60)
        host.check(line, timeout=120)
        ours, theirs = host.check("cat /tmp/said"), (tree / "tmp/said").read_text()
        assert len(theirs.splitlines()) > 20 and list(masked(ours)) == list(masked(theirs)), command
