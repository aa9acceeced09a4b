"""Times of sdpa_graph.natten next to PyTorch's FlexAttention over the same windows, in one run on a GPU.

    python bench/natten_speed.py [name of a shape, or part of names...]
    python bench/natten_speed.py check                         small shapes on the host: numbers, and no times

needs sdpa_graph and torch. FlexAttention gets a block mask and, beyond one dimension, tokens in the order of tiles of 128, which is
made before and not counted. Times are of the GPU, of calls that a CUDA graph has recorded, medians in microseconds. Both results are
compared, so that no ratio is of wrong numbers. A shape takes about ten seconds, mostly to compile FlexAttention.
"""

import dataclasses
import math
import sys

import torch
from gpu_time import gpu_time
from sdpa_graph import natten
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

MOST_DIFFERENCE = 0.01  # of norms: of about three roundings of BFLOAT16
TILES = {1: (128,), 2: (8, 16), 3: (4, 4, 8)}


@dataclasses.dataclass
class Shape:
    name: str
    batch: int
    heads: int
    space: tuple  # powers of two, as are tiles and dilations
    kernel: int
    width: int
    dilation: int = 1
    wanted: tuple = (1.0, 1.0)  # forward and backward, as parts of FlexAttention's times

    @property
    def tokens(self):
        return math.prod(self.space)

    def attend(self, query, key, value):
        function = getattr(natten, f"na{len(self.space)}d")
        return function(query, key, value, self.kernel, self.dilation)


SHAPES = [
    Shape("1d 16384, k=257", 2, 16, (16384,), 257, 64, wanted=(0.9, 0.75)),
    Shape("1d 16384, k=2049", 2, 16, (16384,), 2049, 64, wanted=(0.9, 0.75)),
    Shape("1d 16384, k=257, dilation 8", 2, 16, (16384,), 257, 64, 8, wanted=(1 / 6, 1 / 6)),
    Shape("2d 64x64, k=7", 8, 12, (64, 64), 7, 64, wanted=(0.6, 1.0)),
    Shape("2d 64x64, k=31", 8, 12, (64, 64), 31, 64, wanted=(0.6, 1.0)),
    Shape("2d 64x64, k=7, dilation 4", 8, 12, (64, 64), 7, 64, 4, wanted=(0.6, 1.0)),
    Shape("2d 128x128, k=13, d=128", 2, 16, (128, 128), 13, 128),
    Shape("3d 16x32x32, k=7, d=128", 1, 24, (16, 32, 32), 7, 128),
    Shape("3d 16x32x32, k=15, d=128", 1, 24, (16, 32, 32), 15, 128),
]
SMALL_SHAPES = [
    Shape("1d 512, k=33", 1, 2, (512,), 33, 16),
    Shape("1d 512, k=33, dilation 8", 1, 2, (512,), 33, 16, 8),
    Shape("1d 512, k=6", 1, 2, (512,), 6, 16),
    Shape("2d 16x32, k=7", 2, 2, (16, 32), 7, 16),
    Shape("2d 16x32, k=3, dilation 4", 2, 2, (16, 32), 3, 16, 4),
    Shape("3d 8x8x16, k=5", 1, 2, (8, 8, 16), 5, 16),
    Shape("3d 8x8x16, k=3, dilation 2", 1, 2, (8, 8, 16), 3, 16, 2),
]


# FlexAttention: tokens in the order of tiles, and which keys are visible to which queries in that order.


