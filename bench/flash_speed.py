"""Times of sdpa_graph.flash_attn next to PyTorch's own flash kernels, in one run on a GPU.

    python bench/flash_speed.py [build/release/bench/cudnn/bench_cudnn_flash_calls]

needs sdpa_graph and torch. Times of the GPU are of calls that a CUDA graph has recorded, medians in microseconds; with the
program, also what a call costs the calling thread from C++.
"""

import functools
import statistics
import subprocess
import sys
import time

import torch
from gpu_time import gpu_time
from sdpa_graph import flash_attn
from sdpa_graph.torch import scaled_dot_product_attention
from torch.nn.attention import SDPBackend, sdpa_kernel

FORWARD, BACKWARD = torch.ops.aten._flash_attention_forward, torch.ops.aten._flash_attention_backward


def host_time(call):
    """The time of the calling thread."""
    times = []
    for index in range(500):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
        if index % 20 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return statistics.median(times) * 1e6


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def line(name, ours, theirs, operations=None):
    rate = f", {operations / ours / 1e6:5.0f} and {operations / theirs / 1e6:5.0f} TFLOP/s" if operations else ""
    print(f"{name:44s} ours {ours:9.1f}, theirs {theirs:9.1f}, ratio {ours / theirs:5.2f}{rate}", flush=True)


def compare_training(is_causal, tokens=8192, heads=64, key_heads=8, width=128):
    q, k, v = random(1, tokens, heads, width), random(1, tokens, key_heads, width), random(1, tokens, key_heads, width)
    dout, leaves = torch.randn_like(q), [x.requires_grad_() for x in (q, k, v)]
    lengths = (None, None, tokens, tokens, 0.0, is_causal)
    with torch.no_grad():
        out, log_sums, *state = FORWARD(q, k, v, *lengths, False)
        theirs = gpu_time(lambda: FORWARD(q, k, v, *lengths, False))
        theirs_back = gpu_time(lambda: BACKWARD(dout, q, k, v, out, log_sums, *lengths, state[0], state[1]))
        ours = gpu_time(lambda: flash_attn.flash_attn_func(q, k, v, causal=is_causal))
    both = gpu_time(lambda: torch.autograd.grad(flash_attn.flash_attn_func(q, k, v, causal=is_causal), leaves, dout))
    operations = 4 * tokens * tokens * heads * width / (2 if is_causal else 1)
    name = f"b=1, {heads}/{key_heads} heads, s={tokens}, d={width}{', causal' if is_causal else ''}"
    line(name, ours, theirs, operations)
    line("    backward", both - ours, theirs_back, 2.5 * operations)


def compare_packed(shares_totals, is_causal=True, sequences=16, tokens=2048, heads=32, key_heads=8, width=128):
    counts = [tokens // 4 + (tokens * 3 // 4) * n // (sequences - 1) for n in range(sequences)]
    totals = torch.tensor([0, *counts], device="cuda").cumsum(0).to(torch.int32)
    q, k, v = (random(sum(counts), count, width) for count in (heads, key_heads, key_heads))
    dout, leaves = torch.randn_like(q), [x.requires_grad_() for x in (q, k, v)]
    lengths = (totals, totals if shares_totals else totals.clone(), max(counts), max(counts))

    def ours():
        return flash_attn.flash_attn_varlen_func(q, k, v, *lengths, causal=is_causal)

    with torch.no_grad():
        out, log_sums, *state = FORWARD(q, k, v, *lengths, 0.0, is_causal, False)
        theirs = gpu_time(lambda: FORWARD(q, k, v, *lengths, 0.0, is_causal, False))
        rest = (*lengths, 0.0, is_causal, state[0], state[1])
        theirs_back = gpu_time(lambda: BACKWARD(dout, q, k, v, out, log_sums, *rest))
        forward = gpu_time(ours)
    both = gpu_time(lambda: torch.autograd.grad(ours(), leaves, dout))
    name = f"packed, {sequences} of {counts[0]} to {counts[-1]}, {heads}/{key_heads} heads, causal"
    line(name if shares_totals else "    two tensors of totals", forward, theirs)
    line("    backward", both - forward, theirs_back)


def compare_decoding(batch=64, heads=32, key_heads=8, width=128, keys=4096, page_rows=256):
    columns = keys // page_rows
    k, v = (random(batch * columns, page_rows, key_heads, width) for _ in range(2))
    table = torch.randperm(batch * columns, device="cuda").to(torch.int32).view(batch, columns)
    q = random(batch, heads, width)
    totals_q = torch.arange(batch + 1, dtype=torch.int32, device="cuda")
    totals_k = totals_q * keys
    lengths = (totals_q, totals_k, 1, keys)
    one, rows, values = q[:, None], k.view(batch, keys, key_heads, width), v.view(batch, keys, key_heads, width)
    with torch.no_grad():
        ours = gpu_time(lambda: flash_attn.flash_attn_varlen_func(q, k, v, *lengths, block_table=table))
        # PyTorch's operators take no block table: theirs has the same keys one after the other.
        theirs = gpu_time(lambda: FORWARD(one, rows, values, None, None, 1, keys, 0.0, False, False))
    line(f"decode, {heads}/{key_heads} heads, b={batch}, {keys} keys in pages", ours, theirs)
    print(f"    {2 * batch * keys * key_heads * width * 2 / ours / 1e6:.2f} TB/s")


def compare_hosts(program):
    """Times of the calling thread, from Python: of attention alone, and with its gradients."""
    tensors = [random(1, 128, 4, 64).requires_grad_() for _ in range(3)]
    ends = torch.tensor([0, 128], dtype=torch.int32, device="cuda")
    heads_first, packed = (lambda x: x.transpose(1, 2)), (lambda x: x[0])
    windowed = functools.partial(flash_attn.flash_attn_func, window_size=(64, 0))
    bounded = functools.partial(scaled_dot_product_attention, is_causal=True, left_bound=64)
    calls = [
        ("flash_attn_func", flash_attn.flash_attn_func, lambda x: x, ()),
        ("    a window of 64", windowed, lambda x: x, ()),
        ("flash_attn_varlen_func", flash_attn.flash_attn_varlen_func, packed, (ends, ends, 128, 128)),
        ("sdpa_graph.torch", scaled_dot_product_attention, heads_first, ()),
        ("    a window of 64", bounded, heads_first, ()),
        ("PyTorch's flash kernels", torchs_flash, heads_first, ()),
    ]
    print("calling thread, from Python" + " " * 17 + " forward, and gradients")
    for name, attend, form, others in calls:
        leaves = [form(x.detach()).clone().requires_grad_() for x in tensors]
        dout = torch.randn_like(leaves[0])
        for _ in range(20):
            torch.autograd.grad(attend(*leaves, *others), leaves, dout)
        time.sleep(2)  # the plan of a shape that comes often is made in the background
        with torch.no_grad():
            forward = host_time(lambda: attend(*leaves, *others))
        both = host_time(lambda: torch.autograd.grad(attend(*leaves, *others), leaves, dout))
        print(f"{name:44s} {forward:7.1f}, {both:7.1f}", flush=True)
    if program:
        print(subprocess.run([program], capture_output=True, text=True, check=True).stdout, end="")


def torchs_flash(q, k, v):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def main():
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
    training = lambda: compare_training(False), lambda: compare_training(True)
    packed = lambda: compare_packed(True), lambda: compare_packed(False)
    for compare in (*training, *packed, compare_decoding):
        try:
            compare()
        except (RuntimeError, TypeError, ValueError) as error:
            print(f"left out: {str(error).splitlines()[0]}")
    compare_hosts(sys.argv[1] if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    main()
