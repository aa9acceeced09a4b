"""Graphs on a GPU with tensors of torch. Needs torch with CUDA, a GPU and cuDNN."""

import os

import cudnn
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]
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
    from sdpa_graph.torch import scaled_dot_product_attention

    results = []
    for attend in (scaled_dot_product_attention, torch.nn.functional.scaled_dot_product_attention):
        inputs = [x.detach().clone().requires_grad_() for x in qkv]
        o = attend(*inputs, is_causal=True)
        results.append([o, *torch.autograd.grad(o, inputs, qkv[0])])
    for found, expected in zip(*results):
        close(found, expected)


@pytest.mark.skipif(not FOLDER, reason="SDPA_GRAPH_NOTEBOOKS names no folder of notebooks")
def test_notebooks_as_they_are():
    from test_notebooks import NOTEBOOKS, cells

    for path in NOTEBOOKS:
        names = {}
        for cell in cells(path.read_text()):
            exec(compile(cell, str(path), "exec"), names)
