"""Everything changed while everything runs; nonsense everywhere; nothing lost afterwards."""
import random
import re

import pytest


def used_pages(guest):
    return int(re.search(r"(\d+) used$", guest.check("free"), re.M).group(1))


CHANGES = [
    "echo function > current_tracer",
    "echo nop > current_tracer",
    "echo '*sched*' > set_ftrace_filter",
    "> set_ftrace_filter",
    "echo '*lock*' > set_ftrace_notrace",
    "> set_ftrace_notrace",
    "echo $$ > set_ftrace_pid",
    "> set_ftrace_pid",
    "echo 64 > buffer_size_kb",
    "echo 512 > buffer_size_kb",
    "echo 32 > per_cpu/cpu0/buffer_size_kb",
    "> trace",
    "> per_cpu/cpu1/trace",
    "echo 0 > tracing_on",
    "echo 1 > tracing_on",
    "echo global > trace_clock",
    "echo counter > trace_clock",
    "echo local > trace_clock",
    "echo 1 > tracing_cpumask",
    "echo 3 > tracing_cpumask",
    "echo 0 > options/overwrite",
    "echo 1 > options/overwrite",
    "cat trace > /dev/null",
    "cat per_cpu/cpu0/trace | tail -n 1 > /dev/null",
    "cat per_cpu/cpu*/stats > /dev/null",
    "echo x > trace_marker",
    "echo 5 > saved_cmdlines_size",
    "echo 128 > saved_cmdlines_size",
    "cat saved_cmdlines enabled_functions > /dev/null",
    "head -c 5000 per_cpu/cpu1/trace > /dev/null",
    "echo 4 > buffer_subbuf_size_kb",
    "echo 32 > buffer_subbuf_size_kb",
]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_changes_under_load(tracing, seed):
    """Random changes while a workload runs on all CPUs and a reader consumes."""
    choose = random.Random(seed)
    tracing.check("(while true; do hackbench 1 20; sleep 0.03; done) > /dev/null & load=$!; cat trace_pipe > /dev/null & pipe=$!")
    for _ in range(8):
        tracing.run("; ".join(f"{choose.choice(CHANGES)} 2> /dev/null" for _ in range(12)), timeout=120)
    tracing.run("kill $load; kill $pipe; wait", timeout=120)
    tracing.check("hackbench 1 20; echo 3 > tracing_cpumask; echo 128 > saved_cmdlines_size")


def test_no_page_is_lost(tracing):
    """A page a round would be a leak; slabs and page tables that come once are none."""

    def everything():
        tracing.check(
            "echo 256 > buffer_size_kb; echo function > current_tracer; hackbench 1 10 > /dev/null; cat trace > /dev/null; "
            "echo '*sched*' > set_ftrace_filter; echo nop > current_tracer; > set_ftrace_filter; "
            "echo 2048 > buffer_size_kb; echo 16 > buffer_subbuf_size_kb; echo 4 > buffer_subbuf_size_kb; "
            "echo 1 2 3 > set_ftrace_pid; > set_ftrace_pid; "
            "for f in [a-s]* options/* per_cpu/*/[bs]*; do test -f $f && cat $f > /dev/null; done; "
            "echo 1408 > buffer_size_kb; > trace; true"
        )

    everything()
    before = used_pages(tracing)
    for _ in range(6):
        everything()
    assert used_pages(tracing) < before + 6


@pytest.mark.parametrize("guest", [{"cpus": 4}], indirect=True)
def test_times_begin_at_zero(guest, tracing):
    """The latency format counts from the emptying of the buffer: no event that is left is older, in any clock."""
    tracing.check(
        "echo 1 > options/latency-format; echo '*sched*' > set_ftrace_filter; "
        "(while true; do hackbench 1 20; sleep 0.03; done) > /dev/null & load=$!"
    )
    for clock in ("counter", "local", "x86-tsc"):
        tracing.check(f"echo {clock} > trace_clock; echo function > current_tracer; sleep 0.1")
        for _ in range(2):
            text = tracing.check(
                "> trace; until [ $(head -n 99 trace | grep -vc '^#') -ge 60 ]; do sleep 0.02; done; echo 0 > tracing_on; grep -v '^#' trace | head -n 40; "
                "echo 1 > snapshot; grep -v '^#' snapshot | head -n 20; echo 1 > tracing_on"
            )
            times = [int(t) for t in re.findall(r"[.\w]{5} +(-?\d+)(?:us.)?: ", text)]
            assert len(times) > 40 and min(times) >= 0 and max(times) < 1 << 62
    tracing.check("kill $load; wait; echo 0 > snapshot; echo 0 > options/latency-format")


def test_threads_end_in_silence(tracing):
    """Who frees them sleeps until they are off their CPUs: it calls nothing over and over."""
    tracing.check(
        "pid=$(ps | grep kreaper | grep -o '[0-9]*' | head -n 1); echo $pid > set_ftrace_pid; echo function > current_tracer; "
        "hackbench 4 20 > /dev/null; echo 0 > tracing_on"
    )
    calls = tracing.check("grep -o ': [a-z_0-9.]* <-thread_reap' trace | sort | uniq -c")
    counts = {name: int(count) for count, name in re.findall(r"(\d+) : (\S+) <-", calls)}
    ended = 4 * 16 + 1 + 4 + 1  # threads of hackbench, it itself, four of the pipe, which may go late; and the last wait
    assert "yield" not in counts and 0 < counts["waitq_wait"] <= ended and sum(counts.values()) <= 8 * ended


def test_nonsense_in_every_file(tracing):
    """Any bytes into any file that takes some: an answer, no more, and tracing works afterwards."""
    choose = random.Random(4)
    files = tracing.check("for f in * options/* per_cpu/*/*; do test -w $f && test -f $f && echo $f; done; true").split()
    assert len(files) > 30
    options = dict(line.split(":") for line in tracing.check("grep '' options/*").splitlines())
    words = [
        "0",
        "-1",
        "99999999999999999999",
        "*",
        "!*",
        "!",
        "[",
        "x" * 300,
        ":mod:",
        "a:b:c",
        "\\\\377",
        "0x7fffffff",
        " ",
        "\\\\n\\\\n",
        "nop nop",
        "%s%n",
        "1 2 3 4 5 6 7 8 9",
        "local",
        "function",
        "5000",
        ",",
        "1,",
    ]
    for name in files:
        if name == "buffer_size_kb" or name.endswith("/buffer_size_kb"):
            usable = [w for w in words if w != "0x7fffffff"]
        else:
            usable = words
        picks = [choose.choice(usable) for _ in range(4)]
        tracing.run("; ".join(f"printf '{w}' {op} {name}" for w, op in zip(picks, (">", ">>", ">", ">>"))))
    tracing.check("; ".join(f"echo {value} > {option}" for option, value in options.items()))
    tracing.run(
        "> set_event_pid; > set_event_notrace_pid; > set_event; echo 3 > tracing_cpumask; echo 128 > saved_cmdlines_size; "
        "echo 0 > tracing_thresh; echo 0 > tracing_max_latency"
    )
    tracing.check(
        "echo nop > current_tracer; > set_ftrace_filter; > set_ftrace_notrace; > set_ftrace_pid; > set_ftrace_notrace_pid; "
        "echo local > trace_clock; echo 1408 > buffer_size_kb; echo 1 > tracing_on; > trace; "
        "echo schedule > set_ftrace_filter; echo function > current_tracer; sleep 0.1"
    )
    assert ": schedule <-" in tracing.check("cat trace")
