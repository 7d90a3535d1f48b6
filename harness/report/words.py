"""The sentences and signs all formats share, so that the terminal, the page and the comment say the same thing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from harness.core.run_info import RunInfo
from harness.core.verdict import CheckResult, Measure, Severity, Verdict
from harness.report.clusters import Cluster, Weight
from harness.report.document import Document
from harness.verdict.judgement import RunVerdict

CHECK_ORDER = (
    "validity",
    "protocol",
    "outcomes",
    "queue-choice",
    "attempts",
    "avoidance",
    "error-kind",
    "timing",
    "failover-time",
    "loss",
    "duplication",
    "content",
    "order",
    "callbacks",
    "delay",
)

PHASES = ("calm", "paused", "after")
"""In the order of time."""


@dataclass(frozen=True, slots=True)
class Sign:
    """How one answer is shown: a character of single width, a word, and the class that colours it."""

    mark: str
    word: str
    tone: str


SIGNS = {
    Verdict.CONFORMS: Sign("✓", "conforms", "good"),
    Verdict.EQUIVALENT: Sign("≈", "equivalent", "good"),
    Verdict.DECLARED: Sign("◆", "declared", "known"),
    Verdict.DIVERGES: Sign("✗", "diverges", "bad"),
    Verdict.STALE: Sign("∅", "stale", "bad"),
    Verdict.INCONCLUSIVE: Sign("?", "inconclusive", "open"),
    Verdict.INVALID: Sign("!", "invalid", "warn"),
    Verdict.NOT_APPLICABLE: Sign("–", "not applicable", "mute"),
    Verdict.ERROR: Sign("E", "error", "warn"),
}

MEASURED = Sign("·", "measured only", "mute")
"""An ``info`` check without an answer of its own: its figures are judged together with other cases'."""

UNGATED = Sign("?", "inconclusive (does not gate)", "open")
"""A question that would have gated, had the run been able to answer it."""

RUN_TONE = {
    RunVerdict.CONFORMS: "good",
    RunVerdict.DIVERGES: "bad",
    RunVerdict.STALE: "bad",
    RunVerdict.INCONCLUSIVE: "open",
    RunVerdict.INVALID: "warn",
    RunVerdict.NOTHING_DECISIVE: "open",
    RunVerdict.ERROR: "warn",
}

RUN_MARKS = {
    RunVerdict.CONFORMS: "✓",
    RunVerdict.DIVERGES: "✗",
    RunVerdict.STALE: "∅",
    RunVerdict.INCONCLUSIVE: "?",
    RunVerdict.INVALID: "!",
    RunVerdict.NOTHING_DECISIVE: "?",
    RunVerdict.ERROR: "!",
}


def sign_of(verdict: Verdict, severity: Severity) -> Sign:
    """Sign of one answer."""
    if verdict is Verdict.INCONCLUSIVE and severity is Severity.INFO:
        return MEASURED
    return SIGNS[verdict]


def headline(document: Document) -> str:
    """The verdict as one sentence about the two subjects."""
    baseline, candidate = document.run.baseline.subject, document.run.candidate.subject
    if document.verdict is RunVerdict.DIVERGES and _baseline_broke_off(document):
        return f"{baseline}, the baseline, broke the line protocol: there is nothing to compare {candidate} with"
    if document.verdict is RunVerdict.DIVERGES and not _about_the_candidate(document):
        return f"The rules for {baseline} do not explain what it did itself"
    other = "itself" if baseline == candidate else baseline
    alike = f"{candidate} behaves like {other}"
    if any(cluster.weight is Weight.WARNING for cluster in document.clusters):
        alike += " in everything that gates"
    if document.counts.declared:
        alike = f"{candidate} differs from {other} only as the ledger declares"
    return {
        RunVerdict.CONFORMS: alike,
        RunVerdict.DIVERGES: f"{candidate} behaves differently from {other}",
        RunVerdict.STALE: f"{candidate} does not show a divergence that the ledger declares",
        RunVerdict.INCONCLUSIVE: f"Not enough evidence to compare {candidate} with {other}",
        RunVerdict.INVALID: "This run cannot be judged: its set-up did not hold",
        RunVerdict.NOTHING_DECISIVE: f"Nothing decisive ran for {candidate} and {baseline}",
        RunVerdict.ERROR: "rocketdiff itself failed; this says nothing about the clients",
    }[document.verdict]


def _baseline_broke_off(document: Document) -> bool:
    """Whether all that is new is that the baseline died, stalled or talked nonsense; with one name for both nobody can tell."""
    baseline, candidate = document.run.baseline.subject, document.run.candidate.subject
    new = [cluster for cluster in document.clusters if cluster.weight is Weight.NEW]
    broke = all(cluster.subject == baseline and cluster.signature.startswith("protocol.") for cluster in new)
    return bool(new) and broke and baseline != candidate


def _about_the_candidate(document: Document) -> bool:
    """Whether any new divergence is more than the rules failing to explain the baseline."""
    new = [cluster for cluster in document.clusters if cluster.weight is Weight.NEW]
    return not new or any(not cluster.signature.startswith("rules/") for cluster in new)


