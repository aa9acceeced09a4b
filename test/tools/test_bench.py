"""sdpa bench: times of small graphs, the work that rates are computed from."""

from support.command import NO, USAGE, YES, CommandTest, attention, backward_of, computed_queries, main, padded, paged


class Bench(CommandTest):
    def rows(self, *graphs, arguments=()):
        paths = [self.write(f"graph{i}.json", graph) for i, graph in enumerate(graphs)]
        return self.expect_json(YES, "bench", *paths, "--repeat", 5, *arguments)["rows"]

    def work(self, graph):
        (row,) = self.rows(graph)
        return row["operations"], row["bytes"]

    def test_times_are_ordered_and_compared(self):
        rows = self.rows(attention(), attention(queries=64, keys=64))
        for row in rows:
            self.assertEqual(len(row["milliseconds"]), 5)
            self.assertEqual(row["milliseconds"], sorted(row["milliseconds"]))
            self.assertEqual((row["least_ms"], row["median_ms"]), (row["milliseconds"][0], row["milliseconds"][2]))
            self.assertAlmostEqual(row["tflop_per_s"], row["operations"] / row["median_ms"] * 1e-9, delta=1e-3 * row["tflop_per_s"])
        self.assertEqual(rows[0]["ratio"], 1)
        self.assertAlmostEqual(rows[1]["ratio"], rows[1]["median_ms"] / rows[0]["median_ms"])

    def test_targets_and_policies_are_compared_for_each_graph(self):
        arguments = ("--target", "cpu", "--target", "reference", "--policy", "exact", "--policy", "classes")
        rows = self.rows(attention(), attention(queries=64, keys=64), arguments=arguments)
        self.assertEqual([(row["target"], row["policy"]) for row in rows[:4]], [(t, p) for t in ("cpu", "reference") for p in ("exact", "classes")])
        self.assertEqual([rows[0]["ratio"], rows[4]["ratio"]], [1, 1])
        self.assertAlmostEqual(rows[6]["ratio"], rows[6]["median_ms"] / rows[4]["median_ms"])

    def test_an_engine_for_all_shapes(self):
        rows = self.rows(attention(), arguments=("--target", "cpu", "--policy", "all_shapes"))
        self.assertEqual([(row["policy"], len(row["milliseconds"])) for row in rows], [("all_shapes", 5)])

    def test_visible_scores_count(self):
        all_scores = self.work(attention(queries=32, keys=48, heads=4, depth=8, value_depth=16))
        self.assertEqual(all_scores, (2 * 32 * 48 * 4 * (8 + 16), 4 * 4 * (32 * (8 + 16) + 48 * (8 + 16))))
        self.assertEqual(self.work(attention(queries=32, keys=32, right_bound=0))[0], 2 * 2 * 16 * (32 * 33 // 2))
        band = {"left_bound": 3, "right_bound": 1, "diagonal_alignment": "BOTTOM_RIGHT"}
        visible = sum(1 for i in range(10) for j in range(14) if i + 4 - 3 < j <= i + 4 + 1)
        self.assertEqual(self.work(attention(queries=10, keys=14, **band))[0], 2 * 2 * 16 * visible)
        forward = attention(queries=32, keys=32, depth=8, value_depth=16)
        self.assertEqual(self.work(backward_of(forward))[0], 2 * 2 * 32 * 32 * (3 * 8 + 2 * 16))

    def test_queries_that_another_node_computes(self):
        graph = attention(queries=10, keys=14, right_bound=0)
        operations = self.work(graph)[0]
        self.assertEqual(self.work(computed_queries(graph))[0], operations)
        self.assertGreater(self.work(computed_queries(padded(graph)))[0], 0)

    def test_lengths_and_pages_select_what_is_read(self):
        operations, size = self.work(paged(attention(queries=1, keys=16, batches=2), 60))
        self.assertEqual(operations, 2 * 2 * 2 * 60 * 16)
        self.assertEqual(size, 4 * 2 * 2 * 8 * (1 + 1 + 60 + 60) + 4 * (2 + 2 + 8 + 8))

    def test_windows_in_space(self):
        graph = attention()
        for place in ("t0", "t1", "t2", "t3"):
            graph["tensors"][place].update(dim=[1, 6, 7, 2, 8], stride=[672, 112, 16, 8, 1])
        graph["nodes"][0].update(tag="NEIGHBORHOOD_FORWARD", fields={"kernel_size": [3, 3], "is_causal": [True, False]})
        self.assertEqual(self.work(graph)[0], 2 * 2 * 8 * 2 * (1 + 2 + 3 * 4) * (7 * 3))

    def test_share_of_a_roofline(self):
        (row,) = self.rows(attention(queries=256, keys=256), arguments=("--roofline", "h100"))
        memory, products = row["bytes"] / (2 * 2.619e9 * 5120 / 8), row["operations"] / (4096 * 132 * 1.98e9)
        self.assertAlmostEqual(row["share_of_roofline"] * row["median_ms"] * 1e-3, max(memory, products), delta=1e-12)
        self.assertIsNone(self.rows(attention())[0]["share_of_roofline"])

    def test_text(self):
        path = self.write("graph.json", attention())
        text = self.expect(YES, "bench", path, "--repeat", 3)
        self.assertRegex(text, r"^graph +target +plan +runs +median +least +90 % +TFLOP/s +TB/s\n.* cpu +cpu +3 +\S+ ms ")
        text = self.expect(YES, "bench", path, "--target", "cpu", "--target", "reference", "--repeat", 3)
        self.assertRegex(text, r"(?m) reference .* \d[\d.e+]*$")

    def test_stored_plans_are_compared(self):
        graph = attention()
        for tensor in graph["tensors"].values():
            del tensor["uid"]
        path, plans = self.write("graph.json", graph), [self.folder / "old.plan", self.folder / "new.plan"]
        for plan, size in zip(plans, ("1", "4")):
            self.expect(YES, "plan", path, "--for", "cpu", "--batch", size, "--out", plan)
        rows = self.expect_json(YES, "bench", path, *plans, "--repeat", 3)["rows"]
        self.assertEqual([(row["plan"], row["policy"]) for row in rows], [("cpu", "exact"), ("cpu", "stored"), ("cpu", "stored")])
        self.assertEqual(rows[2]["operations"], 4 * rows[1]["operations"])
        self.assertAlmostEqual(rows[2]["ratio"], rows[2]["median_ms"] / rows[0]["median_ms"])
        self.assertIn("the plan is for the target cpu", self.expect(NO, "bench", plans[0], "--target", "reference"))

    def test_no_plan(self):
        text = self.expect(NO, "bench", self.write("graph.json", attention(key_heads=3)), "--repeat", 3)
        self.assertIn("has no plan on cpu:\n", text)

    def test_arguments(self):
        path = self.write("graph.json", attention())
        self.assertIn("can be made and not run", self.expect(USAGE, "bench", path, "--target", "h100"))
        self.expect(USAGE, "bench", path, "--repeat", 0)
        self.assertIn("found no target cuda", self.expect(USAGE, "bench", path, "--cold"))
        self.assertIn("expected a100, h100", self.expect(USAGE, "bench", path, "--roofline", "l40s"))
        self.expect(USAGE, "bench", path, self.folder / "missing.json")


main()
