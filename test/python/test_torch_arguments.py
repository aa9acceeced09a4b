"""Arguments that functions over tensors of torch refuse, on the host. Needs torch."""

import numpy as np
import pytest
from attention import random
from test_bounds import FAULTY_ENDS, HEADS, SIZE, TOKENS
from test_memory_faults import packed_graph

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch


@pytest.fixture
def attend():
    from sdpa_graph.torch import scaled_dot_product_attention

    return scaled_dot_product_attention


def packed():
    return [torch.from_numpy(random((TOKENS, HEADS, SIZE), seed=seed)) for seed in (1, 2, 3)]


def compiled(function):
    return torch.compile(function, fullgraph=True, backend="aot_eager")


@pytest.mark.parametrize("side", ["q", "kv"])
@pytest.mark.parametrize("name", FAULTY_ENDS)
@pytest.mark.parametrize("longest", [{}, {"max_seqlen_q": 2**20, "max_seqlen_kv": 2**20}])
def test_ends_are_refused(attend, side, name, longest):
    numbers, text = FAULTY_ENDS[name]
    text = rf"({text}|\[1\] is 4294967316)"  # which is read, and so checked, before it becomes 32 bits
    ends = {"cu_seqlens_q": torch.tensor([0, 8, TOKENS]), "cu_seqlens_kv": torch.tensor([0, 8, TOKENS])}
    with pytest.raises(ValueError, match=f"cu_seqlens_{side}{text}"):
        attend(*packed(), **{**ends, "cu_seqlens_" + side: torch.tensor(numbers)}, **longest)


def test_ends_are_refused_under_compile(attend):
    ends = torch.tensor([0, 8, TOKENS + 1], dtype=torch.int32)
    options = {"cu_seqlens_q": ends, "cu_seqlens_kv": ends, "max_seqlen_q": TOKENS, "max_seqlen_kv": TOKENS}
    with pytest.raises(ValueError, match=r"cu_seqlens_q\[2\] is 21: a number from 8 to 20 is needed"):
        compiled(attend)(*packed(), **options)


def test_sequences_are_not_longer_than_is_said(attend):
    ends = torch.tensor([0, 8, TOKENS])
    options = {"cu_seqlens_q": ends, "cu_seqlens_kv": ends}
    with pytest.raises(ValueError, match="a sequence of cu_seqlens_q has 12 tokens: more than the 11 that max_seqlen_q"):
        attend(*packed(), **options, max_seqlen_q=11)
    for given, error, text in (
        (-1, ValueError, "is -1: a number from 0 to"),
        (12.5, TypeError, "is a float: an integer"),
    ):
        with pytest.raises(error, match="max_seqlen_kv " + text):
            attend(*packed(), **options, max_seqlen_kv=given)
    padded = [x.reshape(1, TOKENS, HEADS, SIZE).transpose(1, 2) for x in packed()]
    with pytest.raises(ValueError, match="max_seqlen_q is given without cu_seqlens_q: it has no meaning then"):
        attend(*padded, max_seqlen_q=11)


@pytest.mark.parametrize("name", ["seq_len_q", "seq_len_kv"])
@pytest.mark.parametrize(
    "lengths, error, text",
    [
        (torch.tensor([7.5, 8.0]), TypeError, " has numbers of type torch.float32: integers are needed"),
        (torch.tensor([True, False]), TypeError, " has numbers of type torch.bool: integers are needed"),
        (torch.tensor([7, 2**32 + 8]), ValueError, " has an entry of 4294967304: integers of 32 bits are needed"),
        (torch.tensor([7, 9]), RuntimeError, "attention.c18"),
        ([7, 8], TypeError, " is a list: a tensor of torch is needed; torch.from_numpy makes one"),
    ],
)
def test_lengths_are_refused(attend, name, lengths, error, text):
    q, k, v = (torch.from_numpy(random((2, 2, 8, SIZE), seed=seed)) for seed in (1, 2, 3))
    attend(q, k, v, **{name: torch.tensor([7, 8], dtype=torch.int16)})
    with pytest.raises(error, match=text if text.startswith("attention") else name + text):
        attend(q, k, v, **{name: lengths})


