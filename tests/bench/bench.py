#!/usr/bin/python3
"""bench.py [--build DIR] [--quick] [--check] [--given]: measure Fathom as Linux was measured, write the documents' figures.

Instructions are counted by QEMU: -accel tcg -icount shift=0,sleep=off -smp 1 -cpu max, where the time
stamp counter advances by one per instruction. The `bench` command of the kernel runs the loops
(tests/kernel/load/bench_measure.c states what is subtracted). The kernels for patching have generated functions
(make SITES=n). Writes bench.json into the build directory:
    name -> {"value": number, "unit": text, "linux": number or null, "target": number}
and what tables.py makes of it into docs/benchmarks.md, docs/bench.svg and README.md. Says which rows changed there, and fails
when a figure is above its target.
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
from programs import BUSYBOX, FIXED, archive, built  # noqa: E402
import tables  # noqa: E402
from rows import PROBE_EVENTS, PROBES, PROCESSES, ROWS, SAMPLES, SYSTEM  # noqa: E402

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


# hackbench without a tracer, with every function traced, with every function's entry and exit.
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
            for tracer in ("nop", "function", "function_graph"):
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


# Rows of events of system calls: the round of tests/user/bench.c, and a file of events/ that is written first.
CALL_EVENTS = {
    "sys_enter": ("call_null", "syscalls/sys_enter_getppid/enable", "1"),
    "sys_exit": ("call_null", "syscalls/sys_exit_getppid/enable", "1"),
    "sys_both": ("call_null", "syscalls/sys_e*_getppid/enable", "1"),
    "sys_other": ("call_null", "syscalls/sys_e*_read/enable", "1"),
    "sys_enter_path": ("open_close", "syscalls/sys_enter_open/enable", "1"),
    "raw_enter": ("call_null", "raw_syscalls/sys_enter/enable", "1"),
    "raw_hist": ("call_null", "raw_syscalls/sys_enter/trigger", "hist:keys=id"),
}


def with_script(guest, row, program):
    """The row of tests/user/bench.c while a script runs, which has to have counted the rounds."""
    guest.check(f"mkdir scripts/bench; echo '{program}' > scripts/bench/program; echo 1 > scripts/bench/enable")
    value = values(guest.check(f"rounds {row}"))[row]
    counted = guest.check("cat scripts/bench/maps")
    if not re.search(r"@: *[1-9]\d{3}", counted):
        raise ValueError(f"{program}: {counted}")
    guest.check("echo 0 > scripts/bench/enable; rmdir scripts/bench")
    return value


def user_stack(guest):
    """Instructions that a program's stack of eight frames adds to an event."""
    guest.check("echo 1 > events/syscalls/sys_enter_getppid/enable")
    without = values(guest.check("framed call_deep"))["call_deep"]
    guest.check("echo 1 > options/userstacktrace")
    with_stack = values(guest.check("framed call_deep"))["call_deep"]
    guest.check("echo 0 > options/userstacktrace; echo 0 > events/syscalls/sys_enter_getppid/enable")
    return round(with_stack - without, 1)


def user_samples(guest):
    """Instructions of a sample of the profiler and the stack of the program behind it, above the tick: a round takes two."""
    without = values(guest.check("framed spin_deep"))["spin_deep"]
    guest.check("echo 250 > profile/frequency; echo 1 > options/userstacktrace; echo 1 > profile/on")
    sampled = values(guest.check("framed spin_deep"))["spin_deep"]
    guest.check("echo 0 > profile/on; echo 0 > options/userstacktrace; echo 997 > profile/frequency")
    return round((sampled - without) / 2, 1)


