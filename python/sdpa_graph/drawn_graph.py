"""Pictures that the library draws of a graph's plan, and of the windows of neighborhood attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ._core import Graph_base
from .pictures import Picture


class Drawn_graph(Graph_base):
    def draw_plan(self, format: str = "svg") -> str:
        """Draws the plan that execute() runs: its steps in order, and where their operands are in memory. The graph has
        to be built. "svg" gives a Picture, which notebooks show; "dot" gives text for Graphviz."""
        return _picture(format, ("svg", "dot"), lambda is_svg: self._draw_plan(is_svg))

    def draw_window(self, query: Sequence[int], format: str = "text") -> str:
        """Draws the keys that a query sees, in the space of the graph's first node of neighborhood attention. `query`
        has a number for each axis. "text" can be printed; "svg" gives a Picture. The graph need not be built."""
        return _picture(format, ("svg", "text"), lambda is_svg: self._draw_window(query, is_svg))


def _picture(format: str, formats: tuple[str, str], draw: Callable[[bool], str]) -> str:
    """`formats` contains SVG and the other format that the picture has."""
    if format not in formats:
        raise ValueError(f"format is {format!r}: {formats[0]!r} or {formats[1]!r} is needed")
    drawn = draw(format == formats[0])
    return Picture(drawn) if format == formats[0] else drawn
