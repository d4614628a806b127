"""tools/host/_pages.py: pages put together here by the description of the layout, with every kind of entry there is."""
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from host import _pages  # noqa: E402

COMMON = """
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
"""
FORMAT = f"""name: demo
ID: 7
format:{COMMON}
	field:char comm[4];	offset:8;	size:4;	signed:1;
	field:int small;	offset:12;	size:4;	signed:1;
	field:__data_loc char[] text;	offset:16;	size:4;	signed:1;
	field:unsigned long mask[];	offset:20;	size:0;	signed:0;

print fmt: "%s %d", REC->comm, REC->small
"""


def head(kind, delta):
    return struct.pack("<I", kind | delta << 5)


def page(*entries, start=1000, flags=0, behind=b""):
    data = b"".join(entries)
    return (struct.pack("<QQ", start, len(data) | flags) + data + behind).ljust(4096, b"\0")


def found(some):
    return [(time, bytes(some[at:end])) for time, at, end in _pages.events_of(some)]


def test_times_and_lengths():
    assert found(page()) == []
    assert found(page(head(1, 5), b"abcd", head(2, 0), b"efghijkl")) == [(1005, b"abcd"), (1005, b"efghijkl")]
    # 28 words are the longest short one; one more is counted in bytes, with the word that counts.
    assert found(page(head(28, 1), b"x" * 112, head(0, 1), struct.pack("<I", 120), b"y" * 116, head(1, 1), b"last")) == [
        (1001, b"x" * 112),
        (1002, b"y" * 116),
        (1003, b"last"),
    ]


def test_what_is_no_event():
    long_ago = (3 << 27) + 9
    assert found(page(head(30, long_ago & (1 << 27) - 1), struct.pack("<I", 3), head(1, 1), b"abcd")) == [(1000 + long_ago + 1, b"abcd")]
    assert found(page(head(31, 77), struct.pack("<I", 2), head(1, 1), b"abcd")) == [((2 << 27) + 78, b"abcd")]
    # The upper bits of a time stamp are those of the time before.
    assert found(page(head(31, 77), struct.pack("<I", 0), head(1, 0), b"abcd", start=5 << 59)) == [((5 << 59) + 77, b"abcd")]
    # Padding with a time is passed over, padding without one ends the page.
    assert found(page(head(29, 4), struct.pack("<I", 12), b"z" * 8, head(1, 1), b"abcd", head(29, 0), b"garbage!")) == [(1005, b"abcd")]


def test_lost_events():
    assert _pages.page_head(page(head(1, 0), b"abcd")) == (1000, 8, 0)
    assert _pages.page_head(page(head(1, 0), b"abcd", flags=1 << 31)) == (1000, 8, None)
    many = page(head(1, 0), b"abcd", flags=3 << 30, behind=struct.pack("<Q", 42))
    assert _pages.page_head(many) == (1000, 8, 42) and found(many) == [(1000, b"abcd")]


def test_fields():
    demo = _pages.Format(FORMAT)
    assert (demo.id, demo.name, demo.print_fmt) == (7, "demo", '"%s %d", REC->comm, REC->small')
    assert [one.name for one in demo.fields] == ["comm", "small", "text", "mask"] and demo.field("common_pid").offset == 4
    data = struct.pack("<HBBi4sii", 7, 0, 0, 33, b"sh\0?", -5, 28 | 3 << 16) + bytes(range(8)) + b"hi\0"
    some = b"before" + data
    assert _pages.type_of(some, 6) == 7
    assert demo.values(some, 6, len(some)) == {"comm": "sh", "small": -5, "text": "hi", "mask": bytes(range(8)) + b"hi\0"}


def test_large_pages():
    """Sub-buffers have up to 512 KB and more: lengths of 16 bits are not enough, nor is one that the flags begin behind."""
    many = page(*[head(28, 1) + bytes(112)] * 2000)
    assert _pages.page_head(many)[1] == 2000 * 116 > 1 << 16 and len(found(many)) == 2000
    assert found(many)[-1][0] == 3000


def test_a_count_of_lost_events_without_room():
    """The flag says that it stands behind the events, where the page has ended."""
    full = page(head(0, 1), struct.pack("<I", 4068), bytes(4064), head(1, 1), b"last", flags=3 << 30)
    assert len(full) == 4096 and _pages.page_head(full) == (1000, 4080, None)
