"""A pull after another one, or beside a fault, at each limit; see ``test_pulling`` for whole stories."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.consuming.checks import pulling
from rocketdiff.analysis.facts import DifferenceFact, Tally
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind, Frames, RequestKind, WireHit
from tests.analysis.consuming.group_story import (
    LEAVE_MS,
    Group,
    Story,
    differences_without_messages,
    fault_row,
    ns,
    without_messages,
)

A, SLAVE = "broker-a", "broker-a-slave-1"

Change = Callable[[Group], object]

TWICE, OTHER, SOON, LATE = "two-at-once", "other-offset", "too-soon", "too-late"
NOT_OWNED, PLACE, COMMIT = "not-owned", "other-broker", "commit-at-a-slave"


def pull(at_ms: float, offset: int, *answered_ms: float, lost_ms: float | None = None, **row: Any) -> Change:
    """A pull of broker-a's queue. lost_ms: when its connection ended."""

    def change(group: Group) -> None:
        own = {} if lost_ms is None else {"connection": 1_000 + len(group.wire)}
        made = group.pull(at_ms, A, offset, *answered_ms, **(own | row))
        if lost_ms is not None:
            group.lose(lost_ms, A, member=made["member"])
            group.wire[-1]["connection"] = made["connection"]

    return change


def differences(*changes: Change, **story: Any) -> list[DifferenceFact]:
    return differences_without_messages("pulling", *changes, **story)


def found(*changes: Change, **story: Any) -> list[tuple[str, str]]:
    """Signatures, and what was seen."""
    facts = differences(*changes, **story)
    return [(fact.signature.removeprefix("pulling."), fact.observed) for fact in facts]


def names(*changes: Change, **story: Any) -> list[str]:
    return [name for name, _ in found(*changes, **story)]


def answered(**row: Any) -> Change:
    """One message: from 1,000 to 2,000 ms, and on to offset 6."""
    return pull(1_000, 5, 2_000, **({"next_offset": 6} | row))


def refused(code: int, answered_ms: float = 1_020, count: int | None = None) -> Change:
    return pull(1_000, 5, answered_ms, code=code, next_offset=9, count=count)


LOST = pull(1_000, 5, lost_ms=1_500)
WITH_INTERVAL = {"settings": {"pull_interval_ms": 1_000}}


