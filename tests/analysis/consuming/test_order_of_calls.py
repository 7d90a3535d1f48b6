"""Calls of one queue of an orderly group, by hand: one after the other, after a failure, and after another member's."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.core.tables.fault import FaultKind
from tests.analysis.consuming.group_story import Group, client_id, differences_without_messages, fault_row, ns

Change = Callable[[Group], object]

PARALLEL, REPEATED, OVERTAKEN, OWNERS, LOCK = (
    "parallel-calls",
    "repeated",
    "overtaken",
    "two-owners",
    "lock-not-awaited",
)


def differences(*changes: Change, **story: Any) -> list[DifferenceFact]:
    return differences_without_messages("delivery-order", *changes, **({"is_orderly": True} | story))


def found(*changes: Change, **story: Any) -> list[tuple[str, int]]:
    """Signatures, and the offset of the message that shows each."""
    facts = differences(*changes, **story)
    return [(fact.signature.removeprefix("delivery-order."), fact.send // 2) for fact in facts]


def call(offset: int, at_ms: float, end_ms: float | None, *more: int, **row: Any) -> Change:
    """A call with a message of broker-b's queue, and with more of them."""

    def change(group: Group) -> None:
        times, member = row.get("times", 0), row.get("member", 0)
        columns = {name: row[name] for name in row.keys() & {"result"}}
        end_ns = None if end_ms is None else ns(end_ms)
        group.deliver(2 * offset + 1, at_ms, member=member, times=times, end_ns=end_ns, **columns)
        made, first = group.calls[-1], group.deliveries[-1]
        made |= {name: row[name] for name in row.keys() & {"suspend_ms", "incarnation", "broker"}}
        for place, other in enumerate(more, start=1):
            again = row.get("more_times", times)
            group.deliveries.append(
                first | {"send": 2 * other + 1, "queue_offset": other, "place": place, "times": again}
            )

    return change


def fails(offset: int, at_ms: float, end_ms: float, *more: int, **row: Any) -> Change:
    return call(offset, at_ms, end_ms, *more, **({"result": "later", "suspend_ms": 50} | row))


def paused(from_ms: int, for_ms: int = 100, **row: Any) -> dict[str, Any]:
    return {"faults": [fault_row("broker-b", from_ms, for_ms) | row]}


