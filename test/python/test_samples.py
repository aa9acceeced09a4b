"""The notebooks of samples/python, cell by cell. What they claim is asserted in their cells; the last value of a cell
has to show itself, as it would in a notebook."""

import ast
import json
import pathlib

import pytest

SAMPLES = sorted((pathlib.Path(__file__).parents[2] / "samples" / "python").glob("*.ipynb"))


def run(cell, names):
    """Executes a cell; its last expression, if it ends with one, is shown."""
    tree = ast.parse(cell)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    shown = eval(compile(last, "cell", "eval"), names) if last else None
    for method in ("_repr_html_", "_repr_svg_"):
        assert "<" in getattr(shown, method, lambda: "<")()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_notebook(path):
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    if "import torch" in code[0]:
        pytest.importorskip("torch", reason="torch is not installed")
    assert not any(cell.get("outputs") for cell in cells), "notebooks are stored without outputs"
    names = {"__name__": "__main__"}
    for cell in code:
        run(cell, names)


def test_there_are_notebooks():
    assert len(SAMPLES) == 3
