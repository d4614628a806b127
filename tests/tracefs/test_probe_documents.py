"""The examples of Linux's documents of probe events (Documentation/trace/kprobetrace.rst, fprobetrace.rst, eprobetrace.rst), typed in
their order.

With functions of this kernel: do_sys_open is vfs_open here, getname_flags kernel_clone. There are no system calls, so events at
the entry and the return of vfs_open are calls/sys_enter and sys_exit.
"""
import re

import pytest

KPROBES = "/sys/kernel/debug/tracing/events/kprobes"
LIST = "/sys/kernel/debug/tracing/kprobe_events"
OPEN = r"\(vfs_open\+0x0/0x[0-9a-f]+\)"
HEX = "0x[0-9a-f]+"
SWITCHES = "> trace; sleep 0.01; echo 0 > events/enable"

four = pytest.mark.parametrize("guest", [{"cpus": 4}], indirect=True, ids=["4 CPUs"])
pytestmark = four


@pytest.fixture(autouse=True)
def nothing_left(tracing):
    yield
    tracing.check("echo 0 > events/enable; > dynamic_events; > error_log")
    assert tracing.check("cat dynamic_events kprobe_events") == ""


def shown(guest, name):
    """Of each line of the event: the thread, and what is behind the name."""
    return re.findall(rf"^ *(\S+)-\d+ +\[\d{{3}}\] [^:]+: {name}: (.*)$", guest.check("cat trace").replace("\r", ""), re.M)


def refused(guest, line, why, to="dynamic_events"):
    """`^` is in front of what is wrong."""
    at, line = line.index("^"), line.replace("^", "")
    assert guest.run(f"echo '{line}' >> {to}")[1] == 1
    log = guest.check("cat error_log; > error_log").replace("\r", "")
    assert log.endswith(f": error: {why}\n  Command: {line}\n" + " " * (at + 11) + "^\n"), log


def test_the_two_of_kprobetrace(tracing):
    """Defined, their formats, an interval in which something is opened, removed by name and all at once."""
    tracing.check(
        f"echo 'p:myprobe vfs_open dfd=%ax filename=%dx flags=%cx mode=+4($stack)' > {LIST}; echo 'r:myretprobe vfs_open $retval' >> {LIST}"
    )
    assert tracing.check(f"cat {LIST}") == (
        "p:kprobes/myprobe vfs_open dfd=%ax filename=%dx flags=%cx mode=+4($stack)\n" "r:kprobes/myretprobe vfs_open arg1=$retval\n"
    )
    text = tracing.check(f"cat {KPROBES}/myprobe/format")
    assert re.match(r"name: myprobe\nID: \d+\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n", text)
    assert re.findall(r"field:(u64 \w+);", text) == ["u64 dfd", "u64 filename", "u64 flags", "u64 mode"]
    assert re.search(
        r'\nprint fmt: "\(%\w+\) dfd=0x%llx filename=0x%llx flags=0x%llx mode=0x%llx", .*'
        r", REC->dfd, REC->filename, REC->flags, REC->mode\n$",
        text,
    )
    assert tracing.check(f"cat {KPROBES}/myprobe/enable {KPROBES}/myretprobe/enable") == "0\n0\n"
    tracing.check(f"echo 0 > tracing_on; > trace; echo 1 > {KPROBES}/myprobe/enable; echo 1 > {KPROBES}/myretprobe/enable")
    assert tracing.run("echo 1 > tracing_on; cat /proc/uptime /nothing > /dev/null; echo 0 > tracing_on")[0].startswith("cat: /nothing")
    calls = [line for thread, line in shown(tracing, "myprobe") if thread == "cat"]
    assert len(calls) == 2 and all(re.fullmatch(rf"{OPEN} dfd={HEX} filename=0x1 flags={HEX} mode={HEX}", line) for line in calls)
    returns = [
        re.fullmatch(rf"\(command_open\+{HEX}/{HEX} <- vfs_open\) arg1=(-?\d+)", line)[1]
        for thread, line in shown(tracing, "myretprobe")
        if thread == "cat"
    ]
    assert returns == ["0", "-2"]
    assert tracing.run(f"echo > {LIST}") == (f"sh: can't create {LIST}: Device or resource busy\n", 1)
    tracing.check("echo 1 > tracing_on; echo 0 > events/enable")
    assert re.fullmatch(r"  myprobe {37} +\d+ +0\n  myretprobe {34} +\d+ +0\n", tracing.check("cat kprobe_profile"))
    tracing.check("echo -:myprobe >> kprobe_events")
    assert tracing.check("cat kprobe_events; ls events/kprobes").split()[:3] == ["r:kprobes/myretprobe", "vfs_open", "arg1=$retval"]
    tracing.check(f"echo > {LIST}")
    assert tracing.run(f"cat {LIST}; ls -d events/kprobes")[0].startswith("ls: ")


