"""Neighborhood attention on tensors of torch: fused, and its two products on their own."""

from __future__ import annotations

from typing import Any

import torch

from .. import call_checks
from ..torch_arguments import check_dims, check_real, check_strided, check_tensors
from ..torch_operator import learns
from . import operators

__all__ = ["na1d", "na1d_av", "na1d_qk", "na2d", "na2d_av", "na2d_qk", "na3d", "na3d_av", "na3d_qk"]

Tensor = torch.Tensor
# One size for all axes of space, or one for each.
Sizes = int | tuple[int, ...]
Flags = bool | tuple[bool, ...]


def na1d(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    is_causal: Flags = False,
    rpb: Tensor | None = None,
    scale: float | None = None,
    additional_keys: Tensor | None = None,
    additional_values: Tensor | None = None,
) -> Tensor:
    """Attention of (batch, tokens, heads, head dim) to windows of keys. All queries also see the additional keys, which
    are (batch, tokens, heads, head dim). rpb is (heads, 2 * kernel_size - 1), and added to the scaled scores."""
    window = _window(1, kernel_size, dilation, is_causal)
    return _attend(query, key, value, window, rpb, scale, additional_keys, additional_values)


def na2d(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    is_causal: Flags = False,
    rpb: Tensor | None = None,
    scale: float | None = None,
    additional_keys: Tensor | None = None,
    additional_values: Tensor | None = None,
) -> Tensor:
    """na1d of (batch, height, width, heads, head dim)."""
    window = _window(2, kernel_size, dilation, is_causal)
    return _attend(query, key, value, window, rpb, scale, additional_keys, additional_values)


def na3d(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    is_causal: Flags = False,
    rpb: Tensor | None = None,
    scale: float | None = None,
    additional_keys: Tensor | None = None,
    additional_values: Tensor | None = None,
) -> Tensor:
    """na1d of (batch, depth, height, width, heads, head dim)."""
    window = _window(3, kernel_size, dilation, is_causal)
    return _attend(query, key, value, window, rpb, scale, additional_keys, additional_values)


def na1d_qk(
    query: Tensor,
    key: Tensor,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    additional_keys: Tensor | None = None,
    is_causal: Flags = False,
    rpb: Tensor | None = None,
) -> Tensor:
    """Products of each query of (batch, heads, tokens, head dim) with the keys of its window, and then with the
    additional keys (batch, heads, tokens, head dim). There is no scale."""
    return _qk(query, key, _window(1, kernel_size, dilation, is_causal), additional_keys, rpb)


def na2d_qk(
    query: Tensor,
    key: Tensor,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    additional_keys: Tensor | None = None,
    is_causal: Flags = False,
    rpb: Tensor | None = None,
) -> Tensor:
    """na1d_qk of (batch, heads, height, width, head dim)."""
    return _qk(query, key, _window(2, kernel_size, dilation, is_causal), additional_keys, rpb)


def na3d_qk(
    query: Tensor,
    key: Tensor,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    additional_keys: Tensor | None = None,
    is_causal: Flags = False,
    rpb: Tensor | None = None,
) -> Tensor:
    """na1d_qk of (batch, heads, depth, height, width, head dim)."""
    return _qk(query, key, _window(3, kernel_size, dilation, is_causal), additional_keys, rpb)


def na1d_av(
    attn: Tensor,
    value: Tensor,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    additional_values: Tensor | None = None,
    is_causal: Flags = False,
) -> Tensor:
    """Sums of the values of each window, and of the additional values, weighted by the results of na1d_qk."""
    return _av(attn, value, _window(1, kernel_size, dilation, is_causal), additional_values)


def na2d_av(
    attn: Tensor,
    value: Tensor,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    additional_values: Tensor | None = None,
    is_causal: Flags = False,
) -> Tensor:
    """na1d_av of (batch, heads, height, width, head dim)."""
    return _av(attn, value, _window(2, kernel_size, dilation, is_causal), additional_values)


def na3d_av(
    attn: Tensor,
    value: Tensor,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    additional_values: Tensor | None = None,
    is_causal: Flags = False,
) -> Tensor:
    """na1d_av of (batch, heads, depth, height, width, head dim)."""
    return _av(attn, value, _window(3, kernel_size, dilation, is_causal), additional_values)


Window = tuple[list[int], list[int], list[bool]]
# The names of the axes of space, by their number.
_AXES = {1: "tokens", 2: "height, width", 3: "depth, height, width"}


def _window(rank: int, kernel_size: Sizes, dilation: Sizes, is_causal: Flags) -> Window:
    causal = _entries(rank, "is_causal", is_causal)
    return _entries(rank, "kernel_size", kernel_size), _entries(rank, "dilation", dilation), [bool(c) for c in causal]


def _check_tensors(required: dict[str, Tensor], **optional: Tensor | None) -> None:
    check_tensors(required, **optional)
    check_strided({**required, **optional})


