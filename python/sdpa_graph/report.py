"""The findings of a graph's check, or its advice."""

from __future__ import annotations

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
