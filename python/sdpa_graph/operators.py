"""Attention forward and backward for torch: as operators, which torch.compile accepts unchanged, and as a function of
autograd that calls the same code directly, since an operator written in Python costs more than a small attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from . import _core, torch_operator, torch_streams
from .attention_arguments import call_options, strides_in_order
from .datatypes import _torch_to_cudnn_data_type
from .torch_arguments import check_tangents, checked_ends, int32, is_transformed, readable, refuse_transforms
from .torch_arguments import with_last_dim_packed

_INPUTS = ("query", "key", "value")
_EXTRAS = ("attn_mask", "sink", "seq_len_q", "seq_len_kv", "cu_seqlens_q", "cu_seqlens_kv", "page_table", "dropout_p")

_known_types: set[torch.dtype] = set()


def _check_type(tensor: torch.Tensor, name: str) -> None:
    if tensor.dtype in _known_types:
        return
    if _torch_to_cudnn_data_type(tensor.dtype) is None:
        raise TypeError(
            f"{name} is a tensor of {tensor.dtype}, which the library does not have: convert it to torch.float32"
        )
    _known_types.add(tensor.dtype)


def _empty(shape: Sequence[int], like: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Memory without gaps for a result: its dims, except the last, are in memory in the order of those of `like`."""
    strides = strides_in_order(shape, like.stride())
    return torch.empty_strided(tuple(shape), tuple(strides), dtype=dtype, device=like.device)


