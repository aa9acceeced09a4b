#!/usr/bin/env python3
"""Draws docs/rebuild-time.svg, the README's plot, from the figures in docs/performance.md.

With --check it only says whether the picture is the one that these figures give.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
PICTURE = ROOT / "docs/rebuild-time.svg"
TABLE = "| shape | querying heuristics, first time"
# A row's last cell: microseconds for all stages of a graph built again, ours, theirs, and in brackets the ratio.
ROW = re.compile(r"^\| ([^|]*) \|.*\| (\d+), (\d+) \([\d.]+\) \|$")

LEFT, RIGHT, TOP, STEP, BAR = 262, 800, 66, 38, 13
STYLE = """
    text { fill: #1f2328 } .note { fill: #59636e } .title { font-size: 15px; font-weight: 600 }
    .ours { fill: #2da44e } .theirs { fill: #8c959f } line { stroke: #d0d7de }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .note { fill: #9da7b3 }
      .ours { fill: #3fb950 } .theirs { fill: #6e7681 } line { stroke: #30363d }
    }
  """


def figures():
    """(shape, our microseconds, theirs) for each row of the table."""
    rows = PAGE.read_text().split(TABLE)[1].split("\n\n")[0].splitlines()[2:]
    found = [ROW.match(row) for row in rows]
    if not rows or None in found:
        sys.exit(f"{PAGE}: the rows below '{TABLE}' are not understood")
    return [(match[1], int(match[2]), int(match[3])) for match in found]


def text(x, y, words, kind="", anchor="start"):
    return f'  <text x="{x:.0f}" y="{y:.0f}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def bar(y, width, kind, words):
    return [f'  <rect x="{LEFT}" y="{y:.0f}" width="{width:.1f}" height="{BAR}" class="{kind}"/>',
            text(LEFT + width + 6, y + 11, words)]


def axis(scale, limit, bottom):
    lines = []
    for ms in range(0, limit + 1, 10):
        x = LEFT + ms * 1000 * scale
        lines += [f'  <line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom}"/>', text(x, bottom + 16, f"{ms} ms", "note", "middle")]
    return lines


def picture(rows):
    limit = -(-max(theirs for _, _, theirs in rows) // 10000) * 10  # in steps of 10 ms
    scale = (RIGHT - LEFT) / (limit * 1000)
    bottom = TOP + STEP * len(rows)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 {bottom + 46}" font-family="system-ui, sans-serif" font-size="12">',
             f"  <style>{STYLE}</style>",
             text(10, 22, "Building a graph that the process has built before, all stages", "title"),
             f'  <rect x="10" y="35" width="{BAR}" height="{BAR}" class="ours"/>', text(29, 46, "sdpa-graph"),
             f'  <rect x="112" y="35" width="{BAR}" height="{BAR}" class="theirs"/>', text(131, 46, "cudnn-frontend 1.23.0")]
    lines += axis(scale, limit, bottom)
    for n, (shape, ours, theirs) in enumerate(rows):
        y = TOP + STEP * n
        lines.append(text(LEFT - 8, y + 18, shape, "", "end"))
        lines += bar(y, ours * scale, "ours", f"{ours / 1000:.2f} ms") + bar(y + BAR + 2, theirs * scale, "theirs", f"{theirs / 1000:.1f} ms")
    lines.append(text(10, bottom + 38, "bench_cudnn_compare on one H200, cuDNN 9.19.0; medians, docs/performance.md", "note"))
    return "\n".join(lines) + "\n</svg>\n"


def main():
    drawn = picture(figures())
    if sys.argv[1:] == ["--check"]:
        if PICTURE.read_text() == drawn:
            return print("docs/rebuild-time.svg shows the figures of docs/performance.md")
        sys.exit("docs/rebuild-time.svg is not what docs/performance.md says: run tools/plot_rebuild.py")
    PICTURE.write_text(drawn)


if __name__ == "__main__":
    main()
