"""Attention forward and backward for torch: as operators, which torch.compile accepts unchanged, and as a function of
autograd that calls the same code directly, since an operator written in Python costs more than a small attention."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from . import _core, calls, plans
from .datatypes import _cudnn_to_torch_data_type, _torch_to_cudnn_data_type
from .torch_arguments import checked_ends, int32

_kinds: dict[torch.dtype, _core.data_type] = {}


def _with_last_dim_packed(tensor: torch.Tensor) -> torch.Tensor:
    """Copies tensors whose rows have gaps, which engines do not read; all other strides are kept."""
    return tensor if tensor.stride(-1) == 1 or tensor.shape[-1] == 1 else tensor.contiguous()


def _layout(tensor: torch.Tensor, name: str) -> plans.Layout:
    kind = _kinds.get(tensor.dtype) or _kind(tensor.dtype, name)
    return plans.Layout(tuple(tensor.shape), tensor.stride(), kind)


def _kind(dtype: torch.dtype, name: str) -> _core.data_type:
    kind = _torch_to_cudnn_data_type(dtype)
    if kind is None:
        raise TypeError(f"{name} is a tensor of {dtype}, which the library does not have: convert it to torch.float32")
    _kinds[dtype] = kind
    return kind


def _empty(layout: plans.Layout, like: torch.Tensor) -> torch.Tensor:
    """Memory for a result. Tokens after the last packed sequence are 0: nothing writes them."""
    dtype = _cudnn_to_torch_data_type(layout.kind)
    tensor = torch.empty_strided(layout.dim, layout.stride, dtype=dtype, device=like.device)
    return tensor.zero_() if len(layout.dim) == 3 else tensor


def _outputs(query: torch.Tensor, value: torch.Tensor, needs_stats: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Memory for O and Stats. An operator returns tensors, so that a result that is not wanted is an empty one."""
    o = _empty(calls.output_layout(_layout(query, "query"), _layout(value, "value")), query)
    shape = (*query.shape[:-1], 1) if needs_stats else (0,)
    return o, query.new_empty(shape, dtype=torch.float32)


def _gradients(
    tensors: list[torch.Tensor], bias: torch.Tensor | None, sink: torch.Tensor | None, needs: tuple[bool, bool]
) -> tuple[torch.Tensor, ...]:
    """Memory for the gradients of Q, K and V, and of the bias and the sink, which are empty if they are not needed."""
    named = zip(("query", "key", "value"), tensors)
    made = [_empty(calls.gradient_layout(_layout(tensor, name)), tensor) for name, tensor in named]
    for extra, is_needed in zip((bias, sink), needs):
        shape = extra.shape if extra is not None and is_needed else (0,)
        made.append(tensors[0].new_empty(shape, dtype=torch.float32 if extra is None else extra.dtype))
    return tuple(made)


def _packed(side: str, ends: torch.Tensor | None, tokens: int, longest: int | None) -> calls.Packed | None:
    ends = checked_ends(side, ends, tokens, longest)
    return None if ends is None else calls.Packed(side, ends, int(longest or 0), torch.Tensor.long)


def _call(
    inputs: dict[str, torch.Tensor],
    bias: torch.Tensor | None,
    sink: torch.Tensor | None,
    seq_len_q: torch.Tensor | None,
    seq_len_kv: torch.Tensor | None,
    cu_seqlens_q: torch.Tensor | None,
    cu_seqlens_kv: torch.Tensor | None,
    page_table: torch.Tensor | None,
    seed: torch.Tensor | None,
    longest_q: int | None,
    longest_kv: int | None,
) -> calls.Call:
    packed = {
        "q": _packed("q", cu_seqlens_q, inputs["q"].shape[0], longest_q),
        "kv": _packed("kv", cu_seqlens_kv, inputs["k"].shape[0], longest_kv),
    }
    lengths = {"q": int32("seq_len_q", seq_len_q), "kv": int32("seq_len_kv", seq_len_kv)}
    page_table = int32("page_table", page_table)
    return calls.Call(
        _layout,
        packed,
        **inputs,
        bias=bias,
        sink_token=sink,
        **{"seq_len_" + side: ends.lengths() if ends else lengths[side] for side, ends in packed.items()},
        paged_attention_k_table=page_table,
        paged_attention_v_table=page_table,
        seed=seed,
        offset=None if seed is None else torch.zeros_like(seed),
    )


def _run(
    build: Callable[..., plans.Plan], arrays: dict[str, Any], options: plans.Options, **results: torch.Tensor | None
) -> None:
    """Runs at once on the host, and on a GPU on torch's current stream, for which its allocator keeps the memory.
    `build` finds the results among the arrays."""
    device = arrays["q"].device
    if device.type == "cpu":
        build(plans.Place("cpu"), options, **results).run(arrays)
        return
    with contextlib.nullcontext() if device.index == torch.cuda.current_device() else torch.cuda.device(device):
        place = plans.Place("cuda", device.index)
        plan, handle = build(place, options, **results), place.handle()
        assert handle is not None
        _core.set_stream(handle, torch.cuda.current_stream(device).cuda_stream)
        workspace = torch.empty(plan.graph.get_workspace_size(), device=device, dtype=torch.uint8)
        plan.run(arrays, workspace, handle)


