"""Attention on the CPU, this library's and PyTorch's, in one run with as many threads: forward and backward, GFLOP/s.

    python bench/cpu_compare.py [threads] [words that a row's name contains, such as "bfloat16 query"]

needs sdpa_graph and torch. Times are processor time, the least of some runs, so that other work on the machine counts little; with
several threads they are wall time. A mask halves or cuts the operations that are counted; PyTorch gets windows and biases as
attn_mask, and packed sequences one after the other.
"""

import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def thread_count(cpus):
    words = sys.argv[1] if len(sys.argv) > 1 else "1"
    if not words.isdecimal() or not 1 <= int(words) <= len(cpus):
        sys.exit(f"found {words!r} as the number of threads, expected 1 to {len(cpus)}, as many as CPUs are here: cpu_compare.py 1 query")
    return int(words)


def apart(cpus):
    """The CPUs, of which those that share a core with an earlier one come last: as a pair they are hardly faster than one."""
    used, ranks = Counter(), {}
    for cpu in cpus:
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        core = siblings.read_text() if siblings.exists() else str(cpu)
        ranks[cpu] = used[core]
        used[core] += 1
    return sorted(cpus, key=ranks.get)


CPUS = sorted(os.sched_getaffinity(0))
THREADS = thread_count(CPUS)
for name in [name for name in os.environ if name.startswith("OPENBLAS_")]:
    del os.environ[name]  # they may choose slower kernels for PyTorch
os.sched_setaffinity(0, apart(CPUS)[:THREADS])  # before the libraries count the cores

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from processor_time import processor_seconds, wall_seconds  # noqa: E402
from sdpa_graph.torch import scaled_dot_product_attention  # noqa: E402

PACKED = (256, 384, 512, 640, 768, 896, 1024, 1024)  # lengths of the packed sequences


@dataclass
class Case:
    """Tensors {1, 8 heads, tokens, width}, what both functions get, and the share of scores that is visible."""

    name: str
    queries: int = 4096
    keys: int = 4096
    width: int = 64
    key_heads: int = 8
    visible: float = 1.0
    ours: dict[str, Any] = field(default_factory=dict)
    theirs: dict[str, Any] | None = None
    runs: int = 3

    def inputs(self, kind):
        shapes = ((8, self.queries), (self.key_heads, self.keys), (self.key_heads, self.keys))
        return [torch.randn(1, *shape, self.width, dtype=kind, requires_grad=True) for shape in shapes]

    def functions(self):
        theirs = self.ours if self.theirs is None else self.theirs
        return (
            lambda inputs: scaled_dot_product_attention(*inputs, **self.ours),
            lambda inputs: F.scaled_dot_product_attention(*inputs, **theirs),
        )

    def operations(self):
        return 4.0 * 8 * self.queries * self.keys * self.width * self.visible

    def has_backward(self):
        return self.queries > 1


class PackedCase(Case):
    """Sequences one after the other: ours in one call, PyTorch's in a call for each."""

    def inputs(self, kind):
        return [torch.randn(sum(PACKED), 8, self.width, dtype=kind, requires_grad=True) for _ in range(3)]

    def functions(self):
        ends = torch.tensor([0, *PACKED]).cumsum(0).to(torch.int32)
        lengths = {"cu_seqlens_q": ends, "cu_seqlens_kv": ends, "max_seqlen_q": max(PACKED), "max_seqlen_kv": max(PACKED)}

        def theirs(inputs):
            parts = zip(*(tensor.split(PACKED) for tensor in inputs), strict=True)
            heads = ([part.transpose(0, 1)[None] for part in sequence] for sequence in parts)
            return torch.cat([F.scaled_dot_product_attention(*sequence, is_causal=True)[0] for sequence in heads], 1)

        return lambda inputs: scaled_dot_product_attention(*inputs, is_causal=True, **lengths), theirs

    def operations(self):
        return sum(4.0 * 8 * length * length * self.width / 2 for length in PACKED)


def rates(case, function, inputs):
    """GFLOP/s of forward and backward."""
    seconds = processor_seconds if THREADS == 1 else wall_seconds
    output = function(inputs)
    gradient = torch.randn_like(output)
    with torch.no_grad():
        forward = seconds(lambda: function(inputs), case.runs)
    if not case.has_backward():
        return case.operations() / forward / 1e9, None
    backward = seconds(lambda: torch.autograd.grad(output, inputs, gradient, retain_graph=True), case.runs)
    return case.operations() / forward / 1e9, 2.5 * case.operations() / backward / 1e9


def window_mask(tokens, window):
    distance = torch.arange(tokens)[:, None] - torch.arange(tokens)[None, :]
    return (distance >= 0) & (distance < window)


def cases(kind):
    for tokens, width in ((1024, 64), (4096, 64), (4096, 128)):
        yield Case(f"s {tokens}, d {width}", tokens, tokens, width)
        yield Case(f"s {tokens}, d {width}, causal", tokens, tokens, width, visible=0.5, ours={"is_causal": True})
    yield Case("s 4096, 2 key heads", key_heads=2, ours={"enable_gqa": True})
    yield Case("1 query, 4096 keys", 1, runs=200)
    yield Case("1 query, 4096 keys, 2 key heads", 1, key_heads=2, ours={"enable_gqa": True}, runs=200)
    yield PackedCase("8 packed sequences, causal")
    yield Case("s 2048, bias", 2048, 2048, ours={"attn_mask": torch.randn(1, 8, 2048, 2048, dtype=kind)})
    yield Case("s 2048, dropout 0.1", 2048, 2048, ours={"dropout_p": 0.1})
    window = {"is_causal": True, "left_bound": 256}
    yield Case("s 4096, window of 256", visible=256 / 4096, ours=window, theirs={"attn_mask": window_mask(4096, 256)})
    yield Case("s 2048, softcap (PyTorch: without)", 2048, 2048, ours={"softcap": 30.0}, theirs={})


def text(pair, part):
    ours, theirs = pair[0][part], pair[1][part]
    return f"{'':27}" if ours is None else f"{ours:9.1f} / {theirs:6.1f} {ours / theirs:6.2f} x"


def main():
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    words = sys.argv[2].split() if len(sys.argv) > 2 else []
    print(f"b=1 h=8, torch {torch.__version__}, {THREADS} threads, ours / PyTorch's GFLOP/s")
    for kind in (torch.float32, torch.bfloat16):
        for case in cases(kind):
            name = f"{str(kind)[6:]} {case.name}"
            if not all(word in name for word in words):
                continue
            inputs = case.inputs(kind)
            pair = [rates(case, function, inputs) for function in case.functions()]
            print(f"{name:42} forward {text(pair, 0)}   backward {text(pair, 1)}", flush=True)


main()
