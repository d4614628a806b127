"""Events of system calls, with programs: what is recorded, for which of them, and that nothing is lost or made up."""
import re
import subprocess

import pytest
from programs import BUSYBOX, FIXED, archive, built

ENTER, EXIT = "events/syscalls/sys_enter_", "events/syscalls/sys_exit_"
ROUNDS = 41 * 200  # of tests/user/bench.c, of a call


def frames(build):
    return built("frames", build, (*FIXED, "-O0"))


@pytest.fixture(scope="module")
def initrd(computer, tmp_path_factory):
    build = computer[0]
    programs = {f"bin/{name}": built(name, build) for name in ("bench", "paths", "timerlats")}
    programs["bin/frames"] = frames(build)
    programs["bin/perf"] = built("hello", build)
    return archive(tmp_path_factory.mktemp("events") / "files.cpio", {"bin/busybox": BUSYBOX, **programs})


@pytest.fixture
def tracing(host):
    host.check("> trace")
    yield host
    host.check("echo 0 > events/enable; > set_event_pid; echo 63 > syscall_user_buf_size; echo noerrno-names > trace_options; > trace")


def lines(guest, path="trace"):
    """(pid, text) of each event."""
    return re.findall(r"-(\d+) +\[\d+\] \S+ +[\d.]+: (.*)\n", guest.check(f"cat {path}").replace("\r", ""))


def test_paths_and_bytes(tracing):
    tracing.check(f"echo 1 > {ENTER}openat/enable; echo 1 > {EXIT}openat/enable; echo 1 > {ENTER}write/enable")
    version = tracing.check("busybox cat /proc/version")
    assert tracing.check("cat /proc/version | busybox cat") == version  # from a pipe it writes; from a file there is sendfile()
    tracing.check("busybox cat /nowhere 2> /dev/null || true; echo 0 > events/enable")
    texts = [text for _, text in lines(tracing)]
    assert re.fullmatch(r'sys_openat\(dfd: 0xffffff9c, filename: 0x7f\w+ "/proc/version", flags: 0, mode: 0\)', texts[0])
    assert texts[1] == "sys_openat -> 0x3"
    digits = ":".join(f"{ord(c):02x}" for c in version)
    shown = version.replace("\n", ".")
    assert re.fullmatch(rf'sys_write\(fd: 1, buf: 0x\w+ \({digits}\) "{re.escape(shown)}", count: {hex(len(version))}\)', texts[2])
    assert '"/nowhere"' in texts[3] and texts[4] == "sys_openat -> 0xfffffffffffffffe"


def test_fork_exec_and_exit(tracing):
    tracing.check("echo 1 > events/syscalls/enable; busybox sh -c 'busybox true; busybox true; true'; echo 0 > events/enable")
    seen = lines(tracing)
    forks = [(pid, text) for pid, text in seen if re.match(r"sys_v?(fork|clone) ->", text)]
    children = {pid for pid, text in forks if text.endswith("-> 0x0")}
    assert len(children) >= 1 and len(forks) == 2 * len(children)
    assert {f"{int(pid):#x}" for pid in children} == {text.split()[-1] for pid, text in forks if pid not in children}
    assert [text for pid, text in seen if text.startswith("sys_execve")].count("sys_execve -> 0x0") >= 2
    assert sum(text.startswith("sys_exit_group(") for _, text in seen) == len(children) + 1
    assert not any(text.startswith("sys_exit_group ->") for _, text in seen)
    # each thread's calls end in the order in which they began
    for pid in {pid for pid, _ in seen}:
        calls = [re.match(r"sys_(\w+)(\(| ->)", text).groups() for p, text in seen if p == pid]
        if pid in children:
            assert calls.pop(0)[1] == " ->"
        for (name, begins), (after, ends) in zip(calls[::2], calls[1::2]):
            assert (name, begins, ends) == (after, "(", " ->")