def _forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    sink: torch.Tensor | None,
    seq_len_q: torch.Tensor | None,
    seq_len_kv: torch.Tensor | None,
    cu_seqlens_q: torch.Tensor | None,
    cu_seqlens_kv: torch.Tensor | None,
    page_table: torch.Tensor | None,
    seed: torch.Tensor | None,
    longest_q: int | None,
    longest_kv: int | None,
    scale: float,
    left_bound: int | None,
    right_bound: int | None,
    bottom_right: bool,
    alibi: bool,
    softcap: float | None,
    dropout_p: float,
    deterministic: bool,
    needs_stats: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    q, k, v = (_with_last_dim_packed(tensor) for tensor in (query, key, value))
    extras = (bias, sink, seq_len_q, seq_len_kv, cu_seqlens_q, cu_seqlens_kv, page_table, seed, longest_q, longest_kv)
    call = _call({"q": q, "k": k, "v": v}, *extras)
    options = plans.Options(
        scale, left_bound, right_bound, bottom_right, alibi, softcap, dropout_p,
        longest_kv=None if page_table is None else longest_kv,
    )  # fmt: skip
    o, stats = _outputs(q, v, needs_stats)
    _run(call.forward, call.arrays, options, o=o, stats=stats if needs_stats else None)
    return o, stats


def _fake_forward(query: Any, key: Any, value: Any, *options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    return _outputs(_with_last_dim_packed(query), value, options[-1])


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
    cu_seqlens_q: torch.Tensor | None,
    cu_seqlens_kv: torch.Tensor | None,
    seed: torch.Tensor | None,
    longest_q: int | None,
    longest_kv: int | None,
    scale: float,
    left_bound: int | None,
    right_bound: int | None,
    bottom_right: bool,
    alibi: bool,
    softcap: float | None,
    dropout_p: float,
    deterministic: bool,
    needs_bias: bool,
    needs_sink: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    q, k, v, dO = (_with_last_dim_packed(tensor) for tensor in (query, key, value, grad))
    extras = (bias, sink, seq_len_q, seq_len_kv, cu_seqlens_q, cu_seqlens_kv, None, seed, longest_q, longest_kv)
    call = _call({"q": q, "k": k, "v": v, "o": o, "dO": dO, "stats": stats}, *extras)
    options = plans.Options(scale, left_bound, right_bound, bottom_right, alibi, softcap, dropout_p, deterministic)
    results = _gradients([q, k, v], bias, sink, (needs_bias, needs_sink))
    wanted = dict(zip(("dQ", "dK", "dV", "dBias", "dSink_token"), results))
    _run(call.backward, call.arrays, options, **{name: made for name, made in wanted.items() if made.numel() > 0})
    return results  # type: ignore[return-value]


def _fake_backward(
    grad: Any, query: Any, key: Any, value: Any, o: Any, stats: Any, bias: Any, sink: Any, *options: Any
) -> Any:
    return _gradients([_with_last_dim_packed(tensor) for tensor in (query, key, value)], bias, sink, options[-2:])


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    query, key, value, bias, sink, len_q, len_kv, cu_q, cu_kv, page_table, seed, *options, _ = inputs
    if page_table is not None and any(ctx.needs_input_grad):
        raise NotImplementedError(
            "keys in pages have no gradient: call it under torch.no_grad(), or detach the tensors"
        )
    ctx.save_for_backward(query, key, value, *output, bias, sink, len_q, len_kv, cu_q, cu_kv, seed)
    ctx.options = options


def _gradients_by(backward: Callable[..., Any], ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
    needs_bias, needs_sink = ctx.needs_input_grad[3:5]
    dQ, dK, dV, dBias, dSink = backward(grad, *ctx.saved_tensors, *ctx.options, needs_bias, needs_sink)
    return (dQ, dK, dV, dBias if needs_bias else None, dSink if needs_sink else None, *[None] * 17)


def _differentiate(ctx: Any, grad: torch.Tensor, _: Any) -> tuple[Any, ...]:
    return _gradients_by(backward, ctx, grad)


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> torch.Tensor:
        output = _forward(*inputs)
        _keep(ctx, inputs, output)
        return output[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
        return _gradients_by(_backward, ctx, grad)


forward = torch.library.custom_op("sdpa_graph::sdpa", _forward, mutates_args=())
backward = torch.library.custom_op("sdpa_graph::sdpa_backward", _backward, mutates_args=())
forward.register_fake(_fake_forward)
backward.register_fake(_fake_backward)
forward.register_autograd(_differentiate, setup_context=_keep)


def attend(query: torch.Tensor, *others: Any) -> torch.Tensor:
    """The arguments are those of the operator, of which the last one says whether there will be gradients."""
    is_traced = torch.compiler.is_compiling() or type(query) not in (torch.Tensor, torch.nn.Parameter)
    if is_traced:
        output: torch.Tensor = forward(query, *others)[0]
    elif others[-1]:
        output = _Attention.apply(query, *others)
    else:
        output = _forward(query, *others)[0]
    return output
