#!/usr/bin/env python3
"""Draws docs/rewrites.svg, the README's plot, from the figures in docs/performance.md.

With --check it only says whether the picture is the one that these figures give.
"""

import pathlib
import re
import sys

from bar_plot import BarPlot, write_or_check

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
PICTURE = ROOT / "docs/rewrites.svg"
TABLE = "| graph | as given, us | rewritten, us"
ROW = re.compile(r"^\| ([^|]*) \| ([\d,.]+) \| ([\d,.]+) \| [^|]* x \|.*\|$")

LEFT, RIGHT, TOP, STEP, BAR = 330, 700, 48, 24, 14


def figures():
    """(graph, microseconds as given, rewritten) for each row of the table."""
    rows = PAGE.read_text().split(TABLE)[1].split("\n\n")[0].splitlines()[2:]
    found = [ROW.match(row) for row in rows]
    if not rows or None in found:
        sys.exit(f"{PAGE}: the rows below '{TABLE}' are not understood")
    return [(match[1], *(float(match[i].replace(",", "")) for i in (2, 3))) for match in found]


def time(microseconds):
    return f"{microseconds / 1000:.3g} ms" if microseconds >= 1000 else f"{microseconds:.0f} us"


def picture(rows):
    limit = -(-max(given / ours for _, given, ours in rows) // 5) * 5  # in steps of 5
    bottom = TOP + STEP * len(rows)
    plot = BarPlot("How many times as fast cuDNN's engines are on a graph that is rewritten", LEFT, (RIGHT - LEFT) / limit, BAR)
    plot.axis([(times, f"{times} x") for times in range(0, int(limit) + 1, 5)], TOP - 6, bottom)
    for n, (graph, given, ours) in enumerate(rows):
        y = TOP + STEP * n
        plot.text(LEFT - 8, y + 11, graph, "", "end")
        plot.bar(y, given / ours, "ours", f"{given / ours:.1f} x, {time(given)} to {time(ours)}")
    plot.text(10, bottom + 38, "bench_cudnn_rewrites on one H200, cuDNN 9.19.0, BFLOAT16; medians, docs/performance.md", "note")
    return plot.svg(880, bottom + 46)


if __name__ == "__main__":
    sys.exit(write_or_check(PICTURE, picture(figures()), "tools/plot_rewrites.py", sys.argv[1:] == ["--check"]))
