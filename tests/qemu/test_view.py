"""The server of `tools/fathom view`, without a browser: who is let in, what it writes, what it makes of a running kernel's pages."""
import http.client
import json
import sys
import tempfile
import time
from pathlib import Path

import pytest

from guest import PATIENCE, ROOT, Guest

sys.path.insert(0, str(ROOT / "tools"))

from host._guest import Guest as Channel  # noqa: E402
from view import histogram  # noqa: E402
from view.kernel import Kernel  # noqa: E402
from view.live import Hub, Live  # noqa: E402
from view.model import SLICES  # noqa: E402
from view.server import Server  # noqa: E402
from view.shell import LineShell  # noqa: E402


class View:
    """A guest, and the page's server on its channel."""

    def __init__(self, directory):
        path = Path(directory) / "channel"
        self.guest = Guest(
            "gcc",
            2,
            extra=[
                "-device",
                "virtio-serial-pci",
                "-chardev",
                f"socket,id=port,path={path},server=on,wait=off",
                "-device",
                "virtserialport,chardev=port,name=fathom.9p",
            ],
        )
        self.channel = Channel(path)
        self.hub = Hub()
        self.live = Live(Kernel(self.channel), self.hub)
        self.server = Server(0, self.live, LineShell(self.channel, self.hub.say), Path(directory))
        self.server.start()
        self.live.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.channel.close()
        self.guest.close()

    def ask(self, path, method="GET", content=None, token=None, **headers):
        """(status, answer)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=20 * PATIENCE)
        try:
            connection.request(method, f"/{token or self.server.token}/{path}", content, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def json(self, path, content=None):
        status, data = self.ask(path, "POST" if content is not None else "GET", json.dumps(content) if content is not None else None)
        assert status == 200, data
        return json.loads(data)

    def write(self, name, text, append=False):
        return self.json("api/write", {"name": name, "text": text, "append": append})

    def stream(self):
        """Messages for a page that is loaded now, as they come."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=20 * PATIENCE)
        connection.request("GET", f"/{self.server.token}/stream")
        answer = connection.getresponse()
        assert answer.getheader("Content-Type") == "text/event-stream"
        try:
            while line := answer.readline():
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        finally:
            connection.close()

    def wait(self, condition, seconds=20):
        """The first message of the stream for which the condition holds."""
        end = time.monotonic() + seconds * PATIENCE
        for message in self.stream():
            if condition(message):
                return message
            assert time.monotonic() < end
        raise AssertionError("the stream has ended")


@pytest.fixture(scope="module")
def view():
    with tempfile.TemporaryDirectory(prefix="fathom-view-") as directory:
        one = View(directory)
        yield one
        one.close()


def test_who_is_let_in(view):
    assert view.ask("")[0] == 200 and b"<title>Fathom</title>" in view.ask("")[1]
    assert view.ask("page/main.js")[0] == 200
    for path in ("", "stream", "page/main.js", "api/why"):
        for token in ("wrong", view.server.token[:-1], view.server.token + "x", "%2e%2e"):
            assert view.ask(path, token=token)[0] == 403
        assert view.ask(path, Host="fathom.example:80")[0] == 403
    assert view.ask("api/write", "POST", '{"name":"trace","text":""}', Origin="http://fathom.example")[0] == 403
    for path in ("page/..%2f..%2fmain.js", "page/.hidden", "page/no.js", "lib/package.json", "lib/..", "api/nothing", "other"):
        assert view.ask(path)[0] == 404, path
    for content in ("", "{", "[]", "{}", '{"name": "../../proc/version", "text": ""}', '{"name": "/proc/version", "text": ""}'):
        assert view.ask("api/write", "POST", content)[0] == 400, content
    assert view.ask("api/write", "POST", "{}", **{"Content-Length": str(2 << 20)})[0] == 400
    assert view.ask("api/file?name=no/such/file")[0] == 409
    assert view.live.kernel.commands == []


def test_only_this_machine_can_connect(view):
    assert view.server.server_address[0] == "127.0.0.1"


