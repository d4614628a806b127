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
