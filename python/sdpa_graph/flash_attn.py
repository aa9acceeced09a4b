"""The functions of the flash_attn package on this library: `from sdpa_graph import flash_attn` in place of the package.

Names, defaults and gradients are the package's; docs/flash.md has the formulas and the differences.
"""

from __future__ import annotations

from typing import Any

import torch

from . import call_checks, flash_operators
from .attention_arguments import scale_of
from .flash_cache import (
    CacheTensors,
    append,
    check_devices,
    check_numbers,
    check_one_for_each,
    check_places,
    check_positions,
    checked,
    in_rows,
    keys_and_values,
    rotated_tokens,
)
from .flash_calls import Numbers, batches
from .torch_arguments import check_dims, check_tensors, int32, with_last_dim_packed

__all__ = [
    "flash_attn_func",
    "flash_attn_kvpacked_func",
    "flash_attn_qkvpacked_func",
    "flash_attn_varlen_func",
    "flash_attn_varlen_kvpacked_func",
    "flash_attn_varlen_qkvpacked_func",
    "flash_attn_with_kvcache",
]

Tensor = torch.Tensor
Tensors = dict[str, Tensor | None]


def flash_attn_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """Attention of (batch, tokens, heads, head dim). With return_attn_probs also the log-sum-exp and the probabilities."""
    check_tensors({"q": q, "k": k, "v": v}, alibi_slopes=alibi_slopes)
    check_dims(4, "(batch, tokens, heads, head dim)", q=q, k=k, v=v)
    numbers = _numbers(q, dropout_p, softmax_scale, causal, window_size, softcap, deterministic, return_attn_probs)
    return _attend(q, k, v, {"alibi_slopes": alibi_slopes}, numbers, return_attn_probs)


def flash_attn_kvpacked_func(q: Tensor, kv: Tensor, *args: Any, **options: Any) -> Any:
    """flash_attn_func with k and v as kv[:, :, 0] and kv[:, :, 1]."""
    return flash_attn_func(q, *_parts("kv", kv, 2), *args, **options)


def flash_attn_qkvpacked_func(qkv: Tensor, *args: Any, **options: Any) -> Any:
    """flash_attn_func with q, k and v as qkv[:, :, 0], qkv[:, :, 1] and qkv[:, :, 2]."""
    return flash_attn_func(*_parts("qkv", qkv, 3), *args, **options)


def flash_attn_varlen_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
    block_table: Tensor | None = None,
) -> Any:
    """Attention of sequences one after the other, (tokens, heads, head dim); k and v may lie in pages."""
    others: Tensors = {"alibi_slopes": alibi_slopes, "block_table": block_table}
    ends = {"cu_seqlens_q": cu_seqlens_q, "cu_seqlens_k": cu_seqlens_k}
    check_tensors({"q": q, "k": k, "v": v, **ends}, **others)
    check_dims(3, "(tokens, heads, head dim)", q=q)
    check_dims(1, "where each sequence starts, and the end of the last one", **ends)
    longest_q = call_checks.check_integer("max_seqlen_q", max_seqlen_q)
    longest_k = call_checks.check_integer("max_seqlen_k", max_seqlen_k)
    others.update(ends)
    options = (dropout_p, softmax_scale, causal, window_size, softcap, deterministic, return_attn_probs)
    numbers = _numbers(q, *options, (longest_q, longest_k))
    return _attend(q, k, v, others, numbers, return_attn_probs)


def flash_attn_varlen_kvpacked_func(q: Tensor, kv: Tensor, *args: Any, **options: Any) -> Any:
    """flash_attn_varlen_func with k and v as kv[:, 0] and kv[:, 1]."""
    return flash_attn_varlen_func(q, *_parts("kv", kv, 2), *args, **options)


def flash_attn_varlen_qkvpacked_func(
    qkv: Tensor, cu_seqlens: Tensor, max_seqlen: int, *args: Any, **options: Any
) -> Any:
    """flash_attn_varlen_func with q, k and v as qkv[:, 0], qkv[:, 1] and qkv[:, 2]."""
    lengths = (cu_seqlens, cu_seqlens, max_seqlen, max_seqlen)
    return flash_attn_varlen_func(*_parts("qkv", qkv, 3), *lengths, *args, **options)


@torch.no_grad()
def flash_attn_with_kvcache(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    k: Tensor | None = None,
    v: Tensor | None = None,
    rotary_cos: Tensor | None = None,
    rotary_sin: Tensor | None = None,
    cache_seqlens: int | Tensor | None = None,
    cache_batch_idx: Tensor | None = None,
    cache_leftpad: Tensor | None = None,
    block_table: Tensor | None = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    rotary_interleaved: bool = True,
    alibi_slopes: Tensor | None = None,
    num_splits: int = 0,
    return_softmax_lse: bool = False,
) -> Any:
    """Attention over a cache (batch, tokens, heads, head dim), or over its pages, to which k and v are added in place.

    cache_seqlens counts the tokens that were there before; num_splits is the library's to choose and is not read.
    """
    given = checked(
        CacheTensors(
            q, k_cache, v_cache, k, v, rotary_cos, rotary_sin, cache_batch_idx, cache_leftpad, block_table, alibi_slopes
        )
    )
    (batch, queries, heads, width), capacity = q.shape, given.capacity
    numbers = _numbers(q, 0.0, softmax_scale, causal, window_size, softcap, False, False, (queries, capacity))
    check_numbers(numbers)
    lengths, longest = _lengths(cache_seqlens, given)
    is_local = numbers.is_causal or (numbers.window_left, numbers.window_right) != (-1, -1)
    check_positions(given, longest, is_local)
    used = lengths if k is None else lengths + given.added
    check_places(given, used)
    q, k = rotated_tokens(given, lengths, rotary_interleaved, is_local)
    if k is not None:
        append(given, k, lengths)
    keys, values, pages = keys_and_values(given)
    starts = _starts(q, batch, 0 if pages is not None else capacity)
    if given.cache_leftpad is not None:
        starts[:-1] += given.cache_leftpad
        used = used - given.cache_leftpad
    others: Tensors = {"block_table": pages, "alibi_slopes": given.alibi_slopes}
    others.update(cu_seqlens_q=_starts(q, batch, queries), cu_seqlens_k=starts, seqused_k=used.to(torch.int32))
    out, log_sums, _ = _attend(in_rows(q), keys, values, others, numbers, True)
    out = out.reshape(batch, queries, heads, width)
    return (out, log_sums.reshape(heads, batch, queries).transpose(0, 1)) if return_softmax_lse else out


