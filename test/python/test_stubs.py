"""The stub file has what the compiled module has, and nothing else."""

import ast
import enum
import pathlib

import sdpa_graph
from sdpa_graph import _core

STUB = ast.parse((pathlib.Path(sdpa_graph.__file__).parent / "_core.pyi").read_text())


def defined(nodes):
    """The names that a module or class defines, except aliases."""
    kinds = (ast.ClassDef, ast.FunctionDef)
    names = {node.name for node in nodes if isinstance(node, kinds)}
    names |= {node.target.id for node in nodes if isinstance(node, ast.AnnAssign)}
    return names | {node.targets[0].id for node in nodes if isinstance(node, ast.Assign)}


def members(kind):
    if issubclass(kind, enum.Enum):
        return set(kind.__members__)
    return {name for name in vars(kind) if not name.startswith(("__", "_pybind11"))}


def test_names_of_the_module():
    found = {name for name in vars(_core) if not name.startswith("__")}
    aliases = {"_DataType", "_ReshapeMode", "_Tensor"}
    assert defined(STUB.body) - aliases - {"__version__"} == found


def test_members_of_classes():
    for node in STUB.body:
        if isinstance(node, ast.ClassDef) and node.name != "cudnnGraphNotSupportedError":
            written = {name for name in defined(node.body) if not name.startswith("__")}
            assert written == members(getattr(_core, node.name)), node.name


def test_values_of_enumerators():
    for node in STUB.body:
        if isinstance(node, ast.ClassDef) and issubclass(getattr(_core, node.name), enum.Enum):
            values = {part.targets[0].id: part.value.value for part in node.body if isinstance(part, ast.Assign)}
            assert values == {member.name: member.value for member in getattr(_core, node.name)}
