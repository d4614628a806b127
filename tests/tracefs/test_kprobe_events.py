"""Events at instructions, line by line as in Linux's documentation of kprobe events; at lines of the source, at data, on
tracepoints and on other events."""
import re

import pytest

DEFINE = "echo 'p:myprobe kmalloc size=%di flags=%si:x32 caller=+0($stack):symbol' > kprobe_events"


def lines_of(tracing, name):
    return re.findall(rf": {name}: (.*)\n", tracing.check("cat trace").replace("\r", ""))


def test_define_and_remove(tracing):
    """Off at first, listed in both files, with a directory; gone by name and all at once."""
    tracing.check(DEFINE)
    listed = "p:kprobes/myprobe kmalloc size=%di flags=%si:x32 caller=+0($stack):symbol\n"
    assert tracing.check("cat kprobe_events") == tracing.check("cat dynamic_events") == listed
    assert tracing.check("cat events/kprobes/myprobe/enable") == "0\n"
    assert {"enable", "filter", "format", "id", "trigger"} <= set(tracing.check("ls events/kprobes/myprobe").split())
    tracing.check("echo 1 > events/kprobes/myprobe/enable")
    assert tracing.run("echo -:myprobe >> kprobe_events") == ("sh: write error: Device or resource busy\n", 1)
    tracing.check("echo 0 > events/kprobes/myprobe/enable; echo -:myprobe >> kprobe_events")
    assert tracing.check("cat kprobe_events; ls events").split().count("kprobes") == 0
    tracing.check(DEFINE + "; echo > kprobe_events")
    assert tracing.check("cat kprobe_events") == ""


def test_arguments(tracing):
    """At the entry and in the middle of a function, and what is counted."""
    tracing.check(DEFINE)
    tracing.check("echo 'p:middle kmalloc+9 %ax' >> kprobe_events; echo 'p:opened vfs_open path=+0($arg2):string $comm' >> kprobe_events")
    tracing.check("> trace; echo 1 > events/kprobes/enable; cat /proc/uptime > /dev/null; echo 0 > events/kprobes/enable")
    calls = lines_of(tracing, "myprobe")
    assert calls
    for line in calls:
        assert re.fullmatch(
            r"\(kmalloc\+0x0/0x[0-9a-f]+\) size=0x[0-9a-f]+ flags=0x[0-9a-f]+ caller=\w+(\.\w+)*\+0x[0-9a-f]+/0x[0-9a-f]+", line
        )
    middle = lines_of(tracing, "middle")
    assert len(middle) == len(calls)
    assert all(re.fullmatch(r"\(kmalloc\+0x9/0x[0-9a-f]+\) arg1=0x[0-9a-f]+", line) for line in middle)
    assert any(re.fullmatch(r'\(vfs_open\+0x0/0x[0-9a-f]+\) path="/proc/uptime" arg2="cat"', line) for line in lines_of(tracing, "opened"))
    counts = dict(re.findall(r"^  (\w+) +(\d+) +0$", tracing.check("cat kprobe_profile").replace("\r", ""), re.M))
    assert int(counts["myprobe"]) == len(calls)
    tracing.check("echo > kprobe_events")


def test_returns(tracing):
    """The second event of the document: a return with its value; the same by the words of fprobe events."""
    tracing.check("echo 'r:myretprobe kmalloc $retval' > kprobe_events; echo 'f:exit kmalloc%return ret=$retval' >> dynamic_events")
    tracing.check("echo 'f:entry kmalloc size=$arg1:u32' >> dynamic_events")
    assert tracing.check("cat kprobe_events") == "r:kprobes/myretprobe kmalloc arg1=$retval\n"
    assert tracing.check("cat dynamic_events") == (
        "r:kprobes/myretprobe kmalloc arg1=$retval\n" "f:fprobes/exit kmalloc%return ret=$retval\nf:fprobes/entry kmalloc size=$arg1:u32\n"
    )
    tracing.check(
        "> trace; echo 1 > events/fprobes/enable; echo 1 > events/kprobes/enable; ls > /dev/null; "
        "echo 0 > events/kprobes/enable; echo 0 > events/fprobes/enable"
    )
    returns, exits = lines_of(tracing, "myretprobe"), lines_of(tracing, "exit")
    assert returns and exits and lines_of(tracing, "entry")
    assert all(re.fullmatch(r"\(\w+(\.\w+)*\+0x[0-9a-f]+/0x[0-9a-f]+ <- kmalloc\) arg1=0x[0-9a-f]+", line) for line in returns)
    assert set(line.replace("arg1", "ret") for line in returns) <= set(exits)
    tracing.check("> dynamic_events")


