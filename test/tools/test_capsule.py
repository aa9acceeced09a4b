"""sdpa capsule, and capsules in place of graphs"""

import json

from support.command import NO, USAGE, YES, CommandTest, attention, main, padded


class Capsule(CommandTest):
    def test_run_gets_the_capsules_lengths_and_seed(self):
        graph = padded(attention(queries=20, keys=30, batches=3))
        capsule = json.loads(self.expect(YES, "capsule", "-", "--target", "cpu", "--seed", 7, input=graph))
        self.assertEqual(capsule["seed"], 7)
        self.assertEqual(set(capsule["integers"]), {"t4", "t5"})
        results = [self.expect_json(YES, "run", "-", *arguments, input=source)["results"]
                   for source, arguments in ((capsule, ()), (graph, ("--seed", 7)), (graph, ()), (capsule, ("--seed", 7)))]
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0], results[3])
        self.assertNotEqual(results[0], results[2])
        capsule["integers"]["t5"] = [1, 2, 3]
        self.assertNotEqual(self.expect_json(YES, "run", "-", input=capsule)["results"], results[0])

    def test_verify_gets_the_capsules_lengths_and_seed(self):
        graph = padded(attention(queries=20, keys=30, batches=3))
        capsule = json.loads(self.expect(YES, "capsule", "-", "--target", "cpu", "--seed", 7, input=graph))
        capsule["integers"]["t5"] = [1, 2, 3]
        self.expect(YES, "run", "-", "--save", self.folder / "saved", input=capsule)
        got = f"--got=O={self.folder / 'saved' / 'O.npy'}"
        self.expect(YES, "verify", "-", got, input=capsule)
        self.expect(NO, "verify", "-", got, "--seed", 1, input=capsule)

    def test_explain_and_show_accept_capsules(self):
        capsule = self.expect(YES, "capsule", "-", "--target", "cpu", input=attention()).encode()
        self.assertIn("runs on cpu", self.expect(YES, "explain", "-", "--target", "cpu", input=capsule))
        self.assertIn("SDPA_FORWARD", self.expect(YES, "show", "-", input=capsule))

    def test_run_and_verify_refuse_the_part_of_a_rank(self):
        capsule = json.loads(self.expect(YES, "capsule", "-", "--target", "cpu", input=attention()))
        self.assertIsNone(capsule["group"])
        capsule["group"] = {"rank": 1, "size": 2, "way": "AUTO", "stages": 0, "queries": [], "keys": []}
        whole = {**capsule, "group": None}
        self.expect(YES, "run", "-", "--save", self.folder / "saved", input=whole)
        got = f"--got=O={self.folder / 'saved' / 'O.npy'}"
        for arguments in (("run", "-"), ("verify", "-", got)):
            text = self.expect(USAGE, *arguments, input=capsule)
            self.assertIn("the part of rank 1 of 2 in the capsule of a group", text)

    def test_failed_build(self):
        out = self.folder / "capsule.json"
        text = self.expect(YES, "capsule", "-", "--target", "cpu", "--out", out, input=attention(heads=8, key_heads=3))
        self.assertIn(f"standard input on cpu: the build fails, {out} is written", text)
        capsule = json.loads(out.read_text())
        self.assertIn("found 3 heads in K", capsule["failure"]["message"])
        self.assertEqual(capsule["findings"][0]["rule"], "sdpa_fwd.c04")
        self.assertIsNone(capsule["plan"])
        self.assertIn("[sdpa_fwd.c04]", self.expect(NO, "run", out))

    def test_planned_for_a_gpu(self):
        self.need_cudnn()
        graph = attention(queries=256, keys=256, heads=4, depth=64, data_type="HALF", right_bound=0)
        capsule = json.loads(self.expect(YES, "capsule", "-", "--target", "h100", input=graph))
        self.assertRegex(capsule["plan"], r"^eng\d")
        self.assertIn("H100", capsule["device"]["deviceName"])
        self.assertGreater(capsule["versions"]["cudnn"], 91000)
        self.assertTrue(capsule["libraries"][0].startswith("cuDNN "))

    def test_faulty_capsules(self):
        capsule = json.loads(self.expect(YES, "capsule", "-", "--target", "cpu", input=padded(attention())))
        for change, message in (
            ({"version": 2}, "found a capsule of another version"),
            ({"graph": []}, "found a capsule of another version or without a graph"),
            ({"graph": {}}, "standard input: "),
            ({"seed": -1}, "found the seed -1 in the capsule"),
            ({"integers": {"t4": [1, 2]}}, "found a capsule whose integers of 't4' do not fit its graph"),
            ({"integers": {"t4": [1.5]}}, "found a capsule whose integers of 't4' do not fit its graph"),
            ({"integers": {"t0": [1] * 256}}, "found a capsule whose integers of 't0' do not fit its graph"),
            ({"integers": {"t0": [1.0]}}, "found a capsule whose integers of 't0' do not fit its graph"),
            ({"integers": {"t44": [1]}}, "found a capsule whose integers of 't44' do not fit its graph"),
        ):
            self.assertIn(message, self.expect(USAGE, "run", "-", input={**capsule, **change}))


main()
