"""Well-known one-liners of DTrace and of SystemTap as scripts: (script, command that it watches, a line that it prints). Above each stands the original."""

READS = "busybox dd if=/dev/zero of=/dev/null bs=700 count=20"
COPY = "busybox cat /proc/version > /dev/null"
ONE_LINERS = [
    # ---- DTrace ----
    # syscall:::entry { @[execname] = count(); }
    ("tracepoint:raw_syscalls:sys_enter { @[execname] = count(); }", READS, r"^@\[busybox\]: [4-9]\d$"),
    # syscall:::entry { @num[pid,execname] = count(); }
    ("tracepoint:raw_syscalls:sys_enter { @num[pid, execname] = count(); }", READS, r"^@num\[\d+, busybox\]: [4-9]\d$"),
    # syscall:::entry { @num[probefunc] = count(); }
    ("tracepoint:syscalls:sys_enter_* { @num[probe] = count(); }", READS, r"^@num\[tracepoint:syscalls:sys_enter_read\]: 2\d$"),
    # syscall::open*:entry { printf("%s %s", execname, copyinstr(arg0)); }
    (
        'tracepoint:syscalls:sys_enter_open, tracepoint:syscalls:sys_enter_openat { printf("%s %s\\n", execname, str(args.filename)); }',
        COPY,
        r"^busybox /proc/version$",
    ),
    # sysinfo:::readch { @bytes[execname] = sum(arg0); }
    ("tracepoint:syscalls:sys_exit_read /args.ret == 700/ { @bytes[execname] = sum(args.ret); }", READS, r"^@bytes\[busybox\]: 14000$"),
    # sysinfo:::writech { @dist[execname] = quantize(arg0); }
    (
        "tracepoint:syscalls:sys_exit_write /args.ret == 700/ { @dist[execname] = quantize(args.ret); }",
        READS,
        r"^@dist\[busybox\]: \n\[512, 1K\) +20 \|@{52}\|$",
    ),
    # syscall::read:entry { @ = lquantize(arg2, 0, 1000, 100); }
    (
        "tracepoint:syscalls:sys_enter_read /args.count == 700/ { @ = lquantize(args.count, 0, 1000, 100); }",
        READS,
        r"^\[700, 800\) +20 \|@{52}\|$",
    ),
    # proc:::exec-success { trace(execname); }
    ('tracepoint:sched:sched_process_exec { printf("%s\\n", execname); }', COPY, r"^busybox$"),
    # profile-997 { @[stack()] = count(); }
    ("profile:hz:997 { @[stack(1)] = count(); } interval:ms:20 { exit(); }", "", r"^@\[\n    \w+\+\d+\n\]: \d+$"),
    # fbt::read:entry { self->t = timestamp; } fbt::read:return /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }
    (
        "kprobe:vfs_read { @t[tid] = timestamp; } kretprobe:vfs_read /@t[tid]/ { @ = quantize(timestamp - @t[tid]); delete(@t[tid]); }",
        READS,
        r"^@: \n(\[\w+, \w+\) +\d+ \|[@ ]{52}\|\n)+",
    ),
    # ---- SystemTap ----
    # probe begin { printf("hello world\n"); exit() }
    ('BEGIN { printf("hello world\\n"); exit() }', "", r"^hello world$"),
    # probe syscall.open { printf("%s(%d) open (%s)\n", execname(), pid(), filename) }
    (
        'tracepoint:syscalls:sys_enter_openat { printf("%s(%d) open (%s)\\n", comm, pid, str(args.filename)); }',
        COPY,
        r"^busybox\(\d+\) open \(/proc/version\)$",
    ),
    # probe kernel.function("vfs_*") { calls[ppfunc()] <<< 1 }
    ("kprobe:vfs_* { @calls[func] = count(); }", READS, r"^@calls\[vfs_write\]: 2\d$"),
    # probe vfs.read.return { bytes[execname()] += $return }
    ("kretprobe:vfs_read /retval == 700/ { @bytes[comm] += retval; }", READS, r"^@bytes\[busybox\]: 14000$"),
    # probe kernel.function("vfs_write") { size <<< $count } probe end { print(@min(size), @max(size), @avg(size)) }
    (
        "kprobe:vfs_write /arg2 == 700/ { @size = stats(arg2); @n = count(); @least = min(arg2); @most = max(arg2); }",
        READS,
        r"^@least: 700\n@most: 700\n@n: 20\n@size: count 20, average 700, total 14000\n",
    ),
    # probe scheduler.cpu_off { switches[cpu()]++ }
    ("tracepoint:sched:sched_switch { @switches[cpu]++; }", "hackbench 1 2 > /dev/null", r"^@switches\[0\]: \d+$"),
    # probe timer.ms(1) { if (++n == 3) exit() } probe end { printf("%d\n", n) }
    ('interval:ms:1 { if (++@n == 3) { exit() } } END { printf("%d ticks\\n", @n); }', "", r"^3 ticks$"),
    # probe process("/bin/probed").function("f_nop") { calls <<< 1 }
    ("uprobe:/bin/probed:f_nop { @calls = count(); }", "probed all 20 > /dev/null", r"^@calls: 80$"),
    # probe kernel.trace("sched_process_exit") { if (pid() == tid()) leaders++; else threads++ }
    ("rawtracepoint:sched_process_exit { if (pid == tid) { @leaders++ } else { @threads++ } }", COPY, r"^@leaders: \d+$"),
    # probe kernel.function("vfs_open") { print_backtrace() }
    ("kprobe:vfs_open { print(kstack(2)); }", COPY, r"^ +vfs_open\+\d+\n +\w+\+\d+\n"),
]
