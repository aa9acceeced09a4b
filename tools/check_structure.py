#!/usr/bin/env python3
"""The structure of the sources: folders of the library do not include each other in a circle, and a type is defined once.

Two types of one name in two files of a program are undefined behavior: ./run odr finds them in the library and in what
several tests share, this script also in the other files of tests, benchmarks and tools. --counts prints how finely the sources are cut.
"""

import collections
import pathlib
import re
import subprocess
import sys

from check_function_lengths import COMMENT_OR_LITERAL, blank

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "python", "samples", "test", "bench", "tools")
HEADERS = (".h", ".cuh")
SOURCES = (*HEADERS, ".cpp", ".cu")

# Each kernel is a program of its own, and hosts have other definitions of what GPUs bring.
DEVICE_CODE = ("src/backends/kernels/device/", "test/unit/kernels/host/")

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
SCOPE = re.compile(
    r"\bnamespace(?:\s+(?P<namespace>[\w:]+))?\s*\{"
    r"|\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:alignas\([^)]*\)\s*)?(?P<type>[A-Za-z_]\w*)\s*(?:final\s*)?"
    r"(?::(?!:)[^;{}()]*)?\{"
    r"|[{}]"
)


def place_of(path):
    return path.relative_to(ROOT).as_posix()


def read_sources():
    """The text of each source by its place."""
    paths = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))
    return {place_of(path): path.read_text() for path in paths if path.suffix in SOURCES}


def users_of_headers(texts):
    """The sources that include each header of src."""
    users = {place: set() for place in texts if place.startswith("src/") and place.endswith(HEADERS)}
    named = {}
    for header in users:
        named.setdefault(header.rsplit("/", 1)[1], []).append(header)
    for place, text in texts.items():
        for name in INCLUDE.findall(text):
            for header in named.get(name.rsplit("/", 1)[-1], ()):
                # Without a folder it is a header of the source's own, or of device code's root.
                roots = (place.rsplit("/", 1)[0] + "/", DEVICE_CODE[0])
                is_it = header.endswith("/" + name) if "/" in name else header in (root + name for root in roots)
                if is_it:
                    users[header].add(place)
    return users


def included_by(users):
    """The folders whose headers each folder of src includes. A folder and its own subfolders count as one."""
    seen = {}
    for header, places in users.items():
        folder = header.rsplit("/", 1)[0]
        for place in places:
            user = place.rsplit("/", 1)[0]
            is_of_one = (user + "/").startswith(folder + "/") or folder.startswith(user + "/")
            if place.startswith("src/") and not is_of_one:
                seen.setdefault(user, set()).add(folder)
    return seen


def circle_of(seen):
    """Folders of which each includes the next, back to the first; empty where there is no circle."""
    done = set()

    def search(folder, way):
        if folder in way:
            return way[way.index(folder) :] + [folder]
        if folder in done:
            return []
        for other in sorted(seen.get(folder, ())):
            if circle := search(other, way + [folder]):
                return circle
        done.add(folder)
        return []

    for folder in sorted(seen):
        if circle := search(folder, []):
            return circle
    return []


def types_of(text):
    """The types that other files of a program see: defined in named namespaces alone."""
    scopes = []  # the names of the open braces; None for an unnamed namespace, a type or a body
    for match in SCOPE.finditer(DIRECTIVE.sub(blank, COMMENT_OR_LITERAL.sub(blank, text))):
        if match.group(0) == "}":
            del scopes[-1:]
            continue
        if match["type"] and None not in scopes:
            yield "::".join([*scopes, match["type"]])
        scopes.append(match["namespace"])


def types_defined_twice(texts):
    files = {}
    for place, text in texts.items():
        if not place.startswith(DEVICE_CODE):
            for name in types_of(text):
                files.setdefault(name, set()).add(place)
    return {name: sorted(places) for name, places in sorted(files.items()) if len(places) > 1}


def names_in_several_files(texts):
    """The names of types that several files of src define, in whatever scope, with how many files."""
    files = collections.Counter()
    for place, text in texts.items():
        if place.startswith("src/") and not place.startswith(DEVICE_CODE):
            matches = SCOPE.finditer(DIRECTIVE.sub(blank, COMMENT_OR_LITERAL.sub(blank, text)))
            files.update({match["type"] for match in matches if match["type"]})
    return sorted((name, count) for name, count in files.items() if count > 1)


def print_counts(texts, users):
    lengths = [text.count("\n") for place, text in texts.items() if place.startswith("src/")]
    print(f"{len(lengths)} files of src, {sum(length < 30 for length in lengths)} of them with fewer than 30 lines")
    print(f"{len(users)} headers of src, {sum(len(places) <= 2 for places in users.values())} of them included by at most two files")
    names = names_in_several_files(texts)
    print(f"{len(names)} names of types that several files of src define: {', '.join(f'{name} {count}' for name, count in names)}")
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files"], check=True, capture_output=True, text=True).stdout.split()
    folders = collections.Counter(path.rpartition("/")[0] for path in tracked)
    large = sorted(folder for folder, files in folders.items() if files > 25)
    print(f"{len(large)} folders with more than 25 files: {', '.join(large)}")


def main():
    texts = read_sources()
    users = users_of_headers(texts)
    if sys.argv[1:] == ["--counts"]:
        print_counts(texts, users)
    faults = []
    if circle := circle_of(included_by(users)):
        faults.append(f"found folders that include each other in a circle: {' -> '.join(circle)}; move what both need into one of them")
    for name, places in types_defined_twice(texts).items():
        faults.append(f"{name} is defined in {' and in '.join(places)}: rename one, or move it into an unnamed namespace")
    print("\n".join(faults) or f"no circle of folders, and no type defined twice in {len(texts)} sources")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
