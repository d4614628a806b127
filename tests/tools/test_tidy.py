"""tools/check-tidy: which files clang-tidy is asked about. It is a script here, which finds fault with what says `bad`."""
import os
import subprocess

import pytest
from tablekit import ROOT

SCRIPT = """#!/bin/sh
[ "$1" = --version ] && exec echo 1
for word; do
	case $word in --) break ;; *.c) echo "$word" >> asked; ! grep -q bad "$word" || bad=1 ;; esac
done
exit ${bad:-0}
"""


@pytest.fixture
def check(tmp_path):
    """Returns (whether all are clean, what was asked about)."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/clang-tidy").write_text(SCRIPT)
    (tmp_path / "bin/clang-tidy").chmod(0o755)
    (tmp_path / "include").mkdir()
    (tmp_path / "seen").mkdir()
    (tmp_path / ".clang-tidy").write_text("Checks: all\n")
    write(
        tmp_path,
        {
            "include/far.h": "int far;",
            "include/near.h": "#if 0\n# include <far.h>\n#endif",
            "own.h": "int own;",
            "a.c": "#include <near.h>\n#include <stdint.h>",
            "b.c": '#include "own.h"',
            "c.c": "int c;",
        },
    )

    def run(*flags, files=("a.c", "b.c", "c.c")):
        (tmp_path / "asked").write_text("")
        done = subprocess.run(
            [ROOT / "tools/check-tidy", "seen", "2", "-Iinclude", *flags, "--", *files],
            cwd=tmp_path,
            check=False,
            env={**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"},
        )
        return done.returncode == 0, sorted((tmp_path / "asked").read_text().split())

    return run


def write(folder, texts):
    for name, text in texts.items():
        (folder / name).write_text(text + "\n")


def test_clean_files_are_asked_about_once(check):
    assert check() == (True, ["a.c", "b.c", "c.c"])
    assert check() == (True, [])


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"c.c": "int d;"}, ["c.c"]),
        ({"own.h": "int other;"}, ["b.c"]),
        ({"include/far.h": "int other;"}, ["a.c"]),
        ({"near.h": "int first;"}, ["a.c"]),
        ({".clang-tidy": "Checks: none"}, ["a.c", "b.c", "c.c"]),
    ],
)
def test_what_is_read_has_changed(check, tmp_path, change, asked):
    check()
    write(tmp_path, change)
    assert check() == (True, asked)


def test_other_flags(check):
    check()
    assert check("-DX") == (True, ["a.c", "b.c", "c.c"])


def test_a_file_that_is_not_clean_is_asked_about_again(check, tmp_path):
    write(tmp_path, {"b.c": "bad"})
    assert not check()[0] and not check(files=["b.c"])[0]
    write(tmp_path, {"b.c": "good"})
    assert check() == (True, ["a.c", "b.c", "c.c"])
