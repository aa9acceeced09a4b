"""sdpa man and sdpa completion: they have every subcommand and option that --help has, and shells accept them."""

import re
import shutil
import subprocess

from support.command import USAGE, YES, CommandTest, main

BASH = """
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_sdpa
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Shells(CommandTest):
    def parts(self):
        """The options in the help of each subcommand."""
        names = re.findall(r"(?m)^  (\w+) {3,}", self.expect(YES, "--help").split("Subcommands:")[1])
        self.assertIn("explain", names)
        return {name: set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", self.options(name))) for name in names}

    def options(self, name):
        """The left column of the options' help, where their names stand."""
        text = self.expect(YES, name, "--help").split("Options:")[1].split("Examples:")[0]
        return "\n".join(line[:30] for line in text.splitlines() if line.startswith("  -"))

    def script(self, shell):
        return self.write(f"completion.{shell}", self.expect(YES, "completion", shell))

    def test_man_page(self):
        page = self.expect(YES, "man")
        text = page.replace("\\-", "-").replace("\\e", "\\").replace("\\fB", "").replace("\\fP", "")
        self.assertTrue(page.startswith(".TH SDPA 1 "))
        self.assertIn("sdpa - answers about attention graphs\n", text)
        for name, options in self.parts().items():
            section = text.split(f".SS sdpa {name}\n")[1].split(".SS ")[0]
            for option in options:
                self.assertRegex(section, rf"(?m)^(.*, )?{option}\b", f"{name} {option}")
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-z"], input=page.encode(), capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_every_option_is_completed(self):
        for shell, form in (("bash", "{0}"), ("zsh", "'{0}["), ("fish", " -l {1}")):
            script = self.script(shell).read_text()
            for name, options in self.parts().items():
                self.assertIn(name, script)
                for option in options:
                    self.assertIn(form.format(option, option[2:]), script)

    def test_bash(self):
        script = self.script("bash")

        def offered(*words):
            done = subprocess.run(["bash", "-c", BASH, "bash", script, "sdpa", *words], capture_output=True, check=True)
            self.assertEqual(done.stderr, b"")
            return done.stdout.decode().split()

        self.assertEqual(offered("d"), ["doctor", "draw"])
        self.assertEqual(offered("--"), ["--help", "--version"])
        self.assertEqual(offered("draw", "graph.json", "--wh"), ["--what"])
        self.assertEqual(offered("draw", "--what", ""), ["graph", "operations", "plan"])
        self.assertEqual(offered("explain", "graph.json", "--target", "h"), ["h100", "h200"])
        self.assertEqual(offered("run", "--target", ""), ["cpu", "reference", "cuda"])
        self.assertEqual(offered("store", "plans", "p"), ["prune"])
        self.assertEqual(offered("store", "plans", "prune", "--m"), ["--most"])
        self.assertEqual(offered("show", "gra"), [])  # files are bash's own default

    def test_fish_and_zsh_read_their_scripts(self):
        if shutil.which("fish"):
            command = f'source {self.script("fish")}; complete -C"sdpa store plans p"; complete -C"sdpa draw --what o"'
            done = subprocess.run(["fish", "--no-config", "-c", command], capture_output=True, check=True)
            self.assertEqual([line.split(b"\t")[0] for line in done.stdout.splitlines()], [b"prune", b"operations"])
        if shutil.which("zsh"):
            command = f'autoload -U compinit; compinit -D -u; source {self.script("zsh")}; print $_comps[sdpa]'
            done = subprocess.run(["zsh", "-f", "-c", command], capture_output=True, check=True)
            self.assertEqual((done.stdout, done.stderr), (b"_sdpa\n", b""))

    def test_unknown_shell(self):
        self.assertIn("bash", self.expect(USAGE, "completion", "csh"))
        self.assertIn("Try: sdpa completion --help", self.expect(USAGE, "completion"))


main()
