"""Events at instructions of programs, as a user sees them: places, arguments, text, mistakes, a program's own path."""
import re
import subprocess

import pytest
from guest import Guest
from programs import BUSYBOX, FIXED, archive, built
from test_shell import type_and_expect
from test_uprobes import offsets

LINE = re.compile(r"-(\d+) +\[\d+\] \S+ +[\d.]+: (.*)\n")
STACK = re.compile(r"-\d+ +\[\d+\] \S+ +[\d.]+: (.*)\n.*<user stack trace>\n((?: =>.*\n)+)")
WRITE = "events/syscalls/sys_enter_write/enable"
# As Linux's self-test uprobe_syntax_errors has them; ^ is in front of the mistake.
MISTAKES = {
    "p ^/non_exist_file:100": "Failed to find the given file",
    "p ^/bin:100": "Not a regular file",
    "p /bin/probed:^10a": "Invalid uprobe offset",
    "p /bin/probed:10(^1a)": "Invalid reference counter offset",
    "p /bin/probed:10(10^": "Reference counter brace is not closed",
    "p /bin/probed:10(10)^a": "Reference counter has wrong suffix",
    "p /bin/probed:10 ^@+ab": "Invalid file offset value",
    "p /bin/probed:10 ^@symbol": "Symbol is not available with uprobe",
    "p /bin/probed:^f_none": "The file has no symbol of that name",
    "p /bin/probed:f_lea+^2": "Probe point is not an instruction boundary: its instruction begins at {f_lea:#x}",
    "p /bin/busybox:^main": "The file has no symbols: write an offset",
}


@pytest.fixture(scope="module", params=[("gcc", 1, "qemu64"), ("clang", 4, "max")], ids=lambda p: "-".join(map(str, p)))
def host(request, tmp_path_factory):
    build, cpus, cpu = request.param
    program = built("probed", build)
    programs = {"bin/busybox": BUSYBOX, "bin/probed": program, "bin/frames": built("frames", build, (*FIXED, "-O0"))}
    initrd = archive(tmp_path_factory.mktemp("uprobes") / f"{build}.cpio", programs)
    with Guest(build, cpus, cpu=cpu, initrd=initrd, tests=True) as guest:
        guest.at = offsets(program)
        yield guest


@pytest.fixture
def tracing(host):
    host.check("> trace")
    yield host
    host.check("echo 0 > events/enable; > dynamic_events; > trace")


def lines(guest):
    return [text for _, text in LINE.findall(guest.check("cat trace").replace("\r", ""))]


def test_places_and_arguments(tracing):
    """The first argument, memory by register and by place in the file, a returned value; each call once."""
    at = tracing.at
    tracing.check(
        "echo 'p:one /bin/probed:f_nop value=%di:u64 own=+0(%ip):x8 file=@+0:x32 magic=@+1:u8[3] name=$comm' > uprobe_events; "
        "echo 'r:two /bin/probed:f_nop ret=$retval:u64 file=@+0:x32' >> uprobe_events"
    )
    place = f"/bin/probed:{at['f_nop']:#018x}"
    listed = tracing.check("cat uprobe_events").replace("\r", "").splitlines()
    assert [line.split()[:2] for line in listed] == [["p:uprobes/one", place], ["r:uprobes/two", place]]
    tracing.check("echo 1 > events/uprobes/enable; probed all 2; echo 0 > events/uprobes/enable")
    seen = lines(tracing)
    ones = [re.fullmatch(r'one: \((0x\w+)\) value=(\d+) own=0xcc file=0x464c457f magic=\{69,76,70\} name="probed"', t) for t in seen]
    ones = [m for m in ones if m]
    assert len(ones) == 2 * 4 and {m[2] for m in ones} == {"0", "1"}
    (address,) = {int(m[1], 0) for m in ones}
    assert address % 4096 == at["f_nop"] % 4096
    twos = [re.fullmatch(rf"two: \(0x\w+ <- {address:#x}\) ret=(\d+) file=0x464c457f", t) for t in seen]
    assert sorted(m[1] for m in twos if m) == ["1"] * 4 + ["2"] * 4 and len(seen) == 16
    profile = re.findall(r"^  /bin/probed (\w+) +(\d+)\r?$", tracing.check("cat uprobe_profile"), re.M)
    assert profile == [("one", "8"), ("two", "8")]


