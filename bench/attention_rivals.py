"""Times of attention by this library's engine, next to those of other programs, in one run on a GPU.

    python bench/attention_rivals.py [part of a row's name]...

needs sdpa_graph and torch; FA4 (flash-attn-4) is left out where it is not installed. BFLOAT16. The columns:

    ours    this library's engine `attention` for each row, even where the library would choose cuDNN
    cuDNN   its engines through this library, for the exact shape
    torch   scaled_dot_product_attention on its cuDNN path
    Flex    FlexAttention, compiled; block masks are made before and not counted
    FA4     flash_attn.cute

A cell has forward and backward. Times are of the GPU, of calls that a CUDA graph has recorded, medians in microseconds (gpu_time.py).
Forward also writes the sums that backward reads. Backward of torch, Flex and FA4 is the time of both passes without that of forward.
Results are compared with ours: 'wrong' is in place of a time where they are apart by more than 0.01, as norms. With dropout, whose numbers
differ between programs, the distance from attention without it is compared with its expected value. A dash is a pass that is not measured;
what failed follows below the table.
"""

import gc
import importlib.metadata
import math
import sys
from typing import NamedTuple

import sdpa_graph as cudnn
import torch
from gpu_time import recorded, times_in_turn
from sdpa_graph.score_modifiers import softcap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

cute, FA4 = None, ""
try:
    from flash_attn import cute

    FA4 = importlib.metadata.version("flash-attn-4")
except Exception as error:  # where it is not installed, or lacks a package: its column stays empty
    FA4 = f"{type(error).__name__}: {error}"

DEVICE = "cuda"
MOST_DIFFERENCE = 0.01  # of norms: of about three roundings of BFLOAT16
MOST_DIFFERENCE_OF_DROPOUT = 0.1  # of the expected distance
PASS_TENSORS = ("Q", "K", "V", "O", "Stats", "dO", "dQ", "dK", "dV")  # the first five are those of forward
OPTION_TENSORS = ("bias", "dBias", "documents of queries", "documents of keys", "prefix", "seed", "offset", "lengths")
STARTS = tuple(f"starts of {name}" for name in ("Q", "K", "V", "O", "Stats"))
UIDS = {name: uid for uid, name in enumerate((*PASS_TENSORS, *OPTION_TENSORS, *STARTS), 1)}
SAME_WIDTH = {"dO": "O", "dQ": "Q", "dK": "K", "dV": "V"}
GRADIENTS = {"dQ": "Q", "dK": "K", "dV": "V", "dBias": "bias"}
FLOAT, INT32, BOOLEAN = cudnn.data_type.FLOAT, cudnn.data_type.INT32, cudnn.data_type.BOOLEAN
BFLOAT16, INT64 = cudnn.data_type.BFLOAT16, cudnn.data_type.INT64
TYPES = {torch.bfloat16: BFLOAT16, torch.float32: FLOAT, torch.int32: INT32, torch.int64: INT64}


class Row(NamedTuple):
    """Attention of b sequences, h heads, s rows and d columns; the options are off where they are 0."""

    b: int
    h: int
    s: int
    d: int
    key_heads: int = 0  # where they are not h
    d_v: int = 0  # the head dim of V and O, where it is not d
    causal: bool = False
    window: int = 0  # keys that a query sees, up to its own
    bias: bool = False
    bias_gradient: bool = False
    dropout: float = 0.0
    softcap: float = 0.0
    documents: int = 0  # of a length
    packed: bool = False  # documents, one after the other, in place of a mask
    prefix: int = 0  # keys that all queries see, with a causal mask behind them
    deterministic: bool = False

    @property
    def name(self):
        heads = f"{self.h}/{self.key_heads}" if self.key_heads else f"{self.h}"
        columns = f"{self.d}/{self.d_v}" if self.d_v else f"{self.d}"
        options = {
            "causal": self.causal and not self.window,
            f"causal window of {self.window}": self.window,
            "bias": self.bias and not self.bias_gradient,
            "bias with dBias": self.bias_gradient,
            f"dropout {self.dropout}": self.dropout,
            "softcap": self.softcap,
            f"{self.documents} documents{' packed' if self.packed else ''}": self.documents,
            f"prefix of {self.prefix}": self.prefix,
            "deterministic": self.deterministic,
        }
        chosen = [text for text, is_on in options.items() if is_on] or ["plain"]
        return " ".join([f"b{self.b} h{heads} s{self.s} d{columns}", *chosen])

    @property
    def has_forward(self):
        """Whether no other row has the same one."""
        return not self.bias_gradient and not self.deterministic

    @property
    def is_plain(self):
        """Whether a causal mask is the only option."""
        return not (self.window or self.bias or self.dropout or self.softcap or self.documents or self.prefix)

    @property
    def document_length(self):
        return self.s // self.documents

    @property
    def scale(self):
        return 1 / math.sqrt(self.d)


