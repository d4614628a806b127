"""`make libtrace`: what the archive defines and leaves to the host."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from workshop import BUILDS, HOST, LIBTRACE_CFLAGS, ROOT, libtrace, libtrace_for_process, libtrace_together, must

PREFIXES = (
    "trace_|ftrace_|fgraph_|tracepoint_|tracer_|tracing_|trampoline_|text_poke|ring_buffer_|ring_kept_|stack_tracer_|klp_|"
    "register_ftrace_|unregister_ftrace_|(un)?register_(tracer|trace_event)$|modify_ftrace_direct$|"
    r"(un)?register_(k|kret|f|w|u)probes?|(enable|disable)_(k|kret|f|w)probes?|(k|kret|f|w|u)probes?_|"
    "for_each_kernel_tracepoint$|return_to_handler|__fentry__$"
)
FROM_C = {"memcpy", "memmove", "memset", "memcmp"}
TABLES = ["trace_tracepoints", "trace_event_calls", "trace_eval_maps", "trace_printk_fmts", "trace_fixups"]  # sections


def symbols(archive):
    """(kind, name) of each that has a kind and a name, of all members."""
    return {tuple(line.split()[-2:]) for line in must("nm", "-g", archive).splitlines() if len(line.split()) in (2, 3)}


def names(archive):
    """(defined, asked for), after a look at the prefixes."""
    found = symbols(archive)
    defined = {name for kind, name in found if kind not in "Uwv"}
    assert len(defined) > 50
    assert {name for name in defined if not re.match(PREFIXES, name)} == set()
    by_linker = {f"__{end}_{table}" for table in TABLES for end in ("start", "stop")}
    return defined, {name for kind, name in found if kind == "U"} - defined - by_linker


@pytest.mark.parametrize("profile", ["ring", "ops", "graph", "events"])
def test_names(profile):
    """No symbol outside of the library's prefixes; none but the host's and C's is asked for."""
    asked = names(libtrace("gcc", profile) / "libtrace.a")[1] - FROM_C
    assert {name for name in asked if not re.match(r"trace_plat_|trace_arch_|ns_per_cycle$|(text|exec)_(start|end)$", name)} == set()


@pytest.mark.parametrize("variable, name", [("PROFILE", "profile"), ("TRACE_WITH", "feature")])
def test_a_name_that_means_nothing(variable, name):
    """An error that names it, not a library without it."""
    done = subprocess.run(["make", "-n", "-C", ROOT, "libtrace", f"{variable}=attic"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and f"there is no {name} attic\n" in done.stderr


def test_features_that_come_along(tmp_path):
    """One that is wanted in `events` brings those that it needs, and no others."""
    words = must("make", "-n", "-s", "-C", ROOT, "libtrace", "PROFILE=events", "TRACE_WITH=monitors", f"LIBTRACE={tmp_path}")
    for source, is_there in (("monitors/monitor_run", True), ("hist/hist_run", True), ("hist/hist_trace", False), ("synth_event", False)):
        assert (f"{source}.c.o" in words) == is_there, source


def test_names_for_a_process():
    """It has the functions of C itself: those of the C library change vector registers, which no callback may."""
    defined, asked = names(libtrace_for_process("gcc") / "libtrace.a")
    assert {name for name in asked if not re.match(r"trace_plat_|trace_arch_|process_", name)} == set()
    assert {f"trace_{name}" for name in FROM_C} <= defined


def test_from_nothing(tmp_path):
    """In a folder that is not there yet, and for another host, with other flags, in one that is: nothing of the first one's stays.
    The host's headers need not bear the library's warnings."""
    folder, other = tmp_path / "libtrace", tmp_path / "host"
    other.mkdir()
    for header in (ROOT / "examples/tiny/include").iterdir():
        (other / header.name).write_text(header.read_text().replace('"tiny"', '"other"'))
        os.utime(other / header.name, (0, 0))
    with (other / "trace_plat_inline.h").open("a") as inline:
        inline.write("static inline int narrow(unsigned long long n) { int n_; { int n_ = n; return n_; } }\n")
    assert libtrace("gcc", "ring", folder=folder, LIBTRACE_CFLAGS="-O0") == folder
    assert ".debug_info" in must("readelf", "-SW", folder / "libtrace.a")
    assert {path.name for path in folder.iterdir()} >= {
        "libtrace.a",
        "include",
        "flags",
        "flags.traced",
        "recordmcount",
        "sections.ld",
        "LICENSE",
    }
    libtrace("gcc", "ring", host=other, folder=folder, LIBTRACE_CFLAGS="-O0 -g0")
    assert ".debug_info" not in must("readelf", "-SW", folder / "libtrace.a")
    assert '"other"' in (folder / "host/trace_plat_facts.h").read_text()


def link(folder, name, include, *options):
    """(the linker's exit status and errors, addresses by symbols) of a script that throws away all that it does not name."""
    script, image = folder / f"{name}.ld", folder / name
    script.write_text(
        "SECTIONS { . = 1M; .text : { *(.text .text.*) } .data : { *(.data .data.* .rodata .rodata.*) }\n"
        f"{include}\n.bss : {{ *(.bss .bss.* COMMON) }} /DISCARD/ : {{ *(*) }} }}\n"
    )
    done = subprocess.run(
        [
            "ld",
            "-static",
            "--no-warn-rwx-segments",
            "-z",
            "noexecstack",
            *options,
            "-T",
            script,
            "-o",
            image,
            folder / "host.o",
            folder / "memory.o",
            folder / "libtrace.a",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return done, {} if done.returncode else {name: int(value, 16) for value, _, name in map(str.split, must("nm", image).splitlines())}


def events_of(compiler):
    """gcc's is there for other tests."""
    if compiler == "gcc":
        return libtrace(compiler, "events")
    return libtrace_together(compiler, "events", HOST, Path(BUILDS[compiler]) / "libtrace_events", LIBTRACE_CFLAGS=LIBTRACE_CFLAGS)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_section_is_lost(compiler, tmp_path):
    """A link without the library's sections fails and names them; with the line of the guide, and --gc-sections, all are there."""
    library = events_of(compiler)
    shutil.copy(library / "libtrace.a", tmp_path)
    for source, to in ((ROOT / "tests/examples/sections.c", "host.o"), (ROOT / "trace/arch/x86_64/memory.c", "memory.o")):
        must(compiler, "-std=gnu11", "-O2", f"@{library}/flags", f"-I{ROOT}/trace", "-c", source, "-o", tmp_path / to)
    failed, _ = link(tmp_path, "without", "")
    assert failed.returncode != 0
    assert {name for name in TABLES if f"`__stop_{name}'" in failed.stderr} == set(TABLES)
    for options in ([], ["--gc-sections"]):
        done, at = link(tmp_path, "with", "INCLUDE sections.ld", "-L", library, *options)
        assert done.returncode == 0, done.stderr
        bytes_of = {name: at[f"__stop_{name}"] - at[f"__start_{name}"] for name in TABLES}
        assert bytes_of["trace_event_calls"] >= 8 * 10 and bytes_of["trace_tracepoints"] >= 8 * 10 and bytes_of["trace_fixups"] == 16


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