def test_commands_are_what_is_written(view):
    assert view.write("set_ftrace_filter", "vfs_open") == {"command": "echo vfs_open > set_ftrace_filter", "error": "", "number": 1}
    assert view.write("set_ftrace_filter", "vfs_st*", True)["command"] == "echo 'vfs_st*' >> set_ftrace_filter"
    by_page = view.guest.check("cat set_ftrace_filter")
    assert view.write("set_ftrace_filter", "")["command"] == "echo > set_ftrace_filter"
    # The same, by the lines that the page shows.
    view.guest.check("echo vfs_open > set_ftrace_filter; echo 'vfs_st*' >> set_ftrace_filter")
    assert view.guest.check("cat set_ftrace_filter") == by_page != "#### all functions enabled ####\n"
    view.guest.check("echo > set_ftrace_filter")
    wrong = view.write("events/sched/sched_switch/filter", "next_pid ~~ 3")
    assert wrong["error"].startswith("Invalid argument: event filter parse error"), wrong
    refused = view.write("available_events", "more")["error"]
    assert refused and ":" not in refused, "nothing of what was wrong before"
    shown = view.wait(lambda message: message["kind"] == "commands" and message["list"])["list"]
    assert [one["command"] for one in shown] == [
        "echo vfs_open > set_ftrace_filter",
        "echo 'vfs_st*' >> set_ftrace_filter",
        "echo > set_ftrace_filter",
        "echo 'next_pid ~~ 3' > events/sched/sched_switch/filter",
        "echo more > available_events",
    ]


