"""Examples with system calls of Linux's documents about events and histograms, typed as they stand there, in busybox's shell."""
import re

import pytest
from guest import Guest
from programs import BUSYBOX, archive

TRACING = "/sys/kernel/tracing"
READ = f"{TRACING}/events/syscalls/sys_%s_read"
RAW = f"{TRACING}/events/raw_syscalls/sys_enter"
# A script for each: the lines of the document, with what programs do meanwhile.
SCRIPTS = {
    # events.rst: a call switches an event on, and its end off again.
    "enable_event": f"""
echo 'enable_event:kmem:kmalloc:1' > {READ % "enter"}/trigger
echo 'disable_event:kmem:kmalloc' > {READ % "exit"}/trigger
cat {READ % "enter"}/trigger {READ % "exit"}/trigger | grep -v '^#'
grep -q . /proc/version
cat {TRACING}/events/kmem/kmalloc/enable
echo '!enable_event:kmem:kmalloc:1' > {READ % "enter"}/trigger
echo '!disable_event:kmem:kmalloc' > {READ % "exit"}/trigger
""",
    # histogram.rst: how many bytes each program asks to read; which calls are made, by which program; those with one number.
    "read": f"""
echo 'hist:key=common_pid.execname:val=count:sort=count.descending' > {READ % "enter"}/trigger
grep -q . /proc/version
cat {READ % "enter"}/hist
echo '!hist:key=common_pid.execname:val=count:sort=count.descending' > {READ % "enter"}/trigger
""",
    "syscall": f"""
echo 'hist:key=id.syscall:val=hitcount' > {RAW}/trigger
grep -q . /proc/version
cat {RAW}/hist
echo '!hist:key=id.syscall:val=hitcount' > {RAW}/trigger
""",
    "execname": f"""
echo 'hist:key=id.syscall,common_pid.execname:val=hitcount:sort=id,hitcount' > {RAW}/trigger
grep -q . /proc/version
cat {RAW}/hist
echo '!hist:key=id.syscall,common_pid.execname:val=hitcount:sort=id,hitcount' > {RAW}/trigger
""",
    "filter": f"""
echo 'hist:key=id.syscall,common_pid.execname:val=hitcount:sort=id,hitcount if id == 16' > {RAW}/trigger
stty > /dev/null
cat {RAW}/hist
echo '!hist:key=id.syscall,common_pid.execname:val=hitcount:sort=id,hitcount if id == 16' > {RAW}/trigger
""",
    # events.rst: events by their files, and by set_event.
    "set_event": f"""
cd {TRACING}
echo 1 > {TRACING}/events/syscalls/sys_enter_openat/enable
echo syscalls:sys_exit_openat >> {TRACING}/set_event
grep -q . /proc/version
echo '!syscalls:sys_exit_openat' >> {TRACING}/set_event
cat {TRACING}/set_event
echo > {TRACING}/set_event
grep 'sys_openat' trace
""",
}


@pytest.fixture(scope="module", params=["gcc", "clang"])
def host(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorials")
    files = {"bin/busybox": BUSYBOX}
    for name, text in SCRIPTS.items():
        (folder / name).write_text(text)
        files[f"scripts/{name}"] = folder / name
    with Guest(request.param, 2, initrd=archive(folder / "files.cpio", files)) as guest:
        yield guest


def typed(host, name):
    """The output of a script, in which no line may fail."""
    said = host.check(f"busybox sh -e /scripts/{name}")
    assert host.check(f"cat {TRACING}/set_event; cat {TRACING}/events/*syscalls/*/trigger | grep -v '^#'; true") == ""
    return said


def test_events_that_calls_switch(host):
    lines = typed(host, "enable_event").splitlines()
    assert lines[:2] == ["enable_event:kmem:kmalloc:count=0", "disable_event:kmem:kmalloc:unlimited"] or lines[:2] == [
        "enable_event:kmem:kmalloc:count=1",
        "disable_event:kmem:kmalloc:unlimited",
    ]
    assert lines[2] == "0*"


def test_set_event(host):
    said = typed(host, "set_event")
    assert said.startswith("syscalls:sys_enter_openat\n")
    assert re.search(r'busybox-\d+ .* sys_openat\(dfd: .* "/proc/version".*\n.*busybox-\d+ .* sys_openat -> 0x3\n', said)


def test_bytes_read_by_program(host):
    said = typed(host, "read")
    counts = [int(count) for count in re.findall(r"^\{ common_pid: busybox +\[ *\d+\] \} hitcount: +\d+  count: +(\d+)$", said, re.M)]
    assert counts and counts == sorted(counts, reverse=True)


def test_calls(host):
    said = typed(host, "syscall")
    assert re.search(r"^\{ id: sys_read +\[  0\] \} hitcount: +\d+$", said, re.M)
    said = typed(host, "execname")
    ids = [int(number) for number in re.findall(r"^\{ id: sys_\w+ +\[ *(\d+)\], common_pid: \w+ +\[ *\d+\] \}", said, re.M)]
    assert len(ids) > 5 and ids == sorted(ids)
    said = typed(host, "filter")
    assert set(re.findall(r"^\{ id: (sys_\w+)", said, re.M)) == {"sys_ioctl"}
