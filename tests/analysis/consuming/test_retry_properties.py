"""The properties of copies of failed messages, and what listeners see of them."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.sends.message import properties_text
from tests.analysis.consuming.group_story import LEAVE_MS, Group, Story, differences_of, ns

FAILED, WITH_CONTENT = 77, 84

Change = Callable[[Group], None]


def differences(*changes: Change, **story: Any) -> list[DifferenceFact]:
    return differences_of("retries", *changes, **story)


def found(*changes: Change, **story: Any) -> list[str]:
    return [
        fact.signature.removeprefix("retries.").removeprefix("property/") for fact in differences(*changes, **story)
    ]


def changed(text: str, values: dict[str, str | None]) -> str:
    kept = {name: value for name, value in json.loads(text).items() if name not in values}
    return properties_text(kept | {name: value for name, value in values.items() if value is not None})


def copies(
    send: int = FAILED, place: str = "waiting", row: dict[str, Any] | None = None, **values: str | None
) -> Change:
    """Change properties of a copy, and columns of its row."""

    def change(group: Group) -> None:
        for each in group.returned:
            if (each["send"], each["place"]) == (send, place):
                each.update({"properties": changed(each["properties"], values)} | (row or {}))

    return change


def shows(row: dict[str, Any] | None = None, **values: str | None) -> Change:
    """Change what the listener sees of the copy."""

    def change(group: Group) -> None:
        (each,) = [
            one
            for one in group.deliveries
            if one["send"] == FAILED and one["call"] != group.calls_of(FAILED)[0]["call"]
        ]
        each |= {"properties": changed(each["properties"], values)} | (row or {})

    return change


def fails(group: Group) -> None:
    """The copy fails, too."""
    group.calls_of(FAILED)[1].update(result="later", delay_level=1)


CLIENTS_OWN = {"born_host": "client"}
COUNTED: dict[str, Any] = {"RECONSUME_TIME": "1", "MAX_RECONSUME_TIMES": "16"}


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([copies()], {}, [], id="as the rules have it"),
        pytest.param([copies(RETRY_TOPIC=None)], {}, ["RETRY_TOPIC"], id="without its topic"),
        pytest.param([copies(RETRY_TOPIC="other")], {}, ["RETRY_TOPIC"], id="another topic"),
        pytest.param([copies(ORIGIN_MESSAGE_ID=None)], {}, ["ORIGIN_MESSAGE_ID"], id="without its first id"),
        pytest.param([copies(ORIGIN_MESSAGE_ID="other")], {}, ["ORIGIN_MESSAGE_ID"], id="another first id"),
        pytest.param([copies(UNIQ_KEY="78")], {}, ["UNIQ_KEY"], id="another key"),
        pytest.param([copies(WITH_CONTENT, colour=None)], {}, ["colour"], id="without what its sender gave it"),
        pytest.param([copies(UNIQ_KEY=None, DELAY="2")], {}, ["DELAY"], id="the first of two by name"),
        pytest.param([copies(X="1")], {}, ["X"], id="one more"),
        pytest.param([copies(X="1", row={"properties": None})], {}, [], id="not read"),
        pytest.param([copies(WAIT=None)], {}, [], id="without what brokers set"),
        pytest.param([copies(WAIT="?", CLUSTER="c", MSG_REGION="r", TRACE_ON="t", REAL_TOPIC="t", REAL_QID="0")], {}, [], id="brokers' own"),
        pytest.param([copies(DLQ_ORIGIN_TOPIC="t", DLQ_ORIGIN_MESSAGE_ID="i")], {}, [], id="of the dead letters"),
        pytest.param([copies(MIN_OFFSET="0", MAX_OFFSET="9", CONSUME_START_TIME="1")], {}, [], id="of a delivery"),
        pytest.param([copies(DELAY="2")], {}, ["DELAY"], id="another level"),
        pytest.param([copies(DELAY=None, row={"delay_level": None})], {}, [], id="an unseen level"),
        pytest.param([copies(place="retry", DELAY=None)], {}, ["DELAY"], id="the listener sees another level than its copy"),
        pytest.param([copies(row=CLIENTS_OWN)], {}, [], id="the client's own"),
        pytest.param([copies(row=CLIENTS_OWN, ORIGIN_MESSAGE_ID=None)], {}, [], id="its own without the first id"),
        pytest.param([copies(row=CLIENTS_OWN, ORIGIN_MESSAGE_ID="other")], {}, [], id="its own with another"),
        pytest.param([copies(row=CLIENTS_OWN, **COUNTED)], {}, [], id="its own with counts"),
        pytest.param([copies(row=CLIENTS_OWN, **(COUNTED | {"RECONSUME_TIME": "2"}))], {}, ["RECONSUME_TIME"], id="one failure more"),
        pytest.param([copies(row=CLIENTS_OWN, **(COUNTED | {"RECONSUME_TIME": "0"}))], {}, ["RECONSUME_TIME"], id="one less"),
        pytest.param([copies(row=CLIENTS_OWN, **(COUNTED | {"MAX_RECONSUME_TIMES": "15"}))], {}, ["MAX_RECONSUME_TIMES"], id="another limit"),
        pytest.param([copies(row=CLIENTS_OWN, **COUNTED)], {"settings": {"max_reconsume_times": 3}}, ["MAX_RECONSUME_TIMES"], id="not as set"),
        pytest.param([copies(row=CLIENTS_OWN | {"times": 2}, **COUNTED)], {}, ["too-many"], id="its own, which a broker has taken back"),
        pytest.param([copies(row=CLIENTS_OWN, RECONSUME_TIME="1")], {}, ["MAX_RECONSUME_TIMES"], id="a count without a limit"),
        pytest.param([copies(row=CLIENTS_OWN, MAX_RECONSUME_TIMES="16")], {}, ["RECONSUME_TIME"], id="a limit without a count"),
        pytest.param([copies(**COUNTED)], {}, ["MAX_RECONSUME_TIMES"], id="counts of a broker's"),
        pytest.param([shows()], {}, [], id="shown"),
        pytest.param([shows(ORIGIN_MESSAGE_ID="id-78")], {}, ["ORIGIN_MESSAGE_ID"], id="shown with another id"),
        pytest.param([shows(UNIQ_KEY=None)], {}, ["UNIQ_KEY"], id="shown without one"),
        pytest.param([shows(X="1")], {}, ["X"], id="shown with one more"),
        pytest.param([shows(X="1", Y="2")], {}, ["X"], id="shown with two more"),
        pytest.param([copies(place="retry", MIN_OFFSET="0")], {}, [], id="stored with one of a delivery"),
        pytest.param([shows(row={"properties": None})], {}, [], id="not reported"),
        pytest.param([shows(row={"times": 3})], {}, ["other-times", "other-times"], id="shown with more failures"),
        pytest.param([shows(row={"times": 0})], {}, ["other-times", "other-times"], id="shown with fewer"),
        pytest.param([shows(row={"times": 2}), fails], {}, ["missing", "other-times", "other-times"], id="its own failure explains no count"),
        pytest.param([copies(X="1"), shows(row={"send": 78})], {"is_orderly": True}, [], id="in order"),
    ],
)  # fmt: skip
def test_properties_of_a_copy(changes: list[Change], story: dict[str, Any], expected: list[str]) -> None:
    """The first that is wrong of each copy, and of each delivery of one."""
    assert found(*changes, **story) == expected


def test_a_wrong_property_is_described() -> None:
    """At the call that failed, with the copy that has it."""
    (fact,) = differences(copies(X="1"))
    assert (fact.send, fact.attempt, fact.at_ns) == (FAILED, 0, ns(7_703))
    assert fact.expected == "X of the waiting copy of message 77 with 1 failures: none"
    assert fact.observed == "1"
    (fact,) = differences(copies(UNIQ_KEY=None))
    assert (fact.expected.rpartition(": ")[2], fact.observed) == ("77", "none")


def test_a_copy_of_a_call_without_an_end_is_described_at_its_beginning() -> None:
    """The call may have failed."""
    facts = differences(copies(X="1"), lambda group: group.calls_of(FAILED)[0].update(end_ns=None))
    assert [fact.at_ns for fact in facts if fact.signature == "retries.property/X"] == [ns(7_702)]


def test_a_copy_without_its_call_is_described_at_the_end() -> None:
    """Its call was not seen."""

    def change(group: Group) -> None:
        copies(X="1")(group)
        group.drop(FAILED)

    (fact,) = [each for each in differences(change) if each.signature == "retries.property/X"]
    assert (fact.attempt, fact.at_ns) == (None, ns(LEAVE_MS + 500))


@pytest.mark.parametrize(
    ("result", "times", "expected"), [("throw", 2, []), ("success", 2, ["other-times"]), ("throw", 0, ["other-times"])]
)
def test_a_copy_that_its_member_keeps_counts_on(result: str, times: int, expected: list[str]) -> None:
    """If it had failed before, each further delivery of the same offset has one more."""

    def change(group: Group) -> None:
        (_, again) = group.calls_of(FAILED)
        again["result"] = result
        (row,) = [each for each in group.deliveries if each["call"] == again["call"]]
        group.deliver(
            FAILED, 14_000, kind="retry", offset=row["queue_offset"], times=times, properties=row["properties"]
        )

    assert sorted({each for each in found(change) if each == "other-times"}) == expected


def found_in_both(*changes: Change) -> list[DifferenceFact]:
    """Of the candidate; both groups are changed."""
    story = Story()
    for group in (story.baseline, story.candidate):
        for change in changes:
            change(group)
    return [fact for fact in story.differences("retries") if fact.arm == "candidate"]


def test_the_first_id_is_that_of_brokers_copies() -> None:
    """A client's own copies name none that counts."""
    assert found_in_both(copies(row=CLIENTS_OWN, ORIGIN_MESSAGE_ID="x")) == []


