"""The command line: help, the version, and what it writes to."""

import subprocess

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

    def test_no_color_in_a_pipe(self):
        self.assertNotIn("\033", self.expect(YES, "show", self.write("graph.json", attention())))


main()
