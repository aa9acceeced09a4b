"""Checks of tensors that are arguments of functions, and integers in the form that graphs hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from . import call_checks

_NEEDED = "a tensor of torch is needed; torch.from_numpy makes one of an array, and sdpa_graph.numpy accepts arrays"
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
