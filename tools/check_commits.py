#!/usr/bin/env python3
"""Counts the commit subjects that are not `area: what changed`, and lists them: check_commits.py [how many commits, 50]."""

import re
import subprocess
import sys

SUBJECT = re.compile(r"[a-z0-9_./, -]+: [a-z0-9`'\"./_*-]\S*( \S+)+")
LENGTH = 72


def fault(subject: str) -> str:
    if len(subject) > LENGTH:
        return f"{len(subject)} characters, at most {LENGTH} are readable in a list"
    return "" if SUBJECT.fullmatch(subject) else "not of the form `area: what changed`"


def main() -> None:
    count = sys.argv[1] if len(sys.argv) > 1 else "50"
    log = subprocess.run(["git", "log", "--no-merges", f"-{count}", "--format=%s"], capture_output=True, text=True, check=True)
    subjects = log.stdout.splitlines()
    faults = [(subject, reason) for subject in subjects if (reason := fault(subject))]
    for subject, reason in faults:
        print(f"  {subject}: {reason}")
    print(f"commit subjects: {len(faults)} of {len(subjects)} are not as CONTRIBUTING.md describes them")


if __name__ == "__main__":
    main()
