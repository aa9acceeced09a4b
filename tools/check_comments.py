#!/usr/bin/env python3
"""The part of CONTRIBUTING's section on style that a program can find in comments and doc strings: fragments, and words of a
private sense."""

import ast
import io
import pathlib
import re
import sys
import tokenize

from check_function_lengths import COMMENT_OR_LITERAL

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "python", "samples", "test", "bench", "tools", "cmake")
C_SUFFIXES = (".h", ".c", ".cpp", ".cu", ".cuh")
SCRIPT_SUFFIXES = (".sh", ".cmake")  # and run, and each CMakeLists.txt

# (what must not be found in the text of a comment, why)
RULES = (
    (re.compile(r"^(Of|Those|(That|These) of) "), "a comment is a sentence or names the thing below it: say the noun that 'of' leans on"),
    (re.compile(r"^(At|For|From|In|On|Through|To|Under|With) (which|what|whom)\b"), "say the noun: 'the context in which it was recorded'"),
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


def comments(path):
    """(first line, text) of each comment of a file."""
    text = path.read_text()
    if path.suffix in C_SUFFIXES:
        return joined(comments_of_c(text))
    if path.suffix == ".py":
        return [*joined(comments_of_python(text)), *doc_strings(text)]
    return joined(comments_of_script(text))


def joined(pieces):
    """Adjacent lines that hold nothing else are one comment, so that a phrase is found across their ends. A piece is its
    first line, its last line, its text, and whether its lines hold nothing else."""
    first, last, words = 0, 0, ""
    for begin, end, part, stands_alone in pieces:
        if words and stands_alone and begin == last + 1:
            words += " " + part
        else:
            if words:
                yield first, words
            first, words = begin, part
        last = end if stands_alone else -1
    if words:
        yield first, words


def comments_of_c(text):
    for match in COMMENT_OR_LITERAL.finditer(text):
        if not match.group(0).startswith(("//", "/*")):
            continue
        line = text.count("\n", 0, match.start()) + 1
        stands_alone = not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        part = " ".join(piece.strip(" /*") for piece in match.group(0).splitlines())
        yield line, line + match.group(0).count("\n"), part, stands_alone


def comments_of_python(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            yield line, line, token.string.strip("# "), not token.line[:column].strip()


def doc_strings(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (words := ast.get_docstring(node)):
            yield node.body[0].lineno, " ".join(words.split())


def comments_of_script(text):
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"\s*#(?!!)\s*(.*)", line):
            yield number, number, match.group(1), True


def files():
    yield ROOT / "run", "run"
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            is_script = path.suffix in SCRIPT_SUFFIXES or path.name == "CMakeLists.txt"
            if path.is_file() and (is_script or path.suffix in (*C_SUFFIXES, ".py")):
                yield path, path.relative_to(ROOT).as_posix()


def main():
    faults, count = [], 0
    for path, place in files():
        for line, words in comments(path):
            words = COMMAND.sub("", words)
            count += 1
            for pattern, reason in RULES:
                for match in pattern.finditer(words):
                    faults.append(f"{place}:{line}: '{match.group(0).strip()}': {reason}")
    print("\n".join(faults) or f"no fault found in {count} comments")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
