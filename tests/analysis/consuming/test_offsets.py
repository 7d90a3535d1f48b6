"""What a group may have committed, must have committed, and who commits it, at each limit."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.tables.fault import FaultKind, Frames, RequestKind, WireHit
from tests.analysis.consuming.group_story import (
    BROKERS,
    LEAVE_MS,
    Group,
    Story,
    differences_of,
    differences_without_messages,
    fault_row,
    ns,
)

A, B = BROKERS
ANOTHER, UNFINISHED = "offsets.committed-by-another", "offsets.unfinished-committed"
NOT_COMMITTED, BACK, END = "offsets.not-committed", "offsets.went-back", "offsets.not-at-the-end"

Change = Callable[[Group], None]

HAND_BACKS_COME_LATE: dict[str, Any] = {
    "faults": [fault_row(A, 12_000, 500, kind=FaultKind.WIRE_DELAY)],
    "hits": {"0": WireHit(RequestKind.SEND_BACK, Frames.REQUESTS, 500)},
}


def differences(change: Change, **story: Any) -> list[DifferenceFact]:
    return differences_of("offsets", change, **story)


def signatures(change: Change, **story: Any) -> list[str]:
    return [fact.signature for fact in differences(change, **story)]


def event(what: str, at_ms: float, value: int, broker: str = A, **other: Any) -> Change:
    return lambda group: group.offset(what, at_ms, broker, value, **other)


def answer(at_ms: float, value: int | None, broker: str = A) -> Change:
    """In the place of that one of the faithful group, which comes every five seconds."""

    def change(group: Group) -> None:
        group.committed = [row for row in group.committed if row["answered_ns"] != ns(at_ms) or row["broker"] != broker]
        group.answer(at_ms, broker, value)

    return change


def given_up(*events: tuple[str, float, int], life: dict[str, Any] | None = None) -> Change:
    """The member gives broker-b's queue up at 10,050 ms; events: of its offset."""

    def change(group: Group) -> None:
        for send in range(101, 200, 2):
            group.drop(send)
        group.own(10_050, "a", "A", "B")
        group.offsets = [row for row in group.offsets if row["broker"] == A or row["what"] == "query"]
        for row in group.committed:
            if row["broker"] == B:
                row["value"] = min(row["value"], 50)
        for what, at_ms, value in events:
            group.offset(what, at_ms, B, value)
        group.members[0] |= life or {}

    return change


def both(*changes: Change) -> Change:
    def change(group: Group) -> None:
        for each in changes:
            each(group)

    return change


@pytest.mark.parametrize(
    ("change", "story", "expected"),
    [
        pytest.param(given_up(("commit", 11_550, 50)), {}, [], id="soon after giving it up"),
        pytest.param(given_up(("commit", 11_551, 50)), {}, [ANOTHER], id="too late after that"),
        pytest.param(given_up(("commit", 11_950, 50)), {"stall_ms": 200}, [], id="on a machine that stalls"),
        pytest.param(given_up(("commit", 11_951, 50)), {"stall_ms": 200}, [ANOTHER], id="too late on it"),
        pytest.param(given_up(("commit", 15_050, 50)), {"pauses": ((15_050, 500),)}, [], id="beside a fault"),
        pytest.param(given_up(("commit", 15_051, 50)), {"pauses": ((15_050, 500),)}, [ANOTHER], id="too late beside it"),
        pytest.param(given_up(("commit", 15_050, 50)), {"pauses": ((15_051, 500),)}, [ANOTHER], id="before a fault"),
        pytest.param(given_up(("commit", 15_050, 50)), {"pauses": ((7_000, 2_049),)}, [], id="just after a fault"),
        pytest.param(given_up(("commit", 15_050, 50)), {"pauses": ((7_000, 2_048),)}, [ANOTHER], id="after a fault"),
        pytest.param(
            given_up(("commit", 11_551, 50), life={"leave_start_ns": None, "leave_end_ns": None}), {}, [ANOTHER], id="of a member that stays"
        ),
        pytest.param(event("commit", -2_600, 0), {}, [ANOTHER], id="before it has taken it"),
        pytest.param(event("commit", -2_540, 0), {}, [], id="just before a look has seen it"),
        pytest.param(event("commit", -2_541.001, 0), {}, [ANOTHER], id="before that"),
        pytest.param(event("commit", 9_000, 40, member=1), {}, [ANOTHER], id="of a member without a queue"),
        pytest.param(event("commit", LEAVE_MS + 5_010, 100), {}, [], id="after a leave"),
        pytest.param(event("commit", LEAVE_MS + 5_011, 100), {}, [ANOTHER], id="too late after a leave"),
    ],
)  # fmt: skip
def test_a_member_commits_its_own_queues(change: Change, story: dict[str, Any], expected: list[str]) -> None:
    """While it works on them, and a little longer."""
    assert signatures(change, **story) == expected


