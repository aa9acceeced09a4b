"""Attention as a function: graphs for arrays of given shapes, built once and kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ._core import data_type, diagonal_alignment, heur_mode, memory, tensor
from .handles import handle_of_thread
from .pygraph import pygraph
from .score_modifiers import softcap

# How many graphs a process keeps for each direction.
KEPT_GRAPHS = 256


class Starts(NamedTuple):
    """Identifies an array of the places where packed sequences start: those of queries or of keys ("q" or "kv"). The
    array counts tokens of `step` elements each, and has 64 bits if `is_wide`, else 32."""

    side: str
    step: int
    is_wide: bool

    @property
    def name(self) -> str:
        return f"starts_{self.side}_{self.step}_{64 if self.is_wide else 32}"


class Layout(NamedTuple):
    """The properties of an array that a graph depends on."""

    dim: tuple[int, ...]
    stride: tuple[int, ...]
    kind: data_type
    starts: Starts | None = None

    @classmethod
    def packed(cls, dim: Sequence[int], kind: data_type, like: Sequence[int] | None = None) -> Layout:
        """A layout without gaps: row-major, or with the dims in the order that they have in memory with the strides
        `like`."""
        last = len(dim) - 1
        order = [*(sorted(range(last), key=lambda index: -like[index]) if like else range(last)), last]
        stride, step = [1] * len(dim), 1
        for index in reversed(order):
            stride[index], step = step, step * dim[index]
        return cls(tuple(dim), tuple(stride), kind)


Layouts = tuple[tuple[str, Layout], ...]


class Place(NamedTuple):
    """Where graphs run: a target, and the number of the GPU if the target is one."""

    target: str
    gpu: int | None = None

    def handle(self) -> int | None:
        return None if self.gpu is None else handle_of_thread(self.gpu)


class Options(NamedTuple):
    """Attention's options that are not arrays."""

    scale: float
    left_bound: int | None = None
    right_bound: int | None = None
    is_bottom_right: bool = False
    use_alibi: bool = False
    softcap: float | None = None
    dropout: float = 0.0
    is_deterministic: bool = False
    longest_kv: int | None = None  # of keys in pages, whose number follows from no dim

    def keywords(self) -> dict[str, Any]:
        """The options by the names of pygraph.sdpa()."""
        alignment = diagonal_alignment.BOTTOM_RIGHT if self.is_bottom_right else diagonal_alignment.TOP_LEFT
        return {
            "attn_scale": self.scale,
            "diagonal_band_left_bound": self.left_bound,
            "diagonal_band_right_bound": self.right_bound,
            "diagonal_alignment": alignment,
            "use_alibi_mask": self.use_alibi,
        }


# The arguments that functions give to the nodes in addition to Q, K and V.
EXTRAS = (
    "bias",
    "sink_token",
    "seq_len_q",
    "seq_len_kv",
    "paged_attention_k_table",
    "paged_attention_v_table",
)
# The gradients of extras that a call may ask for.
GRADIENTS = {"dBias": "bias", "dSink_token": "sink_token"}


class Plan:
    """A built graph, and its tensors by name."""

    def __init__(self, graph: pygraph, tensors: dict[str, tensor]) -> None:
        graph.build([heur_mode.A, heur_mode.FALLBACK])
        self.graph = graph
        self.uids = {name: found.get_uid() for name, found in tensors.items()}

    def run(self, arrays: Mapping[str, Any], workspace: Any = None, handle: int | None = None) -> None:
        self.graph.execute({uid: arrays[name] for name, uid in self.uids.items()}, workspace, handle)


def _kept(build: Callable[..., Plan]) -> Callable[..., Plan]:
    """Keeps the results of `build` for its arguments, in `.plans`; the oldest goes first."""
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


def _start(place: Place, io: data_type, layouts: Mapping[str, Layout]) -> tuple[pygraph, dict[str, tensor]]:
    graph = pygraph("attention", io, data_type.FLOAT, data_type.FLOAT, place.handle(), target=place.target)
    tensors = {
        name: graph.tensor(layout.dim, layout.stride, layout.kind, name=name) for name, layout in layouts.items()
    }
    for name, layout in layouts.items():
        if layout.starts:
            tensors[name].set_ragged_offset(tensors[layout.starts.name])
    return graph, tensors


def _finish(result: tensor | None, layout: Layout, tensors: Mapping[str, tensor]) -> tensor:
    assert result is not None
    result.set_output(True).set_dim(layout.dim).set_stride(layout.stride).set_data_type(layout.kind)
    return result.set_ragged_offset(tensors[layout.starts.name]) if layout.starts else result


def _node_options(options: Options, tensors: Mapping[str, tensor]) -> dict[str, Any]:
    given: dict[str, Any] = {name: tensors[name] for name in EXTRAS if name in tensors}
    if "seed" in tensors:
        given["dropout"] = (options.dropout, tensors["seed"], tensors["offset"])
    return {**options.keywords(), **given, "use_padding_mask": "seq_len_kv" in given}


@_kept
def forward(place: Place, layouts: Layouts, options: Options, results: Layouts) -> Plan:
    """`results` are those of "o", and of "stats" if they are wanted."""
    graph, tensors = _start(place, dict(layouts)["q"].kind, dict(layouts))
    wanted = dict(results)
    more = _node_options(options, tensors)
    if options.softcap is not None:
        more["score_mod"], _ = softcap(options.softcap)
    inputs: dict[str, Any] = {name: tensors[name] for name in ("q", "k", "v")}
    made = graph.sdpa(
        **inputs, generate_stats="stats" in wanted, paged_attention_max_seq_len_kv=options.longest_kv, **more
    )
    for name, result in zip(("o", "stats"), made):
        if name in wanted:
            tensors[name] = _finish(result, wanted[name], tensors)
    return Plan(graph, tensors)


@_kept
def backward(place: Place, layouts: Layouts, options: Options, results: Layouts) -> Plan:
    """`results` are those of "dQ", "dK" and "dV", and of the gradients of extras that are wanted."""
    graph, tensors = _start(place, dict(layouts)["q"].kind, dict(layouts))
    wanted = dict(results)
    more = {"use_deterministic_algorithm": options.is_deterministic, **_node_options(options, tensors)}
    if options.softcap is not None:
        more["score_mod"], more["score_mod_bprop"] = softcap(options.softcap)
    for name in GRADIENTS:
        if name in wanted:
            layout = wanted[name]
            more[name] = tensors[name] = graph.tensor(layout.dim, layout.stride, layout.kind, name=name)
    inputs: dict[str, Any] = {name: tensors[name] for name in ("q", "k", "v", "o", "dO", "stats")}
    for name, result in zip(("dQ", "dK", "dV"), graph.sdpa_backward(**inputs, **more)):
        tensors[name] = _finish(result, wanted[name], tensors)
    return Plan(graph, tensors)


def layout_of(array: Any, name: str) -> Layout:
    """The layout of an array in host memory; `name` is its name in errors."""
    view = memory(array)
    if view.data_type is data_type.NOT_SET:
        raise TypeError(f"{name} is an array of {array.dtype}, which the library does not have: convert it to float32")
    return Layout(tuple(view.dim), tuple(view.stride), view.data_type)
