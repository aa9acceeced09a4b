"""Tensors of torch on the host: as memory of graphs, as a function with gradients. Needs torch."""

import cudnn
import numpy as np
import pytest
from attention import Forward, attention, qkv, tolerance
from test_gradients import CASES, arrays, gradients, operands

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch


@pytest.fixture
def attend():
    from sdpa_graph.torch import scaled_dot_product_attention

    return scaled_dot_product_attention


def tensors(shape=(2, 3, 40, 16), dtype=torch.float32, requires_grad=False):
    made = [torch.from_numpy(x).to(dtype) for x in qkv(shape)]
    return [x.requires_grad_(requires_grad) for x in made]


def test_tensors_are_memory():
    q, k, v = tensors(requires_grad=True)
    forward = Forward(*qkv(), attn_scale=0.25).build()
    o = torch.empty_like(q, requires_grad=False)
    forward.graph.execute({forward.q: q, forward.k: k, forward.v: v, forward.o: o})
    np.testing.assert_allclose(o.numpy(), attention(*qkv(), 0.25)[0], atol=tolerance(np.float32, 40))
    with pytest.raises(ValueError, match="bytes of memory: dims"):
        forward.graph.execute({forward.q: q[1:], forward.k: k, forward.v: v, forward.o: o})
    with pytest.raises(ValueError, match="memory of type HALF"):
        forward.graph.execute({forward.q: q.half(), forward.k: k, forward.v: v, forward.o: o})
    freed = torch.empty_like(o)
    freed.untyped_storage().resize_(0)
    with pytest.raises(ValueError, match="0 bytes of memory"):
        forward.graph.execute({forward.q: q, forward.k: k, forward.v: v, forward.o: freed})


def test_tensors_that_require_gradients_are_no_examples():
    graph, (q, *_) = cudnn.pygraph(target="cpu"), tensors(requires_grad=True)
    with pytest.raises(BufferError, match="the tensor requires a gradient, which graphs do not follow: give"):
        graph.tensor_like(q)
    assert graph.tensor_like(q.detach()).get_dim() == list(q.shape)


def test_tensors_that_are_no_memory():
    forward, (q, k, v) = Forward(*qkv(), attn_scale=0.25).build(), tensors()
    pack = {forward.k: k, forward.v: v, forward.o: torch.empty_like(q)}
    for tensor, text in ((q.to("meta"), "tensor 'q'"), (q.to_sparse(), "sparse|Sparse|storage")):
        with pytest.raises((ValueError, RuntimeError, NotImplementedError), match=text):
            forward.graph.execute({**pack, forward.q: tensor})


def test_data_types_in_both_directions():
    assert cudnn.datatypes._torch_to_cudnn_data_type(torch.bfloat16) is cudnn.data_type.BFLOAT16
    assert cudnn.datatypes._torch_to_cudnn_data_type(torch.complex64) is None
    assert cudnn.datatypes._cudnn_to_torch_data_type(cudnn.data_type.HALF) is torch.float16
    assert cudnn.datatypes._is_torch_tensor(torch.zeros(1)) and not cudnn.datatypes._is_torch_tensor(1)
    graph = cudnn.pygraph(io_data_type=torch.half, target="cpu")
    assert graph.tensor([1], [1], torch.int32).get_data_type() is cudnn.data_type.INT32


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.5}])
def test_function_and_gradients(attend, dtype, options):
    q, k, v = tensors(dtype=dtype, requires_grad=True)
    exact = [x.detach().double().requires_grad_() for x in (q, k, v)]
    o = attend(q, k, v, **options)
    expected = torch.nn.functional.scaled_dot_product_attention(*exact, **options)
    error = 16 * torch.finfo(dtype).eps
    torch.testing.assert_close(o.double(), expected, atol=error, rtol=0)
    grad = torch.from_numpy(qkv()[2]).to(dtype)
    found = torch.autograd.grad(o, (q, k, v), grad)
    wanted = torch.autograd.grad(expected, exact, grad.double())
    for a, b in zip(found, wanted):
        torch.testing.assert_close(a.double(), b, atol=8 * error, rtol=8 * error)


