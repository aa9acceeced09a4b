"""Pictures of masks, which show the keys that are visible to each query. They show the results of the reference target,
not a second definition of the options."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np

from .numpy import scaled_dot_product_attention
from .pictures import Picture, picture, svg, tick_step, width_of

_CELLS = 480  # pixels of a picture's longer side, at least
_LINE, _SIZE, _SMALL = 16, 12, 10  # the height of a line of text, sizes of the font
_QUERIES, _KEYS = "queries", "keys"
_MOST_SHOWN = 64  # rows and columns of a mask as text


class Mask:
    """`keep[i, j]` is true if key j is visible to query i. `options` says to which options the mask belongs."""

    def __init__(self, keep: np.ndarray, options: str = "") -> None:
        self.keep = keep
        self.options = options

    def caption(self) -> str:
        rows, columns = self.keep.shape
        options = f", {self.options}" if self.options else ""
        counts = f"{rows} {'query' if rows == 1 else 'queries'}, {columns} {'key' if columns == 1 else 'keys'}"
        return f"{counts}{options}: {int(self.keep.sum())} of {rows * columns} pairs are visible"

    def plot(self) -> Picture:
        """Queries from top to bottom, keys from left to right; visible pairs are dark."""
        rows, columns = self.keep.shape
        cell = max(_CELLS / max(rows, columns), 1)
        left, height = max(width_of(_QUERIES, _SMALL), width_of(str(rows), _SMALL)) + _LINE, rows * cell
        width = left + max(columns * cell, 240.0) + _LINE
        caption = textwrap.wrap(self.caption(), int(width / width_of("m", _SIZE)) - 2, break_long_words=False)
        width = max([width, *(width_of(line, _SIZE) + 2 * _LINE for line in caption)])
        top = (len(caption) + 2.5) * _LINE
        parts = [svg("text", line, x=8, y=number * _LINE) for number, line in enumerate(caption, 1)]
        frame = {"x": left, "y": top, "width": columns * cell, "height": height}
        parts += [svg("rect", **frame, fill="#f4f4f5", stroke="#64748b"), *_ticks(rows, columns, cell, left, top)]
        for row, line in enumerate(self.keep):
            for begin, end in _runs(line):
                place = {"x": left + begin * cell, "y": top + row * cell}
                size = {"width": (end - begin) * cell, "height": cell}
                parts.append(svg("rect", **place, **size, fill="#1d4ed8", shape_rendering="crispEdges"))
        return picture(width, top + height + 8, parts)

    def _repr_svg_(self) -> str:
        return str(self.plot())

    def __repr__(self) -> str:
        """A line for each query if they fit on a screen; a dot for a key that is not visible."""
        rows, columns = self.keep.shape
        if max(rows, columns) > _MOST_SHOWN:
            return self.caption()
        margin = len(str(rows - 1)) + 1
        ticks = " " * margin + "".join(str(key).ljust(5) for key in range(0, columns, 5)).rstrip()
        lines = ("".join("█" if seen else "·" for seen in row) for row in self.keep)
        return "\n".join([self.caption(), ticks, *(f"{i:{margin - 1}} {line}" for i, line in enumerate(lines))])


def _ticks(rows: int, columns: int, cell: float, left: float, top: float) -> Iterator[str]:
    """Numbers of keys above the mask and of queries at its left, at the middle of their cells."""
    yield svg("text", _KEYS, x=left, y=top - 1.3 * _LINE, font_size=_SMALL)
    yield svg("text", _QUERIES, x=8, y=top - 6, font_size=_SMALL)
    for key in _marked(columns, columns * cell / (width_of(str(columns), _SMALL) + 12)):
        x = left + (key + 0.5) * cell
        yield svg("line", x1=x, y1=top - 4, x2=x, y2=top, stroke="#64748b")
        yield svg("text", str(key), x=x, y=top - 6, text_anchor="middle", font_size=_SMALL)
    for query in _marked(rows, rows * cell / _LINE):
        y = top + (query + 0.5) * cell
        yield svg("line", x1=left - 4, y1=y, x2=left, y2=y, stroke="#64748b")
        yield svg("text", str(query), x=left - 6, y=y + 3.5, text_anchor="end", font_size=_SMALL)


def _marked(count: int, room: float) -> range:
    """Every position, or every second, fifth, tenth, ..., as many as there is room for and at most ten."""
    return range(0, count, tick_step(count, max(1, min(10, int(room)))))


def mask(queries: int, keys: int, *, entry: int = 0, head: int = 0, **options: Any) -> Mask:
    """The mask of these options of scaled_dot_product_attention(): is_causal, left_bound, right_bound, bottom_right,
    attn_mask, seq_len_q and seq_len_kv. With arrays for several batch entries or heads, `entry` and `head` choose."""
    lengths = [np.asarray(options[name]).size for name in ("seq_len_q", "seq_len_kv") if options.get(name) is not None]
    added = options.get("attn_mask")
    batch = max([1, *lengths, *(added.shape[:-3] if added is not None else ())])
    heads = added.shape[-3] if added is not None and added.ndim > 2 else 1
    q = np.zeros((batch, heads, queries, 1), np.float32)
    k = np.zeros((batch, heads, keys, 1), np.float32)
    # The results are the weights themselves, and those of visible keys are above 0.
    v = np.broadcast_to(np.eye(keys, dtype=np.float32), (batch, heads, keys, keys))
    weights = scaled_dot_product_attention(q, k, v, target="reference", **options)
    chosen = {name: value for name, value in (("entry", entry), ("head", head)) if value}
    named = ", ".join(f"{name}={_option_text(value)}" for name, value in {**options, **chosen}.items())
    return Mask(weights[entry, head] > 0, named)


def _option_text(value: Any) -> str:
    """Arrays of lengths as lists, and larger ones by their shape."""
    array = np.asarray(value)
    if array.ndim == 0:
        return str(value)
    return str(array.tolist()) if array.size <= 8 else "array of " + " x ".join(map(str, array.shape))


def _runs(line: np.ndarray) -> list[tuple[int, int]]:
    """Begin and end of each run of true entries in a row."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(np.int8), [0]])))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]
