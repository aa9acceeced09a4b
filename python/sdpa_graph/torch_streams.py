"""The streams and workspaces of calls of functions over tensors of torch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch


def run(device: torch.device, function: Callable[..., None], *arguments: Any) -> None:
    """Calls with the arguments and a function that makes a workspace. Runs at once on the host, and on a GPU on torch's
    current stream, for which its allocator keeps the memory."""
    workspace = functools.partial(torch.empty, dtype=torch.uint8, device=device)
    if device.type != "cuda" or device.index == torch.cuda.current_device():
        return function(*arguments, workspace)
    with torch.cuda.device(device):
        return function(*arguments, workspace)
