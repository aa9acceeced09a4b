"""Attention on 8-bit tensors, forward and backward, with a scale for each tensor or for each 32 numbers: the existing
package's keywords, and numbers."""

import cudnn
import numpy as np
import pytest
from attention import attention, causal, gradients
from fp8 import CODES, decoded, encoded

FLOAT, HALF, FP8 = cudnn.data_type.FLOAT, cudnn.data_type.HALF, cudnn.data_type.FP8_E4M3
SHAPE, SCALE = (2, 2, 128, 32), 0.25
SCALES = ("descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o")
BACKWARD_SCALES = (
    *("descale_q", "descale_k", "descale_v", "descale_o", "descale_dO", "descale_s", "descale_dP"),
    *("scale_s", "scale_dQ", "scale_dK", "scale_dV", "scale_dP"),
)


def codes(seed, shape=SHAPE):
    return np.random.default_rng(seed).choice(CODES, shape)


class Program:
    """A graph with memory for its tensors, by the names of arguments."""

    def __init__(self):
        self.graph = cudnn.pygraph("fp8", FP8, FLOAT, FLOAT, target="cpu")
        self.pack = {}

    def give(self, array, kind, **more):
        strides = [step // array.itemsize for step in array.strides]
        tensor = self.graph.tensor(array.shape, strides, data_type=kind, **more)
        self.pack[tensor] = array
        return tensor

    def number(self, value):
        return self.give(np.full((1, 1, 1, 1), value, np.float32), FLOAT)

    def take(self, tensor, shape, kind, dtype):
        array = np.zeros(shape, dtype)
        tensor.set_output(True).set_dim(shape).set_data_type(kind)
        self.pack[tensor] = array
        return array

    def run(self):
        self.graph.build([cudnn.heur_mode.A])
        self.graph.execute(self.pack)


def forward(**options):
    """O and its amax of causal or other attention, with factors that are no powers of each other."""
    program = Program()
    inputs = {name: program.give(codes(seed), FP8) for seed, name in enumerate("qkv")}
    factors = dict(zip(SCALES, (0.5, 1.0, 2.0, 1 / 128, 128.0, 4.0)))
    scales = {name: program.number(value) for name, value in factors.items()}
    o, stats, amax_s, amax_o = program.graph.sdpa_fp8(
        **inputs, **scales, attn_scale=SCALE, generate_stats=False, **options
    )
    assert stats is None
    result, amax = program.take(o, SHAPE, FP8, np.uint8), program.take(amax_o, (1, 1, 1, 1), FLOAT, np.float32)
    program.run()
    return decoded(result) / factors["scale_o"], amax.item()


def expected(mask):
    q, k, v = (decoded(codes(seed)) for seed in range(3))
    return attention(0.5 * q, k, 2 * v, SCALE, mask)[0]


BAND = np.abs(np.subtract.outer(np.arange(128), np.arange(128)) - 2) < 7


@pytest.mark.parametrize(
    "options, mask",
    [
        ({}, None),
        ({"use_causal_mask": True}, causal(128, 128)),
        ({"left_bound": 9, "right_bound": 4}, BAND),
        ({"sliding_window": 9, "right_bound": 4}, BAND),
        ({"right_bound": 4, "diagonal_alignment": cudnn.diagonal_alignment.BOTTOM_RIGHT, "left_bound": 9}, BAND),
    ],
    ids=str,
)
def test_forward_with_the_names_of_the_existing_package(options, mask):
    o, amax = forward(**options)
    wanted = expected(mask)
    # Probabilities and results are rounded to three bits; results are about 4 at most, values 4.
    np.testing.assert_allclose(o, wanted, atol=8 * 2.0**-4)
    assert abs(amax - np.abs(wanted).max()) < 4 * 2.0**-4
    if mask is not None:
        assert np.abs(wanted - expected(None)).max() > 0.5


def test_a_modifier_is_called_fn():
    o, _ = forward(fn=lambda graph, score: graph.neg(score))
    q, k, v = (decoded(codes(seed)) for seed in range(3))
    np.testing.assert_allclose(o, attention(0.5 * q, -k, 2 * v, SCALE)[0], atol=8 * 2.0**-4)


def test_backward_by_keyword():
    q, k, v, dO = (codes(seed) for seed in range(4))
    numbers = [decoded(x) for x in (q, k, v, dO)]
    o, stats = attention(*numbers[:3], SCALE, causal(128, 128))
    program = Program()
    arrays = {"q": q, "k": k, "v": v, "o": encoded(o), "dO": dO}
    inputs = {name: program.give(array, FP8) for name, array in arrays.items()}
    inputs["stats"] = program.give(stats.astype(np.float32), FLOAT)
    factors = dict.fromkeys(BACKWARD_SCALES, 1.0) | {"descale_s": 1 / 128, "scale_s": 128.0, "scale_dQ": 2.0}
    scales = {name: program.number(value) for name, value in factors.items()}
    results = program.graph.sdpa_fp8_backward(**inputs, **scales, attn_scale=SCALE, left_bound=128, right_bound=0)
    assert len(results) == 7
    found = [program.take(x, SHAPE, HALF, np.float16).astype for x in results[:3]]
    amaxes = [program.take(x, (1, 1, 1, 1), FLOAT, np.float32) for x in results[3:]]
    program.run()
    wanted = gradients(*numbers, SCALE, causal(128, 128))
    for get, right, factor, amax in zip(found, wanted, (2, 1, 1), amaxes):
        # O, the probabilities and their gradients are rounded to three bits.
        assert np.abs(get(np.float64) / factor - right).max() < 0.1 * np.abs(right).max()
        assert abs(amax.item() - np.abs(right).max()) < 0.1 * np.abs(right).max()
    with pytest.raises(RuntimeError, match="sdpa_fp8_backward: left_bound is a str: an integer is needed"):
        program.graph.sdpa_fp8_backward(**inputs, **scales, left_bound="1")
    with pytest.raises(TypeError, match="missing 11 required positional arguments: 'descale_k'"):
        program.graph.sdpa_fp8_backward(**inputs, descale_q=scales["descale_q"])


def test_verify_allows_the_roundoff_of_parts_that_cancel():
    """With one visible key dQ is 0: dO * V is the sum of dO * O."""
    shape = (2, 2, 64, 32)
    q, k, v, dO = codes(0, shape), codes(1, (2, 2, 1, 32)), codes(2, (2, 2, 1, 32)), codes(3, shape)
    program = Program()
    arrays = {"q": q, "k": k, "v": v, "o": np.broadcast_to(v, shape).copy(), "dO": dO}
    inputs = {name: program.give(array, FP8) for name, array in arrays.items()}
    stats = SCALE * np.sum(decoded(q) * decoded(k), -1, keepdims=True)
    inputs["stats"] = program.give(stats.astype(np.float32), FLOAT)
    factors = dict.fromkeys(BACKWARD_SCALES, 1.0) | {"descale_v": 4.0, "descale_o": 4.0, "scale_dQ": 16.0}
    scales = {name: program.number(value) for name, value in factors.items()}
    results = program.graph.sdpa_fp8_backward(**inputs, **scales, attn_scale=SCALE)
    shapes = (shape, k.shape, v.shape)
    dQ, dK, dV = (program.take(x, size, HALF, np.float16) for x, size in zip(results, shapes))
    for x in results[3:]:
        program.take(x, (1, 1, 1, 1), FLOAT, np.float32)
    program.run()
    assert program.graph.verify(program.pack).ok and np.abs(dQ).max() == 0
    size = 16 * 4 * SCALE * np.sqrt(32 * np.prod([np.mean(decoded(x) ** 2) for x in (dO, v, k)]))
    dQ += size * 2.0**-14
    assert program.graph.verify(program.pack).ok
    dQ += size * 2.0**-3
    assert [result["wrong"] for result in program.graph.verify(program.pack).results][:3] == [dQ.size, 0, 0]


def block_scales(program, exponent, axis):
    """Scales of SHAPE that are all 2**exponent, so that their order does not show. Programs of the existing package
    give the axis of the blocks a stride of 1."""
    array = np.full([2, 2, 128, 4], 127 + exponent, np.uint8)
    array = array if axis == 3 else array.transpose(0, 1, 3, 2)
    reordering = cudnn.tensor_reordering.F8_128x4
    return program.give(array, cudnn.data_type.FP8_E8M0, reordering_type=reordering)


@pytest.mark.parametrize("masked", [False, True])
def test_block_scales_forward(masked):
    program = Program()
    inputs = {name: program.give(codes(seed), FP8) for seed, name in enumerate("qkv")}
    scales = {
        name: block_scales(program, exponent, axis)
        for name, exponent, axis in (("descale_q", -1, 3), ("descale_k", 0, 3), ("descale_v", 1, 2))
    }
    options = {"diagonal_band_left_bound": 128, "diagonal_band_right_bound": 0} if masked else {}
    o, stats, amax = program.graph.sdpa_mxfp8(**inputs, **scales, attn_scale=SCALE, generate_stats=True, **options)
    result = program.take(o, SHAPE, HALF, np.float16)
    found_stats = program.take(stats, (2, 2, 128, 1), FLOAT, np.float32)
    found_amax = program.take(amax, (1, 1, 1, 1), FLOAT, np.float32)
    program.run()
    q, k, v = (decoded(codes(seed)) for seed in range(3))
    wanted, wanted_stats = attention(0.5 * q, k, 2 * v, SCALE, causal(128, 128) if masked else None)
    np.testing.assert_allclose(result, wanted, atol=4 * 2.0**-4)
    np.testing.assert_allclose(found_stats, wanted_stats, atol=1e-4)
    assert abs(found_amax.item() - np.abs(wanted).max()) < 4 * 2.0**-4


def test_block_scales_backward():
    codes_of = {name: codes(seed) for seed, name in enumerate(("q", "k", "v", "dO"))}
    q, k, v, dO = numbers = [decoded(x) for x in codes_of.values()]
    o, stats = attention(q, k, v, SCALE)
    program = Program()
    names = ("q", "q_T", "k", "k_T", "v", "dO", "dO_T")
    given = {name: program.give(codes_of[name.removesuffix("_T")], FP8) for name in names}
    given |= {name: program.give(x.astype(np.float16), HALF) for name, x in (("o_f16", o), ("dO_f16", dO))}
    given["stats"] = program.give(stats.astype(np.float32), FLOAT)
    for name in names:
        given[f"descale_{name}"] = block_scales(program, 0, 2 if name.endswith("_T") else 3)
    results = program.graph.sdpa_mxfp8_backward(**given, attn_scale=SCALE, use_deterministic_algorithm=True)
    assert len(results) == 6
    found = [program.take(x, SHAPE, HALF, np.float16) for x in results[:3]]
    amaxes = [program.take(x, (1, 1, 1, 1), FLOAT, np.float32) for x in results[3:]]
    program.run()
    for array, right, amax in zip(found, gradients(*numbers, SCALE), amaxes):
        assert np.abs(array.astype(np.float64) - right).max() < 0.05 * np.abs(right).max()
        assert abs(amax.item() - np.abs(right).max()) < 0.05 * np.abs(right).max()


@pytest.mark.parametrize("method, count", [("sdpa_fp8", 9), ("sdpa_mxfp8", 6)])
def test_whether_there_are_stats_is_said_once(method, count):
    graph = cudnn.pygraph(target="cpu")
    inputs = [graph.tensor((1, 1, 1, 1)) for _ in range(count)]
    for given in ({}, {"generate_stats": True, "is_inference": True}):
        with pytest.raises(RuntimeError, match=f"{method}: exactly one of generate_stats and is_inference"):
            getattr(graph, method)(*inputs, **given)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"use_causal_mask": True, "right_bound": 1}, "a right bound of 0; set either it or right_bound"),
        ({"sliding_window": 3, "left_bound": 3}, "sliding_window is the left bound; set either it or left_bound"),
        ({"use_causal_mask": True, "use_causal_mask_bottom_right": True}, "are two masks; set one of them"),
        ({"fn": 3}, "fn is a int: a callable"),
    ],
)
def test_options_that_exclude_each_other(options, text):
    graph = cudnn.pygraph(target="cpu")
    inputs = [graph.tensor((1, 1, 1, 1)) for _ in range(9)]
    with pytest.raises(RuntimeError, match=f"sdpa_fp8: .*{text}"):
        graph.sdpa_fp8(*inputs, generate_stats=False, **options)


