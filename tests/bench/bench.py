#!/usr/bin/python3
"""bench.py [--build DIR] [--quick]: measure Fathom as Linux was measured, print the tables.

Instructions are counted by QEMU: -accel tcg -icount shift=0,sleep=off -smp 1 -cpu max, where the time
stamp counter advances by one per instruction. The `bench` command of the kernel runs the loops
(tests/kernel/load/bench_measure.c states what is subtracted). The kernels for patching have generated functions
(make SITES=n). Writes bench.json into the build directory:
    name -> {"value": number, "unit": text, "linux": number or null, "target": number}
"""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "qemu"))

from guest import Guest  # noqa: E402

# name: what, unit, Linux 6.1 (same emulator, same loop), target
ROWS = {
    "site_off": ("site off (NOP)", "instructions", 1, 1),
    "op_empty": ("one op, empty callback, own trampoline", "instructions", 35, 30),
    "ops_two": ("two ops on one site", "instructions", 217, 45),
    "op_regs": ("one op with full registers, empty callback", "instructions", 61, 50),
    "direct": ("direct call", "instructions", 2, 2),
    "func_event": ("function tracer, one event recorded", "instructions", 543, 95),
    "func_off": ("function tracer, `tracing_on` 0", "instructions", 184, 40),
    "func_full": ("function tracer, `overwrite` 0, the buffer is full", "instructions", 430, 60),
    "func_clock": ("function tracer, the dearest clock", "instructions", 587, 150),
    "func_stack": ("function tracer with func_stack_trace, per event", "instructions", 7080, 1200),
    "func_args3": ("function tracer with func-args, three arguments by name", "instructions", None, 160),
    "func_profile": ("function tracer and profiler on one site", "instructions", None, 200),
    "func_inst1": ("function tracer in the root and an instance", "instructions", None, 180),
    "func_inst8": ("function tracer in the root and 8 instances", "instructions", None, 700),
    "graph_pair": ("function_graph, entry and exit recorded", "instructions", 1325, 210),
    "graph_off": ("function_graph, `tracing_on` 0", "instructions", 369, 90),
    "graph_options": ("function_graph, the dearest option", "instructions", None, 320),
    "graph_global": ("function_graph, global clock", "instructions", 1414, 420),
    "graph_inst1": ("function_graph in the root and an instance", "instructions", None, 450),
    "graph_inst4": ("function_graph in the root and 4 instances", "instructions", None, 1100),
    "profile": ("function profiler, one call counted and timed", "instructions", None, 120),
    "graph_bytes": ("bytes per graph call (entry and exit)", "bytes", 68, 48),
    "func_pid_miss": ("function tracer, other pid filtered out", "instructions", 42, 30),
    "trace_printk": ("trace_printk, one integer", "instructions", 791, 160),
    "tp_off": ("tracepoint, nobody listens", "instructions", 1, 1),
    "tp_probe": ("tracepoint, one empty probe", "instructions", 15, 8),
    "event_int": ("event with one int", "instructions", 587, 105),
    "event_three": ("event with two ints and 16 bytes", "instructions", 603, 120),
    "event_dynstr": ("event with a text of 25 characters", "instructions", 824, 190),
    "event_off": ("event with one int, `tracing_on` 0", "instructions", 185, 25),
    "event_pid_miss": ("event of a thread that `set_event_pid` does not name", "instructions", 76, 20),
    "event_soft_off": ("event that is off, and that a trigger may switch on", "instructions", 62, 15),
    "monitor_off": ("event with one int that is off, a step of a monitor", "instructions", None, 280),
    "monitor_on": ("the same, recorded, too", "instructions", None, 390),
    "event_inst2": ("event with one int in the root and an instance", "instructions", 1192, 200),
    "event_inst3": ("event with one int in the root and 2 instances", "instructions", 1776, 290),
    "event_stack": ("event with one int and its stack", "instructions", 6850, 800),
    "filter_match": ("event with one int, which passes a filter", "instructions", 687, 125),
    "filter_discard": ("one that does not pass", "instructions", 297, 30),
    "filter_3and": ("three conditions, all hold", "instructions", 779, 150),
    "filter_str_match": ("a text of 16 bytes compared, equal", "instructions", 808, 165),
    "filter_str_discard": ("not equal", "instructions", 335, 60),
    "hist_pid": ("event counted by thread, not recorded", "instructions", 794, 110),
    "hist_2keys": ("counted by two ints", "instructions", 953, 140),
    "hist_3keys": ("counted by thread and two ints", "instructions", 1082, 170),
    "hist_sum": ("counted by an int, another one added up", "instructions", 870, 125),
    "hist_str": ("counted by a text of 16 bytes", "instructions", 968, 160),
    "hist_stack": ("counted by its stack", "instructions", 7261, 850),
    "hist_full": ("counted as dropped: the table is full", "instructions", 680, 100),
    "hist_entry_bytes": ("an entry with one int as key", "bytes", 174, 64),
    "synth_latency": ("two events to one synthetic event, which is recorded", "instructions", 4152, 550),
    "synth_off": ("the same while the synthetic event is off", "instructions", 3436, 450),
    "event_bytes": ("event of a switch of threads in the buffer, header included", "bytes", 68, 64),
    "trace_line_event": ("reading an event with three fields as a line of text", "instructions", 6906, 1800),
    "events_all_on": ("enable all of 1,400 events (`EVENTS=1400`), per event", "instructions", 11600, 400),
    "events_all_syncs": ("core syncs for that", "syncs", 7005, 3),
    "instance_make": ("make an instance, with 1,400 events", "instructions", 41600000, 500000),
    "instance_bytes": ("memory of an instance beside its buffer, with 1,400 events", "bytes", 8800000, 40000),
    "ring_16": ("ring buffer, reserve and commit 16 bytes", "instructions", 353, 60),
    "func_event_bytes": ("function event in the buffer, header included", "bytes", 28, 20),
    "func_args3_bytes": ("the same in the buffer, header included", "bytes", None, 52),
    "site_bytes": ("record of a site", "bytes", 16, 8),
    "patch_all_insn": ("enable all of about 35,000 sites, per site", "instructions", 4160, 200),
    "patch_all_syncs": ("core syncs for that", "syncs", 420, 3),
    "boot_nop_insn": ("boot: sort, record and NOP all sites, per site", "instructions", 257, 60),
    "glob_insn": ("glob *sched* over about 36,000 records, per record", "instructions", 2330, 150),
}
# The same for probes, in a table of their own.
PROBES = {
    "kprobe_site": ("kprobe at a call site, an empty handler of arguments", "instructions", 156, 45),
    "kprobe_site_second": ("the same at a site a multiple of 8 KiB from that of another one", "instructions", None, 70),
    "kprobe_int3": ("kprobe by a breakpoint, an empty handler", "instructions", 530, 260),
    "kprobe_jump": ("kprobe by a jump, an empty handler of arguments", "instructions", 101, 55),
    "kprobe_jump_regs": ("kprobe by a jump, an empty handler of all registers", "instructions", 101, 80),
    "kprobe_arm1000": ("1,000 kprobes at call sites switched on", "instructions", 5940000000, 1000000),
    "kprobe_arm1000_int3": ("1,000 kprobes by breakpoints switched on", "instructions", 3890000, 1000000),
    "kprobe_arm1000_mixed": ("1,000 kprobes at both switched on, a third of them with all registers", "instructions", None, 1000000),
    "kprobe_arm1000_syncs": ("core syncs of any of these", "syncs", 1000, 3),
    "kprobe_define": ("a kprobe event defined", "instructions", 2100000, 60000),
    "kprobe_define1000": ("1,000 kprobe events defined (`SITES=35000`)", "instructions", 1870000000, 60000000),
    "kprobe_bytes": ("memory of a kprobe event, defined", "bytes", 7000, 800),
    "fprobe_entry": ("fprobe, an empty handler at the entry", "instructions", 125, 45),
    "fprobe_both": ("fprobe, empty handlers at entry and return", "instructions", 341, 150),
    "kretprobe": ("kretprobe, an empty handler at the return", "instructions", 390, 130),
    "kprobe_event0": ("kprobe event at a call site, no argument", "instructions", 807, 140),
    "kprobe_event1": ("with one register", "instructions", 919, 150),
    "kprobe_event3": ("with three registers", "instructions", 1130, 175),
    "kprobe_event_mem": ("with 8 bytes of memory", "instructions", 984, 180),
    "kprobe_event_str": ("with a text of 15 characters", "instructions", 1737, 330),
    "kprobe_event_bytes0": ("event with no argument in the buffer, header included", "bytes", 20, 16),
    "kprobe_event_bytes1": ("with one", "bytes", 24, 24),
    "kprobe_event_bytes3": ("with three", "bytes", 40, 40),
    "kprobe_filter_discard": ("one that does not pass its filter", "instructions", 628, 70),
    "kprobe_hist": ("one that is counted in a histogram", "instructions", 1125, 160),
    "kprobe_event_jump": ("kprobe event inside a function by a jump, no argument", "instructions", 752, 150),
    "kprobe_event_int3": ("the same by a breakpoint", "instructions", 1181, 380),
    "kretprobe_event": ("kretprobe event with the returned value", "instructions", 1161, 230),
    "eprobe_int": ("event probe of an event with one int", "instructions", 1071, 180),
}
# Measured in a kernel in which no other probe has been: a breakpoint or a jump leaves something behind.
PROBE_EVENTS = [
    name for name in PROBES if "_event" in name and "_bytes" not in name or name in ("kprobe_filter_discard", "kprobe_hist", "eprobe_int")
]
MANY_SITES = 35000
MANY_EVENTS = 1400


