"""Plans in files, for later processes."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("plans are stored for GPUs", allow_module_level=True)

PROGRAM = """
import json, sys, time, torch
from sdpa_graph import _core
from sdpa_graph.torch import scaled_dot_product_attention
torch.manual_seed(0)
q, k, v = (torch.randn(2, 300, 4, 64, device="cuda", dtype=torch.half).transpose(1, 2).requires_grad_() for _ in range(3))
times = []
for _ in range(3):
    begin = time.perf_counter()
    o = scaled_dot_product_attention(q, k, v, is_causal=True)
    grads = torch.autograd.grad(o.square().sum(), (q, k, v))
    torch.cuda.synchronize()
    times.append((time.perf_counter() - begin) * 1e3)
sums = [x.double().sum().item() for x in (o, *grads)]
print(json.dumps({"counts": _core.plan_counts(), "times": times, "sums": sums}))
"""


def run(folder, **more):
    environment = {**os.environ, "SDPA_GRAPH_PLAN_STORE": str(folder), **more}
    called = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return json.loads(called.stdout)


def files_of(folder):
    return sorted(pathlib.Path(folder).rglob("*.plan"))


def plans_of(folder):
    return [path for path in files_of(folder) if not path.parent.name.startswith("kernels")]


def test_a_second_process_loads_what_the_first_one_built(tmp_path):
    first = run(tmp_path)
    assert (first["counts"]["built"], first["counts"]["loaded"]) == (2, 0)
    assert len(plans_of(tmp_path)) == 2
    assert len(files_of(tmp_path)) == 3  # and the code of the kernels of rows
    second = run(tmp_path)
    print("first call, second call, in ms: built", first["times"][:2], "loaded", second["times"][:2])
    assert (second["counts"]["built"], second["counts"]["loaded"]) == (0, 2)
    assert second["sums"] == pytest.approx(first["sums"], rel=1e-3, abs=1e-2)


def changed(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("damage", [lambda data: data[:-9], changed, lambda data: b""])
def test_a_damaged_file_is_a_miss_and_is_replaced(tmp_path, damage):
    expected = run(tmp_path)["sums"]
    for path in files_of(tmp_path):
        path.write_bytes(damage(path.read_bytes()))
    found = run(tmp_path)
    assert (found["counts"]["built"], found["counts"]["loaded"]) == (2, 0)
    assert found["sums"] == pytest.approx(expected, rel=1e-3, abs=1e-2)
    assert run(tmp_path)["counts"]["loaded"] == 2


def test_swapped_files_are_misses(tmp_path):
    run(tmp_path)
    first, second = plans_of(tmp_path)
    contents = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(contents)
    assert run(tmp_path)["counts"]["built"] == 2


def test_a_frozen_store_is_not_written(tmp_path):
    assert run(tmp_path, SDPA_GRAPH_PLAN_STORE_FROZEN="1")["counts"]["built"] == 2
    assert files_of(tmp_path) == []


def test_a_store_that_cannot_be_written_is_no_error(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert run(file)["counts"]["built"] == 2


FILL = """
import json, sys, sdpa_graph
print(json.dumps(sdpa_graph.fill_plan_store(sys.argv[1], sys.argv[2])))
"""


def test_a_store_is_filled_without_the_gpu_for_the_graphs_that_were_wanted(tmp_path):
    wanted, store = tmp_path / "wanted", tmp_path / "store"
    assert run("", SDPA_GRAPH_PLAN_STORE_WANTED=str(wanted))["counts"]["built"] == 2
    device = "h200" if "H200" in torch.cuda.get_device_name() else "h100"
    environment = {**os.environ, "SDPA_GRAPH_PLAN_STORE": str(store), "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-c", FILL, str(wanted), device]
    filled = json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert filled == {"compiled": 2, "loaded": 0, "refused": []}
    found = run(store, SDPA_GRAPH_PLAN_STORE_FROZEN="1")
    print("first call, second call, in ms, of a store that was filled without the GPU:", found["times"][:2])
    assert (found["counts"]["built"], found["counts"]["loaded"]) == (0, 2)
