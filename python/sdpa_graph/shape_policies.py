"""What plans of functions over tensors are made for."""

from __future__ import annotations

import os

from . import _core

_NAMES = {"exact": _core.shape_policy.EXACT, "classes": _core.shape_policy.CLASSES, "auto": _core.shape_policy.AUTO}
_chosen: _core.shape_policy | None = None


def set_shape_policy(policy: str | None) -> None:
    """"exact": a plan for each shape. "classes": a plan for all shapes that round up to the same sizes. "auto": classes on
    a GPU, where a plan takes long to make. None resets it to SDPA_GRAPH_SHAPE_POLICY, or to "auto"."""
    _set(_named(os.environ.get("SDPA_GRAPH_SHAPE_POLICY") or "auto" if policy is None else policy))


def shape_policy() -> _core.shape_policy:
    if _chosen is None:
        set_shape_policy(None)
    assert _chosen is not None
    return _chosen


def _set(policy: _core.shape_policy) -> None:
    global _chosen
    _chosen = policy
    _core._set_policy_of_operators(int(policy))


def _named(policy: str) -> _core.shape_policy:
    if policy not in _NAMES:
        raise ValueError(f"{policy!r} is no shape policy: {', '.join(map(repr, _NAMES))}")
    return _NAMES[policy]
