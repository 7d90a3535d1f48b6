"""The checks ``protocol`` and ``validity`` on a manually built case."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.protocol import protocol, validity
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.answers.verdict import Example
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.run_info import Guard
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.traces.manifest import ArmSummary, Breach, CaseStatus
from tests.analysis.builders import ENTRY, SUBJECTS, S, ended, fault
from tests.analysis.sending.checks.builders import BASELINE, CANDIDATE

WHOLE = ArmSummary(sends=10, attempts=10, unanswered=0, done=True)


def case(candidate: ArmSummary | None = WHOLE, baseline: ArmSummary | None = WHOLE, **entry: Any) -> CaseFacts:
    """Journals of both arms; None: never sealed."""
    arms = {arm: one for arm, one in ((BASELINE, baseline), (CANDIDATE, candidate)) if one is not None}
    return CaseFacts("r1", SUBJECTS, replace(ENTRY, sends_planned=10, arms=arms, **entry))


def found(facts: CaseFacts) -> list[tuple[str, str, int]]:
    """Signature, client and count; the exit code must match."""
    evidence = protocol.evaluate(facts)
    if evidence.standing is Standing.DECISIVE:
        assert ended(evidence)[1] is (ExitCode.DIVERGES if evidence.divergences else ExitCode.CONFORMS)
    return [
        (divergence.signature.removeprefix("protocol."), divergence.subject.partition(":")[0], divergence.count)
        for divergence in evidence.divergences
    ]


def troubled(*troubles: str, count: int | None = None) -> ArmSummary:
    return replace(WHOLE, troubles=troubles, trouble_count=len(troubles) if count is None else count)


@pytest.mark.parametrize(
    ("summary", "wanted"),
    [
        (WHOLE, []),
        (replace(WHOLE, unanswered=3), [("incomplete", "python", 3)]),
        (replace(WHOLE, done=False), [("incomplete", "python", 1)]),
        (replace(WHOLE, failure="warm-up: none", unanswered=3, done=False), [("failed", "python", 1)]),
        (troubled("send 3 reported before"), [("answered-twice", "python", 1)]),
        (troubled("send 3 told before"), [("answered-twice", "python", 1)]),
        (troubled("a request was on the wire but not reported by the client"), [("attempt-not-told", "python", 1)]),
        (troubled("a request which the client did not tell"), [("attempt-not-told", "python", 1)]),
        (troubled("a call ended without having begun"), [("call-order", "python", 1)]),
        (troubled("a line of an incarnation that was never ordered"), [("before-join", "python", 1)]),
        (troubled("send 99: no such send was planned"), [("unknown-send", "python", 1)]),
        (troubled("send 3 planned for thread 1"), [("wrong-thread", "python", 1)]),
        (troubled("send 3 has impossible times"), [("impossible-times", "python", 1)]),
        (troubled("line 9 is not a record"), [("bad-line", "python", 1)]),
        (
            troubled("send 3 reported before", "line 9 is not a record", "send 4 reported before", count=9),
            [("answered-twice", "python", 8), ("bad-line", "python", 1)],
        ),
    ],
)
def test_how_an_arm_may_break_the_protocol(summary: ArmSummary, wanted: list[tuple[str, str, int]]) -> None:
    """Troubles count by kind, those without a text with the first; a subject that gave up has only that."""
    assert found(case(summary)) == wanted
    assert found(case(WHOLE, summary)) == [(name, "java", count) for name, _, count in wanted]


def test_example_has_the_readers_words() -> None:
    """The example has the reader's words, or the counts."""
    evidence = protocol.evaluate(case(replace(WHOLE, unanswered=3, done=False)))
    assert evidence.divergences[0].example == Example(
        NOWHERE, "protocol", "every send answered, then done", "3 of 10 sends without an answer, done=False"
    )
    assert protocol.evaluate(case(replace(WHOLE, failure="no"))).divergences[0].example.observed == "no"
    assert protocol.evaluate(case(troubled("a reported before", "b reported before"))).divergences[
        0
    ].example.observed == ("a reported before")
    hidden = protocol.evaluate(case(troubled("a not reported by the client", "b reported before"))).divergences
    assert [one.example.expected for one in hidden] == [
        "every request reported as an attempt",
        "every line a record that fits the plan",
    ]
    figures = [
        (measure.name, measure.value, measure.unit, measure.n)
        for measure in protocol.evaluate(case(replace(WHOLE, sends=7))).measures
    ]
    assert figures == [("answered-sends baseline", 10, "count", 10), ("answered-sends candidate", 7, "count", 10)]
    assert protocol.evaluate(case(replace(WHOLE, sends=7))).decisions == 17


