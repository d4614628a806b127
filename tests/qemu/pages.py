"""Pages of docs/questions/ as tests need them: their lines, and their pictures."""
import os
import re
import shutil
import xml.etree.ElementTree as ElementTree

from guest import ROOT

FOLDER = ROOT / "docs/questions"
LARGEST_PICTURE = 60000


def text_of(page):
    return (FOLDER / f"{page}.md").read_text()


def steps(text):
    """[(prompt, command, lines that it shows)]"""
    found = []
    for line in re.findall(r"^    (.*)$", text, re.M):
        match = re.match(r"(fathom#|host\$|\(qemu\)) (.*)", line)
        if match:
            found.append((match[1], match[2], []))
        else:
            found[-1][2].append(line)
    return found


def masked(line):
    """Without what differs from run to run: numbers, their units, letters of flags, alignment."""
    line = re.sub(r"[+!#*@$] (?=\d)", "", line)
    line = re.sub(r"\b\d[\d,]*(\.\d+)? (ns|us|ms|s)\b", "TIME", line)
    line = re.sub(r"(0x)?\b[0-9a-f]{6,}\b|0x[0-9a-f]+|\d[\d,.]*(?<![.,])", "N", line)
    line = re.sub(r"\[N\] [a-zA-Z.N]{5,6} ", "[N] ", line)
    return " ".join(line.split())


def compare(command, wanted, said):
    """Each line in its order; without `...` also nothing else."""
    rest = [masked(line) for line in said.splitlines()]
    if "..." not in wanted:
        assert rest == [masked(line) for line in wanted], f"{command} shows:\n{said}"
        return
    for line in wanted:
        if line != "...":
            assert masked(line) in rest, f"{command}: no line (any more) as {line!r} in\n{said[-6000:]}"
            rest = rest[rest.index(masked(line)) + 1 :]


def boxes(path):
    """{function: its greatest share} of a flame graph."""
    found = {}
    for group in ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}g"):
        if group.get("class") == "f":
            found[group.get("data-name")] = max(float(group.get("data-w")), found.get(group.get("data-name"), 0))
    return found


def check_picture(name, drawn):
    """The picture that was drawn now has the same functions as the page's; WRITE=1 takes it for the page."""
    if os.environ.get("WRITE"):
        shutil.copy(drawn, FOLDER / name)
    assert (FOLDER / name).stat().st_size < LARGEST_PICTURE
    now, shown = boxes(drawn), boxes(FOLDER / name)
    wide = {function for function, share in shown.items() if share > 0.1}
    assert len(wide) > 3 and len(wide - set(now)) <= len(wide) / 3, wide - set(now)
