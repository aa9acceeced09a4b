"""Attention as the existing package's operator of torch."""

from __future__ import annotations

from typing import Any

# The configurations that calls of each direction had, the oldest of which go first. Programs look at how many there are.
_fprop_cache: dict[Any, None] = {}
_bprop_cache: dict[Any, None] = {}
_KEPT = 256


def _note(cache: dict[Any, None], configuration: Any) -> None:
    cache[configuration] = None
    if len(cache) > _KEPT:
        cache.pop(next(iter(cache)), None)


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
    import torch

    from ...torch import scaled_dot_product_attention as attend

    if attn_mask is not None:
        raise NotImplementedError("attn_mask: sdpa_graph.torch.scaled_dot_product_attention() accepts one")
    if dropout_p != 0.0:
        raise NotImplementedError("dropout_p: sdpa_graph.torch.scaled_dot_product_attention() has dropout")
    if cumulative_seq_len_q is not None or cumulative_seq_len_kv is not None:
        raise NotImplementedError("cumulative_seq_len: sdpa_graph.torch.scaled_dot_product_attention() has cu_seqlens")
    options = {
        "is_causal": is_causal,
        "scale": scale,
        "enable_gqa": enable_gqa,
        "left_bound": None if left_bound < 0 else left_bound,
        "right_bound": None if right_bound < 0 else right_bound,
        "bottom_right": int(diagonal_alignment) == 1,
    }
    output = attend(query, key, value, seq_len_q=seq_len_q, seq_len_kv=seq_len_kv, **options)
    if not torch.compiler.is_compiling():
        tensors = ((tensor.shape, tensor.stride(), tensor.dtype, tensor.device) for tensor in (query, key, value))
        has_lengths = (seq_len_q is not None, seq_len_kv is not None)
        configuration = (*tensors, *options.values(), has_lengths)
        _note(_fprop_cache, configuration)
        if output.requires_grad:
            output.register_hook(lambda grad: _note(_bprop_cache, configuration))
    return output
