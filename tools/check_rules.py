#!/usr/bin/env python3
"""Each rule of the nodes, of runs, of groups and of the functions over tensors, each condition of a rewrite, each piece of advice, each rule of our attention engine and each quirk of cuDNN stands in the code, in its document and in what a test says.

A test says it in a string: the name of a case or a text that is asserted. Comments do not count. A limit may also be
shown by a row of the support matrix. Documents and tests name nothing that is not in the code.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULE_ID = re.compile(r"\b([a-z_]+)\.c\d\d\b")
RUN_ID = re.compile(r"\brun\.r\d\d\b")
ADVICE_ID = re.compile(r"\badvice\.a\d\d\b")
QUIRK_ID = re.compile(r"\bcudnn\.[sew]\d\d\b")
QUIRK_ROW = re.compile(r'\.id = "(cudnn\.[sew]\d\d)"')
STRING = r'"(?:[^"\\\n]|\\.)*"'
RAW_STRING = r'R"([^(\s]*)\((?:.|\n)*?\)\1"'
TOKEN = re.compile(rf"//[^\n]*|/\*(?:.|\n)*?\*/|{RAW_STRING}|{STRING}|'(?:[^'\\\n]|\\.)+'")


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


def check_families(folder, document, tests, elsewhere=()):
    """Ids such as sdpa_fwd.c07, of which the folder has the families. Those of elsewhere have another document."""
    rules = {rule for rule in ids_in(RULE_ID, map(strings_of, (ROOT / folder).rglob("*.cpp"))) if rule.split(".")[0] not in elsewhere}
    families = {rule.split(".")[0] for rule in rules}

    def of_our_families(texts):
        return {rule for rule in ids_in(RULE_ID, texts) if rule.split(".")[0] in families}

    told = of_our_families([(ROOT / document).read_text()])
    return rules, compare(folder, rules, [(document, told), ("any test", of_our_families(tests))])


def check_nodes(tests):
    return check_families("src/nodes", "docs/spec.md", tests)


def check_rewrites(tests):
    return check_families("src/rewrite", "docs/rewrites.md", tests, elsewhere=("group",))


def check_runs(tests):
    """The rules for runs, about values that no graph holds."""
    table = "src/plan/packs/run_rules.h"
    rules = ids_in(RUN_ID, [strings_of(ROOT / table)])
    spec = ids_in(RUN_ID, [(ROOT / "docs/spec.md").read_text()])
    return rules, compare(table, rules, [("docs/spec.md", spec), ("any test", ids_in(RUN_ID, tests))])


def check_groups(tests):
    """Graphs that a group computes, and runs of its ranks."""
    tables, page = ("src/rewrite/group/group_checks.cpp", "src/group/group_rules.h"), "docs/several-gpus.md"

    def of_groups(texts):
        return {rule for rule in ids_in(RULE_ID, texts) if rule.startswith("group.")}

    rules = of_groups(strings_of(ROOT / table) for table in tables)
    told = of_groups([(ROOT / page).read_text()])
    return rules, compare(" and ".join(tables), rules, [(page, told), ("any test", of_groups(tests))])


def check_functions(family, folder, document, tests):
    """Checks the rules of functions over tensors, or of an engine."""

    def of_family(texts):
        return {rule for rule in ids_in(RULE_ID, texts) if rule.startswith(family + ".")}

    rules = of_family(map(strings_of, (ROOT / folder).rglob("*.cpp")))
    page = of_family([(ROOT / document).read_text()])
    return rules, compare(folder, rules, [(document, page), ("any test", of_family(tests))])


def check_flash(tests):
    return check_functions("flash", "src/flash", "docs/flash.md", tests)


def check_neighborhood_functions(tests):
    return check_functions("na", "src/neighborhood", "docs/neighborhood-functions.md", tests)


def check_attention_functions(tests):
    return check_functions("attention", "src/functions/attention", "docs/attention-functions.md", tests)


def check_attention_engine(tests):
    return check_functions("kernels", "src/backends/kernels", "docs/kernels.md", tests)


def check_python(_):
    """The rules of the Python package."""

    def of_python(paths):
        return {rule for rule in ids_in(RULE_ID, map(strings_of, paths)) if rule.startswith("python.")}

    rules = of_python([*(ROOT / "python").rglob("*.py"), *(ROOT / "python").rglob("*.cpp")])
    page = {rule for rule in ids_in(RULE_ID, [(ROOT / "docs/python.md").read_text()]) if rule.startswith("python.")}
    tests = of_python((ROOT / "test/python").glob("test_*.py"))
    return rules, compare("python", rules, [("docs/python.md", page), ("any test", tests)])


def check_advice(tests):
    advice = ids_in(ADVICE_ID, map(strings_of, (ROOT / "src/nodes").rglob("*.cpp")))
    spec = ids_in(ADVICE_ID, [(ROOT / "docs/spec.md").read_text()])
    return advice, compare("src/nodes", advice, [("docs/spec.md", spec), ("any test", ids_in(ADVICE_ID, tests))])


def limits_of_matrices():
    cells = [cell.strip() for path in (ROOT / "docs/reference").glob("support-matrix*.md")
             for row in path.read_text().splitlines() if row.startswith("|") for cell in row.split("|")[2:]]
    return {f"cudnn.{id}" for cell in cells for id in re.findall(r"\bs\d\d\b", cell)}


def check_quirks(tests):
    """The pages are printed from the table, which a test compares; rewrites are shown by the tests of their passes."""
    sources = "\n".join(path.read_text() for path in (ROOT / "src/backends/cudnn/quirks").rglob("*.cpp"))
    table = set(QUIRK_ROW.findall(sources))
    document = ids_in(QUIRK_ID, [(ROOT / "docs/cudnn-quirks.md").read_text()])
    refused = {id for id in table if not id.startswith("cudnn.w")}
    shown = {id for id in ids_in(QUIRK_ID, tests) | limits_of_matrices() if not id.startswith("cudnn.w")}
    name = "src/backends/cudnn/quirks"
    return table, compare(name, table, [("docs/cudnn-quirks.md", document)]) + compare(
        name, refused, [("any test or matrix", shown)])


def main():
    tests = test_strings()
    rules, faults = check_nodes(tests)
    for check in (check_rewrites, check_runs, check_groups, check_flash, check_neighborhood_functions, check_attention_functions, check_attention_engine, check_python, check_advice):
        others, more = check(tests)
        faults += more
        rules |= others
    quirks, more = check_quirks(tests)
    faults += more
    print("\n".join(faults) or f"{len(rules)} rules, conditions and pieces of advice and {len(quirks)} quirks of cuDNN, each in the code, its document and a test")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
