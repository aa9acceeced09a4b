"""sdpa draw"""

from command import NO, USAGE, YES, CommandTest, attention, main


class Draw(CommandTest):
    def test_graph_as_text(self):
        text = self.expect(YES, "draw", "-", input=attention(right_bound=0))
        self.assertIn("node SDPA_FORWARD 'attention' (Q: %0 Q, K: %1 K, V: %2 V) -> (O: %3 O) attn_scale=0.25 right_bound=0", text)

    def test_graph_as_dot(self):
        graph = attention()
        graph["tensors"]["t0"]["name"] = 'the "Q"'
        text = self.expect(YES, "draw", "-", "--format", "dot", input=graph)
        self.assertTrue(text.startswith("digraph ") and text.endswith("}\n"))
        self.assertIn('t0 [label="the \\"Q\\" [1, 2, 16, 8]"];', text)
        self.assertIn('t0 -> n0 [label="Q"];', text)
        self.assertIn('n0 -> t3 [label="O"];', text)

    def test_operations(self):
        text = self.expect(YES, "draw", "-", "--what", "operations", input=attention())
        self.assertRegex(text, r"(?m)^%\d+ .*scores = MATMUL\(")
        self.assertTrue(self.expect(YES, "draw", "-", "--what", "operations", "--format", "dot", input=attention()).startswith("digraph"))

    def test_plan(self):
        for target in ("cpu", "reference"):
            text = self.expect(YES, "draw", "-", "--what", "plan", "--target", target, input=attention())
            self.assertRegex(text, rf"plan {target}\n(.*\n)*candidates:\n  {target} runs\n")
        text = self.expect_json(YES, "draw", "-", "--what", "plan", "--format", "svg", input=attention())["picture"]
        self.assertRegex(text, r"^<svg (.*\n)*</svg>\n$")

    def test_plan_for_a_gpu(self):
        self.need_cudnn()
        graph = attention(queries=128, keys=128, depth=64, data_type="HALF")
        self.assertRegex(self.expect(YES, "draw", "-", "--what", "plan", "--for", "h100", input=graph), r"^plan eng\d")
        odd = attention(queries=128, keys=128, depth=12, data_type="HALF")
        self.assertIn("[cudnn.s04]", self.expect(NO, "draw", "-", "--what", "plan", "--for", "h100", input=odd))

    def test_svg_of_a_graph(self):
        self.assertIn("--format dot | dot -Tsvg", self.expect(USAGE, "draw", "-", "--format", "svg", input=attention()))

    def test_invalid_graph(self):
        self.assertIn("[sdpa_fwd.c04]", self.expect(USAGE, "draw", "-", input=attention(heads=8, key_heads=3)))


main()
