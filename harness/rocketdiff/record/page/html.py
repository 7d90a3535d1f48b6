"""The record as one self-contained HTML file, which opens offline; everything the template shows is computed here."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import msgspec
from jinja2 import Environment

from rocketdiff.core.tables.signatures import gravity
from rocketdiff.documents.files import replace_file
from rocketdiff.record.page.document import RecordDocument, RunLine, ShownSignature, SignatureChange, SignatureRate
from rocketdiff.report.html_kit import LIMIT_BYTES, page_environment
from rocketdiff.report.words.signatures import rule_title
from rocketdiff.report.words.signs import RUN_MARKS, RUN_TONE, WEIGHT_SIGNS, Sign, plural, repeat_command
from rocketdiff.verdict.judge import RunVerdict

CHANGES_SHOWN = 100
"""Limit of cards; ``rocketdiff record regressions`` prints the rest."""

SIGNS = {
    "new": Sign("+", "new", "bad"),
    "changed-in-rate": Sign("±", "changed in rate", "open"),
    "gone": Sign("−", "gone", "good"),
}
"""In display order; mark and word distinguish them without the colour."""

EDGE_SIGNS = SIGNS | {"new": Sign("+", "begins", "bad"), "gone": Sign("−", "ends", "good")}
"""Between releases: what begins there is not new in the record."""

DECLARED = Sign("◆", "declared", "known")

_NO_ANSWER = Sign("·", "not judged", "mute")


@dataclass(frozen=True, slots=True)
class Tags:
    """Values that the filters match."""

    client: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    scenario: tuple[str, ...] = ()
    verdict: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeView:
    """
    A card.

    report: link into the report of the first run after the change; run_anchor: of that run's row; both may be empty.
    """

    item: SignatureChange
    anchor: str
    sign: Sign
    title: str
    edge: str
    rates: str
    tags: Tags
    run_anchor: str = ""
    report: str = ""
    reproduce: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseCell:
    """How often one release showed a signature. link: to the evidence in the newest run that did."""

    release: str
    text: str
    hint: str
    tone: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class SignatureRow:
    """A signature in a scenario, by release and by week: (baseline~candidate, rates)."""

    anchor: str
    title: str
    check: str
    signature: str
    scenario: str
    cells: tuple[ReleaseCell | None, ...]
    weeks: tuple[tuple[str, tuple[SignatureRate, ...]], ...]
    declared_by: str
    tags: Tags


@dataclass(frozen=True, slots=True)
class SignatureTable:
    """The signatures of one client against one baseline's client on one server."""

    anchor: str
    title: str
    client: str
    releases: tuple[str, ...]
    rows: tuple[SignatureRow, ...]


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A row of the index."""

    item: RunLine
    anchor: str
    sign: Sign
    tags: Tags
    shows: tuple[tuple[ShownSignature, Sign, str], ...]


def write(document: RecordDocument, file: Path) -> Path:
    """Write the page and return its path."""
    replace_file(file, render(document).encode())
    return file


def render(document: RecordDocument) -> str:
    """Return the page; while it is too large, halve its runs and rates."""
    text = _page(document, is_whole=True)
    while len(text.encode()) > LIMIT_BYTES and document.runs:
        document = msgspec.structs.replace(
            document,
            runs=document.runs[: len(document.runs) // 2],
            by_week=document.by_week[: len(document.by_week) // 2],
            by_release=document.by_release[: len(document.by_release) // 2],
        )
        text = _page(document, is_whole=False)
    return text


def _page(document: RecordDocument, *, is_whole: bool) -> str:
    runs = tuple(_run(run) for run in document.runs)
    changes = {over: _changes(document, over) for over in ("time", "releases")}
    tables = tables_of(document)
    template = _environment().get_template("record.html.j2")
    return template.render(
        document=document,
        headline=headline(document),
        subline=subline(document),
        tone=tone_of(document),
        changes=[
            (over, title, about, changes[over][:CHANGES_SHOWN], len(changes[over])) for over, title, about in _ORDERS
        ],
        tables=tables,
        runs=runs,
        choices=_choices([*(run.tags for run in runs), *(change.tags for some in changes.values() for change in some)]),
        legend=(*SIGNS.values(), DECLARED),
        verdicts=[(_verdict_sign(word), count) for word, count in document.verdicts],
        open_runs=[run for run in runs if run.item.open or not run.item.verdict],
        is_whole=is_whole,
        limit_mb=LIMIT_BYTES // 1_000_000,
    )


_ORDERS = (
    ("time", "What is new over time", "Runs of the same two subjects on one server, in the order of time."),
    (
        "releases",
        "What changes between releases",
        "Runs of the same two clients on one server, in the order of the candidate's releases: where a difference begins or ends.",
    ),
)


def headline(document: RecordDocument) -> str:
    """Return the changes over time as one sentence."""
    counts = Counter(change.state for change in document.changes if change.over == "time" and not change.declared_by)
    if not document.answered:
        return "Nothing is judged yet"
    if not counts:
        return "Nothing is new over time"
    parts = [plural(counts["new"], "new divergence")] if counts["new"] else ["No new divergence"]
    parts += [f"{counts['gone']} gone"] if counts["gone"] else []
    parts += [f"{counts['changed-in-rate']} changed in rate"] if counts["changed-in-rate"] else []
    return ", ".join(parts)


def subline(document: RecordDocument) -> str:
    """Return the record's figures."""
    edges = sum(_is_edge(change) for change in document.changes)
    verdicts = [f"{count} {word}" for word, count in document.verdicts]
    clients = {run.candidate.partition(":")[0] for run in document.runs}
    parts = [
        plural(document.total, "run"),
        *verdicts,
        plural(edges, "change between releases", "changes between releases") if edges else "",
        f"clients: {', '.join(sorted(clients))}" if clients else "",
    ]
    if document.answered < document.total:
        parts.append(f"{document.total - document.answered} not judged by the present rules")
    return " · ".join(filter(None, parts))


