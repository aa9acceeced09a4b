#!/usr/bin/env python3
"""Makes the source distribution of the Python package: make_sdist.py <folder for it>, with a Python that has scikit-build-core.

python/pyproject.toml builds from the folder above it, and a source distribution has its pyproject.toml at the top: so it is
made from a copy of what the package's build reads, with that file's paths changed."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = (
    *("CMakeLists.txt", "CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md"),
    *("cmake", "devices", "docs", "include", "python/CMakeLists.txt", "python/README.md", "python/exports.map", "python/sdpa_graph", "python/src"),
    *("src", "tools/sdpa"),
)
PATHS = (
    ('cmake.source-dir = ".."', 'cmake.source-dir = "."'),
    ('wheel.packages = ["sdpa_graph"]', 'wheel.packages = ["python/sdpa_graph"]'),
    ('input = "../include/', 'input = "include/'),
    ('readme = "README.md"', 'readme = "python/README.md"'),
)


def project_file():
    text = (ROOT / "python" / "pyproject.toml").read_text()
    for here, there in PATHS:
        if text.count(here) != 1:
            sys.exit(f"make_sdist.py: python/pyproject.toml has {text.count(here)} times '{here}', expected once")
        text = text.replace(here, there)
    return text


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_sdist.py <folder for it>")
    from scikit_build_core import build

    out = pathlib.Path(sys.argv[1]).resolve()
    files = subprocess.run(["git", "ls-files", "-z", *PARTS], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in filter(None, files.split("\0")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
        (copy / "pyproject.toml").write_text(project_file())
        os.chdir(copy)
        print(out / build.build_sdist(str(out)))
        os.chdir(ROOT)


main()