def paused(from_ms: int, broker: str = A, **other: Any) -> dict[str, Any]:
    return {"faults": [fault_row(broker, from_ms, 100, **other)]}


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([answered(), pull(2_000, 6)], {}, [], id="with the answer"),
        pytest.param([answered(), pull(1_999.9, 6)], {}, [TWICE], id="before the answer"),
        pytest.param([pull(1_000, 5), pull(28_999.9, 5)], {}, [TWICE], id="without an answer"),
        pytest.param([pull(1_000, 5), pull(29_000, 7)], {}, [], id="given up without one"),
        pytest.param([pull(1_000, 5, 31_000, next_offset=6), pull(28_999.9, 6)], {}, [TWICE], id="a late answer"),
        pytest.param([pull(1_000, 5, 31_000, next_offset=6), pull(29_000, 5)], {}, [], id="given up before it"),
        pytest.param([LOST, pull(1_499.9, 5)], {}, [TWICE], id="before the connection ends"),
        pytest.param([LOST, pull(1_999.9, 5)], {}, [SOON], id="just after it has ended"),
        pytest.param([LOST, pull(2_000, 5)], {}, [], id="half a second after that"),
        pytest.param([LOST, pull(2_000, 6)], {}, [OTHER], id="from another offset"),
        pytest.param([answered(), pull(2_000, 5)], {}, [OTHER], id="from the same offset"),
        pytest.param([answered(code=20, count=0), pull(2_000, 6)], {}, [], id="to be made again at once"),
        pytest.param([answered(code=20, count=0), pull(2_000, 5)], {}, [OTHER], id="which names its offset too"),
        pytest.param([answered(code=19, count=0), pull(2_000, 6)], {}, [], id="without a message"),
        pytest.param([pull(1_000, 5, code=19, count=0)], {}, [], id="answered at an unknown instant"),
        pytest.param([pull(1_000, 5, lost_ms=1_500, code=19, next_offset=9), pull(2_000, 5)], {}, [], id="and lost"),
        pytest.param([refused(21), pull(1_021, 3)], {}, [], id="after an offset was moved"),
        pytest.param([refused(1500), pull(1_021, 3)], {}, [], id="after a broker went away"),
        pytest.param([refused(1), pull(1_520, 5)], {}, [], id="half a second after an error"),
        pytest.param([refused(1), pull(1_519.9, 5)], {}, [SOON], id="sooner"),
        pytest.param([refused(1), pull(1_520, 9)], {}, [OTHER], id="an error moves nothing"),
        pytest.param([refused(1, count=2), pull(1_520, 5)], {"settings": {"pull_interval_ms": 3_000}}, [], id="no interval after it"),
        pytest.param([refused(22), pull(1_519.9, 5)], {}, [SOON], id="another error"),
        pytest.param([refused(1, 28_999.9), pull(29_000, 5)], {}, [SOON], id="an error after long"),
        pytest.param([refused(1, 29_000), pull(29_000, 5)], {}, [], id="an error as it times out"),
        pytest.param([answered(), pull(2_500, 6)], WITH_INTERVAL, [], id="half of the interval"),
        pytest.param([answered(), pull(2_499.9, 6)], WITH_INTERVAL, [SOON], id="less"),
        pytest.param([answered(code=19, count=0), pull(2_000, 6)], WITH_INTERVAL, [], id="none without messages"),
        pytest.param([refused(215), pull(1_030, 5)], {}, [], id="a busy broker"),
        pytest.param([refused(215), pull(1_029.9, 5)], {}, [SOON], id="a busy broker, too soon"),
        pytest.param([pull(1_000, 5, 29_000, next_offset=6), pull(29_000, 5)], {}, [], id="the answer came late"),
        pytest.param([pull(1_000, 5, 28_999.9, next_offset=6), pull(29_000, 5)], {}, [OTHER], id="it came in time"),
        pytest.param([answered(lost_ms=4_999.9), pull(5_000, 5)], {}, [], id="a connection that ends soon after it"),
        pytest.param([answered(lost_ms=4_999.9), pull(5_000, 6)], {}, [], id="or not so soon"),
        pytest.param([answered(lost_ms=4_999.9), pull(5_000, 7)], {}, [OTHER], id="but not elsewhere"),
        pytest.param([answered(lost_ms=5_000), pull(5_000, 5)], {}, [OTHER], id="a connection that ends later"),
        pytest.param([LOST, pull(1_700, 5)], paused(1_200), [], id="half a second after its broker's fault"),
        pytest.param([LOST, pull(1_699.9, 5)], paused(1_200), [SOON], id="sooner after it"),
        pytest.param([LOST, pull(1_500, 5)], paused(1_000), [], id="a fault as it is made"),
        pytest.param([LOST, pull(1_999.9, 5)], paused(999), [SOON], id="a fault before"),
        pytest.param([LOST, pull(1_999.9, 5)], paused(1_500), [SOON], id="a fault as it ends"),
        pytest.param([LOST, pull(1_999.9, 5)], paused(1_200, "broker-b"), [SOON], id="a fault of another"),
        pytest.param([refused(1, 1_500), pull(1_999.9, 5)], paused(1_200), [SOON], id="an answer beside a fault"),
        pytest.param(
            [LOST, pull(1_600, 5)],
            {"faults": [fault_row(A, at_ms, 9, episode=at_ms) for at_ms in (1_400, 1_100)]},
            [],
            id="the first of two faults",
        ),
        pytest.param([answered(), pull(1_500, 6, kind="retry")], {}, [], id="of another queue"),
        pytest.param(
            [answered(), pull(1_200, 6), answered(kind="retry"), pull(1_200, 6, kind="retry")], {}, [TWICE] * 2, id="two queues"
        ),
        pytest.param([answered(), *(pull(at_ms, 6) for at_ms in (1_100, 1_200, 1_300))], {}, [TWICE], id="often"),
    ],
)  # fmt: skip
def test_a_pull_follows_another(changes: list[Change], story: dict[str, Any], expected: list[str]) -> None:
    """At its end, or a delay later, and where it went on; each kind once for each queue."""
    assert names(*changes, **story) == expected


