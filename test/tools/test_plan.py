"""sdpa plan and sdpa store"""

import json

from support.command import GRAPHS, NO, USAGE, YES, CommandTest, attention, backward_of, main, padded


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
        self.assertIn("expected a place for the plans. Try: --store plans, a folder that is made where there is none.",
                      self.expect(USAGE, "plan", path, "--for", "h100", environment={"SDPA_GRAPH_PLAN_STORE": ""}))

    def test_store_for_a_cpu(self):
        path = self.write("graph.json", attention())
        self.assertIn("--for: found 'cpu'", self.expect(USAGE, "plan", path, "--for", "cpu", "--store", self.folder / "s"))

    def test_folder_without_graphs(self):
        self.assertIn("no file with the ending .json", self.expect(USAGE, "plan", self.folder, "--for", "h100", "--store", "s"))


class Sizes(CommandTest):
    """Graphs with other sizes, as plans for the CPU show them."""

    def resized(self, graph, *arguments):
        plan = self.folder / "cpu.plan"
        self.expect(YES, "plan", self.write("graph.json", graph), "--for", "cpu", "--out", plan, *arguments)
        shown = self.expect_json(YES, "show", plan)["graph"]
        (node,) = shown["nodes"]
        ports = {**node["inputs"], **node["outputs"]}
        return node, {port: [shown["tensors"][place].get(member) for member in ("dim", "stride")] for port, place in ports.items()}

    def graph(self, name):
        return json.loads((GRAPHS / f"{name}.json").read_text())

    def test_layouts_stay(self):
        graph = attention(batches=2, heads=4, queries=16, keys=32, depth=8)
        graph["tensors"]["t1"]["stride"] = [32 * 96, 8, 96, 1]  # rows of packed Q, K and V
        _, tensors = self.resized(graph, "--batch", "3", "--keys", "64")
        self.assertEqual(tensors["Q"], [[3, 4, 16, 8], [512, 128, 8, 1]])
        self.assertEqual(tensors["K"], [[3, 4, 64, 8], [64 * 96, 8, 96, 1]])
        self.assertEqual(tensors["V"], [[3, 4, 64, 8], [2048, 512, 8, 1]])

    def test_one_query_becomes_many(self):
        for stride in ([32, 8, 8, 1], [32, 8, 32, 1]):  # heads before rows, and rows before heads
            graph = attention(batches=2, heads=4, queries=1, keys=32, depth=8)
            graph["tensors"]["t0"]["stride"] = stride
            _, tensors = self.resized(graph, "--queries", "5")
            self.assertEqual(tensors["Q"][1], [160, 40, 8, 1] if stride[2] == 8 else [160, 8, 32, 1])

    def test_all_tensors_of_a_pass_fit(self):
        for graph in (padded(attention(batches=2)), padded(backward_of(attention(batches=2)))):
            node, tensors = self.resized(graph, "--batch", "5", "--tokens", "24")
            self.assertEqual({tensors[port][0][2] for port in ("Q", "K", "V", "O")}, {24})
            self.assertEqual(tensors["seq_len_kv"][0], [5, 1, 1, 1])
            self.assertEqual({dim[0] for dim, _ in tensors.values()}, {5})

    def test_pages_and_offsets(self):
        node, tensors = self.resized(self.graph("llama3-8b-paged-decode"), "--batch", "3", "--keys", "100")
        self.assertEqual((tensors["page_table_k"][0], node["fields"]["max_seq_len_kv"]), ([3, 1, 7, 1], 100))
        self.assertEqual(tensors["K"][0][0], self.graph("llama3-8b-paged-decode")["tensors"]["t5"]["dim"][0])
        packed = self.graph("llama3-8b-packed-training")
        plan = self.folder / "packed.plan"
        self.expect(YES, "plan", self.write("graph.json", packed), "--for", "cpu", "--out", plan, "--batch", "7")
        dims = [tensor["dim"] for tensor in self.expect_json(YES, "show", plan)["graph"]["tensors"].values()]
        self.assertEqual(dims.count([8, 1, 1, 1]), 2)

    def test_broadcast_biases_stay(self):
        graph = attention(batches=2, heads=4, queries=16, keys=32)
        graph["tensors"]["t4"] = {"name": "bias", "uid": 9, "dim": [1, 4, 1, 32], "stride": [128, 32, 32, 1]}
        graph["nodes"][0]["inputs"]["bias"] = "t4"
        _, tensors = self.resized(graph, "--batch", "3", "--queries", "8", "--keys", "48")
        self.assertEqual(tensors["bias"], [[1, 4, 1, 48], [192, 48, 48, 1]])

    def test_ranges(self):
        self.need_cudnn()
        rows = self.expect_json(YES, "plan", self.write("d.json", half()), "--for", "h100", "--store", self.folder / "s", "--batch", "1,3", "--tokens", "128-300")
        names = [row["graph"].split("(")[1] for row in rows]
        self.assertEqual(names[:3], [f"batch 1, queries {size}, keys {size})" for size in (128, 256, 300)])
        self.assertEqual((len(names), {row["compiled"] for row in rows}), (6, {1}))

    def test_bad_ranges(self):
        path = self.write("graph.json", attention())
        for text in ("0", "8-4", "4-", "x", "1,,2", "1-99999999999999999999"):
            errors = self.expect(USAGE, "plan", path, "--for", "cpu", "--out", "x.plan", f"--keys={text}")
            self.assertIn(f"--keys: found '{text}'; expected sizes such as 1,2,3", errors)
        self.assertIn("found 2 graphs for 1 targets", self.expect(USAGE, "plan", path, "--for", "cpu", "--out", "x.plan", "--batch", "1,2"))
        self.assertIn("--tokens: found --queries or --keys", self.expect(USAGE, "plan", path, "--for", "cpu", "--out", "x.plan", "--tokens", "8", "--keys", "8"))

    def test_graphs_whose_sizes_are_not_known(self):
        window = GRAPHS / "nat-tiny.json"
        self.assertIn("expected one node of attention", self.expect(USAGE, "plan", window, "--for", "cpu", "--out", "x.plan", "--batch", "2"))
        moba = GRAPHS / "moba-llama3.1-8b-blocks.json"
        self.assertIn("found the port block_mask", self.expect(USAGE, "plan", moba, "--for", "cpu", "--out", "x.plan", "--batch", "2"))


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

    def test_action_before_the_store(self):
        for arguments in (["list", "plans"], ["merge", "plans", "others"], ["missing", "g.json", "--for", "h100"], ["list"]):
            errors = self.expect(USAGE, "store", *arguments)
            self.assertIn(f"found the action '{arguments[0]}'; expected the store before it, as in sdpa store FOLDER {arguments[0]}, or ./{arguments[0]} for", errors)

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

    def test_missing_plans_of_other_sizes_and_another_library(self):
        self.need_cudnn()
        store, path = self.folder / "store", self.write("d.json", half())
        library = next(line.split(": ")[1].split(",")[0] for line in self.expect(YES, "doctor", "--quick").splitlines() if line.startswith("  cuDNN "))
        self.expect(YES, "plan", path, "--for", "h100", "--store", store, "--batch", "2,4", "--cudnn", library)
        rows = self.expect_json(NO, "store", store, "missing", path, "--for", "h100", "--batch", "1-4", "--cudnn", library)
        self.assertEqual([row["state"] for row in rows], ["missing", "there", "there"])
        self.assertTrue(rows[0]["graph"].endswith("d.json (batch 1)"))
        self.assertIn("--keys: found 'x'", self.expect(USAGE, "store", store, "missing", path, "--for", "h100", "--keys", "x"))
        self.expect(USAGE, "store", store, "missing", path, "--for", "h100", "--cudnn", self.folder)

    def test_missing_plan_of_a_class_of_shapes(self):
        """A program's name for such a graph says so: its plan is that of all shapes of the class, not the exact one."""
        self.need_cudnn()
        store, graph = self.folder / "store", half(queries=200, keys=200)
        exact, classes = self.write("d.json", graph), self.write("d.class.json", graph)
        missing = lambda: [row["state"] for row in self.expect_json(NO, "store", store, "missing", exact, classes, "--for", "h100")]
        self.expect(YES, "plan", exact, "--for", "h100", "--store", store)
        self.assertEqual(missing(), ["there", "missing"])
        self.expect(YES, "store", store, "prune", "--most", "0")
        self.expect(YES, "plan", classes, "--for", "h100", "--store", store)
        self.assertEqual(missing(), ["missing", "there"])

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

    def test_store_that_cannot_be_written(self):
        graph, file = self.write("graph.json", half()), self.write("file", "text")
        for place in (file, "/proc/no-store", self.folder / "file" / "below"):
            text = self.expect(USAGE, "plan", graph, "--for", "h100", "--store", place)
            self.assertRegex(text, r"found no folder in which a file can be made \(.+\); expected a plan store that can be written")
            self.assertIn("no folder in which a file", self.expect(USAGE, "tune", graph, "--target", "cpu", "--repeat", 1, "--store", place))

    def test_plan_that_cannot_be_stored_is_no_success(self):
        self.need_cudnn()
        store, graph = self.folder / "store", self.write("graph.json", half())
        self.expect(YES, "plan", graph, "--for", "h100", "--store", store)
        (plan,) = store.rglob("*.plan")
        plan.unlink()
        plan.mkdir()  # in the entry's place
        (row,) = self.expect_json(NO, "plan", graph, "--for", "h100", "--store", store)
        self.assertIn("it has a plan, which could not be stored: plan store: '" + str(plan) + "' could not be written: Is a directory", row["refusal"])

    def test_frozen_by_the_environment(self):
        self.need_cudnn()
        store, other, graph = self.folder / "store", self.folder / "other", self.write("graph.json", half())
        environment = {"SDPA_GRAPH_PLAN_STORE": str(store), "SDPA_GRAPH_PLAN_STORE_FROZEN": "1"}
        text = self.expect(USAGE, "plan", graph, "--for", "h100", environment=environment)
        self.assertIn(f"SDPA_GRAPH_PLAN_STORE_FROZEN: found that nothing is written to '{store}'", text)
        self.assertFalse(store.exists())
        self.expect(YES, "plan", graph, "--for", "H100", "--store", other, environment=environment)
        self.assertEqual(len(list(other.rglob("*.plan"))), 1)

    def test_gpu_that_is_not_described(self):
        text = self.expect(USAGE, "plan", self.write("graph.json", half()), "--for", "x100", "--store", self.folder / "store")
        self.assertRegex(text, r"found 'x100'; expected a GPU that comes with the library: \w[\w, -]*h100")
        self.assertNotIn("cpu", text)

    def test_refused_graph(self):
        self.need_cudnn()
        path = self.write("odd.json", half(depth=12))
        text = self.expect(NO, "plan", path, "--for", "h100", "--store", self.folder / "store")
        self.assertRegex(text, r"(?m)odd.json +h100 +refused$")
        self.assertIn("[cudnn.s04]", text)


main()
