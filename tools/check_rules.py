#!/usr/bin/env python3
"""Each rule of the nodes and of runs, each piece of advice and each limit of cuDNN stands in the code, in its document and in what a test says.

A test says it in a string: the name of a case or a text that is asserted. Comments do not count. A limit may also be
shown by a row of the support matrix. Documents and tests name nothing that is not in the code, and docs/cudnn.md words
the limits as the table does.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULE_ID = re.compile(r"\b([a-z_]+)\.c\d\d\b")
RUN_ID = re.compile(r"\brun\.r\d\d\b")
ADVICE_ID = re.compile(r"\badvice\.a\d\d\b")
LIMIT_ID = re.compile(r"\bcudnn\.s\d\d\b")
STRING = r'"(?:[^"\\\n]|\\.)*"'
STRINGS = rf"({STRING}(?:\s*{STRING})*)"
RAW_STRING = r'R"([^(\s]*)\((?:.|\n)*?\)\1"'
TOKEN = re.compile(rf"//[^\n]*|/\*(?:.|\n)*?\*/|{RAW_STRING}|{STRING}|'(?:[^'\\\n]|\\.)+'")
LIMIT = re.compile(rf"\{{{STRINGS},\s*{STRINGS},\s*{STRINGS},")
LIMIT_ROW = re.compile(r"^\| `([^`]*)` \| (.*) \| (.*) \|$", re.MULTILINE)


def strings_of(path):
    tokens = (match.group(0) for match in TOKEN.finditer(path.read_text()))
    return "\n".join(token for token in tokens if token[0] in 'R"')


def ids_in(pattern, texts):
    return {match.group(0) for text in texts for match in pattern.finditer(text)}


def test_strings():
    return [strings_of(path) for path in sorted((ROOT / "test").rglob("*_test.cpp"))]


def compare(code_name, code, places):
    faults = []
    for place, ids in places:
        faults += [f"{rule}: in {code_name}, not in {place}" for rule in sorted(code - ids)]
        faults += [f"{rule}: in {place}, not in {code_name}" for rule in sorted(ids - code)]
    return faults or ([] if code else [f"no id was found in {code_name}"])


def check_nodes(tests):
    rules = ids_in(RULE_ID, map(strings_of, (ROOT / "src/nodes").rglob("*.cpp")))
    families = {rule.split(".")[0] for rule in rules}

    def of_our_families(texts):
        return {rule for rule in ids_in(RULE_ID, texts) if rule.split(".")[0] in families}

    spec = of_our_families([(ROOT / "docs/spec.md").read_text()])
    return rules, compare("src/nodes", rules, [("docs/spec.md", spec), ("any test", of_our_families(tests))])


def check_runs(tests):
    """What is found when a graph runs, in values that no graph holds."""
    sources = [path for folder in ("src/backends/cpu", "src/plan") for path in (ROOT / folder).glob("*.cpp")]
    rules = ids_in(RUN_ID, map(strings_of, sources))
    spec = ids_in(RUN_ID, [(ROOT / "docs/spec.md").read_text()])
    return rules, compare("src/backends/cpu and src/plan", rules, [("docs/spec.md", spec), ("any test", ids_in(RUN_ID, tests))])


def check_advice(tests):
    advice = ids_in(ADVICE_ID, map(strings_of, (ROOT / "src/nodes").rglob("*.cpp")))
    spec = ids_in(ADVICE_ID, [(ROOT / "docs/spec.md").read_text()])
    return advice, compare("src/nodes", advice, [("docs/spec.md", spec), ("any test", ids_in(ADVICE_ID, tests))])


def text_of(literals):
    return "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', literals)).replace('\\"', '"')


def limits_of_table():
    source = (ROOT / "src/backends/cudnn/quirks/table.cpp").read_text()
    return {text_of(id): (text_of(need), text_of(fix)) for id, need, fix in LIMIT.findall(source)}


def limits_of_matrices():
    cells = [cell.strip() for path in (ROOT / "docs").glob("support-matrix*.md")
             for row in path.read_text().splitlines() if row.startswith("|") for cell in row.split("|")[2:]]
    return {f"cudnn.{id}" for cell in cells for id in re.findall(r"\bs\d\d\b", cell)}


def check_limits(tests):
    table = limits_of_table()
    named = ids_in(LIMIT_ID, [(ROOT / "src/backends/cudnn/quirks/table.cpp").read_text()])
    document = (ROOT / "docs/cudnn.md").read_text()
    rows = {id: (need, fix) for id, need, fix in LIMIT_ROW.findall(document) if LIMIT_ID.fullmatch(id)}
    shown = ids_in(LIMIT_ID, tests) | limits_of_matrices()
    faults = compare("src/backends/cudnn/quirks/table.cpp", set(table), [
        ("what this script reads of it", named), ("the table of docs/cudnn.md", set(rows)),
        ("any test or matrix", shown)])
    for id in sorted(table.keys() & rows.keys()):
        for in_code, in_document in zip(table[id], rows[id]):
            if in_code != in_document:
                faults.append(f"{id}: src/backends/cudnn/quirks/table.cpp says '{in_code}', docs/cudnn.md '{in_document}'")
    if list(table) != sorted(table) or list(rows) != list(table):
        faults.append("limits: not in the order of their ids, in the code and in docs/cudnn.md")
    return table, faults


def main():
    tests = test_strings()
    rules, faults = check_nodes(tests)
    for check in (check_runs, check_advice):
        others, more = check(tests)
        faults += more
        rules |= others
    limits, more = check_limits(tests)
    faults += more
    print("\n".join(faults) or f"{len(rules)} rules and pieces of advice and {len(limits)} limits, each in the code, its document and a test")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
