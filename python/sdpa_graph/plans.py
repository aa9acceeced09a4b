"""Attention as a function: graphs for arrays of given shapes, built once and kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._core import data_type, diagonal_alignment, heur_mode, memory, tensor
from .pygraph import pygraph

# How many graphs a process keeps for each direction.
KEPT_GRAPHS = 256


@dataclass(frozen=True)
class Layout:
    """What a graph knows of an array."""

    dim: tuple[int, ...]
    stride: tuple[int, ...]
    kind: data_type

    @classmethod
    def packed(cls, dim: Sequence[int], kind: data_type, like: Sequence[int] | None = None) -> Layout:
        """Without gaps: row-major, or with the dims in the order in which they lie with the strides `like`."""
        order = sorted(range(len(dim)), key=lambda index: -like[index] if like else index)
        order = [index for index in order if index != len(dim) - 1] + [len(dim) - 1]
        stride, step = [1] * len(dim), 1
        for index in reversed(order):
            stride[index], step = step, step * dim[index]
        return cls(tuple(dim), tuple(stride), kind)


@dataclass(frozen=True)
class Options:
    """Attention's options, by the names of pygraph.sdpa()."""

    scale: float
    left_bound: int | None = None
    right_bound: int | None = None
    is_bottom_right: bool = False
    use_alibi: bool = False
    is_deterministic: bool = False

    def keywords(self) -> dict[str, Any]:
        alignment = diagonal_alignment.BOTTOM_RIGHT if self.is_bottom_right else diagonal_alignment.TOP_LEFT
        return {
            "attn_scale": self.scale,
            "diagonal_band_left_bound": self.left_bound,
            "diagonal_band_right_bound": self.right_bound,
            "diagonal_alignment": alignment,
            "use_alibi_mask": self.use_alibi,
        }


# The arguments of the nodes that functions give beside Q, K and V.
EXTRAS = ("bias", "sink_token", "seq_len_q", "seq_len_kv")


class Plan:
    """A built graph, and its tensors by name."""

    def __init__(self, graph: pygraph, tensors: dict[str, tensor]) -> None:
        graph.build([heur_mode.A, heur_mode.FALLBACK])
        self.graph = graph
        self.uids = {name: found.get_uid() for name, found in tensors.items()}

    def run(self, arrays: Mapping[str, Any], workspace: Any = None, handle: int | None = None) -> None:
        self.graph.execute({uid: arrays[name] for name, uid in self.uids.items()}, workspace, handle)


def _kept(build: Callable[..., Plan]) -> Callable[..., Plan]:
    """Keeps what `build` made for its arguments, in `.plans`; the oldest goes first."""
    plans: dict[Any, Plan] = {}

    @functools.wraps(build)
    def find(*key: Any) -> Plan:
        plan = plans.get(key)
        if plan is None:
            plan = plans[key] = build(*key)
            if len(plans) > KEPT_GRAPHS:
                plans.pop(next(iter(plans)), None)
        return plan

    find.plans = plans  # type: ignore[attr-defined]
    return find


def _start(target: str, io: data_type, layouts: Mapping[str, Layout]) -> tuple[pygraph, dict[str, tensor]]:
    graph = pygraph("attention", io, data_type.FLOAT, data_type.FLOAT, target=target)
    tensors = {
        name: graph.tensor(layout.dim, layout.stride, layout.kind, name=name) for name, layout in layouts.items()
    }
    return graph, tensors


def _finish(result: tensor | None, layout: Layout) -> tensor:
    assert result is not None
    return result.set_output(True).set_dim(layout.dim).set_stride(layout.stride).set_data_type(layout.kind)


def _node_options(options: Options, tensors: Mapping[str, tensor]) -> dict[str, Any]:
    given = {name: tensors[name] for name in EXTRAS if name in tensors}
    return {**options.keywords(), **given, "use_padding_mask": "seq_len_kv" in given}


@_kept
def forward(target: str, layouts: tuple[tuple[str, Layout], ...], options: Options, o: Layout, stats: bool) -> Plan:
    graph, tensors = _start(target, o.kind, dict(layouts))
    inputs: dict[str, Any] = {name: tensors[name] for name in ("q", "k", "v")}
    results = graph.sdpa(**inputs, generate_stats=stats, **_node_options(options, tensors))
    tensors["o"] = _finish(results[0], o)
    if stats:
        tensors["stats"] = _finish(results[1], Layout.packed((*o.dim[:3], 1), data_type.FLOAT))
    return Plan(graph, tensors)


@_kept
def backward(target: str, layouts: tuple[tuple[str, Layout], ...], options: Options) -> Plan:
    known = dict(layouts)
    graph, tensors = _start(target, known["q"].kind, known)
    inputs: dict[str, Any] = {name: tensors[name] for name in ("q", "k", "v", "o", "dO", "stats")}
    more = {"use_deterministic_algorithm": options.is_deterministic, **_node_options(options, tensors)}
    results = graph.sdpa_backward(**inputs, **more)
    for name, result in zip(("q", "k", "v"), results):
        layout = Layout.packed(known[name].dim, known[name].kind, known[name].stride)
        tensors["d" + name.upper()] = _finish(result, layout)
    return Plan(graph, tensors)


def check_shapes(query: Sequence[int], key: Sequence[int], value: Sequence[int], enable_gqa: bool) -> None:
    """What the graph would take and torch's function does not."""
    for name, shape in (("query", query), ("key", key), ("value", value)):
        if len(shape) != 4:
            raise ValueError(f"{name} has {len(shape)} dims: 4 are needed, (batch, heads, tokens, head dim)")
    if not enable_gqa and not query[1] == key[1] == value[1]:
        heads = f"{query[1]}, {key[1]} and {value[1]} heads"
        raise ValueError(f"query, key and value have {heads}: enable_gqa=True lets several query heads share one")


def bounds(is_causal: bool, left_bound: int | None, right_bound: int | None) -> tuple[int | None, int | None]:
    """As the graph counts them; a causal mask is a right bound of 0."""
    if is_causal and right_bound not in (None, 0):
        raise ValueError(f"is_causal is a right bound of 0, and right_bound is {right_bound}: give one of them")
    return left_bound, 0 if is_causal else right_bound


def layout_of(array: Any) -> Layout:
    """Of an array of the host."""
    view = memory(array)
    return Layout(tuple(view.dim), tuple(view.stride), view.data_type)
