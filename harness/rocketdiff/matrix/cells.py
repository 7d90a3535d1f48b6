"""
Builds columns from run reports: the state of each answer, and the state of each cell from its answers.

A cell is SAME only if every answer of its row is SAME. One inconclusive answer makes it OPEN.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rocketdiff.core.answers.verdict import CheckResult, Divergence, Severity, Verdict
from rocketdiff.core.answers.where import Place
from rocketdiff.core.run_info import CaseInfo
from rocketdiff.core.tables.behaviours import BEHAVIOURS, Behaviour
from rocketdiff.core.tables.checks import CHECKS, REPORT_ORDER, VALIDITY
from rocketdiff.matrix.document import (
    ArmExample,
    CellAnswer,
    CellState,
    Column,
    ColumnDifference,
    KnownAs,
    MatrixCell,
    MatrixRow,
    RowKind,
    Run,
)
from rocketdiff.report.clusters import DivergenceCluster, Weight
from rocketdiff.report.consuming.words import delivery_text
from rocketdiff.report.document import Document
from rocketdiff.report.sending.words import attempt_text, call_text, stored_text
from rocketdiff.report.views.page import anchors_of
from rocketdiff.report.words.signatures import title_of
from rocketdiff.report.words.signs import explain_command, short_case, where_in
from rocketdiff.scenario import load_all

ROWS = (
    *(MatrixRow(item.row, RowKind.BEHAVIOUR, item.title, item.checks, item.unmeasured) for item in BEHAVIOURS.values()),
    *(MatrixRow(name, RowKind.CHECK, CHECKS[name].sentence, (name,)) for name in REPORT_ORDER if name != VALIDITY),
)
"""
Validity has no row, because it is about the run: where it fails, the answers of its case are invalid and their cells OPEN.
"""

_STATE = {
    Verdict.CONFORMS: CellState.SAME,
    Verdict.EQUIVALENT: CellState.SAME,
    Verdict.DECLARED: CellState.KNOWN,
    Verdict.DIVERGES: CellState.DIFFERS,
    Verdict.NOT_APPLICABLE: CellState.NOT_MEASURED,
}

_APART = (CellState.DIFFERS, CellState.KNOWN)

NOT_ASKED = "no scenario of these runs asks it"


@dataclass(frozen=True, slots=True)
class MatrixSource:
    """A judged run. folder: its directory, relative to the matrix files; empty if the run is not published with them."""

    document: Document
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Extract:
    """The parts of a report that a matrix needs, with run number 0. covers: rows by scenario."""

    subject: str
    baseline: str
    label: str
    run: Run
    answers: tuple[CellAnswer, ...]
    differences: tuple[ColumnDifference, ...]
    covers: dict[str, tuple[str, ...]]


def extract(source: MatrixSource) -> Extract:
    """Return the extract of a report; it is much smaller than the report."""
    differences = tuple(_differences(source))
    places = {(item.check, item.signature, item.is_known): number for number, item in enumerate(differences)}
    run = source.document.run
    covers = {name: case.covers for name, case in _cases(source.document).items()}
    answers = tuple(_answers(source, places))
    return Extract(
        run.candidate.subject, run.baseline.subject, run.candidate.label, _run(source), answers, differences, covers
    )


def column_of(spec: str, baseline: str, runs: Sequence[Extract], missing: Iterable[tuple[str, str]] = ()) -> Column:
    """Return one column; ``spec`` and ``baseline`` are used if there is no run."""
    answers: list[CellAnswer] = []
    differences: list[ColumnDifference] = []
    for number, part in enumerate(runs):
        before = len(differences)
        differences += (replace(found, run=number) for found in part.differences)
        answers += (
            replace(given, run=number, differences=tuple(before + place for place in given.differences))
            for given in part.answers
        )
    missing = tuple(missing)
    covers = {name: rows for part in runs for name, rows in part.covers.items()}
    return Column(
        spec=spec,
        subject=runs[0].subject if runs else spec,
        baseline=runs[0].baseline if runs else baseline,
        label=runs[0].label if runs else "",
        runs=tuple(part.run for part in runs),
        cells=tuple(_cell(row, answers, differences, covers, runs, missing) for row in ROWS),
        answers=tuple(answers),
        differences=tuple(differences),
        missing=missing,
    )


def alike(columns: Sequence[Column]) -> tuple[tuple[int, ...], ...]:
    """
    Group column numbers: same client and baseline, same cells and signatures. A column without runs is a group of its own.
    """
    groups: dict[object, list[int]] = {}
    for number, column in enumerate(columns):
        key = _fingerprint(column) if column.is_measured else number
        groups.setdefault(key, []).append(number)
    return tuple(tuple(members) for members in groups.values())


def _fingerprint(column: Column) -> tuple[object, ...]:
    client = column.subject.partition(":")[0]
    states = tuple(
        (cell.row, cell.state, frozenset(column.differences[number].signature for number in cell.differences))
        for cell in column.cells
    )
    scenarios = tuple(run.scenarios for run in column.runs)
    return client, column.label, column.baseline, scenarios, states


def _cases(document: Document) -> dict[str, CaseInfo]:
    return {short_case(case.case, document.run): case for case in document.run.cases}


Places = Mapping[tuple[str, str, bool], int]
"""Index of a difference, by check, signature and whether a ledger declares it."""


def _answers(source: MatrixSource, places: Places) -> Iterator[CellAnswer]:
    document, anchors = source.document, anchors_of(source.document)
    for result in document.results:
        if result.check == VALIDITY or result.severity is Severity.INFO:
            continue  # INFO figures are judged over all cases of the run, in its pooled answers
        own = [item for item in result.divergences if not _is_the_baselines(item.subject, document)]
        state, reason = _state_and_reason(result, own)
        anchor = anchors.get(result.case)
        yield CellAnswer(
            run=0,
            scenario=short_case(result.case, document.run),
            check=result.check,
            state=state,
            verdict=result.verdict.value,
            reason=reason,
            differences=tuple(places[_key(result, item)] for item in own) if state in _APART else (),
            report=_link(source, f"{anchor}.{result.check}" if anchor else "failover"),
        )


def _state_and_reason(result: CheckResult, own: Sequence[Divergence]) -> tuple[CellState, str]:
    """State and reason of an answer; ``own``: its divergences without the baseline's."""
    if result.verdict is Verdict.STALE and all(item.declared_by for item in own):
        return (CellState.KNOWN if own else CellState.SAME), result.reason
    state = _STATE.get(result.verdict, CellState.DIFFERS if result.verdict is Verdict.STALE else CellState.OPEN)
    if state in _APART and not own:
        return CellState.OPEN, f"the baseline itself does not follow its rules: {result.reason}"
    if state is CellState.DIFFERS and all(item.declared_by for item in own):
        return CellState.KNOWN, result.reason
    return state, result.reason or (result.verdict.value.lower() if state is CellState.OPEN else "")


