"""
Judges the kept runs of a calibration again, after a change of the judging code: minutes, where running them took hours.

Traces do not depend on who judges them. What was measured when a case ran stays: the time, the load, and the program that ran it.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from rocketdiff.calibration.controls import CalibrationRequest, PrintLine, judged_together, outcome_words
from rocketdiff.calibration.journal import CalibrationJournal, Line
from rocketdiff.calibration.sensitivity import KnownCase, known_cases, looked_for
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.errors import UsageError
from rocketdiff.judging.judge_runs import judge_case
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.judging.run_info import describe
from rocketdiff.run.request import WITHOUT_LEDGERS
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.gate_rate_tally import ControlOutcome, TalliedAnswer


def judge_again(request: CalibrationRequest, journal: CalibrationJournal, print_line: PrintLine) -> None:
    """
    Replace the journal by what the present program finds in its kept runs; nothing is run.

    UsageError if a run was not kept. The journal stays as it was until all are judged.
    """
    began = time.monotonic()
    for line in journal.lines:
        _require_kept(journal.folder, line)
    known = {case.name: case for case in known_cases()} if journal.known else {}
    cases = [_judged(journal.folder, known, line) for line in journal.lines]
    members: defaultdict[str, list[ControlOutcome]] = defaultdict(list)
    for line in cases:
        if line.case is not None:
            members[_gate_run(line)].append(line.case)
    lines = [_judged_together(journal.folder, members, line) for line in cases]
    for before, after in zip(journal.lines, lines, strict=True):
        for change in _changes(before, after):
            print_line(change)
    journal.replace(lines)
    print_line(f"judged {len(lines)} results of {request.out} again in {time.monotonic() - began:.0f} s")


def _require_kept(folder: Path, line: Line) -> None:
    is_run = line.case is None or not line.case.trouble
    if is_run and not next((folder / line.folder).rglob("run.json"), None):
        raise UsageError(
            f"all runs of the calibration, {line.folder} too",
            seen="it was removed after it had been judged",
            hint="run the calibration with --keep",
        )


def _judged(folder: Path, known: dict[str, KnownCase], line: Line) -> Line:
    """Return a case's line with new answers; a gate run waits for its cases."""
    line = replace(line, judging_source=judging_digest())
    if line.case is not None and not line.case.trouble:
        directory = RunDirectory.open(folder / line.folder)
        number = next(entry.number for entry in directory.manifest.cases if entry.name == line.case.case)
        answers = tuple(map(TalliedAnswer.of, _results(directory, number)))
        return replace(line, case=replace(line.case, answers=answers))
    if line.known_case:
        directory = RunDirectory.open(folder / line.folder)
        found = looked_for(known[line.known_case], _results(directory, 1), describe([directory], took_s=0.0))
        return replace(line, known=tuple(found))
    return line


def _results(directory: RunDirectory, number: int) -> tuple[CheckResult, ...]:
    return judge_case(directory, number, WITHOUT_LEDGERS.policy, load_ledger(WITHOUT_LEDGERS.ledgers))


def _judged_together(folder: Path, members: dict[str, list[ControlOutcome]], line: Line) -> Line:
    if line.run is None:
        return line
    return replace(line, run=judged_together(folder / line.folder, line.run.number, members[line.folder]))


def _gate_run(line: Line) -> str:
    """Return the folder of the gate run that a case belongs to."""
    return Path(line.folder).parent.as_posix()


def _changes(before: Line, after: Line) -> Iterator[str]:
    parts: tuple[Callable[[Line], ControlOutcome | None], ...] = (lambda line: line.case, lambda line: line.run)
    for part in parts:
        was, now = part(before), part(after)
        if was is not None and now is not None and outcome_words(was) != outcome_words(now):
            yield f"{now.number:4d} {now.case}: {outcome_words(was)}, now {outcome_words(now)}"
    for one, other in zip(before.known, after.known, strict=True):
        if one.seen != other.seen:
            yield f"{before.known_case}: {one.entry} was {one.seen}, now {other.seen}"
