"""The decoder of instructions against Zydis, on code and on random bytes."""
import glob
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("FATHOM_BUILD", ROOT / "build"))
# `make soak` takes ten times as many.
RANDOM = int(os.environ.get("DECODE_RANDOM", 1_000_000))

pytestmark = pytest.mark.skipif(not Path("/usr/include/Zydis/Zydis.h").exists(), reason="needs libzydis-dev")


@pytest.fixture(scope="module")
def compare():
    subprocess.run(["make", "-s", "-f", "tests/decode/build.mk", f"BUILD={BUILD}"], cwd=ROOT, check=True)

    def run(*words):
        """How many instructions were compared; none of them may differ."""
        done = subprocess.run([BUILD / "decode/compare", *map(str, words)], stdout=subprocess.PIPE, text=True)
        nr, different = re.search(r"(\d+) compared, (\d+) different", done.stdout).groups()
        assert (done.returncode, different) == (0, "0"), done.stdout
        return int(nr)

    return run


def test_random(compare):
    assert compare("random", RANDOM) == RANDOM
    assert compare("random", RANDOM, 20261122) == RANDOM


def test_vectors(compare):
    """Each form with VEX and EVEX; here every 37th, in the soak all."""
    step = 37 if RANDOM <= 1_000_000 else 1
    assert compare("vectors", step) == (4096 + 1024) * 256 * 24 // step


@pytest.mark.parametrize("image", ["fathom.elf", "fathom-test.elf", "clang/fathom.elf"])
def test_kernel(compare, image):
    assert compare("elf", BUILD / image) > 50_000


def test_libc(compare):
    assert compare("elf", glob.glob("/lib/x86_64-linux-gnu/libc.so.6")[0]) > 100_000


def test_says_so_when_it_differs(compare, tmp_path):
    """A decoder that takes 8D C0 for an instruction is found out."""
    source = tmp_path / "decode_one_byte.c"
    rows = (ROOT / "trace/arch/x86_64/decode_one_byte.c").read_text()
    wrong = rows.replace("GROUP(0x8d, MEM, ANY, 0)", "GROUP(0x8d, BOTH, ANY, 0)")
    assert wrong != rows
    source.write_text(wrong)
    others = [path for path in glob.glob(f"{ROOT}/trace/arch/x86_64/decode*.c") if not path.endswith("one_byte.c")]
    subprocess.run(
        [
            "gcc",
            "-O1",
            "-D_GNU_SOURCE",
            f"-I{ROOT}/trace/include",
            f"-I{ROOT}/trace/arch/x86_64/include",
            "-iquote",
            f"{ROOT}/trace/arch/x86_64",
            *glob.glob(f"{ROOT}/tests/decode/*.c"),
            source,
            *others,
            "-lZydis",
            "-o",
            tmp_path / "compare",
        ],
        check=True,
    )
    done = subprocess.run([tmp_path / "compare", "random", "100000"], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "they refuse: " in done.stdout, done.stdout
