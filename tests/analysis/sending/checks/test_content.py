"""The check ``content`` on manually built sends."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.storage.content import Content
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.sends.message import properties_text
from tests.analysis.builders import ENTRY, MS, S, facts_of, made, pair, signatures, tried
from tests.analysis.sending.checks.builders import (
    BASELINE,
    CANDIDATE,
    NO_CLOCK,
    copied,
    examples,
    facts_alone,
    stored_send,
)

OLD = replace(copied(), properties=None)


@pytest.mark.parametrize(
    ("side", "counts"),
    [
        (stored_send(CANDIDATE, copied()), 1),
        (stored_send(CANDIDATE, copied(), copied()), 1),
        (stored_send(CANDIDATE, kept=(copied(),)), 1),
        (stored_send(CANDIDATE), 0),
        (stored_send(CANDIDATE, OLD), 0),
        (stored_send(CANDIDATE, OLD, kept=(copied(),)), 1),
        (stored_send(CANDIDATE, copied(), OLD), 1),
        (replace(stored_send(CANDIDATE, copied()), copies=None), 0),
        (replace(stored_send(CANDIDATE, kept=(copied(),)), copies=None), 1),
        (replace(stored_send(CANDIDATE, copied()), row=None), 0),
    ],
)
def test_sends_with_properties_read_back_are_counted(side: SendView, counts: int) -> None:
    """A send counts once if a copy has properties; copies of traces before schema 1.2 have none."""
    assert facts_alone(Content, side).n("content", "copy", arm=CANDIDATE, phase="calm") == counts


@pytest.mark.parametrize(
    ("sides", "wanted"),
    [
        ([stored_send(CANDIDATE, copied(UNIQ_KEY="A")), stored_send(CANDIDATE, copied(1, UNIQ_KEY="B"), number=1)], []),
        ([stored_send(CANDIDATE, copied(UNIQ_KEY="A")), stored_send(BASELINE, copied(1, UNIQ_KEY="A"), number=1)], []),
        ([stored_send(CANDIDATE, copied(UNIQ_KEY="A"), copied(UNIQ_KEY="A"))], []),
        ([stored_send(CANDIDATE, copied(), copied(UNIQ_KEY="A"))], []),
        (
            [stored_send(CANDIDATE, copied(UNIQ_KEY="A")), stored_send(CANDIDATE, copied(1, UNIQ_KEY="A"), number=1)],
            ["content.key-used-before/UNIQ_KEY 1"],
        ),
        (
            [stored_send(CANDIDATE, copied(UNIQ_KEY="A"), copied(UNIQ_KEY="B"))],
            ["content.key-differs-between-copies/UNIQ_KEY 1"],
        ),
        (
            [stored_send(CANDIDATE, copied(UNIQ_KEY="A"), kept=(copied(UNIQ_KEY="B"),))],
            ["content.key-differs-between-copies/UNIQ_KEY 1"],
        ),
        (
            [
                stored_send(CANDIDATE, copied(UNIQ_KEY="A")),
                stored_send(CANDIDATE, copied(1, UNIQ_KEY="B"), number=1),
                stored_send(CANDIDATE, copied(2, UNIQ_KEY="A"), copied(2, UNIQ_KEY="B"), number=2),
            ],
            ["content.key-differs-between-copies/UNIQ_KEY 1", "content.key-used-before/UNIQ_KEY 1"],
        ),
    ],
)
def test_a_unique_key_belongs_to_one_send(sides: list[SendView], wanted: list[str]) -> None:
    """A UNIQ_KEY belongs to one send and all its copies; a send is noted once."""
    assert signatures(facts_alone(Content, *sides)) == wanted


def test_example_names_the_first_send_with_the_key() -> None:
    """The example names the first send with the key."""
    sides = [stored_send(CANDIDATE, copied(n, UNIQ_KEY="A"), number=n) for n in (3, 5, 7)]
    (one,) = examples(facts_alone(Content, *sides)).values()
    assert one == ("a UNIQ_KEY of its own", "'A', as send 3")


@pytest.mark.parametrize(
    ("born_ms", "reported"),
    [
        (990, None),
        (989, ("born-before-its-call", "11 ms before the call")),
        (1_020, None),
        (1_021, ("born-after-its-call", "11 ms after it")),
        (None, None),
    ],
)
def test_a_message_is_born_while_its_call_lasts(born_ms: int | None, reported: tuple[str, str] | None) -> None:
    """A message is born from 1,000 to 1,010 ms, with 10 ms for the clocks, if these have an anchor."""
    side = stored_send(CANDIDATE, copied(), copied(born_ms=born_ms))
    found = {name: seen for name, (_, seen) in examples(facts_alone(Content, side)).items()}
    assert found == (dict([reported]) if reported else {})
    assert examples(facts_alone(Content, side, entry=NO_CLOCK)) == {}


def test_a_call_is_as_long_as_its_last_attempt() -> None:
    """A call that returned at 1,010 ms lasts until its attempt ends at 1,500 ms. The clock anchor maps 1 s to 70,000 ms."""
    entry = replace(ENTRY, clock=ClockAnchor(S, 70_000))
    for born_ms, wanted in ((70_510, 0), (70_511, 1), (69_990, 0), (69_989, 1)):
        side = made(CANDIDATE, 0, tried(S, S + 500 * MS), copies=[copied(born_ms=born_ms)], end_ns=S + 10 * MS)
        assert len(signatures(facts_alone(Content, side, entry=entry))) == wanted
    late = made(CANDIDATE, 0, tried(S, S + 10 * MS), copies=[copied(born_ms=1_500)], end_ns=S + 500 * MS)
    assert signatures(facts_alone(Content, late)) == []


def compared(ours: SendView | None, theirs: SendView | None) -> dict[str, tuple[str, str]]:
    return examples(facts_of([pair(ours, theirs)], Content))


def test_copies_are_compared_like_with_like() -> None:
    """All delivered copies are compared with the baseline's first one, or else those that are kept back."""
    plain, extra = copied(), copied(EXTRA="1")
    ours = stored_send(BASELINE, plain, kept=(plain,))
    added = {"property-added/EXTRA": ("none, as baseline", "EXTRA='1'")}
    assert compared(ours, stored_send(CANDIDATE, extra, kept=(plain,))) == added
    assert compared(ours, stored_send(CANDIDATE, plain, plain, kept=(extra,))) == {}
    assert compared(ours, stored_send(CANDIDATE, plain, extra)) == added
    assert compared(ours, stored_send(CANDIDATE, plain, replace(plain, flag=7))).keys() == {"flag-differs"}
    assert compared(ours, stored_send(CANDIDATE, kept=(extra,))) == added
    assert compared(stored_send(BASELINE, OLD), stored_send(CANDIDATE, extra)) == {}
    assert compared(None, stored_send(CANDIDATE, extra)) == compared(ours, None) == {}
    assert compared(ours, replace(stored_send(CANDIDATE, extra), row=None)) == {}


