#!/usr/bin/env python3
"""Function lengths: none over 100 lines, few over 60. Files: none over 600 lines. --list prints the longest functions."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "python", "samples", "test", "bench", "tools")
LIMIT, LONG, LONG_SHARE, FILE_LIMIT = 100, 60, 0.02, 600

COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$")
# The head of a function: it ends in a parameter list, with what may follow that: qualifiers, a return type, member initializers.
FUNCTION = re.compile(r"\)\s*(const|noexcept|override|final|mutable|&|\s)*(->[^;{}]*)?(:[^;]*)?$|\[[^\]]*\]\s*$", re.DOTALL)


def blank(match):
    """Takes out text in which braces do not count, and keeps its line breaks."""
    return "\n" * match.group(0).count("\n") or " "


def functions(text):
    """(first line, line count, heading) of each outermost function body; those inside it count as its lines."""
    code = COMMENT_OR_LITERAL.sub(blank, text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.MULTILINE)
    heading_start, depth, body = 0, 0, None
    for position, character in enumerate(code):
        if body is not None:
            depth += (character == "{") - (character == "}")
            if depth == 0 and is_initializer(body[1], code[position + 1 :]):
                body = None
            elif depth == 0:
                first, heading = body
                last = code.count("\n", 0, position) + 1
                yield first, last - first + 1, heading
                body, heading_start = None, position + 1
        elif character == "{":
            heading = code[heading_start:position].strip()
            if FUNCTION.search(heading) and not SCOPE.search(heading):
                body, depth = (code.count("\n", 0, position - len(code[heading_start:position].lstrip())) + 1, heading), 1
            else:
                heading_start = position + 1
        elif character in ";}":
            heading_start = position + 1


def is_initializer(heading, rest):
    """Whether the braces that just closed initialize a member, before the body of a constructor."""
    return re.search(r"\)\s*:[^:]", heading) is not None and rest.lstrip()[:1] in (",", "{")


def name_of(heading):
    match = re.search(r"([\w:~]+|operator\s*\S+)\s*\(", heading)
    return match.group(1) if match else heading[:40]


def main():
    found, faults = [], []
    for path in sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cpp", ".cu", ".cuh")):
        text = path.read_text()
        place = path.relative_to(ROOT)
        if text.count("\n") > FILE_LIMIT:
            faults.append(f"{place}: {text.count(chr(10))} lines; a file has {FILE_LIMIT} at most")
        found += [(count, f"{place}:{line}", name_of(heading)) for line, count, heading in functions(text)]
    found.sort(reverse=True)
    if "--list" in sys.argv:
        print("\n".join(f"{count:4} {place} {name}" for count, place, name in found[:40]))

    faults += [f"{place}: {name} has {count} lines; the limit is {LIMIT}" for count, place, name in found if count > LIMIT]
    long = [entry for entry in found if entry[0] > LONG]
    if len(long) > LONG_SHARE * len(found):
        faults += [f"{place}: {name} has {count} lines" for count, place, name in long]
        faults.append(f"{len(long)} functions have more than {LONG} lines; {LONG_SHARE:.0%} of all may")
    counts = sorted(count for count, _, _ in found)
    print(*faults, f"{len(counts)} functions: median {counts[len(counts) // 2]} lines, longest {counts[-1]}, {len(long)} over {LONG}", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
