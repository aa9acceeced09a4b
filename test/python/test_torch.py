"""Tensors of torch on the host: as memory of graphs, as a function with gradients. Needs torch."""

import cudnn
import numpy as np
import pytest
from attention import Forward, attention, qkv, tolerance

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


def test_operators_pass_torchs_own_checks(attend):
    from sdpa_graph.torch import _forward

    q, k, v = tensors((1, 2, 8, 16), requires_grad=True)
    arguments = (q, k, v, None, None, None, None, 0.25, None, 0, False, False, False, True)
    torch.library.opcheck(
        _forward, arguments, test_utils=("test_schema", "test_faketensor", "test_autograd_registration")
    )


def test_what_it_does_not_do_is_said(attend):
    q, k, v = tensors()
    with pytest.raises(NotImplementedError, match="dropout_p is 0.5"):
        attend(q, k, v, dropout_p=0.5)
    with pytest.raises(NotImplementedError, match="attn_mask requires a gradient"):
        attend(q, k, v, torch.zeros(40, 40, requires_grad=True))
    with pytest.raises(ValueError, match="enable_gqa"):
        attend(q, k[:, :1], v[:, :1])
    experimental = cudnn.experimental.ops.sdpa.scaled_dot_product_attention
    torch.testing.assert_close(experimental(q, k, v, is_causal=True), attend(q, k, v, is_causal=True))
    with pytest.raises(NotImplementedError, match="attn_mask"):
        experimental(q, k, v, attn_mask=q)
    with pytest.raises(NotImplementedError, match="dropout"):
        experimental(q, k, v, dropout_p=0.1)
