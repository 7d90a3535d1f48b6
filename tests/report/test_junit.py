"""JUnit XML that any CI server reads."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from rocketdiff.core.answers.policy import Inconclusive, Policy
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Severity, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.events import AnalysisStarted, CheckJudged
from rocketdiff.report.document import Document
from rocketdiff.report.formats.junit import JUnitListener, outcome_of, render, write

STRICT = Policy(strict=True)


def result(verdict: str, severity: Severity = Severity.MUST, reason: str = "") -> CheckResult:
    return CheckResult("fault/pause/java:1~java:2", "loss", Verdict(verdict), severity, reason)


@pytest.mark.parametrize(
    ("verdict", "severity", "policy", "outcome"),
    [
        ("CONFORMS", Severity.MUST, Policy(), "passed"),
        ("EQUIVALENT", Severity.MUST, Policy(), "passed"),
        ("DECLARED", Severity.MUST, Policy(), "passed"),
        ("DIVERGES", Severity.MUST, Policy(), "failure"),
        ("DIVERGES", Severity.SHOULD, Policy(), "passed"),
        ("DIVERGES", Severity.SHOULD, STRICT, "failure"),
        ("STALE", Severity.MUST, Policy(), "failure"),
        ("INCONCLUSIVE", Severity.MUST, Policy(), "failure"),
        ("INCONCLUSIVE", Severity.MUST, Policy(inconclusive=Inconclusive.WARN), "skipped"),
        ("INCONCLUSIVE", Severity.MUST, STRICT, "failure"),
        ("INCONCLUSIVE", Severity.INFO, STRICT, "skipped"),
        ("NOT_APPLICABLE", Severity.MUST, STRICT, "skipped"),
        ("INVALID", Severity.MUST, Policy(), "error"),
        ("INVALID", Severity.INFO, Policy(), "skipped"),
        ("ERROR", Severity.INFO, Policy(), "error"),
    ],
)
def test_verdict_severity_and_policy_make_the_outcome(
    verdict: str, severity: Severity, policy: Policy, outcome: str
) -> None:
    """Verdict, severity and policy determine the outcome of a test case."""
    assert outcome_of(result(verdict, severity), policy) == outcome


def test_counts_are_those_of_the_elements(document: Document, tmp_path: Path) -> None:
    """The counts in the attributes equal the numbers of elements."""
    root = ET.parse(write(document, tmp_path)).getroot()
    for kind, attribute in (
        ("testcase", "tests"),
        ("failure", "failures"),
        ("error", "errors"),
        ("skipped", "skipped"),
    ):
        assert int(root.get(attribute, "-1")) == len(root.findall(f".//{kind}"))
    names = [test.get("name") for test in root.iter("testcase")]
    assert len(names) == len(set(names)) == len(document.results)


def test_characters_that_xml_cannot_hold_are_left_out() -> None:
    """Characters that XML cannot hold are removed from client text."""
    odd = result("INVALID", reason="a\x00\x08b\ud800c\ufffed <&>\t\u2603 \U0001f680")
    (error,) = ET.fromstring(render("r\x1b", 1, [odd], Policy())).iter("error")
    assert error.text == "abcd <&>\t\u2603 \U0001f680"


def test_an_inconclusive_check_is_a_property() -> None:
    """A skipped inconclusive check has a property that says so, with its reason."""
    lenient = Policy(inconclusive=Inconclusive.WARN)
    root = ET.fromstring(render("r", 1, [result("INCONCLUSIVE", reason="too few episodes")], lenient))
    assert root.find(".//property[@name='inconclusive'][@value='true']") is not None
    skipped = root.find(".//skipped")
    assert skipped is not None
    assert skipped.get("message") == "too few episodes"


def test_the_file_is_whole_after_every_check(tmp_path: Path) -> None:
    """The file is complete after every check, so a killed job has results."""
    path = tmp_path / "junit.xml"
    listener = JUnitListener(path, Policy())
    listener.on_event(AnalysisStarted(1, 3))
    assert not path.exists()
    for number in range(1, 4):
        listener.on_event(CheckJudged(result("CONFORMS")))
        assert ET.parse(path).getroot().get("tests") == str(number)
    assert [entry.name for entry in tmp_path.iterdir()] == ["junit.xml"]


def test_a_failure_reads_well(snapshot: SnapshotAssertion) -> None:
    """Snapshot of the whole file for one divergence."""
    found = Divergence(
        "retry/stays", "java:2", 1_204, Example(at(Place.SEND, 7, 1, 1), "paused", "broker-b", "broker-a <again>")
    )
    row = CheckResult("fault/pause/java:1~java:2", "queue-choice", Verdict.DIVERGES, divergences=(found,))
    assert render("r1", 42, [row], Policy()).decode() == snapshot


def test_viewers_find_file_line_and_time(document: Document, tmp_path: Path) -> None:
    """Test cases have file and line; the case's 9 s (36 × 250 ms) are at its first check."""
    cases = tuple(replace(case, scenario_file="conformance/a.yaml", checks_line=7) for case in document.run.cases)
    suite = ET.parse(write(msgspec.structs.replace(document, run=replace(document.run, cases=cases)), tmp_path)).find(
        "testsuite"
    )
    assert suite is not None
    first, second, *_ = suite.findall("testcase")
    assert (suite.get("time"), first.get("time"), second.get("time")) == ("9.00", "9.00", "0.00")
    assert (first.get("file"), first.get("line")) == ("conformance/a.yaml", "7")
