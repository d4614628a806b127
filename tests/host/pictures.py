"""pictures.py [view] [terminal] [program]: makes the README's pictures anew, of kernels that run: docs/NAME.png or docs/NAME.svg.

The first is a headless Chromium's picture of `tools/fathom view`, 1,280 by 800 pixels; the others show what a guest's console printed.
"""
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "qemu")]

from browser import Browser  # noqa: E402
from guest import BUILDS, Guest  # noqa: E402
from programs import BUSYBOX, archive  # noqa: E402

BUILD = BUILDS["gcc"].resolve()
PROMPT = "fathom# "
COLUMNS = 110
ZOOM = 19  # notches of the mouse's wheel
SESSION_OF_KERNEL = (
    "echo vfs_read > set_graph_function; echo 3 > max_graph_depth",
    "echo function_graph > current_tracer; cat /proc/version; echo 0 > tracing_on",
    "head -13 trace | tail -9",
    "echo 'f:opens vfs_open path:string flags' >> dynamic_events; echo 1 > events/fprobes/opens/enable",
    "echo nop > current_tracer; echo 1 > tracing_on; ls /proc > /dev/null; grep opens: trace",
    "echo list_add > set_ftrace_filter",
    "tail -3 error_log",
)
SESSION_OF_PROGRAM = (
    "echo 1 > events/syscalls/enable; busybox grep -c MHz /proc/cpuinfo; echo 0 > events/syscalls/enable",
    "busybox grep -E 'sys_(openat|read|write)\\W' trace",
    "echo do_user_addr_fault > set_graph_function; echo 3 > max_graph_depth; echo function_graph > current_tracer",
    "busybox true; echo 0 > tracing_on; tail -11 trace; echo nop > current_tracer; echo 1 > tracing_on",
    "bt -c 'busybox find /proc > /dev/null' 'tracepoint:latency:syscall_latency { @ns[args.name] = sum(args.lat) }' | tail -6",
)
SETTINGS = (
    "buffer_size_kb=8192",
    "events/sched/sched_switch/enable=1",
    "events/kmem/kmalloc/trigger=hist:keys=bytes_req.log2",
    "set_graph_function=vfs_read",
    "max_graph_depth=3",
    "current_tracer=function_graph",
)


def view(path):
    """The page's timeline of a kernel that does a little on each CPU: stopped, and a few milliseconds of it."""
    words = [word for setting in SETTINGS for word in ("--write", setting)]
    load = " & ".join(["while true; do head -c 60000 /proc/kallsyms > /dev/null; sleep 0.02; done"] * 3)
    command = [ROOT / "tools/fathom", "view", "--boot", "--no-browser", "--build", BUILD, "--show", "timeline", *words, "--run", load]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process, Browser() as browser:
        try:
            page = browser.page(process.stdout.readline().strip())
            page.wait("document.querySelector('#link.live')", 60)
            time.sleep(6)  # of a trace that is worth looking at
            page.click("button=❚❚ stop here")
            for _ in range(ZOOM):
                page.call("Input.dispatchMouseEvent", type="mouseWheel", x=700, y=300, deltaX=0, deltaY=-120)
                time.sleep(0.1)
            page.picture(path)
        finally:
            process.terminate()


def terminal_svg(text):
    """Lines of a console as SVG, as a terminal of 110 columns breaks them; what was typed in another colour."""
    whole = (line.expandtabs() for line in text.splitlines())
    lines = [line[start : start + COLUMNS] for line in whole for start in range(0, max(len(line), 1), COLUMNS)]
    width, height = 18 + 7.3 * max(map(len, lines)), 24 + 17 * len(lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}">',
        "<style>text { font: 12px monospace; fill: #d6dae0; white-space: pre } .typed { fill: #7ee0a0 }</style>",
        f'<rect width="{width:.0f}" height="{height}" rx="6" fill="#12161c"/>',
    ]
    for number, line in enumerate(lines):
        kind = ' class="typed"' if line.startswith(PROMPT) else ""
        parts.append(f'<text{kind} x="9" y="{25 + 17 * number}" xml:space="preserve">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def terminal(path, session):
    with tempfile.TemporaryDirectory() as folder:
        files = archive(Path(folder) / "files.cpio", {"bin/busybox": BUSYBOX})
        with Guest("gcc", 2, initrd=files) as guest:
            text = "".join(f"{PROMPT}{command}\n{guest.run(command)[0]}" for command in session)
    path.write_text(terminal_svg(text), encoding="utf-8")


def main():
    sessions = {"terminal": SESSION_OF_KERNEL, "program": SESSION_OF_PROGRAM}
    names = sys.argv[1:] or ["view", *sessions]
    if unknown := set(names) - {"view", *sessions}:
        sys.exit(f"pictures: no picture {' '.join(sorted(unknown))}")
    for name in sessions.keys() & set(names):
        terminal(ROOT / f"docs/{name}.svg", sessions[name])
    if "view" in names:
        with tempfile.TemporaryDirectory() as folder:
            taken = Path(folder) / "view.png"
            view(taken)
            (ROOT / "docs/view.png").write_bytes(taken.read_bytes())


if __name__ == "__main__":
    main()
