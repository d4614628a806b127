"""tools/together: sources of one folder become one, as far as they compile together, and each is in exactly one."""
import re

import pytest
from tablekit import ROOT, must


@pytest.fixture
def together(tmp_path):
    """Writes files, given by their texts; returns the files that each printed source stands for."""

    def run(many, **texts):
        for name, text in texts.items():
            path = tmp_path / (name.replace("__", "/") + ".c")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        names = [name.replace("__", "/") + ".c" for name in texts]
        printed = must(ROOT / "tools/together", "sources", str(many), "-I.", "--", *names, cwd=tmp_path).stdout.split()
        return [re.findall(r'^#include "(.*)"$', (tmp_path / name).read_text(), re.M) or [name] for name in printed]

    return run


def test_one_folder_and_no_more_than_wanted(together):
    texts = {name: f"int {name};" for name in ("a__1", "a__2", "a__3", "b__1", "b__2")}
    assert together(2, **texts) == [["a/1.c", "a/2.c"], ["a/3.c"], ["b/1.c", "b/2.c"]]


def test_a_name_for_different_things(together):
    """Those that do not compile with others stand apart from them; one that does not compile at all is left to the checker."""
    texts = {"a__1": "static int x;", "a__2": "int y;", "a__3": "static char x;", "a__4": "int z;"}
    assert together(9, **texts) == [["a/1.c", "a/2.c"], ["a/3.c", "a/4.c"]]
    assert together(9, a__1="int x;", a__2="int;;;)") == [["a/1.c"], ["a/2.c"]]


def test_files_that_have_changed(together):
    """A source says the same as before, but what it includes is compiled anew."""
    assert together(9, a__1="int x;", a__2="int y;") == [["a/1.c", "a/2.c"]]
    assert together(9, a__1="int x;", a__2="char x;") == [["a/1.c"], ["a/2.c"]]
