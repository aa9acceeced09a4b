#!/usr/bin/env python3
"""Each rule id stands in the code, in docs/spec.md and in a test; no document or test names a rule that is not there."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULE_ID = re.compile(r"\b([a-z_]+)\.c\d\d\b")


def ids_in(paths):
    return {match.group(0) for path in paths for match in RULE_ID.finditer(path.read_text())}


def main():
    rules = ids_in((ROOT / "src/nodes").glob("*.cpp"))
    families = {rule.split(".")[0] for rule in rules}

    def of_our_families(ids):
        return {rule for rule in ids if rule.split(".")[0] in families}

    spec = of_our_families(ids_in([ROOT / "docs/spec.md"]))
    tests = of_our_families(ids_in((ROOT / "test").rglob("*_test.cpp")))

    faults = []
    for place, ids in (("docs/spec.md", spec), ("any test", tests)):
        faults += [f"{rule}: in src/nodes, not in {place}" for rule in sorted(rules - ids)]
        faults += [f"{rule}: in {place}, not in src/nodes" for rule in sorted(ids - rules)]
    if not rules:
        faults.append("no rule was found in src/nodes")
    print("\n".join(faults) or f"{len(rules)} rules, each in the code, the specification and a test")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
