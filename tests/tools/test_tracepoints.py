"""Tracepoints: the example in docs/tracepoints.md compiles and does what the page says."""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = """
#include <stdio.h>
#include <trace/platform.h>
#include <trace/tracepoint.h>
void shelf_put(int shelf, int nr);
int counting_begins(int *counter);
void counting_ends(int *counter);
"""
MAIN = """
int main(void)
{
	int counter = 0, err;

	shelf_put(1, 100);
	err = counting_begins(&counter);
	shelf_put(1, 99);
	shelf_put(1, 100);
	shelf_put(2, 100);
	counting_ends(&counter);
	shelf_put(1, 100);
	printf("%d %d\\n", err, counter);
}
"""
FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-mcx16", "-D_GNU_SOURCE", "-Itrace/include", "-iquote", "trace",
         "-Itests/unit/fake", "-Itests/unit/fake/plat"]


def test_example_of_the_page(tmp_path):
    page = (ROOT / "docs/tracepoints.md").read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", page, re.M | re.S)
    assert len(blocks) == 3
    source = tmp_path / "example.c"
    source.write_text(HEAD + "\n".join(blocks) + MAIN)
    fakes = sorted((ROOT / "tests/unit/fake").glob("*.c"))
    subprocess.run(["gcc", *FLAGS, str(source), "trace/ops/tracepoint.c", *map(str, fakes), "-lpthread",
                    "-o", str(tmp_path / "example")], cwd=ROOT, check=True)
    run = subprocess.run([tmp_path / "example"], check=True, capture_output=True, text=True)
    assert run.stdout == "0 2\n"
