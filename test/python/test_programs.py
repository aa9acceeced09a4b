"""Programs as people write them for the existing package: forward, backward, pages, prefill in chunks, stored graphs
and CUDA graphs. They run on a GPU where there is one, and on the CPU target else. Needs torch."""

import math
import subprocess
import sys

import cudnn
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch
ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
B, H, S, D = 2, 4, 256, 64
SCALE = 1 / math.sqrt(D)


@pytest.fixture(autouse=True)
def setting():
    torch.manual_seed(0)
    cudnn.set_default_target(None if ON_GPU else "cpu")
    yield
    cudnn.set_default_target(None)


@pytest.fixture
def handle():
    made = cudnn.create_handle()
    if ON_GPU:
        cudnn.set_stream(handle=made, stream=torch.cuda.current_stream().cuda_stream)
    yield made
    cudnn.destroy_handle(made)


def random(*shape, dtype=torch.float16):
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def bshd():
    """(batch, heads, tokens, size) whose tokens lie before the heads."""
    return random(B, S, H, D).transpose(1, 2)


def new_graph(handle, **more):
    return cudnn.pygraph(
        io_data_type=cudnn.data_type.HALF,
        intermediate_data_type=cudnn.data_type.FLOAT,
        compute_data_type=cudnn.data_type.FLOAT,
        handle=handle,
        **more,
    )


def build(graph):
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    graph.build_plans()
    return torch.empty(graph.get_workspace_size(), device=DEVICE, dtype=torch.uint8)


def expected(q, k, v, **options):
    return torch.nn.functional.scaled_dot_product_attention(*(x.float() for x in (q, k, v)), **options)


def close(found, wanted, factor=1):
    torch.testing.assert_close(found.float(), wanted, atol=factor * 5e-3, rtol=3e-3)


def test_forward(handle):
    q, k, v = bshd(), bshd(), bshd()
    with cudnn.Graph(
        io_data_type=torch.float16,
        intermediate_data_type=torch.float32,
        compute_data_type=torch.float32,
        inputs=["SDPA::q", "SDPA::k", "SDPA::v"],
        outputs=["output"],
    ) as graph:
        o, _ = graph.sdpa(q=q, k=k, v=v, attn_scale=SCALE, is_inference=True, use_causal_mask=True, name="SDPA")
        o.set_output(True).set_dim(q.shape).set_stride(q.stride()).set_name("output")
    found = graph(q, k, v, handle=handle)
    assert found.stride() == q.stride()
    close(found, expected(q, k, v, is_causal=True))


def test_training_step(handle):
    q, k, v, dO = bshd(), bshd(), bshd(), bshd()
    forward = new_graph(handle)
    inputs = [forward.tensor_like(x) for x in (q, k, v)]
    o, stats = forward.sdpa(*inputs, generate_stats=True, attn_scale=SCALE, use_causal_mask=True)
    o.set_output(True).set_dim(q.shape).set_stride(q.stride())
    stats.set_output(True).set_data_type(cudnn.data_type.FLOAT)
    workspace = build(forward)
    out, lse = torch.empty_like(q), torch.empty(B, H, S, 1, device=DEVICE, dtype=torch.float32)
    forward.execute({**dict(zip(inputs, (q, k, v))), o: out, stats: lse}, workspace, handle=handle)

    backward = new_graph(handle)
    inputs = [backward.tensor_like(x) for x in (q, k, v, out, dO, lse)]
    outputs = backward.sdpa_backward(*inputs, attn_scale=SCALE, use_causal_mask=True)
    for output in outputs:
        output.set_output(True).set_dim(q.shape).set_stride(q.stride())
    workspace = build(backward)
    found = [torch.empty_like(q) for _ in range(3)]
    pack = {**dict(zip(inputs, (q, k, v, out, dO, lse))), **dict(zip(outputs, found))}
    backward.execute(pack, workspace, handle=handle)

    exact = [x.float().requires_grad_() for x in (q, k, v)]
    result = expected(*exact, is_causal=True)
    close(out, result.detach())
    for gradient, wanted in zip(found, torch.autograd.grad(result, exact, dO.float())):
        close(gradient, wanted, 4)


def fp8_factors(graph, **values):
    """Tensors of one number each, and their memory."""
    one = {"dim": [1] * 4, "stride": [1] * 4, "data_type": cudnn.data_type.FLOAT}
    tensors = {name: graph.tensor(name=name, **one) for name in values}
    return tensors, {tensors[name]: torch.full([1] * 4, x, device=DEVICE) for name, x in values.items()}


def fp8_results(graph, results, kinds, like):
    """The memory of results; amaxes are one number each."""
    pack = {}
    for result, kind in zip(results, kinds):
        result.set_output(True).set_data_type(kind)
        shape = like if kind != torch.float32 else [1] * 4
        if kind == torch.float32 and result is results[1] and len(results) == 4:
            shape = (B, H, S, 1)
        result.set_dim(shape).set_stride(torch.empty(shape).stride())
        pack[result] = torch.empty(shape, device=DEVICE, dtype=kind)
    return pack


