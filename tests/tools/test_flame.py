"""`tools/fathom flame` on files put together here: sums, well-formed pictures, names of all kinds, speedscope's format."""
import json
import re
import struct
import subprocess
import sys
import types
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import datkit
from test_read_dat import FORMATS, SYMBOLS, demo, enter, header, leave, parts

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from host import flame  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
CALLS = [
    (1, enter(0x100, 0)),
    (2, enter(0x200, 1)),
    (5, leave(0x200, 1, 5)),
    (1, leave(0x100, 0, 8)),
    (4, enter(0x200, 0)),
    (10, leave(0x200, 0, 10)),
    (1, enter(0x100, 0, pid=6)),
    (3, leave(0x100, 0, 3, pid=6)),
]


def fathom(*words, **more):
    return subprocess.run([ROOT / "tools/fathom", "flame", *words], capture_output=True, text=True, timeout=60, **more)


def drawn(path):
    """{name: [(share where it begins, its share, row, what the pointer shows)]} of a picture."""
    found = {}
    for group in ElementTree.parse(path).getroot().iter(f"{SVG}g"):
        if group.get("class") == "f":
            found.setdefault(group.get("data-name"), []).append(
                (float(group.get("data-x")), float(group.get("data-w")), int(group.get("data-row")), group.find(f"{SVG}title").text)
            )
            rect = group.find(f"{SVG}rect")
            assert abs(float(rect.get("width")) - 1180 * float(group.get("data-w"))) < 0.01
    return found


def folded(profile, frames):
    """{path: weight} of a profile of speedscope's."""
    found = {}
    if profile["type"] == "sampled":
        for sample, weight in zip(profile["samples"], profile["weights"]):
            path = tuple(frames[number]["name"] for number in sample)
            found[path] = found.get(path, 0) + weight
        return found
    stack, before = [], profile["startValue"]
    for event in profile["events"]:
        assert before <= event["at"] <= profile["endValue"]
        if stack:
            path = tuple(frames[number]["name"] for number in stack)
            found[path] = found.get(path, 0) + event["at"] - before
        before = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            assert stack.pop() == event["frame"]
    assert not stack
    return {path: weight for path, weight in found.items() if weight}


def test_calls(tmp_path):
    data = datkit.version_6(
        datkit.Parts(FORMATS, {0: datkit.page(100, *(datkit.record(*one) for one in CALLS))}, kallsyms=SYMBOLS, cmdlines="5 same\n6 same\n")
    )
    (tmp_path / "trace.dat").write_bytes(data)
    run = fathom("-o", "x.svg", "--speedscope", "x.json", cwd=tmp_path)
    assert run.returncode == 0 and run.stdout == "x.svg and x.json: 21 ns, 3 different stacks\n", run
    boxes = drawn(tmp_path / "x.svg")
    assert {name: [box[1:] for box in found] for name, found in boxes.items()} == {
        "all": [(1, 0, "all (21 ns, 100.0%)")],
        "[same]": [(1, 1, "[same] (21 ns, 100.0%)")],
        "first": [(0.523809524, 2, "first (11 ns, 52.4%)")],
        "second": [(0.238095238, 3, "second (5 ns, 23.8%)"), (0.476190476, 2, "second (10 ns, 47.6%)")],
    }
    scope = json.loads((tmp_path / "x.json").read_text())
    assert [profile["name"] for profile in scope["profiles"]] == ["same-5", "same-6"] and scope["profiles"][0]["unit"] == "nanoseconds"
    assert [folded(profile, scope["shared"]["frames"]) for profile in scope["profiles"]] == [
        {("first",): 3, ("first", "second"): 5, ("second",): 10},
        {("first",): 3},
    ]


class Recorded:
    """A recording of (ns, pid, event's name, depth, function)."""

    def __init__(self, *events):
        self.listed = events

    def events(self):
        for ts, pid, name, depth, function in self.listed:
            numbers = {"depth": depth, "duration": 0}
            yield types.SimpleNamespace(
                ts=ts, pid=pid, cpu=0, system="", name=name, fields=numbers, number=numbers.get, function=lambda name=function: name
            )

    @staticmethod
    def comm(pid):
        return f"t{pid}"


