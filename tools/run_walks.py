#!/usr/bin/env python3
"""Applies each walk of docs/walks to a copy of the sources, builds the library and the walk's tests, and runs them.

The copy and its build folder stay in build/walks, so that the next walk compiles what differs. Walks of which the name
contains an argument are chosen by it.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

from check_walks import ROOT, walks

TREE = ROOT / "build/walks/tree"
BUILD = TREE / "build/dev"
LOG = ROOT / "build/log/walks.log"


def sources():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def files_of_tree():
    for top in TREE.iterdir() if TREE.exists() else []:
        if top.name != "build":
            yield from filter(pathlib.Path.is_file, [top, *top.rglob("*")])


def restore_tree():
    """Files that are as they should be keep their times."""
    wanted = sources()
    for path in list(files_of_tree()):
        if str(path.relative_to(TREE)) not in wanted:
            path.unlink()
    for name in wanted:
        copy, original = TREE / name, ROOT / name
        if copy.exists() and copy.read_bytes() == original.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(original, copy)
        shutil.copymode(original, copy)


def run(*command):
    with LOG.open("a") as log:
        print("$", *command, file=log, flush=True)
        done = subprocess.run([str(part) for part in command], cwd=TREE, stdout=log, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f"failed: {' '.join(map(str, command))}; full log: {LOG}")


def write_schema():
    """Writes the schema as ./run schema does."""
    run(BUILD / "test/unit/json/json_documents", BUILD / "documents")
    shutil.copy(BUILD / "documents/graph.schema.json", TREE / "docs")


def replay(walk):
    restore_tree()
    if trouble := walk.apply(TREE):
        raise RuntimeError(trouble)
    run("cmake", "--preset", "dev")
    run("cmake", "--build", BUILD, "--parallel", os.cpu_count(), "--target", "sdpa_graph", "json_documents", *walk.tests)
    write_schema()
    for test in walk.tests:
        program = next(path for path in (BUILD / "test").rglob(test) if path.is_file())
        run(program)
    for check in ("rules", "function_lengths", "sources"):
        run(sys.executable, "-B", f"tools/check_{check}.py")


def main():
    LOG.parent.mkdir(parents=True, exist_ok=True)
    LOG.write_text("")
    chosen = [walk for walk in walks() if all(part in walk.path.name for part in sys.argv[1:])]
    failed = not chosen
    for walk in chosen:
        begin = time.monotonic()
        try:
            replay(walk)
            verdict = "ok"
        except RuntimeError as trouble:
            verdict, failed = str(trouble), True
        touched = f"{len(walk.sources)} files of src and include, {len(walk.files) - len(walk.sources)} others"
        print(f"{walk.path.stem:30} {touched}, {time.monotonic() - begin:.0f} s: {verdict}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