def _parts(name: str, packed: Tensor, count: int) -> tuple[Tensor, ...]:
    """Splits q, k and v, or k and v, which are packed into one tensor."""
    check_tensors({name: packed})
    if packed.dim() < 4 or packed.shape[-3] != count:
        form = f"(..., {count}, heads, head dim)"
        raise ValueError(f"{name} has shape {tuple(packed.shape)}: {form} is needed, {', '.join(name)} side by side")
    return packed.unbind(-3)


def _lengths(lengths: int | Tensor | None, given: CacheTensors) -> tuple[Tensor, int | None]:
    """Lengths of the sequences in a cache before tokens are added, and the greatest of them where the host knows it. All
    are its capacity if none are given."""
    capacity, added = given.capacity, given.added
    if not isinstance(lengths, Tensor):
        length = capacity if lengths is None else call_checks.check_integer("cache_seqlens", lengths)
        _check_lengths([length], capacity, added)
        return torch.full((given.q.shape[0],), length, dtype=torch.int32, device=given.q.device), length
    check_one_for_each(given.q, cache_seqlens=lengths)
    check_devices(given.q, cache_seqlens=lengths)
    numbers = int32("cache_seqlens", lengths)
    assert numbers is not None
    if numbers.device.type != "cpu":
        return numbers, None
    _check_lengths(numbers.tolist(), capacity, added)
    return numbers, max(numbers.tolist())


def _check_lengths(lengths: list[int], capacity: int, added: int) -> None:
    """torch's indexing would count a negative length from the end of the cache."""
    for length in lengths:
        if not 0 <= length <= capacity - added:
            rows = f"the {capacity} rows of the cache" + (f" less the {added} tokens that are added" if added else "")
            raise ValueError(f"cache_seqlens has {length}: a number from 0 to {capacity - added} is needed, {rows}")


def _starts(q: Tensor, batch: int, rows: int) -> Tensor:
    """Where sequences of that many rows start, and where the last one ends."""
    if rows == 0:
        return torch.zeros(batch + 1, dtype=torch.int32, device=q.device)
    return torch.arange(0, (batch + 1) * rows, rows, dtype=torch.int32, device=q.device)


def _numbers(
    q: Tensor,
    dropout_p: float,
    softmax_scale: float | None,
    causal: bool,
    window_size: tuple[int, int],
    softcap: float,
    deterministic: bool,
    returns_softmax: bool,
    longest: tuple[int, int] = (0, 0),
) -> Numbers:
    scale = scale_of(softmax_scale, q.shape[-1])
    if not isinstance(window_size, (tuple, list)) or len(window_size) != 2:
        raise TypeError(f"window_size is {window_size!r}: a pair of integers is needed, -1 for no bound")
    left, right = (call_checks.check_integer(f"window_size[{side}]", window_size[side]) for side in (0, 1))
    returns = bool(returns_softmax) and dropout_p > 0.0
    deterministic = deterministic or torch.are_deterministic_algorithms_enabled()
    masks = (bool(causal), left, right, float(softcap))
    return Numbers(*longest, float(dropout_p), scale, *masks, bool(deterministic), returns)


def _attend(q: Tensor, k: Tensor, v: Tensor, others: Tensors, numbers: Numbers, with_details: bool) -> Any:
    width = q.shape[-1]
    if not width == k.shape[-1] == v.shape[-1]:
        found = f"q, k and v have head dims of {width}, {k.shape[-1]} and {v.shape[-1]}"
        raise ValueError(f"{found}: equal ones are needed")
    q, k, v = _with_columns(q), _with_columns(k), _with_columns(v)
    given = {name: tensor for name, tensor in others.items() if tensor is not None}
    if numbers.p_dropout > 0.0:
        given["rng_state"] = _generator_state(q, batches(q, given))
    out, log_sums, p = flash_operators.attend(q, k, v, given, numbers)
    if width % 8:
        out = out[..., :width]
    return (out, log_sums, p) if with_details else out


def _with_columns(tensor: Tensor) -> Tensor:
    """Adds columns of zeros to head sizes that are not multiples of 8."""
    missing = -tensor.shape[-1] % 8
    if missing:
        tensor = torch.nn.functional.pad(tensor, (0, missing))
    return with_last_dim_packed(tensor)


def _generator_state(q: Tensor, batch: int) -> Tensor:
    """The seed and offset of dropout. A GPU's generator advances by 32 for each head; the CPU's has no offset and draws
    both, and so does that of a compiled function, which cannot read it."""
    if torch.compiler.is_compiling():
        return torch.randint(2**62, (2,), dtype=torch.int64, device=q.device)
    if q.device.type == "cpu":
        return torch.empty(2, dtype=torch.int64).random_()
    generator = torch.cuda.default_generators[q.device.index]
    state = torch.tensor([generator.initial_seed(), generator.get_offset()], device=q.device)
    generator.set_offset(generator.get_offset() + 32 * batch * q.shape[-2])
    return state
