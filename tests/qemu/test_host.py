"""tools/fathom as a user meets it: its help, and how it fails."""
import os
import re
import subprocess

import pytest

from guest import ROOT

COMMANDS = sorted(path.stem.replace("_", "-") for path in (ROOT / "tools/host").glob("*.py") if not path.stem.startswith("_"))


def fathom(*words):
    return subprocess.run([ROOT / "tools/fathom", *words], capture_output=True, text=True, timeout=60)


def test_help_names_each_command():
    run = fathom("--help")
    assert run.returncode == 0 and "exit codes:" in run.stdout
    assert all(re.search(rf"\n    {command}\s", run.stdout) for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command):
    """With an example that begins with the tool, and words that the parser takes."""
    run = fathom(command, "--help")
    assert run.returncode == 0 and f"\nexample:\n  tools/fathom {command} " in run.stdout, run.stdout


@pytest.mark.parametrize("words", [(), ("nope",), ("dump",), ("dump", "x", "--nope")])
def test_wrong_usage(words):
    run = fathom(*words)
    assert run.returncode == 2 and run.stderr.startswith("usage:") and not run.stdout


def test_no_kernel(tmp_path):
    """One sentence, and nothing left behind."""
    run = fathom("dump", tmp_path / "core", "--qmp", tmp_path / "qmp")
    assert run.returncode == 3 and run.stderr.count("\n") == 1 and "is the kernel running?" in run.stderr
    assert not os.listdir(tmp_path)
    run = fathom("dump", tmp_path / "no" / "core", "--qmp", tmp_path / "qmp")
    assert run.returncode == 1 and "there is no folder" in run.stderr
