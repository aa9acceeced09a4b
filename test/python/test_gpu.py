"""Graphs on a GPU with tensors of torch. Needs torch with CUDA, a GPU and cuDNN."""

import os
import subprocess
import sys
import threading

import cudnn
import pytest
from test_gradients import CASES, arrays, operands

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]
if torch.cuda.is_available():
    from sdpa_graph.torch import scaled_dot_product_attention as attend
FOLDER = os.environ.get("SDPA_GRAPH_NOTEBOOKS")


@pytest.fixture
def qkv():
    torch.manual_seed(1)
    return [torch.randn(2, 128, 4, 64, device="cuda", dtype=torch.half).transpose(1, 2) for _ in range(3)]


def close(found, expected):
    torch.testing.assert_close(found, expected, atol=5e-3, rtol=3e-3)


def test_stages_on_a_stream_of_ones_own(qkv):
    stream = torch.cuda.Stream()
    handle = cudnn.create_handle()
    cudnn.set_stream(handle=handle, stream=stream.cuda_stream)
    assert cudnn.get_stream(handle) == stream.cuda_stream
    graph = cudnn.pygraph("g", cudnn.data_type.HALF, cudnn.data_type.FLOAT, cudnn.data_type.FLOAT, handle=handle)
    tensors = [graph.tensor_like(x) for x in qkv]
    o, _ = graph.sdpa(*tensors, generate_stats=False, attn_scale=0.125, use_causal_mask=True)
    o.set_output(True).set_dim(qkv[0].shape).set_stride(qkv[0].stride())
    graph.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    result = torch.empty_like(qkv[0])
    workspace = torch.empty(graph.get_workspace_size(), device="cuda", dtype=torch.uint8)
    stream.wait_stream(torch.cuda.current_stream())
    graph.execute({**dict(zip(tensors, qkv)), o: result}, workspace, handle=handle)
    stream.synchronize()
    close(result, torch.nn.functional.scaled_dot_product_attention(*qkv, is_causal=True))
    with pytest.raises(ValueError, match="memory of the host: the target reads memory of its GPU"):
        graph.execute({**dict(zip(tensors, qkv)), o: result.cpu()}, workspace, handle=handle)
    cudnn.destroy_handle(handle)


def test_wrapper_with_a_handle_of_its_own(qkv):
    inputs = ["SDPA::q", "SDPA::k", "SDPA::v"]
    types = {"io_data_type": torch.half, "intermediate_data_type": torch.float, "compute_data_type": torch.float}
    with cudnn.Graph(**types, handle="auto", inputs=inputs, outputs=["o"]) as graph:
        o, _ = graph.sdpa(q=qkv[0], k=qkv[1], v=qkv[2], name="SDPA", is_inference=True, attn_scale=0.125)
        o.set_output(True).set_name("o")
    close(graph(*qkv), torch.nn.functional.scaled_dot_product_attention(*qkv))


def test_function_and_gradients(qkv):
    results = []
    for function in (attend, torch.nn.functional.scaled_dot_product_attention):
        inputs = [x.detach().clone().requires_grad_() for x in qkv]
        o = function(*inputs, is_causal=True)
        results.append([o, *torch.autograd.grad(o, inputs, qkv[0])])
    for found, expected in zip(*results):
        close(found, expected)


@pytest.mark.parametrize("name", [name for name in CASES if name != "dropout"])
def test_options_and_gradients_are_those_of_the_cpu(name):
    results = []
    for device in ("cpu", "cuda"):
        *inputs, grad = [torch.from_numpy(x).to(device, torch.half) for x in arrays(name)]
        options = {key: move(x, device) for key, x in CASES[name].items()}
        extras = {key: x.requires_grad_() for key, x in options.items() if key in operands(name)}
        inputs = [x.requires_grad_() for x in inputs]
        o = attend(*inputs, **{**options, **extras})
        results.append([o, *torch.autograd.grad(o, [*inputs, *extras.values()], grad)])
    for expected, found in zip(*results):
        # Results and probabilities are rounded to half, and gradients are sums over the queries.
        torch.testing.assert_close(found.cpu(), expected, atol=0.03, rtol=0.01)


def move(value, device):
    """Numbers that are added to scores or lengths: the latter stay what they are."""
    return torch.from_numpy(value).to(device) if hasattr(value, "shape") else value


def test_dropout(qkv):
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        inputs = [x.detach().clone().requires_grad_() for x in qkv]
        o = attend(*inputs, dropout_p=0.5)
        results.append([o, *torch.autograd.grad(o, inputs, qkv[0])])
    assert all(
        torch.equal(*pair) for pair in zip(results[0][::3], results[1][::3])
    )  # O and dV, whose sums have an order
    assert not torch.equal(results[0][0], results[2][0])
    mean = torch.stack([attend(*qkv, dropout_p=0.5).float() for _ in range(200)]).mean(0)
    exact = attend(*qkv).float()
    assert (mean - exact).abs().mean() < 0.2 * exact.abs().mean()


def test_keys_in_pages():
    torch.manual_seed(3)
    q, k, v = torch.randn(2, 4, 1, 64), torch.randn(8, 2, 16, 64), torch.randn(8, 2, 16, 64)
    table, lengths = torch.tensor([[3, 0, 5], [1, 7, 2]]), torch.tensor([40, 48])
    options = {"enable_gqa": True, "page_table": table, "seq_len_kv": lengths}
    found = [
        attend(*(x.to(device, torch.half) for x in (q, k, v)), **{key: to(x, device) for key, x in options.items()})
        for device in ("cpu", "cuda")
    ]
    close(found[1].cpu(), found[0])


def to(value, device):
    return value.to(device) if isinstance(value, torch.Tensor) else value


