"""Work of flash_attn_with_kvcache on a cache before attention: it rotates tokens by their positions, adds them, and
views entries as pages, which engines for few queries support."""

from __future__ import annotations

import torch

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


def check_places(name: str, places: Tensor, count: int, of: str) -> None:
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
        check_places("block_table", pages, k_cache.shape[0], "pages of the cache")
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