def test_masks_lengths_and_shared_heads(attend):
    q, k, v = tensors()
    mask = torch.ones(40, 40).tril(3).bool()
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    torch.testing.assert_close(attend(q, k, v, mask), expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(attend(q, k, v, right_bound=3), expected, atol=1e-5, rtol=0)
    wide = torch.cat([q, q], 1)
    shared = attend(wide, k, v, enable_gqa=True, seq_len_kv=torch.tensor([40, 7]))
    keep = (torch.arange(40) < torch.tensor([40, 7])[:, None]).reshape(2, 1, 1, 40)
    repeated = [x.repeat_interleave(2, 1) for x in (k, v)]
    expected = torch.nn.functional.scaled_dot_product_attention(wide, *repeated, keep)
    torch.testing.assert_close(shared, expected, atol=1e-5, rtol=0)


def test_strides_autocast_and_compile(attend):
    q, k, v = (x.transpose(1, 2) for x in tensors((2, 40, 3, 16)))
    o = attend(q, k, v)
    assert o.stride() == q.stride()
    gaps = torch.zeros(2, 3, 40, 32)[..., ::2].copy_(q)
    torch.testing.assert_close(attend(gaps, k, v), o)
    with torch.autocast("cpu", torch.bfloat16):
        assert attend(q, k, v).dtype == torch.bfloat16
    q.requires_grad_()
    compiled = torch.compile(attend, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(q, k, v, is_causal=True), attend(q, k, v, is_causal=True))
    compiled(q, k, v).sum().backward()
    torch.testing.assert_close(q.grad, torch.autograd.grad(attend(q, k, v).sum(), q)[0])


def check_operator(arguments, options):
    from sdpa_graph import operators

    checks = ("test_schema", "test_faketensor", "test_autograd_registration")
    torch.library.opcheck(operators.forward, (*arguments, *options), test_utils=checks)


def test_operators_pass_torchs_own_checks():
    q, k, v = tensors((1, 2, 8, 16), requires_grad=True)
    options = (0.25, None, 0, False, False, None, 0.0, False, True)
    check_operator((q, k, v, *[None] * 10), options)
    mask, sink = torch.randn(1, 1, 8, 8, requires_grad=True), torch.randn(1, 2, 1, 1, requires_grad=True)
    check_operator((q, k, v, mask, sink, *[None] * 8), options)
    packed = [x.reshape(16, 1, 16).detach() for x in (q, k, v)]
    ends = torch.tensor([0, 5, 16], dtype=torch.int32)
    check_operator((*packed, *[None] * 4, ends, ends, None, None, 11, 11), options)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_arrays(attend, name):
    """test_gradients.py shows that those are slopes of forward."""
    *inputs, grad = [torch.from_numpy(x) for x in arrays(name)]
    options = {key: torch.from_numpy(x) if isinstance(x, np.ndarray) else x for key, x in CASES[name].items()}
    seed = options.pop("seed", None)
    given = [x.requires_grad_() for x in inputs]
    extras = {key: x.requires_grad_() for key, x in options.items() if key in operands(name)}
    if seed is None:
        o = attend(*given, **{**options, **extras})
        expected = gradients(name)
    else:
        torch.manual_seed(7)
        seed = torch.randint(2**62, (1, 1, 1, 1)).item()
        torch.manual_seed(7)
        o = attend(*given, **options)
        expected = gradients(name, seed=seed)
    found = dict(zip(operands(name), torch.autograd.grad(o, [*given, *extras.values()], grad)))
    if "attn_mask" in found:  # which torch sums over what is repeated, in an order of its own
        mask = found.pop("attn_mask").numpy()
        np.testing.assert_allclose(mask, expected.attn_mask, atol=2.0**-18, rtol=2.0**-18)
    for operand, part in found.items():
        np.testing.assert_array_equal(part.numpy(), getattr(expected, operand))


def test_dropout_follows_torchs_generator(attend):
    q, k, v = tensors()
    torch.manual_seed(3)
    first, second = attend(q, k, v, dropout_p=0.5), attend(q, k, v, dropout_p=0.5)
    torch.manual_seed(3)
    assert torch.equal(attend(q, k, v, dropout_p=0.5), first) and not torch.equal(first, second)


def test_masks_are_not_copied(attend):
    """A mask in a type that graphs have is taken as it lies, repeated elements and gaps among them."""
    from sdpa_graph.torch import _bias

    mask = torch.randn(2, 1, 40, 80, dtype=torch.half)[..., ::2].expand(2, 3, 40, 40)
    q, k, v = tensors(dtype=torch.half)
    bias = _bias(mask, q, 40)
    assert bias.data_ptr() == mask.data_ptr() and bias.stride() == mask.stride()
    torch.testing.assert_close(attend(q, k, v, mask), attend(q, k, v, mask.contiguous()))


def nested(tensor, ends):
    return torch.nested.nested_tensor_from_jagged(tensor, ends).transpose(1, 2)


def test_packed_sequences(attend):
    ends = torch.tensor([0, 7, 19, 40])
    q, k, v = tensors((40, 3, 16), requires_grad=True)
    found = attend(q, k, v, is_causal=True, cu_seqlens_q=ends, cu_seqlens_kv=ends)
    parts = []
    for begin, end in zip(ends, ends[1:]):
        part = [x[begin:end].transpose(0, 1)[None] for x in (q, k, v)]
        parts.append(attend(*part, is_causal=True)[0].transpose(0, 1))
    torch.testing.assert_close(found, torch.cat(parts))
    same = attend(*(nested(x, ends) for x in (q, k, v)), is_causal=True)
    assert torch.equal(same.transpose(1, 2).values(), found)
    sums = [torch.autograd.grad(x.sum(), q, retain_graph=True)[0] for x in (found, same.transpose(1, 2).values())]
    assert torch.equal(*sums) and sums[0].any()


def with_holes(values, starts, lengths):
    lengths = None if lengths is None else torch.tensor(lengths)
    return torch.nested.nested_tensor_from_jagged(values, torch.tensor(starts), lengths).transpose(1, 2)


def test_rows_of_no_sequence_are_left_out(attend):
    q, k, v = (torch.randn(rows, 2, 8, requires_grad=True) for rows in (12, 9, 7))
    nested = with_holes(q, [1, 5, 5, 10], [2, 0, 3]), with_holes(k, [0, 2, 5, 9], [2, 1, 4]), with_holes(v, [0, 2, 3, 7], None)
    found = attend(*nested).transpose(1, 2)
    assert found.lengths().tolist() == [2, 0, 3] and found.offsets().tolist() == [1, 5, 5, 10]
    expected = torch.zeros(12, 2, 8)
    for rows, keys, values in (((1, 3), (0, 2), (0, 2)), ((5, 8), (5, 9), (3, 7))):
        part = [x[slice(*of)].transpose(0, 1)[None] for x, of in ((q, rows), (k, keys), (v, values))]
        one = torch.nn.functional.scaled_dot_product_attention(*part)[0].transpose(0, 1)
        expected = torch.cat([expected[: rows[0]], one, expected[rows[1] :]])
    torch.testing.assert_close(found.values(), expected, atol=1e-5, rtol=1e-5)
    grad = torch.randn(12, 2, 8)
    wanted = torch.autograd.grad(expected, (q, k, v), grad)
    for one, another in zip(torch.autograd.grad(found.values(), (q, k, v), grad), wanted):
        torch.testing.assert_close(one, another, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("lengths", [None, [3, 2]])
def test_nested_tensors_compile(attend, lengths):
    x = with_holes(torch.randn(10, 2, 8), [0, 5, 10], lengths)
    options = {"max_seqlen_q": 5, "max_seqlen_kv": 5}
    for given, fullgraph in (({}, False), (options, True)):
        compiled = torch.compile(attend, fullgraph=fullgraph, backend="aot_eager")
        torch.testing.assert_close(compiled(x, x, x, **given).values(), attend(x, x, x).values())


def test_keys_in_pages(attend):
    q = tensors((2, 4, 3, 16))[0]
    k, v = (torch.randn(8, 2, 4, 16) for _ in range(2))
    table, lengths = torch.tensor([[3, 0, 5], [1, 7, 2]]), torch.tensor([10, 12])
    options = {"enable_gqa": True, "is_causal": True, "bottom_right": True, "seq_len_kv": lengths}
    found = attend(q, k, v, page_table=table, **options)
    flat = [x[table].transpose(2, 3).flatten(1, 2).transpose(1, 2) for x in (k, v)]
    torch.testing.assert_close(found, attend(q, *flat, **options))
    with pytest.raises(NotImplementedError, match="keys in pages have no gradient"):
        attend(q.requires_grad_(), k, v, page_table=table, **options)


def everything(q, k, v, mask, sink, ends, attend):
    packed = [x.transpose(1, 2).reshape(-1, 3, 16) for x in (q, k, v)]
    options = {"cu_seqlens_q": ends, "cu_seqlens_kv": ends, "max_seqlen_q": 47, "max_seqlen_kv": 47}
    o = attend(q, k, v, mask, dropout_p=0.1, softcap=5.0, sink=sink, left_bound=8, alibi=True)
    return o.sum() + attend(*packed, is_causal=True, **options).square().sum()


def test_compile_takes_all_options_without_a_graph_break(attend):
    inputs = [*tensors(requires_grad=True), torch.randn(40, 40, requires_grad=True), torch.randn(3, requires_grad=True)]
    ends, results = torch.tensor([0, 33, 80]), []
    compiled = torch.compile(everything, fullgraph=True, backend="aot_eager")
    for function in (everything, compiled):
        torch.manual_seed(1)
        loss = function(*inputs, ends, attend)
        results.append([loss, *torch.autograd.grad(loss, inputs)])
    for found, expected in zip(*results):
        torch.testing.assert_close(found, expected)


def test_gradients_have_no_gradients(attend):
    q, k, v = tensors(requires_grad=True)
    (grad,) = torch.autograd.grad(attend(q, k, v).square().sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable|not implemented"):
        grad.sum().backward()


def test_autocast_reaches_gradients(attend):
    q, k, v = tensors(requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        o = attend(q, k, v, sink=torch.zeros(3, requires_grad=True))
    assert o.dtype == torch.bfloat16
    assert torch.autograd.grad(o.float().sum(), q)[0].dtype == torch.float32


def test_autocast_leaves_doubles(attend):
    q, k, v = (x.double() for x in tensors())
    with torch.autocast("cpu", torch.bfloat16):
        for options in ({}, {"softcap": 2.0}):
            with pytest.raises(RuntimeError, match="found the type DOUBLE; expected HALF, BFLOAT16 or FLOAT"):
                attend(q, k, v, **options)
        assert attend(*tensors()).dtype == torch.bfloat16


def test_what_it_does_not_take_is_said(attend):
    q, k, v = tensors()
    with pytest.raises(ValueError, match="enable_gqa"):
        attend(q, k[:, :1], v[:, :1])
    with pytest.raises(ValueError, match="query has 4 dims: 3 are needed with cu_seqlens"):
        attend(q, k, v, cu_seqlens_q=torch.tensor([0, 80]))
    with pytest.raises(RuntimeError, match="attention.c11"):
        attend(q, k, v, dropout_p=1.0)
    with pytest.raises((ValueError, TypeError), match="complex64"):
        attend(*(x.to(torch.complex64) for x in (q, k, v)))


def test_the_existing_packages_operator(attend):
    q, k, v = tensors()
    experimental = cudnn.experimental.ops.sdpa.scaled_dot_product_attention
    torch.testing.assert_close(experimental(q, k, v, is_causal=True), attend(q, k, v, is_causal=True))
    with pytest.raises(NotImplementedError, match="attn_mask"):
        experimental(q, k, v, attn_mask=q)
    with pytest.raises(NotImplementedError, match="dropout"):
        experimental(q, k, v, dropout_p=0.1)


def test_torchs_switch_asks_for_determinism(attend, monkeypatch):
    from sdpa_graph import operators

    asked = []
    monkeypatch.setattr(operators, "attend", lambda *args: asked.append(args[-2]))
    attend(*tensors(), left_bound=4)
    torch.use_deterministic_algorithms(True)
    try:
        attend(*tensors())
    finally:
        torch.use_deterministic_algorithms(False)
    assert asked == [False, True]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"softcap": 20.0}])
def test_traces_compute_again(attend, options):
    q, k, v = tensors()
    traced = torch.jit.trace(lambda *inputs: attend(*inputs, **options), (q, k, v))
    torch.testing.assert_close(traced(v, q, k), attend(v, q, k, **options))


def dual(tensor):
    return torch.autograd.forward_ad.make_dual(tensor, torch.ones_like(tensor))


def test_forward_mode_is_refused(attend):
    (q, k, v), mask, sink = tensors(), torch.randn(40, 40), torch.zeros(3)
    learned = mask.clone().requires_grad_()
    with torch.autograd.forward_ad.dual_level():
        attend(q, k, v, mask, sink=sink)
        for call in (
            lambda: attend(dual(q), k, v),
            lambda: attend(dual(q), k, v, learned),
            lambda: attend(q, k, v, dual(learned)),
        ):
            with pytest.raises(NotImplementedError):
                call()
        for name, given in (("attn_mask", mask), ("sink", sink)):
            with pytest.raises(NotImplementedError, match=f"{name} is a dual tensor, .* a tensor without a tangent is needed"):
                attend(q, k, v, **{name: dual(given)})
        output = attend(q, k, v, learned)
        with pytest.raises(NotImplementedError, match="grad is a dual tensor"):
            torch.autograd.grad(output, learned, dual(torch.ones_like(output)))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_forward_mode_is_refused_under_compile(attend, backend):
    (q, k, v), mask = tensors(), torch.randn(40, 40)
    compiled = torch.compile(lambda q, k, v, mask: attend(q.sin(), k, v, mask), fullgraph=True, backend=backend)
    with torch.autograd.forward_ad.dual_level():
        torch.testing.assert_close(compiled(q, k, v, mask), attend(q.sin(), k, v, mask))
        for name, given in (("query", (dual(q), k, v, mask)), ("attn_mask", (q, k, v, dual(mask)))):
            for _ in range(2):
                with pytest.raises(NotImplementedError, match=f"{name} is a dual tensor"):
                    compiled(*given)


def test_transforms_without_options(attend):
    q, k, v = tensors((1, 2, 4, 8))
    theirs = torch.nn.functional.scaled_dot_product_attention
    for options in ({}, {"is_causal": True, "left_bound": 5}):
        expected = torch.func.grad(lambda q: theirs(q, k, v, is_causal=bool(options)).square().sum())(q)
        found = torch.func.grad(lambda q: attend(q, k, v, **options).square().sum())(q)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(torch.func.jacrev(attend)(q, k, v), torch.func.jacrev(theirs)(q, k, v), atol=1e-5, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_batches_of_gradients(attend):
    q, k, v = tensors((1, 2, 4, 8))
    q.requires_grad_()
    mask, grads = torch.randn(4, 4), torch.randn(3, 1, 2, 4, 8)
    output = attend(q, k, v, mask)
    found = torch.autograd.grad(output, q, grads, is_grads_batched=True, retain_graph=True)[0]
    torch.testing.assert_close(found, torch.stack([torch.autograd.grad(output, q, x, retain_graph=True)[0] for x in grads]))
    learned = attend(q, k, v, mask.requires_grad_())
    with pytest.raises(NotImplementedError, match="are not served for the gradient of the output"):
        torch.autograd.grad(learned, q, grads, is_grads_batched=True)


def over(change, function, inputs):
    return change(lambda *given: function(*given).sum())(*inputs)


TRANSFORMS = {
    "vmap": (torch.vmap, "query, key, value", lambda attend, q, k, v, m: (attend, (q[None], k[None], v[None]))),
    "mask": (torch.func.grad, "attn_mask", lambda attend, q, k, v, m: (lambda q: attend(q, k, v, m), (q,))),
    "learned": (torch.func.grad, "attn_mask", lambda attend, q, k, v, m: (lambda m: attend(q, k, v, m), (m,))),
    "dropout": (torch.func.grad, "dropout_p", lambda attend, q, k, v, m: (lambda q: attend(q, k, v, dropout_p=0.1), (q,))),
    "masks": (torch.func.functionalize, "attn_mask", lambda attend, q, k, v, m: (attend, (q, k, v, m))),
    "lengths": (
        torch.vmap,
        "seq_len_kv",
        lambda attend, q, k, v, m: (lambda n: attend(q, k, v, seq_len_kv=n), (torch.tensor([[3], [2]]),)),
    ),
    "ends": (
        torch.vmap,
        "cu_seqlens_q",
        lambda attend, q, k, v, m: (lambda n: attend(q[0], k[0], v[0], cu_seqlens_q=n, cu_seqlens_kv=n), (torch.tensor([[0, 2]]),)),
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_refused(attend, name):
    change, argument, make = TRANSFORMS[name]
    function, inputs = make(attend, *tensors((1, 2, 4, 8)), torch.randn(4, 4))
    text = rf"torch.func's transforms \(.*\) are not served for {argument}: torch's own function has them under .*loop"
    with pytest.raises(NotImplementedError, match=text):
        over(change, function, inputs)


def test_negated_views_are_read_with_their_sign(attend):
    q, k, v = tensors()
    torch.testing.assert_close(attend(torch._neg_view(q), k, v, softcap=9.0), attend(-q, k, v, softcap=9.0))
