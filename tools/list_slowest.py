#!/usr/bin/env python3
"""Lists the ten tests and the ten files that took longest: list_slowest.py <junit file> <ninja log> [begin].

Files that were made before `begin`, in seconds since 1970, are of earlier builds.
"""

import sys
import xml.etree.ElementTree as ElementTree

LISTED = 10


def tests(path: str) -> list[tuple[float, str]]:
    return [(float(case.get("time", 0)), case.get("name", "")) for case in ElementTree.parse(path).iter("testcase")]


def outputs(path: str, begin: int) -> list[tuple[float, str]]:
    """The files that were made since then. A line of ninja's log has tabs between the begin and the end of a command, in
    milliseconds of its build, the time when the file was made, in nanoseconds since 1970, its name and a hash. Ninja adds lines,
    and now and then writes the last one of each file anew."""
    with open(path, encoding="utf-8") as log:
        rows = [line.split("\t") for line in log if not line.startswith("#")]
    made = {name: (int(end) - int(start)) / 1000 for start, end, when, name, _ in rows if int(when) >= begin * 10**9}
    return [(seconds, name) for name, seconds in made.items()]


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
