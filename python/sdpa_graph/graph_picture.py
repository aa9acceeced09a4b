"""A graph as a picture: its nodes in the order in which they run, with their tensors."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._core import Graph_base, data_type
from .graph_layout import Box, Edge, arrange
from .pictures import Picture, group, picture, svg, width_of

_LINE, _PADDING, _MARGIN = 15, 12, 10
_TITLE, _SMALL = 12, 10  # sizes of the font
_COLUMNS = 44  # in a line of options
_COLORS = {"input": "#dbeafe", "output": "#dcfce7", "virtual": "#f4f4f5", "node": "#fef3c7"}
_BACK = ("score_mod", "dScore_mod")  # a modifier's results from attention's scores, which go back up to attention


@dataclass
class _Words:
    """The texts in a box: a title, and lines below it."""

    title: str
    lines: list[str]
    kind: str

    def box(self, row: int, least: float) -> Box:
        widths = [width_of(self.title, _TITLE), *(width_of(line, _SMALL) for line in self.lines), least]
        return Box(row, max(widths) + 2 * _PADDING, (1 + len(self.lines)) * _LINE + 8)

    def drawn(self, box: Box) -> str:
        left, radius = box.x - box.width / 2, 3 if self.kind == "node" else 12
        place = {"x": f"{left:.1f}", "y": f"{box.y:.1f}", "width": f"{box.width:.1f}", "height": box.height}
        parts = [svg("rect", **place, rx=radius, fill=_COLORS[self.kind], stroke="#64748b")]
        center = {"x": f"{box.x:.1f}", "text_anchor": "middle"}
        parts.append(svg("text", self.title, **center, y=f"{box.y + _LINE:.1f}", font_size=_TITLE))
        for number, line in enumerate(self.lines, 2):
            y = f"{box.y + number * _LINE:.1f}"
            parts.append(svg("text", line, **center, y=y, font_size=_SMALL, fill="#475569"))
        return "".join(parts)


@dataclass
class _Port:
    node: int
    name: str
    tensor: str
    is_output: bool


def graph_picture(description: str) -> Picture:
    """A graph, given as JSON text of version 1, with the properties that validation infers if the graph is valid."""
    graph = json.loads(description)
    _complete(graph)
    ports = list(_ports(graph["nodes"]))
    words = _words_of_tensors(graph, ports)
    words.update(enumerate(map(_words_of_node, graph["nodes"])))
    rows = _rows(graph, ports)
    boxes = {key: words[key].box(rows[key], _width_of_ports(ports, key)) for key in words}
    arrows = [_Arrow.of_port(boxes, port) for port in ports]
    arrows += [_Arrow.of_offset(boxes[offset], boxes[name]) for name, offset in _offsets(graph)]
    width, height = arrange(list(boxes.values()), [arrow.edge for arrow in arrows])
    parts = [arrow.line() for arrow in arrows] + [arrow.text() for arrow in arrows if arrow.label]
    parts += [words[key].drawn(box) for key, box in boxes.items()]
    moved = group(parts, transform=f"translate({_MARGIN} {_MARGIN})")
    return picture(width + 2 * _MARGIN, height + 2 * _MARGIN, [moved])


def _complete(graph: dict[str, Any]) -> None:
    """Fills in dims and types that are inferred. They come from a copy, so that drawing a graph does not change it."""
    numbered = {name: {**tensor, "uid": uid} for uid, (name, tensor) in enumerate(graph["tensors"].items())}
    copy = Graph_base("cpu", "", data_type.NOT_SET, data_type.NOT_SET, data_type.NOT_SET, None)
    copy.deserialize(json.dumps({**graph, "tensors": numbered}))
    if copy._check()[0]:
        return
    copy.validate()
    for name, tensor in graph["tensors"].items():
        found = copy.query_tensor_attributes_of_uid(numbered[name]["uid"])
        tensor["dim"], tensor["data_type"] = list(found.get_dim()), found.get_data_type().name


def _ports(nodes: list[Any]) -> Iterator[_Port]:
    for index, node in enumerate(nodes):
        for side in ("inputs", "outputs"):
            for name, tensor in node.get(side, {}).items():
                yield _Port(index, name, tensor, side == "outputs")


def _offsets(graph: dict[str, Any]) -> list[tuple[str, str]]:
    """Packed tensors, each with the tensor that says where its sequences start."""
    return [(name, tensor["ragged_offset"]) for name, tensor in graph["tensors"].items() if "ragged_offset" in tensor]


def _rows(graph: dict[str, Any], ports: list[_Port]) -> dict[Any, int]:
    """The row of each box. Nodes, by index, are below all tensors that they read, except those that go back up;
    tensors, by id, are below the node that writes them, and others above the first node that reads them."""
    written = {port.tensor for port in ports if port.is_output}
    reads: dict[int, list[str]] = {node: [] for node in range(len(graph["nodes"]))}
    for port in ports:
        if not port.is_output and port.tensor in written and port.name not in _BACK:
            reads[port.node].append(port.tensor)
    rows: dict[Any, int] = {}
    waiting = list(reads)
    while waiting:
        node = next((n for n in waiting if all(tensor in rows for tensor in reads[n])), waiting[0])
        waiting.remove(node)
        rows[node] = 1 + max((rows.get(tensor, 0) for tensor in reads[node]), default=0)
        rows.update({port.tensor: rows[node] + 1 for port in ports if port.node == node and port.is_output})
    for port in ports:
        if port.tensor not in written:
            rows[port.tensor] = min(rows.get(port.tensor, len(ports)), rows[port.node] - 1)
    for name, offset in _offsets(graph):
        if offset not in written:
            rows[offset] = min(rows.get(offset, len(ports)), rows.get(name, 0) - 1)
    top = min(rows.values(), default=0)
    return {key: rows.get(key, top) - top for key in [*graph["tensors"], *reads]}


def _words_of_tensors(graph: dict[str, Any], ports: list[_Port]) -> dict[Any, _Words]:
    written = {port.tensor for port in ports if port.is_output}
    words = {}
    for key, tensor in graph["tensors"].items():
        kind = "virtual" if tensor.get("is_virtual") else "output" if key in written else "input"
        shape = " ".join(filter(None, [" x ".join(map(str, tensor.get("dim", ()))), tensor.get("data_type", "")]))
        value = f"value {_text(tensor['value'])}" if "value" in tensor else ""
        words[key] = _Words(tensor.get("name") or key, [line for line in (shape, value) if line], kind)
    return words


def _words_of_node(node: dict[str, Any]) -> _Words:
    fields = node.get("fields", {})
    mode = fields.get("mode") if node["tag"] in ("POINTWISE", "REDUCTION") else None
    kind = mode or node["tag"]
    name = node.get("name")
    options = [f"{option} {_text(value)}" for option, value in fields.items() if value is not mode]
    # A line may end only between options.
    whole = ", ".join(option.replace(" ", "\N{NO-BREAK SPACE}") for option in options)
    lines = textwrap.wrap(whole, _COLUMNS, break_long_words=False, break_on_hyphens=False)
    return _Words(name or kind, ([kind] if name and name != kind else []) + lines, "node")


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return _text(value.get("value", f"bits {value.get('bits')}"))
    if isinstance(value, bool):
        return str(value).lower()
    return " x ".join(map(_text, value)) if isinstance(value, list) else str(value)


def _width_of_port(port: _Port) -> float:
    return width_of(port.name, _SMALL) + 20


def _width_of_ports(ports: list[_Port], key: Any) -> float:
    """The widths of the labels of a node's arrows, above it and below it."""
    widths = {True: 0.0, False: 0.0}
    for port in ports:
        if port.node == key:
            widths[port.is_output or port.name in _BACK] += _width_of_port(port)
    return max(widths.values())


