"""pygraph on the CPU targets: attention and its gradient, options, stages, stored plans, and faults."""

import json
import os
import subprocess
import sys

import cudnn
import numpy as np
import pytest
from attention import Forward, attention, causal, gradients, qkv, random, tolerance

TARGETS = ["cpu", "reference"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_forward(target, dtype):
    q, k, v = qkv(dtype=dtype)
    forward = Forward(q, k, v, target, stats=True, attn_scale=0.25, use_causal_mask=True).build()
    o, stats = forward.run()
    expected, expected_stats = attention(q, k, v, 0.25, causal(40, 40))
    np.testing.assert_allclose(o, expected, atol=tolerance(dtype, 40))
    np.testing.assert_allclose(stats, expected_stats, atol=tolerance(np.float32, 40))
    plain = Forward(q, k, v, target, attn_scale=0.25).build().run()
    assert np.abs(plain - o).max() > 0.1


def causal_gradients(q, k, v, dO, target):
    """dQ, dK, dV of causal attention with a scale of 1 / 4."""
    o, stats = (x.astype(np.float32) for x in attention(q, k, v, 0.25, causal(40, 40)))
    float_type = cudnn.data_type.FLOAT
    graph = cudnn.pygraph("backward", float_type, float_type, float_type, target=target)
    given = {"q": q, "k": k, "v": v, "o": o, "dO": dO, "stats": stats}
    tensors = {name: graph.tensor_like(array) for name, array in given.items()}
    results = graph.sdpa_backward(**tensors, attn_scale=0.25, use_causal_mask=True)
    for result in results:
        result.set_output(True)
    graph.build([cudnn.heur_mode.A])
    arrays = [np.empty_like(x) for x in (q, k, v)]
    graph.execute({**{tensors[name]: given[name] for name in given}, **dict(zip(results, arrays))})
    return arrays


@pytest.mark.parametrize("target", TARGETS)
def test_backward(target):
    (q, k, v), dO = qkv(), random((2, 3, 40, 16), seed=4)
    expected = gradients(q, k, v, dO, 0.25, causal(40, 40))
    for found, wanted in zip(causal_gradients(q, k, v, dO, target), expected):
        np.testing.assert_allclose(found, wanted, atol=16 * tolerance(np.float32, 40))


@pytest.mark.parametrize("operand", [0, 1, 2])
def test_backward_is_the_slope_of_forward(operand):
    inputs, dO = qkv(), random((2, 3, 40, 16), seed=4)
    direction, step = random((2, 3, 40, 16), seed=5), 2.0**-7

    def loss(distance):
        moved = [x + distance * direction if i == operand else x for i, x in enumerate(inputs)]
        forward = Forward(*moved, "reference", attn_scale=0.25, use_causal_mask=True).build()
        return (forward.run().astype(np.float64) * dO).sum()

    slope = (loss(step) - loss(-step)) / (2 * step)
    found = (causal_gradients(*inputs, dO, "cpu")[operand].astype(np.float64) * direction).sum()
    # Results are rounded to float, each for itself, and the quotient leaves out terms of the step's square.
    rounding = np.sqrt(dO.size) * np.finfo(np.float32).eps / step
    assert abs(found) > 1
    assert abs(found - slope) < 4 * rounding + step**2 * np.sqrt(dO.size)


def test_stages_and_explicit_uids():
    q, k, v = qkv()
    graph = cudnn.pygraph(io_data_type=np.float32, compute_data_type=cudnn.data_type.FLOAT, target="cpu")
    dim, stride = q.shape, [s // q.itemsize for s in q.strides]
    tensors = [graph.tensor(dim=dim, stride=stride, uid=uid, name=f"t{uid}") for uid in (0, 1, 2)]
    o, stats = graph.sdpa(*tensors, is_inference=True, attn_scale=0.25)
    assert stats is None
    assert o.set_output(True).set_uid(7) is o
    assert graph.get_execution_plan_count() == 0
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    graph.build_plans()
    assert graph.get_execution_plan_count() >= 1
    assert "cpu" in graph.get_plan_name_at_index(0)
    assert graph._get_variant_pack_uids_sorted() == [0, 1, 2, 7]
    assert graph.query_tensor_attributes_of_uid(1).get_name() == "t1"
    result = np.empty_like(q)
    workspace = np.empty(graph.get_workspace_size(), np.uint8)
    # Keys that are None and uids that no tensor has are passed over.
    pack = {0: q.ctypes.data, 1: k, tensors[2]: memoryview(v), o: result, None: None, 99: q}
    graph.execute(pack, workspace, handle=0)
    expected, _ = attention(q, k, v, 0.25)
    np.testing.assert_allclose(result, expected, atol=tolerance(np.float32, 40))
    result[:] = 0
    graph._execute_with_ptrs([x.ctypes.data for x in (q, k, v, result)], workspace.ctypes.data, None)
    np.testing.assert_allclose(result, expected, atol=tolerance(np.float32, 40))


def test_a_stored_graph_runs_with_its_plan():
    q, k, v = qkv()
    forward = Forward(q, k, v, attn_scale=0.25).build()
    data = forward.graph.serialize()
    assert all(0 <= byte < 256 for byte in data)
    restored = cudnn.pygraph(target="cpu")
    restored.deserialize(bytes(data))
    result = np.empty_like(q)
    uids = [tensor.get_uid() for tensor in (forward.q, forward.k, forward.v, forward.o)]
    restored.execute(dict(zip(uids, (q, k, v, result))))
    np.testing.assert_array_equal(result, forward.run())


def test_text_has_a_modifier_within_its_attention_except_in_version_1():
    forward = Forward(*qkv(), attn_scale=0.25, score_mod=lambda graph, score: graph.neg(score)).build()
    nodes = json.loads(forward.graph.to_json())["nodes"]
    assert [node["tag"] for node in nodes] == ["SDPA_FORWARD"] and nodes[0]["modifier"][0]["tag"] == "POINTWISE"
    flat = json.loads(forward.graph.to_json(version=1))["nodes"]
    assert [node["tag"] for node in flat] == ["POINTWISE", "SDPA_FORWARD"]
    with pytest.raises(RuntimeError, match="version 3 of the JSON format; expected 1 or 2"):
        forward.graph.to_json(version=3)


def test_text_is_a_graph_without_a_plan():
    forward = Forward(*qkv(), attn_scale=0.25).build()
    same = cudnn.pygraph(target="cpu")
    same.neg(same.tensor([1], [1], name="gone"))
    same.deserialize(forward.graph.to_json())
    assert same.key() == forward.graph.key() and same.get_execution_plan_count() == 0 and "gone" not in same.to_json()
    assert "as to_json() gives it" in cudnn.pygraph.deserialize.__doc__
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="the JSON text is not a graph"):
        same.deserialize("no graph")
    assert same.key() == forward.graph.key()


def test_a_stored_plan_is_told_without_loading_it():
    graph = Forward(*qkv(), attn_scale=0.25).build().graph
    for data in (graph.serialize(), bytes(graph.serialize())):
        plan = cudnn.stored_plan(data)
        assert (plan.target, plan.device, plan.cudnn_version, plan.kernels) == ("cpu", "", 0, [])
        assert plan.workspace_size == graph.get_workspace_size()
        assert str(plan).startswith(f"plan {plan.name}\n  target cpu\n")
        same = cudnn.pygraph(target="cpu")
        same.deserialize(plan.graph)
        same.validate()
    with pytest.raises(Exception, match="the bytes are no stored plan that this library can read"):
        cudnn.stored_plan(bytes(graph.serialize())[:-1])
    with pytest.raises(TypeError):
        cudnn.stored_plan(7.5)


def test_a_run_with_other_shapes():
    q, k, v = qkv()
    forward = Forward(q, k, v, settings={"is_override_shape_enabled": True}, attn_scale=0.25).build()
    small = [x[:, :, :20].copy() for x in (q, k, v)]
    tensors = (forward.q, forward.k, forward.v, forward.o)
    result = np.empty_like(small[0])
    shapes, strides = [list(result.shape)] * 4, [[960, 320, 16, 1]] * 4
    pack = dict(zip(tensors, (*small, result)))
    forward.graph.execute(pack, None, None, [tensor.get_uid() for tensor in tensors], shapes, strides)
    np.testing.assert_allclose(result, attention(*small, 0.25)[0], atol=tolerance(np.float32, 40))


def test_score_modifier_and_named_operations():
    q, k, v = qkv()

    def soften(graph, score):
        bent = graph.tanh(graph.div(score, cap))
        return graph.mul(a=bent, b=cap)

    graph = cudnn.pygraph("cap", *[cudnn.data_type.FLOAT] * 3, target="reference")
    cap = graph.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], is_pass_by_value=True)
    tensors = [graph.tensor_like(x) for x in (q, k, v)]
    o, _ = graph.sdpa(*tensors, generate_stats=False, score_mod=soften)
    o.set_output(True)
    graph.build([cudnn.heur_mode.A])
    result = np.empty_like(q)
    graph.execute({**dict(zip(tensors, (q, k, v))), cap: np.array([1.5], np.float32), o: result})
    scores = 1.5 * np.tanh((q.astype(np.float64) @ k.transpose(0, 1, 3, 2)) / 1.5)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(result, expected, atol=tolerance(np.float32, 40))