def _key(result: CheckResult, item: Divergence) -> tuple[str, str, bool]:
    return result.check, item.signature, bool(item.declared_by) or result.verdict is Verdict.DECLARED


def _is_the_baselines(subject: str, document: Document) -> bool:
    baseline, candidate = document.run.baseline.subject, document.run.candidate.subject
    return subject == baseline and baseline != candidate


def _differences(source: MatrixSource) -> Iterator[ColumnDifference]:
    """One per check and signature of the subject; two if a ledger declares it in some cases only."""
    gathered: dict[tuple[str, str, bool], list[DivergenceCluster]] = {}
    for cluster in source.document.clusters:
        if cluster.weight is not Weight.VOID and not _is_the_baselines(cluster.subject, source.document):
            is_declared = cluster.weight is Weight.DECLARED
            gathered.setdefault((cluster.check, cluster.signature, is_declared), []).append(cluster)
    for members in gathered.values():
        yield _difference(members, source)


def _difference(members: Sequence[DivergenceCluster], source: MatrixSource) -> ColumnDifference:
    cluster, document, run = members[0], source.document, source.document.run
    suffix = "" if cluster.weight is Weight.NEW else f"-{cluster.weight}"
    return ColumnDifference(
        fingerprint=cluster.fingerprint,
        check=cluster.check,
        signature=cluster.signature,
        title=title_of(cluster, document),
        count=sum(member.count for member in members),
        scenarios=tuple(dict.fromkeys(short_case(case, run) for member in members for case in member.cases)),
        where=where_in(cluster, run),
        expected=cluster.example.expected,
        observed=cluster.example.observed,
        run=0,
        arms=tuple(_arms(cluster, document)),
        is_known=cluster.weight is Weight.DECLARED,
        known=tuple(_known(members, document)),
        explain=explain_command(cluster, run) if source.folder else "",  # the command reads the run
        report=_link(source, f"divergence-{cluster.fingerprint}{suffix}"),
    )


