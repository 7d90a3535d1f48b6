"""`rocketdiff identify`: finds the releases that explain the sends of a stored run, judged by every release's rules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rocketdiff.analysis.case_trace import CaseTrace, read_case
from rocketdiff.analysis.sending.sends import sends_of
from rocketdiff.analysis.sending.steps.rulebook import ArmRules, is_asynchronous
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.lab.history.groups_page import span
from rocketdiff.oracle.producer.durations import IS_CERTAIN
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.golden.files import Golden, load_golden
from rocketdiff.simulation.golden.standard import SCRIPTS, StandardScript, load_standard
from rocketdiff.simulation.script.depths import roles_named
from rocketdiff.simulation.script.steps.sending import SENDING_DEPTHS
from rocketdiff.traces.run_directory import RunDirectory
from rocketmq_reference.dialects import dialect_of

_BY_SCRIPTS = "rocketdiff identify patched.jar@5.3.3 --role consumer, which executes the client"

SILENCE = "RemotingTimeoutException"
BROKEN = ("RemotingConnectException", "RemotingSendRequestException")
ERROR_ANSWER = "MQBrokerException"

Contradiction = tuple[str, str, str]
"""The place where a release first differs from an observation, the expected value, and the observed value."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """Releases with the same contradiction: its place, the expected and the observed value."""

    releases: tuple[str, ...]
    where: str
    expected: str
    seen: str


@dataclass(frozen=True, slots=True)
class Identified:
    """
    The result for one client.

    releases: those that explain everything. telling: number of observations that contradict some release. undecided:
    observations that could not be judged. unexercised: situations that did not occur. separating: scripts that distinguish
    the remaining releases.
    """

    releases: tuple[str, ...]
    rejected: tuple[Rejected, ...]
    telling: int
    observations: int
    unexercised: tuple[str, ...]
    separating: tuple["Separator", ...]
    undecided: int = 0


@dataclass(frozen=True, slots=True)
class Separator:
    """A standard script and its partition of the remaining releases."""

    script: StandardScript
    parts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class GoldenAnswers:
    """The standard scripts with every release's answers, from which separators are chosen."""

    standard: Sequence[StandardScript]
    golden: Mapping[str, Golden]


@dataclass(slots=True)
class Coverage:
    """Situations that occurred at least once; releases that differ only in others cannot be told apart."""

    retry: bool = False
    fault_latency: bool = False
    silent_broker: bool = False
    broken_connection: bool = False
    error_answer: bool = False
    asynchronous_send: bool = False
    one_way_send: bool = False

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(field.name.replace("_", " ") for field in fields(self) if not getattr(self, field.name))


def exit_code(found: Identified) -> ExitCode:
    """Return DIVERGES if no release remains, NOTHING_DECISIVE if none is rejected, else CONFORMS."""
    if not found.releases:
        return ExitCode.DIVERGES
    return ExitCode.CONFORMS if found.rejected else ExitCode.NOTHING_DECISIVE


@dataclass(frozen=True, slots=True)
class Trial:
    """The observed sends of one arm of one case."""

    case: CaseTrace
    arm: Arm
    sends: tuple[Send, ...]

    def judged_by(self, release: str) -> Iterator[SendJudgement]:
        shared = self.case.entry.threads > 1 and self.case.entry.settings.send_latency_fault_enable
        asynchronous = is_asynchronous(self.case)
        return ArmRules(self.case, self.arm, release, shared, asynchronous).judge_together(self.sends)


def require_producers(role: str) -> None:
    """Raise UsageError if a run is to be told by something else than its producers."""
    if ClientRole.PRODUCER not in roles_named(role):
        raise UsageError("--role producer or both with a run directory", seen=role, hint=_BY_SCRIPTS)


