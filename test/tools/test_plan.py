"""sdpa plan and sdpa store"""

from command import NO, USAGE, YES, CommandTest, attention, main


def half(**options):
    return attention(**{"queries": 128, "keys": 128, "heads": 8, "depth": 64, "data_type": "HALF", **options})


class PlanInAFile(CommandTest):
    def test_cpu_plan_is_written_and_shown(self):
        plan = self.folder / "cpu.plan"
        self.expect(YES, "plan", self.write("graph.json", attention()), "--for", "cpu", "--out", plan)
        text = self.expect(YES, "show", plan)
        self.assertRegex(text, r"^plan cpu\n  target cpu\n")
        shown = self.expect_json(YES, "show", plan)
        self.assertEqual((shown["kind"], shown["name"], shown["cudnn"]), ("plan", "cpu", None))
        self.assertEqual(shown["graph"]["tensors"]["t0"]["dim"], [1, 2, 16, 8])

    def test_cut_plan_is_refused(self):
        plan = self.folder / "cpu.plan"
        self.expect(YES, "plan", self.write("graph.json", attention()), "--for", "cpu", "--out", plan)
        plan.write_bytes(plan.read_bytes()[:-20])
        self.assertIn("neither a graph as JSON nor a stored plan", self.expect(USAGE, "show", plan))

    def test_several_graphs_into_one_file(self):
        path = self.write("graph.json", attention())
        self.assertIn("found 2 graphs for 1 targets", self.expect(USAGE, "plan", path, path, "--for", "cpu", "--out", "x.plan"))

    def test_file_that_cannot_be_written(self):
        path = self.write("graph.json", attention())
        self.assertIn("cannot be written", self.expect(USAGE, "plan", path, "--for", "cpu", "--out", self.folder / "no" / "x.plan"))


class PlanArguments(CommandTest):
    def test_no_place(self):
        path = self.write("graph.json", attention())
        self.assertIn("expected a place for the plans",
                      self.expect(USAGE, "plan", path, "--for", "h100", environment={"SDPA_GRAPH_PLAN_STORE": ""}))

    def test_store_for_a_cpu(self):
        path = self.write("graph.json", attention())
        self.assertIn("--for: found 'cpu'", self.expect(USAGE, "plan", path, "--for", "cpu", "--store", self.folder / "s"))

    def test_folder_without_graphs(self):
        self.assertIn("no file with the ending .json", self.expect(USAGE, "plan", self.folder, "--for", "h100", "--store", "s"))


class Store(CommandTest):
    def test_no_folder(self):
        self.assertIn("found no such folder", self.expect(USAGE, "store", self.folder / "none", "list"))

    def test_file(self):
        self.assertIn("found a file", self.expect(USAGE, "store", self.write("file", "x"), "list"))

    def test_empty(self):
        self.assertEqual(self.expect(NO, "store", self.folder, "list"), f"{self.folder} has no plans\n")

    def test_no_such_action(self):
        self.expect(USAGE, "store", self.folder, "empty")
        self.expect(USAGE, "store", self.folder)
        self.assertIn("--most", self.expect(USAGE, "store", self.folder, "prune"))

    def test_plans_are_compiled_once_listed_merged_and_pruned(self):
        self.need_cudnn()
        graphs, store, other = self.folder / "graphs", self.folder / "store", self.folder / "other"
        graphs.mkdir()
        for depth in (64, 128):
            self.write(f"graphs/d{depth}.json", half(depth=depth))
        first = self.expect_json(YES, "plan", graphs, "--for", "h100", "--for", "a100", "--store", store)
        self.assertEqual([row["compiled"] for row in first], [1, 1, 1, 1])
        again = self.expect_json(YES, "plan", graphs, "--for", "h100", "--store", store)
        self.assertEqual([(row["compiled"], row["loaded"]) for row in again], [(0, 1), (0, 1)])

        listed = self.expect_json(YES, "store", store, "list")
        self.assertEqual([row["files"] for row in listed], [2, 2])
        self.assertIn("H100", listed[1]["environment"])
        self.assertEqual(self.expect_json(YES, "store", other, "merge", store), {"copied": 4})
        self.assertEqual(self.expect(YES, "store", other, "merge", store), f"copied 0 files to {other}\n")
        self.assertEqual(self.expect_json(YES, "store", other, "prune", "--most", "1GB"), {"removed": 0})
        self.assertEqual(self.expect_json(YES, "store", other, "prune", "--most", "0"), {"removed": 4})
        self.expect(NO, "store", other, "list")

    def test_missing_plans_are_named_and_nothing_is_written(self):
        self.need_cudnn()
        store = self.folder / "store"
        there, lacking = self.write("there.json", half()), self.write("lacking.json", half(depth=128))
        self.expect(YES, "plan", there, "--for", "h100", "--store", store)
        rows = self.expect_json(NO, "store", store, "missing", there, lacking, self.write("odd.json", half(depth=12)), "--for", "h100", "--for", "a100")
        states = {(row["graph"].rsplit("/", 1)[1], row["target"]): row["state"] for row in rows}
        self.assertEqual(states["there.json", "h100"], "there")
        self.assertEqual({states["there.json", "a100"], states["lacking.json", "h100"]}, {"missing"})
        self.assertEqual({states["odd.json", "h100"], states["odd.json", "a100"]}, {"refused"})
        (reason,) = [row["reason"] for row in rows if row["graph"].endswith("lacking.json") and row["target"] == "h100"]
        self.assertIn("the nearest entry has", reason)
        self.assertEqual([row["files"] for row in self.expect_json(YES, "store", store, "list")], [1])
        self.expect(YES, "store", store, "missing", there, "--for", "h100")

    def test_frozen_store_is_not_changed(self):
        store = self.folder / "store"
        store.mkdir()
        self.assertEqual(self.expect(YES, "store", store, "freeze"), f"{store} is frozen: it is only read\n")
        self.assertIn("frozen: it is only read", self.expect(NO, "store", store, "list"))
        graph = self.write("graph.json", half())
        for arguments in (("plan", graph, "--for", "h100", "--store", store), ("store", store, "prune", "--most", "1"), ("store", store, "merge", self.folder)):
            self.assertIn("is frozen; thaw it by sdpa store", self.expect(USAGE, *arguments))
        self.assertEqual(self.expect_json(YES, "store", store, "freeze", "--undo"), {"frozen": False})
        self.assertEqual(self.expect_json(YES, "store", store, "prune", "--most", "1"), {"removed": 0})

    def test_refused_graph(self):
        self.need_cudnn()
        path = self.write("odd.json", half(depth=12))
        text = self.expect(NO, "plan", path, "--for", "h100", "--store", self.folder / "store")
        self.assertRegex(text, r"(?m)odd.json +h100 +refused$")
        self.assertIn("[cudnn.s04]", text)


main()
