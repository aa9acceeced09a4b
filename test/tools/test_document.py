"""README.md, docs/sdpa-command.md and docs/tour.md: their commands print what these say, times and dates apart."""

import json
import re

from support.command import COMMAND, GRAPHS, ROOT, CommandTest, main
from support.session import commands_of, plain, run

VERSION = 91900  # of the cuDNN that the documents' answers are from


class Document(CommandTest):
    def check(self, name, least):
        """Runs the commands one after the other, and at least so many of them without cuDNN."""
        has_cudnn = json.loads(self.run_command("doctor", "--quick", "--json").stdout)["cudnn_version"] == VERSION
        (self.folder / "graphs").symlink_to(GRAPHS)
        theirs = json.loads((GRAPHS / "llama3-8b-chunked-prefill.json").read_text())
        del theirs["nodes"][0]["fields"]["diagonal_alignment"]
        self.write("theirs.json", theirs)
        checked = 0
        for command, expected in commands_of((ROOT / name).read_text()):
            needs_cudnn = "h100" in command or "sdpa store" in command
            if command == "sdpa doctor" or (needs_cudnn and not has_cudnn):
                continue
            self.assertEqual(plain(run(command, COMMAND, self.folder)), plain(expected), command)
            checked += 1
        self.assertGreaterEqual(checked, least)

    def test_page_of_the_command(self):
        self.check("docs/sdpa-command.md", 4)

    def test_tour(self):
        self.check("docs/tour.md", 8)

    def test_readme(self):
        self.check("README.md", 0)

    def test_searches_have_time(self):
        """Other work on the machine must not change what is found."""
        bounds = {"the nearest graphs that work:": "--limit 20000", "explained by: ": "--search-seconds 600"}
        found = [
            (command, bounds[part])
            for name in ("README.md", "docs/sdpa-command.md", "docs/tour.md")
            for command, output in commands_of((ROOT / name).read_text())
            for part in bounds
            if part in output
        ]
        self.assertGreaterEqual(len(found), 4)
        for command, bound in found:
            self.assertIn(bound, command)

    def test_figures_of_the_readme_are_those_of_performance(self):
        results = dict(re.findall(r"(?m)^\| \[[^]]*\]\((#[^)]*)\) \| (.*) \|$", (ROOT / "docs/performance.md").read_text()))
        cited = re.findall(r"\[([^]]*)\]\(docs/performance\.md(#[^)]*)\)", (ROOT / "README.md").read_text())
        self.assertGreaterEqual(len(cited), 5)
        for text, topic in cited:
            self.assertEqual(text, results.get(topic), topic)

    def test_all_subcommands_have_a_section(self):
        text = (ROOT / "docs/sdpa-command.md").read_text()
        for name in re.findall(r"(?m)^  (\w+) {3,}", self.expect(0, "--help").split("Subcommands:")[1]):
            self.assertIn(f"`sdpa {name} ", text.replace("`sdpa doctor`", "`sdpa doctor `"))


main()
