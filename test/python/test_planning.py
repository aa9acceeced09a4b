"""Rewrites and limits of workspace, which say what plans a graph may have."""

import pathlib
import re

import cudnn
import numpy as np
import pytest
from attention import Forward, attention, random, tolerance

FEW = cudnn.rewrite.FEW_QUERIES


def few_queries():
    return [random((1, heads, tokens, 16), seed=tokens) for heads, tokens in ((8, 1), (2, 512), (2, 512))]


def names(graph):
    return [graph.get_plan_name_at_index(index) for index in range(graph.get_execution_plan_count())]


def test_enumerators_are_those_of_cpp():
    text = (pathlib.Path(__file__).parents[2] / "include" / "cudnn_frontend" / "types.h").read_text()
    for kind, name in ((cudnn.rewrite, "Rewrite_t"), (cudnn.rewrite_policy, "RewritePolicy_t")):
        enumerators = re.search(rf"enum class {name} {{ (.*?) }};", text).group(1).split(", ")
        assert [(member.name, member.value) for member in kind] == [(x, i) for i, x in enumerate(enumerators)]


def test_rewrites_are_chosen():
    arrays = few_queries()
    found = {}
    for rewrites in ([FEW], [], cudnn.rewrite_policy.OFF, cudnn.rewrite_policy.AUTO):
        forward = Forward(*arrays, attn_scale=0.25)
        forward.graph.set_rewrites(rewrites)
        o = forward.build().run()
        found[str(rewrites)] = names(forward.graph)
        np.testing.assert_allclose(o, attention(*arrays, 0.25)[0], atol=tolerance(np.float32, 512))
    few = found.pop(str([FEW]))
    assert "few_queries" in few[0] and len(few) > 1
    assert all("few_queries" not in name for name in found[str(cudnn.rewrite_policy.OFF)] + found["[]"])


def test_programs_are_drawn_as_their_steps():
    forward = Forward(*few_queries(), attn_scale=0.25)
    plain = forward.build().graph.draw_plan()
    forward.graph.set_rewrites([FEW])
    assert len(forward.build().graph.draw_plan()) > len(plain)
    assert "few_queries" in forward.graph.print_candidates()


@pytest.mark.parametrize("rewrites", ["FEW_QUERIES", 3, ["BANDS"], None])
def test_other_rewrites_are_type_errors(rewrites):
    with pytest.raises(TypeError, match="set_rewrites"):
        cudnn.pygraph(target="cpu").set_rewrites(rewrites)


def test_a_limit_of_workspace_bars_what_needs_more():
    forward = Forward(*few_queries(), target="reference", attn_scale=0.25)
    forward.build()
    least = forward.graph.get_workspace_size()
    assert least > 0
    forward.graph.set_workspace_limit(least)
    forward.build()
    forward.graph.set_workspace_limit(least - 1)
    with pytest.raises((RuntimeError, cudnn.cudnnGraphNotSupportedError), match=f"{least}"):
        forward.build()


def test_a_first_run_that_is_verified_gives_the_same_results():
    tensors = few_queries()
    once = Forward(*tensors, target="cpu", attn_scale=0.25)
    once.build()
    verified = Forward(*tensors, target="cpu", attn_scale=0.25)
    verified.graph.set_first_run_verification()
    verified.build()
    assert np.array_equal(once.run(), verified.run())


def test_batch_invariance_is_refused_where_no_engine_keeps_it():
    forward = Forward(*few_queries(), target="cpu", attn_scale=0.25)
    forward.graph.set_batch_invariant()
    with pytest.raises((RuntimeError, cudnn.cudnnGraphNotSupportedError), match="set_batch_invariant"):
        forward.build()


def test_the_wrapper_has_them():
    with cudnn.Graph(
        io_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT, target="cpu"
    ) as graph:
        o, _ = graph.sdpa(*few_queries(), is_inference=True, attn_scale=0.25)
        o.set_output(True)
        graph.set_rewrites([FEW])
        graph.set_workspace_limit(2**30)
        graph.set_first_run_verification(False)
    assert "few_queries" in graph.print_candidates() and graph.draw_plan().startswith("<svg")
