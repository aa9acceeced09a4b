"""Neighborhood attention with natten's names on this library, on the host. Needs torch."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch

CASES = {
    1: [((9,), 3, 1, False), ((11,), 4, 2, False), ((8,), 3, 1, True)],
    2: [((5, 6), 3, 1, False), ((6, 7), (3, 2), (2, 1), (False, True)), ((4, 4), 4, 1, False)],
    3: [((3, 4, 5), (3, 3, 5), 1, False), ((4, 3, 5), 2, (2, 1, 1), (True, False, False))],
}
ALL = [case for cases in CASES.values() for case in cases]


@pytest.fixture
def natten():
    from sdpa_graph import natten

    return natten


def each(rank, given):
    return [given] * rank if isinstance(given, (int, bool)) else list(given)


ODD = [case for case in ALL if all(kernel % 2 for kernel in each(len(case[0]), case[1]))]


def along(length, kernel, dilation, is_causal):
    """Which keys each query sees, and the bias' entry for each pair."""
    sees = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        group = list(range(query % dilation, length, dilation))
        place = group.index(query)
        first = max(place - (kernel - 1 if is_causal else kernel // 2), 0)
        if not is_causal:
            first = min(first, len(group) - kernel)
        last = place + 1 if is_causal else first + kernel
        sees[query, group[first:last]] = True
    distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
    return sees, (distance.div(dilation, rounding_mode="floor") + kernel - 1).clamp(0, 2 * kernel - 2)


def pairs(case):
    """The pairs of all axes together."""
    space, kernel, dilation, causal = case
    rank = len(space)
    sees, entry = torch.ones(1, 1, dtype=torch.bool), torch.zeros(1, 1, dtype=torch.long)
    for length, k, d, c in zip(space, each(rank, kernel), each(rank, dilation), each(rank, causal)):
        more, entries = along(length, k, d, c)
        sees = (sees[:, None, :, None] & more[None, :, None, :]).flatten(2).flatten(0, 1)
        entry = (entry[:, None, :, None] * (2 * k - 1) + entries[None, :, None, :]).flatten(2).flatten(0, 1)
    return sees, entry


def plain(case, q, k, v, rpb=None, scale=None, extra=None):
    """The formula in double, with all pairs: (batch, *space, heads, head dim)."""
    sees, entry = pairs(case)
    shape = q.shape
    q, k, v = (x.double().flatten(1, -3).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(2, 3) * (scale or shape[-1] ** -0.5)
    if rpb is not None:
        scores = scores + rpb.double().flatten(1)[:, entry]
    scores = scores.masked_fill(~sees, -torch.inf)
    if extra is not None:
        keys, values = (x.double().transpose(1, 2) for x in extra)
        scores = torch.cat([scores, q @ keys.transpose(2, 3) * (scale or shape[-1] ** -0.5)], -1)
        v = torch.cat([v, values], 2)
    return (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(shape)


def random(*shape, seed=1, dtype=torch.float32):
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)
    return made.requires_grad_()


def tokens(case, dtype=torch.float32):
    return [random(2, *case[0], 2, 8, seed=seed, dtype=dtype) for seed in (1, 2, 3)]


def check(found, wanted, inputs, tolerance=1e-4):
    torch.testing.assert_close(found.double(), wanted, atol=tolerance, rtol=tolerance)
    grad = random(*found.shape, seed=9).detach().to(found.dtype)
    of_found = torch.autograd.grad(found, inputs, grad)
    for a, b in zip(of_found, torch.autograd.grad(wanted, inputs, grad.double())):
        torch.testing.assert_close(a.double(), b.double(), atol=tolerance, rtol=tolerance)


def function(natten, case, suffix=""):
    return getattr(natten.functional, f"na{len(case[0])}d{suffix}")


@pytest.mark.parametrize("case", ALL)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_fused(natten, case, dtype):
    inputs = tokens(case, dtype)
    space, *window = case
    tolerance = 1e-4 if dtype == torch.float32 else 6e-2
    check(function(natten, case)(*inputs, *window), plain(case, *inputs), inputs, tolerance)


def test_scale(natten):
    inputs = tokens(ALL[0])
    found = natten.functional.na1d(*inputs, 3, scale=0.7)
    check(found, plain(ALL[0], *inputs, scale=0.7), inputs)
    torch.testing.assert_close(natten.functional.na1d(*inputs, 3, scale=0.0), natten.functional.na1d(*inputs, 3))


@pytest.mark.parametrize("case", [case for case in ODD if case[3] is False])
@pytest.mark.parametrize("learns", [False, True])
def test_bias(natten, case, learns):
    inputs = tokens(case)
    space, kernel, *others = case
    rpb = random(2, *(2 * k - 1 for k in each(len(space), kernel)), seed=5).detach().requires_grad_(learns)
    found = function(natten, case)(*inputs, kernel, *others, rpb=rpb)
    check(found, plain(case, *inputs, rpb), [*inputs, rpb] if learns else inputs)


@pytest.mark.parametrize("case", ALL)
def test_additional_keys(natten, case):
    inputs = tokens(case)
    extra = [random(2, 3, 2, 8, seed=seed) for seed in (6, 7)]
    space, *window = case
    found = function(natten, case)(*inputs, *window, additional_keys=extra[0], additional_values=extra[1])
    check(found, plain(case, *inputs, extra=extra), [*inputs, *extra])


@pytest.mark.parametrize("learns", [False, True])
def test_no_additional_keys(natten, learns):
    inputs, nothing = tokens(ALL[0]), torch.randn(2, 0, 2, 8)
    rpb = torch.zeros(2, 5, requires_grad=True) if learns else None
    nothing.requires_grad_()
    found = natten.functional.na1d(*inputs, 3, rpb=rpb, additional_keys=nothing, additional_values=nothing)
    torch.testing.assert_close(found, natten.functional.na1d(*inputs, 3))
    assert torch.autograd.grad(found.sum(), nothing)[0].shape == nothing.shape


@pytest.mark.parametrize("keys, values, name", [((2, 1, 2, 8), (2, 4, 2, 8), "values"), ((2, 4, 2, 1), (2, 4, 2, 8), "keys")])
def test_shapes_of_additional_keys(natten, keys, values, name):
    given = {"additional_keys": torch.randn(keys), "additional_values": torch.randn(values)}
    with pytest.raises(ValueError, match=f"additional_{name} has shape .* is needed"):
        natten.functional.na1d(*tokens(ALL[0]), 3, **given)


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("has_more", [False, True])
def test_products(natten, case, has_more):
    """The two products with a softmax between them are the fused function."""
    inputs = tokens(case)
    extra = [random(2, 3, 2, 8, seed=seed) for seed in (6, 7)] if has_more else None
    q, k, v = (x.movedim(-2, 1) for x in inputs)
    space, kernel, dilation, causal = case
    keys, values = (None, None) if extra is None else (x.transpose(1, 2) for x in extra)
    attn = function(natten, case, "_qk")(
        q * 8**-0.5, k, kernel, dilation, additional_keys=keys, is_causal=causal
    ).softmax(-1)
    found = function(natten, case, "_av")(attn, v, kernel, dilation, additional_values=values, is_causal=causal)
    check(found.movedim(1, -2), plain(case, *inputs, extra=extra), inputs + (extra or []))


@pytest.mark.parametrize("shape", [(3, 2, 1, 8), (1, 2, 1, 8), (2, 1, 1, 8), (2, 2, 1, 4)])
def test_products_with_additional_keys_of_other_shapes(natten, shape):
    """torch would repeat one batch, and take the tokens of several for more keys."""
    tokens, attn, more = torch.randn(2, 2, 9, 8), torch.rand(2, 2, 9, 4), torch.randn(shape)
    with pytest.raises(ValueError, match=r"additional_keys has shape .*: \(2, 2, 1, 8\) is needed"):
        natten.functional.na1d_qk(tokens, tokens, 3, additional_keys=more)
    with pytest.raises(ValueError, match=r"additional_values has shape .*: \(2, 2, 1, 8\) is needed"):
        natten.functional.na1d_av(attn, tokens, 3, additional_values=more)


@pytest.mark.parametrize("slots", [2, 5, 7])
def test_slots_of_additional_values(natten, slots):
    tokens = torch.randn(1, 2, 9, 8)
    text = f"attn has {slots} slots: 8 are needed, 3 for the window and 5 for additional_values"
    with pytest.raises(ValueError, match=text):
        natten.functional.na1d_av(torch.rand(1, 2, 9, slots), tokens, 3, additional_values=torch.randn(1, 2, 5, 8))


def test_slots_are_row_major(natten):
    case = CASES[2][0]
    q, k = (random(1, 1, *case[0], 8, seed=seed).detach() for seed in (1, 2))
    attn = natten.functional.na2d_qk(q, k, 3)
    sees, _ = pairs(case)
    scores = (q.flatten(2, 3) @ k.flatten(2, 3).transpose(2, 3))[0, 0]
    expected = scores[sees].reshape(*case[0], 9)
    torch.testing.assert_close(attn[0, 0], expected, atol=1e-5, rtol=1e-5)


def test_causal_slots_without_keys_are_masked(natten):
    q = random(1, 1, 6, 8).detach()
    attn = natten.functional.na1d_qk(q, q, 3, is_causal=True)
    assert torch.isinf(attn[0, 0, 0]).tolist() == [False, True, True]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_modules(natten, rank):
    torch.manual_seed(1)
    kind = getattr(natten, f"NeighborhoodAttention{rank}D")
    case = CASES[rank][0]
    module = kind(16, 2, case[1], rel_pos_bias=True)
    x = random(2, *case[0], 16)
    q, k, v = module.qkv(x).unflatten(-1, (3, 2, 8)).unbind(-3)
    wanted = module.proj(plain(case, q, k, v, module.rpb).float().flatten(-2))
    torch.testing.assert_close(module(x), wanted, atol=1e-4, rtol=1e-4)
    assert {name for name, _ in module.named_parameters()} == {
        "qkv.weight", "qkv.bias", "proj.weight", "proj.bias", "rpb"
    }  # fmt: skip
    assert tuple(module.rpb.shape) == (2, *(2 * k - 1 for k in each(rank, case[1])))


def test_module_drops_weights_in_training_alone(natten):
    torch.manual_seed(1)
    module = natten.NeighborhoodAttention1D(16, 2, 3, attn_drop=0.5)
    x = random(2, 9, 16).detach()
    assert not torch.equal(module(x), module(x))
    module.eval()
    assert torch.equal(module(x), module(x))


@pytest.mark.parametrize("learns", [False, True])
def test_compile_has_no_graph_break(natten, learns):
    module = natten.NeighborhoodAttention2D(16, 2, 3, dilation=(1, 2), rel_pos_bias=learns)
    x = random(2, 5, 7, 16)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), module(x))
    torch.testing.assert_close(
        torch.autograd.grad(compiled(x).sum(), x)[0], torch.autograd.grad(module(x).sum(), x)[0]
    )


def test_operators_are_sound(natten):
    from sdpa_graph.natten import operators

    q, k, v = tokens(CASES[1][0])
    torch.library.opcheck(operators.attend, (q, k, v, None, None, None, [3], [1], [False], 0.3))
    heads_first = [x.detach().movedim(-2, 1).contiguous().requires_grad_() for x in (q, k)]
    torch.library.opcheck(operators.qk, (*heads_first, None, [3], [1], [False]))


def test_calls_are_deterministic_where_torch_is(natten, monkeypatch):
    from sdpa_graph.natten import operators

    asked, run = [], operators.torch_streams.run
    monkeypatch.setattr(operators.torch_streams, "run", lambda *given: asked.append(given[-1]) or run(*given))
    q, k, v = tokens(CASES[1][0])
    natten.functional.na1d(q, k, v, 3)
    torch.use_deterministic_algorithms(True)
    try:
        natten.functional.na1d(q, k, v, 3).sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)
    assert asked == [False, True, True]


