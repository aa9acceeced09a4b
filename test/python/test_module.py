"""The module: names, enumerations, which package serves the name, and what importing costs."""

import inspect
import operator
import os
import pathlib
import pickle
import re
import subprocess
import sys

import cudnn
import pytest
import sdpa_graph
from attention import qkv
from sdpa_graph import which
from sdpa_graph.packages import package_folders


def run(program, folder="", **environment):
    """Runs the program in a process of its own, which looks for modules in the folder first."""
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
    "moe_grouped_matmul_mode rewrite_policy shape_policy".split(),
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


def test_numbers_of_enumerators():
    assert int(cudnn.data_type.HALF) == operator.index(cudnn.data_type.HALF) == 3
    assert cudnn.data_type.HALF != 3 and repr(cudnn.data_type.HALF) == "<data_type.HALF: 3>"
    assert [int(kind) for kind in cudnn.cuda_graph_retention] == [0, 1]


@pytest.mark.parametrize(
    "statement",
    [
        "from cudnn.wrapper import Graph; assert Graph is cudnn.Graph",
        "from cudnn.graph import graph, jit, graph_cache; assert graph is cudnn.graph and jit is cudnn.jit",
        "from cudnn.datatypes import torch_to_cudnn_data_type; assert torch_to_cudnn_data_type('float') is None",
        "from cudnn.datatypes import _library_type; assert _library_type is sdpa_graph.datatypes._library_type",
        "import cudnn.experimental.ops.sdpa as ops; assert ops is sdpa_graph.experimental.ops.sdpa",
        "import cudnn.masks; assert cudnn.masks is sdpa_graph.masks and sys.modules['cudnn.masks'] is sdpa_graph.masks",
        "import cudnn._core; assert cudnn._core is sdpa_graph._core",
        "import cudnn.natten.modules",
    ],
)
@pytest.mark.parametrize("before", ["", "import cudnn; "])
def test_submodules_are_imported_once(statement, before):
    if "natten" in statement:
        pytest.importorskip("torch", reason="torch is not installed")
    check = "assert callable(cudnn.graph) and sys.modules['cudnn._core'] is sys.modules['sdpa_graph._core']"
    rest, _, asserted = statement.partition("; ")
    program = f"import sys; {before}{rest}; import cudnn, sdpa_graph; {asserted or 'pass'}; {check}; print('good')"
    done = run(program)
    assert done.stdout == "good\n", done.stderr


def test_a_module_that_is_neither_ours_nor_theirs():
    done = run("import cudnn.no_such_module")
    assert "ModuleNotFoundError: No module named 'cudnn.no_such_module'" in done.stderr


def test_submodules_of_an_existing_package_stay_its_own(tmp_path):
    (tmp_path / "cudnn").mkdir()
    (tmp_path / "cudnn" / "__init__.py").write_text("")
    (tmp_path / "cudnn" / "wrapper.py").write_text("mark = 'existing'\n")
    program = "import sdpa_graph.which, cudnn.wrapper; print(cudnn.wrapper.mark)"
    assert run(program, folder=tmp_path).stdout == "existing\n"


def without_choices():
    return {name: "" for name in ("SDPA_GRAPH_CUDNN_PATH", "SDPA_GRAPH_NVRTC_PATH")}


def has_cudnn_target():
    return "no cuDNN target" not in run("import sdpa_graph; print(sdpa_graph.describe_runtime())").stdout


def test_libraries_of_the_running_interpreter_come_first(tmp_path):
    if not has_cudnn_target():
        pytest.skip("this build has no cuDNN target")
    # A file that no loader opens: the report says that it was tried, and then what came next.
    file = tmp_path / "nvidia" / "cudnn" / "lib" / "libcudnn.so.9"
    file.parent.mkdir(parents=True)
    file.write_text("no library")
    elsewhere = {"VIRTUAL_ENV": "/nowhere/venv", "CUDNN_PATH": "/nowhere/cudnn", **without_choices()}
    done = run("import sdpa_graph.which as which; print(which.libraries())", folder=tmp_path, **elsewhere)
    assert f"tried {file}: file too short" in done.stdout or f"tried {file}: it is" in done.stdout
    assert f"This Python's packages are searched first, in {tmp_path}" in done.stdout
    chosen = run("import sdpa_graph; print(sdpa_graph.describe_runtime())", tmp_path, SDPA_GRAPH_CUDNN_PATH="/nowhere")
    assert str(file) not in chosen.stdout


def test_which_says_what_is_used_and_why(tmp_path):
    if not has_cudnn_target():
        pytest.skip("this build has no cuDNN target")
    found = re.search(r"^cuDNN \S+: (\S+?), ", run("import sdpa_graph as s; print(s.describe_runtime())").stdout, re.M)
    if not found:
        pytest.skip("no cuDNN is installed")
    folder = tmp_path / "nvidia" / "cudnn" / "lib"
    folder.mkdir(parents=True)
    for part in pathlib.Path(found.group(1)).parent.glob("libcudnn*.so.9"):
        (folder / part.name).symlink_to(part)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "sdpa_graph.which"]
    text = subprocess.run(command, capture_output=True, text=True, env=environment | without_choices()).stdout
    assert text.startswith("'import cudnn' gives") or text.startswith("Nothing is called 'cudnn'")
    assert re.search(rf"^cuDNN \S+: {folder}/\S+, from the packages in {tmp_path}, which the program named$", text, re.M)
    assert re.search(r"^NVRTC", text, re.M)
    assert "SDPA_GRAPH_CUDNN_PATH and SDPA_GRAPH_NVRTC_PATH choose others" in text


def test_a_conda_environment_has_libraries_in_its_lib_folder(tmp_path, monkeypatch):
    (tmp_path / "site-packages" / "nvidia").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "site-packages"), str(tmp_path), "relative"])
    assert package_folders() == [str(tmp_path / "site-packages")]
    (tmp_path / "conda-meta").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert package_folders() == [str(tmp_path / "site-packages"), str(tmp_path / "lib")]


def test_frozen_plan_stores_are_not_changed(tmp_path):
    (tmp_path / "store" / "environment").mkdir(parents=True)
    store = str(tmp_path / "store")
    sdpa_graph.freeze_plan_store(store)
    with pytest.raises(RuntimeError, match="is frozen; thaw it"):
        sdpa_graph.prune_plan_store(store, 0)
    sdpa_graph.freeze_plan_store(store, frozen=False)
    assert sdpa_graph.prune_plan_store(store, 0) == 0
    with pytest.raises(RuntimeError, match="is no folder"):
        sdpa_graph.freeze_plan_store(str(tmp_path / "nowhere"))


def test_plan_stores_are_filled_merged_and_pruned(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    (one / "environment").mkdir(parents=True)
    (one / "environment" / "damaged.plan").write_bytes(b"damaged")
    assert sdpa_graph.merge_plan_stores(str(one), str(other)) == 0
    assert sdpa_graph.prune_plan_store(str(one), 0) == 0
    with pytest.raises(RuntimeError, match="no plan store that is written"):
        sdpa_graph.fill_plan_store(str(one), "h100")
    sdpa_graph.set_plan_store(str(other))
    try:
        assert sdpa_graph.fill_plan_store(str(one), "h100") == {"compiled": 0, "loaded": 0, "refused": []}
        with pytest.raises(RuntimeError, match="cannot be read: .*; name"):
            sdpa_graph.fill_plan_store(str(tmp_path / "nowhere"), "h100")
    finally:
        sdpa_graph.set_plan_store("")
