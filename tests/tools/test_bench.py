"""The documents' figures: a row that differs from bench.json is named, and a figure over its target."""
import sys

import pytest

from tablekit import ROOT

sys.path.insert(0, str(ROOT / "tests/bench"))
import bench  # noqa: E402
import tables  # noqa: E402
from rows import PROBES, PROCESSES, ROWS, SYSTEM  # noqa: E402

HACKBENCH = {"run": "1 1000", "tracer": "nop", "instructions": 147e6, "events": 0, "events_per_message": 0}
MORE = {
    "patch_scaling": [{"generated": 1000, "sites": 2989, "insn_per_site": 142.675, "syncs": 3, "ms_1cpu": 5.9, "ms_2cpu": 6.9}],
    "hackbench": [HACKBENCH | {"slow_down": 1, "instructions_per_event": None}],
}
BLOCKS = {"rows", "probes", "processes", "system", "sites", "wall", "hackbench", "ten"}


@pytest.fixture
def result():
    """Of each row half its target, as bench.json has it."""
    return {
        name: {"value": target / 2, "unit": unit, "linux": linux, "target": target}
        for name, (_, unit, linux, target) in (ROWS | PROBES | PROCESSES | SYSTEM).items()
    }


@pytest.fixture
def documents():
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in tables.DOCUMENTS}


def test_a_row_that_differs(documents, result):
    old = tables.written(documents, result, MORE)
    assert not list(tables.changes(old, tables.written(old, result, MORE)))
    result["event_int"]["value"] = 99.96
    new = tables.written(old, result, MORE)
    head = "docs/benchmarks.md: {}| `event_int` | event with one int | instructions | 587 | 105 | {} |"
    changed = list(tables.changes(old, new))
    assert changed[:2] == [head.format("-", "52.5"), head.format("+", "100")]
    assert "README.md: +| a trace event recorded | 587 | 100 |" in changed
    assert any(line.startswith("docs/bench.svg: +") for line in changed)


def test_a_wall_time_is_no_difference(documents, result):
    old = tables.written(documents, result, MORE)
    MORE["patch_scaling"][0]["ms_1cpu"] = 77.7
    new = tables.written(old, result, MORE)
    assert "77.7" in new["docs/benchmarks.md"]
    assert not list(tables.changes(old, new))


def test_each_table_has_its_place(documents):
    """And the figures that a build is said to have are there for all rows."""
    assert {found[2] for text in documents.values() for found in tables.BLOCK.finditer(text)} == BLOCKS
    assert all(f"| `{name}` |" in documents["docs/benchmarks.md"] for name in ROWS | PROBES | PROCESSES | SYSTEM)


def test_a_figure_over_its_target(result, tmp_path, monkeypatch, documents):
    """`make bench` fails by it, whatever the documents say."""
    assert tables.above(result) == []
    result["image_bytes"]["value"] = 1_048_577
    assert tables.above(result) == ["image_bytes 1,048,577, target 1,048,576"]
    for path, text in documents.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "measure_all", lambda build, quick: (result, MORE))
    monkeypatch.setattr(sys, "argv", ["bench.py", "--build", str(tmp_path)])
    with pytest.raises(SystemExit, match="above their targets: image_bytes"):
        bench.main()
    assert "| 1,048,577 |" in (tmp_path / "docs/benchmarks.md").read_text()

    result["image_bytes"]["value"] = 944_126
    monkeypatch.setattr(sys, "argv", ["bench.py", "--build", str(tmp_path), "--check"])
    with pytest.raises(SystemExit, match="the documents differ"):
        bench.main()
    assert "| 1,048,577 |" in (tmp_path / "docs/benchmarks.md").read_text()
    monkeypatch.setattr(sys, "argv", ["bench.py", "--build", str(tmp_path)])
    bench.main()
    monkeypatch.setattr(sys, "argv", ["bench.py", "--build", str(tmp_path), "--check", "--given"])
    bench.main()
