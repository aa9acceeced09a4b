"""Nodes of neighborhood attention in graphs, against a formula of NumPy, and pictures of their windows."""

import json
import pathlib
import xml.etree.ElementTree as ElementTree

import cudnn
import numpy as np
import pytest
from attention import random, tolerance

FLOAT = cudnn.data_type.FLOAT
SCHEMA = pathlib.Path(__file__).parents[2] / "docs" / "graph.schema.json"
B, H, D = 2, 3, 8
SPACE, KERNEL, DILATION, CAUSAL = (6, 10), (3, 4), (2, 1), (False, True)
WINDOW = {"kernel_size": KERNEL, "dilation": DILATION, "is_causal": CAUSAL}
PLAIN = {"kernel_size": (3, 3)}


def along(length, kernel, dilation, is_causal):
    """The keys of each query along one axis, in the order of the window's slots; -1 where there is none."""
    keys = np.full((length, kernel), -1)
    for query in range(length):
        group = np.arange(query % dilation, length, dilation)
        place = query // dilation
        first = place - (kernel - 1 if is_causal else kernel // 2)
        if not is_causal:
            first = min(max(first, 0), len(group) - kernel)
        for slot in range(kernel):
            if 0 <= first + slot < len(group) and (not is_causal or first + slot <= place):
                keys[query, slot] = group[first + slot]
    return keys


def windows(kernel_size, dilation=(1, 1), is_causal=(False, False)):
    """The keys of each query in the flattened space as (tokens, slots); -1 for slots without a key."""
    rows, columns = (along(*axis) for axis in zip(SPACE, kernel_size, dilation, is_causal))
    keys = rows[:, None, :, None] * SPACE[1] + columns[None, :, None, :]
    is_there = (rows[:, None, :, None] >= 0) & (columns[None, :, None, :] >= 0)
    return np.where(is_there, keys, -1).reshape(SPACE[0] * SPACE[1], -1)


def tokens(seed, *, heads_first=False):
    return random((B, H, *SPACE, D) if heads_first else (B, *SPACE, H, D), seed=seed)


def flat(given):
    """The array as (batch, heads, tokens, head dim) in double."""
    return given.reshape(B, -1, H, D).transpose(0, 2, 1, 3).astype(np.float64)


def unflat(given):
    return given.transpose(0, 2, 1, 3).reshape(B, *SPACE, H, -1)


def products(q, k, keys):
    """Products of each query and the keys of its window; -infinity where there is no key."""
    found = np.einsum("bhqd,bhqsd->bhqs", q, k[:, :, keys])
    return np.where(keys >= 0, found, -np.inf)


def run(make, target="cpu", **arrays):
    """Runs a graph whose results `make` returns, and returns their arrays in the same order."""
    graph = cudnn.pygraph("neighborhood", FLOAT, FLOAT, FLOAT, target=target)
    tensors = {name: graph.tensor_like(array, name) for name, array in arrays.items()}
    results = [result.set_output(True) for result in make(graph, tensors)]
    graph.build([cudnn.heur_mode.A])
    made = [np.full(result.get_dim(), np.nan, np.float32) for result in results]
    graph.execute({**{tensors[name]: arrays[name] for name in arrays}, **dict(zip(results, made))})
    return made


def attention(scale=D**-0.5, **window):
    q, k, v = (flat(tokens(seed)) for seed in (1, 2, 3))
    keys = windows(**window)
    scores = scale * products(q, k, keys)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    total = weights.sum(-1, keepdims=True)
    stats = scores.max(-1, keepdims=True) + np.log(total)
    return unflat(np.einsum("bhqs,bhqsd->bhqd", weights / total, v[:, :, keys])), unflat(stats)[..., 0]


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("window", [WINDOW, PLAIN], ids=["dilated and causal", "plain"])
def test_forward(target, window):
    found = run(
        lambda graph, t: graph.neighborhood_attention(t["q"], t["k"], t["v"], **window, generate_stats=True),
        target,
        **{name: tokens(seed) for seed, name in enumerate("qkv", 1)},
    )
    for result, expected in zip(found, attention(**window)):
        np.testing.assert_allclose(result, expected, atol=tolerance(np.float32, 40))
    assert np.abs(attention(**WINDOW)[0] - attention(**PLAIN)[0]).max() > 0.1


def test_options_of_forward():
    arrays = {name: tokens(seed) for seed, name in enumerate("qkv", 1)}
    bias = random((H, 5, 5), seed=7)

    def forward(graph, t):
        o, stats = graph.neighborhood_attention(
            t["q"], t["k"], t["v"], (3, 3), attn_scale=0.5, rel_pos_bias=t.get("bias"), name="near"
        )
        assert stats is None and "near" in graph.to_json()
        return [o]

    (plain,), (biased,) = run(forward, **arrays), run(forward, **arrays, bias=bias)
    np.testing.assert_allclose(plain, attention(0.5, **PLAIN)[0], atol=tolerance(np.float32, 40))
    assert np.abs(biased - plain).max() > 0.1


@pytest.mark.parametrize("operand", ["q", "k", "v", "bias"])
def test_backward_is_the_slope_of_forward(operand):
    arrays = {**{name: tokens(seed) for seed, name in enumerate("qkv", 1)}, "bias": random((H, 5, 5), seed=7)}
    dO = tokens(4)

    def forward(graph, t):
        inputs = (t["q"], t["k"], t["v"])
        return graph.neighborhood_attention(*inputs, (3, 3), rel_pos_bias=t["bias"], generate_stats=True)

    def backward(graph, t):
        gradient = graph.tensor([H, 5, 5], [25, 5, 1], FLOAT, name="dBias")
        inputs = (t["q"], t["k"], t["v"], t["o"], t["dO"], t["stats"])
        made = graph.neighborhood_attention_backward(*inputs, (3, 3), rel_pos_bias=t["bias"], dRel_pos_bias=gradient)
        return [*made, gradient]

    o, stats = run(forward, "reference", **arrays)
    gradients = dict(zip(("q", "k", "v", "bias"), run(backward, **arrays, o=o, dO=dO, stats=stats)))
    direction, step = random(arrays[operand].shape, seed=5), 2.0**-7

    def loss(distance):
        moved = {**arrays, operand: arrays[operand] + np.float32(distance) * direction}
        return (run(forward, "reference", **moved)[0].astype(np.float64) * dO).sum()

    slope = (loss(step) - loss(-step)) / (2 * step)
    found = (gradients[operand].astype(np.float64) * direction).sum()
    rounding = np.sqrt(dO.size) * np.finfo(np.float32).eps / step
    assert abs(found) > 0.5
    assert abs(found - slope) < 4 * rounding + step**2 * np.sqrt(dO.size)


def test_verify_allows_the_roundoff_of_parts_that_cancel():
    """In windows of one key dO * V is the sum of dO * O, so that all gradients except dV are 0."""
    graph = cudnn.pygraph("neighborhood", FLOAT, FLOAT, FLOAT, target="cpu")
    q, k, v, dO = (tokens(seed) for seed in (1, 2, 3, 4))
    stats = (D**-0.5 * np.sum(q.astype(np.float64) * k, -1)).astype(np.float32)
    arrays = {"q": q, "k": k, "v": v, "o": v.copy(), "dO": dO, "stats": stats, "bias": np.zeros((H, 1, 1), np.float32)}
    t = {name: graph.tensor_like(array, name) for name, array in arrays.items()}
    gradient = graph.tensor([H, 1, 1], [1, 1, 1], FLOAT, name="dBias")
    inputs = [t[name] for name in ("q", "k", "v", "o", "dO", "stats")]
    made = graph.neighborhood_attention_backward(*inputs, (1, 1), rel_pos_bias=t["bias"], dRel_pos_bias=gradient)
    results = [result.set_output(True) for result in (*made, gradient)]
    graph.build([cudnn.heur_mode.A])
    pack = {t[name]: arrays[name] for name in arrays}
    pack.update({result: np.zeros(result.get_dim(), np.float32) for result in results})
    graph.execute(pack)
    for roundoffs, wrong in ((1, 0), (5000, 1)):
        for result in results:
            pack[result] += roundoffs * 2.0**-21 * (result is not results[2])
        found = {entry["name"]: entry["wrong"] > 0 for entry in graph.verify(pack).results}
        assert len(found) == 4 and sum(found.values()) == 3 * wrong, found


def heads_first(seed):
    return tokens(seed, heads_first=True)


def test_products_and_their_gradients():
    q, k, v, dO = (heads_first(seed) for seed in (1, 2, 3, 4))
    keys = windows(**PLAIN)
    exact = {name: x.reshape(B, H, -1, D).astype(np.float64) for name, x in zip(("q", "k", "v", "dO"), (q, k, v, dO))}
    (attn,) = run(lambda graph, t: [graph.neighborhood_qk(t["q"], t["k"], **PLAIN)], q=q, k=k)
    limits = {"atol": tolerance(np.float32, 40), "rtol": 2.0**-18}
    expected = products(exact["q"], exact["k"], keys)
    np.testing.assert_allclose(attn.reshape(expected.shape), expected, **limits)
    (o,) = run(lambda graph, t: [graph.neighborhood_av(t["attn"], t["v"], **PLAIN)], attn=attn, v=v)
    expected = np.einsum("bhqs,bhqsd->bhqd", attn.reshape(expected.shape), exact["v"][:, :, keys])
    np.testing.assert_allclose(o.reshape(expected.shape), expected, **{**limits, "atol": tolerance(np.float32, 400)})
    dAttn, dV = run(
        lambda graph, t: graph.neighborhood_av_backward(t["dO"], t["attn"], t["v"], **PLAIN), dO=dO, attn=attn, v=v
    )
    expected = products(exact["dO"], exact["v"], keys)
    np.testing.assert_allclose(dAttn.reshape(expected.shape), expected, **limits)
    assert abs((dV * v).astype(np.float64).sum() - (o * dO).astype(np.float64).sum()) < 1e-2
    dQ, dK = run(
        lambda graph, t: graph.neighborhood_qk_backward(t["dAttn"], t["q"], t["k"], **PLAIN), dAttn=dAttn, q=q, k=k
    )
    whole = (attn * dAttn).astype(np.float64).sum()
    for gradient, operand in ((dQ, q), (dK, k)):  # which attn is linear in
        assert abs((gradient * operand).astype(np.float64).sum() - whole) < 1e-2 * abs(whole)


def test_gradient_of_the_bias_of_products():
    def backward(graph, t):
        gradient = graph.tensor([H, 5, 5], [25, 5, 1], FLOAT, name="dBias")
        made = graph.neighborhood_qk_backward(t["dAttn"], t["q"], t["k"], **PLAIN, dRel_pos_bias=gradient)
        return [*made, gradient]

    dAttn = random((B, H, *SPACE, 9), seed=6)
    *_, gradient = run(backward, dAttn=dAttn, q=heads_first(1), k=heads_first(2))
    np.testing.assert_allclose(gradient.sum((1, 2)), dAttn.sum((0, 2, 3, 4)), atol=1e-3)


def test_faults_have_their_rules():
    graph = cudnn.pygraph("neighborhood", FLOAT, FLOAT, FLOAT, target="cpu")
    q = graph.tensor_like(tokens(1))
    graph.neighborhood_attention(q, q, q, [3])[0].set_output(True)
    with pytest.raises(RuntimeError, match="pass kernel_size with a size for each axis") as error:
        graph.validate()
    assert error.value.rule == "neighborhood.c02"
    with pytest.raises(TypeError, match="incompatible function arguments"):
        graph.neighborhood_attention(q, q, q, 3.5)


KINDS = {
    "neighborhood_attention": "NEIGHBORHOOD_FORWARD",
    "neighborhood_attention_backward": "NEIGHBORHOOD_BACKWARD",
    "neighborhood_qk": "NEIGHBORHOOD_QK",
    "neighborhood_qk_backward": "NEIGHBORHOOD_QK_BACKWARD",
    "neighborhood_av": "NEIGHBORHOOD_AV",
    "neighborhood_av_backward": "NEIGHBORHOOD_AV_BACKWARD",
}


@pytest.mark.parametrize("method", KINDS)
def test_all_fields_and_ports_are_arguments(method):
    parts = json.loads(SCHEMA.read_text())["$defs"]["node." + KINDS[method]]["properties"]
    text = getattr(cudnn.pygraph, method).__doc__
    for name in (*parts["inputs"]["properties"], *parts["fields"]["properties"]):
        assert f" {name[0].lower() + name[1:]}: " in text, name
    assert ("dRel_pos_bias: " in text) == ("dRel_pos_bias" in parts["outputs"]["properties"])


def test_windows_are_pictures():
    graph = cudnn.pygraph("neighborhood", FLOAT, FLOAT, FLOAT, target="cpu")
    q = graph.tensor_like(tokens(1))
    graph.neighborhood_attention(q, q, q, (3, 3), dilation=(1, 3))[0].set_output(True)
    text = graph.draw_window((0, 4))
    rows = [line.split()[1] for line in text.splitlines()[3:9]]  # below the caption and the numbers of the columns
    assert rows == ["·█··◆··█··"] + ["·█··█··█··"] * 2 + ["·" * 10] * 3
    picture = graph.draw_window((0, 4), "svg")
    assert ElementTree.fromstring(picture).tag.endswith("svg") and picture._repr_svg_() == picture
    with pytest.raises(ValueError, match="format is 'png': 'svg' or 'text' is needed"):
        graph.draw_window((0, 4), "png")
    with pytest.raises((ValueError, RuntimeError)) as error:
        graph.draw_window((0, 40))
    assert "40" in str(error.value)
