"""The sentences and signs that all formats share."""

import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.tables.effects import Effect, effect_of
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.report.clusters import DivergenceCluster, Weight
from rocketdiff.report.document import Document
from rocketdiff.verdict.judge import RunVerdict

PHASES = ("calm", "paused", "after")
"""In order of time."""


FAULT_WORDS = {kind.traits.count: kind.traits.phase for kind in FaultKind}
"""State of a case's brokers during a fault, by the names of ``core.tables.fault.FAULT_COUNTS``."""


def phase_word(phase: str, counts: Mapping[str, int] | None = None) -> str:
    """Return a readable phase: the stored word ``paused`` covers every kind of fault."""
    if phase != "paused":
        return phase
    kinds = [FAULT_WORDS[name] for name, count in (counts or {}).items() if count and name in FAULT_WORDS]
    return " and ".join(kinds) or "during a fault"


@dataclass(frozen=True, slots=True)
class Sign:
    """Display of an answer: a character of single width, a word, and a CSS class."""

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

WEIGHT_SIGNS = {
    Weight.NEW: Sign("✗", "diverges", "bad"),
    Weight.WARNING: Sign("?", "does not gate", "open"),
    Weight.DECLARED: Sign("◆", "declared", "known"),
    Weight.VOID: Sign("!", "seen in an invalid run", "warn"),
}
"""Of a signature in a run."""

MEASURED = Sign("·", "measured only", "mute")
"""An ``info`` check without its own answer: its figures are judged together with other cases'."""

UNGATED = Sign("?", "inconclusive (does not gate)", "open")
"""An open question that does not gate."""

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
    """Return the sign of an answer."""
    if verdict is Verdict.INCONCLUSIVE and severity is Severity.INFO:
        return MEASURED
    return SIGNS[verdict]


def headline(document: Document) -> str:
    """Return the verdict as one sentence about the two subjects."""
    baseline, candidate = document.run.baseline.title, document.run.candidate.title
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
    """True if every new divergence is the baseline's crash, stall or protocol error; False if both subjects have one name."""
    baseline, candidate = document.run.baseline.subject, document.run.candidate.subject
    new = [cluster for cluster in document.clusters if cluster.weight is Weight.NEW]
    broke = all(cluster.subject == baseline and cluster.signature.startswith("protocol.") for cluster in new)
    return bool(new) and broke and baseline != candidate


def _about_the_candidate(document: Document) -> bool:
    """True unless the rules' failure to explain the baseline is the only new divergence."""
    new = [cluster for cluster in document.clusters if cluster.weight is Weight.NEW]
    return not new or any(not cluster.signature.startswith("rules/") for cluster in new)


def subline(document: Document) -> str:
    """Return the figures behind the headline: what diverged, then how all checks were answered."""
    new = [cluster for cluster in document.clusters if cluster.weight is Weight.NEW]
    parts = []
    if new:
        cases = {case for cluster in new for case in cluster.cases}
        fails = f"{plural(document.counts.new, 'check')} {'fails' if document.counts.new == 1 else 'fail'}"
        effects = sorted({effect_of(cluster.signature) for cluster in new}, key=list(Effect).index)
        parts.append(f"{fails}, {plural(len(new), 'new kind')} of divergence in {plural(len(cases), 'case')}")
        parts.append(f"effect: {', '.join(effects)}")
    answered = Counter(answer_sign(result, document.policy) for result in document.results)
    passed = sum(answered.pop(SIGNS[verdict], 0) for verdict in (Verdict.CONFORMS, Verdict.EQUIVALENT))
    parts.append(f"{passed} of {plural(document.counts.checks, 'check')} conform")
    order = [*SIGNS.values(), UNGATED, MEASURED]
    words = {SIGNS[Verdict.DIVERGES]: "diverge"}
    parts += [f"{answered[sign]:,} {words.get(sign, sign.word)}" for sign in sorted(answered, key=order.index)]
    if document.counts.gating:
        parts.append(f"{document.counts.answered:,} of {plural(document.counts.gating, 'gating check')} answered")
    if document.counts.inconclusive:
        verb = "has" if document.counts.inconclusive == 1 else "have"
        parts.append(f"{plural(document.counts.inconclusive, 'gating check')} {verb} no answer")
    if document.counts.unanswered:
        parts.append(f"{document.counts.unanswered} planned never ran")
    return " · ".join(parts)


