"""Commands, files and jobs beyond the contract's examples: one row is one behaviour, byte for byte."""
import re
import time

import pytest

from guest import Guest

ROWS = [
    # words
    ('echo "a $((1 + 2 * 3)) `echo b` $(echo c; echo d)"', "a 7 b c\nd\n", 0),
    ("x='a  b'; echo $x; echo \"$x\"; echo '$x'", "a b\na  b\n$x\n", 0),
    ("v=1; v=2 sh -c 'echo $v'; echo $v; v=3 w=4 true; echo $v$w", "2\n1\n1\n", 0),
    ("echo ${nosuch:-word} ${nosuch+set} [${#x}]", "word [4]\n", 0),
    ("echo per_cpu/cpu[01]/stats", "per_cpu/cpu0/stats per_cpu/cpu1/stats\n", 0),
    ("echo *nothing* '*' \\*", "*nothing* * *\n", 0),
    ("cat per_cpu/cpu*/stats | grep -c entries", "2\n", 0),
    # lists, loops, brackets
    ("true; echo $?; false; echo $?; ! true; echo $?", "0\n1\n1\n", 0),
    ("false || { echo group; false; } && echo not", "group\n", 1),
    ("(cd /; pwd); pwd", "/\n/sys/kernel/tracing\n", 0),
    ("i=3; while [ $i -gt 0 ]; do echo $i; i=$((i - 1)); done", "3\n2\n1\n", 0),
    ("until false; do break; done; echo $?", "0\n", 0),
    ("for i in 1 2 3; do for j in 1 2; do [ $j = 2 ] && continue 2; echo $i$j; done; done", "11\n21\n31\n", 0),
    ("if false; then echo a; elif true; then echo b; else echo c; fi", "b\n", 0),
    ("seq 3 | while read n; do echo n=$n; done", "n=1\nn=2\nn=3\n", 0),
    ("((((((((((echo deep))))))))))", "deep\n", 0),
    ("(((((((((((echo deep)))))))))))", "sh: syntax error: nested too deeply\n", 2),
    ("if true; fi", 'sh: syntax error: unexpected "fi" (expecting "then")\n', 2),
    ("echo a )", 'sh: syntax error: unexpected ")"\n', 2),
    ("sh -c 'echo in; exit 3'", "in\n", 3),
    ("echo 'echo script; exit 4' > /tmp/script; sh /tmp/script; rm /tmp/script", "script\n", 0),
    # redirections
    ("{ echo a; echo b; } > /tmp/two; cat < /tmp/two; rm /tmp/two", "a\nb\n", 0),
    ("nosuch 2> /tmp/err; cat /tmp/err; rm /tmp/err", "sh: nosuch: command not found\n", 0),
    ("nosuch 2>&1 | wc -l", "1\n", 0),
    ("cat < nosuch", "sh: can't open nosuch: no such file\n", 1),
    ("echo x > nosuch", "sh: can't create nosuch: Permission denied\n", 1),
    ("echo x > /nosuch/x", "sh: can't create /nosuch/x: nonexistent directory\n", 1),
    ("echo x > /tmp", "sh: can't create /tmp: Is a directory\n", 1),
    ("echo 5 > tracing_on; echo $?", "0\n", 0),
    ("echo x > tracing_on", "sh: write error: Invalid argument\n", 1),
    ("echo x > available_tracers", "sh: write error: Invalid argument\n", 1),
    ("cat trace_marker", "cat: trace_marker: Invalid argument\n", 1),
    ("echo x | cat > tracing_on", "cat: write error: Invalid argument\n", 1),
    # jobs
    ("sleep 0.1 & sleep 0.1 & wait; echo done; jobs", "done\n", 0),
    ("sleep 100 & kill $!; wait $!", "", 130),
    ("sleep 100 & jobs | wc -l; kill %1; wait; jobs", "0\n", 0),
    ("(exit 7) & wait $!", "", 7),
    ("kill 99999", "sh: kill: can't kill pid 99999: No such process\n", 1),
    # files
    ("mkdir -p /tmp/a/b/c && touch /tmp/a/b/f && ls /tmp/a/b | cat; rm /tmp/a/b/f; " "rmdir /tmp/a/b/c /tmp/a/b /tmp/a", "c\nf\n", 0),
    ("mkdir nosuch", "mkdir: can't create directory 'nosuch': Operation not permitted\n", 1),
    ("mkdir /tmp", "mkdir: can't create directory '/tmp': File exists\n", 1),
    ("rmdir /tmp", "rmdir: '/tmp': Device or resource busy\n", 1),
    ("rm trace", "rm: can't remove 'trace': Operation not permitted\n", 1),
    ("rm nosuch", "rm: can't remove 'nosuch': No such file or directory\n", 1),
    ("rm options", "rm: can't remove 'options': Is a directory\n", 1),
    ("rmdir trace", "rmdir: 'trace': Not a directory\n", 1),
    ("rmdir options", "rmdir: 'options': Operation not permitted\n", 1),
    ("mkdir options", "mkdir: can't create directory 'options': File exists\n", 1),
    ("mkdir trace/x", "mkdir: can't create directory 'trace/x': Not a directory\n", 1),
    ("rm /proc/nosuch", "rm: can't remove '/proc/nosuch': No such file or directory\n", 1),
    ("cat options", "cat: options: Is a directory\n", 1),
    ("cat nosuch", "cat: nosuch: No such file or directory\n", 1),
    ("ls -l tracing_on", "-rw-r-----    1 root     root             0 tracing_on\n", 0),
    ("ls -d options per_cpu | cat", "options\nper_cpu\n", 0),
    ("echo one > /tmp/f; echo two >> /tmp/f; cat /tmp/f - < /tmp/f; rm /tmp/f", "one\ntwo\none\ntwo\n", 0),
    ("cat /dev/null; head -c 3 /dev/zero | wc -c", "3\n", 0),
    ("echo one > /tmp/a; cp /tmp/a /tmp/b; mkdir /tmp/d; cp /tmp/a /tmp/b /tmp/d; cat /tmp/b /tmp/d/a /tmp/d/b", "one\none\none\n", 0),
    ("mv /tmp/a /tmp/c; mv /tmp/b /tmp/c /tmp/d; ls /tmp/d /tmp | cat", "/tmp/d:\na\nb\nc\n\n/tmp:\nd\n", 0),
    ("cp /tmp/d/a /tmp/d/../d/a; cat /tmp/d/a", "cp: '/tmp/d/a' and '/tmp/d/../d/a' are the same file\none\n", 0),
    (
        "cp nosuch /tmp/x; cp options /tmp/x; cp tracing_on nosuch; cp /tmp/d/a /tmp/d/b /tmp/x",
        "cp: can't copy 'nosuch': No such file or directory\ncp: can't copy 'options': Is a directory\n"
        "cp: can't create 'nosuch': Permission denied\ncp: target '/tmp/x' is not a directory\n",
        1,
    ),
    ("mv tracing_on /tmp/x; cat tracing_on /tmp/x; rm /tmp/x", "mv: can't remove 'tracing_on': Operation not permitted\n1\n1\n", 0),
    (
        "mv tracing_on tracing_off; cat tracing_on; mv /tmp/nosuch /tmp/x; mv /dev/null /tmp/x; mv /tmp /tmp2; mv /sys/kernel/tracing /tmp/x",
        "mv: can't rename 'tracing_on': Operation not permitted\n1\nmv: can't rename '/tmp/nosuch': No such file or directory\n"
        "mv: can't rename '/dev/null': Device or resource busy\nmv: can't rename '/tmp': Device or resource busy\n"
        "mv: can't rename '/sys/kernel/tracing': Device or resource busy\n",
        1,
    ),
    # a directory with what is in it, over another one, into itself
    (
        "cd /tmp; mkdir e e/f; echo in > e/f/x; mv e/f e/a_longer_name; cat e/a_longer_name/x; mv e e/a_longer_name/g; mv d/a e/a_longer_name",
        "in\nmv: can't rename 'e': Invalid argument\n",
        0,
    ),
    (
        "mkdir g; mv e g; mv g/e h; mv h/a_longer_name g; find g h; cat g/*/*",
        "g\ng/a_longer_name\ng/a_longer_name/a\ng/a_longer_name/x\nh\none\nin\n",
        0,
    ),
    ("mv g/*/a d; rm g/*/x; rmdir g/a_longer_name g h; ls; cd -", "d\n/sys/kernel/tracing\n", 0),
    # what is open stays open, under its new name and when another one takes its place
    (
        "echo old > /tmp/x; (echo > /tmp/in; until [ -f /tmp/go ]; do sleep 0.01; done; cat; echo more >> /tmp/x) < /tmp/x & "
        "until [ -f /tmp/in ]; do sleep 0.01; done; echo new > /tmp/y; mv /tmp/y /tmp/x; echo > /tmp/go; wait; cat /tmp/x; "
        "rm /tmp/x /tmp/in /tmp/go; ls /tmp",
        "old\nnew\nmore\nd\n",
        0,
    ),
    (
        "mkdir /tmp/m /tmp/m/t; mount -t tracefs none /tmp/m/t; mv /tmp/m /tmp/n; umount /tmp/m/t; mv /tmp/m /tmp/n; rmdir /tmp/n/t /tmp/n",
        "mv: can't rename '/tmp/m': Device or resource busy\n",
        0,
    ),
    ("cp /tmp/d/a current_tracer", "cp: error writing 'current_tracer': Invalid argument\n", 1),
    (
        "find /tmp; find /tmp -type f -name 'b*'; find /tmp -maxdepth 0; find /tmp -mindepth 2 ! -name a -not -path '*/c' -print",
        "/tmp\n/tmp/d\n/tmp/d/a\n/tmp/d/b\n/tmp/d/c\n/tmp/d/b\n/tmp\n/tmp/d/b\n",
        0,
    ),
    ("cd /tmp; find; find . d -type d; cd /sys/kernel/tracing", ".\n./d\n./d/a\n./d/b\n./d/c\n.\n./d\nd\n", 0),
    ("rm /tmp/d/a /tmp/d/b /tmp/d/c; rmdir /tmp/d; find /tmp /nosuch", "/tmp\nfind: /nosuch: No such file or directory\n", 1),
    ("find /tmp -size 1", "find: -size is not there\n", 1),
    (
        "find / -name set_ftrace_filter | grep -v instances",
        "/sys/kernel/debug/tracing/set_ftrace_filter\n" "/sys/kernel/tracing/set_ftrace_filter\n",
        0,
    ),
    # what tutorials type first
    (
        "sysctl kernel.ftrace_enabled; sysctl -w kernel.ftrace_enabled=0; sysctl -n kernel/ftrace_enabled; "
        "sysctl -q kernel.ftrace_enabled=1; cat /proc/sys/kernel/ftrace_enabled",
        "kernel.ftrace_enabled = 1\nkernel.ftrace_enabled = 0\n0\n1\n",
        0,
    ),
    ("sysctl -a | grep ftrace_enabled; sysctl -aN | grep -c '^kernel[.]'", None, 0),
    ("sysctl kernel.nosuch", "sysctl: cannot stat /proc/sys/kernel/nosuch: No such file or directory\n", 1),
    ("sysctl kernel.ftrace_enabled=x", "sysctl: setting key 'kernel.ftrace_enabled': Invalid argument\n", 1),
    ("sysctl -w kernel.ftrace_enabled", 'sysctl: "kernel.ftrace_enabled" must be of the form name=value\n', 1),
    ("mount -t tracefs nodev /sys/kernel/tracing && mount -t debugfs none /sys/kernel/debug; echo $?", "0\n", 0),
    (
        "mount -o remount,rw,gid=12,uid=7,mode=711 . && grep -c ' tracefs rw,relatime,uid=7,gid=12,mode=711 0 0' /proc/mounts; "
        "ls -ld . | cut -d ' ' -f 1; mkdir /tmp/t; mount -t tracefs x /tmp/t; mount | grep /tmp/t; umount /tmp/t; rmdir /tmp/t; ls -l events/sched/sched_switch/id README | tr -s ' ' | cut -d ' ' -f 1,3,4; "
        "mkdir instances/x; ls -l instances/x/trace | tr -s ' ' | cut -d ' ' -f 3,4; rmdir instances/x; "
        "mount -o remount,gid=0,uid=0,mode=700 nodev /sys/kernel/tracing; ls -l README | tr -s ' ' | cut -d ' ' -f 3,4; "
        "mount -o remount,gid=1 /dev",
        "2\ndrwx--x--x\ntracefs on /tmp/t type tracefs (rw,relatime,uid=7,gid=12,mode=711)\n-r--r----- 7 12\n-r--r----- 7 12\n7 12\nroot root\nmount: /dev: not mounted.\n",
        32,
    ),
    (
        "mount -t tracefs; mount | grep -c debugfs",
        "tracefs on /sys/kernel/tracing type tracefs (rw,relatime)\ntracefs on /sys/kernel/debug/tracing type tracefs (rw,relatime)\n1\n",
        0,
    ),
    (
        "mkdir /tmp/t; mount -t tmpfs -o mode=0710,gid=4,size=1m x /tmp/t; ls -ld /tmp/t | tr -s ' ' | cut -d ' ' -f 1,3,4; mount | grep /tmp/t; "
        "mount -o remount,mode=1777,gid=0 /tmp/t; grep /tmp/t /proc/mounts; mount -o remount,uid=1,mode=7 /tmp/t; grep /tmp/t /proc/mounts; "
        "umount /tmp/t; rmdir /tmp/t",
        "drwx--x--- root 4\ntmpfs on /tmp/t type tmpfs (rw,relatime,mode=710,gid=4)\ntmpfs /tmp/t tmpfs rw,relatime 0 0\n"
        "tmpfs /tmp/t tmpfs rw,relatime,mode=007,uid=1 0 0\n",
        0,
    ),
    (
        "mkdir /tracing; mount -t tracefs nodev /tracing; cat /tracing/current_tracer; rmdir /tracing; umount /tracing; "
        "ls /tracing; umount /tracing; rmdir /tracing",
        "nop\nrmdir: '/tracing': Device or resource busy\numount: /tracing: not mounted.\n",
        0,
    ),
    (
        "mount -t tracefs x /nosuch; mount -t ext4 x /tmp; mount -t debugfs x /dev; mount -t tracefs x /proc; umount /sys/kernel/tracing",
        "mount: /nosuch: mount point does not exist.\nmount: /tmp: unknown filesystem type 'ext4'.\n"
        "mount: /dev: debugfs has its place already, see `mount`\nmount: /proc: something else is mounted there\n"
        "umount: /sys/kernel/tracing: target is busy.\n",
        32,
    ),
    (
        "echo 'v=from-file; cd /tmp' > /tmp/f; . /tmp/f; echo $v; pwd; source ./f; cd /sys/kernel/tracing; rm /tmp/f; unset v",
        "from-file\n/tmp\n",
        0,
    ),
    (
        "echo '. /tmp/f' > /tmp/f; . /tmp/f; echo $?; rm /tmp/f; . /tmp/f",
        "sh: files and shells nested too deeply\n2\n" "sh: .: /tmp/f: No such file or directory\n",
        1,
    ),
    ("echo 'exec sh /tmp/f' > /tmp/f; sh /tmp/f; echo $?; rm /tmp/f", "sh: files and shells nested too deeply\n2\n", 0),
    (
        "sh -c 'echo $$ > /tmp/pid; exec ps' | grep ' ps$' | tr -s ' ' | cut -d ' ' -f 2 > /tmp/ps; "
        "[ $(cat /tmp/pid) = $(cat /tmp/ps) ] && echo same; rm /tmp/p*; sh -c 'exec echo in; echo not'; sh -c 'exec nosuch; echo not'",
        "same\nin\nsh: exec: nosuch: not found\n",
        127,
    ),
    (
        "echo 0 | sudo tee tracing_on; sudo sh -c 'echo 1 > tracing_on'; sudo cat tracing_on; sudo cd /; pwd; sudo nosuch",
        "0\n1\n/sys/kernel/tracing\nsudo: nosuch: command not found\n",
        1,
    ),
    ("sudo " * 30 + "sudo -E echo root", "root\n", 0),
    ("(" + "exec " * 1600 + "echo here)", "here\n", 0),
    (
        "(exec -a ping ps) | grep -c ' ping$'; (exec -a ping); (exec -a ping nosuch)",
        "1\nsh: exec: a command must follow: redirections alone cannot stay\nsh: exec: nosuch: not found\n",
        127,
    ),
    ("echo 'echo from a pipe; v=2' | sh; echo $v", "from a pipe\n\n", 0),
    ("sh", "sh: the console has a shell already\n", 127),
    # text
    ("seq 20 | head -n 2; seq 20 | head -2; seq 20 | head -c 3", "1\n2\n1\n2\n1\n2\n", 0),
    ("seq 20 | tail -n 2; seq 20 | tail -1; seq 5 | tail -n +4", "19\n20\n20\n4\n5\n", 0),
    ("printf 'x\\ty\\n' | cut -f 2; echo a:b:c | cut -d: -f1,3; echo abcdef | cut -c 2-4", "y\na:c\nbcd\n", 0),
    ("printf '10\\n9\\n100\\n' | sort; printf '10\\n9\\n100\\n' | sort -rn", "10\n100\n9\n100\n10\n9\n", 0),
    ("printf 'b 2\\na 10\\nc 1\\n' | sort -n -k 2 | cut -d ' ' -f 1 | tr '\\n' ' '; echo", "c b a \n", 0),
    ("printf 'a\\na\\nb\\n' | uniq -c; printf 'a\\na\\nb\\n' | uniq -d", "      2 a\n      1 b\na\n", 0),
    ("echo a b c | wc; echo abc | wc -c", "        1         3         6\n4\n", 0),
    ("echo foobar | grep -o 'o*'; seq 12 | grep -E '^(1|2)$'; seq 12 | grep -vc 1", "oo\n1\n2\n8\n", 0),
    ("printf 'Ab\\ncd\\n' | grep -in AB; printf 'a.b\\naxb\\n' | grep -F a.b", "1:Ab\na.b\n", 0),
    ("echo x | grep y", "", 1),
    ("echo x | grep -E '(x'", "grep: bad regex '(x'\n", 2),
    ("echo a | tee /tmp/t1 /tmp/t2; cat /tmp/t1 /tmp/t2; rm /tmp/t1 /tmp/t2", "a\na\na\n", 0),
    ("printf '%5d|%-4s|%x|%c|%%|%b\\n' 42 ab 255 z 'e\\tf'", "   42|ab  |ff|z|%|e\tf\n", 0),
    ("printf '%s,' a b c; echo", "a,b,c,\n", 0),
    ("echo -e 'a\\x41\\0102\\n'", "aAB\n\n", 0),
    ("seq 2 2 6 | tr '\\n' ' '; seq 3 -1 1 | tr '\\n' ' '; echo", "2 4 6 3 2 1 \n", 0),
    # questions
    ("[ 1 -eq 1 -a ! -f /nosuch ] && [ -d /tmp ] && [ -n x ] && [ -z '' ] && [ a != b ]", "", 0),
    ("[ 1 -gt x ]", "sh: [: x: bad number\n", 2),
    ("[ 1 -eq 1", "sh: [: missing ]\n", 2),
    # facts
    ("ls > /dev/null; why schedule | head -n 1 | cut -c 1-23", "schedule: can be traced\n", 0),
    (
        "why kmalloc vfs_open | grep '^ .*('",
        "    void *kmalloc(size_t bytes)\n" "    int vfs_open(const char *cwd, const char *path, uint32_t flags, struct file **out_file)\n",
        0,
    ),
    ("why no_such_function_at_all > /dev/null", "", 1),
    (
        "echo 'r:opened vfs_open path:string err=$retval' > kprobe_events; why kprobes/opened; why opened kprobes:opened | grep -c path=; "
        "why sched/sched_switch; > kprobe_events",
        "kprobes/opened: a dynamic event, off\n"
        "    r:kprobes/opened vfs_open path=path:string err=$retval\n"
        "        int vfs_open(const char *cwd, const char *path, uint32_t flags, struct file **out_file)\n"
        "        path:string from +0($arg2), const char *path\n        err:s32 from $retval, int\n"
        "           0 PEEK_TEXT at [offset 24] + 0\n           1 END\n"
        "2\nsched/sched_switch: an event of the kernel, which no line defines\n",
        0,
    ),
    ("why kprobes/opened", "kprobes/opened: there is no such event\n", 1),
    ("echo 'p vfs_read file.flags' > kprobe_events", "sh: write error: Operation not supported\n", 1),
    ("cpus | head -1 | cut -d ' ' -f 1-5", "2 of 2 CPUs online,\n", 0),
    ("stack $$ | grep -c 'sh_exec+0x'; stack 0", None, 1),
    ("dmesg | grep -c 'CPUs online'", "1\n", 0),
    (
        "grep -c ' schedule$' /proc/kallsyms; grep -c ' r kallsyms_ops$' /proc/kallsyms; grep -c ' d trace_thresh_ns$' /proc/kallsyms",
        "1\n1\n1\n",
        0,
    ),
    ("cd /sys/kernel/tracing; echo 'p:ro kmalloc at=@kallsyms_ops' > kprobe_events && echo > kprobe_events", "", 0),
    ("sleep", "usage: sleep SECONDS[smh]...\n", 2),
    ("hackbench 2 20 | tail -n 1 | cut -c 1-5", "Time:\n", 0),
    ("hackbench 2 20 | tail -n 2 | head -n 1", "Checked: 2560 messages, each whole and in order, all arrived once\n", 0),
    (
        "stress all -n 20 | cut -d ' ' -f 2,8-",
        "alloc: ok: every byte as it was left, all memory back\n"
        "ipi: ok: each call ran once, where and before it should\nlivepatch: ok: each pass of one version\n"
        "locks: ok: no step of a counter lost under any lock\ntimers: ok: each fired once, never early\n",
        0,
    ),
    ("stress nonsense", "usage: stress [alloc | ipi | livepatch | locks | timers | all] [SECONDS | -n ROUNDS]\n", 2),
]