def programs(build):
    """Rows of programs, and of events about them above the same rounds without."""
    files = {"bin/busybox": BUSYBOX, "bin/rounds": built("bench", build), "bin/null": built("null", build)}
    files["bin/framed"] = built("bench", build, (*FIXED, "-fno-omit-frame-pointer"))
    initrd = archive(build / "user" / "bench.cpio", files)
    with Guest(build, mem="1G", initrd=initrd, cmdline="norandmaps", icount=True, limit=600, timeout=600) as guest:
        found = values(guest.check("rounds"))
        for name, (row, files, word) in CALL_EVENTS.items():
            guest.check(f"for f in events/{files}; do echo {word} > $f; done")
            found[name] = round(values(guest.check(f"rounds {row}"))[row] - found[row], 1)
            guest.check(f"for f in events/{files}; do echo '{'!' + word if ':' in word else 0}' > $f; done")
        script = "tracepoint:syscalls:sys_enter_getppid { @ = count(); }"
        found["bt_sys_count"] = round(with_script(guest, "call_null", script) - found["call_null"], 1)
        found["user_stack"] = user_stack(guest)
        found["sample_user8"] = user_samples(guest)
    return found


# Rows of events in programs: the line of uprobe_events, behind its name, on one round of tests/user/bench.c.
PROGRAM_EVENTS = {
    "uprobe_event0": "p:one /bin/rounds:probed_nop",
    "uprobe_event1": "p:one /bin/rounds:probed_nop a=%di",
    "uprobe_event3": "p:one /bin/rounds:probed_nop a=%di b=%si c=%dx",
    "uretprobe_event": "r:one /bin/rounds:probed_nop a=$retval",
}
HELD_PAGES, HELD_PROBES, HELD_STEP = 100, 1000, 409


def programs_probed(build):
    """Rows of probes in programs above the same rounds without, by the command `uprobe` and by events."""
    nops = build / "user" / "nops"
    nops.write_bytes(b"\x90" * 4096 * HELD_PAGES)
    files = {"bin/rounds": built("bench", build), "bin/nops": nops}
    initrd = archive(build / "user" / "probed.cpio", files)
    with Guest(build, mem="1G", initrd=initrd, cmdline="norandmaps", icount=True, tests=True, limit=600, timeout=600) as guest:

        def rounds(row):
            return values(guest.check(f"rounds {row}"))[row]

        found = {}
        plain = {kind: rounds(f"probed_{kind}") for kind in ("nop", "nop10", "push", "step")}
        for kind in plain:
            guest.check(f"echo p:one /bin/rounds:probed_{kind} > uprobe_events")
            place = guest.check("cat uprobe_events").split()[1]
            guest.check("> uprobe_events; uprobe " + place.replace(":", " "))
            found[f"uprobe_{kind}"] = round(rounds(f"probed_{kind}") - plain[kind], 1)
            guest.check("uprobe -")
        for name, line in PROGRAM_EVENTS.items():
            guest.check(f"echo '{line}' > uprobe_events; echo 1 > events/uprobes/enable")
            found[name] = round(rounds("probed_nop") - plain["nop"], 1)
            guest.check("echo 0 > events/uprobes/enable; > uprobe_events")
        script = "uprobe:/bin/rounds:probed_nop { @ = count(); }"
        found["bt_uprobe_count"] = round(with_script(guest, "probed_nop", script) - plain["nop"], 1)
        guest.check("rounds hold /bin/nops &")
        guest.check("sleep 0.1")
        armed = guest.check(f"uprobe /bin/nops -s 0 {HELD_STEP} {HELD_PROBES}")
        found["uprobe_arm1000"] = round(int(re.search(r"registered 1000 in (\d+)", armed)[1]) / HELD_PROBES, 1)
    return found


def many_sites_and_events(build):
    """Rows of kernels with generated functions and events: the second is made in a folder beside the first."""
    events = build / f"events-{MANY_EVENTS}"
    make(events, f"EVENTS={MANY_EVENTS}")
    found = measure(events, names="events_all_on instance_make instance_bytes")
    many = measure(build / f"sites-{MANY_SITES}", names="site_bytes patch_all_insn glob_insn boot_to_prompt kprobe_define1000")
    names = ("site_bytes", "patch_all_insn", "patch_all_syncs", "boot_nop_insn", "glob_insn", "kprobe_define1000")
    return found | {name: many[name] for name in names}


