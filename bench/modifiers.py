"""Times of attention with score modifiers next to PyTorch's FlexAttention with the same ones, in one run on a GPU.

    build/release/bench/bench_modifier_graphs FOLDER      writes the graphs of the modifiers, and what they read
    python bench/modifiers.py FOLDER [part of a name]...
    python bench/modifiers.py engines FOLDER [part of a name]...      cuDNN's engines next to the library's own

needs sdpa_graph and torch. Times are of the GPU, of calls that a CUDA graph has recorded, medians in microseconds; of FlexAttention's
backward, what both passes take without forward. FlexAttention gets a block mask where the modifier is a mask, which is made before
and not counted. Both results are compared, so that no ratio is of wrong numbers. A modifier that fails prints its error, and the
next one follows.
"""

import json
import math
import pathlib
import sys
from typing import NamedTuple

import sdpa_graph as cudnn
import torch
from gpu_time import gpu_time
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

MOST_DIFFERENCE = 0.01  # of norms: of about three roundings of BFLOAT16
SCALE = 0.25  # that of the graphs
UIDS = {"Q": 1, "K": 2, "V": 3, "O": 4, "Stats": 5, "dO": 6, "dQ": 7, "dK": 8, "dV": 9}
TYPES = {"FLOAT": torch.float32, "INT32": torch.int32, "BFLOAT16": torch.bfloat16}
HEURISTICS = [cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK]


# FlexAttention's form of each modifier: of the score s at b, h, q, k, and of what is visible there. t are the tensors that the graph
# reads, in its order.


class Flex(NamedTuple):
    score: object = None
    mask: object = None


def buckets(t, h, distance):
    bias = t[0][0, h, 0, 0]
    for number in range(1, 6):
        bias = torch.where(distance < 2**number, bias, t[number][0, h, 0, 0])
    return bias


def same_document(t, b, h, q, k):
    return t[0][b, 0, q, 0] == t[1][b, 0, 0, k]


def cap(t, s, b, h, q, k):
    return 2 * torch.tanh(s / 2)


def alibi(t, s, b, h, q, k):
    return s - t[0][0, h, 0, 0] * (q - k).abs()


def kerple(t, s, b, h, q, k):
    slope = t[0][0, h, 0, 0]
    return s - slope * torch.log(slope * (q - k).abs() + 1)


def image_neighbors(t, b, h, q, k):
    return ((q % 8 - k % 8).abs() <= 2) & (((q - q % 8) - (k - k % 8)).abs() <= 16)


def past_or_future(t, b, h, q, k):
    return ((h % 2 == 0) & (k <= q)) | ((h % 2 == 1) & (k >= q))


