"""`rocketdiff identify`: finds the releases that explain a stored run or the answers to scripts."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.analysis.case_trace import CaseTrace, read_case
from rocketdiff.analysis.steps.rulebook import ArmRules, is_asynchronous
from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.events import Arm
from rocketdiff.core.files import read_text
from rocketdiff.core.plan import SendMode
from rocketdiff.core.records import Send
from rocketdiff.lab.history.coverage import Coverage
from rocketdiff.lab.history.identify import GoldenAnswers, Identified, Rejected, identify, read_observed, separators
from rocketdiff.lab.upgrade_report import executions
from rocketdiff.oracle.durations import IS_CERTAIN
from rocketdiff.oracle.judgement import SendJudgement
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.golden.files import load_golden
from rocketdiff.simulation.golden.standard import load_standard
from rocketdiff.simulation.script.files import load_scripts
from rocketdiff.traces.run_directory import RunDirectory
from rocketmq_reference.dialects import dialect_of

SILENCE = "RemotingTimeoutException"
BROKEN = ("RemotingConnectException", "RemotingSendRequestException")
ERROR_ANSWER = "MQBrokerException"


_MOST_BYTES = 1 << 28
"""Answers to the longest accepted script have some 100 MB."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One arm of one case: what was observed, to be judged by the rules of any release."""

    case: CaseTrace
    arm: Arm
    sends: tuple[Send, ...]

    def judged_by(self, release: str) -> Iterator[SendJudgement]:
        """Judge every send by the rules of a release."""
        shared = self.case.entry.threads > 1 and self.case.entry.settings.send_latency_fault_enable
        asynchronous = is_asynchronous(self.case)
        return ArmRules(self.case, self.arm, release, shared, asynchronous).judge_together(self.sends)


def identify_answers(file: Path, scripts: list[str]) -> Identified:
    """The releases with these answers; UsageError if the file is not output of simulate."""
    if not file.exists():
        raise UsageError("a run directory, or a file of answers", seen=f"no {file}", hint="check the path")
    if not scripts:
        raise UsageError("--script for answers of scripts", seen="none", hint="or give a run directory as TRACE")
    named = load_scripts(scripts)
    text = read_text(file, "file of answers", most=_MOST_BYTES, hint="or name a run directory")
    observed = read_observed(text, named)
    with executions() as executed:
        return identify(executed, observed, named, client_releases(), _known())


def identify_run(path: Path, subject: str | None, arm: str | None, case: str | None) -> Identified:
    """The releases whose rules explain an arm of a run, in all its cases or in one."""
    run = RunDirectory.open(path)
    trials = tuple(_trials(run, _arm(run, subject, arm), case))
    contradictions: dict[str, tuple[str, str, str] | None] = {}
    telling: set[tuple[int, int, int]] = set()
    undecided: set[tuple[int, int, int]] = set()
    judged: dict[str, str] = {}
    for release in client_releases():
        dialect = dialect_of(release).name
        if dialect not in judged:
            judged[dialect] = release
            contradictions[release] = _contradiction(trials, release, telling, undecided)
        else:
            contradictions[release] = contradictions[judged[dialect]]
    explaining = tuple(release for release, contradiction in contradictions.items() if contradiction is None)
    return Identified(
        releases=explaining,
        rejected=_rejected(contradictions),
        telling=len(telling),
        observations=sum(len(trial.sends) for trial in trials),
        undecided=len(undecided),
        unexercised=_coverage(trials).missing,
        separating=separators(explaining, _known()),
    )


def require_of_run(scripts: list[str]) -> None:
    """UsageError for options that apply to answers of scripts only."""
    if scripts:
        raise UsageError("--script with a file of answers only", seen="a run directory")


def require_of_answers(subject: str | None, arm: str | None, case: str | None) -> None:
    """UsageError for options that apply to a run directory only."""
    given = [f"--{name}" for name, value in (("subject", subject), ("arm", arm), ("case", case)) if value is not None]
    if given:
        raise UsageError(f"{' '.join(given)} with a run directory only", seen="no run directory")


def exit_code(found: Identified) -> ExitCode:
    """DIVERGES if no release explains it, NOTHING_DECISIVE if no observation distinguishes releases, else CONFORMS."""
    if not found.releases:
        return ExitCode.DIVERGES
    return ExitCode.CONFORMS if found.rejected else ExitCode.NOTHING_DECISIVE


def _contradiction(
    trials: tuple[Trial, ...],
    release: str,
    telling: set[tuple[int, int, int]],
    undecided: set[tuple[int, int, int]],
) -> tuple[str, str, str] | None:
    """The first contradiction of a release's rules: where, what they expect, and what was observed; None without one."""
    first: tuple[str, str, str] | None = None
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


def _rejected(contradictions: dict[str, tuple[str, str, str] | None]) -> tuple[Rejected, ...]:
    found: dict[tuple[str, str, str], list[str]] = {}
    for release, contradiction in contradictions.items():
        if contradiction is not None:
            found.setdefault(contradiction, []).append(release)
    return tuple(Rejected(tuple(releases), *contradiction) for contradiction, releases in found.items())


def _trials(run: RunDirectory, arm: Arm, case: str | None) -> Iterator[Trial]:
    entries = run.manifest.cases
    chosen = [entry.number for entry in entries if case in (None, str(entry.number), entry.name, entry.scenario)]
    if not chosen:
        known = ", ".join(f"{entry.number}: {entry.scenario}" for entry in entries)
        raise UsageError("--case with a case of the run", seen=case or "none", hint=known)
    for number in chosen:
        trace = read_case(run, number)
        yield Trial(trace, arm, tuple(view.row for view in trace.sends(arm) if view.row is not None))


def _arm(run: RunDirectory, subject: str | None, arm: str | None) -> Arm:
    """The requested arm; the candidate by default."""
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
    return GoldenAnswers(load_standard(), load_golden())
