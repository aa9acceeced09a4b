"""Attention as the existing package's operator of torch."""

from __future__ import annotations

from typing import Any

from ... import plans

# The graphs that are kept, by configuration. All functions of attention share them.
_fprop_cache = plans.forward.plans  # type: ignore[attr-defined]
_bprop_cache = plans.backward.plans  # type: ignore[attr-defined]


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    diagonal_alignment: int = 0,
    left_bound: int = -1,
    right_bound: int = -1,
    seq_len_q: Any = None,
    seq_len_kv: Any = None,
    cumulative_seq_len_q: Any = None,
    cumulative_seq_len_kv: Any = None,
) -> Any:
    """sdpa_graph.torch.scaled_dot_product_attention() with that package's arguments; bounds of -1 mean that there is
    none."""
    from ...torch import scaled_dot_product_attention as attend

    if attn_mask is not None:
        raise NotImplementedError("attn_mask: sdpa_graph.torch.scaled_dot_product_attention() accepts one")
    if dropout_p != 0.0:
        raise NotImplementedError("dropout_p: sdpa_graph.torch.scaled_dot_product_attention() has dropout")
    if cumulative_seq_len_q is not None or cumulative_seq_len_kv is not None:
        raise NotImplementedError("cumulative_seq_len: sdpa_graph.torch.scaled_dot_product_attention() has cu_seqlens")
    return attend(
        query,
        key,
        value,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=enable_gqa,
        left_bound=None if left_bound < 0 else left_bound,
        right_bound=None if right_bound < 0 else right_bound,
        bottom_right=int(diagonal_alignment) == 1,
        seq_len_q=seq_len_q,
        seq_len_kv=seq_len_kv,
    )
