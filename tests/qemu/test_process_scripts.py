"""Scripts: the command bt, with the one-liners of bpftrace's tutorial; tests/unit has the language, value by value."""
import re

import pytest
from programs import BUSYBOX, archive, built, linked
from script_words import ONE_LINERS


@pytest.fixture(scope="module")
def initrd(computer, tmp_path_factory):
    return archive(
        tmp_path_factory.mktemp("scripts") / "files.cpio",
        {"bin/busybox": BUSYBOX, "bin/probed": built("probed", "gcc"), "bin/ids": built("ids", "gcc"), "bin/marked": linked("marked")},
    )


def bt(guest, script, command, options=""):
    """The output of a script that watches a command, without its first line."""
    text = guest.check(f"bt {options} -c '{command}' '{script}'")
    first, _, rest = text.partition("\n")
    assert re.fullmatch(r"Attaching \d+ probes?\.\.\.", first), text
    return rest


def counts(text, name=""):
    return {key: int(number) for key, number in re.findall(rf"^@{name}\[(.*)\]: (-?\d+)$", text, re.M)}


def test_lesson_1_lists(host):
    names = host.check('bt -l "tracepoint:syscalls:sys_enter_*"').split()
    assert {"tracepoint:syscalls:sys_enter_openat", "tracepoint:syscalls:sys_enter_read"} <= set(names)
    assert all(name.startswith("tracepoint:syscalls:sys_enter_") for name in names)
    assert "kprobe:vfs_read\n" in host.check('bt -l "*vfs_read*"')


def test_lesson_2_hello(host):
    assert host.check("bt 'BEGIN { printf(\"hello world\\n\"); exit(); }'") == "Attaching 1 probe...\nhello world\n\n\n"


def test_lesson_3_file_opens(host):
    script = 'tracepoint:syscalls:sys_enter_openat { printf("%s %s\\n", comm, str(args.filename)); }'
    assert "busybox /proc/version\n" in bt(host, script, "busybox cat /proc/version > /dev/null")


def test_lesson_4_counts_by_process(host):
    text = bt(host, "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }", "busybox true")
    traced = host.check(
        "echo 1 > events/raw_syscalls/sys_enter/enable; busybox true; echo 0 > events/raw_syscalls/sys_enter/enable; "
        "grep -c 'busybox-.*sys_enter:' trace"
    )
    assert counts(text) == {"busybox": int(traced)}


def test_lesson_5_and_6_distributions(host):
    reads = "busybox dd if=/dev/zero of=/dev/null bs=700 count=20"
    text = bt(host, "tracepoint:syscalls:sys_exit_read /args.ret == 700/ { @bytes = hist(args.ret); }", reads)
    assert re.search(r"^@bytes: \n\[512, 1K\) +20 \|@{52}\|$", text, re.M), text
    text = bt(host, 'kretprobe:vfs_read /comm == "busybox"/ { @bytes = lhist(retval, 0, 2000, 200); }', reads)
    assert re.search(r"^\[600, 800\) +20 \|@{52}\|$", text, re.M), text


def test_lesson_7_time_of_reads(host):
    script = (
        "kprobe:vfs_read { @start[tid] = nsecs; } "
        "kretprobe:vfs_read /@start[tid]/ { @ns[comm] = hist(nsecs - @start[tid]); delete(@start, tid); }"
    )
    text = bt(host, script, "busybox dd if=/dev/zero of=/dev/null bs=1 count=30")
    lines = text.partition("@ns[busybox]: \n")[2].partition("\n\n")[0].splitlines()
    assert sum(int(re.search(r"\) +(\d+) \|", line)[1]) for line in lines if line.startswith("[")) >= 30
    assert "@start[" not in text


def test_lesson_8_counts_of_events(host):
    text = bt(host, "tracepoint:sched:sched* { @[probe] = count(); }", "hackbench 1 2")
    found = counts(text)
    assert found["tracepoint:sched:sched_process_exit"] >= 17 and found["tracepoint:sched:sched_process_fork"] >= 17
    assert found["tracepoint:sched:sched_switch"] > 16


