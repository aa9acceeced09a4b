"""Graphs that do not work, each after a report of users of cuDNN attention, for test_broken.py and docs/explain.md."""

import json
from typing import NamedTuple

from support.command import DEVICES, attention, backward_of, padded, tensor


class Broken(NamedTuple):
    name: str
    thread: str  # owner/repository#number
    symptom: str  # what a program asked for
    rule: str  # the cause
    fix: str  # the start of a change after which there is a plan; one of those that explain prints
    graph: dict
    target: str = "h100"


def half(**options):
    return attention(**{"queries": 512, "keys": 512, "heads": 8, "depth": 64, "data_type": "HALF", **options})


def add_input(graph, port, dim, data_type, **members):
    """Connects a new tensor to a port of the node."""
    place = f"t{len(graph['tensors'])}"
    graph["tensors"][place] = tensor(port, len(graph["tensors"]) + 1, dim, data_type=data_type, **members)
    graph["nodes"][0]["inputs"][port] = place
    return place


def add_output(graph, port, dim, data_type):
    place = add_input(graph, port, dim, data_type)
    del graph["nodes"][0]["inputs"][port]
    graph["nodes"][0]["outputs"][port] = place
    return place


def with_input(graph, port, dim, data_type, **members):
    add_input(graph, port, dim, data_type, **members)
    return graph


def with_output(graph, port, dim, data_type):
    add_output(graph, port, dim, data_type)
    return graph


def with_bias_gradient(graph, dim, data_type="HALF"):
    add_input(graph, "bias", dim, data_type)
    return with_output(graph, "dBias", dim, data_type)


def with_stats(graph, data_type):
    """Forward for training, whose program keeps Stats in that type."""
    graph["nodes"][0]["fields"]["generate_stats"] = True
    return with_output(graph, "Stats", (*graph["tensors"]["t0"]["dim"][:3], 1), data_type)


def changed(graph, place, **members):
    graph["tensors"][place].update(members)
    return graph


def ragged(graph, multiplier=1):
    """Packed sequences: the offset of each tensor counts so many elements as one."""
    graph = padded(graph)
    batches = graph["tensors"]["t0"]["dim"][0]
    for port in ("t0", "t1", "t2", "t3"):
        place = f"t{len(graph['tensors'])}"
        graph["tensors"][place] = tensor(f"offsets of {graph['tensors'][port]['name']}", len(graph["tensors"]) + 1,
                                         (batches + 1, 1, 1, 1), data_type="INT32")
        _, heads, rows, depth = graph["tensors"][port]["dim"]
        graph["tensors"][port].update(ragged_offset=place, stride=[heads * rows * depth, depth, heads * depth, 1])
        if multiplier != 1:
            graph["tensors"][port]["ragged_offset_multiplier"] = multiplier
    return graph


def ragged_backward(**fields):
    """Backward of packed sequences."""
    graph = padded(backward_of(half(batches=2, **fields)))
    for place in ("t0", "t1", "t2", "t3", "t5", "t6", "t7", "t8"):
        offsets = f"t{len(graph['tensors'])}"
        name = graph["tensors"][place]["name"]
        graph["tensors"][offsets] = tensor(f"offsets of {name}", len(graph["tensors"]) + 1, (3, 1, 1, 1), data_type="INT32")
        _, heads, rows, depth = graph["tensors"][place]["dim"]
        graph["tensors"][place].update(ragged_offset=offsets, stride=[heads * rows * depth, depth, heads * depth, 1])
    return graph


