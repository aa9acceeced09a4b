"""Attention on arrays of NumPy, on the CPU."""

from __future__ import annotations

import inspect
import operator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from . import call_checks, calls, plans
from ._core import data_type
from .allocation import allocate


class Gradients(NamedTuple):
    """The gradients of the arrays of a call; None for an attn_mask of truth values."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    attn_mask: np.ndarray | None
    sink: np.ndarray | None


def scaled_dot_product_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_mask: np.ndarray | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    left_bound: int | None = None,
    right_bound: int | None = None,
    bottom_right: bool = False,
    alibi: bool = False,
    softcap: float | None = None,
    sink: np.ndarray | None = None,
    seq_len_q: np.ndarray | None = None,
    seq_len_kv: np.ndarray | None = None,
    cu_seqlens_q: np.ndarray | None = None,
    cu_seqlens_kv: np.ndarray | None = None,
    page_table: np.ndarray | None = None,
    seed: int | None = None,
    return_stats: bool = False,
    target: str = "cpu",
) -> Any:
    """Attention of arrays (batch, heads, tokens, head dim), with torch's arguments and some more: docs/python.md.

    return_stats adds the logarithm of each row's sum of exponentials, which the gradient needs. target is "cpu",
    "cpu:4" (threads) or "reference", which computes in double precision. dropout_p needs a seed.
    """
    call, options = _prepare(SimpleNamespace(**locals()))
    o = _empty(calls.output_layout(plans.layout_of(query, "query"), plans.layout_of(value, "value")))
    stats = _empty(plans.Layout.packed((*o.shape[:-1], 1), data_type.FLOAT)) if return_stats else None
    call.forward(plans.Place(target), options, o=o, stats=stats).run(call.arrays)
    return (o, stats) if return_stats else o


def scaled_dot_product_attention_backward(
    grad: np.ndarray,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    output: np.ndarray,
    stats: np.ndarray,
    attn_mask: np.ndarray | None = None,
    *,
    target: str = "cpu",
    **options: Any,
) -> Gradients:
    """The gradients of scaled_dot_product_attention(), from that of its output. The options are those of its call;
    output and stats are its results."""
    if unknown := options.keys() - _OPTIONS.keys():
        raise TypeError(f"{', '.join(sorted(unknown))}: scaled_dot_product_attention() has no such option")
    given = SimpleNamespace(query=query, key=key, value=value, attn_mask=attn_mask, **{**_OPTIONS, **options})
    read = {"grad": grad, "output": output, "stats": stats}
    if given.page_table is not None:
        raise ValueError("page_table is given: keys in pages have no gradient")
    call_checks.check_kinds(np.ndarray, _NEEDED, {"query": query, "value": value, **read})
    call_checks.check_result_shapes(query.shape, value.shape, {name: array.shape for name, array in read.items()})
    call, chosen = _prepare(given, o=output, dO=_last_dim_packed(grad), stats=stats)
    layouts = [plans.layout_of(array, name) for name, array in (("query", query), ("key", key), ("value", value))]
    made = [_empty(calls.gradient_layout(layout)) for layout in layouts]
    bias, sink = call.arrays.get("bias"), call.arrays.get("sink_token")
    is_differentiable = attn_mask is not None and attn_mask.dtype != bool
    mask_gradient = np.empty_like(bias, order="C") if is_differentiable else None
    sink_gradient = np.empty_like(sink) if sink is not None else None
    results = dict(zip(("dQ", "dK", "dV"), made), dBias=mask_gradient, dSink_token=sink_gradient)
    call.backward(plans.Place(target), chosen, **results).run(call.arrays)
    if mask_gradient is not None and attn_mask is not None:
        mask_gradient = mask_gradient.reshape(attn_mask.shape)
    return Gradients(
        made[0], made[1], made[2], mask_gradient, None if sink_gradient is None else sink_gradient.reshape(-1)
    )


# The options of the function, with their defaults: backward accepts them too.
_OPTIONS = {
    name: parameter.default
    for name, parameter in inspect.signature(scaled_dot_product_attention).parameters.items()
    if name not in ("query", "key", "value", "attn_mask", "return_stats", "target")
}
_NEEDED = "an array of NumPy is needed; sdpa_graph.torch has the function for tensors of torch"


def _prepare(given: SimpleNamespace, **more: np.ndarray) -> tuple[calls.Call, plans.Options]:
    """The graph's arrays and options for the function's arguments, and more arrays by the names of the graph's
    tensors."""
    _check(given)
    query, key, table = given.query, given.key, given.page_table
    bounds = calls.bounds(given.is_causal, given.left_bound, given.right_bound)
    packed = {
        "q": _packed("q", given.cu_seqlens_q, query.shape[0]),
        "kv": _packed("kv", given.cu_seqlens_kv, key.shape[0]),
    }
    table = None if table is None else _integers("page_table", table)
    keys = 0 if packed["kv"] else key.shape[2]
    if table is not None:
        call_checks.check_table(table.shape)
        keys *= table.shape[1]
    call = calls.Call(
        plans.layout_of,
        packed,
        q=query,
        k=key,
        v=given.value,
        bias=_bias(given.attn_mask),
        sink_token=None if given.sink is None else np.asarray(given.sink, np.float32).reshape(1, -1, 1, 1),
        **_lengths(packed, query, keys, given.seq_len_q, given.seq_len_kv),
        **_pages(table),
        **_seed(given.dropout_p, given.seed),
        **more,
    )
    options = plans.Options(
        calls.scale_of(given.scale, query.shape[-1]),
        *bounds,
        given.bottom_right,
        given.alibi,
        calls.softcap_of(given.softcap),
        given.dropout_p,
        longest_kv=None if table is None else keys,
    )
    return call, options


def _check(given: SimpleNamespace) -> None:
    arrays = {"query": given.query, "key": given.key, "value": given.value}
    call_checks.check_kinds(np.ndarray, _NEEDED, arrays, {"attn_mask": given.attn_mask})
    if given.sink is not None and np.iscomplexobj(given.sink):
        raise TypeError("sink has complex numbers: real ones are needed")
    ends_q, ends_kv = given.cu_seqlens_q, given.cu_seqlens_kv
    shapes = {name: array.shape for name, array in arrays.items()}
    call_checks.check_shapes(shapes, given.enable_gqa, ends_q is not None, ends_kv is not None)
    call_checks.check_lengths_are_said_once("q", ends_q, seq_len_q=given.seq_len_q)
    call_checks.check_lengths_are_said_once("kv", ends_kv, seq_len_kv=given.seq_len_kv, page_table=given.page_table)


def _integers(name: str, given: Any) -> np.ndarray:
    """The numbers in 32 bits, as graphs hold them."""
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "iu":
        call_checks.refuse_numbers(name, numbers.dtype)
    if numbers.size:
        call_checks.check_range(name, (numbers.min(), numbers.max()))
    return numbers.astype(np.int32)


def _packed(side: str, given: Any, tokens: int) -> calls.Packed | None:
    if given is None:
        return None
    ends = _integers(f"cu_seqlens_{side}", given)
    call_checks.check_ends_shape(side, ends.shape)
    numbers = ends.tolist()
    call_checks.check_ends(side, numbers, tokens)
    return calls.Packed(side, ends, call_checks.longest_of(numbers), lambda array: array.astype(np.int64))


def _bias(mask: np.ndarray | None) -> np.ndarray | None:
    """The array that is added to the scores, with four dims."""
    if mask is None:
        return None
    if mask.dtype == bool:
        mask = np.where(mask, np.float32(0), np.float32(-np.inf))
    elif mask.dtype.kind not in "fiu":
        raise TypeError(f"attn_mask is an array of {mask.dtype}: truth values or numbers are needed")
    elif mask.dtype not in (np.float16, np.float32):
        mask = mask.astype(np.float32)
    return mask.reshape((1,) * (4 - mask.ndim) + mask.shape)


def _lengths(
    packed: dict[str, calls.Packed | None], query: np.ndarray, keys: int, q: np.ndarray | None, kv: np.ndarray | None
) -> dict[str, np.ndarray]:
    """Returns both lengths if one is needed: the other one is then full."""
    if q is None and kv is None and not any(packed.values()):
        return {}
    batch = packed["q"].count if packed["q"] else query.shape[0]
    lengths = {}
    for side, length, full in (("q", q, query.shape[2]), ("kv", kv, keys)):
        ends, name = packed[side], "seq_len_" + side
        chosen = ends.lengths() if ends else np.full(batch, full) if length is None else length
        lengths[name] = _integers(name, chosen).reshape(-1, 1, 1, 1)
    return lengths


def _pages(table: np.ndarray | None) -> dict[str, np.ndarray]:
    if table is None:
        return {}
    entries = table[:, None, :, None]
    return {"paged_attention_k_table": entries, "paged_attention_v_table": entries}


def _seed(dropout_p: float, seed: Any) -> dict[str, np.ndarray]:
    if not dropout_p:
        return {}
    if seed is None:
        raise ValueError(f"dropout_p is {dropout_p}, and there is no seed: the same one in forward and backward")
    number = operator.index(seed)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"seed is {number}: an integer of 64 bits is needed")
    return {"seed": np.full((1, 1, 1, 1), number, np.int64), "offset": np.zeros((1, 1, 1, 1), np.int64)}


def _last_dim_packed(array: np.ndarray) -> np.ndarray:
    return array if array.strides[-1] == array.itemsize else np.ascontiguousarray(array)


def _empty(layout: plans.Layout) -> np.ndarray:
    """Memory for a result. Tokens after the last packed sequence are 0: nothing writes them."""
    array = allocate((), True, layout.dim, layout.stride, layout.kind)
    if array.ndim == 3:
        array[:] = 0
    return array
