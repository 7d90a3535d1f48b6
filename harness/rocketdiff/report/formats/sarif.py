"""
SARIF 2.1.0: divergences as code-scanning alerts.

One rule per family of signatures; one result per signature, subject and case, at the scenario's line with the checks. The
ledger is the baseline: a declared divergence is ``unchanged`` and suppressed, a stale entry ``absent``, an exceeded one
``updated``, all else ``new``. An INVALID check gives no results but a notification of the invocation.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rocketdiff.core.answers.verdict import CheckResult, Divergence, Severity, Verdict
from rocketdiff.core.run_info import CaseInfo, RunInfo
from rocketdiff.core.tables.checks import CHECKS
from rocketdiff.core.tables.effects import effect_of
from rocketdiff.core.text.markdown import inert
from rocketdiff.documents.files import replace_file
from rocketdiff.ledger.apply import EntryOutcome
from rocketdiff.ledger.model import EntryState
from rocketdiff.report.clusters import Weight, fingerprint, weight_of
from rocketdiff.report.document import Document
from rocketdiff.report.words.ledger import because, trouble_text
from rocketdiff.report.words.signatures import rule_title
from rocketdiff.report.words.signs import check_id, headline, phase_word, short_case
from rocketdiff.verdict.judge import RunVerdict

STALE_RULE = "stale-ledger-entry"

SENTENCES = {name: check.sentence for name, check in CHECKS.items()} | {
    "simulation": "Both clients answer every step of a simulated scenario alike.",
    STALE_RULE: "Every declared divergence still occurs as often as its ledger entry says.",
}


def rule_id(check: str, signature: str) -> str:
    """For example ``queue-choice/queue.out-of-turn``: the check, and the signature without its variable end."""
    rest = signature.removeprefix("rules/")
    return f"{check}/{'' if rest == signature else 'rules/'}{rest.partition('/')[0]}"


def rules_of(results: Iterable[dict[str, Any]], help_uris: Mapping[str, str]) -> list[dict[str, Any]]:
    """
    Return one rule per family with a result, in the order of the checks, with the level of its most severe result.

    help_uris: a page with more information, by rule.
    """
    grave = ("none", "note", "warning", "error")
    levels: dict[str, str] = {}
    for result in results:
        known = levels.get(result["ruleId"], "none")
        levels[result["ruleId"]] = max(known, result["level"], key=grave.index)
    order = list(SENTENCES)
    ranked = sorted(levels, key=lambda name: (order.index(_check(name)) if _check(name) in order else len(order), name))
    return [_rule(name, levels[name], help_uris.get(name)) for name in ranked]


def _check(rule: str) -> str:
    return rule.partition("/")[0]


def _rule(name: str, level: str, help_uri: str | None) -> dict[str, Any]:
    check, _, signature = name.partition("/")
    sentence = SENTENCES.get(check, f"The question {check} of a rocketdiff scenario.")
    title = rule_title(signature)
    shown = title[:1].upper() + title[1:] + "." if title else sentence
    rule: dict[str, Any] = {
        "id": name,
        "name": "".join(part.capitalize() for part in re.split("[^A-Za-z0-9]+", name)),
        "shortDescription": {"text": shown},
        "fullDescription": {"text": sentence},
        "help": {"text": f"{sentence} `rocketdiff explain RUN SUBJECT SEND` shows the rule chain behind the example."},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["rocketmq", "conformance"]},
    }
    return rule | ({"helpUri": help_uri} if help_uri else {})


_ISSUE = re.compile(r"\b([A-Za-z0-9][\w.-]*/[\w.-]+)#(\d+)\b")
"""For example ``apache/rocketmq#6567``."""

LEVELS = {Severity.MUST: "error", Severity.SHOULD: "warning", Severity.INFO: "note"}

TEXT_MOST = 600
"""Limit of characters of an expectation or observation: a client's exception text may have any length."""

SIGNATURE = "rocketdiffSignature/v1"
"""Fingerprint of check, signature and subject: equal in every case and run."""

GITHUBS = "primaryLocationLineHash"
"""The only fingerprint that GitHub reads: signature and case, so that an alert survives edits of the scenario."""


def results_of(document: Document) -> list[dict[str, Any]]:
    """Return all results, most severe first, without divergences of INVALID checks."""
    weighed = [
        (weight, result, divergence)
        for result in document.results
        for divergence in result.divergences
        if (weight := weight_of(result, divergence, document.policy)) is not Weight.VOID
    ]
    weights, severities = list(Weight), list(Severity)
    weighed.sort(key=lambda item: (weights.index(item[0]), severities.index(item[1].severity), -item[2].count))
    cases = {case.case: case for case in document.run.cases}
    reasons = {entry.id: because(entry) for entry in document.ledger}
    found = [_result(*item, document.run, cases.get(item[1].case), reasons) for item in weighed]
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
    fields: dict[str, Any] = {
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
            "effect": effect_of(divergence.signature),
            "gates": weight is Weight.NEW,
        },
    }
    return fields


