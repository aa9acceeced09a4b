"""torch's operator for attention by other libraries, which has this library's kernels.

Its gradient is in C++ as well: a call costs about as much as one of torch's own. Arguments that the operator does not have
are those of an object that it gets in the place of a bias.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _core
from .shape_policies import check_shape_policy

# None with releases of torch that lack what the kernels need.
_operator: Any = None
if _core._register_torch_operators():
    check_shape_policy()
    _operator = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_hooks_on_saved_tensors = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)


def is_traced() -> bool:
    """Whether calls are recorded: then they have to be those of operators that are registered for it."""
    if torch.compiler.is_compiling():
        return True
    return torch._C._get_tracing_state() is not None or torch._C._len_torch_dispatch_stack() > 0


def serves(*tensors: torch.Tensor) -> bool:
    """Whether the operator may serve a call with these tensors. Other devices have other kernels."""
    return _operator is not None and all(map(_is_plain, tensors)) and not is_traced()


def is_special(tensor: torch.Tensor) -> bool:
    """Whether the tensor's class may do something else with operators."""
    return type(tensor) not in _PLAIN


def _is_plain(tensor: torch.Tensor) -> bool:
    return (
        not is_special(tensor)
        and tensor.layout is torch.strided
        and (tensor.is_cuda or tensor.is_cpu)
        and tensor.numel() > 0
    )


def learns(*tensors: torch.Tensor | None) -> bool:
    """Whether any of the tensors that are given needs a gradient."""
    return torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in tensors)


def carried(arguments: Any, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
    """A tensor that stands for the arguments and keeps them alive."""
    return torch.frombuffer(_core._Carried_call(arguments, tensors), dtype=torch.int64)


def _may_be_copied() -> bool:
    """Whether hooks may put copies in the place of tensors that backward reads."""
    return _hooks_on_saved_tensors is None or _hooks_on_saved_tensors(False) is not None


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    has_gradients: bool,
    arguments: torch.Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None] | None:
    """Returns output, log-sum-exp and probabilities; the latter two only mean something if the call asks for them. None if
    the call has faults, which are then found elsewhere."""
    assert _operator is not None
    try:
        output, stats, *_, probabilities = _operator(
            query, key, value, arguments, 0.0, is_causal, not has_gradients, scale=scale
        )
    except NotImplementedError:
        raise  # torch has no derivative of this kind
    except RuntimeError:
        return None
    if has_gradients and arguments is not None and _may_be_copied():
        output.grad_fn.metadata["sdpa_graph"] = arguments  # a copy stands for the same, but does not keep it alive
    return output, stats, probabilities
