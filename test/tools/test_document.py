"""docs/sdpa-command.md: its commands print what it says, times and dates apart."""

import json
import pathlib
import re
import shlex
import subprocess

from command import COMMAND, GRAPHS, CommandTest, main

ROOT = GRAPHS.parent
BLOCK = re.compile(r"```console\n\$ (.+)\n((?:.*\n)*?)```\n")
VERSION = 91900  # of the cuDNN that the document's answers are from


def plain(text):
    text = re.sub(r"\d[\d.e+-]* (ms|s)\b", "T", text)
    text = re.sub(r"(?m)( T){3} .*$", " TIMES AND RATES", re.sub(r" +", " ", text))
    text = re.sub(r"workspace \S+ \w+", "workspace W", text)  # of the CPU: it depends on the number of threads
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DATE", text)
    return [re.sub(r" +", " ", line).rstrip() for line in text.splitlines()]


class Document(CommandTest):
    def test_output(self):
        blocks = BLOCK.findall((ROOT / "docs" / "sdpa-command.md").read_text())
        self.assertGreater(len(blocks), 6)
        has_cudnn = json.loads(self.run_command("doctor", "--quick", "--json").stdout)["cudnn_version"] == VERSION
        (self.folder / "graphs").symlink_to(GRAPHS)
        checked = 0
        for command, expected in blocks:
            words = shlex.split(command)
            self.assertEqual(words[0], "sdpa")
            if words[1] == "doctor" or (not has_cudnn and ("h100" in words or words[1] == "store")):
                continue
            done = subprocess.run([COMMAND, *words[1:]], cwd=self.folder, capture_output=True)
            self.assertEqual(plain(done.stdout.decode()), plain(expected), command)
            checked += 1
        self.assertGreater(checked, 3)

    def test_all_subcommands_have_a_section(self):
        text = pathlib.Path(ROOT / "docs" / "sdpa-command.md").read_text()
        for name in re.findall(r"(?m)^  (\w+) {3,}", self.expect(0, "--help").split("Subcommands:")[1]):
            self.assertIn(f"`sdpa {name} ", text.replace("`sdpa doctor`", "`sdpa doctor `"))


main()