def test_synopsis_of_kprobetrace(tracing):
    """Names that are made up, an address, returns in both spellings; the removal of a whole group."""
    address = tracing.check("grep ' vfs_open$' /proc/kallsyms").split()[0]
    for line in "p vfs_open", "p:my/ vfs_open", "p:my/at 0x" + address, "r5:my/five vfs_open", "p:out vfs_open%return $retval":
        tracing.check(f"echo '{line}' >> kprobe_events")
    assert tracing.check("cat kprobe_events") == (
        f"p:kprobes/p_vfs_open_0 vfs_open\np:my/p_vfs_open_0 vfs_open\np:my/at 0x{address}\n"
        "r5:my/five vfs_open\nr:kprobes/out vfs_open arg1=$retval\n"
    )
    tracing.check("echo '-:my/' >> kprobe_events")
    assert tracing.check("cat dynamic_events") == "p:kprobes/p_vfs_open_0 vfs_open\nr:kprobes/out vfs_open arg1=$retval\n"
    refused(tracing, "p^5 vfs_open", "Maxactive is only for function exit", "kprobe_events")


# A typed line, and its event of `cat /proc/uptime`.
VALUES = [
    ("path=+0(%si):string", 'path="/proc/uptime"'),
    ("path=+0(%si):ustring", "path=(fault)"),  # of the kernel's shell, which is no program
    ("path=+u0(%si):string", "path=(fault)"),
    ("next=+u1(%si):x8", "next=0x0"),
    ("next=+1(%si):string", 'next="proc/uptime"'),
    ("+0(%si):x8[4]", "arg1={0x2f,0x70,0x72,0x6f}"),
    ("+0(%si):x16[4]", "arg1={0x702f,0x6f72,0x2f63,0x7075}"),
    ("+0(%si):x32[1]", "arg1={0x6f72702f}"),
    ("+0(%si):x32", "arg1=0x6f72702f"),
    ("+0(%si):char", "arg1='/'"),
    ("+8($stack):x8[8]", r"arg1=\{0x\w+(,0x\w+){7}\}"),
    ("+0(%si):b4@4/32", "arg1=2"),
    ("+0(%si):b8@8/32", "arg1=112"),
    ("flags=%dx:u32", "flags=1"),
    ("%dx:s8", "arg1=1"),
    ("%dx", "arg1=0x1"),
    ("$arg3", "flags=1"),
    ("$arg2:string", 'path="/proc/uptime"'),
    ("$stack", "arg1=0xf{4}[0-9a-f]{12}"),
    ("from=$stack0:symbol", rf"from=command_open\+{HEX}/{HEX}"),
    ("from=$stack0:symstr", rf'from="command_open\+{HEX}/{HEX}"'),
    ("$comm", 'arg1="cat"'),
    ("$comm:string", 'arg1="cat"'),
    (r"\12", "arg1=0xc"),
    (r"\-1:s32", "arg1=-1"),
    (r'\"text"', 'arg1="text"'),
    ("@trace_thresh_ns:u64", "arg1=0"),
    ("@trace_thresh_ns+4:u32", "arg1=0"),
    ("near=@trace_thresh_ns-4:x32", rf"near={HEX}"),
]


