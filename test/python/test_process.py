"""Graphs and the process: threads, forks, exits with plans alive, memory."""

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref

import cudnn
import numpy as np
import pytest
import sdpa_graph
from attention import Forward, qkv
from sdpa_graph.numpy import scaled_dot_product_attention


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


def resident_kib():
    """The memory of this process now, not at its peak."""
    gc.collect()
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def build_and_run(index):
    """A graph that no other one is, with a modifier and without, called through both interfaces."""
    arrays = qkv((1, 1, 4, 8))
    options = {"attn_scale": 1 / (1 + index), "score_mod": lambda graph, score: graph.neg(score)}
    Forward(*arrays, **(options if index % 2 else {"attn_scale": options["attn_scale"]})).build().run()
    if index % 10 == 0:
        scaled_dot_product_attention(*arrays, scale=1 / (1 + index))


def test_builds_and_runs_leave_no_memory_behind():
    before = 0
    for index in range(10_000):
        if index == 2_000:  # by when all that is kept, as the graphs built last, is as much as it gets
            before = resident_kib()
        build_and_run(index)
    # A graph with its plan takes tens of kilobytes, so 8,000 would be hundreds of megabytes.
    assert resident_kib() - before < 4096, f"{resident_kib() - before} KiB more"


def test_kept_objects_are_counted_by_kind():
    def build_and_count():
        Forward(*qkv(), attn_scale=0.3125).build()  # as no other test
        return sdpa_graph.kept_statistics()["validated graphs"]

    first, second = build_and_count(), build_and_count()
    assert set(first) == {"objects", "bytes", "hits", "misses", "builds", "evictions"}
    assert min(first[name] for name in ("objects", "bytes", "misses", "builds")) > 0
    assert second["hits"] > first["hits"]
    assert second["builds"] == first["builds"]


def graph_with_modifier():
    return Forward(*qkv(), attn_scale=0.25, score_mod=lambda graph, score: graph.neg(score)).build()


def graph_with_a_failing_modifier():
    with pytest.raises(ZeroDivisionError):
        Forward(*qkv(), attn_scale=0.25, score_mod=lambda graph, score: 1 / 0)
    return Forward(*qkv(), attn_scale=0.25)


def wrapper():
    types = {"io_data_type": cudnn.data_type.FLOAT, "compute_data_type": cudnn.data_type.FLOAT}
    with cudnn.Graph(**types, target="cpu", inputs=["s::q", "s::k", "s::v"], outputs=["o"]) as graph:
        o, _ = graph.sdpa(q=qkv()[0], k=qkv()[1], v=qkv()[2], is_inference=True, attn_scale=0.25, name="s")
        o.set_output(True).set_name("o")
    graph(*qkv())
    return graph


@pytest.mark.parametrize("make", [graph_with_modifier, graph_with_a_failing_modifier, wrapper])
def test_nothing_holds_itself(make):
    """A graph ends with its last name, without the collector of cycles."""
    gc.collect()
    gc.disable()
    try:
        made = make()
        ends = [weakref.ref(made), weakref.ref(getattr(made, "graph", None) or made._graph)]
        del made
        assert [end() for end in ends] == [None, None]
    finally:
        gc.enable()
