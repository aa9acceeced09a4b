"""Pictures as SVG text and tables as HTML, which notebooks show by themselves."""

from __future__ import annotations

import html
import pathlib
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any


class Picture(str):
    """SVG text that a notebook shows as a picture."""

    def __repr__(self) -> str:
        return f"a picture as SVG, {len(self)} characters; save(path) writes it to a file"

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | pathlib.Path) -> None:
        pathlib.Path(path).write_text(self, encoding="utf-8")


def picture(width: float, height: float, parts: Iterable[str]) -> Picture:
    """Elements that svg() made, on white, so that they are legible on a dark page too."""
    view = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    font = 'font-family="monospace" font-size="12"'
    white = svg("rect", width=f"{width:g}", height=f"{height:g}", fill="#ffffff")
    body = "\n".join([white, *parts])
    return Picture(f'<svg xmlns="http://www.w3.org/2000/svg" {view} {font}>\n{body}\n</svg>')


def svg(kind: str, content: str = "", **attributes: Any) -> str:
    """An element; underscores in the names of attributes become hyphens."""
    named = _named(attributes)
    return f"<{kind} {named}>{html.escape(content)}</{kind}>" if content else f"<{kind} {named}/>"


def group(parts: Iterable[str], **attributes: Any) -> str:
    return f"<g {_named(attributes)}>\n" + "\n".join(parts) + "\n</g>"


def _named(attributes: dict[str, Any]) -> str:
    return " ".join(f'{name.replace("_", "-")}="{html.escape(str(value))}"' for name, value in attributes.items())


def width_of(text: str, size: float) -> float:
    """An upper bound for the width of a text in the pictures' font."""
    return 0.62 * size * sum(2 if unicodedata.east_asian_width(glyph) in "WF" else 1 for glyph in text)


def tick_step(count: int, most: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... by which at most `most` ticks mark `count` positions."""
    step = 1
    while (count - 1) // step + 1 > most:
        step = step * 5 // 2 if str(step).startswith("2") else step * 2
    return step


def html_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    def line(cells: Sequence[Any], kind: str) -> str:
        style = ' style="text-align:left"'
        return "<tr>" + "".join(f"<{kind}{style}>{html.escape(str(cell))}</{kind}>" for cell in cells) + "</tr>"

    return "<table>\n" + "\n".join([line(header, "th"), *(line(row, "td") for row in rows)]) + "\n</table>"


def text_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with columns of equal width, and numbers at their right edge."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def cell(text: str, width: int) -> str:
        return text.rjust(width) if text.replace(".", "").isdigit() else text.ljust(width)

    return "\n".join("  ".join(map(cell, line, widths)).rstrip() for line in lines)
