"""The command line: help, the version, and what it writes to."""

import json
import subprocess
import xml.etree.ElementTree

from support.command import COMMAND, USAGE, YES, CommandTest, attention, main

SUBCOMMANDS = ("doctor", "new", "show", "explain", "plan", "store", "draw", "mask", "run", "bench", "tune", "matrix")


class Arguments(CommandTest):
    def test_help_lists_the_subcommands(self):
        text = self.expect(YES, "--help")
        for name in SUBCOMMANDS:
            self.assertRegex(text, rf"(?m)^  {name} ")

    def test_help_of_each_subcommand_has_an_example_and_exit_codes(self):
        for name in SUBCOMMANDS:
            text = self.expect(YES, name, "--help")
            self.assertRegex(text, rf"Examples:\n  (\S.* )?sdpa {name}")
            self.assertIn("Exit codes: 0: ", text)
            self.assertEqual("--json" in text, name != "new")  # which prints nothing but JSON

    def test_version(self):
        self.assertRegex(self.expect(YES, "--version"), r"^sdpa-graph \d+\.\d+\.\d+\n$")

    def test_no_subcommand(self):
        done = self.run_command()
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"Usage: sdpa", done.stderr)

    def test_full_disk(self):
        path = self.write("graph.json", attention())
        with open("/dev/full", "w") as full:
            done = subprocess.run([COMMAND, "show", path], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"sdpa: standard output: No space left", done.stderr)

    def test_numbers_out_of_range(self):
        """The library that reads the arguments would take the nearest number, or what is left modulo 2^64."""
        graph, most = self.write("graph.json", attention()), 2**63 - 1
        for arguments in (
            ("new", "--heads", 10**20),
            ("new", "--head-dim", most),
            ("new", "--heads", 2**40, "--tokens", 2**40),
            ("capsule", graph, "--target", "cpu", "--seed", 2**64),
            ("capsule", graph, "--target", "cpu", "--seed", -5),
            ("run", graph, "--seed", "1.5"),
            ("run", graph, "--verify", "--search-seconds", "nan"),
            ("store", self.folder, "prune", "--most", -1),
            ("mask", graph, "--seq-len-q", -1),
        ):
            with self.subTest(arguments):
                self.assertIn("found", self.expect(USAGE, *arguments))
        seed = 2**64 - 1
        self.assertEqual(json.loads(self.expect(YES, "capsule", graph, "--target", "cpu", "--seed", seed))["seed"], seed)

    def test_control_codes_of_names(self):
        """A terminal obeys them, and XML has none."""
        graph = attention()
        graph["tensors"]["t0"]["name"] = graph["nodes"][0]["name"] = "red\x1b[31m\x07"
        path = self.write("graph.json", graph)
        for arguments in (("show", path), ("mask", path), ("draw", path), ("run", path), ("explain", path, "--target", "cpu")):
            self.assertNotRegex(self.expect(YES, *arguments), "[\x07\x1b]")
        del graph["tensors"]["t0"]["dim"]
        text = self.expect(USAGE, "explain", self.write("bad.json", {**graph, "surprise\x1b[31m\x9b": 1}), "--target", "cpu")
        self.assertIn("surprise\\u001b[31m??", text)  # ESC is escaped by JSON
        svg = self.expect(YES, "draw", path, "--format", "svg")
        self.assertIn("red?[31m?", svg)
        xml.etree.ElementTree.fromstring(svg)

    def test_no_color_in_a_pipe(self):
        self.assertNotIn("\033", self.expect(YES, "show", self.write("graph.json", attention())))


main()
