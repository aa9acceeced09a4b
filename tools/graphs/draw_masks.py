"""Draws the masks of graphs/, or checks that the pictures there are what the command sdpa draws.

    tools/graphs/draw_masks.py build/dev/tools/sdpa/sdpa graphs [--check]

Only graphs whose row of the index shows a picture have one: data decides the masks of the others.
"""

import pathlib
import re
import subprocess
import sys


def draw(command, graph):
    done = subprocess.run([command, "mask", graph, "--format", "svg"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{graph.name}: {done.stderr.strip()}")
    return done.stdout


def differences(command, folder, writes):
    """The names of pictures that differ from what the command draws, or that no row of the index shows."""
    names = re.findall(r"\]\(masks/([\w.-]+)\.svg\)", (folder / "README.md").read_text())
    different = []
    (folder / "masks").mkdir(exist_ok=True)
    for name in names:
        path, text = folder / "masks" / f"{name}.svg", draw(command, folder / f"{name}.json")
        if path.exists() and path.read_text() == text:
            continue
        different.append(path.name)
        if writes:
            path.write_text(text)
    for path in (folder / "masks").iterdir():
        if path.stem not in names:
            different.append(path.name)
            if writes:
                path.unlink()
    return different


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--check"]):
        raise SystemExit("usage: draw_masks.py SDPA FOLDER [--check]")
    writes = len(sys.argv) == 3
    different = differences(sys.argv[1], pathlib.Path(sys.argv[2]), writes)
    for name in different:
        print(f"masks/{name} {'is drawn' if writes else 'differs from what sdpa mask draws'}")
    sys.exit(1 if different and not writes else 0)


if __name__ == "__main__":
    main()