@pytest.mark.parametrize(
    "call, advice",
    [
        (lambda graph, x: graph.block_scale_quantize(x, block_size=32, axis=3), "quantize the numbers before the run"),
        (lambda graph, x: graph.block_scale_dequantize(x, x, block_size=[1, 32]), "accept numbers with their scales"),
        (lambda graph, x: graph.concatenate([x, x], axis=1, in_place_index=0), "slices of one array"),
    ],
)
def test_nodes_that_are_missing_say_so(call, advice):
    graph = cudnn.pygraph(target="cpu")
    text = r"\[python\.c01\] .* has no such node.*" + advice
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match=text) as error:
        call(graph, graph.tensor((1, 1, 32, 32)))
    assert (error.value.rule, error.value.code) == ("python.c01", "GRAPH_NOT_SUPPORTED")


def test_older_names():
    graph = cudnn.pygraph("old", FLOAT, FLOAT, FLOAT, target="cpu")
    q, k, v = (np.random.default_rng(seed).standard_normal(SHAPE, np.float32) for seed in range(3))
    given = [graph.tensor_like(x) for x in (q, k, v)]
    o, stats = graph.scaled_dot_product_flash_attention(*given, attn_scale=SCALE, is_inference=False, name="old")
    result, sums = np.empty_like(q), np.empty((2, 2, 128, 1), np.float32)
    dO = graph.tensor_like(q)
    gradient, _, _ = graph.scaled_dot_product_flash_attention_backward(*given, o, dO, stats, attn_scale=SCALE)
    for tensor in (o, stats, gradient):
        tensor.set_output(True)
    stats.set_data_type(FLOAT)
    graph.build([cudnn.heur_mode.A])
    dQ = np.empty_like(q)
    graph.execute({**dict(zip(given, (q, k, v))), o: result, stats: sums, dO: q, gradient: dQ})
    np.testing.assert_allclose(result, attention(q, k, v, SCALE)[0], atol=1e-4)
    np.testing.assert_allclose(dQ, gradients(q, k, v, q, SCALE)[0], atol=1e-3)