def _arms(cluster: DivergenceCluster, document: Document) -> Iterator[ArmExample]:
    subjects = {"baseline": document.run.baseline.subject, "candidate": document.run.candidate.subject}
    place = cluster.example.where.place
    text = delivery_text if place is Place.MESSAGE else attempt_text
    for side in cluster.example.sides:
        attempts = tuple(text(attempt) for attempt in side.attempts)
        call, stored = call_text(side.call), stored_text(side.stored)
        yield ArmExample(subjects.get(side.arm, side.arm), attempts, call, stored, place.part)


def _known(members: Sequence[DivergenceCluster], document: Document) -> Iterator[KnownAs]:
    ids = {name for member in members for name in member.declared_by}
    for entry in document.ledger:
        if entry.id in ids:
            yield KnownAs(entry.id, entry.reason, entry.ref)


def _cell(
    row: MatrixRow,
    answers: Sequence[CellAnswer],
    differences: Sequence[ColumnDifference],
    covers: Mapping[str, Sequence[str]],
    runs: Sequence[Extract],
    missing: Sequence[tuple[str, str]],
) -> MatrixCell:
    behaviour = BEHAVIOURS.get(row.id) if row.kind is RowKind.BEHAVIOUR else None
    asked = [
        (number, *_about(answer, behaviour, differences))
        for number, answer in enumerate(answers)
        if answer.check in row.checks and (behaviour is None or row.id in covers.get(answer.scenario, ()))
    ]
    state = next((state for state in CellState if any(its == state for _, its, _ in asked)), CellState.NOT_MEASURED)
    reasons = dict.fromkeys(_why(answers[number], differs) for number, its, differs in asked if its == state)
    if state is CellState.NOT_MEASURED:
        reasons = dict.fromkeys(_why_not(row, [answers[number] for number, *_ in asked], runs, missing))
    return MatrixCell(
        row=row.id,
        state=state,
        answers=tuple(number for number, *_ in asked),
        differences=tuple(dict.fromkeys(index for _, its, found in asked if its == state for index in found))
        if state in _APART
        else (),
        reason="; ".join(filter(None, reasons)) if state in (CellState.OPEN, CellState.NOT_MEASURED) else "",
    )


def _about(
    answer: CellAnswer, behaviour: Behaviour | None, differences: Sequence[ColumnDifference]
) -> tuple[CellState, tuple[int, ...]]:
    """State of an answer for a behaviour: OPEN if all differences belong to other behaviours."""
    if behaviour is None or answer.state not in _APART:
        return answer.state, answer.differences
    own = tuple(number for number in answer.differences if behaviour.matches(differences[number].signature))
    if not own:
        return CellState.OPEN, ()
    is_known = all(differences[number].is_known for number in own)
    return (CellState.KNOWN if is_known else CellState.DIFFERS), own


def _why(answer: CellAnswer, differs: Sequence[int]) -> str:
    if answer.state in _APART and not differs:
        return f"{answer.scenario}: {answer.check} differs in another respect"
    return f"{answer.scenario}, {answer.check}: {answer.reason}" if answer.reason else ""


def _why_not(
    row: MatrixRow, asked: Sequence[CellAnswer], runs: Sequence[Extract], missing: Sequence[tuple[str, str]]
) -> Iterator[str]:
    if row.unmeasured:
        yield row.unmeasured
        return
    if not runs:
        yield from (reason for _, reason in missing)
        return
    left_out = [left for each in runs for left in each.run.left_out if row.id in _rows_of(left[0])]
    yield from (f"{answer.scenario}: {answer.reason}" for answer in asked)
    yield from (f"{name}: {reason}" for name, reason in left_out)
    if not asked and not left_out:
        yield NOT_ASKED
        yield from (f"{name}: {reason}" for name, reason in missing)


@cache
def _rows_of(scenario: str) -> frozenset[str]:
    return frozenset(
        row for shipped in load_all() if shipped.name == scenario for row in (*shipped.covers, *shipped.checks)
    )


def _run(source: MatrixSource) -> Run:
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


def _link(source: MatrixSource, anchor: str) -> str:
    return f"{source.folder}/report.html#{anchor}" if source.folder else ""