def test_all_calls_at_once(tracing):
    tracing.check("echo 1 > events/raw_syscalls/enable; busybox true; echo 0 > events/enable")
    seen = [text for _, text in lines(tracing)]
    enters = [int(n) for text in seen for n in re.findall(r"sys_enter: NR (\d+) \((?:\w+, ){5}\w+\)$", text)]
    exits = [int(n) for text in seen for n in re.findall(r"sys_exit: NR (\d+) = -?\d+$", text)]
    assert len(exits) > 10 and enters[-1] == 231 and exits == enters[:-1]


def test_no_call_is_missed(tracing):
    """Counted exactly, also while events of other calls come and go."""
    trigger = f"{ENTER}getppid/trigger"
    tracing.check(f"echo hist:keys=__syscall_nr.syscall > {trigger}")
    tracing.check("while true; do echo 1 > events/syscalls/sys_enter_read/enable; echo 0 > events/syscalls/sys_enter_read/enable; done &")
    for _ in range(3):
        tracing.check("/bin/bench call_null")
    tracing.check("kill %1; wait")
    hist = tracing.check(f"cat {ENTER}getppid/hist")
    tracing.check(f"echo '!hist:keys=__syscall_nr.syscall' > {trigger}")
    assert re.search(rf"sys_getppid +\[110\] \}} hitcount: +{3 * ROUNDS}\r?\n", hist)
    assert re.search(r"Dropped: 0", hist)


def test_paths_that_cannot_be_read(tracing):
    tracing.check(f"echo 1 > {ENTER}open/enable; echo 1 > {ENTER}rename/enable; echo 1 > {ENTER}write/enable")
    results = dict(re.findall(r"^([a-z ]+) (-?\d+)\r?$", tracing.check("paths"), re.M))
    tracing.check("echo 0 > events/enable")
    assert {results[name] for name in ("null", "kernel", "not canonical", "no end")} == {"-14"}
    assert results["end"] == "-2" and results["write"] == "-9"
    seen = [text for _, text in lines(tracing) if text.startswith(("sys_open", "sys_rename", "sys_write(fd: 9"))]
    names = [re.search(r'filename: \w+ "(.*?)", flags', text)[1] for text in seen if text.startswith("sys_open")]
    assert names == ["", "", "", "", "/hal", "x" * 63 + "..."]
    assert re.fullmatch(r'sys_rename\(oldname: \w+ "/a\.b", newname: 1 ""\)', seen[-2])
    assert re.fullmatch(r"sys_write\(fd: 9, buf: \w+ \(, \.\.\.\), count: 4\)", seen[-1])


def test_filters_instances_and_pids(tracing):
    tracing.check("mkdir instances/one")
    filter = "'__filename_val ~ \"/proc/v*\"'"
    tracing.check(f"echo {filter} > instances/one/{ENTER}openat/filter; echo 1 > instances/one/{ENTER}openat/enable")
    tracing.check(f"echo 'filename.ustring ~ \"/bin*\"' > {ENTER}openat/filter; echo 1 > {ENTER}openat/enable")
    tracing.check("busybox cat /proc/version /proc/uptime; busybox ls /bin")
    assert [text.split('"')[1] for _, text in lines(tracing, "instances/one/trace")] == ["/proc/version"]
    assert [text.split('"')[1] for _, text in lines(tracing)] == ["/bin"]
    tracing.check(f"> trace; echo 0 > {ENTER}openat/filter; echo 999999 > set_event_pid; busybox ls /bin")
    assert lines(tracing) == []
    tracing.check("rmdir instances/one; echo 0 > events/enable")


def test_latency(tracing):
    tracing.check("echo errno-names > trace_options; echo 1 > events/latency/enable")
    tracing.check("busybox sleep 0.05; busybox cat /nowhere || true; echo 0 > events/enable")
    seen = [text for _, text in lines(tracing)]
    slept = [int(re.search(r"lat=(\d+) ret=0$", text)[1]) for text in seen if "nanosleep" in text]
    assert len(slept) == 1 and 50_000_000 <= slept[0] < 5_000_000_000
    assert any(re.fullmatch(r"syscall_latency: openat lat=\d+ ret=-2 \(ENOENT\)", text) for text in seen)


