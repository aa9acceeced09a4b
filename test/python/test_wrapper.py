"""Graph and the small helpers, as programs of the existing package use them."""

import inspect
import re

import cudnn
import numpy as np
import pytest
from attention import attention, causal, gradients, qkv, random, tolerance
from sdpa_graph import wrapper

TYPES = {
    "io_data_type": cudnn.data_type.FLOAT,
    "intermediate_data_type": cudnn.data_type.FLOAT,
    "compute_data_type": cudnn.data_type.FLOAT,
    "target": "cpu",
}


def signature_of(method):
    return str(inspect.signature(method)) if inspect.isfunction(method) else method.__doc__ or ""


def forward(q, k, v, **settings):
    with cudnn.Graph(**TYPES, **settings) as graph:
        o, stats = graph.sdpa(name="SDPA", q=q, k=k, v=v, attn_scale=0.25, is_inference=False, use_causal_mask=True)
        o.set_output(True).set_name("output")
        stats.set_output(True).set_data_type(cudnn.data_type.FLOAT).set_name("stats")
    return graph


def test_call_with_tensors():
    q, k, v = qkv()
    graph = forward(
        q, k, v, inputs=["SDPA::q", "SDPA::k", "SDPA::v"], outputs=["output", "stats"], workspace_alloc=False
    )
    assert graph.get_workspace_size() >= 0
    o, stats = graph(q, k, v)
    expected, expected_stats = attention(q, k, v, 0.25, causal(40, 40))
    np.testing.assert_allclose(o, expected, atol=tolerance(np.float32, 40))
    np.testing.assert_allclose(stats, expected_stats, atol=tolerance(np.float32, 40))
    with pytest.raises(ValueError, match="2 tensors were given; expected 3"):
        graph(q, k)


def test_call_with_a_dictionary():
    q, k, v = qkv()
    graph = forward(q, k, v)
    values = {"SDPA::q": q, "SDPA::k": k, "SDPA::v": v}
    assert graph(values) is values
    np.testing.assert_allclose(
        values["output"], attention(q, k, v, 0.25, causal(40, 40))[0], atol=tolerance(np.float32, 40)
    )
    assert values["stats"].shape == (2, 3, 40, 1)
    with pytest.raises(RuntimeError, match="the call leaves out SDPA::v"):
        graph({"SDPA::q": q, "SDPA::k": k})
    with pytest.raises(RuntimeError, match="'SDPA::q' is a float: an object with __dlpack__"):
        graph({"SDPA::q": 1.0})
    with pytest.raises(RuntimeError, match="no tensor of the graph is 'x'"):
        graph({"x": q})


def test_backward_with_positional_arrays():
    q, k, v = qkv()
    dO = random(q.shape, seed=4)
    o, stats = (x.astype(np.float32) for x in attention(q, k, v, 0.25))
    inputs = [f"d::{index}" for index in range(6)]
    with cudnn.Graph(**TYPES, inputs=inputs, outputs=["dQ", "dK", "dV"]) as graph:
        for result, name in zip(
            graph.sdpa_backward(q, k, v, o, dO, stats, attn_scale=0.25, name="d"), ("dQ", "dK", "dV")
        ):
            result.set_output(True).set_name(name)
    for found, expected in zip(graph(q, k, v, o, dO, stats), gradients(q, k, v, dO, 0.25)):
        np.testing.assert_allclose(found, expected, atol=16 * tolerance(np.float32, 40))


@pytest.mark.parametrize(
    "inputs, outputs, text",
    [
        (["SDPA::q", "SDPA::k"], ["output", "stats"], "leave out SDPA::v"),
        (["SDPA::q", "SDPA::k", "SDPA::v"], ["output"], "leave out stats"),
        (["SDPA::q", "SDPA::q", "SDPA::k", "SDPA::v"], ["output", "stats"], "name a tensor twice"),
        (["nothing"], ["output"], "inputs: no tensor of the graph is 'nothing'"),
    ],
)
def test_faulty_lists(inputs, outputs, text):
    with pytest.raises(ValueError, match=text):
        forward(*qkv(), inputs=inputs, outputs=outputs)