@pytest.mark.parametrize("command,output,status", ROWS, ids=[row[0] for row in ROWS])
def test_row(guest, command, output, status):
    got = guest.run(command)
    assert got[1] == status, got
    if output is not None:
        assert got[0] == output


ENDLESS = [
    "while true; do :; done",
    "while true; do true | cat; done",
    "cat",
    "cat | cat",
    "sleep 100 | cat",
    "echo $(sleep 100)",
    "(sleep 100; echo not reached)",
    "sh -c 'sleep 100'",
    "read x",
    "sleep 100 & wait",
    "seq 100000000 > /dev/null",
    "cat /dev/zero > /dev/null",
    "cat trace_pipe | grep x",
    "hackbench 4 100000",
    "stress all 100",
    "for i in 1 2 3; do sleep 100; done; echo not reached",
]


@pytest.mark.parametrize("command", ENDLESS)
def test_ctrl_c(guest, command):
    guest.send(f"echo go; {command}\r")
    guest.expect(rb"\r\ngo\r\n")
    time.sleep(0.1)
    guest.send("\x03")
    printed = guest.wait_prompt(15)
    assert "not reached" not in printed
    assert guest.output_of("echo $?") == "130\n"
    guest.check("kill %1 2> /dev/null; wait")


def test_ctrl_c_and_what_is_typed_around_it(guest):
    guest.send("echo go; sleep 100\r")
    guest.expect(rb"\r\ngo\r\n")
    guest.send('echo be""fore\r\x03echo af""ter\r')
    guest.expect(rb"after\r\n")
    guest.wait_prompt()
    assert "\nbefore" not in guest.everything()


