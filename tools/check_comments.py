#!/usr/bin/env python3
"""The part of CONTRIBUTING's section on style that a program can find in comments: fragments, and words of a private sense."""

import pathlib
import re
import sys

from check_function_lengths import COMMENT_OR_LITERAL

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "python", "samples", "test", "bench", "tools")
SUFFIXES = (".h", ".c", ".cpp", ".cu", ".cuh")

# (what must not be found in the text of a comment, why)
RULES = (
    (re.compile(r"^Of "), "a comment is a sentence or names the thing below it: say the noun that 'Of' leans on"),
    (re.compile(r"^(What|Whom?)\b"), "say the noun: 'the key', not 'what' or 'who'"),
    (re.compile(r"\b(who(so)?ever|whomever|whom|who (meets|sees))\b", re.I), "say the noun: 'the key', not 'whoever'"),
    (re.compile(r"\bbut for\b", re.I), "write 'except' or 'without'"),
    (re.compile(r"\bbeside\b", re.I), "write 'next to', 'with' or 'compared with'"),
    (re.compile(r"\blikewise\b", re.I), "write 'the same for'"),
    (re.compile(r"\bmend(s|ed|ing)?\b", re.I), "write 'fix'"),
    (re.compile(r"\b(meets?|met)\b", re.I), "a key is visible to a query, extents overlap, a graph satisfies a rule"),
    (re.compile(r"\b(tells?|told)\b", re.I), "write 'says', 'reports', 'distinguishes' or 'is set'"),
    (re.compile(r"\b(neighbour|behaviour|colour|favour|centre[ds]?\b|recognis|initialis|normalis|optimis|serialis)", re.I),
     "American spelling"),
)

COMMAND = re.compile(r"\./run sample \w+ \w+")  # a command's words are not prose


def comments(text):
    """(first line, text) of each comment. Adjacent lines that hold nothing else are one comment, so that a phrase is found
    across their ends."""
    first, last, words = 0, 0, ""
    for match in COMMENT_OR_LITERAL.finditer(text):
        if not match.group(0).startswith(("//", "/*")):
            continue
        line = text.count("\n", 0, match.start()) + 1
        stands_alone = not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        part = " ".join(piece.strip(" /*") for piece in match.group(0).splitlines())
        if words and stands_alone and line == last + 1:
            words += " " + part
        else:
            if words:
                yield first, words
            first, words = line, part
        last = line + match.group(0).count("\n") if stands_alone else -1
    if words:
        yield first, words


def files():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            place = path.relative_to(ROOT).as_posix()
            if path.suffix in SUFFIXES and path.is_file():
                yield path, place


def main():
    faults, count = [], 0
    for path, place in files():
        for line, words in comments(path.read_text()):
            words = COMMAND.sub("", words)
            count += 1
            for pattern, reason in RULES:
                for match in pattern.finditer(words):
                    faults.append(f"{place}:{line}: '{match.group(0).strip()}': {reason}")
    print("\n".join(faults) or f"no fault found in {count} comments")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
