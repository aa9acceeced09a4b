"""The functions of the flash_attn package on this library, on the host. Needs torch."""

import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch
functional = torch.nn.functional


@pytest.fixture
def flash():
    from sdpa_graph import flash_attn

    return flash_attn


def random(*shape, seed=1, requires_grad=False):
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(torch.bfloat16)
    return made.requires_grad_(requires_grad)


def plain(q, k, v, causal=False, scale=None, softcap=0.0, slopes=None):
    """Padded attention in double, with bottom-right causal masks."""
    q, k, v = (x.double().transpose(1, 2) for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q @ k.transpose(2, 3) * (scale or q.shape[-1] ** -0.5)
    if softcap > 0.0:
        scores = softcap * torch.tanh(scores / softcap)
    rows, columns = scores.shape[2:]
    distance = torch.arange(rows)[:, None] + columns - rows - torch.arange(columns)
    if slopes is not None:
        scores = scores - slopes.double()[:, None, None] * distance.abs()
    if causal:
        scores = scores.masked_fill(distance < 0, -math.inf)
    return (torch.softmax(scores, -1) @ v).transpose(1, 2)


def assert_close(found, wanted, tolerance=2e-2):
    torch.testing.assert_close(found.double(), wanted.double(), atol=tolerance, rtol=tolerance)


def check_with_gradients(function, tensors, expected, dout):
    out = function(*tensors)
    exact = [x.detach().double().requires_grad_() for x in tensors]
    wanted = expected(*exact)
    assert_close(out, wanted)
    found = torch.autograd.grad(out, tensors, dout)
    for a, b in zip(found, torch.autograd.grad(wanted, exact, dout.double())):
        assert_close(a, b, 4e-2)


@pytest.mark.parametrize("width", [16, 20])
@pytest.mark.parametrize("options", [{}, {"causal": True}, {"softcap": 2.0, "causal": True}])
def test_padded(flash, width, options):
    tensors = [random(2, 7, 4, width, requires_grad=True)]
    tensors += [random(2, 9, 2, width, seed=seed, requires_grad=True) for seed in (2, 3)]
    dout = random(2, 7, 4, width, seed=4)
    check_with_gradients(
        lambda q, k, v: flash.flash_attn_func(q, k, v, **options), tensors, lambda q, k, v: plain(q, k, v, **options), dout
    )


def test_slopes(flash):
    slopes = torch.tensor([0.5, 0.1])
    q, k, v = random(1, 5, 2, 8), random(1, 8, 2, 8, seed=2), random(1, 8, 2, 8, seed=3)
    for causal in (False, True):
        out = flash.flash_attn_func(q, k, v, causal=causal, alibi_slopes=slopes)
        assert_close(out, plain(q, k, v, causal=causal, slopes=slopes))


def test_packed_arguments(flash):
    qkv = random(2, 6, 3, 2, 16, requires_grad=True)
    dout = random(2, 6, 2, 16, seed=4)
    check_with_gradients(
        lambda x: flash.flash_attn_qkvpacked_func(x, causal=True), [qkv], lambda x: plain(*x.unbind(2), causal=True), dout
    )
    q, kv = random(2, 6, 2, 16, requires_grad=True), random(2, 9, 2, 2, 16, requires_grad=True)
    check_with_gradients(flash.flash_attn_kvpacked_func, [q, kv], lambda q, kv: plain(q, *kv.unbind(2)), dout)


def test_sequences(flash):
    totals = torch.tensor([0, 4, 4, 9], dtype=torch.int32)
    qkv = random(9, 3, 2, 16, requires_grad=True)
    dout = random(9, 2, 16, seed=4)

    def expected(x):
        parts = [x[a:b].unsqueeze(0).unbind(2) for a, b in ((0, 4), (4, 9))]
        return torch.cat([plain(*part, causal=True)[0] for part in parts])

    check_with_gradients(
        lambda x: flash.flash_attn_varlen_qkvpacked_func(x, totals, 5, causal=True), [qkv], expected, dout
    )
    q, k, v = qkv.detach().unbind(1)
    separate = flash.flash_attn_varlen_func(q, k, v, totals, totals, 5, 5, causal=True)
    kv = flash.flash_attn_varlen_kvpacked_func(q, torch.stack((k, v), 1), totals, totals, 5, 5, causal=True)
    assert torch.equal(separate, kv)
    assert_close(separate, expected(qkv.detach()))


def test_dropout(flash):
    q = random(1, 64, 2, 16, requires_grad=True)
    torch.manual_seed(3)
    out, log_sums, p = flash.flash_attn_func(q, q, q, 0.25, return_attn_probs=True)
    assert log_sums.shape == (1, 2, 64) and p.shape == (1, 2, 128, 128)
    kept = ~torch.signbit(p[..., :64, :64])
    assert abs(kept.float().mean().item() - 0.75) < 0.05
    probabilities = p[..., :64, :64].detach().abs().double() * kept / 0.75
    assert_close(out, (probabilities @ q.detach().double().transpose(1, 2)).transpose(1, 2))
    torch.manual_seed(3)
    assert torch.equal(flash.flash_attn_func(q, q, q, 0.25), out)
    assert not torch.equal(flash.flash_attn_func(q, q, q, 0.25), out)
    (gradient,) = torch.autograd.grad(out.sum(), q)
    assert torch.isfinite(gradient).all() and gradient.abs().sum() > 0


def test_details(flash):
    q = random(2, 5, 2, 16)
    out, log_sums, p = flash.flash_attn_func(q, q, q, return_attn_probs=True)
    scores = q.double().transpose(1, 2) @ q.double().transpose(1, 2).transpose(2, 3) / 4
    assert_close(log_sums, torch.logsumexp(scores, -1))
    assert p is None and out.shape == q.shape


@pytest.mark.parametrize("page_rows", [0, 256])
@pytest.mark.parametrize("interleaved", [False, True])
def test_cache(flash, page_rows, interleaved):
    batch, heads, width, added = 2, 2, 16, 3
    lengths = torch.tensor([4, 300], dtype=torch.int32)
    k, v = (random(batch, 600, heads, width, seed=seed) for seed in (1, 2))
    q, new_k, new_v = (random(batch, added, heads, width, seed=seed) for seed in (3, 4, 5))
    angles = torch.outer(torch.arange(600), torch.tensor([1.0, 0.3, 0.1]))
    tables = {"rotary_cos": angles.cos(), "rotary_sin": angles.sin(), "rotary_interleaved": interleaved}
    if page_rows:
        block_table = torch.tensor([[3, 1, 5], [0, 4, 2]], dtype=torch.int32)
        caches = [torch.zeros(6, page_rows, heads, width, dtype=x.dtype) for x in (k, v)]
        for cache, x in zip(caches, (k, v)):
            padded = functional.pad(x, (0, 0, 0, 0, 0, 3 * page_rows - 600))
            cache[block_table.long()] = padded.reshape(batch, 3, page_rows, heads, width)
    else:
        block_table, caches = None, [k.clone(), v.clone()]
    out = flash.flash_attn_with_kvcache(
        q, *caches, new_k, new_v, cache_seqlens=lengths, causal=True, block_table=block_table, **tables
    )
    for n, length in enumerate(lengths.tolist()):
        places = range(length, length + added)
        turned_q, turned_k = (turned(x[n], angles[list(places)], interleaved) for x in (q, new_k))
        keys = torch.cat((k[n, :length].double(), turned_k.to(k.dtype).double()))[None]
        values = torch.cat((v[n, :length], new_v[n]))[None]
        assert_close(out[n], plain(turned_q.to(q.dtype)[None], keys, values, causal=True)[0])
    if not page_rows:
        assert torch.equal(k[:, :4], caches[0][:, :4])


def turned(x, angles, interleaved):
    """Pairs of columns of (tokens, heads, head dim) as complex numbers, multiplied by their rotation."""
    pairs = angles.shape[-1]
    part = x[..., : 2 * pairs].double()
    part = part.unflatten(-1, (pairs, 2)) if interleaved else part.unflatten(-1, (2, pairs)).transpose(-1, -2)
    product = torch.view_as_complex(part.contiguous()) * torch.polar(torch.ones_like(angles), angles)[:, None]
    mixed = torch.view_as_real(product)
    mixed = mixed.flatten(-2) if interleaved else mixed.transpose(-1, -2).flatten(-2)
    return torch.cat((mixed, x[..., 2 * pairs :].double()), -1)


def test_cache_entries_and_padding_on_the_left(flash):
    k, v, q = random(3, 20, 2, 8), random(3, 20, 2, 8, seed=2), random(2, 1, 2, 8, seed=3)
    entries, leftpad = torch.tensor([2, 0], dtype=torch.int32), torch.tensor([3, 0], dtype=torch.int32)
    out, log_sums = flash.flash_attn_with_kvcache(
        q, k, v, cache_seqlens=15, cache_batch_idx=entries, cache_leftpad=leftpad, return_softmax_lse=True
    )
    for n, (entry, start) in enumerate(((2, 3), (0, 0))):
        assert_close(out[n], plain(q[n : n + 1], k[entry : entry + 1, start:15], v[entry : entry + 1, start:15])[0])
    assert log_sums.shape == (2, 2, 1)


@pytest.mark.parametrize("entries", [None, [2, 0]])
def test_a_cache_whose_entries_are_whole_pages(flash, entries):
    """Indices of the cache's entries give the same as a table of its pages, without a copy of the entries."""
    k, v, q = random(3, 512, 2, 8), random(3, 512, 2, 8, seed=2), random(2, 1, 4, 8, seed=3)
    index = None if entries is None else torch.tensor(entries, dtype=torch.int32)
    lengths = torch.tensor([300, 7], dtype=torch.int32)
    out = flash.flash_attn_with_kvcache(q, k, v, cache_seqlens=lengths, cache_batch_idx=index)
    for n, length in enumerate(lengths.tolist()):
        entry = n if entries is None else entries[n]
        assert_close(out[n], plain(q[n : n + 1], k[entry : entry + 1, :length], v[entry : entry + 1, :length])[0])


def test_packed_details_go_by_rows(flash):
    totals = torch.tensor([0, 4, 9], dtype=torch.int32)
    q = random(9, 2, 16)
    _, log_sums, _ = flash.flash_attn_varlen_func(q, q, q, totals, totals, 5, 5, return_attn_probs=True)
    assert log_sums.shape == (2, 9) and log_sums.stride() == (1, 2)
    for rows in (slice(0, 4), slice(4, 9)):
        x = q[rows].double().transpose(0, 1)
        assert_close(log_sums[:, rows], torch.logsumexp(x @ x.transpose(1, 2) / 4, -1))


def test_compile(flash):
    """torch.compile keeps each call as an operator, with the same results."""
    totals = torch.tensor([0, 4, 10], dtype=torch.int32)

    def padded(q, k, v):
        return flash.flash_attn_func(2 * q, k, v, causal=True) + 1

    def packed(q, k, v):
        q, k, v = (x.flatten(0, 1) for x in (q, k, v))
        return flash.flash_attn_varlen_func(2 * q, k, v, totals, totals, 6, 6, causal=True) + 1

    tensors = [random(2, 5, 2, 16, seed=seed, requires_grad=True) for seed in (1, 2, 3)]
    for function in (padded, packed):
        compiled = torch.compile(function, backend="aot_eager", fullgraph=True)(*tensors)
        out = function(*tensors)
        assert torch.equal(compiled, out)
        for a, b in zip(*(torch.autograd.grad(x.sum(), tensors) for x in (compiled, out))):
            assert torch.equal(a, b)


@pytest.mark.parametrize(
    "options",
    [{"window_size": (3, 1)}, {"softcap": 2.0, "alibi_slopes": torch.tensor([0.5, 0.25])}, {"deterministic": True}],
    ids=lambda options: "_".join(options),
)
def test_compiled_options(flash, options):
    tensors = [random(2, 5, 2, 20, seed=seed, requires_grad=True) for seed in (1, 2, 3)]
    dout = random(2, 5, 2, 20, seed=4)

    def attend(q, k, v):
        return flash.flash_attn_func(q, k, v, return_attn_probs=True, **options)

    found, wanted = (call(*tensors) for call in (torch.compile(attend, backend="aot_eager", fullgraph=True), attend))
    assert found[2] is wanted[2] is None
    for one, another in zip(found[:2], wanted[:2]):
        assert torch.equal(one, another) and one.stride() == another.stride()
    gradients = (torch.autograd.grad(out, tensors, dout) for out in (found[0], wanted[0]))
    for one, another in zip(*gradients):
        assert torch.equal(one, another)


def test_compiled_dropout(flash):
    q = random(1, 64, 2, 16, requires_grad=True)

    def attend(x):
        return flash.flash_attn_func(x, x, x, 0.25, return_attn_probs=True)

    out, _, p = torch.compile(attend, backend="aot_eager", fullgraph=True)(q)
    kept = ~torch.signbit(p[..., :64, :64])
    assert abs(kept.float().mean().item() - 0.75) < 0.05
    weights = p[..., :64, :64].detach().abs().double() * kept / 0.75
    assert_close(out, (weights @ q.detach().double().transpose(1, 2)).transpose(1, 2))


def test_compiled_lengths(flash):
    """The longest length becomes an int that is unknown to the compiler."""
    q, k, v = (random(12, 2, 16, seed=seed) for seed in (1, 2, 3))
    attend = torch.compile(flash.flash_attn_varlen_func, backend="aot_eager", fullgraph=True)
    for longest in (6, 7, 9, 12):
        ends = torch.tensor([0, longest, 12], dtype=torch.int32)
        arguments = (q, k, v, ends, ends, longest, longest)
        assert torch.equal(attend(*arguments, window_size=(longest, 0)), flash.flash_attn_varlen_func(*arguments, window_size=(longest, 0)))


def test_compiled_gaps(flash):
    q, k, v = (random(2, 5, 2, 32, seed=seed)[..., ::2] for seed in (1, 2, 3))
    from sdpa_graph import flash_operators
    from sdpa_graph.flash_calls import Numbers

    numbers = Numbers(0, 0, 0.0, 0.25, True, -1, -1, 0.0, False, False)
    out = flash_operators.forward(q, k, v, *[None] * 6, *numbers)[0]
    assert_close(out, plain(q, k, v, causal=True))


def test_operator(flash):
    from sdpa_graph import flash_operators
    from sdpa_graph.flash_calls import Numbers

    numbers = Numbers(0, 0, 0.0, 0.25, True, -1, -1, 0.0, False, False)
    q, k, v = (random(1, 4, 2, 16, seed=seed, requires_grad=True) for seed in (1, 2, 3))
    torch.library.opcheck(flash_operators.forward, (q, k, v, *[None] * 6, *numbers))


def test_what_is_refused(flash):
    q = random(1, 4, 2, 16)
    with pytest.raises(Exception, match=r"flash\.c19"):
        flash.flash_attn_func(q, q, q, 0.5, softcap=1.0)
    with pytest.raises(Exception, match=r"flash\.c05"):
        flash.flash_attn_func(q.float(), q.float(), q.float())
    totals = torch.tensor([0, 4, 3], dtype=torch.int32)
    with pytest.raises(Exception, match=r"flash\.c27"):
        flash.flash_attn_varlen_func(q[0], q[0], q[0], totals, totals, 4, 4)
    with pytest.raises(ValueError, match="rotary_cos is given without k"):
        flash.flash_attn_with_kvcache(q, q, q, rotary_cos=torch.ones(4, 4), rotary_sin=torch.ones(4, 4))


def cache_call(rows=300, entries=2, width=16, **changes):
    """Arguments of a call that adds a token to each of two entries, with changes."""
    given = {name: random(2, 1, 2, width, seed=seed) for seed, name in enumerate(("q", "k", "v"))}
    given.update({name: random(entries, rows, 2, width, seed=seed) for seed, name in enumerate(("k_cache", "v_cache"))})
    return {**given, "cache_seqlens": 5, **changes}


def check_refused(flash, error, text, **changes):
    """The call is refused with the text, and both caches stay as they were."""
    given = cache_call(**changes)
    before = {name: given[name].clone() for name in ("k_cache", "v_cache")}
    with pytest.raises(error, match=text):
        flash.flash_attn_with_kvcache(**given)
    for name, cache in before.items():
        assert torch.equal(given[name], cache), name


TABLE = torch.tensor([[0], [1]], dtype=torch.int32)
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "changes, error, text",
    [
        ({"block_table": TABLE.long(), "rows": 256}, TypeError, "block_table has numbers of type torch.int64: "),
        ({"block_table": TABLE[:1], "rows": 256}, ValueError, "block_table has 1 rows: 2 are needed"),
        ({"block_table": torch.cat([TABLE + 9, TABLE], 1), "rows": 256}, ValueError, "block_table has numbers from 9"),
        ({"window_size": (1,)}, TypeError, r"window_size is \(1,\): a pair of integers"),
        ({"softcap": INF}, ValueError, "softcap is inf: a finite number of 32 bits is needed; 0 is no cap"),
        ({"softmax_scale": NAN}, ValueError, "softmax_scale is nan: a finite number"),
        ({"softmax_scale": 1e300}, ValueError, r"softmax_scale is 1e\+300: a finite number"),
        ({"q": random(2, 1, 2, 16).half()}, TypeError, "k_cache has numbers of type torch.bfloat16: torch.float16"),
        ({"k": random(2, 1, 2, 16).half()}, TypeError, "k has numbers of type torch.float16: torch.bfloat16 is needed"),
        ({"v": random(2, 1, 2, 16).float()}, TypeError, "v has numbers of type torch.float32: torch.bfloat16 is"),
        ({"v": random(2, 1, 2, 16).to("meta")}, ValueError, "v is a torch.strided tensor on meta: a dense one"),
        ({"alibi_slopes": torch.ones(3)}, ValueError, r"alibi_slopes has shape \(3,\): .* \(2,\) or \(2, 2\), or None"),
        ({"alibi_slopes": torch.ones(2, 1)}, ValueError, r"alibi_slopes has shape \(2, 1\): a slope for each head"),
        ({"alibi_slopes": torch.ones(2).half()}, TypeError, "alibi_slopes has numbers of type torch.float16: "),
        ({"entries": 1}, ValueError, "k_cache has 1 entries: at least 2 are needed, one for each of q"),
        ({"cache_seqlens": torch.tensor([5])}, ValueError, "cache_seqlens has 1 numbers: 2 are needed, one for"),
        ({"k": random(2, 301, 2, 16), "v": random(2, 301, 2, 16)}, ValueError, "k has 301 tokens: at most 300 are"),
    ],
)
def test_a_refused_call_leaves_the_cache_as_it_was(flash, changes, error, text):
    check_refused(flash, error, text, **changes)


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"block_table": TABLE, "rows": 16}, "k_cache has pages of 16 rows: a multiple of 256 is needed"),
        ({"width": 264}, "q has a head dim of 264: a number from 1 to 256 is needed"),
        (dict.fromkeys(("q", "k", "v"), torch.ones(2, 1, 2, 16)), "q has numbers of type torch.float32: torch.float16"),
        (
            {"block_table": TABLE, "rows": 768, "v_cache": random(2, 2, 768, 16).transpose(1, 2)},
            r"v_cache has pages of 768 rows with strides .* that lie side by side",
        ),
    ],
)
def test_an_unsupported_call_leaves_the_cache_as_it_was(flash, changes, text):
    from sdpa_graph import cudnnGraphNotSupportedError

    check_refused(flash, cudnnGraphNotSupportedError, text, **changes)


