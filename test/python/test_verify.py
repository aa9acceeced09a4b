"""graph.verify() and graph.capsule()"""

import json

import numpy as np
import pytest
import cudnn
from attention import Forward, qkv, random


def run(**options):
    forward = Forward(*qkv(), attn_scale=0.25, **options).build()
    o = forward.run()
    return forward, o[0] if isinstance(o, (list, tuple)) else o


def test_right_results():
    forward, o = run(diagonal_band_right_bound=0)
    verification = forward.graph.verify({**forward.given, forward.o: o})
    assert verification.ok and not verification.sampled and verification.explanations == []
    assert verification.results[0]["wrong"] == 0 and "right: " in verification


def test_wrong_results_are_explained():
    forward, _ = run(diagonal_band_right_bound=0)
    _, o = run()
    verification = forward.graph.verify({**forward.given, forward.o: o})
    assert not verification.ok
    assert [explanation["id"] for explanation in verification.explanations] == ["mask_missing"]
    assert "explained by: the causal mask or the window is missing" in verification
    assert "<td" in verification._repr_html_()
    assert forward.graph.verify({**forward.given, forward.o: o}, search_seconds=0).explanations == []
    assert forward.graph.verify({**forward.given, forward.o: o}, search_seconds=float("inf")).explanations != []
    with pytest.raises(ValueError, match="search_seconds of NaN"):
        forward.graph.verify({**forward.given, forward.o: o}, search_seconds=float("nan"))


def test_large_graphs_are_sampled():
    forward, o = run()
    verification = forward.graph.verify({**forward.given, forward.o: o}, most_scores=1000)
    assert verification.ok and verification.sampled


def test_a_plan_is_needed():
    forward = Forward(*qkv())
    with pytest.raises(RuntimeError, match="verify needs the result of build_plans"):
        forward.graph.verify({})


def test_capsule():
    forward, o = run()
    capsule = json.loads(forward.graph.capsule())
    assert capsule["format"] == "sdpa-graph-capsule" and capsule["plan"] == "cpu"
    assert "pointers" not in capsule
    capsule = json.loads(forward.graph.capsule({**forward.given, forward.o: o}))
    assert len(capsule["pointers"]) == 4
