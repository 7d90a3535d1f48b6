"""
JUnit XML: one test case per check, for any CI server.

A gating DIVERGES or STALE is a failure, ERROR and a gating INVALID are errors, NOT_APPLICABLE is skipped. INCONCLUSIVE is
skipped with the property ``inconclusive=true``, or a failure under ``--strict``. A divergence that does not gate is a pass
with ``diverges=true``, because CI servers have no third state. DECLARED is a pass that names the ledger's entries.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from rocketdiff.core import events
from rocketdiff.core.answers.policy import Inconclusive, Policy
from rocketdiff.core.answers.verdict import CheckResult, Example, Verdict
from rocketdiff.core.run_info import CaseInfo
from rocketdiff.documents.files import replace_file
from rocketdiff.report.document import Document
from rocketdiff.report.words.measures import measure_text
from rocketdiff.report.words.signs import check_id, phase_word

FILE_NAME = "junit.xml"

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow even escaped (section 2.2, Char)."""


def write(document: Document, folder: Path) -> Path:
    """Write the document's checks as JUnit XML into ``folder``."""
    path = folder / FILE_NAME
    attributes = {case.case: _attributes_of(case.case, case, document) for case in reversed(document.run.cases)}
    replace_file(path, render(document.run.run, document.run.seed, document.results, document.policy, attributes))
    return path


@dataclass(frozen=True, slots=True)
class CaseAttributes:
    """Attributes of a case for viewers: its scenario's file, the line of the checks, and the seconds its clients sent."""

    file: str
    line: int
    sent_s: float


def _attributes_of(name: str, case: CaseInfo, document: Document) -> CaseAttributes:
    spans = [
        max((len(row.stored) for row in overview.rows), default=0) * overview.step_ms / 1e3
        for overview in document.plots.overviews
        if overview.case == name
    ]
    return CaseAttributes(case.scenario_file, case.checks_line, sum(spans))


class JUnitListener:
    """Rewrites the file after every judged check, so that a killed job still reports its results."""

    def __init__(self, path: Path, policy: Policy) -> None:
        self._path = path
        self._policy = policy
        self._results: list[CheckResult] = []
        self._run, self._seed = "", 0

    def on_event(self, event: events.Event) -> None:
        match event:
            case events.RunStarted():
                self._run, self._seed = event.run, event.seed
            case events.CheckJudged():
                self._results.append(event.result)
                replace_file(self._path, render(self._run, self._seed, self._results, self._policy))
            case _:
                return


def render(
    run: str,
    seed: int,
    results: Sequence[CheckResult],
    policy: Policy,
    attributes: Mapping[str, CaseAttributes] | None = None,
) -> bytes:
    """
    Return the file: one suite per case, in the order of the results.

    A case's time is at its first check, because the same sends answer all checks.
    """
    root = ET.Element("testsuites", name=_legal(f"rocketdiff {run}"))
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for case in dict.fromkeys(result.case for result in results):
        mine = [result for result in results if result.case == case]
        suite = ET.SubElement(root, "testsuite", name=_legal(case))
        _add_properties(suite, {"run": run, "seed": str(seed)})
        counts = _counts(suite, [_test_case(suite, result, policy) for result in mine])
        _set_file_and_line(suite, (attributes or {}).get(case))
        totals = {name: totals[name] + counts[name] for name in totals}
    for name, count in totals.items():
        root.set(name, str(count))
    ET.indent(root, space=" ")
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _set_file_and_line(suite: ET.Element, attributes: CaseAttributes | None) -> None:
    tests = suite.findall("testcase")
    if attributes is None or not tests:
        return
    for number, test in enumerate(tests):
        test.set("time", f"{0.0 if number else attributes.sent_s:.2f}")
        if attributes.file:
            test.set("file", _legal(attributes.file))
            test.set("line", str(attributes.line))
    suite.set("time", f"{attributes.sent_s:.2f}")


def _counts(suite: ET.Element, outcomes: Sequence[str]) -> dict[str, int]:
    counts = {
        "tests": len(outcomes),
        "failures": outcomes.count("failure"),
        "errors": outcomes.count("error"),
        "skipped": outcomes.count("skipped"),
    }
    for name, count in counts.items():
        suite.set(name, str(count))
    return counts


def _test_case(suite: ET.Element, result: CheckResult, policy: Policy) -> str:
    scenario = result.case.rpartition("/")[0] or result.case
    test = ET.SubElement(suite, "testcase", classname=_legal(scenario.replace("/", ".")), name=_legal(check_id(result)))
    outcome = outcome_of(result, policy)
    _add_properties(test, _properties_of(result))
    if outcome != "passed":
        ET.SubElement(test, outcome, message=_legal(_headline_of(result)), type=result.verdict.value).text = _legal(
            _body_of(result)
        )
    return outcome


def outcome_of(result: CheckResult, policy: Policy) -> str:
    """Return ``passed``, ``failure``, ``error`` or ``skipped``."""
    match result.verdict:
        case Verdict.ERROR:
            return "error"
        case Verdict.INVALID:
            return "error" if policy.gates(result) else "skipped"
        case Verdict.DIVERGES | Verdict.STALE:
            return "failure" if policy.gates(result) else "passed"
        case Verdict.INCONCLUSIVE:
            gates = policy.inconclusive is Inconclusive.FAIL and policy.gates(result)
            return "failure" if gates else "skipped"
        case Verdict.NOT_APPLICABLE:
            return "skipped"
        case Verdict.CONFORMS | Verdict.EQUIVALENT | Verdict.DECLARED:
            return "passed"


def _properties_of(result: CheckResult) -> dict[str, str]:
    properties = {"verdict": result.verdict.value, "severity": result.severity.value}
    if result.verdict is Verdict.INCONCLUSIVE:
        properties["inconclusive"] = "true"
    if result.verdict is Verdict.DIVERGES:
        properties["diverges"] = "true"
    if declared := dict.fromkeys(item.declared_by for item in result.divergences if item.declared_by):
        properties |= {"declared": " ".join(declared), "reason": result.reason}
    if result.divergences:
        properties["signatures"] = " ".join(divergence.signature for divergence in result.divergences)
    return properties | {f"measure {measure.name}": measure_text(measure) for measure in result.measures}


def _add_properties(parent: ET.Element, values: dict[str, str]) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in values.items():
        ET.SubElement(properties, "property", name=_legal(name), value=_legal(value))


def _headline_of(result: CheckResult) -> str:
    signatures = ", ".join(f"{item.signature} × {item.count:,}" for item in result.divergences)
    if result.verdict is Verdict.STALE:
        return result.reason
    return signatures or result.reason or result.verdict.value


def _body_of(result: CheckResult) -> str:
    lines = [result.reason] if result.reason else []
    for item in result.divergences:
        lines += [
            f"{item.signature} ({item.subject}, {item.count:,} ×)",
            f"  expected: {item.example.expected}",
            f"  observed: {item.example.observed}",
            f"  example:  {_place_of(item.example)}phase {phase_word(item.example.phase)}",
        ]
    return "\n".join(lines)


def _place_of(example: Example) -> str:
    """``send 5, thread 0, ``; a statistic has no place."""
    where = example.where
    return f"{where.operation}, thread {where.thread}, " if where.is_known else ""


def _legal(text: str) -> str:
    return _ILLEGAL.sub("", text)
