"""How the tests build the tool, make objects and link them."""
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A variable without a value holds garbage, so that no test relies on an old value of the stack.
SANITIZED = "gcc -fsanitize=address,undefined -fno-sanitize-recover=all -ftrivial-auto-var-init=pattern"

KERNEL_FLAGS = (
    "-std=gnu11 -O2 -ffreestanding -fno-pie -fno-pic -mcmodel=kernel -mno-red-zone -mgeneral-regs-only "
    "-fno-omit-frame-pointer -fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables"
).split()


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=600, **options)


def must(*command, **options):
    done = run(*command, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done


def build_tool(directory, compiler):
    must(
        "make",
        "-s",
        "-C",
        ROOT,
        "-f",
        "-",
        f"BUILD={directory}",
        f"HOST_CC_CMD={compiler}",
        f"{directory}/tools/recordmcount",
        input="include tools/build.mk\n",
    )
    return directory / "tools" / "recordmcount"


class Workshop:
    """Makes objects in a directory of its own."""

    def __init__(self, directory):
        self.directory = directory

    def path(self, name):
        return self.directory / name

    def write(self, name, text):
        path = self.path(name)
        path.write_text(text)
        return path

    def compile(self, name, source, *flags, compiler="gcc", plain=False):
        """`plain` leaves out the kernel's flags."""
        path = self.write(f"{name}.c", source)
        out = self.path(f"{name}.o")
        must(compiler, *([] if plain else [*KERNEL_FLAGS, "-pg", "-mfentry"]), *flags, "-c", path, "-o", out)
        return out

    def assemble(self, name, source, *flags):
        out = self.path(f"{name}.o")
        must("gcc", "-c", *flags, self.write(f"{name}.s", source), "-o", out)
        return out

    def nasm(self, name, source):
        out = self.path(f"{name}.o")
        must("nasm", "-f", "elf64", self.write(f"{name}.asm", source), "-o", out)
        return out

    def link(self, name, *objects, script=None, flags=()):
        """A kernel-like link; the tracer's entry points come with it."""
        tracer = self.assemble("tracer", TRACER)
        out = self.path(name)
        must("ld", "-e", "0", *flags, "-T", self.write("link.ld", script or SCRIPT), *objects, tracer, "-o", out)
        return out


TRACER = """
.section .note.GNU-stack,"",@progbits
.text
.globl __fentry__, mcount
.type __fentry__, @function
__fentry__: ret
.size __fentry__, 1
.type mcount, @function
mcount: ret
.size mcount, 1
"""

SCRIPT = """
SECTIONS {
    . = 0xffffffff80100000;
    .text : { *(.text .text.*) *(.init.text) *(.exit.text) }
    .rodata : {
        *(.rodata*)
        . = ALIGN(8);
        __start_mcount_loc = .;
        KEEP(*(__mcount_loc))
        __stop_mcount_loc = .;
    }
    .data : { *(.data*) *(.bss*) }
    /DISCARD/ : { *(.comment) *(.note*) *(.eh_frame) *(.llvm_addrsig) }
}
"""