def test_relative_paths(tracing):
    """From the directory of the shell, and of a program, that writes the line; another path of the same file is no other place."""
    file, at = "/sys/kernel/tracing/uprobe_events", f"/bin/probed:{tracing.at['f_nop']:#018x}"
    tracing.check(f"cd /bin; echo 'p:one probed:f_nop' > {file}; cd /; echo 'p:two bin/./probed:f_nop' >> {file}; cd /sys/kernel/tracing")
    tracing.check(f"busybox sh -c 'cd /dev/pts/..; echo p:three ../bin/probed:f_nop >> {file}'")
    tracing.check("echo 'p:four ../../../bin/probed:f_nop' >> dynamic_events; busybox ln -s /bin/probed /tmp/linked")
    listed = [line.split() for line in tracing.check("cat uprobe_events").replace("\r", "").splitlines()]
    assert listed == [[f"p:uprobes/{name}", at] for name in ("one", "two", "three", "four")]
    assert tracing.run("echo 'p:one /tmp/linked:f_nop' >> uprobe_events")[1] != 0
    assert "There is already the exact same probe event" in tracing.check("cat error_log")
    assert tracing.run("echo 'p:five probed:f_nop' >> uprobe_events")[1] != 0
    tracing.check("busybox rm /tmp/linked")


def test_filters_histograms_instances(tracing):
    tracing.check("echo 'p:one /bin/probed:f_nop value=%di:u64' > uprobe_events; mkdir instances/i")
    tracing.check("echo 'value == 3' > instances/i/events/uprobes/one/filter; echo 1 > instances/i/events/uprobes/one/enable")
    tracing.check("echo hist:keys=value > events/uprobes/one/trigger; probed all 5")
    assert len(LINE.findall(tracing.check("cat instances/i/trace").replace("\r", ""))) == 4
    assert re.findall(r"value: +(\d) \} hitcount: +4", tracing.check("cat events/uprobes/one/hist")) == list("01234")
    tracing.check("echo '!hist:keys=value' > events/uprobes/one/trigger; rmdir instances/i")


def test_a_page_that_is_not_there_yet(tracing):
    """At the first instruction of a program, a probe reads a page of it that nothing has touched."""
    headers = subprocess.run(["readelf", "-hlW", BUSYBOX], check=True, capture_output=True, text=True).stdout
    entry = int(re.search(r"Entry point address: +(0x\w+)", headers)[1], 0)
    loads = [[int(x, 0) for x in row.split()] for row in re.findall(r"LOAD +(0x\w+ 0x\w+ 0x\w+ 0x\w+)", headers)]
    (start,) = [entry - virt + at for at, virt, _, size in loads if virt <= entry < virt + size]
    far = loads[2][0] + 0x10008  # in the part behind the code
    word = int.from_bytes(BUSYBOX.read_bytes()[far : far + 8], "little")
    tracing.check(f"echo 'p:start /bin/busybox:{start:#x} far=@+{far:#x} name=+0(+8($stack)):string' > uprobe_events")
    tracing.check("echo 1 > events/uprobes/start/enable; busybox true; echo 0 > events/uprobes/start/enable")
    assert lines(tracing) == [f'start: ({entry:#x}) far={word:#x} name="busybox"'] and word


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes(tracing, line):
    at, why = line.index("^"), MISTAKES[line].format_map(tracing.at)
    plain = line.replace("^", "")
    for file in ("uprobe_events", "dynamic_events"):
        tracing.check("> error_log")
        assert tracing.run(f"echo '{plain}' > {file}")[1] != 0
        log = tracing.check("cat error_log").replace("\r", "")
        assert log.endswith(f"trace_uprobe: error: {why}\n  Command: {plain}\n{' ' * (11 + at)}^\n"), log


def test_add_remove(tracing):
    """As Linux's self-test add_remove_uprobe: the place is that of the shell's code, found in its maps."""
    maps = tracing.check("busybox sh -c 'cat /proc/$$/maps'").replace("\r", "")
    offset = next(m[1] for m in re.finditer(r"^\S+ r-xp (\w+) .*/bin/busybox$", maps, re.M))
    tracing.check(f"echo 'p:myevent /bin/busybox:0x{offset}' >> uprobe_events; echo 1 > events/uprobes/myevent/enable")
    tracing.check("echo 'ls' | busybox sh > /dev/null; echo 0 > events/uprobes/myevent/enable")
    assert "myevent: (0x" in tracing.check("cat trace")
    tracing.check("echo '-:myevent' >> uprobe_events")
    assert tracing.check("cat uprobe_events") == ""


def stacks(guest):
    """Addresses of each stack of a program, behind the line of its event."""
    text = guest.check("cat trace").replace("\r", "")
    return [(line, [int(at, 16) for at in re.findall(r"<(\w{16})>", rest)]) for line, rest in STACK.findall(text)]