def test_reading_the_console(guest):
    guest.send("cat\r")
    guest.expect(rb"cat\r\n")
    guest.send("one\r")
    guest.expect(rb"one\r\none\r\n")
    guest.send("\x04")
    assert guest.wait_prompt() == ""


def test_lines_that_go_on(guest):
    for line in ("for i in 1 2\r", "do echo 'n\r"):
        guest.send(line)
        guest.expect(rb"\r\n> ")
    guest.send("'$i; done\r")
    guest.expect(rb"\r\n")
    assert guest.wait_prompt() == "n\n1\nn\n2\n"


def test_ctrl_c_drops_unfinished_lines(guest):
    guest.send("if true\r")
    guest.expect(rb"\r\n> ")
    guest.send("\x03")
    guest.wait_prompt()
    assert guest.check("echo alive") == "alive\n"


def test_the_prompt_starts_a_line(guest):
    guest.send("echo -n x\r")
    guest.expect(rb"echo -n x\r\n")
    assert guest.wait_prompt() == "x\n"


def test_completion_lists_choices(guest):
    guest.send("cat set_ftr\t")
    guest.expect(rb"cat set_ftrace_")
    guest.send("\t\t")
    guest.expect(rb"set_ftrace_filter +set_ftrace_notrace +set_ftrace_notrace_pid\r\nset_ftrace_pid\r\n")
    guest.expect(rb"fathom# cat set_ftrace_")
    guest.send("\x15unam\t\r")
    guest.expect(rb"uname \r\n")
    assert guest.wait_prompt() == "Fathom\n"
    guest.send("ls per_c\tcpu0/st\t\r")
    guest.expect(rb"per_cpu/cpu0/stats \r\n")
    assert guest.wait_prompt() == "per_cpu/cpu0/stats\n"


