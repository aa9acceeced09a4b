"""sdpa tune: candidates in the order of their times, and the times and plans that it writes."""

import re

from support.command import NO, USAGE, YES, CommandTest, attention, main

FEW = {"queries": 2, "keys": 2048, "heads": 8, "key_heads": 2, "depth": 64}


class Tune(CommandTest):
    def tune(self, status, *arguments):
        return self.expect_json(status, "tune", *arguments, "--target", "cpu", "--repeat", 5)

    def test_programs_are_timed_with_the_graph_as_given(self):
        (tuned,) = self.tune(YES, self.write("few.json", attention(**FEW)), "--programs")
        times = [candidate["median_ms"] for candidate in tuned["candidates"]]
        self.assertGreater(len(times), 1)
        self.assertEqual(times, sorted(times))
        self.assertEqual((tuned["usual"], tuned["fastest"]), ("cpu", tuned["candidates"][0]["plan"]))
        usual = next(candidate for candidate in tuned["candidates"] if candidate["plan"] == "cpu")
        self.assertAlmostEqual(tuned["ratio"], usual["median_ms"] / times[0])
        self.assertEqual(tuned["is_clear"], times[0] < min(usual["milliseconds"]))
        self.assertTrue(any(candidate["plan"].startswith("program few_queries") for candidate in tuned["candidates"]))

    def test_times_are_kept_in_the_store_and_decide_later_builds(self):
        path, store = self.write("few.json", attention(**FEW)), self.folder / "store"
        (tuned,) = self.tune(YES, path, "--programs", "--store", store)
        (row,) = self.expect_json(YES, "store", store, "list")
        self.assertEqual(row["files"], 1)
        self.assertRegex(row["environment"], "-cpu-.*-times$")
        environment = {"SDPA_GRAPH_PLAN_STORE": str(store)}
        (candidate,) = self.expect_json(YES, "explain", path, "--target", "cpu", environment=environment)["candidates"]
        usual = next(each for each in tuned["candidates"] if each["plan"] == "cpu")
        self.assertAlmostEqual(candidate["measured_us"], 1e3 * usual["median_ms"])
        self.assertEqual(candidate["measured_runs"], len(usual["milliseconds"]))
        text = self.expect(YES, "explain", path, "--target", "cpu", environment=environment)
        self.assertRegex(text, r"cpu +runs +measured \S+ [mu]s, \S+ [mu]s to \S+ [mu]s in 5 runs")

    def test_times_in_the_store_are_shown(self):
        graph = attention(**FEW)
        for tensor in graph["tensors"].values():
            tensor["uid"] = None
        path, store, plans = self.write("few.json", graph), self.folder / "store", self.folder / "plans"
        (tuned,) = self.tune(YES, path, "--programs", "--store", store, "--out", plans)
        (row,) = self.expect_json(YES, "store", store, "list")
        for shown in (path, plans / "few.plan"):
            (measured,) = self.expect_json(YES, "show", shown, "--store", store)["measured"]
            self.assertRegex(measured["environment"], r"^sdpa-graph \S+, cpu, ")
            self.assertEqual(re.sub("[^A-Za-z0-9.]", "-", measured["environment"] + ", times"), row["environment"])
            found = {candidate["name"]: candidate["measured_us"] for candidate in measured["candidates"]}
            for candidate in tuned["candidates"]:
                self.assertAlmostEqual(found.pop(candidate["plan"]), 1e3 * candidate["median_ms"])
            self.assertEqual(found, {})
        text = self.expect(YES, "show", path, environment={"SDPA_GRAPH_PLAN_STORE": str(store)})
        self.assertRegex(text, r"\nmeasured times\n  sdpa-graph .*\n    candidate +runs +median +least +greatest\n")
        self.assertRegex(text, r"\n    cpu +5 +\S+ us +\S+ us +\S+ us\n")

    def test_plan_that_is_written_is_the_usual_one_unless_another_is_clearly_faster(self):
        path, plans = self.write("few.json", attention(**FEW)), self.folder / "plans"
        (tuned,) = self.tune(YES, path, "--programs", "--out", plans)
        self.assertEqual(tuned["chosen"], tuned["fastest"] if tuned["is_clear"] else "cpu")
        self.assertEqual(self.expect_json(YES, "show", plans / "few.plan")["name"], tuned["chosen"])

    def test_plans_are_written(self):
        graphs, plans = self.folder / "graphs", self.folder / "plans"
        graphs.mkdir()
        self.write("graphs/one.json", attention())
        self.write("graphs/two.json", attention(queries=32, right_bound=0))
        tuned = self.tune(YES, graphs, "--out", plans)
        self.assertEqual([one["file"] for one in tuned], [str(plans / "one.plan"), str(plans / "two.plan")])
        self.assertEqual(self.expect_json(YES, "show", plans / "two.plan")["name"], "cpu")

    def test_text(self):
        text = self.expect(YES, "tune", self.write("graph.json", attention()), "--target", "cpu", "--repeat", 3)
        self.assertRegex(text, r"\n  cpu +3 +\S+ ms +\S+ ms +\S+ ms +1\n  cpu is the only candidate\n$")

    def test_invalid_graph(self):
        (tuned,) = self.tune(NO, self.write("graph.json", attention(heads=3, key_heads=2)))
        self.assertIn("[sdpa_fwd.c04]", tuned["refusal"])
        self.assertEqual((tuned["candidates"], tuned["fastest"]), ([], None))

    def test_described_gpu(self):
        errors = self.expect(USAGE, "tune", self.write("graph.json", attention()), "--target", "h100")
        self.assertIn("plans can be made and not run", errors)
        self.assertIn("Try: sdpa plan", errors)

    def test_folder_that_cannot_be_written(self):
        path = self.write("graph.json", attention())
        self.assertIn("cannot be written", self.expect(USAGE, "tune", path, "--target", "cpu", "--out", path))


main()
