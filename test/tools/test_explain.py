"""sdpa explain: the reasons, and that the nearest graphs work."""

import pathlib

from support import broken_graphs
from support.command import NO, USAGE, YES, CommandTest, attention, main, padded


class OnTheCpu(CommandTest):
    def test_a_graph_that_runs(self):
        text = self.expect(YES, "explain", "-", "--target", "cpu", input=attention())
        self.assertIn("rules: all hold\n", text)
        self.assertRegex(text, r"(?m)^  cpu +runs$")
        self.assertIn("yes: standard input runs on cpu with cpu, workspace ", text)

    def test_reference(self):
        self.assertEqual(self.expect_json(YES, "explain", "-", "--target", "reference", input=attention())["plan"]["name"], "reference")

    def test_all_broken_rules_are_listed(self):
        graph = attention(heads=8, key_heads=3, dropout_probability=0.1)
        text = self.expect(NO, "explain", "-", "--target", "cpu", "--short", input=graph)
        self.assertIn("broken rules: 2\n", text)
        self.assertRegex(text, r"(?m)^  sdpa_fwd.c04  node 'attention', K, V$")
        self.assertRegex(text, r"(?m)^    found +3 heads in K and V for 8 heads in Q$")
        self.assertRegex(text, r"(?m)^    expected +a seed and an offset for the generator$")
        self.assertRegex(text, r"(?m)^    fix +call set_dropout")
        self.assertNotIn("nearest", text)

    def test_nearest_graph_fixes_all_faults_and_works(self):
        graph = padded(attention(heads=8, key_heads=3, dropout_probability=0.1))
        graph["tensors"]["t5"]["uid"] = graph["tensors"]["t4"]["uid"]
        graph["tensors"]["t4"]["data_type"] = "FLOAT"
        report = self.expect_json(NO, "explain", "-", "--target", "cpu", input=graph)
        self.assertGreaterEqual(len(report["findings"]), 4)
        nearest = report["nearest"][0]
        self.assertIn("give K and V as many heads as Q, 8", nearest["changes"])
        self.assertIn("pass seed and offset, INT64 [1, 1, 1, 1]", nearest["changes"])
        self.assertEqual(self.expect_json(YES, "explain", "-", "--target", "cpu", input=nearest["graph"])["findings"], [])

    def test_rows_and_heads_swapped(self):
        graph = attention(queries=8, keys=8, heads=100)  # 100 queries and 60 keys of 8 heads, in PyTorch's other order
        for place in ("t1", "t2"):
            graph["tensors"][place].update(dim=[1, 60, 8, 8], stride=[3840, 64, 8, 1])
        report = self.expect_json(NO, "explain", "-", "--target", "cpu", input=graph)
        self.assertRegex(report["nearest"][0]["changes"][0], "^swap dims 1 and 2 of Q, K, V and O")
        self.assertEqual(len(report["nearest"][0]["changes"]), 1)

    def test_advice(self):
        text = self.expect(YES, "explain", "-", "--target", "cpu", input=attention(alibi_mask=True))
        self.assertRegex(text, r"advice\n  \[advice.a07\]")

    def test_unknown_target(self):
        self.assertIn("found the target 'abacus'; expected cpu, reference, cuda",
                      self.expect(USAGE, "explain", "-", "--target", "abacus", input=attention()))

    def test_target_from_a_broken_file(self):
        self.expect(USAGE, "explain", "-", "--target", self.write("gpu.json", "{}"), input=attention())


