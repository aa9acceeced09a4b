"""Each option of attention in the graph format can be given from Python."""

import json
import pathlib

import pytest
from sdpa_graph._core import Graph_base

SCHEMA = pathlib.Path(__file__).parents[2] / "docs" / "graph.schema.json"
# The options that Python calls differently: an option that sets several fields, or another name.
PYTHON_NAMES = {
    "seed": "dropout",
    "offset": "dropout",
    "dropout_mask": "dropout",
    "dropout_scale": "dropout",
    "dropout_scale_inv": "dropout",
    "dropout_probability": "dropout",
    "dScore_mod": "score_mod_bprop",
    "page_table_k": "paged_attention_k_table",
    "page_table_v": "paged_attention_v_table",
    "max_seq_len_kv": "paged_attention_max_seq_len_kv",
    "alibi_mask": "use_alibi_mask",
    "padding_mask": "use_padding_mask",
    "left_bound": "diagonal_band_left_bound",
    "right_bound": "diagonal_band_right_bound",
    "deterministic": "use_deterministic_algorithm",
    "Max": "score_max",
    "Sum_exp": "score_sum_exp",
}
# Arguments of the call, results that it returns, and what the kind of call says.
PLAIN = {
    "Q",
    "K",
    "V",
    "O",
    "dO",
    "Stats",
    "dQ",
    "dK",
    "dV",
    "Q_T",
    "K_T",
    "dO_T",
    "dO_f16",
    "score",
    "dScore",
    "block_scaled",
}


def is_plain(name):
    return name in PLAIN or name.startswith(("descale_", "scale_", "amax_"))


@pytest.mark.parametrize("node, kind", [("SDPA_FORWARD", "sdpa"), ("SDPA_BACKWARD", "sdpa_backward")])
def test_all_fields_and_ports_are_options(node, kind):
    node_schema = json.loads(SCHEMA.read_text())["$defs"][f"node.{node}"]["properties"]
    wanted = {name for part in ("inputs", "outputs", "fields") for name in node_schema[part]["properties"]}
    names = set(Graph_base._option_names(kind))
    missing = {name for name in wanted if not is_plain(name) and PYTHON_NAMES.get(name, name) not in names}
    assert not missing
