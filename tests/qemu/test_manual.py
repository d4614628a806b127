"""The manual page of tools/fathom, and what bash completes: all commands, all options, nothing that a formatter warns of."""
import re
import subprocess

import pytest

from guest import ROOT
from test_host import COMMANDS, fathom


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("manual") / "fathom.1"
    path.write_bytes(subprocess.run([ROOT / "tools/man-page"], check=True, capture_output=True).stdout)
    return path


@pytest.fixture(scope="module")
def options():
    """{command: what its --help has}"""
    return {
        command: set(re.findall(r"^  (?:-\w, |-\w [A-Z]+, )?(--?[A-Za-z][\w-]*)", fathom(command, "--help").stdout, re.M))
        - {"-h", "--help"}
        for command in COMMANDS
    }


def test_the_page_has_everything(page, options):
    run = subprocess.run(
        ["man", "--warnings", "-l", page],
        capture_output=True,
        text=True,
        env={"MANWIDTH": "200", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )
    assert run.returncode == 0 and not run.stderr
    text = re.sub(".\b", "", run.stdout)
    parts = re.split(r"^   (?=[a-z-]+$)", text.split("\nCOMMANDS\n")[1].split("\nEXIT STATUS\n")[0], flags=re.M)
    parts = {part.split("\n")[0]: part for part in parts if part.strip()}
    assert sorted(parts) == COMMANDS
    for command, names in options.items():
        assert "For example:" in parts[command] and f"tools/fathom {command} " in parts[command]
        assert names <= set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", parts[command]))
    for code in range(8):
        assert re.search(rf"^ +{code} +\w", text.split("\nEXIT STATUS\n")[1], re.M)


def completed(*words):
    """The words that bash offers for the last one."""
    run = subprocess.run(
        [
            "bash",
            "-c",
            'source tools/completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            'function=$(complete -p "$1" | sed "s/.*-F \\([^ ]*\\) .*/\\1/"); $function; printf "%s\\n" "${COMPREPLY[@]}"',
            "bash",
            "tools/fathom",
            *words,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not run.stderr
    return run.stdout.split()


def test_completion(options):
    assert completed("") == [*COMMANDS, "--help"] and completed("fl") == ["flame"]
    assert set(completed("flame", "--")) - {"--help"} == {name for name in options["flame"] if name.startswith("--")} | {"--output"}
    assert {"-o", "-e", "--boot"} <= set(completed("record", "-"))
    assert completed("flame", "--of", "") == ["calls", "stacks"] and "live" in completed("flame", "li")
    assert completed("perfetto", "READ") == ["README.md"]