def _entries(rank: int, name: str, given: Any) -> list[Any]:
    entries = list(given) if isinstance(given, (tuple, list)) else [given] * rank
    if len(entries) != rank:
        raise ValueError(f"{name} is {given}; expected one number, or {rank}, one for each axis of space")
    return [entry if isinstance(entry, bool) else call_checks.check_integer(name, entry) for entry in entries]


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    window: Window,
    rpb: Tensor | None,
    scale: float | None,
    additional_keys: Tensor | None,
    additional_values: Tensor | None,
) -> Tensor:
    _check_tensors({"query": query, "key": key, "value": value}, rpb=rpb)
    _check_tensors({}, additional_keys=additional_keys, additional_values=additional_values)
    if (additional_keys is None) != (additional_values is None):
        raise ValueError("one of additional_keys and additional_values is given; expected both, or none")
    rank = len(window[0])
    check_dims(rank + 3, f"(batch, {_AXES[rank]}, heads, head dim)", query=query, key=key, value=value)
    form = "(batch, tokens, heads, head dim)"
    check_dims(4, form, additional_keys=additional_keys, additional_values=additional_values)
    query, key, value, additional_keys, additional_values = _autocast(
        query, key, value, additional_keys, additional_values
    )
    if additional_keys is not None and additional_values is not None:
        batch, heads, more = query.shape[0], query.shape[-2], additional_keys.shape[1]
        _check_additional("additional_keys", additional_keys, (batch, more, heads, query.shape[-1]))
        _check_additional("additional_values", additional_values, (batch, more, heads, value.shape[-1]))
    rpb = None if rpb is None else rpb.to(query.dtype)
    factor = scale or max(query.shape[-1], 1) ** -0.5
    if rpb is not None and learns(query, key, value, rpb, additional_keys, additional_values):
        _check_as_fused(query, value, window[0], factor)
        return _attend_by_products(query * factor, key, value, window, rpb, additional_keys, additional_values)
    output: Tensor = operators.attend(query, key, value, rpb, additional_keys, additional_values, *window, factor)[0]
    return output


def _check_additional(name: str, tensor: Tensor, needed: tuple[int, ...]) -> None:
    """torch's products would repeat tensors of one batch or head."""
    check_real(**{name: tensor})
    if tuple(tensor.shape) != needed:
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}: {needed} is needed, to fit the other tensors")


def _check_as_fused(query: Tensor, value: Tensor, kernel_size: list[int], scale: float) -> None:
    """Refuses what has no meaning with a bias in the fused functions and the two products would accept, so that a call
    that learns fails as it does without gradients."""
    if any(size % 2 == 0 for size in kernel_size):
        needed = "odd sizes are needed with rpb, so that windows are centered; make the even ones odd, or leave out rpb"
        raise ValueError(f"kernel_size is {kernel_size}: {needed}")
    call_checks.check_finite("scale", scale, "None is 1 over the square root of the head dim")
    if value.shape != query.shape:
        raise ValueError(f"value has shape {tuple(value.shape)}: {tuple(query.shape)} is needed, that of query")


def _attend_by_products(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    window: Window,
    rpb: Tensor,
    additional_keys: Tensor | None,
    additional_values: Tensor | None,
) -> Tensor:
    """Attention by its two products, since the fused functions have no gradients with a bias."""
    query, key, value = (tensor.movedim(-2, 1) for tensor in (query, key, value))
    additional = (None if t is None else t.to(query.dtype) for t in (additional_keys, additional_values))
    more_keys, more_values = (None if t is None else t.transpose(1, 2) for t in additional)
    attn = _qk(query, key, window, more_keys, rpb).softmax(-1)
    return _av(attn, value, window, more_values).movedim(1, -2)


def _autocast(*tensors: Tensor | None) -> list[Any]:
    """The tensors; under autocast they get its type."""
    kind = next(tensor.device.type for tensor in tensors if tensor is not None)
    if not torch.is_autocast_enabled(kind):
        return list(tensors)
    dtype = torch.get_autocast_dtype(kind)
    return [None if tensor is None else tensor.to(dtype) for tensor in tensors]


def _qk(query: Tensor, key: Tensor, window: Window, additional_keys: Tensor | None, rpb: Tensor | None) -> Tensor:
    _check_tensors({"query": query, "key": key}, additional_keys=additional_keys, rpb=rpb)
    rank = len(window[0])
    check_dims(rank + 3, f"(batch, heads, {_AXES[rank]}, head dim)", query=query, key=key)
    check_dims(4, "(batch, heads, tokens, head dim)", additional_keys=additional_keys)
    query, key, additional_keys = _autocast(query, key, additional_keys)
    if additional_keys is not None:
        needed = (*query.shape[:2], additional_keys.shape[2], query.shape[-1])
        _check_additional("additional_keys", additional_keys, needed)
    attn: Tensor = operators.qk(query, key, None if rpb is None else rpb.to(query.dtype), *window)
    if additional_keys is None:
        return attn
    more = query.flatten(2, -2) @ additional_keys.transpose(-2, -1)
    return torch.cat([attn, more.reshape(*attn.shape[:-1], -1)], -1)


def _av(attn: Tensor, value: Tensor, window: Window, additional_values: Tensor | None) -> Tensor:
    _check_tensors({"attn": attn, "value": value}, additional_values=additional_values)
    rank = len(window[0])
    check_dims(rank + 3, f"(batch, heads, {_AXES[rank]}, slots or head dim)", attn=attn, value=value)
    check_dims(4, "(batch, heads, tokens, head dim)", additional_values=additional_values)
    attn, value, additional_values = _autocast(attn, value, additional_values)
    if additional_values is None:
        output: Tensor = operators.av(attn, value, *window)
        return output
    more = additional_values.shape[-2]
    _check_additional("additional_values", additional_values, (*value.shape[:2], more, value.shape[-1]))
    slots = operators.slots(window[0])
    if attn.shape[-1] != slots + more:
        needed = f"{slots + more} are needed, {slots} for the window and {more} for additional_values"
        raise ValueError(f"attn has {attn.shape[-1]} slots: {needed}; pass the results of the other product")
    near, far = attn.split([attn.shape[-1] - more, more], -1)
    output = operators.av(near, value, *window)
    return output + (far.flatten(2, -2) @ additional_values).reshape(output.shape)
