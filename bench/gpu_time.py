"""Times of calls on a GPU, for the benchmarks of this folder."""

import statistics

import torch

ROUNDS, CALLS = 20, 10


def gpu_time(call):
    """The time in microseconds, of the GPU alone: calls in a CUDA graph, so that it never waits for the host."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded, stream=side):
        for _ in range(CALLS):
            call()
    times = []
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        recorded.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / CALLS)
    return statistics.median(times)
