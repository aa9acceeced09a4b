"""Tests the kernels for each instruction set of this machine, and compares their speed with PyTorch's, in one run on one core.

    python bench/cpu_kernels.py build/dev/bench/bench_cpu_attention [test program ...]

needs no package but torch, without which its columns stay empty. Programs of tests run first: attention_kernels_test and attention_test
of test/unit/cpu force each set of kernels that the machine has. GFLOP/s are those of processor time, the best of some runs, in
BFLOAT16, with b=1 h=8.
"""

import os
import subprocess
import sys

from processor_time import processor_seconds

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before the libraries count the cores

KERNELS = ("amx", "avx512_bf16")
HEADS = 8


def run_tests(programs):
    good = True
    for program in programs:
        done = subprocess.run([program], capture_output=True, text=True)
        lines = done.stdout.strip().splitlines()
        skipped = [line.strip() for line in lines if "this test is skipped" in line]
        print("\n".join([f"{os.path.basename(program)}: exit code {done.returncode}; {lines[-1] if lines else ''}"] + skipped))
        if done.returncode != 0:
            print("\n".join(lines[-60:]), done.stderr, f"killed by signal {-done.returncode}" if done.returncode < 0 else "")
            good = False
    return good


def our_rates(program, kernels):
    """GFLOP/s by (pass, tokens, width, causal)."""
    environment = {**os.environ, "SDPA_GRAPH_CPU_KERNELS": kernels}
    done = subprocess.run([program, "1", "--cpu-time", "--bf16"], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{program} with kernels for {kernels}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return {}
    if f"kernels for {kernels}," not in done.stdout:
        print(f"kernels for {kernels} do not run here: " + done.stdout.strip().splitlines()[0])
        return {}
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("forward", "backward"))]
    return {(row[0], int(row[1]), int(row[2]), row[4] == "yes"): float(row[6]) for row in rows}


def torch_rates(cases):
    try:
        import torch
    except ImportError as error:
        print(f"no columns of PyTorch: {error}")
        return {}
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print(f"torch {torch.__version__}")
    attention, rates = torch.nn.functional.scaled_dot_product_attention, {}
    for tokens, width, causal in cases:
        inputs = [torch.randn(1, HEADS, tokens, width, dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]
        output = attention(*inputs, is_causal=causal)
        gradient = torch.randn_like(output)
        operations = 4.0 * HEADS * tokens * tokens * width * (0.5 if causal else 1.0)
        runs = 3 if tokens > 1024 else 10
        with torch.no_grad():
            forward = processor_seconds(lambda: attention(*inputs, is_causal=causal), runs)
        backward = processor_seconds(lambda: torch.autograd.grad(output, inputs, gradient, retain_graph=True), runs)
        rates["forward", tokens, width, causal] = operations / forward / 1e9
        rates["backward", tokens, width, causal] = 2.5 * operations / backward / 1e9
    return rates


def text(rates, key):
    return f"{rates[key]:12.1f}" if key in rates else f"{'-':>12}"


def main():
    program, *tests = sys.argv[1:]
    good = run_tests(tests)
    ours = {kernels: our_rates(program, kernels) for kernels in KERNELS}
    cases = [(tokens, width, causal) for width in (64, 128) for tokens in (1024, 4096) for causal in (False, True)]
    theirs = torch_rates(cases)
    print(f"{'pass':9}{'s':>6}{'d':>5}  {'causal':7}" + "".join(f"{name:>12}" for name in (*KERNELS, "PyTorch", "ratio")))
    for direction in ("forward", "backward"):
        for tokens, width, causal in cases:
            key = direction, tokens, width, causal
            row = "".join(text(rates, key) for rates in (*ours.values(), theirs))
            best = next((rates[key] for rates in ours.values() if key in rates), None)
            ratio = f"{best / theirs[key]:12.2f}" if best and key in theirs else ""
            print(f"{direction:9}{tokens:6}{width:5}  {'yes' if causal else 'no':7}{row}{ratio}")
    return 0 if good else 1


sys.exit(main())
