"""The functions of sdpa_graph.flash_attn on a GPU, compared with PyTorch's own kernels of that name and a formula in double."""

import collections
import concurrent.futures
import random
import time
from time import perf_counter

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]

from flash_calls import NAMES, Call, errors, faults, formula  # noqa: E402
from sdpa_graph import _core  # noqa: E402
from sdpa_graph.shape_policies import set_shape_policy  # noqa: E402

CALLS, FORMS = 500, 48  # a plan, which takes most of the time, is made for each form, forward and backward


@pytest.fixture(scope="module")
def flash():
    from sdpa_graph import flash_attn

    return flash_attn


def kinds(call):
    """The options of a call that its test shows, for counting."""
    yield "packed" if call.is_packed else "padded"
    if call.heads > call.key_heads:
        yield "shared key heads"
    if call.left >= 0 or call.right > 0:
        yield "windows"
    if call.left < 0 and call.right == 0:
        yield "causal"
    if any(0 in length for length in call.lengths):
        yield "empty sequences"
    if any(queries > keys + call.right >= keys for queries, keys in call.lengths):
        yield "queries without keys"


def test_random_calls_beside_pytorch(flash):
    seen, found, begin = collections.Counter(), [], perf_counter()
    for seed in range(CALLS):
        call = Call(seed % FORMS, seed)
        seen.update(kinds(call))
        exact, ours, theirs = call.exact(), call.ours(flash), call.theirs()
        found += [f"call {seed}: {fault}" for fault in faults(call, ours, exact)]
        for name, error, their_error in zip(NAMES, errors(ours, exact), errors(theirs, exact)):
            floor = 1e-5 if name == "softmax_lse" else torch.finfo(call.dtype).eps
            if error > 2 * their_error + floor:
                found.append(f"call {seed}: {name} is off by {error}, theirs by {their_error}")
        if seed % 100 == 99:
            print(f"\n{seed + 1} calls, {len(found)} faults, {perf_counter() - begin:.0f} s", end="", flush=True)
    print(f"\n{CALLS} calls of {FORMS} forms beside PyTorch's:", ", ".join(f"{count} {kind}" for kind, count in sorted(seen.items())))
    assert not found, "\n".join([f"{len(found)} faults", *found[:40]])
    assert min(seen.values()) >= 20


def test_threads_that_have_made_no_cuda_call(flash):
    """Such a thread has no context, and the memory of results may be there without a call of CUDA."""
    q, k, v = (torch.randn(2, 96, 4, 64, device="cuda", dtype=torch.half) for _ in range(3))
    ends = torch.tensor([0, 96, 192], device="cuda", dtype=torch.int32)
    rows = [x.flatten(0, 1) for x in (q, k, v)]
    calls = {
        "padded": lambda: flash.flash_attn_func(q, k, v, window_size=(20, 0)),
        "packed": lambda: flash.flash_attn_varlen_func(*rows, ends, ends, 96, 96, causal=True),
    }
    for name, call in calls.items():
        wanted = [call() for _ in range(3)][0]  # the plan is made, and memory for other results is kept
        torch.cuda.synchronize()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            found = pool.submit(call).result()
        torch.testing.assert_close(found, wanted, msg=name)


def test_causal_sequences_some_with_as_many_queries_as_keys(flash):
    """Backward has a plan for those, and one for the others."""
    lengths = [(700, 700), (0, 0), (300, 700), (700, 40), (513, 513), (5, 0), (0, 6), (64, 64)]
    counts = [[length[part] for length in lengths] for part in (0, 1, 1)]
    q, k, v = (
        torch.randn(sum(count), heads, 64, device="cuda", dtype=torch.half, requires_grad=True)
        for count, heads in zip(counts, (4, 2, 2))
    )
    dout = torch.randn_like(q)
    totals = [torch.tensor([0, *count], device="cuda").cumsum(0).to(torch.int32) for count in counts[:2]]
    out = flash.flash_attn_varlen_func(q, k, v, *totals, 700, 700, causal=True)
    exact = [x.detach().double().requires_grad_() for x in (q, k, v)]
    parts = zip(*(leaf.split(count) for leaf, count in zip(exact, counts)))
    wanted = torch.cat([formula(*part, 0.125, -1, 0)[0] for part in parts])
    torch.testing.assert_close(out.double(), wanted, atol=1e-2, rtol=0)
    found = torch.autograd.grad(out, (q, k, v), dout)
    for gradient, expected in zip(found, torch.autograd.grad(wanted, exact, dout.double())):
        torch.testing.assert_close(gradient.double(), expected, atol=2e-2 * expected.abs().max().item(), rtol=0)


