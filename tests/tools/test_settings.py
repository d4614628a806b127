"""The settings of a recording on a guest that is a table of files: what is written, and what is put back whichever write fails."""
import argparse
import errno
import re
import sys
from collections import Counter

import pytest

from tablekit import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from host import _settings  # noqa: E402
from host._common import Failure  # noqa: E402

FILES = {
    "tracing_on": "1\n",
    "current_tracer": "function\n",
    "saved_cmdlines_size": "128\n",
    "trace_clock": "local [mono] global\n",
    "tracing_cpumask": "f\n",
    "buffer_size_kb": "1408 (expanded: 1408)\n",
    "trace": "old\n",
    "error_log": "",
    "set_event": "sched:sched_waking\n",
    "set_event_pid": "",
    "set_ftrace_pid": "no pid\n",
    "set_ftrace_filter": "#### all functions enabled ####\nschedule:traceoff:unlimited\n",
    "set_ftrace_notrace": "kfree\nyield\n",
    "set_graph_function": "#### all functions enabled ####\n",
    "options/stacktrace": "0\n",
    "options/overwrite": "1\n",
    "options/nodes": "0\n",
    "available_events": "sched:sched_switch\nsched:sched_waking\nirq:irq_entry\n",
    "events/sched/enable": "0\n",
    "events/sched/filter": "none\n",
    "events/sched/sched_switch/enable": "0\n",
    "events/sched/sched_switch/filter": "prev_pid == 1\n",
    "events/sched/sched_switch/trigger": "",
    "events/sched/sched_waking/enable": "1\n",
    "events/sched/sched_waking/filter": "none\n",
    "events/irq/irq_entry/enable": "0\n",
    "events/irq/irq_entry/filter": "none\n",
    "events/irq/irq_entry/trigger": "",
    "per_cpu/cpu0/buffer_size_kb": "1408\n",
    "per_cpu/cpu1/buffer_size_kb": "64\n",
}
LISTS = ("set_event", "set_event_pid", "set_ftrace_pid", "set_ftrace_filter", "set_ftrace_notrace", "set_graph_function")
ALL = (
    "-p function_graph -e sched:sched_switch -f prev_pid==7 -R traceoff -e irq_entry -f irq>1 -e sched -l do_* -n kmalloc -g schedule "
    "-O nooverwrite -T -b 4096 -C global -P 12 -P 13 -M 3"
)


class Table:
    """The part of a guest that tools/host wants. The write number `fails` fails, and only that one."""

    def __init__(self, fails=None, instances=()):
        self.files, self.fails, self.written, self.instances = dict(FILES), fails, [], set(instances)
        for name in instances:
            self.files.update({f"instances/{name}/{path}": text for path, text in FILES.items()})

    def text(self, path):
        return self.files[path]

    def exists(self, path):
        return path in self.files or path.rstrip("/").removeprefix("instances/") in self.instances

    def names(self, path):
        return sorted({name[len(path) + 1 :].split("/")[0] for name in self.files if name.startswith(f"{path}/")})

    def mkdir(self, path):
        self._count(path, "mkdir")
        self.instances.add(path.removeprefix("instances/"))
        self.files.update({f"{path}/{name}": text for name, text in FILES.items()})

    def rmdir(self, path):
        self._count(path, "rmdir")
        self.instances.remove(path.removeprefix("instances/"))
        self.files = {name: text for name, text in self.files.items() if not name.startswith(f"{path}/")}

    def _count(self, path, data):
        self.written.append((path, data))
        if len(self.written) - 1 == self.fails:
            raise OSError(errno.EINVAL, "Invalid argument", path)

    def write(self, path, data, append=False):
        self._count(path, data)
        name = re.sub(r"^instances/\w+/", "", path)
        data, old = data.strip(), self.files[path]
        if name.endswith("trigger"):
            if data.startswith("!") and data[1:] not in old.splitlines():
                raise OSError(errno.ENOENT, "there is no such trigger", path)
            lines = [line for line in old.splitlines() if line != data[1:]] + ([] if data.startswith("!") else [data])
            self.files[path] = "".join(f"{line}\n" for line in lines)
        elif name in LISTS:
            kept = [line for line in old.splitlines() if append or ":" in line and "ftrace_" in name]
            lines = [line for line in kept if not line.startswith("####") and line != "no pid"] + [
                line for line in data.split("\n") if line
            ]
            empty = {
                "set_ftrace_filter": "#### all functions enabled ####\n",
                "set_graph_function": "#### all functions enabled ####\n",
                "set_ftrace_pid": "no pid\n",
            }.get(name, "")
            head = empty if name == "set_ftrace_filter" and all(":" in line for line in lines) else ""
            self.files[path] = head + "".join(f"{line}\n" for line in lines) or empty
        elif name == "trace_clock":
            self.files[path] = " ".join(f"[{one}]" if one == data else one for one in ("local", "mono", "global")) + "\n"
        elif name == "buffer_size_kb":
            self.files[path] = f"{data} (expanded: {data})\n"
        elif name.endswith("filter") and data == "0":
            self.files[path] = "none\n"
        else:
            self.files[path] = f"{data}\n"

    def state(self):
        """All but `trace`, which is emptied, and the files that follow from others."""
        return {path: text for path, text in self.files.items() if not path.endswith(("/trace", "show_event_filters")) and path != "trace"}


