"""The commands `ft ...` of gdb: on a kernel that runs, changes code, hangs, has panicked, is damaged; and on a core of one."""
import re
import subprocess
from itertools import dropwhile, groupby

import pytest

from datguest import events_of_guest, events_of_report, is_valid
from gdb_guest import ELF, GDB, Gdb, frames, in_order
from guest import PATIENCE, ROOT
from programs import archive, built
from qmp import Qmp


@pytest.fixture(scope="module")
def gdb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ft")
    qmp = folder / "qmp"
    initrd = archive(folder / "files.cpio", {"bin/hello": built("hello"), "bin/paths": built("paths")})
    with Gdb(cpus=2, mem="64M", limit=400, extra=Qmp.option(qmp), initrd=initrd) as debugger:
        debugger.qmp = qmp
        debugger.guest.check("echo 12 > buffer_size_kb")
        yield debugger


# The set-up, in commands of the shell, and its undoing; the trace is compared in between.
ALL = "for e in events/*/enable; do echo %d > $e; done"
OPTIONS = "for o in %s; do echo %d > options/$o; done"
GRAPH = "funcgraph-abstime funcgraph-proc funcgraph-tail funcgraph-overrun funcgraph-retval funcgraph-retaddr funcgraph-args"
SYNTHETIC = (
    "hist:keys=pid:ts0=common_timestamp.usecs",
    "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:" "onmatch(sched.sched_waking).trace(late,$lat,next_pid,next_comm)",
)
CASES = {
    "functions with stacks, overwritten": (
        ["echo 'sched_*' > set_ftrace_filter", "echo 1 > options/func_stack_trace", "echo function > current_tracer", "hackbench 1 3"],
        ["echo 0 > options/func_stack_trace", "> set_ftrace_filter", "echo nop > current_tracer"],
    ),
    "repeats": (
        ["echo 1 > options/func-no-repeats", "echo 'spin_*' > set_ftrace_filter", "echo function > current_tracer", "true"],
        ["echo nop > current_tracer", "echo 0 > options/func-no-repeats", "> set_ftrace_filter"],
    ),
    "arguments": (
        ["echo 1 > options/func-args", "echo function > current_tracer", "hackbench 1 1", "uptime"],
        ["echo nop > current_tracer", "echo 0 > options/func-args"],
    ),
    "graph": (["echo function_graph > current_tracer", "hackbench 1 1"], []),
    "graph with all columns, and events inside": (
        [
            OPTIONS % (GRAPH, 1),
            "echo 1 > events/sched/enable",
            "hackbench 1 1",
            "echo hello > trace_marker",
            "echo 0 > options/funcgraph-irqs",
        ],
        [OPTIONS % (GRAPH, 0), "echo 1 > options/funcgraph-irqs", "echo nop > current_tracer", "echo 0 > events/enable"],
    ),
    "events": (
        [
            "echo 32 > buffer_size_kb",
            ALL % 1,
            "hackbench 1 1",
            "stress timers -n 2",
            "echo hi > trace_marker",
            "echo abcdefgh > trace_marker_raw",
            "true",
        ],
        [ALL % 0, "echo 12 > buffer_size_kb"],
    ),
    "events with other options": (
        ["echo 1 > events/sched/enable", "true", OPTIONS % ("sym-offset sym-addr latency-format verbose stacktrace", 1), "true"],
        [OPTIONS % ("sym-offset sym-addr latency-format verbose stacktrace", 0), "echo 0 > events/enable"],
    ),
    "no columns": (
        ["echo function > current_tracer", "true", OPTIONS % ("irq-info print-parent context-info", 0)],
        [OPTIONS % ("irq-info print-parent context-info", 1), "echo nop > current_tracer"],
    ),
    "a maximum, as a graph": (
        ["echo irqsoff > current_tracer", "echo 1 > options/display-graph", "hackbench 1 1"],
        ["echo 0 > options/display-graph", "echo nop > current_tracer"],
    ),
    "a synthetic event": (
        [
            "echo 'late u64 lat; pid_t pid; char who[16]' > synthetic_events",
            "echo 1 > events/synthetic/enable",
            f"echo '{SYNTHETIC[0]}' > events/sched/sched_waking/trigger",
            f"echo '{SYNTHETIC[1]}' > events/sched/sched_switch/trigger",
            "hackbench 1 1",
        ],
        [
            f"echo '!{SYNTHETIC[1]}' > events/sched/sched_switch/trigger",
            f"echo '!{SYNTHETIC[0]}' > events/sched/sched_waking/trigger",
            "echo 0 > events/enable",
        ],
    ),
    "system calls": (
        [
            "echo 1 > events/syscalls/enable",
            "echo 1 > events/latency/syscall_latency/enable",
            "hello one | wc -c",
            "paths > /dev/null",
            "echo verbose > trace_options",
            "echo errno-names > trace_options",
        ],
        ["echo 0 > events/enable", "echo noverbose > trace_options", "echo noerrno-names > trace_options"],
    ),
    "another clock, some events read": (
        ["echo counter > trace_clock", "echo function > current_tracer", "true", "head -n 40 trace_pipe > /dev/null"],
        ["echo nop > current_tracer", "echo local > trace_clock"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_trace_is_what_the_kernel_prints(gdb, case):
    """Line by line, header included; and of the last lines, the same."""
    before, after = CASES[case]
    for command in before:
        gdb.guest.check(command)
    gdb.guest.check("echo 0 > tracing_on")
    theirs = gdb.guest.check("cat trace").splitlines()
    told = gdb.ask("ft trace\necho LAST\\n\nft trace 3")
    for command in [*after, "echo > trace", "echo 1 > tracing_on"]:
        gdb.guest.check(command)
    ours, last = told.split("LAST\n")
    assert ours.splitlines() == theirs and len(theirs) > 20
    assert ours.endswith("".join(dropwhile(lambda line: line.startswith("#"), last.splitlines(True)))), last


def test_trace_of_an_instance(gdb):
    gdb.guest.check("mkdir instances/other; echo function > instances/other/current_tracer; echo 0 > instances/other/tracing_on")
    theirs = gdb.guest.check("cat instances/other/trace")
    assert gdb.ask("ft trace other") == theirs
    gdb.guest.check("rmdir instances/other")


def test_in_the_middle_of_a_batch(gdb):
    """Code is being changed: each site holds an int3. What comes there, who holds the lock, and a backtrace."""
    gdb.guest.check("echo 'sched_*' > set_ftrace_filter")
    gdb.start(
        "hbreak text_poke_finish\necho READY\\n\ncontinue\necho SITES\\n\nft sites sched_s*\necho LOCK\\n\np text_mutex\n"
        "echo BT\\n\nbt\necho END\\n\nft cpus\nft threads\ndelete\ndetach",
        "READY",
    )
    gdb.guest.output_of("echo function > current_tracer")
    text = gdb.finish()
    assert re.search(r"SITES\ncode is being changed: a batch of \d\d sites is in flight\n", text), text
    assert re.search(
        r"^[0-9a-f]{16} sched_switch +1 \.T\.\. int3, being changed to call 0x[0-9a-f]+ \(trace_function_call\)$", text, re.M
    ), text
    assert re.search(r"LOCK\n\$1 = \(held by pid \d+ sh\) = {owner = 0x", text), text
    assert in_order(frames(text, "BT\n"), ["text_poke_finish", "register_ftrace_function", "arch_thread_start"]), text


def test_sites_ops_and_events(gdb):
    """The functions that are called now; the kernel's own facts agree."""
    gdb.guest.check("echo 'sched_*' > set_ftrace_filter; echo sched_pull > set_ftrace_notrace; echo function > current_tracer")
    gdb.guest.check("mkdir instances/x; echo 1 > instances/x/events/sched/sched_switch/enable")
    enabled = {line.split()[0] for line in gdb.guest.check("cat enabled_functions").splitlines()}
    told = gdb.ask(
        "ft sites\necho OPS\\n\nft ops\necho EVENTS\\n\nft events\necho PRINT\\n\np *'event.c'::first_events[0]\n"
        "p trace_global\nft dmesg"
    )
    sites, rest = told.split("OPS\n")
    assert {line.split()[1] for line in sites.splitlines()[:-1]} == enabled and len(enabled) > 20
    assert "call 0x" in sites and "(trace_function_call)" in sites
    assert re.search(
        r"calls trace_function_call\n    flags    ENABLED INITIALIZED\n    filter   \d+: sched_account .* \.\.\.\n"
        r"    except   1: sched_pull\n    its own trampoline at 0x",
        rest,
    ), rest
    assert re.search(r"^ *\d+ sched:sched_switch  on in x\n1 of \d+ events are on", rest, re.M), rest
    assert "= (exceptions:page_fault" in rest or re.search(r"= \(\w+:\w+, type \d+\) = {name", rest), rest
    assert "(the global instance, tracer function) = {" in rest
    gdb.guest.check("rmdir instances/x; echo nop > current_tracer; > set_ftrace_filter; > set_ftrace_notrace")
    messages = gdb.guest.check("dmesg").splitlines()
    shown = rest[rest.index("[    0.000000]") :].splitlines()
    assert shown == messages[: len(shown)] and len(shown) > 10


def test_breakpoints_on_call_sites(gdb):
    """Hardware where the kernel changes the code, a warning for who takes another, and the site is switched all the same."""
    gdb.start(
        "ft break cmd_uptime\nft break *cmd_uptime\nbreak *cmd_uptime\ndelete 3\necho READY\\n\ncontinue\n"
        "echo BT\\n\nbt\necho END\\n\ninfo breakpoints\ndelete\ndetach",
        "READY",
    )
    gdb.guest.check("echo function > current_tracer; uptime; echo nop > current_tracer")
    text = gdb.finish()
    first, second = (int(re.search(rf"reakpoint {number} at (0x\w+)", text).group(1), 16) for number in (1, 2))
    assert first == second + 5 and re.search(r"^1 +breakpoint ", text, re.M) and re.search(r"^2 +hw breakpoint ", text, re.M), text
    assert len(re.findall(r"^Breakpoint \d is on code that the kernel changes, cmd_uptime\.", text, re.M)) == 1, text
    assert frames(text, "BT\n")[0] == "cmd_uptime", text


def test_backtraces_of_hooked_functions(gdb):
    """While function_graph holds the return addresses: of the CPU that runs, and of threads that wait."""
    # The twentieth look of `poll`, 200 ms after its start: the shell sleeps by then.
    gdb.guest.check("mkdir instances/quiet; echo function_graph > current_tracer")
    gdb.start("hbreak file_events\nignore 1 20\necho READY\\n\ncontinue\necho BT\\n\nbt\necho END\\n\nft bt-all\ndelete\ndetach", "READY")
    gdb.guest.check("poll instances/quiet/trace_pipe 1 || true")
    text = gdb.finish()
    gdb.guest.check("echo nop > current_tracer; rmdir instances/quiet")
    callers = ["file_events", "cmd_poll", "sh_run_command", "job_main", "thread_start", "arch_thread_start"]
    assert in_order(frames(text, "BT\n"), callers), text
    assert not re.search(r"^#[1-9]\d* .*return_to_handler", text, re.M), text  # a CPU may just be at it
    sh = re.search(r"^\d+ sh\n((?:  .*\n)+)", text, re.M)
    assert sh, text
    assert in_order(
        re.findall(r"  (\w+)", sh.group(1)), ["sched_switch", "thread_join", "sh_exec", "shell_main", "arch_thread_start"]
    ), text
    assert {"CPU 0", "CPU 1"} <= set(re.findall(r"^CPU \d", text, re.M)), text


PROBES = (
    "p:probes/site sched_switch",
    "p:probes/jump cmd_uptime+5",
    "p:probes/first sh_run_command+5 %di",
    "r:probes/back cmd_uptime $retval",
    "e:probes/onward sched.sched_waking pid=$pid:s32",
)
OPTIMIZATION = "/proc/sys/debug/kprobes-optimization"
OPTIMIZED = "until grep -q OPTIMIZED /sys/kernel/debug/kprobes/list; do sleep 0.01; done"
EXEC_AREA = 0xFFFFFFFFA0000000  # where detours are


def test_probes(gdb):
    """By which means, who is called, how often: as the kernel's own files say."""
    for line in PROBES:
        gdb.guest.check(f"echo '{line}' >> dynamic_events")
    gdb.guest.check("echo 1 > events/probes/enable; echo 0 > events/probes/first/enable; sleep 0.2")
    gdb.guest.check(f"for i in 1 2 3; do uptime; done; echo 0 > {OPTIMIZATION}; echo 0 > tracing_on")
    gdb.guest.check("echo 1 > events/probes/first/enable")
    told = gdb.ask("ft probes")
    hits = {line.split()[0]: int(line.split()[1]) for line in gdb.guest.check("cat kprobe_profile").splitlines()}
    lines = [line for line in gdb.guest.check("cat dynamic_events").splitlines() if not line.startswith("s:")]
    for line in gdb.guest.check("cat /sys/kernel/debug/kprobes/list").splitlines():
        address, kind, name = line.split()[:3]
        means = "return" if kind == "r" else "call site" if "[FTRACE]" in line else "jump" if "[OPTIMIZED]" in line else "int3"
        assert re.search(rf"^{address} {re.escape(name.replace('+0x0', ''))} +{means} ", told, re.M), told + line
    for line in lines:
        name = line.split()[0].split("/")[1]
        shown = re.search(rf"^{re.escape(line)}  (\d+) hits$", told, re.M)
        assert shown, told + line
        assert name == "onward" or name not in hits or 0 <= hits[name] - int(shown.group(1)) < 2000
    assert hits["jump"] == 3 and "  3 hits" in told
    assert told.splitlines()[-1] == "3 probes at instructions, 1 at returns, 0 on memory, 5 events of probes"
    gdb.guest.check(f"echo 0 > events/enable; > dynamic_events; echo 1 > {OPTIMIZATION}; echo > trace; echo 1 > tracing_on")
    assert gdb.ask("ft probes") == "0 probes at instructions, 0 at returns, 0 on memory, 0 events of probes\n"


@pytest.mark.parametrize("offset", [5, 6], ids=["without a frame", "with a pushed register"])
@pytest.mark.parametrize("means", ["jump", "int3"])
def test_backtrace_from_a_probe(gdb, means, offset):
    """From the handler and from the copy of the instruction to the probed function and all its callers."""
    callers = ["cmd_uptime", "sh_run_command", "job_main", "thread_start", "arch_thread_start"]
    gdb.guest.check(f"echo {int(means == 'jump')} > {OPTIMIZATION}; echo 'p:probes/up cmd_uptime+{offset}' >> dynamic_events")
    gdb.guest.check(f"echo 1 > events/probes/up/enable; {OPTIMIZED if means == 'jump' else 'sleep 0.2'}")
    assert ("[OPTIMIZED]" in gdb.guest.check("cat /sys/kernel/debug/kprobes/list")) == (means == "jump")
    hit = "kprobe_hit_args" if means == "jump" else "kprobe_hit_run"
    gdb.start(
        f"hbreak {hit}\necho READY\\n\ncontinue\necho HANDLER\\n\nbt 40\necho END\n\ndelete\n"
        "finish\nset $left = 400\nwhile $left > 0 && ($pc < 0xffffffffa0000000 || $pc >= 0xffffffffa1000000)\nstepi\nset $left -= 1\nend\n"
        "echo COPY\\n\nbt 40\necho END\n\nft bt-all\ndetach",
        "READY",
    )
    gdb.guest.check("uptime")
    text = gdb.finish()
    gdb.guest.check(f"echo 0 > events/enable; > dynamic_events; echo 1 > {OPTIMIZATION}; echo > trace")
    handler, copy = frames(text, "HANDLER"), frames(text, "COPY")
    assert in_order(handler, callers) and handler[0] == hit and handler.count("cmd_uptime") == 1, text
    assert in_order(copy, callers) and copy[0] == "cmd_uptime" and "ftrace_trampoline" not in copy, text


@pytest.mark.parametrize("register, entry", [("di", "trace_probe_detour_args"), ("r12", "trace_probe_detour")])
def test_backtrace_at_each_instruction_of_a_detour(gdb, register, entry):
    """From the jump to the copy of what it took the place of, but for the C in between."""
    callers = ["cmd_uptime", "sh_run_command", "job_main", "thread_start", "arch_thread_start"]
    gdb.guest.check(f"echo 'p:probes/up cmd_uptime+5 %{register}' >> dynamic_events; echo 1 > events/probes/up/enable; {OPTIMIZED}")
    step = "echo AT\\n\nx/i $pc\nbt 40\necho END\\n\n\nstepi\nset $steps += 1\n"
    gdb.start(
        "hbreak *(cmd_uptime+5)\necho READY\\n\ncontinue\ndelete\nset $steps = 0\n"
        f"while $steps < 80 && $pc != &kprobe_hit_run && $pc != &kprobe_hit_args\n{step}end\n"
        "thbreak *(*(unsigned long *)$rsp)\ncontinue\n"
        f"while $steps < 80 && ($pc < {EXEC_AREA} || $pc >= {EXEC_AREA} + 0x1000000)\n{step}end\n{step}detach",
        "READY",
    )
    gdb.guest.check("uptime")
    text = gdb.finish()
    gdb.guest.check("echo 0 > events/enable; > dynamic_events; echo > trace")
    stops = ["AT\n" + block for block in text.split("AT\n")[1:]]
    assert 35 < len(stops) < 80 and len([stop for stop in stops if f"<{entry}+" in stop.splitlines()[1]]) > 30, text
    for stop in stops:
        found = [name for name, _ in groupby(frames(stop, "AT\n"))]  # the innermost frame may be the copy's
        assert in_order(found, callers) and found.count("cmd_uptime") == 1, stop


def batch(*commands, core, elf=ELF):
    """gdb on a core."""
    words = [word for command in commands for word in ("-ex", command)]
    return subprocess.run(
        [*GDB, "-ex", "set width 0", "-x", ROOT / "tools/gdb/fathom.py", *words, elf, core],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


WANTED = "an address is wanted"
ODD = {  # what is typed, and what is said
    "symbol vfs_open": r"vfs_open",
    "symbol &vfs_open": r"vfs_open",
    "symbol *vfs_open": r"vfs_open",
    "symbol vfs_open+5": r"vfs_open\+0x5",
    "symbol all_threads": r"all_threads|0x\w+",
    "symbol symbols_blob": r"\S+",
    "symbol -1": r"0xf{16}",
    'symbol "abc"': f".*{WANTED}.* char .*",
    "symbol 3.7": f".*{WANTED}.* double",
    "symbol $nothing": f".*{WANTED}.* void",
    "symbol 1 2": f".*{WANTED}: .*",
    "symbol no_such": f".*{WANTED}: No symbol .*",
    "symbol 0xfffffffffffffffffff": f".*{WANTED}: .*",
    "symbol": "an address is missing",
    "bt vfs_open": "vfs_open: PID or `all` is wanted, .*",
    "bt all x": "all x: PID or `all` is wanted: .*",
    "bt": "PID or `all` is missing",
    "trace 0": "N is .* 1 or more",
    "trace ²": "there is no instance `²`",
    "trace 1 2 3": r"ft trace \[N\] \[INSTANCE\]",
    "events nope": r"ft events \[all\]",
    "ops nope": "this takes no argument: nope",
    "locks nope": "this takes no argument: nope",
    "break": "ft break FUNCTION, or .*",
    "break *": "a function or an address is missing",
    "break no_such": "no_such: .* No symbol .*",
    'break "x"': '"x": a function or an address is wanted, .*',
    "break vfs_open+5": r"Breakpoint 1 at 0x\w+.*",
    "sites [": "0 of 0 call sites",
    "nope": "there is no command `ft nope`; .*",
}


def test_odd_arguments():
    """One line each, by gdb on the ELF file alone."""
    words = [word for typed in ODD for word in ("-ex", f"echo > {typed}\\n", "-ex", f"ft {typed}")]
    run = subprocess.run(
        [*GDB, "-ex", "set width 0", "-x", ROOT / "tools/gdb/fathom.py", *words, "-ex", "ft trace 99999999999999999999", ELF],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    for said, (typed, wanted) in zip(run.stdout.split("> ")[1:], ODD.items()):
        assert re.fullmatch(f"{re.escape(typed)}\n(?:{wanted})\n?", said if typed != "nope" else said.split("# tracer")[0]), said
    assert "# tracer: nop" in run.stdout and "Python" not in run.stdout and "makes no sense" not in run.stdout


def extract(*words, folder):
    run = subprocess.run([ROOT / "tools/fathom", "extract", *words], cwd=folder, capture_output=True, text=True, timeout=120 * PATIENCE)
    assert "Traceback" not in run.stderr and run.stderr.count("\n") == 1, run.stderr
    return run.returncode, run.stderr


def extracted(gdb, theirs, folder):
    """The core as a trace.dat: events and texts are the kernel's. Or why there is no such file."""
    status, said = extract("--core", "core", "--elf", ELF, folder=folder)
    assert status == 0, said
    assert is_valid(folder / "trace.dat")
    told = events_of_guest(theirs)
    assert f" {len(told)} events, " in said
    assert events_of_report(folder / "trace.dat") == told
    data = (folder / "trace.dat").read_bytes()
    texts = gdb.guest.check("for f in events/*/*/format; do cat $f; echo END; done").split("END\n")[:-1]
    assert len(texts) > 50
    assert not [text for text in texts if text.encode() not in data]
    for name in ("events/header_page", "events/header_event", "printk_formats", "/proc/version"):
        assert gdb.guest.check(f"cat {name}").strip().encode() in data, name
    for cpu in range(gdb.guest.nr_cpus()):
        stats = re.sub("now ts: .*\n", "", gdb.guest.check(f"cat per_cpu/cpu{cpu}/stats"))
        assert f"CPU: {cpu}\n{stats}".encode() in data and not re.search("^(bytes|entries): 0$", stats, re.M), stats
    symbols = [int(word) for word in gdb.guest.check("grep -c ' t ' /proc/kallsyms; grep -c __builtin__ftrace /proc/kallsyms").split()]
    assert symbols == [len(re.findall(rb"^ffffffff\w{8} t .*" + name, data, re.M)) for name in (b"", b".*__builtin__ftrace")]
    (folder / "text").write_text("no core\n")
    for words, code, sentence in (
        (["--core", "text"], 1, "text is no ELF core"),
        (["--core", "nope"], 1, "No such file"),
        (["--core", "core", "--elf", "nope"], 1, "there is no nope"),
        (["--core", "core", "--elf", ELF.with_name("fathom-test.elf")], 1, "it has not started yet, or is another build"),
        (["--core", "core", "--elf", "/bin/true"], 1, "is not the ELF file of a Fathom kernel"),
        (["--core", "core", "-B", "nope"], 1, "there is no instance `nope`"),
        (["--core", "core", "-s"], 5, "had traced nothing"),
        (["--core", "core", "--boot"], 2, "--core and --boot"),
    ):
        status, said = extract("--elf", ELF, *words, "-o", "none.dat", folder=folder)
        assert status == code and sentence in said, (words, said)
    assert not list(folder.glob("none.dat*"))


# Events whose print fmt is not in memory: numbers, arrays, texts, symbols; none; and one of another event.
FORMATS = (
    "p:formats/all vfs_open %di bits=%si:b3@2/32 two=+0(%sp):x8[2] path=+0(%si):string names=+0(%sp):string[2] caller=+0(%sp):symbol"
    " text=%di:symstr letter=%dx:char",
    "p:formats/none kfree",
    "r:formats/back vfs_open $retval:s32",
    "e:formats/onward sched/sched_waking who=$comm",
)


def test_core(gdb, tmp_path):
    """The same commands on what `tools/fathom dump` writes; and what is said when it does not fit to the ELF file."""
    for line in FORMATS:
        gdb.guest.check(f"echo '{line}' >> dynamic_events")
    gdb.guest.check("echo 'sched_*' > set_ftrace_filter; echo function > current_tracer; echo 1 > events/sched/enable; hackbench 1 1")
    gdb.guest.check("echo 0 > tracing_on")
    theirs = gdb.guest.check("cat trace")
    dump = subprocess.run([ROOT / "tools/fathom", "dump", tmp_path / "core", "--qmp", gdb.qmp], capture_output=True, text=True)
    assert dump.returncode == 0 and re.fullmatch(r"/.*/core: \d+ MiB\n", dump.stdout), dump.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["core"]
    run = batch("echo ASKED\\n", "ft trace", "echo THREADS\\n", "ft threads", "ft bt-all", "ft sites", core=tmp_path / "core")
    trace, rest = run.stdout.split("ASKED\n")[1].split("THREADS\n")
    assert trace == theirs and not run.stderr.count("Error"), run.stderr
    assert re.search(r"^ +\d+ S +\d sh +console_getc_timeout", rest, re.M) and "sched_idle_loop ()" in rest, rest
    assert "(trace_function_call)" in rest
    other = batch("ft threads", core=tmp_path / "core", elf=ELF.with_name("fathom-test.elf"))
    assert "it has not started yet, or is another build)" in other.stdout, other
    extracted(gdb, theirs, tmp_path)
    assert gdb.guest.check("echo alive") == "alive\n"
    gdb.guest.check("echo nop > current_tracer; > set_ftrace_filter; echo 0 > events/enable; echo 1 > tracing_on; > dynamic_events")


def test_hung(gdb):
    """The last test of this guest: the shell waits for a lock that is never given back. The thread, the lock,
    and the way there."""
    gdb.guest.check("echo 'mutex_*' > set_ftrace_filter; echo function > current_tracer")
    gdb.ask(
        "python from ft import threads\n"
        "python holder = next(t for t in threads.threads() if threads.name_of(t) == 'kreaper')\n"
        "python gdb.execute(f'set var text_mutex.owner = (struct thread *){int(holder.address)}')"
    )
    gdb.guest.send("echo sched_switch > set_ftrace_filter\r")
    gdb.guest.listen(1)
    told = gdb.ask("ft locks\necho THREADS\\n\nft threads\nft bt 7\necho TRACE\\n\nft trace 30\necho DMESG\\n\nft dmesg")
    assert re.search(r"^text_mutex: mutex at 0x[0-9a-f]+, held by pid \d+ kreaper, waited for by pid \d+ sh$", told, re.M), told
    rest = told.split("THREADS\n")[1]
    assert re.search(r"^ +\d+ D +\d sh +trace_plat_poke_batch", rest, re.M), rest
    assert re.search(r"^  trace_plat_poke_batch\+0x", rest, re.M), rest
    assert re.search(r" sh-\d+ +\[\d+\].*: mutex_lock <-trace_plat_poke_batch$", rest.split("TRACE\n")[1], re.M), rest


# Each round writes over some bytes of a core and looks at it with all commands.
DAMAGE = """
python
import json, os, random, struct, time
from ft import export, lines, memory, threads
PATH, dice = "CORE", random.Random(11)
core = open(PATH, "r+b", buffering=0)
head = core.read(64)
table, nr = struct.unpack_from("<Q", head, 32)[0], struct.unpack_from("<H", head, 56)[0]
loads = [struct.unpack("<IIQQQQQQ", os.pread(core.fileno(), 56, table + 56 * i)) for i in range(nr)]
def offset_of(address):
    return next(offset + address - start for kind, _, offset, start, _, size, _, _ in loads
                if kind == 1 and start <= address < start + size)
instance = lines.find_instance("")
places = [(memory.address_of(instance.tr), instance.tr.type.sizeof), (memory.symbol_address("ftrace_groups"), 32),
          (memory.symbol_address("ftrace_nr_groups"), 4), (memory.symbol_address("ftrace_global_ops"), 160)]
for name, file in (("all_threads", "thread_list.c"), ("registry", "event.c"), ("saved", "cmdlines.c"), ("cpu_areas", "percpu.c"),
                   ("next_number", "dmesg.c"), ("slots", "dmesg.c"), ("text_mutex", "trace_host.c")):
    value = memory.variable(name, file)
    places.append((memory.address_of(value), min(value.type.sizeof, 1024)))
for thread in threads.threads():
    places.append((memory.address_of(thread), thread.type.sizeof))
for each in instance.rings:
    places += [(memory.address_of(each.rc), each.rc.type.sizeof), (int(each.rc["slots"]), 32 * each.nr_slots), (each.base, 4096)]
worst = nr_said = nr_exported = 0
for round in range(ROUNDS):
    saved = []
    for _ in range(dice.randint(1, 3)):
        address, size = dice.choice(places)
        offset = offset_of(address + dice.randrange(0, size, 4))
        saved.append((offset, os.pread(core.fileno(), 8, offset)))
        os.pwrite(core.fileno(), dice.choice((bytes(8), b"\\xff" * 8, dice.randbytes(8))), offset)
    gdb.execute("core-file " + PATH, to_string=True)
    for command in ("trace 40", "threads", "bt all", "sites sched_*", "ops", "events", "dmesg", "cpus", "locks"):
        begin = time.process_time()
        try:
            gdb.execute("ft " + command, to_string=True)
        except gdb.error as err:
            nr_said += 1
            if "Python" in str(err) or not str(err).strip():
                print(f"BAD round {round} {command}: {err}")
        worst = max(worst, time.process_time() - begin)
    if round % 3 == 0:
        export.write(os.path.dirname(PATH))
        with open(os.path.dirname(PATH) + "/facts.json") as facts:
            found = json.load(facts)
        nr_exported += found.get("events", 0) > 0
        if not found.get("events") and not found.get("failure") and not found.get("problems"):
            print(f"BAD round {round}: an empty file, and nobody says why")
    for offset, data in reversed(saved):
        os.pwrite(core.fileno(), data, offset)
gdb.execute("core-file " + PATH, to_string=True)
print(f"SAID {nr_said} WORST {worst:.1f} EXPORTED {nr_exported}")
end
"""


def test_panicked_and_damaged(tmp_path):
    """After a panic all is there; and whatever is damaged, each command ends soon, with a sentence at most."""
    with Gdb(cpus=2, mem="64M", limit=300, extra=Qmp.option(tmp_path / "qmp")) as gdb:
        gdb.guest.check("echo 16 > buffer_size_kb; echo function > current_tracer; echo 1 > events/sched/enable; mkdir instances/x")
        gdb.guest.send("panic\r")
        gdb.guest.expect(rb"end of panic")
        told = gdb.ask("ft dmesg\necho TRACE\\n\nft trace 20\necho BT\\n\nft bt-all\necho END\\n\nft cpus")
        assert re.search(r"PANIC: requested by a command\n(?:.*\n)*.*---\[ end of panic \]---\n", told), told
        trace = told.split("TRACE\n")[1].split("BT\n")[0]
        assert " panic-" in trace, told
        assert in_order(frames(told, "BT\n"), ["panic", "cmd_panic", "arch_thread_start"]), told
        assert re.search(r"^CPU \d: pid \d+ panic: ", told, re.M), told
        core = tmp_path / "core"
        dump = subprocess.run([ROOT / "tools/fathom", "dump", core, "--qmp", tmp_path / "qmp", "--stop"], capture_output=True, text=True)
        assert dump.returncode == 0, dump.stderr
    core.chmod(0o600)
    script = tmp_path / "damage"
    script.write_text(DAMAGE.replace("CORE", str(core)).replace("ROUNDS", "10"))
    run = batch(f"source {script}", "echo SAME\\n", "ft trace 20", core=core)
    said = re.search(r"SAID (\d+) WORST ([\d.]+) EXPORTED (\d+)", run.stdout)
    assert said and int(said.group(1)) > 0 and float(said.group(2)) < 30 and int(said.group(3)) > 0, run
    assert not re.search("BAD|Traceback|Python Exception", run.stdout + run.stderr), run.stdout[-5000:] + run.stderr[-5000:]
    # Nothing of the damage stays behind in what the commands remember.
    assert run.stdout.split("SAME\n")[1] == trace