def test_pages_are_refused(attend):
    q = torch.from_numpy(random((2, 2, 8, SIZE)))
    k, v = (torch.from_numpy(random((4, 2, 4, SIZE), seed=seed)) for seed in (2, 3))
    table, lengths = torch.tensor([[3, 0], [1, 2]]), torch.tensor([7, 8])
    attend(q, k, v, page_table=table, seq_len_kv=lengths)
    for faulty, error, text in (
        (table.double(), TypeError, "page_table has numbers of type torch.float64"),
        (table + 2**32, ValueError, "page_table has an entry of 429496729[0-9]: integers of 32 bits"),
        (table + 1, RuntimeError, "run.r04"),
        (table[0], ValueError, "page_table has 1 dims: 2 are needed"),
        (table.numpy(), TypeError, "page_table is a numpy.ndarray: a tensor of torch is needed"),
    ):
        with pytest.raises(error, match=text):
            attend(q, k, v, page_table=faulty, seq_len_kv=lengths)


def test_softcaps(attend):
    q, k, v = (torch.from_numpy(random((2, 2, 8, SIZE), seed=seed)) for seed in (1, 2, 3))
    assert torch.equal(attend(q, k, v, softcap=0.0), attend(q, k, v))
    for cap in (-1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match=f"softcap is {cap}: a finite number above 0 is needed"):
            attend(q, k, v, softcap=cap)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"is_causal": "no"}, "is_causal is a str: True or False is needed"),
        ({"is_causal": 1}, "is_causal is a int: True or False is needed"),
        ({"dropout_p": None}, "dropout_p is a NoneType: a number is needed"),
        ({"dropout_p": "0.5"}, "dropout_p is a str: a number is needed"),
        ({"scale": "0.5"}, "scale is a str: a number is needed"),
        ({"scale": torch.tensor(0.5, requires_grad=True)}, "scale is a tensor that requires a gradient, .* multiply query by it"),
        ({"dropout_p": torch.tensor(0.5, requires_grad=True)}, "dropout_p is a tensor that requires a gradient"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"softcap": 2.0}])
def test_scalars(attend, options, text, more):
    q, k, v = (torch.from_numpy(random((2, 2, 8, SIZE), seed=seed)) for seed in (1, 2, 3))
    with pytest.raises(TypeError, match=text):
        attend(q, k, v, **options, **more)
    for scale in (1, np.float32(0.5), torch.tensor(0.5)):
        assert torch.equal(attend(q, k, v, scale=scale, **more), attend(q, k, v, scale=float(scale), **more))


@pytest.mark.parametrize("shape", [(8, 5), (5,), (2, 1, 4, 8), (3, 1, 8, 8), (1, 1, 1, 8, 8), (0, 8)])
def test_shapes_of_masks_that_learn(attend, shape):
    q, k, v = (torch.from_numpy(random((2, 2, 8, SIZE), seed=seed)) for seed in (1, 2, 3))
    texts = []
    for learns in (False, True):
        with pytest.raises((RuntimeError, ValueError)) as found:
            attend(q, k, v, torch.zeros(shape, requires_grad=learns))
        texts.append(str(found.value))
    assert texts[0] == texts[1] and ("bias" in texts[0] or "attn_mask" in texts[0])


def test_packed_sequences_end_within_their_storage():
    """A program may pass any tensor that begins where the storage does."""
    graph, pack, o = packed_graph(20, [0, 8, 20])
    pack = {tensor: torch.from_numpy(x) for tensor, x in pack.items()}
    results = [torch.empty(20, HEADS, SIZE), torch.empty(25, HEADS, SIZE)]
    for result in (results[0], results[1][:1]):
        graph.execute({**pack, o: result})
    assert torch.equal(results[0], results[1][:20])
    with pytest.raises(ValueError, match="2432 bytes of memory: its ragged offset 'starts' ends at 640"):
        graph.execute({**pack, o: torch.empty(19, HEADS, SIZE)})


