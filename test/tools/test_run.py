"""sdpa run"""

import json

from support import npy
from support.command import NO, USAGE, YES, CommandTest, attention, backward_of, main, padded, paged, tensor


class Run(CommandTest):
    def verified(self, graph, *arguments):
        shown = self.expect_json(YES, "run", "-", "--verify", *arguments, input=graph)
        self.assertTrue(shown["verdict"]["right"])
        return shown

    def test_results_are_summarized(self):
        text = self.expect(YES, "run", "-", input=attention())
        self.assertRegex(text, r"^standard input on cpu: plan cpu, workspace .*, built in .* ms, run in .* ms\n")
        self.assertRegex(text, r"(?m)^  O +FLOAT +\[1, 2, 16, 8\] +-")

    def test_data_depends_on_the_seed_alone(self):
        results = [self.expect_json(YES, "run", "-", "--seed", seed, input=attention())["results"] for seed in (1, 1, 2)]
        self.assertEqual(results[0], results[1])
        self.assertNotEqual(results[0], results[2])

    def test_options_are_verified(self):
        for fields in ({}, {"right_bound": 0}, {"alibi_mask": True, "right_bound": 0}, {"left_bound": 4}):
            for data_type in ("FLOAT", "HALF", "BFLOAT16"):
                shown = self.verified(attention(queries=40, keys=70, batches=2, data_type=data_type, **fields))
                self.assertEqual(shown["verdict"]["results"][0]["elements"], 2 * 2 * 40 * 8)

    def test_padding(self):
        shown = self.verified(padded(attention(queries=40, keys=70, batches=3)))
        self.assertEqual(shown["results"][0]["not_finite"], 0)

    def test_ragged_and_dropout(self):
        graph = padded(attention(queries=40, keys=40, batches=3, dropout_probability=0.5))
        for name, place in (("seed", "t6"), ("offset", "t7")):
            graph["tensors"][place] = tensor(name, 10 + int(place[1]), (1, 1, 1, 1), data_type="INT64")
            graph["nodes"][0]["inputs"][name] = place
        graph["tensors"]["t8"] = tensor("offsets", 30, (4, 1, 1, 1), data_type="INT32")
        for place in ("t0", "t1", "t2", "t3"):
            graph["tensors"][place].update(stride=[640, 8, 16, 1], ragged_offset="t8")
        shown = self.verified(graph)
        self.assertLess(shown["verdict"]["results"][0]["elements"], 3 * 2 * 40 * 8)

    def test_pages(self):
        self.verified(paged(attention(queries=1, keys=16, batches=2), 64))

    def test_backward_gets_its_results_of_forward(self):
        graph = backward_of(attention(queries=24, keys=24, heads=4, key_heads=2, right_bound=0))
        shown = self.verified(graph)
        self.assertEqual([c["name"] for c in shown["verdict"]["results"]], ["dQ", "dK", "dV"])
        self.assertTrue(all(0.01 < result["rms"] < 10 for result in shown["results"]))

    def test_wrong_numbers_are_found(self):
        right, wrong = attention(right_bound=0), self.write("wrong.json", attention(right_bound=1))
        verdict = self.expect_json(NO, "run", "-", "--against", wrong, input=right)["verdict"]
        worst = verdict["results"][0]
        self.assertFalse(verdict["right"])
        self.assertGreater(worst["wrong"], 100)
        self.assertLess(worst["worst_index"][2], 15)  # the last row has no key more
        self.assertGreater(abs(worst["got"] - worst["expected"]), worst["allowed"])
        text = self.expect(NO, "run", "-", "--against", wrong, input=right)
        self.assertIn("wrong: errors exceed the allowed ones\n  O: wrong elements within [0, 0-1, 0-14, 0-7]\n", text)
        self.assertIn("explained by: one key too few is visible right of the diagonal: right_bound 0 in place of 1 (mask_shifted)", text)

    def test_large_graphs_are_compared_in_samples(self):
        graph = attention(queries=200, keys=200, batches=2, right_bound=0)
        verdict = self.expect_json(YES, "run", "-", "--verify", "--most-scores", 10000, input=graph)["verdict"]
        self.assertTrue(verdict["sampled"])
        self.assertEqual(verdict["scores"], 2 * 2 * 200 * 200)
        self.assertLess(verdict["scores_compared"], 20000)
        self.assertLess(100, verdict["results"][0]["elements"])

    def test_too_many_scores(self):
        graph = padded(attention(queries=40, keys=40, batches=3, dropout_probability=0.5))
        for name, place in (("seed", "t6"), ("offset", "t7")):
            graph["tensors"][place] = tensor(name, 10 + int(place[1]), (1, 1, 1, 1), data_type="INT64")
            graph["nodes"][0]["inputs"][name] = place
        self.assertIn("found a graph with 9600 scores of which no sample can be compared",
                      self.expect(USAGE, "run", "-", "--verify", "--most-scores", 100, input=graph))

    def test_data_of_a_result(self):
        path = self.write("graph.json", attention())
        self.expect(YES, "run", path, "--save", self.folder)
        text = self.expect(USAGE, "run", path, "--data", f"O={self.folder}/O.npy")
        self.assertIn("--data: found 'O', which is a result; expected the name of an input", text)

    def test_stored_plan(self):
        path, plan = self.write("graph.json", attention()), self.folder / "cpu.plan"
        self.expect(YES, "plan", path, "--for", "cpu", "--out", plan)
        self.assertIn("found a stored plan; expected a graph as JSON, docs/json.md", self.expect(USAGE, "run", plan))

    def test_large_scores_of_float_are_right(self):
        """Their roundoff in FLOAT is more than that of the weights which are their exponentials."""
        graph = attention(queries=64, keys=64, depth=128, right_bound=0)
        for scale in (1.0, 3.0, 20.0):
            graph["nodes"][0]["fields"]["attn_scale"] = scale
            for each in (graph, backward_of(graph)):
                self.expect(YES, "run", self.write("graph.json", each), "--verify")

    def test_wrong_numbers_with_large_scores_are_found(self):
        graph = attention(queries=64, keys=64, depth=128, right_bound=0)
        paths = []
        for scale in (3.0, 2.99):
            graph["nodes"][0]["fields"]["attn_scale"] = scale
            paths.append(self.write(f"{scale}.json", graph))
        self.expect(NO, "run", paths[0], "--against", paths[1])

    def test_targets(self):
        self.assertIn("for which plans can be made and not run", self.expect(USAGE, "run", "-", "--target", "h100", input=attention()))
        self.assertEqual(self.expect_json(YES, "run", "-", "--target", "reference", input=attention())["plan"], "reference")

    def test_invalid_graph_has_no_plan(self):
        self.assertIn("[sdpa_fwd.c04]", self.expect(NO, "run", "-", input=attention(heads=8, key_heads=3)))


class OnAGpu(CommandTest):
    def test_run_and_verify(self):
        if not self.expect_json_of_doctor()["gpu"]["usable"]:
            self.expect(USAGE, "run", "-", "--target", "cuda", input=attention())
            return
        graph = attention(queries=256, keys=256, heads=4, depth=64, data_type="HALF", right_bound=0)
        shown = self.expect_json(YES, "run", "-", "--target", "cuda", "--verify", input=graph)
        self.assertRegex(shown["plan"], r"^eng\d")

    def expect_json_of_doctor(self):
        return json.loads(self.run_command("doctor", "--quick", "--json").stdout)

    def test_arrays_of_many_bytes(self):
        keys, depth = 1 << 17, 72  # as float64 more than 64 MiB, to which files of other kinds are limited
        graph = self.write("graph.json", attention(queries=1, keys=keys, heads=1, depth=depth))
        path = self.folder / "v.npy"
        with open(path, "wb") as file:
            file.write(npy.header("<f8", (1, 1, keys, depth)))
            file.truncate(file.tell() + keys * depth * 8)
        (result,) = self.expect_json(YES, "run", graph, "--data", f"V={path}")["results"]
        self.assertEqual((result["least"], result["greatest"]), (0, 0))


main()
