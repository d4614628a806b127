"""mask.py on the samples: it knows all lines of a trace, forgives all facts, forgives no blank."""
import re

import pytest

from mask import SAMPLES, header, layout, nesting, sample, shape, strange, transcript

TRACES = sorted(
    p.name
    for p in SAMPLES.iterdir()
    if re.match(r"12-cpus|graph|irqsoff|preempt|wakeup|stack-trace$|function(?!-lost-while-read)|clocks|profile$", p.name)
    and not p.name.startswith("irqsoff-settings")
)


def lines(name):
    """The lines of the sample that a tracer printed."""
    return [l for l in sample(name).split("\n") if l and not re.match(r"\$ |---|sh: |\d+$|\w+$|.*local.* mono ", l)]


@pytest.mark.parametrize("name", TRACES)
def test_knows_each_line(name):
    assert [l for l in lines(name) if shape(l) is None] == []


def columns_end(line):
    """Where free text begins, whose blanks are facts; the end of the line when there is none."""
    m = re.search(r"/\* (?![\w.]+ \*/)|buf:|(?<=: )[\w.+/]+: ", line)
    return m.end() - 1 if m else len(line)


def mutants(line):
    """The line with one blank more, and with one blank less, at each place."""
    end = columns_end(line)
    for at in range(end + (end == len(line))):
        yield line[:at] + " " + line[at:]
        if line[at : at + 1] == " " and at < end:
            yield line[:at] + line[at + 1 :]


@pytest.mark.parametrize("name", TRACES)
def test_forgives_no_blank(name):
    """One line of each shape: none of its mutants may have a shape of the sample."""
    known = layout(sample(name)) - {None}
    seen = set()
    for line in lines(name):
        if shape(line) in seen or shape(line) is None:
            continue
        seen.add(shape(line))
        assert [m for m in mutants(line) if shape(m) in known] == [], (line, shape(line))


LINE = "              sh-129     [001] .....     3.511806: vfs_write <-ksys_write"
CALL = " 1) + 31.213 us   |      gold_leaf();"


@pytest.mark.parametrize(
    "facts",
    [
        "kworker/u9:12345-1234567 [017] dNH12 12345.511806: other.part.0 <-else_where",
        "          <idle>-0       [000] d.h1.     0.000001: x <-0xffffffffa0000083",
    ],
)
def test_forgives_facts(facts):
    assert shape(facts) == shape(LINE)


def test_forgives_facts_of_calls():
    for facts in (" 0)   0.166 us    |  a();", " 7) $ 1200013 us  |            b_c_d.isra.0();", " 3) * 12010.14 us |  func [module]();"):
        assert shape(facts) == shape(CALL)


@pytest.mark.parametrize(
    "wrong",
    [
        LINE.replace("[001]", "[01]"),
        LINE.replace(".....", "...."),
        LINE.replace("<-", "<- "),
        LINE.replace("3.511806", "3.51180"),
        LINE.replace(" sh-129 ", "sh-129"),
        LINE + " ",
        LINE.replace(".....", "..x.."),
        LINE.replace("-129     ", "-129    "),
        LINE.replace("    3.5", "   3.5"),
        CALL.replace("();", "()"),
        CALL.replace("us   |", "us  |"),
        CALL.replace("+", "%"),
        CALL[1:],
        CALL.replace("|  ", "|   "),
        CALL.replace("31.213", "31.2130"),
        CALL.replace("\x20us", "us"),
    ],
)
def test_is_strict(wrong):
    known = layout(sample("function")) | layout(sample("graph"))
    assert shape(wrong) not in known - {None}


def test_strange_names_the_line():
    ours = sample("graph").replace("gold_leaf();", "gold_leaf() ;", 1)
    assert [line[-13:] for line, _ in strange(ours, sample("graph"))] == ["gold_leaf() ;"]
    assert strange(sample("graph"), sample("graph")) == []


def test_blank_lines_have_their_place():
    """One stands behind each switch of tasks, and nowhere else."""
    text = sample("graph")
    assert strange(text.replace("}\n", "}\n\n", 1), text) == [("", "blank behind graph  CPU1) MARK DURATION12|  }")]


@pytest.mark.parametrize("name", ["function", "irqsoff", "graph", "irqsoff-display-graph"])
def test_headers(name):
    text = sample(name)
    assert header(text) == header(re.sub(r"(?<=[#/ ])\d+(?=/\d|,| us)", "987654", text))
    assert header(text) != header(text.replace("|   ", "|  ", 1))
    assert header(text) != header(text.replace("#\n", "", 1))


# Where calls were lost at the beginning, or returns only were recorded, there is no nesting to follow.
NESTED = (
    "graph",
    "graph-proc",
    "graph-abstime",
    "graph-latency-format",
    "graph-outer",
    "graph-depth-2",
    "graph-tail",
    "graph-deep",
    "graph-irq-entry",
    "graph-no-duration",
    "irqsoff-display-graph",
)


@pytest.mark.parametrize("name", NESTED)
def test_nesting(name):
    text = sample(name)
    assert nesting(text) == []
    deeper = re.sub(r"(\|?)( +)(\w+\(\);)", r"\1\2  \3", text, count=1)
    assert deeper == text or nesting(deeper) != []


def test_hex_without_letters():
    assert shape("00000007 00000001 0000000100650678 type: 16") == "hex type: N"


def test_transcript():
    said = transcript("errors")
    assert said[0] == ("echo nosuch > current_tracer", "sh: write error: Invalid argument\n")
    assert ("cat current_tracer", "nop\n") in said and len(said) > 80


def test_each_sample_has_its_section():
    """What was typed is known of every sample, and every section was taken."""
    sessions = (SAMPLES / "capture").glob("session*")
    sections = {name for s in sessions for name in re.findall(r"^== (\S+)$", s.read_text(), re.M)}
    assert sections == {p.name for p in SAMPLES.iterdir() if p.is_file() and p.name != "README.md"}