@pytest.mark.parametrize("arms", [{"candidate": None}, {"baseline": None}, {"candidate": None, "baseline": None}])
def test_a_journal_that_was_never_sealed_is_invalid(arms: dict[str, Any]) -> None:
    """A journal of either arm that was never sealed makes the check invalid."""
    evidence = protocol.evaluate(case(**arms))
    assert (evidence.standing, evidence.reason) == (Standing.INVALID, "the journals of the arms were never sealed")


DIED = Breach("protocol.died", "a living subject", "exit code 137 in stage SENDING")

UNREADY = Breach("protocol.stalled", "ready within 60 s", "silence in stage PREPARING")

UNHEARD = Breach("protocol.stalled", "hello within 60 s", "silence")

WARM_UP = Breach("protocol.failed", "the subject to go on", "warm-up: no connection: timed out")

SETUP = Breach("protocol.failed", "the subject to go on", "setup: NoSuchFieldError")

STALLED = Breach("protocol.stalled", "an answer within 60 s", "silence in stage SENDING")

FAILED = Breach("protocol.failed", "the subject to go on", "sends: timed out")

DIED_EARLY = Breach("protocol.died", "ready within 60 s", "setup: timed out")


@pytest.mark.parametrize(
    ("candidate", "baseline", "is_invalid"),
    [
        (DIED, None, False),
        (UNREADY, None, True),
        (UNHEARD, None, True),
        (WARM_UP, None, True),
        (SETUP, None, False),
        (STALLED, None, False),
        (FAILED, None, False),
        (DIED_EARLY, None, False),
        (None, UNREADY, True),
        (SETUP, SETUP, True),
        (SETUP, UNREADY, True),
        (UNREADY, DIED, False),
        (UNREADY, STALLED, False),
        (SETUP, DIED, False),
    ],
)
def test_an_arm_that_was_never_ready_shows_nothing_if_time_ran_out(
    candidate: Breach | None, baseline: Breach | None, is_invalid: bool
) -> None:
    """An arm that ran out of time, or two that could not start, are invalid, unless the other arm's end is its own doing."""
    breaches = {arm: one for arm, one in ((CANDIDATE, candidate), (BASELINE, baseline)) if one is not None}
    evidence = protocol.evaluate(case(breaches=breaches))
    assert (evidence.standing is Standing.INVALID) is is_invalid
    assert [divergence.signature for divergence in evidence.divergences] == [
        breaches[arm].signature for arm in Arm if arm in breaches
    ]
    if is_invalid:
        lost = [arm for arm in Arm if arm in breaches]
        assert evidence.reason == "; ".join(
            f"{SUBJECTS[arm]} was never ready to send: {breaches[arm].seen}" for arm in lost
        )


SILENT = replace(WHOLE, sends=0, attempts=0, unanswered=10, done=False)

BAD_LINE = Breach("protocol.bad-line", "one JSON record a line", "Welcome!")


@pytest.mark.parametrize(
    ("candidate", "baseline", "sends", "is_invalid"),
    [
        (DIED, DIED, (0, 0), True),
        (BAD_LINE, BAD_LINE, (0, 0), True),
        (STALLED, DIED, (0, 0), True),
        (DIED, DIED, (1, 0), False),
        (DIED, DIED, (0, 1), False),
        (DIED, None, (0, 10), False),
        (None, DIED, (10, 0), False),
    ],
)
def test_two_arms_that_break_off_before_any_send_show_nothing(
    candidate: Breach | None, baseline: Breach | None, sends: tuple[int, int], is_invalid: bool
) -> None:
    """Two arms that broke off before a send ended are a broken set-up, with what each wrote; a single one is a result."""
    breaches = {arm: one for arm, one in ((CANDIDATE, candidate), (BASELINE, baseline)) if one is not None}
    summaries = [replace(WHOLE if number == 10 else SILENT, sends=number) for number in sends]
    evidence = protocol.evaluate(case(*summaries, breaches=breaches))
    assert ended(evidence)[1] is (ExitCode.INCONCLUSIVE if is_invalid else ExitCode.DIVERGES)
    if is_invalid:
        assert evidence.reason == "; ".join(f"{SUBJECTS[arm]} never ended a send: {breaches[arm].seen}" for arm in Arm)


