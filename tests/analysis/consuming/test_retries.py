"""When a failed message comes back, and as which copy, at each limit."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.core.answers.evidence import Standing
from tests.analysis.consuming.group_story import (
    Group,
    Story,
    differences_of,
    differences_without_messages,
    ns,
    returned_properties_of,
    wall,
)

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


def lasts(send: int, until_ms: float | None) -> Change:
    return lambda group: group.calls_of(send)[0].update(end_ns=None if until_ms is None else ns(until_ms))


def without_copy(group: Group) -> None:
    group.returned = [row for row in group.returned if row["send"] != FAILED]


def without_delivery(group: Group) -> None:
    (_, again) = group.calls_of(FAILED)
    group.calls.remove(again)
    group.deliveries = [row for row in group.deliveries if row["call"] != again["call"]]


def pauses(from_ms: float, until_ms: float) -> Change:
    return lambda group: group.members[0].update(pauses=[{"from_ns": ns(from_ms), "until_ns": ns(until_ms)}])


def fails_again(again_ms: float, counted: int = 2, shown: int = 2) -> Change:
    """Its copy fails at 8,751 ms, and comes again. counted: failures of the new copy; shown: by its message."""

    def change(group: Group) -> None:
        group.calls_of(FAILED)[1].update(result="later", delay_level=1)
        offset = sum((row["place"], row["broker"]) == ("retry", "broker-b") for row in group.returned)
        group.copy("retry", FAILED, counted)
        group.deliver(
            FAILED, again_ms, kind="retry", offset=offset, times=shown, properties=returned_properties_of(FAILED)
        )

    return change


def again_from_the_start(at_ms: float, *, copied: bool = True) -> Change:
    """Another member gets it anew, and it fails there as well."""

    def change(group: Group) -> None:
        group.deliver(FAILED, at_ms, result="later", delay_level=1, member=1)
        if copied:
            offset = sum((row["place"], row["broker"]) == ("retry", "broker-b") for row in group.returned)
            group.copy("retry", FAILED, 1)
            group.deliver(
                FAILED, at_ms + 1_010, kind="retry", offset=offset, times=1, properties=returned_properties_of(FAILED)
            )

    return change


def asks_for_dead_letters(place: str = "dead") -> Change:
    def change(group: Group) -> None:
        group.calls_of(FAILED)[0]["delay_level"] = -1
        group.returned = [row for row in group.returned if row["send"] != FAILED]
        group.copy(place, FAILED, 1, offset=90)

    return change


def dies_again(group: Group) -> None:
    """Its copy fails, and the listener asks for the dead letters."""
    group.calls_of(FAILED)[1].update(result="later", delay_level=-1)
    group.copy("dead", FAILED, 2)


def one_more(place: str, times: int) -> Change:
    return lambda group: group.copy(place, FAILED, times, offset=91)


def in_the_other_order(group: Group) -> None:
    """The rows of what brokers hold."""
    group.returned.reverse()


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
        pytest.param([without_copy, without_delivery], {"is_orderly": True}, [], id="in order, without a copy"),
        pytest.param([lasts(FAILED, None)], {}, ["too-many", "too-many"], id="its call has not ended"),
        pytest.param([comes(8_000)], {"pauses": ((7_703, 9),)}, [], id="early beside a fault"),
        pytest.param([copies(delay_level=None)], {}, [], id="an unseen level"),
        pytest.param([copies(delay_level=2)], {}, ["other-level", "property/DELAY"], id="another level"),
        pytest.param([fails_again(9_760)], {}, [], id="it fails again"),
        pytest.param([fails_again(9_650)], {}, ["early"], id="it comes too early again"),
        pytest.param([fails_again(9_760, shown=1)], {}, ["other-times", "other-times"], id="counted as once"),
        pytest.param([fails_again(9_760, counted=1)], {}, ["other-times", "other-times"], id="a copy that counts once"),
        pytest.param([fails_again(9_760), again_from_the_start(9_000)], {}, [], id="it fails anew after a change"),
        pytest.param([again_from_the_start(9_000, copied=False)], {}, ["missing"], id="without a copy of that"),
        pytest.param([comes(8_500), fails_again(9_300)], {}, ["early"], id="the first of two that come early"),
        pytest.param([comes(13_010), lasts(FAILED, 12_000), again_from_the_start(9_000)], {}, [], id="the other owner's call ends first"),
        pytest.param([one_more("dead", 1)], {}, ["dead-too-early"], id="a dead letter besides"),
        pytest.param([one_more("waiting", 1), one_more("dead", 1)], {}, ["too-many"], id="a copy and a dead letter besides"),
        pytest.param([copies(broker="broker-a"), one_more("dead", 1)], {}, ["other-broker"], id="a dead letter, and its copy at the other broker"),
        pytest.param([asks_for_dead_letters(), without_delivery, one_more("dead", 1)], {}, ["too-many"], id="two dead letters"),
        pytest.param([asks_for_dead_letters(), without_delivery], {}, [], id="for the dead letters"),
        pytest.param([dies_again], {}, [], id="for the dead letters the second time"),
        pytest.param([dies_again, one_more("dead", 2)], {}, ["too-many"], id="and two of them"),
        pytest.param([asks_for_dead_letters("retry"), fails_again(9_650)], {}, ["dead-too-late", "early", "missing"], id="not for the dead letters, and too early again"),
        pytest.param([asks_for_dead_letters("retry")], {}, ["dead-too-late", "missing"], id="not for the dead letters"),
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


@pytest.mark.parametrize(
    ("places", "expected"), [([], []), (["waiting", "retry"], ["too-many"]), (["retry"], ["too-many"])]
)
def test_a_copy_that_waits_is_one_with_that_which_came_due(places: list[str], expected: list[str]) -> None:
    """Further ones are too many, also one that waited unseen."""

    def change(group: Group) -> None:
        for place in places:
            (row,) = [each for each in group.returned if (each["send"], each["place"]) == (FAILED, place)]
            group.returned.append(row | {"queue_offset": 90})

    assert [each for each in found(change) if each != "missing"] == expected


def test_a_wrong_count_is_described() -> None:
    """With those that the failures allow."""
    facts = differences(fails_again(9_760, shown=1))
    assert [(fact.expected, fact.observed) for fact in facts if "as its copy" not in fact.expected] == [
        ("1 or 2 failures counted", "1")
    ]


@pytest.mark.parametrize(
    ("change", "expected", "observed"),
    [
        (copies(place="dead", delay_level=None), "a copy with a delay of 1 s (level 1), 1 failure counted, at broker-b", "a dead letter, 1 failure counted, at broker-b"),
        (copies(broker="broker-a"), "a copy with a delay of 1 s (level 1), 1 failure counted, at broker-b", "a copy with a delay of 1 s (level 1), 1 failure counted, at broker-a"),
        (copies(times=2), "a copy with a delay of 1 s (level 1), 1 failure counted, at broker-b", "a copy with a delay of 1 s (level 1), 2 failures counted, at broker-b"),
        (asks_for_dead_letters("retry"), "a dead letter, 1 failure counted, at broker-b", "a copy with a delay of 1 s (level 1), 1 failure counted, at broker-b"),
        (lasts(FAILED, None), "no further copy after 0 calls that failed", "a copy with a delay of 1 s (level 1), 1 failure counted, at broker-b"),
        (without_delivery, "a delivery of the copy of message 77 at offset 5 of queue 0 of broker-b (retry)", "none for 32 s"),
    ],
)  # fmt: skip
def test_a_wrong_copy_is_described(change: Change, expected: str, observed: str) -> None:
    """Beside the one that the failure must have."""
    first, *_ = [each for each in differences(change) if "propert" not in each.signature]
    assert (first.expected, first.observed) == (expected, observed)


@pytest.mark.parametrize(
    ("changes", "attempt", "observed"),
    [
        ([lasts(FAILED, None)], 0, "1 failure counted, at broker-b"),
        ([fails_again(9_760), one_more("waiting", 1)], 0, "1 failure counted, at broker-b"),
        ([fails_again(9_760), one_more("waiting", 2)], 1, "2 failures counted, at broker-b"),
        ([fails_again(9_760), one_more("waiting", 9)], 1, "9 failures counted, at broker-b"),
        ([fails_again(9_760), copies(broker="broker-a"), in_the_other_order], 0, "1 failure counted, at broker-a"),
        ([copies(delay_level=-1)], 0, "a delay of 0 s (level 0), 1 failure counted, at broker-b"),
        ([copies(delay_level=99)], 0, "a delay of 7200 s (level 18), 1 failure counted, at broker-b"),
    ],
)
def test_a_wrong_copy_is_that_of_a_failure(changes: list[Change], attempt: int, observed: str) -> None:
    """With as many failures before; else of the last one."""
    first, *_ = [each for each in differences(*changes) if "propert" not in each.signature]
    assert first.attempt == attempt
    assert first.observed.endswith(observed)


@pytest.mark.parametrize(("failures", "refused", "found_n"), [(59, 2, 0), (59, 3, 3), (60, 3, 0), (60, 4, 4)])
def test_few_of_the_failed_messages_may_be_refused(failures: int, refused: int, found_n: int) -> None:
    """Two, or one in twenty: the client sends these itself, with a level of its own."""

    def change(group: Group) -> None:
        for number in range(failures):
            group.deliver(2 * number, 100 * number, result="later", delay_level=1)
            group.copy("waiting", 2 * number, 1, delay_level=3 if number < refused else 1)

    facts = differences_without_messages("retries", change)
    assert [fact.signature for fact in facts] == ["retries.other-level"] * found_n


@pytest.mark.parametrize(("end_ms", "at_ms"), [(12_500, 12_500), (None, 12_000)])
def test_one_delivery_too_many_is_described(end_ms: float | None, at_ms: float) -> None:
    """With the failures that it counts, at the end of its call, or at its beginning."""

    def change(group: Group) -> None:
        end_ns = None if end_ms is None else ns(end_ms)
        group.deliver(FAILED, 12_000, kind="retry", offset=90, times=2, end_ns=end_ns)

    (fact,) = differences(change)
    assert fact.at_ns == ns(at_ms)
    assert (fact.signature, fact.send, fact.attempt) == ("retries.too-many", FAILED, 2)
    assert (fact.expected, fact.observed) == (
        "no further delivery after 1 calls that failed",
        "one from the retry topic, 2 failures counted",
    )


def test_without_failures_nothing_is_asked() -> None:
    """The check does not apply."""

    def succeeds(group: Group) -> None:
        retried = {row["call"] for row in group.calls if row["kind"] == "retry"}
        group.calls = [row | {"result": "success"} for row in group.calls if row["call"] not in retried]
        group.deliveries = [row for row in group.deliveries if row["call"] not in retried]
        group.returned.clear()

    made = Story(checks=("retries",))
    for group in (made.baseline, made.candidate):
        succeeds(group)

    def found() -> tuple[Standing, str]:
        (evidence,) = [each for each in made.analysis().evidence if each.check == "retries"]
        return evidence.standing, evidence.reason

    assert found() == (Standing.NOT_APPLICABLE, "no call of a listener failed")
    made.candidate = Story().candidate
    assert found() == (Standing.INDECISIVE, "no call of java:5.3.3 failed")
