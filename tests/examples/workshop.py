"""How the tests make the library and the examples."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILDS = {"gcc": os.environ.get("FATHOM_BUILD", ROOT / "build"), "clang": os.environ.get("FATHOM_BUILD_CLANG", ROOT / "build/clang")}
EXIT = ["-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
HOST = "examples/tiny/include"
LIBTRACE_CFLAGS = "-g0 -O0 -Wno-frame-larger-than"  # without an optimiser frames are larger
UNOPTIMISED = ("expr", "fs", "hist", "instance", "livepatch", "monitors", "print", "probes", "start", "text", "types", "why")
ALONE = ("default", "start", "x86_64")  # folders of sources that are compiled one by one
POWERED_OFF = 1  # of QEMU, when 0 was written to that port


def must(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def libtrace(compiler, profile, host=HOST, folder=None, **variables):
    """The folder that `make libtrace` fills. What profiles have in common is compiled once for all tests, in half the time of -O2
    and -g; test_vendored() and the process have an optimised one."""
    folder = folder or Path(BUILDS[compiler]) / "libtrace"
    must(
        "make",
        "-s",
        "-C",
        ROOT,
        "libtrace",
        f"CC={compiler}",
        f"BUILD={BUILDS[compiler]}",
        f"PROFILE={profile}",
        f"HOST={host}",
        f"LIBTRACE={folder}",
        *(f"{name}={value}" for name, value in {"LIBTRACE_CFLAGS": LIBTRACE_CFLAGS, **variables}.items()),
    )
    return folder


def in_tree(path):
    """As the Makefile has it: from its folder on, for a path in there."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def together(folder, sources):
    """These sources, those of a folder as one that includes them: headers take longer to compile than what is behind them. A default
    stays a member of its own, as the host may take its place. Some use a word for different things: no warnings."""
    groups = {}
    for source in sources:
        group = source if source.parent.name in ALONE else source.parent
        groups.setdefault(group, []).append(source)
    for group, members in groups.items():
        if len(members) == 1:
            yield members[0]
            continue
        path, text = folder / "together" / group.name / "all.c", "".join(f'#include "{ROOT / source}"\n' for source in members)
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        yield in_tree(path)


def libtrace_together(compiler, profile, host, folder, plain=(), **variables):
    """A library like that of libtrace(), in a folder of its own; `plain`: the folders of sources that no optimiser sees."""
    words = {"PROFILE": profile, "HOST": host, "LIBTRACE": folder, "BUILD": BUILDS[compiler], **variables}
    listed = must("make", "-s", "-C", ROOT, *(f"{name}={value}" for name, value in words.items()), "--eval", "l:;@echo $(lib_objs)", "l")
    objects = f"{in_tree(folder)}/obj/"
    sources = list(together(folder, sorted(Path(word.removeprefix(objects).removesuffix(".o")) for word in listed.split())))
    variables.update({f"CFLAGS_{path}": "-w" + " -O0" * (path.parent.name in plain) for path in sources if path.name == "all.c"})
    return libtrace(compiler, profile, host, folder, lib_objs=" ".join(f"{objects}{path}.o" for path in sources), **variables)


def libtrace_for_process(compiler, profile="full"):
    """The full profile takes seconds: it is made for this host only, and stays. This host runs on real processors, with threads: all
    that its threads run into is optimised, and of the rest nothing."""
    folder, host = Path(BUILDS[compiler]) / "libtrace_process", "examples/process/include"
    return libtrace_together(compiler, profile, host, folder, UNOPTIMISED, FOR="process", LIBTRACE_CFLAGS="-g0")


def boot(image, cpus=1, keys=""):
    """Its output until it powers off; `keys` are typed."""
    done = subprocess.run(
        [
            "qemu-system-x86_64",
            "-kernel",
            image,
            "-smp",
            str(cpus),
            "-m",
            "64M",
            "-display",
            "none",
            "-serial",
            "stdio",
            "-monitor",
            "none",
            "-net",
            "none",
            "-no-reboot",
            *EXIT,
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        input=keys,
    )
    assert done.returncode == POWERED_OFF, f"QEMU ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout.splitlines()
