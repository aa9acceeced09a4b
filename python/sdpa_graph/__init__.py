"""Attention as graphs, on cuDNN and on the CPU: the Python interface of the existing package, and more.

`import sdpa_graph as cudnn` runs programs written for the existing package; the distribution sdpa-graph-cudnn provides
the module name itself. docs/python.md has the rest.
"""

from __future__ import annotations

from . import datatypes, experimental
from ._core import (
    __version__,
    _set_package_folders,
    attention_implementation,
    backend_version,
    backend_version_string,
    behavior_note,
    build_plan_policy,
    create_device_properties,
    create_kernel_cache,
    cuda_graph_retention,
    cudnnGraphNotSupportedError,
    data_type,
    describe_runtime,
    device_names,
    device_properties,
    diagonal_alignment,
    fill_plan_store,
    freeze_plan_store,
    get_last_error_string,
    heur_mode,
    kernel_cache,
    knob,
    knob_type,
    merge_plan_stores,
    moe_grouped_matmul_mode,
    norm_forward_phase,
    numerical_note,
    plan_counts,
    pointwise_mode,
    prune_plan_store,
    reduction_mode,
    reshape_mode,
    rewrite,
    rewrite_policy,
    scalar_type,
    set_plan_store,
    stored_plan,
    tensor,
    tensor_reordering,
)
from .handles import create_handle, destroy_handle, get_stream, set_stream
from .helpers import graph, graph_cache, jit
from .packages import package_folders
from .pygraph import pygraph
from .shape_policies import set_shape_policy
from .targets import default_target, set_default_target
from .wrapper import Graph

_set_package_folders(package_folders())

__all__ = [
    "__version__",
    "attention_implementation",
    "backend_version",
    "backend_version_string",
    "behavior_note",
    "build_plan_policy",
    "create_device_properties",
    "create_handle",
    "create_kernel_cache",
    "cuda_graph_retention",
    "cudnnGraphNotSupportedError",
    "data_type",
    "datatypes",
    "default_target",
    "describe_runtime",
    "destroy_handle",
    "device_names",
    "device_properties",
    "diagonal_alignment",
    "experimental",
    "get_last_error_string",
    "get_stream",
    "Graph",
    "graph",
    "graph_cache",
    "heur_mode",
    "jit",
    "kernel_cache",
    "knob",
    "knob_type",
    "moe_grouped_matmul_mode",
    "norm_forward_phase",
    "numerical_note",
    "pointwise_mode",
    "pygraph",
    "reduction_mode",
    "reshape_mode",
    "rewrite",
    "rewrite_policy",
    "scalar_type",
    "set_default_target",
    "set_stream",
    "stored_plan",
    "tensor",
    "tensor_reordering",
    "plan_counts",
    "fill_plan_store",
    "freeze_plan_store",
    "merge_plan_stores",
    "prune_plan_store",
    "set_plan_store",
    "set_shape_policy",
]