def test_arguments_and_types(tracing):
    """Each word of FETCHARGS, each type; what is a value cannot be an array."""
    for number, (typed, _) in enumerate(VALUES):
        tracing.check(f"echo 'p:v{number} vfs_open {typed}' >> kprobe_events")
    tracing.check("> trace; echo 1 > events/kprobes/enable; cat /proc/uptime > /dev/null; echo 0 > events/enable")
    for number, (typed, wanted) in enumerate(VALUES):
        wanted = wanted if "\\" in wanted or "[" in wanted else re.escape(wanted)
        assert any(re.fullmatch(rf"{OPEN} {wanted}", line) for thread, line in shown(tracing, f"v{number}") if thread == "cat"), typed
    # Names of a command: string[1] is not string.
    tracing.check("> dynamic_events; echo 'p:words cmd_echo +0(%dx):string[1] +0(+0(%dx)):string +0(%dx):string[3]' > kprobe_events")
    tracing.check("> trace; echo 1 > events/kprobes/enable; echo one two > /dev/null; echo 0 > events/enable")
    assert re.fullmatch(
        rf'\(cmd_echo\+0x0/{HEX}\) arg1=\{{"echo"\}} arg2="echo" arg3=\{{"echo","one","two"\}}', shown(tracing, "words")[0][1]
    )
    for line, why in (
        ("p vfs_open $stack1:^x8[8]", "String accepts only memory argument"),
        ("p vfs_open %di:^x8[8]", "String accepts only memory argument"),
        ("p vfs_open +0(%di):x8[^65]", "Array number is too big"),
        ("p vfs_open $comm:^x64", "$comm and immediate-string only accepts string type"),
        ("p vfs_open+5 ^$arg1", "Invalid $-variable specified"),
        ("p vfs_open ^$retval", "$retval is not available on probe"),
    ):
        refused(tracing, line, why, "kprobe_events")


def test_per_probe_filter(tracing):
    """The files of its directory; a pattern for the name of a symbol; a trigger."""
    event = "events/kprobes/opened"
    tracing.check("echo 'p:opened vfs_open path=+0(%si):string from=$stack0:symstr' > kprobe_events")
    assert {"enable", "format", "filter", "id", "trigger"} <= set(tracing.check(f"ls {event}").split())
    assert int(tracing.check(f"cat {event}/id")) == int(re.search(r"ID: (\d+)", tracing.check(f"cat {event}/format"))[1])
    tracing.check(
        f"echo 'from ~ \"command_open*\"' > {event}/filter; echo 'traceoff if path == \"/proc/version\"' > {event}/trigger; > trace; "
        f"echo 1 > {event}/enable; cat /proc/uptime /proc/version > /dev/null; echo 0 > {event}/enable"
    )
    assert [line.split('"')[1] for _, line in shown(tracing, "opened")] == ["/proc/uptime", "/proc/version"]
    assert tracing.check("cat tracing_on") == "0\n"
    tracing.check(f"echo 1 > tracing_on; echo '!traceoff' >> {event}/trigger")


def test_names_of_fprobetrace(tracing):
    """Arguments by name and all of them, formats by their types, results, members."""
    tracing.check("echo 'f:myprobe vfs_read count pos' >> dynamic_events")
    assert tracing.check("cat dynamic_events") == "f:fprobes/myprobe vfs_read count=count pos=pos\n"
    text = tracing.check("cat events/fprobes/myprobe/format")
    assert re.findall(r"field:(u64 \w+);", text) == ["u64 count", "u64 pos"] and '"(%pS) count=%llu pos=0x%llx", ' in text
    tracing.check("> dynamic_events; echo 'f:myprobe vfs_read $arg*' >> dynamic_events")
    assert tracing.check("cat dynamic_events") == "f:fprobes/myprobe vfs_read file=file buf=buf count=count pos=pos\n"
    refused(tracing, "f kfree%return ^$retval", "This function returns 'void' type")
    refused(tracing, "f vfs_read file->^pos:string", "This type does not fit for string.")
    refused(tracing, "t sched_switch ^preempt prev_pid=prev->pid next_pid=next->pid", "This variable is not found at this probe point")
    refused(tracing, "t sched_switch comm=next->comm:string next->^start_time", "This field is not found.")
    refused(tracing, "t:^2 sched_switch", "Event name must follow the same rules as C identifiers")
    tracing.check(
        "echo 't sched_switch prev_pid=prev->pid next_pid=next->pid prev->comm:string' >> dynamic_events; "
        "echo 'f kernel_clone%return $retval->name:string' >> dynamic_events"
    )
    tracing.check("echo 1 > events/tracepoints/enable; echo 1 > events/fprobes/enable; " + SWITCHES)
    switches = [
        (thread, re.fullmatch(r'\(\S+\) prev_pid=(\d+) next_pid=\d+ arg3="(.*)"', line)) for thread, line in shown(tracing, "sched_switch")
    ]
    assert any(match[2] == thread == "sleep" and match[1] != "0" for thread, match in switches)
    assert any(re.fullmatch(r'\(job_create\S+ <- kernel_clone\) arg1="sleep"', line) for _, line in shown(tracing, "kernel_clone__exit"))


