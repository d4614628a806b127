"""The session of the ftrace slides, typed as it stands there, in Linux's format."""
import re

import pytest

HEADER = """\
# tracer: function
#
# entries-in-buffer/entries-written: %s/%s   #P:%d
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
"""
# what trace.c prints for one function event
LINE = re.compile(
    r"^ *(?P<comm>\S.*)-(?P<pid>\d+) +\[(?P<cpu>\d{3})\] "
    r"(?P<flags>[dbD.][Nnp.][ZzHhs.][0-9a-f.][0-9a-f.]) +(?P<time>\d+\.\d{6}): "
    r"(?P<ip>\S+) <-(?P<parent>\S+)$"
)


def is_event_line(line):
    match = LINE.match(line)
    if not match:
        return False
    prefix = f"{match['comm'][:16]:>16}-{match['pid']:<7} [{match['cpu']}] {match['flags']} "
    return line.startswith(prefix)


@pytest.fixture
def clean(guest):
    yield guest
    guest.check("echo nop > current_tracer; > set_ftrace_filter; echo 1 > tracing_on; > trace")


@pytest.mark.parametrize("guest", [{"cpus": 1}, {"cpus": 4}, {"build": "clang", "cpus": 2}], indirect=True)
def test_function_trace_of_sched(clean):
    guest = clean
    cpus = guest.nr_cpus()
    guest.check("echo '*sched*' > set_ftrace_filter; echo function > current_tracer")
    guest.check("hackbench 1 20")
    guest.check("echo 0 > tracing_on")
    text = guest.check("cat trace")
    counts = re.search(r"entries-written: (\d+)/(\d+)", text)
    assert text.startswith(HEADER % (counts.group(1), counts.group(2), cpus))
    events = text[len(HEADER % (counts.group(1), counts.group(2), cpus)) :].splitlines()
    lines = [e for e in events if not e.startswith("##### CPU")]
    assert len(lines) == int(counts.group(1)) > 10
    bad = [e for e in lines if not is_event_line(e)]
    assert not bad, bad[:5]
    assert all("sched" in LINE.match(e)["ip"] for e in lines)
    times = [float(LINE.match(e)["time"]) for e in lines]
    assert times == sorted(times)


def test_yield_and_schedule(clean):
    guest = clean
    assert guest.run("echo yield > set_ftrace_filter; echo schedule >> set_ftrace_filter; " "cat set_ftrace_filter") in (
        ("schedule\nyield\n", 0),
        ("yield\nschedule\n", 0),
    )


def test_empty_filter_says_all(clean):
    guest = clean
    assert guest.check("cat set_ftrace_filter") == "#### all functions enabled ####\n"
    guest.check("echo schedule > set_ftrace_filter")
    guest.check("> set_ftrace_filter")
    assert guest.check("cat set_ftrace_filter") == "#### all functions enabled ####\n"


def test_no_tracer_header(clean):
    guest = clean
    assert guest.check("cat current_tracer") == "nop\n"
    text = guest.check("cat trace")
    assert text.startswith("# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:")


def test_wrong_tracer(clean):
    guest = clean
    assert guest.run("echo nonsense > current_tracer") == ("sh: write error: Invalid argument\n", 1)
    assert guest.check("cat current_tracer") == "nop\n"


def test_trace_from_boot():
    from guest import Guest

    with Guest("gcc", 4, cmdline="ftrace=function trace_buf_size=4M") as guest:
        guest.check("echo 0 > tracing_on")
        assert guest.check("cat current_tracer") == "function\n"
        first = guest.check("head -n 400 trace").splitlines()
        assert any("smp_" in line or "ap_" in line for line in first), "the bring-up of the others is in it"
