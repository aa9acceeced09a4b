"""The sessions of a document: its blocks of commands with what they print."""

import os
import pathlib
import re
import subprocess

BLOCK = re.compile(r"```console\n((?:.*\n)*?)```\n")
COMMAND = re.compile(r"\$ (.+(?:\n> .*)*)\n((?:(?!\$ ).*\n)*)")


def commands_of(text):
    """Pairs of a command and its output; a command goes on in lines that begin with > as a shell shows them."""
    found = []
    for block in BLOCK.findall(text):
        found += [(command.replace("\n> ", "\n"), output) for command, output in COMMAND.findall(block)]
    return found


def plain(text):
    """The lines without what differs between runs and machines: times, dates, sizes that depend on the number of threads, the
    rows of comparisons except the result's name and whether it has wrong elements, since their numbers depend on the CPU's
    instructions, and which graphs explain finds in its time after the nearest."""
    text = re.sub(r"(?m)^  [2-9]\. .*\n(?:     .*\n)*", "", text)
    text = re.sub(r" +", " ", re.sub(r"\d[\d.e+-]* (ms|s)\b", "T", text))
    text = re.sub(r"(?m)( T){3} .*$", " TIMES AND RATES", text)
    text = re.sub(r"(?m)^( \S+) 0 \d+ \[.*$", r"\1 RIGHT", text)
    text = re.sub(r"(?m)^( \S+) [1-9]\d* \d+ \[.*$", r"\1 WRONG", text)
    text = re.sub(r"workspace \S+ [KMG]iB", "workspace W", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DATE", text)
    return [line.rstrip() for line in text.splitlines()]


def run(command, sdpa, folder):
    """The output of the command in a shell that finds sdpa."""
    environment = {**os.environ, "PATH": f"{pathlib.Path(sdpa).resolve().parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, env=environment, text=True)
    return done.stdout + done.stderr
