"""Calls whose arguments torch's operator for attention does not have, on the host. Needs torch."""

import concurrent.futures
import gc
import weakref

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch

OPERATOR = "ScaledDotProductFusedAttentionOverrideableBackward0"
TOKENS, HEADS, WIDTH = 12, 2, 16


def made(*shape, seed, dtype=torch.bfloat16):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def padded(q, k, v, **options):
    from sdpa_graph.flash_attn import flash_attn_func

    return flash_attn_func(q, k, v, **options)


def packed(q, k, v, **options):
    from sdpa_graph.flash_attn import flash_attn_varlen_func

    ends = torch.tensor([0, 5, TOKENS], dtype=torch.int32)
    return flash_attn_varlen_func(q[0], k[0], v[0], ends, ends, 8, 8, **options).unsqueeze(0)


def heads_first(q, k, v, **options):
    from sdpa_graph.torch import scaled_dot_product_attention

    output = scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, v)), **options)
    return output.transpose(1, 2)


SLOPES = torch.tensor([0.25, 0.0625])
CALLS = {
    "padded": (padded, {}),
    "window": (padded, {"causal": True, "window_size": (3, 0)}),
    "slopes": (padded, {"softcap": 3.0, "alibi_slopes": SLOPES}),
    "dropout": (padded, {"dropout_p": 0.25}),
    "packed": (packed, {"causal": True}),
    "packed, softcap": (packed, {"softcap": 2.0}),
    "bounds": (heads_first, {"is_causal": True, "left_bound": 4}),
    "alibi": (heads_first, {"is_causal": True, "alibi": True}),
    "lengths": (heads_first, {"seq_len_q": torch.tensor([9]), "seq_len_kv": torch.tensor([7])}),
    "mask": (heads_first, {"attn_mask": made(TOKENS, TOKENS, seed=9)}),
    "sink": (heads_first, {"sink": torch.tensor([0.5, -1.0])}),
    "torch's dropout": (heads_first, {"dropout_p": 0.5}),
}


@pytest.fixture(params=CALLS, ids=lambda name: name.replace(" ", "_"))
def call(request):
    function, options = CALLS[request.param]

    def attend(*tensors):
        torch.manual_seed(5)
        return function(*tensors, **options)

    return attend


def inputs():
    return [made(1, TOKENS, HEADS, WIDTH, seed=seed).requires_grad_() for seed in (1, 2, 3)]


def gradients(output, tensors):
    return torch.autograd.grad(output, tensors, made(1, TOKENS, HEADS, WIDTH, seed=4))


def names_of(node):
    found, open_nodes = set(), [node]
    while open_nodes:
        node = open_nodes.pop()
        if node is not None and node.name() not in found:
            found.add(node.name())
            open_nodes += [parent for parent, _ in node.next_functions]
    return found


def test_the_operator_gives_the_bits_of_functions_in_python(call, monkeypatch):
    tensors = inputs()
    output = call(*tensors)
    assert OPERATOR in names_of(output.grad_fn)
    with torch.no_grad():
        assert torch.equal(call(*tensors), output)
    found = gradients(output, tensors)
    monkeypatch.setattr("sdpa_graph.torch_operator._operator", None)
    other = call(*tensors)
    assert OPERATOR not in names_of(other.grad_fn)
    assert torch.equal(other, output)
    for one, another in zip(found, gradients(other, tensors)):
        assert torch.equal(one, another)


def test_arguments_live_as_long_as_backward_needs_them(call):
    tensors = inputs()
    output = call(*tensors)
    wanted = gradients(call(*tensors), tensors)
    gc.collect()
    rubbish = [torch.full((3,), 2**30, dtype=torch.int32) for _ in range(64)]
    for _ in range(2):
        for one, another in zip(torch.autograd.grad(output, tensors, made(*output.shape, seed=4), retain_graph=True), wanted):
            assert torch.equal(one, another)
    del rubbish


def test_arguments_end_with_the_graph_of_autograd():
    from sdpa_graph.flash_attn import flash_attn_varlen_func

    q, k, v = (x[0] for x in inputs())
    ends = torch.tensor([0, 5, TOKENS], dtype=torch.int32)
    output = flash_attn_varlen_func(q, k, v, ends, ends, 8, 8)
    known = weakref.ref(ends)
    del ends
    gc.collect()
    assert known() is not None
    del output
    gc.collect()
    assert known() is None


def test_tensors_of_autograd_may_be_kept_elsewhere(call):
    tensors = inputs()
    wanted = gradients(call(*tensors), tensors)
    copies = torch.autograd.graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x)
    with copies:
        output = call(*tensors)
    assert OPERATOR in names_of(output.grad_fn)
    gc.collect()
    for one, another in zip(gradients(output, tensors), wanted):
        assert torch.equal(one, another)


