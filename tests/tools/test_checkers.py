"""Checkers and runners say no: to names that match nothing, and each to what it is there for."""
import shutil

import pytest

from tablekit import ROOT, must, run

RUNNERS = ["tests/unit/run", "tests/run-all", "tests/fuzz/run 1", "tools/check-all"]
GOOD = {
    "trace/text/fmt.c": "#include <trace/fmt.h>\nint fmt;\n",
    "trace/include/trace/fmt.h": "struct fmt;\n",
    "kernel/main.c": "#include <trace/fmt.h>\nint main;\n",
}


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_name_that_matches_nothing(runner, tmp_path):
    """Also beside one that matches: nothing is run, and nothing is said to have passed."""
    command = [ROOT / runner.split()[0], *runner.split()[1:]]
    for words in (["no_such_name"], ["r", "no_such_name"] if "check-all" not in runner else ["format", "no_such_name"]):
        done = run("env", f"BUILD={tmp_path / 'build'}", *command, *words, cwd=ROOT)
        assert done.returncode != 0
        assert "'no_such_name'" in done.stderr
        assert "passed" not in done.stdout


@pytest.mark.parametrize("words", ["no_such_name", "ninep no_such_name", "no_such_name tools/view"])
def test_an_area_without_mutants(words, tmp_path):
    """None of those that are asked for may be empty, or a typing error says that the tests notice all."""
    done = run(ROOT / "tests/mutate/mutate", "--build", tmp_path, "--only", words, cwd=ROOT)
    assert done.returncode != 0 and done.stdout == ""
    assert "'no_such_name'" in done.stderr


def test_unit_tests_of_a_change():
    """make quick: those of the source's folder, once; documents have none, nor has a header that all include."""
    files = ["trace/hist/hist_map.c", "trace/hist/hist_map.h", "tests/unit/trace/ring/test_ring.c", "kernel/params.c"]
    done = run(ROOT / "tests/quick", *files, "README.md", "trace/include/trace/ring.h", "tests/qemu/test_boot.py")
    assert done.stdout.split() == ["gcc/bin/kernel/", "gcc/bin/trace/hist/", "gcc/bin/trace/ring/"]


def test_python_that_is_wrong(tmp_path):
    """Also in a program without a suffix."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/check-all", tmp_path / "tools")
    must("git", "init", "-q", tmp_path)
    (tmp_path / "right.py").write_text('print("well")\n')
    (tmp_path / "program").write_text("#!/usr/bin/python3\nprint(word)\n")
    must("git", "-C", tmp_path, "add", ".")
    done = run("env", f"BUILD={tmp_path / 'build'}", tmp_path / "tools/check-all", "flake8")
    assert "program:2:7: F821 undefined name 'word'" in done.stdout
    assert done.stdout.endswith("0 passed, 1 failed\n") and done.returncode == 1
    (tmp_path / "program").write_text("#!/usr/bin/python3\nprint(1)\n")
    assert run("env", f"BUILD={tmp_path / 'build'}", tmp_path / "tools/check-all", "flake8").returncode == 0


def complaints(checker, tree):
    """The lines of a checker that finds something; it fails when there are any, and only then."""
    done = run(tree / "tools" / checker, cwd=tree)
    wrong = [line for line in done.stdout.splitlines() if line != f"{checker}: ok"]
    assert bool(wrong) == (done.returncode != 0), done.stdout + done.stderr
    return wrong


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
        return complaints("check-includes", tmp_path)

    judge.root = tmp_path
    return judge


def test_includes_that_are_right(check_includes):
    assert not check_includes()


@pytest.mark.parametrize(
    "name,text",
    [
        ("trace/text/fmt.c", "#include <kernel/base.h>\n"),  # the library and its host
        ("kernel/main.c", '#include "../trace/text/str.h"\n'),  # a private header of another folder
        ("trace/text/fmt.c", "#if 1\n#endif\n"),
        ("trace/text/fmt.c", "int i;\n" * 501),
        ("trace/include/trace/fmt.h", "int i;\n" * 301),
        ("trace/include/trace/fmt.h", "#include <trace/fmt.h>\n"),  # a circle
    ],
)
def test_includes_that_are_wrong(check_includes, name, text):
    wrong = check_includes(**{"trace/text/str.h": "struct str;\n", name: text})
    assert wrong and all(line.startswith(name) or name in line for line in wrong)


@pytest.fixture
def check_sizes(tmp_path):
    """Hold a file of tests against the rule about sizes; returns what is wrong."""

    def judge(name, text, allow=""):
        (tmp_path / "tools").mkdir(exist_ok=True)
        (tmp_path / "tools/sizes.allow").write_text(f"# Ceilings\n\n{allow}\n")
        (tmp_path / "tests/unit").mkdir(parents=True, exist_ok=True)
        must("git", "init", "-q", tmp_path)
        (tmp_path / name).write_text(text)
        done = run(ROOT / "tools/check-sizes", cwd=tmp_path)
        (tmp_path / name).unlink()
        assert (done.returncode == 0) == (done.stdout == "check-sizes: ok\n"), done.stdout + done.stderr
        return [] if done.returncode == 0 else done.stdout.splitlines()

    return judge


def sized(lines):
    """Functions of so many lines, in C and in Python."""
    c = "#define R(x) \\\n\tint x;\nstatic int\nlist[] = {\n" + "\t1,\n" * 90 + "};\n\nstatic bool f(int a,\n\t      int b)\n{\n"
    return [("tests/unit/a.c", c + "\tb++;\n" * lines + "}\n"), ("tests/a.py", "def f(a):\n" + "    a += 1\n" * lines)]


def test_sizes_of_tests_that_are_right(check_sizes):
    for name, text in sized(60):
        assert not check_sizes(name, text)
    for name in ("tests/unit/a.h", "tests/a.py"):
        assert not check_sizes(name, "\n" * 500)


def test_sizes_of_tests_that_are_wrong(check_sizes):
    for name, text in sized(61):
        assert check_sizes(name, text) == [f"{name}:f: 61 lines, 60 are allowed"]
    for name in ("tests/unit/a.c", "tests/unit/a.h", "tests/a.py"):
        assert check_sizes(name, "\n" * 501) == [f"{name}: 501 lines, 500 are allowed"]


def test_ceilings_only_fall(check_sizes):
    """A test keeps to its own, which follows when the test gets smaller, and goes when it is not needed."""
    name = "tests/a.py"
    for lines, allow in ((600, 600), (600, 620)):
        assert not check_sizes(name, "\n" * lines, f"{name} {allow}")
    assert check_sizes(name, "\n" * 601, f"{name} 600") == [f"{name}: 601 lines, 600 are allowed"]
    assert check_sizes(name, "\n" * 600, f"{name} 621") == [f"tools/sizes.allow: {name} 621: it has 600 lines, so write that"]
    wrong = f"tools/sizes.allow: {name} 600: it is no larger than others, so remove that"
    assert check_sizes(name, "\n" * 500, f"{name} 600") == [wrong]
    assert check_sizes("tests/b.py", "", f"{name} 600") == [wrong]


README = """| Folder | What is in it |
|---|---|
| `text/` | texts |

