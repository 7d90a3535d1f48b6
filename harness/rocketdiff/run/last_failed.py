"""`--last-failed`: the scenarios of the newest judged run that did not conform."""

from pathlib import Path

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import UsageError
from rocketdiff.report.document import FILE_NAME, Document, load
from rocketdiff.report.words.signs import short_case

_FAILED = {Verdict.ERROR, Verdict.DIVERGES, Verdict.INVALID, Verdict.INCONCLUSIVE}


def last_failed(out: Path) -> tuple[str, ...]:
    """
    Return the names of these scenarios, in order of the run, whose directory is the newest below ``out``.

    Raises UsageError if no run there was judged, or if it conformed.
    """
    runs = sorted(path.parent for path in out.glob(f"*/{FILE_NAME}"))  # their names begin with their time
    if not runs:
        raise UsageError(f"a judged run below {out} for --last-failed", seen="none", hint="run without it first")
    names = failed_scenarios(load(runs[-1]))
    if not names:
        raise UsageError(
            f"a scenario that did not conform in {runs[-1]}", seen="all conform", hint="run without --last-failed"
        )
    return names


def failed_scenarios(document: Document) -> tuple[str, ...]:
    """Return the scenarios with a divergence, declared or not, or without an answer."""
    failed = {result.case for result in document.results if result.verdict in _FAILED}
    failed |= {case for cluster in document.clusters for case in cluster.cases}
    cases = (case.case for case in document.run.cases if case.case in failed)
    return tuple(dict.fromkeys(short_case(case, document.run) for case in cases))
