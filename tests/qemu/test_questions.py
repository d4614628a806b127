"""docs/questions/: every line that a page says to type is typed, and shows what the page shows.

Numbers may differ. A line `...` stands for any lines, and what comes unasked, such as an interrupt in the middle of a graph, may lie between two
lines. Pictures must be drawn again, with the same functions. WRITE=1 puts the new ones into docs/questions.
"""
import os
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from guest import PATIENCE, ROOT, Guest
from programs import BUSYBOX, archive

FOLDER = ROOT / "docs/questions"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "README")
LARGEST_PICTURE = 60000


def steps(page):
    """[(prompt, command, lines that it shows)]"""
    found = []
    for line in re.findall(r"^    (.*)$", (FOLDER / f"{page}.md").read_text(), re.M):
        match = re.match(r"(fathom#|host\$) (.*)", line)
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


@pytest.fixture(scope="module")
def machine():
    """A guest whose channel is where `make run` has it, seen from a folder that has the tools in it."""
    with tempfile.TemporaryDirectory(prefix="fathom-questions-") as folder:
        folder = Path(folder)
        (folder / "build").mkdir()
        (folder / "tools").symlink_to(ROOT / "tools")
        files = archive(folder / "files.cpio", {"bin/busybox": BUSYBOX})
        with Guest(
            "gcc",
            2,
            initrd=files,
            extra=[
                "-device",
                "virtio-serial-pci",
                "-chardev",
                f"socket,id=port,path={folder}/build/channel,server=on,wait=off",
                "-device",
                "virtserialport,chardev=port,name=fathom.9p",
            ],
        ) as guest:
            guest.folder = folder
            yield guest


@pytest.mark.parametrize("page", PAGES)
def test_page(machine, page):
    assert len(steps(page)) >= 4
    machine.check("echo > trace")
    for prompt, command, wanted in steps(page):
        if prompt == "fathom#":
            said = machine.run(command)[0]
        else:
            run = subprocess.run(
                command, shell=True, cwd=machine.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60 * PATIENCE
            )
            said = run.stdout
        compare(command, wanted, said)
    # The first line of the next page.
    assert machine.check("cat current_tracer tracing_on set_event; cat events/*/*/trigger | grep -v '^#'; true") == "nop\n1\n"
    for name in re.findall(r"!\[.*\]\((.*\.svg)\)", (FOLDER / f"{page}.md").read_text()):
        if os.environ.get("WRITE"):
            shutil.copy(machine.folder / name, FOLDER / name)
        assert (FOLDER / name).stat().st_size < LARGEST_PICTURE
        now, shown = boxes(machine.folder / name), boxes(FOLDER / name)
        wide = {function for function, share in shown.items() if share > 0.1}
        assert len(wide) > 3 and len(wide - set(now)) <= len(wide) / 3, wide - set(now)