def tile_order(shape, device):
    """Which token each place of the order has."""
    axes = len(shape.space)
    tokens = torch.arange(shape.tokens, device=device)
    split = [part for length, tile in zip(shape.space, TILES[axes]) for part in (length // tile, tile)]
    return tokens.view(split).permute(*range(0, 2 * axes, 2), *range(1, 2 * axes, 2)).flatten()


def coordinates(axes, place):
    """The coordinates of the token at that place of the order, axis by axis. Shifts are cheaper than divisions on GPUs."""
    found = []
    rest, tile_number = place, place >> 7
    for length, tile in axes:
        tiles = length // tile
        found.append((tile_number & (tiles - 1)) * tile + (rest & (tile - 1)))
        rest, tile_number = rest >> (tile.bit_length() - 1), tile_number >> (tiles.bit_length() - 1)
    return found


def window_mask(shape):
    """Along each axis a query sees k tokens of its dilation group, around itself except at borders."""
    kernel, dilation, shift = shape.kernel, shape.dilation, shape.dilation.bit_length() - 1
    axes = list(zip(shape.space, TILES[len(shape.space)]))[::-1]  # the innermost first

    def sees(batch, head, query, key):
        seen = query >= 0
        for (length, _), q, k in zip(axes, coordinates(axes, query), coordinates(axes, key)):
            first = ((q >> shift) - kernel // 2).clamp(0, (length >> shift) - kernel)
            distance = (k >> shift) - first
            seen = seen & (distance >= 0) & (distance < kernel)
            if dilation > 1:
                seen = seen & (((q ^ k) & (dilation - 1)) == 0)
        return seen

    return sees


class Flex:
    """FlexAttention of a shape's tokens, with tensors of its own."""

    def __init__(self, shape, tensors, device):
        self.order = tile_order(shape, device)
        self.shape = shape
        self.inputs = [self.permuted(tensor).requires_grad_(device == "cuda") for tensor in tensors[:3]]
        self.grad = self.permuted(tensors[3])
        torch._dynamo.reset()
        self.function = torch.compile(flex_attention, dynamic=False) if device == "cuda" else flex_attention
        self.mask = create_block_mask(window_mask(shape), None, None, shape.tokens, shape.tokens, device=device)

    def permuted(self, tensor):
        rows = tensor.detach().flatten(1, -3)[:, self.order]
        return rows.transpose(1, 2).contiguous()

    def restored(self, tensor):
        rows = torch.empty_like(tensor.transpose(1, 2))
        rows[:, self.order] = tensor.transpose(1, 2)
        return rows.view(self.shape.batch, *self.shape.space, self.shape.heads, self.shape.width)

    def forward(self):
        return self.function(*self.inputs, block_mask=self.mask)

    def both(self):
        return torch.autograd.grad(self.forward(), self.inputs, self.grad)


class Ours:
    def __init__(self, shape, tensors):
        self.shape = shape
        self.inputs = [tensor.detach().requires_grad_() for tensor in tensors[:3]]
        self.grad = tensors[3]

    def forward(self):
        return self.shape.attend(*self.inputs)

    def both(self):
        return torch.autograd.grad(self.forward(), self.inputs, self.grad)


# The measurements.


def times(attention):
    forward = gpu_time(attention.forward)
    return forward, gpu_time(attention.both) - forward


def difference(found, expected):
    return ((found.float() - expected.float()).norm() / expected.float().norm()).item()


def differences(ours, flex, with_gradients):
    """The difference of the output, and the largest of those of the gradients."""
    found = [difference(ours.forward(), flex.restored(flex.forward()))]
    if with_gradients:
        found.append(max(difference(a, flex.restored(b)) for a, b in zip(ours.both(), flex.both())))
    return found


def tensors_of(shape, device, dtype):
    torch.manual_seed(1)
    return [
        torch.randn(shape.batch, *shape.space, shape.heads, shape.width, device=device, dtype=dtype) for _ in range(4)
    ]


def line(name, part, found, ours="", flex="", ratio="", wanted="", verdict=""):
    print(f"{name:28s} {part:9s} {ours:>9s} {flex:>9s} {ratio:>6s} {wanted:>6s} {verdict:7s} {found}", flush=True)


def compare(shape):
    """Whether the numbers agree."""
    tensors = tensors_of(shape, "cuda", torch.bfloat16)
    ours, flex = Ours(shape, tensors), Flex(shape, tensors, "cuda")
    found = differences(ours, flex, with_gradients=True)
    rows = zip(("forward", "backward"), found, times(ours), times(flex), shape.wanted)
    for part, apart, our_time, flex_time, wanted in rows:
        ratio = our_time / flex_time
        verdict = "WRONG" if apart > MOST_DIFFERENCE else "reached" if ratio <= wanted else "missed"
        values = f"{our_time:.0f}", f"{flex_time:.0f}", f"{ratio:.2f}", f"{wanted:.2f}"
        line(shape.name, part, f"{apart:.4f}", *values, verdict)
    return max(found) <= MOST_DIFFERENCE


def check_on_host(shape):
    """FlexAttention has gradients on GPUs alone."""
    tensors = tensors_of(shape, "cpu", torch.float32)
    found = differences(Ours(shape, tensors), Flex(shape, tensors, "cpu"), with_gradients=False)[0]
    is_right = found < 1e-5
    line(shape.name, "forward", f"{found:.1e}", verdict="right" if is_right else "WRONG")
    return is_right


def chosen_shapes(names):
    """The shapes of exactly that name, or else those whose names have it as a part. Without names all."""
    chosen = [] if names else SHAPES
    for name in names:
        found = [s for s in SHAPES if s.name == name] or [s for s in SHAPES if name in s.name]
        if not found:
            sys.exit(f"no shape is named {name!r}; there are: {'; '.join(s.name for s in SHAPES)}")
        chosen += [s for s in found if s not in chosen]
    return chosen


def main(arguments):
    on_host = arguments == ["check"]
    where = "the host" if on_host else torch.cuda.get_device_name()
    print(f"torch {torch.__version__}, {where}, {'FLOAT' if on_host else 'BFLOAT16'}, microseconds")
    line("shape", "", "difference", "ours", "Flex", "ratio", "wanted", "verdict")
    are_right = [check_on_host(s) for s in SMALL_SHAPES] if on_host else [compare(s) for s in chosen_shapes(arguments)]
    return all(are_right)


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