def test_arguments_by_name(tracing):
    """Names and types of the kernel's source, with values that the shell knows; at the entry, at the return, of a tracepoint."""
    tracing.check("echo 'p:open vfs_open $arg* text=path:string who=$current->name:string pid=$current->pid' > dynamic_events")
    tracing.check("echo 'f:opened vfs_open%return $arg2:string flags result=$retval' >> dynamic_events")
    tracing.check("echo 'r:made kmalloc bytes $retval from=-8($stack):symstr' >> dynamic_events")
    tracing.check("echo 't:my/switch sched_switch prev->comm:string to=next->pid' >> dynamic_events")
    assert tracing.check("cat dynamic_events") == (
        "p:kprobes/open vfs_open cwd=cwd path=path flags=flags out_file=out_file text=path:string who=$current->name:string pid=$current->pid\n"
        "f:fprobes/opened vfs_open%return path=path:string flags=flags result=$retval\n"
        "r:kprobes/made kmalloc bytes=bytes arg2=$retval from=-8($stack):symstr\n"
        "t:my/switch sched_switch arg1=prev->comm:string to=next->pid\n"
    )
    assert re.search(r"field:u32 flags;\toffset:\d+;\tsize:4;\tsigned:0;", tracing.check("cat events/kprobes/open/format"))
    tracing.check("> trace; for e in kprobes fprobes my; do echo 1 > events/$e/enable; done; sleep 0.01; cat /proc/uptime > /dev/null")
    assert tracing.run("cat /nothing; echo 0 > events/enable")[0].startswith("cat: /nothing")
    assert any(
        re.fullmatch(r'\(vfs_open\S+\) cwd=0x\w+ path=0x\w+ flags=1 out_file=0x\w+ text="/proc/uptime" who="cat" pid=\d+', line)
        for line in lines_of(tracing, "open")
    )
    opened = lines_of(tracing, "opened")
    assert any(line.endswith(' path="/proc/uptime" flags=1 result=0') for line in opened), opened
    assert any(line.endswith(' path="/nothing" flags=1 result=-2') for line in opened), opened
    made = [re.fullmatch(r'\((\S+) <- kmalloc\) bytes=(\d+) arg2=0xffff8\w+ from="(\S+)"', line) for line in lines_of(tracing, "made")]
    assert made and all(match and match[1] == match[3] and 0 < int(match[2]) < 1 << 20 for match in made)
    assert any(re.fullmatch(r'\(\S+\) arg1="sleep" to=\d+', line) for line in lines_of(tracing, "switch"))
    tracing.check("> dynamic_events")


def test_reads_fill_a_line(tracing):
    """Hundreds of reads in one event, along a list that is a circle, take no more stack than one."""
    value = " " + "+0(" * 11 + "@all_threads" + ")" * 11
    tracing.check(f"r='{value}'; r=$r$r:u8$r:u8[2]$r:symstr; r=$r$r$r$r; echo \"p:deep kmalloc$r$r$r$r\" > kprobe_events")
    tracing.check("> trace; echo 1 > events/kprobes/deep/enable; cat /proc/uptime > /dev/null; echo 0 > events/kprobes/deep/enable")
    for line in lines_of(tracing, "deep"):
        values = re.findall(r" arg\d+=(\S+)", line)
        assert len(values) == 64 and all(re.fullmatch("0x[0-9a-f]{16}", word) for word in values[::4]), line
        assert all(word == f'"{values[0]}"' for word in values[3::4]), line
    assert lines_of(tracing, "deep")
    tracing.check("echo > kprobe_events")


