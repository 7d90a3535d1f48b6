"""Entries and runs for tests of the ledger: java:5.3.3 against java:4.7.1 in two cases and a pool."""

from dataclasses import replace
from datetime import date
from typing import Any

from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Severity, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.run_info import CaseInfo, SubjectInfo
from rocketdiff.ledger.model import Conditions, Confirmation, Entry, Party, Range
from tests.verdict import builders

OLD, NEW = "java:4.7.1", "java:5.3.3"
PAIR = f"{OLD}~{NEW}"
ONE, BOTH, POOL = "latency/pause-one", "latency/pause-both", "pooled/pause/fault-latency-on"
CHECKS = ("avoidance", "loss", "validity")


def case(number: int, name: str, paused: int) -> CaseInfo:
    return CaseInfo(
        number,
        f"{name}/{PAIR}",
        CHECKS,
        settings={"send_latency_fault_enable": True, "send_msg_timeout_ms": 500},
        fault_counts={"paused_brokers": paused, "killed_brokers": 0, "paused_name_servers": 0},
    )


RUN = replace(
    builders.RUN,
    baseline=SubjectInfo(OLD, "java", "4.7.1"),
    candidate=SubjectInfo(NEW, "java", "5.3.3"),
    cases=(case(1, ONE, 1), case(2, BOTH, 2)),
)

ENTRY = Entry(
    id="K16",
    check="latency/*/avoidance",
    when=Conditions(Party("java", Range.parse(">=5.1.4")), Party("java", Range.parse("<5.1.4"))),
    arm_at_fault="spec-gap",
    signatures=("avoidance.used/first",),
    rate=None,
    severity=Severity.MUST,
    reason="Ten seconds instead of ten minutes.",
    ref="apache/rocketmq#6567",
    evidence=Confirmation(7),
    added=date(2026, 11, 1),
    expires=date(2027, 5, 1),
    owner="team",
    proposed=False,
    place="own.yaml line 4",
)


def entry(**changes: Any) -> Entry:  # fields of Entry by name
    return replace(ENTRY, **changes)


def divergence(signature: str = "avoidance.used/first", subject: str = NEW) -> Divergence:
    return Divergence(signature, subject, 3, Example(at(Place.SEND, 7, 0, 0), "after", "broker-a", "broker-b"))


def result(
    name: str, *found: Divergence, check: str = "avoidance", verdict: Verdict | None = None, **more: Any
) -> CheckResult:
    verdict = verdict or (Verdict.DIVERGES if found else Verdict.CONFORMS)
    return CheckResult(f"{name}/{PAIR}", check, verdict, divergences=found, **more)