FLEX = {
    "relative position bias": Flex(lambda t, s, b, h, q, k: s + t[0][0, h, q, k]),
    "T5 buckets": Flex(lambda t, s, b, h, q, k: s + buckets(t, h, (q - k).abs())),
    "ALiBi": Flex(alibi),
    "KERPLE": Flex(kerple),
    "distance times a factor": Flex(lambda t, s, b, h, q, k: s - 0.02 * (q - k)),
    "Gaussian decay": Flex(lambda t, s, b, h, q, k: s - (0.1 * (q - k)) * (0.1 * (q - k))),
    "cosine of the distance": Flex(lambda t, s, b, h, q, k: s + torch.cos(0.2 * (q - k))),
    "noise from a table": Flex(lambda t, s, b, h, q, k: s + t[0][0, 0, q, k]),
    "penalties of keys": Flex(lambda t, s, b, h, q, k: s + t[0][b, 0, 0, k]),
    "regions of shifted windows": Flex(
        lambda t, s, b, h, q, k: s + torch.where(t[0][0, 0, q, 0] == t[1][0, 0, 0, k], 0.0, -100.0)
    ),
    "softcap": Flex(cap),
    "temperature of each head": Flex(lambda t, s, b, h, q, k: s * t[0][0, h, 0, 0]),
    "logarithm of the length": Flex(lambda t, s, b, h, q, k: s * (torch.log(q + 2.0) * 0.4)),
    "product of two temperatures": Flex(lambda t, s, b, h, q, k: s * t[0][0, h, 0, 0] * t[1][0, 0, q, 0]),
    "sigmoid": Flex(lambda t, s, b, h, q, k: 4 * torch.sigmoid(s)),
    "clip": Flex(lambda t, s, b, h, q, k: s.clamp(-1, 1)),
    "documents": Flex(mask=same_document),
    "prefix": Flex(mask=lambda t, b, h, q, k: (k <= q) | (k < t[0][b, 0, 0, 0])),
    "causal, bottom right": Flex(mask=lambda t, b, h, q, k: k <= q),
    "checkerboard": Flex(mask=lambda t, b, h, q, k: (q + k) % 2 == 0),
    "dilated window": Flex(mask=lambda t, b, h, q, k: ((q - k).abs() < 24) & ((q - k).abs() % 3 == 0)),
    "windows of heads": Flex(mask=lambda t, b, h, q, k: (k <= q) & (q - k < t[0][0, h, 0, 0])),
    "window and global tokens": Flex(mask=lambda t, b, h, q, k: (q < 3) | (k < 3) | ((q - k).abs() < 10)),
    "window and first tokens": Flex(mask=lambda t, b, h, q, k: (k <= q) & ((k < 4) | (q - k < 12))),
    "past or future by head": Flex(mask=past_or_future),
    "causal chunks": Flex(mask=lambda t, b, h, q, k: (k <= q) & (q - q % 16 == k - k % 16)),
    "neighbors in an image": Flex(mask=image_neighbors),
    "tree by a table": Flex(mask=lambda t, b, h, q, k: t[0][0, 0, q, k] == 1),
    "tree by intervals": Flex(mask=lambda t, b, h, q, k: (k <= q) & (q < t[0][0, 0, 0, k])),
    "documents, capped": Flex(cap, same_document),
    "ALiBi in a window": Flex(alibi, lambda t, b, h, q, k: (k <= q) & (q - k < 20)),
}


class Graphs:
    """The two graphs of a modifier, with random tensors and those that it reads."""

    def __init__(self, folder, handle, without=()):
        self.handle = handle
        self.without = list(without)  # parts of names of engines
        described = self.described(folder / "backward.json")
        torch.manual_seed(1)
        self.tensors = {
            uid: torch.randn(tensor["dim"], device="cuda").to(TYPES[tensor.get("data_type", "BFLOAT16")])
            for uid, tensor in described.items()
            if uid in UIDS.values()
        }
        self.tables = []
        for path in sorted(folder.glob("*.bin"), key=lambda path: int(path.stem)):
            tensor = described[int(path.stem)]
            elements = torch.frombuffer(bytearray(path.read_bytes()), dtype=TYPES[tensor["data_type"]])
            self.tables.append(elements.view(tensor["dim"]).cuda())
            self.tensors[int(path.stem)] = self.tables[-1]
        self.forward_graph, self.backward_graph = (self.built(folder / f"{name}.json") for name in ("forward", "backward"))

    @staticmethod
    def described(path):
        """The tensors with uids, as the graph describes them. Gradients have the dims of what they are of."""
        tensors = json.loads(path.read_text())["tensors"].values()
        found = {tensor["uid"]: dict(tensor) for tensor in tensors if "uid" in tensor}
        q_dim, k_dim = found[UIDS["Q"]]["dim"], found[UIDS["K"]]["dim"]
        for name, dim in {"dQ": q_dim, "dK": k_dim, "dV": k_dim}.items():
            found[UIDS[name]].setdefault("dim", dim)
        return found

    def built(self, path):
        graph = cudnn.pygraph(handle=self.handle)
        graph.deserialize(path.read_text())
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans(HEURISTICS)
        graph.deselect_engines(self.without)
        graph.check_support()
        graph.build_plans()
        return graph, torch.empty(graph.get_workspace_size(), device="cuda", dtype=torch.uint8)

    def run(self, graph, names):
        graph, workspace = graph
        cudnn.set_stream(handle=self.handle, stream=torch.cuda.current_stream().cuda_stream)
        uids = [UIDS[name] for name in names]
        pack = {uid: tensor for uid, tensor in self.tensors.items() if uid in uids or uid not in UIDS.values()}
        graph.execute(pack, workspace, handle=self.handle)

    def forward(self):
        self.run(self.forward_graph, ("Q", "K", "V", "O", "Stats"))

    def backward(self):
        self.run(self.backward_graph, UIDS)

    def of(self, *names):
        return [self.tensors[UIDS[name]] for name in names]

    def plans(self):
        return ", ".join(graph.get_plan_name_at_index(0) for graph, _ in (self.forward_graph, self.backward_graph))