def test_why(tracing):
    tracing.check(f"echo 1 > {ENTER}open/enable; busybox cat /proc/version")
    assert "Programs that do not call open may call creat, openat" in tracing.check("cat why")


def test_births_and_names(tracing):
    tracing.check("echo 1 > events/task/enable; busybox sh -c 'busybox true; true'; echo 0 > events/enable")
    seen = lines(tracing)
    (new,) = [
        re.fullmatch(r"task_newtask: pid=(\d+) comm=busybox clone_flags=1200000 oom_score_adj=0", t) for _, t in seen if "newtask" in t
    ]
    assert new and new[1] in {pid for pid, text in seen if "task_rename" in text}
    assert all(re.fullmatch(r"task_rename: pid=\d+ oldcomm=\S+ newcomm=busybox oom_score_adj=0", t) for _, t in seen if "rename" in t)


def test_page_faults(tracing):
    """The first touch of each page, where the program was, and the kernel's own while it copies."""
    tracing.check("echo 1 > events/exceptions/enable; busybox cat /proc/version; echo 0 > events/enable")
    seen = [text for _, text in lines(tracing)]
    user = [re.fullmatch(r"page_fault_user: address=(0x\w+) ip=(0x\w+) error_code=0x(\w+)", text) for text in seen if "user:" in text]
    assert len(user) > 20 and all(user)
    fetches = [(m[1], m[2]) for m in user if m[3] == "14"]
    assert fetches and all(0 <= int(address, 0) - int(ip, 0) < 16 for address, ip in fetches)
    pages = [int(m[1], 0) >> 12 for m in user if m[3] == "14"]
    assert len(pages) == len(set(pages))
    kernel = [text for text in seen if "kernel:" in text]
    assert kernel and all(re.fullmatch(r"page_fault_kernel: address=0x\w+ ip=user_copy\S* error_code=0x[02]", text) for text in kernel)


def test_stacks_of_programs(tracing):
    """By frame pointers, with the file that each address is from while the program is there; none for threads of the kernel."""
    symbols = subprocess.run(["nm", "-n", frames(tracing.build)], check=True, capture_output=True, text=True).stdout
    starts = [(int(at, 16), name) for at, _, name in (line.split() for line in symbols.splitlines())]
    tracing.check(f"echo userstacktrace > trace_options; echo 1 > {ENTER}write/enable; frames & sleep 0.3")
    plain = tracing.check("cat trace").replace("\r", "")
    named = tracing.check("echo sym-userobj > trace_options; cat trace").replace("\r", "")
    tracing.check("echo nosym-userobj > trace_options; echo 0 > events/enable; wait")
    addresses = [int(at, 16) for at in re.findall(r"^ =>  <([0-9a-f]{16})>$", plain, re.M)]
    functions = [max(start for start in starts if start[0] < at)[1] for at in addresses]
    assert functions[-7:] == ["syscall6", "put", "inner", "middle", "outer", "main_program", "_start"]
    offsets = [int(at, 16) for at in re.findall(r"^ => /bin/frames\[\+0x(\w+)\]", named, re.M)]
    base = addresses[-1] - offsets[-1]
    assert [at - base for at in addresses] == offsets and base % 4096 == 0
    assert re.findall(r"^ => /bin/frames\S+ (\w+)\+0x\w+$", named, re.M)[-6:] == functions[-7:-1]  # _start is no function there
    tracing.check("> trace; echo 1 > events/sched/sched_waking/enable; sleep 0.05; echo 0 > events/enable")
    assert "user stack" not in tracing.check("cat trace")
    gone = tracing.check("echo nouserstacktrace > trace_options; cat trace")
    assert "/bin/frames" not in gone