def test_calls_at_the_end():
    """A part of a recording: calls that are open at its end go on to it, those of a thread that has exited do not."""
    recording = Recorded(
        (10, 1, "funcgraph_entry", 0, "hangs"),
        (20, 2, "funcgraph_entry", 0, "over"),
        (30, 2, "funcgraph_exit", 0, "over"),
        (60, 3, "funcgraph_entry", 0, "exits"),
        (70, 3, "sched_process_exit", 0, ""),
        (75, 3, "funcgraph_entry", 1, "last"),
        (100, 4, "sched_switch", 0, ""),
    )
    assert flame.of_recording(recording, None, None, 50, 100).stacks == {("[t1]", "hangs"): 50, ("[t3]", "exits"): 15}
    assert flame.of_recording(recording, None, None).stacks == {("[t2]", "over"): 10, ("[t3]", "exits"): 15}


def test_stacks(tmp_path):
    def stack(*addresses):
        return header(4) + b"".join((0x80100000 + address).to_bytes(4, "little") for address in addresses)

    records = [demo(1), stack(0x110, 0x210), demo(2), stack(0x110, 0x220), header(1) + bytes(8), stack(0x210)]
    (tmp_path / "trace.dat").write_bytes(datkit.version_6(parts({0: datkit.page(100, *(datkit.record(1, one) for one in records))})))
    for words, total, firsts in (
        ((), 3, 2),
        (("--event", "demo"), 2, 2),
        (("--event", "test:demo"), 2, 2),
        (("--event", "function"), 1, 0),
    ):
        run = fathom("-o", "x.svg", "--speedscope", "x.json", *words, cwd=tmp_path)
        assert run.returncode == 0 and f": {total}, " in run.stdout
        boxes = drawn(tmp_path / "x.svg")
        assert boxes["all"][0][3] == f"all ({total}, 100.0%)" and round(boxes.get("first", [(0, 0)])[0][1] * total) == firsts
        scope = json.loads((tmp_path / "x.json").read_text())
        assert sum(sum(folded(profile, scope["shared"]["frames"]).values()) for profile in scope["profiles"]) == total
    assert fathom("--of", "calls", cwd=tmp_path).returncode == 5


def test_folded_text_and_hostile_names(tmp_path):
    """Everything but the ends of lines and ; can be in a name: nothing of it becomes part of the picture's language."""
    names = ["<script>alert(1)</script>", "a&b'\"<>", "]]>", "bell\a and \udcff", "äö→", "x" * 500, "__proto__", "</svg>"]
    lines = [f"outer;{name} {number + 1}" for number, name in enumerate(names)] + ["outer 100", "other;inner 64", "", "# a comment"]
    (tmp_path / "stacks").write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    run = fathom("stacks", "-o", "x.svg", "--speedscope", "x.json", "--title", '<&">', cwd=tmp_path)
    assert run.returncode == 0, run
    boxes, text = drawn(tmp_path / "x.svg"), (tmp_path / "x.svg").read_text()
    assert boxes["outer"][0][3] == "outer (136, 68.0%)" and boxes["other"][0][3] == "other (64, 32.0%)"
    assert len(boxes) == len(names) + 4 and "bell? and \ufffd" in boxes and "äö→" in boxes
    assert text.count("<script>") == 1 and text.count("</svg>") == 1 and "alert(1)" not in text.split("<script>")[1]
    row = [box for found in boxes.values() for box in found if box[2] == 2]
    assert abs(sum(box[1] for box in row) - 100 / 200) < 1e-6  # 1 + ... + 8 in outer, 64 in other
    scope = json.loads((tmp_path / "x.json").read_text())
    assert sum(scope["profiles"][0]["weights"]) == 200


def test_what_is_too_small_is_left_out(tmp_path):
    (tmp_path / "stacks").write_text("a;b 1\na;c 99\n")
    for words, names in (
        ([], {"all", "a", "b", "c"}),
        (["--min", "2"], {"all", "a", "c"}),
        (["--min", "100"], {"all", "a"}),
        (["--min", "500"], {"all", "a"}),
    ):
        assert fathom("stacks", "-o", "x.svg", *words, cwd=tmp_path).returncode == 0
        assert set(drawn(tmp_path / "x.svg")) == names


def test_boxes_lie_on_their_callers(tmp_path):
    (tmp_path / "stacks").write_text("".join(f"a{i % 3};b{i % 5};c{i % 7} {i * i + 1}\n" for i in range(200)))
    assert fathom("stacks", "-o", "x.svg", cwd=tmp_path).returncode == 0
    boxes = [box for found in drawn(tmp_path / "x.svg").values() for box in found]
    for begin, width, row, _ in boxes:
        assert row == 0 or any(one[2] == row - 1 and one[0] <= begin + 1e-8 and one[0] + one[1] >= begin + width - 1e-8 for one in boxes)
    for row in range(4):
        line = sorted(box for box in boxes if box[2] == row)
        assert (
            all(left[0] + left[1] <= right[0] + 1e-8 for left, right in zip(line, line[1:])) and abs(sum(box[1] for box in line) - 1) < 1e-6
        )


