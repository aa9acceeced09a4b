"""Where calls of functions over tensors of torch run."""

from __future__ import annotations

from typing import Any, Callable

import torch


def run(device: torch.device, call: Callable[[int, Callable[[list[int]], Any]], None]) -> None:
    """Calls with a stream and what makes a workspace. On the host at once; on a GPU on torch's current stream, for which
    its allocator keeps the memory."""
    if device.type != "cuda":
        return call(0, lambda dim: None)
    kept: list[torch.Tensor] = []

    def workspace(dim: list[int]) -> torch.Tensor:
        kept.append(torch.empty(dim, dtype=torch.uint8, device=device))
        return kept[-1]

    with torch.cuda.device(device):
        call(torch.cuda.current_stream(device).cuda_stream, workspace)
    return None
