"""Tracers, options, clocks, sizes, CPUs, threads: what a setting does to what is recorded."""
import re

import pytest

LINE = re.compile(r"^ *(\S.*)-(\d+) +\[(\d{3})\] (.{5}) +(\S+): (\S+) <-(\S+)$", re.M)


def lines(guest):
    return LINE.findall(guest.check("cat trace"))


@pytest.mark.parametrize(
    "command",
    [
        "echo nosuch > current_tracer",
        "echo 0 > buffer_size_kb",
        "echo foo > buffer_size_kb",
        "echo foo > trace_clock",
        "echo nofoo > trace_options",
        "echo 2 > options/overwrite",
        "echo foo > tracing_on",
        "echo nosuchfunction > set_ftrace_filter",
        "echo x > set_ftrace_pid",
        "echo g > tracing_cpumask",
        "echo 0 > saved_cmdlines_size",
        "echo x > tracing_thresh",
        "printf abc > trace_marker_raw",
    ],
)
def test_invalid(tracing, command):
    assert tracing.run(command) == ("sh: write error: Invalid argument\n", 1)


def test_other_errors(tracing):
    assert tracing.run("echo fff > tracing_cpumask") == ("sh: write error: Value too large for defined data type\n", 1)
    for kb in (4194304, 99999999, 99999999999):
        assert tracing.run(f"echo {kb} > buffer_size_kb") == ("sh: write error: Cannot allocate memory\n", 1)
    assert tracing.run("echo 0 > tracing_on; echo x > trace_marker") == ("sh: write error: Bad file descriptor\n", 1)


def test_defaults(tracing):
    assert tracing.check("cat available_tracers").endswith("function_graph function nop\n")
    assert tracing.check("cat current_tracer tracing_on buffer_size_kb") == "nop\n1\n1408\n"
    assert tracing.check("cat trace_clock") == ("[local] global counter uptime perf mono mono_raw boot x86-tsc\n")
    assert tracing.check("cat set_ftrace_pid set_ftrace_notrace_pid") == "no pid\nno pid\n"
    assert tracing.check("cat tracing_cpumask") == "3\n"


def test_why_a_function_cannot_be_traced(tracing):
    tracing.run("echo memcpy > set_ftrace_filter")
    log = tracing.check("cat error_log")
    assert re.fullmatch(r"\[ +\d+\.\d{6}\] set_ftrace_filter: error: memcpy: notrace.*\n" r"  Command: memcpy\n           \^\n", log), log
    tracing.check("> error_log")
    assert tracing.check("cat error_log") == ""


def test_only_one_thread(tracing):
    tracing.check("echo $$ > set_ftrace_pid; echo function > current_tracer; hackbench 1 10; echo 0 > tracing_on")
    pid = tracing.check("cat set_ftrace_pid").strip()
    assert {m[1] for m in lines(tracing)} == {pid}


def test_all_but_one_thread(tracing):
    tracing.check(
        "echo $$ > set_ftrace_notrace_pid; echo schedule > set_ftrace_filter; "
        "echo function > current_tracer; hackbench 1 10; echo 0 > tracing_on"
    )
    pid = tracing.check("cat set_ftrace_notrace_pid").strip()
    pids = {m[1] for m in lines(tracing)}
    assert pids and pid not in pids


def test_children_with_function_fork(tracing):
    tracing.check(
        "echo 1 > options/function-fork; echo $$ > set_ftrace_pid; echo schedule > set_ftrace_filter; "
        "echo function > current_tracer; hackbench 1 10; echo 0 > tracing_on"
    )
    shell, *others = tracing.check("cat set_ftrace_pid").split()
    assert len(others) == 1  # cat; those that have ended are gone
    pids = {m[1] for m in lines(tracing)}
    assert len(pids - {shell}) > 3 and "0" not in pids
    tracing.check("echo 0 > options/function-fork; > trace; echo 1 > tracing_on; hackbench 1 2; echo 0 > tracing_on")
    assert {m[1] for m in lines(tracing)} <= {shell, *others}