def _outputs(query: torch.Tensor, value: torch.Tensor, needs_stats: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Memory for O and Stats. An operator returns tensors, so that a result that is not wanted is an empty one."""
    o = _empty((*query.shape[:-1], value.shape[-1]), query, query.dtype)
    if not needs_stats:
        return o, query.new_empty((0,), dtype=torch.float32)
    return o, _empty((*query.shape[:-1], 1), query, torch.float32)


def _gradients(
    tensors: list[torch.Tensor], bias: torch.Tensor | None, sink: torch.Tensor | None, needs: tuple[bool, bool]
) -> tuple[torch.Tensor, ...]:
    """Memory for the gradients of Q, K and V, and of the bias and the sink, which are empty if they are not needed."""
    made = [_empty(tensor.shape, tensor, tensor.dtype) for tensor in tensors]
    for extra, is_needed in zip((bias, sink), needs):
        shape = extra.shape if extra is not None and is_needed else (0,)
        made.append(tensors[0].new_empty(shape, dtype=torch.float32 if extra is None else extra.dtype))
    return tuple(made)


def _arrays(
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
) -> dict[str, torch.Tensor]:
    """The tensors of a call, by the names of the arguments in C++."""
    for name in ("q", "k", "v"):
        _check_type(inputs[name], name)
    given = {
        "bias": bias,
        "sink": sink,
        "seq_len_q": int32("seq_len_q", seq_len_q),
        "seq_len_kv": int32("seq_len_kv", seq_len_kv),
        "cu_seqlens_q": checked_ends("q", cu_seqlens_q, inputs["q"].shape[0], longest_q),
        "cu_seqlens_kv": checked_ends("kv", cu_seqlens_kv, inputs["k"].shape[0], longest_kv),
        "page_table": int32("page_table", page_table),
        "seed": seed,
    }
    tensors = {name: tensor for name, tensor in given.items() if tensor is not None}
    has_work = inputs["q"].numel() > 0 and inputs["k"].numel() > 0
    inputs.update(readable(tensors, {"bias": "attn_mask"}) if has_work else tensors)
    return inputs


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
    check_tangents(query=query, key=key, value=value, attn_mask=bias, sink=sink)
    q, k, v = (with_last_dim_packed(tensor) for tensor in (query, key, value))
    extras = (bias, sink, seq_len_q, seq_len_kv, cu_seqlens_q, cu_seqlens_kv, page_table, seed, longest_q, longest_kv)
    arrays = _arrays({"q": q, "k": k, "v": v}, *extras)
    options = call_options(
        scale, left_bound, right_bound, bottom_right, alibi, softcap, dropout_p, deterministic,
        longest_q=longest_q, longest_kv=longest_kv,
    )  # fmt: skip
    o, stats = _outputs(q, v, needs_stats)
    arrays["o"] = o
    if needs_stats:
        arrays["stats"] = stats
    torch_streams.run(q.device, _core._attention_forward, arrays, options)
    return o, stats


def _fake_forward(query: Any, key: Any, value: Any, *options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    return _outputs(with_last_dim_packed(query), value, options[-1])


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
    check_tangents(grad=grad)
    if is_transformed(grad):
        refuse_transforms(["the gradient of the output"])
    q, k, v, grad_o = (with_last_dim_packed(tensor) for tensor in (query, key, value, grad))
    if dropout_p and grad_o.stride() != o.stride():
        # Which probabilities are dropped depends on the form of the call, which the gradient's strides must not change.
        grad_o = torch.empty_strided(o.shape, o.stride(), dtype=o.dtype, device=o.device).copy_(grad_o)
    extras = (bias, sink, seq_len_q, seq_len_kv, cu_seqlens_q, cu_seqlens_kv, None, seed, longest_q, longest_kv)
    arrays = _arrays({"q": q, "k": k, "v": v, "o": o, "grad_o": grad_o, "stats": stats}, *extras)
    options = call_options(
        scale, left_bound, right_bound, bottom_right, alibi, softcap, dropout_p, deterministic,
        longest_q=longest_q, longest_kv=longest_kv,
    )  # fmt: skip
    results = _gradients([q, k, v], bias, sink, (needs_bias, needs_sink))
    wanted = dict(zip(("dq", "dk", "dv", "dbias", "dsink"), results))
    arrays.update({name: made for name, made in wanted.items() if made.numel() > 0})
    torch_streams.run(q.device, _core._attention_backward, arrays, options)
    return results  # type: ignore[return-value]


def _fake_backward(
    grad: Any, query: Any, key: Any, value: Any, o: Any, stats: Any, bias: Any, sink: Any, *options: Any
) -> Any:
    return _gradients([with_last_dim_packed(tensor) for tensor in (query, key, value)], bias, sink, options[-2:])


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


def _through_torchs_operator(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *others: Any) -> Any:
    """None where torch's operator does not serve the call, or the call has faults, which are then found elsewhere."""
    extras, options, has_gradients = others[:10], others[10:-1], others[-1]
    bias, sink, *_, page_table, _, longest_q, longest_kv = extras
    if not torch_operator.serves(query, key, value) or _is_any_special(*extras[:8]):
        return None
    # The operator has no gradient of what is not an argument of its own.
    if has_gradients and (page_table is not None or torch_operator.learns(bias, sink)):
        return None
    if any(is_transformed(tensor) for tensor in extras[:8]):
        return None
    check_tangents(attn_mask=bias, sink=sink)
    q, k, v = (with_last_dim_packed(tensor) for tensor in (query, key, value))
    arrays = _arrays({"q": q, "k": k, "v": v}, *extras)
    given = {name: tensor for name, tensor in arrays.items() if name not in ("q", "k", "v")}
    arguments = torch_operator.carried(call_options(*options, longest_q=longest_q, longest_kv=longest_kv), given)
    results = torch_operator.attend(q, k, v, has_gradients, arguments)
    return None if results is None else results[0]


def _is_any_special(*tensors: torch.Tensor | None) -> bool:
    return any(torch_operator.is_special(tensor) for tensor in tensors if tensor is not None)


def _check_transforms(*tensors: torch.Tensor | None) -> None:
    """Refuses tensors of torch.func's transforms. Those of the inputs alone are named if no argument besides is one."""
    names = [name for name, tensor in zip(_INPUTS + _EXTRAS, tensors) if is_transformed(tensor)]
    if names:
        refuse_transforms([name for name in names if name in _EXTRAS] or names)


def attend(query: torch.Tensor, *others: Any) -> torch.Tensor:
    """The arguments are those of the operator, of which the last one says whether there will be gradients."""
    output: torch.Tensor | None = _through_torchs_operator(query, *others)
    if output is not None:
        return output
    if _is_any_special(query, *others[:10]) or torch_operator.is_traced():
        output = forward(query, *others)[0]
        return output
    _check_transforms(query, *others[:10])
    output = _Attention.apply(query, *others) if others[-1] else _forward(query, *others)[0]
    return output
