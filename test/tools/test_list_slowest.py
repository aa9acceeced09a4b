"""tools/list_slowest.py: the files of one build in ninja's log, which also has those of earlier builds."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).parents[2] / "tools/list_slowest.py"
JUNIT = '<testsuite><testcase name="quick" time="0.25"/><testcase name="slow" time="7.5"/></testsuite>'
BEGIN = 1_700_000_000  # of the build whose files are listed


def row(name, seconds, after_begin):
    """A command that ended so many seconds after the begin."""
    return f"250\t{250 + int(1000 * seconds)}\t{BEGIN * 10**9 + int(1e9 * after_begin)}\t{name}\t8e2406a094c820f7\n"


class ListSlowest(unittest.TestCase):
    def list(self, *rows, arguments=(str(BEGIN),)):
        with tempfile.TemporaryDirectory() as folder:
            junit, log = pathlib.Path(folder, "tests.xml"), pathlib.Path(folder, ".ninja_log")
            junit.write_text(JUNIT)
            log.write_text("# ninja log v5\n" + "".join(rows))
            command = [sys.executable, "-B", TOOL, junit, log, *arguments]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def test_files_of_earlier_builds_are_left_out(self):
        earlier, later = row("old.o", 50, -60), [row("b.o", 2, 3), row("a.o", 4, 7.5), row("same_second.o", 1, 0.5)]
        expected = "slowest of 3 files that were built, 7 s in all:\n     4.0 s  a.o\n     2.0 s  b.o\n     1.0 s  same_second.o\n"
        for rows in ([earlier] * 400 + later, later, [*later, earlier]):  # as ninja adds lines, and as it writes them anew
            self.assertTrue(self.list(*rows).startswith(expected))

    def test_the_last_time_of_a_file_counts(self):
        self.assertIn("slowest of 1 files that were built, 3 s in all:", self.list(row("a.o", 9, 1), row("a.o", 3, 5)))

    def test_a_build_without_files_lists_tests_alone(self):
        expected = "slowest of 2 tests, 8 s in all:\n     7.5 s  slow\n     0.2 s  quick\n"
        self.assertEqual(self.list(row("old.o", 50, -60)), expected)

    def test_without_a_begin_all_files_are_listed(self):
        self.assertIn("slowest of 2 files", self.list(row("old.o", 50, -60), row("a.o", 4, 7), arguments=()))


unittest.main()
