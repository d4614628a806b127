"""Programs: a static one with a few calls, memory, vectors, and what no program may do; the kernel survives it all."""
import re

import pytest
from guest import Guest
from programs import archive, built, leaves_nothing, linked

# Status of hostile NAME: 128 and the number of the signal that ends it; 0: nothing happens to it.
SEGV, ILL, TRAP, FPE, BUS = 139, 132, 133, 136, 135
HOSTILE = {
    **dict.fromkeys("in out cli hlt rdmsr wrmsr cr3 dr7 swapgs int80 int14 int2".split(), SEGV),
    **dict.fromkeys("jump_kernel jump_hole null read_kernel write_kernel write_text".split(), SEGV),
    **dict.fromkeys("iret_kernel far_jump execute_data deep last_page".split(), SEGV),
    **dict.fromkeys("ud2 wrgsbase".split(), ILL),
    **dict.fromkeys("int3 step step_call".split(), TRAP),
    **dict.fromkeys("flags kernel_rsp nmi_rsp segments null_segments mov_ss bad_pointers page_end".split(), 0),
    "divide": FPE,
    "sysenter": None,
    "xsetbv": None,
    "push_hole": None,
}


@pytest.fixture(scope="module", params=["gcc", "clang"])
def programs(request, tmp_path_factory):
    """A build, and an archive of the programs of tests/user."""
    build = request.param
    names = [
        "copies",
        "devices",
        "files",
        "hello",
        "hostile",
        "ids",
        "limits",
        "locks",
        "machines",
        "links",
        "memory",
        "membarriers",
        "permissions",
        "pipes",
        "ptys",
        "roots",
        "signalfds",
        "sockets",
        "tables",
        "timers",
        "usages",
        "vectors",
        "waits",
    ]
    files = {f"bin/{name}": built(name, build) for name in names}
    files |= {f"bin/{name}": linked(name, build) for name in ("assorted", "cputimers")}
    files["bin/hello-pie"] = built("hello", build, ("-fPIE", "-static-pie"))
    files |= {"bin/places": built("places", build), "bin/places-pie": built("places", build, ("-fPIE", "-static-pie"))}
    return build, archive(tmp_path_factory.mktemp("programs") / f"{build}.cpio", files)


@pytest.fixture(scope="module", params=[(1, "qemu64"), (2, "max"), (4, "max")], ids=lambda p: f"{p[0]}-{p[1]}")
def host(request, programs):
    """A guest with these programs. A file has its own, because most of its tests end programs by force."""
    build, initrd = programs
    cpus, cpu = request.param
    with Guest(build, cpus, cpu=cpu, initrd=initrd, tests=True) as guest:
        yield guest


def test_program(host):
    assert host.run("hello one two") == ("hello from a program\nhello\none\ntwo\n", 3)
    assert host.run("/bin/hello-pie") == ("hello from a program\n/bin/hello-pie\n", 1)
    assert host.run("hello | wc -l; cd /bin; ./hello > /tmp/out; cat /tmp/out")[0] == "2\nhello from a program\n./hello\n"
    assert host.run("/bin/nothing") == ("sh: /bin/nothing: No such file or directory\n", 127)
    assert host.run("/dev/null") == ("sh: /dev/null: Permission denied\n", 126)


def test_places(host):
    """Random ones, unless they are switched off for a process or for all: tests/user/places.c, which ends well on Linux, too."""
    assert host.run("places fixed; places-pie pie") == ("", 0)
    assert host.check("cat /proc/sys/kernel/randomize_va_space") == "2\n"
    assert host.run("cd /proc/sys/kernel; echo 0 > randomize_va_space; places-pie none; echo $?; echo 3 > randomize_va_space") == (
        "0\nsh: write error: Invalid argument\n",
        1,
    )
    host.check("echo 2 > /proc/sys/kernel/randomize_va_space")


def test_memory(host):
    def work():
        assert host.run("memory")[0].endswith("memory is as it should be\n")

    leaves_nothing(host, work)


def test_timers(host):
    """timer_create() and its kin: tests/user/timers.c, which ends well on Linux, too."""
    assert host.run("timers") == ("timers are as they should be\n", 0)
    leaves_nothing(host, lambda: host.check("timers"))


def test_cpu_timers(host, programs, request):
    """Timers of processor time, and its limit: tests/user/cputimers.c. The limit takes a second."""
    if request.node.callspec.params["host"][0] == 2:
        assert host.run("cputimers") == ("cputimers are as they should be\n", 0)
        assert programs[0] != "gcc" or host.run("cputimers limit") == ("cputimers are as they should be\n", 0)


