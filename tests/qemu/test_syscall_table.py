"""Refusals of system calls as docs/syscalls.md tells them: each call of its table is made by a program, whose source is the table."""
import re
import subprocess

import pytest
from guest import ROOT, Guest
from programs import archive

PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* All 0: a page of the program for calls that want an address. */
static char page[4096] __attribute__((aligned(4096)));
static char *sp = page;

static void tell(long result)
{
	puts(result < 0 ? strerrorname_np(errno) : "0 or more");
}

int main(void)
{
	int file = open("/tmp/refused", O_RDWR | O_CREAT, 0600);

%s
	return unlink("/tmp/refused");
}
"""


def refusals():
    """(call, result) of each row."""
    text = (ROOT / "docs" / "syscalls.md").read_text().partition("## Refused, and ignored")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(.*?)` \| (\w[\w ]*) \|", text.replace(r"\|", "\0"), re.M)
    return [(call.replace("\0", "|"), result) for call, result in rows]


def as_lines(calls):
    for call in calls:
        name, arguments = re.fullmatch(r"(\w+)\((.*)\)", call).groups()
        yield f"\ttell(syscall(SYS_{name}, {arguments}));\n"


@pytest.mark.parametrize("build", ["gcc", "clang"])
def test_refusals(build, tmp_path):
    rows = refusals()
    assert len(rows) > 30
    source = tmp_path / "refused.c"
    source.write_text(PROGRAM % "".join(as_lines(call for call, _ in rows)))
    subprocess.run(["gcc", "-O1", "-static", "-w", "-o", tmp_path / "refused", source], check=True)
    with Guest(build, 2, initrd=archive(tmp_path / "refused.cpio", {"bin/refused": tmp_path / "refused"}), tests=True) as guest:
        results = guest.check("refused").splitlines()
    assert list(zip([call for call, _ in rows], results, strict=True)) == rows
