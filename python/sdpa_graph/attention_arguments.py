"""Arguments of attention as a function, in the form that the compiled module accepts, for arrays of any library."""

from __future__ import annotations

import math
from numbers import Real


def bounds(is_causal: bool, left_bound: int | None, right_bound: int | None) -> tuple[int | None, int | None]:
    """The bounds as a graph counts them; a causal mask is a right bound of 0."""
    if is_causal and right_bound not in (None, 0):
        raise ValueError(f"is_causal is a right bound of 0, and right_bound is {right_bound}: give one of them")
    return left_bound, 0 if is_causal else right_bound


def scale_of(scale: float | None, head_dim: int) -> float:
    return 1.0 / math.sqrt(head_dim) if scale is None else float(scale)


def softcap_of(cap: float | None) -> float | None:
    """The cap, or None for a cap of 0, which means no cap in flash_attn's functions too."""
    if cap is None or cap == 0:
        return None
    if not isinstance(cap, Real):
        raise TypeError(f"softcap is a {type(cap).__name__}: a number is needed")
    if not 0 < cap < math.inf:
        raise ValueError(f"softcap is {cap}: a finite number above 0 is needed; 0 or None leaves scores as they are")
    return float(cap)