<!-- Written by WRITE=1 tools/file-tables: -->
<!-- End of what it writes. -->
"""
SOURCES = {
    "trace/text/fmt.h": "/*\n * The formatter, from\n * <trace/fmt.h>. And more.\n */\nint fmt;\n",
    "trace/text/fmt.c": "/*\n * See fmt.h.\n */\nint fmt;\n",
    "trace/text/seq.c": "/* A text that grows: see str.h. */\nint seq;\n",
}


@pytest.fixture
def check_docs(tmp_path):
    """A small tree whose tables of files are written; hold it against the rules after a change. Returns what is wrong."""
    (tmp_path / "tools").mkdir()
    for name in ("tools/check-docs", "tools/file-tables"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tools/syscall-table").write_text("#!/bin/sh\n")
    (tmp_path / "tools/syscall-table").chmod(0o755)
    must("git", "init", "-q", tmp_path)
    for name, text in {**SOURCES, "docs/api.md": "", "trace/README.md": README}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    must("env", "WRITE=1", tmp_path / "tools/file-tables", cwd=tmp_path)

    def judge(name, old, new):
        text = (tmp_path / name).read_text() if old else ""
        assert old in text
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace(old, new))
        return complaints("check-docs", tmp_path)

    return judge


def test_tables_of_files_that_are_right(check_docs):
    """A header and a source of the same name have one row, of the header's first sentence."""
    row = "| `fmt.h`, `fmt.c` | The formatter, from `<trace/fmt.h>` |"
    assert not check_docs("trace/README.md", row, row)


@pytest.mark.parametrize(
    "name,old,new",
    [
        ("trace/README.md", "| `seq.c` | A text that grows |\n", ""),  # the folder's row is left
        ("trace/README.md", "| `seq.c` | A text that grows |\n", "| `seq.c` | A text that grows |\n| `str.c` | Texts |\n"),
        ("trace/README.md", "<!-- End of what it writes. -->\n", ""),
        ("trace/text/seq.c", "A text that grows", "A short text"),
        ("trace/text/seq.c", "A text that grows", "What grows"),
        ("trace/text/new.c", "", "/* Something new. */\nint new;\n"),
        ("trace/text/new.c", "", "int new;\n"),
        ("trace/ring/ring.c", "", "/* Rings. */\nint ring;\n"),
    ],
)
def test_tables_of_files_that_are_wrong(check_docs, name, old, new):
    wrong = check_docs(name, old, new)
    assert wrong and all(line.startswith("trace/") for line in wrong)