def test_cpumask(tracing):
    tracing.check(
        "echo 2 > tracing_cpumask; echo '*sched*' > set_ftrace_filter; "
        "echo function > current_tracer; hackbench 1 10; echo 3 > tracing_cpumask; echo 0 > tracing_on"
    )
    # the mask came back before tracing stopped: only its last moments may be of CPU 0
    found = lines(tracing)
    assert found and sum(m[2] == "000" for m in found) < len(found) / 4


@pytest.mark.parametrize("clock", "local global perf mono mono_raw boot".split())
def test_clock_in_ns(tracing, clock):
    tracing.check(
        f"echo {clock} > trace_clock; echo schedule > set_ftrace_filter; "
        "echo function > current_tracer; for i in 1 2 3 4; do sleep 0.05; done; echo 0 > tracing_on"
    )
    times = [float(m[4]) for m in lines(tracing)]
    assert len(times) > 2 and times == sorted(times) and 0 < times[0] < 3600
    assert 0.05 < times[-1] - times[0] < 20


@pytest.mark.parametrize("clock", "counter uptime x86-tsc".split())
def test_clock_of_counts(tracing, clock):
    tracing.check(
        f"echo {clock} > trace_clock; echo schedule > set_ftrace_filter; "
        "echo function > current_tracer; for i in 1 2 3 4; do sleep 0.05; done; echo 0 > tracing_on"
    )
    times = [int(m[4]) for m in lines(tracing)]
    assert len(times) > 2 and times == sorted(times)
    if clock == "counter":
        assert len(set(times)) == len(times)
    assert re.search(r"^now ts: \d+$", tracing.check("cat per_cpu/cpu0/stats"), re.M)


def test_options_read_back(tracing):
    out = tracing.check("for o in options/*; do a=$(cat $o); echo $((1 - a)) > $o && cat $o; echo $a > $o; done 2>&1")
    assert set(out.split()) - set("sh: write error: Invalid argument".split()) <= {"0", "1"}
    assert out.count("Invalid argument") == 2  # test_nop_refuse; trace_printk_dest, which is not taken from the top by hand


def test_marker_lines(tracing):
    tracing.check("echo hello > trace_marker; echo -n nonl > trace_marker; echo > trace_marker")
    text = tracing.check("cat trace")
    assert re.findall(r"tracing_mark_write: (.*)$", text, re.M) == ["hello", "nonl", ""]
    tracing.check("echo 1 > options/printk-msg-only")
    assert tracing.check("cat trace").endswith("|\nhello\nnonl\n\n")
    tracing.check("echo 0 > options/printk-msg-only")


def test_sizes(tracing):
    tracing.check("echo 64 > per_cpu/cpu1/buffer_size_kb")
    assert (
        tracing.check("cat buffer_size_kb per_cpu/cpu0/buffer_size_kb per_cpu/cpu1/buffer_size_kb " "buffer_total_size_kb")
        == "X\n1408\n64\n1472\n"
    )


def test_latency_format(tracing):
    tracing.check(
        "echo schedule > set_ftrace_filter; echo function > current_tracer; sleep 0.2; "
        "echo 0 > tracing_on; echo latency-format > trace_options"
    )
    text = tracing.check("cat trace; echo nolatency-format > trace_options")
    assert text.startswith("# tracer: function\n#\n# function latency trace v1.1.5 on ")
    body = [line for line in text.splitlines() if not line.startswith("#")]
    assert body and all(re.fullmatch(r".{8}-\d+ +\d.{5} +\d+us[ +!#*@$]: schedule <-\S+", b) for b in body), body[:3]


