"""Attention on tensors of torch, with gradients: operators of torch, which torch.compile takes as they are."""

from __future__ import annotations

import math
from typing import Any

import torch

from . import _core, plans
from .datatypes import _cudnn_to_torch_data_type, _torch_to_cudnn_data_type

__all__ = ["scaled_dot_product_attention"]

_handles: dict[int, int] = {}


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    left_bound: int | None = None,
    right_bound: int | None = None,
    bottom_right: bool = False,
    alibi: bool = False,
    sink: torch.Tensor | None = None,
    seq_len_q: torch.Tensor | None = None,
    seq_len_kv: torch.Tensor | None = None,
    deterministic: bool = False,
) -> torch.Tensor:
    """torch.nn.functional.scaled_dot_product_attention, and what graphs have beside it: docs/python.md."""
    if dropout_p != 0.0:
        raise NotImplementedError(
            f"dropout_p is {dropout_p}: this function has no dropout; graphs have it, pygraph.sdpa()"
        )
    plans.check_shapes(query.shape, key.shape, value.shape, enable_gqa)
    left_bound, right_bound = plans.bounds(is_causal, left_bound, right_bound)
    for name, tensor in (("attn_mask", attn_mask), ("sink", sink)):
        if tensor is not None and tensor.requires_grad:
            raise NotImplementedError(f"{name} requires a gradient, which this function does not give; detach it")
    query, key, value = _autocast(query, key, value)
    lengths = _lengths(query, key, seq_len_q, seq_len_kv)
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    needs_stats = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (query, key, value))
    o, _ = _forward(
        query, key, value, _bias(attn_mask), _sink(sink), *lengths, scale, left_bound, right_bound, bottom_right, alibi,
        deterministic, needs_stats,
    )  # fmt: skip
    return o


