"""PyTorch's context_parallel on two GPUs of this machine, and the whole attention on each of them, for the row `causal` of bench_cudnn_groups.

    python bench/context_parallel.py [tokens]

needs torch and two GPUs that NCCL connects. Attention over cuDNN and over PyTorch's flash kernels, causal, 16 heads, BFLOAT16:
milliseconds of forward and of backward, medians of the slower rank; and the share of the ideal time, half of that of one GPU
with the same kernels. The baseline runs on both GPUs at the same time. A system is a kernel with a method. Two processes
measure one system after the other; if one fails or exceeds its time, both end, and two new ones measure the rest.
"""

import contextlib
import multiprocessing
import os
import queue
import signal
import socket
import statistics
import sys
import time
from datetime import timedelta

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

RANKS, HEADS, WIDTH = 2, 16, 128
WARM, STEPS = 3, 9
LIMIT = 80  # seconds for a system, with the start of the processes
KERNELS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
METHODS = (None, "allgather", "alltoall")  # None: each GPU computes the whole attention


def tensors(tokens):
    """Query, key and value, the same on all ranks: (batch, heads, tokens, head dim)."""
    torch.manual_seed(0)
    return [torch.randn(1, HEADS, tokens, WIDTH, device="cuda", dtype=torch.bfloat16) for _ in range(3)]


@contextlib.contextmanager
def in_parallel(method, inputs):
    """Leaves the rank's tokens in the inputs, and lets the ranks share attention."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.experimental import context_parallel
    from torch.distributed.tensor.experimental._attention import set_rotate_method

    set_rotate_method(method)
    mesh = init_device_mesh("cuda", (RANKS,))
    with context_parallel(mesh, buffers=inputs, buffer_seq_dims=[2] * 3, no_restore_buffers=set(inputs)):
        yield


def step_times(inputs):
    """The medians of forward and backward, of steps that follow each other without a wait of the host."""
    for tensor in inputs:
        tensor.requires_grad_()
    grad = torch.randn_like(inputs[0])
    marks = []
    for step in range(WARM + STEPS):
        if step == WARM:
            torch.cuda.synchronize()
            torch.distributed.barrier()
        begin, middle, end = (torch.cuda.Event(enable_timing=True) for _ in range(3))
        begin.record()
        # context_parallel replaces the function in its module.
        output = functional.scaled_dot_product_attention(*inputs, is_causal=True)
        middle.record()
        torch.autograd.grad(output, inputs, grad)
        end.record()
        marks.append((begin, middle, end))
    torch.cuda.synchronize()
    forward = statistics.median(begin.elapsed_time(middle) for begin, middle, _ in marks[WARM:])
    backward = statistics.median(middle.elapsed_time(end) for _, middle, end in marks[WARM:])
    return forward, backward


def times_of(kernels, method, tokens):
    inputs = tensors(tokens)
    with contextlib.ExitStack() as stack:
        stack.enter_context(sdpa_kernel(KERNELS[kernels]))
        if method is not None:
            stack.enter_context(in_parallel(method, inputs))
        return step_times(inputs)


def run_rank(rank, port, systems, tokens, results):
    """A process of a rank. It puts the times of each system, or an error, and ends in time even without its parent."""
    signal.alarm(LIMIT * len(systems))
    try:
        torch.cuda.set_device(rank)
        torch.distributed.init_process_group(
            "nccl",
            init_method=f"tcp://127.0.0.1:{port}",
            rank=rank,
            world_size=RANKS,
            timeout=timedelta(seconds=LIMIT),
            device_id=torch.device("cuda", rank),
        )
        for system in systems:
            results.put((system, times_of(*system, tokens), ""))
        torch.distributed.barrier()
        torch.cuda.synchronize()
    except Exception as error:
        results.put((None, None, f"rank {rank}: {type(error).__name__}: {str(error).strip() or 'no message'}"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Ranks:
    """Processes that measure systems one after the other."""

    def __init__(self, systems, tokens):
        # Processes that were forked could not use CUDA.
        spawning = multiprocessing.get_context("spawn")
        self._results, port = spawning.Queue(), free_port()
        self._processes = [
            spawning.Process(target=run_rank, args=(rank, port, systems, tokens, self._results), daemon=True)
            for rank in range(RANKS)
        ]
        for process in self._processes:
            process.start()

    def next_times(self, system):
        """The times of the slower rank, or None and why there are none."""
        deadline, found = time.monotonic() + LIMIT, []
        while len(found) < RANKS:
            try:
                measured, times, failure = self._results.get(timeout=1)
            except queue.Empty:
                codes = [process.exitcode for process in self._processes]
                if any(code not in (None, 0) for code in codes):
                    return None, f"a rank ended: exit codes {codes}"
                if time.monotonic() > deadline:
                    return None, f"no times after {LIMIT} seconds"
                continue
            if failure or measured != system:
                return None, failure or f"found times of {measured}; expected those of {system}"
            found.append(times)
        return tuple(max(times) for times in zip(*found)), ""

    def end(self):
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join(10)


def name_of(kernels, method):
    return f"one GPU, {kernels}" if method is None else f"context_parallel, {kernels}, {method}"


def report(system, times, alone):
    method = system[1]
    shares = [0.0, 0.0]
    if alone is not None:
        shares = [one / (time if method is None else RANKS * time) for one, time in zip(alone, times)]
    columns = " ".join(f"{time:9.2f} {share:6.3f}" for time, share in zip(times, shares))
    print(f"{name_of(*system):36s} {columns}", flush=True)


def compare(tokens):
    """Whether all systems have times."""
    pending = [(kernels, method) for kernels in KERNELS for method in METHODS]
    alone, failures, ranks = {}, 0, None
    while pending:
        ranks = ranks or Ranks(pending, tokens)
        system = pending.pop(0)
        times, failure = ranks.next_times(system)
        if times is None:
            failures += 1
            print(f"{name_of(*system):36s} {' '.join(failure.split())[:600]}", flush=True)
            ranks.end()
            ranks = None
            continue
        if system[1] is None:
            alone[system[0]] = times
        report(system, times, alone.get(system[0]))
    if ranks is not None:
        ranks.end()
    return failures == 0


def main():
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 65536
    if tokens % (2 * RANKS):
        raise SystemExit(f"found {tokens} tokens; expected a multiple of {2 * RANKS}, which context_parallel needs")
    if torch.cuda.device_count() < RANKS:
        print("there are no two GPUs here")
        raise SystemExit(77)
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # docs/several-gpus.md has times without multicast
    gpu, cudnn = torch.cuda.get_device_name(0), torch.backends.cudnn.version()
    print(f"{RANKS} x {gpu}, torch {torch.__version__}, cuDNN {cudnn}, NCCL {torch.cuda.nccl.version()}, {tokens} tokens")
    print(f"{'':36s} {'forward':>9s} {'share':>6s} {'backward':>9s} {'share':>6s}", flush=True)
    if not compare(tokens):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
