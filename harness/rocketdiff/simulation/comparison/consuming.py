"""How the answer lines of a consumer differ: shares, offsets, requests."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from rocketdiff.simulation.comparison.line_parts import Compared, LineParts, Part, parts_of

_OF_ALLOCATION = {"exception": Compared.EXCEPTION, "share": Compared.SHARE}


def _allocation_parts(left: dict[str, Any], right: dict[str, Any]) -> Iterator[Part]:
    return parts_of(_OF_ALLOCATION, left, right, "allocate")


def _round_parts(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> Iterator[Part]:
    for number, (one, other) in enumerate(zip_longest(left, right)):
        if one != other:
            yield Compared.ROUNDS, f"rounds[{number}]", (one, other)


def _call_parts(left: Any, right: Any) -> Iterator[Part]:
    if left != right:
        yield Compared.OFFSETS, "call", (left, right)


def _polled_parts(left: Any, right: Any) -> Iterator[Part]:
    if left != right:
        yield Compared.POLLED, "call", (left, right)


CONSUMING_LINES: Mapping[str, LineParts] = {
    "allocate": _allocation_parts,
    "put": _call_parts,
    "remove": _call_parts,
    "take": _call_parts,
    "commit": _call_parts,
    "rounds": _round_parts,
    **dict.fromkeys(("poll", "commit_polled", "seek", "pause_queue", "resume_queue"), _polled_parts),
}
"""By kind of line."""