def test_a_cache_of_inference_mode_is_written_in_that_mode(flash):
    with torch.inference_mode():
        v_cache = random(2, 300, 2, 16)
        assert flash.flash_attn_with_kvcache(**cache_call(v_cache=v_cache)).shape == (2, 1, 2, 16)
    check_refused(flash, ValueError, "v_cache is a tensor of inference mode: ", v_cache=v_cache)


def test_pages_exclude_entries(flash):
    text = "cache_batch_idx and block_table are given: one of them is needed"
    check_refused(flash, ValueError, text, rows=256, block_table=TABLE, cache_batch_idx=torch.tensor([1, 0]))


@pytest.mark.parametrize("rows", [256, 300])
@pytest.mark.parametrize(
    "leftpad, error, text",
    [
        (torch.tensor([0, -1]), ValueError, "cache_leftpad has -1: a number from 0 to 6 is needed"),
        (torch.tensor([0, 7]).int(), ValueError, "cache_leftpad has 7: a number from 0 to 6 is needed"),
        (torch.tensor([1.0, 1.0]), TypeError, "cache_leftpad has numbers of type torch.float32: integers are needed"),
        (torch.tensor([True, False]), TypeError, "cache_leftpad has numbers of type torch.bool: integers are needed"),
        (torch.tensor([1]), ValueError, "cache_leftpad has 1 numbers: 2 are needed, one for each of q"),
        (torch.tensor(1), ValueError, "cache_leftpad has 0 dims: 1 are needed"),
    ],
)
def test_padding_on_the_left_is_within_the_sequence(flash, rows, leftpad, error, text):
    check_refused(flash, error, text, rows=rows, cache_leftpad=leftpad)