class OnAnH100(CommandTest):
    def setUp(self):
        super().setUp()
        self.need_cudnn()

    def graph(self, **options):
        return attention(**{"queries": 128, "keys": 128, "heads": 8, "depth": 64, "data_type": "HALF", **options})

    def nearest(self, graph):
        report = self.expect_json(NO, "explain", "-", "--target", "h100", input=graph)
        for neighbor in report["nearest"]:
            self.expect(YES, "explain", "-", "--target", neighbor["target"], input=neighbor["graph"])
        return report["refusal"]["rule"], [neighbor["changes"][-1] for neighbor in report["nearest"]]

    def test_candidates(self):
        report = self.expect_json(YES, "explain", "-", input=self.graph())
        self.assertRegex(report["plan"]["name"], r"^eng\d")
        states = {candidate["name"]: candidate["state"] for candidate in report["candidates"]}
        self.assertEqual(states[report["plan"]["name"]], "runs")
        self.assertEqual({candidate["backend"] for candidate in report["candidates"]}, {"cuDNN", "kernels"})
        self.assertGreater(report["candidates"][0]["estimated_us"], 0)
        self.assertEqual(report["limits"], [])

    def test_order_of_candidates_is_explained(self):
        note = "the order is that of heuristics, which run nothing: sdpa tune, or autotune() in a program, times each candidate\n"
        text = self.expect(YES, "explain", "-", input=self.graph())
        self.assertRegex(text, r"(?m)^  eng\S+ +may be built +ranked lower by cuDNN$")
        self.assertIn(note, text)
        self.assertNotIn(note, self.expect(YES, "explain", "-", "--target", "cpu", input=self.graph()))

    def test_two_limits_need_two_changes(self):
        graph = broken_graphs.sink(self.graph(depth=12), "HALF")
        report = self.expect_json(NO, "explain", "-", "--limit", "20000", input=graph)
        self.assertEqual({finding["rule"] for finding in report["limits"]}, {"cudnn.s04", "cudnn.s37"})
        changes = report["nearest"][0]["changes"]
        self.assertEqual(len(changes), 2)
        self.assertIn("give sink_token the type FLOAT", changes)
        self.assertTrue(any(change.startswith("head dim 12 -> 16") for change in changes))

    def test_engines_that_say_no_reason(self):
        """Without the table of limits cuDNN itself refuses the graph, and planning alone shows what helps."""
        graph = broken_graphs.ragged(self.graph(batches=2), 512)
        report = self.expect_json(NO, "explain", "-", "--limit", "20000", input=graph,
                                  environment={"SDPA_GRAPH_IGNORE_LIMITS": "1"})
        self.assertEqual((report["limits"], report["candidates"][0]["state"]), ([], "refused"))
        self.assertTrue(report["nearest"][0]["changes"][0].startswith("count elements in the ragged offsets"))

    def test_the_plan_store_is_named(self):
        """A plan is compiled, then read from the store; for another GPU the nearest entry is that of the first."""
        store = {"SDPA_GRAPH_PLAN_STORE": str(self.folder)}
        explain = lambda gpu: self.expect_json(YES, "explain", "-", "--for", gpu, input=self.graph(), environment=store)["candidates"][0]
        self.assertEqual([explain("h100")["origin"] for _ in range(2)], ["compiled", "stored"])
        self.assertIn("the nearest entry has NVIDIA H100 80GB HBM3 in place of NVIDIA H200", explain("h200")["store_miss"])

    def test_the_plan_store_has_kernels_of_the_library(self):
        """So it is with the library's own engine, whose code is the same for all sizes and for both GPUs."""
        store = {"SDPA_GRAPH_PLAN_STORE": str(self.folder)}
        def explain(gpu, tokens):
            graph = self.graph(heads=32, queries=tokens, keys=tokens, depth=128, right_bound=0)
            return self.expect_json(YES, "explain", "-", "--for", gpu, input=graph, environment=store)["candidates"][0]
        first = explain("h100", 4096)
        self.assertEqual((first["name"], first["origin"]), ("attention", "compiled"))
        self.assertIn("is not there", first["store_miss"])
        self.assertEqual([explain(gpu, 2048)["origin"] for gpu in ("h100", "h200")], ["stored", "stored"])

    def test_odd_head_dim(self):
        rule, changes = self.nearest(self.graph(depth=12))
        self.assertEqual(rule, "cudnn.s04")
        self.assertIn("head dim 12 -> 16 for Q and K", changes[0])
        self.assertEqual(changes[-1], "run it on the CPU, Target::cpu()")

    def test_option_of_the_other_implementation(self):
        rule, changes = self.nearest(self.graph(implementation="UNIFIED", alibi_mask=True, right_bound=0))
        self.assertEqual(rule, "cudnn.s11")
        self.assertEqual(changes[0], "call set_implementation(AUTO)")

    def test_file_of_a_gpu(self):
        devices = pathlib.Path(__file__).parents[2] / "devices"
        self.expect(YES, "explain", "-", "--target", devices / "h200.json", input=self.graph())


main()