@pytest.mark.parametrize(
    ("change", "idle"),
    [
        pytest.param(pull(1_000, 5, 31_000), [(1, 0.5)], id="held for half a minute"),
        pytest.param(pull(1_000, 5, 31_000, code=20, count=0), [(1, 0.5)], id="to be made again"),
        pytest.param(answered(), [], id="a message"),
        pytest.param(refused(1, count=0), [], id="an error"),
        pytest.param(pull(1_000, 5), [], id="no answer"),
        pytest.param(pull(1_000, 5, code=19, count=0), [], id="answered at an unknown instant"),
    ],
)
def test_pulls_that_bring_nothing_are_counted(change: Change, idle: list[tuple[int, float]]) -> None:
    """And for how many minutes they were held."""
    made = Story(without_messages(), without_messages(), held=[])
    change(made.candidate)
    tallies = [each.fact for each in judge_case(made.trace(), wanted={"pulling"}) if isinstance(each.fact, Tally)]
    assert [(each.n, each.total) for each in tallies if (each.arm, each.key) == ("candidate", "idle")] == idle


@pytest.mark.parametrize(
    ("idle", "measured"),
    [
        ((4, 2.0), [("pulls an idle minute candidate", 2.0, "count", 4)]),
        ((4, 0.0), []),
        (None, []),
    ],
)
def test_pulls_of_an_idle_minute_are_measured(
    idle: tuple[int, float] | None, measured: list[tuple[str, float, str, int]]
) -> None:
    """If any was held at all."""
    tallies: dict[TallyKey, tuple[int, float]] = {} if idle is None else {("pulling", "candidate", "", "idle"): idle}
    subjects = {Arm.BASELINE: "x:1", Arm.CANDIDATE: "y:1"}
    found = pulling.evaluate(CaseFacts("r1", subjects, Story().entry(), tallies=tallies)).measures
    assert [(each.name, each.value, each.unit, each.n) for each in found] == measured


def pauses(from_ms: float, until_ms: float | None, member: int = 0) -> Change:
    """In the life of a member."""
    pause = {"from_ns": ns(from_ms), "until_ns": None if until_ms is None else ns(until_ms)}
    life = {"member": member, "client_id": f"m{member}", "pauses": [pause]}

    def change(group: Group) -> None:
        if member:
            group.members.append(group.members[0] | life)
        group.members[0] |= {} if member else life

    return change


@pytest.mark.parametrize(
    ("pause", "expected"),
    [
        (pauses(1_200, 1_300), []),
        (pauses(900, 1_000), []),
        (pauses(900, 999), [TWICE]),
        (pauses(1_500, 1_600), []),
        (pauses(1_501, 1_600), [TWICE]),
        (pauses(1_200, 1_300, member=1), [TWICE]),
    ],
)
def test_a_stopped_process_pulls_anew(pause: Change, expected: list[str]) -> None:
    """It may count an answer that has come as too late."""
    assert names(pause, answered(), pull(1_500, 6)) == expected


def of_another(group: Group) -> None:
    """Both queues go to a second member of an old release, in another story's place."""
    group.members.append(group.members[0] | {"member": 1, "client_id": "m1", "subject": "java:4.2.0"})


@pytest.mark.parametrize(("again_ms", "expected"), [(1_520, []), (1_519.9, [SOON])])
def test_in_a_group_of_several_releases_the_shortest_delay_counts(again_ms: float, expected: list[str]) -> None:
    """One second of the newer one, and three of the older one."""
    assert names(of_another, refused(1), pull(again_ms, 5)) == expected


