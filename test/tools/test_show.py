"""sdpa show"""

import json

from support.command import GRAPHS, USAGE, YES, CommandTest, attention, main, padded


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

    def test_times_on_each_described_gpu(self):
        self.need_cudnn()
        times = self.expect_json(YES, "show", GRAPHS / "vit-b16.json", "--times")["times"]
        self.assertGreater(times["h100"]["expected_us"], times["h100"]["least_us"])
        self.assertGreater(times["h100"]["least_us"], times["h200"]["least_us"] / 2)
        self.assertIsNone(times["a100"]["expected_us"], "its rates are not known")
        text = self.expect(YES, "show", GRAPHS / "vit-b16.json", "--times")
        self.assertRegex(text, r"valid\ntimes\n  GPU +expected  at least +plan\n  a100 +-  +\S+ us +\S+\n")

    def test_times_of_graphs_without_a_plan_or_known_lengths(self):
        self.need_cudnn()
        times = self.expect_json(YES, "show", "-", "--times", input=attention(data_type="HALF", key_heads=3))["times"]
        self.assertIn("sdpa_fwd.c04", times["h100"]["refusal"])
        text = self.expect(YES, "show", "-", "--times", input=attention(data_type="HALF", key_heads=3))
        self.assertIn("none, sdpa explain --for h100 says why", text)
        times = self.expect_json(YES, "show", GRAPHS / "llama3-8b-decode.json", "--times")["times"]
        self.assertIsNone(times["h100"]["least_us"])

    def test_measured_times_of_no_store_and_of_one_without_any(self):
        path = self.write("graph.json", attention())
        self.assertNotIn("measured", self.expect_json(YES, "show", path))
        later = {"SDPA_GRAPH_PLAN_STORE": str(self.folder / "later")}
        self.assertNotIn("measured", self.expect_json(YES, "show", path, environment=later))
        self.assertEqual(self.expect_json(YES, "show", path, "--store", self.folder)["measured"], [])
        usual = {"SDPA_GRAPH_PLAN_STORE": str(self.folder)}
        self.assertEqual(self.expect_json(YES, "show", path, environment=usual)["measured"], [])
        self.assertNotIn("measured", self.expect(YES, "show", path, environment=usual))
        self.assertIn("measured times\n  none in the plan store\n", self.expect(YES, "show", path, "--store", self.folder))
        errors = self.expect(USAGE, "show", path, "--store", self.folder / "later")
        self.assertIn("cannot be read", errors)
        self.assertIn("name its folder", errors)

    def test_byte_order_mark(self):
        path = self.folder / "graph.json"
        path.write_text(json.dumps(attention()), encoding="utf-8-sig")
        self.assertIn("valid", self.expect(YES, "show", path))

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
