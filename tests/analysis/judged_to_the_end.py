"""
Judges and reports a run's evidence, and compares the report's sentences with each other.

The fixtures use it, so a defect that is in the evidence but not in the exit code fails its test.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from xml.etree import ElementTree as ET

from rich.console import Console

from rocketdiff.core.answers.evidence import Analysis, Evidence, Standing
from rocketdiff.core.answers.policy import Inconclusive, Policy
from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.run_info import CaseInfo, RunInfo, SubjectInfo
from rocketdiff.core.tables.checks import implicit_for
from rocketdiff.report.clusters import Weight
from rocketdiff.report.document import Document, build
from rocketdiff.report.formats import badge, junit, markdown, sarif
from rocketdiff.report.formats.summary import print_summary
from rocketdiff.report.words.signs import plural
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import RunJudgement, judge

NOTHING_SEEN = re.compile(
    r"never came|no attempt of either arm|no attempt failed|no send failed|nearly any choice|no client had|was slow enough"
    r"|no broker was paused|fault latency is off"
)
"""Reasons of a check without findings; never next to a divergence."""

ALL_IS_WELL = re.compile(r"behaves like|No divergence in|differs from \S+ only as")
"""Sentences of a report about a client without findings."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A judgement, its document and its readable text."""

    judgement: RunJudgement
    document: Document
    text: str


def judged_to_the_end(run: RunDirectory, analysis: Analysis, policy: Policy | None = None) -> Ended:
    """Judge and report an analysis; AssertionError if verdict or sentences contradict each other."""
    info = described(run, analysis.evidence)
    judgement = judge(analysis.evidence, info, policy)
    document = build(info, judgement, analysis.plots, analysis.counts)
    require_certain_gates(analysis.evidence, judgement)
    return Ended(judgement, document, require_consistent(document))


def described(run: RunDirectory, evidence: Sequence[Evidence]) -> RunInfo:
    """The run as its manifest plans it; pools are those with evidence."""
    manifest = run.manifest
    baseline, candidate = (manifest.subjects[arm] for arm in Arm)
    cases = tuple(
        CaseInfo(
            number=case.number,
            case=case.name,
            checks=tuple(dict.fromkeys((*case.checks, *implicit_for(case.role)))),
            role=case.role,
        )
        for case in manifest.cases
    )
    return RunInfo(
        run=manifest.run,
        seed=manifest.seed,
        suite=manifest.suite,
        baseline=SubjectInfo(baseline, *baseline.split(":")),
        candidate=SubjectInfo(candidate, *candidate.split(":")),
        server_release=manifest.server_release,
        backend=manifest.backend,
        started_at="2026-11-21T12:00:00+00:00",
        took_s=1.0,
        machine=manifest.machine,
        cases=cases,
        reproduce="rocketdiff run",
        rocketdiff=manifest.rocketdiff,
        pooled_checks=tuple((item.case, item.check) for item in evidence if item.case.startswith("pooled/")),
    )


def require_certain_gates(evidence: Sequence[Evidence], judgement: RunJudgement) -> None:
    """A divergence in a sound case is DIVERGES, must, and exit code 1."""
    for item, result in zip(evidence, judgement.results, strict=False):
        if item.divergences and item.standing is not Standing.INVALID:
            assert (result.verdict, result.severity) == (Verdict.DIVERGES, Severity.MUST), (item.case, item.check)
            assert judgement.exit_code is ExitCode.DIVERGES, judgement.machine_line


def require_consistent(document: Document) -> str:
    """No sentence contradicts the exit code, a count or another sentence."""
    text = rendered(document)
    counts, diverges = document.counts, document.exit_code is ExitCode.DIVERGES
    new = [cluster for cluster in document.clusters if cluster.weight is Weight.NEW]
    assert diverges == bool(counts.new) == bool(new), document.machine_line
    assert text.count(document.machine_line) >= 2
    assert f"new={counts.new} " in document.machine_line
    assert f"answered={counts.answered}/{counts.gating} " in document.machine_line
    assert counts.answered <= counts.gating <= counts.checks + counts.unanswered
    if diverges:
        assert not ALL_IS_WELL.search(text), text
    if document.clusters:
        assert "No divergence in" not in text, text
    for result in document.results:
        if result.verdict is Verdict.DIVERGES:
            assert not NOTHING_SEEN.search(result.reason), (result.case, result.check, result.reason)
        if result.verdict is Verdict.INCONCLUSIVE and result.severity is not Severity.INFO:
            assert result.reason, (result.case, result.check)
    assert f"{counts.ungated} inconclusive (does not gate)" in text or not counts.ungated, text
    require_same_counts(document)
    return text


def require_same_counts(document: Document) -> None:
    """JUnit, SARIF and the badge show the counts of the machine line."""
    counts, run = document.counts, document.run
    suites = ET.fromstring(junit.render(run.run, run.seed, document.results, document.policy))
    records = {name: int(suites.attrib[name]) for name in ("tests", "failures", "errors")}
    assert records["tests"] == len(document.results)
    if document.policy.inconclusive is Inconclusive.FAIL:
        assert records["failures"] + records["errors"] == counts.new + counts.stale + counts.inconclusive, (
            records,
            counts,
        )
    (log,) = json.loads(sarif.render(document))["runs"]
    assert log["properties"]["machineLine"] == document.machine_line
    alerts = [one for one in log["results"] if one["baselineState"] == "new" and one["level"] == "error"]
    assert bool(counts.new) <= bool(alerts), document.machine_line
    if document.exit_code is ExitCode.DIVERGES:
        assert badge.render(document)["message"] == f"diverges in {plural(counts.new, 'check')}"


def rendered(document: Document) -> str:
    """The terminal summary on a wide screen, then the Markdown."""
    console = Console(width=400, file=StringIO(), color_system=None)
    with console.capture() as captured:
        print_summary(document, console)
    return captured.get() + markdown.render(document, markdown.SUMMARY_BYTES)
