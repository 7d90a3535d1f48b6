"""
From the reports of runs to columns: what each answer says about the subject, and what the answers of a row add up to.

A cell claims nothing that was not measured: it is the same as the baseline only where every answer of the row is, and one answer that a run
could not give leaves it open.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rocketdiff.core.answers.verdict import CheckResult, Divergence, Severity, Verdict
from rocketdiff.core.run_info import CaseInfo
from rocketdiff.core.tables.behaviours import BEHAVIOURS, Behaviour
from rocketdiff.core.tables.checks import CHECKS, REPORT_ORDER, VALIDITY
from rocketdiff.matrix.document import Answer, ArmExample, Cell, Column, Difference, KnownAs, Row, RowKind, Run, State
from rocketdiff.report.clusters import DivergenceCluster, Weight
from rocketdiff.report.document import Document
from rocketdiff.report.views.page import anchors_of
from rocketdiff.report.words.examples import attempt_text, call_text, stored_text
from rocketdiff.report.words.signatures import title_of
from rocketdiff.report.words.signs import explain_command, short_case, where_in
from rocketdiff.scenario import load_all

ROWS = (
    *(Row(one.row, RowKind.BEHAVIOUR, one.title, one.checks, one.unmeasured) for one in BEHAVIOURS.values()),
    *(Row(name, RowKind.CHECK, CHECKS[name].sentence, (name,)) for name in REPORT_ORDER if name != VALIDITY),
)
"""Validity is about the run: where it fails, every answer of its case is invalid, and so every cell open that rests on them."""

_STATE = {
    Verdict.CONFORMS: State.SAME,
    Verdict.EQUIVALENT: State.SAME,
    Verdict.DECLARED: State.KNOWN,
    Verdict.DIVERGES: State.DIFFERS,
    Verdict.NOT_APPLICABLE: State.NOT_MEASURED,
}

_APART = (State.DIFFERS, State.KNOWN)

NOT_ASKED = "no scenario of these runs asks it"


@dataclass(frozen=True, slots=True)
class Source:
    """A judged run. folder: its directory from the matrix's files on; empty where it is not published with them."""

    document: Document
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Extract:
    """What a matrix needs of a run's report. Runs are numbered from 0 in ``answers`` and ``differences``; covers: rows by scenario."""

    subject: str
    baseline: str
    label: str
    run: Run
    answers: tuple[Answer, ...]
    differences: tuple[Difference, ...]
    covers: dict[str, tuple[str, ...]]


def extract(source: Source) -> Extract:
    """The part of a report that is much smaller than the report."""
    differences = tuple(_differences(source))
    places = {(one.check, one.signature, one.is_known): number for number, one in enumerate(differences)}
    run = source.document.run
    covers = {name: case.covers for name, case in _cases(source.document).items()}
    answers = tuple(_answers(source, places))
    return Extract(
        run.candidate.subject, run.baseline.subject, run.candidate.label, _run(source), answers, differences, covers
    )


def column_of(spec: str, baseline: str, runs: Sequence[Extract], missing: Iterable[tuple[str, str]] = ()) -> Column:
    """One column; spec and baseline are as typed, and stand for the names where there is no run."""
    answers: list[Answer] = []
    differences: list[Difference] = []
    for number, one in enumerate(runs):
        before = len(differences)
        differences += (replace(found, run=number) for found in one.differences)
        answers += (
            replace(given, run=number, differences=tuple(before + place for place in given.differences))
            for given in one.answers
        )
    missing = tuple(missing)
    covers = {name: rows for one in runs for name, rows in one.covers.items()}
    return Column(
        spec=spec,
        subject=runs[0].subject if runs else spec,
        baseline=runs[0].baseline if runs else baseline,
        label=runs[0].label if runs else "",
        runs=tuple(one.run for one in runs),
        cells=tuple(_cell(row, answers, differences, covers, runs, missing) for row in ROWS),
        answers=tuple(answers),
        differences=tuple(differences),
        missing=missing,
    )


def alike(columns: Sequence[Column]) -> tuple[tuple[int, ...], ...]:
    """Numbers of columns of one client and one baseline whose cells say the same, with the same signatures; one without runs stays alone."""
    groups: dict[object, list[int]] = {}
    for number, column in enumerate(columns):
        key = _fingerprint(column) if column.is_measured else number
        groups.setdefault(key, []).append(number)
    return tuple(tuple(members) for members in groups.values())


