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
    """Tensors of other classes may do something else with their operators."""
    return _operator is not None and all(type(tensor) in _PLAIN for tensor in tensors) and not is_traced()


def learns(*tensors: torch.Tensor) -> bool:
    """Whether the tensors need gradients."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def carries_arguments(has_gradients: bool) -> bool:
    """Whether calls may have more arguments than the operator. Hooks keep copies of what backward reads elsewhere, and a
    copy of the argument that stands for an object does not keep the object."""
    if not has_gradients:
        return True
    return _hooks_on_saved_tensors is not None and _hooks_on_saved_tensors(False) is None


def carried(arguments: Any, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
    """The argument that stands for these, which it keeps alive."""
    return torch.frombuffer(_core._Carried_call(arguments, tensors), dtype=torch.int64)


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
    return output, stats, probabilities
