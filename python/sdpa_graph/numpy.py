"""Attention on arrays of NumPy, on the CPU."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from . import _core, attention_arguments, call_checks
from ._core import data_type, memory
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
    arrays, options = _prepare(SimpleNamespace(**locals()))
    o = arrays["o"] = _empty((*query.shape[:-1], value.shape[-1]), query.strides, memory(query).data_type)
    if return_stats:
        dims = (*o.shape[:-1], 1)
        arrays["stats"] = _empty(dims, range(len(dims), 0, -1), data_type.FLOAT)
    _core._attention_forward(arrays, options, _workspace, target)
    return (o, arrays["stats"]) if return_stats else o


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
    arrays, chosen = _prepare(given)
    arrays.update(o=_last_dim_packed(output), stats=stats, grad_o=_last_dim_packed(grad))
    kind = memory(query).data_type
    results = {"d" + name: _empty(arrays[name].shape, arrays[name].strides, kind) for name in ("q", "k", "v")}
    if attn_mask is not None and attn_mask.dtype != bool:
        results["dbias"] = np.empty_like(arrays["bias"], order="C")
    if "sink" in arrays:
        results["dsink"] = np.empty_like(arrays["sink"])
    _core._attention_backward({**arrays, **results}, chosen, _workspace, target)
    return Gradients(
        results["dq"],
        results["dk"],
        results["dv"],
        results["dbias"].reshape(attn_mask.shape) if attn_mask is not None and "dbias" in results else None,
        results["dsink"].reshape(-1) if "dsink" in results else None,
    )


# The options of the function, with their defaults: backward accepts them too.
_OPTIONS = {
    name: parameter.default
    for name, parameter in inspect.signature(scaled_dot_product_attention).parameters.items()
    if name not in ("query", "key", "value", "attn_mask", "return_stats", "target")
}
_NEEDED = "an array of NumPy is needed; sdpa_graph.torch has the function for tensors of torch"


def _prepare(given: SimpleNamespace) -> tuple[dict[str, np.ndarray], _core._Attention_options]:
    """The arrays of a call, by the names of the arguments in C++, and its other arguments."""
    _check(given)
    arrays = {name: _checked(name, array) for name, array in zip("qkv", (given.query, given.key, given.value))}
    table = None if given.page_table is None else _integers("page_table", given.page_table)
    longest_kv = 0
    if table is not None:
        call_checks.check_table(table.shape)
        longest_kv = given.key.shape[2] * table.shape[1]
    ends_q, longest_q = _packed("q", given.cu_seqlens_q, given.query.shape[0])
    ends_kv, longest_packed = _packed("kv", given.cu_seqlens_kv, given.key.shape[0])
    more = {
        "bias": _bias(given.attn_mask),
        "sink": None if given.sink is None else np.asarray(given.sink, np.float32).reshape(1, -1, 1, 1),
        "seq_len_q": _lengths("seq_len_q", given.seq_len_q),
        "seq_len_kv": _lengths("seq_len_kv", given.seq_len_kv),
        "cu_seqlens_q": ends_q,
        "cu_seqlens_kv": ends_kv,
        "page_table": table,
        "seed": _seed(given.dropout_p, given.seed),
    }
    arrays.update({name: array for name, array in more.items() if array is not None})
    options = attention_arguments.call_options(
        attention_arguments.scale_of(given.scale, given.query.shape[-1]),
        *attention_arguments.bounds(given.is_causal, given.left_bound, given.right_bound),
        given.bottom_right,
        given.alibi,
        attention_arguments.softcap_of(given.softcap),
        given.dropout_p,
        False,
        longest_q=longest_q,
        longest_kv=longest_kv or longest_packed,
    )
    return arrays, options


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


def _packed(side: str, given: Any, tokens: int) -> tuple[np.ndarray | None, int]:
    """Where packed sequences end, and the longest of them."""
    if given is None:
        return None, 0
    ends = _integers(f"cu_seqlens_{side}", given)
    call_checks.check_ends_shape(side, ends.shape)
    numbers = ends.tolist()
    call_checks.check_ends(side, numbers, tokens)
    return ends, call_checks.longest_of(numbers)


def _lengths(name: str, given: Any) -> np.ndarray | None:
    return None if given is None else _integers(name, given).reshape(-1)


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


def _seed(dropout_p: float, seed: Any) -> np.ndarray | None:
    """The seed, and an offset of 0."""
    if not dropout_p:
        return None
    if seed is None:
        raise ValueError(f"dropout_p is {dropout_p}, and there is no seed: pass the same one to forward and backward")
    number = operator.index(seed)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"seed is {number}: an integer of 64 bits is needed")
    return np.array([number, 0], np.int64)


def _checked(name: str, array: np.ndarray) -> np.ndarray:
    if memory(array).data_type is data_type.NOT_SET:
        raise TypeError(f"{name} is an array of {array.dtype}, which the library does not have: convert it to float32")
    return _last_dim_packed(array)


def _last_dim_packed(array: np.ndarray) -> np.ndarray:
    """Copies arrays whose rows have gaps, which the library does not read; all other strides are kept."""
    return array if array.strides[-1] == array.itemsize else np.ascontiguousarray(array)


def _empty(shape: Sequence[int], like: Sequence[int], kind: data_type) -> np.ndarray:
    """Memory without gaps for a result: its dims, except the last, are in memory in the order that these strides have."""
    made: np.ndarray = allocate((), True, shape, attention_arguments.strides_in_order(shape, like), kind)
    return made


def _workspace(dims: list[int]) -> np.ndarray:
    return np.empty(dims, np.uint8)