def test_autocast(natten):
    q, k, v = tokens(CASES[1][0])
    with torch.autocast("cpu", torch.bfloat16):
        assert natten.functional.na1d(q, k, v, 3).dtype == torch.bfloat16


@pytest.mark.parametrize(
    "options, rule",
    [
        ({"kernel_size": 1}, "na.c11"),
        ({"kernel_size": 3, "dilation": 4}, "na.c13"),
        ({"kernel_size": 4, "rpb": torch.zeros(2, 7)}, "na.c16"),
        ({"kernel_size": 3, "is_causal": True, "rpb": torch.zeros(2, 5)}, "na.c15"),
        ({"kernel_size": 3, "rpb": torch.zeros(2, 4)}, "na.c08"),
    ],
)
def test_errors_name_rules(natten, options, rule):
    inputs = [x.detach() for x in tokens(CASES[1][0])]
    with pytest.raises(Exception, match=rule.replace(".", r"\.")):
        natten.functional.na1d(*inputs, **options)


@pytest.mark.parametrize(
    "shape, value_shape, options, text",
    [
        ((1, 9, 2, 8), (1, 9, 2, 8), {"kernel_size": 4}, r"kernel_size.* \[4\].*odd sizes"),
        ((1, 9, 2, 8), (1, 9, 2, 8), {"kernel_size": 3, "scale": float("nan")}, "scale.* nan.*a finite number"),
        ((1, 9, 2, 8), (1, 9, 2, 8), {"kernel_size": 3, "scale": 1e300}, "scale.* .*a finite number"),
        ((1, 9, 2, 8), (1, 9, 2, 4), {"kernel_size": 3}, r"value.* [\[(]1, 9, 2, 8[\])]"),
    ],
)
@pytest.mark.parametrize("learns", [False, True])
def test_a_bias_that_learns_is_refused_as_one_that_does_not(natten, shape, value_shape, options, text, learns):
    query, value = torch.randn(shape, requires_grad=learns), torch.randn(value_shape)
    rpb = torch.zeros(2, 2 * options["kernel_size"] - 1)
    with pytest.raises(Exception, match=text) as error:
        natten.functional.na1d(query, query, value, rpb=rpb, **options)
    assert "the fused functions" not in str(error.value)


def test_tuples_need_an_entry_for_each_axis(natten):
    inputs = [x.detach() for x in tokens(CASES[2][0])]
    with pytest.raises(ValueError, match="kernel_size is .3, 3, 3."):
        natten.functional.na2d(*inputs, (3, 3, 3))
    with pytest.raises(ValueError, match="; expected both"):
        natten.functional.na2d(*inputs, 3, additional_keys=inputs[0])