def test_completion_of_functions_shows_prototypes(guest):
    guest.send("why kmal\t")
    guest.expect(rb"void \*kmalloc\(size_t bytes\)\r\n")
    guest.expect(rb"fathom# why kmalloc ")
    guest.send("vfs_lst\t\r")
    guest.expect(rb"int vfs_lstat\(const char \*cwd, const char \*path, struct vfs_stat \*out_stat\)\r\n")
    guest.expect(rb"fathom# why kmalloc vfs_lstat [^\r]*\r\n")
    assert "\nvfs_lstat: can be traced\n" in guest.wait_prompt()


def test_everything_is_given_back(guest):
    commands = (
        "x=$(seq 50); for i in 1 2 3; do echo $x | cat | wc -l; done; (true) & wait; "
        "sort /proc/kallsyms | uniq | head -1; echo y > /tmp/gone; rm /tmp/gone; "
        "grep -c s README; ps; stack $$; nosuch; cat nosuch; sh -c true; stress alloc -n 5"
    ) + " > /dev/null"
    guest.run(commands)
    guest.check("history -c; sleep 0.1")
    before = int(guest.output_of("free -p"))
    for _ in range(3):
        guest.run(commands)
    guest.check("history -c; sleep 0.1")
    assert int(guest.output_of("free -p")) <= before + 1


