"""The arrays and options that a call of attention as a function gives to its graph, for arrays of any library."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

from . import plans
from ._core import data_type
from .plans import Layout, Layouts, Options, Place, Starts

# Whether the rows of an array are those of queries or of keys.
_SIDES = {**dict.fromkeys(("q", "o", "dO", "stats", "dQ"), "q"), **dict.fromkeys(("k", "v", "dK", "dV"), "kv")}


class Packed:
    """Sequences one after the other: arrays of (tokens, heads, size), and where each sequence ends, after a 0."""

    def __init__(self, side: str, ends: Any, longest: int, widen: Callable[[Any], Any]) -> None:
        self.ends = ends
        self._side = side
        self._longest = max(longest, 1)  # graphs have no dims of 0: the lengths say that nothing is there
        self._widen = widen

    @property
    def count(self) -> int:
        return int(self.ends.shape[0]) - 1

    def lengths(self) -> Any:
        return (self.ends[1:] - self.ends[:-1]).reshape(-1, 1, 1, 1)

    def layout(self, layout: Layout) -> Layout:
        """The layout of such an array in the graph: a batch of sequences of the longest length."""
        tokens, heads, size = layout.dim
        step, head_step, _ = layout.stride
        dim, stride = (self.count, heads, self._longest, size), (self._longest * step, head_step, step, 1)
        return Layout(dim, stride, layout.kind, Starts(self._side, step, is_wide=tokens * step >= 2**31))

    def starts(self, wanted: Starts) -> tuple[Any, Layout]:
        """The array that a layout asks for, which counts elements."""
        ends, kind = (self._widen(self.ends), data_type.INT64) if wanted.is_wide else (self.ends, data_type.INT32)
        return ends * wanted.step, Layout((self.count + 1, 1, 1, 1), (1, 1, 1, 1), kind)


class Call:
    """Arrays by the names of the graph's tensors, with their layouts. `layout_of` makes the layout of an array and its
    name. Arrays that are None are left out."""

    def __init__(
        self, layout_of: Callable[[Any, str], Layout], packed: dict[str, Packed | None], **arrays: Any
    ) -> None:
        self._layout_of = layout_of
        self._packed = packed
        self.arrays = {name: array for name, array in arrays.items() if array is not None}
        self._layouts = {name: self._layout(name, array) for name, array in self.arrays.items()}

    def forward(self, place: Place, options: Options, **results: Any) -> plans.Plan:
        made = self._take_results(results)
        return plans.forward(place, tuple(self._layouts.items()), options, made)

    def backward(self, place: Place, options: Options, **results: Any) -> plans.Plan:
        made = self._take_results(results)
        return plans.backward(place, tuple(self._layouts.items()), options, made)

    def _layout(self, name: str, array: Any) -> Layout:
        layout, side = self._layout_of(array, name), _SIDES.get(name)
        packed = self._packed.get(side) if side else None
        return packed.layout(layout) if packed else layout

    def _take_results(self, results: dict[str, Any]) -> Layouts:
        """Returns their layouts. Adds the starts of packed sequences to the arrays, now that all layouts are known."""
        given = {name: array for name, array in results.items() if array is not None}
        made = {name: self._layout(name, array) for name, array in given.items()}
        layouts = (*self._layouts.values(), *made.values())
        for starts in dict.fromkeys(layout.starts for layout in layouts if layout.starts):
            packed = self._packed[starts.side]
            assert packed is not None
            self.arrays[starts.name], self._layouts[starts.name] = packed.starts(starts)
        self.arrays.update(given)
        return tuple(made.items())


def output_layout(query: Layout, value: Layout) -> Layout:
    """The layout of O: its dims are in memory in the order of the query's."""
    return Layout.packed((*query.dim[:-1], value.dim[-1]), query.kind, query.stride)


def gradient_layout(layout: Layout) -> Layout:
    return Layout.packed(layout.dim, layout.kind, layout.stride)


def bounds(is_causal: bool, left_bound: int | None, right_bound: int | None) -> tuple[int | None, int | None]:
    """The bounds as the graph counts them; a causal mask is a right bound of 0."""
    if is_causal and right_bound not in (None, 0):
        raise ValueError(f"is_causal is a right bound of 0, and right_bound is {right_bound}: give one of them")
    return left_bound, 0 if is_causal else right_bound


def scale_of(scale: float | None, head_dim: int) -> float:
    return 1.0 / math.sqrt(head_dim) if scale is None else float(scale)


def softcap_of(cap: float | None) -> float | None:
    """The cap as the graph needs it: None for a cap of 0, which means no cap in flash_attn's functions too."""
    if cap is None or cap == 0:
        return None
    if not isinstance(cap, Real):
        raise TypeError(f"softcap is a {type(cap).__name__}: a number is needed")
    if not 0 < cap < math.inf:
        raise ValueError(f"softcap is {cap}: a finite number above 0 is needed; 0 or None leaves scores as they are")
    return float(cap)
