"""`make run` and `make test` on a machine that lacks packages: said first, then installed, or one command to run."""
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def machine(tmp_path):
    """A machine where all is installed but some packages: run(step, uid, *missing)."""

    def program(name, text):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def run(step, uid, *missing):
        program(
            "dpkg-query", f'for package; do :; done\ncase " {" ".join(missing)} " in *" $package "*) exit 1;; esac\n' "printf installed\n"
        )
        program("id", f"echo {uid}\n")
        program("apt-get", f'echo "$@" >> {tmp_path}/apt.log\n')
        log = tmp_path / "apt.log"
        log.write_text("")
        done = subprocess.run(
            [ROOT / "tools/install-deps", step],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        )
        return done.returncode, done.stdout, done.stderr, log.read_text().splitlines()

    return run


@pytest.mark.parametrize("step", ["build", "run", "host", "test", "test-host"])
def test_all_there(machine, step):
    assert machine(step, 1000) == (0, "", "", [])


def test_root_gets_them_installed(machine):
    status, out, _, apt = machine("run", 0, "nasm", "ovmf")
    assert status == 0
    assert out.splitlines()[0] == "Missing Debian packages: nasm ovmf"
    assert apt[-1] == "install -y --no-install-recommends nasm ovmf" and apt[0].startswith("update")


def test_others_get_one_command_to_run(machine):
    status, out, err, apt = machine("test", 1000, "spin")
    assert (status, apt) == (1, [])
    assert out == "Missing Debian packages: spin\n"
    assert err == "Please run: sudo apt-get update && sudo apt-get install -y --no-install-recommends spin\n"


def test_each_step_asks_for_its_own(machine):
    assert machine("build", 1000, "ovmf", "spin")[0] == 0
    assert machine("run", 1000, "spin")[0] == 0 and machine("run", 1000, "ovmf")[0] == 1


@pytest.mark.parametrize("target,step", [("run", "run"), ("test", "test"), ("debug", "test"), ("bench", "test")])
def test_targets_look_first(target, step):
    planned = subprocess.run(["make", "-n", "-C", ROOT, target], capture_output=True, text=True, check=False).stdout
    assert f"tools/install-deps {step}" in planned.splitlines()[1 if planned.startswith("make") else 0]
