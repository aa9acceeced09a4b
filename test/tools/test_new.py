"""sdpa new: graphs of options, which are valid and have them."""

import json

from support.command import USAGE, YES, CommandTest, main


class New(CommandTest):
    def new(self, *arguments):
        return json.loads(self.expect(YES, "new", *arguments))

    def node_and_dims(self, *arguments):
        graph = self.new(*arguments)
        (node,) = graph["nodes"]
        ports = {**node["inputs"], **node["outputs"]}
        return node, {port: graph["tensors"][place].get("dim") for port, place in ports.items()}

    def test_defaults(self):
        node, dims = self.node_and_dims()
        self.assertEqual((node["tag"], list(node["fields"])), ("SDPA_FORWARD", ["attn_scale"]))
        self.assertEqual(dims, dict.fromkeys("QKVO", [1, 8, 1024, 128]))

    def test_sizes_and_options(self):
        arguments = ("--batch", 2, "--heads", 8, "--key-heads", 2, "--queries", 3, "--keys", 20, "--head-dim", 16, "--value-dim", 8)
        node, dims = self.node_and_dims(*arguments, "--causal", "--bottom-right", "--left", 5, "--lengths", "--pass", "training")
        self.assertEqual([dims[port] for port in "QKVO"], [[2, 8, 3, 16], [2, 2, 20, 16], [2, 2, 20, 8], [2, 8, 3, 8]])
        self.assertEqual(dims["seq_len_q"], [2, 1, 1, 1])
        fields = node["fields"]
        self.assertEqual((fields["attn_scale"], fields["left_bound"], fields["right_bound"]), (0.25, 5, 0))
        self.assertEqual((fields["diagonal_alignment"], fields["padding_mask"], fields["generate_stats"]), ("BOTTOM_RIGHT", True, True))
        self.assertIn("Stats", dims)

    def test_layouts(self):
        sizes = ("--batch", 2, "--heads", 3, "--tokens", 5, "--head-dim", 8)
        strides = [self.new(*sizes, "--layout", layout)["tensors"]["t0"]["stride"] for layout in ("bshd", "bhsd")]
        self.assertEqual(strides, [[120, 8, 24, 1], [120, 40, 8, 1]])

    def test_all_that_it_makes_is_right_on_the_cpu(self):
        small = ("--heads", 4, "--key-heads", 2, "--queries", 12, "--keys", 16, "--head-dim", 8, "--type", "float")
        for options in (
            ("--causal",),
            ("--left", 4, "--right", 2, "--bottom-right"),
            ("--lengths", "--batch", 3, "--pass", "training"),
            ("--causal", "--pass", "backward"),
            ("--causal", "--alibi", "--layout", "bhsd"),
        ):
            graph = self.new(*small, *options)
            text = self.expect(YES, "run", "-", "--verify", input=graph)
            self.assertIn("right: all errors are within the allowed ones", text, options)

    def test_name(self):
        self.assertEqual(self.new("--name", "mine")["context"]["name"], "mine")
        self.assertNotIn("name", self.new()["context"])

    def test_bad_options(self):
        self.assertIn("--heads", self.expect(USAGE, "new", "--heads", 0))
        self.assertIn("--type", self.expect(USAGE, "new", "--type", "int8"))


main()