def test_lesson_10_stacks(host):
    text = bt(host, "tracepoint:sched:sched_switch { @[kstack] = count(); }", "sleep 0.01")
    assert re.search(r"^    schedule\+\d+\n(    .*\n)*    thread_sleep_ns\+\d+\n    cmd_sleep\+\d+\n", text, re.M), text
    text = bt(host, "kprobe:vfs_read { @[kstack(3)] = count(); }", "cat /proc/version > /dev/null")
    assert re.search(r"^@\[\n    vfs_read\+\d+\n    (\w+\+\d+)\n    (?!\1)\w+\+\d+\n\]: \d+$", text, re.M), text


def test_lesson_12_structs(host):
    script = 'kprobe:vfs_read /comm == "cat"/ { $file = (struct file *)arg0; printf("%d\\n", $file->flags); }'
    assert re.match(r"\d+\n", bt(host, script, "cat /proc/version > /dev/null"))


def test_lesson_9_profile(host):
    text = host.check("bt 'profile:hz:997 { @[kstack(2)] = count(); @n++; if (@n == 20) { exit() } }'")
    assert re.search(r"^@n: [2-9]\d$", text, re.M) and re.search(r"^@\[\n    \w+\+\d+\n", text, re.M), text


def test_probes_of_programs(host):
    """Each round of the program calls f_nop four times."""
    script = (
        "uprobe:/bin/probed:f_nop { @calls[comm] = count(); @open++ } "
        "uretprobe:/bin/probed:f_nop /@open/ { @returns[func] = count(); @open--; }"
    )
    text = bt(host, script, "probed all 20 > /dev/null")
    assert counts(text, "calls") == {"probed": 80} and list(counts(text, "returns").values()) == [80], text
    assert "@open: 0\n" in text
    assert host.check("bt -l 'uprobe:/bin/probed:f_no*'") == "uprobe:/bin/probed:f_nop\n"
    assert "1:21: the file has no symbols, so no 'main'\n" in host.run("bt 'uprobe:/bin/busybox:main { }'")[0]


def test_markers_of_programs(host):
    """Their arguments, and a semaphore that is 0 again behind the script."""
    script = 'usdt:/bin/marked:marked:step { printf("%d %d %d\\n", arg0, arg1, arg2); } ' "usdt:/bin/marked:w* { @[probe] = count(); }"
    text = bt(host, script, "marked 3 > /dev/null")
    assert text == "0 1000 -7\n1 1001 -7\n2 1003 -7\n\n\n@[usdt:/bin/marked:marked:wanted]: 3\n", text
    assert host.check("marked 2") == "0 of 2\n"
    assert host.check("bt -l 'usdt:/bin/marked:*'").split() == ["usdt:/bin/marked:marked:step", "usdt:/bin/marked:marked:wanted"]


def test_names_in_programs(host):
    """While the program is there its functions have names; afterwards their addresses are left."""
    script = (
        'BEGIN { printf("%s %d\\n", ((struct thread *)curtask)->name, curtask->pid == tid); } '
        'uprobe:/bin/probed:f_nop { @[ustack] = count(); @f[func] = count(); if (arg0 == 2) { printf("%s\\n", str($1)); print(@f); exit(); } }'
    )
    host.check(f"echo '{script}' > /names.bt")
    text = host.check("bt -c 'probed all 300000 > /dev/null' /names.bt 12")
    assert "\nbt 1\n12\n@f[f_nop]: " in text, text
    gone = host.check("bt -c 'probed all 2 > /dev/null' /names.bt 12")
    assert re.search(r"^@\[\n    0x[0-9a-f]+\n\]: 8\n@f\[0x", gone, re.M), gone
    script = 'tracepoint:syscalls:sys_enter_write /comm == "busybox"/ { printf("<%r>\\n", buf(args.buf, args.count)); }'
    assert "<hi\\x0a>\n" in bt(host, script, "busybox echo hi > /dev/null")
    host.check("busybox rm /names.bt")