@pytest.mark.parametrize("entries", [torch.tensor([1.9, 0.5]), torch.tensor([True, False])])
def test_entries_of_a_cache_are_integers(flash, entries):
    check_refused(flash, TypeError, "cache_batch_idx has numbers of type .*: integers are", cache_batch_idx=entries)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("rows", [256, 300])
def test_heads_before_tokens_in_memory(flash, batch, rows):
    """Rows of a view of (batch, heads, tokens, head dim) are copied for any batch."""
    q = random(batch, 4, 5, 16).transpose(1, 2)
    k, v = (random(batch, 2, rows, 16, seed=seed).transpose(1, 2) for seed in (2, 3))
    out = flash.flash_attn_with_kvcache(q, k, v, cache_seqlens=9, causal=True)
    assert_close(out, plain(q, k[:, :9], v[:, :9], causal=True))


def test_tables_and_slopes_with_gaps(flash):
    given = cache_call(rows=256, block_table=TABLE, alibi_slopes=torch.tensor([0.5, 0.1]))
    expected = flash.flash_attn_with_kvcache(**given)
    for name in ("block_table", "alibi_slopes"):
        given[name] = torch.stack([given[name], given[name] + 7], -1)[..., 0]
    assert torch.equal(flash.flash_attn_with_kvcache(**given), expected)


