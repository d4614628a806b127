"""Debian's static busybox, by name from the kernel's shell: applets, its shell with pipes, redirections and statuses."""
import re
from hashlib import md5

import pytest
from guest import Guest
from programs import BUSYBOX, archive, leaves_nothing


@pytest.fixture(scope="module")
def initrd(tmp_path_factory):
    return archive(tmp_path_factory.mktemp("busybox") / "files.cpio", {"bin/busybox": BUSYBOX})


def test_applets(host):
    assert host.run("busybox true") == ("", 0)
    assert host.run("busybox false") == ("", 1)
    assert host.run("busybox echo hello there") == ("hello there\n", 0)
    assert host.run("busybox ls /bin") == ("busybox\n", 0)
    assert host.check("busybox cat /proc/version") == host.check("cat /proc/version")
    assert host.run("busybox cat /nowhere") == ("cat: can't open '/nowhere': No such file or directory\n", 1)
    assert host.run("busybox nothing")[1] == 127
    assert re.fullmatch(r"-rwxr-xr-x +1 0 +0 +\d+ Jan +1 +1970 /bin/busybox\n", host.check("busybox ls -l /bin/busybox"))
    assert host.check("busybox uname -sr") == "Linux 6.1.0-fathom\n"


def test_pipes_with_the_shell(host):
    assert host.check("busybox seq 5 | busybox tail -n 2 | cat") == "4\n5\n"
    assert host.check("echo b a | busybox tr ' ' '\\n' | sort > /tmp/sorted; busybox cat < /tmp/sorted") == "a\nb\n"
    assert host.check("busybox yes | head -n 2") == "y\ny\n"
    assert host.check("cd /tmp; busybox pwd; X=3 busybox env | grep X; cd /sys/kernel/tracing") == "/tmp\nX=3\n"


def sh(host, text):
    return host.run(f"busybox sh -c '{text}'")


def test_its_shell(host):
    assert sh(host, "echo hi") == ("hi\n", 0)
    assert sh(host, "exit 7") == ("", 7)
    assert sh(host, "for i in 1 2 3; do echo $i; done | sort -r") == ("3\n2\n1\n", 0)
    assert sh(host, "ls /bin; cat /nowhere; echo $?") == (
        "busybox\ncat: can\x27t open \x27/nowhere\x27: No such file or directory\n1\n",
        0,
    )
    assert sh(host, "cd /tmp && mkdir -p d && echo x > d/a && cat d/a && rm -r d && ls -a d") == (
        "x\nls: d: No such file or directory\n",
        1,
    )
    assert sh(host, "(exit 3); echo $?; sleep 0.01; echo `echo inner`") == ("3\ninner\n", 0)
    assert sh(host, "nothing") == ("sh: nothing: not found\n", 127)


def test_script_has_its_name(host):
    """As the caller has given it, which may be relative."""
    host.check("printf '#!/bin/busybox sh\\necho $0 $1\\n' > /tmp/x; busybox chmod 755 /tmp/x")
    assert host.run("busybox sh -c 'cd /tmp; ./x a; /tmp/x b; cd /; tmp/x c'; rm /tmp/x") == ("./x a\n/tmp/x b\ntmp/x c\n", 0)


def test_proc_in_another_root(host):
    """proc once more where a program has its root: its files, links as they are seen from there, and no way out."""
    assert sh(host, "cd /tmp; mkdir -p r/bin r/proc; cp /bin/busybox r/bin; mount -t proc proc r/proc; umount r/proc; ls r/proc") == ("", 0)
    assert sh(host, "mount -t proc proc /tmp/r/proc; mount -t sysfs none /tmp/r/bin 2> /dev/null || tail -n 1 /proc/mounts") == (
        "proc /tmp/r/proc proc rw,relatime 0 0\n",
        0,
    )
    inside = "cd /proc; for i in exe root cwd; do readlink self/$i; done; cd self/../..; pwd; cd proc/sys/../..; ls"
    assert host.run(f"busybox chroot /tmp/r /bin/busybox sh -c '{inside}; head -c 7 proc/version; grep -c busybox proc/$$/task/$$/maps'")[
        0
    ] == ("/bin/busybox\n/\n/proc\n/\nbin   proc\nFathom 5\n")
    assert sh(host, "umount /tmp/r/proc && rm -r /tmp/r; ls -d /tmp/r 2> /dev/null")[0] == ""


