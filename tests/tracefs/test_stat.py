"""The command perf stat: what it counts is what happened, of the command alone, by CPU and by thread, and over several runs."""
import re

import pytest

exact = pytest.mark.parametrize("guest", [{"cpus": 1, "icount": True, "tests": True}], indirect=True, ids=["1 CPU"])
ROW = re.compile(r"^ +([\d,.]+)(?: msec)? +([\w:-]+) ")


def stat(guest, arguments):
    """The rows of the whole by name."""
    text = guest.check(f"perf stat {arguments}")
    rows = [ROW.match(line) for line in text.splitlines()]
    found = {row[2]: float(row[1].replace(",", "")) for row in rows if row}
    found["elapsed"] = float(re.search(r"^ +([\d.]+) seconds time elapsed", text, re.M)[1])
    return found


def lines(guest, arguments, prefix):
    text = guest.check(f"perf stat {arguments}")
    found = re.findall(rf"^ *{prefix} +([\d,.]+)(?: msec)? +(\S+) *$", text, re.M)
    return [(*who, float(number.replace(",", "")), name) for *who, number, name in found]


@exact
def test_time_and_switches_of_the_command_alone(tracing):
    """A thread that computes for 60 ms, or one that sleeps: what runs beside it counts for nothing."""
    busy = stat(tracing, "shares 60")
    assert 59 < busy["task-clock"] < 62 and 0.060 < busy["elapsed"] < 0.063, busy
    text = tracing.check("shares 60 & perf stat -e task-clock,context-switches,sched:sched_switch sleep 0.05; wait")
    switches = re.findall(r" (\d+) +(?:context-switches|sched:sched_switch) ", text)
    assert len(switches) == 2 and switches[0] == switches[1] and 1 <= int(switches[0]) < 10, text
    assert float(re.search(r"([\d.]+) msec task-clock", text)[1]) < 1, text
    text = tracing.check("shares 60 & perf stat -a -e task-clock sleep 0.05; wait")
    assert "for 'system wide':\n" in text and 45 < float(re.search(r"([\d.]+) msec task-clock", text)[1]) < 52, text
    text = tracing.check("shares 60 & perf stat --per-thread -e task-clock shares 60; wait")
    clocks = [(name, float(ms)) for name, ms in re.findall(r"^ +(\w+)-\d+ +([\d.]+) msec task-clock", text, re.M)]
    assert [name for name, _ in clocks] == ["shares", "shares"] and clocks[0][1] < 1 and 20 < clocks[1][1] < 45, text


def test_rows_by_cpu_and_by_thread_agree(tracing):
    """Two counts of the same events have the same numbers, on each CPU and of each thread; each thread ends once."""
    events = "-e context-switches,sched:sched_switch,sched:sched_process_exit"
    by_cpu = lines(tracing, f"-A {events} hackbench 1 20 > /dev/null", r"CPU(\d+)")
    rows = {name: [(cpu, value) for cpu, value, row in by_cpu if row == name] for _, _, name in by_cpu}
    assert [cpu for cpu, _ in rows["sched:sched_switch"]] == ["0", "1"] and rows["sched:sched_switch"] == rows["context-switches"], rows
    assert sum(value for _, value in rows["sched:sched_process_exit"]) == 17, rows
    by_thread = lines(tracing, f"--per-thread {events} hackbench 1 20 > /dev/null", r"(\S+)-(\d+)")
    rows = {name: [row[:3] for row in by_thread if row[3] == name] for *_, name in by_thread}
    assert rows["sched:sched_switch"] == rows["context-switches"], rows
    assert [value for _, _, value in rows["sched:sched_process_exit"]] == [1] * 17, rows
    assert len({pid for _, pid, _ in rows["sched:sched_process_exit"]}) == 17, rows


def test_migrations_are_those_of_the_threads(tracing):
    """Each thread's are as many as a histogram of the event has by the thread that moves, whichever thread moves it."""
    event, pattern = "events/sched/sched_migrate_task/", r"(\S+)-(\d+)"
    tracing.check(f"echo hist:keys=pid > {event}trigger")
    for _ in range(8):
        rows = lines(tracing, "--per-thread -e task-clock,cpu-migrations hackbench 1 40 > /dev/null", pattern)
        moved = {pid: value for _, pid, value, name in rows if name == "cpu-migrations" and value}
        if moved:
            break
    text = tracing.check(f"cat {event}hist; echo '!hist:keys=pid' > {event}trigger")
    found = {pid: float(hits) for pid, hits in re.findall(r"\{ pid: +(\d+) *\} hitcount: +(\d+)", text)}
    threads = {pid for _, pid, _, _ in rows}
    assert len(threads) == 17 and moved == {pid: hits for pid, hits in found.items() if pid in threads}, (rows, text)


def forks(guest, runs):
    guest.check("echo > /tmp/runs")
    command = "sh -c 'for i in $(cat /tmp/runs; echo 1); do sleep 0; sleep 0; done; echo 1 >> /tmp/runs'"
    return guest.check(f"perf stat -r {runs} -e sched:sched_process_fork,sched:sched_process_exec {command}")


def test_means_and_their_errors(tracing):
    """Run n of the command makes 2 threads more than the one before: mean and error are known."""
    first = int(re.search(r"(\d+) +sched:sched_process_fork", forks(tracing, 1))[1])
    text = forks(tracing, 3)
    assert f"(3 runs):\n\n{first + 2:18}      sched:sched_process_fork " in text, text
    percent = 100 * (8 / 2 / 3) ** 0.5 / (first + 2)
    errors = [float(error) for error in re.findall(r"\( \+- +([\d.]+)% \)", text)]
    assert abs(errors[0] - percent) < 0.02 and errors[1] == 0 and len(errors) == 3, (errors, percent)


def test_what_cannot_be_counted(tracing):
    text = tracing.check("perf stat -e cycles,cpu-cycles,ref-cycles,branch-instructions true")
    assert re.findall(r"^   <not supported>      ([\w-]+) ", text, re.M) == ["cycles", "cpu-cycles", "ref-cycles", "branch-instructions"]
    assert tracing.run("perf stat false")[1] == 1
    for arguments, message, status in (
        ("-e no:such true", "perf: no such event: no:such", 1),
        ("-e task-clock,such true", "perf: no such event: such", 1),
        ("-e syscalls:sys_enter_read true", "perf: syscalls:sys_enter_read has no tracepoint: a histogram can count it", 1),
        ("nosuch", "perf: nosuch: No such file or directory", 127),
        ("-r 0 true", "usage: perf stat ", 2),
        ("-r 101 true", "usage: perf stat ", 2),
        ("-e task-clock", "usage: perf stat ", 2),
        ("-a --per-thread true", "usage: perf stat ", 2),
        ("", "usage: perf stat ", 2),
    ):
        text, found = tracing.run(f"perf stat {arguments}")
        assert text.startswith(message) and found == status, (arguments, text)
    many = ",".join(["sched:sched_switch"] * 33)
    assert tracing.run(f"perf stat -e {many} true") == ("perf: sched:sched_switch: No space left on device\n", 1)
    assert tracing.run(f"perf stat -e {many[:-19]} true")[1] == 0


def test_name(tracing):
    """The name `stat` is left to programs, and perf has no other command here."""
    assert tracing.run("stat true") == ("sh: stat: command not found\n", 127)
    for arguments in ("", " record true", " -e task-clock true"):
        text, status = tracing.run(f"perf{arguments}")
        assert text.startswith("usage: perf stat [-a] ") and status == 2, (arguments, text)
    assert tracing.check("help perf").startswith("usage: perf stat [-a] ")
