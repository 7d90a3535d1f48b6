"""
The document of a record's page: newest runs, changes, and rates of signatures.

JSON is its stored form and the page's only source. Rows of the runs shown are read in this process; questions about all runs
are answered by Spark (``spark/ask_page.py``).
"""

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

import msgspec

from rocketdiff import __version__
from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.record.conclude import concluding
from rocketdiff.record.freshness import concluded
from rocketdiff.record.storage.store import Snapshot
from rocketdiff.record.storage.tables import Kept
from rocketdiff.report.cleaning import cleaned
from rocketdiff.report.clusters import Weight, fingerprint
from rocketdiff.traces.manifest import decode_manifest

SCHEMA_VERSION = "1.1.0"

RUNS_SHOWN = 500
"""The newest runs; with their signatures they take some 2 MB of a page."""

_OPEN = (Verdict.INCONCLUSIVE, Verdict.INVALID, Verdict.ERROR)


@dataclass(frozen=True, slots=True)
class ShownSignature:
    """A signature that a run shows. anchor: of its card in the run's report."""

    check: str
    signature: str
    subject: str
    scenarios: tuple[str, ...]
    count: int
    weight: Weight
    declared_by: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class RunLine:
    """
    A run of the index.

    verdict: empty without answers by the current rules; trouble: why there are none. answers, open: number of answers, and of
    gating answers that are open. report: link to report.html, relative to the page, or empty. reproduce: the command that
    repeats the run.
    """

    run: str
    baseline: str
    candidate: str
    server: str
    backend: str
    suite: str
    seed: int
    created_ms: int
    verdict: str
    trouble: str
    answers: int
    open: int
    scenarios: tuple[str, ...]
    shows: tuple[ShownSignature, ...]
    reproduce: str
    report: str = ""


@dataclass(frozen=True, slots=True)
class SignatureChange:
    """
    A row of the question ``regressions``.

    over: order of the runs, ``time`` or ``releases``. pair: baseline~candidate of the run.
    """

    over: str
    state: str
    line: str
    scenario: str
    check: str
    signature: str
    run: str
    before_run: str
    pair: str
    before_pair: str
    seen_before: int
    asked_before: int
    seen_after: int
    asked_after: int
    low_after: float
    high_after: float
    created_ms: int
    declared_by: str = ""


@dataclass(frozen=True, slots=True)
class SignatureRate:
    """
    How often a pair of subjects showed a signature: ``runs`` of ``asked``.

    low, high: bounds of the share, between 0 and 1. when: a Monday, or empty for all weeks.
    """

    line: str
    scenario: str
    check: str
    signature: str
    pair: str
    when: str
    asked: int
    runs: int
    low: float
    high: float
    declared_by: str = ""


@dataclass(frozen=True, slots=True)
class GroupLine:
    """
    Figures of a subject's groups of consumers in a scenario: a row of the question ``group_figures``.

    …_ms: median of the groups' longest times; …_most: the longest of all; None where no group has one.
    """

    subject: str
    server: str
    scenario: str
    groups: int
    stored: int
    delivered: int
    again: int
    again_in_groups: int
    waiting: int | None = None
    unowned_ms: float | None = None
    unowned_ms_most: float | None = None
    silent_ms: float | None = None
    silent_ms_most: float | None = None
    caught_up_ms: float | None = None
    caught_up_ms_most: float | None = None


class RecordDocument(msgspec.Struct, frozen=True, kw_only=True, rename={"schema_version": "schemaVersion"}):
    """
    The content of a record's page.

    runs: the newest first, limited; total, answered: counts over the record, or over the runs it is restricted to.
    quarantine: folder and reason. groups: since 1.1.
    """

    schema_version: str
    rocketdiff: str
    title: str
    command: str
    is_restricted: bool
    total: int
    answered: int
    verdicts: tuple[tuple[str, int], ...]
    first_ms: int
    last_ms: int
    runs: tuple[RunLine, ...]
    changes: tuple[SignatureChange, ...]
    by_release: tuple[SignatureRate, ...]
    by_week: tuple[SignatureRate, ...]
    quarantine: tuple[tuple[str, str], ...] = ()
    groups: tuple[GroupLine, ...] = ()


