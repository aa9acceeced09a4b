"""The command sdpa of the package: python -m sdpa_graph and the console script."""

import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import sdpa_graph
from sdpa_graph import __main__

COMMANDS = [(sys.executable, "-m", "sdpa_graph")]
if any(importlib.metadata.distributions(name="sdpa-graph")):  # else the package is used from a build folder
    COMMANDS.append((pathlib.Path(sys.executable).with_name("sdpa"),))
ROOT = pathlib.Path(__file__).parents[2]
GRAPHS = ROOT / "graphs"

if sdpa_graph._core._run_command(["sdpa", "--version"], []) is None:
    pytest.skip("the package was built without CLI11", allow_module_level=True)


def run(*arguments, command=(sys.executable, "-m", "sdpa_graph"), **keywords):
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, **keywords)


@pytest.mark.parametrize("command", COMMANDS)
def test_it_answers(command):
    assert run("--version", command=command).stdout == f"sdpa-graph {sdpa_graph.__version__}\n"
    done = run("run", GRAPHS / "stable-diffusion-1.5-middle.json", "--verify", "--json", command=command)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["target"] == "cpu"


def test_exit_codes_and_errors():
    done = run("show", GRAPHS / "missing.json")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("sdpa: ")
    assert run("explain", "-", "--target", "cpu", input="{}").returncode == 2


def test_file_names_that_are_no_text(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff.json")
    with open(path, "wb") as file:
        file.write((GRAPHS / "stable-diffusion-1.5-middle.json").read_bytes())
    done = subprocess.run([sys.executable, "-m", "sdpa_graph", "show", path], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_doctor_finds_the_libraries_that_the_package_finds():
    report = json.loads(run("doctor", "--quick", "--json").stdout)
    program = "import sdpa_graph; print(sdpa_graph.describe_runtime())"
    described = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
    assert report["libraries"].splitlines()[0] == described.splitlines()[0]


def test_matrix_asks_a_library_in_a_process_of_its_own():
    found = re.search(r"(?m)^cuDNN 9\.\S*: (\S+?),", json.loads(run("doctor", "--quick", "--json").stdout)["libraries"])
    if not found:
        pytest.skip("there is no cuDNN library here")
    done = run("matrix", GRAPHS / "vit-b16.json", "--for", "h100", "--cudnn", found[1])
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"\nvit-b16 +yes\n", done.stdout), done.stdout


def test_the_documents_that_errors_cite_are_in_the_package():
    sources = [path for folder in ("src", "python/src", "python/sdpa_graph", "tools/sdpa") for path in (ROOT / folder).rglob("*.*")]
    lines = [line for path in sources if path.suffix in (".cpp", ".h", ".py") for line in path.read_text().splitlines()]
    cited = {name for line in lines if not line.lstrip().startswith("//") for name in re.findall(r"\bdocs/([a-z-]+\.md)", line)}
    assert {"cudnn.md", "json.md"} <= cited
    documents = pathlib.Path(sdpa_graph.__file__).parent / "docs"
    assert cited - {path.name for path in documents.iterdir()} == set()


def test_a_build_without_the_command_says_so(monkeypatch, capsys):
    monkeypatch.setattr(sdpa_graph._core, "_run_command", lambda words, starting_words: None)
    monkeypatch.setattr(__main__.signal, "signal", lambda *arguments: None)
    assert __main__.main() == 2
    assert "libcli11-dev" in capsys.readouterr().err