def test_nested_tensors_come_together(attend):
    ends = torch.tensor([0, 8, TOKENS])
    nested = [torch.nested.nested_tensor_from_jagged(x, ends).transpose(1, 2) for x in packed()]
    plain = torch.from_numpy(random((2, HEADS, 12, SIZE)))
    with pytest.raises(ValueError, match="key is no nested tensor: query, key and value are needed as nested ones"):
        attend(nested[0], plain, nested[2])
    with pytest.raises(ValueError, match="query is no nested tensor"):
        attend(plain, nested[1], nested[2])
    with pytest.raises(ValueError, match="cu_seqlens_kv is given with nested tensors, which say their lengths themselves"):
        attend(*nested, cu_seqlens_kv=ends)


@pytest.mark.parametrize("lengths", [(3,), (1,), (2, 1)])
def test_nested_tensors_have_their_tokens_in_dim_2(attend, lengths):
    x = torch.nested.nested_tensor([torch.randn(n, 4, 8) for n in lengths], layout=torch.jagged)
    text = r"is a nested tensor of 4 dims whose tokens are dim 1: .* whose tokens are dim 2; {}.transpose\(1, 2\) makes them"
    with pytest.raises(ValueError, match="query " + text.format("query")):
        attend(x, x, x)
    with pytest.raises(ValueError, match="value " + text.format("value")):
        attend(x.transpose(1, 2), x.transpose(1, 2), x)


def test_lengths_of_nested_tensors_end_before_the_next_sequence(attend):
    starts, lengths = torch.tensor([0, 8, TOKENS]), torch.tensor([9, 3])
    nested = [torch.nested.nested_tensor_from_jagged(x, starts, lengths).transpose(1, 2) for x in packed()]
    with pytest.raises(ValueError, match=r"query is a nested tensor with lengths \[9, 3\] and offsets \[0, 8, 20\]: lengths"):
        attend(*nested)


ARRAYS = [np.zeros((2, 8, 2, SIZE), np.float32), [[1.0]], None]


@pytest.mark.parametrize("given", ARRAYS, ids=lambda given: type(given).__name__)
@pytest.mark.parametrize("place", range(3))
def test_arrays_of_other_libraries(attend, given, place):
    from sdpa_graph import flash_attn, natten

    tensor = torch.zeros(2, 2, 2, SIZE, dtype=torch.bfloat16)
    window, ends = {"kernel_size": 3}, torch.tensor([0, 16], dtype=torch.int32)
    for function, count, more, options in (
        (attend, 3, (), {}),
        (flash_attn.flash_attn_func, 3, (), {}),
        (flash_attn.flash_attn_varlen_func, 3, (ends, ends, 16, 16), {}),
        (flash_attn.flash_attn_with_kvcache, 3, (), {}),
        (flash_attn.flash_attn_qkvpacked_func, 1, (), {}),
        (flash_attn.flash_attn_kvpacked_func, 2, (), {}),
        (natten.na1d, 3, (), window),
        (natten.functional.na1d_qk, 2, (), window),
        (natten.functional.na1d_av, 2, (), window),
    ):
        if place < count:
            arguments = [given if index == place else tensor for index in range(count)]
            with pytest.raises(TypeError, match=" is a (numpy.ndarray|list|NoneType): a tensor of torch is needed"):
                function(*arguments, *more, **options)


def test_tensors_without_dense_memory(attend):
    q, k, v = (torch.from_numpy(random((2, 2, 8, SIZE), seed=seed)) for seed in (1, 2, 3))
    for given, text in ((q.to("meta"), "torch.strided tensor on meta"), (q.to_sparse(), "torch.sparse_coo tensor on")):
        with pytest.raises(ValueError, match=f"query is a {text}.*: a dense one on cpu or cuda is needed"):
            attend(given, k, v)
    for name, shape in (("attn_mask", (8, 8)), ("sink", (2,))):
        with pytest.raises(TypeError, match=f"{name} is a tensor of torch.complex64: real numbers are needed"):
            attend(q, k, v, **{name: torch.zeros(shape, dtype=torch.complex64)})