def test_stacks_of_programs(tracing):
    """They are those of a program without probes: return addresses, breakpoints, and slots are shown as what they stand for."""
    functions = ("put", "inner", "middle", "outer")
    tracing.check(f"echo userstacktrace > trace_options; echo 1 > {WRITE}; frames; echo 0 > {WRITE}")
    ((_, plain),) = stacks(tracing)
    assert len(plain) == 7
    for name in functions:
        tracing.check(f"echo 'r:back_{name} /bin/frames:{name}' >> uprobe_events")
    tracing.check(f"echo 'p:call /bin/frames:inner+1' >> uprobe_events; > trace; echo 1 > {WRITE}; echo 1 > events/uprobes/enable")
    tracing.check("frames; echo 0 > events/enable")
    seen = {line.split(":")[0]: (line, stack) for line, stack in stacks(tracing)}
    assert next(stack for line, stack in seen.values() if line.startswith("sys_write(")) == plain
    assert seen["call"][1][0] == int(re.search(r"\((0x\w+)\)", seen["call"][0])[1], 0)
    for depth, name in enumerate(functions):
        line, stack = seen[f"back_{name}"]
        assert stack[0] == int(re.search(r"\((0x\w+) <-", line)[1], 0) == plain[plain.index(stack[0])]
        assert stack == plain[2 + depth :], name
    tracing.check("> uprobe_events; echo 'p:touch /bin/probed:f_touch' > uprobe_events; echo 1 > events/uprobes/enable; > trace")
    tracing.check("echo 1 > events/exceptions/page_fault_user/enable; probed touch 3; echo 0 > events/enable")
    calls = {stack[0] for line, stack in stacks(tracing) if line.startswith("touch:")}
    faults = [stack[0] for line, stack in stacks(tracing) if line.startswith("page_fault_user:")]
    tracing.check("echo nouserstacktrace > trace_options")
    assert len(calls) == 1 and faults.count(*calls) >= 3


def test_a_file_that_goes(tracing):
    tracing.check("busybox cp /bin/probed /tmp/gone; echo 'p:one /tmp/gone:f_nop' > uprobe_events; rm /tmp/gone")
    assert tracing.check("cat uprobe_events").rstrip().endswith(" # the file is gone")
    tracing.check("busybox cp /bin/probed /tmp/gone")
    assert tracing.check("cat uprobe_events").rstrip().endswith(" # another file has this path now")
    tracing.check("> uprobe_events; rm /tmp/gone")


def test_why(tracing):
    """A place, and an event that stays empty."""
    place = f"/bin/probed:{tracing.at['f_lea']:#018x}"
    assert tracing.check("why /bin/probed:f_lea") == f"/bin/probed:f_lea: {place}, where a probe can be\n"
    inside, status = tracing.run("why /bin/probed:f_lea+2")
    assert status == 1 and inside.endswith(f"not an instruction boundary: its instruction begins at {tracing.at['f_lea']:#x}\n")
    tracing.check("echo 'p:one /bin/probed:f_lea' > uprobe_events; echo 1 > events/uprobes/one/enable")
    said = f"The probe one is not hit: no program has come to {place} so far."
    assert said in tracing.check("why").replace("\n", " ")
    tracing.check("probed all 1")
    assert said not in tracing.check("why").replace("\n", " ")


def test_paths_are_completed(tracing):
    type_and_expect(tracing, b"echo 'p:one /bin/pro\t:f_nop' 'r /bi\tfra\t:0x10'", "p:one /bin/probed:f_nop r /bin/frames:0x10")
    type_and_expect(
        tracing,
        b"echo 'p:one /bin/probed:f_nop a=%di:ustr\t' 'p:x /bin/probed:f_nop a=%di:sym\t'",
        "p:one /bin/probed:f_nop a=%di:ustring  p:x /bin/probed:f_nop a=%di:sym",
    )


def test_functions_are_completed(tracing):
    """Behind the colon: of a whole path, of a relative one, for `why`; of a file without symbols there are none."""
    type_and_expect(
        tracing,
        b"echo 'p:one /bin/probed:f_no\ta=%di' 'r:two ../../../bin/probed:f_n\t'",
        "p:one /bin/probed:f_nop a=%di r:two ../../../bin/probed:f_nop ",
    )
    type_and_expect(tracing, b"echo 'p:one /bin/busybox:ma\t' 'p:two /bin/none:ma\t'", "p:one /bin/busybox:ma p:two /bin/none:ma")
    type_and_expect(tracing, b"why /bin/probed:f_no\t", f"/bin/probed:f_nop: /bin/probed:{tracing.at['f_nop']:#018x}, where a probe can be")
