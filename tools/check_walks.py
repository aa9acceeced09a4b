#!/usr/bin/env python3
"""The walks of docs: patches that apply to the sources, each explained by a page.

docs/walks/*.patch are the walks themselves. A patch starts with lines for people and for this script: the page that
describes it, how many files of src and include it may touch, and the tests that show that it works. The code that a page
prints stands in one of its patches, line by line, except for lines with "...". tools/run_walks.py builds and runs them.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = re.compile(r"^(Page|Files of src and include, at most|Tests): (.*)$", re.MULTILINE)
TOUCHED = re.compile(r"^diff --git a/(\S+) b/\S+$", re.MULTILINE)
CODE = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Walk:
    def __init__(self, path):
        text = path.read_text()
        header = dict(HEADER.findall(text[: text.index("diff --git ")]))
        self.path = path
        self.page = header["Page"]
        self.limit = int(header["Files of src and include, at most"])
        self.tests = header["Tests"].split()
        self.files = TOUCHED.findall(text)
        self.sources = [name for name in self.files if name.startswith(("src/", "include/"))]
        self.added = {line[1:].strip() for line in text.splitlines() if line.startswith("+")}

    def apply(self, folder):
        """Where it does not fit, patch says so and the text is returned. Lines may have moved, but not changed: with lines
        around it that it does not know patch guesses the place."""
        done = subprocess.run(["patch", "-p1", "--forward", "--fuzz=0", "--no-backup-if-mismatch", "-r", "-", "-i", self.path],
                              cwd=folder, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stdout + done.stderr


def walks():
    return [Walk(path) for path in sorted((ROOT / "docs/walks").glob("*.patch"))]


def check_patch(walk):
    faults = []
    if len(walk.sources) > walk.limit:
        faults.append(f"touches {len(walk.sources)} files of src and include, {walk.limit} at most: {walk.sources}")
    with tempfile.TemporaryDirectory() as folder:
        for name in walk.files:
            if not (ROOT / name).exists():
                continue
            copy = pathlib.Path(folder, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy)
        faults += filter(None, [walk.apply(folder)])
    return [f"{walk.path.name}: {fault}" for fault in faults]


def check_page(page, walks_of_page):
    added = set().union(*(walk.added for walk in walks_of_page))
    lines = [line.strip() for block in CODE.findall((ROOT / page).read_text()) for line in block.splitlines()]
    told = [line for line in lines if line and "..." not in line]
    faults = [f"{page}: '{line}' is in none of its patches" for line in told if line not in added]
    return faults or ([] if told else [f"{page}: no code was found"])


def main():
    all_walks = walks()
    faults = [fault for walk in all_walks for fault in check_patch(walk)]
    for page in sorted({walk.page for walk in all_walks}):
        faults += check_page(page, [walk for walk in all_walks if walk.page == page])
    if not all_walks:
        faults.append("docs/walks has no patches")
    print("\n".join(faults) or f"{len(all_walks)} walks apply, and their pages show their code")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
