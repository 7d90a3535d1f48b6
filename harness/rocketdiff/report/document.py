"""
The report document: everything a report says, as one value; JSON is its stored form and the source of every other format.

schemaVersion is semantic: a new field is a new minor version, anything that an older reader would misread is a new major.
"""

from typing import Annotated

import msgspec

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.evidence import TraceCounts
from rocketdiff.core.plots import Plots
from rocketdiff.core.policy import Policy
from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.verdict import CheckResult
from rocketdiff.ledger.apply import EntryOutcome
from rocketdiff.report.cleaning import cleaned
from rocketdiff.report.clusters import Cluster, clusters_of
from rocketdiff.report.context import ExampleContext
from rocketdiff.verdict.calibration import Calibration
from rocketdiff.verdict.defects_found import DefectsFound
from rocketdiff.verdict.judgement import Counts, Judgement, RunVerdict

SCHEMA_VERSION = "1.8.0"


class Document(msgspec.Struct, frozen=True, kw_only=True, rename={"schema_version": "schemaVersion"}):
    """
    One judged run (or several judged together).

    results: every planned check, answered or not. clusters: their divergences by signature, most telling first.
    traces: how much was read. plots: finished tables for the pictures. ledger: its entries that speak about the run.
    contexts: what stands beside the examples of the first clusters. calibration: how often the gate itself is wrong, as
    measured before; None when nobody has measured it. defects: what it finds of a bank of defective clients, likewise.
    """

    schema_version: Annotated[str, msgspec.Meta(pattern=r"^1\.\d+\.\d+$")]
    verdict: RunVerdict
    exit_code: ExitCode
    machine_line: str
    policy: Policy
    counts: Counts
    run: RunInfo
    traces: TraceCounts
    results: tuple[CheckResult, ...]
    clusters: tuple[Cluster, ...]
    plots: Plots
    ledger: tuple[EntryOutcome, ...] = ()
    calibration: Calibration | None = None
    contexts: tuple[ExampleContext, ...] = ()
    defects: DefectsFound | None = None


def build(
    run_info: RunInfo,
    judgement: Judgement,
    plots: Plots,
    traces: TraceCounts,
    calibration: Calibration | None = None,
    contexts: tuple[ExampleContext, ...] = (),
    defects: DefectsFound | None = None,
) -> Document:
    """Put a judged run together, every text of it plain; nothing is added later, by any renderer."""
    document = Document(
        schema_version=SCHEMA_VERSION,
        verdict=judgement.verdict,
        exit_code=judgement.exit_code,
        machine_line=judgement.machine_line,
        policy=judgement.policy,
        counts=judgement.counts,
        run=run_info,
        traces=traces,
        results=judgement.results,
        clusters=clusters_of(judgement.results, judgement.policy),
        plots=plots,
        ledger=judgement.ledger,
        calibration=calibration,
        contexts=contexts,
        defects=defects,
    )
    return cleaned(document)
