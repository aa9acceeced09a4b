#!/usr/bin/env python3
"""Runs the notebooks of samples/python on the CPU and stores what their cells show, so that web pages show it too.

Needs the package sdpa_graph with NumPy, and torch for the notebook that imports it. Arguments are parts of names.
"""

import ast
import contextlib
import io
import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "samples" / "python"
FORMS = (("image/svg+xml", "_repr_svg_"), ("text/html", "_repr_html_"), ("text/plain", "__repr__"))


def notebooks():
    return sorted(FOLDER.glob("*.ipynb"))


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs_of(source, names, number):
    """Executes a cell; returns what it prints, and its last expression in the forms that it has for notebooks."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
        shown = eval(compile(last, "cell", "eval"), names) if last else None
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if shown is not None:
        data = {form: lines(str(getattr(shown, method)())) for form, method in FORMS if hasattr(shown, method)}
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def lines(text):
    return text.splitlines(keepends=True)


def with_outputs(notebook):
    """The same notebook, run from its first cell to its last."""
    names = {"__name__": "__main__"}
    notebook = json.loads(json.dumps(notebook))
    for number, cell in enumerate(code_cells(notebook), 1):
        cell["execution_count"] = number
        cell["outputs"] = outputs_of("".join(cell["source"]), names, number)
    return notebook


def comparable(notebook):
    """The output of cells, without numbers in text, which depend on the machine, and the width of columns."""
    shown = []
    for cell in code_cells(notebook):
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", [])})
            shown.append({form: without_numbers(form, "".join(text)) for form, text in data.items()})
    return shown


def without_numbers(form, text):
    return text if form == "image/svg+xml" else " ".join(re.sub(r"-?\d[\d.]*(e[-+]?\d+)?", "#", text).split())


def main():
    for path in notebooks():
        if all(part in path.name for part in sys.argv[1:]):
            notebook = with_outputs(json.loads(path.read_text(encoding="utf-8")))
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
