"""Attention as a function of arrays."""

import numpy as np
import pytest
from attention import attention, causal, qkv, random, tolerance
from sdpa_graph import _core
from sdpa_graph.numpy import scaled_dot_product_attention, scaled_dot_product_attention_backward
from sdpa_graph.score_modifiers import softcap

SCALE = 1 / 4


def check(found, expected, dtype=np.float32):
    np.testing.assert_allclose(found, expected, atol=tolerance(dtype, 40))


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_plain_and_causal(target, dtype):
    q, k, v = qkv(dtype=dtype)
    check(scaled_dot_product_attention(q, k, v, target=target), attention(q, k, v, SCALE)[0], dtype)
    o, stats = scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.5, return_stats=True, target=target)
    expected, expected_stats = attention(q, k, v, 0.5, causal(40, 40))
    check(o, expected, dtype)
    check(stats, expected_stats)


def test_masks_and_bounds():
    q, k, v = qkv()
    mask = np.random.default_rng(0).random((40, 40)) < 0.5
    mask |= np.eye(40, dtype=bool)
    check(scaled_dot_product_attention(q, k, v, mask), attention(q, k, v, SCALE, mask)[0])
    bias = random((2, 1, 40, 40), seed=9)
    scores = SCALE * q.astype(float) @ k.transpose(0, 1, 3, 2) + bias
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    check(scaled_dot_product_attention(q, k, v, bias), weights / weights.sum(-1, keepdims=True) @ v)
    i, j = np.mgrid[:40, :40]
    band = (i - 5 < j) & (j <= i + 2)
    check(scaled_dot_product_attention(q, k, v, left_bound=5, right_bound=2), attention(q, k, v, SCALE, band)[0])


def test_lengths_and_heads_that_are_shared():
    q, (k, v) = random((2, 6, 40, 16)), [random((2, 2, 40, 16), seed=s) for s in (2, 3)]
    lengths = np.array([40, 7])
    keep = np.arange(40) < lengths[:, None, None, None]
    found = scaled_dot_product_attention(q, k, v, enable_gqa=True, seq_len_kv=lengths)
    check(found, attention(q, k, v, SCALE, keep)[0])


def test_strides_are_kept_and_not_copied():
    q, k, v = (x.transpose(0, 2, 1, 3) for x in qkv((2, 40, 3, 16)))
    found = scaled_dot_product_attention(q, k, v)
    check(found, attention(q, k, v, SCALE)[0])
    assert found.strides == q.strides


def test_a_sink_takes_its_part():
    q, k, v = qkv()
    sink = np.array([0.5, 1.0, 2.0], np.float32)
    scores = SCALE * q.astype(float) @ k.transpose(0, 1, 3, 2)
    weights = np.exp(scores)
    expected = weights / (weights.sum(-1, keepdims=True) + np.exp(sink)[:, None, None]) @ v
    check(scaled_dot_product_attention(q, k, v, sink=sink), expected)


def test_plans_are_kept():
    def built():
        return _core.plan_counts()["built"]

    q, k, v = qkv((1, 1, 9, 16))
    scaled_dot_product_attention(q, k, v)
    before = built()
    scaled_dot_product_attention(q, k, v)
    assert built() == before
    scaled_dot_product_attention(q, k, v, is_causal=True)
    assert built() == before + 1


def test_arrays_without_elements():
    q, k, v = qkv((2, 3, 9, 16))
    o, stats = scaled_dot_product_attention(q, k[:, :, :0], v[:, :, :0], return_stats=True)
    assert o.shape == q.shape and not o.any() and (stats == -np.inf).all()
    found = scaled_dot_product_attention_backward(o, q, k[:, :, :0], v[:, :, :0], o, stats)
    assert found.key.shape == (2, 3, 0, 16) and not found.query.any()


def test_arrays_whose_rows_have_gaps():
    wide = qkv((2, 3, 9, 32))
    q, k, v = (array[..., ::2] for array in wide)
    check(scaled_dot_product_attention(q, k, v), attention(q, k, v, SCALE)[0])


