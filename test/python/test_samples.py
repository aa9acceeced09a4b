"""The notebooks of samples/python and the program in README.md. What the notebooks claim is asserted in their cells; what
their cells show is stored with them, and has to be what they show now."""

import json
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))
import run_notebooks  # noqa: E402

NOTEBOOKS = run_notebooks.notebooks()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = run_notebooks.code_cells(notebook)
    if "import torch" in "".join(cells[0]["source"]):
        pytest.importorskip("torch", reason="torch is not installed")
    found = run_notebooks.comparable(run_notebooks.with_outputs(notebook))
    assert found == run_notebooks.comparable(notebook), "store the outputs again: tools/run_notebooks.py"


def test_there_are_notebooks_with_pictures_and_small():
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        assert path.stat().st_size < 64 << 10
    shown = [output for path in NOTEBOOKS for output in run_notebooks.comparable(json.loads(path.read_text("utf-8")))]
    assert sum("image/svg+xml" in output for output in shown) == 3
    assert sum("text/html" in output for output in shown) == 3


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_the_program_in_the_readme(capsys, page):
    programs = re.findall(r"\n```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
    assert len(programs) == 1
    exec(compile(programs[0], page, "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "(2, 8, 128, 64) True\n"


def test_the_page_of_the_package_index_has_no_relative_links():
    """It is shown where the repository's files are not."""
    targets = re.findall(r"\]\(([^)]*)\)", (ROOT / "python/README.md").read_text("utf-8"))
    assert [target for target in targets if not target.startswith("https://")] == []
