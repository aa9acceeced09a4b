"""Graphs and the process: threads, forks, exits with plans alive, memory."""

import gc
import os
import resource
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from attention import Forward, qkv


def test_threads_share_a_graph():
    forward = Forward(*qkv(), attn_scale=0.25).build()
    expected = forward.run()
    results = [None] * 8

    def run(index):
        for _ in range(20):
            results[index] = forward.run()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_other_threads_run_while_a_graph_does():
    forward = Forward(*qkv((2, 4, 700, 64)), target="reference").build()
    worker = threading.Thread(target=forward.run)
    worker.start()
    steps = 0
    while worker.is_alive():
        steps += 1
    # With the lock held the loop would see at most the begin and the end of the run.
    assert steps > 100


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_process_runs_a_graph_of_its_parent():
    forward = Forward(*qkv((2, 8, 300, 64)), attn_scale=0.25).build()  # of a size that several threads share
    expected = forward.run()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # which ends it, should it wait for threads that it does not have
        os._exit(0 if np.array_equal(forward.run(), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("ending", ["", "raise SystemExit(0)", "import gc; graph.me = graph; del graph"])
def test_exit_with_plans_alive(ending):
    program = (
        "from attention import *\nforward = Forward(*qkv()).build()\ngraph = forward.graph\nforward.run()\n" + ending
    )
    result = subprocess.run(
        [sys.executable, "-X", "dev", "-c", program],
        cwd=os.path.dirname(__file__),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_builds_and_runs_leave_no_memory_behind():
    q, k, v = qkv((1, 1, 8, 8))

    def build_and_run(count):
        for _ in range(count):
            Forward(q, k, v, score_mod=lambda graph, score: graph.neg(score)).build().run()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = build_and_run(300)
    after = build_and_run(600)
    # A graph and its plan take tens of kilobytes.
    assert after - before < 4096, f"{after - before} KiB more"
