"""A graph's candidates as a table, and a build of all of them with a progress bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ._core import Graph_base, cudnnGraphNotSupportedError
from .pictures import html_table, text_table

# Called before each step with the number of steps that are done, the number of all steps, and the name of the next one.
Progress = Callable[[int, int, str], None]


class PlanRow(NamedTuple):
    plan_index: int
    name: str
    workspace_bytes: int | None  # None before the plan is built
    notes: str

    def cells(self) -> tuple[Any, ...]:
        workspace = "not built" if self.workspace_bytes is None else self.workspace_bytes
        return (self.plan_index, self.name, workspace, self.notes)


class Plans(list[PlanRow]):
    """Candidates in the order in which the planner prefers them, shown as a table."""

    def _repr_html_(self) -> str:
        return html_table(PlanRow._fields, [row.cells() for row in self])

    def __repr__(self) -> str:
        return text_table(PlanRow._fields, [row.cells() for row in self])


def plans_of(graph: Graph_base) -> Plans:
    """Candidates that are not built have no workspace yet, and no notes."""
    return Plans(_row(graph, index) for index in range(graph.get_execution_plan_count()))


def _row(graph: Graph_base, index: int) -> PlanRow:
    notes = ", ".join(note.name for note in graph.get_behavior_notes_for_plan_at_index(index))
    return PlanRow(index, graph.get_plan_name_at_index(index), graph._workspace_if_built(index), notes)


def build_all(graph: Graph_base, progress: Progress | None = None) -> dict[int, str]:
    """Builds every candidate, and returns why some could not be built, by index."""
    reasons: dict[int, str] = {}
    for index in watched(range(graph.get_execution_plan_count()), "building plans", progress):
        try:
            graph.build_plan_at_index(index)
        except (cudnnGraphNotSupportedError, RuntimeError) as error:
            reasons[index] = str(error)
    return reasons


def watched(steps: range, what: str, progress: Progress | None) -> Iterator[int]:
    report = progress or Bar()
    for index in steps:
        report(index, len(steps), what)
        yield index
    report(len(steps), len(steps), what)


class Bar:
    """A progress bar that stays on one line of the terminal, from the first second on; silent if there is no
    terminal."""

    def __init__(self, stream: Any = None) -> None:
        self._stream = stream or sys.stderr
        self._begin = time.monotonic()

    def __call__(self, done: int, count: int, what: str) -> None:
        elapsed = time.monotonic() - self._begin
        if not self._stream.isatty() or elapsed < 1.0:
            return
        filled = 30 * done // max(count, 1)
        end = "\n" if done == count else ""
        self._stream.write(f"\r{what} [{'#' * filled}{' ' * (30 - filled)}] {done} of {count}, {elapsed:.0f} s{end}")
        self._stream.flush()