def test_entry_and_return_of_fprobetrace(tracing):
    """The usage example: a function, both ways, as `head | tail` shows it."""
    tracing.check("echo 'f vfs_read $arg*' >> dynamic_events; echo 'f vfs_read%return $retval' >> dynamic_events")
    assert tracing.check("cat dynamic_events") == (
        "f:fprobes/vfs_read__entry vfs_read file=file buf=buf count=count pos=pos\n"
        "f:fprobes/vfs_read__exit vfs_read%return arg1=$retval\n"
    )
    tracing.check("> trace; echo 1 > events/fprobes/enable; cat /proc/uptime > /dev/null; echo 0 > events/enable")
    rows = re.findall(r": (vfs_read__\w+: .*)\n", tracing.check("head -n 20 trace | tail").replace("\r", ""))
    assert [row.split(":")[0] for row in rows[:4]] == ["vfs_read__entry", "vfs_read__exit"] * 2
    assert re.fullmatch(rf"vfs_read__entry: \(vfs_read\+0x0/{HEX}\) file={HEX} buf={HEX} count=\d+ pos={HEX}", rows[0])
    results = [re.fullmatch(rf"vfs_read__exit: \(\w+\+{HEX}/{HEX} <- vfs_read\) arg1=(\d+)", row)[1] for row in rows[1:4:2]]
    assert int(results[0]) > 0 and results[1] == "0"


def test_tracepoint_of_fprobetrace(tracing):
    """The raw arguments of a tracepoint beside its event."""
    tracing.check(
        "echo 't sched_switch $arg*' >> dynamic_events; echo 1 > events/sched/sched_switch/enable; "
        "echo 1 > events/tracepoints/sched_switch/enable; " + SWITCHES.replace("> trace", "echo > trace")
    )
    assert tracing.check("cat dynamic_events") == "t:tracepoints/sched_switch sched_switch prev=prev next=next\n"
    lines = [line for _, line in shown(tracing, "sched_switch")]
    raw = [line for line in lines if re.fullmatch(r"\(sched_switch\) prev=0x[0-9a-f]{16} next=0x[0-9a-f]{16}", line)]
    cooked = [
        line
        for line in lines
        if re.fullmatch(r"prev_comm=.* prev_pid=\d+ prev_prio=\d+ prev_state=\S+ ==> next_comm=.* next_pid=\d+ next_prio=\d+", line)
    ]
    assert raw and cooked and len(raw) + len(cooked) == len(lines)


def test_first_of_eprobetrace(tracing):
    """Two fields of sched_switch, in an event beside it; without a type they are shown in hex."""
    tracing.check(
        "echo 'e:sched/switch sched.sched_switch prev=$prev_pid:u32 next=$next_pid:u32' >> /sys/kernel/tracing/dynamic_events; "
        "echo 'e sched.sched_switch $prev_pid name=$next_comm deref=+0($next_comm):string' >> dynamic_events"
    )
    assert tracing.check("cat dynamic_events") == (
        "e:sched/switch sched.sched_switch prev=$prev_pid:u32 next=$next_pid:u32\n"
        "e:eprobes/sched_switch sched.sched_switch arg1=$prev_pid name=$next_comm deref=+0($next_comm):string\n"
    )
    text = tracing.check("cat events/sched/switch/format")
    assert "\tfield:u32 prev;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:u32 next;\toffset:12;\tsize:4;\tsigned:0;\n" in text
    tracing.check("echo 1 > events/sched/switch/enable; echo 1 > events/eprobes/sched_switch/enable; " + SWITCHES)
    switches = [re.fullmatch(r"\(sched\.sched_switch\) prev=(\d+) next=\d+", line)[1] for _, line in shown(tracing, "switch")]
    others = [
        re.fullmatch(r'\(sched\.sched_switch\) arg1=(0x[0-9a-f]+) name="(.*)" deref="\2"', line)
        for _, line in shown(tracing, "sched_switch")
    ]
    assert {match[1] for match in others} & {hex(int(pid)) for pid in switches} - {"0x0"}
    refused(tracing, "e sched.sched_switch ^$stack", "Attached event does not have this field")
    refused(tracing, "e sched.sched_switch ^%di", "Invalid $-variable specified")