def identify_run(path: Path, subject: str | None, arm: str | None, case: str | None) -> Identified:
    """Identify the releases whose rules explain an arm of a run, in all its cases or in one."""
    run = RunDirectory.open(path)
    about = next((entry for entry in run.manifest.cases if entry.role is not ClientRole.PRODUCER), None)
    if about is not None:
        raise UsageError(
            "a run about producers: only their rules tell releases apart",
            seen=f"{about.name}, about a {about.role}",
            hint=_BY_SCRIPTS,
        )
    trials = tuple(_trials(run, _arm(run, subject, arm), case))
    contradictions: dict[str, Contradiction | None] = {}
    telling: set[tuple[int, int, int]] = set()
    undecided: set[tuple[int, int, int]] = set()
    judged: dict[str, str] = {}
    for release in client_releases():
        dialect = dialect_of(release).name
        if dialect not in judged:
            judged[dialect] = release
            contradictions[release] = _contradiction_of_rules(trials, release, telling, undecided)
        else:
            contradictions[release] = contradictions[judged[dialect]]
    explaining = _explaining(contradictions)
    return Identified(
        releases=explaining,
        rejected=_rejected(contradictions),
        telling=len(telling),
        observations=sum(len(trial.sends) for trial in trials),
        undecided=len(undecided),
        unexercised=_coverage(trials).missing,
        separating=separators(explaining, _known()),
    )


def _contradiction_of_rules(
    trials: tuple[Trial, ...],
    release: str,
    telling: set[tuple[int, int, int]],
    undecided: set[tuple[int, int, int]],
) -> Contradiction | None:
    """The first send that contradicts a release's rules; adds to ``telling`` and ``undecided``."""
    first: Contradiction | None = None
    for trial in trials:
        for judgement in trial.judged_by(release):
            place = (trial.case.entry.number, judgement.thread, judgement.send)
            if judgement.undecided is not None:
                undecided.add(place)
            if judgement.difference is not None and judgement.difference.detail.get(IS_CERTAIN, True):
                telling.add(place)
                where = f"{trial.case.entry.name}, send {judgement.send}: {judgement.difference.signature}"
                first = first or (where, judgement.difference.expected, judgement.difference.observed)
    return first


def _trials(run: RunDirectory, arm: Arm, case: str | None) -> Iterator[Trial]:
    entries = run.manifest.cases
    chosen = [entry.number for entry in entries if case in (None, str(entry.number), entry.name, entry.scenario)]
    if not chosen:
        known = ", ".join(f"{entry.number}: {entry.scenario}" for entry in entries)
        raise UsageError("--case with a case of the run", seen=case or "none", hint=known)
    for number in chosen:
        trace = read_case(run, number)
        yield Trial(trace, arm, tuple(view.row for view in sends_of(trace, arm) if view.row is not None))


def _arm(run: RunDirectory, subject: str | None, arm: str | None) -> Arm:
    """The requested arm; by default the candidate."""
    if arm is not None and arm not in list(Arm):
        raise UsageError("--arm baseline or candidate", seen=arm)
    fitting = [each for each in Arm if arm in (None, each) and subject in (None, run.subject(each))]
    if not fitting:
        names = ", ".join(f"{each}: {run.subject(each)}" for each in Arm)
        raise UsageError("an arm of the run", seen=" ".join(filter(None, (arm, subject))), hint=names)
    return Arm.CANDIDATE if Arm.CANDIDATE in fitting else fitting[0]


def _coverage(trials: tuple[Trial, ...]) -> Coverage:
    found = Coverage()
    for trial in trials:
        found.fault_latency |= trial.case.entry.settings.send_latency_fault_enable
        for send in trial.sends:
            found.asynchronous_send |= send.mode is SendMode.ASYNC
            found.one_way_send |= send.mode is SendMode.ONEWAY
            errors = [attempt.error for attempt in send.attempts]
            found.retry |= len(errors) > 1
            found.silent_broker |= SILENCE in errors
            found.broken_connection |= any(error in BROKEN for error in errors)
            found.error_answer |= ERROR_ANSWER in errors
    return found


def _known() -> GoldenAnswers:
    return GoldenAnswers([script for script in load_standard() if script.depth in SENDING_DEPTHS], load_golden())