def test_a_list_that_is_longer_than_a_message(view):
    """The first message ends inside of a name. In front of the names is space: nothing has to be found for it."""
    names = view.channel.text("available_filter_functions")
    in_a_name = names.rindex("\n", 0, len(names) // 2) + 2
    long_list = " " * (view.channel.io_max - in_a_name) + names
    view.channel.write("set_ftrace_filter", long_list)
    assert view.channel.text("set_ftrace_filter") == names
    view.channel.write("set_ftrace_filter", "")


def test_the_stream(view):
    assert view.write("events/sched/sched_switch/enable", "1")["error"] == ""
    view.guest.check("echo 'said it'\\''s so' > trace_marker; ls > /dev/null")
    mark = view.wait(lambda message: "said it" in json.dumps(message.get("marks", {})))
    [(_, name, pid, text)] = [one for some in mark["marks"].values() for one in some if "said it" in one[3]]
    assert name == "print" and pid > 0 and "buf=said it's so" in text and "ip=" in text
    # A page that comes later is told what was before.
    of_cpus = view.wait(lambda message: message.get("slices"))["slices"].values()
    slices = [one for some in of_cpus for one in some]
    assert all(begin <= end and count >= 1 for begin, end, _, count in slices)
    # Neighbours are joined only where there are more than can be drawn.
    assert all(count == 1 for some in of_cpus if sum(row[3] for row in some) <= SLICES for *_, count in some)
    numbers = view.wait(lambda message: message["kind"] == "numbers" and message["total"])
    assert dict(numbers["events"])["sched_switch"] > 0
    check_times_of_threads(view)
    settings = view.wait(lambda message: message["kind"] == "settings")["settings"]
    assert settings["set_event"] == "sched:sched_switch" and settings["current_tracer"] == "nop"
    view.write("events/sched/sched_switch/enable", "0")


def check_times_of_threads(view):
    """
    Two CPUs run threads for twice the time that passes, the idle threads among them. Of a CPU nothing is known before its first
    switch, which may take long on an idle one. Where this machine is busy one CPU's events may come later than the other's, by
    a second or more: in the long run that is nothing.
    """
    spans = busy = 0
    deadline = time.monotonic() + 20 * PATIENCE
    for message in view.stream():
        for begin, end, *_ in [one for some in message.get("slices", {}).values() for one in some]:
            assert begin <= end
        if message["kind"] == "numbers":
            spans, busy = spans + message["ns"], busy + sum(ns for _, ns in message["busy"])
        if spans > 1e9 and (0.2 * spans < busy < 2.4 * spans or time.monotonic() > deadline):
            break
    assert 0.2 * spans < busy < 2.4 * spans


def test_calls_and_their_flame(view):
    view.write("set_graph_function", "vfs_open")
    view.write("current_tracer", "function_graph")
    view.guest.check("cat /proc/version > /dev/null")
    flame = view.wait(lambda message: message["kind"] == "flame" and message["tree"][3])
    view.write("current_tracer", "nop")
    view.write("set_graph_function", "")
    tops = {row[0]: row for row in flame["tree"][3]}
    # An interrupt that comes when a call is on the shadow stack and its event not recorded yet has calls without a caller.
    assert "vfs_open" in tops and set(tops) <= {"vfs_open", "(not seen)"}
    _, spent, calls, children = tops["vfs_open"]
    assert calls > 0 and 0 < sum(child[1] for child in children) <= spent


def test_histograms(view):
    view.write("events/kmem/kmalloc/trigger", "hist:keys=bytes_req.log2")
    view.write("events/sched/sched_switch/trigger", "hist:keys=prev_comm,common_stacktrace")
    view.guest.check("ls -l /proc > /dev/null; sleep 0.1")
    found = view.wait(
        lambda message: message["kind"] == "histograms" and len(message["list"]) == 2 and all(one["hits"] for one in message["list"])
    )
    by_event = {one["event"]: one for one in found["list"]}
    sizes = by_event["kmem:kmalloc"]
    assert sizes["keys"] == "bytes_req.log2" and sum(values["hitcount"] for _, values in sizes["entries"]) == sizes["hits"]
    assert all(keys[0].startswith("~ 2^") for keys, _ in sizes["entries"]) and sizes["folded"] == ""
    assert ";schedule" in by_event["sched:sched_switch"]["folded"]
    for one in by_event.values():
        assert view.write(f"events/{one['event'].replace(':', '/')}/trigger", f"!{one['trigger']}", True)["error"] == ""
    assert "hist" not in view.guest.check("cat show_event_triggers")


def test_longest_time(view):
    view.write("options/function-trace", "0")
    view.write("current_tracer", "irqsoff")
    view.guest.check("preemptirq_delay irq 3000")
    found = view.wait(lambda message: message["kind"] == "latency" and message["us"] >= 3000)
    view.write("current_tracer", "nop")
    view.write("options/function-trace", "1")
    assert found["tracer"] == "irqsoff" and "irqsoff latency trace" in found["trace"]


def test_another_clock(view):
    """Times begin anew, also those that a new page is told."""
    view.guest.check("echo before > trace_marker")
    before = view.wait(lambda message: "before" in json.dumps(message.get("marks", {})))["now"]
    view.write("trace_clock", "counter")
    view.guest.check("echo behind > trace_marker")
    assert view.wait(lambda message: "behind" in json.dumps(message.get("marks", {})))["now"] < before
    view.write("trace_clock", "local")
    assert view.hub.history_bytes == sum(map(len, view.hub.history))


def test_an_instance(view):
    """
    Its files, rings and commands take the place of the root's; what an instance has not is the root's as before. The event that
    is enabled is a rare one: of many the page is shown some, and these might lack the marks.
    """
    assert view.ask("api/instance", "POST", '{"name": "box"}')[0] == 400 and view.ask("api/instance", "POST", "{}")[0] == 400
    view.guest.check("mkdir instances/box instances/other; echo seen by nobody > trace_marker")
    view.wait(lambda message: message["kind"] == "settings" and message["settings"]["instances"] == ["box", "other"])
    view.json("api/instance", {"name": "box"})
    assert (
        view.write("events/sched/sched_process_exit/enable", "1")["command"]
        == "echo 1 > instances/box/events/sched/sched_process_exit/enable"
    )
    assert view.write("tracing_thresh", "0")["command"] == "echo 0 > tracing_thresh"
    wrong = view.write("current_tracer", "none_such")
    assert wrong["command"] == "echo none_such > instances/box/current_tracer" and wrong["error"].startswith("Invalid argument"), wrong
    assert view.guest.check("cat set_event") == "" and view.guest.check("cat instances/box/set_event") == "sched:sched_process_exit\n"
    view.guest.check("echo from the box > instances/box/trace_marker; echo from the root > trace_marker; sleep 0.1")
    assert view.wait(lambda message: "from the box" in json.dumps(message.get("marks", {})))
    marks = b"".join(view.hub.history)
    assert b"from the root" not in marks and b"seen by nobody" not in marks
    settings = view.wait(lambda message: message["kind"] == "settings")["settings"]
    assert settings["instance"] == "box" and settings["set_event"] == "sched:sched_process_exit" and "dynamic_events" not in settings["own"]
    assert "Device or resource busy" in view.guest.run("rmdir instances/box")[0]
    view.json("api/instance", {"name": ""})
    assert view.write("trace_marker", "the root again")["command"] == "echo 'the root again' > trace_marker"
    assert view.wait(lambda message: "the root again" in json.dumps(message.get("marks", {})))
    # Its rings are closed soon.
    view.guest.check("while ! rmdir instances/box 2> /dev/null; do sleep 0.1; done; rmdir instances/other")
    assert view.wait(lambda message: message["kind"] == "settings" and message["settings"]["instances"] == [])


def test_functions_and_why(view):
    names = view.json("api/functions")["list"]
    assert len(names) == int(view.guest.check("wc -l < available_filter_functions")) and "vfs_open" in names
    assert "vfs_open" in view.json("api/why?name=vfs_open")["text"]
    assert view.json("api/why")["text"].strip()
    assert view.ask("api/why?name=a%3Bpanic")[0] == 400


def test_a_terminal_of_lines(view):
    view.json("api/keys", {"text": "echo on\x7fe $((6*7)) |cat\r"})
    view.wait(lambda message: message["kind"] == "console" and "oe 42\r\nfathom# " in view.hub.console)
    view.json("api/keys", {"text": "sleep 1000\r"})
    view.wait(lambda _: view.server.console.running not in (None, True))
    view.json("api/keys", {"text": "\x03"})
    view.wait(lambda _: view.server.console.running is None)
    assert view.hub.console.endswith("sleep 1000\r\n^C\r\nfathom# ")


def test_text_of_histograms():
    text = """# event histogram
#
# trigger info: hist:keys=comm,bytes.log2:vals=hitcount,bytes:sort=hitcount:size=2048 [active]
#

{ comm: sh               , bytes: ~ 2^5  } hitcount:          2  bytes:         64
{ comm: kworker/0        , bytes: ~ 2^12 } hitcount:         11  bytes:      45056

Totals:
    Hits: 13
    Entries: 2
    Dropped: 1


# event histogram
#
# trigger info: hist:keys=common_stacktrace:vals=hitcount:sort=hitcount:size=2048 [paused]
#

{ common_stacktrace:
         schedule+0x5/0x10
         do_exit+0x1/0x20
} hitcount:          3

Totals:
    Hits: 3
    Entries: 1
    Dropped: 0
"""
    pairs, stacks = histogram.parse(text)
    assert pairs["entries"] == [
        (["sh", "~ 2^5"], {"hitcount": 2, "bytes": 64}),
        (["kworker/0", "~ 2^12"], {"hitcount": 11, "bytes": 45056}),
    ]
    assert (pairs["keys"], pairs["hits"], pairs["dropped"], pairs["state"]) == ("comm,bytes.log2", 13, 1, "active")
    assert stacks["entries"] == [(["schedule+0x5/0x10 do_exit+0x1/0x20"], {"hitcount": 3})] and stacks["state"] == "paused"


def test_a_kernel_that_ends(view):
    """The last one."""
    view.guest.close()
    assert "ended" in view.wait(lambda message: message["kind"] == "dead")["reason"]
    assert view.ask("api/file?name=trace")[0] == 503
    assert view.ask("")[0] == 200
