"""Proposes entries from a judged run, with TODO where a person must decide."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from rocketdiff.core.answers.verdict import DECISIVE, CheckResult, Severity, Verdict
from rocketdiff.core.run_info import RunInfo
from rocketdiff.ledger.file import TODO, VERSION
from rocketdiff.ledger.matching import check_path
from rocketdiff.ledger.model import RULES, Confirmation

ANY = "**/"
EVERYWHERE = "  # every scenario of the run that answered it"


def proposed_file(results: Sequence[CheckResult], run: RunInfo, evidence: Confirmation, day: date) -> str:
    """
    Return a ledger file (YAML) with a proposed entry per check and subject with undeclared divergences; may be empty.

    A divergence in all scenarios that answered a check, at least two, becomes one entry with a glob such as
    ``**/content``. An entry excuses nothing until its status is removed, which the format allows only without TODO.
    """
    entries = list(_entries(results, run, evidence, day))
    if not entries:
        return ""
    return f'schemaVersion: "{VERSION}"\nentries:\n' + "\n".join(entries)


_Key = tuple[str, str, bool]
"""Path of the check, subject, and whether it is a baseline against its own rules."""

_Shown = dict[str, list[Severity]]
"""Severities of the answers that showed a signature, by signature."""


def _entries(results: Sequence[CheckResult], run: RunInfo, evidence: Confirmation, day: date) -> Iterator[str]:
    for (path, subject, of_rules), found in _gathered(_undeclared(results, run), results).items():
        is_candidate = subject == run.candidate.subject and not of_rules
        lines = [
            f"- id: {_id(path, subject, of_rules=of_rules)}",
            f"  check: {_text(path)}{EVERYWHERE if path.startswith(ANY) else ''}",
            "  when:",
            *_party(subject, "    "),
            *(["    against:", *_party(run.baseline.subject, "      ")] if is_candidate else []),
            f"  arm_at_fault: {TODO}  # a client's name, reference, baseline, candidate, both or spec-gap",
            "  signature:",
            *(f"    - {_text(signature)}" for signature in found),
            "  occurrence: always  # or {rate: [0.02, 0.20]}, of the checks it covers",
            f"  severity: {min((severity for each in found.values() for severity in each), key=list(Severity).index)}",
            f"  reason: {_text(f'{TODO}: why they differ, in a sentence')}",
            f"  ref: {_text(f'{TODO}: an issue, a pull request, a page')}",
            f"  evidence: {_evidence(evidence)}",
            f"  added: {day}",
            '  owner: ""',
            "  status: proposed  # excuses nothing until this line is gone",
        ]
        yield "".join(f"  {line}\n" for line in lines)


def _undeclared(results: Sequence[CheckResult], run: RunInfo) -> dict[_Key, _Shown]:
    """Undeclared divergences by path and subject, over all cases and runs."""
    shown: dict[_Key, _Shown] = {}
    for result in results:
        if result.verdict is not Verdict.DIVERGES:
            continue
        path = check_path(result.case, result.check, run)
        for divergence in result.divergences:
            if not divergence.declared_by:
                key = path, divergence.subject, divergence.signature.startswith(RULES)
                shown.setdefault(key, {}).setdefault(divergence.signature, []).append(result.severity)
    return shown


def _gathered(shown: dict[_Key, _Shown], results: Sequence[CheckResult]) -> dict[_Key, _Shown]:
    """The same; a divergence that every answer to a check of several scenarios shows is moved under one glob."""
    answered = Counter(result.check for result in results if result.verdict in DECISIVE)
    seen: dict[tuple[_Key, str], list[Severity]] = {}
    paths: Counter[tuple[_Key, str]] = Counter()
    for key, signatures in shown.items():
        for signature, severities in signatures.items():
            seen.setdefault((_anywhere(key), signature), []).extend(severities)
            paths[_anywhere(key), signature] += 1
    gathered: dict[_Key, _Shown] = {}
    for key, signatures in shown.items():
        for signature, severities in signatures.items():
            everywhere = (_anywhere(key), signature)
            is_whole = paths[everywhere] > 1 and len(seen[everywhere]) == answered[_check_of(key)]
            to, what = (everywhere[0], seen[everywhere]) if is_whole else (key, severities)
            gathered.setdefault(to, {})[signature] = what
    return gathered


def _check_of(key: _Key) -> str:
    return key[0].rpartition("/")[2]


def _anywhere(key: _Key) -> _Key:
    return f"{ANY}{_check_of(key)}", *key[1:]


def _id(path: str, subject: str, *, of_rules: bool) -> str:
    return f"{path.removeprefix(ANY)}-{subject}{'-rules' if of_rules else ''}".replace("/", "-").replace(":", "-")


def _party(subject: str, indent: str) -> list[str]:
    client, _, release = subject.partition(":")
    named = [f"{indent}client: {client}"]
    return [*named, f"{indent}version: {_text(f'=={release}')}"] if release[:1].isdigit() else named


def _evidence(evidence: Confirmation) -> str:
    facts: dict[str, str | int] = {"seed": evidence.seed, "run": evidence.run, "trace": evidence.trace}
    facts["reproduce"] = evidence.reproduce
    inside = ", ".join(f"{name}: {_text(value)}" for name, value in facts.items() if value != "")
    return f"{{{inside}}}"


def _text(value: str | int) -> str:
    """Quoted as in JSON, which is valid YAML."""
    return json.dumps(value, ensure_ascii=False)
