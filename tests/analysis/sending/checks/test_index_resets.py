"""Which queue a retry takes after its index was reset, on manually built tables and counts."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.sending.checks.by_rules.index_resets import FIRST, RESETS
from rocketdiff.analysis.sending.checks.by_rules.start_positions import pooled
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.verdict.counts import with_count_divergences
from tests.analysis.builders import ENTRY, SUBJECTS
from tests.analysis.sending.checks.builders import BASELINE, CANDIDATE
from tests.analysis.trace_builders import QUEUES, SMALL, tallies_of, trace

WITH_LATENCY = replace(SMALL, settings=ClientSettings(send_latency_fault_enable=True, send_msg_timeout_ms=500))
REFUSED = {"error": "RemotingConnectException", "outcome": "failed", "status": None}
FIRST_TRY = {"send": 0, "broker": "broker-b", "queue_id": 1, **REFUSED}
RETRY = {"send": 0, "attempt": 1}
C = [{"broker": "broker-c", "queue_id": queue} for queue in range(2)]


def resets(
    *attempts: dict[str, Any], entry: Any = WITH_LATENCY, queues: Any = QUEUES, subjects: Any = None, **row: Any
) -> tuple[int, int]:
    """The candidate's retries, and how many of them took the first queue of the other broker."""
    sends = [{"send": 0} | row]
    case = trace(entry, subjects, sends=sends, attempts=list(attempts), routes=[{"route": 1, "queues": queues}])
    tallies = tallies_of(case)
    all_of, first = (
        sum(n for (check, arm, _, _), (n, _) in tallies.items() if (check, arm) == (name, "candidate"))
        for name in (RESETS, FIRST)
    )
    return all_of, first


BACKWARDS = [QUEUES[1], QUEUES[0], *QUEUES[2:]]
WITHOUT_RULES = {BASELINE: "go:2.1.1", CANDIDATE: "go:2.1.2"}
OLD = {BASELINE: "java:5.1.3", CANDIDATE: "python:5.1.3"}


@pytest.mark.parametrize(
    ("found", "counted"),
    [
        (partial(resets, FIRST_TRY, RETRY), (1, 1)),
        (partial(resets, FIRST_TRY, RETRY | {"queue_id": 1}, queue_id=1), (1, 0)),
        (partial(resets, FIRST_TRY | {"error": None, "outcome": "ok", "status": "FLUSH_DISK_TIMEOUT"}, RETRY), (0, 0)),
        (partial(resets, FIRST_TRY, RETRY | {"broker": "broker-b"}, broker="broker-b"), (0, 0)),
        (partial(resets, FIRST_TRY, RETRY, entry=SMALL), (0, 0)),
        (partial(resets, FIRST_TRY, RETRY, subjects=OLD), (0, 0)),
        (partial(resets, FIRST_TRY, RETRY, queues=QUEUES + C), (0, 0)),
        (partial(resets, FIRST_TRY, RETRY, queues=QUEUES[:3]), (0, 0)),
        (partial(resets, FIRST_TRY, RETRY | {"queue_id": 1}, queue_id=1, queues=BACKWARDS), (1, 1)),
        (partial(resets, FIRST_TRY, RETRY, subjects=WITHOUT_RULES), (0, 0)),
        (partial(resets, FIRST_TRY, RETRY, kind="selector"), (0, 0)),
        (partial(resets, FIRST_TRY, RETRY, mode="async"), (0, 0)),
    ],
)
def test_which_retries_show_a_reset(found: Callable[[], tuple[int, int]], counted: tuple[int, int]) -> None:
    """A synchronous retry counts that left a failed broker for the other of two, with fault latency, from 5.1.4 on."""
    assert found() == counted


def case(
    total: int, first: int, baseline_first: int = 0, *, queues: str = "4", of_baseline: int | None = None
) -> CaseFacts:
    """Retries after a reset of both arms, and those to the first queue; of_baseline: the baseline's, if not as many."""
    totals = {BASELINE: total if of_baseline is None else of_baseline, CANDIDATE: total}
    tallies: dict[TallyKey, tuple[int, float]] = {
        (name, arm, "", queues): (n, 0.0)
        for arm, met in ((BASELINE, baseline_first), (CANDIDATE, first))
        for name, n in ((RESETS, totals[arm]), (FIRST, met))
        if totals[arm]
    }
    return CaseFacts("r1", SUBJECTS, ENTRY, tallies=tallies)


@pytest.mark.parametrize(
    ("cases", "signatures"),
    [
        ([case(14, 14)], []),
        ([case(15, 15)], ["queue.begins-alike/retry"]),
        ([case(5, 5)] * 3, ["queue.begins-alike/retry"]),
        ([case(60, 40)], []),
        ([case(60, 50)], ["queue.begins-alike/retry"]),
        ([case(60, 60, baseline_first=60)], []),
        ([case(15, 15, of_baseline=0)], ["queue.begins-alike/retry"]),
        ([case(15, 15), case(5, 5, queues="8", of_baseline=40)], ["queue.begins-alike/retry"]),
        ([case(5, 5, queues="8"), case(15, 15, of_baseline=8)], ["queue.begins-alike/retry"]),
    ],
)
def test_retries_that_always_take_the_first_queue_diverge(cases: list[CaseFacts], signatures: list[str]) -> None:
    """
    Five of eight fall on the first queue by chance; a baseline that always takes it too clears the candidate.

    Counted are the retries among as many queues as most of the candidate's.
    """
    evidence = with_count_divergences(pooled(cases), baseline="java:5.3.3", candidate="python:5.3.3")
    assert [divergence.signature for each in evidence for divergence in each.divergences] == signatures