def test_usages(host):
    """Processor time of programs, of the kernel for them and of children; faults: tests/user/usages.c, as on Linux."""
    assert host.run("usages") == ("usages are as they should be\n", 0)
    user, system = map(int, re.search(r"^cpu +(\d+) 0 (\d+) ", host.check("cat /proc/stat")).groups())
    assert user >= 10 and system >= 10  # of a hundredth of a second


def test_machines(host):
    """Names, messages, load and scheduling: tests/user/machines.c, which ends well on Linux, too; and files with Linux's formats."""
    assert host.run("machines") == ("facts are as they should be\n", 0)
    assert host.check("cd /proc/sys/kernel; echo other > hostname; cat hostname ostype; echo fathom > hostname; cat hostname") == (
        "other\nLinux\nfathom\n"
    )
    assert re.fullmatch(r"\d+\.\d\d \d+\.\d\d \d+\.\d\d [1-9]\d*/\d+ \d+\n", host.check("cat /proc/loadavg"))
    rows = host.check("cat /proc/interrupts").splitlines()
    assert rows[0].split() == [f"CPU{cpu}" for cpu in range(host.nr_cpus())]
    timer = next(row for row in rows if row.startswith("LOC:"))
    assert len(timer.split()) == 1 + host.nr_cpus() + 3 and int(timer.split()[1]) > 0 and len({len(row[:5]) for row in rows}) == 1
    files = "cat /proc/swaps /proc/partitions /proc/devices; cat /proc/sys/kernel/pid_max"
    assert re.fullmatch(r"Filename\t+Type\t+Size.*\nCharacter devices:\n  1 mem\n.*\nBlock devices:\n4194304\n", host.check(files), re.S)


def test_waits(host):
    """select(), pselect6(), ppoll(), splice(): tests/user/waits.c, which ends well on Linux, too."""
    assert host.run("waits") == ("waits are as they should be\n", 0)


def test_files(host):
    def work():
        assert host.run("files") == ("files are as they should be\n", 0)

    leaves_nothing(host, work)


def test_ids(host, request):
    """Users, groups, modes, limits, names of files: programs of tests/user that end well on Linux, too."""

    def work():
        for name in (
            "ids",
            "permissions",
            "limits",
            "links",
            "locks",
            "pipes",
            "signalfds",
            "sockets",
            "devices",
            "copies",
            "roots",
            "assorted",
            "tables",
            "ptys",
        ):
            assert host.run(name) == (f"{name} are as they should be\n", 0)

    if request.node.callspec.params["host"][0] == 4:
        leaves_nothing(host, work)
    else:
        work()


def test_membarriers(host):
    """A thread that asks for the barriers of all others: tests/user/membarriers.c, which ends well on Linux, too."""
    assert host.run("membarriers") == ("membarriers are as they should be\n", 0)


def test_vectors(host):
    """Programs that are preempted keep their registers: as many at once as there are CPUs, and more."""
    jobs = "; ".join(f"vectors {i} > /tmp/v{i} &" for i in range(6)).replace("&;", "&")
    host.check(f"{jobs} wait")
    for i in range(6):
        assert re.fullmatch(r"(avx|sse) kept\n", host.check(f"cat /tmp/v{i}"))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(host, name):
    output, status = host.run(f"hostile {name} 2> /dev/null", timeout=120)
    expected = HOSTILE[name]
    if name in ("sysenter", "xsetbv"):  # it depends on the processor
        assert status in (SEGV, ILL)
    elif name == "push_hole":
        assert status in (SEGV, BUS)  # QEMU's is a protection fault
    else:
        assert (status, "still here" in output) == (expected, expected == 0), output
    assert host.run("hello") == ("hello from a program\nhello\n", 1)


def test_end_is_logged(host):
    host.run("hostile null")
    assert re.search(r"hostile\[\d+\]: signal 11 code 1 at 0x0 ip 0x40\w+ sp 0x7ff\w+ error 0x6 \(page fault\)", host.check("dmesg"))


def test_ctrl_c(host):
    host.send("hostile spin\r")
    host.listen(0.5)
    host.send("\x03")
    host.wait_prompt()
    assert host.run("echo $?")[0] == "130\n"


@pytest.mark.parametrize("build,cpus,cpu", [("gcc", 1, "qemu64"), ("clang", 2, "max")])
def test_first_program(tmp_path, build, cpus, cpu):
    """Signals that do not end it, and children of others that become its own."""
    initrd = archive(tmp_path / "orphans.cpio", {"bin/orphans": built("orphans", build)})
    with Guest(build, cpus, cpu=cpu, initrd=initrd, cmdline="init=/bin/orphans", tests=True, wait=False) as guest:
        output = guest.wait_prompt()
        assert "orphans are as they should be\n" in output and "init=/bin/orphans has ended with status 0" in output, output
