"""What a listener is shown of a message, beside what its broker holds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.arm import Arm
from tests.analysis.consuming.group_story import LEAVE_MS, Row, Story, ns, properties_of

PLAIN, WITH_CONTENT, FAILED = 50, 51, 70
"""A message to which its sender gave nothing, one with properties, and one that comes back."""

Change = Callable[[Story], None]


def differences(*changes: Change, **story: Any) -> list[DifferenceFact]:
    """Of the candidate; what is stored is the same for both."""
    made = Story(**story)
    for change in changes:
        change(made)
    return [fact for fact in made.differences("delivered") if fact.arm == Arm.CANDIDATE]


def found(*changes: Change, **story: Any) -> list[tuple[str, str]]:
    return [(fact.signature.removeprefix("delivered."), fact.observed) for fact in differences(*changes, **story)]


def shown(send: int, delivery: int = 0, **row: Any) -> Change:
    def change(story: Story) -> None:
        own = [each for each in story.candidate.deliveries if each["send"] == send]
        own[delivery].update(row)

    return change


def held(of: int, /, **row: Any) -> Change:
    return lambda story: next(each for each in story.held if each["send"] == of).update(row)


def without(send: int) -> Change:
    def change(story: Story) -> None:
        story.held = [row for row in story.held if row["send"] != send]

    return change


OTHER = "other-properties"


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([], {}, [], id="as stored"),
        pytest.param([shown(PLAIN, body_ok=False)], {}, [("damaged", "another one")], id="another body"),
        pytest.param([shown(PLAIN, body_ok=False), held(PLAIN, body_ok=False)], {}, [], id="stored with another body"),
        pytest.param([shown(FAILED, 1, body_ok=False)], {}, [("damaged", "another one")], id="another body when it comes back"),
        pytest.param([shown(FAILED, 1, body_ok=False), held(FAILED, body_ok=False)], {}, [], id="stored with it, and back"),
        pytest.param([without(FAILED), shown(FAILED, 1, body_ok=False)], {}, [("other-message", "message 70")], id="back, but not stored"),
        pytest.param([shown(PLAIN, shown_topic="retry")], {}, [("other-topic", "a topic of kind retry")], id="another topic"),
        pytest.param([shown(FAILED, 1, shown_topic="retry")], {}, [("other-topic", "a topic of kind retry")], id="another one when it comes back"),
        pytest.param([held(PLAIN, send=None) ], {}, [("other-message", "message 50")], id="one of others"),
        pytest.param([without(198)], {}, [("other-message", "message 198")], id="nothing is stored there"),
        pytest.param([shown(PLAIN, unique_key="x")], {}, [(OTHER, "UNIQ_KEY is x")], id="another key"),
        pytest.param([shown(PLAIN, unique_key=None)], {}, [(OTHER, "no UNIQ_KEY")], id="no key"),
        pytest.param([shown(PLAIN, unique_key="x")], {"claims": ("allocations", "owned", "offsets")}, [], id="not reported"),
        pytest.param([held(PLAIN, properties=None), shown(PLAIN, unique_key="x")], {}, [], id="stored ones were not read"),
        pytest.param([held(WITH_CONTENT, properties=None)], {}, [], id="stored ones were not read, and are shown"),
        pytest.param([held(PLAIN, properties='{"WAIT": "true"}'), shown(PLAIN, unique_key=None)], {}, [], id="stored without a key"),
        pytest.param([held(PLAIN, properties=properties_of(PLAIN, X="1"))], {}, [(OTHER, "no X")], id="one is not shown"),
        pytest.param([held(PLAIN, properties=properties_of(PLAIN, CLUSTER="c", MSG_REGION="r", TRACE_ON="t", DELAY="3"))], {}, [], id="brokers' own"),
        pytest.param([held(WITH_CONTENT, properties=properties_of(WITH_CONTENT, CLUSTER="c", MSG_REGION="r", TRACE_ON="t"))], {}, [], id="brokers' own, beside content"),
        pytest.param([shown(WITH_CONTENT, properties=properties_of(WITH_CONTENT, TAGS="x"))], {}, [(OTHER, "TAGS is x")], id="another tag"),
        pytest.param([shown(WITH_CONTENT, properties='{"UNIQ_KEY": "51"}')], {}, [(OTHER, "no KEYS")], id="the first by name"),
        pytest.param([shown(WITH_CONTENT, properties=properties_of(WITH_CONTENT, WAIT="x", DELAY="9"))], {}, [], id="changed on the way"),
        pytest.param([shown(WITH_CONTENT, properties=None)], {}, [(OTHER, "no KEYS")], id="content is not shown"),
    ],
)  # fmt: skip
def test_a_message_is_shown(changes: list[Change], story: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    """With the body, topic and properties that are stored, each time."""
    assert found(*changes, **story) == expected


def test_a_difference_is_described() -> None:
    """With the delivery at which it was seen, and where the message is stored."""
    (fact,) = differences(shown(FAILED, 1, shown_topic="retry"))
    assert (fact.send, fact.attempt, fact.expected) == (
        FAILED,
        1,
        "at delivery 2 of message 70: the topic it was sent to",
    )
    (fact,) = differences(shown(PLAIN, body_ok=False))
    assert (fact.at_ns, fact.expected) == (ns(5_002), "the body that is stored at offset 25 of queue 0 of broker-a")
    (fact,) = differences(held(PLAIN, send=None))
    assert fact.expected == "at offset 25 of queue 0 of broker-a message None"
    (fact,) = differences(without(198))
    assert fact.expected == "at offset 99 of queue 0 of broker-a nothing"


def test_two_deliveries_at_once_share_a_report() -> None:
    """Either may be the first, which has the properties."""

    def again(story: Story) -> None:
        (row,) = [each for each in story.candidate.deliveries if each["send"] == WITH_CONTENT]
        story.candidate.deliver(WITH_CONTENT, 5_103, unique_key="51")
        later: Row = story.candidate.deliveries[-1]
        later["properties"], row["properties"] = row["properties"], None

    assert found(again) == []


ODD = range(1, 200, 2)
"""Messages of broker-b."""


def drop(*sends: int) -> Change:
    def change(story: Story) -> None:
        for send in sends:
            story.candidate.drop(send)

    return change


def taken_again(story: Story) -> None:
    """The member gives broker-b's queue up, and goes on with it at offset 50."""
    story.candidate.own(10_050, "a", "A", "B")
    story.candidate.offset("query", 15_099, "broker-b", 50)
    story.candidate.own(15_100, "a", "b", "A", "B")


