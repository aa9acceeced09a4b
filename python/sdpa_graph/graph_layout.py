"""Places for boxes in rows, and paths between them that cross no box, in pictures that are not huge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_COLUMN_GAP, _ROW_GAP, _LINE_WIDTH, _SWEEPS = 24.0, 56.0, 16.0, 8
_MOST_POINTS = 3000  # in a picture in which paths go around boxes; more would need long and be illegible


@dataclass(eq=False)
class Box:
    """A box. Without a height it is a point at which an edge between other rows passes through a row."""

    row: int
    width: float
    height: float
    x: float = 0.0  # the middle
    y: float = 0.0  # the top
    above: list[Box] = field(default_factory=list)  # the boxes to which edges connect it
    below: list[Box] = field(default_factory=list)


@dataclass(eq=False)
class Edge:
    """An edge from a box to one of a lower row. Each end has some width of its box's side for itself, and is at the
    left of that width, so that a label fits next to it."""

    upper: Box
    lower: Box
    upper_width: float
    lower_width: float
    # The path from top to bottom: x, and the y between which it is vertical.
    path: list[tuple[float, float, float]] = field(default_factory=list)


def arrange(boxes: Sequence[Box], edges: Sequence[Edge]) -> tuple[float, float]:
    """Places boxes and routes edges; returns width and height of the whole."""
    rows: list[list[Box]] = [[] for _ in range(1 + max((box.row for box in boxes), default=0))]
    for box in boxes:
        rows[box.row].append(box)
    goes_around = sum(edge.lower.row - edge.upper.row for edge in edges) <= _MOST_POINTS
    chains = [_chain(edge, rows, goes_around) for edge in edges]
    height = _place_rows(rows)
    _place_columns(rows)
    everything = [box for row in rows for box in row]
    left = min((box.x - box.width / 2 for box in everything), default=0.0)
    for box in everything:
        box.x -= left
    _draw_paths(edges, chains, rows)
    return max((box.x + box.width / 2 for box in everything), default=0.0), height


def _chain(edge: Edge, rows: list[list[Box]], goes_around: bool) -> list[Box]:
    """The boxes at the ends of an edge, and between them a point in each row where it has to go around boxes."""
    points = [Box(row, _LINE_WIDTH, 0.0) for row in range(edge.upper.row + 1, edge.lower.row) if goes_around]
    for point in points:
        rows[point.row].append(point)
    chain = [edge.upper, *points, edge.lower]
    for upper, lower in zip(chain, chain[1:]):
        upper.below.append(lower)
        lower.above.append(upper)
    return chain


def _place_rows(rows: list[list[Box]]) -> float:
    y = 0.0
    for row in rows:
        height = max((box.height for box in row), default=0.0)
        for box in row:
            box.y = y if box.height == 0.0 else y + (height - box.height) / 2
        y += height + _ROW_GAP
    return max(y - _ROW_GAP, 0.0)


def _place_columns(rows: list[list[Box]]) -> None:
    """Orders the boxes in rows, by their neighbors below and by those above, so that few edges cross. Their positions
    are then between both."""
    for row in rows:
        _spread(row, [0.0] * len(row))
    for sweep in range(_SWEEPS):
        is_up = sweep % 2 == 0
        for row in reversed(rows) if is_up else rows:
            wanted = {id(box): _middle(box.below if is_up else box.above, box.x) for box in row}
            row.sort(key=lambda box, wanted=wanted: wanted[id(box)])  # the order of equals is kept
            _spread(row, [wanted[id(box)] for box in row])
    for _ in range(_SWEEPS):
        for row in rows:
            _spread(row, [_middle(box.above + box.below, box.x) for box in row])


def _middle(boxes: list[Box], without: float) -> float:
    return sum(box.x for box in boxes) / len(boxes) if boxes else without


def _spread(row: list[Box], wanted: list[float]) -> None:
    """Moves boxes toward their wanted positions, as far as their order leaves room, without shifting the row as a
    whole."""
    end = float("-inf")
    for box, middle in zip(row, wanted):
        box.x = max(middle, end + box.width / 2)
        end = box.x + box.width / 2 + _COLUMN_GAP
    shift = sum(middle - box.x for box, middle in zip(row, wanted)) / max(len(row), 1)
    for box in row:
        box.x += shift


def _draw_paths(edges: Sequence[Edge], chains: list[list[Box]], rows: list[list[Box]]) -> None:
    bottoms = [max((box.y + box.height for box in row), default=0.0) for row in rows]
    tops = [min((box.y for box in row), default=0.0) for row in rows]
    at_bottom = _ends([(chain[0], chain[1], edge.upper_width) for edge, chain in zip(edges, chains)])
    at_top = _ends([(chain[-1], chain[-2], edge.lower_width) for edge, chain in zip(edges, chains)])
    for edge, chain, begin, end in zip(edges, chains, at_bottom, at_top):
        upper, lower = edge.upper, edge.lower
        edge.path = [(begin, upper.y + upper.height, bottoms[upper.row])]
        edge.path += [(point.x, tops[point.row], bottoms[point.row]) for point in chain[1:-1]]
        edge.path.append((end, tops[lower.row], lower.y))


def _ends(wanted: list[tuple[Box, Box, float]]) -> list[float]:
    """For each (box, next box of the path, width): where the path ends at the box's side. The ends at a box are in the
    order of the next boxes."""
    found = [0.0] * len(wanted)
    for box in {id(box): box for box, _, _ in wanted}.values():
        ends = [index for index, (other, _, _) in enumerate(wanted) if other is box]
        ends.sort(key=lambda index: wanted[index][1].x)
        total = sum(wanted[index][2] for index in ends)
        scale = min(1.0, box.width / total)
        x = box.x - total * scale / 2
        for index in ends:
            width = wanted[index][2] * scale
            found[index] = x + min(width, _LINE_WIDTH) / 2
            x += width
    return found
