"""Which package serves the module name `cudnn`, and which cuDNN and NVRTC are in use: python -m sdpa_graph.which"""

from __future__ import annotations

import importlib.metadata
import sys

import sdpa_graph

from ._core import describe_runtime
from .packages import package_folders
from .second_name import use_as_cudnn

__all__ = ["libraries", "use_as_cudnn", "which"]

EXISTING = "nvidia-cudnn-frontend"
OURS = "sdpa-graph-cudnn"


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def which() -> str:
    """The package that `import cudnn` gives in this process, and how to choose."""
    loaded = sys.modules.get("cudnn")
    existing, ours = _version(EXISTING), _version(OURS)
    if loaded is sdpa_graph:
        answer = f"'cudnn' is sdpa_graph {sdpa_graph.__version__}."
    elif loaded is not None:
        answer = f"'cudnn' is {EXISTING} {existing}, loaded from {loaded.__file__}."
    elif existing:
        answer = f"'import cudnn' gives {EXISTING} {existing}: a package of that name comes before a module."
    elif ours:
        answer = f"'import cudnn' gives sdpa_graph {sdpa_graph.__version__}."
    else:
        return f"Nothing is called 'cudnn': install {OURS}, or call sdpa_graph.which.use_as_cudnn()."
    if not existing:
        return answer
    return f"{answer} To use sdpa_graph, uninstall {EXISTING} or call sdpa_graph.which.use_as_cudnn() first."


def libraries() -> str:
    """Which cuDNN and NVRTC this process uses and why, and how to choose others. Opens both."""
    folders = ", ".join(package_folders())
    order = (
        f"This Python's packages are searched first, in {folders}."
        if folders
        else "This Python has no packages of NVIDIA's, which would be searched first."
    )
    choice = "SDPA_GRAPH_CUDNN_PATH and SDPA_GRAPH_NVRTC_PATH choose others, by their folders."
    return f"{describe_runtime()}{order} {choice}"


if __name__ == "__main__":
    print(which())
    print(libraries())
