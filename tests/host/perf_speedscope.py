"""The output of `perf script` for a profile of the guest, read by speedscope in a headless Chromium, against the trace. `make test-host`."""
import base64
import collections
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from browser import Browser
from written_formats import speedscope_package

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "qemu"))
from guest import BUILDS, ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "tools"))
from host._events import Lost  # noqa: E402
from host._read_dat import Trace  # noqa: E402

CATCH = "URL.createObjectURL = (blob) => { blob.text().then((text) => { window.caught = text; }); return '#'; }"


def output(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=300).stdout


def imported(folder, text):
    """The profile that speedscope makes of a text and writes with its button Export."""
    with tarfile.open(speedscope_package()) as files:
        files.extractall(folder)
    coded = base64.b64encode(text.encode()).decode()
    (folder / "load.js").write_text(f"speedscope.loadFileFromBase64('perf.linux-perf.txt', '{coded}')")
    with Browser() as browser:
        page = browser.page(f"file://{folder}/package/dist/release/index.html#localProfilePath={folder}/load.js")
        page.wait("document.body.innerText.includes('Left Heavy')")
        page.run(CATCH)
        page.run("[...document.querySelectorAll('div')].filter(one => one.textContent.endsWith('Export')).slice(-1)[0].click()")
        return json.loads(page.wait("window.caught"))


def own_times(scope):
    """{(thread, function): seconds in which it was the innermost}. A thread that was hit once has a count in place of seconds."""
    names, found = [frame["name"] for frame in scope["shared"]["frames"]], collections.Counter()
    for profile in [one for one in scope["profiles"] if one["unit"] == "seconds"]:
        stack, before = [], 0
        for event in profile["events"]:
            if stack:
                found[re.sub(r" tid: .*", "", profile["name"]), names[stack[-1]]] += event["at"] - before
            before = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
    return found


def expected(trace):
    """The same of the trace: a sample stands for the time up to the middle between it and the next one of its thread."""
    recording, samples, found = Trace(trace), collections.defaultdict(list), collections.Counter()
    for event in recording.events():
        if not isinstance(event, Lost) and event.name == "sample":
            function = re.match(r"\w+ ip=(\w+)", event.text)[1]
            samples[event.pid, recording.comm(event.pid) if event.pid else "swapper"].append((event.ts / 1e9, function))
    for (_, comm), taken in samples.items():
        times = [time for time, _ in taken]
        ends = [(one + two) / 2 for one, two in zip(times, times[1:])] + times[-1:]
        for (_, function), begin, end in zip(taken, times[:1] + ends, ends):
            found[comm, function] += end - begin
    return found


def test_functions_and_their_times(tmp_path):
    """Of all threads that were hit more than once. perf writes microseconds."""
    trace, data, fathom = tmp_path / "trace.dat", tmp_path / "perf.data", ROOT / "tools/fathom"
    output(fathom, "record", "--boot", "--build", BUILDS["gcc"], "-o", trace, "-e", "profile:sample", "-T", "hackbench 2 600")
    output(fathom, "perf", "-o", data, trace)
    found = own_times(imported(tmp_path, output("perf", "script", "-i", data, "--kallsyms", f"{data}.kallsyms")))
    wanted = {key: pytest.approx(seconds, abs=1e-3) for key, seconds in expected(trace).items() if seconds > 1e-3}
    assert {key: found[key] for key in wanted} == wanted and len(wanted) > 10
