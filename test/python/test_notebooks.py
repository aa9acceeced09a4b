"""The existing package's notebooks for attention, cell by cell on the host: SDPA_GRAPH_NOTEBOOKS names a folder that
has them as text, in which "In [None]:" stands before each cell. Needs torch."""

import ast
import os
import pathlib
import re

import cudnn
import pytest

FOLDER = os.environ.get("SDPA_GRAPH_NOTEBOOKS")
NOTEBOOKS = sorted(
    path for path in pathlib.Path(FOLDER or ".").glob("*.txt") if FOLDER and "import cudnn" in path.read_text()
)
pytestmark = pytest.mark.torch


def cells(text):
    """Prose follows a cell without a mark: a cell is as much of the text as is Python."""
    for part in text.split("In [None]:\n")[1:]:
        lines = part.splitlines()
        while lines and not parses("\n".join(lines)):
            lines.pop()
        yield "\n".join(lines)


def parses(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


class WithoutGpuChecks(ast.NodeTransformer):
    """Takes out what asks for a GPU or a cuDNN."""

    def visit_Assert(self, node):
        return None if re.search("cuda|backend_version", ast.unparse(node)) else node


def on_host(cell):
    cell = (
        cell.replace('device="cuda"', 'device="cpu"').replace(".cuda()", "").replace("torch.cuda.synchronize()", "pass")
    )
    return ast.unparse(WithoutGpuChecks().visit(ast.parse(cell)))


@pytest.mark.parametrize("path", NOTEBOOKS or [None], ids=lambda path: path.stem if path else "none")
def test_notebook(path):
    pytest.importorskip("torch", reason="torch is not installed")
    if path is None:
        pytest.skip("SDPA_GRAPH_NOTEBOOKS names no folder of notebooks")
    cudnn.set_default_target("cpu")
    try:
        names, count = {}, 0
        for cell in cells(path.read_text()):
            exec(compile(on_host(cell), str(path), "exec"), names)
            count += 1
    finally:
        cudnn.set_default_target(None)
    assert count > 8 and names["o_ref"].shape == names["o_gpu"].shape
