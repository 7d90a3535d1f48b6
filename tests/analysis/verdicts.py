"""Judges a synthetic run: evidence, verdict, exit code."""

from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.arm import Arm
from rocketdiff.core.run_info import CaseInfo, RunInfo, SubjectInfo
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.traces.manifest import RunManifest
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import RunJudgement, judge


def judged(run: RunDirectory) -> RunJudgement:
    """The judgement of `rocketdiff analyze` without the ledger."""
    return judge(analyze([run.path], master=WITHOUT_SPARK).evidence, _info(run.manifest))


def _info(manifest: RunManifest) -> RunInfo:
    """Like ``describe``, without scenarios: synthetic runs have none."""
    subjects = {arm: SubjectInfo(manifest.subjects[arm], *manifest.subjects[arm].split(":")) for arm in Arm}
    return RunInfo(
        run=manifest.run,
        seed=manifest.seed,
        suite=manifest.suite,
        baseline=subjects[Arm.BASELINE],
        candidate=subjects[Arm.CANDIDATE],
        server_release=manifest.server_release,
        backend=manifest.backend,
        started_at="2026-11-21T12:00:00+00:00",
        took_s=1.0,
        machine=manifest.machine,
        cases=tuple(CaseInfo(entry.number, entry.name, entry.checks) for entry in manifest.cases),
        reproduce="",
        rocketdiff="0.1.0",
    )
