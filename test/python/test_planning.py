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


def plan_that_runs(graph):
    return re.search(r"(?m)^  (.*) runs$", graph.print_candidates())[1]


def test_a_plan_is_chosen_by_times_of_the_caller():
    graph = Forward(*few_queries(), attn_scale=0.25).graph
    with pytest.raises(RuntimeError, match="choose_plan_by_times needs the result of build_plans"):
        graph.choose_plan_by_times([])
    graph.set_rewrites([FEW])
    graph.build([cudnn.heur_mode.A])
    assert graph.build_all_plans() == {}
    graph.build_plan_at_index(0)
    first, *others = names(graph)
    untimed = [[]] * (len(others) - 1)
    graph.choose_plan_by_times([[10, 12.5, 11], *untimed, [9, 10.5, 10.5]])
    assert plan_that_runs(graph) == first  # the difference is within the noise
    graph.choose_plan_by_times([[10, 12.5, 11], *untimed, [9, 9.5, 30]])
    assert plan_that_runs(graph) == others[-1]
    for wrong in ([[0.0]], [["fast"]], 3.0):
        with pytest.raises((RuntimeError, TypeError, ValueError), match="choose_plan_by_times"):
            graph.choose_plan_by_times(wrong)


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
