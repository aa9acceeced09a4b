"""The options of a call of attention, in the form that the compiled module accepts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._core import diagonal_alignment


def options_of(given: Mapping[str, Any], inputs: tuple[str, ...], method: str) -> dict[str, Any]:
    """The options among the local names of a method."""
    options = {name: value for name, value in given.items() if name not in ("self", *inputs)}
    _check_bounds(options, method)
    # The library obeys an alignment that is set: here the default would override a mask's.
    if options.get("diagonal_alignment") == diagonal_alignment.TOP_LEFT:
        del options["diagonal_alignment"]
    return options


def check_stats(method: str, is_inference: bool | None, generate_stats: bool | None) -> None:
    """Checks that exactly one of them says whether there are Stats. The one is the negation of the other."""
    if (is_inference is None) == (generate_stats is None):
        raise RuntimeError(f"{method}: exactly one of generate_stats and is_inference is needed")


def _check_bounds(options: Mapping[str, Any], method: str) -> None:
    """Refuses options that the existing package refuses together. The library accepts them as shorthands of one
    another."""
    # Methods for 8-bit tensors have the shorter names.
    left = "left_bound" if "left_bound" in options else "diagonal_band_left_bound"
    right = "right_bound" if "right_bound" in options else "diagonal_band_right_bound"
    window = "sliding_window" if "sliding_window" in options else "sliding_window_length"
    is_causal = options.get("use_causal_mask"), options.get("use_causal_mask_bottom_right")
    if all(is_causal):
        raise RuntimeError(f"{method}: use_causal_mask and use_causal_mask_bottom_right are two masks; set one of them")
    if any(is_causal) and options.get(right) is not None:
        raise RuntimeError(f"{method}: a causal mask is a right bound of 0; set either it or {right}")
    if options.get(window) is not None and options.get(left) is not None:
        raise RuntimeError(f"{method}: {window} is the left bound; set either it or {left}")