def paged(graph, page):
    """Keys and values in pages of so many rows."""
    graph = padded(graph)
    batches, _, keys, _ = graph["tensors"]["t1"]["dim"]
    pages = -(-keys // page)
    for port in ("t1", "t2"):
        _, heads, _, depth = graph["tensors"][port]["dim"]
        graph["tensors"][port] = tensor(graph["tensors"][port]["name"], graph["tensors"][port]["uid"],
                                        (batches * pages, heads, page, depth))
    for port in ("page_table_k", "page_table_v"):
        add_input(graph, port, (batches, 1, pages, 1), "INT32")
    graph["nodes"][0]["fields"]["max_seq_len_kv"] = keys
    return graph


def fp8(graph):
    """Forward of 8 bits, with the factors and the greatest magnitudes of its tensors."""
    for place in ("t0", "t1", "t2", "t3"):
        graph["tensors"][place]["data_type"] = "FP8_E4M3"
    for port in ("descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o"):
        add_input(graph, port, (1, 1, 1, 1), "FLOAT")
    for port in ("amax_s", "amax_o"):
        add_output(graph, port, (1, 1, 1, 1), "FLOAT")
    return graph


def rows_before_heads(graph):
    """Dims in PyTorch's order of (batch, rows, heads, head dim)."""
    for place in ("t0", "t1", "t2", "t3"):
        dim = graph["tensors"][place]["dim"]
        dim[1], dim[2] = dim[2], dim[1]
        graph["tensors"][place] = tensor(graph["tensors"][place]["name"], graph["tensors"][place]["uid"], dim)
    return graph


def without(graph, port):
    del graph["nodes"][0]["inputs"][port]
    return graph


def sink(graph, data_type="FLOAT"):
    return with_input(graph, "sink_token", (1, graph["tensors"]["t0"]["dim"][1], 1, 1), data_type)


def t4(folder):
    """A description of a T4, made of another GPU's."""
    device = json.loads((DEVICES / "a100.json").read_text())
    device["name"] = "t4"
    device["properties"].update(deviceName="Tesla T4", deviceVer=750, multiProcessorCount=40, maxThreadsPerSM=1024,
                                maxCtasPerSM=16, maxSharedMemoryPerBlockOptin=65536, totalGlobalMem=16 << 30)
    path = folder / "t4.json"
    path.write_text(json.dumps(device))
    return path


BROKEN = [
    Broken("turing", "karpathy/llm.c#761", "attention on a GPU of the Turing generation", "cudnn.s01",
           "plan it for another GPU", half(), "t4"),
    Broken("head-dim-20", "NVIDIA/Fuser#5846", "heads of 20 elements", "cudnn.s04", "head dim 20 -> 24", half(depth=20)),
    Broken("wide-heads-in-backward", "NVIDIA/TransformerEngine#1610", "training with heads of 192 on an A100", "cudnn.s05",
           "plan it for another GPU, h100", backward_of(half(depth=192)), "a100"),
    Broken("bias-gradient-of-one-row", "NVIDIA/cudnn-frontend#147", "the gradient of a bias that all rows share",
           "cudnn.s12", "repeat the rows", with_bias_gradient(backward_of(half()), (1, 8, 1, 512))),
    Broken("float-mask-with-gradient", "pytorch/pytorch#191612", "a mask of FLOAT where Q is HALF, and its gradient",
           "cudnn.s13", "give bias and dBias the type HALF", with_bias_gradient(backward_of(half()), (1, 8, 512, 512), "FLOAT")),
    Broken("half-stats", "NVIDIA/cudnn-frontend#690", "Stats of 16 bits for backward", "sdpa_bwd.c13",
           "give Stats the type FLOAT", changed(backward_of(half()), "t4", data_type="HALF")),
    Broken("token-offsets", "NVIDIA/cudnn-frontend#737", "ragged offsets that count tokens", "cudnn.s70",
           "count elements", ragged(half(batches=2), 512)),
    Broken("one-dim-lengths", "flashinfer-ai/flashinfer#3784", "lengths as tensors of one dim", "sdpa_fwd.c01",
           "give seq_len_q the dims [2, 1, 1, 1]",
           changed(changed(padded(half(batches=2)), "t4", dim=[2], stride=[1]), "t5", dim=[2], stride=[1])),
    Broken("running-totals", "NVIDIA/cudnn-frontend#266", "running totals in the place of lengths", "sdpa_fwd.c23",
           "pass seq_len_q and seq_len_kv by set_cu_seq_len_q()",
           changed(changed(padded(half(batches=2)), "t4", dim=[3, 1, 1, 1]), "t5", dim=[3, 1, 1, 1]), "cpu"),
    Broken("one-length", "microsoft/onnxruntime#28849", "a padding mask with the lengths of keys alone", "sdpa_fwd.c21",
           "pass seq_len_q, INT32", without(padded(half(batches=2)), "seq_len_q")),
    Broken("fp8-wide-heads", "NVIDIA/cudnn-frontend#897", "FP8 with heads of 512", "cudnn.s41",
           "make Q, K, V and the results HALF", fp8(half(depth=512))),
    Broken("fp8-on-ampere", "pytorch/pytorch#182919", "FP8 on an A100", "cudnn.s40", "make Q, K, V and the results HALF",
           fp8(half(depth=128)), "a100"),
    Broken("fp8-with-half-result", "vllm-project/vllm#45251", "FP8 with a result of 16 bits on an H100", "cudnn.s42",
           "give O the type FP8_E4M3", changed(fp8(half(depth=128)), "t3", data_type="BFLOAT16")),
    Broken("half-sink", "ml-explore/mlx#3118", "a sink token in the type of Q", "cudnn.s37",
           "give sink_token the type FLOAT", sink(half(), "HALF")),
    Broken("decode-with-sink", "NVIDIA/cudnn-frontend#1095", "a sink in a decode step over pages", "cudnn.s89",
           "give Q and O a second row", sink(paged(half(batches=2, queries=1, key_heads=2), 16))),
    Broken("rows-before-heads", "NVIDIA/cudnn-frontend#184", "dims in the order batch, rows, heads", "sdpa_fwd.c04",
           "swap dims 1 and 2", rows_before_heads(half(queries=500, keys=300))),
    Broken("other-half-result", "NVIDIA/cudnn-frontend#414", "a BFLOAT16 result of HALF inputs", "cudnn.s74",
           "give O the type HALF", changed(half(implementation="UNIFIED"), "t3", data_type="BFLOAT16")),
    Broken("float-inputs", "NVIDIA/cudnn-frontend#424", "the unified implementation in FLOAT", "cudnn.s83",
           "call set_implementation(AUTO)", half(data_type="FLOAT", implementation="UNIFIED")),
    Broken("stats-in-base-2", "flashinfer-ai/flashinfer#4663", "Stats in base 2, for merging", "cudnn.s92",
           "read Stats as natural logarithms", with_stats(half(stats_use_log2=True), "FLOAT")),
    Broken("deterministic", "NVIDIA/TransformerEngine#2798", "deterministic gradients of packed sequences on an RTX 5090",
           "cudnn.s24", "do without the deterministic algorithm", ragged_backward(deterministic=True), "rtx5090"),
    Broken("boolean-mask", "huggingface/diffusers#14342", "a mask of booleans", "sdpa_fwd.c20", "give bias the type HALF",
           with_input(half(), "bias", (1, 1, 512, 512), "BOOLEAN")),
    Broken("window-of-zero", "flashinfer-ai/flashinfer#5286", "a left bound of 0, which does not count the token itself",
           "sdpa_fwd.c26", "set the left bound to 1", half(left_bound=0, right_bound=0)),
    Broken("gradient-in-another-layout", "pytorch/pytorch#134001", "dO with strides that are not those of O",
           "sdpa_bwd.c02", "copy dO", changed(backward_of(half()), "t5", stride=[262144, 32768, 1, 512])),
    Broken("missing-strides", "NVIDIA/cudnn-frontend#168", "an input without strides", "graph.c05",
           "set the strides of Q", changed(half(), "t0", stride=[])),
    Broken("many-faults", "openxla/xla#11129", "four faults at once, of which an error shows the first",
           "sdpa_fwd.c04", "give K and V as many heads",
           changed(changed(padded(half(heads=8, key_heads=3, dropout_probability=0.1)), "t4", data_type="FLOAT"), "t5", uid=5)),
]
