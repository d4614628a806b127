"""perf-tools of Debian inside of the guest, by bash: each tool is run there, or ends with what the kernel does not have."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "qemu"))
from guest import BUILDS, ROOT, Guest  # noqa: E402

PACKAGES = "dash bash coreutils grep sed gawk mawk procps".split()
TOOLS = sorted(Path("/usr/sbin").glob("*-perf"))
# How each ends that cannot do its work, and the words in which docs/processes.md says why.
OTHERS = {
    "bitesize": ("perf: command not found", "block devices"),
    "iosnoop": ("events/block/block_rq_issue/enable: No such file", "block devices"),
    "iolatency": ("events/block/block_rq_issue/enable: No such file", "block devices"),
    "tcpretrans": ("creating kprobe for tcp_retransmit_skb", "sockets"),
    "cachestat": ("tracing these four kernel functions: mark_page_accessed", "page cache with dirty pages"),
    "opensnoop": ("adding a kprobe for getname()", "the function `getname`"),
    "syscount": ("perf: command not found", "`perf`"),
    "perf-stat-hist": ("perf: command not found", "`perf`"),
}
RUN = "funccount functrace funcgraph funcslower kprobe tpoint killsnoop execsnoop reset-ftrace".split()
STARTED = ["uprobe"]  # by the tests of uprobes


@pytest.fixture(scope="module")
def host():
    build = BUILDS["gcc"]
    made = subprocess.run(
        [ROOT / "tools/rootfs", "-o", build / "perf-tools.cpio", "-c", build / "rootfs", *PACKAGES], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    files = [f"usr/sbin/{tool.name}={tool}" for tool in TOOLS]
    subprocess.run([ROOT / "tools/initramfs", build / "perf-tools.cpio", build / "rootfs/tree", *files], check=True)
    with Guest("gcc", 2, mem="1G", initrd=build / "perf-tools.cpio") as guest:
        yield guest


@pytest.fixture(autouse=True)
def clean(host):
    """Each leaves the kernel as it has found it."""
    state = "cd /sys/kernel/tracing; cat current_tracer set_ftrace_filter set_graph_function kprobe_events set_event tracing_thresh"
    before = host.check(state)
    yield
    assert host.check(state) == before


def bash(host, text):
    """The output of a line of bash, whatever its status."""
    return host.run("bash -c '" + text.replace("'", "'\\''") + "'", timeout=120)[0]


def beside(work, tool):
    """A line that runs the tool while the work is done again and again."""
    return f"(while sleep 0.05; do {work}; done) > /dev/null 2>&1 & {tool}; kill $!"


def until(seconds, tool):
    """The tool, with Ctrl-C after some seconds: the second one comes to the program that the script waits for."""
    return f"timeout -s INT -k 5 {seconds} {tool}"


def test_all_tools_are_known():
    assert sorted(tool.name.removesuffix("-perf") for tool in TOOLS) == sorted([*RUN, *STARTED, *OTHERS])


def test_functions(host):
    counts = dict(re.findall(r"^(vfs_\w+) +(\d+)$", bash(host, "funccount-perf -d 1 vfs_*"), re.M))
    assert int(counts["vfs_read"]) > 0
    assert re.search(r"cat-\d+ .* vfs_read <-", bash(host, beside("cat /proc/version", "functrace-perf -d 1 vfs_read")))
    assert re.search(r"\d\) .*\|  vfs_read\(\) \{\n", bash(host, beside("cat /proc/version", "funcgraph-perf -d 1 vfs_read")))
    assert "/* vfs_read */" in bash(host, beside("cat /proc/version", until(2, "funcslower-perf vfs_read 1")))


def test_events(host):
    assert re.search(r"cat-\d+ .* nr1: \(vfs_read\+0x0", bash(host, beside("cat /proc/version", until(2, 'kprobe-perf "p:nr1 vfs_read"'))))
    assert "sched_switch: prev_comm=" in bash(host, until(2, "tpoint-perf sched:sched_switch"))
    opened = bash(host, beside("cat /proc/version", until(2, "tpoint-perf syscalls:sys_enter_openat")))
    assert re.search(r'cat-\d+ .* sys_openat\(dfd: .*"/proc/version"', opened)


def test_killsnoop(host):
    shown = bash(host, beside("kill -0 $$", until(4, "killsnoop-perf")))
    assert re.search(r"^bash +\d+ +\d+ +\d+ +0 *$", shown, re.M), shown  # pid and signal are 0 with Debian's awks, on Linux, too


def test_execsnoop(host):
    shown = bash(host, "(sleep 1; ls -d /proc/self) & execsnoop-perf -d 2")
    assert re.search(r"^ +\d+ +\d+ ls -d /proc/self$", shown, re.M), shown


def test_reset_ftrace(host):
    host.check("cd /sys/kernel/tracing; echo function > current_tracer; echo vfs_open > set_ftrace_filter; echo p vfs_stat > kprobe_events")
    assert "current_tracer, after:" in bash(host, "reset-ftrace-perf")


@pytest.mark.parametrize("name", OTHERS)
def test_others_say_what_they_need(host, name):
    words = {"perf-stat-hist": "syscalls:sys_exit_read ret 1", "tcpretrans": ""}.get(name, "1 1" if name != "opensnoop" else "-d 1")
    said, why = OTHERS[name]
    assert said in bash(host, f"{name}-perf {words}")
    assert re.search(rf"^\|.*`{name}`.*\|.*{re.escape(why)}", (ROOT / "docs/processes.md").read_text(), re.M)
