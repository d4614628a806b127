"""`print` shows structs of the kernel with a sentence in front of their members."""
import gdb
import gdb.printing

from ft import locks, memory, sites, symbols, threads
from ft.memory import MASK


def thread_text(value):
    return f"pid {int(value['pid'])} {threads.name_of(value)}, {threads.STATES.get(int(value['state']), '?')}, " f"CPU {int(value['cpu'])}"


def record_text(value):
    flags = int(value["flags"])
    words = sites.flag_words(flags & ~sites.REF_MAX, "FTRACE_FL_", "enum ftrace_record_flags").split()
    return f"{symbols.describe(symbols.unpack(int(value['ip'])))}, {flags & sites.REF_MAX} ops" + (", " + " ".join(words) if words else "")


def event_text(value):
    return f"{memory.text(int(value['system']))}:{memory.text(int(value['name']))}, type {int(value['type'])}"


def array_text(value):
    name = memory.array_text(value["name"])
    return f"{f'instance {name}' if name else 'the global instance'}, tracer {memory.text(int(value['tracer']['name']))}"


TEXTS = {
    "thread": thread_text,
    "mutex": lambda value: locks.mutex_text(value) or "free",
    "spinlock": lambda value: locks.spinlock_text(value) or "free",
    "dyn_ftrace": record_text,
    "ftrace_ops": lambda value: f"calls {symbols.name_of(int(value['func']) & MASK)}",
    "fgraph_frame": lambda value: f"{symbols.name_of(symbols.unpack(int(value['func'])))} returns to "
    f"{symbols.describe(symbols.unpack(int(value['ret'])), True)}",
    "trace_event": event_text,
    "trace_array": array_text,
}


class Printer:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        try:
            return f"({TEXTS[self.value.type.strip_typedefs().tag](self.value)})"
        except gdb.error as err:  # Damaged is one, and so is memory that cannot be read
            return f"({err})"

    def children(self):
        for field in self.value.type.strip_typedefs().fields():
            yield field.name or "union", self.value[field]


def register():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("fathom")
    for tag in TEXTS:
        collection.add_printer(tag, f"^{tag}$", Printer)
    gdb.printing.register_pretty_printer(None, collection, replace=True)