def test_filter_trigger_histogram(tracing):
    """As on any event."""
    event = "events/kprobes/myprobe"
    tracing.check(DEFINE)
    tracing.check(f"echo 'size > 0x100000000' > {event}/filter; > trace; echo 1 > {event}/enable; ls > /dev/null")
    assert lines_of(tracing, "myprobe") == []
    tracing.check(f"echo 'size < 0x100000000' > {event}/filter; ls > /dev/null; echo 0 > {event}/enable")
    assert lines_of(tracing, "myprobe")
    tracing.check(f"echo 0 > {event}/filter; echo 'hist:keys=size:vals=hitcount' > {event}/trigger; ls > /dev/null")
    hits = int(re.search(r"Hits: (\d+)", tracing.check(f"cat {event}/hist"))[1])
    assert hits > 0
    tracing.check(f"echo '!hist:keys=size:vals=hitcount' > {event}/trigger; echo > kprobe_events")


def test_instance(tracing):
    tracing.check(DEFINE + "; mkdir instances/two; echo 1 > instances/two/events/kprobes/myprobe/enable; > trace; ls > /dev/null")
    assert lines_of(tracing, "myprobe") == []
    assert "myprobe: (kmalloc+0x0/" in tracing.check("cat instances/two/trace")
    assert tracing.run("echo > kprobe_events") == ("sh: can't create kprobe_events: Device or resource busy\n", 1)
    tracing.check("rmdir instances/two; echo > kprobe_events")


@pytest.mark.parametrize(
    "command, why",
    [
        ("p ^non_exist_func", "Invalid probed address or symbol: no such function"),
        ("p^100 kmalloc", "Maxactive is only for function exit"),
        ("p ^kmalloc+3", "Probe point is not an instruction boundary"),
        ("p kmalloc ^%none_reg", "Invalid register name"),
        ("p kmalloc +0(@0^", "Dereference brace is not closed"),
        ("p kmalloc @11:^unknown_type", "Unknown type is specified"),
        ("p kmalloc ^nothing", "This variable is not found at this probe point"),
        ("p kmalloc+9 ^$arg*", "$arg* can be used only on function entry or exit"),
        ("p mutex_lock mutex->^nothing", "This field is not found."),
        ("r kfree ^$retval", "This function returns 'void' type"),
    ],
)
def test_mistakes(tracing, command, why):
    at = command.index("^")
    command = command.replace("^", "")
    assert tracing.run(f"echo '{command}' >> kprobe_events")[1] == 1
    log = tracing.check("cat error_log; > error_log").replace("\r", "")
    assert re.fullmatch(rf"\[ +[\d.]+\] trace_kprobe: error: {re.escape(why)}\n  Command: {re.escape(command)}\n {{{11 + at}}}\^\n", log)


def test_many_in_one_batch(tracing):
    """Forty probes, switched on together: three syncs."""
    tracing.check(
        "for f in kmalloc kfree vfs_open mutex_unlock mutex_lock; do for o in 0 1 2 3 4 5 6 7; do "
        'echo "p:many/${f}_$o $f" >> kprobe_events; done; done'
    )
    assert tracing.check("cat kprobe_events | wc -l").strip() == "40"
    before = int(re.search(r"syncs: (\d+)", tracing.check("cat text_poke_stats"))[1])
    tracing.check("echo 1 > events/many/enable")
    assert int(re.search(r"syncs: (\d+)", tracing.check("cat text_poke_stats"))[1]) == before + 3
    # The events of these two commands only: what the console printed before made thousands.
    tracing.check("> trace; cat /proc/version > /dev/null; echo 0 > events/many/enable")
    text = tracing.check("cat trace")
    for offset in range(8):
        assert f" kmalloc_{offset}: " in text
    tracing.check("echo > kprobe_events; > trace")


def syncs_of(tracing, command):
    before = int(re.search(r"syncs: (\d+)", tracing.check("cat text_poke_stats"))[1])
    tracing.check(command)
    return int(re.search(r"syncs: (\d+)", tracing.check("cat text_poke_stats"))[1]) - before


