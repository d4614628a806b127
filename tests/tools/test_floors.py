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
| `start/` | |
"""


FEATURES = """\
/* name, needs, sources */
TRACE_FEATURE(ground, , low/l*)
TRACE_PART(loft,  ground,
                          high/)
"""
PROFILES = """\
# A comment.
profile one  low/ -low/late.c
profile two  one high/high.c
profile few  two without loft
profile full low/ high/h*
profile none full without ground
defaults one spare.c
"""


@pytest.fixture
def tree(tmp_path):
    for folder in (
        "tools",
        "trace/low",
        "trace/high",
        "trace/include",
        "trace/start",
        "trace/default",
        "objects/trace/low",
        "objects/trace/high",
    ):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "tools/check-floors", tmp_path / "tools")
    (tmp_path / "trace/README.md").write_text(README)
    shutil.copy(ROOT / "trace/sources.awk", tmp_path / "trace")
    for name in ("low/low", "low/late", "high/high", "default/spare"):
        (tmp_path / f"trace/{name}.c").touch()
    (tmp_path / "trace/files.mk").write_text("")
    (tmp_path / "trace/start/features.list").write_text(FEATURES)
    (tmp_path / "trace/profiles.list").write_text(PROFILES)
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


def sources(tree, *options):
    found = sorted(str(path.relative_to(tree)) for path in tree.glob("trace/*/*.c"))
    command = ["awk", *options, "-f", "trace/sources.awk", "trace/start/features.list", "trace/profiles.list", *found]
    return subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def test_sources_of_profiles(tree):
    assert sources(tree, "-v", "of=two") == ["two:trace/high/high.c", "two:trace/low/low.c"]
    assert sources(tree, "-v", "of=one") == ["one.defaults:trace/default/spare.c", "one:trace/low/low.c"]


def test_sources_without_a_feature(tree):
    assert sources(tree, "-v", "of=few") == ["few:trace/low/low.c"]
    assert sources(tree, "-v", "of=without_ground") == []
    assert sources(tree, "-v", "of=without_loft") == ["without_loft:trace/low/late.c", "without_loft:trace/low/low.c"]
    assert len(sources(tree, "-v", "of=none", "-v", "with=loft")) == 3, "and what it needs"
    assert sources(tree, "-v", "of=few", "-v", "mode=list") == ["/* name, needs, sources */", "TRACE_FEATURE(ground, , low/l*)"]
    assert [line for line in sources(tree) if line[:8] in ("features", "profiles")] == [
        *("profiles:one", "profiles:two", "profiles:few", "profiles:full", "profiles:none"),
        *("features:ground", "features:loft"),
    ]


@pytest.mark.parametrize("option, complaint", [("of=three", "profile three"), ("with=attic", "feature attic")])
def test_name_that_no_table_has(tree, option, complaint):
    command = ["awk", "-v", option, "-f", "trace/sources.awk", "trace/start/features.list", "trace/profiles.list"]
    run = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (1, "", f"there is no {complaint}\n")


def test_source_that_no_profile_links(tree):
    write(tree, "high/other.c", "int other;\n")
    (tree / "trace/default/other.c").touch()
    assert check(tree) == (1, "trace/default/other.c: no profile links it\ntrace/high/other.c: no profile links it\n")


def test_word_of_a_table_that_means_nothing(tree):
    (tree / "trace/low/late.c").unlink()
    (tree / "trace/default/spare.c").unlink()
    (tree / "trace/start/features.list").write_text(FEATURES + "TRACE_FEATURE(attic, roof, low/a* low/l*)\n")
    assert check(tree) == (
        1,
        "trace/profiles.list: there is no low/late.c\n"
        "trace/profiles.list: there is no spare.c\n"
        "trace/start/features.list: there is no feature roof\n"
        "trace/start/features.list: there is no low/a*\n",
    )


def test_flags_of_a_source_that_is_gone(tree):
    (tree / "trace/files.mk").write_text("CFLAGS_trace/low/old.c := -O1\n")
    assert check(tree) == (1, "trace/files.mk: flags for trace/low/old.c, which is not there\n")
