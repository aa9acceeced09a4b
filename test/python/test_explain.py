"""graph.explain(): whether a graph has a plan, why not, and the graphs near it that have one."""

import json
import pathlib

import cudnn
import pytest
import sdpa_graph
from attention import Forward, random


def forward(**options):
    arrays = [random((1, heads, tokens, 8), seed=tokens) for heads, tokens in ((4, 6), (2, 10), (2, 10))]
    return Forward(*arrays, attn_scale=0.25, **options)


def broken():
    graph = cudnn.pygraph(io_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT, target="cpu")
    q, k, v = (graph.tensor(dim=[1, heads, 8, 8], stride=[heads * 64, 64, 8, 1]) for heads in (8, 3, 3))
    o, _ = graph.sdpa(q, k, v, attn_scale=0.25, generate_stats=False)
    o.set_output(True)
    return graph


def test_a_graph_that_has_a_plan():
    graph = forward().graph
    explanation = graph.explain()
    assert explanation.has_plan and explanation.parts["target"] == "cpu"
    assert "rules: all hold" in explanation and explanation.parts["plan"]["name"] == "cpu"
    (candidate,) = explanation.parts["candidates"]
    assert (candidate["backend"], candidate["state"]) == ("CPU", "runs")
    assert graph.get_execution_plan_count() == 0  # it has plans of its own
    assert graph.explain("reference").parts["plan"]["name"] == "reference"


def test_the_nearest_graph_is_built_from_its_parts():
    explanation = broken().explain(search_milliseconds=5000)
    assert not explanation.has_plan
    assert [finding["rule"] for finding in explanation.parts["findings"]] == ["sdpa_fwd.c04"]
    nearest = explanation.parts["nearest"][0]
    assert "give K and V as many heads as Q, 8" in nearest["changes"]
    graph = cudnn.pygraph(target="cpu")
    graph.deserialize(json.dumps(nearest["graph"]))
    assert graph.explain().has_plan
    assert broken().explain().parts["nearest"] == []


def test_changes_are_in_words_of_python():
    graph = cudnn.pygraph(io_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT, target="cpu")
    q, k, v = (graph.tensor(dim=[1, 2, 8, 8], stride=[128, 64, 8, 1]) for _ in range(3))
    o, _ = graph.sdpa(q, k, v, attn_scale=0.25, generate_stats=False, use_padding_mask=True)
    o.set_output(True)
    explanation = graph.explain(search_milliseconds=2000)
    assert "set_" not in explanation
    changes = [change for nearest in explanation.parts["nearest"] for change in nearest["changes"]]
    assert "pass seq_len_q and seq_len_kv, INT32 [1, 1, 1, 1]" in changes


def test_a_notebook_shows_tables():
    page = broken().explain()._repr_html_()
    assert "<table>" in page and "sdpa_fwd.c04" in page


def test_other_targets_are_errors():
    with pytest.raises(ValueError, match="'abacus' is no target"):
        broken().explain("abacus")


@pytest.mark.skipif("model name" not in pathlib.Path("/proc/cpuinfo").read_text(), reason="times are kept by a CPU's name")
def test_candidates_have_the_times_of_the_plan_store(tmp_path):
    arrays = [random((1, heads, tokens, 16), seed=tokens) for heads, tokens in ((8, 1), (2, 512), (2, 512))]
    forward = Forward(*arrays, attn_scale=0.25)
    forward.graph.set_rewrites([cudnn.rewrite.FEW_QUERIES])
    assert {candidate["measured_us"] for candidate in forward.graph.explain().parts["candidates"]} == {None}
    sdpa_graph.set_plan_store(str(tmp_path))
    try:
        forward.build()
        assert forward.graph.build_all_plans() == {}
        forward.graph.build_plan_at_index(0)
        forward.graph.choose_plan_by_times([[10, 12.5, 11], [], [9, 9.5, 30]])
        first, second, third = forward.graph.explain().parts["candidates"]
    finally:
        sdpa_graph.set_plan_store("")
    assert [each["state"] for each in (first, third)] == ["may be built", "runs"]
    assert [each["measured_us"] for each in (first, second, third)] == [11, None, 9.5]
    assert (third["measured_least_us"], third["measured_greatest_us"], third["measured_runs"]) == (9, 30, 3)
