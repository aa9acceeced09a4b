"""Arguments of attention as a function, in the form that the compiled module accepts, for arrays of any library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from . import _core
from .shape_policies import check_shape_policy


def bounds(is_causal: bool, left_bound: int | None, right_bound: int | None) -> tuple[int | None, int | None]:
    """The bounds as a graph counts them; a causal mask is a right bound of 0."""
    if is_causal and right_bound not in (None, 0):
        raise ValueError(f"is_causal is a right bound of 0, and right_bound is {right_bound}: give one of them")
    return left_bound, 0 if is_causal else right_bound


def scale_of(scale: float | None, head_dim: int) -> float:
    return 1.0 / math.sqrt(max(head_dim, 1)) if scale is None else float(scale)


def softcap_of(cap: float | None) -> float | None:
    """The cap, or None for a cap of 0, which means no cap in flash_attn's functions too."""
    if cap is None or cap == 0:
        return None
    if not isinstance(cap, Real):
        raise TypeError(f"softcap is a {type(cap).__name__}: a number is needed")
    if not 0 < cap < math.inf:
        raise ValueError(f"softcap is {cap}: a finite number above 0 is needed; 0 or None leaves scores as they are")
    return float(cap)


def call_options(*options: Any, longest_q: int | None, longest_kv: int | None) -> _core._Attention_options:
    """The arguments of a call that are not tensors. `options` are those of the compiled module, up to the longest lengths."""
    check_shape_policy()
    return _core._Attention_options(*options, longest_q or 0, longest_kv or 0)


def strides_in_order(shape: Sequence[int], like: Sequence[int]) -> list[int]:
    """Strides without gaps for a result: its dims, except the last, are in memory in the order that `like` has as
    strides."""
    last = len(shape) - 1
    strides, step = [1] * len(shape), 1
    for index in (last, *reversed(sorted(range(last), key=lambda dim: -like[dim]))):
        strides[index], step = step, step * shape[index]
    return strides