ONCE: dict[str, Any] = {"settings": {"max_reconsume_times": 1}}
FIRST = call(0, 1_000, 1_010)


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([FIRST, call(1, 1_010, 1_020)], {}, [], id="one after the other"),
        pytest.param([FIRST, call(1, 1_009.9, 1_020)], {}, [(PARALLEL, 1)], id="before its end"),
        pytest.param([call(0, 1_000, None), call(1, 9_000, 9_010)], {}, [(PARALLEL, 1)], id="it does not end"),
        pytest.param([FIRST, call(2, 1_020, 1_030)], {}, [], id="one is left out"),
        pytest.param([FIRST, call(0, 1_020, 1_030)], {}, [(REPEATED, 0)], id="again"),
        pytest.param([FIRST, call(2, 1_020, 1_030), call(0, 1_040, 1_050)], {}, [(REPEATED, 0)], id="again later"),
        pytest.param([call(1, 1_000, 1_010), call(0, 1_020, 1_030)], {}, [(OVERTAKEN, 0)], id="in the other order"),
        pytest.param([FIRST, call(3, 1_020, 1_030), call(2, 1_040, 1_050)], {}, [(OVERTAKEN, 2)], id="one in the other order"),
        pytest.param([call(0, 1_000, 1_010, 1), call(2, 1_020, 1_030)], {}, [], id="two in a call"),
        pytest.param([call(1, 1_000, 1_010, 0), call(2, 1_020, 1_030)], {}, [], id="two in a call, in any order"),
        pytest.param([call(0, 1_000, 1_010, 1), call(1, 1_020, 1_030, 2)], {}, [(REPEATED, 1)], id="one of two again"),
        pytest.param([call(0, 1_000, 1_010, 2), call(1, 1_020, 1_030)], {}, [(OVERTAKEN, 1)], id="after one of two"),
        pytest.param([FIRST, *(call(0, at_ms, at_ms + 1) for at_ms in (1_020, 1_030))], {}, [(REPEATED, 0)], id="noted once"),
        pytest.param(
            [FIRST, call(0, 1_020, 1_030), call(2, 1_029, 1_040), call(1, 1_050, 1_060)],
            {},
            [(REPEATED, 0), (PARALLEL, 2), (OVERTAKEN, 1)],
            id="each kind",
        ),
        pytest.param([FIRST, call(0, 1_020, 1_030)], {"is_orderly": False}, [], id="at once"),
        pytest.param([fails(0, 1_000, 1_010), call(0, 1_040, 1_050)], {}, [], id="after a failure, and twenty milliseconds"),
        pytest.param([fails(0, 1_000, 1_010), call(0, 1_039.9, 1_050)], {}, [(REPEATED, 0)], id="sooner"),
        pytest.param([fails(0, 1_000, 1_010, suspend_ms=None), call(0, 1_990, 2_000)], {}, [], id="after the default"),
        pytest.param([fails(0, 1_000, 1_010, suspend_ms=None), call(0, 1_989, 2_000)], {}, [(REPEATED, 0)], id="sooner than it"),
        pytest.param([fails(0, 1_000, 1_010), call(1, 1_060, 1_070)], {}, [(OVERTAKEN, 1)], id="the next one instead"),
        pytest.param([fails(0, 1_000, 1_010, 1), call(0, 1_060, 1_070, 1)], {}, [], id="both again"),
        pytest.param([fails(0, 1_000, 1_010, 1), call(2, 1_060, 1_070)], {}, [(OVERTAKEN, 2)], id="the next one instead of both"),
        pytest.param([fails(0, 1_000, 1_010, times=1), call(1, 1_011, 1_070)], ONCE, [], id="it is sent away"),
        pytest.param([fails(0, 1_000, 1_010, times=1), call(0, 1_060, 1_070)], ONCE, [(REPEATED, 0)], id="it is sent away, and comes"),
        pytest.param([fails(0, 1_000, 1_010, times=1), call(0, 1_060, 1_070)], ONCE | paused(1_010), [], id="it may stay beside a fault"),
        pytest.param(
            [fails(0, 1_000, 1_010, times=1), call(0, 1_020, 1_070)], ONCE | paused(1_010), [(REPEATED, 0)], id="it comes too soon beside it"
        ),
        pytest.param([fails(0, 1_000, 1_010, times=1), call(0, 1_060, 1_070)], ONCE | paused(11_011), [(REPEATED, 0)], id="a fault later"),
        pytest.param(
            [fails(0, 1_000, 1_010, 1, times=1, more_times=0), call(2, 1_060, 1_070)], ONCE, [(OVERTAKEN, 2)], id="one of two stays"
        ),
        pytest.param([FIRST, call(0, 1_020, 1_030, broker="broker-a")], {}, [], id="of another queue"),
    ],
)  # fmt: skip
def test_a_call_follows_another(changes: list[Change], story: dict[str, Any], expected: list[tuple[str, int]]) -> None:
    """In the order of offsets; after a failure the same message, unless it is sent away; each kind once."""
    assert found(*changes, **story) == expected


def own_to(until_ms: float, since_ms: float | None, member: int = 1, **life: Any) -> Change:
    """Member 0 gives broker-b's queue up, and a member takes it; life: of the former."""

    def change(group: Group) -> None:
        if member:
            group.members.append(group.members[0] | {"member": member, "client_id": client_id(member)})
        group.own(until_ms, "a", "A", "B")
        if since_ms is not None:
            group.offset("query", since_ms, "broker-b", 0, member=member)
            group.own(since_ms, *("b" if member else "abAB"), member=member)
        group.members[0] |= life

    return change


def gone(at_ms: float, left_ms: float | None = None) -> dict[str, Any]:
    return {"leave_start_ns": ns(at_ms), "leave_end_ns": None if left_ms is None else ns(left_ms)}


def killed(at_ms: float) -> dict[str, Any]:
    return {"leave_start_ns": None, "leave_end_ns": None, "killed_ns": ns(at_ms), "ended": "killed"}


def stops(from_ms: float, until_ms: float) -> dict[str, Any]:
    return {"pauses": [{"from_ns": ns(from_ms), "until_ns": ns(until_ms)}]}


STAYS: dict[str, Any] = {"leave_start_ns": None, "leave_end_ns": None}

LONG = call(0, 4_900, 5_900)
"""Member 0's last call, which ends nine tenths of a second after it gave the queue up."""


def next_(at_ms: float, member: int = 1, **row: Any) -> Change:
    return call(1, at_ms, at_ms + 1, member=member, **row)


