"""Manually built sends, counts and judgements of the tests of checks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.facts import OutageValue
from rocketdiff.analysis.sending.checks.by_rules.replay_checks import JUDGED, RULES
from rocketdiff.analysis.sending.checks.results.outcomes import Outcomes
from rocketdiff.analysis.sending.send_view import Copy, SendView
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Divergence, Example, Severity, Verdict
from rocketdiff.core.answers.where import Place
from rocketdiff.core.answers.where import at as where
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.message import body_digest, padded, properties_text
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import OTHER_CLASS, OUT_OF_TURN, USED_AVOIDED_BROKER, WENT_ON
from rocketdiff.oracle.producer.asynchronous.habits import AsyncHabits
from rocketdiff.oracle.producer.judgement import Decision, DifferenceKind, RuleDifference, SendJudgement
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.verdict.counts import with_count_divergences
from tests.analysis.builders import ENTRY, MS, SUBJECTS, S, ended, facts_of, fault, made, pair, tried

BASELINE, CANDIDATE = Arm.BASELINE, Arm.CANDIDATE
DECISIVE, INDECISIVE = Standing.DECISIVE, Standing.INDECISIVE
NOT_APPLICABLE, INVALID = Standing.NOT_APPLICABLE, Standing.INVALID
SLOW, RESERVE = "RemotingTimeoutException", "FLUSH_DISK_TIMEOUT"
LOST, CONNECT, REFUSED = "RemotingSendRequestException", "RemotingConnectException", "MQBrokerException"
ONEWAY, ASYNC = SendMode.ONEWAY, SendMode.ASYNC
CONFUSED = AsyncHabits(loses_callbacks=False, confuses_answers=True)
PAUSE = fault(10 * S, 12 * S)
FAILED, OK = tried(10 * S, 11 * S, SLOW), tried(11 * S, 11 * S + MS, attempt=1)
NO_CLOCK = replace(ENTRY, clock=None)
FOUND = (Divergence("x", SUBJECTS[CANDIDATE], 1, Example(where(Place.SEND, 0, 0, None), "calm", "a", "b")),)

Tallies = dict[TallyKey, tuple[int, float]]
Ended = tuple[Verdict, Severity, ExitCode]
PASSES = (Verdict.CONFORMS, Severity.MUST, ExitCode.CONFORMS)
OPEN = (Verdict.INCONCLUSIVE, Severity.MUST, ExitCode.INCONCLUSIVE)
SHOWN = (Verdict.INCONCLUSIVE, Severity.SHOULD, ExitCode.CONFORMS)
VOID = (Verdict.INVALID, Severity.MUST, ExitCode.INCONCLUSIVE)
DIVERGES = (Verdict.DIVERGES, Severity.MUST, ExitCode.DIVERGES)

PublishList = tuple[tuple[str, int], ...]
ALL_QUEUES: PublishList = tuple((f"broker-{name}", queue) for name in "ab" for queue in range(4))


def at(broker: str = "broker-b", queue_id: int = 0, offset: int = 0, stored_ms: int = 0, *, whole: bool = True) -> Copy:
    """A message without properties."""
    return Copy(broker, queue_id, offset, stored_ms, whole)


def copied(send: int = 0, *, broker: str = "broker-b", queue_id: int = 0, offset: int = 0, at_ms: int = 0, born_ms: int | None = None, **properties: str) -> Copy:  # fmt: skip
    """A message with its id, a body of 32 bytes and these properties."""
    carried = properties_text({"rocketdiff.id": f"r/{send}", **properties})
    digest = body_digest(padded(f"r/{send}", 32))
    return Copy(broker, queue_id, offset, at_ms, True, 0, carried, digest, 0, born_ms)


def stored_send(arm: Arm, *copies: Copy, number: int = 0, kept: tuple[Copy, ...] = (), **row: Any) -> SendView:
    """An acknowledged send of 10 ms with these copies. kept: those kept back for their delay."""
    return replace(made(arm, number, tried(S, S + 10 * MS), copies=copies, **row), kept=kept)


def send(judgement: SendJudgement | None, *each: Attempt, arm: Arm = CANDIDATE, **row: Any) -> SendView:
    """Return a send with a judgement, beside the pause of a broker."""
    return made(arm, 0, *each, judgement=judgement, faults=(PAUSE,), **row)


def facts_alone(make: Any, *sides: SendView, **named: Any) -> CaseFacts:
    """The facts of sends that each arm made alone."""
    return facts_of([pair(side, None) if side.arm is BASELINE else pair(None, side) for side in sides], make, **named)


def examples(facts: CaseFacts) -> dict[str, tuple[str, str]]:
    """Expected and observed, by signature without its check."""
    return {
        divergence.signature.partition(".")[2]: (divergence.example.expected, divergence.example.observed)
        for each in facts.divergences.values()
        for divergence in each
    }


def tallied(baseline: int, candidate: int, name: str, key: str, total: float = 0.0) -> Tallies:
    """One tally per arm, without zeros."""
    both = zip(Arm, (baseline, candidate), strict=True)
    return {(name, arm, "calm", key): (n, total * n) for arm, n in both if n}


SOUND = (tallied(100, 100, "attempt", "broker-a"), tallied(100, 100, RULES, JUDGED), tallied(100, 100, "sends", "ok"))
"""Tallies of a case whose sends were all witnessed and judged."""


def case_of(*tallies: Tallies, check: str = "", kinds: tuple[FaultKind, ...] = ()) -> CaseFacts:
    """Tallies of a case. check: one with a divergence."""
    together = {key: value for each in tallies for key, value in each.items()}
    faults = tuple(fault(S, 2 * S, kind) for kind in kinds)
    found = {check: FOUND} if check else {}
    return CaseFacts("r1", SUBJECTS, ENTRY, tallies=together, faults=faults, divergences=found)


def sound_case(tallies: Tallies, timeout_ms: int = 500, episodes: Sequence[OutageValue] = ()) -> CaseFacts:
    """A sound case with these counts and this timeout."""
    entry = replace(ENTRY, settings=ClientSettings(send_msg_timeout_ms=timeout_ms))
    return CaseFacts("r1", SUBJECTS, entry, tallies=tallies, episodes=tuple(episodes))


def facts_of_outcomes(*sends: Any, faults: Sequence[FaultRecord] = (), entry: Any = ENTRY, **named: Any) -> CaseFacts:
    return facts_of(sends, Outcomes, faults=faults, entry=entry, **named)


def standing_of(evidence: Evidence) -> tuple[Standing, str, int]:
    return evidence.standing, evidence.reason, evidence.decisions


def end_of(evidence: Evidence) -> Ended:
    """Verdict, severity and exit code; counts are tested first, as in ``judge``."""
    (tested,) = with_count_divergences([evidence], baseline=SUBJECTS[BASELINE], candidate=SUBJECTS[CANDIDATE])
    result, code = ended(tested)
    return result.verdict, result.severity, code


def decision(attempt: int = 0, legal: int = 1, total: int = 8, avoided: int = 0) -> Decision:
    return Decision(attempt, total, legal, avoided)


SIGNATURE_OF = {
    DifferenceKind.QUEUE: OUT_OF_TURN,
    DifferenceKind.AVOIDANCE: USED_AVOIDED_BROKER,
    DifferenceKind.ATTEMPTS: WENT_ON,
    DifferenceKind.ERROR: OTHER_CLASS,
}
"""A signature of each kind of difference."""


def judged(
    *decisions: Decision,
    kind: DifferenceKind | None = None,
    attempt: int | None = None,
    undecided: str | None = None,
) -> SendJudgement:
    """A send's judgement by the rules. kind: the kind of its difference."""
    found = None if kind is None else RuleDifference(kind, SIGNATURE_OF[kind].name, attempt, "this", "that", {"why": 1})
    return SendJudgement(0, 0, decisions, found, 1, undecided)


class _Lists:
    """Publish lists of a case."""

    def __init__(
        self, lists: dict[Arm, dict[int, PublishList]], entry: CaseEntry, faults: Sequence[FaultRecord]
    ) -> None:
        self.entry, self.faults, self._lists = entry, faults, lists

    def routes(self, arm: Arm) -> dict[int, PublishList]:
        return self._lists.get(arm, {})


def trace_of_lists(
    baseline: dict[int, PublishList] | None = None,
    candidate: dict[int, PublishList] | None = None,
    entry: CaseEntry = ENTRY,
    faults: Sequence[FaultRecord] = (),
) -> CaseTrace:
    """A trace with these publish lists, by number of the route; None: the arm reported none."""
    lists = {arm: one for arm, one in ((BASELINE, baseline), (CANDIDATE, candidate)) if one is not None}
    return cast(CaseTrace, _Lists(lists, entry, faults))