ROWS = torch.zeros(2, 8, 2, SIZE, dtype=torch.bfloat16)
ENDS = torch.tensor([0, 16], dtype=torch.int32)
PACKED = ROWS.reshape(16, 2, SIZE)
FLASH_FAULTS = {
    "few dims": ("func", (ROWS[0, 0, 0], ROWS, ROWS), {}, ValueError, r"q has 1 dims: 4 are needed, \(batch, tokens,"),
    "packed dims": ("varlen_func", (ROWS, PACKED, PACKED, ENDS, ENDS, 8, 8), {}, ValueError, "q has 4 dims: 3 are"),
    "ends": (
        "varlen_func",
        (PACKED, PACKED, PACKED, ENDS[0], ENDS, 8, 8),
        {},
        ValueError,
        "cu_seqlens_q has 0 dims: 1",
    ),
    "longest": ("varlen_func", (PACKED,) * 3 + (ENDS, ENDS, 2**40, 8), {}, ValueError, "max_seqlen_q is 1099511627776"),
    "parts": (
        "kvpacked_func",
        (ROWS, ROWS),
        {},
        ValueError,
        r"kv has shape \(2, 8, 2, 16\): \(..., 2, heads, head dim\)",
    ),
    "no parts": ("qkvpacked_func", (ROWS[0, 0],), {}, ValueError, "qkv has shape .2, 16.: "),
    "window": ("func", (ROWS,) * 3, {"window_size": 3}, TypeError, "window_size is 3: a pair of integers is needed"),
    "bound": ("func", (ROWS,) * 3, {"window_size": (2**40, 0)}, ValueError, r"window_size\[0\] is 1099511627776"),
    "cache dims": ("with_kvcache", (ROWS, ROWS[0], ROWS[0]), {}, ValueError, "k_cache has 3 dims: 4 are needed"),
    "no values": ("with_kvcache", (ROWS,) * 3, {"k": ROWS}, ValueError, "one of k and v is given: both are needed"),
    "no sines": ("with_kvcache", (ROWS,) * 5, {"rotary_cos": ENDS}, ValueError, "one of rotary_cos and rotary_sin is"),
}


@pytest.mark.parametrize("name", FLASH_FAULTS)
def test_calls_of_flash_attn(name):
    from sdpa_graph import flash_attn

    function, arguments, options, error, text = FLASH_FAULTS[name]
    with pytest.raises(error, match=text):
        getattr(flash_attn, "flash_attn_" + function)(*arguments, **options)


def test_calls_of_natten():
    from sdpa_graph import natten

    tokens, more = torch.zeros(2, 8, 2, SIZE), {"additional_keys": ROWS[0, 0], "additional_values": ROWS[0, 0]}
    for call, error, text in (
        (lambda: natten.na1d(tokens[0, 0, 0, 0], tokens, tokens, 3), ValueError, "query has 0 dims: 4 are needed"),
        (
            lambda: natten.na2d(tokens, tokens, tokens, 3),
            ValueError,
            r"5 are needed, \(batch, height, width, heads, head",
        ),
        (lambda: natten.na1d(tokens, tokens, tokens, 3.5), TypeError, "kernel_size is a float: an integer is needed"),
        (lambda: natten.na1d(tokens, tokens, tokens, 2**40), ValueError, "kernel_size is 1099511627776: a number from"),
        (
            lambda: natten.na1d(tokens, tokens, tokens, 3, **more),
            ValueError,
            "additional_keys has 2 dims: 4 are needed",
        ),
        (lambda: natten.functional.na1d_qk(tokens[0], tokens, 3), ValueError, r"\(batch, heads, tokens, head dim\)"),
        (lambda: natten.functional.na1d_av(tokens, tokens[0], 3), ValueError, "value has 3 dims: 4 are needed"),
    ):
        with pytest.raises(error, match=text):
            call()


@pytest.mark.parametrize("lengths", [torch.tensor([-1, 2]), torch.tensor([8, 2]), 8, -1, None])
def test_tokens_are_added_within_a_cache(lengths):
    from sdpa_graph.flash_attn import flash_attn_with_kvcache

    q, caches = ROWS[:, :1], [ROWS.clone(), ROWS.clone()]
    with pytest.raises(ValueError, match="cache_seqlens has (8|-1): a number from 0 to 7 is needed, the 8 rows of the"):
        flash_attn_with_kvcache(q, *caches, q + 1, q + 1, cache_seqlens=lengths)
    assert not caches[0].any() and not caches[1].any()


