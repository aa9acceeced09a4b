"""sdpa explain names the cause of each broken graph, and a change after which it has a plan; docs/explain.md is the table.

--write writes that file in place of the test."""

import sys
import time

from support.broken_graphs import BROKEN, t4
from support.command import NO, ROOT, CommandTest, main

PAGE = ROOT / "docs" / "explain.md"
LONG = "20000"  # milliseconds for each search: other work on the machine must not change what is found

HEAD = """# Broken graphs and their fixes

What `sdpa explain` and `Graph::explain()` say of graphs after reports of users of cuDNN attention: the cause, which is the rule or
the limit that is broken, and the nearest change after which the graph has a plan. No GPU is needed: cuDNN plans for the named
one. `test/tools/test_broken.py` has checked each line: the plan of the changed graph was built.

`test/tools/test_broken.py --write` makes this page, here with cuDNN {version}; the graphs are in `test/tools/support/broken_graphs.py`. Rules are
listed in [spec.md](spec.md), those that begin with `cudnn` in [cudnn-quirks.md](cudnn-quirks.md). The linked report is
about a graph of this kind; the graph here is our own.

| what was asked for | on | report | cause | the nearest graph that works |
|---|---|---|---|---|
"""


def link(thread):
    repository, number = thread.split("#")
    return f"[{thread}](https://github.com/{repository}/issues/{number})"


def version_text(number):
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


class BrokenGraphs(CommandTest):
    reports = {}  # of all tests, by the graph's name

    def explain(self, broken):
        if broken.name not in self.reports:
            target = t4(self.folder) if broken.target == "t4" else broken.target
            begin = time.monotonic()
            self.reports[broken.name] = self.expect_json(NO, "explain", "-", "--target", target, "--limit", LONG, input=broken.graph)
            print(f"{broken.name}: {time.monotonic() - begin:.2f} s")
        return self.reports[broken.name]

    def nearest_of(self, broken):
        """The cause is found, and the expected change; returns that neighbor."""
        report = self.explain(broken)
        rules = [finding["rule"] for finding in report["findings"] + report["limits"]]
        self.assertIn(broken.rule, rules)
        for neighbor in report["nearest"]:
            if any(change.startswith(broken.fix) for change in neighbor["changes"]):
                return neighbor
        self.fail(f"found the changes {[neighbor['changes'] for neighbor in report['nearest']]}, expected {broken.fix}")

    def test_cause_and_fix(self):
        """The changed graph is planned again by a process of its own."""
        version = self.cudnn_version()
        for broken in BROKEN:
            with self.subTest(broken.name):
                if broken.target != "cpu" and not version:
                    continue
                neighbor = self.nearest_of(broken)
                self.expect(0, "explain", "-", "--target", neighbor["target"], "--short", input=neighbor["graph"])

    def test_names_and_reports(self):
        self.assertGreaterEqual(len(BROKEN), 20)
        self.assertEqual(len({broken.name for broken in BROKEN}), len(BROKEN))
        self.assertEqual(len({broken.thread for broken in BROKEN}), len(BROKEN))

    def page(self, version):
        lines = []
        for broken in BROKEN:
            changes = "; ".join(self.explain(broken)["nearest"][0]["changes"])
            target = "a T4" if broken.target == "t4" else broken.target
            lines.append(f"| {broken.symptom} | {target} | {link(broken.thread)} | `{broken.rule}` | {changes} |\n")
        return HEAD.format(version=version_text(version)) + "".join(lines)

    def test_page_is_that_of_the_table(self):
        version = self.need_cudnn()
        written = PAGE.read_text()
        if f"with cuDNN {version_text(version)};" not in written:
            self.skipTest(f"{PAGE.name} is not of cuDNN {version_text(version)}")
        self.assertEqual(written, self.page(version), "Try: test/tools/test_broken.py --write")


if sys.argv[1:] == ["--write"]:
    writer = BrokenGraphs("test_page_is_that_of_the_table")
    writer.setUp()
    PAGE.write_text(writer.page(writer.need_cudnn()))
else:
    main()