@pytest.mark.parametrize(("again_ms", "expected"), [(1_520, []), (1_519.9, ["pulling.too-soon"])])
def test_a_baseline_without_rules_has_the_shortest_delay(again_ms: float, expected: list[str]) -> None:
    """That of a newer release."""
    made = Story(without_messages(), without_messages(), held=[])
    for change in (refused(1), pull(again_ms, 5)):
        change(made.candidate)
    trace = replace(made.trace(), subjects=dict.fromkeys(Arm, "acme:1"))
    facts = (each.fact for each in judge_case(trace, wanted={"pulling"}))
    assert [fact.signature for fact in facts if isinstance(fact, DifferenceFact)] == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param([pull(-3_501, 0, -3_400)], [], id="two seconds before it asks for its offset"),
        pytest.param([pull(-3_501.1, 0, -3_400)], [NOT_OWNED], id="before that"),
        pytest.param([pull(LEAVE_MS + 2_009.9, 0)], [], id="two seconds after it gave it up"),
        pytest.param([pull(LEAVE_MS + 2_010, 0)], [NOT_OWNED], id="after that"),
        pytest.param([pull(1_000, 0, member=1)], [], id="of a member that reports no queues"),
        pytest.param([lambda group: group.own(0, member=1), lambda group: group.own(0, "b", member=1), pull(1_000, 0, member=1)], [NOT_OWNED], id="of a member with another one"),
        pytest.param([pull(LEAVE_MS + 2_010, 0), lambda group: group.members[0].update(ended="died", leave_start_ns=None)], [], id="of a member that died"),
        pytest.param(
            [pull(LEAVE_MS + 2_010, 0), pauses(1, 2, member=1), lambda group: group.members[1].update(ended="died", leave_start_ns=None)],
            [NOT_OWNED],
            id="another died",
        ),
        pytest.param([answered(queue_id=1)], [NOT_OWNED], id="a queue that nobody has"),
    ],
)  # fmt: skip
def test_a_queue_is_pulled_by_its_owner(changes: list[Change], expected: list[str]) -> None:
    """From two seconds before its work on it to two seconds after."""
    assert names(*changes) == expected


def at_slave(at_ms: float = 8_000, **row: Any) -> Change:
    return pull(at_ms, 6, at_ms + 100, node=SLAVE, **({"next_offset": 7} | row))


def killed(healed_ms: int, **row: Any) -> dict[str, Any]:
    return {"faults": [fault_row(A, healed_ms - 10, 9, is_kill=True) | row]} | POLLED


