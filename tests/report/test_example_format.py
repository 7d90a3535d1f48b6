"""Conversion of examples between the stored and the internal form, without loss."""

from typing import Any

import msgspec
import pytest

from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.verdict import CallEnd, SideExample, StoredAt
from rocketdiff.core.errors import TraceError
from rocketdiff.report.document import Document, decode, encode
from rocketdiff.report.example_format import publish, understand

BAR = {
    "arm": "candidate", "thread": 0, "send": 7, "attempt": 0, "broker": "broker-b", "queue_id": 2, "start_ms": 1.5,
    "end_ms": 2.0, "outcome": "ok", "reason": "none",
}  # fmt: skip
CALL = {
    "outcome": "ok", "reason": "none", "error": None, "cause": None, "code": None, "status": "SEND_OK", "broker": "broker-b",
    "queue_id": 2, "queue_offset": 9, "elapsed_ms": 0.5,
}  # fmt: skip
DETAIL = {
    "run": "r1",
    "decisions": [BAR],
    "sends": {"baseline": None, "candidate": CALL},
    "stored": {"baseline": [], "candidate": [["broker-b", 2, 9]]},
    "rules": {"states": 1},
}


def document(detail: object) -> dict[str, Any]:
    shown = {"example": {"send": 7, "thread": 0, "attempt": None, "detail": detail}}
    run = {arm: {"client": "java"} for arm in ("baseline", "candidate")}
    return {
        "run": run,
        "results": [{"divergences": [dict(shown)]}],
        "clusters": [{"example": {"send": 7, "thread": 0, "attempt": None, "detail": detail}}],
    }


def test_a_detail_is_understood() -> None:
    """A stored detail becomes sides with attempts, call and copies, and figures."""
    read = understand(document(DETAIL))
    assert isinstance(read, dict)
    for example in (read["results"][0]["divergences"][0]["example"], read["clusters"][0]["example"]):
        assert (example["run"], example["figures"]) == ("r1", {"rules": {"states": 1}})
        sides = msgspec.convert(example["sides"], tuple[SideExample, ...])
        attempt = LaneAttempt("candidate", 0, 7, 0, "broker-b", 2, 1.5, 2.0, "ok", "none")
        call = CallEnd("ok", "none", None, None, None, "SEND_OK", "broker-b", 2, 9, 0.5)
        assert sides == (
            SideExample("baseline", (), None, ()),
            SideExample("candidate", (attempt,), call, (StoredAt("broker-b", 2, 9),)),
        )


@pytest.mark.parametrize("detail", [DETAIL, {}, {"p": 0.5, "sends": 3}])
def test_a_document_read_and_written_is_unchanged(detail: dict[str, object]) -> None:
    """Publishing restores the stored form of any detail."""
    published = document(detail)
    read = understand(msgspec.json.decode(msgspec.json.encode(published)))
    assert isinstance(read, dict)
    for arm in ("baseline", "candidate"):
        read["run"][arm]["label"] = ""
    for shown in (*read["results"][0]["divergences"], *read["clusters"]):
        shown["example"] = {"run": "", "sides": [], **shown["example"]}
    assert publish(read) == published


def test_an_older_document_with_fewer_fields_is_understood(document: Document) -> None:
    """An older document without calls and copies is accepted; both are then unknown."""
    raw = msgspec.json.decode(encode(document))
    for one in raw["clusters"]:
        one["example"]["detail"] = {"decisions": [BAR]}
    for one in decode(msgspec.json.encode(raw), where="r").clusters:
        assert [(side.arm, side.call, side.stored) for side in one.example.sides] == [("candidate", None, None)]


@pytest.mark.parametrize(
    "detail", [5, {"decisions": 5}, {"decisions": [{}]}, DETAIL | {"stored": {"baseline": [["a"]]}}]
)
def test_an_unknown_detail_is_refused(document: Document, detail: object) -> None:
    """A malformed detail is refused like any damaged document."""
    raw = msgspec.json.decode(encode(document))
    raw["clusters"][0]["example"]["detail"] = detail
    with pytest.raises(TraceError, match="a rocketdiff report"):
        decode(msgspec.json.encode(raw), where="r")
