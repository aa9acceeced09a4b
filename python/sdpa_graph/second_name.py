"""The module name `cudnn` for this package and its submodules, each of which is one module under both names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

OURS, SECOND = "sdpa_graph", "cudnn"
# Submodules that have another name in the existing package.
_OTHER_NAMES = {"graph": "helpers"}


class _Loader:
    """Loads a module under its own name, and enters it under the second name too."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(self._name)


class _Finder:
    """Finds submodules under the second name, which Python would load a second time, with the extension module."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, rest = name.partition(".")
        if package != SECOND or not rest or sys.modules.get(SECOND) is not sys.modules[OURS]:
            return None
        own = f"{OURS}.{rest}"
        return ModuleSpec(name, _Loader(own)) if find_spec(own) else None  # type: ignore[arg-type]


def use_as_cudnn() -> None:
    """Makes `import cudnn` give this package in this process, whichever packages are installed. Call it before that
    import."""
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    loaded = {name: module for name, module in sys.modules.items() if name.split(".")[0] == OURS}
    for name, module in loaded.items():
        sys.modules[SECOND + name.removeprefix(OURS)] = module
    # Python would import these later as attributes of the package, in place of its functions of the same names.
    for name, own in _OTHER_NAMES.items():
        sys.modules[f"{SECOND}.{name}"] = sys.modules[f"{OURS}.{own}"]
