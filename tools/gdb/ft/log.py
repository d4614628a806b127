"""The kernel's messages: kernel/dmesg.c, whose ring of slots is described there."""
import struct

from ft import memory

TEXT = 104
SLOT = 24 + TEXT
LONGEST = 4096


def messages():
    """(time in ns, text), oldest first; what was being written is left out."""
    slots = memory.variable("slots", "dmesg.c")
    nr = slots.type.range()[1] + 1
    data = memory.read(memory.address_of(slots), nr * SLOT)
    end = int(memory.variable("next_number", "dmesg.c"))
    seq = max(end - nr, int(memory.variable("cleared_below", "dmesg.c")), 0)

    def slot(number):
        state, ns, length, _, part = struct.unpack_from("<QQHBB", data, number % nr * SLOT)
        at = number % nr * SLOT + 24
        return (ns, length, part, data[at : at + TEXT]) if state == 2 * number + 2 else None

    while seq < end:
        first = slot(seq)
        seq += 1
        if not first or first[2] or first[1] > LONGEST:
            continue
        ns, length, _, text = first
        for part in range(1, (length + TEXT - 1) // TEXT):
            piece = slot(seq)
            if not piece or piece[2] != part:
                break
            text += piece[3]
            seq += 1
        yield ns, text[:length].decode("utf-8", "replace")


def show():
    for ns, text in messages():
        us = ns // 1000
        print(f"[{us // 1000000:5}.{us % 1000000:06}] {text}")
