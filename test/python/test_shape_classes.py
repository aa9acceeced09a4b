"""Plans for classes of shapes: how the policy is chosen, and that calls give the results of exact shapes. Needs torch."""

import os
import random
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch

from sdpa_graph import _core  # noqa: E402
from sdpa_graph.shape_policies import set_shape_policy, shape_policy  # noqa: E402
from sdpa_graph.torch import scaled_dot_product_attention  # noqa: E402

gpu = pytest.param("cuda", marks=[pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")])
each_device = pytest.mark.parametrize("device", ["cpu", gpu])


@pytest.fixture(autouse=True)
def reset():
    yield
    set_shape_policy(None)


def built():
    return _core.plan_counts()["built"]


def made(shape, order, device):
    """A tensor (batch, heads, tokens, head dim) whose dims are in memory in that order."""
    batch, heads, tokens, size = shape
    if order == "bshd":
        tensor = torch.randn(batch, tokens, heads, size).transpose(1, 2)
    elif order == "sbhd":
        tensor = torch.randn(tokens, batch, heads, size).permute(1, 2, 0, 3)
    else:
        tensor = torch.randn(shape)
    return tensor.half().to(device).requires_grad_()


def results(policy, inputs, grad, **options):
    set_shape_policy(policy)
    output = scaled_dot_product_attention(*inputs, enable_gqa=True, **options)
    return [output.detach(), *torch.autograd.grad(output, inputs, grad)]


def check(inputs, policy="classes", **options):
    """Compares outputs and gradients by a policy with those of exact shapes."""
    grad = torch.randn(inputs[0].shape).half().to(inputs[0].device)
    for name, exact, found in zip(
        ("output", "query", "key", "value"),
        results("exact", inputs, grad, **options),
        results(policy, inputs, grad, **options),
    ):
        most = max(1.0, exact.float().abs().max().item())
        assert (exact.float() - found.float()).abs().max().item() <= 4e-3 * most, name


def test_policies_have_names():
    for name, policy in (
        ("exact", _core.shape_policy.EXACT),
        ("classes", _core.shape_policy.CLASSES),
        ("auto", _core.shape_policy.AUTO),
        ("all_shapes", _core.shape_policy.ALL_SHAPES),
    ):
        set_shape_policy(name)
        assert shape_policy() is policy


@pytest.mark.parametrize("name", ["", "CLASSES", "class", 1])
def test_other_names_are_refused(name):
    set_shape_policy("classes")
    with pytest.raises(ValueError, match=f"{name!r} is no shape policy: 'exact', 'classes', 'auto', 'all_shapes'"):
        set_shape_policy(name)
    assert shape_policy() is _core.shape_policy.CLASSES


def policy_of_process(value):
    environment = {name: found for name, found in os.environ.items() if name != "SDPA_GRAPH_SHAPE_POLICY"}
    if value is not None:
        environment["SDPA_GRAPH_SHAPE_POLICY"] = value
    program = "from sdpa_graph.shape_policies import shape_policy; print(shape_policy().name)"
    return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    "value, name",
    [(None, "AUTO"), ("", "AUTO"), ("exact", "EXACT"), ("classes", "CLASSES"), ("all_shapes", "ALL_SHAPES")],
)
def test_the_environment_chooses_the_policy(value, name):
    assert policy_of_process(value).stdout.strip() == name


def test_a_bad_name_in_the_environment_is_refused():
    assert "'many' is no shape policy: 'exact', 'classes', 'auto'" in policy_of_process("many").stderr


def test_the_environment_counts_again_after_none(monkeypatch):
    set_shape_policy("exact")
    monkeypatch.setenv("SDPA_GRAPH_SHAPE_POLICY", "classes")
    assert shape_policy() is _core.shape_policy.EXACT
    set_shape_policy(None)
    assert shape_policy() is _core.shape_policy.CLASSES


def test_plans_are_counted():
    inputs = [made((2, 2, 37, 16), "bshd", "cpu") for _ in range(3)]
    set_shape_policy("exact")
    before = _core.plan_counts()
    scaled_dot_product_attention(*inputs, scale=0.31)
    first = _core.plan_counts()
    scaled_dot_product_attention(*inputs, scale=0.31)
    second = _core.plan_counts()
    assert (first["built"] - before["built"], first["found"] - before["found"]) == (1, 0)
    assert (second["built"] - first["built"], second["found"] - first["found"]) == (0, 1)


@each_device
@pytest.mark.parametrize("order", ["bshd", "bhsd", "sbhd"])
@pytest.mark.parametrize("key_heads", [4, 2])
def test_classes_give_the_results_of_exact_shapes(device, order, key_heads):
    torch.manual_seed(1)
    shapes = ((3, 4, 70, 64), *[(3, key_heads, 90, 64)] * 2)
    inputs = [made(shape, order, device) for shape in shapes]
    check(inputs)
    check(inputs, is_causal=True)
    check(inputs, is_causal=True, bottom_right=True, left_bound=20)
    lengths = torch.tensor([90, 1, 33], device=device)
    check(inputs, seq_len_kv=lengths)
    check(inputs, seq_len_kv=lengths, seq_len_q=torch.tensor([1, 70, 20], device=device), right_bound=3)


@each_device
@pytest.mark.parametrize("order", ["bshd", "bhsd", "sbhd"])
@pytest.mark.parametrize("key_heads", [4, 2])
@pytest.mark.parametrize("needs_contiguous", [False, True])
def test_backward_drops_what_forward_dropped(device, order, key_heads, needs_contiguous):
    """The output is linear in the values, so that its product with its gradient is that of the values with theirs."""
    torch.manual_seed(2)
    query, key, value = (made((3, heads, 70, 64), order, device) for heads in (4, key_heads, key_heads))
    set_shape_policy("classes")
    for options in ({}, {"is_causal": True}):
        output = scaled_dot_product_attention(query, key, value, dropout_p=0.5, enable_gqa=True, **options)
        grad = torch.randn(output.shape).half().to(device)
        if not needs_contiguous:
            grad = torch.empty_like(output).copy_(grad)
        (of_value,) = torch.autograd.grad(output, value, grad)
        terms = (output.double() * grad.double(), value.double() * of_value.double())
        tolerance = 2e-3 * sum(term.abs().sum().item() for term in terms) ** 0.5 * 3
        assert abs(terms[0].sum().item() - terms[1].sum().item()) < tolerance


@each_device
def test_packed_sequences(device):
    torch.manual_seed(3)
    ends = torch.tensor([0, 30, 30, 71, 80], device=device)
    inputs = [torch.randn(83, heads, 64).half().to(device).requires_grad_() for heads in (4, 2, 2)]
    check(inputs, cu_seqlens_q=ends, cu_seqlens_kv=ends, is_causal=True)
    set_shape_policy("classes")
    output = scaled_dot_product_attention(*inputs, enable_gqa=True, cu_seqlens_q=ends, cu_seqlens_kv=ends)
    assert not output[80:].any()


def test_random_shapes_share_plans():
    set_shape_policy("classes")
    numbers, counts = random.Random(5), []
    for index in range(30):
        shape = (numbers.randint(1, 4), 2, numbers.randint(10, 500), 16)
        inputs = [made(shape, "bshd", "cpu") for _ in range(3)]
        before = built()
        output = scaled_dot_product_attention(*inputs, is_causal=True, scale=0.37)
        between = built()
        torch.autograd.grad(output.sum(), inputs)
        counts.append((between - before, built() - between))
    for of_direction in zip(*counts):
        assert 0 < sum(of_direction) <= 12


def test_exact_shapes_have_plans_of_their_own():
    set_shape_policy("exact")
    before = built()
    for tokens in range(10, 20):
        scaled_dot_product_attention(*[made((1, 2, tokens, 16), "bshd", "cpu") for _ in range(3)], scale=0.39)
    assert built() - before == 10


def has_engine_for_all_shapes():
    return torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)