def test_kinds_in_one_batch(tracing):
    """Entries, instructions, returns, tracepoints, in one instance and another: three syncs."""
    offset = next(at for at in range(6, 60) if tracing.run(f"echo 'p:kinds/middle kmalloc+{at}' >> kprobe_events")[1] == 0)
    tracing.check("echo 0 > /proc/sys/debug/kprobes-optimization; mkdir instances/two")
    for line in (
        "p:kinds/entry kmalloc",
        "p:kinds/all_registers kfree %r12",
        "r:kinds/back kmalloc $retval",
        "r:kinds/back_too kfree",
        "f:kinds/f_entry vfs_open",
        "f:kinds/f_exit vfs_open%return",
        "t:kinds/tracepoint sched_switch",
        "t:kinds/tracepoint_too sched_waking $arg1",
    ):
        tracing.check(f"echo '{line}' >> dynamic_events")
    for at in ("", "instances/two/"):
        assert syncs_of(tracing, f"echo 1 > {at}events/kinds/enable") == 3
        text = tracing.check(f"> {at}trace; cat /proc/version > /dev/null; cat {at}trace")
        for name in ("middle", "entry", "all_registers", "back", "back_too", "f_entry", "f_exit", "tracepoint"):
            assert f" {name}: " in text, (offset, name)
        assert syncs_of(tracing, f"echo 0 > {at}events/kinds/enable") == 3
    tracing.check("rmdir instances/two; echo 1 > /proc/sys/debug/kprobes-optimization")
    assert syncs_of(tracing, "echo '-:kinds/' >> dynamic_events") == 0
    assert tracing.check("cat dynamic_events") == ""
    tracing.check("> trace")


def test_depth_at_a_breakpoint(tracing):
    """Interrupts are off in its handler, and nothing else of what it does is seen."""
    offset = next(at for at in range(1, 40) if tracing.run(f"echo 'p:middle kmalloc+{at}' > kprobe_events")[1] == 0)
    tracing.check("> trace; echo 1 > events/kprobes/middle/enable; ls > /dev/null; echo 0 > events/kprobes/middle/enable")
    text = tracing.check("cat trace")
    states = set(re.findall(rf" (\S{{5}}) +[\d.]+: middle: \(kmalloc\+{offset:#x}/", text))
    assert states and states <= {"d....", "d.h..", "d...1", "d..1.", "d..2.", "d.s1.", "d.s2."}, states
    tracing.check("echo > kprobe_events; > trace")


def test_tracepoints_and_events(tracing):
    """The example of Linux's document of event probes; a tracepoint by its raw arguments."""
    tracing.check("echo 'e:my/switch sched.sched_switch prev=$prev_pid:u32 next=$next_pid:u32 name=$next_comm' >> dynamic_events")
    tracing.check("echo 't:my/raw sched_switch next=+16($arg2):s32' >> dynamic_events")
    assert tracing.check("cat dynamic_events") == (
        "e:my/switch sched.sched_switch prev=$prev_pid:u32 next=$next_pid:u32 name=$next_comm\n"
        "t:my/raw sched_switch next=+16($arg2):s32\n"
    )
    tracing.check("echo 'e:my/idle sched.sched_switch prev=$prev_pid if next_pid == 0 && prev_comm == \"sleep\"' >> dynamic_events")
    tracing.check(
        "> trace; echo 1 > events/sched/sched_switch/enable; echo 1 > events/my/enable; sleep 0.01; echo 0 > tracing_on; "
        "echo 0 > events/enable; echo 1 > tracing_on"
    )  # of one event there are as many as of another
    switches = lines_of(tracing, "switch")
    assert switches
    assert all(re.fullmatch(r'\(sched\.sched_switch\) prev=\d+ next=\d+ name="[^"]*"', line) for line in switches)
    text = tracing.check("cat trace").replace("\r", "")
    states = {name: re.findall(rf"sleep-\d+ .* (\S{{5}}) +[\d.]+: {name}: ", text) for name in ("switch", "raw", "idle", "sched_switch")}
    assert set(states["sched_switch"]) == {"d..2."}
    assert states["switch"] == states["raw"] == states["sched_switch"]
    assert 0 < len(states["idle"]) <= len(states["switch"]) and set(states["idle"]) == {"d..2."}
    tracing.check("> dynamic_events")


def writes_of(tracing):
    """(CPU, old, new) of the events `thresh`, in order of time."""
    text = tracing.check("cat trace").replace("\r", "")
    return [
        (int(cpu), int(old), int(new))
        for cpu, old, new in re.findall(
            r"\[(\d+)\] d\S{4} +[\d.]+: thresh: \(trace_handle_us\+0x[0-9a-f]+/0x[0-9a-f]+\) old=(\d+) new=(\d+) at=0x[0-9a-f]+ ip=0x[0-9a-f]+$",
            text,
            re.M,
        )
    ]


def hits_of(tracing):
    """
    How many events `thresh` there are. When an interrupt comes just before a write that is watched, QEMU tells of it once more at
    the CPU's next access to that page, which may be no write: these have another function and nothing new.
    """
    return tracing.check("cat trace").count(": thresh: (")


