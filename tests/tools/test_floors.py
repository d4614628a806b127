"""check-floors on a small tree: what goes upwards is found, in sources and in objects, and nothing else."""
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = """\
| Other | |
|---|---|
| `not_a_floor/` | |

| Folder | What is in it |
|---|---|
| `low/` | |
| `high/` | |
"""


PROFILES = """\
TRACE_PROFILES := one two
TRACE_SRCS_one := trace/low/low.c trace/low/moved.c
TRACE_SRCS_two := trace/low/low.c trace/high/high.c
TRACE_DEFAULTS_one := trace/low/spare.c
"""


@pytest.fixture
def tree(tmp_path):
    for folder in ("tools", "trace/low", "trace/high", "trace/include", "objects/trace/low", "objects/trace/high"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "tools/check-floors", tmp_path / "tools")
    (tmp_path / "trace/README.md").write_text(README)
    (tmp_path / "trace/files.mk").write_text(PROFILES)
    return tmp_path


def write(tree, name, text):
    source = tree / "trace" / name
    source.write_text(text)
    subprocess.run(["gcc", "-c", "-iquote", tree / "trace", source, "-o", tree / "objects/trace" / f"{name}.notrace.o"], check=True)


def check(tree, *args):
    run = subprocess.run([tree / "tools/check-floors", *args], capture_output=True, text=True)
    return run.returncode, run.stdout


def test_downwards_is_fine(tree):
    (tree / "trace/low/low.h").write_text("void low(void);\n")
    write(tree, "low/low.c", '#include "low.h"\nvoid low(void) {}\n')
    write(tree, "high/high.c", '#include "low/low.h"\nvoid high(void) { low(); }\n')
    assert check(tree, tree / "objects") == (0, "check-floors: ok\n")


def test_include_upwards(tree):
    (tree / "trace/high/high.h").write_text("enum { HIGH };\n")
    write(tree, "low/low.c", '\n#include "high/high.h"\n')
    assert check(tree) == (1, "trace/low/low.c:2: includes a header of high/, which lies above\n")


@pytest.mark.parametrize("use", ["extern int high;\nint *low = &high;\n", "int high(void);\nint low(void) { return high(); }\n"])
def test_reference_upwards(tree, use):
    write(tree, "low/low.c", use)
    write(tree, "high/high.c", "int high(void) { return 0; }\n" if "void" in use else "int high;\n")
    assert check(tree)[0] == 0
    assert check(tree, tree / "objects") == (1, "trace/low/low.c: wants high of high/, which lies above\n")


def test_object_of_a_source_that_is_gone(tree):
    write(tree, "high/moved.c", "int moved;\n")
    (tree / "trace/high/moved.c").unlink()
    write(tree, "low/moved.c", "int moved;\n")
    write(tree, "low/low.c", "extern int moved;\nint *low = &moved;\n")
    assert check(tree, tree / "objects") == (0, "check-floors: ok\n")


def test_folder_without_a_floor(tree):
    (tree / "trace/attic").mkdir()
    assert check(tree) == (1, "trace/README.md: attic/ is not in the table of folders\n")


def test_no_objects(tree):
    assert check(tree, tree / "objects") == (1, f"{tree}/objects/trace: no objects\n")


def test_source_that_no_profile_links(tree):
    for name in ("low", "spare"):
        write(tree, f"low/{name}.c", f"int {name};\n")
    assert check(tree)[0] == 0
    write(tree, "high/other.c", "int other;\n")
    assert check(tree) == (1, "trace/high/other.c: no profile links it\n")


def test_flags_of_a_source_that_is_gone(tree):
    (tree / "trace/files.mk").write_text(PROFILES + "CFLAGS_trace/low/old.c := -O1\n")
    assert check(tree) == (1, "trace/files.mk: flags for trace/low/old.c, which is not there\n")