def test_checkpoints(call):
    from torch.utils.checkpoint import checkpoint

    tensors = inputs()
    wanted = gradients(call(*tensors), tensors)
    for reentrant in (False, True):
        output = checkpoint(call, *tensors, use_reentrant=reentrant, preserve_rng_state=True)
        for leaf in tensors:
            leaf.grad = None
        gc.collect()
        output.backward(made(1, TOKENS, HEADS, WIDTH, seed=4))
        for leaf, another in zip(tensors, wanted):
            assert torch.equal(leaf.grad, another)


@pytest.mark.parametrize("name", ["seq_len_kv", "attn_mask", "sink"])
def test_changes_in_place_are_found(name):
    argument = {
        "seq_len_kv": torch.tensor([7], dtype=torch.int32),
        "attn_mask": made(TOKENS, TOKENS, seed=9),
        "sink": torch.tensor([0.5, -1.0]),
    }[name]
    lengths = {"seq_len_q": torch.tensor([TOKENS])} if name == "seq_len_kv" else {}
    tensors = inputs()
    output = heads_first(*tensors, **lengths, **{name: argument})
    argument -= 1
    with pytest.raises(RuntimeError, match="changed in place before backward"):
        gradients(output, tensors)


def test_lost_arguments_are_an_error():
    q, k, v = inputs()
    output = padded(q, k, v, softcap=2.0, alibi_slopes=SLOPES)
    output.grad_fn._raw_saved_attn_bias.register_hooks(lambda x: x.clone(), lambda x: x)
    gc.collect()
    with pytest.raises(RuntimeError, match="the arguments of this call are gone"):
        gradients(output, [q, k, v])


def test_inference_comes_first():
    """A tensor of inference mode could not be saved for backward."""
    options = {"causal": True, "softmax_scale": 0.123}
    with torch.inference_mode():
        padded(*inputs(), **options)
    assert padded(*inputs(), **options).grad_fn.name() == OPERATOR


@pytest.mark.parametrize("sizes", [(0, 4, 4), (2, 0, 4), (2, 4, 0), (2, 0, 0)])
@pytest.mark.parametrize("width", [16, 13])
def test_empty_tensors(sizes, width):
    batch, queries, keys = sizes
    for form in ("padded", "heads first", "packed"):
        counts = (queries, keys, keys)
        if form == "packed":
            from sdpa_graph.flash_attn import flash_attn_varlen_func

            tensors = [made(batch * count, HEADS, width, seed=1).requires_grad_() for count in counts]
            ends = [torch.arange(batch + 1, dtype=torch.int32) * count for count in counts[:2]]
            if batch == 0:
                continue
            output = flash_attn_varlen_func(*tensors, *ends, max(queries, 1), max(keys, 1))
        else:
            tensors = [made(batch, count, HEADS, width, seed=1).requires_grad_() for count in counts]
            output = padded(*tensors) if form == "padded" else heads_first(*tensors, is_causal=True, left_bound=3)
        assert output.shape == tensors[0].shape
        for found, tensor in zip(torch.autograd.grad(output.sum(), tensors), tensors):
            assert found.shape == tensor.shape and not found.any()


def test_other_devices_are_refused():
    tensors = [x.detach().to("meta") for x in inputs()]
    with pytest.raises(Exception, match=r"flash\.c"):
        padded(*tensors)


def test_threads():
    """Each thread has calls of its own, whose numbers are alive together."""

    def results(left):
        tensors = inputs()
        output = packed(*tensors, window_size=(left, 0))
        return [output, *gradients(output, tensors)]

    lefts = list(range(8)) * 8
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(results, lefts))
    for left, one in zip(lefts, found):
        assert all(map(torch.equal, one, results(left)))


@pytest.mark.parametrize("bias", [torch.tensor([0]), torch.tensor([2**62]), torch.zeros(TOKENS, TOKENS), torch.zeros(1)])
def test_no_other_bias_is_accepted(bias):
    import sdpa_graph.torch  # noqa: F401

    tensors = [x.transpose(1, 2) for x in inputs()]
    with pytest.raises(RuntimeError):
        torch.ops.aten._scaled_dot_product_fused_attention_overrideable(*tensors, bias)


class Ends(torch.autograd.Function):
    """Its gradient is None, which stands for zeros."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


@pytest.mark.parametrize("options", [{}, {"window_size": (3, 0)}, {"dropout_p": 0.5}], ids=["plain", "window", "dropout"])
def test_a_gradient_of_none(options):
    q, k, v = (made(1, TOKENS, HEADS, WIDTH, seed=seed).requires_grad_() for seed in range(3))
    (Ends.apply(padded(q, k, v, **options)).sum() + 2 * q.sum()).backward()
    assert torch.equal(q.grad, torch.full_like(q, 2)) and k.grad is None and v.grad is None
