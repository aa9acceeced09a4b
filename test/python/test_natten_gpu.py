"""Neighborhood attention with natten's names on a GPU, by graphs and the library's own kernels, compared with the host's. Needs torch."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = [pytest.mark.torch, pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")]

CASES = {
    "na1d": ((70,), 9, 3, False),
    "na2d": ((20, 33), (7, 4), (1, 2), (False, True)),
    "na3d": ((5, 9, 12), (3, 5, 7), 1, False),
}


@pytest.fixture
def natten():
    from sdpa_graph import natten

    return natten


def close(found, expected):
    # Half has 11 bits; sums of gradients over some hundred queries are of about 1.
    torch.testing.assert_close(found.cpu().float(), expected.float(), atol=0.02, rtol=0.01)


@pytest.mark.parametrize("width", [64, 40, 192])
@pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16, torch.float])
@pytest.mark.parametrize("name", CASES)
def test_output_and_gradients_are_those_of_the_host(natten, name, dtype, width):
    space, kernel, dilation, causal = CASES[name]
    torch.manual_seed(1)
    given = [torch.randn(2, *space, 3, width).mul_(0.5).to(dtype) for _ in range(4)]
    results = []
    for device in ("cuda", "cpu"):
        *inputs, grad = [x.to(device) for x in given]
        inputs = [x.requires_grad_() for x in inputs]
        out = getattr(natten, name)(*inputs, kernel, dilation, is_causal=causal)
        results.append([out, *torch.autograd.grad(out, inputs, grad)])
    for found, expected in zip(*results):
        if dtype == torch.bfloat16:
            torch.testing.assert_close(found.cpu().float(), expected.float(), atol=0.08, rtol=0.05)
        else:
            close(found, expected)


@pytest.mark.parametrize("dtype", [torch.half, torch.float])
def test_products_and_their_gradients_are_those_of_the_host(natten, dtype):
    torch.manual_seed(2)
    q, k, v, grad = (torch.randn(2, 3, 13, 21, 32).mul_(0.3).to(dtype) for _ in range(4))
    rpb = torch.randn(3, 9, 13).to(dtype)
    results = []
    for device in ("cuda", "cpu"):
        inputs = [x.to(device).detach().requires_grad_() for x in (q, k, v, rpb)]
        scores = natten.na2d_qk(inputs[0], inputs[1], (5, 7), (1, 3), rpb=inputs[3])
        out = natten.na2d_av(scores.softmax(-1), inputs[2], (5, 7), (1, 3))
        results.append([scores, out, *torch.autograd.grad(out, inputs, grad.to(device))])
    for found, expected in zip(*results):
        close(found, expected)


@pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16, torch.float])
def test_a_bias_has_a_gradient_of_zeros_without_batch_entries(natten, dtype):
    torch.full((4096,), 7.0, device="cuda")  # what is allocated next had better be written
    q, k = (torch.randn(0, 3, 13, 21, 32, device="cuda", dtype=dtype, requires_grad=True) for _ in range(2))
    rpb = torch.randn(3, 9, 13, device="cuda", dtype=dtype, requires_grad=True)
    (gradient,) = torch.autograd.grad(natten.na2d_qk(q, k, (5, 7), (1, 3), rpb=rpb).sum(), rpb)
    assert not gradient.any()


def test_a_call_is_captured_into_a_cuda_graph(natten):
    q, k, v = (torch.randn(1, 16, 16, 2, 64, device="cuda", dtype=torch.half) for _ in range(3))
    expected = natten.na2d(q, k, v, 5)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        out = natten.na2d(q, k, v, 5)
    out.zero_()
    recorded.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(out, expected, atol=0, rtol=0)


@pytest.fixture
def deterministic():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("name, space, kernel", [("na1d", (16384,), 257), ("na2d", (24, 24), 7), ("na3d", (8, 9, 10), 5)])
def test_deterministic_gradients_are_the_same_bits_each_time(natten, deterministic, name, space, kernel):
    q, k, v = (torch.randn(2, *space, 4, 64, device="cuda", dtype=torch.half, requires_grad=True) for _ in range(3))
    runs = [torch.autograd.grad(getattr(natten, name)(q, k, v, kernel).sum(), (q, k, v)) for _ in range(3)]
    for run in runs[1:]:
        assert all(torch.equal(one, other) for one, other in zip(run, runs[0]))
