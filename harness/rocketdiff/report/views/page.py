"""Views of the page: everything the templates show, computed before rendering."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.core.answers.plots import ElapsedQuantiles, LaneAttempt
from rocketdiff.core.answers.verdict import CheckResult, Severity, SideExample, Verdict
from rocketdiff.core.answers.where import Place
from rocketdiff.core.run_info import CaseInfo, Guard
from rocketdiff.core.tables.checks import REPORT_ORDER, VALIDITY
from rocketdiff.ledger.apply import EntryOutcome
from rocketdiff.report.clusters import DivergenceCluster, ExampleContext, Weight
from rocketdiff.report.consuming.words import after_lines, delivery_text, figure_cells
from rocketdiff.report.document import Document
from rocketdiff.report.sending.words import attempt_text, call_text, detail_lines, stored_text
from rocketdiff.report.views.pictures import CasePictures, LanesPicture, PoolPicture, draw_pools, endings_text
from rocketdiff.report.words.ledger import declarations
from rocketdiff.report.words.signatures import alike_note, title_of, yardstick_of
from rocketdiff.report.words.signs import (
    PHASES,
    WEIGHT_SIGNS,
    Sign,
    explain_command,
    plural,
    repeat_command,
    short_case,
    sign_of,
    where_in,
)

CLUSTERS_SHOWN = 60
"""Limit of divergence cards; the document has the rest."""

OPEN_CASES = 2
"""Number of cases unfolded initially if something diverged; a conforming run has none."""

_BADGES = {Weight.NEW: "new divergence", Weight.DECLARED: "declared in the ledger"}
"""On a card, where there is more room than for the word of the weight's sign."""


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One line of a table of answers. word: its sign's, or its meaning here. notes: added from its picture."""

    result: CheckResult
    sign: Sign
    gates: bool
    word: str
    notes: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        reason = self.result.reason or self.sign.word
        return reason if self.gates else f"{reason} (does not gate)"


@dataclass(frozen=True, slots=True)
class PoolView:
    """One pool of episodes with its answers and pictures."""

    name: str
    answers: tuple[AnswerView, ...]
    pictures: PoolPicture | None


@dataclass(frozen=True, slots=True)
class SideView:
    """What one arm did at an example's send or message: each attempt or delivery with its number, in words."""

    arm: str
    subject: str
    attempts: tuple[tuple[str, str], ...]
    call: str
    stored: str


@dataclass(frozen=True, slots=True)
class NeighbourView:
    """One send near an example: what each arm did. own: it is the example's send."""

    send: int
    sides: tuple[tuple[LaneAttempt, ...], ...]
    own: bool


@dataclass(frozen=True, slots=True)
class ClusterView:
    """
    One divergence card.

    title: the signature in words. yardstick: what the client was measured by. alike: why it counts though both did the same. around: sends near the example, both arms side by side.
    """

    item: DivergenceCluster
    title: str
    yardstick: str
    alike: str
    badge: str
    tone: str
    where: str
    explain: str
    repeat: str
    decisions: tuple[SideView, ...]
    detail: tuple[tuple[str, str], ...]
    declarations: tuple[EntryOutcome, ...]
    context: ExampleContext
    around: tuple[NeighbourView, ...]


@dataclass(frozen=True, slots=True)
class FiguresView:
    """Arm, subject and figures of each group; then each fault, and what each group's user saw of it."""

    rows: tuple[tuple[str, str, tuple[str, ...]], ...]
    faults: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case with its answers, pictures and figures."""

    info: CaseInfo
    anchor: str
    open: bool
    answers: tuple[AnswerView, ...]
    overviews: tuple[str, ...]
    lanes: tuple[LanesPicture, ...]
    shares: str
    ambiguity: str
    no_room: bool
    elapsed: tuple[ElapsedQuantiles, ...]
    lags: tuple[str, ...] = ()
    ownerships: tuple[str, ...] = ()
    figures: FiguresView | None = None
    apart_ms: float | None = None


def subjects_of(document: Document) -> dict[str, str]:
    """Return the subject by arm, baseline first."""
    return {"baseline": document.run.baseline.subject, "candidate": document.run.candidate.subject}


def anchors_of(document: Document) -> dict[str, str]:
    """
    Return the fragment identifier of every planned case, made from its name so that links survive another selection of cases.
    """
    cases = dict.fromkeys(case.case for case in document.run.cases)
    return {case: "case-" + re.sub("[^A-Za-z0-9]+", "-", short_case(case, document.run)) for case in cases}


def cases_by_interest(document: Document) -> tuple[str, ...]:
    """Return the planned cases, those of the first clusters first: their pictures are drawn before the page is full."""
    divergent = (case for cluster in document.clusters for case in (cluster.example_case, *cluster.cases))
    planned = [case.case for case in document.run.cases]
    return tuple(dict.fromkeys([*(case for case in divergent if case in planned), *planned]))


def answers_of(results: Iterable[CheckResult], document: Document) -> tuple[AnswerView, ...]:
    """Return results in the order of the matrix's columns."""
    order = {check: rank for rank, check in enumerate(REPORT_ORDER)}
    ranked = sorted(results, key=lambda result: (order.get(result.check, len(order)), result.check))
    return tuple(_answer(result, document) for result in ranked)