class Filtered(Table):
    """With show_event_filters, which follows from the filters."""

    def text(self, path):
        if not path.endswith("show_event_filters"):
            return super().text(path)
        top = path.removesuffix("show_event_filters")
        found = [(name.removeprefix(top).split("/"), text.strip()) for name, text in self.files.items() if name.startswith(f"{top}events/")]
        return "".join(f"{parts[1]}:{parts[2]}\t{text}\n" for parts, text in found if parts[3:] == ["filter"] and text != "none")


def parsed(line):
    parser = argparse.ArgumentParser(exit_on_error=False)
    _settings.add_arguments(parser)
    return _settings.wanted_buffers(parser.parse_args(line.split()))


def applied(guest, line, instance=None):
    settings = _settings.Settings(guest, instance, may_make=True)
    settings.apply(parsed(line)[0])
    return settings


def test_everything_is_set_and_put_back():
    guest = Filtered()
    before = guest.state()
    settings = applied(guest, ALL)
    files = guest.files
    assert {
        name: files[name]
        for name in (
            "tracing_on",
            "current_tracer",
            "tracing_cpumask",
            "set_event",
            "set_event_pid",
            "set_ftrace_pid",
            "set_ftrace_notrace",
            "set_graph_function",
            "options/stacktrace",
            "options/overwrite",
            "saved_cmdlines_size",
            "trace",
            "buffer_size_kb",
            "trace_clock",
        )
    } == {
        "tracing_on": "0\n",
        "current_tracer": "function_graph\n",
        "tracing_cpumask": "3\n",
        "set_event": "sched:sched_switch\nirq_entry\nsched\n",
        "set_event_pid": "12\n13\n",
        "set_ftrace_pid": "12\n13\n",
        "set_ftrace_notrace": "kmalloc\n",
        "set_graph_function": "schedule\n",
        "options/stacktrace": "1\n",
        "options/overwrite": "0\n",
        "saved_cmdlines_size": "4096\n",
        "trace": "\n",
        "buffer_size_kb": "4096 (expanded: 4096)\n",
        "trace_clock": "local mono [global]\n",
    }
    assert files["set_ftrace_filter"] == "schedule:traceoff:unlimited\ndo_*\n"
    assert files["events/sched/sched_switch/filter"] == "prev_pid==7\n"
    assert files["events/sched/sched_switch/trigger"] == "traceoff\n"
    assert files["events/irq/irq_entry/filter"] == "irq>1\n"
    assert settings.undo() == []
    assert guest.state() == before
    assert settings.undo() == []


def test_nothing_is_set_that_is_not_asked_for():
    guest = Filtered()
    applied(guest, "-e all")
    assert {path for path, _ in guest.written} == {
        "tracing_on",
        "current_tracer",
        "saved_cmdlines_size",
        *LISTS,
        "events/sched/sched_switch/filter",
        "trace",
    }
    assert guest.files["set_event"] == "*:*\n"
    guest.files["saved_cmdlines_size"] = "5000\n"
    applied(guest, "-p nop")
    assert guest.files["saved_cmdlines_size"] == "5000\n"


def test_each_write_that_fails():
    """The files that were written get their old texts back, and no others, in an instance too, which goes when it was made."""
    for instance, there in ((None, ()), ("one", ()), ("one", ("one",))):
        number = 0
        while True:
            guest = Filtered(number, there)
            before = guest.state()
            settings = None
            try:
                settings = _settings.Settings(guest, instance, may_make=True)
                settings.apply(parsed(ALL)[0])
            except (Failure, OSError) as err:
                assert "Invalid argument" in str(err)
                done = Counter(path for path, _ in guest.written[:number])
                if settings:
                    assert settings.undo() == []
                undone = Counter(path for path, _ in guest.written[number + 1 :])
                assert all(done[path] >= nr for path, nr in undone.items() if path.split("/")[-1] not in LISTS)
                assert guest.state() == before, (instance, guest.written[number])
            else:
                break
            number += 1
        assert number > 25


def test_an_undo_that_fails():
    """The others are put back, and it is told of."""
    guest = Filtered()
    before = guest.state()
    settings = applied(guest, ALL)
    guest.fails = len(guest.written) + 2
    failed = settings.undo()
    assert len(failed) == 1 and failed[0].endswith(": Invalid argument")
    differ = {path for path, text in guest.state().items() if before[path] != text}
    assert differ == {failed[0].split(":")[0]}


