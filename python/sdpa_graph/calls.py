"""What a call of attention as a function gives to its graph, for arrays of any library."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import plans
from ._core import data_type
from .plans import Layout, Layouts, Options, Place

# Whose rows an array has: those of queries or of keys.
_SIDES = {**dict.fromkeys(("q", "o", "dO", "stats", "dQ"), "q"), **dict.fromkeys(("k", "v", "dK", "dV"), "kv")}


class Packed:
    """Sequences one after the other: arrays of (tokens, heads, size), and where each sequence ends, after a 0."""

    def __init__(self, ends: Any, longest: int, widen: Callable[[Any], Any]) -> None:
        self.ends = ends
        self.longest = longest
        self._widen = widen

    @property
    def count(self) -> int:
        return int(self.ends.shape[0]) - 1

    def lengths(self) -> Any:
        return (self.ends[1:] - self.ends[:-1]).reshape(-1, 1, 1, 1)

    def layout(self, layout: Layout, side: str) -> Layout:
        """As the graph sees such an array: a batch of sequences of the longest length."""
        tokens, heads, size = layout.dim
        step, head_step, _ = layout.stride
        width = 32 if tokens * step < 2**31 else 64
        dim, stride = (self.count, heads, self.longest, size), (self.longest * step, head_step, step, 1)
        return Layout(dim, stride, layout.kind, f"{side} starts of {step} in {width}")

    def starts(self, name: str) -> tuple[Any, Layout]:
        """The array that a layout names, in elements."""
        _, _, _, step, _, width = name.split()
        ends, kind = (self.ends, data_type.INT32) if width == "32" else (self._widen(self.ends), data_type.INT64)
        return ends * int(step), Layout((self.count + 1, 1, 1, 1), (1, 1, 1, 1), kind)


class Call:
    """Arrays by the names of the graph's tensors, with their layouts. What is None is left out."""

    def __init__(self, layout_of: Callable[[Any], Layout], packed: dict[str, Packed | None], **arrays: Any) -> None:
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
        layout, side = self._layout_of(array), _SIDES.get(name)
        packed = self._packed.get(side) if side else None
        return packed.layout(layout, side) if packed and side else layout

    def _take_results(self, results: dict[str, Any]) -> Layouts:
        """Their layouts; and takes the starts of packed sequences among the arrays, now that all layouts are known."""
        given = {name: array for name, array in results.items() if array is not None}
        made = {name: self._layout(name, array) for name, array in given.items()}
        for layout in (*self._layouts.values(), *made.values()):
            if layout.starts and layout.starts not in self._layouts:
                packed = self._packed[layout.starts.split()[0]]
                assert packed is not None
                self.arrays[layout.starts], self._layouts[layout.starts] = packed.starts(layout.starts)
        self.arrays.update(given)
        return tuple(made.items())


def output_layout(query: Layout, value: Layout) -> Layout:
    """Of O: its dims in memory in the order of the query's."""
    return Layout.packed((*query.dim[:-1], value.dim[-1]), query.kind, query.stride)


def gradient_layout(layout: Layout) -> Layout:
    return Layout.packed(layout.dim, layout.kind, layout.stride)


def check_shapes(shapes: Mapping[str, Sequence[int]], enable_gqa: bool, is_packed_q: bool, is_packed_kv: bool) -> None:
    """What the graph would take and torch's function does not, and what it could not make a graph of."""
    for name, shape in shapes.items():
        if is_packed_q if name == "query" else is_packed_kv:
            dims, form, switch = 3, "(tokens, heads, head dim)", "with"
        else:
            dims, form, switch = 4, "(batch, heads, tokens, head dim)", "without"
        if len(shape) != dims:
            raise ValueError(f"{name} has {len(shape)} dims: {dims} are needed {switch} cu_seqlens, {form}")
    query, key, value = shapes.values()
    if not enable_gqa and not query[1] == key[1] == value[1]:
        heads = f"{query[1]}, {key[1]} and {value[1]} heads"
        raise ValueError(f"query, key and value have {heads}: enable_gqa=True lets several query heads share one")


def bounds(is_causal: bool, left_bound: int | None, right_bound: int | None) -> tuple[int | None, int | None]:
    """As the graph counts them; a causal mask is a right bound of 0."""
    if is_causal and right_bound not in (None, 0):
        raise ValueError(f"is_causal is a right bound of 0, and right_bound is {right_bound}: give one of them")
    return left_bound, 0 if is_causal else right_bound


def scale_of(scale: float | None, head_dim: int) -> float:
    return 1.0 / math.sqrt(head_dim) if scale is None else float(scale)
