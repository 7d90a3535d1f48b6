"""
SARIF 2.1.0: divergences beside the code in whatever shows the alerts of static analysers.

One result a signature, subject and case, at the scenario's line that asks the question. The ledger is the baseline: a declared divergence
is ``unchanged`` and suppressed, a stale entry is ``absent``, all else is ``new``. What a broken set-up showed is no
result; it is among the notifications of the invocation.
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rocketdiff.core.verdict import Severity, Verdict
from rocketdiff.documents.files import replace_file
from rocketdiff.report.document import Document
from rocketdiff.report.sarif_results import help_uris, results_of
from rocketdiff.report.sarif_rules import rules_of
from rocketdiff.report.words import check_id, headline
from rocketdiff.verdict.judgement import RunVerdict

FILE_NAME = "results.sarif"

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

RESULTS_MOST = 25_000
"""GitHub refuses a run with more; it shows the first 5,000 by level, so the gravest stand first."""

GZIPPED_BYTES_MOST = 10_000_000
"""GitHub refuses a larger upload, which it wants gzipped."""

NOTIFICATIONS_MOST = 100
"""One for each check without an answer; nobody reads more, and the document has all."""


def write(document: Document, folder: Path) -> Path:
    """Write the document's divergences into ``folder``."""
    path = folder / FILE_NAME
    replace_file(path, render(document))
    return path


def render(document: Document, gzipped_most: int = GZIPPED_BYTES_MOST) -> bytes:
    """As many results as the platforms take, gravest first."""
    results = results_of(document)
    shown = results[:RESULTS_MOST]
    while True:
        content = json.dumps(_log(document, shown, len(results)), ensure_ascii=False, indent=1).encode() + b"\n"
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


def _invocation(document: Document) -> dict[str, Any]:
    return {
        "executionSuccessful": document.verdict is not RunVerdict.ERROR,
        "exitCode": int(document.exit_code),
        "commandLine": document.run.reproduce,
        "toolExecutionNotifications": list(islice(_notifications(document), NOTIFICATIONS_MOST)),
    }


def _notifications(document: Document) -> Iterator[dict[str, Any]]:
    """The verdict first, then every check that has no answer."""
    yield {"level": "note", "message": {"text": f"{headline(document)}. {document.machine_line}"}}
    levels = {Verdict.ERROR: "error", Verdict.INVALID: "error", Verdict.INCONCLUSIVE: "warning"}
    for result in document.results:
        if result.verdict in levels and result.severity is not Severity.INFO:
            text = f"{check_id(result)}: {result.verdict.value}: {result.reason or 'no reason was given'}"
            yield {"level": levels[result.verdict], "message": {"text": text}}
