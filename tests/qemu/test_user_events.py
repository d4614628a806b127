"""Events that programs define and write: the requests, as a program sees them, and the files of the trace tree."""
import re

import pytest
from guest import Guest
from programs import BUSYBOX, archive, built, leaves_nothing

LINE = re.compile(r"-\d+ +\[\d+\] \S+ +[\d.]+: (.*)\n")
FIELDS = "u32 count; s64 left; char[8] name; u8 mark; __rel_loc char[] text"
PRINT_FMT = '"count=%u left=%lld name=%s mark=%u text=%s", REC->count, REC->left, REC->name, REC->mark, __get_rel_str(text)'


@pytest.fixture(scope="module", params=[("gcc", 1), ("clang", 4)], ids=lambda p: "-".join(map(str, p)))
def host(request, tmp_path_factory):
    build, cpus = request.param
    programs = {"bin/busybox": BUSYBOX, "bin/user_events": built("user_events", build)}
    with Guest(build, cpus, initrd=archive(tmp_path_factory.mktemp("user") / f"{build}.cpio", programs)) as guest:
        yield guest


@pytest.fixture
def emitted(host):
    """The event of `user_events emit`, from a line."""
    host.check(f"> trace; echo 'u:emitted {FIELDS}' > dynamic_events")
    yield host
    host.check("echo 0 > events/enable; > dynamic_events; > trace")


def lines(guest):
    return LINE.findall(guest.check("cat trace").replace("\r", ""))


def test_requests(host):
    """All that a program can do, right and wrong; nothing is left behind."""
    leaves_nothing(host, lambda: host.check("user_events"))
    host.check("until busybox grep -q 'Active: 0' user_events_status; do sleep 0.01; done")  # events end in a thread of their own


def test_texts(emitted):
    assert emitted.check("cat dynamic_events") == f"u:emitted {FIELDS}\n"
    emitted.check(f"echo 'u:emitted {FIELDS}' >> dynamic_events")
    text = emitted.check("cat events/user_events/emitted/format").replace("\r", "")
    assert re.findall(r"field:(.*);\toffset:(\d+);\tsize:(\d+);\tsigned:(\d)", text)[4:] == [
        ("u32 count", "8", "4", "0"),
        ("s64 left", "12", "8", "1"),
        ("char name[8]", "20", "8", "1"),
        ("u8 mark", "28", "1", "0"),
        ("__rel_loc char[] text", "29", "4", "1"),
    ]
    assert text.endswith(f"print fmt: {PRINT_FMT}\n")
    emitted.check("user_events emit 3; echo 1 > events/user_events/emitted/enable; user_events emit 2")
    assert emitted.check("cat user_events_status").replace("\r", "") == "emitted # Used by ftrace\n\nActive: 1\nBusy: 1\n"
    assert lines(emitted) == [
        f"emitted: count={i:#x} ({i}) left={left & (1 << 64) - 1:#x} ({left}) name=name mark='x'(120) text=texts"
        for i, left in ((0, -2), (1, -1))
    ]


def test_filters_triggers_histograms(emitted):
    emitted.check('echo \'count == 1 && text == "texts" && name ~ "na*"\' > events/user_events/emitted/filter')
    emitted.check("echo 1 > events/user_events/emitted/enable; user_events emit 3; echo 0 > events/user_events/emitted/enable")
    assert len(lines(emitted)) == 1 and "count=0x1 (1)" in lines(emitted)[0]
    emitted.check("echo 0 > events/user_events/emitted/filter; echo hist:keys=count,text > events/user_events/emitted/trigger")
    emitted.check("user_events emit 2; user_events emit 1")  # the trigger alone makes the bit 1
    hist = emitted.check("cat events/user_events/emitted/hist")
    assert re.findall(r"count: +(\d+), text: (\w+) +\} hitcount: +(\d+)", hist) == [("1", "texts", "1"), ("0", "texts", "2")]
    emitted.check("echo '!hist:keys=count,text' > events/user_events/emitted/trigger")


def test_removal(host):
    host.check("echo 'u:one u32 a' > dynamic_events; echo 'u:two struct s b 20' >> dynamic_events; echo 1 > events/user_events/one/enable")
    assert host.run("echo '-:one' >> dynamic_events")[1] != 0
    host.check(
        "echo 0 > events/user_events/one/enable; echo '-:one' >> dynamic_events; echo '-:user_events/two struct s b 20' >> dynamic_events"
    )
    assert host.check("cat dynamic_events") == ""


@pytest.mark.parametrize("line, at, why", [("u:one u32 a; long b", 13, "Invalid field"), ("u:one-two u32 a", 2, "Illegal name")])
def test_mistakes(host, line, at, why):
    host.check("> error_log")
    assert host.run(f"echo '{line}' > dynamic_events")[1] != 0
    log = host.check("cat error_log").replace("\r", "")
    assert log.endswith(f"user_events: error: {why}\n  Command: {line}\n{' ' * (11 + at)}^\n"), log
