"""The command sdpa: python -m sdpa_graph is the same as sdpa."""

from __future__ import annotations

import os
import signal
import sys

from . import _core


def main() -> int:
    """Runs the command on this process's arguments, and returns its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would wait until the command is done
    status = _core._run_command([os.fsencode(word) for word in ("sdpa", *sys.argv[1:])], [os.fsencode(sys.executable), "-m", "sdpa_graph"])
    if status is None:
        print(
            "sdpa: this build of the package has no command, because CLI11 was missing when it was built. "
            "Try: install CLI11 (Debian: libcli11-dev), and build the package again",
            file=sys.stderr,
        )
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