def profile_of(tracing, name):
    return tuple(map(int, re.search(rf"^  {name} +(\d+) +(\d+)$", tracing.check("cat kprobe_profile").replace("\r", ""), re.M).groups()))


@pytest.mark.parametrize("guest", [{"cpus": 1}, {"cpus": 4}], indirect=True, ids=["1cpu", "4cpus"])
def test_writes_to_a_variable(tracing, request):
    """A variable that threads on several CPUs write, one after the other: each sees what the one before has left."""
    cpus = request.node.callspec.params["guest"]["cpus"]
    tracing.check(
        "echo 0 > tracing_thresh; echo 'w:thresh w@trace_thresh_ns old=$old:u64 new=$value:u64 at=$addr ip=%ip' > dynamic_events; > trace; "
        "echo 1 > events/wprobes/thresh/enable"
    )
    writes, loops = [], 0
    while len({cpu for cpu, _, _ in writes}) < min(cpus, 2) and loops < 20:
        tracing.check(
            f"hackbench 2 50 > /dev/null & for i in $(seq {loops * 40 + 1} {loops * 40 + 40}); do "
            "echo $i > tracing_thresh & wait $!; done; wait"
        )
        writes, loops = writes_of(tracing), loops + 1
    assert [(old, new) for _, old, new in writes] == [(i * 1000, i * 1000 + 1000) for i in range(40 * loops)]
    assert len({cpu for cpu, _, _ in writes}) >= min(cpus, 2)
    (place,) = set(re.findall(r" at=(0x[0-9a-f]+) ", tracing.check("cat trace")))
    assert place in tracing.check("why trace_thresh_ns")
    (ip,) = set(re.findall(r"\(trace_handle_us\+.* ip=(0x[0-9a-f]+)", tracing.check("cat trace").replace("\r", "")))
    hits = hits_of(tracing)
    assert re.search(r": trace_handle_us\+0x", tracing.run(f"why {ip}")[0])
    # All at once: each write is seen, though the value may be that of a later one.
    tracing.check("> trace; for i in $(seq 1 40); do echo $i > tracing_thresh & done; wait")
    writes = writes_of(tracing)
    assert len(writes) == 40 and {new // 1000 for _, _, new in writes} <= set(range(1, 41))
    assert profile_of(tracing, "thresh") == (hits + hits_of(tracing), 0)
    # As any event.
    tracing.check(
        "echo 'new == 5000' > events/wprobes/thresh/filter; echo stacktrace > events/wprobes/thresh/trigger; > trace; "
        "echo 4 > tracing_thresh; echo 5 > tracing_thresh"
    )
    assert [new for _, _, new in writes_of(tracing)] == [5000]
    assert re.search(
        r"<stack trace>\n(?: => \S+\n)* => trace_handle_us\n => tracing_thresh_store\n", tracing.check("cat trace").replace("\r", "")
    )
    tracing.check("echo '!stacktrace' > events/wprobes/thresh/trigger; echo 0 > events/wprobes/thresh/filter")
    tracing.check("echo 0 > events/wprobes/thresh/enable; > trace; echo 0 > tracing_thresh; > dynamic_events")
    assert writes_of(tracing) == []


def test_four_watchpoints(tracing):
    tracing.check('for i in 1 2 3 4; do echo "w:w$i w@trace_thresh_ns" >> dynamic_events; done; echo 1 > events/wprobes/enable')
    assert tracing.run("echo w:w5 w@trace_thresh_ns >> dynamic_events") == ("sh: write error: No space left on device\n", 1)
    assert "the processor can watch 4 places at once, and all are taken" in tracing.check("tail -n 3 error_log")
    tracing.check("echo 0 > events/wprobes/enable; > dynamic_events")


def test_reads_of_each_hit_are_not_watched(tracing):
    assert tracing.run("echo 'w:own rw@wprobes:8' >> dynamic_events") == ("sh: write error: Invalid argument\n", 1)
    assert "a hit reads it itself: it would never end" in tracing.check("tail -n 3 error_log")


def test_name_of_two_functions(tracing):
    """It is refused with the files that tell them apart; NAME@FILE is one of them, and is listed so."""
    assert tracing.run("echo 'p:close pipe_close' > kprobe_events") == ("sh: write error: Cannot assign requested address\n", 1)
    log = tracing.check("cat error_log; > error_log").replace("\r", "")
    assert re.search(r"The symbol is not unique: pipe_close@kernel/fs/vfs_pipe.c, pipe_close@trace/fs/fs_pipe.c\n", log), log
    tracing.check("echo 'p:close pipe_close@vfs_pipe.c' >> kprobe_events; echo 'r:back pipe_close@fs/vfs_pipe.c' >> kprobe_events")
    tracing.check("> trace; echo 1 > events/kprobes/enable; echo a | cat > /dev/null; echo 0 > events/kprobes/enable")
    assert len(lines_of(tracing, "close")) == len(lines_of(tracing, "back")) >= 2
    listed = tracing.check("cat kprobe_events")
    assert listed == "p:kprobes/close pipe_close@vfs_pipe.c\nr:kprobes/back pipe_close@fs/vfs_pipe.c\n"
    tracing.check(f"> kprobe_events; echo '{listed.splitlines()[0]}' >> kprobe_events; > kprobe_events")


def test_line_of_the_source(tracing):
    """The list shows the function and the offset; mistakes are in error_log with their place."""
    file, line = re.search(r"^    (\S+\.c):(\d+)$", tracing.run("why kmalloc")[0].replace("\r", ""), re.M).groups()
    tracing.check(
        f"echo 'p:line {file}:{line} size=$arg1:u32' > kprobe_events; echo 'p:short {file.split('/')[-1]}:{line}' >> kprobe_events"
    )
    assert tracing.check("cat kprobe_events") == "p:kprobes/line kmalloc+0 size=$arg1:u32\np:kprobes/short kmalloc+0\n"
    tracing.check("> trace; echo 1 > events/kprobes/enable; ls > /dev/null; echo 0 > events/kprobes/enable")
    assert lines_of(tracing, "line") and len(lines_of(tracing, "line")) == len(lines_of(tracing, "short"))
    for place, why, at in (
        (f"{file}:999999", "There is no code from that line on", len(file) + 3),
        ("nothing.c:1", "No code comes from a file of that name", 2),
        ("build_bug:kmalloc", "There are no modules: SYMBOL alone", 2),
    ):
        assert tracing.run(f"echo 'p {place}' >> kprobe_events")[1] == 1
        assert re.search(
            rf"\] trace_kprobe: error: {why}\n  Command: p {place}\n {{{11 + at}}}\^\n$",
            tracing.check("cat error_log; > error_log").replace("\r", ""),
        )
    tracing.check("echo > kprobe_events")


@pytest.mark.parametrize(
    "place, why",
    [
        ("kmalloc+3", "it is in the middle of the instruction at kmalloc+0x0"),
        ("ring_buffer_write", "a probe or its handler may run through this function itself"),
        ("0x1000", "it is an address of user space"),
        ("trace_thresh_ns", "it is data, not code"),
    ],
)
def test_why_no_probe(tracing, place, why):
    """The command `why` and error_log give the same reason, each a different one."""
    place = re.search(r"at (0x[0-9a-f]+)", tracing.check(f"why {place}"))[1] if "data" in why else place
    said = tracing.run(f"why {place}")
    assert said[1] == 1 and re.search(rf"^    no probe can be at \S+: {re.escape(why)}$", said[0].replace("\r", ""), re.M), said
    assert tracing.run(f"echo 'p {place}' >> kprobe_events")[1] == 1
    log = tracing.check("cat error_log; > error_log")
    assert why in log or "Probe point is not an instruction boundary" in log
    assert "data" not in why or "that is trace_thresh_ns+0x0" in said[0]


@pytest.mark.parametrize(
    "guest", [{"cpus": 2, "cmdline": "kprobe_event=p:early,kmalloc,size=%di;p,no_such"}], indirect=True, ids=["kprobe_event"]
)
def test_from_the_command_line(tracing):
    assert tracing.check("cat kprobe_events") == "p:kprobes/early kmalloc size=%di\n"
    assert "trace: kprobe_event: p no_such: Invalid probed address or symbol" in tracing.check("dmesg")
    hits = re.fullmatch(r"  early +(\d+) +0\n", tracing.check("cat kprobe_profile"))  # it was on, up to this test
    assert int(hits[1]) > 0
    tracing.check("echo > kprobe_events")