POLLED: dict[str, Any] = {"settings": {"poll_name_server_interval_ms": 1_000}}
TOLD_NONE = (PLACE, f"one at {SLAVE}, though the answer before suggested none")
TOLD_THE_MASTER = (PLACE, f"one at {SLAVE}, though the answer before suggested the master")


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([answered(suggested=1), at_slave()], {}, [], id="suggested"),
        pytest.param([answered(suggested=0), at_slave()], {}, [TOLD_THE_MASTER], id="not suggested"),
        pytest.param([answered(suggested=None), at_slave()], {}, [TOLD_NONE], id="no suggestion"),
        pytest.param([at_slave()], {}, [TOLD_NONE], id="the first pull"),
        pytest.param([answered(suggested=1), at_slave(3_000, next_offset=6, suggested=None), at_slave()], {}, [], id="suggested before"),
        pytest.param([answered(suggested=1), at_slave(3_000, next_offset=6, suggested=0), at_slave()], {}, [TOLD_THE_MASTER], id="no longer"),
        pytest.param([answered(suggested=0), at_slave(3_000), pull(5_000, 7, kind="retry", suggested=1)], {}, [TOLD_THE_MASTER], id="of another queue"),
        pytest.param([at_slave()], killed(2_000), [], id="six seconds after a kill"),
        pytest.param([at_slave()], killed(1_999), [TOLD_NONE], id="longer after it"),
        pytest.param([at_slave()], killed(-9_000, healed_ns=None), [], id="not restarted"),
        pytest.param([at_slave()], killed(2_000, node="broker-b"), [TOLD_NONE], id="another was killed"),
        pytest.param([at_slave()], {"faults": [fault_row(A, 8_000, 9)]}, [], id="paused at once"),
        pytest.param([at_slave()], {"faults": [fault_row(A, 8_001, 9)]}, [TOLD_NONE], id="paused later"),
        pytest.param([at_slave()], {"faults": [fault_row(A, -28_999, 998)]} | POLLED, [], id="until it registers"),
        pytest.param([at_slave()], {"faults": [fault_row(A, -28_999, 997)]} | POLLED, [TOLD_NONE], id="it has registered"),
        pytest.param([at_slave()], {"faults": [fault_row(A, -28_011, 10)]}, [], id="until the route is polled"),
        pytest.param([at_slave()], {"faults": [fault_row(A, -58_000, 9)]}, [TOLD_NONE], id="it was polled"),
        pytest.param([at_slave()], {"faults": [fault_row("name-server-1", 9_000, 9, kind=FaultKind.PAUSE_NAME_SERVER)]}, [], id="a name server"),
        pytest.param([answered(suggested=1), at_slave(commit_offset=0)], {}, [(COMMIT, "0")], id="a commit"),
        pytest.param([answered(commit_offset=0)], {}, [], id="a commit at the master"),
        pytest.param([answered(node="broker-b")], {}, [(PLACE, "one at broker-b")], id="another broker"),
        pytest.param([answered(node="broker-b-slave-1", suggested=1)], {}, [(PLACE, "one at broker-b-slave-1")], id="another's slave"),
    ],
)  # fmt: skip
def test_a_pull_goes_to_its_broker(
    changes: list[Change], story: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """To the master, unless a slave was suggested, or the client may not know the master."""
    assert found(*changes, **story) == expected


def again(at_ms: float, offset: int = 5) -> Change:
    return pull(at_ms, offset, at_ms + 100, next_offset=offset + 1)


def stays(group: Group) -> None:
    """The member keeps its queues to the end."""
    group.owned.pop()
    group.members[0] |= {"leave_start_ns": None, "leave_end_ns": None}
    group.answer(99_000, "broker-b", 100)


def gives_up(at_ms: float) -> Change:
    return lambda group: group.own(at_ms, "b", "A", "B")


def leaves(at_ms: float) -> Change:
    return lambda group: group.members[0].update(leave_start_ns=ns(at_ms))


def wire(
    kind: FaultKind = FaultKind.WIRE_SWALLOW,
    of: RequestKind = RequestKind.PULL,
    from_ms: int = 900,
    for_ms: int = 300,
    node: str = A,
    **row: Any,
) -> dict[str, Any]:
    fault = fault_row(node, from_ms, for_ms, kind=kind) | row
    return {"faults": [fault], "hits": {"0": WireHit(of, Frames.RESPONSES)}}


NONE_FOR_6_6_S = [(LATE, "none for 6.6 s")]


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([LOST, again(7_500)], wire(), [], id="in time"),
        pytest.param([LOST, again(7_501)], wire(), [(LATE, "none for 6.5 s")], id="later"),
        pytest.param([LOST], wire(), [(LATE, "none for 98.0 s")], id="none"),
        pytest.param([LOST, gives_up(7_600)], wire(), NONE_FOR_6_6_S, id="until it gives the queue up"),
        pytest.param([LOST, leaves(7_600)], wire(), NONE_FOR_6_6_S, id="until it leaves"),
        pytest.param([LOST, gives_up(7_500)], wire(), [], id="it gives the queue up in time"),
        pytest.param([pull(1_000, 5), again(38_000)], wire(), [], id="given up, in time"),
        pytest.param([pull(1_000, 5), again(38_001)], wire(), [(LATE, "none for 37.0 s")], id="given up, later"),
        pytest.param([pull(1_000, 5, lost_ms=33_000), again(38_001)], wire(), [(LATE, "none for 37.0 s")], id="lost after that"),
        pytest.param([LOST, again(7_600)], {}, [], id="without a fault"),
        pytest.param([LOST, again(7_600)], wire(node="broker-b"), [], id="a fault of another"),
        pytest.param([LOST, again(7_600)], wire(from_ms=7_500), NONE_FOR_6_6_S, id="a fault until then"),
        pytest.param([LOST, again(7_600)], wire(from_ms=7_501), [], id="a fault after that"),
        pytest.param([LOST, again(7_600)], wire(from_ms=-31_000, for_ms=999), NONE_FOR_6_6_S, id="a fault that lingers"),
        pytest.param([LOST, again(7_600)], wire(from_ms=-31_000, for_ms=998), [], id="a fault that is over"),
        pytest.param([LOST, again(7_600)], wire(from_ms=-31_000, healed_ns=None), NONE_FOR_6_6_S, id="a fault that does not end"),
        pytest.param([LOST, again(7_600)], wire(FaultKind.WIRE_RESET, RequestKind.LOCK), NONE_FOR_6_6_S, id="closed connections"),
        pytest.param([LOST, again(7_600)], wire(FaultKind.WIRE_DELAY), NONE_FOR_6_6_S, id="late pulls"),
        pytest.param([LOST, again(7_600)], wire(FaultKind.WIRE_DELAY, RequestKind.HEARTBEAT), [], id="late heartbeats close nothing"),
        pytest.param([LOST, again(7_600)], paused(1_000), [], id="a broker that was down"),
        pytest.param(
            [LOST, again(7_600)],
            {"faults": [*wire()["faults"], fault_row(A, 1_000, 9, episode=1)], "hits": wire()["hits"]},
            [],
            id="beside one that was down",
        ),
        pytest.param([answered(), again(9_600, 6)], wire(), [], id="with an answer"),
        pytest.param([LOST, again(7_600)], wire() | {"is_orderly": True}, [], id="in order"),
        pytest.param([LOST, again(7_600), pauses(50_000, 50_001)], wire(), [], id="a process that was stopped"),
        pytest.param([LOST, again(7_600), pauses(50_000, 50_001, member=1)], wire(), NONE_FOR_6_6_S, id="another one was"),
        pytest.param([of_another, LOST, again(9_500)], wire(), [], id="in time for an older release"),
        pytest.param([of_another, LOST, again(9_501)], wire(), [(LATE, "none for 8.5 s")], id="late for it too"),
        pytest.param([LOST, pull(7_000, 5, lost_ms=7_050), again(13_051)], wire(for_ms=8_000), [(LATE, "none for 6.1 s")], id="the second one"),
    ],
)  # fmt: skip
def test_a_lost_pull_is_made_again(
    changes: list[Change], story: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Within its delay and five seconds, if a fault on the wire may have lost it."""
    assert found(stays, *changes, **story) == expected


@pytest.mark.parametrize(
    ("changes", "expected", "observed"),
    [
        ([answered(), pull(1_200, 6)], "one pull of queue 0 of broker-a at a time", "a second one 200.0 ms after the first, which had no answer"),
        ([answered(), pull(2_000, 7)], "a pull of queue 0 of broker-a from offset 6", "one from 7"),
        ([refused(1), pull(1_520, 9)], "a pull of queue 0 of broker-a from offset 5", "one from 9"),
        ([refused(1), pull(1_500, 5)], "the next pull of queue 0 of broker-a at least 500 ms after code 1", "one after 480.0 ms"),
        ([LOST, pull(1_900, 5)], "the next pull of queue 0 of broker-a at least 500 ms after no answer", "one after 400.0 ms"),
        ([answered(queue_id=1)], "no pull of queue 1 of broker-a by member 0, which does not work on it", "a pull from offset 5"),
        ([answered(node="broker-b")], "a pull of queue 0 of broker-a at its broker", "one at broker-b"),
        ([answered(suggested=1), at_slave(commit_offset=3)], f"no offset to commit in a pull at {SLAVE}", "3"),
        ([at_slave()], "a pull of queue 0 of broker-a at the master, which is there", TOLD_NONE[1]),
    ],
)  # fmt: skip
def test_a_pull_is_described(changes: list[Change], expected: str, observed: str) -> None:
    """With what the rules say instead, at the pull that differs."""
    (fact,) = differences(*changes)
    assert (fact.expected, fact.observed) == (expected, observed)


def test_a_delay_after_messages_is_described() -> None:
    """And a pull that is late, at the lost one."""
    (fact,) = differences(answered(), pull(2_100, 6), **WITH_INTERVAL)
    assert fact.expected == "the next pull of queue 0 of broker-a at least 500 ms after messages"
    assert fact.at_ns == ns(2_100)
    (fact,) = differences(stays, LOST, pull(7_600, 5), **wire())
    assert fact.expected == "a pull of queue 0 of broker-a within 6.5 s after one without an answer"
    assert fact.at_ns == ns(1_000)
