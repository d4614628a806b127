"""Checkers and runners say no: to names that match nothing, and each to what it is there for."""
import shutil

import pytest

from tablekit import ROOT, must, run

RUNNERS = ["tests/unit/run", "tests/run-all", "tests/fuzz/run 1", "tools/check-all"]
GOOD = {"trace/text/fmt.c": "#include <trace/fmt.h>\nint fmt;\n", "trace/include/trace/fmt.h": "struct fmt;\n",
        "kernel/main.c": "#include <trace/fmt.h>\nint main;\n"}


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_name_that_matches_nothing(runner, tmp_path):
    """Also beside one that matches: nothing is run, and nothing is said to have passed."""
    command = [ROOT / runner.split()[0], *runner.split()[1:]]
    for words in (["no_such_name"], ["r", "no_such_name"] if "check-all" not in runner else ["format", "no_such_name"]):
        done = run("env", f"BUILD={tmp_path / 'build'}", *command, *words, cwd=ROOT)
        assert done.returncode != 0
        assert "'no_such_name'" in done.stderr
        assert "passed" not in done.stdout


@pytest.fixture
def check_includes(tmp_path):
    """Hold a small tree against the rules about includes and sizes; returns what is wrong."""
    def judge(**changed):
        (tmp_path / "tools").mkdir(exist_ok=True)
        shutil.copy(ROOT / "tools/check-includes", tmp_path / "tools")
        must("git", "init", "-q", tmp_path)
        for name, text in {**GOOD, **changed}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        done = run(tmp_path / "tools/check-includes", cwd=tmp_path)
        wrong = [line for line in done.stdout.splitlines() if line != "check-includes: ok"]
        assert bool(wrong) == (done.returncode != 0), done.stdout + done.stderr
        return wrong
    return judge


def test_includes_that_are_right(check_includes):
    assert not check_includes()


@pytest.mark.parametrize("name,text", [
    ("trace/text/fmt.c", "#include <kernel/base.h>\n"),  # the library and its host
    ("kernel/main.c", '#include "../trace/text/str.h"\n'),  # a private header of another folder
    ("trace/text/fmt.c", "#if 1\n#endif\n"),
    ("trace/text/fmt.c", "int i;\n" * 501),
    ("trace/include/trace/fmt.h", "int i;\n" * 301),
    ("trace/include/trace/fmt.h", "#include <trace/fmt.h>\n"),  # a circle
])
def test_includes_that_are_wrong(check_includes, name, text):
    wrong = check_includes(**{"trace/text/str.h": "struct str;\n", name: text})
    assert wrong and all(line.startswith(name) or name in line for line in wrong)