BOX = "/sys/kernel/tracing/instances/box/"


def black_box(build):
    """Rows of an instance in memory that survives: by how much its event makes the loop dearer, and the boot that finds it full."""
    cmdline = "reserve_mem=12M:4096:trace trace_instance=box@trace panic=-1"
    extra = ["-action", "reboot=reset"]
    with Guest(build, tests=True, icount=True, cmdline=cmdline, extra=extra, limit=900, timeout=600) as guest:
        before = values(guest.check("bench boot_to_prompt tp_off"))
        guest.check(f"echo 1 > {BOX}events/bench/bench_int/enable")
        with_event = values(guest.check("bench tp_off"))["tp_off"]
        guest.check(f"while grep -q '^overrun: 0$' {BOX}per_cpu/cpu0/stats; do bench tp_off > /dev/null; done")
        guest.send("panic\r")
        guest.expect(rb"Command line: ")
        guest.wait_prompt()
        boot = values(guest.check("bench boot_to_prompt"))["boot_to_prompt"]
    return {"event_persistent": with_event - before["tp_off"], "boot_check": boot - before["boot_to_prompt"]}


def measure_all(build, quick):
    """All rows as bench.json has them, and what the tables of sites and of hackbench are made of."""
    make(build)
    found = measure(build)
    if abs(found["calibrate"] - 12) > 0.1:
        sys.exit(f"bench: a round of 12 instructions reads {found['calibrate']}: the counter is off")
    for names in (PROBE_EVENTS, SAMPLES):
        found.update(measure(build, names=" ".join(names)))
    found.update(black_box(build))
    found.update(programs(build))
    found.update(programs_probed(build))
    work = system_level(build)
    scaling = patch_scaling(build, quick)
    found.update(many_sites_and_events(build))
    with Guest(build, cpus=4, tests=True, icount=True, timeout=300) as guest:
        found["boot_to_prompt"] = values(guest.check("bench boot_to_prompt"))["boot_to_prompt"]
    make(build / "alone", "PROCESSES=0")
    found["image_bytes"] = image_bytes(build / "alone/fathom.elf")
    found["image_bytes_programs"] = image_bytes(build / "fathom.elf")
    slow = {row["tracer"]: row["slow_down"] for row in work if row["run"] == "1 1000"}
    found.update(slow_function=slow["function"], slow_graph=slow["function_graph"])
    rows = {
        name: {"value": found[name], "unit": unit, "linux": linux, "target": target}
        for name, (_, unit, linux, target) in (ROWS | PROBES | PROCESSES | SYSTEM).items()
    }
    return rows, {"patch_scaling": scaling, "hackbench": work}


def main():
    parser = argparse.ArgumentParser(description="measure, and write the figures of the documents")
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--quick", action="store_true", help="fewer boots for the patch times")
    parser.add_argument("--check", action="store_true", help="say which rows of the documents would change, and leave them")
    parser.add_argument("--given", action="store_true", help="measure nothing: take what the build directory has of the last time")
    options = parser.parse_args()
    build = Path(options.build).resolve()
    files = build / "bench.json", build / "bench-more.json"

    if options.given:
        rows, more = (json.loads(path.read_text()) for path in files)
    else:
        rows, more = measure_all(build, options.quick)
        for path, measured in zip(files, (rows, more)):
            path.write_text(json.dumps(measured, indent=2) + "\n")
    old = {path: (ROOT / path).read_text(encoding="utf-8") for path in tables.DOCUMENTS}
    new = tables.written(old, rows, more)
    changed = list(tables.changes(old, new))
    for path, text in {} if options.check else new.items():
        (ROOT / path).write_text(text, encoding="utf-8")
    print("\n".join(changed) or "bench: the documents have these figures")
    above = tables.above(rows)
    if above:
        sys.exit(f"bench: above their targets: {'; '.join(above)}")
    if options.check and changed:
        sys.exit("bench: the documents differ")


if __name__ == "__main__":
    main()
