"""trace-cmd of Debian inside of the guest: each of its commands on the kernel that it runs in. All but those for other machines (listen, agent, setup-guest)."""
import re

import pytest
from debian_root import archive, bash  # noqa: F401
from guest import Guest

TRACING = "/sys/kernel/tracing"


@pytest.fixture(scope="module")
def host(archive):  # noqa: F811
    with Guest("gcc", 2, mem="1G", initrd=archive) as guest:
        guest.check("cd /tmp")
        yield guest


@pytest.fixture(autouse=True)
def clean(host):
    """Each leaves tracing as it has found it, and no file."""
    yield
    host.check("trace-cmd reset; rm -f /tmp/*.dat* ; cat /sys/kernel/tracing/current_tracer", timeout=120)
    assert host.check(f"cat {TRACING}/current_tracer {TRACING}/set_event; ls {TRACING}/instances") == "nop\n"


def trace_cmd(host, words):
    return host.check(f"trace-cmd {words}", timeout=120)


def test_record_and_report(host):
    trace_cmd(host, "record -e sched -e syscalls:sys_enter_openat -f 'flags & 0x80000' -o x.dat ls / > /dev/null")
    report = trace_cmd(host, "report x.dat")
    assert "sched_switch:" in report and re.search(r'ls-\d+ .* sys_enter_openat: .*"/etc/ld\.so\.cache"', report)
    assert "sys_enter_openat" not in trace_cmd(host, "report -F sched_switch -i x.dat")
    trace_cmd(host, "record --nosplice -e sched_switch -o n.dat true")
    assert "sched_switch:" in trace_cmd(host, "report n.dat")


def test_record_of_functions(host):
    trace_cmd(host, "record -p function -l vfs_read -o f.dat cat /proc/version > /dev/null")
    assert re.search(r"cat-\d+ .* function: ", trace_cmd(host, "report f.dat"))
    trace_cmd(host, "record -p function_graph -g vfs_read -O nofuncgraph-irqs -o g.dat cat /proc/version > /dev/null")
    assert re.search(r"cat-\d+ .* funcgraph_entry: ", trace_cmd(host, "report g.dat"))


def test_of_one_program_and_its_children(host):
    """-F takes the events of the program alone, -c those of what it starts, too: by event-fork, without ptrace."""
    command = "record -e sched_process_exec %s -o %s.dat sh -c 'ls / > /dev/null; true'"
    trace_cmd(host, command % ("-F", "f"))
    assert "ls" not in re.findall(r"filename=/usr/bin/(\w+)", trace_cmd(host, "report f.dat"))
    trace_cmd(host, command % ("-c -F", "c"))
    assert "ls" in re.findall(r"filename=/usr/bin/(\w+)", trace_cmd(host, "report c.dat"))


def test_start_stop_show_and_reset(host):
    trace_cmd(host, "start -p function -l 'vfs_*' -e sched_waking")
    assert host.check(f"cat {TRACING}/current_tracer {TRACING}/set_event") == "function\nsched:sched_waking\n"
    assert "vfs_open <-" in trace_cmd(host, "show")
    trace_cmd(host, "stop")
    assert host.check(f"cat {TRACING}/tracing_on") == "0\n"
    trace_cmd(host, "restart")
    assert host.check(f"cat {TRACING}/tracing_on") == "1\n"
    trace_cmd(host, "stop; trace-cmd clear")
    assert "vfs_open" not in trace_cmd(host, "show")
    trace_cmd(host, "reset; trace-cmd start -e sched_switch; trace-cmd set -e sched_waking")


def test_stat(host):
    """Its "Error reading stack tracer status" is of its own making: with a 0 in that file it looks at an errno of an earlier call."""
    trace_cmd(host, "start -p function -l vfs_open -e sched_waking")
    stat = trace_cmd(host, "stat")
    for words in ("Tracer: function", "        sched_waking\n", "Function Filter:\n   vfs_open\n", "Tracing is enabled"):
        assert words in stat, stat