def answer_sign(result: CheckResult, policy: Policy) -> Sign:
    """Return the sign under which an answer is counted; open answers that do not gate have their own."""
    sign = sign_of(result.verdict, result.severity)
    return UNGATED if sign is SIGNS[Verdict.INCONCLUSIVE] and not policy.gates(result) else sign


def unjudged(run: RunInfo) -> dict[str, tuple[str, ...]]:
    """Return what was chosen and is not judged, in lines by title; without the titles that have none."""
    named = {"Left out": _left_out(run), "Run again": _repeated(run)}
    return {title: lines for title, lines in named.items() if lines}


def _left_out(run: RunInfo) -> tuple[str, ...]:
    """Selected scenarios that were not run, one line per reason."""
    reasons = dict.fromkeys(reason for _, reason in run.left_out)
    named = {reason: [name for name, why in run.left_out if why == reason] for reason in reasons}
    return tuple(f"{plural(len(names), 'scenario')}, {why}: {', '.join(names)}" for why, names in named.items())


def _repeated(run: RunInfo) -> tuple[str, ...]:
    """The cases that were run again, and what their first attempt lacked."""
    return tuple(f"{short_case(case, run)}, {why}" for case, why in run.repeated)


def short_case(case: str, run: RunInfo) -> str:
    """Return the case name without the pair of subjects."""
    return case.removesuffix(f"/{run.baseline.subject}~{run.candidate.subject}")


def check_id(result: CheckResult) -> str:
    """Return the stable, path-like name of a check of a case."""
    return f"{result.case}/{result.check}"


def where_in(cluster: DivergenceCluster, run: RunInfo) -> str:
    """Return where a cluster's example was seen."""
    parts = [short_case(cluster.example_case, run)]
    if cluster.example.where.is_known:
        parts.append(cluster.example.where.text)
    if cluster.example.phase:
        counts = next((case.fault_counts for case in run.cases if case.case == cluster.example_case), None)
        parts.append(f"phase {phase_word(cluster.example.phase, counts)}")
    return ", ".join(parts)


def explain_command(cluster: DivergenceCluster, run: RunInfo) -> str:
    """Return the command that prints the rule chain of a cluster's example; empty for a statistic, or without a command."""
    if not cluster.example.where.is_known or not run.explain:
        return ""
    folder = next((case.folder for case in run.cases if case.case == cluster.example_case), "")
    values = {
        "{folder}": folder,
        "{subject}": cluster.subject,
        "{send}": cluster.example.where.explain_argument,
        "{case}": cluster.example_case,
    }
    command = run.explain
    for placeholder, value in values.items():
        command = command.replace(placeholder, value)
    return command


def repeat_command(reproduce: str, scenario: str) -> str:
    """Return the command that repeats one scenario; the whole run's if it selects scenarios itself, or for a pool."""
    if not reproduce or scenario.startswith("pooled/") or " --scenario " in reproduce:
        return reproduce
    return f"{reproduce} --scenario {shlex.quote(scenario)}"


def moment(iso: str) -> str:
    """Return ``2026-11-21 14:22:33 UTC`` from ISO 8601; other text unchanged."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    zone = at.strftime(" %Z") if at.tzinfo else ""
    return f"{at:%Y-%m-%d %H:%M:%S}{zone}"


def number(value: float) -> str:
    """Return three significant digits; whole numbers whole."""
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1_000 else f"{value:.3g}"


def plural(count: int, noun: str, several: str = "") -> str:
    """For example ``1 case``, ``2 cases``; several: an irregular plural."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {several or noun + 's'}"


def duration(seconds: float) -> str:
    """For example ``74 s``, ``9 min 5 s``."""
    rounded = round(seconds)
    return f"{rounded} s" if rounded < 120 else f"{rounded // 60} min {rounded % 60} s"


def sentence(text: str) -> str:
    """Capitalise the first letter, except of a client's name."""
    first = text.partition(" ")[0]
    return text if ":" in first else text[:1].upper() + text[1:]
