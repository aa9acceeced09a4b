"""The gradients of attention as a function, against the slope of its forward on the reference target."""

import numpy as np
import pytest
from attention import qkv, random
from sdpa_graph.numpy import scaled_dot_product_attention, scaled_dot_product_attention_backward

BATCH, HEADS, TOKENS, SIZE = 2, 4, 24, 16
ENDS = np.array([0, 7, 24, 40], np.int32)
MASK = random((1, HEADS, TOKENS, TOKENS), seed=11)
SINK = random((HEADS,), seed=12)

CASES = {
    "plain": {},
    "causal": {"is_causal": True, "scale": 0.3},
    "window": {"left_bound": 5, "right_bound": 2},
    "bottom right": {"is_causal": True, "left_bound": 9, "bottom_right": True, "seq_len_kv": np.array([24, 20])},
    "alibi": {"alibi": True, "is_causal": True},
    "softcap": {"softcap": 1.5},
    "softcap and window": {"softcap": 2.0, "left_bound": 6, "is_causal": True},
    "dropout": {"dropout_p": 0.25, "seed": 5},
    "lengths": {"seq_len_q": np.array([24, 11]), "seq_len_kv": np.array([17, 24])},
    "mask": {"attn_mask": MASK},
    "mask of rows": {"attn_mask": MASK[:, :1]},
    "mask of keys": {"attn_mask": MASK[:, :, :1]},
    "mask of truth values": {"attn_mask": np.tril(np.ones((TOKENS, TOKENS), bool), 3)},
    "sink": {"sink": SINK},
    "sink and causal": {"sink": SINK, "is_causal": True},
    "shared heads": {"enable_gqa": True},
    "packed": {"cu_seqlens_q": ENDS, "cu_seqlens_kv": ENDS, "is_causal": True},
}


def arrays(name):
    """query, key, value and the gradient of the output."""
    kv_heads = 2 if name == "shared heads" else HEADS
    if name == "packed":
        return [random((ENDS[-1] + 3, HEADS, SIZE), seed=s) for s in range(4)]
    shapes = [(BATCH, heads, TOKENS, SIZE) for heads in (HEADS, kv_heads, kv_heads, HEADS)]
    return [random(shape, seed=seed) for seed, shape in enumerate(shapes)]


def gradients(name, target="cpu", **changes):
    *inputs, grad = arrays(name)
    options = {**CASES[name], **changes}
    mask = options.pop("attn_mask", None)
    o, stats = scaled_dot_product_attention(*inputs, mask, **options, return_stats=True, target=target)
    return scaled_dot_product_attention_backward(grad, *inputs, o, stats, mask, **options, target=target)


def slope(name, operand, direction, step):
    """The slope of the loss sum(grad * output) where the operand moves along the direction."""
    *inputs, grad = arrays(name)
    given = {**dict(zip(("query", "key", "value"), inputs)), **CASES[name]}

    def loss(distance):
        moved = {**given, operand: given[operand] + np.float32(distance) * direction}
        return (scaled_dot_product_attention(**moved, target="reference").astype(np.float64) * grad).sum()

    return (loss(step) - loss(-step)) / (2 * step)


def operands(name):
    mask = CASES[name].get("attn_mask")
    extras = ["attn_mask"] if mask is not None and mask.dtype != bool else []
    return ["query", "key", "value", *extras, *(["sink"] if "sink" in CASES[name] else [])]


@pytest.mark.parametrize("name, operand", [(name, operand) for name in CASES for operand in operands(name)])
def test_gradients_are_slopes(name, operand):
    found = getattr(gradients(name), operand)
    direction, step = random(found.shape, seed=21), 2.0**-7
    expected, found = slope(name, operand, direction, step), (found.astype(np.float64) * direction).sum()
    # Results are rounded to float, each for itself, and the quotient leaves out terms of the step's square.
    count = arrays(name)[3].size
    assert abs(found) > 0.1
    assert abs(found - expected) < 4 * np.sqrt(count) * np.finfo(np.float32).eps / step + step**2 * np.sqrt(count)


@pytest.mark.parametrize("name", CASES)
def test_targets_agree(name):
    for found, expected in zip(gradients(name), gradients(name, "reference")):
        if expected is not None:
            # Sums of at most as many terms as there are queries, of numbers about 1.
            np.testing.assert_allclose(found, expected, atol=BATCH * TOKENS * 2.0**-20, rtol=2.0**-18)


# The value of an option when it is off, where that is neither None nor False.
OFF = {"dropout_p": 0.0}
# Options without which the arrays make no sense.
NEEDED = {"enable_gqa", "cu_seqlens_q", "cu_seqlens_kv", "seed"}


@pytest.mark.parametrize("name", [name for name in CASES if set(CASES[name]) - NEEDED])
def test_each_option_counts(name):
    switched = {key: x for key, x in CASES[name].items() if key not in NEEDED}
    for option, value in switched.items():
        off = OFF.get(option, False if isinstance(value, bool) else None)
        assert np.abs(gradients(name).query - gradients(name, **{option: off}).query).max() > 1e-3, option


def test_rows_behind_a_length_have_no_gradient():
    found = gradients("lengths")
    assert np.abs(found.query[1, :, 10]).max() > 1e-3
    assert not found.query[1, :, 11:].any() and not found.key[0, :, 17:].any() and not found.value[0, :, 17:].any()
    assert not gradients("packed").query[ENDS[-1] :].any()


def test_dropout_needs_a_seed():
    with pytest.raises(ValueError, match="dropout_p is 0.5, and there is no seed"):
        scaled_dot_product_attention(*qkv(), dropout_p=0.5)
