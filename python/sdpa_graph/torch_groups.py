"""Attention that the ranks of a group compute together, on tensors of torch, with gradients: docs/several-gpus.md."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from . import _core, attention_arguments, call_checks
from ._core import Group, Layout, data_type, diagonal_alignment, group_way, heur_mode
from .handles import set_stream
from .pygraph import pygraph
from .score_modifiers import softcap as softcap_modifiers
from .torch_arguments import check_dims, check_real, check_strided, check_tensors, int32, with_last_dim_packed

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class _Options:
    """The options of an attention, without its tensors."""

    layout: Layout
    keys: Layout | None
    way: group_way
    stages: int
    scale: float
    left_bound: int | None
    right_bound: int | None
    bottom_right: bool
    alibi: bool
    softcap: float | None
    longest: int | None  # document, where they are packed
    dropout_p: float


def distributed_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    group: Group,
    layout: Layout,
    is_causal: bool = False,
    scale: float | None = None,
    *,
    left_bound: int | None = None,
    right_bound: int | None = None,
    bottom_right: bool = False,
    alibi: bool = False,
    softcap: float | None = None,
    sink: torch.Tensor | None = None,
    seq_len_q: torch.Tensor | None = None,
    seq_len_kv: torch.Tensor | None = None,
    cu_seqlens: torch.Tensor | None = None,
    max_seqlen: int | None = None,
    dropout_p: float = 0.0,
    seed: int = 0,
    way: group_way = group_way.AUTO,
    stages: int = 0,
    keys: Layout | None = None,
) -> torch.Tensor:
    """The rank's rows of an attention over the tokens of all ranks, of which each passes those that the layout gives to it:
    (batch, heads, tokens, head dim). All ranks call it with the same options, in the same order, and so they do backward.
    Lengths are those of the whole sequences. Every rank gets the sink's gradient of all ranks. The seed, which is the same on
    all ranks, decides what dropout_p drops.

    With cu_seqlens, where documents start that are packed one after the other, and the last one ends, tensors are (tokens,
    heads, head dim), and the layout divides the tokens of all documents."""
    arrays = {"query": query, "key": key, "value": value}
    lengths = {"seq_len_q": seq_len_q, "seq_len_kv": seq_len_kv}
    extras = {"sink": sink, "cu_seqlens": cu_seqlens, **lengths}
    check_tensors(arrays, **extras)
    check_strided({**arrays, **extras})
    check_real(**arrays, sink=sink)
    _check_lengths(seq_len_q, seq_len_kv, cu_seqlens, max_seqlen)
    check_dims(3 if cu_seqlens is not None else 4, "as docs/several-gpus.md says", **arrays)
    left_bound, right_bound = attention_arguments.bounds(is_causal, left_bound, right_bound)
    options = _Options(
        layout, keys, way, stages, attention_arguments.scale_of(scale, query.shape[-1]), left_bound, right_bound,
        bottom_right, alibi, attention_arguments.softcap_of(softcap),
        None if cu_seqlens is None else min(max_seqlen or layout.length, layout.length), dropout_p,
    )  # fmt: skip
    sink = None if sink is None else sink.resolve_neg().float().reshape(1, -1, 1, 1)
    starts = _counts("cu_seqlens", cu_seqlens, query.device)
    if starts is not None:
        lengths = {"seq_len_q": starts[1:] - starts[:-1], "seq_len_kv": None}
    counts = (*(_counts(name, tensor, query.device) for name, tensor in lengths.items()), starts)
    numbers = None
    if dropout_p != 0.0:
        numbers = torch.tensor([seed, 0], dtype=torch.int64, device=query.device).reshape(2, 1, 1, 1, 1)
    query, key, value = (with_last_dim_packed(tensor) for tensor in arrays.values())
    output: torch.Tensor = _Attention.apply(query, key, value, sink, *counts, numbers, group, options)
    return output


def group_of(process_group: Any = None, deadline_milliseconds: int = 60000) -> Group:
    """A group of the GPUs of torch's process group, for the device that is current. It has a communicator of its own, so
    that ending it leaves torch's as it is. Every rank of the process group has to call it."""
    import torch.distributed as distributed

    size, rank = distributed.get_world_size(process_group), distributed.get_rank(process_group)
    backend = distributed.get_backend(process_group)
    if "nccl" not in backend:
        raise ValueError(
            f"found a process group of the backend {backend}; expected nccl, since ranks exchange data between GPUs. Try: "
            'init_process_group("nccl"); without GPUs Group.of_threads() makes ranks of threads'
        )
    ids = [Group.make_nccl_id() if rank == 0 else b""]
    source = 0 if process_group is None else distributed.get_global_rank(process_group, 0)
    distributed.broadcast_object_list(ids, src=source, group=process_group)
    return Group.of_nccl(ids[0], rank, size, deadline_milliseconds)


