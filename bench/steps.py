"""Times of training and decoding steps whose shapes are new at every step, next to PyTorch's own, in one run on a GPU.

    python bench/steps.py [steps [part...]]

needs sdpa_graph and torch. Parts are: shapes, long, windows, packed, decode, classes. A step is forward and backward (in decode forward
alone) until the GPU is done; its time is that of the wall, in milliseconds. `classes` compares times of the GPU alone, in
microseconds, of plans for exact shapes with those of classes.
"""

import inspect
import random
import statistics
import sys
import time

import torch
from gpu_time import gpu_time
from sdpa_graph import _core, flash_attn
from sdpa_graph.shape_policies import set_shape_policy
from sdpa_graph.torch import scaled_dot_product_attention
from torch.nn.attention import SDPBackend, sdpa_kernel

HEADS, WIDTH, KIND = 16, 128, torch.bfloat16
FIRST = 20  # steps before the plans of most classes are there


def made(*shape):
    return torch.randn(*shape, device="cuda", dtype=KIND)


def built():
    return _core.plan_counts()["built"]


def step_times(attend, inputs_of_steps, needs_gradients=True):
    times = []
    for inputs, grad, others in inputs_of_steps:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        output = attend(*inputs, *others)
        if needs_gradients:
            torch.autograd.grad(output, inputs, grad)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def report(name, times, plans=None):
    late = sorted(times[FIRST:])
    p99 = late[int(0.99 * (len(late) - 1))]
    most = f", {plans} plans built, first steps up to {max(times[:FIRST]):.1f} ms" if plans is not None else ""
    median = statistics.median(late)
    print(f"  {name:44s} median {median:7.3f} ms, p99 {p99:7.3f}, p99 / median {p99 / median:5.2f}{most}", flush=True)
    return median


def compare(title, systems, steps_of):
    """Each system gets the same shapes, and data of its own."""
    print(title)
    medians = {}
    for name, attend in systems:
        before = built()
        torch.manual_seed(0)
        times = step_times(attend, steps_of())
        medians[name] = report(name, times, built() - before)
    first, *others = medians
    for other in others:
        print(f"    {first} / {other}: {medians[first] / medians[other]:.2f}")


def torchs_flash(q, k, v):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def in_rows(attend):
    """The same attention over (batch, tokens, heads, head dim)."""
    return lambda q, k, v: attend(*(x.transpose(1, 2) for x in (q, k, v))).transpose(1, 2)


def padded_steps(count, batches, lengths):
    def steps():
        choose = random.Random(1)
        for _ in range(count):
            shape = (choose.randint(*batches), choose.randint(*lengths), HEADS, WIDTH)
            inputs = [made(*shape).transpose(1, 2).requires_grad_() for _ in range(3)]
            yield inputs, made(*shape).transpose(1, 2), ()

    ranges = f"a new batch ({batches[0]} to {batches[1]}) and length ({lengths[0]} to {lengths[1]})"
    return f"{ranges} at each of {count} steps", steps


def compare_padded(count, batches, lengths):
    title, steps = padded_steps(count, batches, lengths)
    systems = [
        ("sdpa_graph.torch", lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True)),
        ("sdpa_graph.flash_attn", in_rows(lambda q, k, v: flash_attn.flash_attn_func(q, k, v, causal=True))),
        ("PyTorch's flash kernels", torchs_flash),
    ]
    compare(title, systems, steps)


def part_shapes(count):
    compare_padded(count, (1, 4), (100, 2000))


def part_long(count):
    compare_padded(count, (4, 8), (1000, 4000))


def part_windows(count):
    """flash_attn_func with an option that the attention functions of torch do not have."""

    def windowed(policy):
        def attend(q, k, v):
            set_shape_policy(policy)
            return flash_attn.flash_attn_func(q, k, v, causal=True, window_size=(512, 0))

        return in_rows(attend)

    title, steps = padded_steps(count, (1, 4), (600, 2000))
    compare(f"flash_attn_func, window of 512, {title}", [("auto", windowed("auto")), ("classes", windowed("classes"))], steps)
    set_shape_policy(None)


