"""Data types of this library and of torch, in both directions. Importing this does not import torch."""

from __future__ import annotations

import sys
from typing import Any

from ._core import _data_type_of, data_type

_TORCH_NAMES = {
    data_type.HALF: "float16",
    data_type.BFLOAT16: "bfloat16",
    data_type.FLOAT: "float32",
    data_type.DOUBLE: "float64",
    data_type.INT8: "int8",
    data_type.INT32: "int32",
    data_type.INT64: "int64",
    data_type.UINT8: "uint8",
    data_type.BOOLEAN: "bool",
    data_type.FP8_E4M3: "float8_e4m3fn",
    data_type.FP8_E5M2: "float8_e5m2",
    data_type.FP8_E8M0: "float8_e8m0fnu",
}


def is_torch_available() -> bool:
    """Whether torch can be imported; imports it."""
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def _torch() -> Any:
    """The module if a program has imported it: a program that holds a tensor or dtype of torch has."""
    return sys.modules.get("torch")


def _is_torch_tensor(value: object) -> bool:
    torch = _torch()
    return torch is not None and isinstance(value, torch.Tensor)


def _torch_to_cudnn_data_type(dtype: object) -> data_type | None:
    torch = _torch()
    if torch is None or not isinstance(dtype, torch.dtype):
        return None
    try:
        return _data_type_of(dtype)
    except TypeError:
        return None


# Its public name in newer releases of the existing package.
torch_to_cudnn_data_type = _torch_to_cudnn_data_type


def _cudnn_to_torch_data_type(kind: data_type) -> object | None:
    import torch

    return getattr(torch, _TORCH_NAMES.get(kind, ""), None)


def _library_type(value: Any) -> data_type:
    """A data_type unchanged, a dtype of torch as this library's."""
    if isinstance(value, data_type):
        return value
    kind = _torch_to_cudnn_data_type(value)
    if kind is None:
        raise Exception(f"The library has no data type for {value!r}.")
    return kind
