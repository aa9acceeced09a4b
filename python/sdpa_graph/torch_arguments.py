"""Checks of tensors that are arguments of functions, and integers in the form that graphs hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.autograd import forward_ad

from . import call_checks

_NEEDED = "a tensor of torch is needed; torch.from_numpy makes one of an array, and sdpa_graph.numpy accepts arrays"
_OTHERWISE = "torch's own function has them under torch.nn.attention.sdpa_kernel(SDPBackend.MATH)"
_INTEGERS = (torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8)


def check_tensors(required: Mapping[str, Any], **optional: Any) -> None:
    call_checks.check_kinds(torch.Tensor, _NEEDED, required, optional)


def check_dims(dims: int, form: str, **tensors: torch.Tensor | None) -> None:
    given = {name: tensor.shape for name, tensor in tensors.items() if tensor is not None}
    call_checks.check_dims(given, dims, form)


def check_strided(tensors: Mapping[str, torch.Tensor | None]) -> None:
    """Refuses sparse tensors, and those on a device that is neither the CPU nor a GPU."""
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        if tensor.layout is not torch.strided or not (tensor.is_cpu or tensor.is_cuda):
            found = f"a {tensor.layout} tensor on {tensor.device}"
            raise ValueError(f"{name} is {found}: a dense one on cpu or cuda is needed")


def readable(tensors: Mapping[str, torch.Tensor], names: Mapping[str, str] = {}) -> dict[str, torch.Tensor]:
    """The tensors with their numbers as they are in memory. Refuses those without memory, which would count as not given.
    `names` are those of the caller's arguments where they are others."""
    read = {name: tensor.resolve_neg() for name, tensor in tensors.items()}
    for name, tensor in read.items():
        if tensor.data_ptr() == 0:
            found = f"a {type(tensor).__name__} of shape {tuple(tensor.shape)} on {tensor.device} without memory"
            raise ValueError(f"{names.get(name, name)} is {found}: a tensor with numbers on cpu or cuda is needed, or None")
    return read


def check_real(**tensors: torch.Tensor | None) -> None:
    for name, tensor in tensors.items():
        if tensor is not None and tensor.is_complex():
            raise TypeError(f"{name} is a tensor of {tensor.dtype}: real numbers are needed")


def check_scalars(dropout_p: Any, is_causal: Any, scale: Any) -> None:
    call_checks.check_kinds(bool, "True or False is needed", {"is_causal": is_causal})
    for name, number in (("dropout_p", dropout_p), ("scale", 1.0 if scale is None else scale)):
        if isinstance(number, torch.Tensor) and number.requires_grad:
            found = f"{name} is a tensor that requires a gradient, which it would not get"
            instead = "; to learn a scale, multiply query by it and pass scale=1.0" if name == "scale" else ""
            raise TypeError(f"{found}: a number is needed, such as {name}.item(){instead}")
        if not hasattr(number, "__float__"):
            raise TypeError(f"{name} is a {type(number).__name__}: a number is needed")


def check_tangents(**tensors: torch.Tensor | None) -> None:
    """Refuses dual tensors of forward-mode differentiation, whose tangents would be lost."""
    if forward_ad._current_level < 0:
        return
    for name, tensor in tensors.items():
        if tensor is not None and _is_dual(tensor):
            found = f"{name} is a dual tensor, and attention has no derivatives in forward mode"
            raise NotImplementedError(f"{found}: a tensor without a tangent is needed; {_OTHERWISE}")


def _is_dual(tensor: torch.Tensor) -> bool:
    # Compiled graphs run without this key, whose kernel unpacks.
    with torch._C._SetExcludeDispatchKeyGuard(torch._C.DispatchKey.ADInplaceOrView, False):
        return forward_ad.unpack_dual(tensor).tangent is not None


def is_transformed(tensor: torch.Tensor | None) -> bool:
    """Whether the tensor is one that a transform of torch.func has in the place of another, or the batch of
    gradients of is_grads_batched: neither has memory."""
    if tensor is None or torch.compiler.is_compiling():
        return False
    functorch = torch._C._functorch
    return bool(functorch.is_functorch_wrapped_tensor(tensor) or functorch.is_legacy_batchedtensor(tensor))


def refuse_transforms(names: Sequence[str]) -> None:
    found = f"torch.func's transforms (vmap, grad, jvp, functionalize) are not served for {', '.join(names)}"
    instead = "or call this one in a loop instead of vmap, and torch.autograd.grad instead of torch.func.grad"
    raise NotImplementedError(f"{found}: {_OTHERWISE}, {instead}")


def numbers_of(tensor: torch.Tensor) -> list[int]:
    """The tensor's numbers. For a tensor on a GPU this waits until the GPU has computed them."""
    numbers: list[int] = tensor.tolist()
    return numbers


def int32(name: str, tensor: torch.Tensor | None) -> torch.Tensor | None:
    """The numbers in 32 bits, one next to the other. Numbers on a GPU are converted unread."""
    if tensor is None or tensor.dtype == torch.int32:
        return None if tensor is None else tensor.contiguous()
    if tensor.dtype not in _INTEGERS:
        call_checks.refuse_numbers(name, tensor.dtype)
    if tensor.device.type == "cpu" and tensor.numel() > 0:
        call_checks.check_range(name, (tensor.min(), tensor.max()))
    return tensor.int()


def checked_ends(side: str, tensor: torch.Tensor | None, tokens: int, longest: int | None) -> torch.Tensor | None:
    """Where packed sequences end, in 32 bits. Only ends in host memory are read and checked, as in flash_attn."""
    if tensor is None:
        return None
    ends = int32(f"cu_seqlens_{side}", tensor)
    if ends is not None and ends.device.type == "cpu":
        call_checks.check_ends(side, numbers_of(ends), tokens, longest)
    return ends


def with_last_dim_packed(tensor: torch.Tensor) -> torch.Tensor:
    """Copies tensors whose rows have gaps, which engines do not read; all other strides are kept."""
    tensor = tensor.resolve_neg()
    if tensor.stride(-1) == 1 or tensor.shape[-1] == 1:
        return tensor
    return tensor.clone(memory_format=torch.contiguous_format)  # contiguous() would keep an empty one as it is
