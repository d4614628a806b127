"""`tools/fathom usdt`: notes of markers become lines for uprobe_events."""
import struct
import subprocess
import sys

import pytest

from tablekit import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from host import _common, _sdt, usdt  # noqa: E402

MARKED = ROOT / "tests/user/marked.c"
PLACE = _sdt.Marker("p", "n", [], 0x401010, 0x1010, 0)
SYMBOLS = {"total": 0x4A6000, "far.away": 0x10}


@pytest.mark.parametrize(
    "word, wanted",
    [
        ("-4@%edi", "%di:s32"),
        ("4@%r8d", "%r8:u32"),
        ("8@%rax", "%ax:u64"),
        ("-1@%sil", "%si:s8"),
        ("2@%r15w", "%r15:u16"),
        ("-2@$-7", "\\-7:s16"),
        ("4@$0x10", "\\16:u32"),
        ("8@-16(%rbp)", "-16(%bp):u64"),
        ("-8@(%rsp)", "+0(%sp):s64"),
        ("1@0x20(%r12)", "+32(%r12):u8"),
        ("4@total(%rip)", "@+0xa6000:u32"),
        ("4@total+8(%rip)", "@+0xa6008:u32"),
        ("4@8+total(%rip)", "@+0xa6008:u32"),
    ],
)
def test_arguments(word, wanted):
    assert _sdt.translated(PLACE, SYMBOLS, word) == wanted


@pytest.mark.parametrize(
    "word, why",
    [
        ("8f@%xmm0", "no such type"),
        ("4@%ah", "%ah is no register"),
        ("8@%xmm0", "%xmm0 is no register"),
        ("8@(%rax,%rbx,8)", "no such address"),
        ("8@16(%rip)", "no such address"),
        ("8@other(%rip)", "no variable of that name"),
        ("%edi", "no such type"),
    ],
)
def test_arguments_that_a_probe_cannot_have(word, why):
    with pytest.raises(_sdt.Untranslated, match=why):
        _sdt.translated(PLACE, SYMBOLS, word)


def test_lines():
    """Places of one marker are one event while their types are the same; what cannot be an argument is said behind a #."""
    markers = [
        _sdt.Marker("a-b", "1st", ["-4@%edi"], 0x401010, 0x1010, 0x2000),
        _sdt.Marker("a-b", "1st", ["-4@8(%rbp)"], 0x401020, 0x1020, 0x2000),
        _sdt.Marker("a-b", "1st", ["4@%edi"], 0x401030, 0x1030, 0x2000),
        _sdt.Marker("c", "d", ["8@(%rax,%rbx)", "1@%al"], 0x401040, 0x1040, 0),
    ]
    assert usdt.definitions(markers, {}, "/bin/x") == [
        "p:a_b/_1st /bin/x:0x1010(0x2000) arg1=%di:s32",
        "p:a_b/_1st /bin/x:0x1020(0x2000) arg1=+8(%bp):s32",
        "p:a_b/_1st_2 /bin/x:0x1030(0x2000) arg1=%di:u32",
        "p:c/d /bin/x:0x1040 arg2=%ax:u8 # without arg1, 8@(%rax,%rbx): a probe has no such address",
    ]


@pytest.fixture(scope="module", params=[("-static",), ("-pie",)], ids=" ".join)
def program(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("marked") / "marked"
    subprocess.run(["gcc", "-O2", *request.param, "-o", out, MARKED], check=True)
    return out


def command(*words):
    done = subprocess.run([ROOT / "tools/fathom", "usdt", *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_a_program(program):
    status, out, _ = command("--list", program)
    listed = [line.split() for line in out.splitlines()]
    assert status == 0 and [words[0] for words in listed] == ["marked:step", "marked:wanted"]
    assert listed[0][2:] == ["-4@%edi", "8@total(%rip)", "-2@$-7"]
    data = program.read_bytes()
    offsets = [int(words[1], 16) for words in listed]
    semaphore = int(listed[1][2].removeprefix("semaphore="), 16)
    assert [data[at] for at in offsets] == [0x90, 0x90] and data[semaphore : semaphore + 2] == b"\0\0"
    status, out, _ = command("--path", "/bin/marked", program, "*:wanted")
    assert (status, out) == (0, f"p:marked/wanted /bin/marked:{offsets[1]:#x}({semaphore:#x})\n")
    assert command(program)[1].startswith(f"p:marked/step {program}:{offsets[0]:#x} arg1=%di:s32 arg2=@+0x")


def test_moved_since_it_was_linked(program):
    """As prelink does it: the base says how far."""
    data = bytearray(program.read_bytes())
    elf = _sdt.Elf(bytes(data))
    before = _sdt.markers(elf)
    note = elf.section(".note.stapsdt")
    for description in _sdt.notes(elf.contents(note)):
        at = data.index(description, note[4])
        words = struct.unpack_from("<QQQ", description)
        struct.pack_into("<QQQ", data, at, *(word - 0x100 if word else 0 for word in words))
    assert _sdt.markers(_sdt.Elf(bytes(data))) == before


def test_what_has_none(tmp_path):
    (tmp_path / "text").write_text("text")
    assert command(tmp_path / "text")[::2] == (_common.FAILED, "fathom usdt: this is no ELF file of 64 bits\n")
    assert command("/bin/busybox")[0] == _common.NOTHING
    assert command(tmp_path / "none")[0] == _common.FAILED


def test_damage(program, tmp_path):
    """Each word of the heads and of the notes is damaged: a sentence, or another answer, and no traceback."""
    data = program.read_bytes()
    note = _sdt.Elf(data).section(".note.stapsdt")
    (sections,) = struct.unpack_from("<Q", data, 40)
    for at in [*range(16, 64, 2), *range(note[4], note[4] + note[5], 4), *range(sections, sections + 640, 8)]:
        spoiled = bytearray(data)
        spoiled[at : at + 2] = b"\xff\xff"
        try:
            with _common.making_sense("it"):
                elf = _sdt.Elf(bytes(spoiled))
                usdt.definitions(_sdt.markers(elf), elf.symbols(), "/x")
        except _common.Failure:
            pass