@dataclass
class _Arrow:
    """An arrow in the direction in which data flows, with the port's name at the node's end."""

    edge: Edge
    is_up: bool
    label: str = ""
    is_label_above: bool = False  # whether the label is at the upper end

    @staticmethod
    def of_port(boxes: dict[Any, Box], port: _Port) -> _Arrow:
        node, tensor = boxes[port.node], boxes[port.tensor]
        is_node_above, width = node.row <= tensor.row, _width_of_port(port)
        edge = Edge(node, tensor, width, _LINE) if is_node_above else Edge(tensor, node, _LINE, width)
        return _Arrow(edge, is_node_above != port.is_output, port.name, is_node_above)

    @staticmethod
    def of_offset(offset: Box, packed: Box) -> _Arrow:
        is_up = offset.row > packed.row
        upper, lower = (packed, offset) if is_up else (offset, packed)
        return _Arrow(Edge(upper, lower, _LINE, _LINE), is_up)

    def line(self) -> str:
        points = [(x, y) for x, high, low in self.edge.path for y in (high, low)]
        if self.is_up:
            points.reverse()
        path = f"M {points[0][0]:.1f} {points[0][1]:.1f} V {points[1][1]:.1f}"
        for (x1, y1), (x2, y2), (_, y3) in zip(points[1::2], points[2::2], points[3::2]):
            middle = (y1 + y2) / 2
            path += f" C {x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f} V {y3:.1f}"
        dashes = {} if self.label else {"stroke_dasharray": "3 3"}
        line = svg("path", d=path, fill="none", stroke="#94a3b8", **dashes)
        return line + self._head(*points[-1])

    def _head(self, x: float, y: float) -> str:
        base = y + 7 if self.is_up else y - 7
        corners = f"{x:.1f},{y:.1f} {x - 3.5:.1f},{base:.1f} {x + 3.5:.1f},{base:.1f}"
        return svg("polygon", points=corners, fill="#64748b")

    def text(self) -> str:
        first, last = self.edge.path[0], self.edge.path[-1]
        x, y = (first[0], first[1] + 15) if self.is_label_above else (last[0], last[2] - 10)
        halo = {"stroke": "#ffffff", "stroke_width": 4, "paint_order": "stroke"}  # lines behind do not cross it
        return svg("text", self.label, x=f"{x + 5:.1f}", y=f"{y:.1f}", fill="#475569", font_size=_SMALL, **halo)