def test_keys_one_by_one(host):
    """for over a table, and D's words for the same; join() of a program's arguments, by events whose fields lie elsewhere."""
    script = (
        "kprobe:vfs_write { @n[comm] = count(); self->seen = 1; } "
        'END { for ($kv : @n) { if ($kv.0 == execname) { @kept[$kv.0] = $kv.1; } } for ($kv : @n) { delete(@n[$kv.0]); } printf("%d\\n", len(@n)); }'
    )
    text = bt(host, script, "busybox echo hi > /dev/null")
    assert text.startswith("0\n") and "self->seen[" in text and "@n[" not in text, text
    script = "tracepoint:syscalls:sys_enter_exec* { join(args.argv); }"
    assert "busybox echo some words\n" in bt(host, script, "busybox env busybox echo some words > /dev/null")


def test_hits_of_one_process(host):
    """A process that does not exist hits nothing; the unit tests have those that do."""
    script = 'BEGIN { @begun++ } kprobe:vfs_write /comm == "busybox"/ { @ = count() }'
    command = "busybox echo 1 > /dev/null"
    assert bt(host, script, command, "-p 30000") == "\n\n@: 0\n@begun: 1\n"
    assert bt(host, script, command) == "\n\n@: 1\n@begun: 1\n"
    assert [host.run(f"bt -p {word} '{script}'")[1] for word in ("0", "1x", "2147483648")] == [2, 2, 2]


def test_hits_of_one_of_two_processes(host):
    """Two that do the same: only the one that was asked for hits."""
    loop = "echo $$ > /tmp/loop$1; while true; do read x < /proc/version; done"
    host.check(f"echo '{loop}' > /tmp/loop; busybox sh /tmp/loop 1 & busybox sh /tmp/loop 2 &")
    host.check('busybox sh -c "while ! [ -s /tmp/loop1 -a -s /tmp/loop2 ]; do sleep 0.01; done"')
    text = host.check("bt -p $(cat /tmp/loop1) 'kprobe:vfs_read { @[pid] = count(); @n++; if (@n >= 5) { exit() } }'")
    host.check("busybox kill $(cat /tmp/loop1) $(cat /tmp/loop2); wait")
    assert list(counts(text)) == [host.check("cat /tmp/loop1; rm /tmp/loop /tmp/loop1 /tmp/loop2").strip()], text


def test_tracepoints_and_data(host):
    script = "rawtracepoint:sched_process_exit { @raw = count() } tracepoint:sched:sched_process_exit { @event = count() }"
    text = bt(host, script, "hackbench 1 2 > /dev/null")
    assert re.fullmatch(r"\n\n@event: (\d+)\n@raw: \1\n", text), text
    script = "watchpoint:trace_thresh_ns:8:w { @[kstack(1)] = count() }"
    text = bt(host, script, "echo 7 > tracing_thresh; echo 8 > tracing_thresh; echo 0 > tracing_thresh")
    assert re.search(r"^\]: 3$", text, re.M), text


def test_threads_that_have_left_their_memory(host):
    """A thread is its program's until it is dead, and has the registers of its last system call."""
    script = (
        'tracepoint:sched:sched_process_exit /comm == "busybox"/ { printf("%d %d\\n", pid == tid, pid == args.pid); @[ustack] = count() }'
    )
    text = bt(host, script, "busybox true")
    assert text.startswith("1 1\n") and re.search(r"^@\[\n    0x[0-9a-f]+\n\]: 1$", text, re.M), text


@pytest.mark.parametrize("script,command,line", ONE_LINERS, ids=[str(nr) for nr in range(1, 21)])
def test_one_liners_of_others(host, script, command, line):
    option = f"-c '{command}' " if command else ""
    text = host.check(f"bt {option}'{script}'")
    assert re.search(line, text, re.M), text


