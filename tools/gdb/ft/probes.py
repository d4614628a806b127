"""Probes: at which instructions, by which means, what they call, how often they were hit or missed; watched memory; the
events of probes."""
import struct

import gdb
from ft import memory, symbols
from ft.memory import MASK, Damaged

GONE, DISABLED = 1, 2  # enum kprobe_flags
MAX_CHAINS = 1 << 22


# ---- Places of probes ----


def places():
    """Each struct kprobe_place, by address."""
    table = memory.variable("kprobe_table").dereference()
    which, mask = int(table["which"]), int(table["mask"])
    if which > 1 or mask >= MAX_CHAINS:
        raise Damaged(f"the table of probes says that it has {mask + 1} chains")
    first = memory.address_of(table["chain"])
    found = []
    for (head,) in struct.iter_unpack("<Q", memory.read(first, 8 * (mask + 1))):
        start = gdb.Value(head).cast(gdb.lookup_type("struct kprobe_place").pointer())
        found += memory.chain(start, lambda place: place["link"][which], "probes")
    return sorted(found, key=lambda place: int(place["addr"]))


def means(place):
    """How a CPU comes from the place to the handlers."""
    if not int(place["ops"]) and not int(place["is_armed"]):
        return "off"
    if int(place["is_site"]):
        return "call site"
    if int(place["jump"]) == memory.enum("KPROBE_JUMP_DONE"):
        return "jump"
    return "int3"


def handlers(probe):
    names = ((probe["pre_handler"], ""), (probe["post_handler"], "behind it "))
    return ", ".join(words + symbols.name_of(int(handler) & MASK) for handler, words in names if int(handler)) or "nobody"


def marks(probe):
    flags = int(probe["flags"])
    missed = int(probe["nmissed"])
    words = (("gone", flags & GONE), ("disabled", flags & DISABLED), (f"{missed} missed", missed))
    return "".join(f", {text}" for text, is_so in words if is_so)


def show_places():
    nr = 0
    for place in places():
        address = int(place["addr"]) & MASK
        for probe in memory.chain(place["first"], lambda p: p["next"], "probes of a place"):
            nr += 1
            print(f"{address:016x} {symbols.describe(address):<32} {means(place):<9} calls {handlers(probe)}{marks(probe)}")
    return nr


def show_returns():
    """Of functions whose return is probed; fprobes are ops, which `ft ops` shows."""
    nr = 0
    table = memory.variable("kretprobe_table").dereference()
    size = gdb.lookup_type("struct kretprobe_slot").sizeof
    slots = int(table["mask"]) // size + 1
    if slots > MAX_CHAINS:
        raise Damaged(f"the table of probes at returns says that it has {slots} places")
    first = memory.address_of(table["slot"])
    for i in range(slots):
        slot = memory.at(first + i * size, "struct kretprobe_slot")
        for probe in memory.chain(slot["first"], lambda p: p["next"], "probes of returns"):
            nr += 1
            address = int(probe["kp"]["addr"]) & MASK
            missed = int(probe["nmissed"])
            print(
                f"{address:016x} {symbols.describe(address):<32} return    calls {symbols.name_of(int(probe['handler']) & MASK)}"
                + (f", {missed} missed" if missed else "")
            )
    return nr


def show_watches():
    nr = 0
    watches = memory.variable("wprobes", "wprobe.c")
    for i in range(watches.type.range()[1] + 1):
        if int(watches[i]):
            nr += 1
            watch = watches[i].dereference()
            address, missed = int(watch["addr"]) & MASK, int(watch["nmissed"])
            what = "writes" if int(watch["type"]) == memory.enum("WPROBE_W") else "reads and writes"
            name = str(gdb.Value(address).cast(gdb.lookup_type("void").pointer())).partition(" ")[2] or "memory"
            print(
                f"{address:016x} {name:<32} {what} of {int(watch['len'])} bytes, now {int(watch['value']):#x}, "
                f"calls {symbols.name_of(int(watch['handler']) & MASK)}" + (f", {missed} missed" if missed else "")
            )
    return nr


def struct_probe():
    """Of two structs `probe` the one that struct probe_kind's functions take."""
    return gdb.lookup_type("struct probe_kind")["end"].type.target().fields()[0].type.target()


def texts(probe):
    """Place and arguments of a probe, as they are listed: they lie behind its copies."""
    program = probe["program"]
    at = int(program["copies_end"] + program["nr_words"])
    place = memory.text(at, 4096)
    return place, memory.text(at + len(place.encode()) + 1, 4096)


def print_fmt(event):
    """The `format` of the event of a probe, as probe_text.c writes it."""
    own = memory.at(int(event["call"]), "struct probe_event")
    kind, nr = own["kind"], int(own["nr_args"])
    if nr + int(kind["nr_fields"]) != int(event["nr_fields"]):
        raise Damaged(f"an event of a probe says that it has {nr} arguments")
    head = memory.text(int(kind["head_fmt"])) if int(kind["head_fmt"]) else texts(own["first"].dereference())[0].replace("/", ".")
    text, values = f'"({head})', memory.text(int(kind["head_args"])) if int(kind["head_args"]) else ""
    for i in range(nr):
        name = memory.text(int(event["fields"][int(kind["nr_fields"]) + i]["name"]))
        kind_of, count = own["args"][i]["type"], int(own["args"][i]["count"])
        form = memory.text(int(kind_of["conversion"]))
        text += f" {name}=" + ("{" + ",".join([form] * count) + "}" if count else form)
        what = int(kind_of["kind"])
        if what in (memory.enum("FETCH_TEXT"), memory.enum("FETCH_SYMBOL_TEXT")):
            before, after = ", __get_str(", ")"
        else:
            before, after = (", (void *)REC->" if what == memory.enum("FETCH_SYMBOL") else ", REC->"), ""
        values += "".join(f"{before}{name}{index}{after}" for index in ([f"[{k}]" for k in range(count)] or [""]))
    return text + '"' + values


def show_events():
    """The events of probes, as their lines define them."""
    probe_type = struct_probe()
    offset = next(field.bitpos // 8 for field in probe_type.fields() if field.name == "dyn")
    nr = 0
    for dyn in memory.chain(memory.variable("first_event", "dyn_event.c"), lambda event: event["next"], "dynamic events"):
        if memory.text(int(dyn["kind"]["name"])) == "synth":
            continue
        nr += 1
        probe = gdb.Value(int(dyn) - offset & MASK).cast(probe_type.pointer()).dereference()
        kind, event = memory.at(int(dyn["call"]), "struct probe_event")["kind"], dyn["call"]["event"]
        place, args = texts(probe)
        print(
            f"{chr(int(kind['letter']))}:{memory.text(int(event['system']))}/{memory.text(int(event['name']))} "
            f"{place}{args}  {int(probe['nr_hits'])} hits"
        )
    return nr


PARTS = (
    (show_places, "probes at instructions"),
    (show_returns, "at returns"),
    (show_watches, "on memory"),
    (show_events, "events of probes"),
)


def show():
    counts = []
    for part, what in PARTS:
        try:
            counts.append(f"{part()} {what}")
        except Damaged as err:
            counts.append(f"{what}: {err}")
    print(", ".join(counts))