def _explaining(contradictions: Mapping[str, Contradiction | None]) -> tuple[str, ...]:
    return tuple(release for release, contradiction in contradictions.items() if contradiction is None)


def _rejected(contradictions: Mapping[str, Contradiction | None]) -> tuple[Rejected, ...]:
    found: dict[Contradiction, list[str]] = {}
    for release, contradiction in contradictions.items():
        if contradiction is not None:
            found.setdefault(contradiction, []).append(release)
    return tuple(Rejected(tuple(releases), *contradiction) for contradiction, releases in found.items())


def separators(releases: Sequence[str], known: GoldenAnswers) -> tuple[Separator, ...]:
    """Choose, greedily, small standard scripts that distinguish the releases as far as possible."""
    chosen: list[Separator] = []
    together = [tuple(releases)]
    while splits := [
        split for script in known.standard if (split := _split(script, together, known.golden)) is not None
    ]:
        best = min(splits, key=lambda split: (-len(split.parts), split.script.size))
        chosen.append(best)
        together = [part for part in best.parts if len(part) > 1]
    return tuple(chosen)


def _split(
    script: StandardScript, together: Sequence[tuple[str, ...]], golden: Mapping[str, Golden]
) -> Separator | None:
    answers = golden.get(script.name)
    if answers is None:
        return None
    parts: dict[tuple[int, Lines], list[str]] = {}
    for number, releases in enumerate(together):
        for release in releases:
            group = answers.of(release)
            parts.setdefault((number, group.lines if group else ()), []).append(release)
    found = tuple(tuple(part) for part in parts.values())
    return Separator(script, found) if len(found) > len(together) else None


MOST_CHARACTERS = 300
"""Length limit of an expected or observed value on a terminal; the JSON form is complete."""

MOST_SEPARATORS = 5
"""Most suggested scripts on a terminal; the JSON form has all."""

MOST_PARTS = 4
"""Most groups, and most releases of a group, that are listed individually."""


def identified_lines(found: Identified) -> Iterator[str]:
    """Yield lines for a terminal."""
    if found.releases and not found.rejected:
        yield "behaves like every published release: no observation distinguishes them"
    elif found.releases:
        yield f"behaves like {', '.join(found.releases)}"
    else:
        yield "behaves like no published release"
    yield f"{found.telling} of {found.observations} observations distinguish releases"
    if found.undecided:
        yield f"{found.undecided} observations could not be judged"
    if found.rejected:
        yield "not explained by"
    for rejected in found.rejected:
        yield f"  {span(rejected.releases)}: {rejected.where}"
        yield f"    expected {_short(rejected.expected)}"
        yield f"    saw      {_short(rejected.seen)}"
    if found.unexercised:
        yield f"not observed: {', '.join(found.unexercised)}"
    for separator in found.separating[:MOST_SEPARATORS]:
        yield f"next script: {SCRIPTS}/{separator.script.name}.json separates {_parts(separator)}"
    if len(found.separating) > MOST_SEPARATORS:
        yield f"and {len(found.separating) - MOST_SEPARATORS} more scripts; --json lists them"


def identified_data(found: Identified) -> dict[str, Any]:
    """Return the result as JSON data."""
    return {
        "releases": list(found.releases),
        "telling": found.telling,
        "observations": found.observations,
        "undecided": found.undecided,
        "rejected": [
            {
                "releases": list(rejected.releases),
                "where": rejected.where,
                "expected": rejected.expected,
                "seen": rejected.seen,
            }
            for rejected in found.rejected
        ],
        "not_exercised": list(found.unexercised),
        "would_separate": [
            {"file": f"{SCRIPTS}/{separator.script.name}.json", "parts": [list(part) for part in separator.parts]}
            for separator in found.separating
        ],
    }


def _parts(separator: Separator) -> str:
    parts = separator.parts
    if len(parts) > MOST_PARTS:
        return f"{sum(map(len, parts))} releases into {len(parts)} groups"
    return " | ".join(f"{part[0]} … {part[-1]}" if len(part) > MOST_PARTS else span(part) for part in parts)


def _short(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} …"
