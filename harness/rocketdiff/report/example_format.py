"""
The published form of an example, which is older than its type.

Its place is ``send``, ``thread`` and ``attempt``; run, sides and figures are one object, ``detail``:

``{"run": …, "decisions": [attempts of both arms], "sends": {arm: call}, "stored": {arm: [[broker, queue, offset], …]}}`` and
the figures; for a statistic only the figures.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.verdict import CallEnd, SideExample, StoredAt
from rocketdiff.core.answers.where import NO_NUMBER, Place

_DESCRIPTION = (
    "One concrete place where a signature was seen.\n\nexpected and observed are sentences for people; detail is for machines"
    " (queues, states, times in ns)."
)
_DETAIL_SCHEMA = {"type": "object", "additionalProperties": {"description": "Any JSON value."}}
_OF_A_SEND = ("run", "decisions", "sends", "stored")


class _Detail(msgspec.Struct, frozen=True):
    decisions: tuple[LaneAttempt, ...]
    run: str = ""
    sends: dict[str, CallEnd | None] = {}
    stored: dict[str, tuple[tuple[str, int, int], ...] | None] = {}

    def sides(self) -> tuple[SideExample, ...]:
        arms = dict.fromkeys((*self.sends, *self.stored, *(attempt.arm for attempt in self.decisions)))
        return tuple(self._side(arm) for arm in arms)

    def _side(self, arm: str) -> SideExample:
        places = self.stored.get(arm)
        return SideExample(
            arm=arm,
            attempts=tuple(attempt for attempt in self.decisions if attempt.arm == arm),
            call=self.sends.get(arm),
            stored=None if places is None else tuple(StoredAt(*place) for place in places),
        )


def publish(document: dict[str, Any]) -> dict[str, Any]:
    """
    Convert the examples of a document (plain values) to the published form, in place; return the document.

    A subject without a label has no such field, as before 1.9.
    """
    for arm in ("baseline", "candidate"):
        if not document["run"][arm]["label"]:
            del document["run"][arm]["label"]
    for example in _examples(document):
        run, sides, figures, where = (example.pop(name) for name in ("run", "sides", "figures", "where"))
        of_send = {
            "run": run,
            "decisions": [attempt for side in sides for attempt in side["attempts"]],
            "sends": {side["arm"]: side["call"] for side in sides},
            "stored": {side["arm"]: _places(side["stored"]) for side in sides},
        }
        rest = {**example, "detail": (of_send if sides else {}) | figures}
        example.clear()
        example.update(_published_place(where) | rest)
    return document


def understand(document: object) -> object:
    """
    Convert the examples of a published document to the form of their type, in place; return the document.

    Raises msgspec.ValidationError for a malformed detail of a send.
    """
    for example in _examples(document):
        for name in ("run", "sides", "figures", "where"):
            example.pop(name, None)  # a newer version may have a field of this name
        if "send" in example:
            example["where"] = _understood_place(example)
        detail = example.pop("detail", {})
        if isinstance(detail, dict) and "decisions" in detail:
            of_send = msgspec.convert(detail, _Detail)
            example |= {"run": of_send.run, "sides": msgspec.to_builtins(of_send.sides())}
            detail = {name: value for name, value in detail.items() if name not in _OF_A_SEND}
        example["figures"] = detail
    return document


def publish_schema(definitions: dict[str, Any]) -> None:
    """Convert the JSON Schema of the types to that of the published form."""
    example = definitions["Example"]
    place = definitions.pop("Where")["properties"]
    for name in ("figures", "run", "sides", "where"):
        del example["properties"][name]
    numbers = {
        "send": {"type": "integer"},
        "thread": {"type": "integer"},
        "attempt": _without_default(place["attempt"]),
    }
    example["properties"] = numbers | example["properties"] | {"detail": _DETAIL_SCHEMA}
    example["required"] = [*numbers, *(name for name in example["required"] if name != "where")]
    example["description"] = _DESCRIPTION
    for name in ("SideExample", "CallEnd", "StoredAt", "Place"):
        del definitions[name]


def _published_place(where: dict[str, Any]) -> dict[str, Any]:
    """``send``, ``thread`` and ``attempt``; a place other than a send is named too."""
    numbers = {"send": where["number"], "thread": where["thread"], "attempt": where["attempt"]}
    return numbers if where["place"] in (Place.SEND, Place.NOWHERE) else numbers | {"place": where["place"]}


def _understood_place(example: dict[str, Any]) -> dict[str, Any]:
    number, thread, attempt = example.pop("send"), example.pop("thread", 0), example.pop("attempt", None)
    place = Place.NOWHERE if number == NO_NUMBER else example.pop("place", Place.SEND)
    return {"place": place, "number": number, "thread": thread, "attempt": attempt}


def _without_default(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != "default"}


def _places(stored: list[dict[str, Any]] | None) -> list[list[Any]] | None:
    return None if stored is None else [list(place.values()) for place in stored]


def _examples(document: object) -> Iterator[dict[str, Any]]:
    """Every example; misplaced values of a damaged document are left to the type check."""
    found = [shown for result in _members(document, "results") for shown in _members(result, "divergences")]
    for shown in (*found, *_members(document, "clusters")):
        example = shown.get("example")
        if isinstance(example, dict):
            yield example


def _members(holder: object, name: str) -> Iterator[dict[str, Any]]:
    members = holder.get(name) if isinstance(holder, dict) else None
    return (member for member in members if isinstance(member, dict)) if isinstance(members, list | tuple) else iter(())