def taken_again(group: Group) -> None:
    """The member gives broker-b's queue up, takes it again at once, and goes on one offset before."""
    group.own(10_050, "a", "A", "B")
    group.offset("query", 10_199, B, 49)
    group.own(10_200, "a", "b", "A", "B")
    group.deliver(99, 10_300)
    group.deliver(101, 10_301)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(event("commit", 4_000, 20), [], id="what is finished"),
        pytest.param(event("commit", 4_000, 21), [UNFINISHED], id="what is not"),
        pytest.param(event("commit", 4_003, 21), [], id="as it is finished"),
        pytest.param(event("commit", -2_540, 5), [UNFINISHED], id="before a look has seen the queue"),
        pytest.param(both(taken_again, event("commit", 10_100, 50, B)), [], id="what it remembers of its work before"),
        pytest.param(both(taken_again, event("commit", 10_100, 51, B)), [UNFINISHED], id="more than that"),
        pytest.param(event("update", 4_000, 20), [], id="it remembers what is finished"),
        pytest.param(event("update", 4_000, 21), [UNFINISHED], id="it remembers what is not"),
        pytest.param(answer(5_000, 25), [], id="a broker knows what is finished"),
        pytest.param(answer(5_000, 26), [UNFINISHED], id="a broker knows what is not"),
    ],
)
def test_only_what_is_finished_is_committed(change: Change, expected: list[str]) -> None:
    """At the instant at which it is seen."""
    found = differences(change)
    assert [fact.signature for fact in found] == expected
    assert all("not yet been received" in fact.observed or "not ended" in fact.observed for fact in found)


def test_an_unfinished_message_is_shown() -> None:
    """The first one that was not finished: its call lasts, or has not begun."""

    def lasts(group: Group) -> None:
        group.calls_of(40)[0]["end_ns"] = ns(6_000)
        event("commit", 5_000, 22)(group)

    found, *_ = differences(lasts)
    assert (found.send, found.expected) == (40, f"at most 20 committed for queue 0 of {A}")
    assert found.observed == "22, when offset 20 had not ended"
    (found,) = differences(event("commit", 4_000, 21))
    assert (found.send, found.observed) == (40, "21, when offset 20 had not yet been received")
    (found,) = differences(event("commit", 4_002, 21))
    assert found.observed == "21, when offset 20 had not ended"


