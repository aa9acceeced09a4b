"""The target of graphs that name none."""

from __future__ import annotations

import os

from . import _core

_default: str | None = None


def default_target() -> str:
    """The target of graphs that name none: that of set_default_target(), else SDPA_GRAPH_TARGET, else "cuda"."""
    return _default or os.environ.get("SDPA_GRAPH_TARGET") or "cuda"


def set_default_target(target: str | None) -> None:
    """Plans graphs that name no target for this one: "cuda", "cpu", "reference" or "offline:h100"; None resets it."""
    global _default
    if target is not None:
        _core._check_target(target)
    _default = target


def needs_handle(target: str) -> bool:
    """Whether graphs for the target run with a handle of cuDNN."""
    return target == "cuda"