def _autocast(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """As torch's own function: under autocast the inputs get its type."""
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return list(tensors)
    return [tensor.to(torch.get_autocast_dtype(kind)) for tensor in tensors]


def _bias(mask: torch.Tensor | None) -> torch.Tensor | None:
    """What is added to the scores, with four dims."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=torch.float32).masked_fill(~mask, -math.inf)
    return mask.float().reshape((1,) * (4 - mask.dim()) + tuple(mask.shape)).contiguous()


def _sink(sink: torch.Tensor | None) -> torch.Tensor | None:
    return None if sink is None else sink.float().reshape(1, -1, 1, 1).contiguous()


def _lengths(
    query: torch.Tensor, key: torch.Tensor, q: torch.Tensor | None, kv: torch.Tensor | None
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """Both lengths where one is given: the other one is then full."""
    if q is None and kv is None:
        return None, None

    def length(given: torch.Tensor | None, tensor: torch.Tensor) -> torch.Tensor:
        chosen = torch.full((query.shape[0],), tensor.shape[2]) if given is None else given
        return chosen.to(device=query.device, dtype=torch.int32).reshape(-1, 1, 1, 1).contiguous()

    return length(q, query), length(kv, key)


def _with_last_dim_packed(tensor: torch.Tensor) -> torch.Tensor:
    """Engines read rows without gaps; all other strides are taken as they are."""
    return tensor if tensor.stride(-1) == 1 or tensor.shape[-1] == 1 else tensor.contiguous()


def _layout(tensor: torch.Tensor) -> plans.Layout:
    kind = _torch_to_cudnn_data_type(tensor.dtype)
    if kind is None:
        raise TypeError(f"a tensor of {tensor.dtype}: the library has no such type")
    return plans.Layout(tuple(tensor.shape), tuple(tensor.stride()), kind)


def _empty(layout: plans.Layout, like: torch.Tensor) -> torch.Tensor:
    dtype = _cudnn_to_torch_data_type(layout.kind)
    return torch.empty_strided(layout.dim, layout.stride, dtype=dtype, device=like.device)


def _output(query: torch.Tensor, value: torch.Tensor) -> plans.Layout:
    layout = _layout(query)
    return plans.Layout.packed((*layout.dim[:3], value.shape[3]), layout.kind, layout.stride)


def _stats(query: torch.Tensor, is_wanted: bool) -> torch.Tensor:
    return query.new_empty((*query.shape[:3], 1) if is_wanted else (0,), dtype=torch.float32)


def _run(plan: plans.Plan, tensors: dict[str, torch.Tensor]) -> None:
    """On the host at once; on a GPU on torch's current stream, for which its allocator keeps the memory."""
    device = tensors["q"].device
    if device.type == "cpu":
        plan.run(tensors)
        return
    with torch.cuda.device(device):
        handle = _handles.get(device.index) or _handles.setdefault(device.index, _core.create_handle())
        _core.set_stream(handle, torch.cuda.current_stream(device).cuda_stream)
        workspace = torch.empty(plan.graph.get_workspace_size(), device=device, dtype=torch.uint8)
        plan.run(tensors, workspace, handle)


def _target(tensor: torch.Tensor) -> str:
    return "cpu" if tensor.device.type == "cpu" else "cuda"


def _given(**tensors: torch.Tensor | None) -> dict[str, torch.Tensor]:
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def _layouts(tensors: dict[str, torch.Tensor]) -> tuple[tuple[str, plans.Layout], ...]:
    return tuple((name, _layout(tensor)) for name, tensor in tensors.items())


@torch.library.custom_op("sdpa_graph::sdpa", mutates_args=())
def _forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    sink: torch.Tensor | None,
    seq_len_q: torch.Tensor | None,
    seq_len_kv: torch.Tensor | None,
    scale: float,
    left_bound: int | None,
    right_bound: int | None,
    bottom_right: bool,
    alibi: bool,
    deterministic: bool,
    needs_stats: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    q, k, v = (_with_last_dim_packed(tensor) for tensor in (query, key, value))
    tensors = _given(q=q, k=k, v=v, bias=bias, sink_token=sink, seq_len_q=seq_len_q, seq_len_kv=seq_len_kv)
    options = plans.Options(scale, left_bound, right_bound, bottom_right, alibi)
    output = _output(q, v)
    plan = plans.forward(_target(q), _layouts(tensors), options, output, needs_stats)
    o, stats = _empty(output, q), _stats(q, needs_stats)
    _run(plan, {**tensors, "o": o, "stats": stats})
    return o, stats


@_forward.register_fake
def _(query: Any, key: Any, value: Any, *options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    q = _with_last_dim_packed(query)
    return _empty(_output(q, value), q), _stats(q, options[-1])


@torch.library.custom_op("sdpa_graph::sdpa_backward", mutates_args=())
def _backward(
    grad: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    o: torch.Tensor,
    stats: torch.Tensor,
    bias: torch.Tensor | None,
    sink: torch.Tensor | None,
    seq_len_q: torch.Tensor | None,
    seq_len_kv: torch.Tensor | None,
    scale: float,
    left_bound: int | None,
    right_bound: int | None,
    bottom_right: bool,
    alibi: bool,
    deterministic: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    q, k, v, dO = (_with_last_dim_packed(tensor) for tensor in (query, key, value, grad))
    extras = _given(bias=bias, sink_token=sink, seq_len_q=seq_len_q, seq_len_kv=seq_len_kv)
    tensors = {"q": q, "k": k, "v": v, "o": o, "dO": dO, "stats": stats, **extras}
    options = plans.Options(scale, left_bound, right_bound, bottom_right, alibi, deterministic)
    plan = plans.backward(_target(q), _layouts(tensors), options)
    results = _gradients(q, k, v)
    _run(plan, {**tensors, **dict(zip(("dQ", "dK", "dV"), results))})
    return results


def _gradients(*tensors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    layouts = [_layout(tensor) for tensor in tensors]
    made = [plans.Layout.packed(layout.dim, layout.kind, layout.stride) for layout in layouts]
    return tuple(_empty(layout, tensor) for layout, tensor in zip(made, tensors))  # type: ignore[return-value]


@_backward.register_fake
def _(grad: Any, query: Any, key: Any, value: Any, *others: Any) -> Any:
    return _gradients(*(_with_last_dim_packed(tensor) for tensor in (query, key, value)))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    query, key, value, bias, sink, seq_len_q, seq_len_kv, *options, _ = inputs
    ctx.save_for_backward(query, key, value, *output, bias, sink, seq_len_q, seq_len_kv)
    ctx.options = options


def _differentiate(ctx: Any, grad: torch.Tensor, _: Any) -> tuple[Any, ...]:
    return (*_backward(grad, *ctx.saved_tensors, *ctx.options), *[None] * 11)


_forward.register_autograd(_differentiate, setup_context=_keep)
