"""Pages of trace_pipe_raw (which are also those of trace.dat), and the events in them.

    formats = {one.id: one for one in map(Format, texts of events/*/*/format)}
    for time_ns, at, end in events_of(page): formats[type_of(page, at)].values(page, at, end)

The layout is written down in docs/ring-buffer.md and, for each event, in its `format` file.
"""
import re
import struct

HEAD = 16  # bytes of a page before its events: the time of its start, the length of what follows and two flags
MISSED_EVENTS, MISSED_STORED = 1 << 31, 1 << 30
DATA_MAX, PADDING, TIME_EXTEND, TIME_STAMP = 28, 29, 30, 31  # values of the five bits that say what an event is

NUMBERS = {1: "Bb", 2: "Hh", 4: "Ii", 8: "Qq"}  # size of a field: struct's letter for it without and with sign
FIELD = re.compile(r"^\s*field:(?P<declaration>.*?);\s*offset:(?P<offset>\d+);\s*size:(?P<size>\d+);\s*signed:(?P<signed>[01]);", re.M)


class Field:
    """One line of a `format` file."""

    def __init__(self, match):
        words = match["declaration"].strip()
        self.offset, self.size, self.signed = int(match["offset"]), int(match["size"]), match["signed"] == "1"
        name = re.search(r"(\w+)(\[[^\]]*\])?$", words)
        self.name, self.is_array = name[1], bool(name[2])
        self.is_data_loc = words.startswith("__data_loc")
        self.is_rel_loc = words.startswith("__rel_loc")
        self.type = words[: name.start()].replace("__data_loc", "").replace("__rel_loc", "").strip().removesuffix("[]").strip()
        letters = NUMBERS.get(self.size) if not self.is_array else None
        self.number = struct.Struct("<" + letters[self.signed]) if letters else None
        self.is_text = self.type in ("char", "const char") and (self.is_array or self.is_data_loc or self.is_rel_loc)

    def value(self, page, at, end):
        """A number, a text, or the bytes of an array, of the event at page[at:end]."""
        start, length = at + self.offset, self.size
        if self.is_data_loc or self.is_rel_loc:
            where = struct.unpack_from("<I", page, start)[0]
            start = (start + 4 if self.is_rel_loc else at) + (where & 0xFFFF)
            length = where >> 16
        elif self.number:
            return self.number.unpack_from(page, start)[0]
        data = page[start : min(start + length, end)] if length else page[start:end]
        return data.split(b"\0", 1)[0].decode("utf-8", "replace") if self.is_text else bytes(data)


class Format:
    """An event's type, from its `format` file."""

    def __init__(self, text):
        try:
            self.name = re.search(r"^name: (\S+)", text, re.M)[1]
            self.id = int(re.search(r"^ID: (\d+)", text, re.M)[1])
            self.all_fields = [Field(match) for match in FIELD.finditer(text)]
        except TypeError:  # a regular expression that found nothing
            raise ValueError("a format has no name, no ID, or a field without a name") from None
        self.common = [one for one in self.all_fields if one.name.startswith("common_")]
        self.fields = [one for one in self.all_fields if not one.name.startswith("common_")]
        printed = re.search(r"^print fmt: (.*)", text, re.M | re.S)
        self.print_fmt = printed[1].strip() if printed else ""

    def field(self, name):
        return next((one for one in self.all_fields if one.name == name), None)

    def values(self, page, at, end):
        """{name: value} of the event's own fields, in their order."""
        return {one.name: one.value(page, at, end) for one in self.fields}


def type_of(page, at):
    """The number that `format` calls ID: the first field of every event."""
    return page[at] | page[at + 1] << 8


def page_head(page):
    """(time of the page's start, bytes of events, events lost before it or None if their number is not known)."""
    time_ns, commit = struct.unpack_from("<QQ", page)
    length = commit & 0xFFFFF
    if not commit & MISSED_EVENTS:
        return time_ns, length, 0
    if commit & MISSED_STORED and HEAD + length + 8 <= len(page):
        return time_ns, length, struct.unpack_from("<Q", page, HEAD + length)[0]
    return time_ns, length, None


def events_of(page):
    """(time in ns, where it begins, where it ends) of each event's data."""
    now, length, _ = page_head(page)
    at, stop = HEAD, min(HEAD + length, len(page))
    word_at = struct.Struct("<I").unpack_from
    while at + 4 <= stop:
        word = word_at(page, at)[0]
        kind, delta = word & 31, word >> 5
        at += 4
        if 0 < kind <= DATA_MAX:
            now += delta
            end = at + kind * 4
            yield now, at, end
            at = end
        elif kind == 0:  # a long one, whose length is a word of its own and counts itself
            now += delta
            end = at + word_at(page, at)[0]
            yield now, at + 4, end
            at = end
        elif kind == PADDING:
            if not delta:
                return
            now += delta
            at += word_at(page, at)[0]
        else:
            high = word_at(page, at)[0] << 27 | delta
            # A time stamp has 59 bits; those above are the page's.
            now = now + high if kind == TIME_EXTEND else now & ~((1 << 59) - 1) | high
            at += 4
