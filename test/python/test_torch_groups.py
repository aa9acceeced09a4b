"""distributed_attention by threads on the host, held against one process. Needs torch."""

import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch

from sdpa_graph import Group, Layout, group_way  # noqa: E402
from sdpa_graph.torch import distributed_attention, group_of, scaled_dot_product_attention  # noqa: E402
from test_group import on_all  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
TOKENS = 53
NAMES = ("output", "query", "key", "value", "sink")


def made(heads, seed, dtype, order="bhsd"):
    generator = torch.Generator().manual_seed(seed)
    if order == "bshd":
        return torch.randn(2, TOKENS, heads, 16, generator=generator).to(dtype).transpose(1, 2)
    return torch.randn(2, heads, TOKENS, 16, generator=generator).to(dtype)


def alone(inputs, grad, **options):
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    output = scaled_dot_product_attention(
        *leaves[:3], enable_gqa=True, sink=leaves[3] if len(leaves) > 3 else None, **options
    )
    return [output.detach(), *torch.autograd.grad(output, leaves, grad)]


def in_group(ranks, layout, inputs, grad, **options):
    """Results of all ranks, put together; each rank has the gradient of the sink."""

    def run(member):
        rows = torch.tensor(layout.positions_of(member.rank))
        leaves = [tensor.index_select(2, rows).requires_grad_() for tensor in inputs[:3]]
        leaves += [tensor.clone().requires_grad_() for tensor in inputs[3:]]
        sink = leaves[3] if len(leaves) > 3 else None
        outputs = [distributed_attention(*leaves[:3], member, layout, sink=sink, **options) for _ in range(2)]
        assert torch.equal(*outputs)
        return rows, [outputs[0].detach(), *torch.autograd.grad(outputs[0], leaves, grad.index_select(2, rows))]

    outcomes = on_all(Group.of_threads(ranks), run)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
    whole = [torch.full_like(tensor, torch.nan) for tensor in (grad, *inputs[:3])]
    for rows, parts in outcomes:
        for tensor, part in zip(whole, parts):
            tensor.index_copy_(2, rows, part)
        assert all(torch.equal(a, b) for a, b in zip(parts[4:], outcomes[0][1][4:]))
    return [*whole, *outcomes[0][1][4:]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("order", ["bhsd", "bshd"])
@pytest.mark.parametrize(
    "options",
    [
        {"is_causal": True},
        {"way": group_way.ALL_TO_ALL, "is_causal": True},
        {"left_bound": 9, "is_causal": True, "stages": 2},
        {"softcap": 2.0, "scale": 0.3},
        {"alibi": True, "is_causal": True},
        {"seq_len_q": torch.tensor([TOKENS, 20]), "seq_len_kv": torch.tensor([TOKENS, 20])},
        {"has_sink": True},
    ],
    ids=lambda options: "_".join(options),
)
def test_results_are_those_of_one_process(options, order, dtype):
    options = dict(options)
    inputs = [made(heads, seed, dtype, order) for heads, seed in ((4, 1), (2, 2), (2, 3))]
    if options.pop("has_sink", False):
        inputs.append(torch.randn(4, generator=torch.Generator().manual_seed(4)))
    of_group = {name: options.pop(name) for name in ("way", "stages") if name in options}
    grad = made(4, 5, dtype, order)
    if "seq_len_q" in options:
        grad[1, :, 20:] = 0
    found = in_group(2, Layout.head_tail(TOKENS, 2), inputs, grad, **options, **of_group)
    for name, a, b in zip(NAMES, found, alone(inputs, grad, **options)):
        most = max(1.0, b.abs().max().item())
        assert (a - b).abs().max().item() < 8 * torch.finfo(dtype).eps * most, name


@pytest.mark.parametrize("way", [group_way.GATHER, group_way.ALL_TO_ALL])
@pytest.mark.parametrize("make", [Layout.contiguous, Layout.head_tail])
@pytest.mark.parametrize("left_bound", [None, 6])
def test_packed_documents_are_those_of_one_process(way, make, left_bound):
    ends = torch.tensor([0, 17, 17, 20, 61])
    query, key, value, grad = (
        torch.randn(61, heads, 16, generator=torch.Generator().manual_seed(heads + seed))
        for heads, seed in ((4, 1), (2, 2), (2, 3), (4, 4))
    )
    leaves = [tensor.clone().requires_grad_() for tensor in (query, key, value)]
    options = {"is_causal": True, "left_bound": left_bound}
    output = scaled_dot_product_attention(
        *leaves, enable_gqa=True, cu_seqlens_q=ends, cu_seqlens_kv=ends, bottom_right=True, **options
    )
    expected = [output.detach(), *torch.autograd.grad(output, leaves, grad)]
    layout = make(61, 2)

    def run(member):
        rows = torch.tensor(layout.positions_of(member.rank))
        own = [tensor[rows].requires_grad_() for tensor in (query, key, value)]
        runs = []
        for _ in range(20):
            output = distributed_attention(
                *own, member, layout, cu_seqlens=ends, max_seqlen=41, bottom_right=True, way=way, **options
            )
            runs.append([output.detach(), *torch.autograd.grad(output, own, grad[rows])])
        assert all(torch.equal(a, b) for again in runs for a, b in zip(again, runs[0]))
        return rows, runs[0]

    for outcome in on_all(Group.of_threads(2), run):
        if isinstance(outcome, Exception):
            raise outcome
        rows, parts = outcome
        for name, part, whole in zip(NAMES, parts, expected):
            assert (part - whole[rows]).abs().max().item() < 1e-5 * max(1.0, whole.abs().max().item()), name


@pytest.mark.parametrize("way", [group_way.GATHER, group_way.ALL_TO_ALL])
def test_tokens_of_no_document_have_zeros(way):
    layout, ends = Layout.contiguous(12, 2), torch.tensor([0, 5, 9])

    def run(member):
        rows = torch.tensor(layout.positions_of(member.rank))
        own = [torch.randn(len(rows), 2, 16).requires_grad_() for _ in range(3)]
        left_over = [torch.full_like(own[0], torch.nan) for _ in range(8)]
        del left_over  # memory that results may get
        output = distributed_attention(*own, member, layout, cu_seqlens=ends, max_seqlen=5, is_causal=True, way=way)
        return rows, [output.detach(), *torch.autograd.grad(output.sum(), own)]

    for outcome in on_all(Group.of_threads(2), run):
        if isinstance(outcome, Exception):
            raise outcome
        rows, parts = outcome
        for part in parts:
            assert part.isfinite().all()
            assert (part[rows >= 9] == 0).all()


@pytest.mark.parametrize("way", [group_way.GATHER, group_way.ALL_TO_ALL])
def test_dropout_is_that_of_one_rank_with_the_seed(way):
    inputs, grad = [made(heads, seed, torch.float32) for heads, seed in ((4, 1), (2, 2), (2, 3))], made(4, 4, torch.float32)
    options = {"dropout_p": 0.4, "is_causal": True, "way": way}
    found = in_group(2, Layout.head_tail(TOKENS, 2), inputs, grad, seed=11, **options)
    for name, a, b in zip(NAMES, found, in_group(1, Layout.contiguous(TOKENS, 1), inputs, grad, seed=11, **options)):
        assert (a - b).abs().max().item() < 1e-5 * max(1.0, b.abs().max().item()), name
    other = in_group(2, Layout.head_tail(TOKENS, 2), inputs, grad, seed=12, **options)
    assert (found[0] - other[0]).abs().max() > 0.1


def test_other_options_of_one_shape_have_graphs_of_their_own():
    inputs, grad = [made(2, seed, torch.float32) for seed in (1, 2, 3)], made(2, 4, torch.float32)
    layout = Layout.contiguous(TOKENS, 2)
    full, masked = (in_group(2, layout, inputs, grad, is_causal=is_causal)[0] for is_causal in (False, True))
    assert (full - masked).abs().max() > 0.1


def test_refusals():
    tensors = [made(2, seed, torch.float32) for seed in (1, 2, 3)]
    member, layout = Group.described(0, 2), Layout.contiguous(TOKENS, 2)
    with pytest.raises(RuntimeError, match=r"\[group.c04\]"):
        distributed_attention(*tensors, member, layout)
    with pytest.raises(ValueError, match="found one of seq_len_q and seq_len_kv"):
        distributed_attention(*tensors, member, layout, seq_len_q=torch.tensor([1, 2]))
    packed, ends = [tensor[0].transpose(0, 1) for tensor in tensors], torch.tensor([0, TOKENS])
    for found, options in {
        "max_seqlen without cu_seqlens": {"max_seqlen": 5},
        "cu_seqlens and seq_len_q": {"cu_seqlens": ends, "seq_len_q": ends, "seq_len_kv": ends},
        r"cu_seqlens of shape \(1,\)": {"cu_seqlens": ends[:1]},
    }.items():
        with pytest.raises(ValueError, match="found " + found):
            distributed_attention(*packed, member, layout, **options)
    with pytest.raises(ValueError, match="query has 4 dims: 3 are needed"):
        distributed_attention(*tensors, member, layout, cu_seqlens=ends)
    with pytest.raises(TypeError, match="query is a list"):
        distributed_attention([1.0], *tensors[1:], member, layout)


def test_a_process_group_without_gpus_is_refused(tmp_path):
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_gloo_available():
        pytest.skip("this torch has no gloo")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        with pytest.raises(ValueError, match="backend gloo; expected nccl"):
            group_of()
    finally:
        distributed.destroy_process_group()


def test_the_sample_runs_by_threads():
    environment = {name: value for name, value in os.environ.items() if name != "LOCAL_RANK"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, str(ROOT / "samples/python/04_several_gpus.py"), "--tokens", "97"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert shown.returncode == 0, shown.stderr
    assert [line.split(":")[0] for line in shown.stdout.splitlines()] == [f"rank {rank}" for rank in range(4)]
