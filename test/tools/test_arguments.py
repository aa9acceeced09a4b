"""The command line: help, unknown subcommands, files that cannot be read, closed pipes."""

import subprocess

from command import COMMAND, GRAPHS, USAGE, YES, CommandTest, attention, main

SUBCOMMANDS = ("doctor", "new", "show", "explain", "plan", "store", "draw", "mask", "run", "bench", "tune", "matrix")
READERS = (("show",), ("explain", "--target", "cpu"), ("draw",), ("mask",), ("run",), ("bench", "--repeat", "1"))


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

    def test_unknown_subcommand(self):
        errors = self.expect(USAGE, "explian", "x.json")
        self.assertIn("found the subcommand 'explian', expected one of doctor, new, show", errors)

    def test_unknown_option(self):
        self.assertIn("--fast. Try: sdpa show --help", self.expect(USAGE, "show", "x.json", "--fast"))

    def test_files_that_cannot_be_read(self):
        empty, broken = self.write("empty.json", ""), self.write("broken.json", '{"format": ')
        other = self.write("other.json", '{"format": "onnx"}')
        for command in READERS:
            self.assertIn("No such file", self.expect(USAGE, *command, self.folder / "missing.json"))
            self.assertIn("found a folder, expected a file", self.expect(USAGE, *command, self.folder))
            self.assertIn("found nothing in it", self.expect(USAGE, *command, empty))
            self.assertIn("line 1, column ", self.expect(USAGE, *command, broken))
            self.assertIn("/format", self.expect(USAGE, *command, other))
            self.assertIn("standard input: ", self.expect(USAGE, *command, "-", input="{"))

    def test_closed_pipe(self):
        path = self.write("graph.json", attention())
        for command in READERS:
            process = subprocess.Popen([COMMAND, *command, str(path), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.close()
            errors = process.stderr.read()
            process.stderr.close()
            self.assertIn(process.wait(), (0, 1), errors)
            self.assertEqual(errors, b"")

    def test_full_disk(self):
        path = self.write("graph.json", attention())
        with open("/dev/full", "w") as full:
            done = subprocess.run([COMMAND, "show", path], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"sdpa: standard output: No space left", done.stderr)

    def test_no_color_in_a_pipe(self):
        self.assertNotIn("\033", self.expect(YES, "show", self.write("graph.json", attention())))


main()
