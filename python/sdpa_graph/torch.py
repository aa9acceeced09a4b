"""Attention on tensors of torch, with gradients."""

from __future__ import annotations

import math
from typing import Any

import torch

from . import attention_arguments, call_checks, operators, plain_attention
from .torch_groups import distributed_attention, group_of
from .torch_install import install, install_counts, installed, uninstall
from .torch_arguments import check_real, check_scalars, check_strided, check_tensors, is_transformed, numbers_of
from .torch_arguments import refuse_transforms
from .torch_operator import learns

__all__ = [
    "distributed_attention",
    "group_of",
    "install",
    "install_counts",
    "installed",
    "scaled_dot_product_attention",
    "uninstall",
]


# The types that need no further look.
_NUMBERS = (float, int)
_NUMBERS_OR_NONE = (float, int, type(None))


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    left_bound: int | None = None,
    right_bound: int | None = None,
    bottom_right: bool = False,
    alibi: bool = False,
    softcap: float | None = None,
    sink: torch.Tensor | None = None,
    seq_len_q: torch.Tensor | None = None,
    seq_len_kv: torch.Tensor | None = None,
    cu_seqlens_q: torch.Tensor | None = None,
    cu_seqlens_kv: torch.Tensor | None = None,
    max_seqlen_q: int | None = None,
    max_seqlen_kv: int | None = None,
    page_table: torch.Tensor | None = None,
    deterministic: bool = False,
) -> torch.Tensor:
    """torch.nn.functional.scaled_dot_product_attention, with the further options of graphs: docs/python.md."""
    if type(is_causal) is not bool or not isinstance(dropout_p, _NUMBERS) or not isinstance(scale, _NUMBERS_OR_NONE):
        check_scalars(dropout_p, is_causal, scale)
    deterministic = deterministic or torch.are_deterministic_algorithms_enabled()
    if not (dropout_p or bottom_right or alibi or deterministic) and (
        attn_mask is left_bound is right_bound is softcap is sink is seq_len_q is seq_len_kv is None
        and cu_seqlens_q is cu_seqlens_kv is max_seqlen_q is max_seqlen_kv is page_table is None
    ):
        output = plain_attention.attend(query, key, value, is_causal, scale, enable_gqa)
        if output is not None:
            return output
    arrays = {"query": query, "key": key, "value": value}
    check_tensors(arrays, attn_mask=attn_mask, sink=sink)
    if attn_mask is not None or sink is not None:
        check_real(attn_mask=attn_mask, sink=sink)
    if query.is_nested or key.is_nested or value.is_nested:
        return _of_nested(
            arrays, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa,
            left_bound=left_bound, right_bound=right_bound, bottom_right=bottom_right, alibi=alibi, softcap=softcap, sink=sink,
            seq_len_q=seq_len_q, seq_len_kv=seq_len_kv, cu_seqlens_q=cu_seqlens_q, cu_seqlens_kv=cu_seqlens_kv,
            max_seqlen_q=max_seqlen_q, max_seqlen_kv=max_seqlen_kv, page_table=page_table, deterministic=deterministic,
        )  # fmt: skip
    _check(arrays, enable_gqa, (cu_seqlens_q, cu_seqlens_kv), (seq_len_q, seq_len_kv), page_table)
    call_checks.check_longest("q", max_seqlen_q, cu_seqlens_q is not None)
    call_checks.check_longest("kv", max_seqlen_kv, cu_seqlens_kv is not None or page_table is not None)
    left_bound, right_bound = attention_arguments.bounds(is_causal, left_bound, right_bound)
    query, key, value = _autocast(query, key, value)
    longest_q = _longest("q", cu_seqlens_q, max_seqlen_q, query.shape[0])
    longest_kv = _longest("kv", cu_seqlens_kv, max_seqlen_kv, key.shape[0])
    if page_table is not None:
        longest_kv = longest_kv or key.shape[-2] * page_table.shape[1]
    rows = query.shape[-2] if longest_q is None else longest_q, key.shape[-2] if longest_kv is None else longest_kv
    lengths = [None if given is None else given.to(query.device) for given in (seq_len_q, seq_len_kv)]
    bias, sink = _bias(attn_mask, query.dtype, rows), None if sink is None else sink.float().reshape(1, -1, 1, 1).contiguous()
    needs_stats = learns(query, key, value, bias, sink)
    return operators.attend(
        query, key, value, bias, sink, *lengths, cu_seqlens_q, cu_seqlens_kv, page_table, _seed(query, dropout_p),
        longest_q, longest_kv, attention_arguments.scale_of(scale, query.shape[-1]), left_bound, right_bound, bottom_right, alibi,
        attention_arguments.softcap_of(softcap), dropout_p, deterministic, needs_stats,
    )  # fmt: skip