def test_lengths_of_a_cache_are_not_cut():
    from sdpa_graph.flash_attn import flash_attn_with_kvcache

    q, cache = torch.zeros(2, 1, 2, SIZE, dtype=torch.bfloat16), torch.zeros(2, 8, 2, SIZE, dtype=torch.bfloat16)
    with pytest.raises(TypeError, match="cache_seqlens has numbers of type torch.float32"):
        flash_attn_with_kvcache(q, cache, cache, cache_seqlens=torch.tensor([1.5, 2.0]))
    with pytest.raises(ValueError, match="cache_seqlens has an entry of 4294967297"):
        flash_attn_with_kvcache(q, cache, cache, cache_seqlens=torch.tensor([1, 2**32 + 1]))


def extras():
    """Arguments of the functions that may be None, with the function and other arguments of a call."""
    from sdpa_graph import flash_attn, natten
    from sdpa_graph.torch import scaled_dot_product_attention as attend

    x, tokens = torch.randn(2, 2, 6, 8), torch.randn(2, 6, 2, 8)
    return {
        "attn_mask": (attend, [x] * 3, torch.randn(6, 6)),
        "sink": (attend, [x] * 3, torch.randn(2)),
        "seq_len_kv": (attend, [x] * 3, torch.tensor([3, 5], dtype=torch.int32)),
        "alibi_slopes": (flash_attn.flash_attn_func, [tokens.bfloat16()] * 3, torch.rand(2)),
        "rpb": (natten.functional.na1d, [tokens] * 3 + [3], torch.randn(2, 5)),
    }


@pytest.mark.parametrize("name", extras())
def test_arguments_without_memory_are_not_left_out(name):
    function, inputs, extra = extras()[name]
    for given in (extra.to("meta"), extra[:0]):
        with pytest.raises(ValueError, match=name + " (is|has) .* needed"):
            function(*inputs, **{name: given})


@pytest.mark.parametrize("name", ["attn_mask", "sink", "alibi_slopes", "rpb"])
def test_signs_that_are_not_in_memory_count(name):
    function, inputs, extra = extras()[name]
    negated = torch._neg_view(extra)
    assert negated.is_neg()
    torch.testing.assert_close(function(*inputs, **{name: negated}), function(*inputs, **{name: -extra}), rtol=0, atol=0)


def test_lengths_and_sinks_may_have_gaps(attend):
    x, lengths, sink = torch.randn(2, 2, 6, 8), torch.tensor([3, 5], dtype=torch.int32), torch.randn(2)
    given = {"seq_len_q": lengths, "seq_len_kv": lengths, "sink": sink}
    with_gaps = {name: torch.stack([tensor, tensor], -1)[:, 0] for name, tensor in given.items()}
    torch.testing.assert_close(attend(x, x, x, **with_gaps), attend(x, x, x, **given), rtol=0, atol=0)
    same = torch.tensor([4], dtype=torch.int32).expand(2)
    attend(x, x, x, seq_len_q=same, seq_len_kv=same)


def test_masks_of_other_classes(attend):
    """Tensors of a class that contains others, such as those of two."""
    from torch.testing._internal.two_tensor import TwoTensor

    x, mask = torch.randn(1, 2, 6, 8), torch.randn(6, 6)
    found = attend(x, x, x, attn_mask=TwoTensor(mask, 2 * mask))
    torch.testing.assert_close(found.a, attend(x, x, x, attn_mask=mask))
    torch.testing.assert_close(found.b, attend(x, x, x, attn_mask=2 * mask))


@pytest.mark.parametrize("kind", [torch.bool, torch.float32])
def test_masks_of_no_keys(attend, kind):
    q, k = torch.randn(2, 2, 6, 8), torch.randn(2, 2, 0, 8)
    assert torch.equal(attend(q, k, k, attn_mask=torch.zeros(6, 0, dtype=kind)), attend(q, k, k))


def test_masks_are_bool_or_floats(attend):
    x = torch.randn(1, 2, 6, 8)
    with pytest.raises(TypeError, match="attn_mask has numbers of type torch.int64: bool says what is visible"):
        attend(x, x, x, attn_mask=torch.ones(6, 6, dtype=torch.int64))


