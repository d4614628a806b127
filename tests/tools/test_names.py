"""check-names: which static names it refuses."""
import pytest

from tablekit import ROOT, run

GOOD = "static int ram_read(void)\n{\n\treturn 0;\n}\n"


@pytest.fixture
def check(tmp_path):
    """Hold sources, by path, against the rule; returns what is wrong."""

    def judge(library={}, **files):
        names = {f"kernel/fs/{name}.c": text for name, text in files.items()}
        for folder in ("kernel/fs", "arch/x86_64"):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name, text in {**names, **library}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        (tmp_path / "kernel/files.mk").write_text("KERNEL_SRCS += " + " ".join(names) + "\n")
        (tmp_path / "arch/x86_64/files.mk").write_text("")
        done = run(ROOT / "tools/check-names", cwd=tmp_path)
        assert (done.returncode == 0) == (done.stdout == "check-names: ok\n"), done.stdout + done.stderr
        return [] if done.returncode == 0 else done.stdout.splitlines()

    return judge


@pytest.mark.parametrize("name", ["ram_read", "vfs_read", "fs_read"])
def test_words_of_the_path(check, name):
    assert not check(vfs_ram=GOOD.replace("ram_read", name))


@pytest.mark.parametrize("name", ["read", "rams", "pipe_read", "read_ram"])
def test_other_words(check, name):
    wrong = check(vfs_ram="\n" + GOOD.replace("ram_read", name))
    assert (
        (not wrong) if name == "rams" else wrong == [f"kernel/fs/vfs_ram.c:2: {name}(): the name does not begin with a word of the file's"]
    )


def test_two_files_with_a_name(check):
    assert check(vfs_ram=GOOD, vfs_ram_data=GOOD) == ["ram_read() is in kernel/fs/vfs_ram.c and kernel/fs/vfs_ram_data.c"]


def test_functions_without_a_site(check):
    for word in ("inline", "TRACE_NOTRACE", "TRACE_ALWAYS_INLINE"):
        assert not check(vfs_ram=GOOD.replace("static int ram_", f"static {word} int "))
    assert check(vfs_ram=GOOD.replace("static int ram_read(void)", "static TRACE_NOINLINE struct file *read(int a,\n\t\tint b)"))


@pytest.mark.parametrize(
    "one, other",
    [
        ("static int find(void)\n{\n}\n", "static TRACE_NOINLINE const struct file *find(int a,\n\t\tint b)\n{\n}\n"),
        ("static int find(void)\n{\n}\n", "static TRACE_ALWAYS_INLINE const struct file *\nfind(int a)\n{\n}\n"),
        ("static struct file *const find[2] = {\n};\n", "static _Atomic(int) find;\nstatic int find;\n"),
        ("static const struct {\n\tint a;\n} find = {\n};\n", 'static char find[] __attribute__((section("x"))) = "";\n'),
        ("struct find {\n\tint a;\n};\n", "struct find {\n\tint a[2];\n};\n"),
    ],
)
def test_the_library_says_where_a_name_belongs(check, one, other):
    """A name of a public header may stand in another one: a host has one of them."""
    name = "struct find" if one.startswith("struct") else "find"
    files = {"trace/ring/ring_read.c": one, "trace/ring/ring.h": other}
    assert check(files) == [f"{name} is in trace/ring/ring.h and trace/ring/ring_read.c"]
    files = {"trace/ring/ring_read.c": one, "trace/ring/ring.h": "\tint find;\nint find(void);\nstruct find *find;\nenum find {\n};\n"}
    assert check(files) == []
    public = {"trace/include/trace/a.h": one, "trace/include/trace/b.h": other}
    assert check({**files, "trace/ring/ring_read.c": "", **public}) == []
    assert check({**files, **public}) == [f"{name} is in trace/include/trace/a.h and trace/include/trace/b.h and trace/ring/ring_read.c"]
