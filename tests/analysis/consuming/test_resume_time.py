"""Until when after a fault of a broker the work on its queues goes on in time."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.facts import DifferenceFact, OutageValue
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.traces.schema import TableName
from tests.analysis.consuming.group_story import LEAVE_MS, Group, Row, Story, fault_row, ns, shown_of


def values_ms(story: Story) -> list[float]:
    facts = (each.fact for each in judge_case(story.trace(), wanted={"resume-time"}))
    return [fact.value_ns / 1e6 for fact in facts if isinstance(fact, OutageValue)]


def paused(stall_ms: int = 0) -> Story:
    """Broker-b resumes at 7,500 ms, and stores a message every 200 ms from then on."""
    return Story(pauses=((6_000, 1_500),), stall_ms=stall_ms)


def with_one_message_more() -> Story:
    """After its resume the broker stores one message."""
    story = paused()
    late = [row["send"] for row in story.held if row["send"] % 2 and row["send"] > 76]
    story.held = [row for row in story.held if row["send"] not in late]
    for group in (story.baseline, story.candidate):
        for send in late:
            group.drop(send)
    return story


def with_another_member() -> Story:
    """A member joins one group while the broker is paused; it may get the queue after both have asked every broker."""
    story = paused()
    joined = {"member": 1, "join_start_ns": ns(6_200), "join_end_ns": ns(6_300)}
    story.baseline.members.append(story.baseline.members[0] | joined)
    return story


def killed() -> Story:
    """A member of 5.3.3 heartbeats within 1 s when it connects anew, pulls 1 s after a failure, and waits for one look."""
    return Story(pauses=((2_000, 500),), faults=[fault_row("broker-b", 6_000, 1_500, is_kill=True, episode=1)])


ROWS = {
    "the second message of a queue is noticed": (paused(), 200 + 500),
    "the broker and the client wait for a core": (paused(stall_ms=600), 200 + 2 * 600),
    "a message alone waits for the broker's look": (with_one_message_more(), 5_000 + 500),
    "a member asks for a paused broker's queues": (
        with_another_member(),
        3_000 + 2 * 5_000 + 20_000 + 1_500 + 1_500 + 5_000 + 500,
    ),
}


@pytest.mark.parametrize(("story", "value_ms"), ROWS.values(), ids=ROWS.keys())
def test_a_delivery_in_time_has_the_value_of_the_limit(story: Story, value_ms: float) -> None:
    """Both groups get messages at once, and both have the time that rules and machine may take."""
    assert values_ms(story) == [value_ms, value_ms]


def test_a_killed_broker_has_its_own_window() -> None:
    """After a kill a member connects anew."""
    assert values_ms(killed())[2:] == [1_000 + 1_000 + 5_000 + 500] * 2


def paused_for(for_ms: int, change: Callable[[Row], Row | None] = lambda row: row) -> Story:
    """Broker-b resumes so long after 6,000 ms; rows of what it holds are changed, or left out."""
    story = Story(pauses=((6_000, for_ms),))
    story.held = [changed for row in story.held if (changed := change(row)) is not None]
    for row in (*story.baseline.owned, *story.candidate.owned):
        row["queues"] += [{"kind": "fed", "broker": "broker-b", "queue_id": 1}] if row["queues"] else []
    return story


def only(*sends: int) -> Callable[[Row], Row | None]:
    """Of what broker-b holds."""
    return lambda row: row if row["send"] in sends or row["send"] % 2 == 0 else None


def at_queue_1(since: int) -> Callable[[Row], Row | None]:
    return lambda row: row | {"queue_id": int(row["send"] >= since)}


@pytest.mark.parametrize(
    ("story", "noticed_ms"),
    [
        pytest.param(paused_for(1_500), 200, id="two messages, the first at once"),
        pytest.param(paused_for(1_501), 399, id="the first was stored before"),
        pytest.param(paused_for(1_499), 201, id="the first after a millisecond"),
        pytest.param(paused_for(1_400, only(77)), 5_300, id="one message"),
        pytest.param(paused_for(1_400, only(77, 177)), 5_300, id="one long after the other"),
        pytest.param(paused_for(1_400, only(75)), 5_100, id="one soon"),
        pytest.param(paused_for(1_400, only(73)), 5_000, id="none"),
        pytest.param(paused_for(1_500, at_queue_1(79)), 200, id="the first of two queues"),
        pytest.param(paused_for(1_500, at_queue_1(77)), 400, id="the second of two queues"),
        pytest.param(paused_for(1_500, lambda row: row | {"send": None} if row["send"] == 77 else row), 400, id="one of others"),
        pytest.param(paused_for(1_500, lambda _: None), 5_000, id="nothing is held"),
    ],
)  # fmt: skip
def test_a_message_is_noticed(story: Story, noticed_ms: float) -> None:
    """With the next one of its queue, or by the broker's look; in that of its queues that is first."""
    assert values_ms(story) == [noticed_ms + 500] * 2


