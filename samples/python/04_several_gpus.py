"""One causal attention over the tokens of several ranks, forward and backward: a process for each GPU, or threads.

torchrun --nproc-per-node 2 samples/python/04_several_gpus.py [--tokens 65536]
python samples/python/04_several_gpus.py        # four ranks as threads of this process, without a GPU
"""

import argparse
import os
import threading

import torch
from sdpa_graph import Group, Layout
from sdpa_graph.torch import distributed_attention, group_of, scaled_dot_product_attention

HEADS, KEY_HEADS, HEAD_DIM = 8, 2, 64
NAMES = ("output", "gradient of query", "gradient of key", "gradient of value")


def whole(tokens: int, device: str, dtype: torch.dtype) -> list[torch.Tensor]:
    """Query, key, value and the output's gradient, which each rank makes for itself here; a program loads its part."""
    generator = torch.Generator().manual_seed(7)
    heads = (HEADS, KEY_HEADS, KEY_HEADS, HEADS)
    return [torch.randn(1, n, tokens, HEAD_DIM, generator=generator).to(device, dtype) for n in heads]


def train(attend, query, key, value, grad):
    """The output, and the gradients of query, key and value."""
    leaves = [tensor.detach().requires_grad_() for tensor in (query, key, value)]
    output = attend(*leaves)
    return [output.detach(), *torch.autograd.grad(output, leaves, grad)]


def run_rank(group: Group, tensors: list[torch.Tensor]) -> list[float]:
    """The largest difference of each of the rank's results from those of one process."""
    layout = Layout.head_tail(tensors[0].shape[2], group.size)
    rows = torch.tensor(layout.positions_of(group.rank), device=tensors[0].device)
    own = [tensor.index_select(2, rows) for tensor in tensors]
    found = train(lambda q, k, v: distributed_attention(q, k, v, group, layout, is_causal=True), *own)
    expected = train(lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True), *tensors)
    return [(a - b.index_select(2, rows)).abs().max().item() for a, b in zip(found, expected)]


def report(rank: int, errors: list[float], most: float) -> None:
    print(f"rank {rank}: " + ", ".join(f"{name} {error:.1e}" for name, error in zip(NAMES, errors)), flush=True)
    if not max(errors) <= most:
        raise SystemExit(f"rank {rank} differs from one process by more than {most}")


def on_gpus(tokens: int) -> None:
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl")
    group = group_of()
    errors = run_rank(group, whole(tokens, "cuda", torch.bfloat16))
    group.wait_for(torch.cuda.current_stream().cuda_stream)  # an error within the deadline, if a rank is gone
    report(group.rank, errors, 0.1)
    torch.distributed.destroy_process_group()


def on_threads(tokens: int) -> None:
    tensors = whole(tokens, "cpu", torch.float32)
    members = Group.of_threads(4)
    errors: list[list[float]] = [[float("inf")]] * len(members)

    def run(member: Group) -> None:
        errors[member.rank] = run_rank(member, tensors)

    threads = [threading.Thread(target=run, args=(member,)) for member in members]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for rank, found in enumerate(errors):
        report(rank, found, 1e-4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=509, help="no number of ranks has to divide it")
    arguments = parser.parse_args()
    on_gpus(arguments.tokens) if "LOCAL_RANK" in os.environ else on_threads(arguments.tokens)