@pytest.mark.parametrize("guest", [{"cpus": 1}], indirect=True, ids=["1 CPU"])
def test_an_ended_command_is_not_listed(guest):
    """Also while kreaper, which frees it, has no turn: a real-time thread keeps the only CPU."""
    output = guest.check("chrt -f 50 sh -c 'uptime; sleep 0; ps; sleep 0; uptime'")
    assert " sleep\n" not in output and output.count(" ps\n") == 1
    assert len(set(re.findall(r", (\d+) threads", output))) == 1


def test_trace_to_a_file(guest):
    guest.check("echo 1 > tracing_on; echo function > current_tracer; hackbench 1 20 > /dev/null; echo 0 > tracing_on")
    lines = int(guest.check("cat trace > /tmp/copy; wc -l < /tmp/copy"))
    assert lines > 1000
    assert int(guest.check("grep -c hackbench /tmp/copy")) > 100
    assert guest.check("cat trace | sort > /tmp/a; sort /tmp/copy > /tmp/b; wc -l < /tmp/a").split() == [str(lines)]
    guest.check("rm /tmp/copy /tmp/a /tmp/b; echo nop > current_tracer; echo 1 > tracing_on; echo > trace")


def test_date():
    """The clock of the mainboard, also over the end of a day in February."""
    with Guest(cpus=1, extra=("-rtc", "base=2024-02-29T23:59:58"), limit=60) as guest:
        guest.check("sleep 3")
        assert guest.check("date +%F") == "2024-03-01\n"
        first, text, last = guest.check("date +%s.%N; date; date +%s.%N").splitlines()
        assert 1709251200 < float(first) <= float(last) < 1709251200 + 50
        assert re.fullmatch(r"Fri Mar  1 00:00:\d\d UTC 2024", text)
        assert guest.run("date -s now")[1] == 2


