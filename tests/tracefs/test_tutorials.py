"""Lines of the usual tutorials about Linux's ftrace, in their order, with the answers that they promise.

Functions of theirs that are not here have stand-ins of ours: sys_read is vfs_mkdir, do_IRQ is trap_dispatch.
"""
import re


def test_debugging_the_kernel(tracing):
    """The article in two parts: function, function_graph, markers, stopping where the bug is."""
    said = tracing.check("cd /sys/kernel/debug/tracing; pwd; cat available_tracers")
    assert said.startswith("/sys/kernel/debug/tracing\n") and {"function_graph", "function", "nop"} <= set(said.split()[1:])
    tracing.check("echo function > current_tracer; cat current_tracer; head -n 200 trace | grep -q ' <-'")
    text = tracing.check("echo function_graph > current_tracer; sleep 0.05; echo 0 > tracing_on; head -n 400 trace")
    assert text.startswith("# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n")
    assert re.search(r"^ \d\) .*\| +\w+\(\) \{$", text, re.M) and re.search(r"^ \d\) +[+!#]? ?\d+\.\d+ us +\| +\}$", text, re.M)
    tracing.check("echo nop > current_tracer; echo 1 > tracing_on; > trace")
    tracing.check("echo hello world > trace_marker; cat trace | grep -q 'tracing_mark_write: hello world'")
    # A program that stops the trace where it fails: it keeps the two files open.
    tracing.check(
        "echo vfs_mkdir > set_ftrace_filter; echo function > current_tracer; "
        "(mkdir /tmp/t; echo test failed > trace_marker; echo 0 > tracing_on; rmdir /tmp/t; mkdir /tmp/t; rmdir /tmp/t)"
    )
    lines = [line for line in tracing.check("cat trace").splitlines() if not line.startswith("#")]
    assert len(lines) == 2 and "vfs_mkdir <-" in lines[0] and lines[1].endswith(": test failed")
    tracing.check("echo nop > current_tracer; echo 1 > tracing_on; > set_ftrace_filter; cd /sys/kernel/tracing")


def test_secrets_of_the_function_tracer(tracing):
    tracing.check("echo vfs_mkdir vfs_rmdir > set_ftrace_filter")
    assert tracing.check("cat set_ftrace_filter | sort") == "vfs_mkdir\nvfs_rmdir\n"
    tracing.check("echo 'sched*' > set_ftrace_filter; echo '*lock*' >> set_ftrace_filter; echo '!*lock*' >> set_ftrace_filter")
    names = tracing.check("cat set_ftrace_filter").split()
    assert names and all(name.startswith("sched") and "lock" not in name for name in names)
    tracing.check(
        "echo > set_ftrace_filter; echo '*lock*' > set_ftrace_notrace; echo '*preempt*' >> set_ftrace_notrace; "
        "echo function > current_tracer; hackbench 1 2 > /dev/null; echo 0 > tracing_on"
    )
    called = set(re.findall(r": (\w+) <-", tracing.check("head -n 1000 trace")))
    assert called and not any("lock" in name or "preempt" in name for name in called)
    # Only one thread, and what becomes of its children.
    tracing.check("> set_ftrace_notrace; echo $$ > set_ftrace_pid; echo 1 > tracing_on; > trace; sleep 0.01; echo 0 > tracing_on")
    pid = tracing.check("cat set_ftrace_pid").strip()
    assert set(re.findall(r"-(\d+) +\[", tracing.check("cat trace"))) == {pid}
    assert tracing.check("> set_ftrace_pid; cat set_ftrace_pid") == "no pid\n"
    # Stop, or start, when a function is called.
    tracing.check("echo nop > current_tracer; echo 1 > tracing_on; echo 'vfs_rmdir:traceoff:5' >> set_ftrace_filter")
    assert tracing.check("cat set_ftrace_filter") == "#### all functions enabled ####\nvfs_rmdir:traceoff:count=5\n"
    assert tracing.check("mkdir /tmp/t; rmdir /tmp/t; cat tracing_on") == "0\n"
    assert "vfs_rmdir:traceoff:count=4\n" in tracing.check("cat set_ftrace_filter")
    tracing.check("echo '!vfs_rmdir:traceoff:0' >> set_ftrace_filter; echo 1 > tracing_on")
    # Calls within a function, and those that are not to be shown.
    tracing.check("echo vfs_mkdir > set_graph_function; echo function_graph > current_tracer; mkdir /tmp/t; rmdir /tmp/t")
    text = tracing.check("cat trace")
    assert {call for call in re.findall(r"\|  (\w+)\(\)", text)} == {"vfs_mkdir"} and re.search(r"\|    \w+\(\)", text)
    tracing.check("echo 1 > max_graph_depth; > trace; mkdir /tmp/t; rmdir /tmp/t")
    assert re.findall(r"(\w+)\(\)", tracing.check("cat trace")) == ["vfs_mkdir"]
    tracing.check("echo 0 > max_graph_depth; > set_graph_function; echo nop > current_tracer")
    # Its callers; without a filter they would be too many.
    tracing.check(
        "echo vfs_mkdir > set_ftrace_filter; echo function > current_tracer; echo 1 > options/func_stack_trace; "
        "mkdir /tmp/t; rmdir /tmp/t; echo 0 > options/func_stack_trace"
    )
    assert "<stack trace>\n => vfs_mkdir\n" in tracing.check("cat trace")


