"""Handles of cuDNN and their streams, as integers."""

from __future__ import annotations

from . import _core
from .targets import default_target, needs_handle


def create_handle() -> int:
    """A handle of the cuDNN that plans are built with; 0 if the default target is not a GPU."""
    return _core.create_handle() if needs_handle(default_target()) else 0


def destroy_handle(handle: int) -> None:
    if handle != 0:
        _core.destroy_handle(handle)


def set_stream(handle: int, stream: int) -> None:
    """Makes runs with the handle go to the stream, a cudaStream_t as an integer."""
    if handle != 0:
        _core.set_stream(handle, stream)


def get_stream(handle: int) -> int:
    return _core.get_stream(handle) if handle != 0 else 0
