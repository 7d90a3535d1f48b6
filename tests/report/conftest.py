"""A realistic judged run of two imitated releases under a pause, without a cluster."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import (
    Ending,
    Evidence,
    Margin,
    OutagePair,
    PairedSample,
    Standing,
    TraceCounts,
)
from rocketdiff.core.answers.plots import (
    AmbiguityCurve,
    BrokerShare,
    ElapsedQuantiles,
    FailoverCurve,
    FaultWindow,
    LaneAttempt,
    LaneMark,
    Overview,
    OverviewRow,
    Plots,
    SwimLanes,
)
from rocketdiff.core.answers.verdict import CallEnd, Divergence, Example, Measure, Severity, SideExample, StoredAt
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.run_info import CaseInfo, Guard, Machine, RunInfo, SubjectInfo
from rocketdiff.report.document import Document, build
from rocketdiff.report.formats import html
from rocketdiff.verdict.judge import judge
from tests.report.imitation import PAUSE_MS, RESUME_MS, arms, phase_of

OLD, NEW = "java:4.7.1", "java:5.3.3"
PAIR = f"{OLD}~{NEW}"
RUN = "20261121-142233-quick"
POOL = f"pooled/pause/fault-latency-on/{PAIR}"
CHECKS = ("queue-choice", "attempts", "avoidance", "error-kind", "timing", "loss", "duplication", "failover-time")
SCENARIOS = {
    "fault-latency/pause-one-of-two": 2,
    "fault-latency/pause-one-of-three": 3,
    "fault-latency/pause-both": 2,
    "fault-latency/two-short-pauses": 2,
    "plain/pause-one-of-two": 2,
    "plain/pause-longer-than-timeout": 2,
    "retries/none": 2,
    "explicit/queue-by-selector": 2,
}


def shares(case: str, attempts: list[LaneAttempt]) -> Iterator[BrokerShare]:
    for phase in ("calm", "paused", "after"):
        inside = [attempt for attempt in attempts if phase_of(attempt) == phase]
        for broker in sorted({attempt.broker for attempt in attempts}):
            count = sum(attempt.broker == broker for attempt in inside)
            yield BrokerShare(RUN, case, attempts[0].arm, phase, broker, count, count / max(1, len(inside)))


def quantiles(case: str, attempts: list[LaneAttempt]) -> Iterator[ElapsedQuantiles]:
    for phase in ("calm", "paused", "after"):
        took = sorted(a.end_ms - a.start_ms for a in attempts if phase_of(a) == phase)
        at = [round(took[int(q * (len(took) - 1))], 2) for q in (0.5, 0.95, 0.99, 1.0)]
        p99 = at[2] if len(took) >= 100 else None
        yield ElapsedQuantiles(RUN, case, attempts[0].arm, phase, len(took), at[0], at[1], p99, at[3])


def ambiguity(case: str, arm: str) -> AmbiguityCurve:
    redrawn = 0.35 if arm == "candidate" else 0.125
    points = ((0.0, 1.0), (40.0, 0.125), (2_980.0, 0.125), (3_500.0, redrawn), (5_000.0, 0.25), (9_000.0, 0.25))
    return AmbiguityCurve(RUN, case, arm, points)


def sample_plots() -> Plots:
    lanes: list[SwimLanes] = []
    whole: list[Overview] = []
    share: list[BrokerShare] = []
    blur: list[AmbiguityCurve] = []
    elapsed: list[ElapsedQuantiles] = []
    for scenario, brokers in SCENARIOS.items():
        case, (old, new) = f"{scenario}/{PAIR}", arms(brokers)
        window = FaultWindow(1, "pause", "broker-b", PAUSE_MS, RESUME_MS)
        shown = [a for a in (*old, *new) if a.start_ms < 7_000]
        mark = LaneMark("candidate", 0, 152, "retry/returns-to-failed-broker")
        shown = [a for a in shown if abs(a.send - 152) <= 30]
        lanes.append(SwimLanes(RUN, case, tuple(shown), (window,), len(old) + len(new) - len(shown), (mark,)))
        whole.append(Overview(RUN, case, 250.0, tuple(overview_rows((*old, *new))), (window,)))
        for attempts in (old, new):
            share.extend(shares(case, attempts))
            elapsed.extend(quantiles(case, attempts))
            blur.append(ambiguity(case, attempts[0].arm))
    curves = (
        FailoverCurve("fault-latency-on", "baseline", tuple((510.0 + 160 * i, i / 10) for i in range(8)), 14, 3),
        FailoverCurve("fault-latency-on", "candidate", tuple((502.0 + 3 * i, i / 12) for i in range(13)), 14, 0),
        FailoverCurve("fault-latency-off", "baseline", tuple((501.0 + 4 * i, i / 6) for i in range(7)), 6, 0),
        FailoverCurve("fault-latency-off", "candidate", tuple((502.0 + 4 * i, i / 6) for i in range(7)), 6, 0),
    )
    return Plots(tuple(lanes), curves, tuple(share), tuple(blur), tuple(elapsed), tuple(whole))


def overview_rows(attempts: tuple[LaneAttempt, ...]) -> Iterator[OverviewRow]:
    """Thirty-six steps of 250 ms; later attempts count in the last step."""
    for arm, broker in sorted({(a.arm, a.broker) for a in attempts}):
        steps = {True: [0] * 36, False: [0] * 36}
        for a in attempts:
            if (a.arm, a.broker) == (arm, broker):
                steps[a.outcome == "ok"][min(35, int(a.start_ms / 250))] += 1
        yield OverviewRow(arm, broker, tuple(steps[True]), tuple(steps[False]))


def sides(send: int) -> tuple[SideExample, ...]:
    old, new = (tuple(attempt for attempt in arm if attempt.send == send) for arm in arms(2))
    slow = CallEnd(error="RemotingTooMuchRequestException", cause="RemotingTimeoutException", elapsed_ms=1_500.2)
    twice = (StoredAt("broker-b", 0, 61), StoredAt("broker-b", 1, 61))
    return (
        SideExample("baseline", old, slow, twice),
        SideExample("candidate", new, CallEnd(status="SEND_OK", elapsed_ms=1.85), (StoredAt("broker-a", 2, 44),)),
    )


STAYS = Divergence(
    signature="retry/returns-to-failed-broker",
    subject=NEW,
    count=4,
    example=Example(
        where=at(Place.SEND, 152, 0, 1),
        phase="paused",
        expected="after the timeout on broker-b the retry stays on broker-b (java:4.7.1)",
        observed="the retry went to broker-a",
        figures={"rules": {"index": 172, "queues_total": 8, "queues_legal": 4, "last_broker": "broker-b"}},
        run=RUN,
        sides=sides(152),
    ),
)
AVOIDS = Divergence(
    signature="avoidance/timeout-isolates-600s-vs-10s",
    subject=NEW,
    count=31,
    example=Example(
        where=at(Place.SEND, 420, 0, 0),
        phase="after",
        expected="broker-b is avoided for 600 s after its failed attempt",
        observed="broker-b was chosen again 10.02 s after its failed attempt",
        figures={"rules": {"avoided_for_ms": 10_020, "rule_avoids_ms": 600_000}},
        run=RUN,
        sides=sides(420),
    ),
)


def sample_evidence() -> tuple[Evidence, ...]:
    everything = [piece for scenario in SCENARIOS for piece in case_evidence(scenario)]
    pairs = tuple(OutagePair(RUN, POOL, n, 501e6 + n * 1e6, 503e6 + n * 1e6) for n in range(14))
    margin = Margin(1.2, "a fifth of one send timeout")
    for check in ("timing", "failover-time"):
        name = "failover" if check == "failover-time" else "calm send"
        sample = PairedSample(name, margin, pairs, 6, "fewer give no interval")
        everything.append(Evidence((RUN,), POOL, check, Standing.DECISIVE, decisions=14, samples=(sample,)))
    return tuple(everything)


def case_evidence(scenario: str) -> Iterator[Evidence]:
    case = f"{scenario}/{PAIR}"
    faulty = scenario.startswith("fault-latency")
    for check in (*CHECKS, "protocol", "validity"):
        evidence = Evidence((RUN,), case, check, Standing.DECISIVE, decisions=450)
        if check == "queue-choice":
            found = (STAYS,) if faulty else ()
            evidence = replace(evidence, legal_share=0.21, divergences=found)
        elif check == "avoidance":
            standing = Standing.DECISIVE if faulty else Standing.NOT_APPLICABLE
            reason = "" if faulty else "fault latency is off"
            evidence = replace(evidence, standing=standing, reason=reason, divergences=(AVOIDS,) if faulty else ())
        elif check in ("timing", "failover-time"):
            pair = OutagePair(RUN, case, 1, 501e6, 503e6, Ending.FAILOVER, Ending.FAILOVER)
            sample = PairedSample(check, Margin(1.2, "one bucket"), (pair,), 6, "fewer give no interval")
            evidence = replace(evidence, severity=Severity.INFO, samples=(sample,))
        elif check == "duplication" and scenario == "retries/none":
            evidence = replace(evidence, standing=Standing.INDECISIVE, reason="no send was retried")
        elif check == "validity":
            evidence = replace(evidence, measures=(Measure("start spread", 3.2, "ms", 1),))
        yield evidence


def sample_run_info() -> RunInfo:
    settings: dict[str, object] = {"send_latency_fault_enable": True, "send_msg_timeout_ms": 500}
    workload: dict[str, object] = {"mode": "sync", "threads": 1, "rate_per_s": 50, "duration_s": 9}
    cases = tuple(
        CaseInfo(
            number=number,
            case=f"{scenario}/{PAIR}",
            checks=(*CHECKS, "protocol", "validity"),
            establishes="A producer leaves a paused broker after its first failed send and comes back when it may.",
            covers=("B1", "B2", "C2"),
            topology="two-masters" if brokers == 2 else "three-masters",
            settings=settings,
            workload=workload,
            faults=("pause broker b at 3 s for 2 s",),
            episodes=1,
            sends_per_arm=450,
        )
        for number, (scenario, brokers) in enumerate(SCENARIOS.items(), start=1)
    )
    return RunInfo(
        run=RUN,
        seed=918273,
        suite="quick",
        baseline=SubjectInfo(OLD, "java", "4.7.1"),
        candidate=SubjectInfo(NEW, "java", "5.3.3"),
        server_release="5.3.3",
        backend="processes",
        started_at="2026-11-21T14:22:33+00:00",
        took_s=74.2,
        machine=Machine("Linux 6.1 x86_64", "2 × Example CPU @ 2.4 GHz", 2, 7_936, "3.11.7", "17.0.13"),
        cases=cases,
        reproduce=f"rocketdiff compare {OLD} {NEW} --suite quick --seed 918273",
        rocketdiff="0.1.0",
        pooled_checks=((POOL, "timing"), (POOL, "failover-time")),
        guards=(
            Guard("arms started together", True, "at most 50 ms apart", "3.2 ms"),
            Guard("pauses proven", True, "process stopped and a probe without an answer", "8 of 8"),
        ),
        explain="rocketdiff explain reports/20261121-142233-quick {subject} {send} --case {case}",
    )


def sample_document() -> Document:
    run = sample_run_info()
    counts = TraceCounts(runs=1, cases=8, sends=7_200, attempts=7_246, stored=7_231, foreign=0, faults=8)
    return build(run, judge(sample_evidence(), run), sample_plots(), counts)


@pytest.fixture(scope="session")
def document() -> Document:
    return sample_document()


@pytest.fixture(scope="session")
def page_text(document: Document) -> str:
    """The sample run's page, rendered once because its charts take seconds."""
    return html.render(document)
