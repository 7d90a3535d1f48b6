"""The views of the page, before any template."""

from dataclasses import replace

import msgspec
import pytest

from rocketdiff.core.answers.plots import FailoverEndings
from rocketdiff.core.answers.verdict import CallEnd, Measure, StoredAt, Verdict
from rocketdiff.core.run_info import Guard
from rocketdiff.report.document import Document
from rocketdiff.report.sending.words import call_text, detail_lines, stored_text
from rocketdiff.report.views.case_matrix import matrix_of
from rocketdiff.report.views.page import case_views, guards_of, pool_views
from rocketdiff.report.views.pictures import CasePictures, endings_text
from rocketdiff.report.words.measures import measure_lines, measure_text
from rocketdiff.report.words.signs import headline, moment, number, subline
from rocketdiff.verdict.judge import Counts


def with_guards(document: Document, *guards: Guard) -> Document:
    return msgspec.structs.replace(document, run=replace(document.run, guards=guards))


def test_guards_of_a_kind_that_hold_share_a_line_and_broken_ones_do_not(document: Document) -> None:
    """Guards of one kind that hold share a line; broken ones do not."""
    guards = (
        *(Guard(f"fault-{n}", True, f"pause {n} proven", "proven", "a") for n in range(1, 4)),
        Guard("fault-4", False, "pause 4 proven", "not injected", "a"),
        Guard("started-together", True, "within 50 ms", "3 ms", "a"),
    )
    _, _, broken, faults, start = guards_of(with_guards(document, *guards))
    assert (broken.name, broken.held, broken.seen) == ("fault-4", False, "not injected")
    assert (faults.name, faults.seen, faults.expected) == ("fault", "3 of 4 hold", "for example pause 1 proven")
    assert start.seen == "3 ms"


def test_the_first_guard_is_that_the_plan_was_executed(document: Document) -> None:
    """The first guard counts planned checks that ran; unplanned ones do not compensate."""
    counts = Counts(checks=23, planned=19, unanswered=1)
    first = guards_of(msgspec.structs.replace(document, counts=counts))[0]
    assert (first.held, first.seen) == (False, "18 of 19")


def test_durations_are_listed_in_the_order_of_time(document: Document) -> None:
    """Durations are ordered calm, paused, after, with both arms side by side."""
    pictures = {case.case: CasePictures() for case in document.run.cases}
    first = case_views(document, pictures)[0]
    seen = [(row.phase, row.arm) for row in first.elapsed]
    assert seen[:3] == [("calm", "baseline"), ("calm", "candidate"), ("paused", "baseline")]


def ended(baseline: int, candidate: int, **only: int) -> FailoverEndings:
    return FailoverEndings("pool", "failover-time", 10, baseline, candidate, **only)


def test_how_episodes_ended_has_a_test_of_its_own() -> None:
    """Endings have an exact McNemar test: 0 : 5 is p = 2 × 0.5^5 = 0.0625."""
    output = endings_text(
        ended(5, 10, baseline_only=0, candidate_only=5), {"baseline": "java:4.7.1", "candidate": "java:5.3.3"}
    )
    assert "java:4.7.1 in 5 of 10 : java:5.3.3 in 10 of 10" in output
    assert "only one of the two in 5; exact McNemar test p = 0.062" in output


@pytest.mark.parametrize(("left", "word"), [(5, "equivalent where both failed over"), (6, "equivalent")])
def test_equivalent_speaks_of_those_that_both_left(document: Document, left: int, word: str) -> None:
    """If an arm failed over in at most half of the episodes, "equivalent" names those where both did."""
    row = next(one for one in document.results if one.check == "failover-time" and one.case.startswith("pooled/"))
    ends = replace(ended(left, 10, baseline_only=0, candidate_only=10 - left), pool=row.case)
    plots = replace(document.plots, endings=(ends,))
    (pool,) = [one for one in pool_views(msgspec.structs.replace(document, plots=plots)) if one.name == row.case]
    answer = next(one for one in pool.answers if one.result.check == "failover-time")
    assert (answer.result.verdict, answer.word) == (Verdict.EQUIVALENT, word)
    assert f"in {left} of 10" in answer.notes[0]


def test_rows_of_the_matrix_follow_the_plan_and_pooled_ones_come_last(document: Document) -> None:
    """The matrix has planned cases in order, pooled rows last, and empty cells without a check."""
    matrix = matrix_of(document)
    assert [row.case for row in matrix.rows[:-1]] == [case.case for case in document.run.cases]
    assert matrix.rows[-1].case.startswith("pooled/")
    assert matrix.checks[:3] == ("validity", "protocol", "queue-choice")
    assert matrix.rows[-1].cells[0] is None


