"""Rounds of members and owners of queues, as differences, at each limit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.consuming.checks import allocation
from rocketdiff.analysis.consuming.story import QueueOf, Tenure
from rocketdiff.analysis.consuming.takeovers import Takeover
from rocketdiff.analysis.facts import DifferenceFact, Tally
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.tables.fault import FaultKind
from tests.analysis.consuming.group_story import LEAVE_MS, Group, Row, Story, client_id, differences_of, fault_row, ns

Change = Callable[[Group], None]

RESULT, QUEUES, IDS, LATE = "other-result", "other-queues", "other-ids", "late-round"


def differences(story: Story) -> list[DifferenceFact]:
    return story.differences("allocation")


def found(change: Change, **story: Any) -> list[tuple[str, str]]:
    """Signatures, and what was seen."""
    return [
        (fact.signature.removeprefix("allocation."), fact.observed)
        for fact in differences_of("allocation", change, **story)
    ]


def round_(at_ms: float = 8_000, *queues: str, **row: Any) -> Change:
    return lambda group: group.divide(at_ms, *(queues or "ab"), **row)


def listed_twice(group: Group) -> None:
    group.list_members(7_000, "broker-a", 0, 0)
    group.divide(8_000, "a", among=(0, 0))


def unlisted(queues: str, *among: int) -> Change:
    def change(group: Group) -> None:
        group.listed.clear()
        group.divide(8_000, *queues, among=among)

    return change


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(round_(), [], id="its share"),
        pytest.param(round_(8_000, "b", "a"), [], id="its share, in any order"),
        pytest.param(round_(8_000, "a"), [(RESULT, "broker-a/0")], id="less"),
        pytest.param(round_(8_000, " "), [(RESULT, "no queue")], id="nothing"),
        pytest.param(round_(8_000, "a", error="E"), [(RESULT, "E")], id="it throws"),
        pytest.param(round_(strategy="AVG_BY_CIRCLE"), [(RESULT, "AVG_BY_CIRCLE")], id="another strategy"),
        pytest.param(round_(8_000, "A", "B", of="AB"), [], id="of the retry topic"),
        pytest.param(round_(8_000, "A", of="A"), [], id="not all retry queues"),
        pytest.param(round_(8_000, "a", of="a"), [(QUEUES, "broker-a/0")], id="not all queues"),
        pytest.param(round_(8_000, "a", "b", of="aab"), [(QUEUES, "broker-a/0, broker-a/0, broker-b/0")], id="one twice"),
        pytest.param(round_(8_000, "a", "b", "c", of="abc"), [(QUEUES, "broker-a/0, broker-b/0, broker-c/0")], id="one more"),
        pytest.param(round_(8_000, "A", "C", of="AC"), [(QUEUES, "broker-a/0, broker-c/0")], id="another retry queue"),
        pytest.param(round_(8_000, "a", among=(0, 1)), [(IDS, "member 0, the id m1")], id="a strange id"),
        pytest.param(round_(8_000, "a", among=(0, 0)), [(IDS, "member 0 (2 times)")], id="an id twice"),
        pytest.param(round_(error="E"), [(RESULT, "E")], id="it throws with its share"),
        pytest.param(listed_twice, [], id="an id that a broker lists twice"),
        pytest.param(unlisted("ab", 0), [], id="an id that no broker was seen to list"),
        pytest.param(unlisted("a", 0, 0), [(IDS, "member 0 (2 times)")], id="such an id twice"),
        pytest.param(round_(8_000, " ", among=()), [(IDS, "no member"), (RESULT, "no queue")], id="no id"),
        pytest.param(round_(8_000, " ", among=(), error="E"), [(IDS, "no member")], id="it throws without an id"),
    ],
)  # fmt: skip
def test_a_round_is_judged(change: Change, expected: list[tuple[str, str]]) -> None:
    """By the queues and ids that it had."""
    assert [each for each in found(change) if each[0] != LATE] == expected


def test_a_share_is_described() -> None:
    """With those among whom it was divided."""
    made = Story()
    round_(8_000, "a")(made.candidate)
    (fact,) = differences(made)
    assert (fact.thread, fact.at_ns) == (0, ns(8_000))
    assert fact.expected == "member 0, dividing the fed topic: its share among member 0: broker-a/0, broker-b/0"


@pytest.mark.parametrize(
    ("at_ms", "fault", "is_open"),
    [
        pytest.param(9_000, fault_row("broker-b", 9_000, 1_000, is_kill=True), True, id="killed"),
        pytest.param(9_000, fault_row("broker-b", 9_001, 1_000, is_kill=True), False, id="before"),
        pytest.param(9_000, fault_row("broker-a", 9_000, 1_000, is_kill=True), False, id="another one"),
        pytest.param(9_000, fault_row("broker-b", 8_000, 5_000), False, id="paused"),
        pytest.param(65_001, fault_row("broker-b", 9_000, 1_000, is_kill=True), True, id="until it is polled for"),
        pytest.param(65_002, fault_row("broker-b", 9_000, 1_000, is_kill=True), False, id="polled for"),
        pytest.param(
            99_000, fault_row("broker-b", 9_000, 1, is_kill=True) | {"healed_ns": None}, True, id="not restarted"
        ),
        pytest.param(
            9_000, fault_row("name-server-1", 9_000, 1_000, kind=FaultKind.PAUSE_NAME_SERVER), True, id="a name server"
        ),
        pytest.param(
            95_001,
            fault_row("name-server-1", 9_000, 1_000, kind=FaultKind.PAUSE_NAME_SERVER),
            True,
            id="until it registers",
        ),
        pytest.param(
            95_002, fault_row("name-server-1", 9_000, 1_000, kind=FaultKind.PAUSE_NAME_SERVER), False, id="registered"
        ),
        pytest.param(
            99_000,
            fault_row("name-server-1", 9_000, 1, kind=FaultKind.PAUSE_NAME_SERVER) | {"healed_ns": None},
            True,
            id="for ever",
        ),
    ],
)
def test_a_route_may_lack_a_broker(at_ms: float, fault: Row, is_open: bool) -> None:
    """One that was killed, from then to a poll, a round and five seconds after its restart, whatever was long before."""
    before = fault_row("name-server-1", -500_000, 1, kind=FaultKind.PAUSE_NAME_SERVER)
    seen = found(round_(at_ms, "a", of="a"), faults=[before, fault])
    assert ((QUEUES, "broker-a/0") not in seen) is is_open


def test_an_id_that_lacks_is_named() -> None:
    """The member is surely among those that brokers list."""

    def change(group: Group) -> None:
        group.members.append(group.members[0] | {"member": 1, "client_id": client_id(1)})
        group.divide(8_000, "b", member=1, among=(1,))

    made = Story()
    change(made.candidate)
    fact, *_ = [each for each in differences(made) if each.signature == "allocation.other-ids"]
    assert (fact.expected, fact.observed) == (
        "member 1, dividing the fed topic: member 0 among the members",
        "member 1",
    )


@pytest.mark.parametrize(
    ("rows", "signature", "observed", "thread"),
    [
        pytest.param([(5_000, "aAB")], "no-owner", "no member for 2.0 s", 0, id="no owner"),
        pytest.param([(5_000, "abAB", 1)], "two-owners", "member 0 and member 1 for 2.0 s", 1, id="two"),
        pytest.param([(5_000, "aAB"), (5_000, "b", 1)], "other-owner", "member 1 for 2.0 s", 1, id="another"),
    ],
)
def test_wrong_owners_are_described(rows: list[tuple[Any, ...]], signature: str, observed: str, thread: int) -> None:
    """The first of each queue and kind; a queue without an owner is charged to no member."""
    made = Story()
    group = made.candidate
    life = {"member": 1, "client_id": client_id(1), "join_start_ns": ns(-90_000), "join_end_ns": ns(-90_000)}
    group.members.append(group.members[0] | life | {"leave_start_ns": ns(-60_000), "leave_end_ns": ns(-60_000)})
    for since_ms in (5_000, 12_000):
        for at_ms, queues, *member in rows:
            group.own(at_ms - 5_000 + since_ms, *queues, member=member[0] if member else 0)
        group.own(since_ms + 2_000, *"abAB")
        group.own(since_ms + 2_000, member=1)
    facts = [fact for fact in differences(made) if fact.signature == f"allocation.{signature}"]
    shown = [fact for fact in facts if "broker-b" in fact.expected and "retry" not in fact.expected]
    assert [(fact.observed, fact.thread, fact.at_ns) for fact in shown] == [(observed, thread, ns(5_000))]


def one(at_ms: float, begun_ms: float) -> Takeover:
    tenure = Tenure(0, 1, QueueOf(TopicKind.FED, "broker-b", 0), ns(at_ms), None, 0, None, (), is_repaired=False)
    return Takeover(tenure, ns(at_ms + 2_000), ns(at_ms + 33_000), ns(begun_ms))


SOON = [one(10_000 * n, 10_000 * n + 1_000) for n in range(10)]
LATER = [one(10_000 * n, 10_000 * n + 5_000) for n in range(10)]


@pytest.mark.parametrize(
    ("baseline", "candidate", "expected"),
    [
        pytest.param(SOON, SOON, [], id="soon"),
        pytest.param(SOON, LATER[:1], [], id="late once"),
        pytest.param(SOON, [one(0, 33_000)], [], id="at the limit"),
        pytest.param(
            SOON, [one(0, 33_001)], [("candidate", "late-takeover", "within 33.0 s", "for 33.0 s")], id="too late"
        ),
        pytest.param(
            SOON, LATER, [("candidate", "takes-over-later", "within 2.0 s, as", "for 5.0 s")] * 10, id="mostly late"
        ),
        pytest.param(
            LATER, SOON, [("baseline", "takes-over-later", "within 2.0 s, as", "for 5.0 s")] * 10, id="the others are"
        ),
        pytest.param(LATER, LATER, [], id="both are late"),
        pytest.param(
            SOON,
            [*LATER[1:], SOON[0]],
            [("candidate", "takes-over-later", "within 2.0 s, as", "for 5.0 s")] * 9,
            id="all but one",
        ),
        pytest.param(
            SOON,
            [*LATER[1:], one(0, 40_000)],
            [("candidate", "takes-over-later", "within 2.0 s, as", "for 5.0 s")] * 9
            + [("candidate", "late-takeover", "within 33.0 s", "for 40.0 s")],
            id="one of them too late",
        ),
    ],
)
def test_takeovers_are_compared(
    monkeypatch: pytest.MonkeyPatch,
    baseline: list[Takeover],
    candidate: list[Takeover],
    expected: list[tuple[str, str, str, str]],
) -> None:
    """Later than the rules allow, or late where the other group rarely is."""
    monkeypatch.setattr(
        allocation, "takeovers", lambda _, group, __: candidate if group.arm == "candidate" else baseline
    )
    facts = differences(Story())
    assert len(facts) == len(expected)
    for fact, (arm, signature, words, seen) in zip(facts, expected, strict=True):
        assert (fact.arm, fact.signature, fact.thread) == (arm, f"allocation.{signature}", 0)
        assert words in fact.expected
        assert seen in fact.observed


@pytest.mark.parametrize(
    ("at_ms", "times"), [(198.999, 0), (199, 1), (199, 2), (5_000, 2), (31_999.999, 1), (32_000, 1)]
)
def test_an_idle_member_that_consumes_is_found_once(at_ms: float, times: int) -> None:
    """The third of two queues, since its group is settled until the leave; retries are consumed by whom they are given."""
    made = Story()
    group = made.candidate
    for rows in (group.owned, group.allocations, group.listed):
        rows.clear()
    for member in (1, 2):
        group.members.append(group.members[0] | {"member": member, "client_id": client_id(member)})
    for broker in ("broker-a", "broker-b"):
        group.list_members(-2_800, broker, 0, 1, 2)
    for member, queue in ((0, "a"), (1, "b"), (2, " ")):
        group.divide(-1_502, queue, member=member, among=(0, 1, 2))
    group.own(-1_500, "a", "A", "B")
    group.own(-1_500, "b", member=1)
    group.deliver(7, 100, member=2)
    group.deliver(7, 4_000, member=2, kind="retry", offset=90, times=1)
    for number in range(max(1, times)):
        group.deliver(9 + 2 * number, at_ms + number, member=2)
    facts = [fact for fact in differences(made) if fact.signature == "allocation.idle-member-consumes"]
    assert [(fact.send, fact.at_ns, fact.observed) for fact in facts] == [
        (9, ns(at_ms), "message 9 from queue 0 of broker-b")
    ] * (times > 0 and at_ms < LEAVE_MS)


def evidence(story: Story) -> Evidence:
    (each,) = [one for one in story.analysis().evidence if one.check == "allocation"]
    return each


def test_queues_that_moved_are_measured() -> None:
    """How often they were taken where nothing had changed, of how often they were taken."""
    made = Story(checks=("allocation",))
    made.candidate.own(5_000, "a", "A", "B")
    made.candidate.own(5_100, "a", "b", "A", "B")
    measures = {each.name.split()[-1]: (each.value, each.unit, each.n) for each in evidence(made).measures}
    assert measures == {"baseline": (0, "count", 2), "candidate": (1, "count", 3)}


def test_rounds_of_members_without_an_id_are_open() -> None:
    """Too many of them leave the case undecided."""
    made = Story(checks=("allocation",))
    made.candidate.members[0]["client_id"] = None
    for at_ms in range(8_000, 12_000, 1_000):
        made.candidate.divide(at_ms, "a", "b")
    seen = evidence(made)
    assert (seen.standing, seen.reason) == (Standing.INDECISIVE, "the rules leave 8 of 8 open for acme:1")


def test_rounds_with_a_strategy_of_the_application_are_open() -> None:
    """The rules do not have it."""
    made = Story(checks=("allocation",))
    for row in (*made.baseline.allocations, *made.candidate.allocations):
        row["strategy"] = "of-acme"
    seen = evidence(made)
    assert (seen.standing, seen.reason) == (Standing.INDECISIVE, "the rules leave 2 of 2 open for java:5.3.3")


def is_lost(group: Group) -> None:
    """Its member died at an unknown instant."""
    group.members[0] |= {"ended": "died", "leave_start_ns": None, "leave_end_ns": None}


def without_id(group: Group) -> None:
    group.members[0]["client_id"] = None


@pytest.mark.parametrize(
    ("change", "story", "undecided"),
    [
        pytest.param(round_(), {}, 0, id="nothing is open"),
        pytest.param(is_lost, {}, 2, id="the owners of both topics"),
        pytest.param(is_lost, {"is_orderly": True}, 0, id="of an orderly group they may be"),
        pytest.param(without_id, {}, 4, id="rounds of an unknown id, and the owners"),
    ],
)
def test_open_rounds_are_counted(change: Change, story: dict[str, Any], undecided: int) -> None:
    """Of the rounds, and of the owners of two topics."""
    made = Story(**story)
    change(made.candidate)
    tallies = [each.fact for each in judge_case(made.trace(), wanted={"allocation"}) if isinstance(each.fact, Tally)]
    counted = {each.key: each.n for each in tallies if each.arm == "candidate"}
    judged = 2 + len(made.candidate.allocations)
    assert counted == {"judged": judged, "undecided": undecided, "moved": 0, "taken": 2}


def test_owners_of_a_group_with_a_member_that_reports_no_queues_are_open() -> None:
    """Of both topics: when it has given a queue up is not known."""
    made = Story()
    is_there_too(made.candidate)
    made.candidate.pull(1_000, "broker-b", 0, 1_100, member=1)
    tallies = [each.fact for each in judge_case(made.trace(), wanted={"allocation"}) if isinstance(each.fact, Tally)]
    assert {each.arm: each.n for each in tallies if each.key == "undecided"} == {"baseline": 0, "candidate": 2}


def test_without_summaries_of_its_arms_a_case_shows_nothing() -> None:
    """It did not complete; that they lack claims is not said."""
    subjects = {Arm.BASELINE: "x:1", Arm.CANDIDATE: "y:1"}
    seen = allocation.evaluate(CaseFacts("r1", subjects, replace(Story().entry(), arms={})))
    assert (seen.standing, seen.reason) == (Standing.INDECISIVE, "no member of x:1 divided the queues")


def is_there_too(group: Group) -> None:
    """Another member is, but makes no round."""
    life = {"member": 1, "client_id": client_id(1), "join_start_ns": ns(-90_000), "join_end_ns": ns(-90_000)}
    group.members.append(group.members[0] | life)
    for broker in ("broker-a", "broker-b"):
        group.list_members(-1_000, broker, 0, 1)


def test_a_late_round_is_described() -> None:
    """With what the last one had, or that there was none."""
    made = Story()
    is_there_too(made.candidate)
    facts = [fact for fact in differences(made) if fact.signature == f"allocation.{LATE}"]
    assert [(fact.thread, fact.observed.partition(", still")[0]) for fact in facts] == [
        (0, "its last one had member 0"),
        (1, "none at all"),
    ]
    assert [fact.expected for fact in facts] == [
        f"a round of member {member} since the group is member 0, member 1" for member in (0, 1)
    ]
    assert [fact.observed.partition(", still ")[2].partition(" s ")[0] for fact in facts] == ["30.0"] * 2
    assert [fact.at_ns for fact in facts] == [ns(2_000)] * 2


def test_a_round_of_a_member_that_reports_none_is_not_awaited() -> None:
    """Its work is known from its pulls alone."""

    def change(group: Group) -> None:
        is_there_too(group)
        group.pull(1_000, "broker-b", 0, 1_100, member=1)

    made = Story()
    change(made.candidate)
    assert [fact.thread for fact in differences(made) if fact.signature == f"allocation.{LATE}"] == [0]


def test_unreported_queues_are_open_unless_they_differ() -> None:
    """A difference that is found anyway counts."""
    made = Story(checks=("allocation",), claims=("allocations",))
    assert evidence(made).standing is Standing.INDECISIVE
    round_(8_000, "a")(made.candidate)
    seen = evidence(made)
    assert (seen.standing, len(seen.divergences)) == (Standing.DECISIVE, 1)


@pytest.mark.parametrize(("fed", "retry", "expected"), [("b", " ", []), (" ", "B", [RESULT, RESULT])])
def test_a_share_depends_on_the_topic(fed: str, retry: str, expected: list[str]) -> None:
    """Of two members with the consistent hash, that of the fed topic has one queue, and that of the retry topic none."""
    made = Story()
    for group in (made.baseline, made.candidate):
        for row in group.allocations:
            row["strategy"] = "CONSISTENT_HASH"
    made.candidate.divide(8_000, fed, among=(0, 2), strategy="CONSISTENT_HASH")
    made.candidate.divide(8_000, retry, among=(0, 2), of="AB", strategy="CONSISTENT_HASH")
    names = [fact.signature.removeprefix("allocation.") for fact in differences(made)]
    assert [name for name in names if name == RESULT] == expected
