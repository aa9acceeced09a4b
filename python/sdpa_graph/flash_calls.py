"""Calls of the compiled module's flash attention, and the memory of their results."""

from __future__ import annotations

import functools
from typing import NamedTuple

import torch

from . import _core, torch_operator, torch_streams
from .torch_arguments import readable, with_last_dim_packed

Tensor = torch.Tensor


class Numbers(NamedTuple):
    """The arguments of a call that are not tensors. Longest lengths only mean something if the call is packed."""

    max_seqlen_q: int
    max_seqlen_k: int
    p_dropout: float
    softmax_scale: float
    is_causal: bool
    window_left: int
    window_right: int
    softcap: float
    is_deterministic: bool
    returns_softmax: bool


@functools.lru_cache(maxsize=256)
def _compiled(numbers: Numbers) -> _core._Flash_numbers:
    return _core._Flash_numbers(*numbers)


@functools.lru_cache(maxsize=256)
def _carried(numbers: Numbers) -> Tensor:
    with torch.inference_mode(False):  # later calls have gradients, perhaps
        return torch_operator.carried(_compiled(numbers), {})


def through_torchs_operator(
    q: Tensor, k: Tensor, v: Tensor, others: dict[str, Tensor], numbers: Numbers, learns: bool
) -> tuple[Tensor, Tensor, Tensor | None] | None:
    """Returns the results of forward. None where the operator does not serve the call, or the call has faults, which are
    then found elsewhere."""
    if not torch_operator.serves(q, k, v) or (learns and "block_table" in others):
        return None
    arguments = torch_operator.carried(_compiled(numbers), _readable(q, others)) if others else _carried(numbers)
    results = torch_operator.attend(q, k, v, learns, arguments)
    if results is None:
        return None
    return *results[:2], results[2] if numbers.returns_softmax else None


def _readable(q: Tensor, others: dict[str, Tensor]) -> dict[str, Tensor]:
    return readable(others) if q.numel() > 0 else others


def results_of(
    q: Tensor, k: Tensor, others: dict[str, Tensor], numbers: Numbers
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Memory for the results of forward: output, log-sum-exp, and p if the call returns it."""
    out = torch.empty_like(q, memory_format=torch.contiguous_format)
    return out, _log_sums(q, others), _probabilities(q, k, others, numbers) if numbers.returns_softmax else None


def forward(
    q: Tensor, k: Tensor, v: Tensor, others: dict[str, Tensor], numbers: Numbers
) -> tuple[Tensor, Tensor, Tensor | None]:
    q, k, v = (with_last_dim_packed(tensor) for tensor in (q, k, v))
    out, log_sums, p = results_of(q, k, others, numbers)
    tensors = {"q": q, "k": k, "v": v, "out": out, "softmax_lse": log_sums, **_readable(q, others)}
    if p is not None:
        tensors["p"] = p
    torch_streams.run(q.device, _core._flash_forward, tensors, _compiled(numbers))
    return out, log_sums, p


def gradients_of(*tensors: Tensor) -> list[Tensor]:
    """Memory for the gradients of tensors."""
    return [torch.empty_like(tensor, memory_format=torch.contiguous_format) for tensor in tensors]


def backward(
    dout: Tensor, saved: tuple[Tensor, ...], others: dict[str, Tensor], numbers: Numbers
) -> list[Tensor]:
    """`saved` are q, k, v and the first two results of forward."""
    q, k, v, dout = (with_last_dim_packed(tensor) for tensor in (*saved[:3], dout))
    out, log_sums = saved[3:]
    if "block_table" in others:
        raise NotImplementedError("gradients of keys in pages: pages are for inference")
    gradients = gradients_of(q, k, v)
    tensors = {"dout": dout, "q": q, "k": k, "v": v, "out": out, "softmax_lse": log_sums, **_readable(q, others)}
    tensors.update(zip(("dq", "dk", "dv"), gradients))
    if q.device.type == "cpu":
        tensors["softmax_d"] = _softmax_d(q, others)
    torch_streams.run(q.device, _core._flash_backward, tensors, _compiled(numbers))
    return gradients


def batches(q: Tensor, others: dict[str, Tensor]) -> int:
    return others["cu_seqlens_q"].shape[0] - 1 if "cu_seqlens_q" in others else q.shape[0]


def _rounded_up(length: int) -> int:
    return (length + 127) // 128 * 128


def _log_sums(q: Tensor, others: dict[str, Tensor]) -> Tensor:
    """Memory for log-sum-exps, by rows as in graphs of packed sequences: another order needs a kernel."""
    shape = q.shape
    if "cu_seqlens_q" not in others:
        return q.new_empty(shape[:3], dtype=torch.float32).transpose(1, 2)
    return q.new_empty_strided((shape[1], shape[0]), (1, shape[1]), dtype=torch.float32)


def _probabilities(q: Tensor, k: Tensor, others: dict[str, Tensor], numbers: Numbers) -> Tensor:
    is_packed = "cu_seqlens_q" in others
    longest = (numbers.max_seqlen_q, numbers.max_seqlen_k) if is_packed else (q.shape[1], k.shape[1])
    return q.new_empty((batches(q, others), q.shape[-2], *map(_rounded_up, longest)))


def _softmax_d(q: Tensor, others: dict[str, Tensor]) -> Tensor:
    heads = q.shape[-2]
    if "cu_seqlens_q" in others:
        return q.new_empty((heads, q.shape[0] + 128 * batches(q, others)), dtype=torch.float32)
    return q.new_empty((q.shape[0], heads, _rounded_up(q.shape[1])), dtype=torch.float32)
