"""Scripts on the page of `fathom view`, without a kernel: tables read back from `maps`, the script that is typed, the messages of a page."""
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "host")]

from feed import Feed, File  # noqa: E402
from view.kernel import Kernel  # noqa: E402
from view.live import Hub, Live  # noqa: E402
from view.scripts import MOST, Scripts, tables  # noqa: E402

BAR = "|@@@@@@@@|"
MAPS = f"""\
@: 12
@by[sh, 3]: 7
@by[a]: b, 4]: 9
@h:{" "}
[1]                    1 {BAR}
[2, 4)                 0 |        |
(..., 0)              12 {BAR}

@k[
    vfs_read+5
    reader_fill+69
]: 2
@k[
    idle+3
, 1]: 5
@l[cat]:{" "}
[0, 10)                3 {BAR}
[10, ...)              4 {BAR}

@m: -5
@s[1]: count 3, average 4, total 12
@t: (1, two)
"""


def short(one):
    return one["key"], one["value"], one["number"], one["bars"]


def test_tables():
    found = {table["name"]: [short(one) for one in table["entries"]] for table in tables(MAPS)}
    assert found == {
        "@": [("", "12", 12, [])],
        "@by": [("sh, 3", "7", 7, []), ("a]: b, 4", "9", 9, [])],
        "@h": [("", "", 0, [("[1]", 1), ("[2, 4)", 0), ("(..., 0)", 12)])],
        "@k": [("vfs_read+5 reader_fill+69", "2", 2, []), ("idle+3 , 1", "5", 5, [])],
        "@l": [("cat", "", 0, [("[0, 10)", 3), ("[10, ...)", 4)])],
        "@m": [("", "-5", -5, [])],
        "@s": [("1", "count 3, average 4, total 12", 12, [])],
        "@t": [("", "(1, two)", 0, [])],
    }


@pytest.mark.parametrize("text", ["", "\n", "@", "@[", "@[\n a+1", "[1]  3 |@|", "]: 3\n: 2", "Attaching"])
def test_texts_that_are_cut(text):
    """No more comes of them than was there."""
    assert sum(len(one["bars"]) for table in tables(text) for one in table["entries"]) == 0


def test_large_tables():
    entries = tables("".join(f"@[{n}]: {n}\n" for n in range(MOST + 5)))[0]["entries"]
    assert len(entries) == MOST and entries[-1]["number"] == MOST + 4


class Output:
    """Pieces, and then nothing for now."""

    def __init__(self, pieces):
        self.pieces = pieces

    def read(self, _count):
        if not self.pieces:
            raise BlockingIOError
        return self.pieces.pop(0)


class Guest(Feed):
    """A kernel with scripts; it takes no program with the word `bad`."""

    def __init__(self):
        super().__init__(1000)
        self.scripts = {"other": {"enable": "1\n", "program": "BEGIN { }\n", "maps": "@: 3\n"}, "gone": {}}
        self.pieces = [b"one\n", b"two\n"]

    def names(self, path):
        return list(self.scripts) if path == "scripts" else super().names(path)

    def mkdir(self, path):
        self.scripts[path.removeprefix("scripts/")] = {"enable": "0\n", "program": "", "maps": ""}

    def open(self, path, *flags):
        parts = path.split("/")
        if parts[0] != "scripts":
            return super().open(path, *flags)
        if parts[2] == "output":
            return Output(self.pieces)
        if parts[2] not in self.scripts[parts[1]]:
            raise FileNotFoundError
        return File(self.scripts[parts[1]][parts[2]].encode())

    def write(self, path, text, append=False):
        _, name, file = path.split("/")
        if "bad" in text:
            raise OSError(22, "Invalid argument")
        self.scripts[name][file] = text


def test_a_script_that_is_typed():
    scripts = Scripts(Kernel(Guest()))
    assert scripts.look() == {
        "list": [{"name": "other", "on": True, "program": "BEGIN { }", "tables": tables("@: 3")}],
        "said": "",
    }
    assert scripts.run("kprobe:f { @ = count(); }")["error"] == ""
    assert [one["command"] for one in scripts.kernel.commands] == [
        "mkdir scripts/view",
        "echo 0 > scripts/view/enable",
        "echo 'kprobe:f { @ = count(); }' > scripts/view/program",
        "echo 1 > scripts/view/enable",
    ]
    found = scripts.look()
    assert [(one["name"], one["on"]) for one in found["list"]] == [("other", True), ("view", True)]
    assert found["said"] == "one\n" and scripts.look()["said"] == "one\ntwo\n" and scripts.look()["said"] == "one\ntwo\n"
    # It is replaced, and a mistake keeps it from running.
    assert scripts.run("bad")["error"] == "Invalid argument"
    assert [one["on"] for one in scripts.look()["list"]] == [True, False]


def test_kernels_without_scripts():
    class Without(Guest):
        def names(self, path):
            if path == "scripts":
                raise FileNotFoundError
            return super().names(path)

    assert Scripts(Kernel(Without())).look() == {"list": [], "said": ""}


def test_pages_are_told():
    live = Live(Kernel(Guest()), Hub())
    page = live.hub.join()[0]
    live.look()
    messages = [json.loads(page.get()) for _ in range(page.qsize())]
    told = [one for one in messages if one["kind"] == "scripts"]
    assert [one["name"] for one in told[0]["list"]] == ["other"]
    assert live.run_script("BEGIN { }")["error"] == ""