def test_what_trace_cmd_does(tracing):
    """The files that `trace-cmd record -p function_graph` reads and writes, in its order."""
    for command in (
        "echo 0 > tracing_on",
        "echo nop > current_tracer",
        "echo 0 > tracing_max_latency",
        "> set_ftrace_pid",
        "> set_ftrace_filter",
        "> set_ftrace_notrace",
        "> set_graph_function",
        "> set_graph_notrace",
        "> trace",
        "cat tracing_cpumask buffer_total_size_kb > /dev/null",
        "echo 2000 > buffer_size_kb",
        "echo function_graph > current_tracer",
        "echo 1 > tracing_on",
    ):
        tracing.check(command)
    # Calls of functions reach every CPU: a pipe whose CPU has had no event waits for one, also when tracing is off.
    tracing.check(
        "cat per_cpu/cpu0/trace_pipe_raw > /tmp/t.0 & cat per_cpu/cpu1/trace_pipe_raw > /tmp/t.1 & "
        "hackbench 1 2 > /dev/null; stress ipi -n 5 > /dev/null; echo 0 > tracing_on; wait"
    )
    sizes = [int(n) for n in tracing.check("for c in 0 1; do wc -c < /tmp/t.$c; done; rm /tmp/t.0 /tmp/t.1").split()]
    assert sum(sizes) > 4096 and all(size % 4096 == 0 for size in sizes)
    assert tracing.check("cat saved_cmdlines | grep -c sh") != "0\n"
    assert re.search(r"^now ts: +\d+\.\d{6}$", tracing.check("cat per_cpu/cpu0/stats"), re.M)
    tracing.check("echo nop > current_tracer; echo 1 > tracing_on; echo 1408 > buffer_size_kb; cat trace | tail -n 1 > /dev/null")


def test_the_kernel_documentation(tracing):
    """ftrace.rst: mounting, the switch for all function tracing, one thread and the command that it becomes."""
    assert tracing.check("mount -t tracefs nodev /sys/kernel/tracing; cd /sys/kernel/tracing; mount | grep tracefs") == (
        "tracefs on /sys/kernel/tracing type tracefs (rw,relatime)\ntracefs on /sys/kernel/debug/tracing type tracefs (rw,relatime)\n"
    )
    said = tracing.check("sysctl kernel.ftrace_enabled=0; echo function > current_tracer; sleep 0.01; grep -c ' <-' trace || true")
    assert said == "kernel.ftrace_enabled = 0\n0\n"
    assert tracing.check("sysctl kernel.ftrace_enabled=1; sleep 0.01; grep -q ' <-' trace") == "kernel.ftrace_enabled = 1\n"
    # Single thread tracing: the shell is traced from its second write on, then `ls` under the same pid.
    tracing.check("echo nop > current_tracer; > trace; cd /tmp; echo > seen; cd /sys/kernel/tracing")
    said = tracing.check("sh -c 'echo $$ > set_ftrace_pid; echo function > current_tracer; exec ls /tmp'; echo 0 > tracing_on")
    assert said == "seen\n"
    pid = tracing.check("cat set_ftrace_pid").strip()
    assert set(re.findall(r"^ +(\S+) +\[\d+\] .* <-", tracing.check("cat trace"), re.M)) == {f"ls-{pid}"}
    assert tracing.check("grep -c ' cmd_ls <-' trace") == "1\n"
    assert (
        tracing.check("echo > set_ftrace_pid; cat set_ftrace_pid; rm /tmp/seen; echo nop > current_tracer; echo 1 > tracing_on")
        == "no pid\n"
    )


