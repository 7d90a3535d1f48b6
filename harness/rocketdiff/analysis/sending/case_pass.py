"""
The pass over one case: runs all steps and observers in one reading, and yields facts.

Steps are streams of one arm's sends: attempts in context → replayed → reconciled. Then the arms are aligned.
"""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rocketdiff.analysis.case_trace import BATCH_ROWS, CaseTrace
from rocketdiff.analysis.checks.case_facts import UNKNOWABLE
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.facts import CaseFact
from rocketdiff.analysis.memory import earlier_objects_left_alone
from rocketdiff.analysis.sending.checks.by_rules.replay_checks import KIND_OF_CHECK, RULES, UNAVAILABLE
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount
from rocketdiff.analysis.sending.checks.codes import SENDING_CODES
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.checks.results.refusals import without_requests
from rocketdiff.analysis.sending.checks.storage.loss import note_strays
from rocketdiff.analysis.sending.columns.calm_sends import add_calm_sends
from rocketdiff.analysis.sending.columns.calm_tallies import OrderedCollector
from rocketdiff.analysis.sending.columns.case_columns import case_columns
from rocketdiff.analysis.sending.columns.observed import ColumnPass
from rocketdiff.analysis.sending.lanes import lane_bars
from rocketdiff.analysis.sending.pictures.tallies import Pictures, Totals
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.sends import sends_of
from rocketdiff.analysis.sending.steps.aligned import aligned
from rocketdiff.analysis.sending.steps.attempts_in_context import attempts_in_context
from rocketdiff.analysis.sending.steps.reconciled import StoredCopies, reconciled
from rocketdiff.analysis.sending.steps.replayed import called, replayed
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.knowable import PROXY_CHOOSES, unknowable
from rocketdiff.core.tables.checks import OF_QUEUES
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.traces.schema import TableName

PLAIN_REPLAY = "ROCKETDIFF_PLAIN_REPLAY"
"""Environment variable; 1: judge every send as an object, which is slower and gives the same facts."""


def judge_case(
    trace: CaseTrace,
    *,
    batch_rows: int = BATCH_ROWS,
    plainly: bool | None = None,
    wanted: Collection[str] | None = None,
    is_drawn: bool = True,
) -> Iterator[CaseFact]:
    """
    Yield the facts of one case.

    plainly: use no columns; None: ``PLAIN_REPLAY`` decides. wanted, is_drawn: as of ``CasePass``; without all facts, counts of
    sends, bars and faults are missing.
    """
    asked = _Asked(wanted, is_drawn)
    if asked.nothing:
        return
    rulebook = rulebook_for(trace)
    case = None if _is_plain(plainly) else case_columns(trace, rulebook)
    kind = SendFacts if case is None else OrderedCollector
    collector = kind(trace.run, trace.entry.number, trace.origin_ns)
    context = CaseContext(trace, rulebook, collector)
    if asked.everything:
        for fault in trace.faults:
            collector.note(fault)
        _note_limits(context)
    observers = asked.observers(context)
    with earlier_objects_left_alone():
        if case is not None and isinstance(collector, OrderedCollector):
            ColumnPass(case, context, collector, observers, is_replayed=asked.for_the_replay).run()
            add_calm_sends(
                case, context, collector, asked.calm, with_totals=asked.everything, with_pictures=asked.pictures
            )
        else:
            _observe_all(context, observers, batch_rows, is_replayed=asked.for_the_replay)
    differences = collector.differences()
    if asked.everything and (is_drawn or differences):
        for bar in lane_bars(trace, context.times, differences, collector.origin_ns):
            collector.note(bar)
    yield from collector.facts()


def _is_plain(plainly: bool | None) -> bool:
    return os.environ.get(PLAIN_REPLAY, "") not in ("", "0") if plainly is None else plainly


