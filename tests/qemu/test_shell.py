"""The shell as the contract has it: what is typed, what comes back, byte for byte."""
import re
import time

import pytest

PLAIN = [
    ("echo hello world", "hello world\n", 0),
    ('echo \'single  $x "q"\' "double  \\"q\\"" back\\ slash', 'single  $x "q" double  "q" back slash\n', 0),
    ("echo one # a comment", "one\n", 0),
    ("echo a; echo b", "a\nb\n", 0),
    ("true && echo yes || echo no", "yes\n", 0),
    ("false && echo yes || echo no", "no\n", 0),
    ("false", "", 1),
    ("true", "", 0),
    ("echo -n x; echo", "x\n", 0),
    ("printf '%s-%d\\n' abc 42", "abc-42\n", 0),
    ("nonsense", "sh: nonsense: command not found\n", 127),
    ("cat /no/such", "cat: /no/such: No such file or directory\n", 1),
    ("cd /no/such", "sh: cd: can't cd to /no/such: No such file or directory\n", 1),
    ("echo nonsense > current_tracer", "sh: write error: Invalid argument\n", 1),
    ("echo x > /sys/kernel/tracing/available_tracers", None, 1),
    ("pwd", "/sys/kernel/tracing\n", 0),
    ("cd /; pwd; cd /sys/kernel/debug/tracing; pwd; cd /sys/kernel/tracing", "/\n/sys/kernel/debug/tracing\n", 0),
    ("for i in 1 2 3; do echo n$i; done", "n1\nn2\nn3\n", 0),
    ("if true; then echo t; else echo f; fi", "t\n", 0),
    ("if false; then echo t; else echo f; fi", "f\n", 0),
    ("echo 3 > /tmp/n; while test $(cat /tmp/n) -gt 0; do cat /tmp/n; echo 0 > /tmp/n; done", None, 0),
    ("seq 1 5 | tail -n 2", "4\n5\n", 0),
    ("seq 20 | head -3", "1\n2\n3\n", 0),
    ("printf 'b\\na\\nb\\n' | sort | uniq -c", "      1 a\n      2 b\n", 0),
    ("printf 'x:y:z\\n' | cut -d : -f 2", "y\n", 0),
    ("seq 10 | wc -l", "10\n", 0),
    ("seq 10 | grep -c 1", "2\n", 0),
    ("seq 3 | grep -v 2", "1\n3\n", 0),
    ("echo hi > /tmp/f; echo there >> /tmp/f; cat < /tmp/f", "hi\nthere\n", 0),
    ("sleep 0.1 & wait; echo $?", "0\n", 0),
    ("test 3 -lt 5 && [ abc = abc ] && echo ok", "ok\n", 0),
    ("mkdir /tmp/d && ls /tmp/d && rmdir /tmp/d", "", 0),
]


@pytest.mark.parametrize("command,output,status", PLAIN, ids=[c for c, _, _ in PLAIN])
def test_command(guest, command, output, status):
    got = guest.run(command)
    assert got[1] == status, got
    if output is not None:
        assert got[0] == output


def test_every_command_has_help(guest):
    names = [line.split()[0] for line in guest.check("help").splitlines() if line and line[0] != " "]
    for name in (
        "cat echo printf ls cd pwd mkdir rmdir head tail grep wc sort uniq cut sleep time true false test "
        "seq help history ps kill uptime free dmesg cpus irqs stack reboot poweroff panic hackbench "
        "stress why"
    ).split():
        assert name in names, name
    assert not {"bench", "failalloc", "ktest", "torture"} & set(names), "they are in the test kernel"
    for name in names:
        if name.isalpha():
            output, status = guest.run(f"help {name}")
            assert status == 0 and name in output, name


def type_and_run(guest, keys):
    """Type keys as they are, then Return; what the line printed."""
    guest.send(keys + b"\r")
    guest.expect(rb"\r\n")
    return guest.wait_prompt()


def type_and_expect(guest, keys, output):
    """Type keys that show the prompt again on the way, then Return; the line must print this."""
    guest.send(keys + b"\r")
    guest.expect(rb"\r\n" + re.escape(output.encode()) + rb"\r\n")
    guest.wait_prompt()


EDITING = [
    (b"echo abd\x1b[Dc", "abcd\n"),  # left arrow
    (b"cho x\x01e", "echo x\n"),  # Ctrl-A
    (b"cho x\x01e\x05y", "echo xy\n"),  # Ctrl-E
    (b"junk\x15echo new", "new\n"),  # Ctrl-U
    (b"echo one two\x17three", "one three\n"),  # Ctrl-W
    (b"echo keep lost\x1b[D\x1b[D\x1b[D\x1b[D\x0b", "keep\n"),  # Ctrl-K
    (b"echo abx\x7fc", "abc\n"),  # backspace
    (b"cho home\x1b[He", "echo home\n"),  # Home
    (b"ech\x1b[H\x1b[Fo end", "end\n"),  # Home, End
]


