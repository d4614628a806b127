"""The messages that pages of `fathom view` get, without a kernel: new pages, other instances, latencies, the kernel's time."""
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "host")]

from feed import Feed  # noqa: E402
from view import live as live_module  # noqa: E402
from view.kernel import Kernel  # noqa: E402
from view.live import Hub, Live  # noqa: E402


@pytest.fixture
def live():
    return Live(Kernel(Feed(1000)), Hub())


def told(page):
    """The messages that wait for the page: kinds and contents."""
    messages = []
    while not page.empty():
        messages.append(json.loads(page.get()))
    return messages


def kinds(messages):
    return [message["kind"] for message in messages]


def known(hub):
    """The messages for a page that joins now."""
    page, before = hub.join()
    hub.leave(page)
    return [json.loads(message) for message in before]


def test_a_new_page_gets_what_is_kept(monkeypatch):
    monkeypatch.setattr(live_module, "CONSOLE", 5)
    hub = Hub()
    for number in (1, 2):
        hub.send("new", {"number": number}, "newest")
        hub.send("seldom", {"number": number}, "rare")
        hub.send("often", {"number": number}, "history")
        hub.send("once", {"number": number})
    hub.say("abc")
    hub.say("defg")
    found = known(hub)
    assert [(message["kind"], message.get("number")) for message in found] == [
        ("new", 2),
        ("seldom", 1),
        ("seldom", 2),
        ("console", None),
        ("often", 1),
        ("often", 2),
    ]
    assert found[3]["text"] == "cdefg"


@pytest.mark.parametrize("rare", (False, True))
def test_history_is_forgotten(rare):
    hub = Hub()
    hub.send("seldom", {}, "rare")
    hub.send("often", {}, "history")
    hub.forget_history(rare=rare)
    assert kinds(known(hub)) == (["console"] if rare else ["seldom", "console"]) and hub.history_bytes == 0


@pytest.mark.parametrize("others", (False, True))
def test_beginning_anew(live, others):
    """Another clock keeps what is rare, and the flame graph; another instance has others."""
    live.hub.send("seldom", {}, "rare")
    live.hub.send("often", {}, "history")
    live.ahead, page = 5, live.hub.join()[0]
    live.begin_anew(has_other_events=others)
    messages = told(page)
    assert live.ahead is None and messages[0] == {"kind": "restart", "all": others}
    assert kinds(messages[1:]) == (["flame", "times"] if others else [])
    left = kinds(known(live.hub))
    assert "often" not in left and ("seldom" in left) != others


def test_news_and_time(live):
    """Without events a page is told only the time, and that is not kept."""
    page = live.hub.join()[0]
    live.tell({"slices": [], "counts": {}})
    live.tell({"slices": [1], "counts": {}})
    assert kinds(told(page)) == ["now", "batch"]
    assert [kind for kind in kinds(known(live.hub)) if kind in ("now", "batch")] == ["batch"]


def test_only_a_longer_latency_is_told(live):
    """The maximum of a tracer; the next one begins with none."""
    page = live.hub.join()[0]
    live.kernel.latency = lambda: longest
    live.kernel.read = lambda *_: "a trace"
    seen = []
    for tracer, longest in (("irqsoff", 0), ("irqsoff", 7), ("irqsoff", 7), ("irqsoff", 3), ("irqsoff", 5), ("nop", 9), ("wakeup", 4)):
        live.look_at_latency({"current_tracer": tracer})
        seen += [(message["tracer"], message["us"]) for message in told(page) if message["kind"] == "latency"]
    assert seen == [("irqsoff", 7), ("irqsoff", 5), ("wakeup", 4)]
    assert kinds(known(live.hub)).count("latency") == 3
