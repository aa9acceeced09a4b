"""Handles of cuDNN and their streams, as integers."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

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


class _Owned:
    """A handle that ends with the thread that it was made for."""

    def __init__(self) -> None:
        self.value = _core.create_handle()

    # Both functions are defaults, since at the interpreter's end modules are gone before the objects of threads.
    def __del__(
        self, is_ending: Callable[[], bool] = sys.is_finalizing, destroy: Callable[[int], None] = _core.destroy_handle
    ) -> None:
        if not is_ending():
            destroy(self.value)


class _Of_thread(threading.local):
    def __init__(self) -> None:
        self.handles: dict[int, _Owned] = {}


_of_thread = _Of_thread()


def handle_of_thread(device: int) -> int:
    """The handle of this thread for the GPU, which has to be the current one. Threads cannot share a handle, which has
    one stream."""
    handles = _of_thread.handles
    if device not in handles:
        handles[device] = _Owned()
    return handles[device].value