def also(at_ms: float) -> Change:
    """Member 0 goes on."""
    return call(2, at_ms, at_ms + 1)


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([own_to(5_000, 5_000), LONG, next_(5_900)], {}, [], id="after its end"),
        pytest.param([own_to(5_000, 5_000), LONG, next_(5_399.9)], {}, [(OWNERS, 1)], id="beside a call"),
        pytest.param([own_to(5_000, 5_000), LONG, next_(5_400)], {}, [], id="beside a call that has outlasted its lock"),
        pytest.param([own_to(5_000, 5_000), call(0, 4_900, 5_300), next_(5_300)], {}, [], id="as it ends"),
        pytest.param([own_to(5_000, 5_000), call(0, 4_900, 5_300), next_(5_299.9)], {}, [(OWNERS, 1)], id="just before"),
        pytest.param([own_to(5_000, 5_000), call(0, 4_900, None), next_(5_300)], {}, [], id="beside a call of unknown end"),
        pytest.param([own_to(5_000, 5_000, **gone(5_300)), LONG, next_(5_300)], {}, [], id="beside one that leaves"),
        pytest.param([own_to(5_000, 5_000, **gone(5_301)), LONG, next_(5_300)], {}, [(OWNERS, 1)], id="before it leaves"),
        pytest.param([own_to(5_000, 5_000, **STAYS), LONG, next_(5_950), also(5_960)], {}, [(OWNERS, 2)], id="it goes on beside it"),
        pytest.param([own_to(5_000, 5_000, **STAYS), LONG, next_(5_950), also(5_950)], {}, [(OWNERS, 1)], id="it goes on at once"),
        pytest.param([own_to(5_000, 5_000, **STAYS), LONG, next_(5_950), also(5_960), also(5_970)], {}, [(REPEATED, 2), (OWNERS, 2)], id="noted once"),
        pytest.param([own_to(5_000, 5_000, **STAYS), LONG, next_(5_950), also(5_960), call(3, 5_970, 5_971)], {}, [(OWNERS, 2)], id="the first of two"),
        pytest.param([own_to(5_000, 5_000), LONG, next_(5_950), also(5_960)], {}, [(OWNERS, 1)], id="it goes on before it leaves"),
        pytest.param([own_to(5_000, 5_000), LONG, also(5_910), next_(5_950)], {}, [], id="it has gone on before"),
        pytest.param([own_to(5_000, 5_000, **gone(4_000, 4_900)), LONG, next_(5_550), also(5_900)], {}, [], id="a second after it left"),
        pytest.param([own_to(5_000, 5_000, **gone(4_000, 4_900)), LONG, next_(5_550), also(5_900.1)], {}, [(OWNERS, 2)], id="longer after it"),
        pytest.param([own_to(5_000, 5_000, **gone(4_000)), LONG, next_(5_950), also(5_960)], {}, [(OWNERS, 2)], id="it may still be leaving"),
        pytest.param([own_to(5_000, 5_000, ended="died", **gone(4_000) | {"leave_start_ns": None}), LONG, next_(5_300)], {}, [], id="it died"),
        pytest.param([own_to(5_000, 5_000), LONG, next_(5_300)], paused(5_300), [], id="a fault as it begins"),
        pytest.param([own_to(5_000, 5_000), LONG, next_(5_300)], paused(5_301), [(OWNERS, 1)], id="a fault later"),
        pytest.param([own_to(5_000, 5_000), LONG, next_(5_300)], paused(-1_602), [], id="a fault as it took the queue"),
        pytest.param([own_to(5_000, 5_000), LONG, next_(5_300)], paused(-1_603), [(OWNERS, 1)], id="a fault before"),
        pytest.param([own_to(5_000, 5_000), LONG, next_(5_300)], paused(-1_603, healed_ns=None), [], id="a fault that does not end"),
        pytest.param([own_to(5_000, 5_000), LONG, next_(5_300)], paused(5_000, node="broker-a"), [(OWNERS, 1)], id="a fault of another"),
        pytest.param(
            [own_to(5_000, 5_000), LONG, next_(5_300)],
            {"faults": [fault_row("broker-b", 5_000, 100, kind=FaultKind.WIRE_RESET)]},
            [(OWNERS, 1)],
            id="a fault on the wire",
        ),
        pytest.param([own_to(5_000, 5_000, **stops(5_300, 5_301)), LONG, next_(5_300)], {}, [], id="it is paused as the next begins"),
        pytest.param([own_to(5_000, 5_000, **stops(5_301, 5_302)), LONG, next_(5_300)], {}, [(OWNERS, 1)], id="it is paused later"),
        pytest.param([own_to(9_000, 5_000, **killed(5_000)), FIRST, next_(5_000)], {}, [(LOCK, 1)], id="as it is killed"),
        pytest.param([own_to(9_000, 4_000, **killed(5_000)), FIRST, next_(4_999.999_999)], {}, [], id="before it is killed"),
        pytest.param([own_to(90_000, 39_000, **killed(5_000)), FIRST, next_(39_999.9)], {}, [(LOCK, 1)], id="before the lock runs out"),
        pytest.param([own_to(90_000, 39_000, **killed(5_000)), FIRST, next_(40_000)], {}, [], id="when the lock may have run out"),
        pytest.param([own_to(4_999, 5_000, **killed(5_000)), FIRST, next_(5_001)], {}, [], id="it had given the queue up"),
        pytest.param([own_to(5_000, 6_000, 0), call(0, 4_900, 6_500), next_(6_500, 0)], {}, [], id="the same member, after its call"),
        pytest.param([own_to(5_000, 6_000, 0), call(0, 4_900, 6_500), next_(6_499, 0)], {}, [(PARALLEL, 1)], id="the same, beside its call"),
        pytest.param([own_to(5_000, 6_000, 0), call(0, 4_900, None), next_(6_499, 0)], {}, [(PARALLEL, 1)], id="the same, beside one without an end"),
        pytest.param(
            [own_to(5_000, 6_000, 0), FIRST, call(1, 4_900, 6_500), call(2, 6_499, 6_600), call(3, 6_700, 6_701)], {}, [(PARALLEL, 2)], id="the same, beside its last call"
        ),
    ],
)  # fmt: skip
def test_a_member_takes_a_queue_over(
    changes: list[Change], story: dict[str, Any], expected: list[tuple[str, int]]
) -> None:
    """When the former member's calls are over, or its lock is, unless locks may have been lost."""
    assert found(*changes, **story) == expected


