"""Checks of functions' arguments for faults that a graph would not find. Each raises an exception that names the
argument."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Shape = Sequence[int]
_MOST_FLOAT = 3.4028234663852886e38  # the greatest of 32 bits
_FORMS = {3: "(tokens, heads, head dim)", 4: "(batch, heads, tokens, head dim)"}


def check_kinds(kind: type, needed: str, required: Mapping[str, Any], optional: Mapping[str, Any] = {}) -> None:
    """`needed` says which arrays the function accepts, and which function accepts the others."""
    for name, array in required.items():
        if not isinstance(array, kind):
            raise _other_kind(name, array, needed)
    for name, array in optional.items():
        if array is not None and not isinstance(array, kind):
            raise _other_kind(name, array, needed)


def _other_kind(name: str, array: Any, needed: str) -> TypeError:
    module = type(array).__module__.split(".")[0]
    found = type(array).__name__ if module == "builtins" else f"{module}.{type(array).__name__}"
    return TypeError(f"{name} is a {found}: {needed}")


def check_dims(shapes: Mapping[str, Shape], dims: int, form: str) -> None:
    for name, shape in shapes.items():
        if len(shape) != dims:
            raise ValueError(f"{name} has {len(shape)} dims: {dims} are needed, {form}")


def check_integer(name: str, number: Any, least: int = -(2**31)) -> int:
    """The number, which has to fit into 32 bits."""
    if type(number) is not int:  # torch.compile knows no attributes of an int that is unknown to it
        if isinstance(number, float) or not hasattr(number, "__index__"):
            raise TypeError(f"{name} is a {type(number).__name__}: an integer is needed")
        number = operator.index(number)
    found: int = number
    if not least <= found < 2**31:
        raise ValueError(f"{name} is {found}: a number from {least} to {2**31 - 1} is needed")
    return found


def check_finite(name: str, number: float, advice: str) -> None:
    """The library reads numbers as floats of 32 bits."""
    if not abs(number) <= _MOST_FLOAT:
        raise ValueError(f"{name} is {number}: a finite number of 32 bits is needed; {advice}")


def check_shapes(shapes: Mapping[str, Shape], enable_gqa: bool, is_packed_q: bool, is_packed_kv: bool) -> None:
    """Refuses shapes of query, key and value that make no graph, and those that a graph would accept although torch's
    function does not."""
    for name, shape in shapes.items():
        is_packed = is_packed_q if name == "query" else is_packed_kv
        dims, switch = (3, "with") if is_packed else (4, "without")
        if len(shape) != dims:
            raise ValueError(f"{name} has {len(shape)} dims: {dims} are needed {switch} cu_seqlens, {_FORMS[dims]}")
    query, key, value = shapes.values()
    if not enable_gqa and not query[1] == key[1] == value[1]:
        heads = f"{query[1]}, {key[1]} and {value[1]} heads"
        raise ValueError(f"query, key and value have {heads}: enable_gqa=True lets several query heads share one")
    if is_packed_kv and key[0] != value[0]:
        found = f"key has {key[0]} tokens, and value {value[0]}"
        raise ValueError(f"{found}: equal numbers are needed with cu_seqlens_kv")


def check_lengths_are_said_once(side: str, ends: Any, **others: Any) -> None:
    """Refuses other arguments for the lengths, which cu_seqlens contain."""
    for name, other in others.items():
        if ends is not None and other is not None:
            raise ValueError(f"cu_seqlens_{side} and {name} are given: cu_seqlens say the lengths of packed sequences")


def check_result_shapes(query: Shape, value: Shape, results: Mapping[str, Shape]) -> None:
    """Compares the results of forward that backward reads. A graph does not see the shapes of packed arrays."""
    for name, shape in results.items():
        needed = (*query[:-1], 1 if name == "stats" else value[-1])
        if tuple(shape) != needed:
            raise ValueError(f"{name} has shape {tuple(shape)}: {needed} is needed, as forward gave it")


def check_table(shape: Shape) -> None:
    check_dims({"page_table": shape}, 2, "(batch, pages)")


def check_ends_shape(side: str, shape: Shape) -> None:
    if len(shape) != 1 or shape[0] < 2:
        raise ValueError(
            f"cu_seqlens_{side} has shape {tuple(shape)}: one dim is needed, of 0 and then the end of each sequence"
        )


def check_ends(side: str, ends: Sequence[int], tokens: int, longest: int | None = None) -> None:
    """Refuses ends with which memory outside of the arrays would be read or written."""
    name, arrays = f"cu_seqlens_{side}", "query has" if side == "q" else "key and value have"
    least = 0
    for index, end in enumerate(ends):
        if not least <= end <= tokens:
            raise ValueError(
                f"{name}[{index}] is {end}: a number from {least} to {tokens} is needed, the tokens that {arrays}; "
                "pass 0 and then the end of each sequence"
            )
        least = end
    most = longest_of(ends)
    if longest is not None and most > longest:
        raise ValueError(
            f"a sequence of {name} has {most} tokens: more than the {longest} that max_seqlen_{side} says; "
            f"pass the longest as max_seqlen_{side}"
        )


def check_longest(side: str, longest: int | None, is_counted: bool) -> None:
    """`is_counted` says whether there are sequences whose longest length it is."""
    name = f"max_seqlen_{side}"
    if longest is None:
        return
    if not is_counted:
        pages = " or page_table" if side == "kv" else ""
        raise ValueError(f"{name} is given without cu_seqlens_{side}{pages}: it has no meaning then")
    check_integer(name, longest, least=0)


def longest_of(ends: Sequence[int]) -> int:
    return max(end - start for start, end in zip(ends, ends[1:]))


def check_range(name: str, numbers: Iterable[Any]) -> None:
    """Graphs hold these integers in 32 bits."""
    for number in numbers:
        if not -(2**31) <= int(number) < 2**31:
            raise ValueError(f"{name} has an entry of {int(number)}: integers of 32 bits are needed")


def refuse_numbers(name: str, kind: object) -> None:
    raise TypeError(f"{name} has numbers of type {kind}: integers are needed; nothing is rounded")
