"""The server of `fathom view` without a kernel: requests of all kinds have an answer, and pages get what they have to."""
import json
import queue
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "host")]

from feed import Feed  # noqa: E402
from view import live as live_module  # noqa: E402
from view.kernel import Kernel  # noqa: E402
from view.live import Hub, Live  # noqa: E402
from view.server import LONGEST, Handler, Server  # noqa: E402
from view.shell import LineShell  # noqa: E402

SECONDS = 30  # the longest that anything may take on a slow machine


@pytest.fixture
def server(tmp_path):
    with Server(0, Live(Kernel(Feed(1000)), Hub()), None, tmp_path) as one:
        yield one
    assert not one.thread or not one.thread.is_alive()


def connected(server):
    return socket.create_connection(server.server_address, SECONDS)


def post(server, content, path="api/write", length=None, more=()):
    """A request as it goes over the line."""
    lines = [
        f"POST /{server.token}/{path} HTTP/1.1",
        f"Host: 127.0.0.1:{server.server_port}",
        f"Content-Length: {len(content) if length is None else length}",
        *more,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def answer_to(server, request):
    """(status, headers, body) of all answers until the server ends the connection, or for the first one if it does not."""
    with connected(server) as line:
        line.sendall(request)
        return answer_on(line.makefile("rb"))


def answer_on(stream):
    status = int(stream.readline().split()[1])
    headers = dict(row.decode().rstrip().split(": ", 1) for row in iter(stream.readline, b"\r\n"))
    return status, headers, stream.read(int(headers["Content-Length"]))


def as_json(**content):
    return json.dumps(content).encode()


WRITE = {"name": "set_event", "text": "x"}
REQUESTS = {  # what a request has, and the status of its answer
    "a length in words": (400, b"{}", {"length": "many"}),
    "a length below 0": (400, b"{}", {"length": "-1"}),
    "no length": (400, b"{}", {"length": ""}),
    "digits of others": (400, b"{}", {"length": "²"}),
    "a length without end": (400, b"{}", {"length": "9" * 5000}),
    "too long": (400, b"{}", {"length": LONGEST + 1}),
    "half a pair": (400, rb'{"name": "set_event", "text": "\ud800"}', {}),
    "half a pair as name": (400, rb'{"name": "\udfff", "text": ""}', {}),
    "deep": (400, b"[" * 200000, {}),
    "deep objects": (400, b'{"a":' * 100000, {}),
    "no text": (400, b"\xff\xfe{", {}),
    "a long name": (200, as_json(name="n" * 70000, text=""), {}),
    "no path": (400, b"{}", {"path": "//[x"}),
    "another page": (403, as_json(**WRITE), {"more": ["Origin: http://fathom.example"]}),
    "another port": (403, as_json(**WRITE), {"more": ["Origin: http://127.0.0.1:1"]}),
    "a page in a box": (403, as_json(**WRITE), {"more": ["Origin: null"]}),
    "no origin": (403, as_json(**WRITE), {"more": ["Origin: x"]}),
    "a wrong origin": (400, as_json(**WRITE), {"more": ["Origin: http://[x"]}),
    "a list": (400, b"[]", {}),
    "as it should be": (200, as_json(**WRITE), {}),
}


class Guest(Feed):
    """Texts are bytes there, and names have an end."""

    def write(self, path, text, append=False):
        text.encode(), path.encode()
        if len(path) > 0xFFFF:
            raise OSError(36, "File name too long")
        super().write(path, text, append)


@pytest.mark.parametrize("what", REQUESTS)
def test_each_request_is_answered(server, what):
    server.live.kernel.guest = Guest(1000)
    server.start()
    status, content, more = REQUESTS[what]
    got, _, body = answer_to(server, post(server, content, **more))
    assert got == status and (status == 200 or json.loads(body)["error"]), body
    assert answer_to(server, post(server, as_json(**WRITE)))[0] == 200


def test_a_request_that_does_not_say_how_long_it_is(server):
    server.start()
    request = post(server, b"").split(b"\r\n\r\n")[0]
    lines = [line for line in request.split(b"\r\n") if not line.lower().startswith(b"content-length")]
    assert answer_to(server, b"\r\n".join(lines) + b"\r\n\r\n")[0] == 400


def test_keys_of_the_terminal():
    """Those that show something are typed, as many as a line may have; the others do nothing."""
    said = []
    shell = LineShell(None, said.append)
    shell.type("a\tb\x01\x07c")
    assert shell.line == "abc" and said[1:] == ["a", "b", "c"]
    shell.type("\x7f\b")
    assert shell.line == "a"
    shell.type("\x15" + "x" * 100000)
    assert set(shell.line) == {"x"} and len(shell.line) < 100000


def test_other_requests(server):
    server.start()
    for path in (f"/{server.token}/page/{'n' * 300}", f"/{server.token}/page/a%00b", "/" + "%ff" * 9, f"/{server.token}/lib/%5b"):
        assert answer_to(server, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())[0] in (403, 404)
    assert answer_to(server, f"GET //[x HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())[0] in (400, 403)


def test_a_request_that_does_not_end(server, monkeypatch):
    monkeypatch.setattr(Handler, "timeout", 0.2)
    server.start()
    assert answer_to(server, post(server, b"{", length=100))[0] == 408


def test_what_is_behind_a_refused_request(server):
    """Its body is not read, so it must not be taken for the next request."""
    server.start()
    behind = post(server, as_json(**WRITE))
    with connected(server) as line:
        line.sendall(post(server, behind, more=["Origin: null"]))
        stream = line.makefile("rb")
        assert answer_on(stream)[0] == 403
        try:
            assert stream.read() == b""
        except ConnectionResetError:
            pass
    assert server.live.kernel.commands == []


def test_idle_connections(server):
    """They keep no other one out, and may come before the server has begun to look."""
    idle = [connected(server) for _ in range(50)]
    server.start()
    assert answer_to(server, post(server, as_json(**WRITE)))[0] == 200
    for line in idle:
        line.close()


def test_headers(server):
    server.start()
    _, headers, _ = answer_to(server, f"GET /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
    assert headers["Content-Security-Policy"].startswith("default-src 'self';") and headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-store"


def test_pages_that_have_gone(server):
    """The server forgets them: what is sent goes to those that are there."""
    server.start()
    line = connected(server)
    line.sendall(f"GET /{server.token}/stream HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
    assert line.recv(1000)
    hub, end = server.live.hub, time.monotonic() + SECONDS
    assert len(hub.pages) == 1
    line.close()
    while hub.pages:
        hub.send("now", {"now": 1})
        assert time.monotonic() < end
        time.sleep(0.01)


# ---- Messages that are sent ----


def test_a_new_page_gets_the_last_of_the_history(monkeypatch):
    monkeypatch.setattr(live_module, "HISTORY", 1000)
    hub = Hub()
    for number in range(100):
        hub.send("batch", {"number": number, "text": "x" * (number % 7 * 10)}, "history")
    numbers = [json.loads(one)["number"] for one in hub.join()[1] if b"batch" in one]
    assert numbers == list(range(numbers[0], 100)) and hub.history_bytes == sum(map(len, hub.history)) <= 1000
    assert hub.history_bytes > 800


def test_a_page_that_is_behind(monkeypatch):
    """It gets a gap and what is new, nothing of what was in front of it."""
    monkeypatch.setattr(live_module, "WAITING", 5)
    hub = Hub()
    page, _ = hub.join()
    for number in range(6):
        hub.send("one", {"number": number})
    assert [json.loads(page.get_nowait()) for _ in range(2)] == [{"kind": "gap"}, {"kind": "one", "number": 5}]
    with pytest.raises(queue.Empty):
        page.get_nowait()


def test_a_page_of_the_instance_before():
    """Events of its rings that are read when another one has been chosen are none of that one's."""
    live = Live(Kernel(Feed(1000)), Hub())
    rings, pages = live.opened, live.kernel.pages

    def chosen_meanwhile(*args):
        for one in pages(*args):
            live.choose("")
            yield one

    end = time.monotonic() + SECONDS
    live.kernel.pages = chosen_meanwhile
    while live.opened is rings:
        assert live.empty(rings, end) == set() and time.monotonic() < end
    assert not live.model.last and not live.model.cpus


def test_rings_that_are_read():
    """Their events go to the pages, again and again; those of an instance that was left are closed."""
    live = Live(Kernel(Feed(1000000)), Hub())
    page, _ = live.hub.join()
    first, closed, got = live.opened, [], []
    for cpu, file in first.items():
        file.close = lambda cpu=cpu: closed.append(cpu)
    reading = threading.Thread(target=live.rings)
    reading.start()
    while len(got) < 3:
        got += [one for one in [json.loads(page.get(timeout=SECONDS))] if one["kind"] == "batch"]
    assert not closed
    live.choose("")
    end = time.monotonic() + SECONDS
    while len(closed) < len(first):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert sorted(closed) == sorted(first) and live.opened is not first
    live.dead.set()
    reading.join(SECONDS)
    assert not reading.is_alive()


def test_sub_buffers_that_have_another_size():
    feed = Feed(1000)
    live = Live(Kernel(feed), Hub())
    live.look_at_settings()
    assert live.page_bytes == 4096
    feed.files["buffer_subbuf_size_kb"] = "16\n"
    live.look_at_settings()
    assert live.page_bytes == 16384


def told(page, kind):
    """The messages of a kind that wait for the page."""
    messages = []
    while not page.empty():
        messages.append(json.loads(page.get()))
    return [message for message in messages if message["kind"] == kind]


def test_settings_are_told_once():
    """The first ones begin nothing anew: there is no clock of before."""
    feed = Feed(1000)
    feed.files["trace_clock"] = "[local] counter\n"
    live = Live(Kernel(feed), Hub())
    model, page = live.model, live.hub.join()[0]
    told(page, "settings")
    live.look_at_settings()
    assert len(told(page, "settings")) == 1 and live.model is model
    live.look_at_settings()
    assert not told(page, "settings")
    feed.files["tracing_on"] = "0\n"
    live.look_at_settings()
    assert [message["settings"]["tracing_on"] for message in told(page, "settings")] == ["0"]


def test_another_clock_begins_anew():
    feed = Feed(1000)
    feed.files["trace_clock"] = "[local] counter\n"
    live = Live(Kernel(feed), Hub())
    live.look_at_settings()
    before, page = live.model, live.hub.join()[0]
    feed.files["trace_clock"] = "local [counter]\n"
    live.look_at_settings()
    assert live.model is not before and len(told(page, "restart")) == 1
    live.look_at_settings()
    assert not told(page, "restart")


def test_other_probes_have_other_formats():
    """A number may be that of another event now. Formats that are known stay while the probes do."""
    feed = Feed(1000)
    feed.files["dynamic_events"] = "\n"
    live = Live(Kernel(feed), Hub())
    live.look_at_settings()
    for probes, stay in (("\n", True), ("p:kprobes/one vfs_open\n", False), ("p:kprobes/one vfs_open\n", True), ("\n", False)):
        live.kernel.formats[4000] = live.model.handlers[4000] = None
        feed.files["dynamic_events"] = probes
        live.look_at_settings()
        assert (4000 in live.kernel.formats, 4000 in live.model.handlers) == (stay, stay)
