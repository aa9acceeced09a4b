"""Attention without options but causality, which the arguments of torch's operator say."""

from __future__ import annotations

from typing import Any

import torch

from . import torch_operator

_TYPES = (torch.float16, torch.bfloat16, torch.float32)


def attend(query: Any, key: Any, value: Any, is_causal: bool, scale: float | None, enable_gqa: bool) -> Any:
    """None where the operator does not serve the call, or the call has faults, which are then found elsewhere."""
    if not torch_operator.serves(query, key, value) or not _has_one_type(query, key, value):
        return None
    shape, of_keys, of_values = query.shape, key.shape, value.shape
    has_shapes = len(shape) == len(of_keys) == len(of_values) == 4
    if not has_shapes or not (enable_gqa or shape[1] == of_keys[1] == of_values[1]):
        return None
    if query.stride(3) != 1 or key.stride(3) != 1 or value.stride(3) != 1:
        return None
    if torch.is_autocast_enabled(query.device.type):
        return None
    has_gradients = torch_operator.learns(query, key, value)
    results = torch_operator.attend(query, key, value, has_gradients, None, is_causal, scale)
    return None if results is None else results[0]


def _has_one_type(query: Any, key: Any, value: Any) -> bool:
    return (
        query.dtype in _TYPES
        and query.dtype is key.dtype
        and query.dtype is value.dtype
    )