@pytest.mark.gpu
@pytest.mark.skipif(not has_engine_for_all_shapes(), reason="no GPU of the Hopper generation")
def test_one_plan_for_all_shapes_serves_the_calls_of_a_kind():
    torch.manual_seed(4)
    numbers, counts = random.Random(6), []
    for order in ("bshd", "bhsd", "sbhd"):
        for _ in range(6):
            shape = (numbers.randint(1, 4), 8, numbers.randint(1, 700), 64)
            inputs = [made(shape, order, "cuda") for _ in range(3)]
            set_shape_policy("all_shapes")
            before = built()
            output = scaled_dot_product_attention(*inputs, is_causal=True, scale=0.43)
            torch.autograd.grad(output, inputs, torch.randn_like(output))
            counts.append(built() - before)
            check(inputs, policy="all_shapes", is_causal=True, scale=0.43)
    assert counts == [2] + [0] * 17


RECORDED = """
import gc, torch
from sdpa_graph.torch import scaled_dot_product_attention as attend

def made(tokens):
    return [torch.randn(2, tokens, 4, 64, device="cuda", dtype=torch.half).transpose(1, 2) for _ in range(3)]

torch.manual_seed(0)
recorded = made(300)
expected = attend(*recorded, is_causal=True).clone()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    output = attend(*recorded, is_causal=True)
for tokens in (40, 100, 600, 1100, 2100):  # other classes; their plans leave no room for it
    attend(*made(tokens), is_causal=True)
gc.collect()
output.zero_()
graph.replay()
torch.cuda.synchronize()
print((output - expected).abs().max().item())
"""


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(
    "policy",
    [
        "auto",
        "classes",
        "exact",
        pytest.param("all_shapes", marks=pytest.mark.skipif(not has_engine_for_all_shapes(), reason="no Hopper GPU")),
    ],
)
def test_a_recorded_call_outlives_its_plan(policy):
    environment = {**os.environ, "SDPA_GRAPH_KEPT_BYTES": "1", "SDPA_GRAPH_SHAPE_POLICY": policy}
    called = subprocess.run([sys.executable, "-c", RECORDED], env=environment, capture_output=True, text=True)
    assert called.stderr == "" and float(called.stdout) == 0
