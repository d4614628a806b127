"""`make libtrace`: what the archive defines and leaves to the host."""
import os
import re

import pytest
from workshop import ROOT, libtrace, libtrace_for_process, must

PREFIXES = ("trace_|ftrace_|fgraph_|tracepoint_|tracer_|tracing_|trampoline_|text_poke|ring_buffer_|stack_tracer_|klp_|"
            "register_ftrace_|unregister_ftrace_|register_tracer$|unregister_tracer$|modify_ftrace_direct$|"
            r"(un)?register_(k|kret|f|w)probes?|(enable|disable)_(k|kret|f|w)probes?|(k|kret|f|w)probes?_|"
            "probe_(create|destroy|jump_create|original|is_detour|pushed)$|"
            "for_each_kernel_tracepoint$|return_to_handler|__fentry__$")
FROM_C = {"memcpy", "memmove", "memset", "memcmp"}


def symbols(archive):
    """(kind, name) of each that has a kind and a name, of all members."""
    return {tuple(line.split()[-2:]) for line in must("nm", "-g", archive).splitlines() if len(line.split()) in (2, 3)}


def names(archive):
    """(defined, asked for), after a look at the prefixes."""
    found = symbols(archive)
    defined = {name for kind, name in found if kind not in "Uwv"}
    assert len(defined) > 50
    assert {name for name in defined if not re.match(PREFIXES, name)} == set()
    return defined, {name for kind, name in found if kind == "U"} - defined


@pytest.mark.parametrize("profile", ["ring", "ops", "graph", "events"])
def test_names(profile):
    """No symbol outside of the library's prefixes; none but the host's and C's is asked for."""
    asked = names(libtrace("gcc", profile) / "libtrace.a")[1] - FROM_C
    assert {name for name in asked if not re.match(r"trace_plat_|trace_arch_|ns_per_cycle$|(text|exec)_(start|end)$", name)} == set()


def test_names_for_a_process():
    """It has the functions of C itself: those of the C library change vector registers, which no callback may."""
    defined, asked = names(libtrace_for_process("gcc") / "libtrace.a")
    assert {name for name in asked if not re.match(r"trace_plat_|trace_arch_|process_", name)} == set()
    assert {f"trace_{name}" for name in FROM_C} <= defined


def test_from_nothing(tmp_path):
    """In a folder that is not there yet, and for another host, with other flags, in one that is: nothing of the first one's stays."""
    folder, other = tmp_path / "libtrace", tmp_path / "host"
    other.mkdir()
    for header in (ROOT / "examples/tiny/include").iterdir():
        (other / header.name).write_text(header.read_text().replace('"tiny"', '"other"'))
        os.utime(other / header.name, (0, 0))
    assert libtrace("gcc", "ring", folder=folder, LIBTRACE_CFLAGS="-O0") == folder
    assert ".debug_info" in must("readelf", "-SW", folder / "libtrace.a")
    assert {path.name for path in folder.iterdir()} >= {"libtrace.a", "include", "flags", "flags.traced", "recordmcount"}
    libtrace("gcc", "ring", host=other, folder=folder, LIBTRACE_CFLAGS="-O0 -g0")
    assert ".debug_info" not in must("readelf", "-SW", folder / "libtrace.a")
    assert '"other"' in (folder / "include/trace_plat_facts.h").read_text()


def test_clang_has_the_same():
    gcc, clang = (symbols(libtrace(compiler, "ops") / "libtrace.a") for compiler in ("gcc", "clang"))
    assert {name for kind, name in gcc if kind in "TWDB"} == {name for kind, name in clang if kind in "TWDB"}


def test_another_profile_keeps_what_is_compiled():
    """And the archive has no more than its own."""
    folder = libtrace("gcc", "ops")
    compiled = folder / "obj/trace/ring/ring_write.c.o"
    before, size = compiled.stat().st_mtime_ns, (folder / "libtrace.a").stat().st_size
    libtrace("gcc", "ring")
    assert compiled.stat().st_mtime_ns == before
    assert (folder / "libtrace.a").stat().st_size < size