def without_commits(story: Story) -> None:
    """Of broker-b's queue."""
    group = story.candidate
    group.committed = [row for row in group.committed if row["broker"] == "broker-a"]
    group.offsets = [row for row in group.offsets if row["what"] != "commit"]


def later(send: int, at_ms: float) -> Change:
    return lambda story: story.candidate.calls_of(send)[0].update(start_ns=ns(at_ms), end_ns=ns(at_ms + 1))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param([lambda story: story.candidate.drop(50)], [("never", 50)], id="a later one was delivered"),
        pytest.param([lambda story: story.candidate.drop(198)], [("not-yet", 198)], id="none was delivered later"),
        pytest.param([lambda story: story.candidate.drop(50), held(50, send=None)], [], id="of others"),
        pytest.param([drop(61), taken_again], [("never", 61)], id="its queue was taken again above it"),
        pytest.param([drop(*ODD)], [("not-yet", send) for send in ODD], id="none of its queue was delivered"),
        pytest.param([drop(*ODD[:-1])], [("never", send) for send in ODD[:-1]], id="the last one alone was"),
        pytest.param(
            [drop(*ODD[:-1]), without_commits, later(199, LEAVE_MS - 5_000)], [("never", send) for send in ODD[:-1]], id="five seconds before the leave"
        ),
        pytest.param([drop(*ODD[:-1]), without_commits, later(199, LEAVE_MS - 4_999)], [], id="soon before the leave"),
    ],
)  # fmt: skip
def test_a_message_is_missing(changes: list[Change], expected: list[tuple[str, int]]) -> None:
    """At the end of what was watched."""
    facts = differences(*changes)
    assert [(fact.signature.removeprefix("delivered."), fact.send) for fact in facts] == expected
    assert all(fact.at_ns == ns(32_500) for fact in facts)


def test_a_missing_message_is_described() -> None:
    """With what was delivered after it, or for how long it waited."""
    (never,) = differences(lambda story: story.candidate.drop(50))
    assert never.expected == "a delivery of message 50, stored at offset 25 of queue 0 of broker-a"
    assert never.observed == "none, though offset 26 was delivered by a member that began below it"
    (late,) = differences(lambda story: story.candidate.drop(198))
    assert late.observed == "none for 12 s, and no fault and no change of members explains it"


def test_messages_that_a_broker_may_still_hold_back_are_open() -> None:
    """It resumes three seconds before the leave: twelve of its messages, one in twenty of all and two more."""
    made = Story(checks=("delivered",), pauses=((17_000, 12_000),))
    drop(*range(177, 200, 2))(made)
    (found,) = [each for each in made.analysis().evidence if each.check == "delivered"]
    assert (found.standing, found.reason) == (Standing.INDECISIVE, "the rules leave 12 of 200 open for acme:1")


def test_without_a_summary_of_its_arm_nothing_is_claimed() -> None:
    """The case did not complete."""
    made = Story()
    shown(PLAIN, unique_key="x")(made)
    trace = made.trace()
    facts = (
        each.fact for each in judge_case(replace(trace, entry=replace(trace.entry, arms={})), wanted={"delivered"})
    )
    assert [fact for fact in facts if isinstance(fact, DifferenceFact)] == []


def test_a_message_with_a_tag_of_others_is_not_subscribed() -> None:
    """Each that is delivered is a difference; every third message has the group's tag."""
    facts = differences(tags=("paid",))
    assert [fact.send for fact in facts] == [send for send in range(200) if send % 3]
    assert {(fact.signature, fact.attempt) for fact in facts} == {("delivered.not-subscribed", 0)}
    assert (facts[0].expected, facts[0].observed) == ("no message with a tag of others", "message 1")
    assert facts[0].at_ns == ns(102)