def _answer(result: CheckResult, document: Document) -> AnswerView:
    """An answer about durations notes how the episodes ended, because it covers only episodes that both arms left."""
    sign = sign_of(result.verdict, result.severity)
    ends = [ending for ending in document.plots.endings if (ending.pool, ending.check) == (result.case, result.check)]
    few = any(2 * min(ending.baseline, ending.candidate) <= ending.episodes for ending in ends)
    return AnswerView(
        result=result,
        sign=sign,
        gates=document.policy.gates(result),
        word=f"{sign.word} where both failed over" if few and result.verdict is Verdict.EQUIVALENT else sign.word,
        notes=tuple(endings_text(ending, subjects_of(document)) for ending in ends),
    )


def cluster_views(document: Document) -> tuple[ClusterView, ...]:
    """Return the cards of the first clusters."""
    subjects = subjects_of(document)
    return tuple(
        ClusterView(
            item=cluster,
            title=title_of(cluster, document),
            yardstick=yardstick_of(cluster, document),
            alike=alike_note(cluster, document),
            badge=_BADGES.get(cluster.weight, WEIGHT_SIGNS[cluster.weight].word),
            tone=WEIGHT_SIGNS[cluster.weight].tone,
            where=where_in(cluster, document.run),
            explain=explain_command(cluster, document.run),
            repeat=repeat_command(document.run.reproduce, short_case(cluster.example_case, document.run)),
            decisions=_sides(cluster, subjects),
            detail=detail_lines(cluster.example),
            declarations=declarations(cluster, document),
            context=context_of(cluster, document),
            around=_around(cluster, document),
        )
        for cluster in document.clusters[:CLUSTERS_SHOWN]
    )


def card_anchor(cluster: DivergenceCluster) -> str:
    """Return the fragment identifier of a cluster's card."""
    return f"divergence-{cluster.fingerprint}" + ("" if cluster.weight is Weight.NEW else f"-{cluster.weight}")


def cards_of(document: Document) -> dict[tuple[str, str, str, str], str]:
    """Return the anchors of the cards, by check, signature, subject and weight."""
    shown = document.clusters[:CLUSTERS_SHOWN]
    return {
        (cluster.check, cluster.signature, cluster.subject, str(cluster.weight)): card_anchor(cluster)
        for cluster in shown
    }


def context_of(cluster: DivergenceCluster, document: Document) -> ExampleContext:
    """Return the context of a cluster's example; empty if none was computed."""
    wanted = (cluster.fingerprint, str(cluster.weight))
    found = (context for context in document.contexts if (context.fingerprint, context.weight) == wanted)
    return next(found, ExampleContext(*wanted))


def _around(cluster: DivergenceCluster, document: Document) -> tuple[NeighbourView, ...]:
    attempts = context_of(cluster, document).around
    return tuple(
        NeighbourView(
            send,
            tuple(tuple(a for a in attempts if (a.send, a.arm) == (send, arm)) for arm in subjects_of(document)),
            own=send == cluster.example.where.number,
        )
        for send in sorted({attempt.send for attempt in attempts})
    )


def _sides(cluster: DivergenceCluster, subjects: Mapping[str, str]) -> tuple[SideView, ...]:
    """Both arms at the example's send; empty for a statistic."""
    if not cluster.decisions:
        return ()
    sides = {side.arm: side for side in cluster.example.sides}
    shown = ((subject, sides.get(arm) or SideExample(arm)) for arm, subject in subjects.items())
    return tuple(
        SideView(
            arm=side.arm,
            subject=subject,
            attempts=tuple(_attempt(cluster, attempt) for attempt in cluster.decisions if attempt.arm == side.arm),
            call=call_text(side.call),
            stored=stored_text(side.stored),
        )
        for subject, side in shown
    )


def _attempt(cluster: DivergenceCluster, attempt: LaneAttempt) -> tuple[str, str]:
    text = delivery_text if cluster.example.where.place is Place.MESSAGE else attempt_text
    return f"{cluster.example.where.place.part} {attempt.attempt + 1}", text(attempt)


