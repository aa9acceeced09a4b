"""Neighborhood attention as modules, with the parameters of natten's, so that its checkpoints load."""

from __future__ import annotations

from typing import Any

import torch

from . import functional
from .functional import Flags, Sizes

__all__ = ["NeighborhoodAttention1D", "NeighborhoodAttention2D", "NeighborhoodAttention3D"]

Tensor = torch.Tensor


class _NeighborhoodAttention(torch.nn.Module):
    """Self-attention of (batch, *space, dim)."""

    rank: int

    def __init__(
        self,
        dim: int,
        num_heads: int,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        is_causal: Flags = False,
        rel_pos_bias: bool = False,
        qkv_bias: bool = True,
        qk_scale: float | None = None,
        attn_drop: float = 0.0,
        proj_drop: float = 0.0,
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.is_causal = functional._window(
            self.rank, kernel_size, dilation, is_causal
        )
        if rel_pos_bias and any(self.is_causal):
            raise NotImplementedError("rel_pos_bias is given with a causal axis: pass only one of them")
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.scale = qk_scale or self.head_dim**-0.5
        self.qkv = torch.nn.Linear(dim, dim * 3, bias=qkv_bias)
        distances = [2 * size - 1 for size in self.kernel_size]
        self.rpb = torch.nn.Parameter(torch.zeros(num_heads, *distances)) if rel_pos_bias else None
        if self.rpb is not None:
            torch.nn.init.trunc_normal_(self.rpb, std=0.02, mean=0.0, a=-2.0, b=2.0)
        self.attn_drop = torch.nn.Dropout(attn_drop)
        self.proj = torch.nn.Linear(dim, dim)
        self.proj_drop = torch.nn.Dropout(proj_drop)

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() != self.rank + 2:
            raise ValueError(f"the input has {x.dim()} dims; expected {self.rank + 2}: batch, space and channels")
        query, key, value = self.qkv(x).unflatten(-1, (3, self.num_heads, self.head_dim)).unbind(-3)
        attend = self._attend_with_dropout if self.training and self.attn_drop.p > 0.0 else self._attend
        output: Tensor = self.proj_drop(self.proj(attend(query, key, value).flatten(-2)))
        return output

    @property
    def _window(self) -> functional.Window:
        return self.kernel_size, self.dilation, self.is_causal

    def _attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return functional._attend(query, key, value, self._window, self.rpb, self.scale, None, None)

    def _attend_with_dropout(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Computes attention by its two products, between which weights are dropped."""
        query, key, value = (tensor.movedim(-2, 1) for tensor in (query * self.scale, key, value))
        attn = self.attn_drop(functional._qk(query, key, self._window, None, self.rpb).softmax(-1))
        return functional._av(attn, value, self._window, None).movedim(1, -2)

    def extra_repr(self) -> str:
        options: dict[str, Any] = {"head_dim": self.head_dim, "num_heads": self.num_heads}
        options.update(kernel_size=tuple(self.kernel_size), dilation=tuple(self.dilation))
        options.update(is_causal=tuple(self.is_causal), has_bias=self.rpb is not None)
        return ", ".join(f"{name}={value}" for name, value in options.items())


class NeighborhoodAttention1D(_NeighborhoodAttention):
    """Self-attention of (batch, tokens, dim)."""

    rank = 1


class NeighborhoodAttention2D(_NeighborhoodAttention):
    """Self-attention of (batch, height, width, dim)."""

    rank = 2


class NeighborhoodAttention3D(_NeighborhoodAttention):
    """Self-attention of (batch, depth, height, width, dim)."""

    rank = 3