@dataclass(frozen=True, slots=True)
class _Asked:
    checks: Collection[str] | None
    is_drawn: bool

    @property
    def everything(self) -> bool:
        return self.checks is None

    @property
    def pictures(self) -> bool:
        return self.everything and self.is_drawn

    @property
    def nothing(self) -> bool:
        """True if no observer writes these facts, for example those of the line protocol, which are in ``run.json``."""
        return not any(code.observers for code in self._codes)

    @property
    def for_the_replay(self) -> bool:
        return any(code.name in KIND_OF_CHECK for code in self._codes)

    @property
    def calm(self) -> tuple[CalmCount, ...]:
        return tuple(count for code in self._codes for count in code.calm)

    def observers(self, context: CaseContext) -> tuple[CaseObserver, ...]:
        """The observers of these checks; of all facts also those that count what belongs to no check."""
        totals = (Totals(context),) if self.everything else ()
        pictures = (Pictures(context),) if self.pictures else ()
        return (*totals, *pictures, *(observer(context) for code in self._codes for observer in code.observers))

    @property
    def _codes(self) -> list[CheckCode[Callable[[CaseContext], CaseObserver], CalmCount]]:
        return [code for code in SENDING_CODES if self.checks is None or code.name in self.checks]


def _observe_all(
    context: CaseContext,
    observers: Sequence[CaseObserver],
    batch_rows: int,
    *,
    is_replayed: bool,
) -> None:
    baseline, candidate = (_arm(context, arm, batch_rows, is_replayed=is_replayed) for arm in Arm)
    for send in aligned(baseline, candidate):
        for observer in observers:
            observer.observe(send)
    for observer in observers:
        observer.finish()


def _note_limits(context: CaseContext) -> None:
    """Tally why there are no rules, and which checks have no answer."""
    trace, rulebook, collector = context.trace, context.rulebook, context.collector
    if topology_named(trace.entry.topology).has_proxies:
        for check in OF_QUEUES:
            collector.count(f"{UNKNOWABLE}{check}", str(Arm.CANDIDATE), "", PROXY_CHOOSES)
    if rulebook.missing:
        for arm in Arm:
            collector.count(RULES, str(arm), "", UNAVAILABLE + rulebook.missing)
    for arm in Arm:
        for check, why in without_requests(trace, arm):
            collector.count(f"{UNKNOWABLE}{check}", str(arm), "", why)
    for arm, rules in rulebook.rules.items():
        sending = rules.sending()
        for check, why in ({} if sending is None else unknowable(sending)).items():
            collector.count(f"{UNKNOWABLE}{check}", str(arm), "", why)


def _arm(context: CaseContext, arm: Arm, batch_rows: int, *, is_replayed: bool) -> Iterator[SendView]:
    trace = context.trace
    stored = all_stored(trace, arm)
    if stored is None:
        context.collector.count("unread", str(arm), "", "queues")
    planned = trace.entry.sends_planned
    copies = None if stored is None else StoredCopies(stored, planned)
    if copies is not None:
        context.collector.count("stored", str(arm), "", "message", n=copies.rows)
        context.collector.count("foreign", str(arm), "", "message", n=copies.foreign)
        note_strays(arm, copies.strays(), context)
    in_context = attempts_in_context(sends_of(trace, arm, batch_rows), context.times)
    scheduled = trace.scheduled(arm)
    kept = None if scheduled is None else StoredCopies(scheduled, planned)
    if not is_replayed:
        return reconciled(in_context, copies, kept)
    is_proxied = topology_named(trace.entry.topology).has_proxies
    judged = (
        called(in_context, trace.entry.settings)
        if is_proxied
        else replayed(in_context, context.rulebook.rules.get(arm))
    )
    return reconciled(judged, copies, kept)


def all_stored(trace: CaseTrace, arm: Arm) -> pa.Table | None:
    """
    Return the table ``stored`` of an arm; None if the read-back is incomplete.

    With delayed messages the table ``scheduled`` is required too, because a message that still waits would look lost.
    """
    sends = trace.tables.get((TableName.SENDS, arm))
    levels = () if sends is None else sends.column("delay_level").drop_null().unique().to_pylist()
    return None if any(levels) and trace.scheduled(arm) is None else trace.stored(arm)
