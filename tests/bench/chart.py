"""A bar chart as SVG: for each row a bar of Linux and one of Fathom, whose length is its share of Linux's figure."""
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 860, 300, 70, 42, 38, 13

STYLE = """
text { font: 13px sans-serif; fill: #222 } .small { font-size: 11px } .linux { fill: #b6bcc6 } .fathom { fill: #2a78c4 }
.page { fill: #fff }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .linux { fill: #5b626d } .fathom { fill: #58a6f0 } .page { fill: #0d1117 }
}
"""


def bar(kind, top, width, label):
    return (
        f'<rect class="{kind}" x="{LEFT}" y="{top}" width="{width:.1f}" height="{BAR}"/>'
        f'<text class="small" x="{LEFT + width + 5:.1f}" y="{top + BAR - 3}">{escape(label)}</text>'
    )


def chart(rows, number):
    """`rows` are (words, Linux, Fathom); `number` makes text of a figure."""
    room = WIDTH - LEFT - RIGHT
    height = TOP + ROW * len(rows) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        f'<style>{STYLE}</style><rect class="page" width="{WIDTH}" height="{height}"/>',
        f'<rect class="linux" x="{LEFT}" y="14" width="12" height="12"/><text x="{LEFT + 18}" y="25">Linux 6.1</text>',
        f'<rect class="fathom" x="{LEFT + 110}" y="14" width="12" height="12"/><text x="{LEFT + 128}" y="25">Fathom</text>',
        f'<text class="small" x="{LEFT + 210}" y="25">instructions; each row is scaled to Linux</text>',
    ]
    for index, (words, linux, fathom) in enumerate(rows):
        top = TOP + ROW * index
        longest = max(linux, fathom)
        parts += [
            f'<text x="{LEFT - 10}" y="{top + BAR + 5}" text-anchor="end">{escape(words)}</text>',
            bar("linux", top, room * linux / longest, number(linux)),
            bar("fathom", top + BAR + 1, room * fathom / longest, number(fathom)),
        ]
    return "\n".join([*parts, "</svg>\n"])