def test_an_exception_in_a_score_modifier_comes_through():
    def fail(graph, score):
        raise KeyError("mine")

    q, k, v = qkv()
    with pytest.raises(KeyError, match="mine"):
        Forward(q, k, v, score_mod=fail)
    with pytest.raises(TypeError, match="a score modifier returned a int"):
        Forward(q, k, v, score_mod=lambda graph, score: 3)


def test_matmul_and_reduction():
    a, b = random((2, 3, 5), seed=1), random((2, 5, 7), seed=2)
    graph = cudnn.pygraph("sum", *[cudnn.data_type.FLOAT] * 3, target="cpu")
    inputs = [graph.tensor_like(a), graph.tensor_like(b)]
    product = graph.matmul(A=inputs[0], B=inputs[1], name="product")
    total = graph.reduction(product, cudnn.reduction_mode.ADD)
    total.set_output(True).set_dim([2, 3, 1]).set_stride([3, 1, 1])
    graph.build([cudnn.heur_mode.A])
    result = np.empty((2, 3, 1), np.float32)
    graph.execute({inputs[0]: a, inputs[1]: b, total: result})
    np.testing.assert_allclose(result, (a @ b).sum(-1, keepdims=True), atol=1e-4)


def test_bottom_right_mask_is_not_undone_by_the_default_alignment():
    q, (k, v) = random((1, 2, 8, 16), seed=1), [random((1, 2, 20, 16), seed=s) for s in (2, 3)]
    found = Forward(q, k, v, use_causal_mask_bottom_right=True).build().run()
    expected, _ = attention(q, k, v, 1.0, np.tril(np.ones((8, 20), bool), 12))
    np.testing.assert_allclose(found, expected, atol=tolerance(np.float32, 20))


