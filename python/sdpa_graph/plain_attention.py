"""Attention without options but causality, through torch's operator for attention by other libraries.

Its gradient is in C++, and so is this library's kernel for it: a call costs about as much as one of torch's own.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _core, operators
from .shape_policies import check_shape_policy

_attention: Any = None
if _core._register_torch_operators():
    check_shape_policy()
    _attention = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_TYPES = (torch.float16, torch.bfloat16, torch.float32)


def attend(query: Any, key: Any, value: Any, is_causal: bool, scale: float | None, enable_gqa: bool) -> Any:
    """None where the operator does not serve the call, or the call has faults, which are then found elsewhere."""
    if _attention is None or operators.is_traced() or not _is_plain(query, key, value):
        return None
    shape, of_keys, of_values = query.shape, key.shape, value.shape
    has_shapes = len(shape) == len(of_keys) == len(of_values) == 4 and 0 not in shape and 0 not in of_keys
    if not has_shapes or not (enable_gqa or shape[1] == of_keys[1] == of_values[1]):
        return None
    if query.stride(3) != 1 or key.stride(3) != 1 or value.stride(3) != 1:
        return None
    if torch.is_autocast_enabled(query.device.type):
        return None
    learns = torch.is_grad_enabled() and (query.requires_grad or key.requires_grad or value.requires_grad)
    try:
        return _attention(query, key, value, None, 0.0, is_causal, not learns, scale=scale)[0]
    except NotImplementedError:
        raise  # torch has no derivative of this kind
    except RuntimeError:
        return None


def _is_plain(query: Any, key: Any, value: Any) -> bool:
    kind = query.dtype if type(query) in _PLAIN else None
    return (
        kind in _TYPES
        and type(key) in _PLAIN
        and type(value) in _PLAIN
        and key.dtype is kind
        and value.dtype is kind
        and query.layout is torch.strided
        and (query.is_cuda or query.is_cpu)
    )
