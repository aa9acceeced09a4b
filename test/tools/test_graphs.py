"""The graphs of graphs/: each is valid, planned for an H100 or refused by the rule that the index names, and its picture
is what sdpa mask draws."""

import re
import sys

from support.command import COMMAND, GRAPHS, YES, CommandTest, main

sys.path.insert(0, str(GRAPHS.parent / "tools" / "graphs"))
from draw_masks import differences

ROW = re.compile(r"^\| .+ \| \[([\w.-]+)\]\(([\w.-]+)\.json\) \| .+ \| (plan|[a-z_]+\.[a-z]\d+) \|$", re.MULTILINE)


def index():
    rows = ROW.findall((GRAPHS / "README.md").read_text())
    return {name: answer for name, file, answer in rows if name == file}


class Graphs(CommandTest):
    def test_the_index_lists_the_files(self):
        self.assertEqual(sorted(index()), sorted(path.stem for path in GRAPHS.glob("*.json")))
        self.assertGreaterEqual(len(index()), 60)

    def test_all_run_on_the_cpu(self):
        for name in index():
            report = self.expect_json(YES, "explain", GRAPHS / f"{name}.json", "--target", "cpu")
            self.assertEqual((report["findings"], report["advice"]), ([], []), name)

    def test_all_can_be_shown(self):
        for name in index():
            self.expect(YES, "show", GRAPHS / f"{name}.json")

    def test_pictures_are_what_the_command_draws(self):
        self.assertEqual(differences(COMMAND, GRAPHS, writes=False), [])
        self.assertGreaterEqual(len(list((GRAPHS / "masks").iterdir())), 60)

    def test_numbers_of_small_ones(self):
        for name in ("vit-b16", "stable-diffusion-1.5-middle", "whisper-large-cross-decode", "dinat-base", "swin-t-window", "blip2-qformer-cross"):
            self.expect(YES, "run", GRAPHS / f"{name}.json", "--verify")

    def test_answers_for_an_h100(self):
        self.need_cudnn()
        (matrix,) = self.expect_json(YES, "matrix", GRAPHS, "--for", "h100")["matrices"]
        answers = {row["graph"]: row["answers"]["h100"] for row in matrix["rows"]}
        self.assertEqual({name: answer.get("rule", "plan") for name, answer in answers.items()}, index())


main()
