"""The results of a SARIF log: divergences, gravest first, then what the ledger declares and the run did not show."""

import re
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from rocketdiff.core.run_info import CaseInfo, RunInfo
from rocketdiff.core.verdict import CheckResult, Divergence, Severity
from rocketdiff.ledger.apply import EntryOutcome
from rocketdiff.ledger.model import EntryState
from rocketdiff.report.clusters import Weight, fingerprint, weight_of
from rocketdiff.report.document import Document
from rocketdiff.report.ledger_words import because, trouble_text
from rocketdiff.report.sarif_rules import STALE_RULE, rule_id
from rocketdiff.report.words import phase_word, short_case

_ISSUE = re.compile(r"\b([A-Za-z0-9][\w.-]*/[\w.-]+)#(\d+)\b")
"""``apache/rocketmq#6567``."""

LEVELS = {Severity.MUST: "error", Severity.SHOULD: "warning", Severity.INFO: "note"}

TEXT_MOST = 600
"""Characters of an expectation or observation; a client's exception text may be of any length."""

SIGNATURE = "rocketdiffSignature/v1"
"""Check, signature and subject: the same in every case, run, seed and time."""

GITHUBS = "primaryLocationLineHash"
"""The only fingerprint that GitHub reads: here signature and case, so that an alert outlives edits of the scenario."""


def results_of(document: Document) -> list[dict[str, Any]]:
    """Every result there could be, gravest first; what was seen while the set-up was broken is none."""
    weighed = [
        (weight, result, divergence)
        for result in document.results
        for divergence in result.divergences
        if (weight := weight_of(result, divergence, document.policy)) is not Weight.VOID
    ]
    weights, severities = list(Weight), list(Severity)
    weighed.sort(key=lambda one: (weights.index(one[0]), severities.index(one[1].severity), -one[2].count))
    cases = {case.case: case for case in document.run.cases}
    reasons = {entry.id: because(entry) for entry in document.ledger}
    found = [_result(*one, document.run, cases.get(one[1].case), reasons) for one in weighed]
    gone = [_absent(entry) for entry in document.ledger if entry.state in (EntryState.STALE, EntryState.EXCEEDED)]
    return [*found, *gone]


def _result(
    weight: Weight,
    result: CheckResult,
    divergence: Divergence,
    run: RunInfo,
    case: CaseInfo | None,
    reasons: dict[str, str],
) -> dict[str, Any]:
    name = short_case(result.case, run)
    stable = fingerprint(result.check, divergence.signature, divergence.subject)
    is_declared = weight is Weight.DECLARED
    told: dict[str, Any] = {
        "ruleId": rule_id(result.check, divergence.signature),
        "level": LEVELS[result.severity],
        "kind": "fail",
        "message": {"text": _message(divergence, name)},
        "locations": [_location(name, case)],
        "partialFingerprints": {SIGNATURE: stable, GITHUBS: _line_hash(stable, result.case)},
        "baselineState": "unchanged" if is_declared else "new",
        "suppressions": [_suppression(divergence.declared_by, reasons)] if is_declared else [],
        "properties": {
            "case": result.case,
            "subject": divergence.subject,
            "signature": divergence.signature,
            "count": divergence.count,
            "gates": weight is Weight.NEW,
        },
    }
    return told


def _message(divergence: Divergence, case: str) -> str:
    example = divergence.example
    where = f" (send {example.send}, phase {phase_word(example.phase)})" if example.send >= 0 else ""
    return (
        f"{divergence.subject}: {divergence.signature}, {divergence.count} × in {case}.\n"
        f"Expected: {_short(example.expected)}\nObserved: {_short(example.observed)}{where}"
    )


def _location(name: str, case: CaseInfo | None) -> dict[str, Any]:
    """The scenario's name, and its file where whoever reads the alert has it: of a shipped one in another repository nobody has."""
    place: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": name, "kind": "module"}]}
    if case is None or not case.scenario_file:
        return place
    region = {"startLine": case.checks_line}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(case.scenario_file)}, "region": region}} | place


def help_uris(document: Document) -> dict[str, str]:
    """By rule, the upstream issue that a ledger names first for one of its signatures."""
    refs: dict[str, str] = {}
    entries = {entry.id: entry.ref for entry in document.ledger}
    for cluster in document.clusters:
        mine = (
            one for one in document.contexts if (one.fingerprint, one.weight) == (cluster.fingerprint, cluster.weight)
        )
        known = [entry.ref for one in mine for entry in one.known]
        for ref in (*known, *(entries[name] for name in cluster.declared_by if name in entries)):
            if issue := _ISSUE.search(ref):
                refs.setdefault(
                    rule_id(cluster.check, cluster.signature), f"https://github.com/{issue[1]}/issues/{issue[2]}"
                )
    return refs


def _suppression(entry: str, reasons: dict[str, str]) -> dict[str, Any]:
    return {"kind": "external", "status": "accepted", "justification": reasons.get(entry, entry)}


def _absent(entry: EntryOutcome) -> dict[str, Any]:
    file, _, line = entry.place.rpartition(" line ")
    region = {"startLine": int(line)} if line.isdecimal() else {"startLine": 1}
    uri = quote(file or entry.place)
    stable = sha256(entry.id.encode()).hexdigest()[:12]
    return {
        "ruleId": STALE_RULE,
        "level": LEVELS[entry.severity],
        "kind": "fail",
        "message": {"text": trouble_text(entry)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
        "partialFingerprints": {SIGNATURE: stable, GITHUBS: _line_hash(stable, entry.id)},
        "baselineState": "absent" if entry.state is EntryState.STALE else "updated",
        "suppressions": [],
        "properties": {"entry": entry.id, "check": entry.check, "ref": entry.ref},
    }


def _line_hash(stable: str, where: str) -> str:
    return sha256(f"{stable}\n{where}".encode()).hexdigest()[:16] + ":1"


def _short(text: str) -> str:
    return text if len(text) <= TEXT_MOST else f"{text[:TEXT_MOST]} …"