def test_training_step_on_8_bits(handle):
    """Tensors and factors are passed by keyword, as the existing package's programs do. Hopper's backward needs heads of 128."""
    fp8, shape = torch.float8_e4m3fn, (B, H, S, 128)
    exact = [random(*shape).to(fp8).float().requires_grad_() for _ in range(3)]
    dO = random(*shape).to(fp8)
    q, k, v = (x.detach().to(fp8) for x in exact)
    settings = {"intermediate_data_type": cudnn.data_type.FLOAT, "compute_data_type": cudnn.data_type.FLOAT}

    def graph_of(**arrays):
        graph = cudnn.pygraph(io_data_type=cudnn.data_type.FP8_E4M3, handle=handle, **settings)
        kinds = {name: cudnn.datatypes._library_type(x.dtype) for name, x in arrays.items()}
        tensors = {name: graph.tensor(x.shape, x.stride(), kinds[name], name=name) for name, x in arrays.items()}
        return graph, tensors, {tensors[name]: x for name, x in arrays.items()}

    forward, given, pack = graph_of(q=q, k=k, v=v)
    forward_factors = dict.fromkeys(("descale_q", "descale_k", "descale_v", "scale_o"), 1.0)
    factors, more = fp8_factors(forward, **forward_factors, descale_s=1 / 256, scale_s=256.0)
    results = forward.sdpa_fp8(**given, **factors, attn_scale=SCALE, right_bound=0, generate_stats=True)
    made = fp8_results(forward, results, (fp8, torch.float32, torch.float32, torch.float32), shape)
    workspace = build(forward)
    forward.execute({**pack, **more, **made}, workspace, handle=handle)
    o, stats, _, amax = made.values()
    wanted = torch.nn.functional.scaled_dot_product_attention(*exact, is_causal=True, scale=SCALE)
    assert (o.float() - wanted).abs().max() < 0.1 * wanted.abs().max()
    assert abs(amax.item() - wanted.abs().max()) < 0.1 * wanted.abs().max()

    backward, given, pack = graph_of(q=q, k=k, v=v, o=o, dO=dO, stats=stats)
    names = ("descale_q", "descale_k", "descale_v", "descale_o", "descale_dO", "scale_dQ", "scale_dK", "scale_dV")
    factors, more = fp8_factors(
        backward, **dict.fromkeys(names, 1.0), descale_s=1 / 256, scale_s=256.0, descale_dP=1 / 8, scale_dP=8.0
    )
    results = backward.sdpa_fp8_backward(**given, **factors, attn_scale=SCALE, right_bound=0)
    made = fp8_results(backward, results, (fp8,) * 3 + (torch.float32,) * 4, shape)
    workspace = build(backward)
    backward.execute({**pack, **more, **made}, workspace, handle=handle)
    for found, right in zip(made.values(), torch.autograd.grad(wanted, exact, dO.float())):
        assert (found.float() - right).abs().max() < 0.15 * right.abs().max()


PAGE = 64


def pages_of(cache, order):
    """(pages, heads, tokens of a page, size), the pages of all entries in the given order."""
    pages = cache.unflatten(2, (-1, PAGE)).transpose(1, 2).flatten(0, 1)
    return torch.empty_like(pages).index_copy_(0, order, pages).contiguous()


def paged_graph(handle, q, k_pages, v_pages, table, lengths, **options):
    graph = new_graph(handle)
    given = {"q": q, "k": k_pages, "v": v_pages, "table": table, **lengths}
    tensors = {name: graph.tensor_like(x, name) for name, x in given.items()}
    o, _ = graph.sdpa(
        q=tensors["q"],
        k=tensors["k"],
        v=tensors["v"],
        is_inference=True,
        attn_scale=SCALE,
        use_padding_mask=True,
        seq_len_q=tensors["seq_len_q"],
        seq_len_kv=tensors["seq_len_kv"],
        paged_attention_k_table=tensors["table"],
        paged_attention_v_table=tensors["table"],
        paged_attention_max_seq_len_kv=S,
        **options,
    )
    o.set_output(True).set_dim(q.shape).set_stride(q.stride())
    return graph, {tensors[name]: x for name, x in given.items()}, o


