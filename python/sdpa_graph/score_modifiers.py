"""Ready score modifiers for pygraph.sdpa(score_mod=...) and sdpa_backward(score_mod=..., score_mod_bprop=...)."""

from __future__ import annotations

import math
from typing import Any

from ._core import tensor
from .pygraph import ScoreModifier


def softcap(cap: float) -> tuple[ScoreModifier, ScoreModifier]:
    """cap tanh(score / cap), and its gradient. The two belong to one node: backward uses a tensor that forward made."""
    if not 0 < cap < math.inf:
        raise ValueError(f"the cap is {cap}: a finite number above 0 is needed")
    before_tanh: list[tensor] = []

    def forward(graph: Any, score: tensor) -> tensor:
        number = graph.tensor_scalar(float(cap))
        before_tanh.append(graph.div(score, number))
        capped: tensor = graph.mul(graph.tanh(before_tanh[-1]), number)
        return capped

    def backward(graph: Any, gradient: tensor) -> tensor:
        number = graph.tensor_scalar(float(cap))
        scaled = graph.mul(gradient, number)
        result: tensor = graph.div(graph.tanh_backward(scaled, before_tanh.pop()), number)
        return result

    return forward, backward
