"""Small helpers of the existing package around pygraph."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._core import data_type, heur_mode, tensor
from .datatypes import _library_type
from .pygraph import pygraph


@contextmanager
def graph(
    handle: int | None,
    name: str = "cudnn_graph",
    io_data_type: Any = data_type.HALF,
    intermediate_data_type: Any = data_type.FLOAT,
    compute_data_type: Any = data_type.FLOAT,
    **settings: Any,
) -> Iterator[tuple[pygraph, list[tensor]]]:
    """A new graph, and a list for the tensors that its function returns. `settings` are further arguments of
    pygraph."""
    io, intermediate, compute = map(_library_type, (io_data_type, intermediate_data_type, compute_data_type))
    yield pygraph(name, io, intermediate, compute, handle=handle, **settings), []


def jit(heur_modes: Any = heur_mode.A) -> Callable[..., Any]:
    """Decorates a function that returns (graph, tensors): builds a graph without a plan, and returns (graph, uids)."""
    modes = list(heur_modes) if isinstance(heur_modes, (list, tuple)) else [heur_modes]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> tuple[pygraph, list[int]]:
            built, tensors = function(*args, **kwargs)
            if built.get_execution_plan_count() == 0:
                built.build(modes)
            return built, [entry.get_uid() if isinstance(entry, tensor) else entry for entry in tensors]

        return call

    return decorate


def graph_cache(key_fn: Callable[..., Any], maxsize: int = 256) -> Callable[..., Any]:
    """Keeps the results of the decorated function, by the value of key_fn for its arguments; the oldest entry goes
    first."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        kept: OrderedDict[Any, Any] = OrderedDict()

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            key = key_fn(*args, **kwargs)
            if key not in kept:
                kept[key] = function(*args, **kwargs)
                if len(kept) > maxsize:
                    kept.popitem(last=False)
            return kept[key]

        return call

    return decorate
