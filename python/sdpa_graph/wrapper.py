"""Graph: a graph built inside a `with` block and called like a function, as in the existing package."""

from __future__ import annotations

import atexit
import inspect
import logging
from collections.abc import Sequence
from typing import Any

from . import handles
from ._core import data_type, heur_mode, tensor
from .allocation import allocate, current_stream_of
from .datatypes import _library_type
from .pygraph import pygraph
from .targets import default_target, needs_handle

_logger = logging.getLogger(__name__)

_FORWARDED = (
    "get_workspace_size",
    "get_workspace_size_plan_at_index",
    "serialize",
    "deserialize",
    "query_tensor_attributes_of_uid",
    "to_json",
    "check",
    "advice",
    "explain",
    "plans",
    "plot",
    "draw_plan",
    "draw_window",
    "print_candidates",
    "verify",
    "capsule",
    "set_batch_invariant",
    "set_first_run_verification",
    "set_group",
    "set_rewrites",
    "set_shape_policy",
    "set_workspace_limit",
)
_BLOCKED = (
    "build",
    "validate",
    "build_operation_graph",
    "create_execution_plans",
    "create_execution_plan",
    "check_support",
    "build_plans",
    "build_plan_at_index",
    "build_all_plans",
    "autotune",
    "choose_plan_by_times",
    "get_autotune_workspace_size",
    "execute",
    "execute_plan_at_index",
    "get_execution_plan_count",
    "get_plan_name_at_index",
    "get_engine_count",
    "get_knobs_for_engine",
    "select_numeric_notes",
    "deselect_numeric_notes",
    "select_behavior_notes",
    "deselect_behavior_notes",
    "deselect_engines",
    "deselect_workspace_greater_than",
    "get_behavior_notes",
    "get_behavior_notes_for_plan_at_index",
    "key",
    "populate_cuda_graph",
    "update_cuda_graph",
)
_DATA_TYPES = ("io_data_type", "intermediate_data_type", "compute_data_type")


class _Auto:
    """One handle for all graphs with handle="auto", on torch's current stream, for as long as the process lives."""

    handle: int | None = None

    @classmethod
    def get(cls, values: Sequence[Any]) -> int:
        if cls.handle is None:
            cls.handle = handles.create_handle()
            atexit.register(handles.destroy_handle, cls.handle)
        stream = current_stream_of(values)
        if stream is not None:
            handles.set_stream(handle=cls.handle, stream=stream)
        return cls.handle