@pytest.mark.parametrize("softcap", [0.0, 5.0])
@pytest.mark.parametrize("with_slopes", [False, True])
def test_soft_caps_and_slopes(flash, softcap, with_slopes):
    found = []
    for seed in range(1000, 1002):
        call = Call(seed, seed)
        slopes = torch.rand(call.heads, device="cuda") * 0.2 if with_slopes else None
        exact = call.exact(softcap=softcap, slopes=slopes)
        ours = call.ours(flash, softcap=softcap, alibi_slopes=slopes)
        found += [f"call {seed}: {fault}" for fault in faults(call, ours, exact)]
    assert not found, "\n".join(found)


def assert_as_in_formula(call, out, log_sums, q, sequences):
    """Compares packed results with the formula for each sequence's queries, keys and values."""
    start = 0
    for queries, k, v in sequences:
        rows = slice(start, start + queries)
        exact = formula(q[rows].double(), k.double(), v.double(), call.scale, call.left, call.right)
        assert not faults(call, [out[rows], log_sums[:, rows]], exact)
        start += queries


@pytest.mark.parametrize("queries", [1, 3, 70])
@pytest.mark.parametrize("page_rows", [256, 768])
def test_keys_in_pages(flash, queries, page_rows):
    for seed in range(2):
        call = Call(2 * seed + 1, seed)
        counts = [0, 1, 257, 700, 512][: 3 + seed % 3]
        columns = -(-max(counts) // page_rows)
        order = torch.randperm(len(counts) * columns + 1, device="cuda")[:-1].view(len(counts), columns)
        shape = (len(counts) * columns + 1, page_rows, call.key_heads, call.width)
        k, v = (torch.randn(shape, device="cuda", dtype=call.dtype) for _ in range(2))
        q = torch.randn(len(counts) * queries, call.heads, call.width, device="cuda", dtype=call.dtype)
        table = order.to(torch.int32)
        for n, count in enumerate(counts):
            table[n, -(-count // page_rows) :] = -1  # nobody reads what no key needs
        call.left, call.right = -1, 0 if seed % 2 and queries > 1 else -1
        totals_q = torch.arange(len(counts) + 1, dtype=torch.int32, device="cuda") * queries
        totals_k = torch.tensor([0, *counts], device="cuda").cumsum(0).to(torch.int32)
        out, log_sums, _ = flash.flash_attn_varlen_func(
            q, k, v, totals_q, totals_k, queries, max(counts), causal=call.right == 0, return_attn_probs=True,
            block_table=table,
        )  # fmt: skip
        rows = [[pages[order[n]].flatten(0, 1)[:count] for pages in (k, v)] for n, count in enumerate(counts)]
        assert_as_in_formula(call, out, log_sums, q, [(queries, *pair) for pair in rows])


@pytest.mark.parametrize("rows", [320, 512])
def test_a_cache_with_used_keys(flash, rows):
    call = Call(5, 5)
    call.left, call.right = -1, 0
    used = torch.tensor([0, 5, 300], dtype=torch.int32, device="cuda")
    k, v = (torch.randn(3, rows, call.key_heads, call.width, device="cuda", dtype=call.dtype) for _ in range(2))
    for queries in (1, 4):
        q = torch.randn(3, queries, call.heads, call.width, device="cuda", dtype=call.dtype)
        out, log_sums = flash.flash_attn_with_kvcache(
            q, k, v, cache_seqlens=used, causal=True, return_softmax_lse=True
        )
        sequences = [(queries, k[n, :count], v[n, :count]) for n, count in enumerate(used.tolist())]
        flat = log_sums.transpose(0, 1).flatten(1)
        assert_as_in_formula(call, out.flatten(0, 1), flat, q.flatten(0, 1), sequences)


def test_new_totals_do_not_plan_again(flash):
    def run(counts):
        totals = torch.tensor([0, *counts], device="cuda").cumsum(0).to(torch.int32)
        q = torch.randn(sum(counts), 4, 64, device="cuda", dtype=torch.half)
        torch.cuda.synchronize()
        begin = perf_counter()
        flash.flash_attn_varlen_func(q, q, q, totals, totals, max(counts), max(counts), causal=True)
        return perf_counter() - begin

    first = run([1000, 10, 400])
    others = [run([1000 + i, 20 * i, 300 + i]) for i in range(8)]
    assert max(others) < first / 5, f"the first call took {first} s, then {others}"


def check_padded_call(flash, queries, keys, key_heads, heads, batch, window, heads_first):
    """Compares forward with its log-sum-exps, and backward, with the formula."""

    def made(rows, count):
        dims = (batch, count, rows, 64) if heads_first else (batch, rows, count, 64)
        tensor = torch.randn(*dims, device="cuda", dtype=torch.half)
        return (tensor.transpose(1, 2) if heads_first else tensor).requires_grad_()

    inputs = [made(queries, heads), made(keys, key_heads), made(keys, key_heads)]
    dout = torch.randn_like(inputs[0])
    out, log_sums, _ = flash.flash_attn_func(*inputs, causal=window[1] == 0, window_size=window, return_attn_probs=True)
    exact = [x.detach().double().requires_grad_() for x in inputs]
    wanted = [formula(*(x[i] for x in exact), 0.125, *window) for i in range(batch)]
    wanted_out = torch.stack([one for one, _ in wanted])
    torch.testing.assert_close(out.double(), wanted_out, atol=1e-2, rtol=0)
    torch.testing.assert_close(log_sums.double(), torch.stack([one for _, one in wanted]), atol=1e-2, rtol=0)
    expected = torch.autograd.grad(wanted_out, exact, dout.double())
    for gradient, other in zip(torch.autograd.grad(out, inputs, dout), expected):
        torch.testing.assert_close(gradient.double(), other, atol=2e-2 * other.abs().max().item(), rtol=0)


def built():
    return _core.plan_counts()["built"]


@pytest.fixture
def policy(request):
    set_shape_policy(request.param)
    yield request.param
    set_shape_policy(None)


is_hopper = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)


@pytest.mark.skipif(not is_hopper, reason="no GPU of the Hopper generation")
@pytest.mark.parametrize("policy", ["all_shapes"], indirect=True)
@pytest.mark.parametrize("window", [(-1, -1), (40, 0), (-1, 0)])
@pytest.mark.parametrize("key_heads", [8, 2])
def test_one_plan_for_all_shapes_serves_the_padded_calls_of_a_kind(flash, policy, window, key_heads):
    numbers, counts = random.Random(3), []
    for index in range(8):
        rows = numbers.randint(64, 900)
        before = built()
        check_padded_call(flash, rows, rows, key_heads, 8, numbers.randint(1, 4), window, index % 2 == 1)
        counts.append(built() - before)
    assert counts == [2] + [0] * 7


@pytest.mark.skipif(not is_hopper, reason="no GPU of the Hopper generation")
@pytest.mark.parametrize("policy", ["all_shapes"], indirect=True)
def test_a_kind_whose_queries_and_keys_differ_in_number(flash, policy):
    """With a causal mask some queries see no key, or all see more than those before them."""
    for queries, keys in [(300, 500), (301, 222), (700, 640), (64, 900)]:
        for window in [(-1, 0), (-1, -1)]:
            check_padded_call(flash, queries, keys, 4, 4, 3, window, False)


@pytest.mark.skipif(not is_hopper, reason="no GPU of the Hopper generation")
@pytest.mark.parametrize("policy", ["auto"], indirect=True)
def test_the_plan_of_a_kind_serves_once_the_background_has_made_it(flash, policy):
    before = built()
    for rows in (420, 421, 422):
        check_padded_call(flash, rows, rows, 10, 10, 3, (60, 0), False)
    deadline = time.monotonic() + 60
    while built() < before + 4 and time.monotonic() < deadline:  # of the class and of the kind, forward and backward
        time.sleep(0.1)
    before = built()
    for rows in (423, 450, 300):  # in other classes
        check_padded_call(flash, rows, rows, 10, 10, 20, (60, 0), False)
    assert built() == before


def test_dropout_is_replayed(flash):
    """With values that are all 1, a row's output is its kept probabilities' sum; backward of the sum drops the same."""
    p_dropout = 0.25
    q = torch.randn(2, 256, 4, 64, device="cuda", dtype=torch.half) * 0.5
    v = torch.ones_like(q, requires_grad=True)
    out, log_sums, p = flash.flash_attn_func(q, q, v, p_dropout, return_attn_probs=True)
    mean = out.float().mean().item()
    # A row's variance is p / (1 - p) times the sum of its squared probabilities; rows draw apart from each other.
    rows = p.float().square().sum(-1)
    deviation = (p_dropout / (1 - p_dropout) * rows.mean() / rows.numel()).sqrt().item()
    assert abs(mean - 1.0) < 5 * deviation + 1e-3
    assert out.float().std().item() > 0.01
    (gradient,) = torch.autograd.grad(out, v, torch.ones_like(out))
    torch.testing.assert_close(gradient.double().sum(), out.double().sum(), rtol=2e-3, atol=0.0)


@pytest.mark.parametrize("is_packed", [False, True])
def test_returned_softmax(flash, is_packed):
    """p shows what is dropped: from it follow the output, how much is dropped, and the probabilities themselves."""
    p_dropout, tokens = 0.2, 200
    q, k, v = (torch.randn(3 * tokens, 4, 64, device="cuda", dtype=torch.half) for _ in range(3))
    if is_packed:
        totals = torch.arange(4, dtype=torch.int32, device="cuda") * tokens
        out, _, p = flash.flash_attn_varlen_func(
            q, k, v, totals, totals, tokens, tokens, p_dropout, causal=True, return_attn_probs=True
        )
    else:
        padded = (x.view(3, tokens, 4, 64) for x in (q, k, v))
        out, _, p = flash.flash_attn_func(*padded, p_dropout, causal=True, return_attn_probs=True)
    p = p[:, :, :tokens, :tokens]
    is_seen = torch.ones(tokens, tokens, dtype=torch.bool, device="cuda").tril()
    assert abs((p.signbit() & is_seen).sum().item() / (12 * is_seen.sum().item()) - p_dropout) < 0.01
    assert (p.double().abs().sum(-1) - 1.0).abs().max() < 0.01
    values = v.view(3, tokens, 4, 64).transpose(1, 2).double()
    expected = (p.double().clamp(min=0.0) @ values / (1 - p_dropout)).transpose(1, 2)
    torch.testing.assert_close(out.view(3, tokens, 4, 64).double(), expected, atol=2e-2, rtol=0)


def captured(call):
    """Runs a call once on a stream, which makes its class known; then as a CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph, stream=stream):
        out = call()
    return graph, out


def test_a_call_is_captured_once_its_class_is_known(flash):
    q, k, v = (torch.randn(2, 128, 4, 64, device="cuda", dtype=torch.half) for _ in range(3))
    graph, out = captured(lambda: flash.flash_attn_func(q, k, v, causal=True))
    q.copy_(torch.randn_like(q))
    graph.replay()
    torch.cuda.synchronize()
    for n in range(2):
        expected, _ = formula(q[n].double(), k[n].double(), v[n].double(), 0.125, -1, 0)
        torch.testing.assert_close(out[n].double(), expected, atol=1e-2, rtol=0)


def test_a_packed_call_is_captured_with_lengths_that_change(flash):
    q, k, v = (torch.randn(128, 4, 64, device="cuda", dtype=torch.half) for _ in range(3))
    totals = torch.tensor([0, 50, 128], dtype=torch.int32, device="cuda")
    graph, out = captured(lambda: flash.flash_attn_varlen_func(q, k, v, totals, totals, 100, 100, causal=True))
    totals[1] = 90
    graph.replay()
    torch.cuda.synchronize()
    for rows in (slice(0, 90), slice(90, 128)):
        expected, _ = formula(q[rows].double(), k[rows].double(), v[rows].double(), 0.125, -1, 0)
        torch.testing.assert_close(out[rows].double(), expected, atol=1e-2, rtol=0)


def test_a_training_step_is_captured(flash):
    q, k, v = (torch.randn(2, 128, 4, 64, device="cuda", dtype=torch.half, requires_grad=True) for _ in range(3))
    dout = torch.randn_like(q)

    def step():
        with torch.enable_grad():
            return torch.autograd.grad(flash.flash_attn_func(q, k, v, causal=True), (q, k, v), dout)

    graph, gradients = captured(step)
    wanted = [gradient.clone() for gradient in step()]
    for gradient in gradients:
        gradient.zero_()
    graph.replay()
    torch.cuda.synchronize()
    for found, expected in zip(gradients, wanted):
        torch.testing.assert_close(found, expected, atol=2e-2, rtol=0)


def test_one_packed_token_of_a_fused_projection_with_a_gap_between_heads(flash):
    torch.manual_seed(3)
    projection = torch.randn(1, 4, 3, 64, device="cuda", dtype=torch.half)
    totals = torch.tensor([0, 1], dtype=torch.int32, device="cuda")
    parts = [projection[:, :, part].detach().requires_grad_() for part in range(3)]
    assert parts[0].stride(1) == 192
    out = flash.flash_attn_varlen_func(*parts, totals, totals, 1, 1)
    dout = torch.randn_like(out)
    torch.testing.assert_close(out, parts[2].detach(), atol=1e-3, rtol=1e-3)
    gradient = torch.autograd.grad(out, parts, dout)[2]
    torch.testing.assert_close(gradient, dout, atol=1e-3, rtol=1e-3)


def test_sequences_of_which_none_has_a_key(flash):
    q = torch.randn(5, 4, 64, device="cuda", dtype=torch.half, requires_grad=True)
    k, v = (torch.randn(3, 2, 64, device="cuda", dtype=torch.half, requires_grad=True) for _ in range(2))
    totals_q, totals_k = (torch.tensor(x, dtype=torch.int32, device="cuda") for x in ([0, 2, 5], [0, 0, 0]))
    out, log_sums, _ = flash.flash_attn_varlen_func(q, k, v, totals_q, totals_k, 3, 0, return_attn_probs=True)
    assert not out.any()
    assert (log_sums == float("inf")).all()
    (gradient,) = torch.autograd.grad(out, q, torch.ones_like(out))
    assert not gradient.any()
