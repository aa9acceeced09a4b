"""Masks to look at: which keys each query sees. What is shown is what the reference target computes, not a second
definition of the options."""

from __future__ import annotations

from typing import Any

import numpy as np

from .numpy import scaled_dot_product_attention
from .pictures import Picture, picture, svg

_CELLS = 480  # pixels of a picture's longer side, at least


class Mask:
    """`keep[i, j]` is true where query i sees key j."""

    def __init__(self, keep: np.ndarray) -> None:
        self.keep = keep

    def plot(self) -> Picture:
        """Queries from top to bottom, keys from left to right; what is seen is dark."""
        rows, columns = self.keep.shape
        cell = max(_CELLS / max(rows, columns), 1)
        left, top = 44.0, 24.0
        parts = [
            svg("text", f"{columns} keys", x=left, y=16),
            svg("text", f"{rows} queries", transform=f"translate(16 {top}) rotate(90)"),
            svg("rect", x=left, y=top, width=columns * cell, height=rows * cell, fill="#f4f4f5", stroke="#64748b"),
        ]
        for row, line in enumerate(self.keep):
            for begin, end in _runs(line):
                place = {"x": left + begin * cell, "y": top + row * cell}
                parts.append(svg("rect", **place, width=(end - begin) * cell, height=cell, fill="#1d4ed8"))
        return picture(left + columns * cell + 8, top + rows * cell + 8, parts)

    def _repr_svg_(self) -> str:
        return str(self.plot())

    def __repr__(self) -> str:
        """A line for each query where they fit on a screen; a dot for a key that is not seen."""
        rows, columns = self.keep.shape
        title = f"{rows} queries, {columns} keys, {int(self.keep.sum())} of {rows * columns} pairs are seen"
        if max(rows, columns) > 64:
            return title
        return "\n".join([title, *("".join("█" if seen else "·" for seen in row) for row in self.keep)])


def mask(queries: int, keys: int, *, entry: int = 0, head: int = 0, **options: Any) -> Mask:
    """Of the options of scaled_dot_product_attention(): is_causal, left_bound, right_bound, bottom_right, attn_mask,
    seq_len_q and seq_len_kv. With arrays for several batch entries or heads, that of one."""
    lengths = [np.asarray(options[name]).size for name in ("seq_len_q", "seq_len_kv") if options.get(name) is not None]
    added = options.get("attn_mask")
    batch = max([1, *lengths, *(added.shape[:-3] if added is not None else ())])
    heads = added.shape[-3] if added is not None and added.ndim > 2 else 1
    q = np.zeros((batch, heads, queries, 1), np.float32)
    k = np.zeros((batch, heads, keys, 1), np.float32)
    # The results are the weights themselves, of which a key that is seen has some.
    v = np.broadcast_to(np.eye(keys, dtype=np.float32), (batch, heads, keys, keys))
    weights = scaled_dot_product_attention(q, k, v, target="reference", **options)
    return Mask(weights[entry, head] > 0)


def _runs(line: np.ndarray) -> list[tuple[int, int]]:
    """Begin and end of what is true in a row without a gap."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(np.int8), [0]])))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]