def test_nothing_is_left(host):
    leaves_nothing(host, lambda: sh(host, "ls / | wc -l; for i in 1 2 3 4 5; do true | cat; done"))


def test_files_leave_half_of_memory(host):
    """A program that writes without end gets an error, and others go on."""
    said, status = sh(host, "cat /dev/zero > /tmp/all")
    assert (said, status) == ("cat: write error: No space left on device\n", 1)
    room = sh(host, "df -k /tmp | tail -n 1")[0].split()
    assert int(room[1]) < 132000 and room[3:5] == ["0", "100%"]
    assert sh(host, "cat /bin/busybox | wc -c; rm /tmp/all; df -k /tmp | tail -n 1")[0].split()[-2] != "100%"


def test_traced(host):
    """Functions and graphs of calls go on across entries, and name the program."""
    host.check(
        "echo function_graph > current_tracer; echo sys_write vfs_read > set_graph_function; busybox echo traced; echo nop > current_tracer"
    )
    host.check("> trace; echo sys_write > set_ftrace_filter; echo function > current_tracer; busybox echo hi; cat trace > /tmp/trace")
    host.check("echo nop > current_tracer; > set_ftrace_filter; > set_graph_function")
    assert re.search(r"^ +busybox-\d+ .*: sys_write <-", host.check("cat /tmp/trace"), re.M)


def test_event_of_exec(host):
    """Each program that begins: its file and its thread."""
    host.check("echo sched:sched_process_exec > set_event; busybox sh -c 'busybox true; exec busybox true'; echo > set_event")
    found = re.findall(r"-(\d+) .*: sched_process_exec: filename=/bin/busybox pid=(\d+) old_pid=(\d+)$", host.check("cat trace"), re.M)
    host.check("echo > trace")
    assert len(found) == 3 and all(len(set(pids)) == 1 for pids in found)
    assert found[0] == found[2] != found[1]


def test_function_tracer_with_stacks(host):
    host.check("echo sys_write > set_ftrace_filter; echo 1 > options/func_stack_trace; echo function > current_tracer")
    host.check("busybox echo hi; cat trace > /tmp/trace; echo nop > current_tracer; echo 0 > options/func_stack_trace; > set_ftrace_filter")
    trace = host.check("cat /tmp/trace")
    stack = re.search(r"<stack trace>\n((?: => .*\n)+)", trace)
    assert stack and stack[1].splitlines()[-1].split()[1] in ("do_syscall_64", "syscall_entry"), trace


def pages(guest, kind):
    return int(re.search(rf"(\d+) {kind}", guest.check("free"))[1])


def test_a_call_that_is_not_there(host):
    """It is named once for all processes of a program, and again when another one has made such a call."""
    host.run(
        "for i in 1 2 3; do busybox unshare -m true 2> /dev/null; done; busybox ionice -c 3 true 2> /dev/null; busybox unshare -m true 2> /dev/null"
    )
    named = re.findall(r"busybox\[\d+\]: system call (\d+) is not there", host.check("dmesg"))
    assert named[-3:] == ["272", "251", "272"] and named.count("272") == 2


def test_without_programs(tmp_path):
    """And with an archive of which there is no room for two: its memory is freed while it is unpacked. Files may take half of all."""
    with Guest("gcc", 1, mem="64M") as guest:
        assert guest.run("busybox ls") == ("sh: busybox: no programs: this kernel was booted without a file tree\n", 127)
        assert guest.run("nosuch") == ("sh: nosuch: command not found\n", 127)
        total = pages(guest, "total")
    big = tmp_path / "big"
    big.write_bytes(bytes(range(256)) * (26 << 12))
    files = archive(tmp_path / "files.cpio", {"bin/busybox": BUSYBOX, "first": big, "last": BUSYBOX})
    with Guest("gcc", 1, mem="64M", initrd=files) as guest:
        assert abs(pages(guest, "total") - total) < 8
        assert guest.check("busybox md5sum < /first").split()[0] == md5(big.read_bytes()).hexdigest()
        guest.check("busybox cmp /bin/busybox /last")
        assert "initramfs" not in guest.check("dmesg")


