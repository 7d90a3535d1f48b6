"""Concludes one run from its facts, as `analyze` does; returns the answers as rows."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pyarrow as pa

from rocketdiff.analysis.conclusions import all_evidence, case_facts
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Measure
from rocketdiff.core.errors import ExitCode, HarnessError
from rocketdiff.judging.ledgers import LedgerChoice, load
from rocketdiff.judging.run_info import describe_manifests
from rocketdiff.ledger.model import Ledger
from rocketdiff.record.facts import summaries_of
from rocketdiff.record.rules import scope_now
from rocketdiff.record.storage.tables import COLUMNS, Kept
from rocketdiff.traces.manifest import RunManifest
from rocketdiff.verdict.judge import RunVerdict, judge


@dataclass(frozen=True, slots=True)
class Concluding:
    """The gate's policy and the shipped ledger (not used for a run that leaves it out)."""

    policy: Policy
    shipped: Ledger
    scope: str = field(init=False)
    """Digest of everything besides facts that answers depend on; answers of another scope are out of date."""

    def __post_init__(self) -> None:
        ledger = hashlib.sha256(repr(self.shipped).encode()).hexdigest()
        object.__setattr__(self, "scope", scope_now(repr(self.policy), ledger))


def concluding(policy: Policy | None = None) -> Concluding:
    """Return the settings with the ledgers that come with rocketdiff."""
    return _concluding(policy or Policy())


@cache
def _concluding(policy: Policy) -> Concluding:
    return Concluding(policy, _shipped())


@cache
def _shipped() -> Ledger:
    """Cached: validating the entries against the scenarios takes a second."""
    return load(LedgerChoice())


def conclude(
    manifest: RunManifest, facts: dict[Kept, pa.Table], troubles: Sequence[str], how: Concluding
) -> dict[Kept, pa.Table]:
    """Return the rows of ``verdicts`` and ``answers`` of one run; if a case could not be judged, the reason without answers."""
    try:
        if troubles:
            return _without_answers(manifest.run, "; ".join(troubles))
        evidence = all_evidence(case_facts([manifest], summaries_of(facts)))
        ledger = how.shipped if manifest.shipped_ledgers else Ledger()
        judgement = judge(evidence, describe_manifests([manifest], took_s=0.0), how.policy, ledger)
    except HarnessError as error:
        return _without_answers(manifest.run, str(error))
    answers = [_answer(manifest.run, result, how.policy) for result in judgement.results]
    verdict = _verdict(manifest.run, str(judgement.verdict), judgement.exit_code, judgement.machine_line)
    return {Kept.VERDICTS: verdict, Kept.ANSWERS: pa.Table.from_pylist(answers, schema=COLUMNS[Kept.ANSWERS])}


def _without_answers(run: str, trouble: str) -> dict[Kept, pa.Table]:
    return {Kept.VERDICTS: _verdict(run, str(RunVerdict.ERROR), ExitCode.INTERNAL, "", trouble)}


def _verdict(run: str, verdict: str, code: int, line: str, trouble: str = "") -> pa.Table:
    row = {"run": run, "verdict": verdict, "exit_code": int(code), "line": line, "trouble": trouble}
    return pa.Table.from_pylist([row], schema=COLUMNS[Kept.VERDICTS])


def _answer(run: str, result: CheckResult, policy: Policy) -> dict[str, Any]:
    return {
        "run": run,
        "case": result.case,
        "check": result.check,
        "verdict": str(result.verdict),
        "severity": str(result.severity),
        "gates": policy.gates(result),
        "reason": result.reason,
        "divergences": [_divergence(found) for found in result.divergences],
        "measures": [_measure(measure) for measure in result.measures],
    }


def _divergence(found: Divergence) -> dict[str, Any]:
    return {name: getattr(found, name) for name in ("signature", "subject", "count", "declared_by")}


def _measure(measure: Measure) -> dict[str, Any]:
    return {name: getattr(measure, name) for name in ("name", "value", "unit", "n", "low", "high")}
