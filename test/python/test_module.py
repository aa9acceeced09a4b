"""The module: names, enumerations, which package serves the name, and what importing costs."""

import inspect
import os
import pickle
import subprocess
import sys

import cudnn
import pytest
import sdpa_graph
from attention import qkv
from sdpa_graph import which


def run(program, folder="", **environment):
    """In a process of its own, which looks for modules in the folder first."""
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, **environment, "PYTHONPATH": path}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


def test_cudnn_is_this_package():
    assert cudnn is sdpa_graph
    assert "sdpa_graph" in cudnn.__file__
    assert cudnn.__version__.count(".") == 2


def test_submodules_are_one_object_under_both_names():

    assert sys.modules["cudnn.datatypes"] is sys.modules["sdpa_graph.datatypes"]


def test_which_says_who_serves_the_name(monkeypatch):
    assert which.which() == f"'cudnn' is sdpa_graph {cudnn.__version__}."
    monkeypatch.setattr(which, "_version", lambda name: "1.23.0" if name == which.EXISTING else None)
    assert "To use sdpa_graph, uninstall nvidia-cudnn-frontend" in which.which()
    monkeypatch.delitem(sys.modules, "cudnn")
    assert which.which().startswith("'import cudnn' gives nvidia-cudnn-frontend 1.23.0")


def test_an_existing_package_comes_first_and_can_be_passed_over(tmp_path):
    (tmp_path / "cudnn").mkdir()
    (tmp_path / "cudnn" / "__init__.py").write_text("mark = 'existing'\n")
    program = "import cudnn; print(cudnn.mark)"
    assert run(program, folder=tmp_path).stdout == "existing\n"
    program = (
        "import sdpa_graph.which as w; w.use_as_cudnn(); import cudnn, cudnn.datatypes; print(cudnn.pygraph.__module__)"
    )
    assert run(program, folder=tmp_path).stdout == "sdpa_graph.pygraph\n"


def test_enumerators_print_hash_and_pickle():
    assert str(cudnn.data_type.HALF) == "data_type.HALF"
    assert {cudnn.data_type.HALF: 1}[cudnn.data_type.HALF] == 1
    assert pickle.loads(pickle.dumps(cudnn.heur_mode.FALLBACK)) is cudnn.heur_mode.FALLBACK
    assert [mode.name for mode in cudnn.heur_mode] == ["A", "B", "FALLBACK", "OPENSOURCE"]


@pytest.mark.parametrize(
    "name",
    "data_type heur_mode build_plan_policy diagonal_alignment attention_implementation tensor_reordering "
    "reduction_mode norm_forward_phase numerical_note behavior_note knob_type scalar_type reshape_mode "
    "moe_grouped_matmul_mode".split(),
)
def test_enumeration_is_there(name):
    assert len(list(getattr(cudnn, name))) >= 2


def test_methods_of_graphs_are_methods():
    graph = cudnn.pygraph(target="cpu")
    assert all(inspect.ismethod(getattr(graph, name)) for name in ("sdpa", "add", "execute", "build_plans"))


def test_unsupported_graphs_raise_a_class_of_their_own():
    assert cudnn.cudnnGraphNotSupportedError.__mro__[1] is Exception


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError):
        cudnn.no_such_name


def test_no_handle_is_needed_without_a_gpu():
    program = (
        "import cudnn; handle = cudnn.create_handle(); cudnn.set_stream(handle=handle, stream=0);"
        "print(handle, cudnn.get_stream(handle)); cudnn.destroy_handle(handle)"
    )
    assert run(program, SDPA_GRAPH_TARGET="cpu").stdout == "0 0\n"


def test_import_is_quick_and_leaves_torch_and_numpy_alone():
    program = (
        "import sys, time; begin = time.process_time(); import cudnn; end = time.process_time();"
        "print(end - begin, 'torch' in sys.modules, 'numpy' in sys.modules)"
    )
    seconds, torch, numpy = min(run(program).stdout.split() for _ in range(3))
    assert float(seconds) < 0.150
    assert (torch, numpy) == ("False", "False")


def built_wrapper():
    with cudnn.Graph(
        io_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT, target="cpu"
    ) as graph:
        o, _ = graph.sdpa(*qkv(), is_inference=True, attn_scale=0.25)
        o.set_output(True)
    return graph


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: cudnn.pygraph(target="cpu"), r"serialize\(\) stores it"),
        (built_wrapper, r"serialize\(\) stores it"),
        (cudnn.tensor, "cannot pickle"),
        (cudnn.create_kernel_cache, "cannot pickle"),
    ],
)
def test_what_cannot_be_pickled_says_so(make, text):
    with pytest.raises(TypeError, match=text):
        pickle.dumps(make())


def test_enumerators_are_pickled():
    assert pickle.loads(pickle.dumps(cudnn.heur_mode.FALLBACK)) is cudnn.heur_mode.FALLBACK
