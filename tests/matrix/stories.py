"""Manually built runs: documents of literal answers, and files of a matrix."""

from dataclasses import replace
from pathlib import Path

from rocketdiff.core.answers.evidence import TraceCounts
from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Severity, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.run_info import CaseInfo, Machine, RunInfo, SubjectInfo
from rocketdiff.report.document import Document, build
from rocketdiff.verdict.judge import EXIT_CODE, RunJudgement, conclude

BASELINE = "java:5.3.3"
CALM, PAUSE = "round-robin/calm", "round-robin/repeated-pauses"
COVERS = {
    CALM: ("A1",),
    PAUSE: ("C3", "C4"),
    "consuming/name-server-paused": ("E1", "E2"),
    "consuming/pause-one-of-two": ("F1", "F8"),
    "groups/five-queues-one-to-six-members": ("F2", "F3"),
    "groups/master-killed-and-slave-read": ("E4", "F7"),
    "ordered-group/suspended": ("F4",),
    "retries/fails-beside-a-pause": ("F5", "F8"),
    "backlog/stopped-group": ("F6",),
}


def divergence(signature: str, subject: str, *, declared_by: str = "", send: int = 7) -> Divergence:
    example = Example(
        at(Place.SEND, send, 0, 0), "paused", "queue 1 of broker-a", "attempt 1 went to queue 2 of broker-a"
    )
    return Divergence(signature, subject, 3, example, declared_by)


def answer(
    scenario: str,
    check: str,
    verdict: Verdict = Verdict.CONFORMS,
    *signatures: str,
    subject: str = "java:4.7.1",
    of: str = "",
    reason: str = "",
    severity: Severity = Severity.MUST,
    declared_by: str = "",
) -> CheckResult:
    """of: subject of the differences, if another."""
    found = tuple(divergence(signature, of or subject, declared_by=declared_by) for signature in signatures)
    return CheckResult(f"{scenario}/{BASELINE}~{subject}", check, verdict, severity, reason, found)


def document(
    *answers: CheckResult, subject: str = "java:4.7.1", left_out: tuple[tuple[str, str], ...] = ()
) -> Document:
    cases = dict.fromkeys(one.case for one in answers if not one.case.startswith("pooled/"))
    infos = tuple(
        CaseInfo(number, case, ("loss",), covers=COVERS.get(case.rpartition("/")[0], ()), folder="run")
        for number, case in enumerate(cases, start=1)
    )
    run = RunInfo(
        run=f"20261123-090000-{subject}",
        seed=20,
        suite="quick",
        baseline=SubjectInfo(BASELINE, "java", "5.3.3"),
        candidate=SubjectInfo(subject, *subject.split(":")),
        server_release="5.3.3",
        backend="processes",
        started_at="2026-11-23T09:00:00+00:00",
        took_s=74.0,
        machine=Machine("Linux", "a processor", 2, 8_192, "3.11", "JDK 17"),
        cases=infos,
        reproduce=f"rocketdiff run --subject {BASELINE} --subject {subject} --suite quick --server 5.3.3 --seed 20",
        rocketdiff="0.1.0",
        explain="rocketdiff explain {folder} {subject} {send} --case {case}",
        left_out=left_out,
    )
    verdict, counts = conclude(answers, Policy())
    judgement = RunJudgement(answers, verdict, EXIT_CODE[verdict], counts, Policy(), f"VERDICT {verdict}")
    return build(run, judgement, Plots(), TraceCounts(1, len(infos), 0, 0, 0, 0, 0))


def moved(result: CheckResult, subject: str) -> CheckResult:
    case = result.case.replace("java:4.7.1", subject)
    return replace(result, case=case, divergences=tuple(replace(one, subject=subject) for one in result.divergences))


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
