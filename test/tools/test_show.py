"""sdpa show"""

from command import YES, CommandTest, attention, main, padded


class Show(CommandTest):
    def test_graph(self):
        text = self.expect(YES, "show", self.write("graph.json", padded(attention(queries=16, keys=32, right_bound=0))))
        self.assertRegex(text, r"(?m)^  Q +1 +FLOAT +\[1, 2, 16, 8\] +\[256, 128, 8, 1\]$")
        self.assertRegex(text, r"(?m)^  seq_len_kv +6 +INT32 ")
        self.assertRegex(text, r"(?m)^  SDPA_FORWARD attention$")
        self.assertRegex(text, r"(?m)^    reads +Q, K, V, seq_len_q, seq_len_kv$")
        self.assertRegex(text, r"(?m)^    right_bound +0$")
        self.assertTrue(text.endswith("valid\n"))

    def test_from_standard_input(self):
        self.assertEqual(self.expect(YES, "show", "-", input=attention()),
                         self.expect(YES, "show", self.write("graph.json", attention())))

    def test_invalid_graph_is_shown(self):
        graph = attention()
        graph["tensors"]["t1"]["dim"][3] = 16
        self.assertIn("not valid: sdpa explain says why", self.expect(YES, "show", "-", input=graph))
        self.assertFalse(self.expect_json(YES, "show", "-", input=graph)["valid"])

    def test_json_holds_the_graph(self):
        shown = self.expect_json(YES, "show", "-", input=attention())
        self.assertEqual(shown["kind"], "graph")
        self.assertEqual(shown["graph"]["tensors"]["t0"]["dim"], [1, 2, 16, 8])


main()
