"""Tracepoints: the example in docs/tracepoints.md compiles and does what the page says; those of the kernel cost a NOP."""
import re
import struct
import subprocess

import pytest

from tablekit import ROOT, must
from test_kernel import BUILDS, Kernel

HEAD = """
#include <stdio.h>
#include <trace/platform.h>
#include <trace/tracepoint.h>
void shelf_put(int shelf, int nr);
int counting_begins(int *counter);
void counting_ends(int *counter);
"""
MAIN = """
int main(void)
{
	int counter = 0, err;

	shelf_put(1, 100);
	err = counting_begins(&counter);
	shelf_put(1, 99);
	shelf_put(1, 100);
	shelf_put(2, 100);
	counting_ends(&counter);
	shelf_put(1, 100);
	printf("%d %d\\n", err, counter);
}
"""
FLAGS = [
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-mcx16",
    "-D_GNU_SOURCE",
    "-Itrace/include",
    "-iquote",
    "trace",
    "-Itests/unit/fake",
    "-Itests/unit/fake/plat",
]


def test_example_of_the_page(tmp_path):
    page = (ROOT / "docs/tracepoints.md").read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", page, re.M | re.S)
    assert len(blocks) == 3
    source = tmp_path / "example.c"
    source.write_text(HEAD + "\n".join(blocks) + MAIN)
    fakes = sorted((ROOT / "tests/unit/fake").glob("*.c"))
    subprocess.run(
        ["gcc", *FLAGS, str(source), "trace/ops/tracepoint.c", *map(str, fakes), "-lpthread", "-o", str(tmp_path / "example")],
        cwd=ROOT,
        check=True,
    )
    run = subprocess.run([tmp_path / "example"], check=True, capture_output=True, text=True)
    assert run.stdout == "0 2\n"


NAMES = [
    "cpu_idle",
    "irq_disable",
    "irq_enable",
    "preempt_disable",
    "preempt_enable",
    "sched_migrate_task",
    "sched_process_exit",
    "sched_process_fork",
    "sched_process_free",
    "sched_process_wait",
    "sched_stat_blocked",
    "sched_stat_runtime",
    "sched_stat_sleep",
    "sched_stat_wait",
    "sched_switch",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_waking",
]
NOP5 = bytes.fromhex("0f1f440000")


def mentions(path):
    """Addresses of data that code mentions, as pairs of a function and an address."""
    function = None
    for line in must("objdump", "-d", "--no-show-raw-insn", "-M", "intel", path).stdout.splitlines():
        if line.endswith(">:"):
            function = line[18:-2]
        for words in re.findall(r"0x(f{8}[0-9a-f]{8})\b|# ([0-9a-f]{16})\b", line):
            yield function, int(words[0] or words[1], 16)


@pytest.mark.parametrize("compiler", BUILDS)
def test_disabled_ones_of_the_kernel(tools, compiler):
    """A NOP each; around those of <trace/host_tracepoints.h> no code loads or tests anything of the tracepoint. Others are
    of trace events, which call their probes where they stand."""
    kernel = Kernel(tools, BUILDS[compiler], compiler)
    value, size = kernel.value, {name: size for name, _, size, _ in kernel.symbols}
    start, end = value["static_branches_start"], value["static_branches_end"]
    branches = list(struct.iter_unpack("<3Q", kernel.bytes_at(start, end - start)))
    functions = [(begin, begin + length, name) for name, begin, length, kind in kernel.symbols if kind == "STT_FUNC"]
    used = list(mentions(kernel.path))
    known = [name[6:-11] for name in value if name.startswith("trace_") and name.endswith("_tracepoint")]
    assert set(NAMES) < set(known)
    keys = {value[f"trace_{name}_tracepoint"]: name for name in known}
    assert {key for _, _, key in branches} == set(keys)
    assert len(known) * 8 == value["__stop_trace_tracepoints"] - value["__start_trace_tracepoints"]
    for key, name in keys.items():
        sites = [site for site, _, of in branches if of == key]
        assert all(kernel.bytes_at(site, 5) == NOP5 for site in sites), name
        if name not in NAMES:
            continue
        told_by = {function for site in sites for begin, end, function in functions if begin <= site < end}
        users = {function for function, at in used if key <= at < key + size[f"trace_{name}_tracepoint"]}
        assert told_by and f"trace_{name}_call" in users, name
        assert not told_by & users, name
