"""Forms of attention other than the plain one: 8-bit tensors, dropout, lengths, pages."""

import cudnn
import numpy as np
import pytest
from attention import attention, qkv, random, tolerance
from fp8 import decoded

FLOAT, FP8 = cudnn.data_type.FLOAT, cudnn.data_type.FP8_E4M3


def test_fp8():
    codes = [np.random.default_rng(s).choice([0x00, 0x30, 0x38, 0x40, 0xB0, 0xB8], (2, 2, 16, 16)) for s in (1, 2, 3)]
    q, k, v = (x.astype(np.uint8) for x in codes)
    graph = cudnn.pygraph("fp8", FP8, FLOAT, FLOAT, target="cpu")
    dim, stride = q.shape, [512, 256, 16, 1]
    inputs = [graph.tensor(dim, stride, FP8, name=name) for name in "qkv"]
    scales = [graph.tensor([1] * 4, [1] * 4, FLOAT, name=name) for name in ("dq", "dk", "dv", "ds", "ss", "so")]
    o, stats, amax_s, amax_o = graph.sdpa_fp8(*inputs, *scales, generate_stats=False, attn_scale=0.25)
    assert stats is None
    o.set_output(True).set_data_type(FP8)
    for amax in (amax_s, amax_o):
        amax.set_output(True).set_dim([1] * 4).set_stride([1] * 4).set_data_type(FLOAT)
    graph.build([cudnn.heur_mode.A])
    result, amaxes = np.empty(dim, np.uint8), np.zeros((2, 1, 1, 1, 1), np.float32)
    factors = np.array([1, 0.5, 1, 1 / 128, 128, 1], np.float32).reshape(6, 1, 1, 1, 1)
    pack = {
        **dict(zip(inputs, (q, k, v))),
        **dict(zip(scales, factors)),
        o: result,
        amax_s: amaxes[0],
        amax_o: amaxes[1],
    }
    graph.execute(pack)
    values = [decoded(x) for x in (q, k, v)]
    expected, _ = attention(*values, 0.25 * 0.5)
    # Probabilities and results are rounded to three bits, and values are 2 at most.
    np.testing.assert_allclose(decoded(result), expected, atol=2 * 2 * 2.0**-4)
    assert abs(amaxes[1].item() - np.abs(expected).max()) < 2 * 2.0**-4
    with pytest.raises(TypeError, match="2 required positional arguments: 'scale_s' and 'scale_o'"):
        graph.sdpa_fp8(*inputs, *scales[:4], generate_stats=False)


def dropped(seed):
    """O, and what was kept."""
    q, k, v = qkv()
    graph = cudnn.pygraph("dropout", FLOAT, FLOAT, FLOAT, target="cpu")
    inputs = [graph.tensor_like(x) for x in (q, k, v)]
    numbers = [graph.tensor([1] * 4, [1] * 4, cudnn.data_type.INT64) for _ in range(2)]
    kept = graph.tensor([2, 3, 40, 40], [4800, 1600, 40, 1], FLOAT)
    dropout = (0.5, *numbers)
    o, _ = graph.sdpa(*inputs, generate_stats=False, attn_scale=0.25, dropout=dropout, rng_dump=kept)
    o.set_output(True)
    graph.build([cudnn.heur_mode.A])
    mask, result = np.zeros((2, 3, 40, 40), np.float32), np.empty_like(q)
    values = [np.array([x], np.int64) for x in (seed, 1)]
    graph.execute({**dict(zip(inputs, (q, k, v))), **dict(zip(numbers, values)), kept: mask, o: result})
    return result, mask


def test_dropout():
    (o, kept), (again, _), (other, _) = dropped(7), dropped(7), dropped(8)
    q, k, v = qkv()
    weights = np.exp(0.25 * q.astype(float) @ k.transpose(0, 1, 3, 2))
    weights *= 2 * kept / weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(o, weights @ v, atol=tolerance(np.float32, 40))
    np.testing.assert_array_equal(o, again)
    assert np.abs(o - other).max() > 0.1 and 0.4 < kept.mean() < 0.6


def test_lengths():
    q, k, v = qkv()
    graph = cudnn.pygraph("lengths", FLOAT, FLOAT, FLOAT, target="cpu")
    inputs = [graph.tensor_like(x) for x in (q, k, v)]
    lengths = [np.array(x, np.int32).reshape(2, 1, 1, 1) for x in ((40, 30), (5, 40))]
    len_q, len_kv = (graph.tensor_like(x) for x in lengths)
    options = {"use_padding_mask": True, "seq_len_q": len_q, "seq_len_kv": len_kv}
    o, _ = graph.sdpa(*inputs, is_inference=True, attn_scale=0.25, **options)
    o.set_output(True)
    graph.build([cudnn.heur_mode.A])
    result = np.empty_like(q)
    graph.execute({**dict(zip(inputs, (q, k, v))), len_q: lengths[0], len_kv: lengths[1], o: result})
    expected, _ = attention(q, k, v, 0.25, np.arange(40) < lengths[1])
    expected[1, :, 30:] = 0
    np.testing.assert_allclose(result, expected, atol=tolerance(np.float32, 40))


def test_pages():
    q, pages = random((2, 2, 1, 16), seed=1), [random((8, 2, 4, 16), seed=s) for s in (2, 3)]
    tables = np.array([[3, 0, 5], [1, 7, 2]], np.int32).reshape(2, 1, 3, 1)
    lengths = np.array([10, 12], np.int32).reshape(2, 1, 1, 1)
    graph = cudnn.pygraph("pages", FLOAT, FLOAT, FLOAT, target="cpu")
    arrays = (q, *pages, tables, lengths, np.ones((2, 1, 1, 1), np.int32))
    Q, K, V, table, len_kv, len_q = tensors = [graph.tensor_like(x) for x in arrays]
    o, _ = graph.sdpa(
        Q,
        K,
        V,
        is_inference=True,
        use_padding_mask=True,
        seq_len_q=len_q,
        seq_len_kv=len_kv,
        paged_attention_k_table=table,
        paged_attention_v_table=table,
        paged_attention_max_seq_len_kv=12,
    )
    o.set_output(True)
    graph.build([cudnn.heur_mode.A])
    result = np.empty_like(q)
    graph.execute({**dict(zip(tensors, arrays)), o: result})
    k, v = (np.stack([np.concatenate(x[row.ravel()], 1) for row in tables]) for x in pages)
    expected, _ = attention(q, k, v, 1.0, np.arange(12) < lengths)
    np.testing.assert_allclose(result, expected, atol=tolerance(np.float32, 16))
