"""The findings of a graph's check, its advice, explanations of its plans, and verifications of a run's results."""

from __future__ import annotations

import html
import json
from typing import Any

from ._core import _in_python
from .pictures import html_table


class Report(str):
    """The findings as text, empty if there are none; `findings` has their parts, and a notebook shows a table."""

    findings: list[dict[str, Any]]

    def __new__(cls, text: str, findings: str) -> Report:
        report = super().__new__(cls, text)
        report.findings = [
            {part: _in_python(said) if isinstance(said, str) else said for part, said in finding.items()}
            for finding in json.loads(findings)
        ]
        return report

    def _repr_html_(self) -> str:
        if not self.findings:
            return "<p>Nothing was found.</p>"
        parts = [part for part in self.findings[0] if part not in ("code", "others")]
        return html_table(parts, [[finding[part] for part in parts] for finding in self.findings])


class Explanation(str):
    """Whether a graph has a plan for a target, and why not, as text; `parts` has the findings, limits, candidates and
    nearest graphs, `has_plan` the verdict, and a notebook shows tables."""

    parts: dict[str, Any]
    has_plan: bool
    _html: str

    def __new__(cls, text: str, parts: str, html: str, has_plan: bool) -> Explanation:
        explanation = super().__new__(cls, text)
        explanation.parts = _words_of_python(json.loads(parts))
        explanation.has_plan = has_plan
        explanation._html = html
        return explanation

    def _repr_html_(self) -> str:
        return self._html


def _words_of_python(part: Any) -> Any:
    """The same with the texts of findings, limits, candidates and changes in Python's words; graphs stay as they are."""
    if isinstance(part, str):
        return _in_python(part)
    if isinstance(part, list):
        return [_words_of_python(element) for element in part]
    if isinstance(part, dict):
        return {name: said if name == "graph" else _words_of_python(said) for name, said in part.items()}
    return part


class Verification(str):
    """The comparison with the reference as text; `ok`, `results` and `explanations` have its parts, and a notebook shows
    a table."""

    ok: bool
    sampled: bool
    results: list[dict[str, Any]]
    explanations: list[dict[str, str]]

    def __new__(cls, text: str, parts: str) -> Verification:
        verification = super().__new__(cls, text)
        given = json.loads(parts)
        verification.ok, verification.sampled = given["right"], given["sampled"]
        verification.results, verification.explanations = given["results"], given["explanations"]
        return verification

    def _repr_html_(self) -> str:
        parts = ["name", "wrong", "elements", "worst_index", "got", "expected", "allowed"]
        table = html_table(parts, [[result[part] for part in parts] for result in self.results])
        notes = [_in_python(explanation["text"]) for explanation in self.explanations]
        return table + "".join(f"<p>{html.escape(note)}</p>" for note in notes)
