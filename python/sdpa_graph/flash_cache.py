"""Work of flash_attn_with_kvcache on a cache before attention: it checks what is given, rotates tokens by their
positions, adds them, and views entries as pages, which engines for few queries support.

Everything that the host knows is checked before the cache is written, so that a refused call leaves it as it was.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from . import _core, call_checks
from .flash_calls import Numbers
from .torch_arguments import check_dims, check_strided, check_tensors, int32, with_last_dim_packed

Tensor = torch.Tensor
PAGE_ROWS = 256
_MOST_WIDTH = 256


class CacheTensors(NamedTuple):
    """The tensors of a call except cache_seqlens, by the names of its arguments."""

    q: Tensor
    k_cache: Tensor
    v_cache: Tensor
    k: Tensor | None
    v: Tensor | None
    rotary_cos: Tensor | None
    rotary_sin: Tensor | None
    cache_batch_idx: Tensor | None
    cache_leftpad: Tensor | None
    block_table: Tensor | None
    alibi_slopes: Tensor | None

    @property
    def capacity(self) -> int:
        """The rows of an entry of the cache."""
        return self.k_cache.shape[1] * (1 if self.block_table is None else self.block_table.shape[1])

    @property
    def added(self) -> int:
        """The tokens that are added to each entry."""
        return 0 if self.k is None else self.k.shape[1]

    @property
    def has_pages(self) -> bool:
        """Whether the call reads pages: those of the caller, or those of which entries consist."""
        if self.block_table is not None:
            return True
        return self.cache_leftpad is None and has_whole_pages(self.k_cache) and has_whole_pages(self.v_cache)


def rotated(x: Tensor, cos: Tensor, sin: Tensor | None, starts: Tensor, interleaved: bool, advances: bool) -> Tensor:
    """x (batch, tokens, heads, head dim) with pairs of its first columns rotated; cos and sin are (positions, pairs).

    Token i of entry n is at position starts[n] + i, or all of them at starts[n]. Pairs are neighbors if interleaved,
    else columns at a distance of half of the rotated ones.
    """
    assert sin is not None
    positions = starts.long()[:, None].expand(-1, x.shape[1])
    if advances:
        positions = positions + torch.arange(x.shape[1], device=x.device)
    c, s = (table[positions].unsqueeze(2).float() for table in (cos, sin))
    pairs = cos.shape[-1]
    part = x[..., : 2 * pairs].float()
    a, b = (part[..., 0::2], part[..., 1::2]) if interleaved else part.chunk(2, -1)
    turned = (a * c - b * s, a * s + b * c)
    mixed = torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)
    return torch.cat((mixed.to(x.dtype), x[..., 2 * pairs :]), -1)


def rotated_tokens(
    given: CacheTensors, lengths: Tensor, interleaved: bool, is_local: bool
) -> tuple[Tensor, Tensor | None]:
    """q and k at their positions. Without a mask that depends on them, all queries of an entry are at the first one."""
    q, k, cos, sin = given.q, given.k, given.rotary_cos, given.rotary_sin
    if cos is None or k is None:
        return q, k
    turned = rotated(q, cos, sin, lengths, interleaved, advances=is_local)
    return turned, rotated(k, cos, sin, lengths, interleaved, advances=True)


def checked(given: CacheTensors) -> CacheTensors:
    """The tensors, with those of few numbers as the library reads them. Shapes, types and devices are checked, and
    the entries of cache_batch_idx where they are on the host; no numbers on a GPU are read."""
    tensors = given._asdict()
    check_tensors({name: tensors[name] for name in ("q", "k_cache", "v_cache")}, **tensors)
    check_strided(tensors)
    tokens = {name: tensors[name] for name in ("q", "k_cache", "v_cache", "k", "v")}
    check_dims(4, "(batch, tokens, heads, head dim)", **tokens)
    check_dims(2, "(batch, blocks)", block_table=given.block_table)
    _check_combinations(given)
    _check_cache(given)
    _check_added(given)
    check_one_for_each(given.q, cache_batch_idx=given.cache_batch_idx, cache_leftpad=given.cache_leftpad)
    _check_pages(given)
    _check_slopes(given)
    _check_types(given)
    check_devices(given.q, **{name: tensor for name, tensor in tensors.items() if name != "cache_batch_idx"})
    _check_entries(given)
    block_table, slopes = (
        None if tensor is None else with_last_dim_packed(tensor) for tensor in (given.block_table, given.alibi_slopes)
    )
    leftpad = int32("cache_leftpad", given.cache_leftpad)
    return given._replace(cache_leftpad=leftpad, block_table=block_table, alibi_slopes=slopes)


def _check_combinations(given: CacheTensors) -> None:
    cos, sin = given.rotary_cos, given.rotary_sin
    for one, other, names in ((given.k, given.v, "k and v"), (cos, sin, "rotary_cos and rotary_sin")):
        if (one is None) != (other is None):
            raise ValueError(f"one of {names} is given: both are needed, or none")
    if cos is not None and given.k is None:
        raise ValueError("rotary_cos is given without k: the rotation is that of tokens that are added to the cache")
    if given.block_table is None:
        return
    if given.cache_leftpad is not None:
        raise ValueError("cache_leftpad and block_table are given: sequences in pages start at their first page")
    if given.cache_batch_idx is not None:
        found = "cache_batch_idx and block_table are given"
        raise ValueError(f"{found}: one of them is needed; pass a block_table with the rows of cache_batch_idx alone")


def _check_cache(given: CacheTensors) -> None:
    k_cache, v_cache = given.k_cache, given.v_cache
    if k_cache.shape[:3] != v_cache.shape[:3]:
        found = f"k_cache has shape {tuple(k_cache.shape)}, and v_cache {tuple(v_cache.shape)}"
        raise ValueError(f"{found}: the same entries, tokens and heads are needed")
    batch, _, heads, width = given.q.shape
    if batch == 0 or heads == 0:
        found = f"q has shape {tuple(given.q.shape)}"
        raise ValueError(f"{found}: at least one entry and one head are needed; skip the call without entries")
    for name, cache in (("k_cache", k_cache), ("v_cache", v_cache)):
        if cache.shape[-1] != width:
            raise ValueError(f"{name} has a head dim of {cache.shape[-1]}: {width} is needed, that of q")
        if cache.shape[-2] == 0 or heads % cache.shape[-2]:
            raise ValueError(f"{name} has {cache.shape[-2]} heads: a number that divides the {heads} of q is needed")
        if given.k is not None and cache.is_inference() and not torch.is_inference_mode_enabled():
            found = f"{name} is a tensor of inference mode"
            raise ValueError(f"{found}: a call in that mode is needed to write it; pass a clone outside of it")
    if not 1 <= width <= _MOST_WIDTH:
        needed = f"a number from 1 to {_MOST_WIDTH} is needed; a graph on the CPU has no such bound"
        raise _core.cudnnGraphNotSupportedError(f"q has a head dim of {width}: {needed}")
    if given.block_table is None and given.cache_batch_idx is None and k_cache.shape[0] < batch:
        found = f"k_cache has {k_cache.shape[0]} entries"
        raise ValueError(f"{found}: at least {batch} are needed, one for each of q; or pass cache_batch_idx")
    rows = batch * given.capacity
    if rows >= 2**31 and given.has_pages:  # then only those of an entry are counted
        rows = given.capacity
    call_checks.check_integer("the number of rows of k_cache", rows, least=0)


def _check_added(given: CacheTensors) -> None:
    """torch's indexing would repeat tensors of fewer entries, tokens or pairs."""
    if given.k is None:
        return
    batch, added, capacity = given.q.shape[0], given.added, given.capacity
    for name, tensor, cache in (("k", given.k, given.k_cache), ("v", given.v, given.v_cache)):
        needed = (batch, added, *cache.shape[2:])
        if tensor is not None and tuple(tensor.shape) != needed:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)}: {needed} is needed, as the cache has it")
    if added > capacity:
        needed_rows = f"at most {capacity} are needed, the rows of an entry of the cache"
        raise ValueError(f"k has {added} tokens: {needed_rows}; add fewer, or enlarge the cache")
    cos, sin, most = given.rotary_cos, given.rotary_sin, given.q.shape[-1] // 2
    if cos is None or sin is None:
        return
    for name, table in (("rotary_cos", cos), ("rotary_sin", sin)):
        check_dims(2, "(positions, pairs)", **{name: table})
        if table.shape[1] > most:
            found = f"{name} has shape {tuple(table.shape)}"
            raise ValueError(f"{found}: (positions, pairs) is needed, with at most {most} pairs, half of the head dim")
        if not table.is_floating_point():
            raise TypeError(f"{name} has numbers of type {table.dtype}: floats are needed; convert it with .float()")
    if cos.shape != sin.shape:
        found = f"rotary_cos has shape {tuple(cos.shape)}, and rotary_sin {tuple(sin.shape)}"
        raise ValueError(f"{found}: equal ones are needed, (positions, pairs)")