def make(build, *variables):
    subprocess.run(["make", "-s", "-C", ROOT, "-j2", f"BUILD={build}", *variables, "all", "test-kernel"], check=True)


def values(text):
    return {name: float(value) for name, value in re.findall(r"^bench (\S+) (\S+) \S+$", text, re.M)}


def measure(build, cpus=1, icount=True, names="", timeout=600):
    with Guest(build, cpus=cpus, mem="1G", tests=True, icount=icount, limit=timeout, timeout=timeout) as guest:
        return values(guest.check("bench " + names))


def image_bytes(kernel):
    """Loaded bytes of the kernel without its tables for who asks (.ksyms, .whynot, .btf, .lines)."""
    total = 0
    sections = subprocess.run(["readelf", "-SW", kernel], check=True, capture_output=True, text=True).stdout
    for name, kind, size, flags in re.findall(r"\] (\.\S+) +(\S+) +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Z]*)", sections):
        if "A" in flags and kind != "NOBITS" and name not in (".ksyms", ".whynot", ".btf", ".lines"):
            total += int(size, 16)
    return total


def patch_scaling(build, quick):
    """Time to enable every site against the number of sites and CPUs (thread=multi: wall time)."""
    rows = []
    for sites in (1000, 10000, MANY_SITES):
        directory = build / f"sites-{sites}"
        make(directory, f"SITES={sites}")
        counted = measure(directory, names="site_bytes patch_all_insn")
        row = {
            "generated": sites,
            "sites": int(counted["sites"]),
            "insn_per_site": counted["patch_all_insn"],
            "syncs": int(counted["patch_all_syncs"]),
        }
        for cpus in (1, 2, 4, 8):
            if quick and cpus > 2:
                continue
            runs = [measure(directory, cpus, False, "patch_all_insn")["patch_all_us"] for _ in range(1 if quick else 3)]
            row[f"ms_{cpus}cpu"] = round(sorted(runs)[len(runs) // 2] / 1000, 1)
        rows.append(row)
    return rows


# hackbench with every function traced: how much longer it takes than without, and instructions per event.
# Linux's figures are of pairs of processes that pass a byte to and fro; the targets are of 1 1000.
SYSTEM = {"nop": (1, None, 1), "function": (13.6, 532, 4), "function_graph": (32.8, 649, 8)}
HACKBENCH = ((1, 300), (1, 1000), (4, 300))
PAIRS_IN_GROUP = 8 * 8


def hackbench(guest, groups, messages):
    """Instructions (a nanosecond each, by the guest's clock) and events of one run."""
    text = guest.check(f"> trace; echo 1 > tracing_on; hackbench {groups} {messages}; echo 0 > tracing_on; cat per_cpu/cpu0/stats")
    instructions = float(re.search(r"^Time: ([\d.]+)", text, re.M)[1]) * 1e9
    return instructions, sum(int(n) for n in re.findall(r"^(?:entries|overrun): (\d+)", text, re.M))


def system_level(build):
    rows = []
    with Guest(build, cpus=1, mem="1G", icount=True, limit=600, timeout=600) as guest:
        for groups, messages in HACKBENCH:
            for tracer in SYSTEM:
                guest.check(f"echo {tracer} > current_tracer; hackbench {groups} 10")
                instructions, events = hackbench(guest, groups, messages)
                if tracer == "nop":
                    base = instructions
                rows.append(
                    {
                        "run": f"{groups} {messages}",
                        "tracer": tracer,
                        "instructions": instructions,
                        "events": events,
                        "events_per_message": round(events / (groups * messages * PAIRS_IN_GROUP), 1),
                        "instructions_per_event": round((instructions - base) / events, 1) if events else None,
                        "slow_down": round(instructions / base, 1),
                    }
                )
    return rows


def print_system_level(rows):
    print()
    print(
        "| hackbench, every function traced | tracer | million instructions | events | events per message | slow-down | instructions per event |"
    )
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        per_event = row["instructions_per_event"]
        print(
            f"| {row['run']} | `{row['tracer']}` | {row['instructions'] / 1e6:g} | {row['events']:,} | {row['events_per_message']:g} | "
            f"{row['slow_down']:g} | {'-' if per_event is None else f'{per_event:g}'} |"
        )
    for tracer, (slow_down, per_event, _) in SYSTEM.items():
        if per_event is not None:
            print(f"| Linux 6.1, pairs of processes | `{tracer}` | - | - | - | {slow_down:g} | {per_event} |")
    for tracer, (_, per_event, target) in SYSTEM.items():
        if per_event is not None:
            print(f"| target, 1 1000 | `{tracer}` | - | - | - | {target} | - |")


def print_rows(rows, result):
    print("| name | what | unit | Linux 6.1 | target | Fathom |")
    print("|---|---|---|---|---|---|")
    for name, (what, unit, linux, target) in rows.items():
        peer = "-" if linux is None else f"{linux:,}"
        value = result[name]["value"]
        print(f"| `{name}` | {what} | {unit} | {peer} | {target} | {f'{value:g}' if value < 1e6 else f'{value:.0f}'} |")
    print()


def print_table(result, scaling, extra):
    print_rows(ROWS, result)
    print_rows(PROBES, result)
    print("| what | target | Fathom |")
    print("|---|---|---|")
    for what, target, value in extra:
        print(f"| {what} | {target} | {value} |")
    print()
    cpus = [key for key in scaling[0] if key.startswith("ms_")]
    print(
        "| sites | instructions per site | syncs | " + " | ".join(f"ms, {k[3:-3]} CPU{'s' if k != 'ms_1cpu' else ''}" for k in cpus) + " |"
    )
    print("|" + "---|" * (3 + len(cpus)))
    for row in scaling:
        print(f"| {row['sites']:,} | {row['insn_per_site']:g} | {row['syncs']} | " + " | ".join(f"{row[k]:g}" for k in cpus) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--quick", action="store_true", help="fewer boots for the patch times")
    options = parser.parse_args()
    build = Path(options.build).resolve()

    make(build)
    found = measure(build)
    if abs(found["calibrate"] - 12) > 0.1:
        sys.exit(f"bench: a round of 12 instructions reads {found['calibrate']}: the counter is off")
    found.update(measure(build, names=" ".join(PROBE_EVENTS)))
    system = system_level(build)
    scaling = patch_scaling(build, options.quick)
    events = build / f"events-{MANY_EVENTS}"
    make(events, f"EVENTS={MANY_EVENTS}")
    found.update(measure(events, names="events_all_on instance_make instance_bytes"))
    many = measure(build / f"sites-{MANY_SITES}", names="site_bytes patch_all_insn glob_insn boot_to_prompt kprobe_define1000")
    with Guest(build, cpus=4, tests=True, icount=True, timeout=300) as guest:
        boot = values(guest.check("bench boot_to_prompt"))["boot_to_prompt"]
    found.update(
        {
            name: many[name]
            for name in ("site_bytes", "patch_all_insn", "patch_all_syncs", "boot_nop_insn", "glob_insn", "kprobe_define1000")
        }
    )
    result = {
        name: {"value": found[name], "unit": unit, "linux": linux, "target": target}
        for name, (_, unit, linux, target) in (ROWS | PROBES).items()
    }
    image = image_bytes(build / "fathom.elf")
    extra = [
        ("boot to prompt, 4 CPUs, instructions", "150,000,000", f"{boot:,.0f}"),
        ("kernel image without symbols, bytes", "1,048,576", f"{image:,}"),
    ]
    (build / "bench.json").write_text(json.dumps(result, indent=2) + "\n")
    (build / "bench-more.json").write_text(
        json.dumps({"boot_to_prompt": boot, "image_bytes": image, "patch_scaling": scaling, "slow_down": system}, indent=2) + "\n"
    )
    print_table(result, scaling, extra)
    print_system_level(system)
    above = [f"{name} {value['value']:g}, target {value['target']}" for name, value in result.items() if value["value"] > value["target"]]
    if above:
        sys.exit(f"bench: above their targets: {'; '.join(above)}")


if __name__ == "__main__":
    main()
