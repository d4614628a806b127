"""The library as others get it, installed for pkg-config or in a folder of its own: examples/tiny made from that and booted."""
import os
import re
import shutil
import subprocess

import pytest
from workshop import BUILDS, LIBTRACE_CFLAGS, ROOT, boot, libtrace, must

FUNCTIONS = ["demo <-trace_functions", "sum_of_cubes <-demo", "cube <-sum_of_cubes", "square <-cube"]


def tiny(folder, compiler, library):
    """The output of examples/tiny, made from that library."""
    shutil.copytree(ROOT / "examples/tiny", folder / "tiny")
    must("make", "-s", "-C", folder / "tiny", f"CC={compiler}", f"LIBTRACE={library}", f"OUT={folder}/out")
    return boot(folder / "out/tiny.elf")


def check(lines):
    assert "text poke: int3 self-test passed: nop, call, jmp" in lines
    first = lines.index("function trace of demo(3), which is true:") + 1
    assert lines[first : first + len(FUNCTIONS)] == FUNCTIONS


def pkg_config(prefix, *options):
    return must("pkg-config", *options, "libtrace", env={"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig", "PATH": "/usr/bin:/bin"}).strip()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_installed(compiler, tmp_path):
    """All that the example needs comes from pkg-config, also when the folder has been moved."""
    folder = libtrace(compiler, "graph")
    must(
        "make",
        "-s",
        "-C",
        ROOT,
        "install-libtrace",
        f"CC={compiler}",
        f"BUILD={BUILDS[compiler]}",
        "PROFILE=graph",
        "HOST=examples/tiny/include",
        f"LIBTRACE={folder}",
        f"LIBTRACE_CFLAGS={LIBTRACE_CFLAGS}",
        "PREFIX=/usr",
        f"DESTDIR={tmp_path}/first",
    )
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


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist") / "libtrace"
    must("make", "-s", "-C", ROOT, "dist-libtrace", f"BUILD={BUILDS['gcc']}", f"DIST={folder}")
    return folder


def test_dist_keeps_what_it_has_not_made(tmp_path):
    (tmp_path / "mine").write_text("")
    done = subprocess.run(["make", "-s", "-C", ROOT, "dist-libtrace", f"BUILD={BUILDS['gcc']}", f"DIST={tmp_path}"], check=False)
    assert done.returncode != 0 and (tmp_path / "mine").exists()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_vendored(compiler, dist, tmp_path):
    """The folder has all that it needs, but for the compiler: no NASM."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "nasm").write_text("#!/bin/sh\nexit 1\n")
    (programs / "nasm").chmod(0o755)
    must(
        "make",
        "-s",
        "-j2",
        "-C",
        dist,
        f"CC={compiler}",
        "PROFILE=graph",
        "HOST=hosts/tiny",
        f"LIBTRACE={tmp_path}/library",
        f"BUILD={tmp_path}/build",
        "LIBTRACE_CFLAGS=-O1",
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
    )
    check(tiny(tmp_path, compiler, tmp_path / "library"))


def contents(path):
    """The parts of an object for the linker: bytes, relocations, global symbols."""
    relocations = [
        re.findall(r"^([0-9a-f]{16}) +\S+ +(R_\S+) +[0-9a-f]+ (.*)$", table, re.M)
        for table in must("readelf", "-rW", path).split("Relocation section '")
        if re.match(r"\.rela\.(text|rodata)'", table)
    ]
    parts = [
        must("objdump", "-s", "-j", section, path).partition("Contents")[2]
        for section in (".text", ".rodata")
        if f" {section} " in must("readelf", "-SW", path)
    ]
    return parts, relocations, must("nm", "-gS", path)


def test_assembly(dist, tmp_path):
    """For each .asm there is a .s, from which GNU as and clang make what NASM makes of the other."""
    names = sorted(path.stem for path in (ROOT / "trace/arch/x86_64").glob("*.asm"))
    assert names == sorted(path.stem for path in (dist / "trace/arch/x86_64").glob("*.s")) and len(names) > 5
    for name in names:
        nasm = tmp_path / "nasm.o"
        must(
            "nasm",
            "-f",
            "elf64",
            f"-I{ROOT}/trace/arch/x86_64/",
            f"-I{BUILDS['gcc']}/gen/",
            "-o",
            nasm,
            ROOT / f"trace/arch/x86_64/{name}.asm",
        )
        for compiler in ("gcc", "clang"):
            must(compiler, "-c", dist / f"trace/arch/x86_64/{name}.s", "-o", tmp_path / "gas.o")
            assert contents(tmp_path / "gas.o") == contents(nasm), (name, compiler)