@pytest.mark.parametrize(
    ("change", "story", "expected"),
    [
        pytest.param(given_up(("update", 9_050, 45)), {}, ["nothing"], id="nothing"),
        pytest.param(given_up(("update", 9_051, 45)), {}, [], id="remembered less than a second before"),
        pytest.param(given_up(("update", 9_000, 44), ("update", 9_050, 45), ("commit", 10_100, 44)), {}, ["44"], id="less"),
        pytest.param(given_up(("update", 9_050, 45), ("commit", 10_100, 45)), {}, [], id="all"),
        pytest.param(given_up(("update", 9_050, 45), ("commit", 9_100, 45)), {}, [], id="before it gives it up"),
        pytest.param(given_up(("update", 9_050, 45), ("commit", -1_501, 45)), {}, [], id="as it asked for its offset"),
        pytest.param(given_up(("update", 9_050, 45), ("commit", -1_501.001, 45)), {}, ["nothing"], id="before it had the queue"),
        pytest.param(given_up(("update", 9_050, 45), ("commit", 11_550, 45)), {}, [], id="as late as it may"),
        pytest.param(given_up(("update", 9_050, 45), ("commit", 11_550.001, 45)), {}, ["nothing"], id="later"),
        pytest.param(
            both(given_up(("update", 9_050, 45)), event("commit", 10_100, 45, B, member=1)), {}, ["nothing"], id="another member commits"
        ),
        pytest.param(given_up(("update", 9_050, 45), ("commit", 9_100, 45), ("commit", 10_100, 44)), {}, [], id="the greatest"),
        pytest.param(given_up(("update", 9_050, 45)), {"pauses": ((15_050, 500),)}, [], id="beside a fault"),
        pytest.param(given_up(("update", 9_050, 45)), {"pauses": ((15_051, 500),)}, ["nothing"], id="before a fault"),
        pytest.param(
            given_up(("update", 9_050, 45), life={"pauses": [{"from_ns": ns(15_050), "until_ns": ns(15_060)}]}), {}, [], id="beside a pause"
        ),
        pytest.param(
            given_up(("update", 9_050, 45), life={"pauses": [{"from_ns": ns(8_000), "until_ns": ns(9_050)}]}), {}, [], id="just after a pause"
        ),
        pytest.param(
            given_up(("update", 9_050, 45), life={"pauses": [{"from_ns": ns(8_000), "until_ns": ns(9_049)}]}), {}, ["nothing"], id="after a pause"
        ),
        pytest.param(
            given_up(("update", 9_050, 45), life={"killed_ns": ns(15_050), "leave_start_ns": None}), {}, [], id="killed soon"
        ),
        pytest.param(
            given_up(("update", 9_050, 45), life={"killed_ns": ns(15_051), "leave_start_ns": None}), {}, ["nothing"], id="killed later"
        ),
        pytest.param(
            given_up(("update", 9_050, 45), life={"ended": "died", "leave_start_ns": None}), {}, [], id="died at an unknown instant"
        ),
        pytest.param(
            given_up(("update", 8_501, 45), life={"leave_start_ns": ns(9_500)}), {}, [], id="leaves before"
        ),
        pytest.param(
            given_up(("update", 8_500, 45), life={"leave_start_ns": ns(9_500)}), {}, ["nothing"], id="leaves before, and knew it"
        ),
    ],
)  # fmt: skip
def test_a_member_commits_what_it_remembers(change: Change, story: dict[str, Any], expected: list[str]) -> None:
    """When it gives a queue up or leaves: what it has committed instead."""
    found = [fact for fact in differences(change, **story) if "when member 0 gives it up" in fact.expected]
    assert [fact.observed for fact in found] == expected
    assert all(fact.expected.startswith("45 committed for queue 0 of broker-b ") for fact in found)


def succeeds(group: Group) -> None:
    """No listener fails."""
    retried = {row["call"] for row in group.calls if row["kind"] == "retry"}
    group.calls = [row | {"result": "success"} for row in group.calls if row["call"] not in retried]
    group.deliveries = [row for row in group.deliveries if row["call"] not in retried]
    group.returned.clear()


def answers(at_ms: float, value: int | None) -> Change:
    """The first answer about broker-a's queue; the later ones name all messages."""

    def change(group: Group) -> None:
        succeeds(group)
        group.committed = [row for row in group.committed if row["broker"] == B or row["answered_ns"] > ns(at_ms)]
        for row in group.committed:
            row["value"] = row["value"] if row["broker"] == B else 100
        group.answer(at_ms, A, value)

    return change


@pytest.mark.parametrize(
    ("at_ms", "least", "story"),
    [
        pytest.param(15_000, 0, {}, id="before it has certainly persisted"),
        pytest.param(20_000, 50, {}, id="ten seconds later"),
        pytest.param(30_000, 85, {"pauses": ((15_000, 500),)}, id="three seconds more beside a fault of another"),
        pytest.param(30_000, 0, {"faults": [fault_row(A, 15_000, 500)]}, id="beside a fault of its broker"),
        pytest.param(20_000, 70, {"settings": {"persist_consumer_offset_interval_ms": 1_000}}, id="a shorter interval"),
        pytest.param(LEAVE_MS, 100, {}, id="before the leave"),
        pytest.param(LEAVE_MS + 1, 0, {}, id="at the leave it is judged at the end"),
    ],
)
def test_finished_messages_are_committed(at_ms: float, least: int, story: dict[str, Any]) -> None:
    """Ten seconds after their calls ended: an interval and three seconds, and one each for the client and the wire."""
    assert NOT_COMMITTED not in signatures(answers(at_ms, least), **story)
    if least:
        found = [fact for fact in differences(answers(at_ms, least - 1), **story) if fact.signature == NOT_COMMITTED]
        assert [fact.observed for fact in found] == [f"{least - 1}"]
        found = [fact for fact in differences(answers(at_ms, None), **story) if fact.signature == NOT_COMMITTED]
        assert [fact.observed for fact in found] == ["0"]