FLAGS = "fpu tsc cx8 cmov mmx fxsr sse sse2 nx lm pni syscall hypervisor".split()  # that all of QEMU's have


def test_cpuinfo(host):
    """A paragraph for each CPU, with the fields that lscpu and libraries look for."""
    paragraphs = host.check("cat /proc/cpuinfo").split("\n\n")[:-1]
    assert len(paragraphs) == host.nr_cpus()
    for cpu, paragraph in enumerate(paragraphs):
        fields = dict(re.fullmatch(r"(\S.*?)\t*: ?(.*)", line).groups() for line in paragraph.splitlines())
        assert int(fields["processor"]) == cpu and int(fields["cpu cores"]) <= int(fields["siblings"]) <= host.nr_cpus()
        assert fields["cpu family"] == "15" and fields["model"] == "107" and fields["stepping"] == "1"
        assert set(FLAGS) < set(fields["flags"].split())
        assert float(fields["bogomips"]) > float(fields["cpu MHz"]) and fields["address sizes"].endswith("48 bits virtual")


def test_facts_of_a_process(host):
    """limits, mountinfo, smaps and statm in /proc/PID, in Linux's formats, agree with each other and with what the program has."""
    shown = host.check(
        "busybox sh -c 'mkdir /tmp/o; mount -t tmpfs -o gid=5,mode=711 o /tmp/o; "
        "ulimit -n 100; cat /proc/self/limits /proc/self/mountinfo /proc/self/statm /proc/self/smaps; umount /tmp/o; rmdir /tmp/o'"
    )
    limits, rest = re.fullmatch(r"(.*?)(2 1 0:.*)", shown, re.S).groups()
    assert len(limits.splitlines()) == 17 and len({len(line) for line in limits.splitlines()[1:14]}) == 1
    assert re.search(r"^Max open files            100                  100                  files     $", limits, re.M)
    assert re.search(r"^Max stack size            8388608              unlimited            bytes     $", limits, re.M)
    mounts, rest = re.fullmatch(r"(.*?\n)(\d+ \d+ \d+ \d+ 0 \d+ 0\n.*)", rest, re.S).groups()
    found = re.findall(r"^(\d+) (\d+) 0:\d+ / (\S+) rw,relatime - \S+ \S+ rw(\S*)$", mounts, re.M)
    rows = {path: (nr, parent, options) for nr, parent, path, options in found}
    assert {path: options for path, (_, _, options) in rows.items() if options} == {"/tmp/o": ",mode=711,gid=5"}
    assert len(rows) == len(mounts.splitlines()) > 5 and rows["/tmp"][1] == rows["/sys"][1] == "2"
    assert rows["/sys/kernel/debug/tracing"][1] == rows["/sys/kernel/debug"][0]
    statm, smaps = rest.split("\n", 1)
    size, resident, shared, code, _, data, _ = map(int, statm.split())
    ranges = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", smaps, flags=re.M)[1:]
    sums = {name: sum(int(re.search(rf"^{name}: +(\d+) kB$", text, re.M)[1]) for text in ranges) for name in ("Size", "Rss", "Anonymous")}
    assert sums["Size"] == 4 * size and abs(sums["Rss"] - 4 * resident) < 100 and 0 < shared < resident and 0 < code < size > data > 0
    for text in ranges:
        kib = {name: int(value) for name, value in re.findall(r"^(\w+): +(\d+) kB$", text, re.M)}
        assert kib["Rss"] == sum(kib[f"{who}_{how}"] for who in ("Shared", "Private") for how in ("Clean", "Dirty")), text
        assert kib["Pss"] <= kib["Rss"] <= kib["Size"] and re.search(r"^VmFlags: (\w\w )+$", text, re.M), text
        assert ("rd wr mr" in text) == bool(re.search("^[0-9a-f-]+ rw-p", text)), text
