"""Attention on arrays of NumPy, on the CPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import plans
from ._core import data_type
from .allocation import allocate


def scaled_dot_product_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_mask: np.ndarray | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    left_bound: int | None = None,
    right_bound: int | None = None,
    bottom_right: bool = False,
    alibi: bool = False,
    sink: np.ndarray | None = None,
    seq_len_q: np.ndarray | None = None,
    seq_len_kv: np.ndarray | None = None,
    return_stats: bool = False,
    target: str = "cpu",
) -> Any:
    """Attention of arrays (batch, heads, tokens, head dim), with torch's arguments and some more.

    attn_mask is true where a key counts, or is added to the scores. Bounds keep the keys j of query i with
    i - left_bound < j <= i + right_bound, counted from the bottom right corner where that is said. sink has a logit for
    each head, seq_len_q and seq_len_kv a length for each entry of the batch. return_stats adds the logarithm of each
    row's sum of exponentials. target is "cpu", "cpu:4" (threads) or "reference" (double precision in between).
    """
    plans.check_shapes(query.shape, key.shape, value.shape, enable_gqa)
    left_bound, right_bound = plans.bounds(is_causal, left_bound, right_bound)
    arrays: dict[str, Any] = {"q": query, "k": key, "v": value}
    if attn_mask is not None:
        arrays["bias"] = _bias(attn_mask)
    if sink is not None:
        arrays["sink_token"] = np.asarray(sink, np.float32).reshape(1, -1, 1, 1)
    arrays.update(_lengths(query, key, seq_len_q, seq_len_kv))
    options = plans.Options(
        scale=1.0 / math.sqrt(query.shape[3]) if scale is None else float(scale),
        left_bound=left_bound,
        right_bound=right_bound,
        is_bottom_right=bottom_right,
        use_alibi=alibi,
    )
    layouts = tuple((name, plans.layout_of(array)) for name, array in arrays.items())
    q = dict(layouts)["q"]
    o = plans.Layout.packed((*q.dim[:3], value.shape[3]), q.kind, q.stride)
    plan = plans.forward(target, layouts, options, o, return_stats)
    arrays["o"] = allocate((), True, o.dim, o.stride, o.kind)
    if return_stats:
        arrays["stats"] = allocate((), True, (*o.dim[:3], 1), (o.dim[1] * o.dim[2], o.dim[2], 1, 1), data_type.FLOAT)
    plan.run(arrays)
    return (arrays["o"], arrays["stats"]) if return_stats else arrays["o"]


def _bias(mask: np.ndarray) -> np.ndarray:
    """What is added to the scores, with four dims."""
    added = np.where(mask, np.float32(0), np.float32(-np.inf)) if mask.dtype == bool else mask.astype(np.float32)
    return np.ascontiguousarray(added.reshape((1,) * (4 - added.ndim) + added.shape))


def _lengths(query: np.ndarray, key: np.ndarray, q: np.ndarray | None, kv: np.ndarray | None) -> dict[str, np.ndarray]:
    """Both lengths where one is given: the other one is then full."""
    if q is None and kv is None:
        return {}
    batch = query.shape[0]
    full = {"seq_len_q": np.full(batch, query.shape[2]), "seq_len_kv": np.full(batch, key.shape[2])}
    given = {"seq_len_q": q, "seq_len_kv": kv}
    chosen = {name: full[name] if given[name] is None else given[name] for name in full}
    return {name: np.asarray(value, np.int32).reshape(-1, 1, 1, 1) for name, value in chosen.items()}