def _check_lengths(
    seq_len_q: torch.Tensor | None,
    seq_len_kv: torch.Tensor | None,
    cu_seqlens: torch.Tensor | None,
    max_seqlen: int | None,
) -> None:
    if (seq_len_q is None) != (seq_len_kv is None):
        raise ValueError("found one of seq_len_q and seq_len_kv; expected both or neither")
    if cu_seqlens is None:
        if max_seqlen is not None:
            raise ValueError("found max_seqlen without cu_seqlens; expected both or neither")
        return
    if seq_len_q is not None:
        raise ValueError("found cu_seqlens and seq_len_q; expected one of them: cu_seqlens say how long documents are")
    if cu_seqlens.dim() != 1 or cu_seqlens.shape[0] < 2:
        found = f"cu_seqlens of shape {tuple(cu_seqlens.shape)}"
        raise ValueError(f"found {found}; expected one dim: 0, and then the end of each document")
    if max_seqlen is not None:
        call_checks.check_integer("max_seqlen", max_seqlen, least=1)


def _counts(name: str, tensor: torch.Tensor | None, device: torch.device) -> torch.Tensor | None:
    """Lengths as a graph has them."""
    numbers = int32(name, tensor)
    return None if numbers is None else numbers.resolve_neg().to(device).reshape(-1, 1, 1, 1)


class _Built:
    """A graph of a rank's part, and its tensors by their names."""

    def __init__(self, describe: Callable[[pygraph, Any], dict[str, Any]], given: Tensors, group: Group, options: _Options):
        first = next(iter(given.values()))
        self._is_on_gpu = first.is_cuda
        self._device = first.device
        self._graph = pygraph(
            name="distributed_attention",
            io_data_type=first.dtype,
            intermediate_data_type=data_type.FLOAT,
            compute_data_type=data_type.FLOAT,
            handle=_handle(first.device) if first.is_cuda else None,
            target="cuda" if first.is_cuda else "cpu",
        )
        self._tensors: dict[str, Any] = {}
        for name, tensor in given.items():
            if tensor.dim() == 4:
                self._tensors[name] = self._graph.tensor_like(tensor.detach(), name)
        for name, tensor in given.items():
            if tensor.dim() == 3:
                form = _packed_form(tensor, self._tensors, options)
                self._tensors[name] = self._graph.tensor(name=name, data_type=tensor.dtype, **form)
        self._tensors.update(describe(self._graph, self._tensors))
        self._graph.set_group(group, options.layout, options.way, options.stages, options.keys)
        self._graph.build([heur_mode.A])

    def run(self, memory: Tensors) -> None:
        pack = {self._tensors[name]: tensor.detach() for name, tensor in memory.items()}
        workspace = torch.empty(self._graph.get_workspace_size(), dtype=torch.uint8, device=self._device)
        handle = _handle(self._device) if self._is_on_gpu else None
        self._graph.execute(pack, workspace, handle=handle)


