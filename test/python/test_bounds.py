"""Lengths, ends of packed sequences and page tables that reach behind the arrays: nothing there is read or written."""

import numpy as np
import pytest
from attention import qkv, random
from sdpa_graph import allocation
from sdpa_graph.numpy import scaled_dot_product_attention, scaled_dot_product_attention_backward

TOKENS, HEADS, SIZE, GUARD = 20, 2, 16, 9


def guarded(seed):
    """A packed array, and the longer array that it begins. The rest holds a number that nothing computes."""
    whole = np.full((TOKENS + GUARD, HEADS, SIZE), 2.0**40, np.float32)
    whole[:TOKENS] = random((TOKENS, HEADS, SIZE), seed=seed)
    return whole[:TOKENS], whole


@pytest.fixture
def results(monkeypatch):
    """Collects the memory of all results, with rows behind it that nothing may write."""
    made = []
    own = allocation._numpy_array

    def allocate(dim, stride, kind):
        whole = own([dim[0] + GUARD, *dim[1:]], stride, kind)
        whole.fill(-(2**7))
        made.append((whole, dim[0]))
        return whole[: dim[0]]

    monkeypatch.setattr(allocation, "_numpy_array", allocate)
    return made


def check_guards(results, *inputs):
    for whole in inputs:
        assert (whole[TOKENS:] == 2.0**40).all()
    for whole, count in results:
        assert (whole[count:] == -(2**7)).all()


def test_sequences_within_the_arrays_leave_the_rest_alone(results):
    (q, all_q), (k, all_k), (v, all_v) = (guarded(seed) for seed in (1, 2, 3))
    ends = {"cu_seqlens_q": [0, 8, TOKENS], "cu_seqlens_kv": np.array([0, 3, TOKENS], np.uint16)}
    o, stats = scaled_dot_product_attention(q, k, v, **ends, return_stats=True)
    assert np.abs(o).max() < 10 and np.isfinite(stats).all()
    found = scaled_dot_product_attention_backward(o, q, k, v, o, stats, **ends)
    assert all(np.abs(gradient).max() < 1000 for gradient in found[:3])
    assert len(results) == 5
    check_guards(results, all_q, all_k, all_v)


# Ends, and the message behind the name of the argument.
FAULTY_ENDS = {
    "behind the arrays": ([0, 8, TOKENS + 1], r"\[2\] is 21: a number from 8 to 20 is needed, the tokens that"),
    "far behind the arrays": ([0, 2**31 - 1], r"\[1\] is 2147483647: a number from 0 to 20 is needed"),
    "before the arrays": ([-4, TOKENS], r"\[0\] is -4: a number from 0 to 20 is needed"),
    "falling": ([0, 12, 8, TOKENS], r"\[2\] is 8: a number from 12 to 20 is needed"),
    "of more than 32 bits": ([0, 2**32 + TOKENS], " has an entry of 4294967316: integers of 32 bits are needed"),
    "of no sequence": ([0], r" has shape \(1,\): one dim is needed"),
    "of two dims": ([[0, TOKENS]], r" has shape \(1, 2\): one dim is needed"),
}


@pytest.mark.parametrize("side", ["q", "kv"])
@pytest.mark.parametrize("name", FAULTY_ENDS)
def test_ends_are_refused(results, side, name):
    (q, all_q), (k, all_k), (v, all_v) = (guarded(seed) for seed in (1, 2, 3))
    faulty, text = FAULTY_ENDS[name]
    ends = {"cu_seqlens_q": [0, 8, TOKENS], "cu_seqlens_kv": [0, 8, TOKENS], "cu_seqlens_" + side: faulty}
    with pytest.raises(ValueError, match=f"cu_seqlens_{side}{text}"):
        scaled_dot_product_attention(q, k, v, **ends)
    o = stats = random((TOKENS, HEADS, SIZE))
    with pytest.raises(ValueError, match=f"cu_seqlens_{side}"):
        scaled_dot_product_attention_backward(o, q, k, v, o, stats[..., :1].copy(), **ends)
    check_guards(results, all_q, all_k, all_v)


