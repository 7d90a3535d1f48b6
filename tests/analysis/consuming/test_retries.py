"""When a failed message comes back, and as which copy, at each limit."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from tests.analysis.consuming.group_story import Group, Row, differences_of, ns, wall

FAILED = 77
"""Its call ends at 7,703 ms; its copy is due a second later, with delay level 1."""

DUE_MS = 8_703

Change = Callable[[Group], None]


def differences(*changes: Change, **story: Any) -> list[DifferenceFact]:
    return differences_of("retries", *changes, **story)


def found(*changes: Change, **story: Any) -> list[str]:
    return [fact.signature.removeprefix("retries.") for fact in differences(*changes, **story)]


def comes(at_ms: float, level: int | None = 1) -> Change:
    """The copy is delivered at an instant. level: what the listener asked for."""

    def change(group: Group) -> None:
        first, again = group.calls_of(FAILED)
        first["delay_level"] = level
        again["start_ns"], again["end_ns"] = ns(at_ms), ns(at_ms + 1)

    return change


def copies(**changed: Any) -> Change:
    """Change what brokers hold of the message."""

    def change(group: Group) -> None:
        for row in group.returned:
            if row["send"] == FAILED:
                row.update(changed)

    return change


def lasts(send: int, until_ms: float) -> Change:
    return lambda group: group.calls_of(send)[0].update(end_ns=ns(until_ms))


def without_copy(group: Group) -> None:
    group.returned = [row for row in group.returned if row["send"] != FAILED]


def without_delivery(group: Group) -> None:
    (_, again) = group.calls_of(FAILED)
    group.calls.remove(again)
    group.deliveries = [row for row in group.deliveries if row["call"] != again["call"]]


def pauses(from_ms: float, until_ms: float) -> Change:
    return lambda group: group.members[0].update(pauses=[{"from_ns": ns(from_ms), "until_ns": ns(until_ms)}])


LATEST_MS = DUE_MS + 100 + 5_000 + 5_000
"""The broker's look for due messages and for held pulls, and a busy machine."""


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([comes(DUE_MS - 100)], {}, [], id="a tenth of a second early"),
        pytest.param([comes(DUE_MS - 100.001)], {}, ["early"], id="earlier"),
        pytest.param([comes(LATEST_MS)], {}, [], id="at the limit"),
        pytest.param([comes(LATEST_MS + 0.001)], {}, ["late"], id="later"),
        pytest.param([comes(LATEST_MS + 700)], {"settings": {"pull_interval_ms": 700}}, [], id="with an interval"),
        pytest.param([comes(LATEST_MS + 701)], {"settings": {"pull_interval_ms": 700}}, ["late"], id="later with it"),
        pytest.param([comes(LATEST_MS + 1)], {"pauses": ((14_000, 9),)}, [], id="beside a fault"),
        pytest.param([comes(LATEST_MS + 1), pauses(14_000, 14_009)], {}, [], id="beside a pause"),
        pytest.param([comes(LATEST_MS + 1), lasts(150, 18_800)], {"settings": {"consume_thread_min": 1}}, ["late"], id="its thread is free then"),
        pytest.param([comes(20_000), lasts(150, 19_000)], {"settings": {"consume_thread_min": 1}}, [], id="its thread is busy"),
        pytest.param([comes(17_603, 0), copies(delay_level=3)], {}, ["property/DELAY"], id="the default level"),
        pytest.param([comes(17_602, 0), copies(delay_level=3)], {}, ["early", "property/DELAY"], id="earlier than it"),
        pytest.param([without_copy], {}, ["missing"], id="no copy"),
        pytest.param([without_copy, without_delivery], {}, ["missing"], id="neither copy nor delivery"),
        pytest.param([without_delivery], {}, ["missing"], id="a copy that is not delivered"),
        pytest.param([without_delivery, copies(store_timestamp_ms=wall(21_998))], {}, ["missing"], id="stored ten seconds before"),
        pytest.param([without_delivery, copies(store_timestamp_ms=wall(22_000))], {}, [], id="stored later"),
        pytest.param([copies(broker="broker-a")], {}, ["other-broker"], id="at the other broker"),
        pytest.param([copies(times=2)], {}, ["other-times", "other-times"], id="two failures counted"),
        pytest.param([copies(place="dead", delay_level=None)], {}, ["dead-too-early"], id="a dead letter"),
        pytest.param([], {"is_orderly": True}, [], id="in order"),
    ],
)  # fmt: skip
def test_a_failed_message_comes_back(changes: list[Change], story: dict[str, Any], expected: list[str]) -> None:
    """After its delay, as one copy, at its broker, with its failures counted."""
    assert sorted(found(*changes, **story)) == sorted(expected)


def test_a_retry_is_described() -> None:
    """With its delay and how long it took, at the end of the call that failed."""
    (late,) = differences(comes(20_000))
    assert (late.send, late.expected, late.observed) == (
        FAILED,
        "a delay of 1 s (level 1)",
        "12297 ms after the call ended",
    )
    (missing,) = differences(without_copy)
    expected = "a copy with a delay of 1 s (level 1), 1 failure counted, at broker-b"
    assert (missing.expected, missing.observed) == (expected, "no copy of it")


@pytest.mark.parametrize(("rows", "expected"), [([{}], []), ([{}, {}], ["too-many"])])
def test_a_copy_that_waits_is_one_with_that_which_came_due(rows: list[Row], expected: list[str]) -> None:
    """Further ones are too many."""

    def change(group: Group) -> None:
        for row in rows[1:]:
            group.copy("retry", FAILED, 1, **row)

    assert [each for each in found(change) if each != "missing"] == expected