def cache():
    k, v = random(B, H, S, D), random(B, H, S, D)
    order = torch.randperm(B * S // PAGE, device=DEVICE)
    table = order.int().reshape(B, 1, -1, 1)
    return k, v, pages_of(k, order), pages_of(v, order), table


def lengths_of(*rows):
    names = ("seq_len_q", "seq_len_kv")
    return {
        name: torch.tensor(row, dtype=torch.int32, device=DEVICE).reshape(B, 1, 1, 1) for name, row in zip(names, rows)
    }


def test_decoding_with_a_paged_cache(handle):
    q, (k, v, k_pages, v_pages, table), filled = random(B, H, 1, D), cache(), [200, 77]
    graph, pack, o = paged_graph(handle, q, k_pages, v_pages, table, lengths_of([1] * B, filled))
    workspace, found = build(graph), torch.empty_like(q)
    graph.execute({**pack, o: found}, workspace, handle=handle)
    for entry, count in enumerate(filled):
        part = [x[entry : entry + 1] for x in (q, k, v)]
        close(found[entry : entry + 1], expected(part[0], part[1][:, :, :count], part[2][:, :, :count]))


def test_prefill_in_chunks(handle):
    """A prompt goes through one graph, chunk by chunk; each chunk sees the cache as far as it is filled."""
    chunk = 64
    q, (k, v, k_pages, v_pages, table) = random(B, H, S, D), cache()
    first = q[:, :, :chunk].contiguous()
    causal = {"diagonal_alignment": cudnn.diagonal_alignment.BOTTOM_RIGHT, "diagonal_band_right_bound": 0}
    lengths = lengths_of([chunk] * B, [chunk] * B)
    graph, pack, o = paged_graph(handle, first, k_pages, v_pages, table, lengths, **causal)
    workspace, parts = build(graph), []
    places = {found.get_name(): found for found in pack}
    for begin in range(0, S, chunk):
        pack[places["q"]] = q[:, :, begin : begin + chunk].contiguous()
        pack[places["seq_len_kv"]] = torch.full_like(lengths["seq_len_kv"], begin + chunk)
        parts.append(torch.empty_like(first))
        graph.execute({**pack, o: parts[-1]}, workspace, handle=handle)
    close(torch.cat(parts, 2), expected(q, k, v, is_causal=True))


LOADER = """
import sys, cudnn, torch
device, target = sys.argv[1], sys.argv[2]
data, arrays = torch.load(sys.argv[3])
graph = cudnn.pygraph(target=target)
graph.deserialize(data)
arrays = {uid: x.to(device) for uid, x in arrays.items()}
arrays[3] = torch.empty_like(arrays[0])
graph.execute(arrays, torch.empty(graph.get_workspace_size(), device=device, dtype=torch.uint8))
torch.save(arrays[3].cpu(), sys.argv[3])
"""


def test_a_stored_graph_runs_in_another_process(handle, tmp_path):
    q, k, v = (random(B, H, S, D) for _ in range(3))
    graph = new_graph(handle)
    inputs = [graph.tensor_like(x).set_uid(uid) for uid, x in enumerate((q, k, v))]
    o, _ = graph.sdpa(*inputs, is_inference=True, attn_scale=SCALE)
    o.set_output(True).set_uid(3).set_dim(q.shape).set_stride(q.stride())
    build(graph)
    file = tmp_path / "graph"
    torch.save((bytes(graph.serialize()), dict(enumerate(x.cpu() for x in (q, k, v)))), file)
    subprocess.run([sys.executable, "-c", LOADER, DEVICE, "cuda" if ON_GPU else "cpu", file], check=True, timeout=300)
    close(torch.load(file).to(DEVICE), expected(q, k, v))


@pytest.mark.gpu
@pytest.mark.skipif(not ON_GPU, reason="there is no GPU")
def test_a_cuda_graph(handle):
    """The plan's kernels become nodes of a CUDA graph of the program's, which other memory is put into later."""
    runtime = pytest.importorskip("cuda.bindings.runtime", reason="cuda-bindings is not installed")
    q, k, v = (random(B, H, S, D) for _ in range(3))
    graph = new_graph(handle)
    inputs = [graph.tensor_like(x).set_uid(uid) for uid, x in enumerate((q, k, v))]
    o, _ = graph.sdpa(*inputs, is_inference=True, attn_scale=SCALE)
    o.set_output(True).set_uid(3).set_dim(q.shape).set_stride(q.stride())
    workspace, results = build(graph), [torch.empty_like(q) for _ in range(2)]
    pack = {uid: x.data_ptr() for uid, x in enumerate((q, k, v, results[0]))}

    def made(result):
        assert result[0] == runtime.cudaError_t.cudaSuccess, result[0]
        return result[1] if len(result) > 1 else None

    nodes = made(runtime.cudaGraphCreate(0))
    graph.populate_cuda_graph(handle, pack, workspace.data_ptr(), int(nodes))
    ready = made(runtime.cudaGraphInstantiate(nodes, 0))
    stream = torch.cuda.current_stream()
    made(runtime.cudaGraphLaunch(ready, stream.cuda_stream))
    stream.synchronize()
    close(results[0], expected(q, k, v))
    graph.update_cuda_graph(
        handle, {**pack, 0: k.data_ptr(), 3: results[1].data_ptr()}, workspace.data_ptr(), int(nodes)
    )
    made(runtime.cudaGraphExecUpdate(ready, nodes))
    made(runtime.cudaGraphLaunch(ready, stream.cuda_stream))
    stream.synchronize()
    close(results[1], expected(k, k, v))
    made(runtime.cudaGraphExecDestroy(ready))
    made(runtime.cudaGraphDestroy(nodes))