def _check(
    arrays: dict[str, torch.Tensor],
    enable_gqa: bool,
    cu_seqlens: tuple[torch.Tensor | None, torch.Tensor | None],
    seq_lens: tuple[torch.Tensor | None, torch.Tensor | None],
    page_table: torch.Tensor | None,
) -> None:
    check_strided(arrays)
    shapes = {name: array.shape for name, array in arrays.items()}
    call_checks.check_shapes(shapes, enable_gqa, *(tensor is not None for tensor in cu_seqlens))
    lengths = (*cu_seqlens, *seq_lens, page_table)
    if all(given is None for given in lengths):
        return
    names = ("cu_seqlens_q", "cu_seqlens_kv", "seq_len_q", "seq_len_kv", "page_table")
    check_tensors({}, **dict(zip(names, lengths)))
    check_strided(dict(zip(names, lengths)))
    call_checks.check_lengths_are_said_once("q", cu_seqlens[0], seq_len_q=seq_lens[0])
    call_checks.check_lengths_are_said_once("kv", cu_seqlens[1], seq_len_kv=seq_lens[1], page_table=page_table)
    for side, tensor in zip(("q", "kv"), cu_seqlens):
        if tensor is not None:
            call_checks.check_ends_shape(side, tensor.shape)
    if page_table is not None:
        call_checks.check_table(page_table.shape)


def _autocast(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """The inputs, which get the type of autocast, as in torch's own function."""
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return list(tensors)
    dtype = torch.get_autocast_dtype(kind)
    has_type = [tensor.is_floating_point() and tensor.dtype != torch.float64 for tensor in tensors]
    return [tensor.to(dtype) if is_cast else tensor for tensor, is_cast in zip(tensors, has_type)]


def _bias(mask: torch.Tensor | None, dtype: torch.dtype, rows: tuple[int, int]) -> torch.Tensor | None:
    """The tensor that is added to the scores, with four dims. If it requires a gradient, it has the query's type and
    that many rows and columns: cuDNN has no gradient of others."""
    if mask is None:
        return None
    if mask.requires_grad and mask.dim() <= 4 and _fits(_four_dims(mask)[2:], rows):
        return mask.to(dtype).expand(*_four_dims(mask)[:2], *rows).contiguous()
    if mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=torch.float32).masked_fill(~mask, -math.inf)
    elif not mask.is_floating_point():
        raise TypeError(f"attn_mask has numbers of type {mask.dtype}: bool says what is visible, floats are added to scores")
    elif mask.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        mask = mask.float()
    return mask.reshape(_four_dims(mask))


def _fits(shape: tuple[int, ...], needed: tuple[int, int]) -> bool:
    """Whether it can be repeated to the shape that is needed; any other shape is refused where the graph is made."""
    return all(size == 1 or size == most for size, most in zip(shape, needed))


def _four_dims(mask: torch.Tensor) -> tuple[int, ...]:
    return (1,) * (4 - mask.dim()) + tuple(mask.shape)


def _seed(query: torch.Tensor, dropout_p: float) -> torch.Tensor | None:
    """A seed from torch's generator, so that torch.manual_seed() decides what is dropped, and an offset of 0."""
    if dropout_p == 0.0:
        return None
    seed = torch.randint(2**62, (1,), dtype=torch.int64, device=query.device)
    return torch.nn.functional.pad(seed, (0, 1))


