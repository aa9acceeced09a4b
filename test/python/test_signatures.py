"""The calls that programs can make under the existing package's names: methods, keywords, defaults and enumerators, held against
those that existing_package.json records of two of its releases, and against an installed one where there is one."""

import importlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys

import cudnn
import pytest
import signatures

FOLDER = pathlib.Path(__file__).parent
RECORDED = json.loads((FOLDER / "existing_package.json").read_text())
OLDER, NEWER = "1.23.0", "1.32.0"
OURS = signatures.of_module(cudnn)

# The nodes of the existing package's graphs that are not attention, and that this library lacks.
OTHER_NODES = {
    *("adalayernorm", "batchnorm", "instancenorm", "layernorm", "rmsnorm", "batchnorm_inference", "genstats"),
    *("adalayernorm_backward", "batchnorm_backward", "instancenorm_backward", "layernorm_backward", "rmsnorm_backward"),
    *("conv_dgrad", "conv_fprop", "conv_wgrad", "moe_grouped_matmul", "moe_grouped_matmul_bwd"),
}
RECURRENT = {
    *(f"{node}{form}" for node in ("gdn", "gdn2", "gdp", "kda", "mamba2") for form in ("", "_bwd", "_summary")),
    *(f"{node}_summary_bwd" for node in ("gdn", "gdn2", "gdp", "kda", "mamba2")),
}
# The methods of graphs that are Python objects there.
INSPECTION = {
    *("backend_plan_entries", "find_tensor", "get_cuda_graph_retention", "get_engine_and_knobs_at_index"),
    *("get_inputs", "get_node", "get_outputs", "inspect", "select_plan"),
}
NOT_HERE = {OLDER: OTHER_NODES, NEWER: OTHER_NODES | RECURRENT | INSPECTION | {"rope", "rope_backward"}}

# Keywords that are not taken. Where releases call a first argument differently, programs give it by position.
NO_KEYWORD = {
    (NEWER, "__init__"): {"**kwargs"},
    (NEWER, "build"): {"ctx"},
    (NEWER, "deserialize"): {"enforce_precompiled"},
    (NEWER, "execute"): {"tensor_dict"},
    (NEWER, "execute_plan_at_index"): {"tensor_dict", "*args", "**kwargs"},
    (NEWER, "get_workspace_size"): {"handle", "override_uids", "override_shapes", "override_strides"},
    (NEWER, "get_workspace_size_plan_at_index"): {"handle", "override_uids", "override_shapes", "override_strides"},
    (NEWER, "reduction"): {"group_offset"},
    (NEWER, "tensor"): {"**kwargs"},
    (NEWER, "tensor_like"): {"template", "is_virtual"},
}
# Enumerators that are not here, or have another number there.
OTHER_NUMBERS = {
    (NEWER, "data_type"): {"FP8_E4M3", "FP8_E5M2", "FAST_FLOAT_FOR_FP8", "FP8_E8M0", "FP8_E5M3", "FP4_E2M1", "INT4"},
    (NEWER, "knob_type"): {
        *("TILE_CGA", "SCHED_POLICY", "PACK_GQA", "SPLIT_KV", "PIPELINE_ARCH"),
        *("MMA_TILE_M", "MMA_TILE_N", "MMA_TILE_K", "CTA_GROUP", "WARPS_M", "WARPS_N"),
    },
}
OTHER_ENUMERATIONS = {OLDER: set(), NEWER: {"NodeType", "gnn_activation_op", "gnn_agg_op"}}


def methods(version, recorded=None):
    """(class, method, overload) of what both have."""
    for kind in signatures.CLASSES:
        for name, overloads in (recorded or RECORDED[version])[kind].items():
            if name in OURS[kind]:
                for overload in overloads:
                    yield kind, name, overload


def name_of(entry):
    return entry.partition("=")[0]


def positional(overload):
    parameters = overload[: overload.index("*")] if "*" in overload else overload
    return [entry for entry in parameters if not entry.startswith("*")]