def test_a_handle_or_the_reason_why_there_is_none():
    try:
        handle = cudnn.create_handle()
    except RuntimeError as error:
        assert error.code in ("CUDA_API_FAILED", "CUDNN_BACKEND_API_FAILED", "HANDLE_ERROR", "INVALID_CUDA_DEVICE")
        assert len(str(error)) > 20
    else:
        assert handle != 0
        cudnn.destroy_handle(handle)


OFFLINE = """
from attention import *
forward = Forward(*qkv((2, 3, 128, 64), np.float16), "offline:h100", attn_scale=0.125)
try:
    forward.build()
except (RuntimeError, cudnn.cudnnGraphNotSupportedError) as error:
    raise SystemExit(f"no cuDNN to plan with: {error}")
assert forward.graph.get_execution_plan_count() >= 1
try:
    forward.run()
except RuntimeError as error:
    print(error)
"""


def test_offline_planning_or_its_reason():
    """Runs in a process of its own: with a driver of CUDA loaded there is no planning without one."""
    command = [sys.executable, "-c", OFFLINE]
    result = subprocess.run(command, cwd=os.path.dirname(__file__), capture_output=True, text=True, timeout=300)
    if result.stderr.startswith("no cuDNN to plan with"):
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0 and "offline" in result.stdout, result.stderr