SHORT = Row(4, 16, 2048, 128)
SPLIT = Row(4, 16, 2048, 192, d_v=128)
ROWS = [
    Row(2, 16, 8192, 128),
    Row(2, 16, 8192, 128, causal=True),
    Row(2, 32, 8192, 64),
    Row(2, 32, 8192, 64, causal=True),
    Row(1, 64, 8192, 128, key_heads=8, causal=True),
    SHORT,
    SHORT._replace(bias=True),
    SHORT._replace(bias=True, bias_gradient=True),
    SHORT._replace(dropout=0.1),
    SHORT._replace(softcap=30.0),
    SHORT._replace(documents=8),
    SHORT._replace(documents=8, packed=True),
    SHORT._replace(prefix=512),
    SHORT._replace(causal=True, window=256),
    SPLIT,
    SPLIT._replace(causal=True),
    Row(2, 16, 8192, 128, causal=True, deterministic=True),
]


class NotMeasured(Exception):
    """A program that has no form of the row."""


# Tensors are (batch, heads, rows, columns).


def tensors_of(row):
    torch.manual_seed(1)
    key_heads, d_v = row.key_heads or row.h, row.d_v or row.d
    dims = {"Q": (row.h, row.d), "K": (key_heads, row.d), "V": (key_heads, d_v), "dO": (row.h, d_v)}
    if row.bias:
        dims["bias"] = (row.h, row.s)
    make = lambda heads, d: torch.randn(row.b, heads, row.s, d, device=DEVICE, dtype=torch.bfloat16)  # noqa: E731
    return {name: make(*dim) for name, dim in dims.items()}


def rows_first(tensor):
    """The tensor as (batch, rows, heads, columns), in memory too."""
    return tensor.transpose(1, 2).contiguous()


