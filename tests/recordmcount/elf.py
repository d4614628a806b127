"""Questions of the tests about ELF files."""
import struct

from elftools.elf.elffile import ELFFile


def sections_named(path, name):
    with open(path, "rb") as file:
        return [section.data() for section in ELFFile(file).iter_sections() if section.name == name]


def symbols(path):
    """Name -> address, of the last symbol of each name."""
    with open(path, "rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols() if symbol.name}


def functions(path):
    """Name -> address of the functions."""
    with open(path, "rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols() if symbol["st_info"]["type"] == "STT_FUNC"}


def bytes_at(path, address, size):
    with open(path, "rb") as file:
        for section in ELFFile(file).iter_sections():
            start = section["sh_addr"]
            if section["sh_flags"] & 2 and start <= address < start + section["sh_size"]:
                return section.data()[address - start : address - start + size]
    raise AssertionError(f"nothing at {address:#x}")


def sites(path):
    """The linked table, sorted."""
    known = symbols(path)
    start, stop = known["__start_mcount_loc"], known["__stop_mcount_loc"]
    if start == stop:
        return []
    data = bytes_at(path, start, stop - start)
    return sorted(struct.unpack(f"<{len(data) // 8}Q", data))


def entries(path):
    """Number of table entries in an object."""
    return sum(len(data) // 8 for data in sections_named(path, "__mcount_loc"))


def has_section_symbol(path, name):
    with open(path, "rb") as file:
        elf = ELFFile(file)
        index = elf.get_section_index(name)
        return any(
            symbol["st_info"]["type"] == "STT_SECTION" and symbol["st_shndx"] == index
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
        )
