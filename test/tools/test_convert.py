"""sdpa convert: graphs that cudnn-frontend printed become graphs of this library; what is not known is refused."""

import copy
import json
import struct

from support.command import ROOT, USAGE, YES, CommandTest, attention, main


def tensor(name, uid, dim, **members):
    """A tensor as versions up to 1.26 print it."""
    stride = [1] * len(dim)
    for i in reversed(range(len(dim) - 1)):
        stride[i] = stride[i + 1] * dim[i + 1]
    members = {"data_type": None, "is_pass_by_value": False, "is_virtual": False, "pass_by_value": None, "reordering_type": "NONE", **members}
    return {"name": name, "uid": uid, "uid_assigned": True, "dim": list(dim), "stride": stride, **members}


def printed(tensors, node, **context):
    types = {"compute_data_type": "FLOAT", "intermediate_data_type": "FLOAT", "io_data_type": "HALF", "name": "", "sm_count": -1}
    node = {"alibi_mask": False, "dropout_probability": None, "padding_mask": False, "is_inference": True, **node}
    return {"context": {**types, **context}, "json_version": "1.0", "nodes": [node], "tensors": {each["name"]: each for each in tensors}}


def forward(**members):
    """Attention of version 1.10, with a scale of 1/4."""
    tensors = [tensor(name, uid, (2, 4, 16, 16)) for uid, name in enumerate(("Q", "K", "V", "flash::O"), 1)]
    node = {"tag": "SDPA_FWD", "name": "flash", "attn_scale_value": "3E800000", "diagonal_alignment": "TOP_LEFT"}
    ports = {"inputs": {"Q": "Q", "K": "K", "V": "V"}, "outputs": {"O": "flash::O"}}
    return printed(tensors, {**node, "left_bound": None, "right_bound": None, **ports, **members})


def paged():
    """A graph that a user of version 1.10 reported, github.com/NVIDIA/cudnn-frontend/issues/132, on fewer pages."""
    tensors = [tensor("Q", 1, (17, 32, 1, 128)), tensor("container_K", 2, (640, 8, 16, 128)), tensor("container_V", 3, (640, 8, 16, 128))]
    tensors += [tensor(name, uid, (17, 1, 1, 1), data_type="INT32") for uid, name in ((4, "seq_q"), (5, "seq_kv"))]
    tensors += [tensor(name, uid, (17, 1, 256, 1), data_type="INT32") for uid, name in ((6, "page_table_k"), (7, "page_table_v"))]
    tensors += [tensor("flash_attention::O", 8, (17, 32, 1, 128))]
    names = {"Q": "Q", "K": "container_K", "V": "container_V", "SEQ_LEN_Q": "seq_q", "SEQ_LEN_KV": "seq_kv"}
    names.update(Page_table_K="page_table_k", Page_table_V="page_table_v")
    node = {"tag": "SDPA_FWD", "name": "flash_attention", "attn_scale_value": "3DB504F3", "padding_mask": True, "max_seq_len_kv": 4096}
    return printed(tensors, {**node, "inputs": names, "outputs": {"O": "flash_attention::O"}})