def test_the_subline_accounts_for_every_check(document: Document) -> None:
    """The subline accounts for all checks: 53 + 8 + 1 + 4 + 16 are 82."""
    assert subline(document) == (
        "8 checks fail, 2 new kinds of divergence in 4 cases · effect: changed, distributed differently"
        " · 53 of 82 checks conform · 8 diverge · 1 inconclusive"
        " · 4 not applicable · 16 measured only · 61 of 66 gating checks answered · 1 gating check has no answer"
    )


def test_a_control_run_is_compared_with_itself(document: Document) -> None:
    """In a run of a client against itself the headline says "itself"."""
    control = replace(document.run, baseline=document.run.candidate)
    output = headline(msgspec.structs.replace(document, run=control))
    assert output == "java:5.3.3 behaves differently from itself"


def test_a_dead_baseline_is_no_fault_of_the_candidate(document: Document) -> None:
    """If only the baseline broke the protocol, the headline does not blame the candidate."""
    died = tuple(
        replace(cluster, subject=document.run.baseline.subject, signature="protocol.died")
        for cluster in document.clusters[:1]
    )
    output = headline(msgspec.structs.replace(document, clusters=died))
    assert output == ("java:4.7.1, the baseline, broke the line protocol: there is nothing to compare java:5.3.3 with")
    other = replace(died[0], subject=document.run.candidate.subject)
    output = headline(msgspec.structs.replace(document, clusters=(*died, other)))
    assert output == "java:5.3.3 behaves differently from java:4.7.1"


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        (Measure("retries", 20, "count", 1_050), "20 of 1,050"),
        (Measure("offset", 74_394, "count", 1), "74,394"),
        (Measure("spread", 376_698, "ns", 1), "0.377 ms, n = 1"),
        (Measure("legal-share", 0.1331, "share", 2_115), "13.3%, n = 2,115"),
        (Measure("r", 0.9962, "ratio", 10, 0.95, 1.049, 0.9), "×1.00 (×0.95 to ×1.05, 90% interval), n = 10"),
        (Measure("t", 302.4, "ms", 8, 298.0, 310.4), "302 ms (298 ms to 310 ms), n = 8"),
    ],
)
def test_a_figure_has_its_unit_and_its_sample(measure: Measure, text: str) -> None:
    """A figure has its unit, sample size and interval, if any."""
    assert measure_text(measure) == text


def test_figures_of_both_arms_share_a_line() -> None:
    """Figures of both arms share a line."""
    measures = [
        Measure("retries baseline", 2, "count", 9),
        Measure("x", 1, "s", 1),
        Measure("retries candidate", 3, "count", 9),
    ]
    assert measure_lines(measures) == (("retries", "baseline 2 of 9; candidate 3 of 9"), ("x", "1 s, n = 1"))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (None, ""),
        (CallEnd(status="SEND_OK", elapsed_ms=1.64), "returned SEND_OK after 1.64 ms"),
        (CallEnd(error="MQClientException", code=10005), "threw MQClientException, code 10005"),
        (
            CallEnd(error="MQClientException", cause="RemotingTimeoutException", code=10002, elapsed_ms=3_001.2),
            "threw MQClientException, caused by RemotingTimeoutException, code 10002 after 3,001 ms",
        ),
    ],
)
def test_the_end_of_a_call_is_described(call: CallEnd | None, text: str) -> None:
    """The end of a call is described as the application saw it."""
    assert call_text(call) == text


@pytest.mark.parametrize(
    ("copies", "text"),
    [
        (None, ""),
        ([], "stored nowhere"),
        ([StoredAt("broker-a", 3, 12)], "stored at broker-a queue 3 offset 12"),
        ([StoredAt("a", 0, 1), StoredAt("b", 2, 3)], "stored 2 times: a queue 0 offset 1; b queue 2 offset 3"),
    ],
)
def test_copies_of_a_message_have_their_places(copies: list[StoredAt] | None, text: str) -> None:
    """The copies of a message are listed with their places."""
    assert stored_text(copies) == text


def test_details_of_a_check_are_named_values(document: Document) -> None:
    """Details of a check are named values."""
    stays = next(cluster for cluster in document.clusters if cluster.check == "queue-choice")
    assert detail_lines(stays.example) == (
        ("rules.index", "172"),
        ("rules.queues_total", "8"),
        ("rules.queues_legal", "4"),
        ("rules.last_broker", "broker-b"),
    )


def test_numbers_and_moments_are_for_people() -> None:
    """Numbers have three significant digits and dates are readable; other text is unchanged."""
    assert [number(value) for value in (3, 1_234_567.8, 0.000123, 12.345)] == ["3", "1,234,568", "0.000123", "12.3"]
    assert moment("2026-11-21T14:22:33+00:00") == "2026-11-21 14:22:33 UTC"
    assert moment("yesterday") == "yesterday"
