"""A program of the build host that holds the kernel's side of the tables, and how to run things."""
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SANITIZED = "gcc -fsanitize=address,undefined -fno-sanitize-recover=all"
TOOLS = ["recordmcount", "ksyms", "lines", "sites", "types", "whynot"]


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=600, **options)


def must(*command, **options):
    done = run(*command, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done


class Program:
    """Two links as the kernel has them: without tables, then with the tables made from the first."""

    def __init__(self, tools, directory, compiler):
        self.tools, self.directory, self.compiler = tools, directory, compiler
        self.first, self.second = directory / "first", directory / "second"
        traced = self.compile("traced.c", "-pg", "-mfentry")
        must(tools["recordmcount"], traced)
        self.objects = [traced, self.compile("untraced.c"), self.compile("routine.s"), self.compile("query.c")]
        kernel = [self.compile(f"../../kernel/{name}.c") for name in ("symbols", "whynot", "near_names", "no_tables")]
        self.objects += kernel
        self.link(self.first)
        self.ksyms, self.whynot = directory / "ksyms_table.o", directory / "whynot_table.o"
        must(tools["ksyms"], "-o", self.ksyms, self.first)
        must(tools["whynot"], "-o", self.whynot, self.first, cwd=HERE)
        self.link(self.second, self.ksyms, self.whynot)

    def compile(self, source, *flags):
        out = self.directory / (Path(source).stem + ".o")
        must(
            self.compiler,
            "-std=gnu11",
            "-O2",
            "-g",
            "-fno-pie",
            "-fcf-protection=none",
            f"-I{ROOT}/kernel/include",
            f"-I{ROOT}/kernel",
            f"-I{ROOT}/trace/include",
            *(["-fno-ipa-icf"] if self.compiler == "gcc" else []),
            *flags,
            "-c",
            source,
            "-o",
            out,
            cwd=HERE,
        )
        return out

    def link(self, out, *tables):
        must(
            "gcc",
            "-static",
            "-no-pie",
            "-Wl,-u,entry",
            "-Wl,--defsym=__start_mcount_loc=__start___mcount_loc",
            "-Wl,--defsym=__stop_mcount_loc=__stop___mcount_loc",
            "-Wl,-u,__start___mcount_loc",
            "-Wl,-u,__stop___mcount_loc",
            *self.objects,
            *tables,
            "-o",
            out,
        )

    def ask(self, *questions, program=None):
        done = must(program or self.second, input="".join(f"{question}\n" for question in questions))
        assert "OVERRUN" not in done.stdout
        return done.stdout.splitlines()