@pytest.mark.parametrize(
    ("value", "story", "expected"),
    [
        pytest.param(50, {}, [], id="as before"),
        pytest.param(49, {}, [BACK], id="less"),
        pytest.param(None, {}, [BACK], id="nothing"),
        pytest.param(49, {"faults": [fault_row(A, 15_000, 9)]}, [], id="a fault as it answers"),
        pytest.param(49, {"faults": [fault_row(A, 15_001, 9)]}, [BACK], id="a fault after that"),
        pytest.param(49, {"faults": [fault_row(B, 12_000, 9)]}, [BACK], id="a fault of another"),
        pytest.param(49, HAND_BACKS_COME_LATE, [BACK], id="late hand-backs"),
        pytest.param(49, {"faults": [fault_row(A, -900, 898)]}, [], id="ten seconds after a fault"),
        pytest.param(49, {"faults": [fault_row(A, -900, 897)]}, [BACK], id="longer after a fault"),
        pytest.param(49, {"faults": [fault_row(A, -900, 9) | {"healed_ns": None}]}, [], id="a fault that does not end"),
    ],
)
def test_an_offset_does_not_go_back(value: int | None, story: dict[str, Any], expected: list[str]) -> None:
    """From one answer, at 10 s, to the next at 15 s: one member alone wrote it, and no fault reordered what it sent."""

    def change(group: Group) -> None:
        answer(15_000, value)(group)
        group.committed.sort(key=lambda row: row["answered_ns"])

    found = differences(change, **story)
    assert [fact.signature for fact in found] == expected
    assert all(fact.observed == f"{value or 0}, 5000 ms later" for fact in found)


@pytest.mark.parametrize(("since_ms", "expected"), [(-10_002, [BACK]), (-10_001, [])])
def test_two_members_may_overwrite_each_other(since_ms: float, expected: list[str]) -> None:
    """One that worked on the queue until twenty seconds before."""

    def change(group: Group) -> None:
        answer(15_000, 49)(group)
        group.committed.sort(key=lambda row: row["answered_ns"])
        life = {"member": 1, "client_id": "m1", "join_start_ns": ns(-50_000), "join_end_ns": ns(-50_000)}
        group.members.append(group.members[0] | life)
        group.own(-40_000, "a", member=1)
        group.own(since_ms, member=1)
        group.offset("query", -40_001, A, -1, member=1)

    assert [each for each in signatures(change) if each == BACK] == expected


def ends(value: int | None, last_ms: float = 19_803, **life: Any) -> Change:
    """The last answers of broker-a; last_ms: when the call of its last message ended."""

    def change(group: Group) -> None:
        succeeds(group)
        group.calls_of(198)[0]["end_ns"] = ns(last_ms)
        group.offsets = [row for row in group.offsets if row["broker"] == B or row["what"] == "query"]
        for row in group.committed:
            if row["broker"] == A:
                row["value"] = None if value is None else min(row["value"], value)
        group.members[0] |= life

    return change


def asked_at_the_end(group: Group) -> None:
    ends(99)(group)
    group.committed = [row for row in group.committed if row["broker"] == B or row["answered_ns"] > ns(LEAVE_MS)]


