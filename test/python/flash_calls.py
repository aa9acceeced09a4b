"""Random calls of sdpa_graph.flash_attn with what they should give: by a formula in double, and by PyTorch's kernels."""

import math
import random

import torch

NAMES = ("out", "softmax_lse", "dq", "dk", "dv")


def hidden(rows, columns, left, right, device):
    """Which pairs of query and key a window hides; a negative one is unbounded."""
    distance = torch.arange(rows, device=device)[:, None] + columns - rows - torch.arange(columns, device=device)
    result = torch.zeros_like(distance, dtype=torch.bool)
    if left >= 0:
        result |= distance > left
    if right >= 0:
        result |= -distance > right
    return result


def formula(q, k, v, scale, left, right, softcap=0.0, slopes=None):
    """Output and log-sum-exp of one sequence, (tokens, heads, head dim), in double; 0 and infinity where nothing is seen."""
    q, k, v = (x.transpose(0, 1) for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[0] // x.shape[0], 0) for x in (k, v))
    scores = q @ k.transpose(1, 2) * scale
    if softcap > 0.0:
        scores = softcap * torch.tanh(scores / softcap)
    rows, columns = scores.shape[1:]
    if slopes is not None:
        column = torch.arange(columns, device=q.device)
        distance = torch.arange(rows, device=q.device)[:, None] + columns - rows - column
        is_causal = left < 0 and right == 0
        scores = scores + slopes.double()[:, None, None] * (column if is_causal else -distance.abs())
    masked = hidden(rows, columns, left, right, q.device)
    sees_nothing = masked.all(1)[:, None] if columns else torch.ones(rows, 1, dtype=torch.bool, device=q.device)
    scores = scores.masked_fill(masked & ~sees_nothing, -math.inf)
    weights = torch.softmax(scores, -1).masked_fill(sees_nothing, 0.0)
    log_sums = torch.logsumexp(scores, -1) if columns else scores.new_zeros(scores.shape[:2])
    return (weights @ v).transpose(0, 1), log_sums.masked_fill(sees_nothing.squeeze(1), math.inf)


class Call:
    """A random call of padded or of packed sequences; some queries may see no key. The form says all that a plan depends
    on, so that calls of one form differ in numbers, and those of packed sequences in lengths, too."""

    def __init__(self, form, seed, device="cuda"):
        choose = random.Random(form)
        self.is_packed, self.device = form % 2 == 1, device
        self.key_heads = choose.choice([1, 2, 4])
        self.heads = self.key_heads * choose.choice([1, 2, 4])
        self.dtype, self.width = choose.choice(
            [(torch.half, 64), (torch.half, 96), (torch.bfloat16, 64), (torch.bfloat16, 128)]
        )
        self.scale = self.width**-0.5
        self.lengths = self._lengths(choose, random.Random(seed))
        self.most_queries, self.most_keys = (max(length[i] for length in self.lengths) for i in (0, 1))
        self.left, self.right = self._windows(choose)
        generator = torch.Generator(device).manual_seed(seed)
        queries, keys = (sum(length[i] for length in self.lengths) for i in (0, 1))
        shapes = [(queries, self.heads), (keys, self.key_heads), (keys, self.key_heads), (queries, self.heads)]
        self.q, self.k, self.v, self.dout = (
            torch.randn(*shape, self.width, device=device, dtype=self.dtype, generator=generator) for shape in shapes
        )

    def _lengths(self, choose, vary):
        if self.is_packed:
            most = (choose.randint(100, 300), choose.randint(100, 300))
            is_square = self._is_square = choose.random() < 0.4
            counts = [[vary.choice([0, 1, vary.randint(0, limit)]) for limit in most] for _ in range(choose.randint(1, 4))]
            return [(most[0], most[0]) if is_square else most, *((q, q if is_square else k) for q, k in counts)]
        keys = choose.randint(2, 400)
        queries = choose.choice([keys, choose.randint(2, keys), choose.randint(2, 400)])
        return [(queries, keys)] * choose.randint(1, 3)

    def _windows(self, choose):
        right = choose.choice([-1, 0, 0, choose.randint(1, 64)])
        left = choose.choice([-1, -1, choose.randint(0, 64)])
        return (left if left < self.most_keys else -1), (right if right < self.most_keys else -1)

    def _both_totals(self):
        """One tensor where sequences have as many queries as keys."""
        totals = self._totals(0)
        return (totals, totals if self._is_square else self._totals(1))

    def _totals(self, part):
        starts = [0]
        for length in self.lengths:
            starts.append(starts[-1] + length[part])
        return torch.tensor(starts, dtype=torch.int32, device=self.device)

    def exact(self, **options):
        """The results by the formula, in the layout of packed tensors."""
        leaves = [x.double().requires_grad_() for x in (self.q, self.k, self.v)]
        # A left window alone also ends on the right, so many keys from the diagonal.
        right = self.most_keys if self.left >= 0 > self.right and self.most_queries > self.most_keys else self.right
        counts = [[length[part] for length in self.lengths] for part in (0, 1, 1)]
        parts = zip(*(leaf.split(count) for leaf, count in zip(leaves, counts)))
        outs, log_sums = zip(*(formula(*part, self.scale, self.left, right, **options) for part in parts))
        out = torch.cat(outs)
        return [out, torch.cat(log_sums, 1), *torch.autograd.grad(out, leaves, self.dout.double())]

    def _shaped(self, tensor, part):
        return tensor if self.is_packed else tensor.unflatten(0, (len(self.lengths), self.lengths[0][part]))

    def _tensors(self):
        return [self._shaped(tensor, part) for tensor, part in zip((self.q, self.k, self.v, self.dout), (0, 1, 1, 0))]

    def _as_packed(self, results):
        """Results of padded tensors in the layout of packed ones."""
        if self.is_packed:
            return results
        out, log_sums, *gradients = results
        return [out.flatten(0, 1), log_sums.transpose(0, 1).flatten(1), *(x.flatten(0, 1) for x in gradients)]

    def ours(self, flash, **options):
        q, k, v, dout = self._tensors()
        leaves = [x.detach().clone().requires_grad_() for x in (q, k, v)]
        options.update(window_size=(self.left, self.right), return_attn_probs=True)
        if self.is_packed:
            lengths = (*self._both_totals(), self.most_queries, self.most_keys)
            out, log_sums, _ = flash.flash_attn_varlen_func(*leaves, *lengths, **options)
        else:
            out, log_sums, _ = flash.flash_attn_func(*leaves, **options)
        return self._as_packed([out, log_sums, *torch.autograd.grad(out, leaves, dout)])

    def theirs(self):
        """PyTorch's kernels want the windows as they are, None for unbounded."""
        q, k, v, dout = self._tensors()
        totals = self._both_totals() if self.is_packed else (None, None)
        lengths = (*totals, self.most_queries, self.most_keys, 0.0, self.left < 0 and self.right == 0)
        windows = {
            "window_size_left": None if self.left < 0 else self.left,
            "window_size_right": None if self.right < 0 else self.right,
        }
        forward, backward = torch.ops.aten._flash_attention_forward, torch.ops.aten._flash_attention_backward
        out, log_sums, *state = forward(q, k, v, *lengths, False, scale=self.scale, **windows)
        gradients = backward(
            dout, q, k, v, out, log_sums, *lengths, state[0], state[1], scale=self.scale, **windows
        )
        return self._as_packed([out, log_sums, *gradients])


def errors(results, exact):
    """The greatest error of each result, as a share of the greatest magnitude that it should have."""
    shares = []
    for found, wanted in zip(results, exact):
        found, is_infinite = found.double(), torch.isinf(wanted)
        if not torch.equal(torch.isinf(found), is_infinite) or not found.numel():
            shares.append(math.inf if found.numel() else 0.0)
            continue
        difference = (found - wanted).masked_fill(is_infinite, 0.0).abs().max()
        most = wanted.masked_fill(is_infinite, 0.0).abs().max().clamp(min=0.1)
        shares.append((difference / most).nan_to_num(math.inf).item())
    return shares


def tolerances(dtype):
    return [1e-3 if name == "softmax_lse" else 16 * torch.finfo(dtype).eps for name in NAMES]


def faults(call, results, exact):
    """A line for each result that is further from the formula than its type explains."""
    found = zip(NAMES, errors(results, exact), tolerances(call.dtype))
    return [f"{name} is off by {error} of its greatest magnitude" for name, error, most in found if not error < most]