@pytest.mark.parametrize("lacking", ["clock", "held"])
def test_without_a_clock_the_look_is_awaited(lacking: str) -> None:
    """When messages were stored is not known, nor without their rows."""
    trace = paused().trace()
    trace.entry.measured.clear()
    if lacking == "clock":
        trace = replace(trace, entry=replace(trace.entry, clock=None))
    else:
        trace = replace(
            trace, tables={key: table for key, table in trace.tables.items() if key[0] is not TableName.HELD}
        )
    facts = (each.fact for each in judge_case(trace, wanted={"resume-time"}))
    assert [each.value_ns / 1e6 for each in facts if isinstance(each, OutageValue)] == [5_500, 5_500]


def begins(since_ms: float, until_ms: float) -> Story:
    """The candidate delivers what broker-b holds from an instant on at another one."""
    story = paused()
    for call in story.candidate.calls:
        if call["broker"] == "broker-b" and call["start_ns"] >= ns(since_ms):
            call["start_ns"], call["end_ns"] = ns(until_ms), ns(until_ms) + 1
    return story


def found(story: Story) -> list[tuple[Any, ...]]:
    facts = (each.fact for each in judge_case(story.trace(), wanted={"resume-time"}))
    values = [each for each in facts if isinstance(each, OutageValue) and each.arm == "candidate"]
    return [(each.sample, each.episode, each.value_ns / 1e6, each.n, each.ended) for each in values]


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        pytest.param(begins(7_000, 8_200), [("first", 0, 700, 65, "failover")], id="at the limit"),
        pytest.param(begins(7_000, 8_201), [("first", 0, 701, 65, "failover")], id="later"),
        pytest.param(begins(7_000, 7_499.999), [("first", 0, 25_000, 0, "open")], id="nothing since the heal"),
        pytest.param(begins(7_000, 7_500), [("first", 0, 700, 65, "failover")], id="at the heal"),
        pytest.param(Story(faults=[fault_row("broker-b", 6_000, 1) | {"heal_ns": None}]), [], id="not healed"),
        pytest.param(
            Story(faults=[fault_row("name-server-1", 6_000, 9, kind=FaultKind.PAUSE_NAME_SERVER)]), [], id="no broker"
        ),
        pytest.param(
            Story(
                faults=[
                    fault_row("name-server-1", 5_000, 9, kind=FaultKind.PAUSE_NAME_SERVER),
                    fault_row("broker-b", 6_000, 1_500, episode=3),
                ]
            ),
            [("first", 3, 700, 63, "failover")],
            id="a broker after another node",
        ),
    ],
)
def test_the_work_on_a_brokers_queues_goes_on(story: Story, expected: list[tuple[Any, ...]]) -> None:
    """From the heal to the first delivery, and how many there are; what is in time has the value of the limit."""
    assert found(story) == expected