def new_each_time(value: str) -> dict[str, Any]:
    return dict.fromkeys(("UNIQ_KEY", "REAL_TOPIC", "REAL_QID", "BORN_TIMESTAMP", "PGROUP"), value)


def test_every_difference_of_two_copies_is_reported() -> None:
    """Properties and flags must be equal, except keys, ids and places."""
    ours = copied(**new_each_time("a"), WAIT="true", CLUSTER="c", MSG_REGION="r")
    other = copied(1, **new_each_time("b"), WAIT="false", EXTRA="1", MSG_REGION="r")
    theirs = replace(other, flag=3, sys_flag=4)
    assert compared(stored_send(BASELINE, ours), stored_send(CANDIDATE, theirs)) == {
        "property-missing/CLUSTER": ("CLUSTER='c' as baseline", "no such property"),
        "property-added/EXTRA": ("none, as baseline", "EXTRA='1'"),
        "property-differs/WAIT": ("'true' as baseline", "'false'"),
        "flag-differs": ("flag 0 as baseline", "flag 3"),
        "sys-flag-differs": ("system flag 0 as baseline", "system flag 4"),
    }


PLANNED: dict[str, Any] = {"properties": properties_text({"KEYS": "k", "colour": "blue"})}


@pytest.mark.parametrize(
    ("carried", "wanted"),
    [
        ({"KEYS": "k", "colour": "blue"}, {}),
        ({"KEYS": "k"}, {"property-missing/colour": ("colour='blue'", "no such property")}),
        ({"KEYS": "l", "colour": "blue"}, {"property-changed/KEYS": ("KEYS='k'", "'l'")}),
    ],
)
def test_planned_properties_are_compared_with_the_plan_alone(
    carried: dict[str, Any], wanted: dict[str, tuple[str, str]]
) -> None:
    """Planned properties of each copy are compared with the plan only."""
    right = stored_send(BASELINE, copied(KEYS="k", colour="blue"), **PLANNED)
    assert compared(right, stored_send(CANDIDATE, copied(**carried), **PLANNED)) == wanted
    second = stored_send(CANDIDATE, copied(KEYS="k", colour="blue"), copied(**carried), **PLANNED)
    assert compared(right, second) == wanted
    twice = stored_send(CANDIDATE, copied(**carried), copied(**carried), **PLANNED)
    assert signatures(facts_alone(Content, twice)) == [f"content.{name} 1" for name in wanted]


@pytest.mark.parametrize(
    ("body_bytes", "wanted"), [(32, {}), (33, {"body-changed": ("the 33 bytes sent", "another body")})]
)
def test_the_body_is_the_id_made_as_long_as_planned(body_bytes: int, wanted: dict[str, tuple[str, str]]) -> None:
    """The body is the id padded to the planned length; without an id it is not judged."""
    assert compared(None, stored_send(CANDIDATE, copied(), body_bytes=body_bytes)) == wanted
    nameless = replace(copied(), properties="{}")
    assert compared(None, stored_send(CANDIDATE, nameless, body_bytes=body_bytes)) == {}
