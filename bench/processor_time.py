"""Times of calls on a CPU, for the benchmarks of this folder."""

import math
import time


def processor_seconds(run, runs=3):
    """Processor time, the least of some runs, so that other work on the machine counts little."""
    return _least(time.process_time, run, runs)


def wall_seconds(run, runs=3):
    """Time that passes, the least of some runs."""
    return _least(time.perf_counter, run, runs)


def _least(clock, run, runs):
    best = math.inf
    for _ in range(runs + 1):
        start = clock()
        run()
        best = min(best, clock() - start)
    return best