class Graph:
    """A graph whose operations take arrays as well as graph tensors. Leaving the `with` block builds it."""

    def __init__(
        self,
        *,
        handle: int | str | None = None,
        inputs: Sequence[Any] | None = None,
        outputs: Sequence[Any] | None = None,
        heuristics: Sequence[heur_mode] | None = None,
        workspace_alloc: bool = True,
        **settings: Any,
    ) -> None:
        for name, value in (("inputs", inputs), ("outputs", outputs), ("heuristics", heuristics)):
            if value is not None and not isinstance(value, (list, tuple)):
                raise ValueError(f"{name} is a {type(value).__name__}: a list or tuple is needed")
        self._handle = handle
        self._io = (inputs, outputs)
        self._heuristics = list(heuristics or [heur_mode.A, heur_mode.FALLBACK])
        self._workspace_alloc = workspace_alloc
        self._settings: dict[str, Any] = {
            key: _library_type(value) if key in _DATA_TYPES else value for key, value in settings.items()
        }
        if isinstance(handle, int):
            self._settings["handle"] = handle
        self._target = settings.get("target") or default_target()
        self._graph: pygraph | None = None
        self._is_built = False
        self._workspace: Any = None
        self._counts: dict[str, int] = {}
        self._names: dict[str, tensor] = {}
        # The object is kept with its tensor, so that its id stays its own.
        self._by_object: dict[int, tuple[Any, tensor]] = {}
        self._node_inputs: list[tensor] = []
        self._node_outputs: list[tensor] = []
        self._scalars: list[tensor] = []  # numbers of the graph, which need no memory
        self._io_tensors: tuple[list[tensor], list[tensor]] | None = None

    def __enter__(self) -> Graph:
        if self._graph is not None:
            raise RuntimeError("The graph has been entered before: a Graph is built once.")
        self._graph = pygraph(**self._settings)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        graph = self._graph
        if error is not None or graph is None:
            _logger.error("the graph was dropped because of %r", error)
            self._graph = None
            return
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans(self._heuristics)
        graph.check_support()
        graph.build_plans()
        self._is_built = True
        if any(entries is not None for entries in self._io):
            self.set_io_tuples(*self._io)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        graph = self._graph
        if graph is None:
            raise RuntimeError(f"Graph.{name}: the graph is there inside and after its 'with' block")
        if name in _BLOCKED:
            raise RuntimeError(f"Calling {name} via wrapper is not allowed")
        attribute = getattr(graph, name)
        if name in _FORWARDED or not inspect.ismethod(attribute):
            return attribute
        if name in ("tensor", "tensor_like"):
            return attribute
        if name == "tensor_scalar":
            return lambda *args, **kwargs: self._add_scalar(attribute(*args, **kwargs))
        return lambda *args, **kwargs: self._add_node(name, attribute, args, kwargs)

    def _repr_html_(self) -> str | None:
        return None if self._graph is None else self._graph._repr_html_()

    def __reduce__(self) -> Any:
        raise TypeError("a Graph cannot be pickled: serialize() stores it with its plan")

    # Building

    def _add_node(self, operation: str, method: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        count = self._counts.get(operation, 0)
        self._counts[operation] = count + 1
        node = kwargs.get("name") or f"{operation}.{count}"
        if any(name.startswith(f"{node}::") for name in self._names):
            raise ValueError(f"A node is called '{node}' already: node names are unique in a graph")
        given = [self._take(f"{node}::{index}", value) for index, value in enumerate(args)]
        named = {key: self._take(f"{node}::{key}", value) for key, value in kwargs.items()}
        result = method(*given, **{**named, "name": node})
        results = result if isinstance(result, (list, tuple)) else [result]
        for index, output in enumerate(results):
            if isinstance(output, tensor):
                self._names[output.get_name() or f"{node}::{index}"] = output
                self._node_outputs.append(output)
        return result

    def _add_scalar(self, scalar: tensor) -> tensor:
        self._scalars.append(scalar)
        return scalar

    def _take(self, name: str, value: Any) -> Any:
        """An argument in the form of the graph: arrays become tensors of the graph, and get the argument's name."""
        if isinstance(value, tuple):
            return tuple(self._take(f"{name}::{index}", part) for index, part in enumerate(value))
        if hasattr(value, "__dlpack__"):
            value = self._tensor_of(value, name)
        if isinstance(value, tensor):
            self._names[name] = value
            is_result = any(value is output for output in self._node_outputs)
            if not is_result and all(value is not known for known in self._node_inputs):
                self._node_inputs.append(value)
        return value

    def _tensor_of(self, value: Any, name: str) -> tensor:
        known = self._by_object.get(id(value))
        if known is None:
            assert self._graph is not None
            exported = value.detach() if getattr(value, "requires_grad", False) else value
            known = self._by_object[id(value)] = (value, self._graph.tensor_like(exported, name))
        return known[1]

    # Names

    def _find(self, entry: Any) -> tensor | None:
        """Finds a tensor by name, tensor, array that the graph was built with, or uid."""
        if isinstance(entry, tensor):
            return entry
        if isinstance(entry, int):
            return next((found for found in self._all() if found.get_uid() == entry), None)
        if not isinstance(entry, str):
            known = self._by_object.get(id(entry))
            return known[1] if known else None
        named = self._names.get(entry)
        return named if named is not None else next((found for found in self._all() if found.get_name() == entry), None)

    def _all(self) -> list[tensor]:
        return self._node_inputs + self._node_outputs

    def _results(self) -> list[tensor]:
        return [output for output in self._node_outputs if not output.get_is_virtual()]

    def set_io_tuples(self, inputs: Sequence[Any] | None, outputs: Sequence[Any] | None) -> None:
        """The inputs and outputs of a call with tensors alone, in order."""
        if not self._is_built:
            self._io = (inputs, outputs)
            return
        found_in = [self._entry(entry, "inputs") for entry in inputs or ()]
        found_out = [self._entry(entry, "outputs") for entry in outputs or ()]
        both = found_in + found_out
        if len({id(found) for found in both}) < len(both):
            raise ValueError("inputs and outputs name a tensor twice")
        missing = [found.get_name() for found in self._needed() if all(found is not named for named in both)]
        if missing:
            raise ValueError(f"inputs and outputs leave out {', '.join(missing)}: a run needs memory for each tensor")
        self._io_tensors = (found_in, found_out)

    def _entry(self, entry: Any, place: str) -> tensor:
        found = self._find(entry)
        if found is None:
            raise ValueError(f"{place}: no tensor of the graph is {entry!r}; it has {', '.join(self._names)}")
        if found.get_is_virtual():
            raise ValueError(
                f"{place}: {entry!r} is virtual: no memory belongs to it; set_output(True) makes it a result"
            )
        return found

    def _needed(self) -> list[tensor]:
        inputs = [known for known in self._node_inputs if not known.get_is_virtual() and not self._has_value(known)]
        return inputs + self._results()

    def _has_value(self, known: tensor) -> bool:
        return known.get_has_compile_time_constant() or any(known is scalar for scalar in self._scalars)

    # Running

    def __call__(self, *args: Any, handle: int | None = None, workspace: Any = None) -> Any:
        if not self._is_built:
            raise RuntimeError("The graph is not built: call it behind its 'with' block.")
        if len(args) == 1 and isinstance(args[0], dict):
            return self._run_named(args[0], handle, workspace)
        if self._io_tensors is None:
            raise ValueError(
                "A call with tensors needs the lists of inputs and outputs: Graph(inputs=..., outputs=...)"
            )
        inputs, outputs = self._io_tensors
        if len(args) != len(inputs):
            raise ValueError(f"{len(args)} tensors were given; expected {len(inputs)}, one for each input of the graph")
        pack = dict(zip(inputs, args))
        results = [self._allocate(output, args) for output in outputs]
        pack.update(zip(outputs, results))
        self._run(pack, handle, workspace)
        return results[0] if len(results) == 1 else results

    def _run_named(self, values: dict[Any, Any], handle: int | None, workspace: Any) -> dict[Any, Any]:
        pack: dict[tensor, Any] = {}
        for key, value in values.items():
            found = self._find(key)
            if found is None:
                raise RuntimeError(f"no tensor of the graph is {key!r}; it has {', '.join(self._names)}")
            if not hasattr(value, "__dlpack__"):
                raise RuntimeError(f"{key!r} is a {type(value).__name__}: an object with __dlpack__ is needed")
            pack[found] = value
        for output in self._results():
            if output not in pack:
                pack[output] = values[output.get_name()] = self._allocate(output, list(values.values()))
        missing = [found.get_name() for found in self._needed() if found not in pack]
        if missing:
            raise RuntimeError(f"the call leaves out {', '.join(missing)}")
        self._run(pack, handle, workspace)
        return values

    def _allocate(self, output: tensor, examples: Sequence[Any]) -> Any:
        on_host = self._graph is not None and self._graph._runs_on_host()
        return allocate(examples, on_host, output.get_dim(), output.get_stride(), output.get_data_type())

    def _run(self, pack: dict[tensor, Any], handle: int | None, workspace: Any) -> None:
        assert self._graph is not None
        values = list(pack.values())
        if workspace is None and not self._graph._runs_on_host():
            workspace = self._own_workspace(values)
        self._graph.execute(pack, workspace, handle=self._handle_for(handle, values))

    def _own_workspace(self, values: Sequence[Any]) -> Any:
        if not self._workspace_alloc:
            raise RuntimeError("workspace_alloc is False: pass workspace= to the call")
        if self._workspace is None:
            assert self._graph is not None
            self._workspace = allocate(values, False, [self._graph.get_workspace_size()], [1], data_type.UINT8)
        return self._workspace

    def _handle_for(self, handle: int | None, values: Sequence[Any]) -> int | None:
        if handle is not None or not needs_handle(self._target):
            return handle
        if self._handle == "auto":
            return _Auto.get(values)
        if self._handle is None:
            raise RuntimeError("Need to specify cudnn handle: to the graph, or to the call")
        return int(self._handle)
