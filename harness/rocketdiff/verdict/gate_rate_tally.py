"""Computes rates from the outcomes of control cases."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.core.answers.verdict import DECISIVE, CheckResult, Severity, Verdict
from rocketdiff.core.tables.checks import ABOUT_THE_RUN
from rocketdiff.verdict.calibration import Alarm, CheckRate, ClientRate, Controls, Found, ModeRate, Rate, SubjectRate

ALARMS = frozenset({Verdict.DIVERGES, Verdict.STALE, Verdict.ERROR})
"""Verdicts that fail a gate; for a client against itself each is a false alarm."""

EXAMPLE_CHARACTERS = 400
"""Length kept of a sentence: enough to recognise an alarm; the run directory has the rest."""


@dataclass(frozen=True, slots=True)
class TalliedAnswer:
    """One check's answer, reduced to what is counted."""

    check: str
    verdict: Verdict
    severity: Severity
    signatures: tuple[str, ...] = ()
    expected: str = ""
    observed: str = ""
    reason: str = ""

    @classmethod
    def of(cls, result: CheckResult) -> "TalliedAnswer":
        example = result.divergences[0].example if result.divergences else None
        return cls(
            check=result.check,
            verdict=result.verdict,
            severity=result.severity,
            signatures=tuple(divergence.signature for divergence in result.divergences),
            expected=example.expected[:EXAMPLE_CHARACTERS] if example else "",
            observed=example.observed[:EXAMPLE_CHARACTERS] if example else "",
            reason=result.reason[:EXAMPLE_CHARACTERS],
        )

    @property
    def gates(self) -> bool:
        """True if it could fail a run under the default policy."""
        return self.severity is Severity.MUST or self.verdict is Verdict.ERROR

    @property
    def is_alarm(self) -> bool:
        return self.gates and self.verdict in ALARMS

    @property
    def is_decided(self) -> bool:
        return self.verdict in DECISIVE

    @property
    def is_trial(self) -> bool:
        """True if it could have been an alarm: an answer that only warns contributes to no rate."""
        return self.is_alarm or (self.gates and self.is_decided)


@dataclass(frozen=True, slots=True)
class ControlOutcome:
    """
    One control case, or one gate run of several cases with its pooled checks.

    trouble: what ended it before it was judged; then there are no answers. cases_alarmed: a case of the gate run
    alarmed, which fails the run like a pooled check. mode: send mode of a case; empty for a gate run and in older
    journals.
    """

    number: int
    case: str
    subject: str
    answers: tuple[TalliedAnswer, ...]
    trouble: str = ""
    cases_alarmed: bool = False
    mode: str = ""

    @property
    def has_alarm(self) -> bool:
        return self.cases_alarmed or any(answer.is_alarm for answer in self.answers)

    @property
    def is_decided(self) -> bool:
        """True if a gating check about the client was decided; without one a case can neither pass nor fail."""
        return self.has_alarm or any(a.gates and a.is_decided and a.check not in ABOUT_THE_RUN for a in self.answers)

    @property
    def is_invalid(self) -> bool:
        return any(answer.gates and answer.verdict is Verdict.INVALID for answer in self.answers)


def summed(cases: Sequence[ControlOutcome], runs: Sequence[ControlOutcome]) -> Controls:
    """
    Return the rates over all control cases; ``runs``: the completed gate runs, with the answers of pooled checks.

    A gate run alarms if one of its pooled checks or one of its cases does.
    """
    decided = [case for case in cases if case.is_decided]
    pooled = [run for run in runs if run.has_alarm or any(answer.is_trial for answer in run.answers)]
    return Controls(
        cases=len(cases),
        invalid=sum(case.is_invalid for case in cases),
        broke_off=sum(bool(case.trouble) for case in cases),
        alarms_per_case=Rate.of(sum(case.has_alarm for case in decided), len(decided)),
        alarms_per_run=Rate.of(sum(run.has_alarm for run in pooled), len(pooled)),
        checks=_checks([*cases, *runs]),
        subjects=tuple(SubjectRate(*row) for row in _cut(decided, lambda case: case.subject).items()),
        alarms=tuple(alarm for outcome in (*cases, *runs) for alarm in _alarms(outcome)),
        modes=tuple(
            ModeRate(*row) for row in _cut([case for case in decided if case.mode], lambda case: case.mode).items()
        ),
        clients=tuple(ClientRate(*row) for row in _cut(decided, lambda case: case.subject.partition(":")[0]).items()),
    )


def _checks(outcomes: Iterable[ControlOutcome]) -> tuple[CheckRate, ...]:
    """
    Rates by check. A check that is only measured (``info``) in a case is counted in the pool.

    A gate run asks a check of several pools with overlapping samples: together they are one trial.
    """
    trials: defaultdict[str, list[list[TalliedAnswer]]] = defaultdict(list)
    for outcome in outcomes:
        answers: defaultdict[str, list[TalliedAnswer]] = defaultdict(list)
        for answer in outcome.answers:
            if answer.severity is not Severity.INFO:
                answers[answer.check].append(answer)
        for check, own in answers.items():
            trials[check].append(own)
    return tuple(_check(check, trials[check]) for check in sorted(trials))


def _check(check: str, trials: Sequence[Sequence[TalliedAnswer]]) -> CheckRate:
    decided = [answers for answers in trials if any(answer.is_trial for answer in answers)]
    return CheckRate(
        check=check,
        alarms=Rate.of(sum(any(answer.is_alarm for answer in answers) for answers in decided), len(decided)),
        without_answer=sum(not any(answer.is_trial or answer.is_decided for answer in answers) for answers in trials),
        warnings=sum(answer.verdict in ALARMS and not answer.gates for answers in trials for answer in answers),
    )


def _cut(decided: Iterable[ControlOutcome], part: Callable[[ControlOutcome], str]) -> Mapping[str, Rate]:
    """Alarms by part of the decided cases."""
    parts: defaultdict[str, list[bool]] = defaultdict(list)
    for case in decided:
        parts[part(case)].append(case.has_alarm)
    return {name: Rate.of(sum(alarms), len(alarms)) for name, alarms in sorted(parts.items())}


def _alarms(outcome: ControlOutcome) -> Iterable[Alarm]:
    return (
        Alarm(
            outcome.number,
            outcome.case,
            answer.check,
            answer.verdict,
            answer.signatures,
            answer.expected,
            answer.observed,
        )
        for answer in outcome.answers
        if answer.is_alarm
    )


@dataclass(frozen=True, slots=True)
class KnownOutcome:
    """One repetition of a case covered by a ledger entry; seen is None if its check was not decided."""

    entry: str
    baseline: str
    candidate: str
    check: str
    seen: bool | None


def found(outcomes: Sequence[KnownOutcome]) -> tuple[Found, ...]:
    """Return how often each entry's divergence was seen, in order of first appearance."""
    groups: defaultdict[tuple[str, str, str, str], list[bool | None]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.entry, outcome.baseline, outcome.candidate, outcome.check].append(outcome.seen)
    return tuple(
        Found(*key, seen=Rate.of(sum(seen is True for seen in rows), _decided(rows)), without_answer=rows.count(None))
        for key, rows in groups.items()
    )


def _decided(answers: Sequence[bool | None]) -> int:
    return sum(seen is not None for seen in answers)
