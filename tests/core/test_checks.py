"""The table of checks, and places outside the code that name each of them."""

import re
from pathlib import Path

import pytest

from rocketdiff.analysis.registry import CODES, POOLED
from rocketdiff.core.sends.knowable import Sending, unanswerable
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.checks import ASKED, CHECKS, IMPLICIT, REPORT_ORDER, CheckKind
from rocketdiff.report.formats.sarif import rules_of

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "reports" / "README.md").read_text().partition("| Check | Asks")[2].partition("\n\n")[0]


def test_validity_leads_a_report() -> None:
    """
    A report begins with ``validity``, which can void all else, then the checks of every case, then the others in table order.
    """
    assert REPORT_ORDER[:3] == ("validity", "protocol", "consumption")
    assert sorted(REPORT_ORDER) == sorted(CHECKS)


def test_every_check_has_a_function_that_answers_it() -> None:
    """Each check has one code, of its own name, and no code lacks a check."""
    assert list(CODES) == list(CHECKS)
    assert [code.name for code in CODES.values()] == list(CHECKS)


def test_pooled_durations_come_before_pooled_counts() -> None:
    """Evidence over all cases is in the order of a report: durations, then counts."""
    pooled = {code.pooled: name for name, code in CODES.items() if code.pooled is not None}
    assert [pooled[each] for each in POOLED] == [
        "timing",
        "failover-time",
        "resume-time",
        "takeover-time",
        "outcomes",
        "queue-choice",
    ]


@pytest.mark.parametrize("check", CHECKS)
def test_an_alert_has_the_sentence_of_its_check(check: str) -> None:
    """An alert's rule has the check's sentence of the table."""
    (rule,) = rules_of([{"ruleId": f"{check}/any.thing", "level": "error"}], {})
    assert rule["fullDescription"]["text"] == CHECKS[check].sentence


@pytest.mark.parametrize("check", ASKED)
def test_some_case_can_answer_the_check(check: str) -> None:
    """Some case can answer each check, so its requirements do not contradict."""
    cases = [
        Sending(mode, call, fault_latency=latency, is_delayed=True, loses_a_broker=True)
        for mode in SendMode
        for call in SendKind
        for latency in (False, True)
    ]
    assert any(unanswerable(check, case) == "" for case in cases)


def test_the_guide_to_reports_has_a_row_for_each_check() -> None:
    """The guide to reports has a row for each check, in the table's order."""
    rows = re.findall(r"^\| `([a-z-]+)`( \(always\))? \|([^|]+)\|", GUIDE, flags=re.MULTILINE)
    assert [name for name, _, _ in rows] == list(CHECKS)
    assert tuple(name for name, always, _ in rows if always) == IMPLICIT
    statistical = {name for name, _, asks in rows if "statistics over" in asks}
    assert statistical == {name for name, check in CHECKS.items() if check.kind is CheckKind.STATISTICAL}