def _fingerprint(column: Column) -> tuple[object, ...]:
    client = column.subject.partition(":")[0]
    said = tuple(
        (cell.row, cell.state, frozenset(column.differences[number].signature for number in cell.differences))
        for cell in column.cells
    )
    scenarios = tuple(run.scenarios for run in column.runs)
    return client, column.label, column.baseline, scenarios, said


def _cases(document: Document) -> dict[str, CaseInfo]:
    return {short_case(case.case, document.run): case for case in document.run.cases}


Places = Mapping[tuple[str, str, bool], int]
"""Number of a difference by check, signature and whether a ledger declares it."""


def _answers(source: Source, places: Places) -> Iterator[Answer]:
    document, anchors = source.document, anchors_of(source.document)
    for result in document.results:
        if result.check == VALIDITY or result.severity is Severity.INFO:
            continue  # of figures that are judged over all cases of the run, in its pooled answers
        own = [item for item in result.divergences if not _is_the_baselines(item.subject, document)]
        state, reason = _said(result, own)
        anchor = anchors.get(result.case)
        yield Answer(
            run=0,
            scenario=short_case(result.case, document.run),
            check=result.check,
            state=state,
            verdict=result.verdict.value,
            reason=reason,
            differences=tuple(places[_key(result, item)] for item in own) if state in _APART else (),
            report=_link(source, f"{anchor}.{result.check}" if anchor else "failover"),
        )


def _said(result: CheckResult, own: Sequence[Divergence]) -> tuple[State, str]:
    """State and reason of an answer; own: divergences of the subject rather than of the baseline."""
    if result.verdict is Verdict.STALE and all(item.declared_by for item in own):
        return (State.KNOWN if own else State.SAME), result.reason
    state = _STATE.get(result.verdict, State.DIFFERS if result.verdict is Verdict.STALE else State.OPEN)
    if state in _APART and not own:
        return State.OPEN, f"the baseline itself does not follow its rules: {result.reason}"
    if state is State.DIFFERS and all(item.declared_by for item in own):
        return State.KNOWN, result.reason
    return state, result.reason or (result.verdict.value.lower() if state is State.OPEN else "")


def _key(result: CheckResult, item: Divergence) -> tuple[str, str, bool]:
    return result.check, item.signature, bool(item.declared_by) or result.verdict is Verdict.DECLARED


def _is_the_baselines(subject: str, document: Document) -> bool:
    baseline, candidate = document.run.baseline.subject, document.run.candidate.subject
    return subject == baseline and baseline != candidate


def _differences(source: Source) -> Iterator[Difference]:
    """One for each check and signature of the subject, and one more where a ledger declares it in some cases only."""
    gathered: dict[tuple[str, str, bool], list[DivergenceCluster]] = {}
    for cluster in source.document.clusters:
        if cluster.weight is not Weight.VOID and not _is_the_baselines(cluster.subject, source.document):
            is_declared = cluster.weight is Weight.DECLARED
            gathered.setdefault((cluster.check, cluster.signature, is_declared), []).append(cluster)
    for members in gathered.values():
        yield _difference(members, source)


def _difference(members: Sequence[DivergenceCluster], source: Source) -> Difference:
    cluster, document, run = members[0], source.document, source.document.run
    suffix = "" if cluster.weight is Weight.NEW else f"-{cluster.weight}"
    return Difference(
        fingerprint=cluster.fingerprint,
        check=cluster.check,
        signature=cluster.signature,
        title=title_of(cluster, document),
        count=sum(one.count for one in members),
        scenarios=tuple(dict.fromkeys(short_case(case, run) for one in members for case in one.cases)),
        where=where_in(cluster, run),
        expected=cluster.example.expected,
        observed=cluster.example.observed,
        run=0,
        arms=tuple(_arms(cluster, document)),
        is_known=cluster.weight is Weight.DECLARED,
        known=tuple(_known(members, document)),
        explain=explain_command(cluster, run) if source.folder else "",  # it reads the run
        report=_link(source, f"divergence-{cluster.fingerprint}{suffix}"),
    )


def _arms(cluster: DivergenceCluster, document: Document) -> Iterator[ArmExample]:
    subjects = {"baseline": document.run.baseline.subject, "candidate": document.run.candidate.subject}
    for side in cluster.example.sides:
        attempts = tuple(attempt_text(one) for one in side.attempts)
        yield ArmExample(subjects.get(side.arm, side.arm), attempts, call_text(side.call), stored_text(side.stored))


