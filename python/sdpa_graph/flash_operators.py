"""Flash attention for torch: as operators, which torch.compile keeps without a graph break, and otherwise through torch's
own operator or a function of autograd in Python."""

from __future__ import annotations

from typing import Any, get_type_hints

import torch

from . import flash_calls, torch_operator
from .flash_calls import Numbers

Tensor = torch.Tensor

# The tensors of a call that have no gradients.
_OTHERS = ("alibi_slopes", "cu_seqlens_q", "cu_seqlens_k", "seqused_k", "block_table", "rng_state")
_TYPES = {int: "SymInt", float: "float", bool: "bool"}
_ARGUMENTS = ", ".join(
    [f"Tensor? {name}" for name in _OTHERS]
    + [f"{_TYPES[kind]} {name}" for name, kind in get_type_hints(Numbers).items()]
)
_THREE = "(Tensor, Tensor, Tensor)"


def _arguments(others_and_numbers: tuple[Any, ...]) -> tuple[dict[str, Tensor], Numbers]:
    count = len(_OTHERS)
    others = {name: tensor for name, tensor in zip(_OTHERS, others_and_numbers) if tensor is not None}
    return others, Numbers(*others_and_numbers[count:])


def _results(out: Tensor, log_sums: Tensor, p: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """An operator returns tensors: p is an empty one where the call does not return it."""
    return out, log_sums, out.new_empty(0) if p is None else p


def _forward(q: Tensor, k: Tensor, v: Tensor, *others: Any) -> tuple[Tensor, Tensor, Tensor]:
    return _results(*flash_calls.forward(q, k, v, *_arguments(others)))


def _fake_forward(q: Tensor, k: Tensor, v: Tensor, *others: Any) -> tuple[Tensor, Tensor, Tensor]:
    return _results(*flash_calls.results_of(q, k, *_arguments(others)))


def _backward(dout: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, log_sums: Tensor, *others: Any) -> Any:
    return tuple(flash_calls.backward(dout, (q, k, v, out, log_sums), *_arguments(others)))


def _fake_backward(dout: Tensor, q: Tensor, k: Tensor, v: Tensor, *_: Any) -> tuple[Tensor, ...]:
    return tuple(flash_calls.gradients_of(q, k, v))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    q, k, v = inputs[:3]
    if inputs[3 + _OTHERS.index("block_table")] is not None and any(ctx.needs_input_grad):
        raise NotImplementedError("gradients of keys in pages: pages are for inference")
    ctx.save_for_backward(q, k, v, *output[:2], *inputs[3 : 3 + len(_OTHERS)])
    ctx.numbers = inputs[3 + len(_OTHERS) :]
    ctx.mark_non_differentiable(*output[1:])


def _differentiate(ctx: Any, dout: Tensor, *_: Any) -> tuple[Any, ...]:
    gradients = backward(dout, *ctx.saved_tensors, *ctx.numbers)
    return (*gradients, *[None] * (len(_OTHERS) + len(ctx.numbers)))


forward = torch.library.custom_op(
    "sdpa_graph::flash_attention",
    _forward,
    mutates_args=(),
    schema=f"(Tensor q, Tensor k, Tensor v, {_ARGUMENTS}) -> {_THREE}",
)
backward = torch.library.custom_op(
    "sdpa_graph::flash_attention_backward",
    _backward,
    mutates_args=(),
    schema=f"(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor softmax_lse, {_ARGUMENTS}) -> {_THREE}",
)
forward.register_fake(_fake_forward)
backward.register_fake(_fake_backward)
forward.register_autograd(_differentiate, setup_context=_keep)


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, others: dict[str, Tensor], numbers: Numbers) -> Any:
        out, log_sums, p = flash_calls.forward(q, k, v, others, numbers)
        ctx.save_for_backward(q, k, v, out, log_sums)
        ctx.others, ctx.numbers = others, numbers
        ctx.mark_non_differentiable(log_sums, *([] if p is None else [p]))
        return out, log_sums, p

    @staticmethod
    def backward(ctx: Any, dout: Tensor, *_: Any) -> Any:
        return (*flash_calls.backward(dout, ctx.saved_tensors, ctx.others, ctx.numbers), None, None)


def attend(q: Tensor, k: Tensor, v: Tensor, others: dict[str, Tensor], numbers: Numbers) -> Any:
    """Returns output, log-sum-exp, and p if the call returns it."""
    if torch_operator.is_traced():
        out, log_sums, p = forward(q, k, v, *map(others.get, _OTHERS), *numbers)
        return out, log_sums, p if numbers.returns_softmax else None
    learns = torch_operator.learns(q, k, v)
    results = flash_calls.through_torchs_operator(q, k, v, others, numbers, learns)
    if results is not None:
        return results
    return _Attention.apply(q, k, v, others, numbers) if learns else flash_calls.forward(q, k, v, others, numbers)