def test_histograms_by_stacks_of_programs(tracing):
    """Beside the thread and the kernel's stack; with names while the program is there, and its addresses afterwards."""
    trigger, hist = f"{ENTER}write/trigger", "hist:keys=common_pid.execname,ustacktrace"
    tracing.check(f"echo '{hist}' > {trigger}; frames & sleep 0.3")
    alive = tracing.check(f"cat {ENTER}write/hist").replace("\r", "")
    folded = tracing.check(f"cat {ENTER}write/hist_folded").replace("\r", "")
    gone = tracing.check(f"wait; cat {ENTER}write/hist").replace("\r", "")
    tracing.check(f"echo '!{hist}' > {trigger}; echo hist:keys=ustacktrace > events/sched/sched_waking/trigger; sleep 0.05")
    (stack,) = re.findall(r"\{ common_pid: frames +\[ +\d+\], ustacktrace:\n((?: {9}\S+ .*\n)+)", alive)
    functions = ["syscall6", "put", "inner", "middle", "outer", "main_program"]
    assert re.findall(r"^ {9}/bin/frames\[\+0x\w+\] (\w+)\+0x\w+$", stack, re.M)[-6:] == functions
    assert re.search(rf"^frames-\d+;\S*{';'.join(reversed(functions))} 1$", folded, re.M)
    (stack,) = re.findall(r"\{ common_pid: frames +\[ +\d+\], ustacktrace:\n((?: {9}.*\n)+)", gone)
    assert re.fullmatch(r"(?: {9}<[0-9a-f]{16}>\n){7,8}", stack)
    waking = tracing.check("cat events/sched/sched_waking/hist; echo '!hist:keys=ustacktrace' > events/sched/sched_waking/trigger")
    assert re.search(r"\{ ustacktrace:\r?\n\} hitcount: +\d+", waking)  # by threads of the kernel


def test_functions_have_linux_names(tracing):
    """Those that tutorials about programs name can be traced and probed."""
    names = "do_sys_openat2 vfs_open vfs_read vfs_write kernel_clone do_exit do_user_addr_fault copy_from_user schedule".split()
    patterns = " ".join(f"-e ^{name}$" for name in names)
    assert sorted(tracing.check(f"busybox grep {patterns} available_filter_functions").split()) == sorted(names)


def test_probes_read_programs(tracing):
    """As Linux's self-test kprobe_args_user has it; and filters, histograms, numbers, arrays of such memory."""
    both = "path=+0($arg2):ustring path2=+u0($arg2):string"
    tracing.check(f"echo 'p:myevent do_sys_open {both}' > kprobe_events; echo 'p:myevent2 do_sys_openat2 {both}' >> kprobe_events")
    assert tracing.check("cat kprobe_events").count(both) == 2
    tracing.check("echo 1 > events/kprobes/enable; busybox sh -c 'echo > /dev/null'; echo 0 > events/kprobes/enable")
    for name in ("myevent", "myevent2"):
        assert any(re.match(rf'{name}: .* path="/dev/null" path2="/dev/null"$', text) for _, text in lines(tracing))
    tracing.check(f"> trace; echo 'p:my vfs_symlink {both.replace('arg2', 'arg3')}' > kprobe_events; echo 1 > events/kprobes/my/enable")
    tracing.check("busybox ln -s foo /tmp/bar; echo 0 > events/kprobes/my/enable; rm /tmp/bar")
    assert [text.split(") ", 1)[1] for _, text in lines(tracing)] == ["path=(fault) path2=(fault)"]
    # A plain read finds a program's memory, too; a filter and a histogram see what it was.
    wanted = "plain=+0($arg2):string first=+0($arg2):x32 own=+u0($arg2):x8[4] next=+u1($arg2):b4@0/8 kernel=+u0($stack):x64"
    tracing.check(
        f"> trace; echo 'p:my do_sys_open {wanted}' > kprobe_events; echo 'plain == \"/proc/version\"' > events/kprobes/my/filter"
    )
    tracing.check("echo hist:keys=plain > events/kprobes/my/trigger; echo 1 > events/kprobes/my/enable")
    tracing.check("busybox cat /proc/version /proc/uptime; echo 0 > events/kprobes/my/enable")
    shown = 'plain="/proc/version" first=0x6f72702f own={0x2f,0x70,0x72,0x6f} next=0 kernel=0x0'
    assert [text.split(") ", 1)[1] for _, text in lines(tracing)] == [shown]
    counts = tracing.check("cat events/kprobes/my/hist")
    assert re.search(r"plain: /proc/version +\} hitcount: +1", counts) and re.search(r"plain: /proc/uptime +\} hitcount: +1", counts)
    tracing.check("echo '!hist:keys=plain' > events/kprobes/my/trigger; > kprobe_events")