def _known(members: Sequence[DivergenceCluster], document: Document) -> Iterator[KnownAs]:
    ids = {name for one in members for name in one.declared_by}
    for entry in document.ledger:
        if entry.id in ids:
            yield KnownAs(entry.id, entry.reason, entry.ref)


def _cell(
    row: Row,
    answers: Sequence[Answer],
    differences: Sequence[Difference],
    covers: Mapping[str, Sequence[str]],
    runs: Sequence[Extract],
    missing: Sequence[tuple[str, str]],
) -> Cell:
    behaviour = BEHAVIOURS.get(row.id) if row.kind is RowKind.BEHAVIOUR else None
    asked = [
        (number, *_about(answer, behaviour, differences))
        for number, answer in enumerate(answers)
        if answer.check in row.checks and (behaviour is None or row.id in covers.get(answer.scenario, ()))
    ]
    state = next((state for state in State if any(one == state for _, one, _ in asked)), State.NOT_MEASURED)
    reasons = dict.fromkeys(_why(answers[number], differs) for number, one, differs in asked if one == state)
    if state is State.NOT_MEASURED:
        reasons = dict.fromkeys(_why_not(row, [answers[number] for number, *_ in asked], runs, missing))
    return Cell(
        row=row.id,
        state=state,
        answers=tuple(number for number, *_ in asked),
        differences=tuple(dict.fromkeys(one for _, said, found in asked if said == state for one in found))
        if state in _APART
        else (),
        reason="; ".join(filter(None, reasons)) if state in (State.OPEN, State.NOT_MEASURED) else "",
    )


def _about(
    answer: Answer, behaviour: Behaviour | None, differences: Sequence[Difference]
) -> tuple[State, tuple[int, ...]]:
    """What an answer says about a behaviour: one that differs only in what is another behaviour's does not tell this one."""
    if behaviour is None or answer.state not in _APART:
        return answer.state, answer.differences
    own = tuple(number for number in answer.differences if behaviour.is_told_by(differences[number].signature))
    if not own:
        return State.OPEN, ()
    is_known = all(differences[number].is_known for number in own)
    return (State.KNOWN if is_known else State.DIFFERS), own


def _why(answer: Answer, differs: Sequence[int]) -> str:
    if answer.state in _APART and not differs:
        return f"{answer.scenario}: {answer.check} differs in another respect"
    return f"{answer.scenario}, {answer.check}: {answer.reason}" if answer.reason else ""


def _why_not(
    row: Row, asked: Sequence[Answer], runs: Sequence[Extract], missing: Sequence[tuple[str, str]]
) -> Iterator[str]:
    if row.unmeasured:
        yield row.unmeasured
        return
    if not runs:
        yield from (reason for _, reason in missing)
        return
    left_out = [one for each in runs for one in each.run.left_out if row.id in _rows_of(one[0])]
    yield from (f"{answer.scenario}: {answer.reason}" for answer in asked)
    yield from (f"{name}: {reason}" for name, reason in left_out)
    if not asked and not left_out:
        yield NOT_ASKED
        yield from (f"{name}: {reason}" for name, reason in missing)


@cache
def _rows_of(scenario: str) -> frozenset[str]:
    """Behaviours that a shipped scenario covers, and its checks."""
    return frozenset(row for one in load_all() if one.name == scenario for row in (*one.covers, *one.checks))


def _run(source: Source) -> Run:
    document, run = source.document, source.document.run
    machine = f"{run.machine.processor or run.machine.system}, {run.machine.cores} cores, {run.machine.java}"
    return Run(
        run=run.run,
        suite=run.suite,
        seed=run.seed,
        verdict=document.verdict.value,
        machine_line=document.machine_line,
        started_at=run.started_at,
        took_s=round(run.took_s, 1),
        server_release=run.server_release,
        backend=run.backend,
        machine=machine,
        reproduce=run.reproduce,
        scenarios=tuple(_cases(document)),
        judging_source=run.judging_source,
        left_out=run.left_out,
        folder=source.folder,
    )


def _link(source: Source, anchor: str) -> str:
    return f"{source.folder}/report.html#{anchor}" if source.folder else ""