def test_rings_of_different_sizes():
    guest = Filtered()
    guest.files["buffer_size_kb"] = "X\n"
    settings = applied(guest, "-b 512")
    assert [guest.files[f"per_cpu/cpu{cpu}/buffer_size_kb"].split()[0] for cpu in (0, 1)] == ["512", "512"]
    assert guest.files["buffer_size_kb"] == "X\n"
    settings.undo()
    assert [guest.files[f"per_cpu/cpu{cpu}/buffer_size_kb"].split()[0] for cpu in (0, 1)] == ["1408", "64"]


def test_long_list_comes_back_in_pieces():
    guest = Filtered()
    names = [f"function_{number:05}" for number in range(5000)]
    guest.files["set_ftrace_notrace"] = "".join(f"{name}\n" for name in names)
    settings = applied(guest, "-n kfree")
    guest.written.clear()
    settings.undo()
    assert guest.files["set_ftrace_notrace"].split() == names
    pieces = [data for path, data in guest.written if path == "set_ftrace_notrace"]
    assert pieces[0] == "" and all(len(piece) <= _settings.CHUNK + 1 and piece.endswith("\n") for piece in pieces[1:])
    assert len(pieces) == 1 + -(-sum(len(name) + 1 for name in names) // _settings.CHUNK)


def test_the_kernel_says_why():
    guest = Filtered()
    guest.files[
        "error_log"
    ] = "[1.0] first: error: x\n  Command: other\n[2.0] event filter parse error: no such field\n  Command: prev_pod==7\n           ^\n"
    guest.fails = next(i for i, (path, _) in enumerate(guest_of(ALL).written) if path.endswith("sched_switch/trigger"))
    with pytest.raises(Failure) as failure:
        applied(guest, ALL)
    assert str(failure.value) == "the kernel does not take 'traceoff' for events/sched/sched_switch/trigger: Invalid argument"
    guest = Filtered(guest.fails - 1)
    guest.files[
        "error_log"
    ] = "[1.0] first: error: x\n  Command: other\n[2.0] event filter: error: no such field\n  Command: prev_pid==7\n           ^\n"
    with pytest.raises(Failure) as failure:
        applied(guest, ALL)
    assert str(failure.value).endswith(": Invalid argument\n[2.0] event filter: error: no such field\n  Command: prev_pid==7\n           ^")


def guest_of(line):
    guest = Filtered()
    applied(guest, line)
    return guest


@pytest.mark.parametrize(
    "line, why",
    [
        ("-e sched:nosuch -f x==1", "-f needs one event, or for -f one system: sched:nosuch is neither"),
        ("-e sched -R traceoff", "-R needs one event, or for -f one system: sched is neither"),
        ("-e sched:* -R traceoff", "-R needs one event, or for -f one system: sched:* is neither"),
        ("-e nosuch:* -f x==1", "-f needs one event, or for -f one system: nosuch:* is neither"),
        ("-O nosuch", "the kernel has no option nosuch"),
    ],
)
def test_wishes_that_nothing_fits(line, why):
    with pytest.raises(Failure) as failure:
        applied(Filtered(), line)
    assert str(failure.value) == why


def test_filter_of_a_system():
    for events in ("sched", "sched:*"):
        guest = guest_of(f"-e {events} -f prev_pid==7")
        assert guest.files["events/sched/filter"] == "prev_pid==7\n"
        assert guest.files["set_event"] == f"{events}\n"


def test_option_whose_name_begins_with_no():
    guest = guest_of("-O nodes")
    assert guest.files["options/nodes"] == "1\n"
    assert guest_of("-O nonodes").files["options/nodes"] == "0\n"


def test_an_instance_that_is_not_there():
    with pytest.raises(Failure, match="there is no instance one"):
        _settings.Settings(Filtered(), "one", may_make=False)
    guest = Filtered(instances=["one"])
    assert _settings.Settings(guest, "one", may_make=True).undos == guest.written == []


def test_buffers_of_a_line():
    both = parsed("-e sched -B one -e irq -b 64 -B two -p function")
    assert [one.instance for one in both] == [None, "one", "two"]
    assert [(one.events, one.buffer_size_kb, one.tracer) for one in both] == [
        ([("sched", [])], None, None),
        ([("irq", [])], 64, None),
        (None, None, "function"),
    ]
    assert [one.instance for one in parsed("-B one -e irq")] == ["one"]
    assert [one.instance for one in parsed("")] == [None]


@pytest.mark.parametrize("line", ["-f x==1", "-R traceoff", "-B one -B one", "-B a/b", "-e irq -B one -f x==1"])
def test_lines_that_are_wrong(line):
    with pytest.raises((SystemExit, argparse.ArgumentError)):
        parsed(line)