def tone_of(document: RecordDocument) -> str:
    """Return the tone of the headline."""
    states = {change.state for change in document.changes if change.over == "time" and not change.declared_by}
    if not document.answered:
        return "open"
    return next((sign.tone for state, sign in SIGNS.items() if state in states), "good")


def _changes(document: RecordDocument, over: str) -> list[ChangeView]:
    """Ordered by state, undeclared first, then by importance to a producer's owner."""
    runs = {run.run: run for run in document.runs}
    order = list(SIGNS)
    some = [change for change in document.changes if (_is_edge(change) if over == "releases" else change.over == over)]
    some.sort(key=lambda one: (order.index(one.state), bool(one.declared_by), gravity(one.signature)))
    return [_change(change, f"{over}-{number}", runs) for number, change in enumerate(some, start=1)]


def _is_edge(one: SignatureChange) -> bool:
    """Whether the change is between two releases; other changes are listed over time."""
    return one.over == "releases" and one.pair != one.before_pair


def _change(one: SignatureChange, anchor: str, runs: dict[str, RunLine]) -> ChangeView:
    run = runs.get(one.run)
    seen = (
        next((shown for shown in run.shows if (shown.check, shown.signature) == (one.check, one.signature)), None)
        if run
        else None
    )
    candidate, before = (pair.partition("~")[2] for pair in (one.pair, one.before_pair))
    edge = f"between {before} and {candidate}" if _is_edge(one) else f"between run {one.before_run} and run {one.run}"
    rates = (
        f"{one.seen_before} of {plural(one.asked_before, 'run')} before, {one.seen_after} of {one.asked_after} since"
    )
    interval = f" ({_percent(one.low_after)} to {_percent(one.high_after)})" if one.asked_after else ""
    signs = EDGE_SIGNS if _is_edge(one) else SIGNS
    sign = DECLARED if one.state == "new" and one.declared_by else signs[one.state]
    client, _, release = candidate.partition(":")
    return ChangeView(
        item=one,
        anchor=f"change-{anchor}",
        sign=sign,
        title=rule_title(one.signature) or one.signature,
        edge=edge,
        rates=rates + interval,
        tags=Tags(
            (client,),
            (release,),
            (one.scenario,),
            (str(RunVerdict.CONFORMS if one.declared_by else RunVerdict.DIVERGES),),
        ),
        run_anchor=f"run-{run.run}" if run else "",
        report=f"{run.report}#{seen.anchor}" if run and seen and run.report else "",
        reproduce=repeat_command(run.reproduce, one.scenario) if run else "",
    )


def tables_of(document: RecordDocument) -> tuple[SignatureTable, ...]:
    """Return a table of signatures × releases for each line."""
    weeks: dict[tuple[str, str, str, str, str], list[SignatureRate]] = {}
    for rate in document.by_week:
        server = rate.line.rpartition(" on ")[2]
        weeks.setdefault((rate.pair, server, rate.scenario, rate.check, rate.signature), []).append(rate)
    lines = dict.fromkeys(rate.line for rate in document.by_release)
    return tuple(_table(document, line, number, weeks) for number, line in enumerate(lines, start=1))


Weeks = dict[tuple[str, str, str, str, str], list[SignatureRate]]