def test_torch_compile(qkv):
    def loss(q, k, v):
        return attend(q, k, v, is_causal=True, sink=torch.zeros(4, device="cuda")).float().square().sum()

    results = []
    for function in (loss, torch.compile(loss, fullgraph=True)):
        inputs = [x.detach().clone().requires_grad_() for x in qkv]
        results.append(torch.autograd.grad(function(*inputs), inputs))
    for found, expected in zip(*results):
        close(found, expected)


def test_calls_are_recorded_in_a_cuda_graph(qkv):
    inputs = [x.detach().clone() for x in qkv]
    expected = attend(*inputs, is_causal=True)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        found = attend(*inputs, is_causal=True)
    inputs[0].neg_()
    recorded.replay()
    close(found, attend(*inputs, is_causal=True))
    assert not torch.equal(found, expected)


def test_threads_have_handles_of_their_own(qkv):
    """A plan outlives the thread that built it."""
    results = [None] * 4

    def run(index):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.default_stream())
        with torch.cuda.stream(stream):
            for _ in range(50):
                results[index] = attend(*qkv, is_causal=True, scale=0.2)
        stream.synchronize()

    torch.cuda.synchronize()
    for _ in range(2):  # the second time other threads, whose handles are new
        threads = [threading.Thread(target=run, args=(index,)) for index in range(len(results))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            assert torch.equal(result, attend(*qkv, is_causal=True, scale=0.2))


AT_EXIT = """
import torch
from sdpa_graph.torch import scaled_dot_product_attention as attend
q, k, v = (torch.randn(1, 2, 128, 64, device="cuda", dtype=torch.half, requires_grad=True) for _ in range(3))
o = attend(q, k, v, is_causal=True)
o.sum().backward()
"""


def test_a_process_ends_with_plans_and_handles_alive():
    result = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, timeout=300)
    assert (result.returncode, result.stderr) == (0, "")


def plain_graph(qkv, handle):
    graph = cudnn.pygraph("g", cudnn.data_type.HALF, cudnn.data_type.FLOAT, cudnn.data_type.FLOAT, handle=handle)
    tensors = [graph.tensor_like(x) for x in qkv]
    o, _ = graph.sdpa(*tensors, generate_stats=False, attn_scale=0.125)
    o.set_output(True).set_dim(qkv[0].shape).set_stride(qkv[0].stride())
    graph.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    return graph, tensors, o


@pytest.fixture
def side_stream():
    """A stream, and a handle that runs on it."""
    stream, handle = torch.cuda.Stream(), cudnn.create_handle()
    cudnn.set_stream(handle=handle, stream=stream.cuda_stream)
    yield stream, handle
    stream.synchronize()
    cudnn.destroy_handle(handle)


def test_memory_stays_until_its_stream_is_done(qkv, side_stream):
    stream, handle = side_stream
    graph, tensors, o = plain_graph(qkv, handle)
    expected = torch.nn.functional.scaled_dot_product_attention(*qkv)
    result = torch.empty_like(qkv[0])
    workspace = torch.empty(graph.get_workspace_size(), device="cuda", dtype=torch.uint8)
    pack = {**{tensor: x.clone() for tensor, x in zip(tensors, qkv)}, o: result}
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
    graph.execute(pack, workspace, handle=handle)
    pack.clear()
    # The memory that torch's allocator gives now would be the memory of the copies, if these were gone.
    others = [torch.full_like(x, 7.0) for x in qkv]
    torch.cuda.synchronize()
    close(result, expected)
    assert all((x == 7.0).all() for x in others)


class Temporary:
    """An object that exports a copy, which only the capsule keeps alive."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self):
        return self.tensor.clone().__dlpack__()


def test_what_capsules_hold_stays_until_its_stream_is_done(qkv, side_stream):
    stream, handle = side_stream
    graph, tensors, o = plain_graph(qkv, handle)
    expected = torch.nn.functional.scaled_dot_product_attention(*qkv)
    result = torch.empty_like(qkv[0])
    workspace = torch.empty(graph.get_workspace_size(), device="cuda", dtype=torch.uint8)
    pack = {**{tensor: Temporary(x) for tensor, x in zip(tensors, qkv)}, o: result}
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):  # long enough for the copies, which are made on the default stream
        torch.cuda._sleep(200_000_000)
    graph.execute(pack, workspace, handle=handle)
    others = [torch.full_like(x, 7.0) for x in qkv]
    torch.cuda.synchronize()
    close(result, expected)
    assert all((x == 7.0).all() for x in others)


class OfAnotherGpu:
    """A tensor that says it is on the second GPU."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __getattr__(self, name):
        return getattr(self.tensor, name)

    def get_device(self):
        return 1


def test_memory_of_another_gpu_is_refused(qkv, side_stream):
    _, handle = side_stream
    graph, tensors, o = plain_graph(qkv, handle)
    pack = {**dict(zip(tensors, qkv)), o: torch.empty_like(qkv[0])}
    pack[tensors[1]] = OfAnotherGpu(qkv[1])
    workspace = torch.empty(graph.get_workspace_size(), device="cuda", dtype=torch.uint8)
    with pytest.raises(
        ValueError, match="memory of GPU 1: the handle's stream runs on GPU 0; a handle and a stream of"
    ):
        graph.execute(pack, workspace, handle=handle)


@pytest.mark.skipif(not FOLDER, reason="SDPA_GRAPH_NOTEBOOKS names no folder of notebooks")
def test_notebooks_as_they_are():
    from test_notebooks import NOTEBOOKS, cells

    for path in NOTEBOOKS:
        names = {}
        for cell in cells(path.read_text()):
            exec(compile(cell, str(path), "exec"), names)
