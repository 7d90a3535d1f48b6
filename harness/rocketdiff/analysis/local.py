"""
The same pass in this process, without Spark: for small runs, and as a cross-check of what Spark adds up.

On one machine it is also the faster way; Spark's case is data beyond one machine's memory, or many machines.
"""

from collections.abc import Iterable, Iterator

from rocketdiff.analysis.case_trace import BATCH_ROWS, read_case
from rocketdiff.analysis.facts import CaseFact
from rocketdiff.analysis.judged_case import judge_case
from rocketdiff.analysis.summaries import Summaries, summarise
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.reader import require_whole
from rocketdiff.traces.run_directory import RunDirectory


def summaries_here(runs: Iterable[RunDirectory], *, batch_rows: int = BATCH_ROWS) -> Summaries:
    """Facts of all runs, judged and added up one case after another."""
    return summarise(fact for run in runs for fact in _facts(run, batch_rows))


def _facts(run: RunDirectory, batch_rows: int) -> Iterator[CaseFact]:
    require_whole(run)
    for entry in run.manifest.cases:
        if entry.status is not CaseStatus.PLANNED:
            yield from judge_case(read_case(run, entry.number), batch_rows=batch_rows)
