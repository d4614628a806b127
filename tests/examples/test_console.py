"""examples/console, made from the profile `scripts`: booted, scripts typed at its console."""
import os
import re
import shutil
from pathlib import Path

import pytest
from workshop import BUILDS, HOST, LIBTRACE_CFLAGS, ROOT, boot, libtrace_together, must

PAGE = 120  # lines of the command bt, comments and all
CTRL_C = "\x03"
BAR = "@" * 52
TYPED = {
    "list": "bt -l 'kprobe:c*'",
    "counts": "bt -c 'demo 3' 'kprobe:square { @[arg0] = count(); }'",
    "hist": "bt -c 'demo 2' 'kretprobe:cube { @r = hist(retval); }'",
    "stack": "bt -c 'demo 2' 'kprobe:square /arg0 == 3/ { @[kstack(3)] = count(); }'",
    "read": "bt -c 'demo 1' 'kprobe:demo { printf(\"%s %d [%s][%s]\", func, arg0, str(0xffff800000000000), str(0x1234560000)); }'",
    "ends": "bt -c 'demo 2' 'BEGIN { printf(\"go \"); } END { printf(\"end\"); }'",
    "mistake": "bt 'kprobe:squar { @ = 1 }'",
    "usage": "bt",
    "files": "mkdir scripts/a; echo 'fexit:cube { @ = sum(retval); }' > scripts/a/program; echo 1 > scripts/a/enable",
    "work": "demo 4",
    "maps": "cat scripts/a/maps; echo 0 > scripts/a/enable; rmdir scripts/a",
    "stopped": "bt 'kprobe:demo { @[arg0] = count(); }'",
    "nothing": CTRL_C,  # while the script runs; then an empty line
    "interval": "bt 'interval:ms:1 { printf(\"tick\"); exit(); }'",
}


@pytest.fixture(scope="module", params=["gcc", "clang"] if os.environ.get("EVERY_TEST") else ["gcc"])
def answers(request, tmp_path_factory):
    """The text that each line prints. Built outside of the tree, from the two folders and the library."""
    folder = tmp_path_factory.mktemp(request.param)
    library = Path(BUILDS[request.param]) / "libtrace_scripts"
    libtrace_together(request.param, "scripts", HOST, library, LIBTRACE_CFLAGS=LIBTRACE_CFLAGS)
    for name in ("tiny", "console"):
        shutil.copytree(ROOT / "examples" / name, folder / name)
    must("make", "-s", "-C", folder / "console", f"CC={request.param}", f"LIBTRACE={library}", f"OUT={folder}/out")
    lines = boot(folder / "out/console.elf", keys="\n".join([*TYPED.values(), "off\n"]))
    parts = "\n".join([*lines, ""]).split("> \n")[1:]
    assert len(parts) == len(TYPED) + 1
    return dict(zip(TYPED, parts))


def test_answers(answers):
    plain = {
        "list": "kprobe:cube",
        "counts": "true\n@[1]: 1\n@[2]: 1\n@[3]: 1\n@[6]: 1",
        "ends": "true\ngo end",
        "usage": "bt [-c LINE] SCRIPT | bt -l PATTERN",
        "files": "",
        "work": "true",
        "maps": "@: 100",
        "interval": "tick",
    }
    assert {name: answers[name].strip() for name in plain} == plain


def test_histogram(answers):
    assert answers["hist"].splitlines() == [
        "true",
        "@r: ",
        f"[1]                    1 |{BAR}|",
        f"[2, 4)                 0 |{'':52}|",
        f"[4, 8)                 0 |{'':52}|",
        f"[8, 16)                1 |{BAR}|",
        "",
    ]


def test_stack(answers):
    assert re.search(r"^@\[\n    square\+\d+\n    demo\+\d+\n    console_line\+\d+\n\]: 1$", answers["stack"], re.M)


def test_bad_addresses(answers):
    """Neither an address that no page can have, nor one that has no page."""
    assert answers["read"].strip() == "true\ndemo 1 [][]"


def test_mistake(answers):
    assert answers["mistake"].splitlines() == ["bt: no function that can be traced matches 'squar'", "  kprobe:  <-- here: squar"]


def test_ctrl_c(answers):
    assert re.fullmatch(r"@\[3\]: \d+", answers["stopped"].strip())


def test_the_glue_is_a_page():
    assert len((ROOT / "examples/console/bt.c").read_text().splitlines()) <= PAGE