def _message(divergence: Divergence, case: str) -> str:
    example = divergence.example
    seen = example.where.operation
    where = f" ({seen}, phase {phase_word(example.phase)})" if seen else ""
    return (
        f"{divergence.subject}: {divergence.signature}, {divergence.count} × in {case}.\n"
        f"Expected: {_short(example.expected)}\nObserved: {_short(example.observed)}{where}"
    )


def _location(name: str, case: CaseInfo | None) -> dict[str, Any]:
    """The scenario's name, and its file if it is in the reader's repository."""
    place: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": name, "kind": "module"}]}
    if case is None or not case.scenario_file:
        return place
    region = {"startLine": case.checks_line}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(case.scenario_file)}, "region": region}} | place


def help_uris(document: Document) -> dict[str, str]:
    """Return, by rule, the first upstream issue that a ledger names for one of its signatures."""
    refs: dict[str, str] = {}
    entries = {entry.id: entry.ref for entry in document.ledger}
    for cluster in document.clusters:
        mine = (
            context
            for context in document.contexts
            if (context.fingerprint, context.weight) == (cluster.fingerprint, cluster.weight)
        )
        known = [entry.ref for context in mine for entry in context.known]
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


FILE_NAME = "results.sarif"

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

RESULTS_MOST = 25_000
"""GitHub refuses a run with more. It shows the first 5,000 by level, so the most severe come first."""

GZIPPED_BYTES_MOST = 10_000_000
"""GitHub refuses a larger (gzipped) upload."""

NOTIFICATIONS_MOST = 100
"""Limit of notifications; the document has all open checks."""


def write(document: Document, folder: Path) -> Path:
    """Write the document's divergences into ``folder``."""
    path = folder / FILE_NAME
    replace_file(path, render(document))
    return path


def render(document: Document, gzipped_most: int = GZIPPED_BYTES_MOST) -> bytes:
    """Return the log, with as many results as platforms accept, most severe first."""
    results = results_of(document)
    shown = results[:RESULTS_MOST]
    while True:
        content = json.dumps(_inert(_log(document, shown, len(results))), ensure_ascii=False, indent=1).encode() + b"\n"
        if not shown or len(gzip.compress(content)) <= gzipped_most:
            return content
        shown = shown[: len(shown) // 2]


def _log(document: Document, results: Sequence[dict[str, Any]], found: int) -> dict[str, Any]:
    run = document.run
    rules = rules_of(results, help_uris(document))
    driver = {"name": "rocketdiff", "semanticVersion": run.rocketdiff, "rules": rules}
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    pair = f"{run.baseline.subject}~{run.candidate.subject}"
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "automationDetails": {"id": f"rocketdiff/{pair}/{run.run}"},
                "columnKind": "utf16CodeUnits",
                "invocations": [_invocation(document)],
                "results": [result | {"ruleIndex": index[result["ruleId"]]} for result in results],
                "properties": {
                    "verdict": document.verdict.value,
                    "machineLine": document.machine_line,
                    "seed": run.seed,
                    "resultsLeftOut": found - len(results),
                },
            }
        ],
    }


def _inert(node: Any) -> Any:
    """Every text of the log, which platforms show as Markdown or with links, without active words."""
    if isinstance(node, list):
        return [_inert(item) for item in node]
    if isinstance(node, dict):
        texts = ("text", "justification")
        return {
            name: inert(item) if name in texts and isinstance(item, str) else _inert(item)
            for name, item in node.items()
        }
    return node


def _invocation(document: Document) -> dict[str, Any]:
    return {
        "executionSuccessful": document.verdict is not RunVerdict.ERROR,
        "exitCode": int(document.exit_code),
        "commandLine": document.run.reproduce,
        "toolExecutionNotifications": list(islice(_notifications(document), NOTIFICATIONS_MOST)),
    }


def _notifications(document: Document) -> Iterator[dict[str, Any]]:
    yield {"level": "note", "message": {"text": f"{headline(document)}. {document.machine_line}"}}
    levels = {Verdict.ERROR: "error", Verdict.INVALID: "error", Verdict.INCONCLUSIVE: "warning"}
    for result in document.results:
        if result.verdict in levels and result.severity is not Severity.INFO:
            text = f"{check_id(result)}: {result.verdict.value}: {result.reason or 'no reason was given'}"
            yield {"level": levels[result.verdict], "message": {"text": text}}
