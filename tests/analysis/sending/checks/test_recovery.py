"""How soon a client gets messages through again after a fault of its proxy, to the nanosecond."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.sending.checks.results import outcomes_evaluation
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from tests.analysis.builders import ENTRY, MS, S, ended, facts_of, fault, made, pair, signatures
from tests.analysis.sending.checks.builders import BASELINE, CANDIDATE

BACK = fault(10 * S, 14 * S, FaultKind.KILL_PROXY, "proxy-1")
GONE = fault(10 * S, None, FaultKind.KILL_PROXY, "proxy-1")
ONE, TWO = (replace(ENTRY, topology=f"two-masters-{proxies}") for proxies in ("proxy", "two-proxies"))

LATE_BACK = ["outcomes.recovered-late/kill-proxy 1"]
End = tuple[int, str | None]
"""When a send ended, in ns, and its error."""


def sends(arm: Arm, *ends: End, mode: SendMode = SendMode.SYNC) -> list[SendView]:
    each = enumerate(ends)
    return [made(arm, n, start_ns=end_ns - MS, end_ns=end_ns, error=error, mode=mode) for n, (end_ns, error) in each]


def found(
    candidate: Sequence[End],
    baseline: Sequence[End] = ((15 * S, None),),
    fault: FaultRecord = BACK,
    mode: SendMode = SendMode.SYNC,
) -> CaseFacts:
    """The facts of all observers of ``outcomes``; the candidate may be without a success for 6.3 s: see the test."""
    sides = [*sends(BASELINE, *baseline), *sends(CANDIDATE, *candidate, mode=mode)]
    aligned = [pair(side, None) if side.arm is BASELINE else pair(None, side) for side in sides]
    return facts_of(aligned, *outcomes_evaluation.CODE.observers, faults=[fault], entry=ONE if fault is BACK else TWO)


LIMIT = 14 * S + 6_300 * MS
LOST = "connection-lost"


@pytest.mark.parametrize(
    ("ends", "is_late"),
    [
        ([(LIMIT, None)], False),
        ([(LIMIT + 1, None)], True),
        ([(LIMIT, LOST)], False),
        ([(15 * S, LOST), (LIMIT + 1, LOST)], True),
        ([(15 * S, LOST), (LIMIT + 1, None), (LIMIT + S, None)], True),
        ([(15 * S, None), (LIMIT + S, None)], False),
        ([(15 * S, None), (15 * S + 6_300 * MS + 1, None)], True),
        ([(LIMIT + S, None), (16 * S, None)], False),
        ([(12 * S, None), (LIMIT, None)], False),
        ([(13 * S, LOST)], False),
    ],
)
def test_the_limit_follows_the_backoff(ends: list[End], is_late: bool) -> None:
    """
    After an absence of 4 s a client may be without a success for 6.3 s.

    One wait of 0.9 x 4 s + 1.2 s, the timeout of 0.5 s, and the baseline's 1 s.
    """
    facts = found(ends)
    late = [one for one in signatures(facts) if "recovered" in one]
    assert late == (LATE_BACK if is_late else [])
    if is_late:
        assert ended(outcomes_evaluation.evaluate(facts))[1] is ExitCode.DIVERGES
    assert "recovered" not in "".join(signatures(found(ends, mode=SendMode.ONEWAY)))


@pytest.mark.parametrize(("end_ns", "is_late"), [(12_700 * MS, False), (12_700 * MS + 1, True)])
def test_beside_another_proxy_the_time_begins_with_the_kill(end_ns: int, is_late: bool) -> None:
    """With another proxy there is no absence: the limit is the wait of 1.2 s, the timeout, and the baseline's 1 s."""
    late = found([(end_ns, None)], [(11 * S, None)], GONE)
    assert [one for one in signatures(late) if "recovered" in one] == (LATE_BACK if is_late else [])
    limit = (
        "no more than 2.7 s without a success after proxy-1 was killed beside another proxy: baseline's 1.0 s, one"
        " timeout, and one wait of gRPC's backoff"
    )
    examples = [each.example.expected for each in late.divergences.get("outcomes", ()) if "recovered" in each.signature]
    assert examples == [limit] * is_late


@pytest.mark.parametrize(
    ("unknown", "topology"),
    [(replace(BACK, heal_proven_ns=None), "two-masters-proxy"), (GONE, "two-masters-proxy")],
    ids=["an unproven end", "no other proxy"],
)
def test_without_a_proxy_to_reach_nothing_is_late(unknown: FaultRecord, topology: str) -> None:
    """Nothing is late while no proxy is known to answer."""
    sides = [pair(side, None) for side in sends(BASELINE, (15 * S, None))]
    sides += [pair(None, side) for side in sends(CANDIDATE, (90 * S, None))]
    entry = replace(ENTRY, topology=topology)
    facts = facts_of(sides, *outcomes_evaluation.CODE.observers, faults=[unknown], entry=entry)
    assert signatures(facts) == []


def test_a_send_that_never_returned_ends_no_gap() -> None:
    """It is no success, nor an end."""
    gone = replace(sends(CANDIDATE, (15 * S, None))[0], row=None)
    facts = facts_of([pair(None, gone)], *outcomes_evaluation.CODE.observers, faults=[BACK], entry=ONE)
    assert signatures(facts) == []


@pytest.mark.parametrize(
    ("baseline", "candidate", "times_ms"),
    [
        ([(15 * S, None)], [(17 * S, None)], {"baseline": 1_000, "candidate": 3_000}),
        ([(15 * S, None)], [(14 * S, None)], {"baseline": 1_000}),
        ([], [(90 * S, None)], {}),
    ],
)
def test_the_time_of_each_arm_is_a_measure(baseline: list[End], candidate: list[End], times_ms: dict[str, int]) -> None:
    """The longest time without a success, of an arm whose sends ended later; without the baseline's nothing is late."""
    facts = found(candidate, baseline)
    measures = outcomes_evaluation.evaluate(facts).measures
    assert [(one.name, one.value, one.unit) for one in measures if "without-success" in one.name] == [
        (f"longest-without-success-after-kill-proxy {arm}", ms, "ms") for arm, ms in times_ms.items()
    ]
    assert "recovered" not in "".join(signatures(facts))


def test_example_names_limit_and_time() -> None:
    """The example names the limit, its parts, and the time, also one open at the end."""
    facts = found([(24 * S, LOST)])
    (one,) = (each for each in facts.divergences["outcomes"] if "recovered" in each.signature)
    assert one.example.expected == (
        "no more than 6.3 s without a success after proxy-1 was back: baseline's 1.0 s, one timeout, and one wait of"
        " gRPC's backoff"
    )
    assert one.example.observed == "10.0 s without a success, to the end of the case"
    facts = found([(21 * S, None), (28 * S, None)])
    (one,) = (each for each in facts.divergences["outcomes"] if "recovered" in each.signature)
    assert one.example.where.number == 0