@pytest.mark.parametrize(
    "seen",
    ["RemotingTimeoutException", "it Timed-Out", "connect timed out", "RemotingConnectException", "No Route info"],
)
def test_timeouts_in_a_clients_words_are_recognised(seen: str) -> None:
    """A client's own words for a timeout are recognised before its sends, not in them."""
    for stage, invalid in (("warm-up:", True), ("setup:", True), ("sends:", False)):
        breach = Breach("protocol.failed", "the subject to go on", f"{stage} {seen}")
        evidence = protocol.evaluate(case(breaches={CANDIDATE: breach}))
        assert (evidence.standing is Standing.INVALID) is invalid


def test_an_unready_arm_does_not_hide_the_others_missing_answers() -> None:
    """An unready arm does not hide three missing answers of the other."""
    evidence = protocol.evaluate(case(replace(WHOLE, unanswered=3), breaches={BASELINE: UNREADY}))
    assert evidence.standing is Standing.DECISIVE
    assert [divergence.signature for divergence in evidence.divergences] == ["protocol.stalled", "protocol.incomplete"]
    unsealed = protocol.evaluate(case(None, breaches={BASELINE: UNREADY}))
    assert (unsealed.standing, unsealed.reason) == (
        Standing.INVALID,
        "java:5.3.3 was never ready to send: silence in stage PREPARING",
    )


def test_a_breach_is_reported_once_and_never_in_an_aborted_case() -> None:
    """A breach explains what is missing, but not other troubles; an aborted case has no divergence."""
    breach = Breach("protocol.answered-twice", "one answer", "two")
    summary = replace(troubled("send 3 reported before", "line 9 is not a record"), unanswered=4, done=False)
    facts = case(summary, breaches={CANDIDATE: breach})
    assert found(facts) == [("answered-twice", "python", 1), ("bad-line", "python", 1)]
    aborted = protocol.evaluate(replace(facts, entry=replace(facts.entry, status=CaseStatus.ABORTED)))
    assert (aborted.standing, aborted.divergences) == (Standing.INVALID, ())


UNPROVEN = replace(fault(S, 2 * S), proven_ns=None)

ENDLESS = replace(fault(S, 2 * S), heal_proven_ns=None)


@pytest.mark.parametrize(
    ("faults", "reported"),
    [
        ((fault(S, 2 * S),), ""),
        ((UNPROVEN,), "pause of broker-b in episode 1 was never shown to be in effect"),
        ((ENDLESS,), "the end of the pause of broker-b in episode 1 was never shown"),
        ((replace(ENDLESS, kind=FaultKind.KILL),), ""),
        ((replace(ENDLESS, kind=FaultKind.KILL_SLAVE),), ""),
        (
            (replace(ENDLESS, kind=FaultKind.WIRE_RESET),),
            "the end of the wire-reset of broker-b in episode 1 was never shown",
        ),
        ((replace(UNPROVEN, kind=FaultKind.KILL),), "kill of broker-b in episode 1 was never shown to be in effect"),
    ],
)
@pytest.mark.parametrize("held", [True, False])
def test_a_case_is_worth_judging_where_guards_held_and_faults_were_shown(
    faults: tuple[FaultRecord, ...], reported: str, held: bool
) -> None:
    """Broken guards and unproven faults make ``validity`` invalid, with each reason; a kill need not end."""
    guards = (Guard("start-spread", held, "50 ms", "70 ms"), Guard("control", True, "a", "b"))
    evidence = validity.evaluate(replace(case(guards=guards), faults=faults))
    reported = "; ".join(one for one in ("" if held else "start-spread: expected 50 ms, saw 70 ms", reported) if one)
    assert (evidence.standing, evidence.reason) == ((Standing.INVALID if reported else Standing.DECISIVE), reported)
    assert evidence.decisions == 3
    assert ended(evidence)[1] is (ExitCode.INCONCLUSIVE if reported else ExitCode.CONFORMS)


def test_measured_numbers_have_the_unit_of_their_name() -> None:
    """A measured number has the first unit in its name, or is a count."""
    measured = {
        "start_spread_ns": 7,
        "late_ms_baseline": 1.5,
        "achieved_per_s": 99,
        "took_s": 3,
        "sends": 4,
        "ns_of_it": 2,
    }
    reported = [
        (measure.name, measure.value, measure.unit, measure.n)
        for measure in validity.evaluate(case(measured=measured)).measures
    ]
    assert reported == [
        ("start_spread_ns", 7.0, "ns", 1),
        ("late_ms_baseline", 1.5, "ms", 1),
        ("achieved_per_s", 99.0, "1/s", 1),
        ("took_s", 3.0, "s", 1),
        ("sends", 4.0, "count", 1),
        ("ns_of_it", 2.0, "ns", 1),
    ]
    assert all(isinstance(measure.value, float) for measure in validity.evaluate(case(measured=measured)).measures)
