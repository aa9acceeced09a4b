"""A graph as a picture: its nodes in the order in which they run, with their tensors."""

from __future__ import annotations

import json
from typing import Any

from .pictures import Picture, picture, svg

_WIDTH, _HEIGHT, _GAP, _MARGIN = 150, 34, 46, 40
_COLORS = {"input": "#dbeafe", "output": "#dcfce7", "virtual": "#f4f4f5", "node": "#fef3c7"}


class _Placed:
    """The tensors and nodes of a graph, each with its row and column."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.tensors: dict[str, Any] = description["tensors"]
        self.nodes: list[Any] = description["nodes"]
        self.writers = {name: index for index, node in enumerate(self.nodes) for name in node["outputs"].values()}
        self.places: dict[Any, tuple[int, int]] = {}
        used: dict[int, int] = {}
        for key, row in self._rows().items():
            self.places[key] = (row, used.get(row, 0))
            used[row] = used.get(row, 0) + 1
        self.rows, self.columns = max(used, default=0) + 1, max(used.values(), default=1)

    def _rows(self) -> dict[Any, int]:
        """Inputs first; then nodes below all that they read, and tensors below their node. What a modifier made of
        attention's scores goes back up to attention."""
        rows: dict[Any, int] = {name: 0 for name in self.tensors if name not in self.writers}
        waiting = list(range(len(self.nodes)))
        while waiting:
            ready = (index for index in waiting if all(name in rows for name in self._read_first(index)))
            index = next(ready, waiting[0])
            waiting.remove(index)
            rows[index] = 1 + max((rows.get(name, 0) for name in self._read_first(index)), default=0)
            for name in self.nodes[index]["outputs"].values():
                rows[name] = rows[index] + 1
        return rows

    def _read_first(self, index: int) -> list[str]:
        inputs = self.nodes[index]["inputs"]
        return [name for port, name in inputs.items() if port not in ("score_mod", "dScore_mod")]

    def center(self, key: Any) -> tuple[float, float]:
        row, column = self.places[key]
        return _MARGIN + (column + 0.5) * (_WIDTH + 16), 8 + row * (_HEIGHT + _GAP) + _HEIGHT / 2


def graph_picture(description: str) -> Picture:
    """Of a graph as JSON text."""
    placed = _Placed(json.loads(description))
    parts = [_edge(placed, node, port) for node in range(len(placed.nodes)) for port in _ports(placed.nodes[node])]
    parts += [_tensor(placed, name) for name in placed.tensors if name in placed.places]
    parts += [_node(placed, index) for index in range(len(placed.nodes))]
    width, height = _MARGIN + placed.columns * (_WIDTH + 16), placed.rows * (_HEIGHT + _GAP) - _GAP + 16
    return picture(width, height, parts)


def _ports(node: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """Name, tensor and whether the node writes it."""
    return [(port, tensor, side == "outputs") for side in ("inputs", "outputs") for port, tensor in node[side].items()]


def _edge(placed: _Placed, node: int, port: tuple[str, str, bool]) -> str:
    name, tensor, is_output = port
    (x1, y1), (x2, y2) = placed.center(node), placed.center(tensor)
    if not is_output and y2 > y1:  # what goes back up passes the rows between at the left
        side, left = _WIDTH / 2, _MARGIN / 2
        path = f"M {x2 - side} {y2} H {left} V {y1} H {x1 - side}"
        return svg("path", d=path, fill="none", stroke="#94a3b8") + svg("text", name, x=4, y=y1 - 6, font_size=10)
    line = svg("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="#94a3b8")
    middle: dict[str, Any] = {"x": (x1 + 2 * x2) / 3 + 4, "y": (y1 + 2 * y2) / 3 + 4}
    return line + svg("text", name, **middle, font_size=10, fill="#475569")


def _box(center: tuple[float, float], title: str, text: str, color: str, radius: int) -> str:
    x, y = center
    box = {"x": x - _WIDTH / 2, "y": y - _HEIGHT / 2, "width": _WIDTH, "height": _HEIGHT, "rx": radius}
    words = {"x": x, "text_anchor": "middle"}
    return (
        svg("rect", **box, fill=color, stroke="#64748b")
        + svg("text", title, **words, y=y - 2)
        + svg("text", text, **words, y=y + 12, font_size=10, fill="#475569")
    )


def _tensor(placed: _Placed, name: str) -> str:
    tensor = placed.tensors[name]
    kind = "virtual" if tensor.get("is_virtual") else "output" if name in placed.writers else "input"
    text = " ".join([" x ".join(map(str, tensor.get("dim", ()))), tensor.get("data_type", "")])
    return _box(placed.center(name), tensor.get("name") or name, text, _COLORS[kind], 16)


def _node(placed: _Placed, index: int) -> str:
    node = placed.nodes[index]
    fields = node.get("fields", {})
    title = fields.get("mode") or node["tag"]
    shown = ", ".join(f"{name} {value}" for name, value in fields.items() if name != "mode")
    return _box(placed.center(index), node.get("name") or title, shown[:28], _COLORS["node"], 3)
