"""The library as others get it, installed for pkg-config: examples/tiny made from that and booted."""
import re
import shutil

import pytest
from workshop import BUILDS, ROOT, boot, libtrace, must

FUNCTIONS = ["demo <-trace_functions", "sum_of_cubes <-demo", "cube <-sum_of_cubes", "square <-cube"]


def tiny(folder, compiler, library):
    """What examples/tiny prints, made from that library."""
    shutil.copytree(ROOT / "examples/tiny", folder / "tiny")
    must("make", "-s", "-C", folder / "tiny", f"CC={compiler}", f"LIBTRACE={library}", f"OUT={folder}/out")
    return boot(folder / "out/tiny.elf")


def check(lines):
    assert "text poke: int3 self-test passed: nop, call, jmp" in lines
    first = lines.index("function trace of demo(3), which is true:") + 1
    assert lines[first:first + len(FUNCTIONS)] == FUNCTIONS


def pkg_config(prefix, *options):
    return must("pkg-config", *options, "libtrace", env={"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig", "PATH": "/usr/bin:/bin"}).strip()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_installed(compiler, tmp_path):
    """All that the example needs comes from pkg-config, also when the folder has been moved."""
    folder = libtrace(compiler, "graph")
    must("make", "-s", "-C", ROOT, "install-libtrace", f"CC={compiler}", f"BUILD={BUILDS[compiler]}", "PROFILE=graph",
         "HOST=examples/tiny/include", f"LIBTRACE={folder}", "LIBTRACE_CFLAGS=-g0", "PREFIX=/usr", f"DESTDIR={tmp_path}/first")
    prefix, library = tmp_path / "moved", tmp_path / "library"
    (tmp_path / "first/usr").rename(prefix)
    library.mkdir()
    flags = pkg_config(prefix, "--cflags").split()
    (library / "flags").write_text("\n".join(flags))
    (library / "flags.traced").write_text("\n".join(flags + pkg_config(prefix, "--variable=traced").split()))
    (library / "recordmcount").symlink_to(pkg_config(prefix, "--variable=recordmcount"))
    archive = pkg_config(prefix, "--libs").split()[-1]
    (library / "libtrace.a").symlink_to(archive)
    (library / "sections.ld").symlink_to(f"{pkg_config(prefix, '--variable=libdir')}/sections.ld")
    assert str(prefix) in archive
    check(tiny(tmp_path, compiler, library))
    version = re.search(r'TRACE_VERSION_TEXT\s+"(.*)"', (prefix / "include/libtrace/include/trace/version.h").read_text())[1]
    assert pkg_config(prefix, "--modversion") == version
    assert "Permission is hereby granted" in (prefix / "share/doc/libtrace/LICENSE").read_text()


def test_version():
    """The number of the version is that of its text."""
    text = (ROOT / "trace/include/trace/version.h").read_text()
    numbers = [re.search(rf"TRACE_VERSION_{part}\s+(\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    assert re.search(r'TRACE_VERSION_TEXT\s+"(.*)"', text)[1] == ".".join(numbers)