def test_lists_of_functions(tracing):
    """The lists agree with each other, and the addresses are those of the symbols."""
    names = tracing.check("cat available_filter_functions").split()
    addrs = [line.split() for line in tracing.check("cat available_filter_functions_addrs").splitlines()]
    assert [name for _, name in addrs] == names and len(names) > 500
    assert [addr for addr, _ in addrs] == sorted(addr for addr, _ in addrs)
    total = tracing.check("cat dyn_ftrace_total_info")
    assert int(re.fullmatch(r"(\d+) pages:\d+ groups: \d+\n", total)[1]) == len(names)
    tracing.check("echo schedule > set_ftrace_filter; echo function > current_tracer; sleep 0.05; echo sym-addr > trace_options")
    seen = re.search(r": schedule <([0-9a-f]+)> <-", tracing.check("cat trace; echo nosym-addr > trace_options"))[1]
    assert seen == dict((name, addr) for addr, name in addrs)["schedule"]


def test_saved_names(tracing):
    """All threads that live, and as many that have ended as there is room for; others are told by number."""
    tracing.check("echo 2 > saved_cmdlines_size")
    assert tracing.check("cat saved_cmdlines_size") == "2\n"
    tracing.check(
        "echo sched_thread_begins > set_ftrace_filter; echo function > current_tracer; "
        "for i in 1 2 3 4 5; do sleep 0.01; done; echo 0 > tracing_on"
    )
    text = tracing.check("cat trace")
    assert re.search(r"^ +<\.\.\.>-\d+ ", text, re.M) and re.search(r"^ +sleep-\d+ ", text, re.M)
    text = tracing.check("cat saved_cmdlines > /tmp/names; ps; echo; cat /tmp/names; rm /tmp/names; echo 128 > saved_cmdlines_size")
    rows, names = text.replace("\r", "").split("\n\n")
    living = {row.split()[0] for row in rows.splitlines() if not row.endswith(" ps")} & set(map(str, range(1, 1 << 20)))
    listed = dict(line.split(" ", 1) for line in names.splitlines())
    ended = {pid: name for pid, name in listed.items() if pid not in living}
    assert len(living) > 4 and living <= set(listed)
    assert "cat" in ended.values() and len(ended) == 3, ended  # the one that has read them lived then
    assert tracing.run("echo 32769 > saved_cmdlines_size")[1] == 1


def test_readme_has_every_file(tracing):
    text = tracing.check("cat README")
    for name in tracing.check("ls; ls per_cpu/cpu0").split():
        assert name == "README" or name in text, name
    assert tracing.check("cat timestamp_mode") == "[delta] absolute\n"


def test_boot_parameters():
    from guest import Guest

    with Guest(
        "gcc",
        2,
        cmdline="ftrace=function ftrace_filter=*sched*,yield ftrace_notrace=schedule "
        "trace_buf_size=2M trace_options=sym-offset trace_clock=global",
    ) as guest:
        assert guest.check("cat current_tracer buffer_size_kb options/sym-offset") == "function\n2048\n1\n"
        assert "[global]" in guest.check("cat trace_clock")
        assert guest.check("cat set_ftrace_notrace") == "schedule\n"
        assert "yield\n" in guest.check("cat set_ftrace_filter")
        assert re.search(r": sched\w+\+0x0/0x[0-9a-f]+ <-", guest.check("head -50 trace"))
        # The other CPU came when the tracer ran already: nothing of it was lost.
        text = guest.check("cat per_cpu/cpu1/stats")
        assert "entries: 0\n" not in text and "dropped events: 0\n" in text


def test_boot_size_that_cannot_be():
    from guest import Guest

    with Guest("gcc", 2, cmdline="trace_buf_size=5G ftrace=function") as guest:
        assert "cannot start tracer function: no memory" in guest.boot_output
        assert guest.run("echo function > current_tracer") == ("sh: write error: Cannot allocate memory\n", 1)
        guest.check("echo 100 > buffer_size_kb; echo function > current_tracer; head -40 trace | grep -q '<-'")