def test_masks_of_packed_sequences_have_gradients(attend):
    ends, mask = torch.tensor([0, 8, TOKENS]), torch.randn(12, 12)
    results = []
    for learns in (False, True):
        learned = mask.clone().requires_grad_(learns)
        results.append(attend(*packed(), attn_mask=learned, cu_seqlens_q=ends, cu_seqlens_kv=ends))
    results[1].sum().backward()
    torch.testing.assert_close(results[0], results[1].detach())
    assert learned.grad.shape == mask.shape


def test_nested_keys_and_values_have_equal_lengths(attend):
    def nested(*lengths):
        return torch.nested.nested_tensor([torch.randn(n, 2, 8) for n in lengths], layout=torch.jagged).transpose(1, 2)

    with pytest.raises(ValueError, match="key and value are nested tensors of different lengths: equal ones are needed"):
        attend(nested(3, 4), nested(5, 2), nested(2, 5))


def cache_call(**changes):
    from sdpa_graph.flash_attn import flash_attn_with_kvcache

    bfloat16 = {"q": (2, 1, 2, 16), "k_cache": (2, 32, 2, 16), "v_cache": (2, 32, 2, 16), "k": (2, 1, 2, 16), "v": (2, 1, 2, 16)}
    given = {name: torch.randn(shape).bfloat16() for name, shape in bfloat16.items()}
    given.update(cache_seqlens=torch.tensor([3, 4], dtype=torch.int32), **changes)
    return given, lambda: flash_attn_with_kvcache(**given)


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"k": (1, 1, 2, 16), "v": (1, 1, 2, 16)}, r"k has shape \(1, 1, 2, 16\): \(2, 1, 2, 16\) is needed"),
        ({"k": (2, 2, 2, 16)}, r"v has shape \(2, 1, 2, 16\): \(2, 2, 2, 16\) is needed"),
        ({"rotary_cos": (32, 8), "rotary_sin": (32, 1)}, r"rotary_cos has shape \(32, 8\), and rotary_sin \(32, 1\)"),
        ({"q": (2, 1, 2, 12)}, "k_cache has a head dim of 16: 12 is needed, that of q"),
        ({"q": (2, 1, 3, 16)}, "k_cache has 2 heads: a number that divides the 3 of q is needed"),
        ({"v_cache": (2, 4, 2, 16)}, r"k_cache has shape \(2, 32, 2, 16\), and v_cache \(2, 4, 2, 16\): the same entries"),
        ({"alibi_slopes": torch.ones(0)}, r"alibi_slopes has shape \(0,\): a slope for each head is needed"),
        ({"cache_batch_idx": torch.tensor([0, 1, 1])}, "cache_batch_idx has 3 numbers: 2 are needed"),
        ({"cache_batch_idx": torch.tensor([-1, 0])}, "cache_batch_idx has numbers from -1 to 0: 0 to 1 are needed"),
        (
            {**dict.fromkeys(("k_cache", "v_cache"), (2, 256, 2, 16)), "block_table": torch.tensor([[0], [-1]]).int()},
            "block_table has numbers from -1 to 0: 0 to 1 are needed",
        ),
    ],
)
def test_calls_with_faults_leave_a_cache_as_it_is(changes, text):
    made = {name: torch.randn(x).bfloat16() if isinstance(x, tuple) else x for name, x in changes.items()}
    given, call = cache_call(**made)
    before = given["k_cache"].clone()
    with pytest.raises(ValueError, match=text):
        call()
    assert torch.equal(before, given["k_cache"])


def test_a_cache_learns_nothing():
    learned = torch.randn(2, 1, 2, 16).bfloat16().requires_grad_()
    given, call = cache_call(k=learned, v=learned)
    assert not call().requires_grad
    assert not given["k_cache"].requires_grad and not given["v_cache"].requires_grad
    assert torch.equal(given["k_cache"][1, 4], learned[1, 0])


def test_head_dims_of_flash_attn_are_equal():
    from sdpa_graph.flash_attn import flash_attn_func

    x = torch.randn(1, 4, 2, 7).bfloat16()
    with pytest.raises(ValueError, match="q, k and v have head dims of 7, 5 and 3: equal ones are needed"):
        flash_attn_func(x, x[..., :5], x[..., :3])