def part_packed(count):
    def steps():
        choose = random.Random(2)
        for _ in range(count):
            lengths = [choose.randint(64, 1500) for _ in range(choose.randint(4, 16))]
            ends = torch.tensor([0, *lengths], device="cuda").cumsum(0).to(torch.int32)
            inputs = [made(sum(lengths), HEADS, WIDTH).requires_grad_() for _ in range(3)]
            yield inputs, made(sum(lengths), HEADS, WIDTH), (ends, max(lengths))

    def ours(q, k, v, ends, longest):
        return scaled_dot_product_attention(
            q, k, v, is_causal=True, cu_seqlens_q=ends, cu_seqlens_kv=ends, max_seqlen_q=longest, max_seqlen_kv=longest
        )

    def ours_flash(q, k, v, ends, longest):
        return flash_attn.flash_attn_varlen_func(q, k, v, ends, ends, longest, longest, causal=True)

    systems = [("sdpa_graph.flash_attn", ours_flash), ("sdpa_graph.torch", ours)]
    try:
        from torch.nn.attention.varlen import varlen_attn

        names = inspect.signature(varlen_attn).parameters
        causal = {"is_causal": True} if "is_causal" in names else {"window_size": (-1, 0)}

        def theirs(q, k, v, ends, longest):
            return varlen_attn(q, k, v, ends, ends, longest, longest, **causal)

        systems.append(("PyTorch's varlen_attn", theirs))
    except ImportError:
        print("this PyTorch has no varlen_attn")
    compare(f"4 to 16 packed sequences of 64 to 1,500 tokens, new ones at each of {count} steps", systems, steps)


def part_decode(_, batch=8, heads=32, key_heads=8, first=1000, last=3000):
    print(f"decoding, b={batch}, {heads}/{key_heads} heads, keys from {first} to {last}")
    caches = [made(batch, last, key_heads, WIDTH) for _ in range(2)]

    def steps():
        for keys in range(first, last):
            k, v = (cache[:, :keys].transpose(1, 2) for cache in caches)
            yield [made(batch, 1, heads, WIDTH).transpose(1, 2), k, v], None, ()

    def theirs(q, k, v):
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    for name, attend in (
        ("sdpa_graph.torch", lambda q, k, v: scaled_dot_product_attention(q, k, v, enable_gqa=True)),
        ("PyTorch's flash kernels", theirs),
    ):
        before = built()
        with torch.no_grad():
            times = step_times(attend, steps(), needs_gradients=False)
        report(name, times, built() - before)
        median = statistics.median(times)
        print(f"    steps above 2 x the median: {sum(found > 2 * median for found in times)}")


def part_classes(_):
    print("times of the GPU, exact plan and class, in microseconds")
    shapes = [
        (8, 1500, 16, 16, 128, True), (8, 1500, 16, 16, 128, False), (2, 6000, 32, 8, 128, True),
        (3, 1100, 16, 16, 128, True), (8, 300, 16, 16, 128, True), (16, 130, 16, 16, 64, True),
        (4, 4096, 16, 16, 64, True),
    ]  # fmt: skip
    for batch, tokens, heads, key_heads, width, is_causal in shapes:
        dims = [(batch, tokens, count, width) for count in (heads, key_heads, key_heads)]
        inputs = [made(*dim).transpose(1, 2).requires_grad_() for dim in dims]
        grad, found = made(*dims[0]).transpose(1, 2), {}

        def call(inputs=inputs, is_causal=is_causal):
            return scaled_dot_product_attention(*inputs, is_causal=is_causal, enable_gqa=True)

        for policy in ("exact", "classes"):
            set_shape_policy(policy)
            forward = gpu_time(call)
            both = gpu_time(lambda: torch.autograd.grad(call(), inputs, grad))
            found[policy] = (forward, both - forward)
        set_shape_policy(None)
        ratios = [ours / exact for ours, exact in zip(found["classes"], found["exact"])]
        times = "  ".join(f"{exact:8.1f} {ours:8.1f}" for exact, ours in zip(found["exact"], found["classes"]))
        name = f"b={batch} s={tokens} {heads}/{key_heads} d={width}{' causal' if is_causal else ''}"
        print(f"  {name:36s} forward, backward: {times}  ratios {ratios[0]:.2f} {ratios[1]:.2f}", flush=True)


PARTS = {
    "shapes": part_shapes, "long": part_long, "windows": part_windows, "packed": part_packed, "decode": part_decode,
    "classes": part_classes,
}  # fmt: skip


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name in sys.argv[2:] or PARTS:
        PARTS[name](count)


if __name__ == "__main__":
    main()
