"""Times of calls on a GPU, for the benchmarks of this folder."""

import random
import statistics

import torch

ROUNDS, CALLS = 20, 10


def recorded(call):
    """Some calls as a CUDA graph, so that the GPU never waits for the host."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        for _ in range(CALLS):
            call()
    return graph


def times_in_turn(graphs):
    """The time of a call of each recorded graph in microseconds.

    A GPU at the limit of its power lowers its clock, and keeps it for some time. So a graph runs once more right before it is timed,
    and each round has another order.
    """
    times = {key: [] for key in graphs}
    order, orders = list(graphs), random.Random(0)
    for _ in range(ROUNDS):
        orders.shuffle(order)
        for key in order:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            graphs[key].replay()
            begin.record()
            graphs[key].replay()
            end.record()
            end.synchronize()
            times[key].append(begin.elapsed_time(end) * 1e3 / CALLS)
    return {key: statistics.median(found) for key, found in times.items()}


def gpu_time(call):
    """The time in microseconds, of the GPU alone."""
    return times_in_turn({"call": recorded(call)})["call"]
