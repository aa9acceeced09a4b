"""Memory for results: tensors of torch if a program's arguments are such, else arrays of NumPy."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from ._core import data_type
from .datatypes import _cudnn_to_torch_data_type, _is_torch_tensor

_NUMPY_NAMES = {
    data_type.HALF: "float16",
    data_type.BFLOAT16: "uint16",  # NumPy has no such type: its bits
    data_type.FLOAT: "float32",
    data_type.DOUBLE: "float64",
    data_type.INT8: "int8",
    data_type.INT32: "int32",
    data_type.INT64: "int64",
    data_type.UINT8: "uint8",
    data_type.BOOLEAN: "bool",
    data_type.FP8_E4M3: "uint8",
    data_type.FP8_E5M2: "uint8",
    data_type.FP8_E8M0: "uint8",
}


def allocate(examples: Iterable[Any], on_host: bool, dim: Sequence[int], stride: Sequence[int], kind: data_type) -> Any:
    """Uninitialized memory with these dims and strides: torch's, on the device of the first example that is a tensor of
    torch, else NumPy's."""
    tensor = next((value for value in examples if _is_torch_tensor(value)), None)
    if tensor is not None or not on_host:
        import torch

        device = tensor.device if tensor is not None else "cuda"
        dtype = _cudnn_to_torch_data_type(kind)
        if dtype is None:
            raise _no_type("torch", kind)
        return torch.empty_strided(tuple(dim), tuple(stride), device=device, dtype=dtype)
    return _numpy_array(dim, stride, kind)


def _no_type(library: str, kind: data_type) -> TypeError:
    return TypeError(f"{library} has no type for a result of {kind.name}: pass memory for it, or set another data type")


def _numpy_array(dim: Sequence[int], stride: Sequence[int], kind: data_type) -> Any:
    import numpy

    if kind not in _NUMPY_NAMES:
        raise _no_type("NumPy", kind)
    span = 1 + sum((size - 1) * step for size, step in zip(dim, stride))
    memory = numpy.empty(span if 0 not in dim else 0, dtype=_NUMPY_NAMES[kind])
    steps = tuple(step * memory.itemsize for step in stride)
    return numpy.lib.stride_tricks.as_strided(memory, shape=tuple(dim), strides=steps)


def current_stream_of(values: Iterable[Any]) -> int | None:
    """torch's current stream on the device of the first tensor on a GPU; None if there is no such tensor."""
    torch = sys.modules.get("torch")
    for value in values:
        if torch is not None and isinstance(value, torch.Tensor) and value.is_cuda:
            return torch.cuda.current_stream(value.device).cuda_stream
    return None