@pytest.mark.parametrize("target", ["cuda", "offline:h100"])
def test_targets_of_gpus_are_refused(target):
    with pytest.raises(RuntimeError, match=f"the target {target.split(':')[0]} for tensors of a CPU"):
        scaled_dot_product_attention(*qkv(), target=target)


def test_faults():
    q, k, v = qkv()
    with pytest.raises(ValueError, match="query has 3 dims: 4 are needed"):
        scaled_dot_product_attention(q[0], k, v)
    with pytest.raises(ValueError, match="3, 1 and 1 heads: enable_gqa=True"):
        scaled_dot_product_attention(q, k[:, :1], v[:, :1])
    with pytest.raises(ValueError, match="is_causal is a right bound of 0, and right_bound is 3"):
        scaled_dot_product_attention(q, k, v, is_causal=True, right_bound=3)
    o, stats = scaled_dot_product_attention(q, k, v, return_stats=True)
    with pytest.raises(TypeError, match="return_stats, windows: scaled_dot_product_attention.. has no such option"):
        scaled_dot_product_attention_backward(o, q, k, v, o, stats, windows=3, return_stats=True)
    with pytest.raises((ValueError, RuntimeError)) as error:
        scaled_dot_product_attention(q, k[..., :8], v)
    assert error.value.rule in str(error.value)


@pytest.mark.parametrize("cap", [-1.0, np.inf, np.nan])
def test_softcaps_are_finite(cap):
    with pytest.raises(ValueError, match=f"softcap is {cap}: a finite number above 0 is needed"):
        scaled_dot_product_attention(*qkv(), softcap=cap)
    with pytest.raises(ValueError, match=f"the cap is {cap}: a finite number above 0 is needed"):
        softcap(cap)


def test_a_softcap_of_0_is_off():
    q, k, v = qkv()
    found = scaled_dot_product_attention(q, k, v, softcap=0.0)
    np.testing.assert_array_equal(found, scaled_dot_product_attention(q, k, v))
    assert np.abs(found - scaled_dot_product_attention(q, k, v, softcap=0.5)).max() > 0.01


class Tensor:
    """An array of another library."""

    shape = (2, 3, 40, 16)


@pytest.mark.parametrize("given", [Tensor(), [[1.0]], None])
@pytest.mark.parametrize("name", ["query", "key", "value", "attn_mask"])
def test_arrays_of_other_libraries(name, given):
    if name == "attn_mask" and given is None:
        given = 3  # None is no mask
    arrays = {**dict(zip(("query", "key", "value"), qkv())), name: given}
    kind = {"Tensor": "test_numpy.Tensor"}.get(type(given).__name__, type(given).__name__)
    with pytest.raises(TypeError, match=f"{name} is a {kind}: an array of NumPy is needed; sdpa_graph.torch has"):
        scaled_dot_product_attention(**arrays)


@pytest.mark.parametrize("dtype", [np.complex64, np.uint16, "M8[s]", object])
def test_types_that_the_library_does_not_have(dtype):
    q, k, v = qkv()
    with pytest.raises(TypeError, match="q is an array of .*, which the library does not have: convert it to float32"):
        scaled_dot_product_attention(np.zeros(q.shape, dtype), k, v)


@pytest.mark.parametrize("seed, error, text", [(1.5, TypeError, "float"), (2**63, ValueError, "an integer of 64 bits")])
def test_seeds_are_integers(seed, error, text):
    with pytest.raises(error, match=text):
        scaled_dot_product_attention(*qkv(), dropout_p=0.5, seed=seed)


def test_numbers_are_real():
    q, k, v = qkv()
    for given, text in (
        ({"attn_mask": np.zeros((40, 40), complex)}, "attn_mask is an array of complex128: truth values or numbers"),
        ({"attn_mask": np.full((40, 40), "a")}, "attn_mask is an array of <U1: truth values or numbers are needed"),
        ({"sink": np.zeros(3, complex)}, "sink has complex numbers: real ones are needed"),
        ({"softcap": "2"}, "softcap is a str: a number is needed"),
    ):
        with pytest.raises(TypeError, match=text):
            scaled_dot_product_attention(q, k, v, **given)