def document_numbers(row):
    """The number of each token's document, (b, s)."""
    return (torch.arange(row.s, device=DEVICE, dtype=torch.int32) // row.document_length).repeat(row.b, 1)


def starts_of_documents(row, width=1):
    """Their first elements in memory of so many for a token, and the end."""
    return torch.arange(row.b * row.documents + 1, device=DEVICE, dtype=torch.int32) * (row.document_length * width)


# This library's engine, and cuDNN's engines through the library.


class Engine(NamedTuple):
    heuristics: list
    shapes: str  # a shape policy
    without: list  # parts of names of engines


OWN = Engine([cudnn.heur_mode.OPENSOURCE], "all_shapes", ["eng"])  # with which it runs all graphs that it can
CUDNN = Engine([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK], "exact", ["attention"])


def keep_where(graph, score, is_visible):
    hidden = graph.tensor_scalar(-math.inf)
    return graph.binary_select(score, hidden, is_visible.set_data_type(BOOLEAN), FLOAT).set_data_type(FLOAT)


def document_mask(of_queries, of_keys):
    return lambda graph, score: keep_where(graph, score, graph.cmp_eq(of_queries, of_keys, INT32))


def prefix_mask(lengths):
    """Keeps j <= i and j < prefix, by one comparison."""

    def modify(graph, score):
        row, column = (graph.gen_index(score, axis, INT32).set_data_type(INT32) for axis in (2, 3))
        seen = graph.add(row, graph.tensor_scalar(1), INT32).set_data_type(INT32)
        end = graph.max(seen, lengths, INT32).set_data_type(INT32)
        return keep_where(graph, score, graph.cmp_gt(end, column, INT32))

    return modify


class Description:
    """A graph of one pass of a row over tensors by name, which the caller binds by uid."""

    def __init__(self, row, tensors, handle):
        self.row = row
        self.tensors = tensors
        self.graph = cudnn.pygraph("attention", BFLOAT16, FLOAT, FLOAT, handle)
        self.known = {}

    def input(self, name):
        if name not in self.known:
            self.known[name] = self.laid_out(self.graph.tensor(dim=[1, 1, 1, 1]), name)
        return self.known[name]

    def laid_out(self, tensor, name):
        """The tensor as memory has it. Rows of packed tensors hold all heads, and dims one document."""
        memory = self.tensors[name]
        dim, stride = list(memory.shape), list(memory.stride())
        starts = f"starts of {SAME_WIDTH.get(name, name)}"
        if starts in self.tensors:
            length, (heads, columns) = self.row.document_length, dim[2:]
            dim = [self.row.b * self.row.documents, heads, length, columns]
            stride = [length * heads * columns, columns, heads * columns, 1]
            tensor.set_ragged_offset(self.input(starts))
        tensor.set_name(name).set_uid(UIDS[name]).set_data_type(TYPES[memory.dtype])
        return tensor.set_dim(dim).set_stride(stride)

    def options(self, is_backward):
        """The options of a pass."""
        row = self.row
        options = {"attn_scale": row.scale}
        if row.causal:
            options["diagonal_band_right_bound"] = 0
        if row.window:
            options["diagonal_band_left_bound"] = row.window
        if row.bias:
            options["bias"] = self.input("bias")
        if row.dropout:
            options["dropout"] = (row.dropout, self.input("seed"), self.input("offset"))
        if row.packed:
            lengths = self.input("lengths")
            options |= {"use_padding_mask": True, "seq_len_q": lengths, "seq_len_kv": lengths}
        elif row.documents:
            options["score_mod"] = document_mask(self.input("documents of queries"), self.input("documents of keys"))
        if row.prefix:
            options["score_mod"] = prefix_mask(self.input("prefix"))
        if row.softcap:
            options |= dict(zip(("score_mod", "score_mod_bprop"), softcap(row.softcap)[: 1 + is_backward]))
        return options

    def forward(self):
        inputs = [self.input(name) for name in ("Q", "K", "V")]
        results = self.graph.sdpa(*inputs, generate_stats=True, **self.options(False))
        return self.with_results(dict(zip(("O", "Stats"), results)))

    def backward(self):
        row, options = self.row, self.options(True)
        inputs = [self.input(name) for name in ("Q", "K", "V", "O", "dO", "Stats")]
        if row.packed:
            options |= dict.fromkeys(("max_total_seq_len_q", "max_total_seq_len_kv"), row.b * row.s)
        if row.bias_gradient:
            options["dBias"] = self.input("dBias").set_output(True)
        results = self.graph.sdpa_backward(*inputs, use_deterministic_algorithm=row.deterministic, **options)
        return self.with_results(dict(zip(("dQ", "dK", "dV"), results)))

    def with_results(self, results):
        for name, tensor in results.items():
            self.laid_out(tensor.set_output(True), name)
        return self.graph


class Graphs:
    """The graphs of a row on one engine, with its tensors."""

    is_second_both = False

    def __init__(self, row, tensors, handle, engine):
        self.row = row
        self.handle = handle
        self.engine = engine
        self.tensors = self.all_tensors(tensors)
        self.graphs = {}  # by pass, with their workspace

    def all_tensors(self, given):
        """The inputs, as the graph's memory has them, the results and what options read."""
        row = self.row
        found = {name: rows_first(tensor) if row.packed else tensor for name, tensor in given.items()}
        found["O"] = torch.zeros_like(found["dO"])
        found["Stats"] = torch.zeros([*found["O"].shape[:-1], 1], device=DEVICE, dtype=torch.float32)
        wanted = {name: of for name, of in GRADIENTS.items() if name != "dBias" or row.bias_gradient}
        found |= {name: torch.zeros_like(found[of]) for name, of in wanted.items()}
        integers = lambda x, *dim: torch.as_tensor(x, device=DEVICE).expand(dim).contiguous()  # noqa: E731
        if row.dropout:
            found |= {name: integers(5, 1, 1, 1, 1) for name in ("seed", "offset")}
        if row.prefix:
            found["prefix"] = integers(row.prefix, row.b, 1, 1, 1).to(torch.int32)
        if row.packed:
            sequences = row.b * row.documents
            found["lengths"] = integers(row.document_length, sequences, 1, 1, 1).to(torch.int32)
            for name in ("Q", "K", "V", "O", "Stats"):
                starts = starts_of_documents(row, math.prod(found[name].shape[-2:]))
                found[f"starts of {name}"] = starts.view(sequences + 1, 1, 1, 1)
        elif row.documents:
            found["documents of queries"] = document_numbers(row).view(row.b, 1, row.s, 1)
            found["documents of keys"] = document_numbers(row).view(row.b, 1, 1, row.s)
        return found

    def built(self, graph):
        graph.set_rewrites(cudnn.rewrite_policy.OFF)
        cudnn.set_shape_policy(self.engine.shapes)
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans(self.engine.heuristics)
        graph.deselect_engines(self.engine.without)
        graph.check_support()
        graph.build_plans()
        return graph, torch.empty(max(graph.get_workspace_size(), 1), device=DEVICE, dtype=torch.uint8)

    def run(self, part, names):
        if part not in self.graphs:
            self.graphs[part] = self.built(getattr(Description(self.row, self.tensors, self.handle), part)())
        graph, workspace = self.graphs[part]
        if self.handle:
            cudnn.set_stream(handle=self.handle, stream=torch.cuda.current_stream().cuda_stream)
        others = [name for name in self.tensors if name not in PASS_TENSORS]
        pack = {UIDS[name]: self.tensors[name] for name in (*names, *others)}
        graph.execute(pack, workspace, handle=self.handle)

    def forward(self):
        self.run("forward", PASS_TENSORS[:5])
        return [self.seen("O")]

    def second(self):
        self.run("backward", PASS_TENSORS)
        return [self.seen(name) for name in GRADIENTS if name in self.tensors]

    def seen(self, name):
        return self.tensors[name].transpose(1, 2) if self.row.packed else self.tensors[name]


# The other programs, as functions with gradients of torch.


class Function:
    """A function of Q, K and V. Its gradients are those of the bias, too, where the row asks for them."""

    is_second_both = True

    def __init__(self, row, tensors, function, bias=None, is_rows_first=False):
        arranged = rows_first if is_rows_first else torch.clone
        self.shown = (lambda x: x.transpose(1, 2)) if is_rows_first else (lambda x: x)
        self.inputs = [arranged(tensors[name]).requires_grad_() for name in ("Q", "K", "V")]
        self.gradient = arranged(tensors["dO"])
        self.function = function
        self.others = [bias] if row.bias_gradient else []

    def forward(self):
        return [self.shown(self.function(*self.inputs))]

    def second(self):
        found = torch.autograd.grad(self.function(*self.inputs), [*self.inputs, *self.others], self.gradient)
        return [*map(self.shown, found[:3]), *found[3:]]


def bias_of(row, tensors):
    return tensors["bias"].clone().requires_grad_(row.bias_gradient) if row.bias else None


def of_torch(row, tensors):
    if not (row.is_plain or row.bias or row.dropout) or row.deterministic:
        raise NotMeasured
    options = {"is_causal": row.causal, "scale": row.scale, "enable_gqa": row.key_heads > 0, "dropout_p": row.dropout}
    bias = bias_of(row, tensors)

    def attend(*inputs):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(*inputs, attn_mask=bias, **options)

    return Function(row, tensors, attend, bias)


def flex_mask(row):
    """Which keys are visible, or None for all, and whether that depends on the batch entry."""
    if row.documents:
        numbers = document_numbers(row)
        return (lambda b, h, q, k: numbers[b, q] == numbers[b, k]), True
    if row.prefix:
        return (lambda b, h, q, k: (k <= q) | (k < row.prefix)), False
    if row.window:
        return (lambda b, h, q, k: (k <= q) & (q - k < row.window)), False
    return ((lambda b, h, q, k: k <= q) if row.causal else None), False


def flex_score(row, bias):
    if row.bias:
        return lambda s, b, h, q, k: s + bias[b, h, q, k]
    return (lambda s, b, h, q, k: row.softcap * torch.tanh(s / row.softcap)) if row.softcap else None


def of_flex(row, tensors):
    if row.dropout or row.deterministic:
        raise NotMeasured
    torch._dynamo.reset()
    bias = bias_of(row, tensors)
    options = {"scale": row.scale, "enable_gqa": row.key_heads > 0, "score_mod": flex_score(row, bias)}
    visible, depends_on_batch = flex_mask(row)
    if visible is not None:
        batches = row.b if depends_on_batch else None
        options["block_mask"] = create_block_mask(visible, batches, None, row.s, row.s, device=DEVICE)
    function = torch.compile(flex_attention, dynamic=False) if DEVICE == "cuda" else flex_attention
    return Function(row, tensors, lambda *inputs: function(*inputs, **options), bias)


def of_fa4(row, tensors):
    if cute is None or not (row.is_plain or row.softcap or row.window or row.packed):
        raise NotMeasured
    options = {"softmax_scale": row.scale, "softcap": row.softcap, "deterministic": row.deterministic}
    options["causal"] = row.causal and not row.window
    if row.window:
        options["window_size"] = (row.window - 1, 0)
    if row.packed:
        starts, longest = starts_of_documents(row), row.document_length
        options |= {"cu_seqlens_q": starts, "cu_seqlens_k": starts, "max_seqlen_q": longest, "max_seqlen_k": longest}

    def attend(*inputs):
        if row.packed:
            inputs = [x.flatten(0, 1) for x in inputs]
        found = (cute.flash_attn_varlen_func if row.packed else cute.flash_attn_func)(*inputs, **options)
        o = found[0] if isinstance(found, (tuple, list)) else found
        return o.unflatten(0, (row.b, row.s)) if row.packed else o

    return Function(row, tensors, attend, is_rows_first=True)


# The measurements.

PASSES = {"forward": "forward", "second": "backward"}
COLUMNS = {
    "ours": lambda row, tensors, handle: Graphs(row, tensors, handle, OWN),
    "cuDNN": lambda row, tensors, handle: Graphs(row, tensors, handle, CUDNN),
    "torch": lambda row, tensors, handle: of_torch(row, tensors),
    "Flex": lambda row, tensors, handle: of_flex(row, tensors),
    "FA4": lambda row, tensors, handle: of_fa4(row, tensors),
}


def distance(found, expected):
    value = ((found.float() - expected.float()).norm() / expected.float().norm()).item()
    return value if math.isfinite(value) else math.inf


def are_right(row, found, expected):
    """Whether the results are those expected. Dropping weights moves each result by the same part of its norm."""
    distances = [distance(a, b) for a, b in zip(found, expected, strict=True)]
    if not row.dropout:
        return max(distances) <= MOST_DIFFERENCE
    dropped = math.sqrt(row.dropout / (1 - row.dropout))
    return all(abs(x / dropped - 1) <= MOST_DIFFERENCE_OF_DROPOUT for x in distances)


def first_line(error):
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


class Measured:
    """A row: its programs, recorded, and what became of them."""

    def __init__(self, row, handle):
        self.row = row
        self.programs = {}
        self.graphs = {}  # by column and pass
        self.wrong = set()
        self.failures = []
        self.expected = {}  # the first results of each pass: ours, where there are some
        tensors = tensors_of(row)
        if row.dropout:
            plain = Graphs(row._replace(dropout=0.0), tensors, handle, OWN)
            self.expected = {part: [x.clone() for x in getattr(plain, part)()] for part in PASSES}
        for column in COLUMNS:
            is_made = self.attempt(column, "", self.make, tensors, handle)
            for part in PASSES if is_made else ():
                if not self.attempt(column, part, self.record):
                    break

    def attempt(self, column, part, act, *arguments):
        try:
            act(column, part, *arguments)
        except NotMeasured:
            return False
        except Exception as error:  # of any program: the others may run
            self.failures.append(f"{self.row.name}, {column} {PASSES.get(part, '')}: {first_line(error)}")
            return False
        return True

    def make(self, column, part, tensors, handle):
        self.programs[column] = COLUMNS[column](self.row, tensors, handle)

    def record(self, column, part):
        call = getattr(self.programs[column], part)
        found = [x.detach() for x in call()]
        if part not in self.expected:
            self.expected[part] = [x.clone() for x in found]
            if column != "ours":
                self.failures.append(f"{self.row.name}: results of {PASSES[part]} are compared with those of {column}")
        if not are_right(self.row, found, self.expected[part]):
            self.wrong.add((column, part))
        del found
        self.graphs[column, part] = recorded(call)

    def cells(self):
        times = times_in_turn(self.graphs)
        return [self.cell(column, times) for column in COLUMNS]

    def cell(self, column, times):
        shown = {part: times.get((column, part)) for part in PASSES}
        if shown["second"] is not None and self.programs[column].is_second_both:
            shown["second"] -= shown["forward"]
        if not self.row.has_forward:
            shown["forward"] = None
        if not any(shown.values()):
            return "-"
        shown = {part: "-" if time is None else f"{time:,.0f}" for part, time in shown.items()}
        return " / ".join("wrong" if (column, part) in self.wrong else text for part, text in shown.items())


def cells_of(row, handle, failures):
    try:
        measured = Measured(row, handle)
        failures += measured.failures
        return measured.cells()
    except Exception as error:  # of our tensors, or of what ran before
        failures.append(f"{row.name}: {first_line(error)}")
        return ["-"] * len(COLUMNS)


def chosen_rows(words):
    """The rows whose names have one of the words as a part. Without words all."""
    chosen = [row for row in ROWS if not words or any(word in row.name for word in words)]
    if not chosen:
        names = "; ".join(row.name for row in ROWS)
        sys.exit(f"found no row whose name has {' or '.join(words)}; there are: {names}")
    return chosen


def line(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def main(arguments):
    rows = chosen_rows(arguments)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, cuDNN {cudnn.backend_version()}")
    print(f"flash-attn-4: {FA4}\nBFLOAT16, microseconds\n")
    line("forward / backward", *COLUMNS)
    line(*["---"] * (1 + len(COLUMNS)))
    handle, failures, wrong = cudnn.create_handle(), [], 0
    try:
        for row in rows:
            cells = cells_of(row, handle, failures)
            line(row.name, *cells)
            wrong += sum("wrong" in cell for cell in cells)
            gc.collect()
            torch.cuda.empty_cache()
    finally:  # also where the run is interrupted
        print("\n" + "\n".join(failures), flush=True)
    print(f"rows: {len(rows)}, cells with wrong results: {wrong}")
    return wrong == 0


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
