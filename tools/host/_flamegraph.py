"""A flame graph as an SVG that stands alone: readable as it is, with a script inside that zooms and searches.

Each box is a function, on top of the one that has called it; how wide it is says how much of all that is.
"""
import re
import zlib
from xml.sax.saxutils import escape, quoteattr

WIDTH, ROW, MARGIN, TOP, BOTTOM = 1200, 17, 10, 46, 30
CHARACTER = 7.1  # px, about
NARROWEST = 0.1  # px of a box that is drawn
INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML may not contain

STYLE = """text { font: 12px monospace; fill: #111 } .title { font: 16px sans-serif; text-anchor: middle }
.control { fill: #446; cursor: pointer; visibility: hidden } .f { cursor: pointer } .f:hover rect { stroke: #111; stroke-width: 0.6 }"""

# Nothing of the trace is in the script. x and width of the boxes are shares of the whole, in data-x and data-w.
SCRIPT = """
const svg = document.documentElement, left = MARGIN, wide = WIDTH - 2 * MARGIN;
const boxes = [...document.querySelectorAll(".f")].map(g => ({ g, rect: g.querySelector("rect"), text: g.querySelector("text"),
  x: +g.dataset.x, w: +g.dataset.w, row: +g.dataset.row, name: g.dataset.name }));
const byId = id => document.getElementById(id);
function place(box, x, w) {
  const px = left + x * wide, pw = w * wide;
  box.rect.setAttribute("x", px);
  box.rect.setAttribute("width", Math.max(pw, 0));
  box.text.setAttribute("x", px + 3);
  const room = Math.floor((pw - 6) / CHARACTER);
  box.text.textContent = room < 3 ? "" : box.name.length <= room ? box.name : box.name.slice(0, room - 2) + "..";
}
function zoom(to) {
  const slack = 1e-9;
  for (const box of boxes) {
    const inside = box.row >= to.row && box.x >= to.x - slack && box.x + box.w <= to.x + to.w + slack;
    const below = box.row < to.row && box.x <= to.x + slack && box.x + box.w >= to.x + to.w - slack;
    box.g.style.display = inside || below ? "" : "none";
    box.g.style.opacity = below ? 0.5 : 1;
    if (inside) place(box, (box.x - to.x) / to.w, box.w / to.w);
    if (below) place(box, 0, 1);
  }
  byId("reset").style.visibility = to.row ? "visible" : "hidden";
}
function search(words) {
  let pattern = null;
  try { pattern = words ? new RegExp(words) : null; } catch (e) { alert(e.message); return; }
  const hits = [];
  for (const box of boxes) {
    const hit = pattern && box.row && pattern.test(box.name);
    box.rect.style.fill = hit ? "#c3c" : "";
    if (hit) hits.push(box);
  }
  hits.sort((a, b) => a.x - b.x || b.w - a.w);
  let sum = 0, end = -1;
  for (const box of hits) if (box.x >= end - 1e-9) { sum += box.w; end = box.x + box.w; }
  byId("matched").textContent = pattern ? "matched: " + (100 * sum).toFixed(1) + "%" : "";
  byId("matched").style.visibility = "visible";
}
for (const box of boxes) box.g.addEventListener("click", () => zoom(box));
byId("reset").addEventListener("click", () => zoom(boxes.find(box => !box.row)));
byId("search").addEventListener("click", () => search(prompt("Functions to find (a regular expression)", "")));
window.addEventListener("keydown", e => {
  if ((e.ctrlKey && e.key === "f") || e.key === "/") { e.preventDefault(); search(prompt("Functions to find (a regular expression)", "")); }
});
byId("search").style.visibility = "visible";
"""


class Box:
    """A function and what it called: total is all of it, own what was not in others."""

    __slots__ = ("name", "own", "total", "called")

    def __init__(self, name):
        self.name, self.own, self.total, self.called = name, 0, 0, {}


def tree_of(stacks):
    """stacks: {(outermost, ..., innermost): weight}; the box around all of them."""
    root = Box("all")
    for path, weight in stacks.items():
        box = root
        box.total += weight
        for name in path:
            box = box.called.setdefault(name, Box(name))
            box.total += weight
        box.own += weight
    return root


def clean(name):
    return INVALID.sub("?", name)


def colour(name):
    """The same for the same name: between red and yellow; threads, which are in square brackets, blue."""
    some = zlib.crc32(name.encode("utf-8", "replace"))
    if name.startswith("["):
        return f"rgb({110 + some % 40},{160 + some // 64 % 40},{215 + some // 4096 % 40})"
    return f"rgb({205 + some % 50},{80 + some // 64 % 130},{some // 16384 % 55})"


def boxes_of(root, smallest):
    """(box, share of the whole where it begins, its share, row) of those that are wide enough, callers first."""
    scale = 1 / root.total
    smallest = max(smallest, NARROWEST / (WIDTH - 2 * MARGIN))
    waiting = [(root, 0, 0)]
    while waiting:
        box, begin, row = waiting.pop()
        if box.total * scale < smallest:
            continue
        yield box, begin * scale, box.total * scale, row
        at, inner = begin, []
        for name in sorted(box.called):
            inner.append((box.called[name], at, row + 1))
            at += box.called[name].total
        waiting += reversed(inner)


def fitting(name, width):
    room = int((width - 6) / CHARACTER)
    return "" if room < 3 else name if len(name) <= room else name[: room - 2] + ".."


def draw(stacks, title, amount, smallest=0):
    """The text of an SVG. amount(weight) is a weight as people read it; what is a smaller share than that is left out."""
    root = tree_of(stacks)
    placed = list(boxes_of(root, smallest))
    height = TOP + BOTTOM + ROW * (1 + max(row for _, _, _, row in placed))
    wide = WIDTH - 2 * MARGIN
    script = SCRIPT.replace("MARGIN", str(MARGIN)).replace("WIDTH", str(WIDTH)).replace("CHARACTER", str(CHARACTER))
    out = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
        f"<style>{STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fdfdf5"/>',
        f'<text class="title" x="{WIDTH // 2}" y="24">{escape(clean(title))}</text>',
        f'<text class="control" id="reset" x="{MARGIN}" y="24">show all</text>',
        f'<text class="control" id="search" x="{WIDTH - 70}" y="24">search</text>',
        f'<text class="control" id="matched" x="{WIDTH - 150}" y="{height - 10}"></text>',
    ]
    for box, begin, share, row in placed:
        name, x, width, y = clean(box.name), MARGIN + begin * wide, share * wide, height - BOTTOM - ROW * (row + 1)
        said = f"{name} ({amount(box.total)}, {100 * share:.1f}%)"
        out.append(
            f'<g class="f" data-x="{begin:.9g}" data-w="{share:.9g}" data-row="{row}" data-name={quoteattr(name)}><title>{escape(said)}</title>'
            f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{ROW - 1}" rx="1" fill="{colour(name)}"/>'
            f'<text x="{x + 3:.2f}" y="{y + 12}">{escape(fitting(name, width))}</text></g>'
        )
    out.append(f"<script>//<![CDATA[{script}//]]></script>\n</svg>\n")
    return "\n".join(out)