@pytest.mark.parametrize(
    "options, text",
    [
        ({}, "exactly one of generate_stats and is_inference"),
        ({"generate_stats": True, "is_inference": True}, "exactly one of generate_stats and is_inference"),
        ({"generate_stats": 1}, "generate_stats is a int: True or False is needed"),
        ({"generate_stats": False, "diagonal_band_left_bound": 2.5}, "diagonal_band_left_bound is a float: an integer"),
        ({"generate_stats": False, "attn_scale": "x"}, "attn_scale is a str: a number or a tensor"),
        ({"generate_stats": False, "use_causal_mask": True, "use_causal_mask_bottom_right": True}, "two masks"),
        ({"generate_stats": False, "use_causal_mask": True, "diagonal_band_right_bound": 0}, "right bound of 0"),
        ({"generate_stats": False, "sliding_window_length": 4, "diagonal_band_left_bound": 4}, "the left bound"),
        ({"generate_stats": False, "dropout": (0.5, None, None)}, "dropout is a tuple: (probability, seed, offset)"),
        ({"generate_stats": False, "bias": 3}, "bias is a int: a tensor of the graph"),
    ],
)
def test_faulty_options_are_runtime_errors(options, text):
    graph = cudnn.pygraph(target="cpu")
    tensors = [graph.tensor_like(x) for x in qkv()]
    with pytest.raises(RuntimeError) as error:
        graph.sdpa(*tensors, **options)
    assert text in str(error.value)


def test_unknown_options_are_type_errors():
    graph = cudnn.pygraph(target="cpu")
    with pytest.raises(TypeError, match="unexpected keyword argument 'no_such_option'"):
        graph.sdpa(*[graph.tensor_like(x) for x in qkv()], generate_stats=False, no_such_option=1)


def test_rules_of_the_library_come_with_their_ids():
    q, k, v = qkv()
    forward = Forward(q, random((2, 2, 40, 16)), v)
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="found 2 heads in K for 3 heads in Q") as error:
        forward.graph.validate()
    assert (error.value.rule, error.value.code) == ("sdpa_fwd.c04", "GRAPH_NOT_SUPPORTED")
    assert "[sdpa_fwd.c04]" in str(error.value)
    assert "[sdpa_fwd.c04]" in forward.graph.check()


def test_a_last_dim_with_gaps_is_refused():
    q, k, v = qkv((2, 3, 40, 32))
    forward = Forward(q[..., ::2], k[..., ::2], v[..., ::2])
    with pytest.raises((ValueError, RuntimeError, cudnn.cudnnGraphNotSupportedError)) as error:
        forward.build()
    assert error.value.rule in str(error.value) and "stride" in str(error.value)


@pytest.mark.parametrize("target", ["gpu", "cpu:", "cpu:x", "offline:", ""])
def test_unknown_targets_are_value_errors(target):
    if target == "":
        with pytest.raises(ValueError, match="'' is no target"):
            cudnn.set_default_target(target)
        return
    with pytest.raises(ValueError, match=f"'{target}' is no target: 'cuda', 'cpu'"):
        cudnn.pygraph(target=target)


def test_an_unknown_gpu_is_named():
    q, k, v = qkv((2, 3, 128, 64), np.float16)
    with pytest.raises((ValueError, RuntimeError, cudnn.cudnnGraphNotSupportedError), match="h1000"):
        Forward(q, k, v, "offline:h1000").build()