class Asked(Protocol):
    """Answers to the page's questions, as rows (``spark/ask_page.PageRows``)."""

    @property
    def changes(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def by_release(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def by_week(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def groups(self) -> Sequence[Mapping[str, Any]]: ...


def encode(document: RecordDocument) -> bytes:
    """Return the document as JSON; equal documents give equal bytes."""
    return msgspec.json.encode(document) + b"\n"


def document_of(
    snapshot: Snapshot,
    asked: Asked,
    *,
    title: str,
    command: str,
    page: Path,
    folders: Mapping[str, Path],
    only: frozenset[str] | None = None,
) -> RecordDocument:
    """
    Return the document of a snapshot.

    page: the file it is for, to which report links are relative; folders: local run directories, by run. only: restricts the
    page to these runs and their changes.
    """
    columns = ["run", "baseline", "candidate", "server", "backend", "suite", "seed", "created_ms"]
    known = snapshot.rows(Kept.RUNS, columns, snapshot.of("add")).to_pylist()
    runs = [row for row in known if only is None or row["run"] in only]
    runs.sort(key=lambda row: (-row["created_ms"], row["run"]))
    names = {row["run"] for row in runs}
    verdict_rows = snapshot.rows(
        Kept.VERDICTS, ["run", "verdict", "trouble"], concluded(snapshot, concluding().scope)
    ).to_pylist()
    verdicts = {row["run"]: row for row in verdict_rows if row["run"] in names}
    shown = runs[:RUNS_SHOWN]
    lines = _run_lines(snapshot, shown, verdicts, page, folders)
    changes = [_change(row) for row in asked.changes if only is None or row["run"] in only]
    rates = [[_rate(row) for row in rows] for rows in (asked.by_release, asked.by_week)]
    if only is not None:
        pairs = {f"{row['baseline']}~{row['candidate']}" for row in runs}
        seen = {(shown_signature.check, shown_signature.signature) for line in lines for shown_signature in line.shows}
        rates = [
            [rate for rate in some if rate.pair in pairs and (rate.check, rate.signature) in seen] for some in rates
        ]
    spoilt = snapshot.rows(Kept.QUARANTINE, ["place", "seen"], snapshot.of("add")).to_pylist() if only is None else []
    return cleaned(
        RecordDocument(
            schema_version=SCHEMA_VERSION,
            rocketdiff=__version__,
            title=title,
            command=command,
            is_restricted=only is not None,
            total=len(runs),
            answered=sum(bool(verdicts.get(row["run"], {}).get("verdict")) for row in runs),
            verdicts=tuple(sorted(Counter(row["verdict"] for row in verdicts.values()).items())),
            first_ms=min((row["created_ms"] for row in runs), default=0),
            last_ms=max((row["created_ms"] for row in runs), default=0),
            runs=tuple(lines),
            changes=tuple(changes),
            by_release=tuple(rates[0]),
            by_week=tuple(rates[1]),
            quarantine=tuple((row["place"], row["seen"]) for row in spoilt),
            groups=tuple(_group(row) for row in asked.groups if only is None or row["subject"] in _subjects(runs)),
        )
    )


def _run_lines(
    snapshot: Snapshot,
    runs: Sequence[dict[str, Any]],
    verdicts: Mapping[str, Mapping[str, str]],
    page: Path,
    folders: Mapping[str, Path],
) -> list[RunLine]:
    names = [row["run"] for row in runs]
    if not names:
        return []
    manifests = snapshot.rows(Kept.RUNS, ["run", "manifest"], snapshot.of("add"), run=names).to_pylist()
    commands = {row["run"]: decode_manifest(row["manifest"].encode(), where=row["run"]).reproduce for row in manifests}
    columns = ["run", "case", "check", "verdict", "severity", "gates", "divergences"]
    answers: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in snapshot.rows(Kept.ANSWERS, columns, concluded(snapshot, concluding().scope), run=names).to_pylist():
        answers[row["run"]].append(row)
    scenarios: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for row in snapshot.rows(Kept.CASES, ["run", "scenario"], snapshot.of("add"), run=names).to_pylist():
        scenarios[row["run"]][row["scenario"]] = None
    return [
        RunLine(
            **row,
            verdict=verdicts.get(row["run"], {}).get("verdict", ""),
            trouble=verdicts.get(row["run"], {}).get("trouble", ""),
            answers=sum(answer["severity"] != Severity.INFO for answer in answers[row["run"]]),
            open=sum(answer["gates"] and answer["verdict"] in _OPEN for answer in answers[row["run"]]),
            scenarios=tuple(scenarios[row["run"]]),
            shows=tuple(_shows(answers[row["run"]])),
            reproduce=commands.get(row["run"], ""),
            report=_report(page, folders.get(row["run"])),
        )
        for row in runs
    ]


def _report(page: Path, folder: Path | None) -> str:
    file = None if folder is None else folder / "report.html"
    return "" if file is None or not file.is_file() else Path(os.path.relpath(file, page.parent)).as_posix()


def _shows(answers: Sequence[dict[str, Any]]) -> list[ShownSignature]:
    """One entry for each check, signature, subject and weight; gating ones first."""
    gathered: defaultdict[tuple[Weight, str, str, str], list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    for answer in answers:
        for divergence in answer["divergences"] or ():
            key = (_weight(answer, divergence), answer["check"], divergence["signature"], divergence["subject"])
            gathered[key].append((scenario_of(answer["case"]), divergence))
    order = list(Weight)
    return [
        ShownSignature(
            check=check,
            signature=signature,
            subject=subject,
            scenarios=tuple(dict.fromkeys(scenario for scenario, _ in members)),
            count=sum(divergence["count"] for _, divergence in members),
            weight=weight,
            declared_by=", ".join(
                sorted({divergence["declared_by"] for _, divergence in members if divergence["declared_by"]})
            ),
            anchor=f"divergence-{fingerprint(check, signature, subject)}"
            + ("" if weight is Weight.NEW else f"-{weight}"),
        )
        for (weight, check, signature, subject), members in sorted(
            gathered.items(), key=lambda item: (order.index(item[0][0]), *item[0][1:])
        )
    ]


def _weight(answer: Mapping[str, Any], one: Mapping[str, Any]) -> Weight:
    """``report.clusters.weight_of``, for rows."""
    if answer["verdict"] == Verdict.INVALID:
        return Weight.VOID
    if one["declared_by"] or answer["verdict"] == Verdict.DECLARED:
        return Weight.DECLARED
    return Weight.NEW if answer["gates"] else Weight.WARNING


def scenario_of(case: str) -> str:
    """Return a case's or pool's name without the subjects at its end; equal to ``questions.asked.scenario_of``."""
    head, tilde, _ = case.partition("~")
    return head.rpartition("/")[0] if tilde else case


_EMPTY: dict[object, object] = {str: "", int: 0, float: 0.0}
"""Value of a field, by its type, where a row has null."""


def _change(row: Mapping[str, Any]) -> SignatureChange:
    values: dict[str, Any] = {field.name: row[field.name] or _EMPTY[field.type] for field in fields(SignatureChange)}
    values |= {name: round(values[name], 4) for name in ("low_after", "high_after")}
    return SignatureChange(**values)


def _subjects(runs: Sequence[Mapping[str, str]]) -> set[str]:
    return {row[arm] for row in runs for arm in ("baseline", "candidate")}


def _group(row: Mapping[str, Any]) -> GroupLine:
    values: dict[str, Any] = {field.name: row[field.name] for field in fields(GroupLine)}
    return GroupLine(**values | {name: round(value, 1) for name, value in values.items() if isinstance(value, float)})


def _rate(row: Mapping[str, Any]) -> SignatureRate:
    return SignatureRate(
        line=row["line"],
        scenario=row["scenario"],
        check=row["check"],
        signature=row["signature"],
        pair=row.get("pair") or row["line"].rpartition(" on ")[0],
        when=row.get("week") or "",
        asked=row["asked"],
        runs=row["runs"],
        low=round(row["low"], 4),
        high=round(row["high"], 4),
        declared_by=row["declared_by"] or "",
    )
