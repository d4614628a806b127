"""docs/locking.md names every lock that the sources have, and each where it is."""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = re.compile(r"^\s*(?:static )?struct (?:trace_plat_lock|mutex|spinlock|raw_lock) (\w+)(?:\[[^]]*\])?(?: =.*)?;", re.M)
OTHERS = ("trace/default/", "kernel/load/work_stress_locks.c")  # of other hosts; locks that are the test


def defined():
    """(file, name) of each lock, a member by its own name."""
    files = subprocess.run(
        ["git", "ls-files", "trace/*.[ch]", "kernel/*.[ch]", "arch/*.[ch]"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    return {
        (name, lock)
        for name in files
        if not name.startswith(OTHERS) and (ROOT / name).exists()
        for lock in LOCK.findall((ROOT / name).read_text())
    }


def told():
    text = (ROOT / "docs/locking.md").read_text()
    return {(name, lock.split(".")[-1]) for lock, name in re.findall(r"^\| `([\w.]+)` \| `(\S+)` \|", text, re.M)}


def test_every_lock_is_in_the_document():
    assert len(defined()) > 40
    assert defined() == told()