def test_a_script_that_becomes_its_command(tracing):
    """The wrapper of LWN's "Secrets of the Ftrace function tracer": from a file, with names in full."""
    tracing.check(
        "cd /tmp; echo 'echo $$ > /sys/kernel/debug/tracing/set_ftrace_pid' > /tmp/wrap; "
        "echo 'echo function > /sys/kernel/debug/tracing/current_tracer' >> /tmp/wrap; echo 'exec ls /dev' >> /tmp/wrap"
    )
    assert "null" in tracing.check("sh /tmp/wrap; echo 0 > /sys/kernel/tracing/tracing_on; cd /sys/kernel/tracing")
    pid = tracing.check("cat set_ftrace_pid; rm /tmp/wrap").strip()
    assert set(re.findall(r"-(\d+) +\[", tracing.check("cat trace"))) == {pid}
    assert tracing.check("grep -c ' cmd_ls <-' trace") == "1\n"


def test_how_deep_the_stack_gets(tracing):
    """The second part of LWN's "Debugging the kernel using Ftrace", by sysctl."""
    assert tracing.check("sysctl -w kernel.stack_tracer_enabled=1; ls > /dev/null; sleep 0.01") == "kernel.stack_tracer_enabled = 1\n"
    depth = int(tracing.check("cat stack_max_size"))
    assert re.match(
        r" +Depth +Size +Location +\(\d+ entries\)\n +-----    ----   --------\n" rf"  0\) +{depth} +\d+   \w+\+0x",
        tracing.check("cat stack_trace"),
    )
    assert tracing.check("sysctl -w kernel.stack_tracer_enabled=0; cat /proc/sys/kernel/stack_tracer_enabled") == (
        "kernel.stack_tracer_enabled = 0\n0\n"
    )
    tracing.check("echo 0 > stack_max_size")


def test_as_somebody_who_is_not_root(tracing):
    """Lines of blogs: every command by sudo, every write by tee or in a shell of its own."""
    assert (
        tracing.check(
            "echo vfs_mkdir | sudo tee /sys/kernel/tracing/set_ftrace_filter; "
            "echo vfs_rmdir | sudo tee -a /sys/kernel/tracing/set_ftrace_filter"
        )
        == "vfs_mkdir\nvfs_rmdir\n"
    )
    assert tracing.check("sudo cat /sys/kernel/tracing/set_ftrace_filter | sort") == "vfs_mkdir\nvfs_rmdir\n"
    tracing.check(
        "sudo sh -c 'echo function > /sys/kernel/tracing/current_tracer'; mkdir /tmp/t; rmdir /tmp/t; "
        "echo 0 | sudo tee /sys/kernel/tracing/tracing_on > /dev/null"
    )
    assert re.findall(r": (\w+) <-", tracing.check("sudo cat /sys/kernel/tracing/trace")) == ["vfs_mkdir", "vfs_rmdir"]
    output, status = tracing.run("echo nosuch | sudo tee /sys/kernel/tracing/current_tracer")
    assert "tee: /sys/kernel/tracing/current_tracer: Invalid argument\n" in output and status == 1
    tracing.check(
        "sudo sh -c 'echo > /sys/kernel/tracing/set_ftrace_filter; echo nop > /sys/kernel/tracing/current_tracer; "
        "echo 1 > /sys/kernel/tracing/tracing_on'"
    )
    assert tracing.check("sudo cat /sys/kernel/tracing/current_tracer /sys/kernel/tracing/tracing_on") == "nop\n1\n"