class Convert(CommandTest):
    def convert(self, graph, *arguments):
        return json.loads(self.expect(YES, "convert", "-", *arguments, input=graph if isinstance(graph, str) else json.dumps(graph)))

    def refusal(self, graph):
        return self.expect(USAGE, "convert", "-", input=json.dumps(graph))

    def node(self, graph):
        (node,) = self.convert(graph)["nodes"]
        return node

    def fields(self, **members):
        return self.node(forward(**members)).get("fields", {})

    def test_a_reported_graph_has_a_plan_and_the_right_options(self):
        graph = self.convert(paged())
        (node,) = graph["nodes"]
        self.assertEqual(node["fields"], {"attn_scale": 0.088388346, "padding_mask": True, "max_seq_len_kv": 4096})
        names = {port: graph["tensors"][place]["name"] for port, place in node["inputs"].items()}
        self.assertEqual((names["page_table_v"], names["seq_len_kv"], names["K"]), ("page_table_v", "seq_kv", "container_K"))
        self.assertEqual(graph["context"]["io_data_type"], "HALF")
        self.assertIn("yes: standard input runs on cpu", self.expect(YES, "explain", "-", "--target", "cpu", input=graph))

    def test_results_are_those_of_the_same_graph(self):
        ours = attention(queries=16, keys=16, heads=4, depth=16, data_type="HALF", batches=2, right_bound=0)
        against = self.write("ours.json", ours)
        theirs = self.write("theirs.json", self.expect(YES, "convert", "-", input=json.dumps(forward(right_bound=0))))
        self.assertIn("right: ", self.expect(YES, "run", theirs, "--against", against))
        del ours["nodes"][0]["fields"]["right_bound"]
        self.assertIn("wrong: ", self.expect(1, "run", theirs, "--against", self.write("ours.json", ours)))

    def test_masks_of_all_versions(self):
        causal = {"attn_scale": 0.25, "right_bound": 0}
        self.assertEqual(self.fields(right_bound=0), causal)
        self.assertEqual(self.fields(causal_mask=True, causal_mask_bottom_right=False, sliding_window_length=None), causal)
        bottom_right = self.fields(causal_mask_bottom_right=True, sliding_window_length=7)
        self.assertEqual(bottom_right, {**causal, "left_bound": 7, "diagonal_alignment": "BOTTOM_RIGHT"})
        self.assertEqual(self.fields(diagonal_alignment="BOTTOM_RIGHT", left_bound=7, right_bound=0), bottom_right)

    def test_numbers(self):
        bits = struct.pack(">f", 0.1).hex().upper()
        self.assertEqual(self.fields(dropout_probability=bits)["dropout_probability"], 0.1)
        self.assertEqual(self.fields(attn_scale_value=0.5)["attn_scale"], 0.5)
        self.assertIn("expected a number, or the 8 hexadecimal digits", self.refusal(forward(attn_scale_value="3E80000Z")))

    def test_stats_are_asked_for_where_they_are_a_result(self):
        self.assertNotIn("generate_stats", self.fields(is_inference=True))
        graph = forward(is_inference=False, outputs={"O": "flash::O", "Stats": "flash::Stats"})
        graph["tensors"]["flash::Stats"] = tensor("flash::Stats", 5, (2, 4, 16, 1), data_type="FLOAT")
        self.assertTrue(self.node(graph)["fields"]["generate_stats"])

    def test_keys_by_uid(self):
        """Version 1.27 and later."""
        graph = forward(tag="SDPA", inputs={"Q": 1, "K": 2, "V": 3}, outputs={"O": 4})
        graph["tensors"] = {str(each["uid"]): each for each in graph["tensors"].values()}
        self.assertEqual(self.convert(graph), self.convert(forward()))

    def test_ragged_offsets(self):
        graph = forward(padding_mask=True)
        for name in ("Q", "flash::O"):
            graph["tensors"][name]["ragged_offset_uid"] = 9
        done = self.run_command("convert", "-", input=json.dumps(graph))
        self.assertIn("the ragged offset of 'Q' is not described there", done.stderr.decode())
        tensors = json.loads(done.stdout)["tensors"]
        self.assertEqual(tensors["t0"]["ragged_offset"], tensors["t3"]["ragged_offset"])
        self.assertEqual(tensors[tensors["t0"]["ragged_offset"]]["dim"], [3, 1, 1, 1])
        graph["tensors"]["offsets"] = tensor("offsets", 9, (3, 1, 1, 1), data_type="INT64")
        tensors = self.convert(graph)["tensors"]
        self.assertEqual(tensors[tensors["t0"]["ragged_offset"]]["data_type"], "INT64")

    def test_every_port_of_attention(self):
        schema = json.loads((ROOT / "docs/graph.schema.json").read_text())["$defs"]
        made_here = {"score_mod", "score", "dScore_mod", "dScore"}  # by a score modifier, which they do not print
        for theirs, ours in (("SDPA", "SDPA_FORWARD"), ("SDPA_BWD", "SDPA_BACKWARD")):
            ports = {
                side: {port: port for port in schema[f"node.{ours}"]["properties"][side]["properties"] if port not in made_here}
                for side in ("inputs", "outputs")
            }
            tensors = [tensor(name, i, (1, 1, 1, 1)) for i, name in enumerate({**ports["inputs"], **ports["outputs"]}, 1)]
            upper = {side: {port.upper() if len(port) > 3 else port: port for port in of} for side, of in ports.items()}
            converted = self.convert(printed(tensors, {"tag": theirs, "name": "", **upper}))
            for side, of in ports.items():
                self.assertEqual(set(converted["nodes"][0][side]), set(of))

    def test_logs(self):
        first, last = forward(name="first"), forward(name="last")
        log = "[cudnn_frontend] INFO: Validating\n[cudnn_frontend] {}\nINFO: {{}}\n[cudnn_frontend] {}\nplan {{x}}\n"
        log = log.format(json.dumps(first), json.dumps(last))
        done = self.run_command("convert", "-", input=log)
        self.assertIn("has 2 graphs, and this is the last", done.stderr.decode())
        self.assertEqual(json.loads(done.stdout)["nodes"][0]["name"], "last")
        self.assertEqual(self.convert(log, "--which", 1)["nodes"][0]["name"], "first")
        self.assertIn("found 2 graphs; expected at least 3", self.expect(USAGE, "convert", "-", "--which", 3, input=log))

    def test_what_is_not_known_is_refused_by_name(self):
        embedded = forward()
        embedded["tensors"]["Q"]["pass_by_value"] = {"index": 3}
        dangling = forward(inputs={"Q": "Q", "K": "K", "V": "W"})
        for graph, message in (
            (forward(tag="CONV_FPROP"), "the tag 'CONV_FPROP'; expected attention"),
            (forward(tag=7, name=[]), "the tag ''; expected attention"),
            ({"nodes": [1, "SDPA"], "tensors": []}, "the tag ''; expected attention"),
            ({"nodes": [], "tensors": {"Q": 5}}, "tensor 'Q': found 5; expected an object"),
            (forward(causal_mask=1), "causal_mask: found 1; expected true or false"),
            (forward(causal_mask_bottom_right="true"), 'causal_mask_bottom_right: found "true"; expected true or false'),
            (forward(surprise=1), "node 'flash': found the member 'surprise' with 1"),
            (forward(inputs={"Q": "Q", "W": "K"}), "found the port 'W'"),
            (embedded, "tensor 'Q': found the member 'pass_by_value'"),
            (dangling, "node 'flash', V: found \"W\"; expected the key of one of the tensors"),
        ):
            self.assertIn(message, self.refusal(graph))
        self.assertEqual(self.node(forward(surprise=None)), self.node(forward()))

    def test_texts_of_another_kind(self):
        self.assertIn("needs no conversion", self.expect(USAGE, "convert", "-", input=json.dumps(attention())))
        self.assertIn("found no graph", self.expect(USAGE, "convert", "-", input="[cudnn_frontend] INFO: no graph\n"))
        theirs = copy.deepcopy(forward())
        self.assertIn("Try: sdpa convert", self.expect(USAGE, "show", "-", input=json.dumps(theirs)))


main()
