"""Times of the Python package: execute() next to the call from C++, and attention with gradients next to torch's own.

    python bench/python_speed.py build/release/bench/cudnn/bench_cudnn_execute [folder]

needs sdpa_graph and torch. The folder has the existing package (pip install --target <folder> nvidia-cudnn-frontend): its
execute() is then timed too, by the same program in a process of its own. With a GPU, attention is compared with torch's
cuDNN path; without one only the times of calls mean something, which are then those of a CPU target. Times are medians,
in microseconds.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import cudnn
import torch
from gpu_time import gpu_time
from torch.nn.attention import SDPBackend, sdpa_kernel

ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
ROUNDS, CALLS_OF_ROUND = 200, 20


def wait():
    if ON_GPU:
        torch.cuda.synchronize()


def call_time(call, rounds=ROUNDS):
    """The time of the calling thread, while the GPU's queue is neither empty nor full."""
    times = []
    for index in range(rounds * CALLS_OF_ROUND):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
        if index % CALLS_OF_ROUND == 0:
            wait()
    wait()
    return statistics.median(times) * 1e6


def built_graph(tokens, handle):
    graph = cudnn.pygraph(
        io_data_type=cudnn.data_type.HALF,
        intermediate_data_type=cudnn.data_type.FLOAT,
        compute_data_type=cudnn.data_type.FLOAT,
        **({"handle": handle} if ON_GPU else {"target": "cpu:1"}),
    )
    tensors = [graph.tensor([1, 1, tokens, 64], [64 * tokens, 64 * tokens, 64, 1], uid=uid) for uid in range(3)]
    o, _ = graph.sdpa(*tensors, generate_stats=False, attn_scale=0.125)
    o.set_output(True).set_uid(3).set_dim([1, 1, tokens, 64]).set_stride([64 * tokens, 64 * tokens, 64, 1])
    graph.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    return graph


def execute_times():
    """Times of the package `cudnn` that this process imported, by the form of the call."""
    tokens = 128 if ON_GPU else 1
    handle = cudnn.create_handle() if ON_GPU else None
    if ON_GPU:
        cudnn.set_stream(handle=handle, stream=torch.cuda.current_stream().cuda_stream)
    graph = built_graph(tokens, handle)
    tensors = {uid: torch.zeros(1, 1, tokens, 64, device=DEVICE, dtype=torch.half) for uid in range(4)}
    workspace = torch.empty(max(graph.get_workspace_size(), 1), device=DEVICE, dtype=torch.uint8)
    addresses = {uid: tensor.data_ptr() for uid, tensor in tensors.items()}
    pointers = [addresses[uid] for uid in graph._get_variant_pack_uids_sorted()]
    place = workspace.data_ptr()
    return {
        "with addresses": call_time(lambda: graph.execute(addresses, place, handle)),
        "with tensors": call_time(lambda: graph.execute(tensors, workspace, handle)),
        "_execute_with_ptrs": call_time(lambda: graph._execute_with_ptrs(pointers, place, handle)),
    }


def existing_packages_times(folder):
    paths = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-B", __file__, "--execute"]
    environment = {**os.environ, "PYTHONPATH": paths}
    called = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if called.returncode:
        print(f"the existing package in {folder} did not run:\n{called.stderr}")
        return {}
    return json.loads(called.stdout)


def compare_execute(program, folder):
    theirs = existing_packages_times(folder) if folder else {}
    called = subprocess.run([program, *([] if ON_GPU else ["cpu"])], capture_output=True, text=True, check=True)
    base = float(called.stdout)
    print(f"execute, from C++        {base:8.2f}")
    for name, found in execute_times().items():
        existing = f"   existing package {theirs[name]:6.2f}" if name in theirs else ""
        print(f"execute, {name:18s}{found:6.2f}   {found - base:+.2f}{existing}")


def torchs_own(*inputs):
    if not ON_GPU:
        return torch.nn.functional.scaled_dot_product_attention(*inputs)
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(*inputs)


def compare_attention(batch, heads, tokens, size):
    from sdpa_graph.torch import scaled_dot_product_attention

    kind = torch.half if ON_GPU else torch.float
    make = lambda: torch.randn(batch, heads, tokens, size, device=DEVICE, dtype=kind)  # noqa: E731
    inputs, grad = [make().requires_grad_() for _ in range(3)], make()
    print(f"\nattention, b={batch}, {heads} heads, d={size}, s={tokens}")
    for name, attend in (("ours", scaled_dot_product_attention), ("torch", torchs_own)):

        def forward(attend=attend):
            return attend(*inputs)

        def both(attend=attend):
            return torch.autograd.grad(attend(*inputs), inputs, grad)

        for _ in range(20):
            both()
        time.sleep(2)  # the plan of a shape that comes often is made in the background
        for _ in range(3):
            both()
        rounds = 20 if tokens < 2048 else 2
        calls = f"calls: forward {call_time(forward, rounds):8.1f}, with backward {call_time(both, rounds):8.1f}"
        if ON_GPU:
            alone, all_of_it = gpu_time(forward), gpu_time(both)
            calls += f"; GPU: forward {alone:9.1f}, backward {all_of_it - alone:9.1f}"
        print(f"  {name:6s}{calls}")


def main():
    if sys.argv[1] == "--execute":
        print(json.dumps(execute_times()))
        return
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name() if ON_GPU else 'no GPU'}")
    compare_execute(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
    for tokens in (512, 8192) if ON_GPU else (4,):
        compare_attention(8, 16, tokens, 128) if ON_GPU else compare_attention(1, 2, tokens, 16)


if __name__ == "__main__":
    main()
