"""Debian's gdb inside: it starts a program of two threads, stops, steps, and watches it; the same through gdbserver."""
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parents[1] / "qemu"))
from guest import BUILDS, ROOT, Guest  # noqa: E402

PACKAGES = "dash bash coreutils gdb gdbserver".split()
KINDS = {"static": ["-static", "-no-pie"], "pie": ["-fPIE", "-pie"]}

SOURCE = """
#include <pthread.h>
#include <signal.h>
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
static void on_usr1(int sig)
{
    add(sig, 0);
}
int main(void)
{
    pthread_t thread;

    signal(SIGUSR1, on_usr1);
    pthread_create(&thread, 0, work, (void *)5L);
    pthread_join(thread, 0);
    raise(SIGUSR1);
    printf("total %d\\n", add(20, 22));
    return 7;
}
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The tree of the packages, the program, and its source where its debug information says it is."""
    folder = tmp_path_factory.mktemp("gdb")
    source = folder / "adds.c"
    source.write_text(SOURCE)
    files = [f"{str(source)[1:]}={source}"]
    for kind, flags in KINDS.items():
        subprocess.run(["gcc", "-g", "-O1", "-pthread", *flags, "-o", folder / f"adds-{kind}", source], check=True)
        files.append(f"usr/bin/adds-{kind}={folder}/adds-{kind}")
    made = [ROOT / "tools/rootfs", "-o", folder / "packages.cpio", "-c", BUILDS["gcc"] / "rootfs", *PACKAGES]
    subprocess.run(made, check=True, stdout=subprocess.PIPE)
    subprocess.run([ROOT / "tools/initramfs", folder / "program.cpio", *files], check=True)
    tree = (folder / "packages.cpio").read_bytes()
    end = tree.rindex(b"TRAILER!!!") - 110  # the header of the last entry, in place of which the other archive begins
    (folder / "root.cpio").write_bytes(tree[:end] + (folder / "program.cpio").read_bytes())
    return folder / "root.cpio"


@pytest.fixture(scope="module", params=[("gcc", 1, "qemu64"), ("clang", 2, "max")], ids=lambda p: "-".join(map(str, p)))
def host(request, archive):
    build, cpus, cpu = request.param
    with Guest(build, cpus, cpu=cpu, mem="1G", initrd=archive) as guest:
        yield guest


def gdb(host, program, *commands):
    words = " ".join(f"-ex '{command}'" for command in commands)
    said, status = host.run(f"gdb -q -nx -batch {words} /usr/bin/{program} < /dev/null", timeout=180)
    assert status == 0, said
    return said


@pytest.mark.parametrize("kind", KINDS)
def test_stops_and_steps(host, kind):
    """Breakpoints, steps, a backtrace, both threads, and a signal that the program handles."""
    said = gdb(
        host,
        f"adds-{kind}",
        "break main",
        "run",
        "next",
        "break add",
        "continue",
        "bt",
        "info threads",
        "finish",
        "continue",
        "continue",
        "bt",
    )
    assert re.search(r"Breakpoint 1, main \(\) at .*adds\.c:\d+\n\d+\t", said)
    assert re.search(r'Thread 2 "adds-\w+" hit Breakpoint 2, add \(a=(a@entry=)?1, b=5\)', said)
    assert re.search(r"^#0  add \(.*\n#1 .* work \(arg=.*\n", said, re.M)
    assert re.search(r"^  1 +Thread .*\n\* 2 +Thread .* add \(", said, re.M)
    assert re.search(r"^Value returned is \$1 = 6$", said, re.M)
    assert "received signal SIGUSR1" in said and "<signal handler called>" in said


@pytest.mark.parametrize("kind", KINDS)
def test_watches(host, kind):
    """A variable is watched by steps; then the program goes to its end."""
    said = gdb(
        host,
        f"adds-{kind}",
        "set can-use-hw-watchpoints 0",
        "break add",
        "run",
        "watch total",
        "continue",
        "delete",
        "handle SIGUSR1 nostop",
        "continue",
    )
    assert "Old value = 0\nNew value = 6\n" in said and "total 42\n" in said
    assert re.search(r"^\[Inferior 1 \(process \d+\) exited with code 07\]$", said, re.M)


def test_server(host):
    """gdb and gdbserver, with a pair of sockets between them."""
    said = gdb(
        host, "adds-static", "target remote | gdbserver - /usr/bin/adds-static", "break add", "continue", "bt", "info threads", "kill"
    )
    assert re.search(r'Thread 2 "adds-static" hit Breakpoint 1, add \(a=(a@entry=)?1, b=5\)', said)
    assert re.search(r"^#1 .* work \(arg=", said, re.M) and re.search(r"^\* 2 +Thread \d+\.\d+ .* add \(", said, re.M)


def test_attaches(host):
    """To a program that sleeps, which goes on afterwards."""
    script = 'sleep 3 & gdb -q -nx -batch -p $! -ex "info registers rip" -ex detach; wait $!; echo ended $?'
    said, status = host.run(f"bash -c '{script}' < /dev/null", timeout=180)
    assert re.search(r"^rip +0x\w+", said, re.M) and re.search(r"^\[Inferior 1 \(process \d+\) detached\]$", said, re.M)
    assert said.endswith("ended 0\n") and status == 0
