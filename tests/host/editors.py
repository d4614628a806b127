"""Editors on files of the kernel, in a mounted directory: they write beside the file and rename, or copy it first."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "qemu"))

from guest import PATIENCE  # noqa: E402
from test_mount import Mounted, can_mount  # noqa: E402

pytestmark = pytest.mark.skipif(not can_mount(), reason="this machine has no usable /dev/fuse")


@pytest.fixture(scope="module")
def mounted():
    one = Mounted()
    yield one
    one.close()


@pytest.mark.parametrize("way", ["no", "yes"])
def test_vim(mounted, way):
    """Its option backupcopy: the old file is renamed, or copied, to be the backup."""
    target = mounted.dir / "tmp/notes"
    target.write_text("one\ntwo\n")
    words = [
        shutil.which("vim") or "vim.tiny",
        "-N",
        "-u",
        "NONE",
        "-es",
        "-c",
        f"set backup backupskip= backupcopy={way}",
        "-c",
        "%s/$/ more/",
        "-c",
        "wq",
    ]
    run = subprocess.run([*words, target], capture_output=True, text=True, timeout=60 * PATIENCE, stdin=subprocess.DEVNULL)
    assert run.returncode == 0, run.stdout + run.stderr
    assert mounted.guest.check("cat /tmp/notes /tmp/notes~") == "one more\ntwo more\none\ntwo\n"
    assert sorted(os.listdir(mounted.dir / "tmp")) == ["notes", "notes~"]
    mounted.guest.check("rm /tmp/notes /tmp/notes~")


def test_vim_in_the_trace_tree(mounted):
    """Files there can be written, but nothing can be beside them: so only with its options that say so."""
    words = [
        shutil.which("vim") or "vim.tiny",
        "-N",
        "-u",
        "NONE",
        "-es",
        "-n",
        "-c",
        "set nobackup nowritebackup",
        "-c",
        "%s/.*/vfs_open/",
        "-c",
        "wq",
    ]
    run = subprocess.run(
        [*words, mounted.tracing / "set_ftrace_filter"], capture_output=True, text=True, timeout=60 * PATIENCE, stdin=subprocess.DEVNULL
    )
    assert mounted.guest.check("cat set_ftrace_filter") == "vfs_open\n", run.stdout + run.stderr