def test_mistakes(tmp_path):
    (tmp_path / "bad").write_text("a;b 3\na;b three\n")
    (tmp_path / "empty").write_text("# nothing\n")
    (tmp_path / "none").write_bytes(datkit.version_6(parts({0: datkit.page(1, datkit.record(1, demo(1)))})))
    for words, code, said in (
        (["bad"], 1, "line 2"),
        (["empty"], 5, "no stacks"),
        (["none"], 5, "no stacks"),
        (["nosuch"], 1, "there is no nosuch"),
        (["none", "--of", "nothing"], 2, "invalid choice"),
        (["--hist", "sched/sched_switch", "--channel", "no"], 3, "no kernel"),
    ):
        run = fathom(*words, cwd=tmp_path)
        assert run.returncode == code and said in run.stderr and not run.stdout, run
    assert not re.search(r"\.svg", " ".join(path.name for path in tmp_path.iterdir()))


def check_three_stacks(folder, own, records):
    """The picture of these records has one stack of the program and the kernel, one of the program, one of the kernel."""
    pages = {0: datkit.page(100, *(datkit.record(1, one) for one in records))}
    (folder / "trace.dat").write_bytes(datkit.version_6(datkit.Parts(own, pages, kallsyms=SYMBOLS, cmdlines="5 five\n")))
    run = fathom("-o", "x.svg", "--speedscope", "x.json", cwd=folder)
    assert run.returncode == 0 and ": 3, " in run.stdout, run
    scope = json.loads((folder / "x.json").read_text())
    assert folded(scope["profiles"][0], scope["shared"]["frames"]) == {
        ("0x402000", "0x401000", "first"): 1,
        ("0x402000", "0x401000"): 1,
        ("first",): 1,
    }


def test_stacks_of_programs(tmp_path):
    """A program's addresses lie below the functions of the kernel that the same event shows."""
    own = {
        **FORMATS,
        "ftrace": [
            *FORMATS["ftrace"],
            datkit.format_of("user_stack", 12, [("unsigned int tgid", 8, 4, 0), ("unsigned long caller[2]", 16, 16, 0)]),
        ],
    }
    kernel = header(4) + (0x80100110).to_bytes(4, "little")
    user = header(12) + struct.pack("<II2Q", 5, 0, 0x401000, 0x402000)
    records = [demo(1), kernel, user, demo(2), user, demo(3), kernel]
    check_three_stacks(tmp_path, own, records)


def test_stacks_that_come_late(tmp_path):
    """A program's stack that was written when it went on belongs to the events before, also when others stand in between."""
    stack = datkit.format_of("user_stack", 12, [("unsigned int tgid", 8, 4, 0), ("unsigned long caller[2]", 16, 16, 0)])
    kernel = header(4) + (0x80100110).to_bytes(4, "little")
    user = header(12) + struct.pack("<II2Q", 5, 0, 0x401000, 0x402000)
    records = [demo(1), kernel, demo(2), user, demo(3), kernel]
    check_three_stacks(tmp_path, {**FORMATS, "ftrace": [*FORMATS["ftrace"], stack]}, records)


def test_stacks_of_sampled_programs(tmp_path):
    """The stack of a program, which comes when it goes on, belongs to all samples of its thread before it."""
    stack = datkit.format_of("user_stack", 12, [("unsigned int tgid", 8, 4, 0), ("unsigned long caller[2]", 16, 16, 0)])
    own = {
        **FORMATS,
        "ftrace": [*FORMATS["ftrace"], stack],
        "profile": [datkit.format_of("sample", 51, [("unsigned long ip", 8, 8, 0)])],
    }
    sample, other = (header(51, pid) + struct.pack("<Q", 0) for pid in (5, 6))
    kernel = header(4) + (0x80100110).to_bytes(4, "little")
    user = header(12) + struct.pack("<II2Q", 5, 0, 0x401000, 0x402000)
    records = [sample, kernel, other, sample, demo(1, pid=6), user, sample, kernel]
    check_three_stacks(tmp_path, own, records)
