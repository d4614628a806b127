"""ftrace_dump_on_oops: the newest part of the trace on the console, bounded, after a panic."""
import re

from guest import Guest


SETTING = "/proc/sys/kernel/ftrace_dump_on_oops"


def crash(cmdline, before="true"):
    with Guest("gcc", 2, cmdline=cmdline, wait=True) as guest:
        guest.check(before)
        guest.check("echo '*sched*' > set_ftrace_filter; echo function > current_tracer; hackbench 1 300")
        guest.send("panic\r")
        before, _ = guest.expect(rb"end of panic")
        text = before.decode("utf-8", "replace").replace("\r\n", "\n")
    return text[text.index("PANIC: ") :]


def test_dump_of_all_cpus():
    text = crash("ftrace_dump_on_oops")
    dump = re.search(r"^Dumping ftrace buffer:\n-+\n(.*)^-+\n", text, re.M | re.S).group(1)
    assert dump.startswith("(")
    events = [line for line in dump.splitlines()[1:] if " <-" in line]
    assert 450 <= len(events) <= 500
    assert {re.search(r"-\d+ +(\d)[dD.]", e).group(1) for e in events} <= {"0", "1"}


def test_dump_of_one_cpu():
    text = crash("ftrace_dump_on_oops=orig_cpu")
    events = re.findall(r"-\d+ +(\d)[dD.]\S{4,} +\d+us.?: \S+ <-", text)
    assert events and len(set(events)) == 1


def test_no_dump_unless_asked():
    assert "Dumping ftrace" not in crash("")


def test_the_setting_overrides_the_boot_parameter():
    values = (
        "echo 3 > {0}; echo 0x10 > {0}; echo 1x > {0}; echo > {0}; echo 2147483648 > {0}; cat {0}; "
        "echo ' -1 5' > {0}; cat {0}; echo 0 > {0}; cat {0}"
    )
    with Guest("gcc", 1, cmdline="ftrace_dump_on_oops=orig_cpu") as guest:
        assert guest.check(f"cat {SETTING}") == "2\n"
        out, _ = guest.run(values.format(SETTING))
    assert out == "sh: write error: Invalid argument\n" * 3 + "16\n-1\n0\n"
    assert "Dumping ftrace" not in crash("ftrace_dump_on_oops", f"echo 0 > {SETTING}")
