"""The functions of neighborhood attention as operators of torch, with gradients, which torch.compile accepts unchanged.

In all of them window is kernel_size, dilation and is_causal, with an entry for each axis of space.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from .. import _core, torch_streams
from ..torch_arguments import readable

Tensor = torch.Tensor


def _call(function: str, tensors: dict[str, Any], window: tuple[Any, ...], scale: float = 1.0) -> None:
    kernel_size, dilation, is_causal = window
    first = next(iter(tensors.values()))
    if first.numel() > 0:
        tensors = readable(tensors, {"rel_pos_bias": "rpb"})
    is_deterministic = torch.are_deterministic_algorithms_enabled()
    options = (kernel_size, dilation, is_causal, scale, is_deterministic)
    torch_streams.run(first.device, _core._neighborhood, function, tensors, *options)


def _like(*tensors: Tensor) -> tuple[Tensor, ...]:
    return tuple(torch.empty_like(tensor, memory_format=torch.contiguous_format) for tensor in tensors)


# The fused functions: tokens are (batch, *space, heads, head dim). Additional tokens, which all queries see as well,
# are (batch, tokens, heads, head dim).


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    rpb: Tensor | None,
    additional_keys: Tensor | None,
    additional_values: Tensor | None,
    kernel_size: list[int],
    dilation: list[int],
    is_causal: list[bool],
    scale: float,
) -> tuple[Tensor, Tensor]:
    query, key, value = (tensor.contiguous() for tensor in (query, key, value))
    output, logsumexp = _fake_attend(query)
    tensors = {"query": query, "key": key, "value": value, "output": output, "logsumexp": logsumexp}
    if rpb is not None:
        tensors["rel_pos_bias"] = rpb.contiguous()
    _call("forward", tensors, (kernel_size, dilation, is_causal), scale)
    if additional_keys is None or additional_values is None:
        return output, logsumexp
    scores = _scores(query, additional_keys, scale)
    total = torch.logaddexp(logsumexp, torch.logsumexp(scores, -1))
    more = _weigh(torch.exp(scores - total[..., None]), additional_values)
    return (output * torch.exp(logsumexp - total)[..., None] + more).to(query.dtype), total


def _fake_attend(query: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return _like(query)[0], query.new_empty(query.shape[:-1], dtype=torch.float32)


def _scores(query: Tensor, keys: Tensor, scale: float) -> Tensor:
    """The scores of all queries and additional keys: (batch, *space, heads, tokens)."""
    return torch.einsum("b...hd,bthd->b...ht", query.float(), keys.float()) * scale


def _weigh(weights: Tensor, values: Tensor) -> Tensor:
    return torch.einsum("b...ht,bthd->b...hd", weights, values.float())


def _differentiate(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    logsumexp: Tensor,
    additional_keys: Tensor | None,
    additional_values: Tensor | None,
    kernel_size: list[int],
    dilation: list[int],
    is_causal: list[bool],
    scale: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """With the output and the log-sum-exp over all keys, each part of the keys has its own share of the gradients."""
    query, key, value, grad = (tensor.contiguous() for tensor in (query, key, value, grad))
    made: tuple[Tensor, Tensor, Tensor, Tensor, Tensor] = _fake_differentiate(
        grad, query, key, value, output, logsumexp, additional_keys, additional_values
    )
    tensors = dict(zip(("grad_query", "grad_key", "grad_value"), made[:3]))
    tensors.update(query=query, key=key, value=value, output=output, grad_output=grad, logsumexp=logsumexp)
    _call("backward", tensors, (kernel_size, dilation, is_causal), scale)
    if additional_keys is None or additional_values is None:
        return made
    weights = torch.exp(_scores(query, additional_keys, scale) - logsumexp[..., None])
    row_dots = (grad.float() * output.float()).sum(-1, keepdim=True)
    d_scores = weights * (_scores(grad, additional_values, 1.0) - row_dots) * scale
    d_query = made[0] + _weigh(d_scores, additional_keys).to(query.dtype)
    d_keys = torch.einsum("b...ht,b...hd->bthd", d_scores, query.float()).to(query.dtype)
    d_values = torch.einsum("b...ht,b...hd->bthd", weights, grad.float()).to(query.dtype)
    return d_query, made[1], made[2], d_keys, d_values


def _fake_differentiate(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, output: Tensor, logsumexp: Tensor, *extras: Any
) -> Any:
    additional = [query.new_empty(0) if tensor is None else tensor for tensor in extras[:2]]
    return _like(query, key, value, *additional)


def _keep_attend(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    query, key, value, _, additional_keys, additional_values, *options = inputs
    ctx.save_for_backward(query, key, value, *output, additional_keys, additional_values)
    ctx.options = options
    ctx.mark_non_differentiable(output[1])


def _attend_backward(ctx: Any, grad: Tensor, _: Any) -> tuple[Any, ...]:
    gradients = differentiate(grad, *ctx.saved_tensors, *ctx.options)
    additional = gradients[3:] if ctx.saved_tensors[5] is not None else (None, None)
    return (*gradients[:3], None, *additional, None, None, None, None)


attend = torch.library.custom_op("sdpa_graph::neighborhood", _attend, mutates_args=())
differentiate = torch.library.custom_op("sdpa_graph::neighborhood_backward", _differentiate, mutates_args=())
attend.register_fake(_fake_attend)
differentiate.register_fake(_fake_differentiate)
attend.register_autograd(_attend_backward, setup_context=_keep_attend)


# The two products: tokens are (batch, heads, *space, head dim), and each key of a window has a slot.


def _qk(
    query: Tensor,
    key: Tensor,
    rpb: Tensor | None,
    kernel_size: list[int],
    dilation: list[int],
    is_causal: list[bool],
) -> Tensor:
    query, key = query.contiguous(), key.contiguous()
    attn = _fake_qk(query, key, rpb, kernel_size)
    tensors = {"query": query, "key": key, "attn": attn}
    if rpb is not None:
        tensors["rel_pos_bias"] = rpb.contiguous()
    _call("qk_forward", tensors, (kernel_size, dilation, is_causal))
    return attn


def slots(kernel_size: list[int]) -> int:
    """How many keys a window has, for each of which the products have a slot."""
    return math.prod(kernel_size)


def _fake_qk(query: Tensor, key: Tensor, rpb: Tensor | None, kernel_size: list[int], *_: Any) -> Tensor:
    return query.new_empty((*query.shape[:-1], slots(kernel_size)))


def _qk_gradients(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    needs_bias: bool,
    kernel_size: list[int],
    dilation: list[int],
    is_causal: list[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    query, key = query.contiguous(), key.contiguous()
    made: tuple[Tensor, Tensor, Tensor] = _fake_qk_gradients(grad, query, key, needs_bias, kernel_size)
    tensors = {"d_attn": grad.contiguous(), "query": query, "key": key, "d_query": made[0], "d_key": made[1]}
    if needs_bias:
        tensors["d_rel_pos_bias"] = made[2]
    _call("qk_backward", tensors, (kernel_size, dilation, is_causal))
    return made


def _fake_qk_gradients(
    grad: Tensor, query: Tensor, key: Tensor, needs_bias: bool, kernel_size: list[int], *_: Any
) -> Any:
    distances = [2 * size - 1 for size in kernel_size]
    bias = query.new_empty((query.shape[1], *distances) if needs_bias else (0,))
    return (*_like(query, key), bias)


def _keep_qk(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    query, key, _, *window = inputs
    ctx.save_for_backward(query, key)
    ctx.window = window


def _qk_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    needs_bias = ctx.needs_input_grad[2]
    d_query, d_key, d_bias = qk_gradients(grad, *ctx.saved_tensors, needs_bias, *ctx.window)
    return (d_query, d_key, d_bias if needs_bias else None, None, None, None)


qk = torch.library.custom_op("sdpa_graph::neighborhood_qk", _qk, mutates_args=())
qk_gradients = torch.library.custom_op("sdpa_graph::neighborhood_qk_backward", _qk_gradients, mutates_args=())
qk.register_fake(_fake_qk)
qk_gradients.register_fake(_fake_qk_gradients)
qk.register_autograd(_qk_backward, setup_context=_keep_qk)


def _av(attn: Tensor, value: Tensor, kernel_size: list[int], dilation: list[int], is_causal: list[bool]) -> Tensor:
    value = value.contiguous()
    (output,) = _like(value)
    _call("av_forward", {"value": value, "attn": attn, "output": output}, (kernel_size, dilation, is_causal))
    return output


def _fake_av(attn: Tensor, value: Tensor, *_: Any) -> Tensor:
    return _like(value)[0]


def _av_gradients(
    grad: Tensor,
    attn: Tensor,
    value: Tensor,
    kernel_size: list[int],
    dilation: list[int],
    is_causal: list[bool],
) -> tuple[Tensor, Tensor]:
    value = value.contiguous()
    d_attn, d_value = _fake_av_gradients(grad, attn, value)
    tensors = {"d_out": grad.contiguous(), "attn": attn, "value": value, "d_attn": d_attn, "d_value": d_value}
    _call("av_backward", tensors, (kernel_size, dilation, is_causal))
    return d_attn, d_value


def _fake_av_gradients(grad: Tensor, attn: Tensor, value: Tensor, *_: Any) -> Any:
    return _like(attn, value)


def _keep_av(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    attn, value, *window = inputs
    ctx.save_for_backward(attn, value)
    ctx.window = window


def _av_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    return (*av_gradients(grad, *ctx.saved_tensors, *ctx.window), None, None, None)


av = torch.library.custom_op("sdpa_graph::neighborhood_av", _av, mutates_args=())
av_gradients = torch.library.custom_op("sdpa_graph::neighborhood_av_backward", _av_gradients, mutates_args=())
av.register_fake(_fake_av)
av_gradients.register_fake(_fake_av_gradients)
av.register_autograd(_av_backward, setup_context=_keep_av)