def takes(overload, wanted, left_out, in_order):
    """Whether each named parameter is one of the overload's, with the same default where the recorded one has one; and in
    order whether each can be given at its place."""
    ours = {name_of(entry): entry for entry in overload}
    named = [entry for entry in wanted if entry and not entry.startswith("*") and name_of(entry) not in left_out]
    if not all(name_of(entry) in ours and same(entry, ours[name_of(entry)]) for entry in named):
        return False
    places, own_places = positional(wanted), positional(overload)
    same_places = all(not entry or same(entry, own) for entry, own in zip(places, own_places))
    return not in_order or (same_places and len(places) <= len(own_places))


def same(theirs, own):
    """A default may be there in place of none; a newer None stands for what an older release names."""
    name, _, default = theirs.partition("=")
    if name != name_of(own) or not default:
        return name == name_of(own)
    return own != name if default == "None" else own == theirs


def check(version, kind, name, wanted):
    left_out = NO_KEYWORD.get((version, name), set()) if kind == "pygraph" else set()
    found = OURS[kind][name]
    assert any(takes(overload, wanted, left_out, version == OLDER) for overload in found), (wanted, found)


@pytest.mark.parametrize("version", RECORDED)
@pytest.mark.parametrize("kind", signatures.CLASSES)
def test_methods_are_there(version, kind):
    missing = set(RECORDED[version][kind]) - set(OURS[kind])
    assert missing == (NOT_HERE[version] if kind == "pygraph" else set())


@pytest.mark.parametrize("kind, name, wanted", list(methods(OLDER)), ids=str)
def test_keywords_order_and_defaults(kind, name, wanted):
    check(OLDER, kind, name, wanted)


@pytest.mark.parametrize("kind, name, wanted", list(methods(NEWER)), ids=str)
def test_keywords_of_a_newer_release(kind, name, wanted):
    check(NEWER, kind, name, wanted)


@pytest.mark.parametrize("version, name", NO_KEYWORD)
def test_keywords_that_are_left_out_are_not_taken(version, name):
    ours = {name_of(entry) for overload in OURS["pygraph"][name] for entry in overload}
    theirs = {name_of(entry) for overload in RECORDED[version]["pygraph"][name] for entry in overload}
    assert NO_KEYWORD[version, name] <= theirs - ours


@pytest.mark.parametrize("version", RECORDED)
@pytest.mark.parametrize("name", signatures.FUNCTIONS)
def test_functions(version, name):
    for wanted in RECORDED[version]["functions"][name]:
        extra = {"**graph_kwargs", "**kwargs"}
        assert any(takes(overload, wanted, extra, False) for overload in OURS["functions"][name]), wanted


@pytest.mark.parametrize("version", RECORDED)
def test_enumerators_and_their_numbers(version):
    recorded = RECORDED[version]["enumerations"]
    assert set(recorded) - set(OURS["enumerations"]) == OTHER_ENUMERATIONS[version]
    for kind in set(recorded) & set(OURS["enumerations"]):
        differing = {name for name, number in recorded[kind].items() if OURS["enumerations"][kind].get(name) != number}
        assert differing == OTHER_NUMBERS.get((version, kind), set()), kind
        for name in set(recorded[kind]) - differing:
            assert int(getattr(getattr(cudnn, kind), name)) == recorded[kind][name]


@pytest.mark.parametrize("version", RECORDED)
def test_submodules(version):
    for name, entries in RECORDED[version]["submodules"].items():
        found = importlib.import_module(f"cudnn.{name}")
        assert all(getattr(found, entry) is getattr(cudnn, entry) for entry in entries)


def existing_python():
    """An interpreter that has the existing package."""
    chosen = os.environ.get("SDPA_GRAPH_EXISTING_PYTHON")
    if chosen:
        return chosen
    try:
        importlib.metadata.version("nvidia-cudnn-frontend")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the existing package is not here, and SDPA_GRAPH_EXISTING_PYTHON names no Python that has it")
    return sys.executable


def test_the_installed_package():
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [existing_python(), "-B", str(FOLDER / "signatures.py")]
    output = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=120).stdout
    ((version, installed),) = json.loads("{" + output + "}").items()
    if version in RECORDED:
        assert installed == RECORDED[version]
    attention = [found for found in methods(None, installed) if "sdpa" in found[1] or "attention" in found[1]]
    assert len(attention) >= 6
    for kind, name, wanted in attention:
        check(version if version in RECORDED else NEWER, kind, name, wanted)
