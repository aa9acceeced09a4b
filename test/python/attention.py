"""Attention as a formula of NumPy in double precision, and graphs that several tests build."""

import cudnn
import numpy as np


def attention(q, k, v, scale, mask=None):
    """O and Stats; mask is true where a key counts."""
    groups = q.shape[1] // k.shape[1]
    q, k, v = (x.astype(np.float64) for x in (q, np.repeat(k, groups, 1), np.repeat(v, groups, 1)))
    scores = scale * q @ k.transpose(0, 1, 3, 2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(-1, keepdims=True)
    return weights / total @ v, top + np.log(total)


def gradients(q, k, v, dO, scale, mask=None):
    """dQ, dK, dV of heads that are as many for Q as for K."""
    q, k, v, dO = (x.astype(np.float64) for x in (q, k, v, dO))
    scores = scale * q @ k.transpose(0, 1, 3, 2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    dP = dO @ v.transpose(0, 1, 3, 2)
    dS = weights * (dP - (weights * dP).sum(-1, keepdims=True)) * scale
    return dS @ k, dS.transpose(0, 1, 3, 2) @ q, weights.transpose(0, 1, 3, 2) @ dO


def causal(rows, columns):
    return np.tril(np.ones((rows, columns), dtype=bool))


def random(shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def qkv(shape=(2, 3, 40, 16), dtype=np.float32):
    return [random(shape, dtype, seed) for seed in (1, 2, 3)]


def tolerance(dtype, terms):
    """The tolerance of a sum of so many products of numbers about 1 in float, and its rounding to dtype."""
    return 8 * float(np.finfo(dtype).eps) + terms * float(np.finfo(np.float32).eps)


class Forward:
    """Attention forward on arrays, built for a target; options are those of sdpa()."""

    def __init__(self, q, k, v, target="cpu", stats=False, settings=None, **options):
        self.graph = cudnn.pygraph(
            io_data_type=cudnn.data_type.FLOAT if q.dtype == np.float32 else cudnn.data_type.HALF,
            intermediate_data_type=cudnn.data_type.FLOAT,
            compute_data_type=cudnn.data_type.FLOAT,
            target=target,
            **(settings or {}),
        )
        self.q, self.k, self.v = (self.graph.tensor_like(x, name) for x, name in ((q, "q"), (k, "k"), (v, "v")))
        self.given = {self.q: q, self.k: k, self.v: v}
        self.o, self.stats = self.graph.sdpa(self.q, self.k, self.v, generate_stats=stats, **options)
        self.o.set_output(True)
        if stats:
            self.stats.set_output(True).set_data_type(cudnn.data_type.FLOAT)

    def build(self):
        self.graph.build([cudnn.heur_mode.A])
        return self

    def run(self, **more):
        """O, and Stats where there are some."""
        results = [r for r in (self.o, self.stats) if r is not None]
        shapes = [(result.get_dim(), self.dtype(result)) for result in results]
        arrays = [np.full(dim, np.nan, dtype) for dim, dtype in shapes]
        self.graph.execute({**self.given, **dict(zip(results, arrays)), **more})
        return arrays if len(arrays) > 1 else arrays[0]

    @staticmethod
    def dtype(tensor):
        return {cudnn.data_type.FLOAT: np.float32, cudnn.data_type.HALF: np.float16}[tensor.get_data_type()]
