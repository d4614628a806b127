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
from rows import PROBE_EVENTS, PROBES, ROWS, SYSTEM  # noqa: E402

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