class Theirs:
    """FlexAttention with the same tensors."""

    def __init__(self, flex, graphs):
        torch._dynamo.reset()
        tables = graphs.tables
        self.inputs = [tensor.clone().requires_grad_() for tensor in graphs.of("Q", "K", "V")]
        (self.gradient,) = graphs.of("dO")
        self.options = {"scale": SCALE}
        if flex.score is not None:
            self.options["score_mod"] = lambda s, b, h, q, k: flex.score(tables, s, b, h, q, k)
        if flex.mask is not None:
            (b, h, queries, _), keys = self.inputs[0].shape, self.inputs[1].shape[2]
            visible = lambda b, h, q, k: flex.mask(tables, b, h, q, k)  # noqa: E731
            self.options["block_mask"] = create_block_mask(visible, b, h, queries, keys, device="cuda")
        self.function = torch.compile(flex_attention, dynamic=False)

    def forward(self):
        return self.function(*self.inputs, **self.options)

    def both(self):
        return torch.autograd.grad(self.forward(), self.inputs, self.gradient)


def difference(found, expected):
    value = ((found.float() - expected.float()).norm() / expected.float().norm()).item()
    return value if math.isfinite(value) else math.inf


def line(name, part, ours="", theirs="", ratio="", verdict="", plans=""):
    print(f"{name:28s} {part:9s} {ours:>8s} {theirs:>8s} {ratio:>6s} {verdict:18s} {plans}", flush=True)


def compare(name, folder, handle):
    """Whether the numbers agree."""
    graphs = Graphs(folder, handle)
    theirs = Theirs(FLEX[name], graphs)
    graphs.forward()
    graphs.backward()
    apart = [difference(*graphs.of("O"), theirs.forward())]
    apart.append(max(difference(a, b) for a, b in zip(graphs.of("dQ", "dK", "dV"), theirs.both())))
    their_forward = gpu_time(theirs.forward)
    their_times = their_forward, gpu_time(theirs.both) - their_forward
    our_times = gpu_time(graphs.forward), gpu_time(graphs.backward)
    for part, ours, other, error in zip(("forward", "backward"), our_times, their_times, apart):
        verdict = f"{'WRONG' if error > MOST_DIFFERENCE else 'apart by'} {error:.4f}"
        line(name, part, f"{ours:.0f}", f"{other:.0f}", f"{ours / other:.2f}", verdict, graphs.plans())
    return max(apart) <= MOST_DIFFERENCE


def compare_engines(name, folder, handle):
    both = [Graphs(folder, handle, without) for without in (["attention"], ["eng"])]
    for part in ("forward", "backward"):
        for graphs in both:
            getattr(graphs, part)()
        cudnn_time, own_time = (gpu_time(getattr(graphs, part)) for graphs in both)
        line(name, part, f"{cudnn_time:.0f}", f"{own_time:.0f}", f"{own_time / cudnn_time:.2f}", "", both[0].plans())
    return True


def main(arguments):
    has_engines = arguments[:1] == ["engines"]
    arguments = arguments[1:] if has_engines else arguments
    if not arguments:
        sys.exit("modifiers.py: expected the folder that bench_modifier_graphs has written")
    folders = {path.name.split("-", 1)[1]: path for path in sorted(pathlib.Path(arguments[0]).iterdir())}
    chosen = [name for name in folders if not arguments[1:] or any(part in name for part in arguments[1:])]
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, BFLOAT16, microseconds")
    line("modifier", "", *(("cuDNN", "own", "ratio") if has_engines else ("ours", "Flex", "ratio")), "", "plans")
    measure = compare_engines if has_engines else compare
    handle, failed = cudnn.create_handle(), 0
    for name in chosen:
        try:
            failed += not measure(name, folders[name], handle)
        except Exception as error:  # of either side: the next modifier may run
            failed += 1
            line(name, f"failed: {type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}")
    print(f"{len(chosen)} modifiers, {failed} failed or wrong")
    return failed == 0


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