def test_second_of_eprobetrace(tracing):
    """A name that is read at the return: from an event to a synthetic one, and an event on that."""
    tracing.check(
        "echo 'f:calls/sys_enter vfs_open id=\\257 args=+0($stack):x64[6] path=path:x64' >> dynamic_events; "
        "echo 'f:calls/sys_exit vfs_open%return id=\\257 ret=$retval' >> dynamic_events"
    )
    tracing.check(
        "echo 'e:openat calls.sys_enter nr=$id second=+8($args):x64 filename=+0($path):string' >> dynamic_events; "
        "echo 'nr == 257' > events/eprobes/openat/filter; echo 1 > events/eprobes/openat/enable; echo 1 > events/calls/sys_enter/enable; "
        "> trace; cat /proc/uptime > /dev/null; echo 0 > events/calls/enable"
    )
    whole = [re.search(r"args=\{\w+,(\w+),", line)[1] for thread, line in shown(tracing, "sys_enter") if thread == "cat"]
    assert ("cat", f'(calls.sys_enter) nr=0x101 second={whole[0]} filename="/proc/uptime"') in shown(tracing, "openat")
    # That document removes it while it is on, which neither kernel does.
    assert tracing.run("echo '-:openat' >> dynamic_events") == ("sh: write error: Device or resource busy\n", 1)
    tracing.check("echo 0 > events/eprobes/openat/enable; echo '-:openat' >> dynamic_events")
    enter, leave = "hist:keys=common_pid:f=filename if nr == 257", (
        "hist:keys=common_pid:file=$f:onmatch(eprobes.openat_start).trace(filename,$file) if id == 257"
    )
    tracing.check(
        "echo 'e:openat_start calls.sys_enter nr=$id filename=$path:x64' >> dynamic_events; echo 's:filename u64 file' >> dynamic_events; "
        f"echo '{enter}' > events/eprobes/openat_start/trigger; echo '{leave}' > events/calls/sys_exit/trigger; "
        "echo 'e:openat synthetic.filename filename=+0($file):string' >> dynamic_events"
    )
    tracing.check("echo 1 > events/eprobes/openat/enable; > trace; cat /proc/uptime > /dev/null")
    assert ("cat", '(synthetic.filename) filename="/proc/uptime"') in shown(tracing, "openat")
    tracing.check(
        f"echo 0 > events/eprobes/openat/enable; echo '!{leave}' >> events/calls/sys_exit/trigger; "
        f"echo '!{enter}' >> events/eprobes/openat_start/trigger"
    )


def test_casts(tracing):
    """Of a field, whose struct then says what other fields say; and of a member to the struct that it is in."""
    tracing.check(
        "echo 'e:armed timer.timer_start fn=(timer)timer->fn:symbol at=(timer)$timer->node.key same=$function:symbol expires=$expires:u64' "
        ">> dynamic_events; echo 'f:ring wake_ring_alarm who=(alarm,timer)timer->thread->name:string' >> dynamic_events"
    )
    tracing.check("echo 'p:middle wake_ring_alarm+5 who=(alarm,timer)%di->thread->pid' >> dynamic_events")
    tracing.check(
        "> trace; echo 1 > events/eprobes/armed/enable; echo 1 > events/fprobes/ring/enable; echo 1 > events/kprobes/middle/enable; "
        "sleep 0.02; echo 0 > events/enable"
    )
    armed = [
        re.fullmatch(r"\(timer\.timer_start\) fn=(\S+) at=(\d+) same=(\S+) expires=(\d+)", line) for _, line in shown(tracing, "armed")
    ]
    assert armed and all(match[1] == match[3] and match[2] == match[4] for match in armed)
    assert [line for _, line in shown(tracing, "ring") if line.endswith(' who="sleep"')]
    assert all(re.fullmatch(rf"\(wake_ring_alarm\+0x5/{HEX}\) who=\d+", line) for _, line in shown(tracing, "middle"))
    refused(tracing, "f:ring wake_ring_alarm who=(^nothing)timer->thread", "This is not a pointer to union/structure.")
    refused(tracing, "f:ring wake_ring_alarm who=(^)timer->thread", "This is not a pointer to union/structure.")
    refused(tracing, "f:ring wake_ring_alarm who=(alarm,^nothing)timer->thread", "This field is not found.")
    refused(tracing, "f:ring wake_ring_alarm path=^timer:%pd", "This type does not fit for %pd.")


