"""The shapes for which plans of graphs and of functions over tensors are made: each one's own, or their class."""

from __future__ import annotations

import os

from . import _core

_NAMES = {
    "exact": _core.shape_policy.EXACT,
    "classes": _core.shape_policy.CLASSES,
    "auto": _core.shape_policy.AUTO,
    "all_shapes": _core.shape_policy.ALL_SHAPES,
}
_is_checked = False


def set_shape_policy(policy: str | None) -> None:
    """"exact": a plan for each shape. "classes": a plan for all shapes that round up to the same sizes. "auto": classes on
    a GPU, or an engine for all shapes. "all_shapes": an engine whose code serves all shapes, or an error where there
    is none. None resets it to SDPA_GRAPH_SHAPE_POLICY; without that graphs are planned for their exact shapes, and
    functions over tensors as with "auto"."""
    global _is_checked
    name = os.environ.get("SDPA_GRAPH_SHAPE_POLICY") or None if policy is None else policy
    _core._set_shape_policy(_named(name) if name is not None else None)
    _is_checked = True


def shape_policy() -> _core.shape_policy:
    """The policy of functions over tensors. An error where the environment names one that does not exist."""
    check_shape_policy()
    return _core._shape_policy() or _core.shape_policy.AUTO


def check_shape_policy() -> None:
    """An error where the environment names none that there is: the library would pass over it."""
    if not _is_checked:
        set_shape_policy(None)


def _named(policy: str) -> _core.shape_policy:
    if policy not in _NAMES:
        raise ValueError(f"{policy!r} is no shape policy: {', '.join(map(repr, _NAMES))}")
    return _NAMES[policy]
