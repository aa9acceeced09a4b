"""Nodes of the existing package's graphs that this library lacks."""

from __future__ import annotations

from typing import Any, NoReturn

from ._core import cudnnGraphNotSupportedError, data_type, tensor

NOT_SET = data_type.NOT_SET


class Missing_nodes:
    """Methods that raise the error of a graph without engines, which programs catch to use another way."""

    def block_scale_quantize(
        self,
        input: tensor,
        block_size: int,
        axis: int | None = None,
        transpose: bool = False,
        compute_data_type: Any = NOT_SET,
        name: str = "",
    ) -> list[tensor]:
        """Refused: python.c01."""
        _refuse("block_scale_quantize", "quantize the numbers before the run, and give sdpa_mxfp8() both as tensors")

    def block_scale_dequantize(
        self,
        input: tensor,
        descale: tensor,
        block_size: list[int],
        is_negative_scale: bool = False,
        compute_data_type: Any = NOT_SET,
        name: str = "",
    ) -> tensor:
        """Refused: python.c01."""
        _refuse("block_scale_dequantize", "sdpa_mxfp8() and its backward accept numbers with their scales as they are")

    def concatenate(self, inputs: list[tensor], axis: int, in_place_index: int | None = None, name: str = "") -> tensor:
        """Refused: python.c01."""
        _refuse("concatenate", "give the nodes whose results are concatenated outputs in slices of one array")


def _refuse(method: str, advice: str) -> NoReturn:
    text = f"[python.c01] {method}: the library has no such node, on any target; {advice}"
    error = cudnnGraphNotSupportedError(text)
    error.rule, error.code, error.node, error.tensor = "python.c01", "GRAPH_NOT_SUPPORTED", "", ""  # type: ignore[attr-defined]
    raise error