_of_thread = threading.local()
_built: weakref.WeakKeyDictionary[Group, dict[Any, _Built]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _handle(device: torch.device) -> int:
    """The thread's handle on the device, set to torch's current stream."""
    handles = _of_thread.__dict__.setdefault("handles", {})
    if device not in handles:
        with torch.cuda.device(device):
            handles[device] = _core.create_handle()
    set_stream(handles[device], torch.cuda.current_stream(device).cuda_stream)
    handle: int = handles[device]
    return handle


def _graph_for(
    kind: str, given: Tensors, group: Group, options: _Options, describe: Callable[[pygraph, Any], dict[str, Any]]
) -> _Built:
    """The graph of an earlier call with such tensors, or a new one."""
    forms = tuple((name, tensor.shape, tensor.stride(), tensor.dtype) for name, tensor in given.items())
    key = (kind, next(iter(given.values())).device, forms, options)
    with _lock:
        known = _built.setdefault(group, {})
    if key not in known:
        known[key] = _Built(describe, given, group, options)
    return known[key]


def _arguments(options: _Options, tensors: Any) -> dict[str, Any]:
    """The arguments of both passes."""
    return {
        "attn_scale": options.scale,
        "diagonal_band_left_bound": options.left_bound,
        "diagonal_band_right_bound": options.right_bound,
        "diagonal_alignment": diagonal_alignment.BOTTOM_RIGHT if options.bottom_right else diagonal_alignment.TOP_LEFT,
        "use_alibi_mask": options.alibi,
        "dropout": (options.dropout_p, tensors["seed"], tensors["offset"]) if options.dropout_p else None,
        "sink_token": tensors.get("sink"),
        "use_padding_mask": "seq_len_q" in tensors,
        "seq_len_q": tensors.get("seq_len_q"),
        # Documents have one tensor of lengths.
        "seq_len_kv": tensors.get("seq_len_kv", tensors.get("seq_len_q")),
    }


def _packed_form(rows: torch.Tensor, tensors: Any, options: _Options) -> dict[str, Any]:
    """The form of packed documents, (tokens, heads, columns), in a graph."""
    documents, longest = tensors["seq_len_q"].get_dim()[0], options.longest or 0
    by_row, by_head, _ = rows.stride()
    return {
        "dim": [documents, rows.shape[1], longest, rows.shape[2]],
        "stride": [by_row * longest, by_head, by_row, 1],
        "ragged_offset": tensors["starts"],
        "ragged_offset_multiplier": by_row,
    }


def _result(tensor: Any, like: torch.Tensor, dtype: Any, tensors: Any, options: _Options) -> Any:
    if like.dim() == 3:
        form = _packed_form(like, tensors, options)
        tensor.set_ragged_offset(form["ragged_offset"])
        tensor.set_ragged_offset_multiplier(form["ragged_offset_multiplier"])
        return tensor.set_output(True).set_data_type(dtype).set_dim(form["dim"]).set_stride(form["stride"])
    return tensor.set_output(True).set_data_type(dtype).set_dim(list(like.shape)).set_stride(list(like.stride()))


def _empty(shape: Sequence[int], like: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    strides = attention_arguments.strides_in_order(shape, like.stride())
    return torch.empty_strided(tuple(shape), tuple(strides), dtype=dtype, device=like.device)


def _forward(given: Tensors, group: Group, options: _Options) -> Tensors:
    query, value = given["query"], given["value"]
    made = {
        "o": _empty((*query.shape[:-1], value.shape[-1]), query, query.dtype),
        "stats": _empty((*query.shape[:-1], 1), query, torch.float32),
    }
    if "starts" in given:
        made["o"].zero_()  # for tokens of no document

    def describe(graph: pygraph, tensors: Any) -> dict[str, Any]:
        modifier = None if options.softcap is None else softcap_modifiers(options.softcap)[0]
        q, k, v = (tensors[name] for name in ("query", "key", "value"))
        o, stats = graph.sdpa(q, k, v, generate_stats=True, score_mod=modifier, **_arguments(options, tensors))
        types = {"o": query.dtype, "stats": data_type.FLOAT}
        results = zip(made.items(), (o, stats))
        return {name: _result(tensor, like, types[name], tensors, options) for (name, like), tensor in results}

    _graph_for("forward", given, group, options, describe).run({**given, **made})
    return made


def _backward(given: Tensors, group: Group, options: _Options) -> Tensors:
    inputs = {name: given[name] for name in ("query", "key", "value")}
    made = {"d" + name: _empty(tensor.shape, tensor, tensor.dtype) for name, tensor in inputs.items()}
    if "starts" in given:
        made["dquery"].zero_()  # for tokens of no document
    sink = {"dsink": torch.empty_like(given["sink"])} if "sink" in given else {}

    def describe(graph: pygraph, tensors: Any) -> dict[str, Any]:
        pair = (None, None) if options.softcap is None else softcap_modifiers(options.softcap)
        known = {name: graph.tensor_like(tensor, name) for name, tensor in sink.items()}
        gradients = graph.sdpa_backward(
            *(tensors[name] for name in (*inputs, "o", "grad", "stats")),
            score_mod=pair[0],
            score_mod_bprop=pair[1],
            dSink_token=known.get("dsink"),
            **_arguments(options, tensors),
        )
        for name, tensor in zip(made, gradients):
            known[name] = _result(tensor, made[name], made[name].dtype, tensors, options)
        return known

    _graph_for("backward", given, group, options, describe).run({**given, **made, **sink})
    return {**made, **sink}


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        sink: torch.Tensor | None,
        seq_len_q: torch.Tensor | None,
        seq_len_kv: torch.Tensor | None,
        starts: torch.Tensor | None,
        numbers: torch.Tensor | None,
        group: Group,
        options: _Options,
    ) -> torch.Tensor:
        tensors = {"query": query, "key": key, "value": value, "sink": sink}
        tensors |= {"seq_len_q": seq_len_q, "seq_len_kv": seq_len_kv, "starts": starts}
        if numbers is not None:
            tensors |= {"seed": numbers[0], "offset": numbers[1]}
        given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
        made = _forward(given, group, options)
        ctx.names = [*given, *made]
        ctx.save_for_backward(*given.values(), *made.values())
        ctx.group, ctx.options = group, options
        return made["o"]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
        given = dict(zip(ctx.names, ctx.saved_tensors))
        o = given["o"]
        # Graphs are kept by strides, which differ between a sum's gradient and a product's.
        given["grad"] = torch.empty_strided(o.shape, o.stride(), dtype=o.dtype, device=o.device).copy_(grad)
        found = _backward(given, ctx.group, ctx.options)
        return (found["dquery"], found["dkey"], found["dvalue"], found.get("dsink"), *[None] * 6)
