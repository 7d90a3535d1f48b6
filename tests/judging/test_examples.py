"""Beside an example: rule chain, neighbours, ledger entries, and the first release that explains it."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Severity, Verdict
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.core.arm import Arm
from rocketdiff.core.run_info import CaseInfo, RunInfo
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.judging.examples import contexts_of
from rocketdiff.report.clusters import ExampleContext, clusters_of
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import judge
from tests.analysis.synthetic import MANIFEST, Story, write_run
from tests.report.conftest import sample_run_info

AVOIDANCE = "avoidance.used-avoided-broker/first"
NAME = "fault-latency/pause-one-of-two"

Judged = tuple[RunDirectory, RunInfo, tuple[CheckResult, ...]]


@pytest.fixture(scope="module")
def upgrade(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """4.7.1 and 5.3.3 beside one pause for fourteen seconds: the newer one uses the broker again after ten."""
    return judged(tmp_path_factory, "java:4.7.1", "java:5.3.3")


def judged(folders: pytest.TempPathFactory, baseline: str, candidate: str) -> Judged:
    run = write_run(folders.mktemp("runs"), [Story(sends=700)], baseline=baseline, candidate=candidate)
    sample = sample_run_info()
    case = CaseInfo(
        number=1,
        case=f"{NAME}/{baseline}~{candidate}",
        checks=("avoidance",),
        settings={"send_latency_fault_enable": True},
        fault_counts={"paused_brokers": 1},
    )
    info = replace(
        sample,
        baseline=replace(sample.baseline, subject=baseline),
        candidate=replace(sample.candidate, subject=candidate),
        cases=(case,),
        pooled_checks=(),
    )
    return run, info, judge(analyze([run.path], master=WITHOUT_SPARK).evidence, info).results


def context(one: Judged, signature: str = AVOIDANCE) -> ExampleContext:
    run, info, results = one
    cluster = next(cluster for cluster in clusters_of(results, Policy()) if cluster.signature == signature)
    found = contexts_of(clusters_of(results, Policy()), results, Policy(), info, [run])
    return next(context for context in found if context.fingerprint == cluster.fingerprint)


def test_the_shipped_ledger_is_asked_though_the_run_was_judged_without_it(upgrade: Judged) -> None:
    """The context names the shipped ledger's entry although the run was judged without it."""
    (entry,) = context(upgrade).known
    assert (entry.id, entry.ref) == ("K16-avoided-for-10-s-not-600-s", "apache/rocketmq#6567")


def test_the_first_release_that_explains_it_is_named(upgrade: Judged) -> None:
    """The context names the first release that explains the difference: RIP-63 came with 5.1.4."""
    reported = context(upgrade)
    assert (reported.before, reported.since) == ("5.1.3", "5.1.4")


@pytest.mark.parametrize(
    ("signature", "baseline", "candidate", "boundary"),
    [
        ("content.sys-flag-differs", "java:4.7.1", "java:5.3.3", ("4.9.3", "4.9.4")),
        ("content.sys-flag-differs", "java:4.7.1", "python:4.9.3", ("", "")),
        ("content.sys-flag-differs", "java:5.3.3", "java:4.7.1", ("", "")),
        ("content.sys-flag-differs", "java:4.7.1", "go:2.1.2", ("", "")),
        ("outcomes.other-servers/no-broker-vip", "java:4.3.0", "java:5.5.0", ("4.5.0", "4.5.1")),
        ("outcomes.other-servers/name-servers", "java:4.9.8", "java:5.1.4", ("4.9.8", "5.0.0")),
        ("outcomes.other-servers/no-name-servers", "java:5.1.4", "java:5.3.3", ("5.2.0", "5.3.0")),
        ("outcomes.other-servers/name-servers", "java:4.9.8", "java:5.3.3", ("", "")),
        ("content.flag-differs", "java:4.7.1", "java:5.3.3", ("", "")),
    ],
)
def test_a_difference_without_a_replay_has_the_release_of_its_rule(
    signature: str, baseline: str, candidate: str, boundary: tuple[str, str], tmp_path: Path
) -> None:
    """Where one rule accounts for a signature, the release that brought the candidate's value is named."""
    example = Example(NOWHERE, "calm", "one", "another")
    divergence = Divergence(signature, candidate, 1, example)
    results = (
        CheckResult("case", signature.partition(".")[0], Verdict.DIVERGES, Severity.MUST, "", (divergence,), ()),
    )
    run = RunDirectory.create(
        tmp_path, replace(MANIFEST, run="r", subjects={Arm.BASELINE: baseline, Arm.CANDIDATE: candidate})
    )
    (found,) = contexts_of(clusters_of(results, Policy()), results, Policy(), sample_run_info(), [run])
    assert (found.before, found.since) == boundary


def test_a_downgrade_has_no_first_release(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A downgrade has no first release."""
    reported = context(
        judged(tmp_path_factory, "java:5.3.3", "java:4.7.1"), "avoidance.stayed-away-from-available-broker/first"
    )
    assert (reported.before, reported.since) == ("", "")
    assert reported.explanation


def test_the_send_and_its_neighbours_have_their_rules(upgrade: Judged) -> None:
    """The context has the rules behind the send, and five sends before and after it."""
    _, _, results = upgrade
    reported = context(upgrade)
    example = next(one for row in results for one in row.divergences if one.signature == AVOIDANCE).example
    assert reported.explanation[0] == f"{NAME}/java:4.7.1~java:5.3.3, java:5.3.3"
    assert any(f"DIFFERS {AVOIDANCE}" in line for line in reported.explanation)
    assert {bar.send for bar in reported.around} == set(range(example.where.number - 5, example.where.number + 6))
    assert {bar.arm for bar in reported.around} == {"baseline", "candidate"}
