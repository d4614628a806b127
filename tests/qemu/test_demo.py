"""`make demo` to its end, without waiting: it shows what it says."""
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

from guest import BUILDS, PATIENCE, ROOT


def demo(**more):
    return subprocess.run(
        [ROOT / "tools/demo", "--build", BUILDS["gcc"]],
        capture_output=True,
        text=True,
        timeout=120 * PATIENCE,
        env={**os.environ, "DEMO_PAUSE": "0", **more},
        stdin=subprocess.DEVNULL,
    )


def test_to_the_end():
    picture = BUILDS["gcc"] / "demo-flame.svg"
    picture.unlink(missing_ok=True)
    run = demo()
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr
    for words in ("A FILTER", "A GRAPH", "WHY?", "EVENTS", "A HISTOGRAM", "A PROBE", "A LIVE PATCH", "A FLAME GRAPH"):
        assert f"\n# {words}" in run.stdout
    assert re.search(r": sched_\w+ <-\w+\n", run.stdout) and "|  vfs_open() {" in run.stdout
    assert "list_add: inlined into" in run.stdout and re.search(r"thread sh-7 wrote 0 to tracing_on", run.stdout)
    delays = [int(delay) for delay in re.findall(r"sched_stat_wait: .* delay=(\d+) \[ns\]", run.stdout)]
    assert all(delay > 50000 for delay in delays) and re.search(r": sched_(stat_wait|migrate_task): comm=", run.stdout)
    assert re.search(r"\(64, 128\] │█+", run.stdout) and "open: (vfs_open+0x0/0x" in run.stdout and 'path="/nothing"' in run.stdout
    assert "this has been live patched" in run.stdout
    functions = {group.get("data-name") for group in ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}g")}
    assert {"pipe_read", "schedule"} <= functions
    seconds = int(re.search(r"\((\d+) s at reading pace\)", run.stdout)[1])
    assert 120 <= seconds <= 240


def test_without_a_machine():
    for qemu in ("false", "/no/such/qemu"):
        run = demo(QEMU=qemu)
        assert run.returncode == 1 and re.search(r"^demo: QEMU (has ended|does not start)", run.stderr, re.M)