@pytest.mark.parametrize("keys,output", EDITING, ids=[repr(k) for k, _ in EDITING])
def test_line_editing(guest, keys, output):
    printed = type_and_run(guest, keys)
    assert printed == output.replace("echo ", "") or printed == output


def test_ctrl_l_clears_and_keeps_the_line(guest):
    guest.send(b"echo ab\x0c")
    guest.expect(rb"\x1b\[H\x1b\[2?J")
    guest.expect(rb"fathom# echo ab")
    assert type_and_run(guest, b"c") == "abc\n"


def test_history(guest):
    guest.check("echo first-of-two")
    guest.check("echo second-of-two")
    # run() types `echo $?` as well: four lines back is the first
    assert type_and_run(guest, b"\x1b[A" * 4) == "first-of-two\n"
    assert type_and_run(guest, b"\x12second-of") == "second-of-two\n"  # Ctrl-R


def test_completion(guest):
    assert type_and_run(guest, b"cat current_tr\t") == guest.check("cat current_tracer")
    assert type_and_run(guest, b"unam\x15hackb\t1 10").startswith("Running with 1 groups")
    assert type_and_run(guest, b"cat /sys/ker\ttra\toptions/record-c\t") == "1\n"
    type_and_expect(
        guest, b"echo 'p:open vfs_ope\t pat\t' \"r4 kmall\tx=by\t+0(\t)'\"", "p:open vfs_open path  r4 kmalloc x=bytes +0(bytes)'"
    )
    type_and_expect(guest, b"echo 't:my/switch sched_switc\t prev'", "t:my/switch sched_switch  prev")
    type_and_expect(guest, b"echo 'f kmalloc%return no\t by\t'", "f kmalloc%return no bytes ")
    type_and_expect(
        guest,
        b"echo 'p mutex_lock mut\t->ow\t->na\t' 'p kfree x=$curr\t->stat\tb=$current->state:u3\t'",
        "p mutex_lock mutex->owner->name  p kfree x=$current->state b=$current->state:u32 ",
    )
    type_and_expect(
        guest,
        b"echo 'p x wake_ring_alarm' 'p wake_ring_alarm (alar\t,tim\t)%di->thr\t->pi\t'",
        "p x wake_ring_alarm p wake_ring_alarm (alarm,timer)%di->thread->pid ",
    )
    type_and_expect(
        guest,
        b"echo 'e timer.timer_sta\t(timer)tim\t->f\ta=$fn:symb\t' 'r kmalloc $ret\t'",
        "e timer.timer_start (timer)timer->fn a=$fn:symbol  r kmalloc $retval ",
    )
    type_and_expect(guest, b"true; echo p:open vfs_ope\t pat\t; echo p:x kmall\t | cat current_tr\t", "p:open vfs_open path")


def test_completion_of_probes_lists_declarations(guest):
    guest.send("echo 't sched_switch prev->c\t\t")
    guest.expect(rb"const char \*comm  uint32_t cpu\r\n")
    guest.expect(rb"fathom# echo 't sched_switch prev->c")
    guest.send("om\t'\r")
    guest.expect(rb"const char \*comm\r\n")
    guest.expect(rb"\r\nt sched_switch prev->comm \r\n")
    guest.wait_prompt()


def test_ctrl_c_ends_a_command(guest):
    guest.send("echo go; sleep 1000\r")
    guest.expect(rb"\r\ngo\r\n")
    time.sleep(0.1)
    guest.send("\x03")
    guest.wait_prompt(10)
    assert guest.output_of("echo $?") == "130\n"


def test_ctrl_c_ends_trace_pipe(guest):
    guest.send("echo go > trace_marker; cat trace_pipe\r")
    guest.expect(rb": go\r\n")
    guest.send("\x03")
    guest.wait_prompt(10)


def test_ctrl_c_drops_the_line(guest):
    guest.send("echo dropped\x03")
    guest.expect(rb"\^C\r\n")  # the prompt before may be shown again with what was typed
    guest.wait_prompt(10)
    assert guest.check("echo kept") == "kept\n"


def test_paste_of_4_kib(guest):
    lines = [f"echo line-{n:03d}-{'x' * 40}" for n in range(70)]
    guest.send("\r".join(lines) + "\recho end-of-paste\r")
    before, _ = guest.expect(rb"\r\nend-of-paste\r\n", 60)
    guest.wait_prompt()
    printed = before.decode().replace("\r\n", "\n").split("\n")
    assert [p for p in printed if p.startswith("line-")] == [line[5:] for line in lines]


def test_commands_leave_no_pages_behind(guest):
    guest.check("hackbench 1 20; seq 100 | sort | uniq | wc -l; echo x > /tmp/leak")
    guest.check("sleep 0.2")
    before = guest.used_pages()
    for _ in range(5):
        guest.check("hackbench 1 20; seq 100 | sort | uniq | wc -l; echo x > /tmp/leak; ls / | cat")
    guest.check("sleep 0.2")
    assert guest.used_pages() < before + 5  # a page a round would be a leak; a slab more or less is none
