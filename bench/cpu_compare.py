"""Attention on the CPU, this library's and PyTorch's, in one run with as many threads: forward and backward, GFLOP/s.

    python bench/cpu_compare.py [threads]

needs sdpa_graph and torch. Times are processor time, the least of some runs, so that other work on the machine counts little.
A mask halves or cuts the operations that are counted; PyTorch gets windows, documents and biases as attn_mask.
"""

import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])  # before the libraries count the cores

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from processor_time import processor_seconds  # noqa: E402
from sdpa_graph.torch import scaled_dot_product_attention  # noqa: E402


class Case:
    """Tensors {batch, heads, tokens, width}, what both functions get, and the share of scores that is visible."""

    def __init__(self, name, kind, queries=4096, keys=None, width=64, key_heads=8, visible=1.0, ours=None, theirs=None):
        self.name, self.kind, self.visible = name, kind, visible
        shape = lambda heads, tokens: torch.randn(1, heads, tokens, width, dtype=kind, requires_grad=True)
        self.q, self.k, self.v = shape(8, queries), shape(key_heads, keys or queries), shape(key_heads, keys or queries)
        self.operations = 4.0 * 8 * queries * (keys or queries) * width * visible
        self.ours, self.theirs = ours or {}, theirs if theirs is not None else (ours or {})
        self.has_backward = queries > 1

    def rates(self, function, options):
        output = function(self.q, self.k, self.v, **options)
        gradient = torch.ones_like(output)
        with torch.no_grad():
            forward = processor_seconds(lambda: function(self.q, self.k, self.v, **options))
        if not self.has_backward:
            return self.operations / forward / 1e9, None
        both = processor_seconds(lambda: function(self.q, self.k, self.v, **options).backward(gradient))
        # Backward needs what forward keeps, so that its time is that of both without forward's.
        kept = processor_seconds(lambda: function(self.q, self.k, self.v, **options))
        return self.operations / forward / 1e9, 2.5 * self.operations / (both - kept) / 1e9


def window_mask(tokens, window):
    distance = torch.arange(tokens)[:, None] - torch.arange(tokens)[None, :]
    return (distance >= 0) & (distance < window)


def cases():
    for kind in (torch.float32, torch.bfloat16):
        for queries, width in ((1024, 64), (4096, 64), (4096, 128)):
            yield Case(f"s {queries}, d {width}", kind, queries, width=width)
            yield Case(f"s {queries}, d {width}, causal", kind, queries, width=width, visible=0.5, ours={"is_causal": True})
        yield Case("s 4096, 2 key heads", kind, key_heads=2, ours={"enable_gqa": True})
        yield Case("1 query, 4096 keys", kind, 1, 4096)
        bias = torch.randn(1, 8, 2048, 2048, dtype=kind)
        yield Case("s 2048, bias", kind, 2048, ours={"attn_mask": bias})
        yield Case("s 2048, dropout 0.1", kind, 2048, ours={"dropout_p": 0.1})
        window = {"is_causal": True, "left_bound": 256}
        yield Case("s 4096, window of 256", kind, visible=256 / 4096, ours=window, theirs={"attn_mask": window_mask(4096, 256)})
        yield Case("s 2048, softcap (PyTorch: without)", kind, 2048, ours={"softcap": 30.0}, theirs={})


def text(pair, part):
    ours, theirs = pair[0][part], pair[1][part]
    return f"{'':27}" if ours is None else f"{ours:9.1f} / {theirs:6.1f} {ours / theirs:6.2f} x"


def main():
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    print(f"b=1 h=8, torch {torch.__version__}, {THREADS} threads, ours / PyTorch's GFLOP/s")
    for case in cases():
        pair = case.rates(scaled_dot_product_attention, case.ours), case.rates(F.scaled_dot_product_attention, case.theirs)
        name = f"{str(case.kind)[6:]} {case.name}"
        print(f"{name:42} forward {text(pair, 0)}   backward {text(pair, 1)}", flush=True)


main()