def test_misuse():
    q, k, v = qkv()
    with pytest.raises(ValueError, match="inputs is a str: a list or tuple is needed"):
        cudnn.Graph(inputs="q")
    graph = forward(q, k, v)
    with pytest.raises(RuntimeError, match="Calling build_plans via wrapper is not allowed"):
        graph.build_plans()
    with pytest.raises(ValueError, match="needs the lists of inputs and outputs"):
        graph(q, k, v)
    with pytest.raises(RuntimeError, match="has been entered before"):
        graph.__enter__()
    with pytest.raises(RuntimeError, match="behind its 'with' block"):
        with cudnn.Graph(**TYPES) as unfinished:
            unfinished({})
    with pytest.raises(ValueError, match="A node is called 'a' already"):
        with cudnn.Graph(**TYPES) as twice:
            twice.sdpa(q, k, v, is_inference=True, name="a")
            twice.sdpa(q, k, v, is_inference=True, name="a")


def test_all_methods_of_graphs_are_forwarded_or_blocked_or_make_nodes():
    forwarded = {*wrapper._FORWARDED, *wrapper._BLOCKED}
    public = {name: method for name, method in inspect.getmembers(cudnn.pygraph, callable) if not name.startswith("_")}
    assert forwarded - public.keys() == set()
    # Methods that make nodes and tensors name them.
    others = {name: method for name, method in public.items() if name not in forwarded}
    assert [name for name, method in others.items() if not re.search(r"\bname\b|kwargs", signature_of(method))] == []
    with cudnn.Graph(**TYPES) as graph:
        graph.sdpa(*qkv(), name="SDPA", is_inference=True)[0].set_output(True)
        assert graph.explain().has_plan


def test_a_scalar_is_a_tensor_like_others_and_needs_no_memory():
    x = random((2, 3, 4, 8))
    with cudnn.Graph(**TYPES) as graph:
        factor = graph.tensor_scalar(2.0)
        graph.mul(x, factor, name="product").set_output(True).set_name("y")
    values = {"product::0": x}
    graph(values)
    assert list(values) == ["product::0", "y"]
    np.testing.assert_allclose(values["y"], 2 * x, rtol=1e-6)


def test_errors_of_the_build_come_through():
    q, k, v = qkv()
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="found 2 heads in K for 3 heads in Q") as error:
        forward(q, random((2, 2, 40, 16)), v)
    assert error.value.rule == "sdpa_fwd.c04"


def test_a_gpu_needs_a_handle():
    graph = forward(*qkv())
    graph._target = "cuda"
    with pytest.raises(RuntimeError, match="Need to specify cudnn handle"):
        graph._handle_for(None, [])


def test_jit_and_graph_cache():
    made = []

    @cudnn.jit(heur_modes=[cudnn.heur_mode.A])
    @cudnn.graph_cache(key_fn=lambda x: x.shape, maxsize=1)
    def double(x):
        with cudnn.graph(None, "double", *[cudnn.data_type.FLOAT] * 3) as (graph, _):
            given = graph.tensor_like(x)
            result = graph.add(given, given)
            result.set_output(True)
            made.append(graph)
            return graph, [given, result]

    cudnn.set_default_target("cpu")
    try:
        x = random((2, 3, 4))
        for count in (1, 1):
            graph, (given, result) = double(x)
            out = np.empty_like(x)
            graph.execute({given: x, result: out})
            np.testing.assert_array_equal(out, x + x)
            assert len(made) == count
        double(random((2, 3, 5)))
        double(x)
        assert len(made) == 3
    finally:
        cudnn.set_default_target(None)


def test_data_types():
    assert cudnn.datatypes._library_type(cudnn.data_type.HALF) is cudnn.data_type.HALF
    with pytest.raises(Exception, match="The library has no data type for 'x'"):
        cudnn.datatypes._library_type("x")


@pytest.mark.parametrize("kind", [cudnn.data_type.FP4_E2M1, cudnn.data_type.NOT_SET])
def test_results_of_types_that_numpy_does_not_have(kind):
    from sdpa_graph.allocation import allocate

    with pytest.raises(TypeError, match=f"NumPy has no type for a result of {kind.name}: pass memory for it"):
        allocate((), True, [2], [1], kind)
