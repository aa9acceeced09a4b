"""The functions of sdpa_graph.flash_attn on a GPU, beside PyTorch's own kernels of that name and a formula in double."""

import math
import random

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]

CALLS = 500


@pytest.fixture(scope="module")
def attend():
    from sdpa_graph.flash_attn import flash_attn_func

    return flash_attn_func


def formula(q, k, v, scale, left, right, softcap=0.0, slopes=None):
    """Output and log-sum-exp of (batch, tokens, heads, head dim) in double; negative windows are unbounded."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q @ k.transpose(2, 3) * scale
    if softcap > 0.0:
        scores = softcap * torch.tanh(scores / softcap)
    rows, columns = scores.shape[2:]
    column = torch.arange(columns, device=q.device)
    distance = torch.arange(rows, device=q.device)[:, None] + columns - rows - column
    if slopes is not None:
        is_causal = left < 0 and right == 0
        scores = scores + slopes.double()[:, None, None] * (column if is_causal else -distance.abs())
    hidden = torch.zeros_like(distance, dtype=torch.bool)
    if left >= 0:
        hidden |= distance > left
    if right >= 0:
        hidden |= -distance > right
    scores = scores.masked_fill(hidden, -math.inf)
    return (torch.softmax(scores, -1) @ v).transpose(1, 2), torch.logsumexp(scores, -1)


class Case:
    """A random call whose every query sees a key."""

    def __init__(self, seed, device="cuda"):
        choose = random.Random(seed)
        self.key_heads = choose.choice([1, 2, 4])
        heads = self.key_heads * choose.choice([1, 2, 4])
        width = choose.choice([32, 64, 96, 128])
        batch, keys = choose.randint(1, 3), choose.randint(2, 400)
        queries = choose.choice([keys, choose.randint(2, keys)])
        self.right = choose.choice([-1, 0, 0, choose.randint(1, 64)])
        self.left = choose.choice([-1, -1, choose.randint(0, 64)])
        if self.left >= keys:
            self.left = -1
        if self.right >= keys:
            self.right = -1
        generator = torch.Generator(device).manual_seed(seed)
        dtype = choose.choice([torch.half, torch.bfloat16])

        def tensor(length, count):
            return torch.randn(batch, length, count, width, device=device, dtype=dtype, generator=generator)

        self.q, self.k, self.v = tensor(queries, heads), tensor(keys, self.key_heads), tensor(keys, self.key_heads)
        self.dout, self.scale = tensor(queries, heads), width**-0.5

    def exact(self, **options):
        leaves = [x.double().requires_grad_() for x in (self.q, self.k, self.v)]
        out, log_sums = formula(*leaves, self.scale, self.left, self.right, **options)
        return [out, log_sums, *torch.autograd.grad(out, leaves, self.dout.double())]

    def ours(self, attend, **options):
        leaves = [x.detach().clone().requires_grad_() for x in (self.q, self.k, self.v)]
        window = (self.left, self.right)
        out, log_sums, _ = attend(*leaves, window_size=window, return_attn_probs=True, **options)
        return [out, log_sums, *torch.autograd.grad(out, leaves, self.dout)]

    def theirs(self):
        """PyTorch's kernels want the windows as they are, None for unbounded, and as many key heads as query heads or fewer."""
        windows = {
            "window_size_left": None if self.left < 0 else self.left,
            "window_size_right": None if self.right < 0 else self.right,
        }
        lengths = (None, None, self.q.shape[1], self.k.shape[1], 0.0, self.left < 0 and self.right == 0)
        forward = torch.ops.aten._flash_attention_forward
        out, log_sums, *state = forward(self.q, self.k, self.v, *lengths, False, scale=self.scale, **windows)
        backward = torch.ops.aten._flash_attention_backward
        gradients = backward(
            self.dout, self.q, self.k, self.v, out, log_sums, *lengths, state[0], state[1], scale=self.scale, **windows
        )
        return [out, log_sums, *gradients]


NAMES = ("out", "softmax_lse", "dq", "dk", "dv")


def errors(results, exact):
    return [((found.double() - wanted).abs().max() / wanted.abs().max().clamp(min=0.1)).item()
            for found, wanted in zip(results, exact)]  # fmt: skip


def assert_close(results, exact, dtype):
    for name, error in zip(NAMES, errors(results, exact)):
        most = 1e-3 if name == "softmax_lse" else 16 * torch.finfo(dtype).eps
        assert error < most, f"{name} is off by {error} of its greatest magnitude"


def test_random_calls_beside_pytorch(attend):
    for seed in range(CALLS):
        case = Case(seed)
        exact, ours, theirs = case.exact(), case.ours(attend), case.theirs()
        assert_close(ours, exact, case.q.dtype)
        for name, error, their_error in zip(NAMES, errors(ours, exact), errors(theirs, exact)):
            floor = 1e-5 if name == "softmax_lse" else torch.finfo(case.q.dtype).eps
            assert error <= 2 * their_error + floor, f"call {seed}: {name} is off by {error}, theirs by {their_error}"


@pytest.mark.parametrize("softcap", [0.0, 5.0])
@pytest.mark.parametrize("with_slopes", [False, True])
def test_soft_caps_and_slopes(attend, softcap, with_slopes):
    for seed in range(20):
        case = Case(1000 + seed)
        slopes = torch.rand(case.q.shape[2], device=case.q.device) * 0.2 if with_slopes else None
        exact = case.exact(softcap=softcap, slopes=slopes)
        assert_close(case.ours(attend, softcap=softcap, alibi_slopes=slopes), exact, case.q.dtype)


def test_dropout_is_replayed(attend):
    """Of values that are all 1, a row's output is its kept probabilities' sum; backward of the sum drops the same."""
    q = torch.randn(2, 256, 4, 64, device="cuda", dtype=torch.half)
    v = torch.ones_like(q, requires_grad=True)
    out = attend(q, q, v, 0.25)
    assert abs(out.float().mean().item() - 1.0) < 0.02
    assert out.float().std().item() > 0.01
    (gradient,) = torch.autograd.grad(out, v, torch.ones_like(out))
    torch.testing.assert_close(gradient.double().sum(), out.double().sum(), rtol=2e-3, atol=0.0)


def test_what_a_gpu_does_not_take(attend):
    from sdpa_graph.flash_attn import flash_attn_varlen_func

    q = torch.randn(8, 2, 16, device="cuda", dtype=torch.half)
    totals = torch.tensor([0, 3, 8], dtype=torch.int32, device="cuda")
    with pytest.raises(Exception, match=r"flash\.c26"):
        flash_attn_varlen_func(q, q, q, totals, totals, 5, 5)
    with pytest.raises(Exception, match=r"flash\.c27"):
        attend(q[None], q[None, :4], q[None, :4], causal=True)


def test_a_call_is_captured_once_its_class_is_known(attend):
    q, k, v = (torch.randn(2, 128, 4, 64, device="cuda", dtype=torch.half) for _ in range(3))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        attend(q, k, v, causal=True)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph, stream=stream):
        out = attend(q, k, v, causal=True)
    q.copy_(torch.randn_like(q))
    graph.replay()
    torch.cuda.synchronize()
    expected, _ = formula(q.double(), k.double(), v.double(), 0.125, -1, 0)
    torch.testing.assert_close(out.double(), expected, atol=1e-2, rtol=0)
