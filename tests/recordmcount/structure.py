"""Reads an object byte by byte, and says all that must hold between one and what recordmcount made of it."""
import struct

(NULL, PROGBITS, SYMTAB, STRTAB, RELA, NOBITS, GROUP, XINDEX) = (0, 1, 2, 3, 4, 8, 17, 18)
(ALLOC, EXEC, INFO_LINK, LINK_ORDER, IN_GROUP) = (0x2, 0x4, 0x40, 0x80, 0x200)
(R_64, R_PC32, R_PLT32) = (1, 2, 4)
ADDRSIG = 0x6FFF4C03
EXCLUDE = 1 << 31
LORESERVE, XNUMBER = 0xFF00, 0xFFFF
FIELDS = ("name", "type", "flags", "addr", "offset", "size", "link", "info", "align", "entry")


class Section:
    def __init__(self, values):
        self.__dict__.update(zip(FIELDS, values))

    def same(self, other, *fields):
        return all(getattr(self, field) == getattr(other, field) for field in fields)


class Object:
    def __init__(self, data):
        self.data = data
        header = struct.unpack_from("<16sHHIQQQIHHHHHH", data)
        self.start, nr, names = header[6], header[12], header[13]
        self.fixed = header[:6] + header[7:12]  # what no tool changes
        first = Section(struct.unpack_from("<IIQQQQIIQQ", data, self.start))
        nr = nr or first.size
        assert (header[12] == 0) == (nr >= LORESERVE)
        self.names = first.link if names == XNUMBER else names
        self.sections = [Section(struct.unpack_from("<IIQQQQIIQQ", data, self.start + 64 * i)) for i in range(nr)]
        self.symtab = next((i for i, section in enumerate(self.sections) if section.type == SYMTAB), 0)
        self.xindexes = next(
            (
                struct.unpack(f"<{section.size // 4}I", self.contents(i))
                for i, section in enumerate(self.sections)
                if section.type == XINDEX
            ),
            None,
        )
        self.symbols = list(struct.iter_unpack("<IBBHQQ", self.contents(self.symtab))) if self.symtab else []

    def contents(self, section):
        sh = self.sections[section]
        return b"" if sh.type in (NULL, NOBITS) else self.data[sh.offset : sh.offset + sh.size]

    def text(self, table, at):
        data = self.contents(table)
        return data[at : data.index(b"\0", at)].decode()

    def name(self, section):
        return self.text(self.names, self.sections[section].name)

    def symbol_name(self, symbol):
        return self.text(self.sections[self.symtab].link, self.symbols[symbol][0])

    def home(self, symbol):
        """The section a symbol is in; as it stands in the entry when it is in none."""
        index = self.symbols[symbol][3]
        return self.xindexes[symbol] if index == XNUMBER and self.xindexes else index

    def relocations(self, section):
        """(offset, symbol, type, addend)"""
        return [
            (offset, info >> 32, info & 0xFFFFFFFF, addend) for offset, info, addend in struct.iter_unpack("<QQq", self.contents(section))
        ]

    def words(self, section):
        return [word for word, in struct.iter_unpack("<I", self.contents(section))]

    def is_code(self, section):
        return self.sections[section].type == PROGBITS and bool(self.sections[section].flags & EXEC)

    def calls(self):
        """Section -> offsets of the calls of __fentry__ and mcount in it, rising."""
        found = {}
        for i, section in enumerate(self.sections):
            if section.type != RELA or not self.is_code(section.info):
                continue
            text = self.contents(section.info)
            for offset, symbol, kind, _ in self.relocations(i):
                if (
                    kind in (R_PC32, R_PLT32)
                    and offset
                    and text[offset - 1] == 0xE8
                    and self.symbol_name(symbol) in ("__fentry__", "mcount")
                ):
                    found.setdefault(section.info, set()).add(offset - 1)
        return {section: sorted(found[section]) for section in sorted(found)}


def misaligned(path):
    """Symbols, relocations and groups lie at odd offsets: unusual, but no damage."""
    data = bytearray(path.read_bytes())
    old = Object(bytes(data))
    for i, section in enumerate(old.sections):
        if section.type in (SYMTAB, RELA, GROUP):
            data += bytes((len(data) + 1) % 2)
            struct.pack_into("<Q", data, old.start + 64 * i + 24, len(data))
            data += old.contents(i)
    path.write_bytes(data)
    return path


