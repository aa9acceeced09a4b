#!/usr/bin/env python3
"""Lists the ten tests and the ten files that took longest: list_slowest.py <junit file> <ninja log> [lines to pass over].

The lines that ninja's log had before a build are of earlier builds.
"""

import sys
import xml.etree.ElementTree as ElementTree

LISTED = 10


def tests(path: str) -> list[tuple[float, str]]:
    return [(float(case.get("time", 0)), case.get("name", "")) for case in ElementTree.parse(path).iter("testcase")]


def outputs(path: str, passed_over: int) -> list[tuple[float, str]]:
    """The files that the last build made. A log has tabs between begin, end, time stamp, file and hash; a comment is its first line."""
    with open(path, encoding="utf-8") as log:
        lines = log.readlines()
    if passed_over > len(lines):  # ninja wrote the log anew, without what is out of date
        passed_over = 0
    rows = [line.split("\t") for line in lines[passed_over:] if not line.startswith("#")]
    return [((int(row[1]) - int(row[0])) / 1000, row[3]) for row in rows]


def show(title: str, items: list[tuple[float, str]]) -> None:
    if not items:
        return
    print(f"slowest of {len(items)} {title}, {sum(seconds for seconds, _ in items):.0f} s in all:")
    for seconds, name in sorted(items, reverse=True)[:LISTED]:
        print(f"{seconds:8.1f} s  {name}")


def main() -> None:
    junit, ninja_log = sys.argv[1:3]
    show("files that were built", outputs(ninja_log, int(sys.argv[3]) if len(sys.argv) > 3 else 0))
    show("tests", tests(junit))


if __name__ == "__main__":
    main()