def subline(document: Document) -> str:
    """What is behind the headline, in figures: what diverged, then how all checks were answered."""
    new = [cluster for cluster in document.clusters if cluster.weight is Weight.NEW]
    parts = []
    if new:
        cases = {case for cluster in new for case in cluster.cases}
        parts.append(f"{plural(len(new), 'new kind')} of divergence in {plural(len(cases), 'case')}")
    answered = Counter(_answer(result, document) for result in document.results)
    passed = sum(answered.pop(SIGNS[verdict], 0) for verdict in (Verdict.CONFORMS, Verdict.EQUIVALENT))
    parts.append(f"{passed} of {plural(document.counts.checks, 'check')} conform")
    order = [*SIGNS.values(), UNGATED, MEASURED]
    words = {SIGNS[Verdict.DIVERGES]: "diverge"}
    parts += [f"{answered[sign]:,} {words.get(sign, sign.word)}" for sign in sorted(answered, key=order.index)]
    if document.counts.inconclusive:
        verb = "has" if document.counts.inconclusive == 1 else "have"
        parts.append(f"{plural(document.counts.inconclusive, 'gating check')} {verb} no answer")
    if document.counts.unanswered:
        parts.append(f"{document.counts.unanswered} planned never ran")
    return " · ".join(parts)


def _answer(result: CheckResult, document: Document) -> Sign:
    """How one answer is counted: one that is open and does not gate is counted apart."""
    sign = sign_of(result.verdict, result.severity)
    return UNGATED if sign is SIGNS[Verdict.INCONCLUSIVE] and not document.policy.gates(result) else sign


def short_case(case: str, run: RunInfo) -> str:
    """Case name without the pair of subjects, which the report names once."""
    return case.removesuffix(f"/{run.baseline.subject}~{run.candidate.subject}")


def check_id(result: CheckResult) -> str:
    """Stable name of a check of a case, shaped like a path."""
    return f"{result.case}/{result.check}"


def where_in(cluster: Cluster, run: RunInfo) -> str:
    """Where a cluster's example was seen, as far as it is a single send."""
    parts = [short_case(cluster.example_case, run)]
    if cluster.example.send >= 0:
        parts.append(f"send {cluster.example.send}")
        if cluster.example.attempt is not None:
            parts.append(f"attempt {cluster.example.attempt + 1}")
    if cluster.example.phase:
        parts.append(f"phase {cluster.example.phase}")
    return ", ".join(parts)


def explain_command(cluster: Cluster, run: RunInfo) -> str:
    """Command that prints the rule chain of a cluster's example; empty when there is no single send or no command."""
    if cluster.example.send < 0 or not run.explain:
        return ""
    folder = next((case.folder for case in run.cases if case.case == cluster.example_case), "")
    values = {
        "{folder}": folder,
        "{subject}": cluster.subject,
        "{send}": str(cluster.example.send),
        "{case}": cluster.example_case,
    }
    command = run.explain
    for placeholder, value in values.items():
        command = command.replace(placeholder, value)
    return command


def measure_text(measure: Measure) -> str:
    """A figure with its unit, interval and sample size; a count is given out of its sample."""
    if measure.unit == "count":
        return f"{number(measure.value)} of {measure.n:,}" if measure.n >= measure.value else number(measure.value)
    text = _with_unit(measure.value, measure.unit)
    if measure.low is not None and measure.high is not None:
        sure = "" if measure.confidence is None else f", {measure.confidence:.0%} interval"
        text += f" ({_with_unit(measure.low, measure.unit)} to {_with_unit(measure.high, measure.unit)}{sure})"
    return f"{text}, n = {measure.n:,}"


def measure_lines(measures: Sequence[Measure]) -> tuple[tuple[str, str], ...]:
    """Name and text of every figure; figures of both arms under one name share a line."""
    lines: dict[str, list[str]] = {}
    for measure in measures:
        name, _, arm = measure.name.rpartition(" ")
        if arm in ("baseline", "candidate"):
            lines.setdefault(name, []).append(f"{arm} {measure_text(measure)}")
        else:
            lines.setdefault(measure.name, []).append(measure_text(measure))
    return tuple((name, "; ".join(texts)) for name, texts in lines.items())


def _with_unit(value: float, unit: str) -> str:
    if unit == "ratio":
        return f"×{value:.2f}"
    if unit == "share":
        return f"{value:.1%}"
    if unit == "ns":
        return f"{number(value / 1e6)} ms"
    return f"{number(value)} {unit}".rstrip()


def moment(iso: str) -> str:
    """``2026-11-21 14:22:33 UTC`` from ISO 8601; text that is no such thing stays as it is."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    zone = at.strftime(" %Z") if at.tzinfo else ""
    return f"{at:%Y-%m-%d %H:%M:%S}{zone}"


def number(value: float) -> str:
    """Three significant digits; whole numbers whole."""
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1_000 else f"{value:.3g}"


def plural(count: int, noun: str, several: str = "") -> str:
    """``1 case``, ``2 cases``; several: the plural where it is no added s."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {several or noun + 's'}"


def duration(seconds: float) -> str:
    """Seconds for people: ``74 s``, ``9 min 5 s``."""
    whole = round(seconds)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60} s"