@pytest.mark.parametrize(
    ("changes", "expected", "observed"),
    [
        ([FIRST, call(1, 1_005, 1_020)], "one call at a time for queue 0 of broker-b", "another one has not ended"),
        ([FIRST, call(0, 1_020, 1_030)], "queue 0 of broker-b going on after offset 0, which was consumed", "offset 0 again"),
        ([call(1, 1_000, 1_010), call(0, 1_020, 1_030)], "queue 0 of broker-b in order, after offset 1", "offset 0"),
        ([fails(0, 1_000, 1_010), call(1, 1_060, 1_070)], "offset 0 again, which failed and holds queue 0 of broker-b up", "offset 1"),
        ([fails(0, 1_000, 1_010), call(0, 1_030, 1_070)], "offset 0 again 50 ms after its failure", "20 ms after it"),
        ([own_to(5_000, 5_000, **STAYS), LONG, next_(5_950), also(5_960), call(3, 5_970, 5_971)], "no call for queue 0 of broker-b by member 0, since member 1 has its lock", "offset 2"),
        ([own_to(5_000, 5_000), LONG, next_(5_300)], "no call for queue 0 of broker-b by member 1 before the one of member 0 has ended", "offset 1"),
        ([own_to(5_000, 6_000, 0), call(0, 4_900, 6_500), next_(6_499, 0)], "one call at a time for queue 0 of broker-b", "another one has not ended"),
        (
            [own_to(9_000, 5_000, **killed(5_000)), FIRST, next_(7_000)],
            "queue 0 of broker-b locked for member 0 for 35 s after its death",
            "member 1 consumes it after 2.0 s",
        ),
    ],
)  # fmt: skip
def test_a_call_is_described(changes: list[Change], expected: str, observed: str) -> None:
    """With what should have come."""
    (fact,) = differences(*changes)
    assert (fact.expected, fact.observed) == (expected, observed)


def test_a_message_that_was_sent_away_is_described() -> None:
    """With how often it had failed."""
    (fact,) = differences(fails(0, 1_000, 1_010, times=1), call(0, 1_060, 1_070), **ONCE)
    assert (fact.expected, fact.observed) == ("offset 0 sent away after its failure 2", "it comes again")