def test_files_inside_each_other(guest):
    """As deep as texts may be, and a bit: refused before the stack is used up."""
    text = "{ " * 10 + "echo $(echo deep); echo nop > current_tracer; . /tmp/f" + "; }" * 10
    output, status = guest.run(f"echo '{text}' > /tmp/f; . /tmp/f")
    assert status == 2 and re.fullmatch(r"(deep\n)+sh: files and shells nested too deeply\n", output)
    guest.check("rm /tmp/f")


def test_run_parameter():
    with Guest(cpus=1, cmdline='run="echo from-run; false" exit', wait=False, limit=60) as guest:
        guest.expect(rb"from-run\r\n")
        assert guest.wait_exit() == 3
    with Guest(cpus=1, cmdline='run="hackbench 1 5; stress all -n 3" exit', wait=False, limit=60) as guest:
        assert guest.wait_exit() == 1


def test_32_mib():
    with Guest(cpus=2, mem="32M", limit=120) as guest:
        guest.check("hackbench 4 20")
        guest.check("stress all -n 20")
        guest.check("echo function > current_tracer; ls > /dev/null; cat trace > /dev/null; echo nop > current_tracer")
        output, status = guest.run("cat /dev/zero > /tmp/fill")
        assert (output, status) == ("cat: write error: No space left on device\n", 1)
        guest.check("rm /tmp/fill; hackbench 1 10")