def test_the_first_id_is_that_of_most_copies() -> None:
    """Here of three of four: the first one has another."""
    story = Story()
    copies(ORIGIN_MESSAGE_ID="other")(story.baseline)
    assert [(fact.arm, fact.signature) for fact in story.differences("retries")] == [
        ("baseline", "retries.property/ORIGIN_MESSAGE_ID")
    ]


def test_a_first_id_that_no_copy_has_is_missed() -> None:
    """In each copy of a broker."""
    facts = found_in_both(
        *(copies(place=place, ORIGIN_MESSAGE_ID=None) for place in ("waiting", "retry")), shows(ORIGIN_MESSAGE_ID=None)
    )
    assert [fact.signature for fact in facts] == ["retries.property/ORIGIN_MESSAGE_ID"] * 2
    assert all(fact.expected.endswith(": the id of the message when it was stored first") for fact in facts)


def test_a_copy_of_a_message_that_was_not_read_is_not_compared() -> None:
    """Its broker holds it without properties, or not at all."""
    for kept in ({"properties": None}, {"send": None}):
        story = Story()
        story.held = [row | (kept if row["send"] == FAILED else {}) for row in story.held]
        copies(X="1")(story.candidate)
        assert [fact for fact in story.differences("retries") if fact.signature != "retries.missing"] == []


def test_a_copy_of_another_message_is_not_compared_with_what_is_shown() -> None:
    """Which is found elsewhere."""

    def change(group: Group) -> None:
        shows(X="1", row={"send": WITH_CONTENT})(group)

    assert "X" not in found(change)


@pytest.mark.parametrize(
    ("origin", "expected"),
    [("other", []), (None, ["retries.property/ORIGIN_MESSAGE_ID"])],
)
def test_since_5_4_0_a_clients_own_copy_keeps_the_first_id(origin: str | None, expected: list[str]) -> None:
    """Whichever it is."""
    story = Story()
    copies(row=CLIENTS_OWN, ORIGIN_MESSAGE_ID=origin)(story.candidate)
    facts = (each.fact for each in judge_case(replace(story.trace(), rules_given="5.4.0"), wanted={"retries"}))
    assert [fact.signature for fact in facts if isinstance(fact, DifferenceFact)] == expected
