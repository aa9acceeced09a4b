"""Work of flash_attn_with_kvcache on a cache before attention: it checks what is given, rotates tokens by their positions,
adds them, and views entries as pages, which engines for few queries support."""

from __future__ import annotations

import torch

from .torch_arguments import check_dims

Tensor = torch.Tensor
PAGE_ROWS = 256


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


def check_cache(q: Tensor, k_cache: Tensor, v_cache: Tensor) -> None:
    """Faults that the call itself would find after it has written the cache."""
    if k_cache.shape[:3] != v_cache.shape[:3]:
        found = f"k_cache has shape {tuple(k_cache.shape)}, and v_cache {tuple(v_cache.shape)}"
        raise ValueError(f"{found}: the same entries, tokens and heads are needed")
    heads, width = q.shape[-2:]
    for name, cache in (("k_cache", k_cache), ("v_cache", v_cache)):
        if cache.shape[-1] != width:
            raise ValueError(f"{name} has a head dim of {cache.shape[-1]}: {width} is needed, that of q")
        if cache.shape[-2] == 0 or heads % cache.shape[-2]:
            raise ValueError(f"{name} has {cache.shape[-2]} heads: a number that divides the {heads} of q is needed")


def check_added(
    batch: int,
    k_cache: Tensor,
    v_cache: Tensor,
    k: Tensor | None,
    v: Tensor | None,
    cos: Tensor | None,
    sin: Tensor | None,
) -> None:
    """torch's indexing would repeat tensors of fewer entries, tokens or pairs."""
    if k is not None and v is not None:
        needed = {"k": (batch, k.shape[1], *k_cache.shape[2:]), "v": (batch, k.shape[1], *v_cache.shape[2:])}
        for name, tensor in (("k", k), ("v", v)):
            if tuple(tensor.shape) != needed[name]:
                raise ValueError(f"{name} has shape {tuple(tensor.shape)}: {needed[name]} is needed, as the cache has it")
    if cos is not None and sin is not None and cos.shape != sin.shape:
        found = f"rotary_cos has shape {tuple(cos.shape)}, and rotary_sin {tuple(sin.shape)}"
        raise ValueError(f"{found}: equal ones are needed, (positions, pairs)")


def check_entries(batch: int, k_cache: Tensor, batch_index: Tensor | None) -> None:
    if batch_index is None:
        return
    check_dims(1, "an entry for each of q", cache_batch_idx=batch_index)
    if batch_index.shape[0] != batch:
        raise ValueError(f"cache_batch_idx has {batch_index.shape[0]} numbers: {batch} are needed, one for each of q")
    _check_places("cache_batch_idx", batch_index, k_cache.shape[0], "entries of the cache")


def _check_places(name: str, places: Tensor, count: int, of: str) -> None:
    """torch's indexing would count negative ones from the end. Only those in the host's memory are read."""
    if places.device.type != "cpu" or torch.compiler.is_compiling() or places.numel() == 0:
        return
    least, most = int(places.min()), int(places.max())
    if least < 0 or most >= count:
        raise ValueError(f"{name} has numbers from {least} to {most}: 0 to {count - 1} are needed, the {count} {of}")


def append(
    k_cache: Tensor,
    v_cache: Tensor,
    k: Tensor,
    v: Tensor | None,
    lengths: Tensor,
    batch_index: Tensor | None,
    block_table: Tensor | None,
) -> None:
    """Writes k and v, (batch, new tokens, heads, head dim), behind the tokens that the entries of the cache have."""
    assert v is not None
    positions = lengths.long()[:, None] + torch.arange(k.shape[1], device=k.device)
    entries = torch.arange(k.shape[0], device=k.device) if batch_index is None else batch_index.long()
    if block_table is None:
        places = (entries[:, None].expand_as(positions), positions)
    else:
        rows = k_cache.shape[1]
        pages = block_table.long().gather(1, positions // rows)
        _check_places("block_table", pages, k_cache.shape[0], "pages of the cache")
        places = (pages, positions % rows)
    k_cache[places] = k
    v_cache[places] = v


def has_whole_pages(cache: Tensor) -> bool:
    """Whether the entries of a cache without pages consist of whole pages, one entry after the other."""
    rows = cache.shape[1]
    return rows > 0 and rows % PAGE_ROWS == 0 and cache.stride(0) == rows * cache.stride(1)


def in_pages(cache: Tensor) -> Tensor:
    return cache.unflatten(1, (-1, PAGE_ROWS)).flatten(0, 1)


def pages_of(cache: Tensor, batch: int, batch_index: Tensor | None) -> Tensor:
    """The page table of the entries in `batch_index`, or of the first ones."""
    table = torch.arange(cache.shape[0] * cache.shape[1] // PAGE_ROWS, dtype=torch.int32, device=cache.device)
    table = table.view(cache.shape[0], -1)
    return table[:batch] if batch_index is None else table[batch_index.long()]
