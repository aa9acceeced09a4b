"""sdpa matrix: answers of the library for graphs and GPUs, and two libraries side by side."""

import json

from support.command import COMMAND, GRAPHS, USAGE, YES, CommandTest, attention, main

FILES = (GRAPHS / "vit-b16.json", GRAPHS / "moba-llama3.1-8b-blocks.json")


class Matrix(CommandTest):
    def setUp(self):
        super().setUp()
        self.need_cudnn()

    def library(self):
        """The path of the cuDNN that is used here."""
        text = self.expect(YES, "doctor", "--quick")
        return next(line.split(": ")[1].split(",")[0] for line in text.splitlines() if line.startswith("  cuDNN "))

    def test_answers(self):
        (matrix,) = self.expect_json(YES, "matrix", *FILES, "--for", "h100", "--for", "b200")["matrices"]
        self.assertEqual(matrix["devices"], ["h100", "b200"])
        self.assertEqual([row["graph"] for row in matrix["rows"]], [path.stem for path in FILES])
        plain, blocks = (row["answers"] for row in matrix["rows"])
        self.assertIn("plan", plain["h100"])
        self.assertEqual((blocks["h100"]["plan"], blocks["b200"]["rule"]), ("attention", "cudnn.s56"))
        self.assertIn("found a band mask with a block mask", blocks["b200"]["message"])

    def test_formats(self):
        text = self.expect(YES, "matrix", *FILES, "--for", "b200")
        self.assertRegex(text, r"^cuDNN 9\.[^\n]*\ngraph +b200\nvit-b16 +yes\nmoba-llama3.1-8b-blocks +cudnn.s56\n$")
        text = self.expect(YES, "matrix", *FILES, "--for", "b200", "--format", "markdown")
        self.assertIn("| graph | b200 |\n|---|---|\n| vit-b16 | yes |\n| moba-llama3.1-8b-blocks | cudnn.s56 |\n", text)
        text = self.expect(YES, "matrix", *FILES, "--for", "b200", "--format", "html")
        self.assertIn("<td class='yes'>yes</td>", text)
        self.assertIn("<td class='no'>cudnn.s56</td>", text)

    def test_plans_and_their_expected_times(self):
        arguments = ("matrix", *FILES, "--for", "h100", "--plans")
        text = self.expect(YES, *arguments)
        self.assertRegex(text, r"^cuDNN 9\.[^\n]*; a plan and its expected time; [^\n]*\ngraph +h100\nvit-b16 +eng\S+ [\d.]+ us\nmoba\S+ +attention\n$")
        self.assertRegex(self.expect(YES, *arguments, "--format", "html"), r"<td class='yes'>eng\S+ [\d.]+ us</td>")
        (matrix,) = self.expect_json(YES, *arguments)["matrices"]
        plan = matrix["rows"][0]["answers"]["h100"]
        self.assertIn(f"{plan['plan']} {plan['expected_us']:.4g} us\n", text)

    def test_plans_that_differ_are_changes(self):
        paths = []
        for version, answer in (("9.14.0", {"plan": "eng1"}), ("9.24.0", {"plan": "eng2", "expected_us": 12.5})):
            row = {"graph": "g", "answers": {"h100": answer}}
            paths += ["--answers", self.write(f"{version}.json", {"matrices": [{"cudnn": version, "devices": ["h100"], "rows": [row]}]})]
        self.assertIn("0 of 1 answers differ", self.expect(YES, "matrix", *paths))
        text = self.expect(YES, "matrix", *paths, "--plans")
        self.assertIn("1 of 1 answers differ", text)
        self.assertIn("\ng      eng1 -> eng2 12.5 us\n", text)

    def test_folders_and_standard_input(self):
        self.write("a.json", attention(data_type="HALF"))
        self.write("b.json", attention(data_type="HALF", key_heads=3))
        (matrix,) = self.expect_json(YES, "matrix", self.folder, "--for", "a100")["matrices"]
        self.assertEqual([row["graph"] for row in matrix["rows"]], ["a", "b"])
        self.assertEqual(matrix["rows"][1]["answers"]["a100"]["rule"], "sdpa_fwd.c04")
        text = self.expect(YES, "matrix", "-", "--for", "a100", input=attention(data_type="HALF"))
        self.assertRegex(text, r"standard input +yes\n$")

    def test_libraries_are_asked_in_processes_of_their_own(self):
        library = self.library()
        environment = {"SDPA_GRAPH_CUDNN_PATH": "/nowhere/libcudnn.so.9"}
        arguments = ("matrix", *FILES, "--for", "h100", "--cudnn", library, "--cudnn", library)
        text = self.expect(YES, *arguments, environment=environment)
        self.assertRegex(text, r"^cuDNN (\S+) -> \1, 0 of 2 answers differ; ")
        self.assertIn("\nvit-b16                  yes\n", text)
        both = json.loads(self.expect(YES, *arguments, "--json", environment=environment))["matrices"]
        self.assertEqual(both[0], both[1])

    def test_no_driver_is_opened_by_cudnn(self):
        """Where there is a GPU, plans for another one cannot be made in a process that has its driver."""
        for arguments in (("matrix",), ("explain", "--cudnn", self.library())):
            done = self.run_command(*arguments, FILES[0], "--for", "h100", environment={"LD_DEBUG": "files"})
            self.assertEqual(done.returncode, YES)
            opened = [line for line in done.stderr.decode().splitlines() if "file=libcuda.so.1" in line]
            self.assertTrue(opened)
            self.assertNotIn("libcudnn", opened[0])

    def test_changes_are_marked(self):
        old, new = ({"matrices": [{"cudnn": v, "devices": ["h100"], "rows": [{"graph": "g", "answers": {"h100": a}}]}]}
                    for v, a in (("9.14.0", {"rule": "cudnn.s70", "message": ""}), ("9.24.0", {"plan": "eng2"})))
        paths = [self.write("old.json", old), self.write("new.json", new)]
        text = self.expect(YES, "matrix", "--answers", paths[0], "--answers", paths[1])
        self.assertRegex(text, r"^cuDNN 9.14.0 -> 9.24.0, 1 of 1 answers differ; ")
        self.assertIn("\ng      cudnn.s70 -> yes\n", text)
        self.assertIn("found other graphs or GPUs", self.expect(USAGE, "matrix", FILES[0], "--answers", paths[0]))
        errors = self.expect(USAGE, "matrix", "--answers", self.write("other.json", attention()))
        self.assertIn("expected the output of sdpa matrix --json", errors)
        self.assertIn("found no files", self.expect(USAGE, "matrix"))

    def test_an_answer_without_a_rule_is_explained(self):
        answers = {gpu: {"rule": "", "message": "graph 'g': no plan was found:\n  eng1 failed\n  eng2 failed"} for gpu in ("h100", "b200")}
        row = {"graph": "g", "answers": answers}
        path = self.write("old.json", {"matrices": [{"cudnn": "9.14.0", "devices": ["h100", "b200"], "rows": [row]}]})
        text = self.expect(YES, "matrix", "--answers", path)
        self.assertIn("\ng      no    no\nno: g on h100, cuDNN 9.14.0, and 1 more: no plan was found: eng1 failed\n", text)

    def test_answers_of_other_forms_are_refused(self):
        for answer in ({}, [], "yes", {"plan": 1}, {"rule": None}):
            row = {"graph": "g", "answers": {"h100": answer}}
            path = self.write("old.json", {"matrices": [{"cudnn": "9.14.0", "devices": ["h100"], "rows": [row]}]})
            errors = self.expect(USAGE, "matrix", "--answers", path)
            self.assertIn(f"old.json: found {json.dumps(answer, separators=(',', ':'))} as the answer for g on h100; expected", errors)

    def test_names_of_gpus_in_any_case(self):
        self.assertIn("h100", self.expect(YES, "matrix", self.write("graph.json", attention()), "--for", "H100"))

    def test_arguments(self):
        self.assertIn("--for", self.expect(USAGE, "matrix", FILES[0], "--for", "h1000"))
        errors = self.expect(USAGE, "matrix", "-", "--cudnn", COMMAND, input=attention())
        self.assertIn("which only one process can read", errors)
        done = self.run_command("matrix", FILES[0], "--for", "h100", "--cudnn", self.folder)
        self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
        self.assertIn(b"the process that asked it ended with 2", done.stderr)


main()
