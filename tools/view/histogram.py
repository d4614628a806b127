"""The file `hist` of an event, read back: docs/histograms.md says how it looks."""
import re

INFO = re.compile(r"^# trigger info: (hist:.*?)(?: \[(\w+)\])?$", re.M)
ENTRY = re.compile(r"^\{ (.*?)\s\}(.*?)$", re.M | re.S)
VALUE = re.compile(r"(\w+): +(-?\d+)")
MOST = 400  # entries that are shown


def parse(text):
    """[{trigger, state, keys, entries: [(key texts, {value: number})], hits, dropped}], one for each trigger of the file."""
    parts = re.split(r"^# event histogram$", text, flags=re.M)[1:]
    return [one for one in map(parse_one, parts) if one]


def parse_one(text):
    info = INFO.search(text)
    keys = info and re.search(r"keys=([^:\s]+)", info[1])
    if not keys:
        return None
    keys = keys[1].split(",")
    entries = []
    for entry in ENTRY.finditer(text):
        values = {name: int(number) for name, number in VALUE.findall(entry[2])}
        entries.append((key_texts(entry[1], keys), values))
    totals = {name.lower(): int(number) for name, number in re.findall(r"^ *(Hits|Entries|Dropped): (\d+)", text, re.M)}
    return {
        "trigger": info[1],
        "state": info[2] or "",
        "keys": ",".join(keys),
        "entries": entries[-MOST:] if len(entries) > MOST else entries,
        "hits": totals.get("hits", 0),
        "dropped": totals.get("dropped", 0),
    }


def key_texts(inside, keys):
    """The values of the keys; names in front of them are left out, blanks of the columns too."""
    names = [re.escape(key.split(".")[0]) for key in keys]
    pattern = r",? *".join(rf"{name}(?:\.\w+)?: *(.*?)" for name in names) + r" *$"
    found = re.match(r"\s*" + pattern, inside, re.S)
    return [re.sub(r"\s+", " ", one).strip() for one in found.groups()] if found else [re.sub(r"\s+", " ", inside).strip()]