def test_values_have_the_tokens_of_keys():
    q, k, v = (random((TOKENS, HEADS, SIZE), seed=seed) for seed in (1, 2, 3))
    ends = {"cu_seqlens_q": [0, TOKENS], "cu_seqlens_kv": [0, TOKENS]}
    with pytest.raises(ValueError, match="key has 20 tokens, and value 19: equal numbers are needed"):
        scaled_dot_product_attention(q, k, v[:-1], **ends)


@pytest.mark.parametrize("name", ["grad", "output", "stats"])
def test_what_backward_reads_has_the_tokens_of_queries(name):
    q, k, v = (random((TOKENS, HEADS, SIZE), seed=seed) for seed in (1, 2, 3))
    ends = {"cu_seqlens_q": [0, TOKENS], "cu_seqlens_kv": [0, TOKENS]}
    o, stats = scaled_dot_product_attention(q, k, v, **ends, return_stats=True)
    given = {"grad": o, "output": o, "stats": stats}
    given[name] = given[name][:-1]
    last = 1 if name == "stats" else SIZE
    text = rf"{name} has shape \(19, 2, {last}\): \(20, 2, {last}\) is needed, as forward gave it"
    with pytest.raises(ValueError, match=text):
        scaled_dot_product_attention_backward(given["grad"], q, k, v, given["output"], given["stats"], **ends)


PAGES = {"page_table": np.array([[3, 0], [1, 2]]), "seq_len_kv": np.array([7, 8])}


@pytest.mark.parametrize(
    "name, options",
    [("seq_len_kv", {"seq_len_kv": [7, 8]}), ("seq_len_q", {"seq_len_q": [7, 8]}), ("page_table", PAGES)],
)
@pytest.mark.parametrize(
    "change, error, text",
    [
        (lambda x: x + 0.5, TypeError, " has numbers of type float64: integers are needed; nothing is rounded"),
        (lambda x: x > 0, TypeError, " has numbers of type bool: integers are needed"),
        (lambda x: x + 2**32, ValueError, " has an entry of [0-9]*: integers of 32 bits are needed"),
        (lambda x: x - 2**33, ValueError, " has an entry of -[0-9]*: integers of 32 bits are needed"),
        (lambda x: x + 100, RuntimeError, "run.r04|attention.c18"),
        (lambda x: x - 100, RuntimeError, "run.r04|attention.c18"),
    ],
)
def test_lengths_and_pages_are_refused(name, options, change, error, text):
    q = random((2, 2, 8, SIZE))
    k, v = (random((4, 2, 4, SIZE) if name == "page_table" else q.shape, seed=seed) for seed in (2, 3))
    scaled_dot_product_attention(q, k, v, **options)
    text = text if text.startswith("run") else name + text
    with pytest.raises(error, match=text):
        scaled_dot_product_attention(q, k, v, **{**options, name: change(np.asarray(options[name]))})


def test_lengths_are_said_once():
    packed = [random((TOKENS, HEADS, SIZE), seed=seed) for seed in (1, 2, 3)]
    ends = {"cu_seqlens_q": [0, TOKENS], "cu_seqlens_kv": [0, TOKENS]}
    for side in ("q", "kv"):
        with pytest.raises(ValueError, match=f"cu_seqlens_{side} and seq_len_{side} are given"):
            scaled_dot_product_attention(*packed, **ends, **{"seq_len_" + side: [TOKENS]})
    with pytest.raises(ValueError, match="cu_seqlens_kv and page_table are given"):
        scaled_dot_product_attention(*packed, **ends, page_table=[[0]])
    with pytest.raises(ValueError, match="page_table has 1 dims: 2 are needed"):
        scaled_dot_product_attention(*qkv(), page_table=[0, 1])
    with pytest.raises(ValueError, match="page_table is given: keys in pages have no gradient"):
        o = packed[0]
        scaled_dot_product_attention_backward(o, *packed, o, o[..., :1], page_table=[[0]])


def test_sequences_without_tokens():
    q, k, v = (random((TOKENS, HEADS, SIZE), seed=seed) for seed in (1, 2, 3))
    o = scaled_dot_product_attention(q, k, v, cu_seqlens_q=[0, 0, 0], cu_seqlens_kv=[0, 0, 0])
    assert o.shape == q.shape and not o.any()