def check_one_for_each(q: Tensor, **tensors: Tensor | None) -> None:
    check_dims(1, "a number for each entry of q", **tensors)
    for name, tensor in tensors.items():
        if tensor is not None and tensor.shape[0] != q.shape[0]:
            raise ValueError(f"{name} has {tensor.shape[0]} numbers: {q.shape[0]} are needed, one for each of q")


def _check_pages(given: CacheTensors) -> None:
    table, rows, batch = given.block_table, given.k_cache.shape[1], given.q.shape[0]
    if table is None:
        return
    if table.shape[0] != batch:
        raise ValueError(f"block_table has {table.shape[0]} rows: {batch} are needed, one for each entry of q")
    if rows == 0 or rows % PAGE_ROWS:
        needed = f"a multiple of {PAGE_ROWS} is needed; a graph supports pages of any power of two"
        raise _core.cudnnGraphNotSupportedError(f"k_cache has pages of {rows} rows: {needed}")
    if rows & (rows - 1) == 0 or given.k_cache.shape[0] <= 1 or given.q.shape[-1] % 8:
        return  # others are copied, and have no gaps then
    step = _page_step(given.k_cache)
    for name, cache in (("k_cache", given.k_cache), ("v_cache", given.v_cache)):
        if step is None or _page_step(cache) != step:
            found = f"{name} has pages of {rows} rows with strides {cache.stride()}"
            needed = "pages that lie side by side are needed, the same in k_cache and v_cache; make both contiguous"
            raise _core.cudnnGraphNotSupportedError(f"{found}: {needed}")