def test_per_cpu_variables(tracing):
    """The element of the CPU that is hit: the one that the scheduler itself works with, and one that knows its CPU's number."""
    tracing.check(
        "echo 'p:pick sched_pick_next rq=$arg1 mine=this_cpu_ptr(@run_queues) cpu=(run_queue)this_cpu_ptr(@run_queues)->cpu' "
        ">> dynamic_events; echo 'f:pulled sched_pick_next%return cpu=(run_queue)this_cpu_ptr(@run_queues)->cpu' >> dynamic_events; "
        "echo 't:my/raw sched_switch cpu=(run_queue)this_cpu_ptr(@run_queues)->cpu self=this_cpu_read(@cpu_areas)' >> dynamic_events"
    )
    assert "mine:x64 from this_cpu_ptr(@run_queues)" in tracing.check("why kprobes/pick")
    assert "self:x64 from +0(this_cpu_ptr(@cpu_areas))" in tracing.check("why my/raw")
    tracing.check("> trace; echo 1 > events/kprobes/pick/enable; echo 1 > events/fprobes/pulled/enable; echo 1 > events/my/enable")
    tracing.check("hackbench 4 60 > /dev/null; echo 0 > events/enable")
    text = tracing.check("cat trace").replace("\r", "")
    picks = re.findall(rf"\[(\d+)\] .*: pick: \(sched_pick_next\S+\) rq=({HEX}) mine=({HEX}) cpu=(\d+)$", text, re.M)
    assert len({cpu for cpu, *_ in picks}) == 4
    assert all(int(cpu) == int(own) and rq == mine for cpu, rq, mine, own in picks)
    others = re.findall(r"\[(\d+)\] .*: (pulled|raw): \(.*\) cpu=(\d+)", text)
    assert {name for _, name, _ in others} == {"pulled", "raw"} and all(int(cpu) == int(own) for cpu, _, own in others)
    selves = dict(re.findall(rf"\[(\d+)\] .*: raw: .* self=({HEX})$", text, re.M))
    assert len(selves) == len(set(selves.values())) == 4 and "0x0" not in selves.values()
    refused(tracing, "p:no vfs_open a=this_cpu_ptr(^@max_cpus)", "Invalid memory address")
    refused(tracing, "p:no vfs_open a=this_cpu_read(^@boot_thread)", "This is not a per-CPU variable")
    refused(tracing, "e:no sched.sched_switch a=^this_cpu_ptr(@run_queues)", "Per-cpu variable access is only for kernel probes")
    refused(tracing, "p:no vfs_open a=^@ext4:run_queues", "There are no modules: SYMBOL alone")


def test_names_of_files(tracing):
    """The lines of Linux's self-tests of %pd and %pD: a write to `enable` opens a file of that name; by register, by name, at a return."""
    for line, function, wanted in (
        ("p:testprobe dput name=$arg1:%pd", "dput", 'name="enable"'),
        ("p:testprobe dput $arg1:%pd", "dput", 'dentry="enable"'),
        ("p:testprobe dput n=dentry:%pd d=%di:%pd", "dput", 'n="enable" d="enable"'),
        ("p:testprobe vfs_read name=$arg1:%pD", "vfs_read", 'name="enable"'),
        ("p:testprobe vfs_read file:%pD d=file->dentry:%pd", "vfs_read", 'file="enable" d="enable"'),
        ("f:testprobe vfs_read file:%pD", "vfs_read", 'file="enable"'),
        ("r:testprobe vfs_read f=file:%pD $retval", "vfs_read", 'f="enable" arg2=2'),
    ):
        group = "fprobes" if line[0] == "f" else "kprobes"
        tracing.check(f"echo '{line}' > dynamic_events; > trace; echo 1 > events/{group}/testprobe/enable")
        assert tracing.check(f"grep 1 events/{group}/testprobe/enable") == "1\n"
        tracing.check(f"echo 0 > events/{group}/testprobe/enable")
        values = [value for _, value in shown(tracing, "testprobe") if function in value]
        assert any(value.endswith(wanted) for value in values), (line, values)
        tracing.check("> dynamic_events")
    # A pipe was opened under no name.
    tracing.check(
        "echo 'p:piped vfs_write file:%pD' > kprobe_events; > trace; echo 1 > events/kprobes/piped/enable; echo a | cat > /dev/null"
    )
    tracing.check("echo 0 > events/enable")
    assert {"(fault)", '"null"'} <= {re.search(r'file=(\(fault\)|"[^"]*")', value)[1] for _, value in shown(tracing, "piped")}
    refused(tracing, "p:no vfs_read ^file:%pd", "This type does not fit for %pd.")
    refused(tracing, "p:no dput ^dentry:%pD", "This type does not fit for %pD.")
    refused(tracing, "r:no vfs_open ^$retval:%pD", "This type does not fit for %pD.")
    refused(tracing, "p:no vfs_read file:^%pD[2]", "Unknown type is specified")