class Change:
    """check() holds for what recordmcount made of `before`, an object with calls and without a table."""

    def __init__(self, before, after):
        self.old, self.new = Object(before), Object(after)
        self.nr_old = len(self.old.sections)
        self.added = len(self.new.symbols) - len(self.old.symbols)
        self.first_global = self.old.sections[self.old.symtab].info
        self.calls = self.old.calls()
        self.table_of = {code: self.nr_old + 2 * i for i, code in enumerate(self.calls)}

    def check(self):
        assert self.new.fixed == self.old.fixed
        assert self.new.names == self.old.names
        assert len(self.new.sections) == self.nr_old + 2 * len(self.calls)
        self._old_sections()
        self._symbols()
        for code, offsets in self.calls.items():
            self._table(code, offsets)
        self._layout()
        return self

    def renumbered(self, symbol):
        return symbol + self.added if symbol >= self.first_global else symbol

    def group_of(self, section):
        return next((i for i, sh in enumerate(self.old.sections) if sh.type == GROUP and section in self.old.words(i)[1:]), 0)

    def _old_sections(self):
        for i, (old, new) in enumerate(zip(self.old.sections, self.new.sections)):
            assert new.same(old, "name", "addr", "align", "entry"), i
            if i == 0:
                nr = len(self.new.sections)
                assert new.size == (nr if nr >= LORESERVE else 0) and new.same(old, "type", "flags", "offset", "link", "info")
                continue
            if old.type == ADDRSIG and self.added:
                assert (new.type, new.flags, new.link) == (PROGBITS, old.flags | EXCLUDE, 0)
            else:
                assert new.same(old, "type", "flags", "link"), i
            if i == self.old.names:
                assert self.new.contents(i) == self.old.contents(i) + b".rela__mcount_loc\0"
            elif old.type == SYMTAB:
                assert new.info == old.info + self.added
            elif old.type == XINDEX:
                assert new.info == old.info and new.size == old.size + 4 * self.added
            elif old.type == GROUP:
                self._group(i)
            else:
                assert new.same(old, "size", "info", "offset"), i
                if old.type == RELA and old.link == self.old.symtab:
                    assert self.new.relocations(i) == [
                        (offset, self.renumbered(symbol), kind, addend) for offset, symbol, kind, addend in self.old.relocations(i)
                    ]
                else:
                    assert self.new.contents(i) == self.old.contents(i), i

    def _group(self, group):
        old, new = self.old.sections[group], self.new.sections[group]
        members = [self.table_of[code] + i for code in self.calls if self.group_of(code) == group for i in (0, 1)]
        assert self.new.words(group) == self.old.words(group) + members
        assert new.info == self.renumbered(old.info)
        assert new.offset % new.align == 0 if members else new.offset == old.offset

    def _symbols(self):
        first, added = self.first_global, self.added
        made = range(first, first + added)
        for i, symbol in enumerate(self.old.symbols):
            at = self.renumbered(i)
            assert self.new.symbols[at] == symbol and self.new.home(at) == self.old.home(i), i
        for i in made:
            assert self.new.symbols[i][:3] == (0, 3, 0) and self.new.symbols[i][4:] == (0, 0), i
        bases = {
            self.old.home(i) for i, symbol in enumerate(self.old.symbols[:first]) if symbol[1] & 15 == 3 and symbol[4] == 0
        }  # st_info: STT_SECTION; st_value
        assert [self.new.home(i) for i in made] == [code for code in self.calls if code not in bases]
        assert all((symbol[1] >> 4 == 0) == (i < first + added) for i, symbol in enumerate(self.new.symbols))

    def _table(self, code, offsets):
        new, at = self.new, self.table_of[code]
        table, relas = new.sections[at], new.sections[at + 1]
        group = IN_GROUP if self.group_of(code) else 0
        assert (new.name(at), new.name(at + 1)) == ("__mcount_loc", ".rela__mcount_loc")
        assert (table.type, table.flags) == (PROGBITS, ALLOC | LINK_ORDER | group)
        assert (table.addr, table.size, table.link, table.info) == (0, 8 * len(offsets), code, 0)
        assert (table.align, table.entry) == (1, 0)
        assert (relas.type, relas.flags) == (RELA, INFO_LINK | group)
        assert (relas.addr, relas.size, relas.link, relas.info) == (0, 24 * len(offsets), new.symtab, at)
        assert (relas.align, relas.entry) == (8, 24)
        assert not any(new.contents(at))
        bases = set()
        for i, (offset, symbol, kind, addend) in enumerate(new.relocations(at + 1)):
            assert (offset, kind, addend) == (8 * i, R_64, offsets[i])
            bases.add(symbol)
        (base,) = bases
        assert new.symbols[base][1] == 3 and new.symbols[base][4] == 0 and new.home(base) == code

    def _layout(self):
        """The input's bytes stay at their place; behind them is nothing but what the headers name, zeros between."""
        data, begin = self.new.data, len(self.old.data)
        pieces = [(64, 64)] if begin == 64 else []
        for i, section in enumerate(self.new.sections):
            if i and section.type not in (NULL, NOBITS) and section.offset >= begin:
                pieces.append((section.offset, section.offset + section.size))
                wanted = 8 if section.type in (SYMTAB, XINDEX, RELA) or i >= self.nr_old else section.align
                assert section.offset % wanted == 0, i
        assert self.new.start % 8 == 0
        pieces.append((self.new.start, self.new.start + 64 * len(self.new.sections)))
        at = begin
        for start, end in sorted(pieces):
            assert at <= start < at + 8 and not any(data[at:start]), (start, at)
            at = end
        assert at == len(data)
        changed = [range(0, 64)] + [range(sh.offset, sh.offset + sh.size) for sh in self.old.sections if sh.type == RELA]
        places = {place for piece in changed for place in piece} if self.added else set(range(64))
        assert all(old == new or at in places for at, (old, new) in enumerate(zip(self.old.data, data)))
