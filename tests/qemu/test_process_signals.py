"""Signals of programs: delivery, masks, queues, waits, children, damaged frames, their events; and those of busybox's shell."""
import re

import pytest
from programs import BUSYBOX, archive, built, leaves_nothing

NAMES = {
    "signals": "handlers vectors places masks queue faults altstack",
    "signals_wait": "wait restart children stops groups vforks exec",
}


@pytest.fixture(scope="module")
def initrd(computer, tmp_path_factory):
    build = computer[0]
    files = {f"bin/{name}": built(name, build) for name in (*NAMES, "signals_frames", "hostile")} | {"bin/busybox": BUSYBOX}
    return archive(tmp_path_factory.mktemp("signals") / f"{build}.cpio", files)


@pytest.mark.parametrize("program", NAMES)
def test_signals(host, program):
    for name in NAMES[program].split():
        said = "executed" if name == "exec" else name
        assert host.run(f"{program} {name}") == (f"{said} is right\n", 0)


def test_waits_for_events(host):
    host.check("echo > /sys/kernel/tracing/trace")
    assert host.run("signals_wait traces") == ("traces is right\n", 0)


def test_damaged_frames(host):
    """The program dies or goes on with what the frame says; the kernel does neither."""
    assert host.run("signals_frames 150", timeout=120) == ("frames are right\n", 0)


def test_nothing_is_left(host):
    leaves_nothing(host, lambda: host.check("signals queue; signals_wait children; signals_frames 40"))


def test_without_memory(host):
    """An allocation that fails costs a signal its information, or the call its success; nothing more."""
    for nth in range(1, 12):
        host.output_of(f"failalloc {nth}; signals queue > /dev/null; failalloc")
        host.output_of(f"failalloc {nth}; signals_wait children > /dev/null; failalloc")
    assert host.run("signals queue") == ("queue is right\n", 0)


def sh(host, text):
    return host.run(f"busybox sh -c '{text}'", timeout=30)


def test_shell(host):
    assert sh(host, "sleep 0.1 & wait; echo done") == ("done\n", 0)
    assert sh(host, 'trap "echo hi" USR1; kill -USR1 $$; trap "echo rt" 38; kill -s 38 $$; echo end') == ("hi\nrt\nend\n", 0)
    assert sh(host, "kill -TERM $$") == ("", 143)
    assert sh(host, "sleep 100 & kill $!; wait $!; echo $?")[0].endswith("143\n")
    assert sh(host, 'trap "echo out" EXIT; (kill -9 $$)') == ("", 137)
    assert sh(host, "(sleep 0.1; kill -STOP $$; kill -CONT $$) & sleep 0.3; echo on") == ("on\n", 0)


def test_ctrl_c_without_the_console(host):
    """The shell waits for it, and hands its own interrupt on, but not for ever."""
    host.send("signals once < /dev/null > /tmp/once 2> /tmp/error\r")
    host.expect(rb"ready\r?\n")
    host.send("\x03")
    host.wait_prompt()
    assert host.check("cat /tmp/once") == "once is right\n"


def test_ctrl_c(host):
    """It ends what does not handle it; the shell that handles it goes on."""
    host.send("busybox sh -c 'trap \"echo caught\" INT; hostile spin; echo after'\r")
    host.listen(0.5)
    host.send("\x03")
    assert "caught\nafter\n" in host.wait_prompt()
    assert host.check("busybox sleep 100 & echo started") == "started\n"
    host.check("kill %1; wait")


def test_events(host):
    host.check("cd /sys/kernel/tracing; > trace; echo 1 > events/signal/enable")
    sh(host, 'trap "echo hi" USR1; kill -USR1 $$')
    host.check("echo 0 > events/signal/enable")
    trace = host.check("cat trace")
    sent = re.search(r"busybox-(\d+) .* signal_generate: sig=10 errno=0 code=0 comm=busybox pid=(\d+) grp=1 res=0\n", trace)
    assert sent and sent[1] == sent[2], trace
    assert re.search(rf"busybox-{sent[1]} .* signal_deliver: sig=10 errno=0 code=0 sa_handler=\w{{6}} sa_flags=1?4000000\n", trace), trace
    fields = re.findall(
        r"field:(?!unsigned short common|unsigned char common|int common)(.*?);", host.check("cat events/signal/signal_generate/format")
    )
    assert fields == ["int sig", "int errno", "int code", "char comm[16]", "pid_t pid", "int group", "int result"]