@pytest.mark.parametrize(("took_ms", "is_beyond"), [(1_050, False), (1_051, True)])
def test_half_more_than_the_limit_counts_as_equal(took_ms: int, is_beyond: bool) -> None:
    """After each of two pauses the baseline goes on in time, for which it has 700 ms."""
    faults = [fault_row("broker-b", at_ms, 1_500, episode=at_ms) for at_ms in (3_000, 9_000)]
    story = Story(faults=faults, checks=("resume-time",))
    for call in story.candidate.calls:
        for heal_ns in (ns(4_500), ns(10_500)):
            if call["broker"] == "broker-b" and heal_ns <= call["start_ns"] < heal_ns + took_ms * 1_000_000:
                call["start_ns"], call["end_ns"] = heal_ns + took_ms * 1_000_000, heal_ns + took_ms * 1_000_000 + 1
    samples = [sample for each in story.analysis().evidence for sample in each.samples]
    assert [(each.name, each.points_beyond()) for each in samples] == [("first", is_beyond)]


def resumes(story: Story, at_ms: float | None, arm: str = "candidate") -> Story:
    """A group gets nothing of broker-b from its resume on, until an instant; None for never."""
    group: Group = getattr(story, arm)
    late = [row["send"] for row in story.held if row["send"] % 2 and row["send"] * 100 > 7_400]
    for number, send in enumerate(late):
        group.drop(send)
        if at_ms is not None:
            group.deliver(send, max(at_ms + 2 * number, send * 100 + 5), **shown_of(send))
    return story


@pytest.mark.parametrize(
    ("story", "is_found"),
    [
        pytest.param(resumes(paused(), 13_200), False, id="as late as rules and machine allow"),
        pytest.param(resumes(paused(), 13_201), True, id="later"),
        pytest.param(resumes(paused(stall_ms=600), 13_900), False, id="on a machine that stalls"),
        pytest.param(resumes(paused(stall_ms=600), 13_901), True, id="later than it stalls"),
        pytest.param(resumes(paused(), None), True, id="never"),
        pytest.param(resumes(paused(), 14_000, "baseline"), False, id="the baseline later"),
        pytest.param(resumes(resumes(paused(), 14_000, "baseline"), 14_000), False, id="both later"),
        pytest.param(resumes(killed(), 14_000), False, id="after a restart"),
        pytest.param(resumes(resumes(paused(), None, "baseline"), None), False, id="both never"),
        pytest.param(resumes(resumes(paused(), 13_200, "baseline"), 14_000), True, id="the baseline just in time"),
        pytest.param(resumes(resumes(paused(), 13_201, "baseline"), 14_000), False, id="the baseline a bit later, too"),
        pytest.param(Story(faults=[fault_row("broker-b", 6_000, 1) | {"heal_ns": None}]), False, id="not healed"),
    ],
)
def test_a_resumption_seconds_after_the_longest_by_the_rules_is_a_difference(story: Story, is_found: bool) -> None:
    """By itself, with the baseline's in time, however few pauses there are."""
    facts = (each.fact for each in judge_case(story.trace(), wanted={"consumption"}))
    found = {fact.signature for fact in facts if isinstance(fact, DifferenceFact)}
    assert ("consumption.resumes-later" in found) is is_found


@pytest.mark.parametrize(
    ("at_ms", "observed", "found_ms"),
    [(14_000, "the first after 6.5 s", 14_000), (None, "none after 25.0 s", LEAVE_MS + 500)],
)
def test_a_late_resumption_is_described(at_ms: float | None, observed: str, found_ms: int) -> None:
    """Beside the other group's."""
    (fact,) = (
        each
        for each in resumes(paused(), at_ms).differences("consumption")
        if each.signature == "consumption.resumes-later"
    )
    assert fact.expected == "a message of broker-b 0.0 s after its pause, as in the other group"
    assert (fact.observed, fact.at_ns) == (observed, ns(found_ms))
