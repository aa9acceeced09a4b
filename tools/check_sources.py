#!/usr/bin/env python3
"""Rules that a compiler does not check: notes to self, includes and calls of one layer or of none, samples that say how to run."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = ("include", "src", "python", "samples", "test", "bench")
TEXT = ("docs", "cmake", "tools")
CODE_SUFFIXES = (".h", ".cpp", ".cu", ".cuh")
TEXT_SUFFIXES = (".md", ".cmake", ".in", ".py", ".sh", ".txt")

# (what must not be found, where it is looked for, where it is allowed, why)
NOTE = re.compile("|".join((r"\bTO" + r"DO\b", r"\bFIX" + r"ME\b", r"\bXX" + r"X\b", r"\bHA" + r"CK\b")))
RULES = (
    (NOTE, CODE + TEXT, (), "open work stands in issues"),
    (re.compile(r"#include\s*<nlohmann/"), CODE, ("src/json/", "src/backends/cudnn/offline/device_json.cpp", "include/cudnn_frontend/json_alias.h", "test/compat/plan_explorer.cpp", "test/fuzz/graphs/graph_document.h", "test/reference/checks/group_run.cpp"), "only src/json, the device descriptions, the alias for programs that want one, a program that stores graphs with it, the fuzzer of graphs and the tests that split graphs see the JSON library"),
    (re.compile(r"#include\s*<(bits|ext|__\w*)/"), CODE, (), "a part of one standard library, which others lack"),
    (
        re.compile(r"#include\s*[<\"](cudnn(?!_frontend)|cuda)[a-z_0-9]*\.h"),
        CODE,
        ("src/cuda/", "src/nccl/", "src/backends/cudnn/", "include/cudnn_frontend.h", "test/", "bench/cudnn/", "samples/gpu.h"),
        "only src/cuda, src/nccl and src/backends/cudnn see the headers of cuDNN and CUDA",
    ),
    (re.compile(r"cudnn(?!_frontend)", re.IGNORECASE), ("src/backends/kernels",), (), "the library's own kernels need no cuDNN"),
    (
        re.compile(r"\b(printf|fprintf|puts|abort|exit)\s*\(|std::c(out|err)\b"),
        ("include", "src"),
        ("src/core/process/logging.cpp",),
        "the library returns errors: it neither prints, except to the log, nor ends the program",
    ),
    (re.compile(r"[ \t]+$", re.MULTILINE), CODE + TEXT, (), "no white space at the end of a line"),
)


def files(folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in CODE_SUFFIXES + TEXT_SUFFIXES and path.is_file():
                yield path, path.relative_to(ROOT).as_posix()


def main():
    faults = []
    for pattern, folders, allowed, reason in RULES:
        for path, place in files(folders):
            if place.startswith(allowed):
                continue
            text = path.read_text()
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                faults.append(f"{place}:{line}: {match.group(0).strip() or 'trailing white space'}: {reason}")
    for path, place in files(("include",)):
        if "#pragma once" not in path.read_text():
            faults.append(f"{place}: no #pragma once")
    for path in sorted((ROOT / "samples").glob("*.cpp")):
        command = "./run demo" if path.stem == "demo" else f"./run sample {path.stem}"
        head = path.read_text().split("#include")[0].splitlines()
        if not any(line.startswith(f"//   {command}") for line in head[1:]):
            faults.append(f"samples/{path.name}: does not say at its top how to run it: {command}")
    if (ROOT / "python" / "cudnn" / "LICENSE").read_text() != (ROOT / "LICENSE").read_text():
        faults.append("python/cudnn/LICENSE: expected the text of LICENSE; it is a copy, since the package's build accepts no link")
    print("\n".join(faults) or "no fault found")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