def named_graph():
    """A graph of three inputs with names and uids, and the arrays for all tensors by uid."""
    arrays = qkv()
    graph = cudnn.pygraph(
        io_data_type=np.float32,
        compute_data_type=np.float32,
        target="cpu",
        cuda_graph_retention=cudnn.cuda_graph_retention.NONE,
        is_cuda_graph_replay_expected=True,
    )
    inputs = [graph.tensor(x.shape, name=name, uid=uid) for x, name, uid in zip(arrays, "qkv", (7, 3, 5))]
    o, _ = graph.sdpa(*inputs, is_inference=True, attn_scale=0.25)
    o.set_output(True).set_uid(1).set_name("o")
    graph.build([cudnn.heur_mode.A])
    return graph, dict(zip((7, 3, 5, 1), (*arrays, np.zeros_like(arrays[0]))))


@pytest.mark.parametrize("run", ["execute", "execute_plan_at_index", "autotune"])
def test_packs_by_name_and_as_lists(run):
    graph, arrays = named_graph()
    expected, _ = attention(*(arrays[uid] for uid in (7, 3, 5)), 0.25)
    packs = [
        {"q": arrays[7], "k": arrays[3], 5: arrays[5], "o": arrays[1]},
        [arrays[uid] for uid in (1, 3, 5, 7)],
        tuple(arrays[uid] for uid in sorted(arrays)),
    ]
    for pack in packs:
        arrays[1][:] = 0
        getattr(graph, run)(pack)
        np.testing.assert_allclose(arrays[1], expected, atol=tolerance(np.float32, 40))


def test_lists_with_uids():
    graph, arrays = named_graph()
    order = [5, 7, 1, 3]
    graph.execute([arrays[uid] for uid in order], tensor_uids=order)
    expected, _ = attention(*(arrays[uid] for uid in (7, 3, 5)), 0.25)
    np.testing.assert_allclose(arrays[1], expected, atol=tolerance(np.float32, 40))


@pytest.mark.parametrize(
    "change, error, text",
    [
        (lambda a: {"x": a[7]}, ValueError, "memory for 'x', which names no tensor.*the names are 'o', 'k', 'v', 'q'"),
        (lambda a: {"": a[7]}, ValueError, "memory for ''"),
        (lambda a: [a[7]], ValueError, "a list of 1 for 4 tensors that the graph needs, by ascending uid"),
        (lambda a: a[7], TypeError, "the pack is a numpy.ndarray: a dictionary of memory by tensor, uid or name"),
        (lambda a: {1.5: a[7]}, TypeError, "a pack's key is a float: a tensor of the graph, its uid or its name"),
        (lambda a: 3, TypeError, "the pack is a int"),
        (lambda a: {2**70: a[7]}, ValueError, "a pack's key is 1180591620717411303424: a uid has 64 bits"),
    ],
)
def test_faulty_names_and_lists(change, error, text):
    graph, arrays = named_graph()
    with pytest.raises(error, match=text):
        graph.execute(change(arrays))


def test_faulty_uids_of_lists():
    graph, arrays = named_graph()
    with pytest.raises(ValueError, match="a list of 2 for 1 tensor_uids"):
        graph.execute([arrays[7], arrays[3]], tensor_uids=[7])
    with pytest.raises(ValueError, match="tensor_uids has 7 twice"):
        graph.execute([arrays[7], arrays[3]], tensor_uids=[7, 7])
    with pytest.raises(TypeError, match="tensor_uids belong to a list of memory"):
        graph.execute(arrays, tensor_uids=[7, 3, 5, 1])


def test_two_tensors_of_one_name():
    q, k, v = qkv()
    graph = cudnn.pygraph(io_data_type=np.float32, compute_data_type=np.float32, target="cpu")
    inputs = [graph.tensor(x.shape, name="x") for x in (q, k, v)]
    o, _ = graph.sdpa(*inputs, is_inference=True)
    o.set_output(True)
    graph.build([cudnn.heur_mode.A])
    with pytest.raises(ValueError, match="two tensors of the graph are called 'x': give them by tensor or by uid"):
        graph.execute({"x": q})


