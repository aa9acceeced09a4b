"""Pictures that the library draws of a graph: of its plan, and of the windows of neighborhood attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ._core import Graph_base
from .pictures import Picture


class Drawn_graph(Graph_base):
    def draw_plan(self, format: str = "svg") -> str:
        """The plan that execute() runs: its steps in their order, and where their operands are in memory. The graph has
        to be built. "svg" gives a Picture, which notebooks show, and "dot" text for Graphviz."""
        return _picture(format, ("svg", "dot"), lambda is_svg: self._draw_plan(is_svg))

    def draw_window(self, query: Sequence[int], format: str = "text") -> str:
        """The space of the graph's first node of neighborhood attention, with the query at that place, one number for
        each axis, and the keys that it sees: as text to print, or "svg" as a Picture. It need not be built."""
        return _picture(format, ("svg", "text"), lambda is_svg: self._draw_window(query, is_svg))


def _picture(format: str, formats: tuple[str, str], draw: Callable[[bool], str]) -> str:
    """`formats` are SVG and the other one."""
    if format not in formats:
        raise ValueError(f"format is {format!r}: {formats[0]!r} or {formats[1]!r} is needed")
    drawn = draw(format == formats[0])
    return Picture(drawn) if format == formats[0] else drawn
