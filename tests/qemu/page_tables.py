"""The page tables of a guest, read from its physical memory by QEMU: no word of the kernel is believed."""
import mmap
import re
import struct

PRESENT, WRITE, USER, HUGE, NO_EXECUTE = 1, 1 << 1, 1 << 2, 1 << 7, 1 << 63
ADDRESS = 0x000FFFFFFFFFF000
ENTRIES = 512


class Leaf:
    """A mapping: pages at `virtual` are those of the memory at `physical`; rights of all levels together."""

    def __init__(self, virtual, physical, size, rights):
        self.virtual, self.physical, self.size = virtual, physical, size
        self.write, self.user, self.execute = bool(rights & WRITE), bool(rights & USER), not rights & NO_EXECUTE

    def frames(self):
        return range(self.physical >> 12, (self.physical + self.size) >> 12)

    def __repr__(self):
        rights = "".join(letter for letter, has in zip("uwx", (self.user, self.write, self.execute)) if has)
        return f"{self.virtual:#x} -> {self.physical:#x} ({self.size:#x}) {rights or '-'}"


class Memory:
    """The guest's memory while it stands still, and the tables in it."""

    def __init__(self, qmp, path, size):
        qmp("pmemsave", val=0, size=size, filename=str(path))
        self.size = size
        with path.open("r+b") as file:
            self.bytes = mmap.mmap(file.fileno(), size, mmap.MAP_PRIVATE)
        text = qmp("human-monitor-command", **{"command-line": "info registers -a"})["return"]
        self.roots = {int(cr3, 16) & ADDRESS for cr3 in re.findall(r"CR3=([0-9a-f]+)", text)}

    def close(self):
        self.bytes.close()

    def table(self, physical):
        return struct.unpack_from(f"<{ENTRIES}Q", self.bytes, physical)

    def walk(self, root):
        """(leaves, frames of tables) of an address space."""
        leaves, tables, todo = [], {root >> 12}, [(root, 39, 0, WRITE | USER)]
        while todo:
            physical, shift, base, above = todo.pop()
            for index, entry in enumerate(self.table(physical)):
                if not entry & PRESENT:
                    continue
                virtual = base + (index << shift)
                if shift == 39 and index >= ENTRIES // 2:
                    virtual += 0xFFFF << 48
                rights = (above & entry & (WRITE | USER)) | ((above | entry) & NO_EXECUTE)
                if shift == 12 or entry & HUGE:
                    leaves.append(Leaf(virtual, entry & ADDRESS & -(1 << shift), 1 << shift, rights))
                else:
                    tables.add((entry & ADDRESS) >> 12)
                    todo.append((entry & ADDRESS, shift - 9, virtual, rights))
        return leaves, tables


def faults(leaves, tables):
    """The faults of an address space whose kernel is the upper half. `tables`: frames of all page tables that are known."""
    upper = 1 << 63
    executed = {frame for leaf in leaves if leaf.execute and leaf.virtual >= upper for frame in leaf.frames()}
    found = []
    for leaf in leaves:
        if leaf.write and leaf.execute:
            found.append(f"written and executed: {leaf}")
        if leaf.user != (leaf.virtual < upper):
            found.append(f"the kernel's for programs, or the other way round: {leaf}")
        if leaf.write and not executed.isdisjoint(leaf.frames()):
            found.append(f"a writable view of the kernel's code: {leaf}")
        if leaf.user and not (tables | executed).isdisjoint(leaf.frames()):
            found.append(f"a program's view of the kernel: {leaf}")
    return found