def test_a_header_that_one_file_includes(check_includes):
    """With a second one, or with more lines, it is a door, and another header may need it."""
    name, text = "trace/text/str.h", '#include "str.h"\n'
    small = {name: "struct str;\n", "trace/text/str.c": text}
    assert check_includes(**small) == [f"{name}: less than 40 lines, which only trace/text/str.c includes: they belong there"]
    assert not check_includes(**{**small, name: "struct str;\n" * 40})
    for other in ("trace/text/seq.c", "trace/text/seq.h"):
        assert not check_includes(**{**small, other: text})
        (check_includes.root / other).unlink()


LONG = "ring: " + "x" * 67


@pytest.fixture
def commit(tmp_path):
    """Commit a file with a message, as the hook lets it; returns what check-commits says of the message."""
    (tmp_path / "tools").mkdir()
    for name in ("check-commits", "git-hooks"):
        must("cp", "-r", ROOT / "tools" / name, tmp_path / "tools")
    must("git", "init", "-q", tmp_path)
    must("git", "config", "core.hooksPath", "tools/git-hooks", cwd=tmp_path)

    def judge(file, message):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("1\n")
        must("git", "add", file, cwd=tmp_path)
        made = [
            "env",
            "GIT_COMMITTER_DATE=2027-01-01T00:00:00Z",
            "git",
            "-c",
            "user.name=a",
            "-c",
            "user.email=b",
            "commit",
            "-q",
            "-m",
            message,
        ]
        refused = run(*made, cwd=tmp_path)
        if refused.returncode:
            must(*made, "--no-verify", cwd=tmp_path)
        later = run(tmp_path / "tools/check-commits", cwd=tmp_path)
        # The rule asks the same of a commit that is being made and of one that was.
        assert (refused.returncode == 0) == (later.returncode == 0), refused.stderr + later.stdout
        return [line.split(": ")[1] for line in later.stdout.splitlines() if line != "check-commits: ok"]

    return judge


@pytest.mark.parametrize(
    "file,message",
    [
        ("trace/a.c", "ring: drop newest when full\n\nThe oldest are wanted.\n"),
        ("docs/a.md", "docs: how rings are read\n"),
        ("docs/a.md", LONG[:-1]),
        ("trace/a.c", 'Revert "ring: drop newest when full"\n'),
        ("trace/a.c", "ring, tools/host: pages of any size\n\nFor large buffers.\n"),
    ],
)
def test_commits_that_are_right(commit, file, message):
    assert not commit(file, message)


@pytest.mark.parametrize(
    "file,message,wrong",
    [
        ("trace/a.c", "ring: drop newest when full\n", "a change of the product has a body"),
        ("trace/a.c", "ring: drop newest when full\nThe oldest are wanted.\n", "the line behind the subject is not empty"),
        ("docs/a.md", LONG, "the subject has 73 columns"),
        ("docs/a.md", "some changes\n", "the subject is not"),
        ("docs/a.md", "docs: what rings are\n", "the subject names the thing"),
        ("docs/a.md", "docs: a word that nobody reads\n", "the subject names the thing"),
    ],
)
def test_commits_that_are_wrong(commit, file, message, wrong):
    assert any(line.startswith(wrong) for line in commit(file, message))


WORDS = {
    "a.c": "int a; /* What it holds. */\nint b; /* fine: nothing */\n",
    "b.h": "/*\n * A value that no\n * reader has; nobody asks.\n */\n",
    "c.py": '"""What it does."""\n',
    "d.py": "def f():\n    x = 1  # free of anybody\n    return 'nobody', x\n",
    "e.mk": "a := nobody\n\n# What comes now.\n",
    "f.sh": "#!/bin/sh\n# One thing.\n# Somebody reads it.\n",
}


@pytest.mark.parametrize("name", WORDS)
def test_words_of_comments(name, tmp_path):
    """One line of each is refused, and nothing else of it: not texts, and not the word inside of a comment that begins well."""
    (tmp_path / name).write_text(WORDS[name])
    done = run(ROOT / "tools/check-words", tmp_path / name)
    assert done.returncode == 1 and done.stdout.count("name the thing by a noun") == 1
    (tmp_path / name).write_text(
        "# Names: What is inside is fine\n" if name[-1] not in "ch" else "/* Names: What is inside is fine */ // ok\n"
    )
    must(ROOT / "tools/check-words", tmp_path / name)
