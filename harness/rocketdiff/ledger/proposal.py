"""Entries proposed from a judged run: everything that a program can fill in, and TODO where a person has to think."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date

from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.verdict import CheckResult, Severity, Verdict
from rocketdiff.ledger.file import TODO, VERSION
from rocketdiff.ledger.matching import check_path
from rocketdiff.ledger.model import RULES, Confirmation


def proposed_file(results: Sequence[CheckResult], run: RunInfo, evidence: Confirmation, day: date) -> str:
    """
    A ledger file with one proposed entry for each check and subject that diverges undeclared; empty when none does.

    The text is YAML; nothing in it excuses anything until its status is removed, which the format allows only without TODO.
    """
    entries = list(_entries(results, run, evidence, day))
    if not entries:
        return ""
    return f'schemaVersion: "{VERSION}"\nentries:\n' + "\n".join(entries)


@dataclass(slots=True)
class _Undeclared:
    """What one subject showed in one check, in all cases and runs of that name."""

    signatures: list[str] = field(default_factory=list)
    severities: set[Severity] = field(default_factory=set)


_Key = tuple[str, str, bool]
"""Path of the check, subject, and whether it is a baseline against its own rules."""


def _entries(results: Sequence[CheckResult], run: RunInfo, evidence: Confirmation, day: date) -> Iterator[str]:
    for (path, subject, of_rules), found in _undeclared(results, run).items():
        is_candidate = subject == run.candidate.subject and not of_rules
        lines = [
            f"- id: {_id(path, subject, of_rules=of_rules)}",
            f"  check: {_text(path)}",
            "  when:",
            *_party(subject, "    "),
            *(["    against:", *_party(run.baseline.subject, "      ")] if is_candidate else []),
            f"  arm_at_fault: {TODO}  # a client's name, reference, baseline, candidate, both or spec-gap",
            "  signature:",
            *(f"    - {_text(signature)}" for signature in found.signatures),
            "  occurrence: always  # or {rate: [0.02, 0.20]}, of the checks it covers",
            f"  severity: {min(found.severities, key=list(Severity).index)}",
            f"  reason: {_text(f'{TODO}: why they differ, in a sentence')}",
            f"  ref: {_text(f'{TODO}: an issue, a pull request, a page')}",
            f"  evidence: {_evidence(evidence)}",
            f"  added: {day}",
            '  owner: ""',
            "  status: proposed  # excuses nothing until this line is gone",
        ]
        yield "".join(f"  {line}\n" for line in lines)


def _undeclared(results: Sequence[CheckResult], run: RunInfo) -> dict[_Key, _Undeclared]:
    gathered: dict[_Key, _Undeclared] = {}
    for result in results:
        if result.verdict is not Verdict.DIVERGES:
            continue
        for divergence in result.divergences:
            if divergence.declared_by:
                continue
            path = check_path(result.case, result.check, run)
            key = path, divergence.subject, divergence.signature.startswith(RULES)
            found = gathered.setdefault(key, _Undeclared())
            found.severities.add(result.severity)
            if divergence.signature not in found.signatures:
                found.signatures.append(divergence.signature)
    return gathered


def _id(path: str, subject: str, *, of_rules: bool) -> str:
    return f"{path}-{subject}{'-rules' if of_rules else ''}".replace("/", "-").replace(":", "-")


def _party(subject: str, indent: str) -> list[str]:
    client, _, release = subject.partition(":")
    named = [f"{indent}client: {client}"]
    return [*named, f"{indent}version: {_text(f'=={release}')}"] if release[:1].isdigit() else named


def _evidence(evidence: Confirmation) -> str:
    told: dict[str, str | int] = {"seed": evidence.seed, "run": evidence.run, "trace": evidence.trace}
    told["reproduce"] = evidence.reproduce
    inside = ", ".join(f"{name}: {_text(value)}" for name, value in told.items() if value != "")
    return f"{{{inside}}}"


def _text(value: str | int) -> str:
    """Quoted as JSON does it, which is YAML too."""
    return json.dumps(value, ensure_ascii=False)
