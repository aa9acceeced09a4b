#!/usr/bin/env python3
"""Draws docs/rebuild-time.svg from the figures in docs/performance.md.

With --check it only says whether the picture is the one that these figures give.
"""

import pathlib
import re
import sys

from bar_plot import BarPlot, write_or_check

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
PICTURE = ROOT / "docs/rebuild-time.svg"
TABLE = "| shape | querying heuristics, first time"
# A row's last cell: microseconds for all stages of a graph built again, ours, theirs, and in brackets the ratio.
ROW = re.compile(r"^\| ([^|]*) \|.*\| (\d+), (\d+) \([\d.]+\) \|$")

LEFT, RIGHT, TOP, STEP, BAR = 262, 800, 66, 38, 13


def figures():
    """(shape, our microseconds, theirs) for each row of the table."""
    rows = PAGE.read_text().split(TABLE)[1].split("\n\n")[0].splitlines()[2:]
    found = [ROW.match(row) for row in rows]
    if not rows or None in found:
        sys.exit(f"{PAGE}: the rows below '{TABLE}' are not understood")
    return [(match[1], int(match[2]), int(match[3])) for match in found]


def picture(rows):
    limit = -(-max(theirs for _, _, theirs in rows) // 10000) * 10  # in steps of 10 ms
    bottom = TOP + STEP * len(rows)
    plot = BarPlot("Building a graph that the process has built before, all stages", LEFT, (RIGHT - LEFT) / limit, BAR)
    plot.key(10, "ours", "sdpa-graph")
    plot.key(112, "theirs", "cudnn-frontend 1.23.0")
    plot.axis([(ms, f"{ms} ms") for ms in range(0, limit + 1, 10)], TOP - 6, bottom)
    for n, (shape, ours, theirs) in enumerate(rows):
        y = TOP + STEP * n
        plot.text(LEFT - 8, y + 18, shape, "", "end")
        plot.bar(y, ours / 1000, "ours", f"{ours / 1000:.2f} ms")
        plot.bar(y + BAR + 2, theirs / 1000, "theirs", f"{theirs / 1000:.1f} ms")
    plot.text(10, bottom + 38, "bench_cudnn_compare on one H200, cuDNN 9.19.0; medians, docs/performance.md", "note")
    return plot.svg(880, bottom + 46)


if __name__ == "__main__":
    sys.exit(write_or_check(PICTURE, picture(figures()), "tools/plot_rebuild.py", sys.argv[1:] == ["--check"]))
