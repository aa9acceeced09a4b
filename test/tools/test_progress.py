"""The line that commands show on a terminal while they work for more than a second."""

import os
import pty
import subprocess

from support.command import COMMAND, CommandTest, attention, main


class Progress(CommandTest):
    def run_on_terminal(self, *arguments):
        """Standard output, and what a terminal got as standard error."""
        terminal, errors = pty.openpty()
        process = subprocess.Popen([COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=errors)
        os.close(errors)
        shown = b""
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        os.close(terminal)
        output = process.communicate()[0].decode()
        self.assertEqual(process.returncode, 0)
        return output, shown.decode()

    def test_long_work_says_what_it_does(self):
        path = self.write("graph.json", attention(queries=2048, keys=2048, heads=8, depth=64))
        output, shown = self.run_on_terminal("run", path, "--target", "reference", "--verify")
        self.assertRegex(shown, r"\r\x1b\[K(running|comparing with the reference), [1-9]\d* s")
        self.assertTrue(shown.endswith("\r\x1b[K"), "the line is removed")
        self.assertNotIn("\x1b[K", output)

    def test_short_work_shows_nothing(self):
        path = self.write("graph.json", attention())
        self.assertEqual(self.run_on_terminal("run", path)[1], "")


main()