def test_stream(host):
    """It waits until `buffer_percent` of a CPU's buffer has been written, as on Linux: any event with 0."""
    host.check(f"echo 0 > {TRACING}/buffer_percent")
    shown = bash(host, "(while sleep 0.1; do :; done) & timeout -k 5 100 trace-cmd stream -e sched_switch | head -n 20; kill $!")[0]
    host.check(f"echo 50 > {TRACING}/buffer_percent")
    assert shown.count("sched_switch:") > 5, shown


def test_extract(host):
    trace_cmd(host, "start -p function -l 'vfs_*'; cat /proc/version > /dev/null; trace-cmd stop; trace-cmd extract -o e.dat")
    assert "function:" in trace_cmd(host, "report e.dat")


def test_list(host):
    assert trace_cmd(host, "list -e sched_sw") == "sched:sched_switch\n"
    assert "\tfield:pid_t next_pid;\t" in trace_cmd(host, "list -e sched_switch -F")
    assert {"function", "function_graph", "nop"} <= set(trace_cmd(host, "list -t").split())
    assert "vfs_read\n" in trace_cmd(host, "list -f '^vfs_r'") and "nouserstacktrace\n" in trace_cmd(host, "list -o")
    assert "syscalls\n" in trace_cmd(host, "list -s") and trace_cmd(host, "list -C").startswith("[local] global ")
    assert trace_cmd(host, "list -B") == "No buffer instances defined\n" and "zstd" in trace_cmd(host, "list -c")


def test_hist(host):
    trace_cmd(host, "record -e sched -c -F -o h.dat ls / > /dev/null")
    assert re.search(r"%\d+\.\d\d  \(\d+\) ls +sched_\w+ #\d+", trace_cmd(host, "hist -i h.dat"))


def test_restore(host):
    """Of a record that was killed the files of its CPUs are left."""
    bash(host, "trace-cmd record -e sched_switch -e sched_waking -o k.dat sleep 100 & sleep 2; pkill -9 trace-cmd; pkill sleep; wait; ls")
    trace_cmd(host, "restore -c -o head.dat")
    restored = trace_cmd(host, "restore -i head.dat -o r.dat k.dat.cpu0 k.dat.cpu1")
    assert restored.count(" bytes in size") == 2
    assert trace_cmd(host, "report r.dat").startswith("cpus=2\n")


def test_instances(host):
    trace_cmd(host, "start -B apart -e sched_waking")
    assert host.check(f"cat {TRACING}/instances/apart/set_event") == "sched:sched_waking\n"
    assert "sched_waking: " in trace_cmd(host, "show -B apart")
    trace_cmd(host, "reset -B apart -d")


def test_files(host):
    """Commands for files that are already there: dump, split, convert, options, check-events."""
    trace_cmd(host, "record -e sched -o d.dat sleep 0.3")
    assert " 2 cpus, " in trace_cmd(host, "dump --summary d.dat")
    trace_cmd(host, "convert --file-version 6 -i d.dat -o d6.dat")
    assert trace_cmd(host, "report d6.dat") == trace_cmd(host, "report d.dat")
    trace_cmd(host, "split -i d.dat -o s.dat -e 5")
    assert len(trace_cmd(host, "report s.dat.1").splitlines()) <= 5 * 2 + 1
    assert "fgraph" in trace_cmd(host, "options")
    trace_cmd(host, "check-events")


def test_snapshot_stack_and_profile(host):
    trace_cmd(host, "start -e sched_switch; sleep 0.1; trace-cmd snapshot -s")
    assert "sched_switch: " in trace_cmd(host, "snapshot")
    trace_cmd(host, "snapshot -f; trace-cmd stack --start; sleep 0.1")
    assert re.search(r"Depth +Size +Location +\(\d+ entries\)", trace_cmd(host, "stack"))
    trace_cmd(host, "stack --stop")
    # It prints what it has read while the program ran: with a `buffer_percent` of 50, nothing.
    host.check(f"echo 0 > {TRACING}/buffer_percent")
    shown = trace_cmd(host, "profile -S -e sched_switch sleep 0.1")
    host.check(f"echo 50 > {TRACING}/buffer_percent")
    assert "Event: sched_switch:" in shown
