"""Figures of the documents, made of what bench.py has measured.

In docs/benchmarks.md and README.md the tables stand between comments: `<!-- bench NAME -->` and `<!-- /bench -->`.
Wall times are tables of their own. They differ from run to run, so a difference there is none of the document.
"""
import difflib
import re

from chart import chart
from rows import LINUX_PER_EVENT, PROBES, PROCESSES, ROWS, SYSTEM, TEN

DOCUMENTS = ("docs/benchmarks.md", "docs/bench.svg", "README.md")
BLOCK = re.compile(r"(<!-- bench (\w+) -->\n).*?(<!-- /bench -->)", re.S)


def number(value):
    """As documents have it: one place behind the point for what is small. No figure is "-"."""
    if value is None:
        return "-"
    text = f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"
    return text.removesuffix(".0")


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def figures(names, result):
    """A table of rows with their targets."""
    rows = []
    for name, (what, unit, _, _) in names.items():
        row = result[name]
        rows.append([f"`{name}`", what, unit, number(row["linux"]), number(row["target"]), number(row["value"])])
    return ["name", "what", "unit", "Linux 6.1", "target", "Fathom"], rows


def system(result):
    return table(*figures(SYSTEM, result))


def sites(more):
    rows = [[f"{row['sites']:,}", number(row["insn_per_site"]), str(row["syncs"])] for row in more["patch_scaling"]]
    return table(["sites", "instructions per site", "core syncs"], rows)


def wall(more):
    keys = [key for key in more["patch_scaling"][0] if key.startswith("ms_")]
    head = ["sites", *(f"ms, {key[3:-3]} CPU{'' if key == 'ms_1cpu' else 's'}" for key in keys)]
    return table(head, [[f"{row['sites']:,}", *(number(row[key]) for key in keys)] for row in more["patch_scaling"]])


def hackbench(more):
    rows = [
        [
            row["run"],
            f"`{row['tracer']}`",
            number(row["instructions"] / 1e6),
            f"{row['events']:,}",
            number(row["events_per_message"]),
            number(row["slow_down"]),
            number(row["instructions_per_event"]),
        ]
        for row in more["hackbench"]
    ]
    linux = [
        ["Linux 6.1, pairs of processes", f"`{tracer}`", "-", "-", "-", number(SYSTEM[name][2]), number(LINUX_PER_EVENT[tracer])]
        for tracer, name in (("function", "slow_function"), ("function_graph", "slow_graph"))
    ]
    head = ["hackbench", "tracer", "million instructions", "events", "events per message", "slow-down", "instructions per event"]
    return table(head, rows + linux)


def ten(result):
    rows = [[what, number(result[name]["linux"]), number(result[name]["value"])] for name, what in TEN.items()]
    return table(["instructions", "Linux 6.1", "Fathom"], rows)


def written(old, result, more):
    """The documents, path to text, with these figures in place of the old ones."""
    blocks = {
        "rows": table(*figures(ROWS, result)),
        "probes": table(*figures(PROBES, result)),
        "processes": table(*figures(PROCESSES, result)),
        "system": system(result),
        "sites": sites(more),
        "wall": wall(more),
        "hackbench": hackbench(more),
        "ten": ten(result),
    }
    bars = [(what.replace("`", ""), result[name]["linux"], result[name]["value"]) for name, what in TEN.items()]
    new = {path: BLOCK.sub(lambda found: found[1] + blocks[found[2]] + found[3], text) for path, text in old.items()}
    return new | {"docs/bench.svg": chart(bars, number)}


def counted(text):
    """Without the tables of wall times."""
    return BLOCK.sub(lambda found: "" if found[2] == "wall" else found[0], text).splitlines()


def changes(old, new):
    """Lines of the documents that are others now: `PATH: -OLD LINE`, `PATH: +NEW LINE`."""
    for path in old:
        for line in difflib.unified_diff(counted(old[path]), counted(new[path]), n=0, lineterm=""):
            if not line.startswith(("---", "+++", "@@")):
                yield f"{path}: {line}"


def above(result):
    """Figures over their targets."""
    return [f"{name} {row['value']:,}, target {row['target']:,}" for name, row in result.items() if row["value"] > row["target"]]
