"""sdpa doctor"""

import json
import re

from support.command import ROOT, YES, CommandTest, main


class Doctor(CommandTest):
    def test_names_versions_libraries_and_reasons(self):
        done = self.run_command("doctor")
        text = done.stdout.decode()
        self.assertIn(done.returncode, (0, 1))
        for line in ("sdpa-graph ", "system ", "driver ", "GPU ", "offline ", "store ", "libraries", "environment"):
            self.assertRegex(text, rf"(?m)^{line}")

    def test_json_agrees_with_the_exit_code(self):
        done = self.run_command("doctor", "--json")
        report = json.loads(done.stdout)
        self.assertEqual(done.returncode == 0, report["gpu"]["usable"] or report["offline"]["usable"])
        self.assertRegex(report["library"], r"^\d+\.\d+\.\d+$")
        self.assertTrue(report["gpu"]["usable"] or report["gpu"]["reason"])

    def test_quirks_are_those_of_the_table(self):
        page = (ROOT / "docs/cudnn-quirks.md").read_text()
        if self.need_cudnn() != 91900:
            self.skipTest("the quirks asserted here are those of cuDNN 9.19.0")
        report = self.expect_json(YES, "doctor")
        known = {quirk["id"]: quirk for quirk in report["known_quirks"]["quirks"]}
        self.assertEqual(known["cudnn.s37"]["evidence"], "wrong numbers")
        self.assertNotIn("cudnn.s79", known)  # before 9.19.0
        for quirk in known.values():
            self.assertIn(f"| `{quirk['id']}` |", page)
        count = len(known)
        self.assertRegex(self.expect(YES, "doctor"), rf"(?m)^quirks +{count} of cuDNN apply on compute capability 9\.0, .*wrong numbers \d+")

    def test_quick_does_not_plan(self):
        self.assertNotIn("offline", self.expect_json(YES, "doctor", "--quick"))

    def test_store_and_environment(self):
        (self.folder / "one.plan").write_bytes(bytes(2048))
        store = {"SDPA_GRAPH_PLAN_STORE": str(self.folder), "SDPA_GRAPH_PLAN_STORE_FROZEN": "1", "CUDNN_FRONTEND_LOG_INFO": "0"}
        text = self.expect(YES, "doctor", "--quick", environment=store)
        self.assertRegex(text, rf"(?m)^store +{re.escape(str(self.folder))}, 1 files of 2.0 KiB in all, frozen$")
        self.assertRegex(text, r"(?m)^  CUDNN_FRONTEND_LOG_INFO +0$")

    def test_instruction_set_of_attention(self):
        line = r"(?m)^  attention on the CPU: kernels for (\w+)"
        usual = self.expect(YES, "doctor", "--quick")
        self.assertRegex(usual, line)
        slowest = self.expect(YES, "doctor", "--quick", environment={"SDPA_GRAPH_CPU_KERNELS": "baseline"})
        self.assertRegex(slowest, line.replace(r"(\w+)", "baseline, as SDPA_GRAPH_CPU_KERNELS says"))
        wrong = self.expect(YES, "doctor", "--quick", environment={"SDPA_GRAPH_CPU_KERNELS": "abacus"})
        self.assertRegex(wrong, line.replace(r"(\w+)", re.search(line, usual)[1]))
        self.assertIn("SDPA_GRAPH_CPU_KERNELS=abacus has no effect, since it is none of these names", wrong)

    def test_missing_library_is_named(self):
        elsewhere = {"SDPA_GRAPH_CUDNN_PATH": str(self.folder / "libcudnn.so.9")}
        done = self.run_command("doctor", environment=elsewhere)
        if "without" in done.stdout.decode() and "cuDNN" not in done.stdout.decode():
            self.skipTest("this build has no cuDNN")
        self.assertEqual(done.returncode, 1)
        self.assertIn("libcudnn.so.9", done.stdout.decode())


main()
