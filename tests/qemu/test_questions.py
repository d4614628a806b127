"""docs/questions/: every line that a page says to type is typed, and shows what the page shows.

Numbers may differ. A line `...` stands for any lines, and what comes unasked, such as an interrupt in the middle of a graph, may lie between two
lines. Pictures must be drawn again, with the same functions. WRITE=1 puts the new ones into docs/questions.
The lines of died.md, which resets its machine, are typed by test_postmortem.py.
"""
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from guest import PATIENCE, ROOT, Guest
from pages import FOLDER, check_picture, compare, steps, text_of
from programs import BUSYBOX, archive

PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem not in ("README", "died"))


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
    assert len(steps(text_of(page))) >= 4
    machine.check("echo > trace")
    for prompt, command, wanted in steps(text_of(page)):
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
    for name in re.findall(r"!\[.*\]\((.*\.svg)\)", text_of(page)):
        check_picture(name, machine.folder / name)