def _table(document: RecordDocument, line: str, number: int, weeks: Weeks) -> SignatureTable:
    rates = [rate for rate in document.by_release if rate.line == line]
    clients, _, server = line.rpartition(" on ")
    baseline, _, client = clients.partition("~")
    pairs = sorted(dict.fromkeys(rate.pair for rate in rates), key=lambda pair: _numbers(pair.partition("~")[2]))
    baselines = {pair.partition("~")[0] for pair in pairs}
    names = [pair.partition("~")[2].partition(":")[2] if len(baselines) == 1 else pair for pair in pairs]
    keys = dict.fromkeys((rate.check, rate.signature, rate.scenario) for rate in rates)
    ordered = sorted(keys, key=lambda key: (gravity(key[1]), *key))
    rows = []
    for place, (check, signature, scenario) in enumerate(ordered, start=1):
        own = {
            rate.pair: rate
            for rate in rates
            if (rate.check, rate.signature, rate.scenario) == (check, signature, scenario)
        }
        cells = tuple(
            _cell(own[pair], name, document) if pair in own else None for pair, name in zip(pairs, names, strict=True)
        )
        by_week = [(pair, weeks.get((pair, server, scenario, check, signature), [])) for pair in pairs]
        seen = [rate for rate in own.values() if rate.runs]
        declared = ", ".join(sorted({rate.declared_by for rate in seen if rate.declared_by}))
        verdict = RunVerdict.CONFORMS if declared else RunVerdict.DIVERGES
        releases = tuple(rate.pair.partition("~")[2].partition(":")[2] for rate in seen)
        rows.append(
            SignatureRow(
                anchor=f"signature-{number}-{place}",
                title=rule_title(signature) or signature,
                check=check,
                signature=signature,
                scenario=scenario,
                cells=cells,
                weeks=tuple((pair, tuple(some)) for pair, some in by_week if any(rate.runs for rate in some)),
                declared_by=declared,
                tags=Tags((client,), releases, (scenario,), (str(verdict),)),
            )
        )
    whose = baselines.pop() if len(baselines) == 1 else baseline
    return SignatureTable(
        f"line-{number}", f"{client} against {whose}, servers {server}", client, tuple(names), tuple(rows)
    )


def _cell(rate: SignatureRate, release: str, document: RecordDocument) -> ReleaseCell:
    hint = f"{_against(rate.pair)}: {rate.runs} of {plural(rate.asked, 'run')} ({_percent(rate.low)} to {_percent(rate.high)})"
    tone = "mute" if not rate.runs else "known" if rate.declared_by else "bad"
    return ReleaseCell(release, f"{rate.runs}/{rate.asked}", hint, tone, _evidence(rate, document) if rate.runs else "")


def _evidence(rate: SignatureRate, document: RecordDocument) -> str:
    """Link to the newest run with the signature: its report's card, else its row, else empty."""
    server = rate.line.rpartition(" on ")[2]
    for run in document.runs:
        if (f"{run.baseline}~{run.candidate}", run.server) != (rate.pair, server):
            continue
        for shown in run.shows:
            if (shown.check, shown.signature) == (rate.check, rate.signature) and rate.scenario in shown.scenarios:
                return f"{run.report}#{shown.anchor}" if run.report else f"#run-{run.run}"
    return ""


def _run(run: RunLine) -> IndexRow:
    client, _, release = run.candidate.partition(":")
    shows = tuple(
        (shown, WEIGHT_SIGNS[shown.weight], f"{run.report}#{shown.anchor}" if run.report else "") for shown in run.shows
    )
    verdict = run.verdict or _NO_ANSWER.word
    return IndexRow(
        item=run,
        anchor=f"run-{run.run}",
        sign=_verdict_sign(run.verdict),
        tags=Tags((client,), (release,), run.scenarios, (verdict,)),
        shows=shows,
    )


def _verdict_sign(word: str) -> Sign:
    try:
        verdict = RunVerdict(word)
    except ValueError:
        return _NO_ANSWER
    return Sign(RUN_MARKS[verdict], word, RUN_TONE[verdict])


def _choices(tags: Iterable[Tags]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Filter values by kind; a kind with one value needs no filter."""
    found: dict[str, dict[str, None]] = {"client": {}, "release": {}, "scenario": {}, "verdict": {}}
    for tag in tags:
        for kind, values in found.items():
            values.update(dict.fromkeys(getattr(tag, kind)))
    by_kind = {
        kind: sorted(values, key=_numbers if kind == "release" else lambda text: [text])
        for kind, values in found.items()
    }
    return tuple((kind, tuple(values)) for kind, values in by_kind.items() if len(values) > 1)


def _numbers(text: str) -> list[object]:
    """Sort key with numbers as numbers: ``java:4.9.8`` before ``java:4.10.0``."""
    return [(0, int(word), "") if word.isdecimal() else (1, 0, word) for word in re.findall(r"\d+|[^\d.:~-]+", text)]


def _against(pair: str) -> str:
    baseline, _, candidate = pair.partition("~")
    return f"{candidate} against {baseline}"


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _span(median_ms: float | None, most_ms: float | None) -> str:
    return "–" if median_ms is None or most_ms is None else f"{median_ms / 1e3:.2f} s, {most_ms / 1e3:.2f} s"


def _at(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M")


@cache
def _environment() -> Environment:
    environment = page_environment("rocketdiff.record")
    environment.filters.update(at=_at, percent=_percent, words=_words, against=_against, span=_span)
    return environment


def _words(values: Sequence[str]) -> str:
    """Between bars, as the filters expect."""
    return "|" + "|".join(values) + "|"