def _page_step(cache: Tensor) -> int | None:
    """How far pages are apart, in parts of a page whose rows are a power of two. None if that is no whole number."""
    _, rows, heads, width = cache.shape
    page, row = cache.stride()[:2] if cache.stride(-1) == 1 else (rows * heads * width, heads * width)
    part = (rows & -rows) * row
    return page // part if part > 0 and page % part == 0 else None


def _check_slopes(given: CacheTensors) -> None:
    slopes, (batch, _, heads, _) = given.alibi_slopes, given.q.shape
    if slopes is not None and tuple(slopes.shape) not in ((heads,), (batch, heads)):
        found, forms = f"alibi_slopes has shape {tuple(slopes.shape)}", f"({heads},) or ({batch}, {heads})"
        raise ValueError(f"{found}: a slope for each head is needed, {forms}, or None")


def _check_types(given: CacheTensors) -> None:
    kind, index = given.q.dtype, given.cache_batch_idx
    if kind not in (torch.float16, torch.bfloat16):
        needed = "torch.float16 or torch.bfloat16 is needed; convert q, k, v and the cache"
        raise _core.cudnnGraphNotSupportedError(f"q has numbers of type {kind}: {needed}")
    for name in ("k_cache", "v_cache", "k", "v"):
        _check_type(name, getattr(given, name), kind, "the type of q; convert one of them")
    _check_type("block_table", given.block_table, torch.int32, "since it is read as it is; pass .int() of it")
    _check_type("alibi_slopes", given.alibi_slopes, torch.float32, "since it is read as it is; pass .float() of it")
    if index is not None and (index.dtype is torch.bool or index.is_floating_point() or index.is_complex()):
        call_checks.refuse_numbers("cache_batch_idx", index.dtype)


def _check_type(name: str, tensor: Tensor | None, kind: torch.dtype, reason: str) -> None:
    if tensor is not None and tensor.dtype != kind:
        raise TypeError(f"{name} has numbers of type {tensor.dtype}: {kind} is needed, {reason}")


def check_devices(q: Tensor, /, **tensors: Tensor | None) -> None:
    for name, tensor in tensors.items():
        if tensor is not None and tensor.device != q.device:
            raise ValueError(f"{name} is on {tensor.device}: {q.device} is needed, where q is; move it with .to()")


def _check_entries(given: CacheTensors) -> None:
    """torch copies indices to the cache's device, so that those of entries may also be on the host."""
    index = given.cache_batch_idx
    if index is None:
        return
    if index.device.type != "cpu":
        check_devices(given.q, cache_batch_idx=index)
    _check_places("cache_batch_idx", index, given.k_cache.shape[0], "entries of the cache")


def _check_places(name: str, places: Tensor, count: int, of: str) -> None:
    """torch's indexing would count negative ones from the end. Only those in the host's memory are read."""
    if not _is_readable(places) or places.numel() == 0:
        return
    least, most = int(places.min()), int(places.max())
    if least < 0 or most >= count:
        raise ValueError(f"{name} has numbers from {least} to {most}: 0 to {count - 1} are needed, the {count} {of}")


def _is_readable(tensor: Tensor) -> bool:
    """Whether the host can read the numbers without waiting for a GPU."""
    return tensor.device.type == "cpu" and not torch.compiler.is_compiling()


