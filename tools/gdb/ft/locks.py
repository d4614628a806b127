"""Locks: who holds what, and who waits. A mutex knows its owner always, a spin lock only in a build with DEBUG=1."""
import re

import gdb
from ft import memory, symbols, threads
from ft.memory import MASK, Damaged

MAX_ELEMENTS = 128
DEPTH = 3
MAX_HELD = 64


def variables():
    """(name, value) of all variables of the kernel, as gdb lists them."""
    file = None
    for line in gdb.execute("info variables -q", to_string=True).splitlines():
        if line.startswith("File "):
            file = line[5:-1].split("/")[-1]
        elif line.startswith("Non-debugging"):
            return
        match = re.match(r"\d+:\s.*?(\w+)(?:\[[^;]*)?;$", line)
        if file and match:
            try:
                value = memory.variable(match.group(1), file)
            except Damaged:
                continue
            if value.address is not None:  # one that the compiler has kept in memory
                yield match.group(1), value


def locks_in(name, value, depth=DEPTH):
    """(name, lock) of the mutexes and spin locks inside a variable."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        if kind.target().strip_typedefs().code == gdb.TYPE_CODE_STRUCT and has_lock(kind.target(), depth):
            for i in range(min(kind.range()[1] + 1, MAX_ELEMENTS)):
                yield from locks_in(f"{name}[{i}]", value[i], depth)
    elif kind.code == gdb.TYPE_CODE_STRUCT and has_lock(kind, depth):
        if kind.tag in ("mutex", "spinlock"):
            yield name, value
        else:
            for field in kind.fields():
                if field.name:
                    yield from locks_in(f"{name}.{field.name}", value[field], depth - 1)


_has = {}


def has_lock(kind, depth):
    """Is there a lock inside objects of this type?"""
    kind = kind.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        return has_lock(kind.target(), depth)
    if kind.code != gdb.TYPE_CODE_STRUCT or depth < 0:
        return False
    if kind.tag in ("mutex", "spinlock"):
        return True
    key = (str(kind), depth) if kind.tag else None
    if key not in _has or key is None:
        found = any(has_lock(field.type, depth - 1) for field in kind.fields())
        if key is None:
            return found
        _has[key] = found
    return _has[key]


_known = {}


def all_locks():
    """Those in variables; where they are is found out once."""
    key = gdb.current_progspace().filename
    if key not in _known:
        _known[key] = [
            (name, memory.address_of(lock), lock.type.strip_typedefs().tag)
            for variable, value in variables()
            if has_lock(value.type, DEPTH)
            for name, lock in locks_in(variable, value)
        ]
    return [(name, memory.at(address, f"struct {tag}"), tag) for name, address, tag in _known[key]]


def thread_text(pointer):
    try:
        return f"pid {int(pointer['pid'])} {threads.name_of(pointer)}"
    except (gdb.MemoryError, Damaged):
        return f"(no thread: {int(pointer) & MASK:#x})"


def waiters(queue):
    return [thread_text(waiter["thread"]) for waiter in memory.chain(queue["first"], lambda w: w["next"], "waiters of a lock")]


def mutex_text(lock):
    """None when the lock is free and has no waiter."""
    owner = lock["owner"]
    waiting = waiters(lock["queue"])
    if not int(owner) and not waiting:
        return None
    return ("held by " + thread_text(owner) if int(owner) else "free") + (", waited for by " + ", ".join(waiting) if waiting else "")


def spinlock_text(lock):
    if not int(lock["locked"]):
        return None
    cpu = int(lock["owner_cpu"])
    return f"held by CPU {cpu - 1}" if cpu else "held; only a build with DEBUG=1 knows by whom"


def lock_name(address, names):
    """Also of a lock that its owner knows only as room for one: ftrace_lock."""
    if address in names:
        return names[address]
    found = re.match(r"(\S+)(?: \+ \d+)? in section", gdb.execute(f"info symbol {address:#x}", to_string=True))
    return found[1] if found else symbols.describe(address)


def held_text(held, names):
    """The locks of a struct held_locks, outermost first."""
    nr = int(held["nr"])
    if nr > MAX_HELD:
        raise Damaged(f"somebody says that he holds {nr} locks")
    start = memory.symbol_address("kernel_start")
    return ", ".join(lock_name(start + int(held["locks"][i]) & MASK, names) for i in range(nr))


def show_held(names):
    """The record of a build with DEBUG=1."""
    try:
        held = memory.variable("held", "spinlock.c")
    except Damaged:
        held = None
    for cpu, _ in threads.cpus():
        if held is not None and held.address is not None and int(held[cpu]["nr"]):
            print(f"CPU {cpu} holds, in this order: {held_text(held[cpu], names)}")
    for thread in threads.threads():
        if int(thread["held_mutexes"]["nr"]):
            print(
                f"pid {int(thread['pid'])} {threads.name_of(thread)} holds, in this order: " f"{held_text(thread['held_mutexes'], names)}"
            )


def show():
    names, taken = {}, 0
    for name, lock, tag in all_locks():
        names[memory.address_of(lock)] = name
        try:
            text = mutex_text(lock) if tag == "mutex" else spinlock_text(lock)
        except (Damaged, gdb.MemoryError) as err:
            text = f"damaged: {err}"
        if text:
            print(f"{name}: {tag} at {memory.address_of(lock):#x}, {text}")
            taken += 1
    show_held(names)
    print(f"{taken} of {len(names)} locks in variables are taken; those in allocated memory are not looked at")