@pytest.mark.parametrize(
    ("change", "story", "expected"),
    [
        pytest.param(ends(100), {}, [], id="everything"),
        pytest.param(ends(99), {}, ["99"], id="all but one"),
        pytest.param(ends(None), {}, ["0"], id="nothing"),
        pytest.param(asked_at_the_end, {}, ["99"], id="all but one, by the only answer"),
        pytest.param(ends(99, LEAVE_MS - 2_000), {}, ["99"], id="a call two seconds before the leave"),
        pytest.param(ends(99, LEAVE_MS - 1_999), {}, [], id="a call just before the leave"),
        pytest.param(ends(98, LEAVE_MS - 1_999), {}, ["98"], id="those before it"),
        pytest.param(ends(99, ended="died"), {}, [], id="it died as it left"),
        pytest.param(ends(99), {"faults": [fault_row(B, 1_000, 9) | {"healed_ns": None}]}, [], id="a fault that does not end"),
    ],
)  # fmt: skip
def test_a_group_that_has_left_has_committed(change: Change, story: dict[str, Any], expected: list[str]) -> None:
    """What was certainly finished when its member left."""
    found = [fact for fact in differences(change, **story) if fact.signature == END]
    assert [fact.observed for fact in found] == expected
    assert all(fact.at_ns == ns(LEAVE_MS) for fact in found)


@pytest.mark.parametrize(
    ("messages", "value", "expected"), [(0, None, []), (1, None, ["0"]), (1, 0, ["0"]), (1, 1, []), (2, 1, ["1"])]
)
def test_a_group_commits_its_first_messages(messages: int, value: int | None, expected: list[str]) -> None:
    """A broker that knows of no commit counts as one that knows of 0."""

    def change(group: Group) -> None:
        for offset in range(messages):
            group.deliver(2 * offset, 1_000 + 100 * offset)
        group.offsets = [row for row in group.offsets if row["what"] == "query"]
        group.answer(LEAVE_MS + 500, A, value)

    found = [fact for fact in differences_without_messages("offsets", change) if fact.signature == END]
    assert [fact.observed for fact in found] == expected


def test_answers_are_judged_until_the_last_member_leaves() -> None:
    """Another one has left before."""

    def change(group: Group) -> None:
        answers(20_000, 49)(group)
        life = {"member": 1, "client_id": "m1", "leave_start_ns": ns(10_000), "leave_end_ns": ns(10_020)}
        group.members.append(group.members[0] | life)

    assert NOT_COMMITTED in signatures(change)


def test_a_last_question_without_an_answer_shows_nothing() -> None:
    """Its broker may know of a later commit."""

    def change(group: Group) -> None:
        ends(99)(group)
        group.answer(LEAVE_MS + 900, A, None)
        group.committed[-1]["answered_ns"] = None

    assert END not in signatures(change)


def test_commits_of_a_queue_whose_beginning_is_not_known_are_open() -> None:
    """The client reports no first offsets: two commits of its own, and ten answers of brokers."""
    made = Story(checks=("offsets",))
    made.candidate.offsets = [row for row in made.candidate.offsets if row["what"] == "commit"]
    (found,) = [each for each in made.analysis().evidence if each.check == "offsets"]
    assert (found.standing, found.reason) == (Standing.INDECISIVE, "the rules leave 12 of 12 open for acme:1")


def test_a_member_that_stays_leaves_the_end_open() -> None:
    """It may commit later."""

    def change(group: Group) -> None:
        ends(99)(group)
        group.members.append(group.members[0] | {"member": 1, "leave_start_ns": None, "ended": "running"})

    assert END not in signatures(change)


@pytest.mark.parametrize(("value", "expected"), [(20, []), (21, [UNFINISHED])])
def test_each_member_remembers_for_itself(value: int, expected: list[str]) -> None:
    """The second one works on broker-a's queue, and commits it."""

    def change(group: Group) -> None:
        group.members.append(group.members[0] | {"member": 1, "client_id": "m1"})
        group.owned.clear()
        for at_ms, queues in ((-1_500, ("bAB", "a")), (LEAVE_MS + 10, ("", ""))):
            for member, own in enumerate(queues):
                group.own(at_ms, *own, member=member)
        moved = {row["call"] for row in group.calls if (row["broker"], row["kind"]) == (A, "fed")}
        for row in (*group.calls, *group.deliveries):
            row["member"] = int(row["call"] in moved)
        for row in group.offsets:
            row["member"] = int((row["broker"], row["kind"]) == (A, "fed"))
        group.offset("commit", 4_000, A, value, member=1)

    assert signatures(change) == expected
