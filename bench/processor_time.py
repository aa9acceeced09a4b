"""Times of calls on a CPU, for the benchmarks of this folder."""

import math
import time


def processor_seconds(run, runs=3):
    """Processor time, the least of some runs, so that other work on the machine counts little."""
    best = math.inf
    for _ in range(runs + 1):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best