def test_users(host):
    """The program is root's, and then another user's and group's."""
    text = bt(host, 'tracepoint:raw_syscalls:sys_enter /comm == "ids"/ { @[uid] = count(); @group[gid] = count() }', "ids")
    assert {"0", "1000"} <= set(counts(text)) and "0" in counts(text, "group"), text


def test_time_of_day(host):
    """The command date, the script's time and its strftime() tell times that go on."""
    script = 'BEGIN { time("%s\\n"); printf("%s\\n", strftime("%s %F", nsecs)); exit() }'
    texts = [host.check("date +%s"), host.check(f"bt '{script}'"), host.check("date '+%s %F'")]
    before, of_time, of_strftime, day, after, last = re.fullmatch(
        r"(\d+)\nAttaching 1 probe\.\.\.\n(\d+)\n(\d+) (\S+)\n\n\n(\d+) (\S+)\n", "".join(texts)
    ).groups()
    assert int(before) <= int(of_time) == int(of_strftime) <= int(after)
    assert day == last or int(after) % 86400 < 600  # midnight has passed


def test_mistake(host):
    assert host.run("bt 'BEGIN { @x = foo; }'") == ("bt: 1:14: no such name: 'foo'\nBEGIN { @x = foo; }\n             ~~~\n", 1)
    assert host.run("bt -x")[1] == 2 and host.run("bt 'kprobe:vfs_read'")[1] == 1


def test_exact_counts_while_scripts_come_and_go(host):
    """Under load each script counts every call of its command, and leaves nothing behind."""
    host.check(
        "hackbench 2 40 > /dev/null & for i in 1 2 3 4 5 6; do bt 'kprobe:vfs_* { @[func] = count() } interval:ms:5 { exit() }' > /dev/null; done; wait"
    )
    text = bt(
        host,
        'kprobe:vfs_write /comm == "busybox" && arg2 == 77/ { @w = count(); @s = sum(arg2) }',
        "hackbench 2 20 > /dev/null & busybox dd if=/dev/zero of=/dev/null bs=77 count=500; wait",
    )
    assert "@w: 500\n" in text and "@s: 38500\n" in text
    assert host.check("cat enabled_functions") == ""


def test_ctrl_c_prints_the_tables(host):
    host.send('bt \'BEGIN { @x = 5; printf("%s\\n", "ready"); }\'\r')
    host.expect(rb"\r\nready")
    host.send("\x03")
    host.expect(rb"@x: 5")
    host.wait_prompt()


def test_files(host):
    """A script of the directory scripts: its mistakes, its output while it runs, its tables."""
    host.check("mkdir scripts/reads")
    assert "Invalid argument" in host.run("echo 'kprobe:vfs_read { @[com] = count(); }' > scripts/reads/program")[0]
    assert "no such name: 'com'\n  Command: kprobe:vfs_read { @[com] = count(); }\n" in host.check("cat error_log")
    script = 'kprobe:vfs_read /comm == "busybox"/ { @[comm] = count(); printf("%d\\n", arg2); } END { printf("end\\n"); }'
    host.check(f"echo '{script}' > scripts/reads/program; echo 1 > scripts/reads/enable")
    assert "busy" in host.run("rmdir scripts/reads")[0].lower()
    host.check("busybox dd if=/dev/zero of=/dev/null bs=700 count=20 2> /dev/null")
    assert int(re.fullmatch(r"@\[busybox\]: (\d+)\n", host.check("cat scripts/reads/maps"))[1]) >= 20
    host.check("echo 0 > scripts/reads/enable")
    assert re.fullmatch(r"(\d+\n)*(700\n){20}(\d+\n)*end\n", host.check("cat scripts/reads/output"))
    assert re.match(r"probes: 2\nruns: \d+\nmissed: 0\nfull: 0\nlost: 0\n", host.check("cat scripts/reads/stats"))
    host.check("rmdir scripts/reads; echo > error_log")
    assert "reads" not in host.check("ls scripts")
