"""Checks the JSON Schema of graphs: good documents pass, bad ones fail. Exit code 77: no validator is installed."""

import json
import pathlib
import sys


def documents(folder):
    paths = sorted(folder.glob("*.json"))
    if not paths:
        sys.exit(f"no documents in {folder}")
    return [(path.name, json.loads(path.read_text(encoding="utf-8"))) for path in paths]


def main(root):
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print("python3-jsonschema is not installed")
        return 77

    schema = json.loads((root / "graph.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)

    failures = []
    good, bad = documents(root / "good"), documents(root / "bad")
    for name, document in good:
        errors = validator.iter_errors(document)
        failures += [f"good/{name}: {error.json_path}: {error.message[:200]}" for error in errors]
    failures += [f"bad/{name}: passes" for name, document in bad if validator.is_valid(document)]
    print(*failures, f"{len(good)} good and {len(bad)} bad documents, {len(failures)} failures", sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