def check_numbers(numbers: Numbers) -> None:
    scale_advice = "None is 1 over the square root of the head dim"
    call_checks.check_finite("softmax_scale", numbers.softmax_scale, scale_advice)
    call_checks.check_finite("softcap", numbers.softcap, "0 is no cap")


def check_positions(given: CacheTensors, longest: int | None, is_local: bool) -> None:
    """torch's indexing would find positions that the tables do not have, on a GPU without a message. `longest` is the
    most tokens of an entry, where the host knows them."""
    cos, queries = given.rotary_cos, given.q.shape[1]
    reach = max(given.added, queries if is_local else min(queries, 1))
    if cos is None or longest is None or reach == 0:
        return
    if cos.shape[0] < longest + reach:
        needed = f"at least {longest + reach} are needed, for {reach} tokens after the {longest} of the longest entry"
        raise ValueError(f"rotary_cos has {cos.shape[0]} positions: {needed}; pass longer tables")


def check_places(given: CacheTensors, lengths: Tensor) -> None:
    """Compares padding and pages in the host's memory with the lengths, which include the tokens that are added."""
    if not _is_readable(lengths):
        return
    if given.cache_leftpad is not None:
        for pad, length in zip(given.cache_leftpad.tolist(), lengths.tolist()):
            if not 0 <= pad <= length:
                needed = f"a number from 0 to {length} is needed, the tokens of that entry"
                raise ValueError(f"cache_leftpad has {pad}: {needed}; pass how many of its first rows are padding")
    if given.block_table is not None:
        pages, rows = given.k_cache.shape[:2]
        is_used = torch.arange(given.block_table.shape[1]) < ((lengths + rows - 1) // rows)[:, None]
        _check_places("block_table", given.block_table[is_used], pages, "pages of the cache")


def append(given: CacheTensors, k: Tensor, lengths: Tensor) -> None:
    """Writes k, which is rotated by now, and v behind the tokens that the entries of the cache have."""
    k_cache, v_cache, v, batch_index = given.k_cache, given.v_cache, given.v, given.cache_batch_idx
    assert v is not None
    positions = lengths.long()[:, None] + torch.arange(k.shape[1], device=k.device)
    if given.block_table is None:
        entries = torch.arange(k.shape[0], device=k.device) if batch_index is None else batch_index.long()
        places = (entries[:, None].expand_as(positions), positions)
    else:
        rows = k_cache.shape[1]
        places = (given.block_table.long().gather(1, positions // rows), positions % rows)
    k_cache[places] = k
    v_cache[places] = v


def keys_and_values(given: CacheTensors) -> tuple[Tensor, Tensor, Tensor | None]:
    """The keys and values of the call, as pages with their table, or as rows (tokens, heads, head dim)."""
    k_cache, v_cache, index = given.k_cache, given.v_cache, given.cache_batch_idx
    if given.block_table is not None:
        return k_cache, v_cache, given.block_table
    if given.has_pages:
        return _in_pages(k_cache), _in_pages(v_cache), _pages_of(k_cache, given.q.shape[0], index)
    if index is not None:
        k_cache, v_cache = k_cache[index.long()], v_cache[index.long()]
    return in_rows(k_cache), in_rows(v_cache), None


def in_rows(x: Tensor) -> Tensor:
    """(batch, tokens, heads, head dim) as rows that hold all heads. Others are copied, such as those of a single entry
    whose heads come before its tokens in memory."""
    x = with_last_dim_packed(x.flatten(0, 1))
    rows, heads, width = x.shape
    holds_all_heads = rows <= 1 or x.stride(0) >= (heads - 1) * x.stride(1) + width
    return x if holds_all_heads else x.contiguous()


def has_whole_pages(cache: Tensor) -> bool:
    """Whether the entries of a cache without pages consist of whole pages, one entry after the other."""
    rows = cache.shape[1]
    return rows > 0 and rows % PAGE_ROWS == 0 and cache.stride(0) == rows * cache.stride(1)


def _in_pages(cache: Tensor) -> Tensor:
    return cache.unflatten(1, (-1, PAGE_ROWS)).flatten(0, 1)


def _pages_of(cache: Tensor, batch: int, batch_index: Tensor | None) -> Tensor:
    """The page table of the entries in `batch_index`, or of the first ones."""
    table = torch.arange(cache.shape[0] * cache.shape[1] // PAGE_ROWS, dtype=torch.int32, device=cache.device)
    table = table.view(cache.shape[0], -1)
    return table[:batch] if batch_index is None else table[batch_index.long()]