def test_stat_counts_a_program(tracing):
    """Its faults and its calls, those of a child included, and none of a program that runs beside it."""
    counted = {}
    for name, command in (("one", "busybox true"), ("two", "busybox sh -c 'busybox true; busybox true'")):
        text = tracing.check(
            f"/bin/bench call_null > /dev/null & perf stat -e page-faults,raw_syscalls:sys_enter,sched:sched_process_exec {command}; wait"
        )
        counted[name] = [int(number) for number in re.findall(r"^ +(\d+) +[\w:-]+ ", text, re.M)]
    assert counted["one"][0] >= 5 and counted["one"][1] >= 3 and counted["one"][2] == 1, counted
    assert counted["two"][2] == 3 and counted["two"][0] > 2 * counted["one"][0], counted
    assert 2 * counted["one"][1] < counted["two"][1] < 2 * counted["one"][1] + 200, counted


def test_a_program_is_the_thread_of_timerlat(tracing):
    """By timerlat_fd: its activations have three lines each, and the end of the tracer is the end of its reads."""
    assert "0 reads, the last: -22" in tracing.check("timerlats 0 1")  # no tracer runs
    try:
        tracing.check("echo NO_OSNOISE_WORKLOAD > osnoise/options; echo 2000 > osnoise/timerlat_period_us; echo timerlat > current_tracer")
        assert "10 reads, the last: 0" in tracing.check("timerlats 0 10")
        contexts = {"irq": [], "thread": [], "user-ret": []}
        seen = re.findall(r"^ *(\S+)-\d+ .*: #(\d+) +context +(\S+) timer_latency +\d+ ns\r?$", tracing.check("cat trace"), re.M)
        for name, number, context in seen:
            contexts[context].append(int(number))
            assert context == "irq" or name == "timerlats", seen
        assert contexts == {"irq": [*range(1, 11)], "thread": [*range(1, 11)], "user-ret": [*range(1, 10)]}, seen
        assert "0 reads, the last: -16" in tracing.check("timerlats 0 100000 & sleep 0.05; timerlats 0 1; echo nop > current_tracer; wait")
        assert re.search(
            r"[1-9]\d* reads, the last: -22",
            tracing.check("echo timerlat > current_tracer; timerlats 0 100000 & sleep 0.05; echo nop > current_tracer; wait"),
        )
        assert tracing.run(
            "echo timerlat > current_tracer; timerlats 0 100000 & sleep 0.05; kill $!; wait; cat osnoise/per_cpu/cpu0/timerlat_fd"
        )[1]
        assert "1 reads, the last: 0" in tracing.check("timerlats 0 1")  # the one that was killed has left its place
    finally:
        tracing.check("echo nop > current_tracer; echo DEFAULTS > osnoise/options; echo 1000 > osnoise/timerlat_period_us")


def test_a_program_is_run_for_words_that_the_command_has_not(tracing):
    text, status = tracing.run("perf list x")
    assert re.search(r"hello from a program\s+perf\s+list\s+x", text) and status == 3
    assert "hello" in tracing.run("perf sta")[0] and "hello" not in tracing.run("perf")[0]
    text = tracing.check("perf stat true 2>&1")
    assert "task-clock" in text and "hello" not in text