def case_views(document: Document, pictures: Mapping[str, CasePictures]) -> tuple[CaseView, ...]:
    """Return every planned case once, in plan order."""
    anchors = anchors_of(document)
    unfolded = cases_by_interest(document)[:OPEN_CASES] if document.clusters else ()
    infos = {case.case: case for case in reversed(document.run.cases)}
    return tuple(
        CaseView(
            info=infos[case],
            anchor=anchor,
            open=case in unfolded,
            answers=answers_of((r for r in document.results if r.case == case), document),
            overviews=pictures[case].overviews,
            lanes=pictures[case].lanes,
            shares=pictures[case].shares,
            ambiguity=pictures[case].ambiguity,
            no_room=pictures[case].no_room,
            elapsed=_elapsed(document, case),
            lags=pictures[case].lags,
            ownerships=pictures[case].ownerships,
            figures=figures_of(document, case),
            apart_ms=next((each.merged_ms for each in document.plots.groups if each.case == case), None),
        )
        for case, anchor in anchors.items()
    )


def figures_of(document: Document, case: str) -> FiguresView | None:
    """Return what both groups of a case did, of its first run; None for a case about producers."""
    rows = [row for row in document.plots.figures if row.case == case]
    subjects = subjects_of(document)
    sides = [(row.arm, subjects[row.arm], row) for row in rows if row.run == rows[0].run and row.arm in subjects]
    if not sides:
        return None
    faults = after_lines([(subject, row) for _, subject, row in sides])
    return FiguresView(tuple((arm, subject, figure_cells(row)) for arm, subject, row in sides), tuple(faults))


def _elapsed(document: Document, case: str) -> tuple[ElapsedQuantiles, ...]:
    rows = [row for row in document.plots.elapsed if row.case == case]
    order = {phase: rank for rank, phase in enumerate(PHASES)}
    return tuple(sorted(rows, key=lambda row: (row.run, order.get(row.phase, len(order)), row.phase, row.arm)))


def pool_views(document: Document) -> tuple[PoolView, ...]:
    """Return the answers about pooled episodes, by pooled case, with pictures."""
    planned = anchors_of(document)
    pictures = {pool.name: pool for pool in draw_pools(document.plots, subjects_of(document))}
    pooled = dict.fromkeys([*(r.case for r in document.results if r.case not in planned), *pictures])
    return tuple(
        PoolView(case, answers_of((r for r in document.results if r.case == case), document), pictures.get(case))
        for case in pooled
    )


def unanswered(document: Document) -> tuple[AnswerView, ...]:
    """Return the open checks: gating ones, then the others except INFO."""
    open_ends = (Verdict.INCONCLUSIVE, Verdict.INVALID, Verdict.ERROR)
    rows = answers_of((r for r in document.results if r.verdict in open_ends), document)
    waived = (row for row in rows if not row.gates and row.result.severity is not Severity.INFO)
    return (*(row for row in rows if row.gates), *waived)


def unanswered_together(document: Document) -> tuple[tuple[AnswerView, str], ...]:
    """Return the open checks of a case with one reason as its first one, and the names of all of them."""
    together: dict[tuple[str, str, Verdict], list[AnswerView]] = {}
    for row in unanswered(document):
        together.setdefault((row.result.case, row.why, row.result.verdict), []).append(row)
    return tuple((rows[0], ", ".join(row.result.check for row in rows)) for rows in together.values())


def guards_of(document: Document) -> tuple[Guard, ...]:
    """Return the conditions of the run: the plan was executed, every case was valid, and the runner's guards."""
    counts = document.counts
    executed = Guard(
        "every planned check was executed",
        counts.unanswered == 0,
        "a check that never ran is not a pass",
        f"{counts.planned - counts.unanswered} of {counts.planned}",
    )
    asked = [result for result in document.results if result.check == VALIDITY]
    broken = [result for result in asked if result.verdict is not Verdict.CONFORMS]
    cases = Guard(
        "cases are valid",
        not broken,
        "pauses proven, rates reached, both arms saw the same route",
        f"{len(asked) - len(broken)} of {plural(len(asked), 'case')}",
    )
    failures = (Guard("case is not valid", False, "a case worth judging", r.reason, r.case) for r in broken)
    return (executed, *((cases,) if asked else ()), *failures, *_gathered(document.run.guards))


def _gathered(guards: Sequence[Guard]) -> Iterator[Guard]:
    """Broken guards singly, then one line per kind of guards that held; ``fault-1`` and ``fault-2`` are one kind."""
    kinds: dict[str, list[Guard]] = {}
    for guard in guards:
        kinds.setdefault(guard.name.rstrip("0123456789").rstrip("-"), []).append(guard)
        if not guard.held:
            yield guard
    for kind, members in kinds.items():
        held = [guard for guard in members if guard.held]
        if len(members) == 1 and held:
            yield members[0]
        elif held:
            alike = len({guard.expected for guard in held}) == 1
            expected = held[0].expected if alike else f"for example {held[0].expected}"
            yield Guard(kind, True, expected, f"{len(held)} of {len(members)} hold")