def test_a_tensor_without_strides_is_row_major():
    graph = cudnn.pygraph(io_data_type=np.float32, compute_data_type=np.float32, target="cpu")
    inputs = [graph.tensor((2, 3, 40, 16), ragged_offset_multiplier=1, alignment_value=8) for _ in range(3)]
    graph.sdpa(*inputs, is_inference=True)[0].set_output(True)
    graph.validate()
    assert inputs[0].get_stride() == [1920, 640, 16, 1]


def test_plans_without_modes():
    q, k, v = qkv()
    forward = Forward(q, k, v, attn_scale=0.25)
    graph = forward.graph
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans()
    graph.check_support()
    graph.build_plans()
    np.testing.assert_allclose(forward.run(), attention(q, k, v, 0.25)[0], atol=tolerance(np.float32, 40))


def test_stored_plans_as_bytes():
    graph, _ = named_graph()
    stored = graph.serialize(as_bytes=True, include_kernels=True)
    assert type(stored) is bytes and list(stored) == graph.serialize()
    again = cudnn.pygraph(target="cpu")
    again.deserialize(stored)
    assert again.get_execution_plan_count() == graph.get_execution_plan_count()


@pytest.mark.parametrize("value, kind", [(3, cudnn.data_type.INT32), (0.5, cudnn.data_type.FLOAT)])
def test_scalars_have_the_type_of_the_number(value, kind):
    graph = cudnn.pygraph(target="cpu")
    scalar = graph.tensor_scalar(value, cudnn.scalar_type.RUNTIME_PARAM, name="n")
    assert (scalar.get_data_type(), scalar.get_name()) == (kind, "n")


@pytest.mark.parametrize(
    "call, slope",
    [
        (lambda g, dy, x: g.relu_backward(dy, x, 0.25), lambda x: np.where(x > 0, 1, 0.25)),
        (lambda g, dy, x: g.leaky_relu_backward(dy, x, 0.5), lambda x: np.where(x > 0, 1, 0.5)),
        (lambda g, dy, x: g.relu_backward(dy, x, upper_clip=1.0), lambda x: ((x > 0) & (x < 1)).astype(float)),
        (
            lambda g, dy, x: g.swish_backward(dy, x, swish_beta=2.0),
            lambda x: (1 + np.exp(-2 * x) + 2 * x * np.exp(-2 * x)) / (1 + np.exp(-2 * x)) ** 2,
        ),
    ],
)
def test_gradients_of_activations_with_settings(call, slope):
    x, dy = random((1, 2, 8, 16), seed=1), random((1, 2, 8, 16), seed=2)
    graph = cudnn.pygraph(io_data_type=np.float32, compute_data_type=np.float32, target="reference")
    given = graph.tensor_like(dy), graph.tensor_like(x)
    result = call(graph, *given)
    result.set_output(True)
    graph.build([cudnn.heur_mode.A])
    found = np.empty_like(x)
    graph.execute({given[0]: dy, given[1]: x, result: found})
    np.testing.assert_allclose(found, dy * slope(x.astype(float)), atol=1e-6)


def test_arrays_are_no_tensors_of_the_graph():
    array, graph = qkv()[0], cudnn.pygraph(target="cpu")
    tensor = graph.tensor_like(array)
    for call in (
        lambda: graph.sdpa(array, tensor, tensor, generate_stats=False),
        lambda: graph.sdpa(tensor, tensor, array, generate_stats=False),
        lambda: graph.sdpa(tensor, tensor, tensor, generate_stats=False, bias=array),
        lambda: graph.neg(array),
        lambda: graph.add(tensor, array),
        lambda: graph.matmul(A=tensor, B=array),
        lambda: graph.neighborhood_qk(tensor, array, [3]),
        lambda: tensor.set_ragged_offset(array),
    ):
        with pytest.raises(TypeError, match=r"a numpy.ndarray is given for a tensor of the graph: tensor_like\(array\)"):
            call()
    assert graph.tensor_like(array).get_dim() == list(array.shape)