def _longest(side: str, ends: torch.Tensor | None, longest: int | None, tokens: int) -> int | None:
    """The longest length. If the caller does not give it, the ends are read for it, and checked."""
    if ends is None or longest is not None:
        return longest
    if is_transformed(ends):
        refuse_transforms([f"cu_seqlens_{side}"])
    numbers = numbers_of(ends)
    call_checks.check_ends(side, numbers, tokens)
    return call_checks.longest_of(numbers)


def _of_nested(arrays: dict[str, Any], **options: Any) -> torch.Tensor:
    """Nested tensors of the layout jagged, (batch, heads, tokens, head dim): their values are packed sequences."""
    for name, tensor in arrays.items():
        _check_nested(name, tensor)
    for name in ("cu_seqlens_q", "cu_seqlens_kv"):
        if options[name] is not None:
            raise ValueError(f"{name} is given with nested tensors, which say their lengths themselves: leave it out")
    query, key, value = (tensor.transpose(1, 2) for tensor in arrays.values())
    shared = min(key.values().shape[0], value.values().shape[0])
    packed = [_packed(query, query.values().shape[0]), _packed(key, shared), _packed(value, shared)]
    values, ends = zip(*packed)
    is_same = key.offsets() is value.offsets() and key.lengths() is value.lengths()
    is_read = not is_same and ends[1].is_cpu and ends[2].is_cpu  # on a GPU nothing waits for numbers
    if ends[1].shape != ends[2].shape or (is_read and not torch.equal(ends[1], ends[2])):
        raise ValueError("key and value are nested tensors of different lengths: equal ones are needed")
    options.update(cu_seqlens_q=ends[0], cu_seqlens_kv=ends[1])
    output = _unpacked(scaled_dot_product_attention(*values, **options), query, ends[0])
    return torch.nested.nested_tensor_from_jagged(output, query.offsets(), query.lengths()).transpose(1, 2)


def _check_nested(name: str, tensor: Any) -> None:
    if not tensor.is_nested or tensor.layout != torch.jagged:
        found = f"a nested tensor of the layout {tensor.layout}" if tensor.is_nested else "no nested tensor"
        raise ValueError(f"{name} is {found}: query, key and value are needed as nested ones of the layout jagged")
    if tensor.dim() != 4 or tensor._ragged_idx != 2:
        found = f"{name} is a nested tensor of {tensor.dim()} dims whose tokens are dim {tensor._ragged_idx}"
        needed = "4 are needed, (batch, heads, tokens, head dim), whose tokens are dim 2"
        raise ValueError(f"{found}: {needed}; {name}.transpose(1, 2) makes them of (batch, tokens, heads, head dim)")
    starts, lengths = tensor.offsets(), tensor.lengths()
    is_read = lengths is not None and lengths.is_cpu and not torch.compiler.is_compiling()
    if is_read and (lengths > starts.diff()).any():
        found = f"{name} is a nested tensor with lengths {lengths.tolist()} and offsets {starts.tolist()}"
        raise ValueError(f"{found}: lengths that end before the next sequence begins are needed")


def _packed(nested: Any, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """So many rows of a nested tensor's values, and where its sequences end in them. Rows between the sequences, which
    tensors with lengths have, are left out."""
    values, starts, lengths = nested.values(), nested.offsets(), nested.lengths()
    if lengths is None:
        return values if values.shape[0] == rows else values[:rows], starts
    ends = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    row = torch.arange(rows, device=values.device)
    sequence = torch.searchsorted(ends, row, right=True) - 1
    source = starts[sequence] + row - ends[sequence]
    return values.index_select(0, source.clamp(max=values.shape[0] - 1)), ends


def _unpacked(packed: torch.Tensor, nested: Any, ends: torch.Tensor) -> torch.Tensor:
    """The rows of packed sequences at the places that the nested tensor's lengths say, and 0 between them."""
    starts, lengths = nested.offsets(), nested.lengths()
    if lengths is None:
        return packed
    row = torch.arange(packed.shape[0], device=packed.device)
    sequence = (torch.searchsorted(starts[:-1], row, right=True) - 1).clamp(min=0)
    inside = row - starts[sequence]
    is_used = (inside >= 0) & (inside < lengths[sequence])
    source = torch.where(is_used, ends[sequence] + inside, 0)
    return torch.where(is_used[:, None, None], packed.index_select(0, source), 0)