@pytest.mark.parametrize(
    "shape, error, text",
    [
        ((16,), ValueError, r"rotary_cos has 1 dims: 2 are needed, \(positions, pairs\)"),
        ((1, 300, 8), ValueError, "rotary_cos has 3 dims: 2 are needed"),
        ((300, 9), ValueError, r"rotary_cos has shape \(300, 9\): .* at most 8 pairs, half of the head dim"),
        ((5, 8), ValueError, "rotary_cos has 5 positions: at least 6 are needed, for 1 tokens after the 5 of"),
    ],
)
@pytest.mark.parametrize("lengths", [5, torch.tensor([2, 5])])
def test_rotary_tables_have_their_form(flash, lengths, shape, error, text):
    check_refused(flash, error, text, rotary_cos=torch.ones(shape), rotary_sin=torch.ones(shape), cache_seqlens=lengths)


def test_rotary_tables_reach_as_far_as_tokens(flash):
    """Queries behind the added tokens only have positions of their own with a mask that depends on them."""
    tables = {name: torch.ones(6, 8) for name in ("rotary_cos", "rotary_sin")}
    check_refused(flash, ValueError, "at least 9 are needed, for 4", q=random(2, 4, 2, 16), causal=True, **tables)
    flash.flash_attn_with_kvcache(**cache_call(q=random(2, 4, 2, 16), **tables))
    integers = {name: table.int() for name, table in tables.items()}
    check_refused(flash, TypeError, "rotary_cos has numbers of type torch.int32: floats are needed", **integers)
